//! A push that went round the hook: how it is told from one that the hook allowed, what is kept of it, and the person
//! who has taken notice.
//!
//! The hook notes each verdict it gives, and git notes each push it makes. What git noted and the hook did not allow went
//! round it. That cannot be undone, so there is no way to take the record back: a person acknowledges it.

use std::{collections::BTreeMap, fmt, num::NonZeroU32, str::FromStr};

use super::{
    actor::{Actor, Person, Proof, Proven, Stamp},
    gate::{Act, Gate},
    id::{BypassId, GateId, GoalId},
    refusal::Refusal,
    text::{Note, Title},
    time::Timestamp,
};

/// A push, or several to the same place between two looks.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    pub remote: Title,
    /// The ref on the other side; the first one when `refs` counts more.
    #[serde(rename = "ref")]
    pub ref_: Title,
    /// What the last one put there, in hex.
    pub commit: String,
    /// When that was, as git noted it.
    pub at: Timestamp,
    /// How many there were.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub pushes: NonZeroU32,
    /// How many refs they moved.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub refs: NonZeroU32,
    pub way: Way,
    /// The gates that would have refused it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Standing>,
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_one(number: &NonZeroU32) -> bool {
    number.get() == 1
}

/// How a push got past the hook, as far as it can be told afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Git would have run the hook and was told not to, by `--no-verify` or a setting for that one command.
    NoVerify,
    /// Git would not have run the hook.
    HooksDisabled,
    /// Something else than git pushed, and it runs no hooks.
    OtherClient,
    /// The hook was there, and what it said is not: its notes were removed, or the push was under way when a gate was opened.
    Unknown,
}

impl Way {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoVerify => "with --no-verify or a setting like it",
            Self::HooksDisabled => "while git would not run the hook",
            Self::OtherClient => "by another client than git",
            Self::Unknown => "in a way that cannot be told",
        }
    }
}

/// A gate in force, with its goal: `ship/schema-review`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Standing {
    pub goal: GoalId,
    pub gate: GateId,
}

/// A text named no gate of a goal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no gate of a goal (expected `<goal>/<gate>`)", .0.escape_debug())]
pub struct BadStanding(String);

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.goal, self.gate)
    }
}

impl FromStr for Standing {
    type Err = BadStanding;
    fn from_str(text: &str) -> Result<Self, BadStanding> {
        text.split_once('/')
            .and_then(|(goal, gate)| Some(Self { goal: goal.parse().ok()?, gate: gate.parse().ok()? }))
            .ok_or_else(|| BadStanding(text.to_owned()))
    }
}

impl TryFrom<String> for Standing {
    type Error = BadStanding;
    fn try_from(text: String) -> Result<Self, BadStanding> {
        text.parse()
    }
}

impl From<Standing> for String {
    fn from(standing: Standing) -> Self {
        standing.to_string()
    }
}

/// The gates of one goal that hold pushes back.
pub fn standing<'a>(
    goal: &'a GoalId,
    gates: &'a BTreeMap<GateId, Gate>,
) -> impl Iterator<Item = Standing> + 'a {
    let held = gates.iter().filter(|(_, gate)| gate.holds_back(Act::Push));
    held.map(|(id, _)| Standing { goal: goal.clone(), gate: id.clone() })
}

/// The record of a push that went round the hook.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bypass {
    pub push: Push,
    /// Whose mutation noticed it. That says nothing about who pushed.
    pub noted: Stamp,
    pub state: BypassState,
}

/// Whether a person knows of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub enum BypassState {
    Open {},
    Acknowledged {
        by: Person,
        at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
        proof: Proof,
    },
}

impl Bypass {
    /// A push that was just noticed.
    pub fn new(push: Push, noted: Stamp) -> Self {
        Self { push, noted, state: BypassState::Open {} }
    }

    /// A person has taken notice.
    pub fn is_acknowledged(&self) -> bool {
        matches!(self.state, BypassState::Acknowledged { .. })
    }

    /// Takes notice of it. Only a person can, so only a [`Proven`] person fits here.
    pub fn acknowledge(
        &self,
        id: &BypassId,
        proven: Proven,
        at: Timestamp,
        note: Option<Note>,
    ) -> Result<Self, Refusal> {
        self.must_be_open(id)?;
        let Proven { person: by, proof } = proven;
        Ok(Self { state: BypassState::Acknowledged { by, at, note, proof }, ..self.clone() })
    }

    /// An error when somebody has taken notice already.
    pub fn must_be_open(&self, id: &BypassId) -> Result<(), Refusal> {
        match &self.state {
            BypassState::Open {} => Ok(()),
            BypassState::Acknowledged { by, at, .. } => Err(Refusal::BypassAcknowledged {
                bypass: id.clone(),
                by: Actor::Person(by.clone()),
                at: *at,
            }),
        }
    }
}

