//! Every record as it should stand in an export.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ANN, Gate, Model, Quota, SAID, Stamp, State, Todo, gates, goals, time, turns::Course};

impl Stamp {
    fn json(&self) -> Value {
        json!({"by": self.by, "at": time(self.at)})
    }
}

impl Model {
    /// Every record, by goal, kind and name.
    pub(crate) fn records(&self) -> BTreeMap<String, Value> {
        let quotas: BTreeMap<_, _> = self.quotas.iter().map(|(goal, limit)| (goal, quota(limit))).collect();
        let mut records = BTreeMap::from([("quota.json".to_owned(), json!({"goals": quotas}))]);
        for (id, goal) in &self.goals {
            let done_when: &[&str] = if goal.has_criterion { &["It works"] } else { &[] };
            let met: Vec<_> = goal.met.iter().map(|id| json!({"criterion": 1, "evidence": id})).collect();
            let mut record = bare(
                json!({"objective": goal.objective, "done_when": done_when, "met": met, "features": goal.features, "added": goal.added.json()}),
            );
            // A state of a goal is written with the fields that have nothing in them.
            record["state"] = goal.state.json();
            records.insert(format!("{id}/state.json"), record);
        }
        let mut put = |name: String, record: Value| records.insert(name, bare(record));
        for ((goal, id), gate) in &self.gates {
            let below = if gate.is_closed() { "closed/" } else { "" };
            let acts: &[&str] = if gate.turn_only { &["turn"] } else { &["turn", "push", "publish"] };
            put(
                format!("{goal}/gates/{below}{id}"),
                json!({"question": gate.question, "options": gate.options, "blocks": acts, "todos": gate.todos, "asked": gate.asked.json(), "state": gate.json(id)}),
            );
        }
        for (id, todo) in &self.todos {
            let below = if todo.is_closed() { "closed/" } else { "" };
            let worker = if todo.for_person { "person" } else { "agent" };
            put(
                format!("{}/todos/{below}{id}", todo.goal),
                json!({"title": todo.title, "for": worker, "priority": format!("p{}", todo.priority), "needs": todo.needs, "added": todo.added.json(), "state": todo.json()}),
            );
        }
        for (id, evidence) in &self.evidence {
            let what = json!({"kind": "note", "text": SAID});
            put(
                format!("{}/evidence/{id}", evidence.goal),
                json!({"dirty": false, "todo": evidence.todo, "gate": evidence.gate, "added": evidence.added.json(), "what": what}),
            );
        }
        for ((goal, turn), spend) in &self.spends {
            let proof = json!({"kind": "terminal", "typed": turn});
            let voided =
                spend.voided.map(|at| json!({"by": ANN, "at": time(at), "reason": SAID, "proof": proof}));
            put(
                format!("{goal}/spend/{turn}"),
                json!({"turn": turn, "slots": spend.slots, "evidence": spend.evidence, "added": spend.added.json(), "course": spend.course.as_ref().map(Course::json), "voided": voided}),
            );
        }
        records
    }
}

fn quota((share, hours, minutes): &Quota) -> Value {
    json!({"compute": f64::from(*share) / 10_000.0, "window_hours": hours, "slot_minutes": minutes})
}

impl goals::State {
    fn json(&self) -> Value {
        match self {
            Self::Active => json!({"is": "active"}),
            Self::Paused(stamp) => {
                json!({"is": "paused", "by": stamp.by, "at": time(stamp.at), "reason": null})
            }
            Self::Achieved(at, answer) => {
                let evidence: Vec<_> = answer.iter().collect();
                json!({"is": "achieved", "by": ANN, "at": time(*at), "evidence": evidence})
            }
            Self::Abandoned(at) => json!({"is": "abandoned", "by": ANN, "at": time(*at), "reason": SAID}),
        }
    }
}

impl Gate {
    fn json(&self, id: &str) -> Value {
        let proof = json!({"kind": "terminal", "typed": id});
        match self.state {
            gates::State::Open(reopened) => {
                let reopened =
                    reopened.map(|at| json!({"by": ANN, "at": time(at), "reason": SAID, "proof": proof}));
                json!({"is": "open", "reopened": reopened})
            }
            gates::State::Answered(decision, at, note) => {
                json!({"is": "resolved", "decision": decision, "by": ANN, "at": time(at), "note": note, "proof": proof})
            }
            gates::State::Withdrawn(at) => {
                json!({"is": "withdrawn", "by": ANN, "at": time(at), "reason": SAID, "proof": proof})
            }
        }
    }
}

impl Todo {
    fn json(&self) -> Value {
        let epoch = (self.epoch > 0).then_some(self.epoch);
        match &self.state {
            State::Open => json!({"is": "open", "epoch": epoch}),
            State::Claimed { by, since, until, from, lease } => {
                json!({"is": "claimed", "by": by, "since": time(*since), "lease_until": time(*until), "epoch": epoch, "taken_from": from, "lease": lease})
            }
            State::Blocked { on, by, at, reason } => {
                json!({"is": "blocked", "on": on, "by": by, "at": time(*at), "reason": reason, "epoch": self.epoch})
            }
            State::Done { by, at, evidence, note } => {
                json!({"is": "done", "by": by, "at": time(*at), "evidence": evidence, "note": note, "epoch": epoch})
            }
            State::Dropped { by, at } => {
                json!({"is": "dropped", "by": by, "at": time(*at), "reason": SAID, "epoch": epoch})
            }
        }
    }
}

impl Course {
    fn json(&self) -> Value {
        let end = self.end.as_ref().map(|(outcome, stamp)| {
            let said = (*outcome != "lost").then_some(SAID);
            json!({"outcome": outcome, "by": stamp.by, "at": time(stamp.at), "summary": said})
        });
        json!({"todo": self.todo, "until": time(self.until), "end": end})
    }
}

/// The same without the fields that have nothing in them.
fn bare(value: Value) -> Value {
    let is_something = |value: &Value| !value.is_null() && value.as_array().is_none_or(|all| !all.is_empty());
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| is_something(value));
            fields.map(|(name, value)| (name, bare(value))).collect()
        }
        value => value,
    }
}
