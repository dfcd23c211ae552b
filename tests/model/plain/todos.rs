//! Todos: who has them, and what becomes of them.

use std::collections::BTreeSet;

use super::{ANN, Answer, Edits, GoalName, Model, Named, Refused, SAID, Stamp, State, Todo, turns::Next};

impl Todo {
    pub(super) fn is_closed(&self) -> bool {
        self.closed().is_some()
    }

    /// Who closed it, and when.
    pub(super) fn closed(&self) -> Option<(i64, &str)> {
        match &self.state {
            State::Done { by, at, .. } | State::Dropped { by, at } => Some((*at, by)),
            _ => None,
        }
    }

    pub(super) fn must_not_be_closed(&self) -> Result<(), Refused> {
        if self.is_closed() { Err(self.refused("")) } else { Ok(()) }
    }

    fn must_be_for(&self, by: &str) -> Result<(), Refused> {
        if self.for_person && by != ANN { Err("is for a person") } else { Ok(()) }
    }

    /// An agent leaves alone what somebody else has.
    fn must_be_open_to(&self, stamp: &Stamp) -> Result<(), Refused> {
        match self.holder(stamp.at) {
            Some(holder) if *holder != stamp.by && stamp.by != ANN => Err(self.refused(&stamp.by)),
            _ => Ok(()),
        }
    }

    /// Nobody has it.
    pub(super) fn is_free(&self, now: i64) -> bool {
        match &self.state {
            State::Open => true,
            State::Claimed { until, .. } => *until <= now,
            _ => false,
        }
    }

    pub(super) fn holder(&self, now: i64) -> Option<&String> {
        match &self.state {
            State::Claimed { by, until, .. } if *until > now => Some(by),
            _ => None,
        }
    }

    /// Also when the claim ran out.
    pub(super) fn is_claimed_by(&self, who: &str) -> bool {
        matches!(&self.state, State::Claimed { by, .. } if by == who)
    }

    pub(super) fn is_blocked_on(&self, gate: &str) -> bool {
        matches!(&self.state, State::Blocked { on: Some(on), .. } if on == gate)
    }

    fn with(&self, state: State) -> Self {
        Self { state, ..self.clone() }
    }

    /// Why it cannot be taken any further by somebody who does not have it.
    fn refused(&self, by: &str) -> Refused {
        match &self.state {
            State::Open => "nobody has claimed todo",
            State::Claimed { by: holder, from: Some(from), .. } if from == by && holder != by => {
                "took it over"
            }
            State::Claimed { .. } => "is claimed by",
            State::Blocked { .. } => "is blocked",
            State::Done { .. } => "was done by",
            State::Dropped { .. } => "was dropped by",
        }
    }
}

impl Model {
    pub(super) fn add_todo(
        &mut self,
        goal: GoalName,
        (title, for_person, needs): (String, bool, &[Named]),
        id: &str,
        added: Stamp,
    ) -> Answer {
        let goal = self.active_goal(goal)?;
        let found = needs.iter().map(|need| self.find_in(&goal, &self.name(&added.by, "t-", need)));
        let needs = found.collect::<Result<BTreeSet<_>, _>>()?;
        let todo = Todo { goal, title, for_person, priority: 2, needs, added, epoch: 0, state: State::Open };
        self.must_be_new(id)?;
        self.order.push(id.to_owned());
        self.todos.insert(id.to_owned(), todo);
        Ok(true)
    }

    /// One step of the open todo that is meant.
    pub(super) fn step(
        &mut self,
        by: &str,
        todo: &Named,
        take: impl Fn(&Self, &str, &Todo) -> Result<Todo, Refused>,
    ) -> Answer {
        let id = self.find(&self.name(by, "t-", todo))?;
        let before = &self.todos[&id];
        before.must_not_be_closed()?;
        let after = take(self, &id, before)?;
        let changes = *before != after;
        self.put(id, after);
        Ok(changes)
    }

    /// Makes parts of a todo, one for each new id.
    pub(super) fn split(&mut self, todo: &Named, parts: &[String], added: Stamp) -> Answer {
        let changes = self.step(&added.by, todo, |model, id, whole| {
            model.goals[&whole.goal].must_be_active()?;
            if model.is_stopped(&whole.goal, id) {
                return Err("waits for gate");
            }
            whole.must_be_for(&added.by)?;
            if !whole.is_free(added.at) && !whole.is_claimed_by(&added.by) {
                return Err(whole.refused(&added.by));
            }
            parts.iter().try_for_each(|part| model.must_be_new(part))?;
            let needs = whole.needs.iter().chain(parts).cloned().collect();
            Ok(Todo { needs, ..whole.with(State::Open) })
        })?;
        let whole = self.todos[&self.find(&self.name(&added.by, "t-", todo))?].clone();
        for (part, id) in (1..).zip(parts) {
            let needs = whole.needs.iter().filter(|need| !parts.contains(need)).cloned().collect();
            let (title, added) = (format!("Part {part}"), added.clone());
            let todo = Todo { title, needs, added, epoch: 0, state: State::Open, ..whole.clone() };
            self.order.push(id.clone());
            self.todos.insert(id.clone(), todo);
        }
        Ok(changes)
    }

