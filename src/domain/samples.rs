//! Small values for the domain's own tests.

use std::collections::BTreeSet;

use super::{
    actor::{Actor, Proof, Proven, Stamp},
    gate::Gate,
    goal::Goal,
    id::{AgentId, GateId, GoalId, TodoId},
    quota::{Quota, Spend},
    state::Loop,
    time::Timestamp,
    todo::{Todo, TodoState, Worker},
};

pub(super) fn at(time: &str) -> Timestamp {
    format!("2026-11-30T{time}:00Z").parse().unwrap()
}

pub(super) fn goal_id(id: &str) -> GoalId {
    id.parse().unwrap()
}

pub(super) fn gate_id(id: &str) -> GateId {
    id.parse().unwrap()
}

pub(super) fn todo_id(id: &str) -> TodoId {
    id.parse().unwrap()
}

pub(super) fn agent(id: &str) -> AgentId {
    id.parse().unwrap()
}

pub(super) fn actor(text: &str) -> Actor {
    text.parse().unwrap()
}

pub(super) fn stamp(by: &str, time: &str) -> Stamp {
    Stamp { by: actor(by), at: at(time) }
}

pub(super) fn proven() -> Proven {
    let person = "Ann <ann@example.test>".parse().unwrap();
    Proven { person, proof: Proof::Terminal { typed: "bucket".into() } }
}

pub(super) fn todo(priority: &str) -> Todo {
    Todo {
        title: "Do it".parse().unwrap(),
        body: None,
        for_: Worker::Agent,
        priority: serde_json::from_value(priority.into()).unwrap(),
        needs: BTreeSet::new(),
        requires: BTreeSet::new(),
        check: None,
        monitor: None,
        added: stamp("agent:a", "09:00"),
        state: TodoState::Open { epoch: 0 },
    }
}

pub(super) fn gate(todos: &[&str]) -> Gate {
    let todos = todos.iter().map(|id| todo_id(id)).collect();
    Gate::new(
        "Delete the bucket?".parse().unwrap(),
        vec![],
        BTreeSet::new(),
        todos,
        stamp("agent:a", "09:30"),
    )
}

pub(super) fn spend(turn: &str, slots: u32, time: &str) -> Spend {
    Spend {
        turn: turn.parse().unwrap(),
        slots,
        evidence: vec![],
        added: stamp("agent:a", time),
        course: None,
        voided: None,
    }
}

pub(super) fn loop_with(todos: &[(&str, Todo)], gates: &[(&str, Gate)]) -> Loop {
    Loop {
        id: goal_id("ship"),
        goal: Goal::new("Ship it".parse().unwrap(), vec![], stamp("Ann <ann@example.test>", "08:00")),
        quota: Quota::default(),
        gates: gates.iter().map(|(id, gate)| (gate_id(id), gate.clone())).collect(),
        todos: todos.iter().map(|(id, todo)| (todo_id(id), todo.clone())).collect(),
        behind: Default::default(),
        spends: vec![],
    }
}

/// A key of OpenPGP's.
pub(super) const OPENPGP_KEY: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEaw4YrxYJKwYBBAHaRw8BAQdAx9oReRAfaWqjJUHnu+0ZVPpFK4X488od3/8e
FLir5L+0FkFubiA8YW5uQGV4YW1wbGUudGVzdD6IkAQTFggAOBYhBOb9k/wn08mg
0+qI3TWQxegeg2EkBQJrDhivAhsDBQsJCAcCBhUKCQgLAgQWAgMBAh4BAheAAAoJ
EDWQxegeg2Ek7bkA/0DDhvZotz+Lobrtt4imL+AUd78SkgJBTW3twWw+7BHSAQCB
qXp7E8HKUMoJ29oONWkWiynUa90y0eJYd2vSUJIgAA==
=Zcjv
-----END PGP PUBLIC KEY BLOCK-----
";

/// A signature made with it over `loopx decision 1`, a line `x` and nothing else.
pub(super) const OPENPGP_SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----

iIcEABYIAC8WIQTm/ZP8J9PJoNPqiN01kMXoHoNhJAUCaw4YrxEcYW5uQGV4YW1w
bGUudGVzdAAKCRA1kMXoHoNhJDhGAP4xfH/ba/I6q89uplKLQGbzYMhe4SGXYpzX
Yavf2ryaKQEA+peq63MMdn3VvwQmPast0HY9qXJUjs7P4Igv5mAtoAE=
=+PaV
-----END PGP SIGNATURE-----
";
