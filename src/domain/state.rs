//! One goal with everything open in it, as a value: what the decisions are made from.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    actor::{Actor, Proven, Stamp},
    change::Record,
    gate::{Gate, Seen},
    goal::Goal,
    id::{AgentId, Choice, GateId, GoalId, TodoId},
    needs::circle,
    quota::{Quota, Spend},
    refusal::Refusal,
    text::Note,
    time::{Seconds, Timestamp},
    todo::{Looked, Outcome, Todo, Worker},
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
    /// Of what is open, what [the foremost todos](super::foremost::Foremost) need and is not among `todos`. Only a state that is
    /// made to be decided on leaves something out; elsewhere this is empty.
    pub behind: BTreeSet<TodoId>,
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

    /// Whether a todo that another one needs is not closed.
    pub fn is_open(&self, todo: &TodoId) -> bool {
        self.todos.contains_key(todo) || self.behind.contains(todo)
    }

    /// Whether the todo needs one that is not closed.
    pub fn waits(&self, todo: &Todo) -> bool {
        todo.needs.iter().any(|need| self.is_open(need))
    }

    /// Those of the todo's needs that are not closed yet.
    pub fn open_needs(&self, todo: &Todo) -> Vec<TodoId> {
        todo.needs.iter().filter(|need| self.is_open(need)).cloned().collect()
    }

    /// The turn that an agent is in.
    pub fn turn_of(&self, agent: &AgentId) -> Option<&Spend> {
        self.spends.iter().find(|turn| turn.goes_on() && turn.added.by.agent() == Some(agent))
    }

    /// The turns that whoever begins one now finds without an end: their own, and those whose time and claim ran out.
    pub fn lost_turns(&self, stamp: &Stamp) -> Vec<Spend> {
        let is_held = |turn: &Spend| {
            let todo = turn.course.as_ref().and_then(|course| self.todos.get(course.todo.as_ref()?));
            todo.and_then(|todo| todo.holder(stamp.at)).is_some_and(|(by, _)| *by == turn.added.by)
        };
        let open = self.spends.iter().filter(|turn| turn.added.by == stamp.by || !is_held(turn));
        open.filter_map(|turn| turn.lose(stamp).ok()).collect()
    }

    /// The turns of the window, the latest first, that came to nothing one after the other since a todo was last added.
    /// A look at a monitor is none of them; one for thinking of other todos is, unless it added some. One that began in the
    /// second in which a todo was added is taken to have begun before it.
    pub fn idle_turns(&self, now: Timestamp) -> Vec<&Spend> {
        let from = self.todos.values().map(|todo| todo.added.at).max();
        let window = now.minus(self.quota.window());
        let is_look = |todo: &TodoId| self.todos.get(todo).is_some_and(|todo| todo.monitor.is_some());
        let mut ended: Vec<_> = (self.spends.iter())
            .filter_map(|turn| {
                let course = turn.course.as_ref()?;
                let end = course.end.as_ref()?;
                let counts = turn.added.at > window && !course.todo.as_ref().is_some_and(is_look);
                counts.then_some((end.at, &turn.turn, end.outcome.is_idle() || course.todo.is_none(), turn))
            })
            .collect();
        ended.sort_by(|a, b| (b.0, b.1.as_str()).cmp(&(a.0, a.1.as_str())));
        ended
            .into_iter()
            .take_while(|(.., is_idle, turn)| *is_idle && from.is_none_or(|from| turn.added.at > from))
            .map(|(.., turn)| turn)
            .collect()
    }

    /// What is true of all the [turns that came to nothing](Self::idle_turns), after "the last turns".
    pub fn how_idle(&self, now: Timestamp) -> &'static str {
        let turns = self.idle_turns(now);
        let courses = || turns.iter().filter_map(|turn| turn.course.as_ref());
        if courses().all(|course| course.end.as_ref().is_some_and(|end| end.outcome.is_idle())) {
            "came to nothing"
        } else if courses().all(|course| course.todo.is_none()) {
            "had no todo and added none"
        } else {
            "brought no todo forward and added none"
        }
    }

    /// Takes `id` for whoever stamps. Refused while a gate is over it, a need is open, or somebody else has it.
    pub fn claim(&self, id: &TodoId, stamp: &Stamp, lease: Seconds) -> Result<Todo, Refusal> {
        let todo = self.workable(id)?;
        todo.claim(id, stamp, lease)
    }

    /// Completes `id`. Refused for the same reasons as a claim: no gate is passed by leaving the claim out. Whether the
    /// check was passed is asked last.
    pub fn complete(&self, id: &TodoId, stamp: &Stamp, outcome: Outcome) -> Result<Todo, Refusal> {
        let todo = self.workable(id)?;
        todo.complete(id, stamp, outcome)
    }

    /// Looks at the monitor `id` once more. That is work: it waits for gates and needs.
    pub fn poll(&self, id: &TodoId, stamp: &Stamp, looked: Looked) -> Result<(Todo, bool), Refusal> {
        self.workable(id)?.poll(id, stamp, looked)
    }

    /// Makes `id` wait for its new parts.
    pub fn split(&self, id: &TodoId, stamp: &Stamp, parts: &[TodoId]) -> Result<Todo, Refusal> {
        self.ungated(id)?.split(id, stamp, &parts.iter().cloned().collect())
    }

    /// Gives `id` up. Under a gate only a person may, who is asked to show to be one: see [`Self::gate_over`].
    pub fn drop(&self, id: &TodoId, stamp: &Stamp, reason: Note) -> Result<Todo, Refusal> {
        if let (Actor::Agent(_), Some((gate_id, gate))) = (&stamp.by, self.gate_over(id)) {
            return Err(gate.refuse(gate_id, id));
        }
        self.todos[id].drop(id, stamp, reason)
    }

    /// Stops `id`, on a gate in force if one is named.
    pub fn block(
        &self,
        id: &TodoId,
        stamp: &Stamp,
        on: Option<GateId>,
        reason: Note,
    ) -> Result<Todo, Refusal> {
        if let Some(gate) = on.iter().find(|gate| !self.gates.contains_key(gate)) {
            return Err(Refusal::UnknownGate(gate.clone()));
        }
        self.todos[id].block(id, stamp, on, reason)
    }

    /// Frees `id`. What waits for a gate in force is freed by the answer to that.
    pub fn unblock(&self, id: &TodoId, stamp: &Stamp) -> Result<Todo, Refusal> {
        let todo = &self.todos[id];
        if let Some((gate_id, gate)) = self.gates.iter().find(|(gate, _)| todo.is_blocked_on(gate)) {
            return Err(gate.refuse(gate_id, id));
        }
        todo.unblock(id, stamp)
    }

    /// Changes what can be edited of `id` into that of `to`.
    pub fn edit(&self, id: &TodoId, stamp: &Stamp, to: Todo) -> Result<Todo, Refusal> {
        let before = &self.todos[id];
        let edited = before.edited(id, stamp, to)?;
        for need in before.needs.difference(&edited.needs) {
            self.todos.get(need).map_or(Ok(()), |todo| may_leave_out(id, need, todo, &stamp.by))?;
        }
        self.must_not_circle(id, &edited)?;
        Ok(edited)
    }

    /// Opens `closed` again, which is `id`.
    pub fn reopen(&self, id: &TodoId, closed: &Todo, stamp: &Stamp) -> Result<Todo, Refusal> {
        self.goal.must_be_active(&self.id)?;
        let open = closed.reopen(id, stamp)?;
        self.must_not_circle(id, &open)?;
        Ok(open)
    }

    /// The needs lead nowhere back when `id` is `todo`.
    fn must_not_circle(&self, id: &TodoId, todo: &Todo) -> Result<(), Refusal> {
        let needs = |of: &TodoId| {
            let todo = if of == id { Some(todo) } else { self.todos.get(of) };
            Ok::<_, Refusal>(todo.map(|todo| todo.needs.clone()).unwrap_or_default())
        };
        match circle([id.clone()], needs)? {
            None => Ok(()),
            Some(circle) => Err(Refusal::Circle { todo: id.clone(), circle }),
        }
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
    pub fn reopen_gate(
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
        // What a todo was blocked on by hand is about the gate, too, unless it is a no.
        let is_about = |id_: &TodoId, todo: &Todo| {
            gate.todos.contains(id_) || !gate.is_rejected() && todo.is_blocked_on(id)
        };
        let about = self.todos.iter().filter(|(todo, was)| is_about(todo, was));
        let todos = about.map(|(todo, was)| Record::Todo(self.id.clone(), todo.clone(), follow(was)));
        let todos: Vec<_> = todos.collect();
        std::iter::once(Record::Gate(self.id.clone(), id.clone(), gate)).chain(todos).collect()
    }

    /// The open todo `id`, if work on it may begin or end now.
    fn workable(&self, id: &TodoId) -> Result<&Todo, Refusal> {
        let todo = self.ungated(id)?;
        let needs = self.open_needs(todo);
        if !needs.is_empty() {
            return Err(Refusal::NeedsOpen { todo: id.clone(), needs });
        }
        Ok(todo)
    }

    /// The open todo `id`, if no gate is over it and the goal goes on.
    fn ungated(&self, id: &TodoId) -> Result<&Todo, Refusal> {
        self.goal.must_be_active(&self.id)?;
        let todo = &self.todos[id];
        if let Some((gate_id, gate)) = self.gate_over(id) {
            return Err(gate.refuse(gate_id, id));
        }
        Ok(todo)
    }
}

