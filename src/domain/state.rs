//! One goal with everything open in it, as a value: what the decisions are made from.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    actor::{Actor, Proven, Stamp},
    change::Record,
    gate::{Gate, Seen},
    goal::{Goal, GoalState},
    id::{Choice, EvidenceId, GateId, GoalId, TodoId},
    quota::{Quota, Spend},
    refusal::Refusal,
    text::Note,
    time::{Seconds, Timestamp},
    todo::Todo,
};

/// The reason of a no that was given without one.
fn said_no(gate: &GateId) -> Note {
    format!("a person said no at gate {gate}").parse().expect("an id is printable")
}

/// A goal, the gates in force, the todos that are not closed, and the spends of the present window.
///
/// Closed items are not in here, so its size follows the open work and not the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    pub id: GoalId,
    pub goal: Goal,
    pub quota: Quota,
    /// Open and rejected ones.
    pub gates: BTreeMap<GateId, Gate>,
    /// Open, claimed and blocked ones.
    pub todos: BTreeMap<TodoId, Todo>,
    pub spends: Vec<Spend>,
}

impl Loop {
    /// The open gates, oldest question first.
    pub fn open_gates(&self) -> Vec<(&GateId, &Gate)> {
        let mut open: Vec<_> = self.gates.iter().filter(|(_, gate)| gate.is_open()).collect();
        open.sort_by_key(|(_, gate)| gate.asked.at);
        open
    }

    /// The first gate that `todo` has to wait for, or was refused by.
    pub fn gate_over(&self, todo: &TodoId) -> Option<(&GateId, &Gate)> {
        self.gates.iter().find(|(_, gate)| gate.stops(todo))
    }

    /// Those of the todo's needs that are not closed yet.
    pub fn open_needs(&self, todo: &Todo) -> Vec<TodoId> {
        todo.needs.iter().filter(|need| self.todos.contains_key(need)).cloned().collect()
    }

    /// Takes `id` for whoever stamps. Refused while a gate is over it, a need is open, or somebody else has it.
    pub fn claim(&self, id: &TodoId, stamp: &Stamp, lease: Seconds) -> Result<Todo, Refusal> {
        let todo = self.workable(id)?;
        todo.claim(id, stamp, lease)
    }

    /// Completes `id`. Refused for the same reasons as a claim: no gate is passed by leaving the claim out.
    pub fn complete(
        &self,
        id: &TodoId,
        stamp: &Stamp,
        evidence: BTreeSet<EvidenceId>,
        note: Option<Note>,
    ) -> Result<Todo, Refusal> {
        let todo = self.workable(id)?;
        todo.complete(id, stamp, evidence, note)
    }

    /// Answers `gate`. A no blocks the todos the gate is about, a yes frees what an earlier no had blocked.
    pub fn resolve(
        &self,
        id: &GateId,
        decision: Choice,
        proven: Proven,
        at: Timestamp,
        note: Option<Note>,
        seen: Seen,
    ) -> Result<Vec<Record>, Refusal> {
        let gate = self.gates.get(id).ok_or_else(|| Refusal::UnknownGate(id.clone()))?;
        let by = Actor::Person(proven.person.clone());
        let resolved = gate.resolve(id, decision, proven, at, note.clone(), seen)?;
        let is_no = resolved.is_rejected();
        Ok(self.with_its_todos(id, resolved, |todo| match is_no {
            true => todo.block_on(id, &by, at, note.clone().unwrap_or_else(|| said_no(id))),
            false => todo.unblock_from(id),
        }))
    }

    /// Takes the question of a gate back, and frees what an earlier no had blocked.
    pub fn withdraw(
        &self,
        id: &GateId,
        proven: Proven,
        at: Timestamp,
        reason: Note,
    ) -> Result<Vec<Record>, Refusal> {
        let gate = self.gates.get(id).ok_or_else(|| Refusal::UnknownGate(id.clone()))?;
        let withdrawn = gate.withdraw(id, proven, at, reason)?;
        Ok(self.with_its_todos(id, withdrawn, |todo| todo.unblock_from(id)))
    }

    /// Takes a no back. What it had blocked waits for the open question instead.
    pub fn reopen(
        &self,
        id: &GateId,
        proven: Proven,
        at: Timestamp,
        reason: Note,
    ) -> Result<Vec<Record>, Refusal> {
        let gate = self.gates.get(id).ok_or_else(|| Refusal::UnknownGate(id.clone()))?;
        let reopened = gate.reopen(id, proven, at, reason)?;
        Ok(self.with_its_todos(id, reopened, |todo| todo.unblock_from(id)))
    }

    /// The gate as it is from now on, and what becomes of the open todos that it is about.
    fn with_its_todos(&self, id: &GateId, gate: Gate, follow: impl Fn(&Todo) -> Todo) -> Vec<Record> {
        let about = self.todos.iter().filter(|(todo, _)| gate.todos.contains(*todo));
        let todos = about.map(|(todo, was)| Record::Todo(self.id.clone(), todo.clone(), follow(was)));
        let todos: Vec<_> = todos.collect();
        std::iter::once(Record::Gate(self.id.clone(), id.clone(), gate)).chain(todos).collect()
    }

