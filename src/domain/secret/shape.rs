//! Whether a text has the shape of a rule.

use super::rules::Part;

/// An alphabet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    Digit,
    Lower,
    Letter,
    LowerDigit,
    UpperDigit,
    Alnum,
    /// Hex digits in either case.
    Hex,
    /// `A` to `Z` and `2` to `7`.
    Base32,
    /// What bech32 writes in upper case.
    Bech32,
    Base64,
    /// Letters, digits, `_` and `-`.
    Base64Url,
    /// The same and `.`, `=` and `~`.
    Token,
    /// Letters, digits and `%`.
    Percent,
}

impl Set {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Lower => byte.is_ascii_lowercase(),
            Self::Letter => byte.is_ascii_alphabetic(),
            Self::LowerDigit => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::UpperDigit => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Base32 => byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte),
            Self::Bech32 => {
                byte.is_ascii_digit() && byte != b'1'
                    || byte.is_ascii_uppercase() && !matches!(byte, b'B' | b'I' | b'O')
            }
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Base64Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Token => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=' | b'~'),
            Self::Percent => byte.is_ascii_alphanumeric() || byte == b'%',
        }
    }
}

/// How many bytes at the beginning of `text` have the shape of `parts`, if they are followed by nothing that would make them
/// longer.
pub(super) fn matched(parts: &[Part], text: &[u8]) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else { return Some(0) };
    match *part {
        Part::L(literal) => {
            let behind = text.strip_prefix(literal.as_bytes())?;
            Some(literal.len() + matched(rest, behind)?)
        }
        Part::Any(literals) => literals.iter().find_map(|literal| {
            let behind = text.strip_prefix(literal.as_bytes())?;
            Some(literal.len() + matched(rest, behind)?)
        }),
        Part::A(set, least, most) => {
            let run = text.iter().take(most + 1).take_while(|byte| set.has(**byte)).count();
            if rest.is_empty() {
                return (run >= least && run <= most).then_some(run);
            }
            // The longest first; what follows is short, so that this does not go far.
            (least..=run.min(most)).rev().find_map(|taken| Some(taken + matched(rest, &text[taken..])?))
        }
    }
}

/// Bits of information in each byte, as far as the text itself tells.
pub(super) fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    text.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let length = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}