/// Whether `by` may make `id` no longer need the open todo `need`: an agent does not get around a person's work.
pub fn may_leave_out(id: &TodoId, need: &TodoId, todo: &Todo, by: &Actor) -> Result<(), Refusal> {
    match (todo.for_, by) {
        (Worker::Person, Actor::Agent(agent)) if !todo.is_closed() => {
            let (todo, need, agent) = (id.clone(), need.clone(), agent.clone());
            Err(Refusal::NeedOfAPerson { todo, need, agent })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        samples::{at, gate, gate_id, loop_with, proven, stamp, todo, todo_id},
        todo::TodoState,
        turn::{End, Outcome as TurnOutcome},
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
        let done = loop_.complete(&id, &stamp("agent:a", "10:00"), Outcome::default());
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
            (loop_.reopen_gate(&gate_id("bucket"), proven(), at("12:00"), why()), false),
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
    fn turns_come_to_nothing_until_a_todo_is_added() {
        let turn = |name: &str, begun: &str, todo: Option<&str>, outcome: TurnOutcome| {
            let turn = Spend::begin(
                name.parse().unwrap(),
                0,
                todo.map(todo_id),
                at("10:30"),
                stamp("agent:a", begun),
            );
            let Stamp { by, at } = stamp("agent:a", "10:10");
            turn.end(End { outcome, by, at, summary: None }, 0, Vec::new()).unwrap()
        };
        let (nothing, completed) = (TurnOutcome::Nothing, TurnOutcome::Completed);
        let added = |when: &str| Todo { added: stamp("agent:a", when), ..todo("p2") };
        for (turns, added_at, count, how) in [
            (vec![turn("x-1", "10:01", None, nothing)], "10:00", 1, "came to nothing"),
            (vec![turn("x-1", "10:01", None, completed)], "10:00", 1, "had no todo and added none"),
            (
                vec![turn("x-1", "10:01", None, completed), turn("x-2", "10:02", Some("t-7k3q"), nothing)],
                "10:00",
                2,
                "brought no todo forward and added none",
            ),
            // The same second is taken for before.
            (vec![turn("x-1", "10:01", None, completed)], "10:01", 0, ""),
            (vec![turn("x-1", "10:01", None, completed)], "10:02", 0, ""),
            (vec![turn("x-1", "10:01", Some("t-7k3q"), completed)], "10:00", 0, ""),
        ] {
            let state = Loop { spends: turns, ..loop_with(&[("t-7k3q", added(added_at))], &[]) };
            assert_eq!(state.idle_turns(at("10:20")).len(), count, "{state:?}");
            if count > 0 {
                assert_eq!(state.how_idle(at("10:20")), how);
            }
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

    #[test]
    fn needs_lead_nowhere_back() {
        let needy = |need: &str| Todo { needs: [todo_id(need)].into(), ..todo("p2") };
        let state = loop_with(&[("t-0001", todo("p2")), ("t-0002", needy("t-0001"))], &[]);
        let (one, two) = (todo_id("t-0001"), todo_id("t-0002"));
        let circle = vec![one.clone(), two.clone(), one.clone()];
        assert_eq!(
            state.edit(&one, &stamp("agent:a", "10:00"), needy("t-0002")),
            Err(Refusal::Circle { todo: one.clone(), circle })
        );
        assert!(state.edit(&one, &stamp("agent:a", "10:00"), needy("t-0001")).is_err(), "itself");
        // Closed, it stands in nobody's way; open again it would.
        let closed =
            needy("t-0002").complete(&todo_id("t-0003"), &stamp("agent:a", "10:00"), Outcome::default());
        let three = todo_id("t-0003");
        let closed = closed.unwrap();
        assert!(state.reopen(&three, &closed, &stamp("agent:a", "10:01")).is_ok());
        let mut state = state;
        state.todos.insert(one, needy("t-0003"));
        let again = state.reopen(&three, &closed, &stamp("agent:a", "10:01"));
        assert!(matches!(again, Err(Refusal::Circle { circle, .. }) if circle.len() == 4));
        let paused = state.goal.pause(&state.id, &stamp("agent:a", "10:02"), None).unwrap();
        let again = Loop { goal: paused, ..state }.reopen(&three, &closed, &stamp("agent:a", "10:03"));
        assert!(matches!(again, Err(Refusal::GoalNotActive { .. })));
    }

    #[test]
    fn an_agent_does_not_get_around_a_person_or_a_gate() {
        let agent = stamp("agent:a", "10:00");
        let ann = stamp("Ann <ann@example.test>", "10:00");
        let why: Note = "because".parse().unwrap();
        let (one, two) = (todo_id("t-0001"), todo_id("t-0002"));
        let theirs = Todo { for_: Worker::Person, ..todo("p2") };
        let needy = Todo { needs: [one.clone()].into(), ..todo("p2") };
        let state = loop_with(&[("t-0001", theirs), ("t-0002", needy)], &[]);
        assert!(matches!(state.edit(&two, &agent, todo("p2")), Err(Refusal::NeedOfAPerson { .. })));
        assert!(state.edit(&two, &ann, todo("p2")).is_ok());

        let mut gated = loop_with(&[("t-0001", todo("p2"))], &[("bucket", gate(&["t-0001"]))]);
        let is_gated = |result: Result<Todo, Refusal>| {
            assert!(matches!(result, Err(Refusal::GateOverTodo { .. })), "{result:?}");
        };
        for answered in [false, true] {
            is_gated(gated.drop(&one, &agent, why.clone()));
            is_gated(gated.split(&one, &agent, std::slice::from_ref(&two)));
            is_gated(gated.poll(&one, &agent, Looked::Same).map(|(todo, _)| todo));
            assert!(gated.drop(&one, &ann, why.clone()).is_ok());
            if answered {
                is_gated(gated.unblock(&one, &ann));
            }
            for record in answer(&gated, if answered { "approve" } else { "reject" }) {
                match record {
                    Record::Gate(_, id, gate) => drop(gated.gates.insert(id, gate)),
                    Record::Todo(_, id, todo) => drop(gated.todos.insert(id, todo)),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn a_yes_frees_what_was_blocked_on_the_gate() {
        let (one, agent) = (todo_id("t-0001"), stamp("agent:a", "10:00"));
        let why: Note = "because".parse().unwrap();
        let mut state = loop_with(&[("t-0001", todo("p2"))], &[("bucket", gate(&["t-0002"]))]);
        let unknown = state.block(&one, &agent, Some(gate_id("nope")), why.clone());
        assert!(matches!(unknown, Err(Refusal::UnknownGate(_))));
        let blocked = state.block(&one, &agent, Some(gate_id("bucket")), why).unwrap();
        state.todos.insert(one.clone(), blocked);
        assert!(matches!(state.unblock(&one, &agent), Err(Refusal::GateOverTodo { .. })));
        assert_eq!(answer(&state, "reject").len(), 1, "the gate alone");
        assert!(
            matches!(&answer(&state, "approve")[..], [Record::Gate(..), Record::Todo(_, _, free)] if free.is_free(at("12:00")))
        );
    }
}
