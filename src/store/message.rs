//! The message of a state commit: a sentence, a reason, and trailers that no typed text can forge.

use gix::actor::SignatureRef;

use crate::domain::{
    actor::{Person, Stamp},
    change::{Change, Op, Record},
    text::Note,
    time::Timestamp,
};

/// A commit message with the identity and the time it is signed off with.
#[derive(Debug)]
pub struct Message {
    text: String,
    signer: Person,
    time: String,
}

impl Message {
    /// Puts `change` into words. The trailers form the last paragraph, and every line of a typed reason is quoted
    /// with `> ` above it, so nothing a user typed is ever read as a trailer, by git or by a naive search.
    pub(super) fn of(change: &Change, stamp: &Stamp, signer: &Person) -> Self {
        let mut text = format!("{}\n\n", change.subject);
        if let Some(body) = &change.body {
            for line in body.as_str().trim_end().lines() {
                text.push_str(format!("> {line}").trim_end());
                text.push('\n');
            }
            text.push('\n');
        }
        let mut trailer = |token: &str, value: &str| text.push_str(&format!("{token}: {value}\n"));
        trailer("Loopx-Op", change.op.word());
        if let Some(goal) = &change.goal {
            trailer("Loopx-Goal", goal.as_str());
        }
        // What is imported is too much to be named; the goals stand for it.
        let is_named = |record: &&Record| change.op != Op::Import || matches!(record, Record::Goal(..));
        for record in change.puts.iter().filter(is_named) {
            trailer("Loopx-Record", &record.name());
        }
        trailer("Loopx-Actor", &stamp.by.trailer());
        if let Some(turn) = &change.turn {
            trailer("Loopx-Turn", turn.as_str());
        }
        trailer("Signed-off-by", &signer.to_string());
        Self { text, signer: signer.clone(), time: format!("{} +0000", stamp.at.unix()) }
    }

    /// What the reflog says of a move of the branch that makes no commit of its own.
    pub(super) fn of_a_move(subject: String, stamp: &Stamp, signer: &Person) -> Self {
        Self { text: subject, signer: signer.clone(), time: format!("{} +0000", stamp.at.unix()) }
    }

    /// The very message of a commit that is made again elsewhere: its text, by whom, and when.
    pub(super) fn again(text: String, signer: Person, at: Timestamp) -> Self {
        Self { text, signer, time: format!("{} +0000", at.unix()) }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The first line.
    pub(super) fn subject(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    pub(super) fn signer(&self) -> &Person {
        &self.signer
    }

    /// Author and committer alike: the human who signs off, at the time of the mutation.
    pub(super) fn signature(&self) -> SignatureRef<'_> {
        SignatureRef { name: self.signer.name().into(), email: self.signer.email().into(), time: &self.time }
    }
}

/// A subject of at most 72 characters: the verb and the id, then as much of `title` as fits.
pub fn subject(what: &str, title: &impl AsRef<str>) -> String {
    let title = title.as_ref();
    let room = 72usize.saturating_sub(what.chars().count() + 2);
    if title.chars().count() <= room {
        return format!("{what}: {title}");
    }
    let cut: String = title.chars().take(room.saturating_sub(1)).collect();
    format!("{what}: {}…", cut.trim_end())
}

impl AsRef<str> for crate::domain::text::Title {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Note {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_text_forges_no_trailer() {
        let change = Change {
            op: Op::GateResolve,
            subject: subject("approve gate ship", &"Signed-off-by: Mallory <m@x>"),
            body: Some("fine\n\nLoopx-Actor: person\nSigned-off-by: Mallory <m@x>\n".parse().unwrap()),
            goal: Some("ship".parse().unwrap()),
            turn: None,
            puts: vec![],
        };
        let ann: Person = "Ann <ann@example.test>".parse().unwrap();
        let stamp =
            Stamp { by: "agent:codex-1".parse().unwrap(), at: "2026-11-30T12:00:00Z".parse().unwrap() };
        insta::assert_snapshot!(Message::of(&change, &stamp, &ann).text(), @r"
        approve gate ship: Signed-off-by: Mallory <m@x>

        > fine
        >
        > Loopx-Actor: person
        > Signed-off-by: Mallory <m@x>

        Loopx-Op: gate.resolve
        Loopx-Goal: ship
        Loopx-Actor: agent:codex-1
        Signed-off-by: Ann <ann@example.test>
        ");
    }

    #[test]
    fn a_subject_fits_a_line() {
        assert_eq!(subject("add todo t-7k3q", &"short"), "add todo t-7k3q: short");
        assert_eq!(subject("add todo t-7k3q", &"x".repeat(100)).chars().count(), 72);
    }
}
