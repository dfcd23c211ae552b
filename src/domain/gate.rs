//! A gate: a question that only a person may answer, and what has to wait for the answer.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use super::{
    actor::{Actor, Person, Proof, Proven, Stamp},
    id::{Choice, GateId, TodoId},
    refusal::Refusal,
    scope::Scope,
    text::{Note, Title},
    time::Timestamp,
};

/// One question, what waits for it, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    pub question: Title,
    /// The answers on offer. `reject` is always one of them.
    pub options: Vec<Choice>,
    /// What waits.
    pub blocks: BTreeSet<Act>,
    /// The todos it is about; empty means all of the goal's.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub todos: BTreeSet<TodoId>,
    /// The pushes it is about.
    #[serde(default, skip_serializing_if = "Scope::is_all")]
    pub scope: Scope,
    pub asked: Stamp,
    pub state: GateState,
}

/// What a gate can hold back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Claiming and completing todos, and so an agent's next turn.
    Turn,
    /// `git push`.
    Push,
    /// Releasing to a package registry and the like.
    Publish,
}

impl Act {
    /// Everything a gate can hold back; what it does hold back unless asked otherwise.
    pub const ALL: [Self; 3] = [Self::Turn, Self::Push, Self::Publish];

    /// As it is written on the command line and in the record.
    pub fn word(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Push => "push",
            Self::Publish => "publish",
        }
    }
}

/// What became of the question. Gates wait for ever: there is no state for time having passed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub enum GateState {
    Open {
        /// How a person took back an earlier no, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reopened: Option<Reopened>,
    },
    Resolved {
        decision: Choice,
        by: Person,
        at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
        seen: Seen,
        proof: Proof,
    },
    Withdrawn {
        by: Person,
        at: Timestamp,
        reason: Note,
        proof: Proof,
    },
}

/// A no that was taken back, so that the question waits again.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reopened {
    pub by: Person,
    pub at: Timestamp,
    pub reason: Note,
    pub proof: Proof,
}

/// What the person had in front of them when they decided.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// [`Gate::digest`] of the question as it was shown.
    pub question: String,
    /// The project's commit, in hex; none in a project without commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// That commit's tree, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

impl GateState {
    /// A question that nobody has answered.
    pub const OPEN: Self = Self::Open { reopened: None };
}

impl Gate {
    /// A new, open question. `options` may be empty for the usual two; `blocks` may be empty for everything.
    pub fn new(
        question: Title,
        options: Vec<Choice>,
        blocks: BTreeSet<Act>,
        todos: BTreeSet<TodoId>,
        asked: Stamp,
    ) -> Self {
        let word = |word: &str| word.parse().expect("the usual answers are slugs");
        let mut options = if options.is_empty() { vec![word(Choice::APPROVE)] } else { options };
        if !options.iter().any(Choice::is_rejection) {
            options.push(word(Choice::REJECT));
        }
        let blocks = if blocks.is_empty() { Act::ALL.into() } else { blocks };
        Self { question, options, blocks, todos, scope: Scope::default(), asked, state: GateState::OPEN }
    }

    /// The same question, about some pushes only.
    #[must_use]
    pub fn within(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// `sha256:` and the hex digest of everything that was asked: question, options, what waits, for which todos, which pushes.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        // Each part with its length, so that no two different questions have the same bytes.
        let mut part = |text: &str| {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        };
        part(self.question.as_str());
        self.options.iter().for_each(|option| part(option.as_str()));
        part("blocks");
        self.blocks.iter().for_each(|act| part(act.word()));
        part("todos");
        self.todos.iter().for_each(|todo| part(todo.as_str()));
        for (name, globs) in self.scope.parts() {
            part(name);
            globs.iter().for_each(|glob| part(glob.as_str()));
        }
        format!("sha256:{}", super::text::hex(&hash.finalize()))
    }

    /// The answers that can be given now: all on offer, or those that change a no.
    pub fn answers(&self) -> Vec<&Choice> {
        self.options.iter().filter(|option| self.is_open() || !option.is_rejection()).collect()
    }

    /// Nobody has answered yet.
    pub fn is_open(&self) -> bool {
        matches!(self.state, GateState::Open { .. })
    }

    /// Answered with `reject`.
    pub fn is_rejected(&self) -> bool {
        matches!(&self.state, GateState::Resolved { decision, .. } if decision.is_rejection())
    }

    /// The gate no longer holds anything back and may be filed away. A rejected one still does.
    pub fn is_closed(&self) -> bool {
        !self.is_open() && !self.is_rejected()
    }

