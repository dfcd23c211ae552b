//! Values that are told by the name beside them: `API_KEY=…`, `"password": "…"`, `--token …`, `Authorization: …`.
//!
//! A name alone is no secret and neither is any word behind one, so the value has to look as if nobody had thought of it:
//! most of what stands behind `token:` in prose and in code is harmless.

use std::ops::Range;

use super::{checks, placeholder, shape::entropy};

/// How much a name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// People choose passwords, so that short ones count.
    Password,
    /// Made by machines.
    Token,
    /// `Authorization`: a scheme and what goes with it.
    Header,
}

/// Providers whose keys have no shape of their own: what the name contains, the rule, and whether a UUID counts.
const PROVIDERS: &[(&str, &str, bool)] = &[
    ("aws", "aws-secret-access-key", false),
    ("datadog", "datadog-key", false),
    ("heroku", "heroku-key", true),
    ("cloudflare", "cloudflare-key", false),
    ("twilio", "twilio-auth-token", false),
    ("okta", "okta-token", false),
    ("algolia", "algolia-key", false),
    ("azure", "azure-key", true),
    ("facebook", "facebook-secret", false),
    ("twitter", "twitter-secret", false),
    ("linkedin", "linkedin-secret", false),
    ("dropbox", "dropbox-secret", false),
    ("fastly", "fastly-key", false),
    ("snyk", "snyk-token", true),
    ("codecov", "codecov-token", true),
    ("travis", "travis-token", false),
    ("pagerduty", "pagerduty-key", false),
    ("zendesk", "zendesk-secret", false),
    ("asana", "asana-secret", false),
    ("bitbucket", "bitbucket-secret", false),
    ("coinbase", "coinbase-secret", false),
    ("kraken", "kraken-secret", false),
    ("sumologic", "sumologic-key", false),
    ("intercom", "intercom-key", false),
    ("messagebird", "messagebird-key", true),
    ("postmark", "postmark-token", true),
    ("rollbar", "rollbar-token", false),
    ("bugsnag", "bugsnag-key", false),
    ("cohere", "cohere-key", false),
    ("mistral", "mistral-key", false),
    ("deepgram", "deepgram-key", false),
    ("launchdarkly", "launchdarkly-key", true),
    ("railway", "railway-token", true),
    ("circle", "circleci-token", false),
    ("nexmo", "nexmo-secret", false),
    ("auth0", "auth0-secret", false),
    ("npm", "npm-registry-token", true),
    ("authtoken", "npm-registry-token", true),
];

/// What the name of a token contains.
const TOKENS: &[&str] = &[
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "authkey",
    "credential",
    "signingkey",
    "encryptionkey",
    "accountkey",
    "masterkey",
    "servicekey",
    "clientkey",
    "licensekey",
    "deploykey",
    "sessionkey",
    "sharedkey",
];

/// What makes a name that sounds like it harmless.
const HARMLESS: &[&str] = &[
    "public",
    "tokeniz",
    "tokentype",
    "tokencount",
    "hash",
    "digest",
    "checksum",
    "integrity",
    "fingerprint",
    "nexttoken",
    "pagetoken",
    "continuationtoken",
    "csrf",
    "secretname",
    "secretref",
    "secretarn",
    "idempotency",
    "sha1",
    "sha256",
    "sha512",
    "md5",
    "cachekey",
];

/// What the name of something about a secret ends with.
const ABOUT: &[&str] = &[
    "id",
    "ids",
    "name",
    "names",
    "path",
    "file",
    "dir",
    "url",
    "uri",
    "type",
    "count",
    "limit",
    "length",
    "size",
    "ttl",
    "expiry",
    "expires",
    "expiresin",
    "expiresat",
    "field",
    "header",
    "env",
    "var",
    "label",
    "prefix",
    "suffix",
    "policy",
    "rotation",
    "version",
    "arn",
    "ref",
    "hint",
    "format",
    "pattern",
    "regex",
    "store",
    "manager",
    "provider",
    "algorithm",
    "kind",
    "class",
    "by",
    "for",
    "from",
    "with",
    "and",
    "is",
    "rules",
    "endpoint",
    "location",
    "usage",
    "budget",
    "sha",
];

/// A secret behind the `=`, `:` or `>` at `sign`.
pub(super) fn behind(text: &str, sign: usize) -> Option<(&'static str, Range<usize>)> {
    let name = name_before(text, sign);
    let (name, telling) = (normal(name), telling(name)?);
    let value = value_behind(text, sign + 1)?;
    judged(text, &name, telling, value)
}