    pub(super) fn edited(&self, id: &str, edits: &Edits, stamp: &Stamp) -> Result<Todo, Refused> {
        let (before, by) = (&self.todos[id], &stamp.by);
        let mut after = before.clone();
        after.priority = edits.priority.unwrap_or(before.priority);
        after.for_person = edits.for_person.unwrap_or(before.for_person);
        if let Some(need) = &edits.need {
            after.needs.insert(self.find_in(&before.goal, &self.name(by, "t-", need))?);
        }
        if let Some(need) = &edits.no_need {
            let begun = self.name(by, "t-", need);
            after.needs.retain(|need| !need.starts_with(&begun));
        }
        before.must_be_open_to(stamp)?;
        if by != ANN {
            if before.for_person && !after.for_person {
                return Err("is for a person");
            }
            let loosens = after.priority != before.priority || !after.needs.is_superset(&before.needs);
            if loosens && before.added.by == ANN {
                return Err("may change it");
            }
            let is_a_persons =
                |need: &&String| self.todos[*need].for_person && !self.todos[*need].is_closed();
            if before.needs.difference(&after.needs).any(|need| is_a_persons(&need)) {
                return Err("may not leave that out");
            }
        }
        self.must_not_circle(id, &after.needs)?;
        Ok(after)
    }

    /// Keeps what became of a todo.
    pub(super) fn put(&mut self, id: String, todo: Todo) {
        let closed = todo.is_closed().then(|| todo.goal.clone());
        self.todos.insert(id, todo);
        if let Some(goal) = closed {
            self.filed(goal, "todos");
        }
    }

    pub(super) fn claim_next(&mut self, goal: GoalName, lease: i64, stamp: Stamp) -> Answer {
        let goal = self.goal(goal)?;
        let Next::Work(id) = self.next(&goal, &stamp.by, stamp.at) else {
            return Err("can be claimed now");
        };
        let after = self.claimed(&id, &stamp, lease)?;
        let changes = self.todos[&id] != after;
        self.put(id, after);
        Ok(changes)
    }

    pub(super) fn reopen(&mut self, todo: &Named, stamp: Stamp) -> Answer {
        let id = self.find(&self.name(&stamp.by, "t-", todo))?;
        let todo = &self.todos[&id];
        self.goals[&todo.goal].must_be_active()?;
        let Some((_, closed_by)) = todo.closed() else { return Err("not closed") };
        if closed_by == ANN && stamp.by != ANN {
            return Err("may reopen it");
        }
        self.must_not_circle(&id, &todo.needs)?;
        let (goal, open) = (todo.goal.clone(), todo.with(State::Open));
        // What was folded lies nowhere else.
        if !self.folded.remove(&id) {
            *self.lying.get_mut(&(goal, "todos")).expect("it lay there") -= 1;
        }
        self.todos.insert(id, open);
        Ok(true)
    }

    /// No need of `id` leads back to it. What is closed leads nowhere.
    fn must_not_circle(&self, id: &str, needs: &BTreeSet<String>) -> Result<(), Refused> {
        let (mut seen, mut next) = (BTreeSet::new(), Vec::from_iter(needs));
        while let Some(need) = next.pop() {
            if need == id {
                return Err("would need itself");
            }
            if seen.insert(need) && !self.todos[need].is_closed() {
                next.extend(&self.todos[need].needs);
            }
        }
        Ok(())
    }

    pub(super) fn claimed(&self, id: &str, stamp: &Stamp, lease: i64) -> Result<Todo, Refused> {
        self.must_be_workable(id, stamp)?;
        let (todo, by) = (&self.todos[id], &stamp.by);
        let from = match &todo.state {
            State::Open => None,
            State::Claimed { by: holder, until, .. } if *until <= stamp.at => Some(holder.clone()),
            State::Claimed { by: holder, .. } if holder == by => return todo.renewed(stamp, Some(lease)),
            _ => return Err(todo.refused(by)),
        };
        let (by, since, until, lease) = (by.clone(), stamp.at, stamp.at + lease, unusual(lease));
        Ok(Todo { epoch: todo.epoch + 1, ..todo.with(State::Claimed { by, since, until, from, lease }) })
    }

    pub(super) fn completed(
        &self,
        id: &str,
        stamp: &Stamp,
        evidence: BTreeSet<String>,
        note: Option<&'static str>,
    ) -> Result<Todo, Refused> {
        let todo = &self.todos[id];
        self.must_be_workable(id, stamp)?;
        match &todo.state {
            State::Claimed { by, until, .. } if *by != stamp.by && *until > stamp.at => {
                Err(todo.refused(&stamp.by))
            }
            State::Open | State::Claimed { .. } => {
                Ok(todo.with(State::Done { by: stamp.by.clone(), at: stamp.at, evidence, note }))
            }
            _ => Err(todo.refused(&stamp.by)),
        }
    }

