//! A command that ran: what may be kept of its words, and how it ended.
//!
//! Publishers take secrets as arguments. What looks like one never gets into a record: rather a word too many is hidden
//! than one too few.

use std::fmt;

use super::{secret, text::shown};

/// The words of a command, fit to keep: secrets hidden, each word and their number bounded, nothing in them that acts on a
/// screen.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct CommandLine(Vec<String>);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// By itself, with this exit code.
    Exit(u8),
    /// By this signal.
    Signal(u8),
}

/// What stands for a secret.
const HIDDEN: &str = "***";
/// Most characters of a word, and most words.
const WORD: usize = 200;
const WORDS: usize = 40;

impl CommandLine {
    /// What may be kept of the words of a command, its program first.
    pub fn of(argv: &[impl AsRef<str>]) -> Self {
        let is_cargo =
            argv.first().is_some_and(|program| program.as_ref().rsplit('/').next() == Some("cargo"));
        let mut hider = Hider { short_p_is_harmless: is_cargo, next_is_secret: false };
        let mut words: Vec<String> =
            argv.iter().map(|word| bounded(&secret::clean(&hider.argument(word.as_ref())))).collect();
        if words.len() > WORDS {
            words.truncate(WORDS - 1);
            words.push("…".to_owned());
        }
        Self(words)
    }
}

/// A text was no command that can be kept and run again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCommand {
    #[error("there is no command in it")]
    Empty,
    #[error("a quote in it does not end")]
    Quote,
    #[error(
        "`{0}` means something to a shell, and no shell reads it (put it in quotes, or run one: `sh -c '…'`)"
    )]
    Shell(char),
    #[error("it looks as if there is a secret in it, or it is too long or has control characters to be kept")]
    Unfit,
}

impl CommandLine {
    /// A command that can be run again as it is kept: there is nothing in `text` that would be hidden or cut. Its words are
    /// told apart as a shell does, with quotes and backslashes; what else means something to a shell is refused.
    pub fn typed(text: &str) -> Result<Self, BadCommand> {
        let words = words(text)?;
        if words.is_empty() {
            return Err(BadCommand::Empty);
        }
        let kept = Self::of(&words);
        if kept.0 == words { Ok(kept) } else { Err(BadCommand::Unfit) }
    }

    /// The words, its program first.
    pub fn words(&self) -> &[String] {
        &self.0
    }
}

fn words(text: &str) -> Result<Vec<String>, BadCommand> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => loop {
                match characters.next().ok_or(BadCommand::Quote)? {
                    '\'' => {
                        word.get_or_insert_default();
                        break;
                    }
                    inside => word.get_or_insert_default().push(inside),
                }
            },
            '"' => loop {
                match characters.next().ok_or(BadCommand::Quote)? {
                    '"' => {
                        word.get_or_insert_default();
                        break;
                    }
                    '\\' => match characters.next().ok_or(BadCommand::Quote)? {
                        escaped @ ('"' | '\\' | '$' | '`') => word.get_or_insert_default().push(escaped),
                        other => word.get_or_insert_default().extend(['\\', other]),
                    },
                    shell @ ('$' | '`') => return Err(BadCommand::Shell(shell)),
                    inside => word.get_or_insert_default().push(inside),
                }
            },
            '\\' => word.get_or_insert_default().push(characters.next().ok_or(BadCommand::Quote)?),
            shell @ ('|' | '&' | ';' | '<' | '>' | '$' | '`' | '*' | '?' | '(' | ')') => {
                return Err(BadCommand::Shell(shell));
            }
            inside => word.get_or_insert_default().push(inside),
        }
    }
    words.extend(word);
    Ok(words)
}

/// What may be kept of what a command printed: no colours, and nothing that looks like a secret.
pub fn harmless(output: &str) -> String {
    let lines = without_colours(output);
    let lines =
        lines.lines().map(|line| Hider { short_p_is_harmless: true, next_is_secret: false }.argument(line));
    let text = lines.collect::<Vec<_>>().join("\n");
    secret::clean(&text).into_owned()
}