/// A secret behind an option `--token` that begins at `at`.
pub(super) fn behind_option(text: &str, at: usize) -> Option<(&'static str, Range<usize>)> {
    let behind = &text[at..];
    let name = behind.split([' ', '=']).next()?;
    let plain = name.trim_start_matches('-');
    let is_option = name.len() < 40 && behind[name.len()..].starts_with(' ');
    let telling = telling(plain).filter(|_| is_option)?;
    let value = value_behind(text, at + name.len() + 1)?;
    judged(text, &normal(plain), telling, value)
}

/// The token behind `Bearer `, where `at` is the place behind the blank.
pub(super) fn bearer(text: &str, at: usize) -> Option<(&'static str, Range<usize>)> {
    let value = value_behind(text, at)?;
    is_drawn(&text[value.clone()], Telling::Token, false).then_some(("bearer-token", value))
}

/// The password in an address, where `at` is the place of its `://`.
pub(super) fn in_address(text: &str, at: usize) -> Option<(&'static str, Range<usize>)> {
    let begin = at + 3;
    let rest = &text[begin..];
    let ends = |c: char| {
        c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '`' | '\\' | '|')
    };
    let authority = &rest[..rest.find(ends).unwrap_or(rest.len()).min(rest.floor_char_boundary(400))];
    let info = &authority[..authority.rfind('@')?];
    if let Some((_, password)) = info.split_once(':') {
        let is_dummy = matches!(
            password,
            "password" | "pass" | "passwd" | "pw" | "secret" | "pwd" | "user" | "x-oauth-basic"
        ) || password.len() < 3
            || placeholder(password)
            || is_code(password);
        let from = begin + info.len() - password.len();
        return (!is_dummy).then_some(("password-in-address", from..from + password.len()));
    }
    is_drawn(info, Telling::Token, false).then_some(("token-in-address", begin..begin + info.len()))
}

/// The password of a line of a `.netrc`, where `at` is the place of its `machine `.
pub(super) fn in_netrc(text: &str, at: usize) -> Option<(&'static str, Range<usize>)> {
    let rest = &text[at..text.floor_char_boundary(at.saturating_add(400))];
    let login = rest.find("login ")?;
    let from = login + rest[login..].find("password ")? + "password ".len();
    let value = value_behind(text, at + from)?;
    let word = &text[value.clone()];
    (word.len() >= 6 && !placeholder(word) && !is_code(word) && rest[..from].split_whitespace().count() == 5)
        .then_some(("netrc-password", value))
}

/// Lines that look as `env` prints them: so many of them, and some that every environment has.
pub(super) fn environment(text: &str) -> Option<Range<usize>> {
    const USUAL: [&str; 12] = [
        "PATH", "HOME", "PWD", "SHELL", "USER", "LOGNAME", "TERM", "LANG", "SHLVL", "OLDPWD", "HOSTNAME", "_",
    ];
    if !text.contains("PATH=") && !text.contains("HOME=") {
        return None;
    }
    let (mut at, mut begin, mut lines, mut usual) = (0, 0, 0, 0);
    for line in text.split_inclusive('\n') {
        let plain = line.trim_start_matches("export ").trim_start_matches("declare -x ");
        let name = plain.split('=').next().unwrap_or_default();
        let is_variable = name.len() < plain.trim_end().len()
            && !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        if is_variable {
            begin = if lines == 0 { at } else { begin };
            lines += 1;
            usual += usize::from(USUAL.contains(&name));
        } else if lines >= 6 && usual >= 3 {
            break;
        } else {
            (lines, usual) = (0, 0);
        }
        at += line.len();
    }
    (lines >= 6 && usual >= 3).then_some(begin..at)
}

fn judged(
    text: &str,
    name: &str,
    telling: Telling,
    value: Range<usize>,
) -> Option<(&'static str, Range<usize>)> {
    let word = &text[value.clone()];
    if telling == Telling::Header {
        return header(text, value);
    }
    let provider = PROVIDERS.iter().find(|(part, ..)| name.contains(part) && telling == Telling::Token);
    let with_uuid = provider.is_some_and(|(.., with_uuid)| *with_uuid);
    let rule = match (provider, telling) {
        (Some((_, rule, _)), _) => rule,
        (None, Telling::Password) => "password",
        (None, _) => "named-secret",
    };
    is_drawn(word, telling, with_uuid).then_some((rule, value))
}

