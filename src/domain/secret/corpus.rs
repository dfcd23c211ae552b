//! A labelled corpus, drawn anew by each run of the tests from the same seed: nothing in it is real, and no token of it stands
//! in a file.

use std::collections::BTreeSet;

use super::{checks, redacted, scan};

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn of(&mut self, alphabet: &str, count: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..count).map(|_| letters[usize::try_from(self.next() % letters.len() as u64).unwrap()]).collect()
    }

    /// Fills `{alphabet:count}` in a form.
    fn fill(&mut self, form: &str) -> String {
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const DIGITS: &str = "0123456789";
        let mut out = String::new();
        let mut rest = form;
        while let Some((before, behind)) = rest.split_once('{') {
            out.push_str(before);
            let is_slot = |slot: &str| {
                slot.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b':')
            };
            let Some((slot, behind)) = behind.split_once('}').filter(|(slot, _)| is_slot(slot)) else {
                out.push('{');
                rest = behind;
                continue;
            };
            let (kind, count) = slot.split_once(':').unwrap_or((slot, "1"));
            let count = count.parse().unwrap();
            out.push_str(&match kind {
                "an" => self.of(&format!("{UPPER}{LOWER}{DIGITS}"), count),
                "a" => self.of(&format!("{UPPER}{LOWER}"), count),
                "u" => self.of(&format!("{UPPER}{LOWER}{DIGITS}_-"), count),
                "b" => self.of(&format!("{UPPER}{LOWER}{DIGITS}+/"), count),
                "h" => self.of("0123456789abcdef", count),
                "d" => self.of(DIGITS, count),
                "l" => self.of(LOWER, count),
                "ld" => self.of(&format!("{LOWER}{DIGITS}"), count),
                "ud" => self.of(&format!("{UPPER}{DIGITS}"), count),
                "b32" => self.of(&format!("{UPPER}234567"), count),
                "age" => self.of("ACDEFGHJKLMNPQRSTUVWXYZ023456789", count),
                "uuid" => {
                    ["{h:8}", "{h:4}", "4{h:3}", "a{h:3}", "{h:12}"].map(|part| self.fill(part)).join("-")
                }
                "crc" => {
                    let random = self.fill("{an:30}");
                    let sum = checks::base62(checks::crc32(random.as_bytes()));
                    format!("{random}{}", String::from_utf8_lossy(&sum))
                }
                // JSON, or whatever it is, in base64.
                "jwt" => encoded(br#"{"alg":"HS256","typ":"JWT"}"#),
                "snowflake" => encoded(format!("9{}", self.of(DIGITS, 17)).as_bytes()),
                "pair" => {
                    let password = self.fill("{an:14}");
                    encoded(format!("ann:{password}").as_bytes())
                }
                "key" => encoded(
                    b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n",
                ),
                "lines" => {
                    (0..count).map(|_| self.of(&format!("{UPPER}{LOWER}{DIGITS}+/"), 64) + "\n").collect()
                }
                _ => panic!("{kind}"),
            });
            rest = behind;
        }
        out + rest
    }
}

fn encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<bool> =
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
    bits.chunks(6)
        .map(|chunk| {
            let value =
                (0..6).fold(0, |value, bit| value << 1 | usize::from(*chunk.get(bit).unwrap_or(&false)));
            char::from(DIGITS[value])
        })
        .collect()
}