/// What a command printed, fit to keep: about `limit` bytes of its head and as many of its tail, without colours and
/// without what looks like a secret, line by line.
pub fn printed(head: &[u8], tail: &[u8], left_out: u64, limit: usize) -> String {
    let lines = |bytes: &[u8]| -> String {
        let text = harmless(&String::from_utf8_lossy(bytes));
        text.lines().map(|line| shown(line.replace('\t', "    ").trim_end(), limit) + "\n").collect()
    };
    if left_out == 0 {
        let all = lines(&[head, tail].concat());
        if all.len() <= 2 * limit {
            return all;
        }
        let (head, tail) = (all.floor_char_boundary(limit), all.ceil_char_boundary(all.len() - limit));
        return format!("{}\n…\n{}", all[..head].trim_end(), &all[tail..]);
    }
    // Half a line may be half a secret.
    let whole = |at: Option<usize>, otherwise: usize| at.map_or(otherwise, |at| at + 1);
    let head = &head[..whole(head.iter().rposition(|byte| *byte == b'\n'), 0)];
    let tail = &tail[whole(tail.iter().position(|byte| *byte == b'\n'), tail.len())..];
    let (mut head, tail) = (lines(head), lines(tail));
    head.truncate(head.floor_char_boundary(limit));
    let tail = &tail[tail.ceil_char_boundary(tail.len().saturating_sub(limit))..];
    format!("{}\n… {left_out} bytes and more left out …\n{tail}", head.trim_end())
}

/// Without the sequences that terminals take as colours and movements.
pub fn without_colours(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = behind.trim_start_matches(|c: char| matches!(c, '0'..='?' | ' '..='/'));
        let mut characters = rest.chars();
        characters.next();
        rest = characters.as_str();
    }
    out + rest
}

/// An escape is longer than what it stands for, so that it is cut after escaping.
fn bounded(word: &str) -> String {
    shown(&shown(word, WORD), WORD - 1)
}

impl TryFrom<Vec<String>> for CommandLine {
    type Error = String;
    fn try_from(words: Vec<String>) -> Result<Self, String> {
        let fits = |word: &String| shown(word, WORD) == *word;
        match words.len() {
            1..=WORDS if words.iter().all(fits) => Ok(Self(words)),
            _ => Err(format!(
                "a command has 1 to {WORDS} words of at most {WORD} characters that can be shown"
            )),
        }
    }
}

impl From<CommandLine> for Vec<String> {
    fn from(line: CommandLine) -> Self {
        line.0
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

impl Ended {
    /// The exit code that shells give it.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Exit(code) => code,
            Self::Signal(signal) => signal.saturating_add(128),
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Signal(signal) => write!(f, "ended by signal {signal}"),
        }
    }
}

/// Goes over words from left to right: an option may say that the next one is a secret.
struct Hider {
    /// To cargo `-p` is a package; to most others it is a password.
    short_p_is_harmless: bool,
    next_is_secret: bool,
}

impl Hider {
    /// One argument, which may be a command line, a header or a URL itself.
    fn argument(&mut self, argument: &str) -> String {
        if std::mem::take(&mut self.next_is_secret) {
            return HIDDEN.to_owned();
        }
        if argument.contains("-----BEGIN") {
            return HIDDEN.to_owned();
        }
        let mut out = String::new();
        for part in argument.split_inclusive(char::is_whitespace) {
            let word = part.trim_end_matches(char::is_whitespace);
            if word.is_empty() {
                out.push_str(part);
                continue;
            }
            if std::mem::take(&mut self.next_is_secret) {
                out.push_str(HIDDEN);
            } else if names_a_secret_header(word) {
                // `Authorization: Bearer …`: everything behind it.
                return format!("{out}{word} {HIDDEN}");
            } else {
                out.push_str(&self.word(word));
            }
            out.push_str(&part[word.len()..]);
        }
        out
    }

    fn word(&mut self, word: &str) -> String {
        let word = &without_userinfo(word);
        if let Some(start) = known_token(word) {
            return format!("{}{HIDDEN}", &word[..start]);
        }
        for (at, sign) in word.char_indices().filter(|(_, c)| matches!(c, '=' | ':')) {
            let name = trailing_name(&word[..at]);
            let value = &word[at + sign.len_utf8()..];
            if is_secret_name(name) && !value.is_empty() {
                return format!("{}{sign}{HIDDEN}", &word[..at]);
            }
            self.next_is_secret |= is_secret_name(name);
        }
        if let Some(value) = word.strip_prefix("-p").filter(|_| !self.short_p_is_harmless) {
            self.next_is_secret |= value.is_empty();
            return if value.is_empty() { word.clone() } else { format!("-p{HIDDEN}") };
        }
        if let Some(user) = word.split_once(':').map(|(user, _)| user).filter(|_| word.starts_with("-u")) {
            return format!("{user}:{HIDDEN}");
        }
        // `--token`, and npm's `//registry.example/:_authToken`.
        let name = trailing_name(word);
        let is_option = word.starts_with('-') || word[..word.len() - name.len()].ends_with("/:");
        self.next_is_secret |= is_option && is_secret_name(name);
        word.clone()
    }
}

/// The name before a `=` or `:`, with or without the quotes of JSON.
fn trailing_name(text: &str) -> &str {
    let text = text.trim_end_matches(['"', '\'', '\\']);
    let begin = text.rfind(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'));
    &text[begin.map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8))..]
}