/// `Bearer …`, `Basic …`, or the token alone.
fn header(text: &str, value: Range<usize>) -> Option<(&'static str, Range<usize>)> {
    const SCHEMES: [&str; 8] =
        ["bearer", "basic", "token", "apikey", "digest", "negotiate", "github-bearer", "key"];
    let first = text[value.clone()].to_ascii_lowercase();
    let value = match SCHEMES.contains(&first.as_str()) {
        true => value_behind(text, value.end)?,
        false => value,
    };
    let word = &text[value.clone()];
    if first == "basic" {
        let pair = checks::decoded(word).and_then(|pair| String::from_utf8(pair).ok());
        let is_pair = pair.is_some_and(|pair| pair.contains(':') && !placeholder(&pair));
        return (word.len() >= 8 && is_pair).then_some(("authorization-header", value));
    }
    let is_word = word.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b'.'));
    (word.len() >= 10 && !is_word && !placeholder(word) && !is_code(word) && !word.contains("://"))
        .then_some(("authorization-header", value))
}

/// The name that stands before a sign, with or without the quotes of JSON; of `api key` both words.
fn name_before(text: &str, sign: usize) -> &str {
    const FIRST: [&str; 12] = [
        "api",
        "access",
        "secret",
        "private",
        "auth",
        "signing",
        "encryption",
        "master",
        "service",
        "client",
        "license",
        "account",
    ];
    let head =
        text[text.floor_char_boundary(sign.saturating_sub(80))..sign].trim_end_matches([' ', '\t', '=', ':']);
    let head = head.trim_end_matches(['"', '\'', '\\', ']', '`', '?']);
    let is_of_it = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let last_word = |head: &str| head.len() - head.chars().rev().take_while(is_of_it).count();
    let begin = last_word(head);
    if head[begin..].eq_ignore_ascii_case("key")
        && let Some(before) = head[..begin].strip_suffix(' ')
    {
        let first = last_word(before);
        if FIRST.iter().any(|word| before[first..].eq_ignore_ascii_case(word)) {
            return &head[first..];
        }
    }
    &head[begin..]
}

fn normal(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn telling(name: &str) -> Option<Telling> {
    if name.len() < 3 {
        return None;
    }
    let words = name.rsplit(['_', '-', '.', ' ']).next().unwrap_or_default();
    let last = words.to_ascii_lowercase();
    let camel = words.rfind(|c: char| c.is_ascii_uppercase()).map(|at| words[at..].to_ascii_lowercase());
    let name = normal(name);
    if HARMLESS.iter().any(|part| name.contains(part)) || ABOUT.contains(&last.as_str()) {
        return None;
    }
    if camel.is_some_and(|last| last != name && ABOUT.contains(&last.as_str())) {
        return None;
    }
    if name.ends_with("authorization") {
        return Some(Telling::Header);
    }
    if ["password", "passwd", "passphrase", "passwort"].iter().any(|part| name.contains(part))
        || ["pwd", "pass"].iter().any(|end| name.ends_with(end) && last.as_str() != "bypass")
    {
        return Some(Telling::Password);
    }
    let is_key = last == "key"
        && name.len() > 3
        && !["primarykey", "foreignkey", "sortkey", "partitionkey", "hostkey", "sshkey"]
            .contains(&name.as_str());
    (TOKENS.iter().any(|part| name.contains(part))
        || is_key
        || ["auth", "pat", "sid", "sig", "signature", "session", "connection", "webhook"]
            .contains(&last.as_str()))
    .then_some(Telling::Token)
}

/// Where the value behind a name lies: up to the closing quote, or as far as one word goes.
fn value_behind(text: &str, mut at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let skipped = bytes[at..]
        .iter()
        .take(6)
        .take_while(|byte| matches!(**byte, b' ' | b'\t' | b'=' | b'>' | b':'))
        .count();
    at += skipped;
    let at =
        at + usize::from(bytes.get(at) == Some(&b'\\') && matches!(bytes.get(at + 1), Some(b'"' | b'\'')));
    let quote = bytes.get(at).filter(|byte| matches!(byte, b'"' | b'\'' | b'`')).copied();
    let begin = at + usize::from(quote.is_some());
    let ends = |byte: u8| match quote {
        Some(quote) => byte == quote || byte == b'\n' || byte == b'\\',
        None => {
            byte.is_ascii_whitespace()
                || matches!(
                    byte,
                    b'"' | b'\''
                        | b'`'
                        | b','
                        | b';'
                        | b'&'
                        | b'<'
                        | b'>'
                        | b'|'
                        | b'\\'
                        | b']'
                        | b'}'
                        | b')'
                )
        }
    };
    let length =
        bytes.get(begin..)?.iter().take(4096).position(|byte| ends(*byte)).unwrap_or(bytes.len() - begin);
    let length = length.min(4096);
    let mut end = text.floor_char_boundary(begin + length);
    if quote.is_none() {
        end = begin + text[begin..end].trim_end_matches(['.', ':', '!', '?', ',']).len();
    }
    (begin < end).then_some(begin..end)
}

/// Whether a value looks as if it had been drawn at random (or, a password, as if it were to be hard to guess).
fn is_drawn(value: &str, telling: Telling, with_uuid: bool) -> bool {
    let length = value.len();
    if !(8..=4096).contains(&length)
        || !value.is_ascii()
        || value.contains(' ')
        || placeholder(value)
        || is_code(value)
    {
        return false;
    }
    if is_uuid(value) {
        return with_uuid;
    }
    if ascends(value) || is_something_else(value) || is_made_of_words(value) {
        return false;
    }
    let has = |is: fn(&u8) -> bool| usize::from(value.as_bytes().iter().any(is));
    let letters = has(u8::is_ascii_lowercase) + has(u8::is_ascii_uppercase);
    let (digits, signs) = (has(u8::is_ascii_digit), has(u8::is_ascii_punctuation));
    let entropy = entropy(value.as_bytes());
    match telling {
        Telling::Password => {
            let classes = letters + digits + signs;
            letters > 0
                && digits + signs > 0
                && entropy >= 2.5
                && (classes >= 3 || classes == 2 && length >= 12)
        }
        Telling::Token | Telling::Header => {
            let is_hex = value.bytes().all(|byte| byte.is_ascii_hexdigit());
            match is_hex {
                true => length >= 32 && entropy >= 3.0,
                false => length >= 16 && letters > 0 && digits > 0 && entropy >= 3.3,
            }
        }
    }
}

/// A call, a variable, a template, a type: what stands there in code and settings.
fn is_code(value: &str) -> bool {
    value.starts_with(['$', '%', '@', '&', '*', '!', '-'])
        || value.contains(['(', ')', '{', '}', '[', ']', '<', '>'])
        || value.contains("::")
        || value.contains("$")
            && value.split('$').nth(1).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        || ["process.env", "os.environ", "env.", "secrets.", "vars.", "var.", "data.", "local.", "config."]
            .iter()
            .any(|start| value.starts_with(start))
}

/// A digest with its algorithm, an address, a path, a key that may be public, a time, a version.
fn is_something_else(value: &str) -> bool {
    const STARTS: [&str; 24] = [
        "sha1", "sha256", "sha384", "sha512", "md5:", "SHA256:", "ssh-", "ecdsa-", "http:", "https:", "arn:",
        "urn:", "file:", "/", "./", "../", "~/", "data:", "op://", "vault:", "sops:", "ENC[", "pk_", "did:",
    ];
    STARTS.iter().any(|start| value.starts_with(start))
        || value.contains("://")
        || value.bytes().all(|byte| {
            byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b':' | b'T' | b'Z' | b'+' | b'_')
        })
        || value.contains('@')
            && value.split('@').nth(1).is_some_and(|host| host.contains('.') && is_made_of_words(host))
}

