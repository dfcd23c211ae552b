//! May this push, or anything else that leaves the machine, go out? A total, pure verdict with every reason, not only the
//! first.

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
    /// It is set to something. `carries_state`: a commit of a state branch is among what it reaches.
    Written { carries_state: bool },
}

/// Whether it may go out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allowed,
    /// Never empty.
    Refused(Vec<Reason>),
}

/// One reason against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A person has not answered yet, or has said no.
    Gate { goal: GoalId, id: GateId, gate: Box<Gate> },
    /// The ref would carry loopx's own state away.
    CarriesState { local: String, remote: String },
}

/// Judges a push of `refs` while `gates` are in force. An empty push and one that only deletes send nothing and pass.
pub fn verdict<'a>(
    gates: impl Iterator<Item = (&'a GoalId, &'a GateId, &'a Gate)>,
    refs: &[PushedRef],
) -> Verdict {
    let written = |pushed: &&PushedRef| matches!(pushed.update, RefUpdate::Written { .. });
    let mut reasons: Vec<Reason> = refs
        .iter()
        .filter(|pushed| pushed.update == RefUpdate::Written { carries_state: true })
        .map(|pushed| Reason::CarriesState { local: pushed.local.clone(), remote: pushed.remote.clone() })
        .collect();
    if refs.iter().any(|pushed| written(&pushed)) {
        reasons.extend(held(gates, Act::Push));
    }
    judged(reasons)
}

/// Judges `act`, whatever it sends, while `gates` are in force.
pub fn verdict_on<'a>(act: Act, gates: impl Iterator<Item = (&'a GoalId, &'a GateId, &'a Gate)>) -> Verdict {
    judged(held(gates, act))
}

/// The gates that hold `act` back, the oldest question first.
fn held<'a>(gates: impl Iterator<Item = (&'a GoalId, &'a GateId, &'a Gate)>, act: Act) -> Vec<Reason> {
    let mut held: Vec<_> = gates.filter(|(_, _, gate)| gate.holds_back(act)).collect();
    held.sort_by_key(|(_, _, gate)| gate.asked.at);
    let reason = |(goal, id, gate): (&GoalId, &GateId, &Gate)| Reason::Gate {
        goal: goal.clone(),
        id: id.clone(),
        gate: Box::new(gate.clone()),
    };
    held.into_iter().map(reason).collect()
}

fn judged(reasons: Vec<Reason>) -> Verdict {
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

    #[track_caller]
    fn check(gates: &[(&str, Gate)], refs: &[PushedRef], expected: &[&str]) {
        let goal = goal_id("ship");
        let gates: Vec<_> = gates.iter().map(|(id, gate)| (gate_id(id), gate)).collect();
        assert_eq!(said(verdict(gates.iter().map(|(id, gate)| (&goal, id, *gate)), refs)), expected);
    }

    #[track_caller]
    fn check_act(gates: &[(&str, Gate)], act: Act, expected: &[&str]) {
        let goal = goal_id("ship");
        let gates: Vec<_> = gates.iter().map(|(id, gate)| (gate_id(id), gate)).collect();
        assert_eq!(said(verdict_on(act, gates.iter().map(|(id, gate)| (&goal, id, *gate)))), expected);
    }

    /// The reasons as `gate id` or `state ref`.
    fn said(verdict: Verdict) -> Vec<String> {
        let reasons = match verdict {
            Verdict::Allowed => vec![],
            Verdict::Refused(reasons) => {
                assert!(!reasons.is_empty(), "a refusal without a reason");
                reasons
            }
        };
        let said = |reason: &Reason| match reason {
            Reason::Gate { id, .. } => format!("gate {id}"),
            Reason::CarriesState { local, .. } => format!("state {local}"),
        };
        reasons.iter().map(said).collect()
    }

    #[test]
    fn every_kind_of_push() {
        let code = || pushed("refs/heads/main", RefUpdate::Written { carries_state: false });
        let state = || pushed("refs/heads/loopx/state", RefUpdate::Written { carries_state: true });
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
        check(std::slice::from_ref(&open), &[code()], &["gate open"]);
        check(std::slice::from_ref(&open), &[gone(), code()], &["gate open"]);
        check(&[open.clone(), older], &[code()], &["gate older", "gate open"]);
        check(&[turn], &[code()], &[]);
        check(&[("no", answered("reject")), ("yes", answered("approve"))], &[code()], &["gate no"]);
        check(&[open], &[code(), state()], &["state refs/heads/loopx/state", "gate open"]);
    }

    #[test]
    fn an_act_waits_for_the_gates_that_name_it() {
        let blocking = |acts: &[Act], time| Gate {
            blocks: acts.iter().copied().collect(),
            asked: stamp("agent:a", time),
            ..gate(&[])
        };
        let push = ("push", blocking(&[Act::Push], "10:00"));
        let publish = ("publish", blocking(&[Act::Publish, Act::Turn], "09:00"));
        let everything = ("everything", blocking(&Act::ALL, "08:00"));
        let all = [push, publish, everything];
        check_act(&[], Act::Publish, &[]);
        check_act(&all[..1], Act::Publish, &[]);
        check_act(&all, Act::Publish, &["gate everything", "gate publish"]);
        check_act(&all, Act::Push, &["gate everything", "gate push"]);
    }
}
