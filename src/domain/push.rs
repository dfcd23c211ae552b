//! May this push, or anything else that leaves the machine, go out? A total, pure verdict with every reason, not only the
//! first.

use std::collections::BTreeSet;

use super::{
    gate::{Act, Gate, Tip},
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
        /// The commit it is set to; none when nobody looked, or when it is something else.
        tip: Option<Tip>,
    },
}

/// What of loopx's a push would take along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// A state: the branch itself, whatever it is called.
    State,
    /// A state in the history of another branch.
    Within(Brought),
    /// The folder that shows the state, committed to another branch.
    Folder,
}

/// How a state came into the history of another branch. The ids are hex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// The commit on the branch that brought it in, such as a merge.
    pub commit: String,
    /// The commit before that, which does not have it.
    pub before: String,
    /// The branch ends with that commit.
    pub is_newest: bool,
}

impl Brought {
    /// The command that takes it out of the branch, whose full name is `local`, and keeps what came after.
    pub fn cure(&self, local: &str) -> String {
        let [commit, before] = [&self.commit, &self.before].map(|id| id.get(..10).unwrap_or(id));
        let branch = local.strip_prefix("refs/heads/").map(|name| format!(" {name}")).unwrap_or_default();
        match self.is_newest {
            true => format!("git reset --keep {before}"),
            false => format!("git rebase --onto {before} {commit}{branch}"),
        }
    }
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
    Gate {
        goal: GoalId,
        id: GateId,
        gate: Box<Gate>,
        /// What a standing gate was not answered about, in hex.
        commit: Option<String>,
    },
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
            let RefUpdate::Written { carries: Some(what), .. } = &pushed.update else { return None };
            Some(Reason::Carries {
                what: what.clone(),
                local: pushed.local.clone(),
                remote: pushed.remote.clone(),
            })
        })
        .collect();
    let held = gates.filter_map(|(goal, id, gate)| Some((goal, id, gate, covered(gate, remotes, refs)?)));
    reasons.extend(in_order(held));
    judged(reasons)
}

/// Judges `act`, whatever it sends, while `gates` are in force. `tip` is the commit it is made from, if it is made from one.
pub fn verdict_on<'a>(
    act: Act,
    gates: impl Iterator<Item = (&'a GoalId, &'a GateId, &'a Gate)>,
    tip: Option<&Tip>,
) -> Verdict {
    let holds = |gate: &Gate| gate.holds_back(act) && !gate.lets_go(tip);
    let held = gates.filter(|(_, _, gate)| holds(gate));
    judged(in_order(held.map(|(goal, id, gate)| (goal, id, gate, tip))))
}

/// Gates that hold something back, the oldest question first.
fn in_order<'a>(
    held: impl Iterator<Item = (&'a GoalId, &'a GateId, &'a Gate, Option<&'a Tip>)>,
) -> Vec<Reason> {
    let mut held: Vec<_> = held.collect();
    held.sort_by_key(|(_, _, gate, _)| gate.asked.at);
    let reason = |(goal, id, gate, tip): (&GoalId, &GateId, &Gate, Option<&Tip>)| Reason::Gate {
        goal: goal.clone(),
        id: id.clone(),
        gate: Box::new(gate.clone()),
        commit: tip.filter(|_| gate.bind().is_some()).map(|tip| tip.commit.clone()),
    };
    held.into_iter().map(reason).collect()
}

fn judged(reasons: Vec<Reason>) -> Verdict {
    if reasons.is_empty() { Verdict::Allowed } else { Verdict::Refused(reasons) }
}