    /// Whether `act`, which leaves this machine, has to wait for this gate, or was refused by it.
    pub fn holds_back(&self, act: Act) -> bool {
        !self.is_closed() && self.blocks.contains(&act)
    }

    /// Whether `todo` has to wait for this gate, or was refused by it. An open gate without todos of its own is about
    /// all of them; a rejected one says no to the todos it names, and the loop goes on with others.
    pub fn stops(&self, todo: &TodoId) -> bool {
        self.holds_back(Act::Turn) && (self.todos.contains(todo) || (self.is_open() && self.todos.is_empty()))
    }

    /// Why `todo`, which this gate [stops](Self::stops), cannot be worked on.
    pub fn refuse(&self, id: &GateId, todo: &TodoId) -> Refusal {
        let (todo, gate, question) = (todo.clone(), id.clone(), self.question.clone());
        Refusal::GateOverTodo { todo, gate, question, answers: self.answers().into_iter().cloned().collect() }
    }

    /// Answers the question. Only a person can, so only a [`Proven`] person fits here.
    ///
    /// A gate that was rejected can be decided anew: a person may change a no into a yes. Any other answer stands.
    pub fn resolve(
        &self,
        id: &GateId,
        decision: Choice,
        proven: Proven,
        at: Timestamp,
        note: Option<Note>,
        seen: Seen,
    ) -> Result<Self, Refusal> {
        self.must_take(id, &decision)?;
        if seen.question != self.digest() {
            return Err(Refusal::QuestionChanged { gate: id.clone() });
        }
        let Proven { person: by, proof } = proven;
        Ok(Self { state: GateState::Resolved { decision, by, at, note, seen, proof }, ..self.clone() })
    }

    /// Takes the question back: nothing waits for it any more, whatever was answered so far. Only a person can.
    pub fn withdraw(
        &self,
        id: &GateId,
        proven: Proven,
        at: Timestamp,
        reason: Note,
    ) -> Result<Self, Refusal> {
        self.must_be_in_force(id)?;
        let Proven { person: by, proof } = proven;
        Ok(Self { state: GateState::Withdrawn { by, at, reason, proof }, ..self.clone() })
    }

    /// Takes a no back, so that the question waits again. Only a person can.
    pub fn reopen(&self, id: &GateId, proven: Proven, at: Timestamp, reason: Note) -> Result<Self, Refusal> {
        self.must_be_rejected(id)?;
        let Proven { person: by, proof } = proven;
        Ok(Self {
            state: GateState::Open { reopened: Some(Reopened { by, at, reason, proof }) },
            ..self.clone()
        })
    }

    /// Whether the gate still holds something back, so that it can be withdrawn.
    pub fn must_be_in_force(&self, id: &GateId) -> Result<(), Refusal> {
        if self.is_closed() { Err(self.refuse_anew(id)) } else { Ok(()) }
    }

    /// Whether there is a no to take back.
    pub fn must_be_rejected(&self, id: &GateId) -> Result<(), Refusal> {
        match self.is_rejected() {
            true => Ok(()),
            false if self.is_closed() => Err(self.refuse_anew(id)),
            false => Err(Refusal::NotRejected { gate: id.clone() }),
        }
    }

    /// Why a gate that was decided takes nothing more.
    fn refuse_anew(&self, id: &GateId) -> Refusal {
        let (decision, by, at) = match &self.state {
            GateState::Resolved { decision, by, at, .. } => (decision.to_string(), by, *at),
            GateState::Withdrawn { by, at, .. } => ("withdrawn".to_owned(), by, *at),
            GateState::Open { .. } => return Refusal::NotRejected { gate: id.clone() },
        };
        Refusal::GateDecided { gate: id.clone(), decision, by: Actor::Person(by.clone()), at }
    }

