//! May something leave this machine? For whoever asks beside git's own hook: a publisher, a build, a job of CI.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{
    Ctx,
    gate::GateView,
    push::{Line, Remote, gates, receipts},
};
use crate::{
    domain::{
        gate::{Act, Gate, Tip},
        push::{Reason, Verdict, unchecked, verdict_on},
        receipt::Written,
        text::shown,
    },
    error::{Error, Kind},
    store::{self, Snapshot},
};

/// Where a job of CI looks for the state unless it is told otherwise, and where a sync puts it.
pub use crate::store::remote::STATE_REF;

/// The answer.
///
/// JSON: `for`, `allowed`, `gates` (those that hold it back, the oldest question first), `tip` (the commit of the state that
/// was looked at), `unchecked` (the fingerprint of what should have a receipt and has none; left out when nothing is amiss).
#[derive(Debug, Serialize)]
pub struct Guarded {
    #[serde(rename = "for")]
    pub act: Act,
    pub allowed: bool,
    pub gates: Vec<GateView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
    pub tip: String,
    /// The same as a list of reasons.
    #[serde(skip)]
    pub reasons: Vec<Reason>,
}

/// Judges `act` by the state of this clone. Any error means that it must not happen: a gate that cannot see is shut. Takes no
/// lock and writes nothing.
pub fn check(ctx: &Ctx, act: Act, receipt: bool) -> Result<Guarded, Error> {
    ctx.store
        .trusted()
        .map_err(Error::from)
        .and_then(|snapshot| judge(ctx, &snapshot, act, receipt))
        .map_err(unseen(act))
}

/// Judges `act` by a copy of the state that was fetched to `revision`. Its whole history is verified; what this clone may have of
/// its own is not looked at, and nothing is written.
pub fn check_copy(ctx: &Ctx, act: Act, receipt: bool, revision: &str) -> Result<Guarded, Error> {
    let snapshot = ctx.store.verified(revision, ctx.now).map_err(|problem| match problem {
        store::Error::UnknownRevision(name) => Error::new(
            Kind::NotSetUp,
            format!("`{name}` is not here, and it should have a copy of the state"),
        )
        .hint(format!(
            "fetch it first, from where `loopx sync` puts it: `git fetch <remote> +{STATE_REF}:{STATE_REF}`"
        ))
        .hint("if the state stays on one machine, check there, before anything is pushed"),
        damaged @ store::Error::Damaged(_) => Error::new(Kind::Distrusted, damaged.to_string())
            .hint("if this clone is shallow, get the rest with `git fetch --unshallow`"),
        other => other.into(),
    });
    snapshot.and_then(|snapshot| judge(ctx, &snapshot, act, receipt)).map_err(unseen(act))
}

fn judge(ctx: &Ctx, snapshot: &Snapshot<'_>, act: Act, receipt: bool) -> Result<Guarded, Error> {
    let gates = gates(snapshot)?;
    let standing = || gates.iter().map(|(_, _, gate)| gate).filter(|gate| gate.bind().is_some());
    let tip = match standing().any(|gate| gate.holds_back(act)) {
        true => checked_out(ctx, &standing().flat_map(Gate::answered).collect())?,
        false => None,
    };
    let all = gates.iter().map(|(goal, id, gate)| (goal, id, gate));
    let verdict = verdict_on(act, all, tip.as_ref());
    let verdict = match receipt || snapshot.policy()?.require_receipt {
        true => verdict.and(unchecked(&receipts(snapshot)?, [going(ctx, act)?])),
        false => verdict,
    };
    Ok(guarded(ctx, act, verdict, snapshot.tip()))
}

