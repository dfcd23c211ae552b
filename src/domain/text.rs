//! Text that people and agents type. It is data: stored to the letter or refused, never interpreted.
//!
//! What could move a cursor, break a line where none is expected, or show something other than what is stored
//! (control characters, line and paragraph separators, bidirectional overrides) cannot get into a value of these
//! types. So whoever prints one may print it as it is.

use std::fmt;

/// Why a text was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// Nothing but white space.
    #[error("the {what} is blank")]
    Blank { what: &'static str },
    /// Longer than `limit` bytes.
    #[error("the {what} has {length} bytes (at most {limit})")]
    TooLong { what: &'static str, length: usize, limit: usize },
    /// A line break in a text of one line.
    #[error("the {what} has a line break in it (expected one line)")]
    LineBreak { what: &'static str },
    /// A character that would act on the reader's screen.
    #[error("the {what} has the control character `{}` in it", .character.escape_unicode())]
    Control { what: &'static str, character: char },
}

macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $what:literal, $limit:expr, $lines:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Most bytes that fit.
            pub const LIMIT: usize = $limit;

            /// The text as it was typed.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The nearest text that fits one from elsewhere, and what had to be done to it; `None` when it is blank.
            /// White space around it goes, and where no line break fits it becomes a space.
            pub fn fit(text: &str) -> Option<(Self, Fit)> {
                let (text, fit) = fit(text, $limit, &$lines);
                (!text.is_empty()).then_some((Self(text), fit))
            }
        }

        impl std::str::FromStr for $name {
            type Err = BadText;
            fn from_str(text: &str) -> Result<Self, BadText> {
                check($what, text, $limit, $lines)?;
                Ok(Self(text.to_owned()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadText;
            fn try_from(text: String) -> Result<Self, BadText> {
                check($what, &text, $limit, $lines)?;
                Ok(Self(text))
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

text!(
    /// One line: a title, a question, an objective. 1 to 500 bytes.
    Title, "text", 500, Lines::One
);
text!(
    /// Several lines: a body, a note, a reason. 1 to 16,384 bytes; line feeds and tabs are allowed.
    Note, "text", 16 * 1024, Lines::Many
);

text!(
    /// What the next turn should know. 1 to 4,096 bytes; line feeds and tabs are allowed.
    HandoffText, "handoff", 4096, Lines::Many
);

text!(
    /// The text of a file. 1 to 65,536 bytes; line feeds and tabs are allowed.
    FileCopy, "copy", 64 * 1024, Lines::Many
);

impl Note {
    /// The note, or when it is longer than `bytes` its beginning and how much more there is.
    #[must_use]
    pub fn at_most(&self, bytes: usize) -> Self {
        Self(shortened(&self.0, bytes))
    }
}

impl HandoffText {
    /// The text, or when it is longer than `bytes` its beginning and how much more there is.
    #[must_use]
    pub fn at_most(&self, bytes: usize) -> Self {
        Self(shortened(&self.0, bytes))
    }
}

fn shortened(text: &str, bytes: usize) -> String {
    match beginning(text, bytes) {
        (_, 0) => text.to_owned(),
        (text, more) => format!("{text}\n[… {more} bytes more]"),
    }
}

/// As much of a text as fits into so many bytes, and how many bytes more there are. No character is cut.
pub fn beginning(text: &str, bytes: usize) -> (&str, usize) {
    let end = text.floor_char_boundary(bytes);
    (&text[..end], text.len() - end)
}

enum Lines {
    One,
    Many,
}

fn check(what: &'static str, text: &str, limit: usize, lines: Lines) -> Result<(), BadText> {
    if text.trim().is_empty() {
        return Err(BadText::Blank { what });
    }
    if text.len() > limit {
        return Err(BadText::TooLong { what, length: text.len(), limit });
    }
    for character in text.chars() {
        match (character, &lines) {
            ('\n' | '\t', Lines::Many) => {}
            ('\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{85}', Lines::One) => {
                return Err(BadText::LineBreak { what });
            }
            (character, _) if acts_on_the_screen(character) => {
                return Err(BadText::Control { what, character });
            }
            _ => {}
        }
    }
    Ok(())
}

/// What had to be done to a text from elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fit {
    /// What acts on a screen was written as an escape.
    pub escaped: bool,
    /// The end was cut off.
    pub cut: bool,
}

fn fit(text: &str, limit: usize, lines: &Lines) -> (String, Fit) {
    let mut out = String::new();
    let mut fit = Fit::default();
    let mut characters = text.trim().chars().peekable();
    while let Some(character) = characters.next() {
        match (character, lines) {
            ('\r', _) if characters.peek() == Some(&'\n') => {}
            ('\n' | '\t', Lines::Many) => out.push(character),
            ('\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' | '\u{85}', Lines::One) => out.push(' '),
            (character, _) if acts_on_the_screen(character) => {
                fit.escaped = true;
                out.extend(character.escape_unicode());
            }
            (character, _) => out.push(character),
        }
        if out.len() > limit {
            fit.cut = true;
            out.truncate(out.floor_char_boundary(limit - '…'.len_utf8()));
            out.push('…');
            break;
        }
    }
    (out, fit)
}

fn acts_on_the_screen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{61c}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Makes a text of unknown origin (a file name, an environment variable, git's own output) fit to print: what acts on
/// the screen is shown as an escape, the end is cut at `limit` characters.
pub fn shown(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for character in text.chars().take(limit) {
        if acts_on_the_screen(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    if text.chars().nth(limit).is_some() {
        out.push('…');
    }
    out
}

/// Bytes in lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_harmless_line() {
        for good in ["x", "Grüße 🎉 日本", r#"it's \ " $(id) `x` """"#, "Signed-off-by: Mallory <m@x>"]
        {
            assert_eq!(good.parse::<Title>().unwrap().as_str(), good);
        }
        let refused = [
            ("", "the text is blank"),
            (" \t ", "the text is blank"),
            ("a\nb", "the text has a line break in it (expected one line)"),
            ("a\rb", "the text has a line break in it (expected one line)"),
            ("a\u{2028}b", "the text has a line break in it (expected one line)"),
            ("a\u{1b}[2Kb", "the text has the control character `\\u{1b}` in it"),
            ("a\u{202e}b", "the text has the control character `\\u{202e}` in it"),
            ("a\tb", "the text has the control character `\\u{9}` in it"),
        ];
        for (bad, why) in refused {
            assert_eq!(bad.parse::<Title>().unwrap_err().to_string(), why);
        }
        assert_eq!(
            "x".repeat(1_000_000).parse::<Title>().unwrap_err().to_string(),
            "the text has 1000000 bytes (at most 500)"
        );
    }

    #[test]
    fn a_note_has_lines_but_no_other_controls() {
        assert!("a\n\n\tb".parse::<Note>().is_ok());
        assert!("a\rb".parse::<Note>().is_err());
        assert!("a\0b".parse::<Note>().is_err());
    }

    #[test]
    fn text_from_elsewhere_is_made_to_fit() {
        let title =
            |text: &str| Title::fit(text).map(|(title, fit)| (title.to_string(), fit.escaped, fit.cut));
        assert_eq!(title(" a\r\nb\tc "), Some(("a b c".into(), false, false)));
        assert_eq!(title("a\u{1b}[2K\0"), Some(("a\\u{1b}[2K\\u{0}".into(), true, false)));
        assert_eq!(title(" \n\u{2028}"), None);
        for text in ["x".repeat(501), "é".repeat(300), "\u{1b}".repeat(300)] {
            let (title, fit) = Title::fit(&text).unwrap();
            assert!(fit.cut && title.to_string().ends_with('…'));
            assert!(title.as_str().parse::<Title>().is_ok());
        }
        assert_eq!(Note::fit("a\r\n\tb\rc").unwrap().0.as_str(), "a\n\tb\\u{d}c");
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        let note: Note = "aéé".parse().unwrap();
        assert_eq!(note.at_most(5), note);
        assert_eq!(note.at_most(4).as_str(), "aé\n[… 2 bytes more]");
        assert_eq!(beginning("é", 1), ("", 2));
    }

    #[test]
    fn foreign_text_is_shown_escaped() {
        assert_eq!(shown("a\u{1b}[31mb\n", 80), "a\\u{1b}[31mb\\u{a}");
        assert_eq!(shown("abcdef", 3), "abc…");
    }
}