/// Kind, and what one looks like. Written from the issuers' documents and not from the rules.
const TOKENS: &[(&str, &str)] = &[
    ("github-pat", "ghp_{crc}"),
    ("github-pat", "ghp_{an:36}"),
    ("github-oauth", "gho_{crc}"),
    ("github-user-to-server", "ghu_{crc}"),
    ("github-server-to-server", "ghs_{crc}"),
    ("github-refresh", "ghr_{an:76}"),
    ("github-fine-grained-pat", "github_pat_{an:22}_{an:59}"),
    ("gitlab-pat", "glpat-{u:19}x"),
    ("gitlab-pat", "glpat-{u:39}x.01.{ld:9}"),
    ("gitlab-deploy-token", "gldt-{u:19}x"),
    ("gitlab-runner-token", "glrt-{u:19}x"),
    ("gitlab-ci-job-token", "glcbt-64_{u:19}x"),
    ("gitlab-trigger-token", "glptt-{h:40}"),
    ("gitlab-feed-token", "glft-{u:19}x"),
    ("gitlab-mail-token", "glimt-{u:24}x"),
    ("gitlab-agent-token", "glagent-{u:49}x"),
    ("bitbucket-app-password", "ATBB{an:32}"),
    ("atlassian-api-token", "ATATT3xFfGF0{u:170}={ud:8}"),
    ("trello-token", "ATTA{h:72}"),
    ("sourcegraph-token", "sgp_{h:40}"),
    ("aws-access-key-id", "AKIA{b32:16}"),
    ("aws-access-key-id", "ASIA{b32:16}"),
    ("gcp-api-key", "AIza{u:34}x"),
    ("google-oauth-secret", "GOCSPX-{u:27}x"),
    ("google-oauth-token", "ya29.{u:100}x"),
    ("google-refresh-token", "1//0{u:60}x"),
    ("azure-client-secret", "{an:3}8Q~{an:33}x"),
    ("azure-devops-pat", "{an:76}AZDO{an:4}"),
    ("digitalocean-pat", "dop_v1_{h:64}"),
    ("digitalocean-oauth", "doo_v1_{h:64}"),
    ("alibaba-access-key-id", "LTAI5t{an:18}"),
    ("yandex-cloud-key", "AQVN{u:35}x"),
    ("heroku-api-key", "HRKU-AA{u:57}x"),
    ("netlify-token", "nfp_{an:36}"),
    ("render-api-key", "rnd_{an:32}"),
    ("supabase-pat", "sbp_{h:40}"),
    ("supabase-secret-key", "sb_secret_{u:30}x"),
    ("planetscale-token", "pscale_tkn_{u:42}x"),
    ("planetscale-password", "pscale_pw_{u:42}x"),
    ("aiven-password", "AVNS_{u:18}x"),
    ("databricks-token", "dapi{h:32}"),
    ("openshift-token", "sha256~{u:42}x"),
    ("tailscale-key", "tskey-auth-{an:17}-{an:32}"),
    ("terraform-cloud-token", "{an:14}.atlasv1.{u:66}x"),
    ("vault-service-token", "hvs.{u:94}x"),
    ("vault-batch-token", "hvb.{u:150}x"),
    ("pulumi-token", "pul-{h:40}"),
    ("doppler-token", "dp.pt.{an:43}"),
    ("infracost-key", "ico-{an:32}"),
    ("prefect-token", "pnu_{an:36}"),
    ("age-secret-key", "AGE-SECRET-KEY-1{age:58}"),
    ("docker-hub-token", "dckr_pat_{u:26}x"),
    ("jfrog-api-key", "AKCp8{an:68}"),
    ("grafana-service-token", "glsa_{an:32}_{h:8}"),
    ("sentry-org-token", "sntrys_eyJ{an:120}_{an:43}"),
    ("sentry-user-token", "sntryu_{h:64}"),
    ("newrelic-user-key", "NRAK-{ud:27}"),
    ("dynatrace-token", "dt0c01.{ud:24}.{ud:64}"),
    ("sonar-token", "sqp_{h:40}"),
    ("circleci-token", "CCIPAT_{an:22}_{h:40}"),
    ("buildkite-token", "bkua_{h:40}"),
    ("npm-token", "npm_{crc}"),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc{u:120}x"),
    ("rubygems-key", "rubygems_{h:48}"),
    ("crates-io-token", "cio{an:32}"),
    ("nuget-key", "oy2{ld:43}"),
    ("clojars-token", "CLOJARS_{ld:60}"),
    ("openai-key", "sk-{an:20}T3BlbkFJ{an:20}"),
    ("openai-project-key", "sk-proj-{u:120}x"),
    ("anthropic-key", "sk-ant-api03-{u:93}AA"),
    ("openrouter-key", "sk-or-v1-{h:64}"),
    ("openai-style-key", "sk-{h:32}"),
    ("groq-key", "gsk_{an:52}"),
    ("xai-key", "xai-{an:80}"),
    ("perplexity-key", "pplx-{an:48}"),
    ("replicate-token", "r8_{an:37}"),
    ("huggingface-token", "hf_{a:34}"),
    ("nvidia-key", "nvapi-{u:63}x"),
    ("langsmith-key", "lsv2_pt_{h:32}_{h:10}"),
    ("slack-bot-token", "xoxb-{d:12}-{d:13}-{an:24}"),
    ("slack-user-token", "xoxp-{d:12}-{d:12}-{d:13}-{h:32}"),
    ("slack-app-token", "xapp-1-A{ud:10}-{d:13}-{h:64}"),
    ("slack-webhook", "hooks.slack.com/services/T{ud:9}/B{ud:10}/{an:24}"),
    ("discord-bot-token", "{snowflake}.{u:6}.{u:37}x"),
    ("discord-webhook", "discord.com/api/webhooks/{d:19}/{u:67}x"),
    ("telegram-bot-token", "{d:10}:AA{u:32}x"),
    ("twilio-api-key", "SK{h:32}"),
    ("sendgrid-key", "SG.{u:22}.{u:42}x"),
    ("mailgun-key", "key-{h:32}"),
    ("mailchimp-key", "{h:32}-us14"),
    ("brevo-key", "xkeysib-{h:64}-{an:16}"),
    ("stripe-secret-key", "sk_live_{an:24}"),
    ("stripe-secret-key", "rk_test_{an:99}"),
    ("stripe-webhook-secret", "whsec_{an:32}"),
    ("square-token", "sq0atp-{u:21}x"),
    ("plaid-token", "access-production-{uuid}"),
    ("shopify-token", "shpat_{h:32}"),
    ("easypost-key", "EZAK{an:54}"),
    ("shippo-token", "shippo_live_{h:40}"),
    ("linear-key", "lin_api_{an:40}"),
    ("notion-token", "ntn_{d:11}{an:35}"),
    ("figma-token", "figd_{u:39}x"),
    ("airtable-pat", "pat{an:14}.{h:64}"),
    ("postman-key", "PMAK-{h:24}-{h:34}"),
    ("hubspot-token", "pat-na1-{uuid}"),
    ("contentful-pat", "CFPAT-{u:42}x"),
    ("dropbox-token", "sl.{u:140}x"),
    ("json-web-token", "{jwt}.eyJ{u:90}.{u:42}x"),
    ("private-key-in-base64", "{key}{b:400}"),
];