fn names_a_secret_header(word: &str) -> bool {
    word.strip_suffix(':').is_some_and(|name| is_secret_name(trailing_name(name)))
}

fn is_secret_name(name: &str) -> bool {
    const PARTS: [&str; 7] =
        ["token", "password", "passwd", "passphrase", "secret", "credential", "authorization"];
    const ENDS: [&str; 3] = ["auth", "key", "pass"];
    const WHOLE: [&str; 4] = ["otp", "pat", "pin", "bearer"];
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    PARTS.iter().any(|part| name.contains(part))
        || ENDS.iter().any(|end| name.ends_with(end))
        || WHOLE.contains(&name.as_str())
}

/// `https://ann:secret@host` and `https://secret@host`, without what stands before the `@`.
fn without_userinfo(word: &str) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find("://") {
        let (scheme, behind) = rest.split_at(at + 3);
        out.push_str(scheme);
        let end = behind.find(['/', '?', '#']).unwrap_or(behind.len());
        rest = match behind[..end].rfind('@') {
            Some(at) if &behind[..at] != "git" => {
                out.push_str(HIDDEN);
                &behind[at..]
            }
            _ => behind,
        };
    }
    out + rest
}

/// Where something begins that looks like a token whatever stands before it.
fn known_token(word: &str) -> Option<usize> {
    const ANYWHERE: [&str; 11] = [
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "npm_",
        "pypi-",
        "dckr_pat_",
        "rubygems_",
    ];
    const AT_THE_START: [&str; 5] = ["xoxb-", "xoxp-", "sk-", "AKIA", "eyJ"];
    let is_other = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_');
    let mut start = 0;
    for run in word.split_inclusive(is_other) {
        let text = run.trim_end_matches(is_other);
        let has_digits = text.bytes().any(|b| b.is_ascii_digit());
        let begins = ANYWHERE
            .iter()
            .filter_map(|beginning| text.find(beginning))
            .min()
            .or_else(|| AT_THE_START.iter().any(|beginning| text.starts_with(beginning)).then_some(0))
            .filter(|_| text.len() >= 16);
        // Hex is left alone: commits and digests are.
        let is_random = |part: &str| {
            part.len() >= 32
                && part.bytes().any(|b| b.is_ascii_uppercase())
                && part.bytes().any(|b| b.is_ascii_lowercase())
        };
        let random = || text.split('-').any(is_random).then_some(0);
        if let Some(at) = begins.or_else(random).filter(|_| has_digits) {
            return Some(start + at);
        }
        start += run.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(argv: &[&str], expected: &str) {
        assert_eq!(CommandLine::of(argv).to_string(), expected);
    }

    #[test]
    fn what_looks_like_a_secret_is_hidden() {
        let ghp = "ghp_0123456789abcdefghij0123456789abcdef";
        check(&["cargo", "publish", "--token", "abc"], "cargo publish --token ***");
        check(&["cargo", "publish", "--token=abc", "-p", "core"], "cargo publish --token=*** -p core");
        check(&["/usr/bin/cargo", "publish", "-pcore"], "/usr/bin/cargo publish -pcore");
        check(
            &["twine", "upload", "-u", "__token__", "-p", "abc", "dist/*"],
            "twine upload -u __token__ -p *** dist/*",
        );
        check(&["twine", "upload", "-pabc"], "twine upload -p***");
        check(&["uv", "publish", "--password", "a b c"], "uv publish --password ***");
        check(
            &["npm", "publish", "--//r.example/:_authToken=abc"],
            "npm publish --//r.example/:_authToken=***",
        );
        check(
            &["npm", "config", "set", "//r.example/:_authToken", "abc"],
            "npm config set //r.example/:_authToken ***",
        );
        check(&["npm", "publish", "--otp", "123456"], "npm publish --otp ***");
        check(&["env", "CARGO_REGISTRY_TOKEN=abc", "cargo"], "env CARGO_REGISTRY_TOKEN=*** cargo");
        check(
            &["sh", "-c", "NPM_TOKEN=abc npm publish --tag next"],
            "sh -c NPM_TOKEN=*** npm publish --tag next",
        );
        check(&["sh", "-c", "cargo publish --token abc -v"], "sh -c cargo publish --token *** -v");
        check(&["curl", "-H", "Authorization: Bearer a b"], "curl -H Authorization: ***");
        check(&["curl", "-HX-Api-Key:abc"], "curl -HX-Api-Key:***");
        check(&["curl", "-uann:abc", "https://x.example/"], "curl -uann:*** https://x.example/");
        check(&["curl", "-d", r#"{"password":"abc"}"#], r#"curl -d {"password":***"#);
        check(&["git", "push", "https://ann:abc@x.example/r"], "git push https://***@x.example/r");
        check(&["git", "push", "https://abc@x.example/r"], "git push https://***@x.example/r");
        check(
            &["curl", "https://x.example/?a=b&access_token=abc&c=d"],
            "curl https://x.example/?a=b&access_token=***",
        );
        check(&["gh", "x", ghp], "gh x ***");
        check(&["gh", "x", &format!("-f{ghp}")], "gh x -f***");
        check(&["x", "cioQ7Bxk2LmP0aZr9TnVw4Yd6HsJfGu8E1"], "x ***");
        check(&["x", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc"], "x ***");
    }

    #[test]
    fn what_is_none_is_kept() {
        for plain in [
            "git push git@x.example:ann/r.git v1.2.0 ssh://git@x.example/r",
            "gh release create v1.0 --title Authors --notes-file CHANGELOG.md",
            "cargo publish --manifest-path crates/a/Cargo.toml --registry local",
            "docker push r.example:5000/ann/app:1.2@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "twine upload dist/pkg-1.0-cp312-cp312-manylinux_2_28_x86_64.whl",
            "sh -c exit 3",
        ] {
            let argv: Vec<&str> = match plain.split_once(" -c ") {
                Some((sh, script)) => vec![sh, "-c", script],
                None => plain.split(' ').collect(),
            };
            check(&argv, plain);
        }
    }

    #[test]
    fn a_typed_command_is_split_like_a_shell_does_and_nothing_more() {
        let split = |text: &str| CommandLine::typed(text).map(|line| line.words().join("|"));
        for (text, words) in [
            ("cargo test", "cargo|test"),
            ("  a\t'b c' \"d \\\" e\" f\\ g '' ", "a|b c|d \" e|f g|"),
            ("sh -c 'a && b > c'", "sh|-c|a && b > c"),
            ("x a\"b\"'c'", "x|abc"),
        ] {
            assert_eq!(split(text).as_deref(), Ok(words), "{text}");
        }
        for (text, why) in [
            (" ", BadCommand::Empty),
            ("a 'b", BadCommand::Quote),
            ("a && b", BadCommand::Shell('&')),
            ("a $HOME", BadCommand::Shell('$')),
            ("a \"$(b)\"", BadCommand::Shell('$')),
            ("curl --token abc", BadCommand::Unfit),
        ] {
            assert_eq!(split(text), Err(why), "{text}");
        }
        assert_eq!(split(&"a ".repeat(99)), Err(BadCommand::Unfit));
    }

    #[test]
    fn what_was_printed_is_bounded_and_has_no_secrets_or_colours() {
        assert_eq!(printed(b"a\n\x1b[31mred\x1b[0m\n\tb", b"", 0, 100), "a\nred\n    b\n");
        assert_eq!(printed(b"token: abc\nPASSWORD=x y\n", b"", 0, 100), "token: ***\nPASSWORD=*** y\n");
        assert_eq!(
            printed(b"head\nTOKEN=a", b"bc\ntail\n", 7, 100),
            "head\n… 7 bytes and more left out …\ntail\n"
        );
        assert_eq!(printed(b"TOKEN=a", b"bc d\n", 0, 100), "TOKEN=*** d\n");
        assert_eq!(printed(b"aaaa\nbbbb\ncccc\ndddd\n", b"", 0, 5), "aaaa\n…\ndddd\n");
        assert_eq!(printed(b"\x1b]0;x\x07\xff\x1b[", b"", 0, 100), "\\u{1b}]0;x\\u{7}\u{fffd}\n");
    }

    #[test]
    fn it_is_bounded_and_fit_to_print() {
        let long = "x".repeat(5_000);
        let argv: Vec<&str> = std::iter::repeat_n(long.as_str(), 500).collect();
        let kept: Vec<String> = CommandLine::of(&argv).into();
        assert_eq!((kept.len(), kept[0].chars().count(), kept[39].as_str()), (40, 200, "…"));
        check(&["a", "\u{1b}[2J", "b\nc"], "a \\u{1b}[2J b\\u{a}c");
        for argv in [vec![], vec!["a\nb".to_owned()], vec!["x".repeat(201)], vec!["a".to_owned(); 41]] {
            assert!(CommandLine::try_from(argv.clone()).is_err(), "{argv:?}");
        }
        for argv in [&["a"][..], &argv, &["\u{1b}".repeat(300).as_str(), "é"]] {
            let kept = CommandLine::of(argv);
            assert_eq!(CommandLine::try_from(Vec::from(kept.clone())), Ok(kept));
        }
    }

    #[test]
    fn exit_codes_are_those_of_shells() {
        assert_eq!(Ended::Exit(3).exit_code(), 3);
        assert_eq!(Ended::Signal(2).exit_code(), 130);
    }
}
