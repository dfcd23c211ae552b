//! Todos: who has them, and what becomes of them.

use std::collections::BTreeSet;

use super::{ANN, Answer, GoalName, Model, Named, Refused, Stamp, State, Todo};

impl Todo {
    pub(super) fn is_closed(&self) -> bool {
        matches!(self.state, State::Done { .. })
    }

    pub(super) fn must_not_be_closed(&self) -> Result<(), Refused> {
        if self.is_closed() { Err(self.refused("")) } else { Ok(()) }
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
            State::Blocked { .. } => "is blocked by gate",
            State::Done { .. } => "was done by",
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
        let goal = self.goal(goal)?;
        let found = needs.iter().map(|need| self.find_in(&goal, &self.name("t-", need)));
        let needs = found.collect::<Result<BTreeSet<_>, _>>()?;
        let todo = Todo { goal, title, for_person, needs, added, epoch: 0, state: State::Open };
        self.order.push(id.to_owned());
        self.todos.insert(id.to_owned(), todo).map_or(Ok(true), |_| Err("its id is new"))
    }

    /// One step of the open todo that is meant.
    pub(super) fn step(
        &mut self,
        todo: &Named,
        take: impl Fn(&Self, &str, &Todo) -> Result<Todo, Refused>,
    ) -> Answer {
        let id = self.find(&self.name("t-", todo))?;
        let before = &self.todos[&id];
        before.must_not_be_closed()?;
        let after = take(self, &id, before)?;
        let changes = *before != after;
        self.put(id, after);
        Ok(changes)
    }

    /// Keeps what became of a todo.
    pub(super) fn put(&mut self, id: String, todo: Todo) {
        if todo.is_closed() {
            self.filed(todo.goal.clone(), "todos");
        }
        self.todos.insert(id, todo);
    }

    pub(super) fn claimed(&self, id: &str, stamp: &Stamp, lease: i64) -> Result<Todo, Refused> {
        self.must_be_workable(id, stamp)?;
        let (todo, by) = (&self.todos[id], &stamp.by);
        let from = match &todo.state {
            State::Open => None,
            State::Claimed { by: holder, until, .. } if *until <= stamp.at => Some(holder.clone()),
            State::Claimed { by: holder, .. } if holder == by => return todo.renewed(stamp, lease),
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
    ) -> Result<Todo, Refused> {
        let todo = &self.todos[id];
        self.must_have(&todo.goal, &evidence)?;
        self.must_be_workable(id, stamp)?;
        match &todo.state {
            State::Claimed { by, until, .. } if *by != stamp.by && *until > stamp.at => {
                Err(todo.refused(&stamp.by))
            }
            State::Open | State::Claimed { .. } => {
                Ok(todo.with(State::Done { by: stamp.by.clone(), at: stamp.at, evidence }))
            }
            _ => Err(todo.refused(&stamp.by)),
        }
    }

    fn must_be_workable(&self, id: &str, stamp: &Stamp) -> Result<(), Refused> {
        let todo = &self.todos[id];
        let mut over = self.gates.iter().filter(|((goal, _), _)| *goal == todo.goal);
        if over.any(|(_, gate)| gate.stops(id)) {
            return Err("waits for gate");
        }
        if todo.needs.iter().any(|need| !self.todos[need].is_closed()) {
            return Err("not closed yet");
        }
        if todo.for_person && stamp.by != ANN {
            return Err("is for a person");
        }
        Ok(())
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
    /// Nothing changes while more than half of the lease remains.
    fn renewed(&self, stamp: &Stamp, length: i64) -> Result<Self, Refused> {
        match self.state.clone() {
            State::Claimed { by, since, until, from, lease } if by == stamp.by => {
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
        match &self.state {
            State::Claimed { by: holder, .. } if holder == by => Ok(self.with(State::Open)),
            _ => Err(self.refused(by)),
        }
    }
}

/// How long a claim holds, unless that is the usual time.
fn unusual(lease: i64) -> Option<i64> {
    (lease != 45 * 60).then_some(lease)
}
