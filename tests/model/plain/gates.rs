//! Gates, and what an answer does to todos.

use std::collections::BTreeSet;

use super::{
    ANN, Answer, Asked, Gate, GoalName, Model, Named, Refused, Stamp, State as TodoState, numbered, of,
};

#[derive(Debug, Clone, Copy)]
pub(super) enum State {
    /// And when a no was taken back, if one was.
    Open(Option<i64>),
    /// With which answer, when, and with what note.
    Answered(&'static str, i64, Option<&'static str>),
    Withdrawn(i64),
}

impl Gate {
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    fn is_rejected(&self) -> bool {
        matches!(self.state, State::Answered("reject", ..))
    }

    pub(super) fn is_closed(&self) -> bool {
        !self.is_open() && !self.is_rejected()
    }

    pub(super) fn stops(&self, todo: &str) -> bool {
        !self.is_closed() && (self.todos.contains(todo) || self.is_open() && self.todos.is_empty())
    }
}

impl Model {
    pub(super) fn open_gate(
        &mut self,
        (goal, id): (GoalName, Option<&str>),
        (option, turn_only): (bool, bool),
        about: &[Named],
        asked: Stamp,
    ) -> Answer {
        let goal = self.active_goal(goal)?;
        let free = |n: &usize| !self.gates.contains_key(&(goal.clone(), numbered("may-we", *n)));
        let made = || numbered("may-we", (1..).find(free).expect("a number"));
        let key = (goal.clone(), id.map_or_else(made, str::to_owned));
        if self.gates.contains_key(&key) {
            return Err("an id is used once");
        }
        let mut todos = BTreeSet::new();
        for todo in about {
            let todo = self.find_in(&goal, &self.name(&asked.by, "t-", todo))?;
            self.todos[&todo].must_not_be_closed()?;
            todos.insert(todo);
        }
        let options = vec![if option { "blue" } else { "approve" }, "reject"];
        let question = "May we?".to_owned();
        self.gates.insert(key, Gate { question, options, turn_only, todos, asked, state: State::Open(None) });
        Ok(true)
    }

    pub(super) fn resolve(
        &mut self,
        gate: &Asked,
        decision: &'static str,
        note: Option<&'static str>,
        stamp: &Stamp,
    ) -> Answer {
        let key = self.gate(gate)?;
        let gate = &self.gates[&key];
        if gate.is_closed() || gate.is_rejected() && decision == "reject" {
            return Err("was decided already");
        }
        if !gate.options.contains(&decision) {
            return Err("does not offer");
        }
        stamp.must_be_of_a_person()?;
        self.decide(key, State::Answered(decision, stamp.at, note));
        Ok(true)
    }

    /// Takes a question back, or a no to it.
    pub(super) fn take_back(&mut self, gate: &Asked, only_the_no: bool, stamp: &Stamp) -> Answer {
        let key = self.gate(gate)?;
        let gate = &self.gates[&key];
        if gate.is_closed() {
            return Err("was decided already");
        }
        if only_the_no && !gate.is_rejected() {
            return Err("nobody said no at");
        }
        stamp.must_be_of_a_person()?;
        let state = if only_the_no { State::Open(Some(stamp.at)) } else { State::Withdrawn(stamp.at) };
        self.decide(key, state);
        Ok(true)
    }

    /// A no blocks the todos that the gate is about; anything else frees what it had blocked.
    fn decide(&mut self, (goal, id): (String, String), state: State) {
        let gate = self.gates.get_mut(&(goal.clone(), id.clone())).expect("it is there");
        gate.state = state;
        let todos = self.todos.iter_mut().filter(|(_, todo)| todo.goal == goal && !todo.is_closed());
        for (name, todo) in todos {
            match state {
                State::Answered("reject", at, note) if gate.todos.contains(name) => {
                    let said = format!("a person said no at gate {id}");
                    let (on, reason) = (Some(id.clone()), note.map_or(said, str::to_owned));
                    todo.state = TodoState::Blocked { on, by: ANN.to_owned(), at, reason };
                }
                State::Answered("reject", ..) => {}
                _ if todo.is_blocked_on(&id) => todo.state = TodoState::Open,
                _ => {}
            }
        }
        if gate.is_closed() {
            self.filed(goal, "gates");
        }
    }

    /// Goal and name of the gate that is meant, as somebody types them.
    pub(crate) fn typed(&self, gate: &Asked) -> (Option<String>, String) {
        match gate {
            Asked::Called(goal, gate) => (goal.map(str::to_owned), (*gate).to_owned()),
            Asked::Known(index) => match of(index, self.gates.keys()) {
                Some((goal, gate)) => (Some(goal.clone()), gate.clone()),
                None => (None, "a".to_owned()),
            },
        }
    }

    pub(super) fn gate(&self, gate: &Asked) -> Result<(String, String), Refused> {
        let (goal, gate) = self.typed(gate);
        let goals: Vec<String> = match goal {
            Some(_) => vec![self.goal(goal.as_deref())?],
            None => self.gates.keys().filter(|(_, id)| *id == gate).map(|(goal, _)| goal.clone()).collect(),
        };
        match &goals[..] {
            [_, _, ..] => Err("so the goal has to be named"),
            [goal] if self.gates.contains_key(&(goal.clone(), gate.clone())) => Ok((goal.clone(), gate)),
            _ => Err("there is no gate"),
        }
    }
}