/// The first of the refs that a gate holds back, if it holds any, by the commit it is set to: the gate is about this remote
/// and about a ref that is written, and does not let that go.
fn covered<'a>(gate: &Gate, remotes: &BTreeSet<String>, refs: &'a [PushedRef]) -> Option<Option<&'a Tip>> {
    let held = |pushed: &'a PushedRef| match &pushed.update {
        RefUpdate::Deleted => None,
        RefUpdate::Written { changed, tip, .. } => {
            let is_meant = gate.scope.has_branch(&pushed.remote) && gate.scope.has_paths(changed.as_ref());
            (is_meant && !gate.lets_go(tip.as_ref())).then_some(tip.as_ref())
        }
    };
    let is_asked = gate.holds_back(Act::Push) && gate.scope.has_remote(remotes);
    is_asked.then(|| refs.iter().find_map(held)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        gate::{Bind, Seen},
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
        assert_eq!(said(verdict_on(act, gates.iter().map(|(id, gate)| (&goal, id, *gate)), None)), expected);
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
            Reason::Carries { what: Carried::Within(_), local, .. } => format!("within {local}"),
            Reason::Carries { what: Carried::Folder, local, .. } => format!("folder {local}"),
        };
        reasons.iter().map(said).collect()
    }

    #[test]
    fn what_brought_a_state_in_is_taken_out() {
        for (is_newest, local, cure) in [
            (true, "refs/heads/main", "git reset --keep bbbbbbbbbb"),
            (false, "refs/heads/main", "git rebase --onto bbbbbbbbbb cccccccccc main"),
            (false, "HEAD~1", "git rebase --onto bbbbbbbbbb cccccccccc"),
        ] {
            let brought = Brought { commit: "c".repeat(40), before: "b".repeat(40), is_newest };
            assert_eq!(brought.cure(local), cure);
        }
    }

    #[test]
    fn every_kind_of_push() {
        let code =
            || pushed("refs/heads/main", RefUpdate::Written { carries: None, changed: None, tip: None });
        let carrying =
            |local, what| pushed(local, RefUpdate::Written { carries: Some(what), changed: None, tip: None });
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
            pushed(name, RefUpdate::Written { carries: None, changed, tip: None })
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
            &[pushed("refs/heads/main", RefUpdate::Written { carries: None, changed: None, tip: None })],
            &held,
        );
    }

    #[test]
    fn a_standing_gate_looks_at_every_ref_that_it_is_about() {
        let seen = |gate: &Gate| Seen {
            question: gate.digest(),
            commit: Some("c1".into()),
            tree: Some("t1".into()),
        };
        let open = gate(&[]).standing(Bind::Commit).unwrap();
        let open = open.within(Scope { branches: ["main".parse().unwrap()].into(), ..Scope::default() });
        let answered = open
            .resolve(&gate_id("x"), "approve".parse().unwrap(), proven(), at("11:00"), None, seen(&open))
            .unwrap();
        let at = |name: &str, commit: &str, within: &[&str]| {
            let within = within.iter().map(ToString::to_string).collect();
            let tip = Tip { commit: commit.into(), tree: "t".into(), within, reaches: BTreeSet::new() };
            pushed(name, RefUpdate::Written { carries: None, changed: None, tip: Some(tip) })
        };
        let (old, new) = (at("refs/heads/main", "c0", &["c0", "c1"]), at("refs/heads/main", "c2", &["c2"]));
        let side = at("refs/heads/side", "c2", &["c2"]);
        let unseen =
            pushed("refs/heads/main", RefUpdate::Written { carries: None, changed: None, tip: None });
        let standing = [("main", answered.clone())];
        check(&[("main", open)], std::slice::from_ref(&old), &["gate main"]);
        check(&standing, std::slice::from_ref(&old), &[]);
        check(&standing, &[old.clone(), side.clone()], &[]);
        check(&standing, &[side, new], &["gate main"]);
        check(&standing, &[unseen], &["gate main"]);
        check(&standing, &[pushed("refs/heads/main", RefUpdate::Deleted)], &[]);
        check_act(&standing, Act::Publish, &["gate main"]);
        let RefUpdate::Written { tip, .. } = old.update else { panic!("not written") };
        assert_eq!(
            verdict_on(
                Act::Publish,
                [(&goal_id("ship"), &gate_id("main"), &answered)].into_iter(),
                tip.as_ref()
            ),
            Verdict::Allowed
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
