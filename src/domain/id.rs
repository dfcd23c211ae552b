//! Names of things: slugs that a person may choose, and short random ids.
//!
//! Every id is made by parsing, so whoever holds one holds a legal one. All of them are safe as a file name, as a
//! trailer value and on a terminal.

use std::{fmt, marker::PhantomData, str::FromStr};

use sha2::{Digest as _, Sha256};

/// A text was no id of the kind that was asked for. The message says what the form is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not {} {kind} (expected {expected})", .text.escape_debug(), article(kind))]
pub struct BadId {
    text: String,
    kind: &'static str,
    expected: &'static str,
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $expected:literal, $legal:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The id as it is written everywhere.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                if $legal(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    let text = text.chars().take(80).collect();
                    Err(BadId { text, kind: $kind, expected: $expected })
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadId;
            fn try_from(text: String) -> Result<Self, BadId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

id!(
    /// A goal: `ship-v2`.
    GoalId, "goal id", "lower-case words joined by `-`, 64 characters at most, such as `ship-v2`", is_slug
);
id!(
    /// A gate: `schema-review`.
    GateId, "gate id", "lower-case words joined by `-`, 64 characters at most, such as `schema-review`", is_slug
);
id!(
    /// One answer that a gate offers: `approve`.
    Choice, "decision", "lower-case words joined by `-`, such as `approve`", is_slug
);
id!(
    /// Something the host of an agent can do: `shell`, `network`.
    Capability, "runtime capability", "lower-case words joined by `-`, such as `network`", is_slug
);
impl Capability {
    /// What every host has that runs commands; what is taken for granted where nobody says more.
    pub fn shell() -> Self {
        Self("shell".to_owned())
    }
}

id!(
    /// A todo: `t-7k3q`.
    TodoId, "todo id", "`t-` and 4 to 16 of `0-9a-z` without `ilou`, such as `t-7k3q`", |s: &str| is_short("t-", s)
);
id!(
    /// A piece of evidence: `e-7k3q`.
    EvidenceId, "evidence id", "`e-` and 4 to 16 of `0-9a-z` without `ilou`, such as `e-7k3q`", |s: &str| is_short("e-", s)
);
id!(
    /// A push that went round the hook: `b-7k3q`.
    BypassId, "bypass id", "`b-` and 4 to 16 of `0-9a-z` without `ilou`, such as `b-7k3q`", |s: &str| is_short("b-", s)
);
id!(
    /// An entry of the quota ledger: `s-7k3q9x2m`.
    SpendId, "spend id", "`s-` and 4 to 16 of `0-9a-z` without `ilou`, such as `s-7k3q`", |s: &str| is_short("s-", s)
);
id!(
    /// An agent, named by whoever runs it: `codex-1`.
    AgentId, "agent id", "1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit, such as `codex-1`", is_word
);
id!(
    /// Somebody whose signature approves: `ann`.
    ApproverId, "approver", "1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit, such as `ann`", is_word
);
id!(
    /// One turn of an agent, named by its runner.
    TurnId, "turn id", "1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit, such as `turn-0042`", is_word
);
id!(
    /// The first characters of a todo id, as a person types it: `t-7k`.
    TodoPrefix, "todo id", "`t-` and what follows it, such as `t-7k3q`, or an unambiguous beginning of that",
    |s: &str| s.strip_prefix("t-").is_some_and(|rest| (1..=16).contains(&rest.len()) && rest.bytes().all(is_digit))
);

/// Digits of a short id: no `i`, `l`, `o`, `u`, which are misread and misheard.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const SHORTEST: usize = 4;
const LONGEST: usize = 16;

fn is_digit(byte: u8) -> bool {
    DIGITS.contains(&byte)
}

fn is_short(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|rest| (SHORTEST..=LONGEST).contains(&rest.len()) && rest.bytes().all(is_digit))
}

fn is_slug(text: &str) -> bool {
    text.len() <= 64
        && text.split('-').all(|word| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

fn is_word(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// Random bytes for one new id. A decision that runs twice draws the same id twice, unless it was taken meanwhile.
pub type Entropy = [u8; 16];

/// Draws an id from `entropy`: `kind` is `t-`, `e-` or `b-`.
///
/// The length follows `population`, the number of ids of this kind that exist, so that two clones which draw
/// apart from each other hardly ever meet; a draw that `taken` refuses is lengthened. Returns `None` when even the
/// longest is taken, which for honest random bytes does not happen.
fn draw<T: std::str::FromStr, E>(
    kind: &str,
    entropy: &Entropy,
    population: usize,
    taken: impl Fn(&T) -> Result<bool, E>,
) -> Result<Option<T>, E> {
    let digits: String = entropy.iter().map(|byte| char::from(DIGITS[usize::from(byte % 32)])).collect();
    for length in draw_length(population)..=LONGEST {
        if let Ok(id) = format!("{kind}{}", &digits[..length]).parse()
            && !taken(&id)?
        {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// The shortest length at which a repository with `population` ids expects fewer than one collision in a
/// thousand between all of them (the birthday bound).
fn draw_length(population: usize) -> usize {
    let pairs = (population as f64).powi(2) / 2.0;
    (SHORTEST..LONGEST).find(|&length| pairs / 32f64.powi(length as i32) < 1e-3).unwrap_or(LONGEST)
}

impl TodoId {
    /// A new id that is not `taken`; `None` when even the longest is taken. Its length follows `population`, the number of ids that exist.
    pub fn draw<E>(
        entropy: &Entropy,
        population: usize,
        taken: impl Fn(&Self) -> Result<bool, E>,
    ) -> Result<Option<Self>, E> {
        draw("t-", entropy, population, taken)
    }
}

impl EvidenceId {
    /// A new id that is not `taken`; `None` when even the longest is taken. Its length follows `population`, the number of ids that exist.
    pub fn draw<E>(
        entropy: &Entropy,
        population: usize,
        taken: impl Fn(&Self) -> Result<bool, E>,
    ) -> Result<Option<Self>, E> {
        draw("e-", entropy, population, taken)
    }
}

impl BypassId {
    /// The new id of the `nth` of several records, not `taken`; `None` when even the longest is taken. Its length follows
    /// `population`, the number of ids that exist.
    pub fn draw<E>(
        entropy: &Entropy,
        nth: usize,
        population: usize,
        taken: impl Fn(&Self) -> Result<bool, E>,
    ) -> Result<Option<Self>, E> {
        let mut own = Entropy::default();
        let digest = Sha256::new().chain_update(entropy).chain_update(nth.to_le_bytes()).finalize();
        own.copy_from_slice(&digest[..16]);
        draw("b-", &own, population, taken)
    }
}

/// A short id without a text of its own, where there are very many: in a third of the room, and in the same order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Short<I> {
    /// Filled up with zeros, which come before every digit.
    bytes: [u8; 2 + LONGEST],
    kind: PhantomData<I>,
}

impl<I: fmt::Display + FromStr<Err: fmt::Debug>> Short<I> {
    /// For an id that has two characters and digits behind them.
    pub fn of(id: &I) -> Self {
        let (mut bytes, id) = ([0; 2 + LONGEST], id.to_string());
        bytes[..id.len()].copy_from_slice(id.as_bytes());
        Self { bytes, kind: PhantomData }
    }

    /// The id.
    pub fn id(&self) -> I {
        let end = self.bytes.iter().position(|byte| *byte == 0).unwrap_or(self.bytes.len());
        let text = std::str::from_utf8(&self.bytes[..end]).expect("it was a text");
        text.parse().expect("it was an id")
    }
}

impl SpendId {
    /// The id of the one spend that `turn` can have. It follows from the turn alone, so that asking whether a turn
    /// was paid for is one look at one place, however long the ledger is.
    pub fn of_turn(turn: &TurnId) -> Self {
        let digest = Sha256::digest(turn.as_str());
        let digits: String = digest[..12].iter().map(|b| char::from(DIGITS[usize::from(b % 32)])).collect();
        Self(format!("s-{digits}"))
    }
}

impl TurnId {
    /// A turn that its runner gave no name.
    pub fn unnamed(entropy: &Entropy) -> Self {
        Self(entropy.iter().fold(String::from("turn-"), |name, byte| {
            format!("{name}{}", char::from(DIGITS[usize::from(byte % 32)]))
        }))
    }
}

impl TodoPrefix {
    /// Whether `id` begins with this.
    pub fn matches(&self, id: &str) -> bool {
        id.starts_with(&self.0)
    }
}

impl Choice {
    /// The answer that every gate offers and that never opens one.
    pub const REJECT: &'static str = "reject";
    /// The answer that opens a gate, unless it was asked with options of its own.
    pub const APPROVE: &'static str = "approve";

    /// Whether this answer keeps the gate shut.
    pub fn is_rejection(&self) -> bool {
        self.0 == Self::REJECT
    }

    /// What giving this answer is called: `approve gate x`, `answer gate x with blue`.
    pub fn given_to(&self, gate: &impl fmt::Display) -> String {
        match self.as_str() {
            Self::APPROVE | Self::REJECT => format!("{self} gate {gate}"),
            _ => format!("answer gate {gate} with {self}"),
        }
    }
}

/// Turns a sentence into a slug of at most five words, for ids that nobody chose: `Review API schema?` becomes
/// `review-api-schema`. `None` when the sentence has no letter or digit of ASCII.
pub fn slug(sentence: &str) -> Option<String> {
    let words: Vec<String> = sentence
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && word.len() <= 24)
        .take(5)
        .map(str::to_ascii_lowercase)
        .collect();
    let mut slug = words.join("-");
    if slug.len() > 40 {
        slug.truncate(40);
        let end = slug.rfind('-').unwrap_or(40);
        slug.truncate(end);
    }
    (!slug.is_empty()).then_some(slug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_made_only_from_legal_text() {
        let bad = ["", "-a", "a-", "a--b", "A", "a b", "a/b", "..", "a\n", "é", &"a".repeat(65)];
        for text in bad {
            assert!(text.parse::<GateId>().is_err(), "{text:?} passed as a gate id");
        }
        for text in ["a", "schema-review", "v2", &"a".repeat(64)] {
            assert!(text.parse::<GateId>().is_ok(), "{text:?} was refused");
        }
        for text in
            ["t-", "t-7k3", "t-7k3l", "e-7k3q", "t-7K3Q", "t-7k3q/", "x", &format!("t-{}", "0".repeat(17))]
        {
            assert!(text.parse::<TodoId>().is_err(), "{text:?} passed as a todo id");
        }
        for text in [".", "-x", "a b", "a/b", "a\u{1b}", ""] {
            assert!(text.parse::<AgentId>().is_err(), "{text:?} passed as an agent id");
        }
    }

    #[test]
    fn a_bad_id_is_named_with_the_expected_form_and_without_its_escape_codes() {
        let error = "x\u{1b}[2K".parse::<GateId>().unwrap_err().to_string();
        assert_eq!(
            error,
            "`x\\u{1b}[2K` is not a gate id (expected lower-case words joined by `-`, 64 characters at most, such as `schema-review`)"
        );
    }

    #[test]
    fn drawn_ids_lengthen_with_the_crowd_and_when_taken() {
        let entropy = [7, 19, 3, 22, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5];
        let id = |population, taken: &[&str]| {
            TodoId::draw(&entropy, population, |id| Ok::<_, ()>(taken.contains(&id.as_str())))
                .unwrap()
                .unwrap()
                .to_string()
        };
        assert_eq!(id(0, &[]), "t-7k3p");
        assert_eq!(id(0, &["t-7k3p"]), "t-7k3p5");
        assert_eq!(id(1_000, &[]).len(), "t-".len() + 6);
        assert_eq!(id(100_000, &[]).len(), "t-".len() + 9);
    }

    #[test]
    fn a_short_id_comes_back_and_stands_in_the_same_order() {
        let mut ids = ["t-zzzz", "t-7k3q", "t-7k3q0", "t-7k3", "t-0123456789abcdef"]
            .map(|id| id.parse::<TodoId>().unwrap_or_else(|_| "t-0000".parse().unwrap()));
        let mut short = ids.each_ref().map(Short::of);
        ids.sort();
        short.sort();
        assert_eq!(short.each_ref().map(Short::id), ids);
    }

    #[test]
    fn a_turn_has_one_spend_id() {
        let turn: TurnId = "turn-1".parse().unwrap();
        assert_eq!(SpendId::of_turn(&turn), SpendId::of_turn(&turn));
        assert_ne!(SpendId::of_turn(&turn), SpendId::of_turn(&"turn-2".parse().unwrap()));
        assert!(SpendId::of_turn(&turn).as_str().parse::<SpendId>().is_ok());
    }

    #[test]
    fn slugs_come_from_sentences() {
        assert_eq!(
            slug("Review the generated API schema before publishing?").unwrap(),
            "review-the-generated-api-schema"
        );
        assert_eq!(slug("  Ship!  ").unwrap(), "ship");
        assert_eq!(slug("日本"), None);
        assert!(slug(&"abcdefghijklmnopqrstuvw ".repeat(9)).unwrap().parse::<GateId>().is_ok());
    }
}
