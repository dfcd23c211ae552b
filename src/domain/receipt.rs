//! A push receipt: a person's signature that lets one push into a server which knows no state, as an option of that push.

use std::{fmt, str::FromStr};

use super::{
    policy::RepositoryId,
    statement::{Statement, is_nonce},
    text::shown,
    time::{Seconds, Timestamp},
};

/// How long after it was signed a receipt lets a push in.
const FRESH: Seconds = Seconds(3600);

/// How far the clock of whoever signed may be ahead of the server's.
const AHEAD: Seconds = Seconds(300);

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";

/// A receipt as the option `loopx-receipt=<time>,<nonce>,<signature>` of a push has it. What was signed is not in it: a server
/// puts together what should have been, from the push it sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    at: Timestamp,
    nonce: String,
    /// The body of an OpenSSH signature, in base64 without line breaks.
    signature: String,
}

/// A ref that is written on the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its full name there.
    pub name: String,
    /// What it was, in hex; none for a new one. So an old receipt moves no ref back that went on.
    pub was: Option<String>,
    /// What it becomes, in hex.
    pub id: String,
}

/// Why an option of a push is no receipt for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoReceipt {
    #[error("`{}` is not a receipt (expected `<time>,<nonce>,<signature>`)", shown(.0, 80))]
    Odd(String),
    #[error("the receipt was signed at {0}, which is more than an hour ago")]
    Stale(Timestamp),
    #[error("the receipt was signed at {0}, which the clock here has not reached yet")]
    Ahead(Timestamp),
}

impl Receipt {
    /// The name of the option.
    pub const OPTION: &'static str = "loopx-receipt";

    /// From an armoured signature of OpenSSH over [`Receipt::statement`] with this time and nonce; `None` when it is none.
    pub fn new(at: Timestamp, nonce: String, armoured: &str) -> Option<Self> {
        let body = armoured.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
        let signature = body.split_ascii_whitespace().collect();
        Some(Self { at, nonce, signature })
    }

    /// What has to be signed to let a push that writes these refs in.
    pub fn statement(repository: &RepositoryId, refs: &[Written], at: Timestamp, nonce: &str) -> Statement {
        let line =
            |Written { name, was, id }: &Written| format!("{name} {} {id}", was.as_deref().unwrap_or("none"));
        let mut updates: Vec<String> = refs.iter().map(line).collect();
        updates.sort_unstable();
        Statement::of_push(repository, updates, at, nonce)
    }

    /// What must have been signed for this to let a push in.
    pub fn wants(&self, repository: &RepositoryId, refs: &[Written]) -> Statement {
        Self::statement(repository, refs, self.at, &self.nonce)
    }

    /// Refused when it was not signed within the last hour.
    pub fn check_time(&self, now: Timestamp) -> Result<Timestamp, NoReceipt> {
        if self.at > now.plus(AHEAD) {
            Err(NoReceipt::Ahead(self.at))
        } else if self.at.plus(FRESH) < now {
            Err(NoReceipt::Stale(self.at))
        } else {
            Ok(self.at)
        }
    }

    /// The signature as OpenSSH reads it.
    pub fn armoured(&self) -> String {
        let mut text = format!("{BEGIN}\n");
        let mut rest = self.signature.as_str();
        while !rest.is_empty() {
            let (line, more) = rest.split_at(rest.len().min(70));
            text.push_str(line);
            text.push('\n');
            rest = more;
        }
        text + END + "\n"
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.at, self.nonce, self.signature)
    }
}

impl FromStr for Receipt {
    type Err = NoReceipt;
    fn from_str(text: &str) -> Result<Self, NoReceipt> {
        let odd = || NoReceipt::Odd(text.to_owned());
        let mut fields = text.splitn(3, ',');
        let mut next = || fields.next().ok_or_else(odd);
        let (at, nonce, signature) = (next()?, next()?, next()?);
        let is_base64 = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
        if !is_nonce(nonce) || signature.is_empty() || !signature.bytes().all(is_base64) {
            return Err(odd());
        }
        let at = at.parse().map_err(|_| odd())?;
        Ok(Self { at, nonce: nonce.to_owned(), signature: signature.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::at;

    const NONCE: &str = "00112233445566778899aabbccddeeff";

    fn receipt() -> Receipt {
        let armoured = format!("{BEGIN}\n{}\nAAAA==\n{END}\n", "U1NIU0lH".repeat(8) + "abcdef");
        Receipt::new(at("11:00"), NONCE.into(), &armoured).unwrap()
    }

    #[test]
    fn an_option_comes_back_as_it_was() {
        let receipt = receipt();
        let text = receipt.to_string();
        assert_eq!(text.parse(), Ok(receipt.clone()));
        let (signature, nonce) = (receipt.armoured(), NONCE.to_owned());
        assert_eq!(Receipt::new(at("11:00"), nonce, &signature), Some(receipt));
    }

    #[test]
    fn what_is_none_is_refused() {
        let text = receipt().to_string();
        for odd in [
            String::new(),
            text.replacen(',', ";", 1),
            text.replace(NONCE, &NONCE[1..]),
            text.replace("2026", "20x6"),
            format!("{text}\n"),
            format!("{text},more"),
            format!("2026-11-30T11:00:00Z,{NONCE},"),
        ] {
            assert_eq!(odd.parse::<Receipt>(), Err(NoReceipt::Odd(odd.clone())), "{odd:?} passed");
        }
    }

    #[test]
    fn it_is_good_for_an_hour() {
        let receipt = receipt();
        for (now, expected) in [
            ("10:54", Err(NoReceipt::Ahead(at("11:00")))),
            ("10:56", Ok(at("11:00"))),
            ("12:00", Ok(at("11:00"))),
            ("12:01", Err(NoReceipt::Stale(at("11:00")))),
        ] {
            assert_eq!(receipt.check_time(at(now)), expected, "at {now}");
        }
    }

    #[test]
    fn the_order_of_refs_does_not_matter_and_everything_else_does() {
        let repository = RepositoryId::new(&[7; 16]);
        let push = |name: &str, was: Option<&str>, id: &str| Written {
            name: name.to_owned(),
            was: was.map(str::to_owned),
            id: id.to_owned(),
        };
        let (one, two) = (push("refs/heads/a", None, "1"), push("refs/heads/b", Some("0"), "2"));
        let receipt = receipt();
        let wanted = receipt.wants(&repository, &[one.clone(), two.clone()]);
        assert_eq!(wanted, receipt.wants(&repository, &[two.clone(), one.clone()]));
        for other in [
            push("refs/heads/b", Some("0"), "3"),
            push("refs/heads/b", Some("1"), "2"),
            push("refs/heads/c", Some("0"), "2"),
        ] {
            assert_ne!(wanted, receipt.wants(&repository, &[one.clone(), other]));
        }
        assert_ne!(wanted, receipt.wants(&repository, std::slice::from_ref(&one)));
        assert_ne!(wanted, receipt.wants(&RepositoryId::new(&[8; 16]), &[one, two]));
        assert_eq!(
            wanted.to_string(),
            format!(
                "loopx decision 1\nrepository 07070707070707070707070707070707\npush refs/heads/a none 1\npush refs/heads/b 0 2\n\
                 time 2026-11-30T11:00:00Z\nnonce {NONCE}\n"
            )
        );
    }
}
