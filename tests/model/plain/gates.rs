//! Gates, and what an answer does to todos.

use std::collections::BTreeSet;

use super::{ANN, Answer, Asked, Gate, GoalName, Model, Named, Refused, Stamp, State, numbered, of};

impl Gate {
    pub(super) fn is_open(&self) -> bool {
        self.answer.is_none()
    }

    fn is_rejected(&self) -> bool {
        self.answer.is_some_and(|(decision, ..)| decision == "reject")
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
        let goal = self.goal(goal)?;
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
        self.gates.insert(key, Gate { question, options, turn_only, todos, asked, answer: None });
        Ok(true)
    }

    pub(super) fn resolve(
        &mut self,
        gate: &Asked,
        decision: &'static str,
        note: Option<&'static str>,
        now: i64,
    ) -> Answer {
        let key = self.gate(gate)?;
        let gate = self.gates.get_mut(&key).expect("it is there");
        if gate.is_closed() || gate.is_rejected() && decision == "reject" {
            return Err("was decided already");
        }
        if !gate.options.contains(&decision) {
            return Err("does not offer");
        }
        gate.answer = Some((decision, now, note));
        let (goal, id) = key;
        let todos = self.todos.iter_mut().filter(|(_, todo)| todo.goal == goal && !todo.is_closed());
        for (name, todo) in todos {
            if decision == "reject" && gate.todos.contains(name) {
                let said = format!("a person said no at gate {id}");
                let reason = note.map_or(said, str::to_owned);
                todo.state = State::Blocked { on: Some(id.clone()), by: ANN.to_owned(), at: now, reason };
            } else if decision != "reject" && todo.is_blocked_on(&id) {
                todo.state = State::Open;
            }
        }
        if gate.is_closed() {
            self.filed(goal, "gates");
        }
        Ok(true)
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
