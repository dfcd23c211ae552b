//! Texts that look like credentials: found before they become a record, because what is in a history stays there.
//!
//! A text is gone over once. Where a word begins, the rules with that first letter are tried (`rules.rs`); at each `=` and `:`
//! the name before it is looked at (`names.rs`); private keys, addresses with passwords and dumps of an environment have a look
//! of their own. Nothing is compiled beforehand, and nothing is remembered of what was found but its place.
//!
//! Object ids, digests, UUIDs, images in base64, and what people write in the place of a secret are harmless. A scanner can
//! only know what has a shape or a telling name: `docs/secrets.md` says what gets past it.

mod checks;
#[cfg(test)]
mod corpus;
pub mod custom;
mod names;
mod rules;
mod shape;

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use self::rules::{Part, RULES, Verdict};
use super::{policy::RepositoryId, text::hex};

/// A text that looks like a secret. It says where and never what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The kind, such as `github-pat`.
    pub rule: Cow<'static, str>,
    /// Where it lies, in bytes; on character boundaries.
    pub range: Range<usize>,
}

/// For each byte the rules of which a token can begin with it.
static BEGINS: LazyLock<[Vec<u16>; 256]> = LazyLock::new(|| {
    let mut begins = [const { Vec::new() }; 256];
    for (number, rule) in (0_u16..).zip(RULES) {
        for byte in 0..=u8::MAX {
            let can = match rule.parts[0] {
                Part::L(literal) => literal.as_bytes()[0] == byte,
                Part::Any(literals) => literals.iter().any(|literal| literal.as_bytes()[0] == byte),
                Part::A(set, ..) => set.has(byte),
            };
            if can {
                begins[usize::from(byte)].push(number);
            }
        }
    }
    begins
});

/// The kinds that are known, each once, sorted.
pub fn kinds() -> Vec<&'static str> {
    let mut kinds: Vec<&'static str> =
        RULES.iter().map(|rule| rule.id).chain(names::kinds()).chain(OTHERS).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

const OTHERS: [&str; 2] = ["private-key", "environment"];

/// Everything in `text` that looks like a secret, in order and without overlaps.
pub fn scan(text: &str) -> Vec<Hit> {
    let bytes = text.as_bytes();
    let mut hits: Vec<Hit> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let found = match bytes[at] {
            b'=' | b'>' => names::behind(text, at),
            b':' if bytes[at..].starts_with(b"://") => names::in_address(text, at),
            b':' => names::behind(text, at),
            b'-' if bytes[at..].starts_with(b"-----BEGIN ") => private_key(text, at),
            b'-' if bytes[at..].starts_with(b"--") && is_begin(bytes, at) => names::behind_option(text, at),
            byte if byte.is_ascii_alphanumeric() && is_begin(bytes, at) => {
                token(text, at).or_else(|| word(text, at))
            }
            _ => None,
        };
        match found {
            Some((rule, range)) => {
                // A token that stands behind a name is told by its own rule, and its bounds are known better.
                let own = (range.start > at).then(|| token(text, range.start)).flatten();
                let (rule, range) = own.unwrap_or((rule, range));
                at = range.end.max(at + 1);
                hits.push(Hit { rule: rule.into(), range });
            }
            None => at += 1,
        }
    }
    if let Some(range) = names::environment(text) {
        hits.retain(|hit| !range.contains(&hit.range.start));
        hits.push(Hit { rule: "environment".into(), range });
    }
    hits.sort_by_key(|hit| hit.range.start);
    hits
}

/// `text` with a mark in the place of each secret; nothing when there is none.
pub fn redacted(text: &str, hits: &[Hit]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for hit in hits.iter().filter(|hit| hit.range.end <= text.len()) {
        if hit.range.start < at {
            continue;
        }
        out.push_str(&text[at..hit.range.start]);
        out.push_str(&format!("[redacted:{}]", hit.rule));
        at = hit.range.end;
    }
    out + &text[at..]
}

/// `text` as it is when nothing in it looks like a secret, and with marks otherwise.
pub fn clean(text: &str) -> Cow<'_, str> {
    match &scan(text)[..] {
        [] => Cow::Borrowed(text),
        hits => Cow::Owned(redacted(text, hits)),
    }
}

/// What a person names when they allow a value that only looks like a secret: it says nothing about the value, and nothing in
/// another repository.
pub fn digest(repository: &RepositoryId, value: &str) -> String {
    use sha2::Digest as _;
    let salted =
        sha2::Sha256::new().chain_update(repository.to_string()).chain_update([0]).chain_update(value);
    hex(&salted.finalize())
}

/// A word begins here: nothing of one is before it, or what is, is the end of an escape (`\n`, `%3D`).
fn is_begin(bytes: &[u8], at: usize) -> bool {
    let before = |count: usize| at.checked_sub(count).map(|at| bytes[at]);
    match before(1) {
        Some(b'n' | b'r' | b't') if before(2) == Some(b'\\') => true,
        Some(last) if last.is_ascii_hexdigit() && before(3) == Some(b'%') => true,
        Some(last) => !last.is_ascii_alphanumeric(),
        None => true,
    }
}