    pub(super) fn dropped(&self, id: &str, stamp: &Stamp, proven: bool) -> Result<Todo, Refused> {
        let (todo, is_agent) = (&self.todos[id], stamp.by != ANN);
        let is_stopped = self.is_stopped(&todo.goal, id);
        if is_agent && is_stopped {
            return Err("waits for gate");
        }
        todo.must_be_for(&stamp.by)?;
        todo.must_be_open_to(stamp)?;
        let stopped_it = matches!(&todo.state, State::Blocked { by, .. } if by == ANN);
        if is_agent && (todo.added.by == ANN || stopped_it) {
            return Err("may drop it");
        }
        if is_stopped && !proven {
            return Err("may drop todo");
        }
        Ok(todo.with(State::Dropped { by: stamp.by.clone(), at: stamp.at }))
    }

    pub(super) fn unblocked(&self, todo: &Todo, by: &str) -> Result<Todo, Refused> {
        match &todo.state {
            State::Blocked { on: Some(gate), .. } if self.is_in_force(&todo.goal, gate) => {
                Err("waits for gate")
            }
            State::Blocked { by: who, .. } if who == ANN && by != ANN => Err("may unblock it"),
            State::Blocked { .. } => Ok(todo.with(State::Open)),
            _ => Err("is not blocked"),
        }
    }

    pub(super) fn blocked(
        &self,
        todo: &Todo,
        stamp: &Stamp,
        on: Option<&'static str>,
    ) -> Result<Todo, Refused> {
        if on.is_some_and(|gate| !self.is_in_force(&todo.goal, gate)) {
            return Err("there is no gate");
        }
        todo.must_be_open_to(stamp)?;
        if matches!(todo.state, State::Blocked { .. }) {
            return Err(todo.refused(&stamp.by));
        }
        let (on, by, reason) = (on.map(str::to_owned), stamp.by.clone(), SAID.to_owned());
        Ok(todo.with(State::Blocked { on, by, at: stamp.at, reason }))
    }

    fn is_in_force(&self, goal: &str, gate: &str) -> bool {
        self.gates.get(&(goal.to_owned(), gate.to_owned())).is_some_and(|gate| !gate.is_closed())
    }

    fn must_be_workable(&self, id: &str, stamp: &Stamp) -> Result<(), Refused> {
        let todo = &self.todos[id];
        self.goals[&todo.goal].must_be_active()?;
        if self.is_stopped(&todo.goal, id) {
            return Err("waits for gate");
        }
        if todo.needs.iter().any(|need| !self.todos[need].is_closed()) {
            return Err("not closed yet");
        }
        todo.must_be_for(&stamp.by)
    }

    /// A gate is over the todo, or was rejected over it.
    pub(super) fn is_stopped(&self, goal: &str, todo: &str) -> bool {
        self.gates.iter().any(|((of, _), gate)| of == goal && gate.stops(todo))
    }

    /// The todo of that very id, else the only open one that begins so, else the only closed one.
    pub(super) fn find(&self, named: &str) -> Result<String, Refused> {
        if self.todos.contains_key(named) {
            return Ok(named.to_owned());
        }
        for closed in [false, true] {
            let fits = |(id, todo): &(&String, &Todo)| id.starts_with(named) && todo.is_closed() == closed;
            let found: Vec<&String> = self.todos.iter().filter(fits).map(|(id, _)| id).collect();
            match found[..] {
                [] => {}
                [only] => return Ok(only.clone()),
                _ => return Err("todos ("),
            }
        }
        Err("there is no todo")
    }

    pub(super) fn find_in(&self, goal: &str, named: &str) -> Result<String, Refused> {
        let id = self.find(named)?;
        if self.todos[&id].goal == goal { Ok(id) } else { Err("belongs to goal") }
    }
}

impl Todo {
    /// Nothing changes while more than half of the lease remains, which is as long as it was when nobody says otherwise.
    pub(super) fn renewed(&self, stamp: &Stamp, length: Option<i64>) -> Result<Self, Refused> {
        match self.state.clone() {
            State::Claimed { by, since, until, from, lease } if by == stamp.by => {
                let length = length.or(lease).unwrap_or(45 * 60);
                let (until, lease) = match until - length / 2 > stamp.at {
                    true => (until, lease),
                    false => (stamp.at + length, unusual(length)),
                };
                Ok(self.with(State::Claimed { by, since, until, from, lease }))
            }
            _ => Err(self.refused(&stamp.by)),
        }
    }

    pub(super) fn released(&self, by: &str) -> Result<Self, Refused> {
        if self.is_claimed_by(by) { Ok(self.with(State::Open)) } else { Err(self.refused(by)) }
    }
}

/// How long a claim holds, unless that is the usual time.
fn unusual(lease: i64) -> Option<i64> {
    (lease != 45 * 60).then_some(lease)
}
