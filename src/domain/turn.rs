//! A turn: one bounded slice of an agent's work, from its beginning to its end.
//!
//! It stands in the one booking that there is for it, so that what was done and what it used cannot drift apart. An
//! agent has one turn at a time: whoever begins another has ended the one before.

use super::{
    actor::{Actor, Stamp},
    id::{EvidenceId, TodoId, TurnId},
    quota::Spend,
    refusal::Refusal,
    text::Note,
    time::Timestamp,
};

/// How a turn went.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// What was taken; none in a turn that is to think of the next todos.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todo: Option<TodoId>,
    /// From then on anybody who begins a turn ends this one, unless its claim was renewed.
    pub until: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    pub outcome: Outcome,
    pub by: Actor,
    pub at: Timestamp,
    /// What whoever goes on should know; none in a turn that was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Note>,
}

/// What came of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Progress,
    Completed,
    Blocked,
    Nothing,
    /// Nobody ended it.
    Lost,
}

impl Outcome {
    /// As it is written on the command line and in the record.
    pub fn word(self) -> &'static str {
        match self {
            Self::Progress => "progress",
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Nothing => "nothing",
            Self::Lost => "lost",
        }
    }

    /// The loop is where it was.
    pub fn is_idle(self) -> bool {
        matches!(self, Self::Nothing | Self::Lost)
    }
}

impl Spend {
    /// A turn that begins: `slots` are put aside for it.
    pub fn begin(turn: TurnId, slots: u32, todo: Option<TodoId>, until: Timestamp, added: Stamp) -> Self {
        let course = Some(Course { todo, until, end: None });
        Self { turn, slots, evidence: Vec::new(), added, course, voided: None }
    }

    /// The turn was begun and goes on.
    pub fn goes_on(&self) -> bool {
        self.course.as_ref().is_some_and(|course| course.end.is_none())
    }

    /// Ends the turn with what it used. Whoever began it may.
    pub fn end(&self, end: End, slots: u32, evidence: Vec<EvidenceId>) -> Result<Self, Refusal> {
        let course = self.open_course()?;
        if end.by != self.added.by {
            return Err(Refusal::TurnOfAnother { turn: self.turn.clone(), by: self.added.by.clone() });
        }
        let course = Course { end: Some(end), ..course.clone() };
        Ok(Self { course: Some(course), slots, evidence, ..self.clone() })
    }

    /// Ends the turn as one that nobody ended: its own agent may when it begins another, others when its time is over.
    pub fn lose(&self, stamp: &Stamp) -> Result<Self, Refusal> {
        let course = self.open_course()?;
        if stamp.by != self.added.by && stamp.at < course.until {
            return Err(Refusal::TurnGoesOn { turn: self.turn.clone(), until: course.until });
        }
        let end = End { outcome: Outcome::Lost, by: stamp.by.clone(), at: stamp.at, summary: None };
        Ok(Self { course: Some(Course { end: Some(end), ..course.clone() }), ..self.clone() })
    }

    fn open_course(&self) -> Result<&Course, Refusal> {
        let turn = self.turn.clone();
        match &self.course {
            None => Err(Refusal::TurnNotBegun { turn }),
            Some(Course { end: Some(End { outcome, at, .. }), .. }) => {
                Err(Refusal::TurnOver { turn, outcome: outcome.word(), at: *at })
            }
            Some(course) => Ok(course),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::{actor, at, stamp, todo_id};

    #[test]
    fn a_turn_is_ended_once_by_whoever_began_it_or_lost() {
        let begun = stamp("agent:a", "10:00");
        let turn = Spend::begin("x".parse().unwrap(), 1, Some(todo_id("t-0001")), at("10:45"), begun);
        let end =
            |by: &str| End { outcome: Outcome::Progress, by: actor(by), at: at("10:10"), summary: None };
        assert!(matches!(turn.end(end("agent:b"), 1, vec![]), Err(Refusal::TurnOfAnother { .. })));
        let over = turn.end(end("agent:a"), 2, vec![]).unwrap();
        assert!(turn.goes_on() && !over.goes_on() && over.slots == 2);
        assert!(matches!(over.end(end("agent:a"), 1, vec![]), Err(Refusal::TurnOver { .. })));

        assert!(matches!(turn.lose(&stamp("agent:b", "10:44")), Err(Refusal::TurnGoesOn { .. })));
        let lost = turn.lose(&stamp("agent:b", "10:45")).unwrap();
        assert!(turn.lose(&stamp("agent:a", "10:01")).is_ok());
        assert!(matches!(
            lost.end(end("agent:a"), 1, vec![]),
            Err(Refusal::TurnOver { outcome: "lost", .. })
        ));
        assert!(matches!(lost.lose(&stamp("agent:b", "10:45")), Err(Refusal::TurnOver { .. })));
        let booked = Spend { course: None, ..turn };
        assert!(matches!(booked.lose(&stamp("agent:a", "11:00")), Err(Refusal::TurnNotBegun { .. })));
    }
}
