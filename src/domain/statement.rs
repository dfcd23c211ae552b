//! What a person signs: the decision as lines of text, the same bytes for the same decision, to be read and checked
//! anywhere.

use std::fmt;

use super::{
    gate::Seen,
    id::{GateId, GoalId},
    policy::RepositoryId,
    text::Note,
    time::Timestamp,
};

/// A decision as it is signed: a line for the form, a line `name value` for each fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement(Vec<(&'static str, String)>);

/// A fact that was signed otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differs {
    pub fact: String,
    pub signed: String,
    pub wanted: String,
}

/// What was decided at a gate.
#[derive(Debug, Clone, Copy)]
pub struct Decided<'a> {
    pub goal: &'a GoalId,
    pub gate: &'a GateId,
    /// The digest of the question.
    pub question: &'a str,
    /// What was seen of the project, for an answer.
    pub seen: Option<&'a Seen>,
    /// The answer, or what else was done.
    pub decision: &'a str,
    pub note: Option<&'a Note>,
    pub at: Timestamp,
}

const HEAD: &str = "loopx decision 1";

impl Statement {
    /// A decision at a gate of the repository.
    pub fn at_gate(repository: &RepositoryId, decided: &Decided<'_>, nonce: &str) -> Self {
        let or_none = |text: Option<&String>| text.cloned().unwrap_or_else(|| "none".into());
        let seen = decided.seen;
        Self(vec![
            ("repository", repository.to_string()),
            ("goal", decided.goal.to_string()),
            ("gate", decided.gate.to_string()),
            ("question", decided.question.to_owned()),
            ("commit", or_none(seen.and_then(|seen| seen.commit.as_ref()))),
            ("tree", or_none(seen.and_then(|seen| seen.tree.as_ref()))),
            ("decision", decided.decision.to_owned()),
            // On one line: a backslash comes before an `n` for a line feed, and before itself.
            (
                "note",
                decided.note.map_or_else(
                    || "none".into(),
                    |note| format!("\"{}\"", note.as_str().replace('\\', "\\\\").replace('\n', "\\n")),
                ),
            ),
            ("time", decided.at.to_string()),
            ("nonce", nonce.to_owned()),
        ])
    }

    /// A change of the policy that was there with the digest `before`.
    pub fn of_policy(
        repository: &RepositoryId,
        before: &str,
        change: &str,
        at: Timestamp,
        nonce: &str,
    ) -> Self {
        Self(vec![
            ("repository", repository.to_string()),
            ("policy", before.to_owned()),
            ("change", change.to_owned()),
            ("time", at.to_string()),
            ("nonce", nonce.to_owned()),
        ])
    }

    /// A push of `updates`, each a ref there and what it is set to.
    pub(super) fn of_push(
        repository: &RepositoryId,
        updates: Vec<String>,
        at: Timestamp,
        nonce: &str,
    ) -> Self {
        let mut facts = vec![("repository", repository.to_string())];
        facts.extend(updates.into_iter().map(|update| ("push", update)));
        facts.extend([("time", at.to_string()), ("nonce", nonce.to_owned())]);
        Self(facts)
    }

    /// The bytes that make each signing another one: the last fact of a text that was signed. Nothing else than 32 hex
    /// digits is one.
    pub fn nonce(signed: &str) -> Option<&str> {
        let (_, nonce) = signed.trim_end_matches('\n').rsplit_once("\nnonce ")?;
        is_nonce(nonce).then_some(nonce)
    }

    /// The first fact in which a text that was signed differs from this.
    pub fn differs(&self, signed: &str) -> Option<Differs> {
        let text = self.to_string();
        if text == signed {
            return None;
        }
        let mut lines = signed.lines();
        let shown = |text: &str| super::text::shown(text, 120);
        for wanted in text.lines() {
            let line = lines.next().unwrap_or_default();
            if line != wanted {
                let (fact, wanted) = wanted.split_once(' ').unwrap_or((wanted, ""));
                let signed = line.strip_prefix(fact).map_or(line, |rest| rest.trim_start());
                return Some(Differs { fact: fact.to_owned(), signed: shown(signed), wanted: shown(wanted) });
            }
        }
        let signed = shown(lines.next().unwrap_or_default());
        Some(Differs { fact: "end".into(), signed, wanted: String::new() })
    }
}

/// Whether a text is 32 hex digits.
pub(super) fn is_nonce(text: &str) -> bool {
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.len() == 32 && text.bytes().all(is_hex)
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        self.0.iter().try_for_each(|(name, value)| writeln!(f, "{name} {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::{at, gate_id, goal_id};

    const NONCE: &str = "00112233445566778899aabbccddeeff";

    #[test]
    fn the_same_decision_has_the_same_bytes_and_another_one_is_named() {
        let repository = RepositoryId::new(&[7; 16]);
        let (goal, gate, other) = (goal_id("ship"), gate_id("bucket"), gate_id("other"));
        let seen = Seen { question: "sha256:1".into(), commit: Some("c1".into()), tree: Some("t1".into()) };
        let note = "a \\ b\nc".parse().unwrap();
        let decided = Decided {
            goal: &goal,
            gate: &gate,
            question: "sha256:1",
            seen: Some(&seen),
            decision: "approve",
            note: Some(&note),
            at: at("11:00"),
        };
        let statement = Statement::at_gate(&repository, &decided, NONCE);
        let text = statement.to_string();
        assert_eq!(
            text,
            "loopx decision 1\nrepository 07070707070707070707070707070707\ngoal ship\ngate bucket\nquestion sha256:1\n\
             commit c1\ntree t1\ndecision approve\nnote \"a \\\\ b\\nc\"\ntime 2026-11-30T11:00:00Z\nnonce 00112233445566778899aabbccddeeff\n"
        );
        assert_eq!((statement.differs(&text), Statement::nonce(&text)), (None, Some(NONCE)));
        for (elsewhere, fact) in [
            (Decided { gate: &other, ..decided }, "gate"),
            (Decided { decision: "reject", ..decided }, "decision"),
            (Decided { at: at("12:00"), ..decided }, "time"),
            (Decided { note: None, ..decided }, "note"),
            (Decided { seen: None, ..decided }, "commit"),
        ] {
            let text = Statement::at_gate(&repository, &elsewhere, NONCE).to_string();
            assert_eq!(statement.differs(&text).unwrap().fact, fact);
        }
        let elsewhere = Statement::at_gate(&RepositoryId::new(&[8; 16]), &decided, NONCE).to_string();
        assert_eq!(statement.differs(&elsewhere).unwrap().fact, "repository");
        assert!(
            statement.differs(&format!("{text}more\n")).is_some()
                && statement.differs(text.trim_end()).is_some()
        );
        assert_eq!(Statement::nonce("nonce x"), None);
    }
}