/// A token with a shape of its own that begins here.
fn token(text: &str, at: usize) -> Option<(&'static str, Range<usize>)> {
    let bytes = &text.as_bytes()[at..];
    BEGINS[usize::from(*bytes.first()?)].iter().find_map(|number| {
        let rule = &RULES[usize::from(*number)];
        let length = shape::matched(rule.parts, bytes)?;
        if bytes.get(length).is_some_and(u8::is_ascii_alphanumeric) {
            return None;
        }
        let token = &text[at..at + length];
        let is_harmless = match rule.check.map_or(Verdict::Possible, |check| check(token)) {
            Verdict::Certain => false,
            Verdict::Harmless => true,
            Verdict::Possible => {
                stands_for_one(token, rule.parts)
                    || rule.is_weak && !is_mixed(token)
                    || is_in_base64(text.as_bytes(), at, at + length)
            }
        };
        (!is_harmless).then_some((rule.id, at..at + length))
    })
}

/// A word that says that a secret follows.
fn word(text: &str, at: usize) -> Option<(&'static str, Range<usize>)> {
    let rest = &text.as_bytes()[at..];
    let begins =
        |word: &str| rest.len() > word.len() && rest[..word.len()].eq_ignore_ascii_case(word.as_bytes());
    if begins("bearer ") {
        return names::bearer(text, at + "bearer ".len());
    }
    begins("machine ").then(|| names::in_netrc(text, at)).flatten()
}

/// No private key is longer.
const LONGEST_KEY: usize = 64 * 1024;

/// A private key from its head to its foot, or to the end where that is missing. A head alone is none.
fn private_key(text: &str, at: usize) -> Option<(&'static str, Range<usize>)> {
    let rest = &text[at..];
    let head = &rest[..rest.floor_char_boundary(80)];
    let end_of_head = head[11..].find("-----")? + 16;
    let kind = &head[..end_of_head];
    if !kind.contains("PRIVATE KEY") || kind.contains('\n') {
        return None;
    }
    let body = &rest[end_of_head..rest.floor_char_boundary(end_of_head + LONGEST_KEY)];
    // Line ends may be written as escapes, and white space may have been lost.
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let near = &body[..body.floor_char_boundary(400)];
    let is_key =
        |line: &str| line.len() >= 24 && !placeholder(line) && shape::entropy(line.as_bytes()) >= 3.5;
    if !near.split(|c| !is_of_key(c)).any(is_key) {
        return None;
    }
    let end = match body.find("-----END ") {
        Some(foot) => body[foot + 9..].find("-----").map_or(body.len(), |end| foot + 14 + end),
        None => body
            .find(|c: char| !is_of_key(c) && !c.is_whitespace() && !matches!(c, '\\' | ':' | ',' | '-'))
            .unwrap_or(body.len()),
    };
    Some(("private-key", at..at + end_of_head + end))
}

/// Written in the place of a secret, by the look of the whole.
fn placeholder(text: &str) -> bool {
    const SIGNS: [&str; 26] = [
        "example",
        "placeholder",
        "changeme",
        "change-me",
        "change_me",
        "your",
        "xxxx",
        "redacted",
        "dummy",
        "sample",
        "${",
        "{{",
        "...",
        "****",
        "fixme",
        "insert",
        "replace",
        "fake",
        "foobar",
        "not-real",
        "notreal",
        "not_a_",
        "mysecret",
        "my-secret",
        "my_secret",
        "0000000000",
    ];
    let lower = text.to_ascii_lowercase();
    SIGNS.iter().any(|sign| lower.contains(sign)) || text.contains('…') || is_monotonous(text.as_bytes())
}

/// The same for what has the shape of a token: what could be there by accident does not count.
fn stands_for_one(token: &str, parts: &[Part]) -> bool {
    const SIGNS: [&str; 6] = ["example", "placeholder", "xxxxx", "redacted", "your", "changeme"];
    let fixed = match parts {
        [Part::L(literal), ..] => literal.len(),
        [Part::Any(literals), ..] => literals.iter().find(|l| token.starts_with(**l)).map_or(0, |l| l.len()),
        _ => 0,
    };
    let body = &token[fixed..];
    let lower = body.to_ascii_lowercase();
    SIGNS.iter().any(|sign| lower.contains(sign)) || is_monotonous(body.as_bytes())
}

/// Few different characters, or one many times over.
fn is_monotonous(text: &[u8]) -> bool {
    let mut seen = [false; 256];
    text.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    let different = seen.iter().filter(|seen| **seen).count();
    let longest = text.chunk_by(|a, b| a == b).map(<[u8]>::len).max().unwrap_or_default();
    different <= 4.min(text.len() / 2) || longest >= 10
}

/// Letters and digits that are mixed as only chance mixes them.
fn is_mixed(token: &str) -> bool {
    let bytes = token.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let turns = bytes.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    digits >= 2 && turns >= 4 && shape::entropy(bytes) >= 3.2
}

/// It is a piece of something much longer in base64, such as an image.
fn is_in_base64(bytes: &[u8], from: usize, to: usize) -> bool {
    let is_of_it = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'+' | b'/');
    let before = bytes[..from].iter().rev().take(64).take_while(is_of_it).count();
    let behind = bytes[to..].iter().take(64).take_while(is_of_it).count();
    before + behind >= 48
}
