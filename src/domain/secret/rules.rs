//! The tokens that can be told by their looks: a table of what the issuers document about prefix, alphabet and length.
//!
//! A rule is data. It is tried where a word begins with its first letter, so that a text is gone over once whatever the
//! number of rules, and nothing has to be compiled before.

use super::{checks, shape::Set};

/// A piece of a token.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// Exactly this.
    L(&'static str),
    /// One of these.
    Any(&'static [&'static str]),
    /// So many of this alphabet, from and to.
    A(Set, usize, usize),
}

/// What a closer look at a token of the right shape says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Its checksum is right: no accident, whatever else it looks like.
    Certain,
    /// The shape is all there is.
    Possible,
    /// Something else that happens to begin like it.
    Harmless,
}

/// One kind of secret.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) parts: &'static [Part],
    pub(super) check: Option<fn(&str) -> Verdict>,
    /// The beginning alone says little, so that what follows has to look drawn at random.
    pub(super) is_weak: bool,
}

const fn rule(id: &'static str, parts: &'static [Part]) -> Rule {
    Rule { id, parts, check: None, is_weak: false }
}

const fn weak(id: &'static str, parts: &'static [Part]) -> Rule {
    Rule { id, parts, check: None, is_weak: true }
}

const fn checked(id: &'static str, parts: &'static [Part], check: fn(&str) -> Verdict) -> Rule {
    Rule { id, parts, check: Some(check), is_weak: false }
}

use Part::{A, Any, L};
use Set::{
    Alnum, Base32, Base64, Base64Url, Bech32, Digit, Hex, Letter, Lower, LowerDigit, Token, UpperDigit,
};

