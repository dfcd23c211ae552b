//! May this push go out? A total, pure verdict with every reason, not only the first.

use super::{
    gate::{Act, Gate},
    id::{GateId, GoalId},
};

/// One ref that git is about to push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedRef {
    /// As git names it: a ref, `HEAD~1`, a raw id.
    pub local: String,
    /// The ref on the other side.
    pub remote: String,
    pub update: RefUpdate,
}

/// What happens to a ref on the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefUpdate {
    /// It is removed; nothing is sent.
    Deleted,
    /// It is set to something, which may carry what should stay at home.
    Written { carries: Option<Carried> },
}

/// What of loopx's a push would take along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// A commit of a state branch.
    State,
    /// The folder that shows the state, committed to another branch.
    Folder,
}

/// Whether the push may go out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allowed,
    /// Never empty.
    Refused(Vec<Reason>),
}

/// One reason against a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A person has not answered yet, or has said no.
    Gate { goal: GoalId, id: GateId, gate: Box<Gate> },
    /// The ref would carry something of loopx's own away.
    Carries { what: Carried, local: String, remote: String },
}

/// Judges a push of `refs` while `gates` are in force. An empty push and one that only deletes send nothing and pass.
pub fn verdict<'a>(
    gates: impl Iterator<Item = (&'a GoalId, &'a GateId, &'a Gate)>,
    refs: &[PushedRef],
) -> Verdict {
    let written = |pushed: &&PushedRef| matches!(pushed.update, RefUpdate::Written { .. });
    let mut reasons: Vec<Reason> = refs
        .iter()
        .filter_map(|pushed| {
            let RefUpdate::Written { carries: Some(what) } = pushed.update else { return None };
            Some(Reason::Carries { what, local: pushed.local.clone(), remote: pushed.remote.clone() })
        })
        .collect();
    if refs.iter().any(|pushed| written(&pushed)) {
        let mut held: Vec<_> = gates.filter(|(_, _, gate)| gate.holds_back(Act::Push)).collect();
        held.sort_by_key(|(_, _, gate)| gate.asked.at);
        reasons.extend(held.into_iter().map(|(goal, id, gate)| Reason::Gate {
            goal: goal.clone(),
            id: id.clone(),
            gate: Box::new(gate.clone()),
        }));
    }
    if reasons.is_empty() { Verdict::Allowed } else { Verdict::Refused(reasons) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        gate::Seen,
        samples::{at, gate, gate_id, goal_id, proven, stamp},
    };

    fn pushed(local: &str, update: RefUpdate) -> PushedRef {
        PushedRef { local: local.into(), remote: local.into(), update }
    }

    /// The reasons as `gate id` or `state ref`.
    #[track_caller]
    fn check(gates: &[(&str, Gate)], refs: &[PushedRef], expected: &[&str]) {
        let goal = goal_id("ship");
        let gates: Vec<_> = gates.iter().map(|(id, gate)| (gate_id(id), gate)).collect();
        let reasons = match verdict(gates.iter().map(|(id, gate)| (&goal, id, *gate)), refs) {
            Verdict::Allowed => vec![],
            Verdict::Refused(reasons) => {
                assert!(!reasons.is_empty(), "a refusal without a reason");
                reasons
            }
        };
        let said: Vec<_> = reasons
            .iter()
            .map(|reason| match reason {
                Reason::Gate { id, .. } => format!("gate {id}"),
                Reason::Carries { what: Carried::State, local, .. } => format!("state {local}"),
                Reason::Carries { what: Carried::Folder, local, .. } => format!("folder {local}"),
            })
            .collect();
        assert_eq!(said, expected);
    }

    #[test]
    fn every_kind_of_push() {
        let code = || pushed("refs/heads/main", RefUpdate::Written { carries: None });
        let carrying = |local, what| pushed(local, RefUpdate::Written { carries: Some(what) });
        let state = || carrying("refs/heads/loopx/state", Carried::State);
        let gone = || pushed("(delete)", RefUpdate::Deleted);
        let open = ("open", gate(&[]));
        let older = ("older", Gate { asked: stamp("agent:a", "08:00"), ..gate(&["t-0001"]) });
        let turn = ("turn", Gate { blocks: [Act::Turn].into(), ..gate(&[]) });
        let answered = |decision: &str| {
            let gate = gate(&[]);
            let seen = Seen { question: gate.digest(), commit: None, tree: None };
            gate.resolve(&gate_id("x"), decision.parse().unwrap(), proven(), at("11:00"), None, seen).unwrap()
        };

        check(std::slice::from_ref(&open), &[], &[]);
        check(std::slice::from_ref(&open), &[gone()], &[]);
        check(&[], &[code()], &[]);
        check(&[], &[state()], &["state refs/heads/loopx/state"]);
        check(&[], &[code(), state()], &["state refs/heads/loopx/state"]);
        check(&[], &[carrying("refs/heads/oops", Carried::Folder)], &["folder refs/heads/oops"]);
        check(std::slice::from_ref(&open), &[code()], &["gate open"]);
        check(std::slice::from_ref(&open), &[gone(), code()], &["gate open"]);
        check(&[open.clone(), older], &[code()], &["gate older", "gate open"]);
        check(&[turn], &[code()], &[]);
        check(&[("no", answered("reject")), ("yes", answered("approve"))], &[code()], &["gate no"]);
        check(&[open], &[code(), state()], &["state refs/heads/loopx/state", "gate open"]);
    }
}