/// The answer that a verdict makes.
fn guarded(ctx: &Ctx, act: Act, verdict: Verdict, tip: String) -> Guarded {
    let reasons = match verdict {
        Verdict::Allowed => Vec::new(),
        Verdict::Refused(reasons) => reasons,
    };
    let view = |reason: &Reason| match reason {
        Reason::Gate { goal, id, gate, .. } => {
            Some(GateView::of(ctx, goal.clone(), id.clone(), gate.as_ref().clone()))
        }
        Reason::Carries { .. } | Reason::Unchecked { .. } => None,
    };
    let unchecked = reasons.iter().find_map(|reason| match reason {
        Reason::Unchecked { tree, .. } => Some(tree.clone()),
        Reason::Gate { .. } | Reason::Carries { .. } => None,
    });
    let gates = reasons.iter().filter_map(view).collect();
    Guarded { act, allowed: reasons.is_empty(), gates, unchecked, tip, reasons }
}

/// What would go out: a push sends what is committed, and a publisher mostly takes what lies there.
fn going(ctx: &Ctx, act: Act) -> Result<(String, String), Error> {
    let git = ctx.store.git();
    let lying = match act {
        Act::Push | Act::Turn => None,
        Act::Publish => git.fingerprint()?.map(|tree| ("what lies in this worktree".to_owned(), tree)),
    };
    let committed = || Ok(git.head()?.map(|head| ("`HEAD`".to_owned(), head.tree)));
    let nothing = || Error::new(Kind::Refused, "nothing is committed yet that could have been checked");
    lying.map_or_else(committed, |lying| Ok(Some(lying))).and_then(|going| going.ok_or_else(nothing))
}

/// The commit that is checked out, if nothing was changed since: what a publisher makes its package from.
fn checked_out(ctx: &Ctx, answered: &BTreeSet<&str>) -> Result<Option<Tip>, Error> {
    let git = ctx.store.git();
    match git.head()? {
        Some(head) if !git.is_dirty()? => Ok(git.leaving(&head.commit, answered)?),
        _ => Ok(None),
    }
}

/// A push that a receipt is wanted for.
#[derive(Debug)]
pub struct Sending {
    /// The refs on the other side.
    pub refs: Vec<Written>,
    /// The subjects of these commits.
    pub subjects: Vec<String>,
    /// Whether it may go.
    pub guarded: Guarded,
}

/// Judges a push of `refs`, each a revision or `revision:ref`, to `remote` as the hook would. Writes nothing.
pub fn sending(ctx: &Ctx, remote: &str, refs: &[String]) -> Result<Sending, Error> {
    let (mut written, mut subjects, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let git = ctx.store.git();
    for word in refs {
        let (from, to) = word.split_once(':').unwrap_or((word, ""));
        let commit = git.revision(from)?;
        let id = ctx.store.object_of(from)?;
        let full = git.full_ref(if to.is_empty() { from } else { to }, from).ok_or_else(|| {
            let which = shown(word, 100);
            Error::new(Kind::Usage, format!("`{which}` does not say which ref is to be written"))
                .hint("name a branch or a tag, or say both: `HEAD:refs/heads/main`")
        })?;
        lines.push(Line {
            local: from.to_owned(),
            local_id: Some(id.clone()),
            remote: full.clone(),
            remote_id: None,
        });
        written.push(Written { name: full, was: None, id });
        subjects.push(commit.subject);
    }
    let url = ctx.store.addresses(remote).0.into_iter().next().unwrap_or_else(|| remote.to_owned());
    let to = Remote { name: remote.to_owned(), url };
    let verdict = super::push::check(ctx, &to, &lines)?.verdict;
    let guarded = guarded(ctx, Act::Push, verdict, ctx.store.trusted()?.tip());
    Ok(Sending { refs: written, subjects, guarded })
}

impl Sending {
    /// Asks the remote what the refs are now. `say` gets what git says of its progress.
    pub fn look_there(&mut self, ctx: &Ctx, remote: &str, say: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        let names: Vec<String> = self.refs.iter().map(|written| written.name.clone()).collect();
        let mut there = ctx.store.refs_at(remote, &names, say)?;
        self.refs.iter_mut().for_each(|written| written.was = there.remove(&written.name));
        Ok(())
    }
}

/// Says of an error on the way to the answer what it means for `act`.
pub fn unseen(act: Act) -> impl FnOnce(Error) -> Error {
    move |error| {
        let message =
            format!("{} refused: whether a question is open cannot be seen: {}", act.word(), error.message);
        Error { message, ..error }
    }
}