    /// Whether `decision` is an answer that can be given now.
    pub fn must_take(&self, id: &GateId, decision: &Choice) -> Result<(), Refusal> {
        match &self.state {
            GateState::Open { .. } => {}
            GateState::Resolved { .. } if self.is_rejected() && !decision.is_rejection() => {}
            GateState::Resolved { .. } | GateState::Withdrawn { .. } => return Err(self.refuse_anew(id)),
        }
        match self.options.contains(decision) {
            true => Ok(()),
            false => {
                let (decision, options) = (decision.clone(), self.options.clone());
                Err(Refusal::NotAnOption { gate: id.clone(), decision, options })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::{agent, at, gate_id, proven, todo_id};

    fn gate(todos: &[&str]) -> Gate {
        let asked = Stamp { by: Actor::Agent(agent("codex-1")), at: at("10:00") };
        let todos = todos.iter().map(|id| todo_id(id)).collect();
        Gate::new("Delete the bucket?".parse().unwrap(), vec![], BTreeSet::new(), todos, asked)
    }

    fn answer(gate: &Gate, decision: &str) -> Result<Gate, Refusal> {
        let seen = Seen { question: gate.digest(), commit: None, tree: None };
        gate.resolve(&gate_id("bucket"), decision.parse().unwrap(), proven(), at("11:00"), None, seen)
    }

    #[test]
    fn each_answer_is_legal_or_refused() {
        let open = gate(&[]);
        let approved = answer(&open, "approve").unwrap();
        let rejected = answer(&open, "reject").unwrap();
        assert!(approved.is_closed());
        assert!(!rejected.is_closed());
        assert!(answer(&rejected, "approve").unwrap().is_closed(), "a person may change a no into a yes");

        for (gate, decision) in [(&approved, "approve"), (&approved, "reject"), (&rejected, "reject")] {
            assert!(
                matches!(answer(gate, decision), Err(Refusal::GateDecided { .. })),
                "{decision} was accepted"
            );
        }
        assert!(matches!(answer(&open, "maybe"), Err(Refusal::NotAnOption { .. })));
    }

    #[test]
    fn a_question_can_be_taken_back_until_it_is_answered_and_a_no_at_any_time() {
        let (id, open) = (gate_id("bucket"), gate(&[]));
        let (yes, no) = (answer(&open, "approve").unwrap(), answer(&open, "reject").unwrap());
        let why = || "not needed".parse().unwrap();
        let withdraw = |gate: &Gate| gate.withdraw(&id, proven(), at("12:00"), why());
        let reopen = |gate: &Gate| gate.reopen(&id, proven(), at("12:00"), why());
        let gone = withdraw(&open).unwrap();
        assert!(gone.is_closed() && withdraw(&no).unwrap().is_closed());
        let again = reopen(&no).unwrap();
        assert!(again.is_open() && answer(&again, "reject").unwrap().is_rejected());
        for decided in [&yes, &gone] {
            assert!(matches!(withdraw(decided), Err(Refusal::GateDecided { .. })));
            assert!(matches!(reopen(decided), Err(Refusal::GateDecided { .. })));
            assert!(matches!(answer(decided, "approve"), Err(Refusal::GateDecided { .. })));
        }
        assert_eq!(reopen(&open), Err(Refusal::NotRejected { gate: id }));
    }

    #[test]
    fn an_answer_holds_for_the_question_that_was_shown_and_no_other() {
        let shown = gate(&[]);
        let changed = gate(&["t-7k3q"]);
        let seen = Seen { question: shown.digest(), commit: None, tree: None };
        let answer = changed.resolve(
            &gate_id("bucket"),
            "approve".parse().unwrap(),
            proven(),
            at("11:00"),
            None,
            seen,
        );
        assert_eq!(answer.unwrap_err(), Refusal::QuestionChanged { gate: gate_id("bucket") });
    }

    #[test]
    fn what_waits_for_which_gate() {
        let check = |gate: &Gate, push: bool, named: bool, other: bool| {
            assert_eq!(gate.holds_back(Act::Push), push);
            assert_eq!(gate.stops(&todo_id("t-7k3q")), named);
            assert_eq!(gate.stops(&todo_id("t-0000")), other);
        };
        check(&gate(&[]), true, true, true);
        check(&gate(&["t-7k3q"]), true, true, false);
        check(&answer(&gate(&[]), "reject").unwrap(), true, false, false);
        check(&answer(&gate(&["t-7k3q"]), "reject").unwrap(), true, true, false);
        check(&answer(&gate(&["t-7k3q"]), "approve").unwrap(), false, false, false);
        let mut turn_only = gate(&[]);
        turn_only.blocks = [Act::Turn].into();
        check(&turn_only, false, true, true);
    }

    #[test]
    fn reject_is_always_on_offer() {
        let asked = gate(&[]).asked;
        let ship = Gate::new(
            "Which?".parse().unwrap(),
            vec!["blue".parse().unwrap()],
            BTreeSet::new(),
            BTreeSet::new(),
            asked,
        );
        assert_eq!(ship.options.iter().map(Choice::as_str).collect::<Vec<_>>(), ["blue", "reject"]);
        assert!(answer(&ship, "blue").unwrap().is_closed());
    }
}