/// Whole texts, where the name or the form says it.
const TEXTS: &[(&str, &str)] = &[
    ("aws-secret-access-key", "AWS_SECRET_ACCESS_KEY={b:40}"),
    ("aws-secret-access-key", "aws_secret_access_key = {b:40}"),
    ("datadog-key", "DATADOG_API_KEY={h:32}"),
    ("heroku-key", "HEROKU_API_KEY={uuid}"),
    ("cloudflare-key", "cloudflare_api_token: \"{an:40}\""),
    ("twilio-auth-token", "TWILIO_AUTH_TOKEN='{h:32}'"),
    ("okta-token", "okta_api_token=00{an:40}"),
    ("algolia-key", "\"algolia_api_key\": \"{h:32}\""),
    ("azure-key", "AZURE_CLIENT_SECRET={an:40}"),
    ("snyk-token", "SNYK_TOKEN={uuid}"),
    ("npm-registry-token", "//registry.example.test/:_authToken={uuid}"),
    ("named-secret", "client_secret={an:32}"),
    ("named-secret", "{\"apiKey\": \"{an:40}\"}"),
    ("named-secret", "export MY_SERVICE_TOKEN={an:24}"),
    ("named-secret", "the api key: {h:40}, keep it"),
    (
        "named-secret",
        "DefaultEndpointsProtocol=https;AccountName=ann;AccountKey={b:86}==;EndpointSuffix=core",
    ),
    ("named-secret", "SharedAccessKeyName=root;SharedAccessKey={b:43}="),
    ("named-secret", "https://files.example.test/a?se=2026&sig={an:43}%3D"),
    ("named-secret", "CLAUDE_CODE_MESSAGING_TOKEN={h:64}"),
    ("named-secret", "curl --token {an:40} https://a.example.test"),
    ("named-secret", "signing_key: '{b:44}'"),
    ("named-secret", "let secret = \"{an:48}\";"),
    ("password", "password=Tr{an:8}9!z"),
    ("password", "\"db_password\": \"q{an:10}7#\""),
    ("password", "PGPASSWORD={an:16}7a psql"),
    ("password", "log in with password: k9{an:12}"),
    ("password", "mysqldump --password=a1{an:14}"),
    ("authorization-header", "Authorization: Bearer {an:40}7"),
    ("authorization-header", "curl -H 'Authorization: token {h:40}' https://a.example.test"),
    ("authorization-header", "Authorization: Basic {pair}"),
    ("authorization-header", "Proxy-Authorization: Basic {pair}"),
    ("bearer-token", "sent Bearer {an:40}"),
    ("password-in-address", "postgres://ann:{an:12}@db.example.test:5432/app"),
    ("password-in-address", "https://ann:{an:20}@git.example.test/x.git"),
    ("password-in-address", "redis://:{an:16}@cache.example.test"),
    ("password-in-address", "http_proxy=http://ann:{an:9}@proxy.example.test:3128"),
    ("token-in-address", "git clone https://{h:40}@git.example.test/x.git"),
    ("netrc-password", "machine git.example.test login ann password {an:16}"),
    ("private-key", "-----BEGIN RSA PRIVATE KEY-----\n{lines:6}-----END RSA PRIVATE KEY-----"),
    ("private-key", "-----BEGIN OPENSSH PRIVATE KEY-----\n{lines:5}"),
    ("private-key", "-----BEGIN PRIVATE KEY-----\\n{b:64}\\n{b:64}\\n-----END PRIVATE KEY-----"),
    ("private-key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{lines:9}-----END PGP PRIVATE KEY BLOCK-----"),
    ("private-key", "-----BEGIN EC PRIVATE KEY----- {b:64} {b:64} -----END EC PRIVATE KEY-----"),
    ("wireguard-key", "[Interface]\nPrivateKey = {b:43}="),
    (
        "environment",
        "SHELL=/bin/bash\nPWD=/srv/app\nLOGNAME=ann\nHOME=/home/ann\nLANG=C.UTF-8\nTERM=xterm\nPATH=/usr/bin\nX={l:4}",
    ),
];