/// One line of what git notes of a remote-tracking branch: a push put `commit` there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub remote: Title,
    pub ref_: Title,
    pub commit: String,
    pub at: Timestamp,
    /// Whether git itself made the push.
    pub by_git: bool,
    /// The last word of the hook on a push of this commit to this place; none when it was not asked or its notes are gone.
    pub verdict: Option<Judged>,
}

/// What the hook said, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    pub allowed: bool,
    pub at: Timestamp,
}

/// What is known of the time in which pushes were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Circumstances {
    /// When the youngest of the gates in force that hold pushes back was asked. A verdict from before says nothing about it.
    pub gated_since: Option<Timestamp>,
    /// Git would run the hook.
    pub hooked: bool,
    /// The hook's notes are there.
    pub noted: bool,
}

/// More refs of one remote than this become one record.
const MANY: usize = 16;

/// What of `moved` went round the hook, a [`Push`] for each ref, or one for a remote of which many refs were moved.
/// `moved` has the lines of each ref together and in order; those up to the last one that is among the `recorded` pushes were
/// counted already. `gates` are those that hold pushes back.
pub fn unguarded(
    moved: &[Moved],
    recorded: &[&Push],
    circumstances: Circumstances,
    gates: &[Standing],
) -> Vec<Push> {
    let mut found: BTreeMap<&Title, Vec<Push>> = BTreeMap::new();
    for lines in moved.chunk_by(|one, next| (&one.remote, &one.ref_) == (&next.remote, &next.ref_)) {
        let is_recorded = |line: &Moved| {
            recorded.iter().any(|push| {
                (&push.remote, &push.ref_, &push.commit, push.at)
                    == (&line.remote, &line.ref_, &line.commit, line.at)
                    && push.refs.get() == 1
            })
        };
        let counted = lines.iter().rposition(is_recorded).map_or(0, |last| last + 1);
        let around: Vec<&Moved> =
            lines[counted..].iter().filter(|line| !is_guarded(line, circumstances)).collect();
        if let Some(last) = around.last() {
            found.entry(&last.remote).or_default().push(Push {
                remote: last.remote.clone(),
                ref_: last.ref_.clone(),
                commit: last.commit.clone(),
                at: last.at,
                pushes: count(around.len()),
                refs: one(),
                way: way(last, circumstances),
                gates: gates.to_vec(),
            });
        }
    }
    let pushes = found.into_values().flat_map(|pushes| match &pushes[..] {
        [first, ..] if pushes.len() > MANY => {
            let all: u32 = pushes.iter().map(|push| push.pushes.get()).sum();
            let (refs, pushes) = (count(pushes.len()), count(all as usize));
            vec![Push { pushes, refs, ..first.clone() }]
        }
        _ => pushes,
    });
    pushes.filter(|push| !recorded.iter().any(|known| is_same(known, push))).collect()
}

fn count(number: usize) -> NonZeroU32 {
    u32::try_from(number).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
}

fn is_same(one: &Push, other: &Push) -> bool {
    let key = |push: &Push| (push.remote.clone(), push.ref_.clone(), push.commit.clone(), push.at, push.refs);
    key(one) == key(other)
}

fn is_guarded(line: &Moved, circumstances: Circumstances) -> bool {
    let is_late = |verdict: &Judged| circumstances.gated_since.is_none_or(|asked| asked <= verdict.at);
    line.verdict.as_ref().is_some_and(|verdict| verdict.allowed && is_late(verdict))
}