    /// The open todo `id`, if work on it may begin or end now.
    fn workable(&self, id: &TodoId) -> Result<&Todo, Refusal> {
        if !matches!(self.goal.state, GoalState::Active {}) {
            return Err(Refusal::GoalNotActive { goal: self.id.clone(), state: self.goal.state.word() });
        }
        let todo = &self.todos[id];
        if let Some((gate_id, gate)) = self.gate_over(id) {
            return Err(gate.refuse(gate_id, id));
        }
        let needs = self.open_needs(todo);
        if !needs.is_empty() {
            return Err(Refusal::NeedsOpen { todo: id.clone(), needs });
        }
        Ok(todo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        samples::{at, gate, gate_id, loop_with, proven, stamp, todo, todo_id},
        todo::TodoState,
    };

    fn answer(loop_: &Loop, decision: &str) -> Vec<Record> {
        let seen = Seen { question: loop_.gates[&gate_id("bucket")].digest(), commit: None, tree: None };
        loop_
            .resolve(&gate_id("bucket"), decision.parse().unwrap(), proven(), at("11:00"), None, seen)
            .unwrap()
    }

    #[test]
    fn a_gate_is_enforced_at_claim_and_at_completion() {
        let loop_ = loop_with(&[("t-7k3q", todo("p2"))], &[("bucket", gate(&[]))]);
        let id = todo_id("t-7k3q");
        let claim = loop_.claim(&id, &stamp("agent:a", "10:00"), Seconds(60));
        assert!(matches!(claim, Err(Refusal::GateOverTodo { .. })));
        let done = loop_.complete(&id, &stamp("agent:a", "10:00"), BTreeSet::new(), None);
        assert!(matches!(done, Err(Refusal::GateOverTodo { .. })));
    }

    #[test]
    fn what_a_no_had_blocked_is_freed_with_it() {
        let blocked = todo("p2").block_on(
            &gate_id("bucket"),
            &crate::domain::samples::actor("Ann <ann@example.test>"),
            at("11:00"),
            "never".parse().unwrap(),
        );
        let open = loop_with(&[("t-7k3q", todo("p2"))], &[("bucket", gate(&["t-7k3q"]))]);
        let [Record::Gate(_, _, rejected), ..] = &answer(&open, "reject")[..] else { panic!("no gate") };
        let loop_ = loop_with(&[("t-7k3q", blocked)], &[("bucket", rejected.clone())]);
        let why = || "it was a mistake".parse().unwrap();
        for (records, closed) in [
            (loop_.withdraw(&gate_id("bucket"), proven(), at("12:00"), why()), true),
            (loop_.reopen(&gate_id("bucket"), proven(), at("12:00"), why()), false),
        ] {
            let records = records.unwrap();
            let [Record::Gate(_, _, gate), Record::Todo(_, id, todo)] = &records[..] else {
                panic!("{records:?}")
            };
            assert_eq!((gate.is_closed(), todo.is_free(at("12:00"))), (closed, true));
            assert_eq!(gate.stops(id), !closed, "an open question is waited for");
        }
    }

    #[test]
    fn a_need_has_to_be_closed_first() {
        let first = todo_id("t-0001");
        let second = Todo { needs: [first.clone()].into(), ..todo("p2") };
        let loop_ = loop_with(&[("t-0001", todo("p2")), ("t-0002", second)], &[]);
        assert_eq!(
            loop_.claim(&todo_id("t-0002"), &stamp("agent:a", "10:00"), Seconds(60)),
            Err(Refusal::NeedsOpen { todo: todo_id("t-0002"), needs: vec![first] })
        );
    }

    #[test]
    fn a_no_blocks_what_it_was_about_and_a_later_yes_frees_it() {
        let mut loop_ =
            loop_with(&[("t-7k3q", todo("p2")), ("t-0001", todo("p2"))], &[("bucket", gate(&["t-7k3q"]))]);
        let records = answer(&loop_, "reject");
        let [Record::Gate(_, _, rejected), Record::Todo(_, id, blocked)] = &records[..] else {
            panic!("{records:?}")
        };
        assert!(
            matches!(&blocked.state, TodoState::Blocked { reason, .. } if reason.as_str() == "a person said no at gate bucket")
        );
        loop_.gates.insert(gate_id("bucket"), rejected.clone());
        loop_.todos.insert(id.clone(), blocked.clone());
        assert!(matches!(
            loop_.claim(&todo_id("t-7k3q"), &stamp("agent:a", "12:00"), Seconds(60)),
            Err(Refusal::GateOverTodo { .. })
        ));
        assert!(loop_.claim(&todo_id("t-0001"), &stamp("agent:a", "12:00"), Seconds(60)).is_ok());

        let records = answer(&loop_, "approve");
        assert!(
            matches!(&records[..], [Record::Gate(..), Record::Todo(_, _, free)] if free.is_free(at("12:00")))
        );
    }
}