/// Forms around a token, as people and programs write them down.
const PLACES: &[&str] = &[
    "%",
    "used % to get in, and it worked",
    "TOKEN=%",
    "{\"value\": \"%\"}",
    "first line\nlog: got '%'.\nlast line",
    "see `%`, which is mine",
];

/// What is harmless, and looks as if it were not.
const HARMLESS: &[&str] = &[
    "commit {h:40}",
    "{h:40}",
    "{h:64}",
    "tree {h:64} of commit {h:40}",
    "fixed in {h:7} and {h:10}",
    "md5 {h:32}",
    "id {uuid}",
    "request_id={uuid}",
    "repository = \"{h:32}\"",
    "digest = \"sha256:{h:64}\"",
    "\"integrity\": \"sha512-{b:86}==\"",
    "integrity sha1-{b:27}=",
    "checksum = \"{h:64}\"",
    "image@sha256:{h:64}",
    "token_hash: {h:64}",
    "secret_sha256 = {h:64}",
    "api_key_id={an:20}",
    "key fingerprint SHA256:{b:43}",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b:43} ann@example.test",
    "ssh_key: ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB{b:340} ann@example.test",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{b:900}==",
    "-----BEGIN CERTIFICATE-----\n{lines:8}-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n{lines:3}-----END PUBLIC KEY-----",
    "-----BEGIN PGP SIGNATURE-----\n\n{lines:3}-----END PGP SIGNATURE-----",
    "write -----BEGIN PRIVATE KEY----- at the top of the file",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAIOSFODNN7EXAMPLE",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk_test_xxxxxxxxxxxxxxxxxxxxxxxx",
    "xoxb-your-token-here",
    "OPENAI_API_KEY=sk-...",
    "API_KEY=<your-api-key-{d:3}>",
    "API_KEY=${SECRET_{ud:12}}",
    "API_KEY=$MY_TOKEN_{ud:12}",
    "token: ${{ secrets.DEPLOY_TOKEN_{ud:8} }}",
    "password: \"changeme{d:6}\"",
    "password=********{d:2}",
    "password = os.environ[\"DB_PASSWORD_{d:2}\"]",
    "let token = lexer.next_token({d:4});",
    "token: &'static str, // {d:6}",
    "pub struct Token{d:3} { secret: Secret{d:3} }",
    "secret_key = settings.SECRET_KEY_{d:2}",
    "const KEY: &str = \"loopx.branch.name{d:2}\";",
    "auth_token_expires_in=3600{d:3}",
    "max_tokens: {d:5}",
    "tokens=128000, key=value{d:2}",
    "the password: at least eight characters, {d:1} digits",
    "a secret: nobody reads minutes, not even {d:2} of them",
    "token: required since v{d:1}.{d:2}.{d:1}",
    "key: goals/ship/todos/t-{ld:4}.toml",
    "cache-key: linux-cargo-{h:64}",
    "sort_key = priority_then_age_{d:2}",
    "primary_key={d:12}",
    "public_key = \"{b:43}=\"",
    "pk_live_{an:24}",
    "https://example.test/{h:40}/file.txt?v={h:8}",
    "https://ann@git.example.test/project-{d:4}.git",
    "git@git.example.test:team/project-{d:4}.git",
    "https://user:password@example.test/{d:4}",
    "https://ann:<token>@example.test/{d:4}",
    "postgres://ann:${PGPASSWORD}@db:5432/app{d:4}",
    "ssh://git@git.example.test:2222/x{d:4}.git",
    "Authorization: Bearer <token {d:4}>",
    "Authorization: Bearer $TOKEN_{d:4}",
    "Authorization header is missing ({d:4})",
    "send `Authorization: Basic` with it, see page {d:3}",
    "Bearer authentication is what RFC {d:4} says",
    "task-{an:8} and risk-{an:8} of {d:3}",
    "sk-SK locale, {d:5} words",
    "t-{ld:4} needs t-{ld:4}, evidence e-{ld:4}",
    "at 2026-11-30T12:{d:2}:{d:2}Z",
    "version 1.{d:2}.{d:1}-rc.{d:1}+{h:8}",
    "192.168.{d:2}.{d:2}:80{d:2}",
    "const ICON = \"{b:400}\";",
    "{b:120}\n{b:120}\n{b:120}",
    "PATH=/usr/bin:/bin is set, and HOME=/home/ann, too, {d:3} times",
    "CONFIG_{ud:4}=1\nDEBUG_{ud:4}=0\nLEVEL=3\nMODE=fast\nWIDTH={d:3}\nHEIGHT={d:3}\n",
    "machine learning {d:3}: log in, then choose a password",
    "w3id.org/{an:6}_{l:12}",
    "secret santa list of {d:4}: {l:6}, {l:7}, {l:5}",
    "credential.helper=store --file ~/.git-{l:6}-{d:2}",
    "nextPageToken: \"{an:32}\"",
    "csrf_token is checked in line {d:4}",
    "Loopx-Record: gate/schema-review-{d:3}",
    "Signed-off-by: Ann <ann{d:3}@example.test>",
];