/// Eight, four, four, four and twelve hex digits.
fn is_uuid(value: &str) -> bool {
    let groups: Vec<&str> = value.split('-').collect();
    groups.len() == 5
        && groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Most of it counts up, such as `0123456789abcdef`.
fn ascends(value: &str) -> bool {
    let steps = value.as_bytes().windows(2).filter(|pair| {
        pair[1].wrapping_sub(pair[0]) == 1 || pair == b"9a" || pair == b"9A" || pair == b"90" || pair == b"f0"
    });
    2 * steps.count() > value.len()
}

/// An identifier, a file name, a sentence in kebab case: words of one case and short numbers, with signs between them.
fn is_made_of_words(value: &str) -> bool {
    value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).all(|word| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let turns =
            word.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
        let has_few_digits = digits <= 4 && turns.count() <= 2;
        let upper = word.bytes().skip(1).filter(u8::is_ascii_uppercase).count();
        let is_shouted = word.bytes().all(|byte| !byte.is_ascii_lowercase());
        digits == word.len() && digits <= 8
            || has_few_digits
                && digits < word.len()
                && (is_shouted || 4 * upper <= word.len())
                && has_vowels(word)
    })
}

/// Words can be spoken; what is drawn at random mostly cannot.
fn has_vowels(word: &str) -> bool {
    let is_vowel = |c: char| matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    let longest = word.split(is_vowel).map(str::len).max().unwrap_or_default();
    word.len() < 7 || longest <= 5
}

/// The kinds that are told by a name.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    const OTHERS: [&str; 7] = [
        "password",
        "named-secret",
        "authorization-header",
        "bearer-token",
        "password-in-address",
        "token-in-address",
        "netrc-password",
    ];
    PROVIDERS.iter().map(|(_, rule, _)| *rule).chain(OTHERS)
}