fn way(line: &Moved, circumstances: Circumstances) -> Way {
    match (line.by_git, circumstances.hooked, circumstances.noted, line.verdict) {
        (false, ..) => Way::OtherClient,
        (true, false, ..) => Way::HooksDisabled,
        (true, true, false, _) | (true, true, true, Some(Judged { allowed: true, .. })) => Way::Unknown,
        (true, true, true, _) => Way::NoVerify,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::{at, gate, gate_id, goal_id, proven, stamp};

    const OPEN: Circumstances = Circumstances { gated_since: None, hooked: true, noted: true };

    fn moved(ref_: &str, commit: &str, time: &str, verdict: Option<(bool, &str)>) -> Moved {
        Moved {
            remote: "origin".parse().unwrap(),
            ref_: ref_.parse().unwrap(),
            commit: commit.into(),
            at: at(time),
            by_git: true,
            verdict: verdict.map(|(allowed, time)| Judged { allowed, at: at(time) }),
        }
    }

    /// What went round the hook as `ref commit pushes/refs way`.
    #[track_caller]
    fn check(moved: &[Moved], circumstances: Circumstances, expected: &[&str]) -> Vec<Push> {
        let found = unguarded(moved, &[], circumstances, &[]);
        let said: Vec<_> = found
            .iter()
            .map(|push| format!("{} {} {}/{} {:?}", push.ref_, push.commit, push.pushes, push.refs, push.way))
            .collect();
        assert_eq!(said, expected);
        assert_eq!(unguarded(moved, &found.iter().collect::<Vec<_>>(), circumstances, &[]), []);
        found
    }

    #[test]
    fn what_the_hook_did_not_allow_went_round_it() {
        check(&[], OPEN, &[]);
        check(&[moved("main", "a", "10:00", Some((true, "10:00")))], OPEN, &[]);
        check(&[moved("main", "a", "10:00", None)], OPEN, &["main a 1/1 NoVerify"]);
        check(&[moved("main", "a", "10:00", Some((false, "09:00")))], OPEN, &["main a 1/1 NoVerify"]);
        let between = [
            moved("main", "a", "10:00", None),
            moved("main", "b", "10:01", Some((true, "10:01"))),
            moved("main", "c", "10:02", None),
            moved("next", "a", "10:00", None),
        ];
        check(&between, OPEN, &["main c 2/1 NoVerify", "next a 1/1 NoVerify"]);
    }

    #[test]
    fn a_verdict_from_before_the_question_says_nothing() {
        let line = [moved("main", "a", "10:02", Some((true, "10:00")))];
        let gated = |time| Circumstances { gated_since: Some(at(time)), ..OPEN };
        check(&line, gated("09:59"), &[]);
        check(&line, gated("10:00"), &[]);
        check(&line, gated("10:01"), &["main a 1/1 Unknown"]);
    }

    #[test]
    fn the_way_is_told_as_far_as_it_can_be() {
        let line = moved("main", "a", "10:00", None);
        let one = std::slice::from_ref(&line);
        check(one, Circumstances { hooked: false, ..OPEN }, &["main a 1/1 HooksDisabled"]);
        check(one, Circumstances { noted: false, ..OPEN }, &["main a 1/1 Unknown"]);
        check(&[Moved { by_git: false, ..line }], OPEN, &["main a 1/1 OtherClient"]);
    }

    #[test]
    fn what_was_counted_is_not_counted_again() {
        let first = check(&[moved("main", "a", "10:00", None)], OPEN, &["main a 1/1 NoVerify"]);
        let more = [moved("main", "a", "10:00", None), moved("main", "b", "10:01", None)];
        let found = unguarded(&more, &[&first[0]], OPEN, &[]);
        assert_eq!(
            found.iter().map(|push| (&push.commit[..], push.pushes.get())).collect::<Vec<_>>(),
            [("b", 1)]
        );
    }

    #[test]
    fn many_refs_at_once_become_one_record() {
        let lines: Vec<_> = (0..40).map(|n| moved(&format!("x{n:02}"), "a", "10:00", None)).collect();
        check(
            &lines[..16],
            OPEN,
            &(0..16)
                .map(|n| format!("x{n:02} a 1/1 NoVerify"))
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        );
        check(&lines, OPEN, &["x00 a 40/40 NoVerify"]);
    }

    #[test]
    fn notice_is_taken_once() {
        let id: BypassId = "b-7k3q".parse().unwrap();
        let push = check(&[moved("main", "a", "10:00", None)], OPEN, &["main a 1/1 NoVerify"]).remove(0);
        let open = Bypass::new(push, stamp("agent:a", "10:05"));
        let taken = open.acknowledge(&id, proven(), at("11:00"), None).unwrap();
        assert!(taken.is_acknowledged() && !open.is_acknowledged());
        assert_eq!(
            taken.acknowledge(&id, proven(), at("12:00"), None).unwrap_err().to_string(),
            "bypass `b-7k3q` was acknowledged already, by Ann at 2026-11-30T11:00:00Z"
        );
    }

    #[test]
    fn the_gates_that_hold_pushes_back_are_named_with_their_goals() {
        let gates = BTreeMap::from([
            (gate_id("bucket"), gate(&[])),
            (gate_id("turn"), Gate { blocks: [Act::Turn].into(), ..gate(&[]) }),
        ]);
        let said: Vec<_> = standing(&goal_id("ship"), &gates).map(String::from).collect();
        assert_eq!(said, ["ship/bucket"]);
        assert_eq!("ship/bucket".parse(), Ok(standing(&goal_id("ship"), &gates).next().unwrap()));
        for bad in ["", "ship", "ship/", "/bucket", "a/b/c"] {
            assert!(bad.parse::<Standing>().is_err(), "{bad:?} passed");
        }
    }
}