#[test]
fn the_corpus_is_told_apart() {
    let mut dice = Dice(7);
    let (mut positives, mut missed, mut kinds) = (0, Vec::new(), BTreeSet::new());
    let mut named_wrongly = BTreeSet::new();
    let texts =
        TEXTS.iter().flat_map(|(kind, form)| [(*kind, *form, "%"), (*kind, *form, "before\n%\nbehind")]);
    let tokens =
        TOKENS.iter().flat_map(|(kind, form)| PLACES.iter().map(move |place| (*kind, *form, *place)));
    for (kind, form, place) in texts.chain(tokens) {
        let secret = dice.fill(form);
        let text = place.replace('%', &secret);
        let hits = scan(&text);
        positives += 1;
        kinds.insert(kind);
        // What is hard to guess in it must be gone afterwards.
        let hard: Vec<&str> = secret
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| word.len() >= 20 && !form.contains(*word))
            .collect();
        let left = redacted(&text, &hits);
        if hits.is_empty() || hard.iter().any(|word| left.contains(word) && kind != "json-web-token") {
            missed.push(format!("{kind}: {text}\n  {left}"));
        } else if hits.iter().all(|hit| hit.rule != kind) {
            named_wrongly.insert(format!("{kind} as {}", hits[0].rule));
        }
    }
    let mut harmless = 0;
    let mut alarms = Vec::new();
    for form in HARMLESS {
        for _ in 0..12 {
            let text = dice.fill(form);
            harmless += 1;
            alarms.extend(scan(&text).first().map(|hit| format!("{}: {text}", hit.rule)));
        }
    }
    assert!(positives >= 200 && kinds.len() >= 60 && harmless >= 500);
    assert!(
        missed.len() * 100 <= positives,
        "{} of {positives} missed:\n{}",
        missed.len(),
        missed.join("\n")
    );
    assert!(alarms.len() * 200 <= harmless, "{} of {harmless} alarms:\n{}", alarms.len(), alarms.join("\n"));
    assert!(named_wrongly.len() <= 6, "{named_wrongly:#?}");
}