/// Every kind that has a shape of its own. What is told by the name beside it stands in `names`.
pub(super) static RULES: &[Rule] = &[
    // Where code lives.
    checked("github-pat", &[L("ghp_"), A(Alnum, 36, 36)], checks::crc_base62),
    checked("github-oauth", &[L("gho_"), A(Alnum, 36, 36)], checks::crc_base62),
    checked("github-user-to-server", &[L("ghu_"), A(Alnum, 36, 36)], checks::crc_base62),
    checked("github-server-to-server", &[L("ghs_"), A(Alnum, 36, 36)], checks::crc_base62),
    rule("github-server-to-server", &[L("ghs_"), A(Base64Url, 80, 800)]),
    checked("github-refresh", &[L("ghr_"), A(Alnum, 36, 76)], checks::crc_base62),
    rule("github-fine-grained-pat", &[L("github_pat_"), A(Alnum, 22, 22), L("_"), A(Alnum, 59, 59)]),
    rule(
        "gitlab-pat",
        &[L("glpat-"), A(Base64Url, 27, 300), L("."), A(LowerDigit, 2, 2), L("."), A(LowerDigit, 7, 9)],
    ),
    rule("gitlab-pat", &[L("glpat-"), A(Base64Url, 20, 300)]),
    rule("gitlab-deploy-token", &[L("gldt-"), A(Base64Url, 20, 64)]),
    rule("gitlab-runner-token", &[L("glrt-"), A(Base64Url, 20, 300)]),
    rule("gitlab-runner-registration", &[L("GR1348941"), A(Base64Url, 20, 20)]),
    rule("gitlab-ci-job-token", &[L("glcbt-"), A(Alnum, 1, 5), L("_"), A(Base64Url, 20, 64)]),
    rule("gitlab-trigger-token", &[L("glptt-"), A(Hex, 40, 40)]),
    rule("gitlab-feed-token", &[L("glft-"), A(Base64Url, 20, 64)]),
    rule("gitlab-mail-token", &[L("glimt-"), A(Base64Url, 25, 25)]),
    rule("gitlab-agent-token", &[L("glagent-"), A(Base64Url, 50, 64)]),
    rule("gitlab-scim-token", &[L("glsoat-"), A(Base64Url, 20, 64)]),
    rule("gitlab-feature-flag-token", &[L("glffct-"), A(Base64Url, 20, 64)]),
    rule("gitlab-oauth-secret", &[L("gloas-"), A(Hex, 64, 64)]),
    rule("bitbucket-app-password", &[L("ATBB"), A(Alnum, 32, 40)]),
    rule("atlassian-api-token", &[L("ATATT3"), A(Base64Url, 100, 250)]),
    rule("bitbucket-access-token", &[L("ATCTT3"), A(Base64Url, 100, 250)]),
    rule("trello-token", &[L("ATTA"), A(Hex, 64, 80)]),
    rule("sourcegraph-token", &[L("sgp_"), A(Hex, 40, 40)]),
    rule("sourcegraph-token", &[L("sgp_"), A(Alnum, 16, 16), L("_"), A(Hex, 40, 40)]),
    // Clouds.
    rule("aws-access-key-id", &[Any(&["AKIA", "ASIA", "ABIA", "ACCA"]), A(Base32, 16, 16)]),
    rule("aws-bedrock-key", &[L("ABSK"), A(Base64, 100, 280)]),
    rule(
        "aws-marketplace-token",
        &[
            L("amzn.mws."),
            A(Hex, 8, 8),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 12, 12),
        ],
    ),
    rule("gcp-api-key", &[L("AIza"), A(Base64Url, 35, 35)]),
    rule("google-oauth-secret", &[L("GOCSPX-"), A(Base64Url, 28, 28)]),
    rule("google-oauth-token", &[L("ya29."), A(Token, 30, 2048)]),
    rule("google-refresh-token", &[L("1//0"), A(Base64Url, 40, 120)]),
    weak("azure-client-secret", &[A(Token, 3, 3), A(Digit, 1, 1), L("Q~"), A(Token, 31, 34)]),
    rule("azure-devops-pat", &[A(Alnum, 76, 76), L("AZDO"), A(Alnum, 4, 4)]),
    rule("digitalocean-pat", &[L("dop_v1_"), A(Hex, 64, 64)]),
    rule("digitalocean-oauth", &[L("doo_v1_"), A(Hex, 64, 64)]),
    rule("digitalocean-refresh", &[L("dor_v1_"), A(Hex, 64, 64)]),
    rule("alibaba-access-key-id", &[L("LTAI"), A(Alnum, 17, 20)]),
    weak("tencent-secret-id", &[L("AKID"), A(Alnum, 32, 32)]),
    rule("yandex-cloud-key", &[L("AQVN"), A(Base64Url, 35, 38)]),
    rule("yandex-passport-token", &[L("y0_AgAAAA"), A(Base64Url, 40, 60)]),
    rule("heroku-api-key", &[L("HRKU-AA"), A(Base64Url, 58, 58)]),
    rule("netlify-token", &[L("nfp_"), A(Alnum, 36, 40)]),
    rule("render-api-key", &[L("rnd_"), A(Alnum, 28, 40)]),
    rule("fly-token", &[L("fo1_"), A(Base64Url, 43, 43)]),
    rule("fly-token", &[Any(&["fm1_", "fm1r_", "fm2_"]), A(Base64, 100, 2048)]),
    rule("supabase-pat", &[L("sbp_"), A(Hex, 40, 40)]),
    rule("supabase-secret-key", &[L("sb_secret_"), A(Base64Url, 31, 40)]),
    rule("planetscale-token", &[Any(&["pscale_tkn_", "pscale_oauth_"]), A(Token, 32, 64)]),
    rule("planetscale-password", &[L("pscale_pw_"), A(Token, 32, 64)]),
    rule("neon-api-key", &[L("napi_"), A(LowerDigit, 60, 70)]),
    rule("aiven-password", &[L("AVNS_"), A(Base64Url, 19, 19)]),
    rule("mongodb-atlas-secret", &[L("mdb_sa_sk_"), A(Base64Url, 40, 40)]),
    rule("scalingo-token", &[L("tk-us-"), A(Base64Url, 48, 48)]),
    rule("databricks-token", &[L("dapi"), A(Hex, 32, 32)]),
    rule("databricks-token", &[L("dapi"), A(Hex, 32, 32), L("-"), A(Digit, 1, 2)]),
    rule("openshift-token", &[L("sha256~"), A(Base64Url, 43, 43)]),
    rule("cloudflare-origin-key", &[L("v1.0-"), A(Hex, 24, 24), L("-"), A(Hex, 146, 146)]),
    rule("tailscale-key", &[L("tskey-"), A(Lower, 3, 10), L("-"), A(Alnum, 8, 24), L("-"), A(Alnum, 24, 48)]),
    // Infrastructure.
    rule("terraform-cloud-token", &[A(Alnum, 14, 14), L(".atlasv1."), A(Token, 60, 70)]),
    rule("vault-service-token", &[L("hvs."), A(Base64Url, 24, 200)]),
    rule("vault-batch-token", &[L("hvb."), A(Base64Url, 130, 300)]),
    rule("vault-recovery-token", &[L("hvr."), A(Base64Url, 24, 200)]),
    rule("pulumi-token", &[L("pul-"), A(Hex, 40, 40)]),
    rule("doppler-token", &[Any(&["dp.pt.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."]), A(Alnum, 40, 44)]),
    rule("doppler-token", &[L("dp.st."), A(Base64Url, 2, 35), L("."), A(Alnum, 40, 44)]),
    rule("doppler-token", &[L("dp.st."), A(Alnum, 40, 44)]),
    rule("infracost-key", &[L("ico-"), A(Alnum, 32, 32)]),
    rule("prefect-token", &[Any(&["pnu_", "pnb_"]), A(Alnum, 36, 36)]),
    rule("onepassword-service-token", &[L("ops_eyJ"), A(Base64, 200, 2048)]),
    rule("age-secret-key", &[L("AGE-SECRET-KEY-1"), A(Bech32, 58, 58)]),
    rule("docker-hub-token", &[Any(&["dckr_pat_", "dckr_oat_"]), A(Base64Url, 27, 40)]),
    rule("jfrog-api-key", &[L("AKCp"), A(Alnum, 60, 73)]),
    rule("jfrog-reference-token", &[L("cmVmdGtu"), A(Alnum, 56, 56)]),
    rule("grafana-service-token", &[L("glsa_"), A(Alnum, 32, 32), L("_"), A(Hex, 8, 8)]),
    rule("grafana-cloud-token", &[L("glc_"), A(Base64, 32, 400)]),
    rule("sentry-org-token", &[L("sntrys_eyJ"), A(Token, 60, 400)]),
    rule("sentry-user-token", &[L("sntryu_"), A(Hex, 64, 64)]),
    rule("newrelic-user-key", &[L("NRAK-"), A(UpperDigit, 27, 27)]),
    rule("newrelic-browser-key", &[L("NRJS-"), A(Hex, 19, 19)]),
    rule("newrelic-insert-key", &[L("NRII-"), A(Base64Url, 32, 32)]),
    rule(
        "dynatrace-token",
        &[
            L("dt0"),
            A(Lower, 1, 1),
            A(Digit, 2, 2),
            L("."),
            A(UpperDigit, 24, 24),
            L("."),
            A(UpperDigit, 64, 64),
        ],
    ),
    rule("honeycomb-key", &[L("hc"), A(Lower, 1, 1), Any(&["ik_", "lk_", "xk_"]), A(LowerDigit, 58, 64)]),
    rule("sonar-token", &[Any(&["sqp_", "squ_", "sqa_"]), A(Hex, 40, 40)]),
    rule("circleci-token", &[Any(&["CCIPAT_", "CCIPRJ_"]), A(Alnum, 22, 22), L("_"), A(Hex, 40, 40)]),
    rule("buildkite-token", &[L("bkua_"), A(Hex, 40, 40)]),
    rule(
        "harness-token",
        &[Any(&["pat.", "sat."]), A(Base64Url, 22, 22), L("."), A(Hex, 24, 24), L("."), A(Alnum, 20, 20)],
    ),
    // Package registries.
    checked("npm-token", &[L("npm_"), A(Alnum, 36, 36)], checks::crc_base62),
    rule("pypi-token", &[L("pypi-AgE"), A(Base64Url, 50, 300)]),
    rule("rubygems-key", &[L("rubygems_"), A(Hex, 48, 48)]),
    weak("crates-io-token", &[L("cio"), A(Alnum, 32, 32)]),
    weak("nuget-key", &[L("oy2"), A(LowerDigit, 43, 43)]),
    rule("clojars-token", &[L("CLOJARS_"), A(LowerDigit, 60, 60)]),
    rule("readme-key", &[L("rdme_"), A(LowerDigit, 70, 70)]),
    // Models.
    rule("openai-key", &[L("sk-"), A(Base64Url, 20, 100), L("T3BlbkFJ"), A(Base64Url, 20, 100)]),
    rule("openai-project-key", &[Any(&["sk-proj-", "sk-svcacct-", "sk-admin-"]), A(Base64Url, 40, 200)]),
    rule("anthropic-key", &[L("sk-ant-"), A(LowerDigit, 3, 8), L("-"), A(Base64Url, 40, 120)]),
    rule("openrouter-key", &[L("sk-or-v1-"), A(Hex, 64, 64)]),
    rule(
        "langfuse-key",
        &[
            L("sk-lf-"),
            A(Hex, 8, 8),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 12, 12),
        ],
    ),
    weak("openai-style-key", &[L("sk-"), A(Alnum, 32, 64)]),
    weak("elevenlabs-key", &[L("sk_"), A(Hex, 48, 48)]),
    rule("groq-key", &[L("gsk_"), A(Alnum, 48, 56)]),
    rule("xai-key", &[L("xai-"), A(Alnum, 70, 90)]),
    rule("perplexity-key", &[L("pplx-"), A(Alnum, 32, 56)]),
    rule("replicate-token", &[L("r8_"), A(Alnum, 37, 37)]),
    rule("huggingface-token", &[L("hf_"), A(Alnum, 34, 37)]),
    rule("huggingface-org-token", &[L("api_org_"), A(Letter, 34, 34)]),
    rule("nvidia-key", &[L("nvapi-"), A(Base64Url, 60, 70)]),
    rule("together-key", &[L("tgp_v1_"), A(Base64Url, 43, 43)]),
    rule("langsmith-key", &[Any(&["lsv2_pt_", "lsv2_sk_"]), A(Hex, 32, 32), L("_"), A(Hex, 10, 10)]),
    rule("pinecone-key", &[L("pcsk_"), A(Base64Url, 60, 75)]),
    rule("tavily-key", &[Any(&["tvly-dev-", "tvly-prod-"]), A(Alnum, 32, 32)]),
    weak("tavily-key", &[L("tvly-"), A(Alnum, 32, 32)]),
    weak("cerebras-key", &[L("csk-"), A(LowerDigit, 48, 48)]),
    rule("llama-cloud-key", &[L("llx-"), A(Alnum, 48, 48)]),
    weak("fireworks-key", &[L("fw_"), A(Alnum, 22, 24)]),
    // Talking to people.
    rule(
        "slack-bot-token",
        &[L("xoxb-"), A(Digit, 10, 13), L("-"), A(Digit, 10, 13), L("-"), A(Alnum, 18, 34)],
    ),
    rule("slack-bot-token", &[L("xoxb-"), A(Digit, 8, 14), L("-"), A(Alnum, 18, 26)]),
    rule(
        "slack-user-token",
        &[
            Any(&["xoxp-", "xoxe-"]),
            A(Digit, 10, 13),
            L("-"),
            A(Digit, 10, 13),
            L("-"),
            A(Digit, 10, 13),
            L("-"),
            A(Alnum, 28, 34),
        ],
    ),
    rule("slack-config-token", &[Any(&["xoxe.xoxp-1-", "xoxe.xoxb-1-", "xoxe-1-"]), A(Alnum, 100, 200)]),
    rule("slack-legacy-token", &[Any(&["xoxa-", "xoxr-", "xoxs-", "xoxo-"]), A(Base64Url, 20, 100)]),
    rule(
        "slack-app-token",
        &[
            L("xapp-"),
            A(Digit, 1, 1),
            L("-"),
            A(UpperDigit, 9, 13),
            L("-"),
            A(Digit, 10, 13),
            L("-"),
            A(LowerDigit, 40, 80),
        ],
    ),
    rule(
        "slack-webhook",
        &[
            L("hooks.slack.com/"),
            Any(&["services/", "workflows/", "triggers/"]),
            A(Alnum, 8, 14),
            L("/"),
            A(Alnum, 8, 24),
            L("/"),
            A(Alnum, 20, 64),
        ],
    ),
    rule(
        "teams-webhook",
        &[
            L("webhook.office.com/webhookb2/"),
            A(Hex, 8, 8),
            L("-"),
            A(Token, 27, 27),
            L("@"),
            A(Token, 36, 36),
            L("/IncomingWebhook/"),
            A(Hex, 32, 32),
        ],
    ),
    checked(
        "discord-bot-token",
        &[
            Any(&["M", "N", "O"]),
            A(Base64Url, 23, 27),
            L("."),
            A(Base64Url, 6, 6),
            L("."),
            A(Base64Url, 27, 40),
        ],
        checks::discord,
    ),
    rule(
        "discord-webhook",
        &[
            Any(&["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"]),
            A(Digit, 17, 20),
            L("/"),
            A(Base64Url, 60, 72),
        ],
    ),
    rule("telegram-bot-token", &[A(Digit, 8, 10), L(":A"), A(Base64Url, 34, 34)]),
    rule("facebook-token", &[L("EAA"), Any(&["M", "C", "G", "B"]), A(Alnum, 80, 300)]),
    rule("twitter-bearer", &[L("AAAAAAAAAAAAAAAAAAAAA"), A(Set::Percent, 60, 110)]),
    // Mail and telephone.
    rule("twilio-api-key", &[L("SK"), A(Hex, 32, 32)]),
    rule("sendgrid-key", &[L("SG."), A(Base64Url, 22, 22), L("."), A(Base64Url, 43, 43)]),
    rule("mailgun-key", &[L("key-"), A(Hex, 32, 32)]),
    rule("mailchimp-key", &[A(Hex, 32, 32), L("-us"), A(Digit, 1, 2)]),
    rule("brevo-key", &[Any(&["xkeysib-", "xsmtpsib-"]), A(Hex, 64, 64), L("-"), A(Alnum, 16, 16)]),
    weak("resend-key", &[L("re_"), A(Alnum, 8, 8), L("_"), A(Alnum, 24, 24)]),
    // Money.
    rule(
        "stripe-secret-key",
        &[Any(&["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_"]), A(Alnum, 16, 110)],
    ),
    rule("stripe-webhook-secret", &[L("whsec_"), A(Base64, 32, 64)]),
    rule("square-token", &[L("sq0atp-"), A(Base64Url, 22, 22)]),
    rule("square-secret", &[L("sq0csp-"), A(Base64Url, 43, 43)]),
    weak("square-access-token", &[L("EAAA"), A(Base64Url, 60, 60)]),
    rule(
        "braintree-token",
        &[
            L("access_token$"),
            Any(&["production$", "sandbox$"]),
            A(LowerDigit, 16, 16),
            L("$"),
            A(Hex, 32, 32),
        ],
    ),
    rule(
        "plaid-token",
        &[
            L("access-"),
            Any(&["production-", "development-", "sandbox-"]),
            A(Hex, 8, 8),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 12, 12),
        ],
    ),
    rule("flutterwave-key", &[Any(&["FLWSECK_TEST-", "FLWSECK-"]), A(Alnum, 12, 32), L("-X")]),
    rule("shopify-token", &[Any(&["shpat_", "shpca_", "shppa_", "shpss_"]), A(Hex, 32, 32)]),
    rule("easypost-key", &[Any(&["EZAK", "EZTK"]), A(Alnum, 54, 54)]),
    rule("shippo-token", &[Any(&["shippo_live_", "shippo_test_"]), A(Hex, 40, 40)]),
    rule("duffel-token", &[Any(&["duffel_live_", "duffel_test_"]), A(Base64Url, 43, 43)]),
    // Offices.
    rule("linear-key", &[L("lin_api_"), A(Alnum, 40, 40)]),
    rule("linear-oauth", &[L("lin_oauth_"), A(Hex, 64, 64)]),
    rule("notion-token", &[L("ntn_"), A(Digit, 11, 11), A(Alnum, 35, 35)]),
    weak("notion-secret", &[L("secret_"), A(Alnum, 43, 43)]),
    rule("figma-token", &[Any(&["figd_", "figo_", "figu_"]), A(Base64Url, 38, 60)]),
    rule("airtable-pat", &[L("pat"), A(Alnum, 14, 14), L("."), A(Hex, 64, 64)]),
    rule("postman-key", &[L("PMAK-"), A(Hex, 24, 24), L("-"), A(Hex, 34, 34)]),
    rule("typeform-token", &[L("tfp_"), A(Token, 59, 59)]),
    rule("frameio-token", &[L("fio-u-"), A(Base64Url, 64, 64)]),
    rule("contentful-pat", &[L("CFPAT-"), A(Base64Url, 43, 43)]),
    rule(
        "hubspot-token",
        &[
            L("pat-"),
            Any(&["na1-", "na2-", "eu1-"]),
            A(Hex, 8, 8),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 12, 12),
        ],
    ),
    rule("adobe-client-secret", &[L("p8e-"), A(Base64Url, 32, 32)]),
    rule("dropbox-token", &[L("sl."), A(Base64Url, 130, 1500)]),
    rule("intra42-secret", &[Any(&["s-s4t2ud-", "s-s4t2af-"]), A(Hex, 64, 64)]),
    rule("posthog-personal-key", &[L("phx_"), A(Alnum, 40, 50)]),
    rule(
        "launchdarkly-key",
        &[
            Any(&["sdk-", "api-"]),
            A(Hex, 8, 8),
            L("-"),
            A(Hex, 4, 4),
            L("-4"),
            A(Hex, 3, 3),
            L("-"),
            A(Hex, 4, 4),
            L("-"),
            A(Hex, 12, 12),
        ],
    ),
    rule("mapbox-secret-token", &[L("sk.eyJ"), A(Base64Url, 40, 200), L("."), A(Base64Url, 20, 30)]),
    rule("maxmind-key", &[A(Alnum, 6, 6), L("_"), A(Alnum, 29, 29), L("_mmk")]),
    // Whoever issued it.
    checked(
        "json-web-token",
        &[L("ey"), A(Base64Url, 14, 2048), L("."), A(Base64Url, 10, 8192), L("."), A(Base64Url, 16, 1024)],
        checks::web_token,
    ),
    checked(
        "private-key-in-base64",
        &[L("LS0tLS1CRUdJTi"), A(Base64, 60, 20_000)],
        checks::private_key_in_base64,
    ),
    rule("putty-private-key", &[L("PuTTY-User-Key-File-"), A(Digit, 1, 1), L(": "), A(Base64Url, 4, 40)]),
    rule("wireguard-key", &[L("PrivateKey = "), A(Base64, 44, 44)]),
];
