//! May this push, or anything else that leaves the machine, go out? A total, pure verdict with every reason, not only the
//! first.

use std::collections::BTreeSet;

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
    /// It is set to something.
    Written {
        /// What goes along that should stay at home.
        carries: Option<Carried>,
        /// The files that are changed by what the other side does not have yet; none when nobody looked.
        changed: Option<BTreeSet<String>>,
    },
}

/// What of loopx's a push would take along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// A commit of a state branch.
    State,
    /// The folder that shows the state, committed to another branch.
    Folder,
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
    /// The ref would carry something of loopx's own away.
    Carries { what: Carried, local: String, remote: String },
    /// Nothing shows that what would go out was checked. `what` names it, `tree` is its fingerprint.
    Unchecked { what: String, tree: String },
}

impl Verdict {
    /// The verdict with more reasons against it.
    #[must_use]
    pub fn and(self, more: impl IntoIterator<Item = Reason>) -> Self {
        let mut reasons = match self {
            Self::Allowed => Vec::new(),
            Self::Refused(reasons) => reasons,
        };
        reasons.extend(more);
        judged(reasons)
    }
}

/// What of `going`, each with a name and its tree in hex, has no receipt.
pub fn unchecked(
    receipts: &BTreeSet<String>,
    going: impl IntoIterator<Item = (String, String)>,
) -> impl Iterator<Item = Reason> {
    let unchecked = going.into_iter().filter(|(_, tree)| !receipts.contains(tree));
    unchecked.map(|(what, tree)| Reason::Unchecked { what, tree })
}

/// Judges a push of `refs` to the remote known by `remotes` while `gates` are in force. An empty push and one that only
/// deletes send nothing and pass.
pub fn verdict<'a>(
    gates: impl Iterator<Item = (&'a GoalId, &'a GateId, &'a Gate)>,
    remotes: &BTreeSet<String>,
    refs: &[PushedRef],
) -> Verdict {
    let mut reasons: Vec<Reason> = refs
        .iter()
        .filter_map(|pushed| {
            let RefUpdate::Written { carries: Some(what), .. } = pushed.update else { return None };
            Some(Reason::Carries { what, local: pushed.local.clone(), remote: pushed.remote.clone() })
        })
        .collect();
    reasons.extend(held(gates.filter(|(_, _, gate)| covers(gate, remotes, refs)), Act::Push));
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

/// Whether a gate holds this push back: it is about this remote and one of the refs that are written.
fn covers(gate: &Gate, remotes: &BTreeSet<String>, refs: &[PushedRef]) -> bool {
    let is_meant = |pushed: &PushedRef| match &pushed.update {
        RefUpdate::Deleted => false,
        RefUpdate::Written { changed, .. } => {
            gate.scope.has_branch(&pushed.remote) && gate.scope.has_paths(changed.as_ref())
        }
    };
    gate.holds_back(Act::Push) && gate.scope.has_remote(remotes) && refs.iter().any(is_meant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        gate::Seen,
        samples::{at, gate, gate_id, goal_id, proven, stamp},
        scope::Scope,
    };

    fn pushed(local: &str, update: RefUpdate) -> PushedRef {
        PushedRef { local: local.into(), remote: local.into(), update }
    }

    #[track_caller]
    fn check(gates: &[(&str, Gate)], refs: &[PushedRef], expected: &[&str]) {
        let goal = goal_id("ship");
        let gates: Vec<_> = gates.iter().map(|(id, gate)| (gate_id(id), gate)).collect();
        let origin = ["origin".to_owned()].into();
        assert_eq!(said(verdict(gates.iter().map(|(id, gate)| (&goal, id, *gate)), &origin, refs)), expected);
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
            Reason::Unchecked { what, .. } => format!("unchecked {what}"),
            Reason::Carries { what: Carried::State, local, .. } => format!("state {local}"),
            Reason::Carries { what: Carried::Folder, local, .. } => format!("folder {local}"),
        };
        reasons.iter().map(said).collect()
    }

    #[test]
    fn every_kind_of_push() {
        let code = || pushed("refs/heads/main", RefUpdate::Written { carries: None, changed: None });
        let carrying = |local, what| pushed(local, RefUpdate::Written { carries: Some(what), changed: None });
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

    #[test]
    fn a_gate_is_about_the_pushes_in_its_scope() {
        let scope = |branches: &str, remotes: &str, paths: &str| {
            let globs = |text: &str| text.split_whitespace().map(|glob| glob.parse().unwrap()).collect();
            Scope { branches: globs(branches), remotes: globs(remotes), paths: globs(paths) }
        };
        let narrow = |branches, remotes, paths| ("narrow", gate(&[]).within(scope(branches, remotes, paths)));
        let changing = |name: &str, files: &[&str]| {
            let changed = Some(files.iter().map(ToString::to_string).collect());
            pushed(name, RefUpdate::Written { carries: None, changed })
        };
        let (main, side) =
            (changing("refs/heads/main", &["docs/a.md"]), changing("refs/heads/side", &["src/a.rs"]));
        let both = [main.clone(), side.clone()];
        let held = ["gate narrow"];
        check(&[narrow("main", "", "")], &both, &held);
        check(&[narrow("main", "", "")], std::slice::from_ref(&side), &[]);
        check(&[narrow("", "origin", "")], &both, &held);
        check(&[narrow("", "backup", "")], &both, &[]);
        check(&[narrow("", "", "src")], &both, &held);
        check(&[narrow("", "", "src")], std::slice::from_ref(&main), &[]);
        // One ref has to be in all parts of it.
        check(&[narrow("main", "", "src")], &both, &[]);
        check(&[narrow("main", "origin", "docs")], &both, &held);
        check(
            &[narrow("main", "", "src")],
            &[pushed("refs/heads/main", RefUpdate::Written { carries: None, changed: None })],
            &held,
        );
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

    #[test]
    fn what_was_not_checked_is_one_more_reason() {
        let receipts = ["a".repeat(40)].into();
        let going = || [("main".to_owned(), "a".repeat(40)), ("topic".to_owned(), "b".repeat(40))];
        let verdict = Verdict::Allowed.and(unchecked(&receipts, going()));
        assert_eq!(said(verdict.clone()), ["unchecked topic"]);
        let carries = Reason::Carries { what: Carried::State, local: "x".into(), remote: "x".into() };
        assert_eq!(
            said(Verdict::Refused(vec![carries]).and(unchecked(&receipts, going()))),
            ["state x", "unchecked topic"]
        );
        assert_eq!(Verdict::Allowed.and([]), Verdict::Allowed);
    }
}