#[test]
fn each_kind_of_the_corpus_is_known() {
    let known = super::kinds();
    assert!(known.len() >= 80, "{}", known.len());
    for (kind, _) in TOKENS.iter().chain(TEXTS) {
        assert!(known.contains(kind), "{kind}");
    }
}

#[test]
fn what_is_written_here_is_harmless() {
    let ours = [
        include_str!("../../../README.md"),
        include_str!("../../../ARCHITECTURE.md"),
        include_str!("../../../CHANGELOG.md"),
        include_str!("../../../docs/data-model.md"),
        include_str!("../../../docs/json.md"),
        include_str!("../../../Cargo.lock"),
        include_str!("../gate.rs"),
        include_str!("../../store/git.rs"),
    ];
    for text in ours {
        let found: Vec<_> = scan(text).into_iter().map(|hit| (hit.rule, &text[hit.range])).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn any_text_can_be_scanned() {
    let mut dice = Dice(11);
    let pieces = [
        "=",
        ":",
        "://",
        "é",
        "🎉",
        "\n",
        "-----BEGIN ",
        "-----",
        "PRIVATE KEY",
        "token",
        "\"",
        "\\",
        "ghp_",
        "@",
        "--",
        " ",
    ];
    for _ in 0..4_000 {
        let text: String = (0..12)
            .map(|_| {
                let piece = pieces[usize::try_from(dice.next() % pieces.len() as u64).unwrap()];
                piece.to_owned() + &dice.fill("{u:3}")
            })
            .collect();
        let hits = scan(&text);
        assert!(hits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start), "{text}: {hits:?}");
        redacted(&text, &hits);
    }
}
