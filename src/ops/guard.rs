//! May something leave this machine? For whoever asks beside git's own hook: a publisher, a build, a job of CI.

use serde::Serialize;

use super::{Ctx, gate::GateView, push::gates};
use crate::{
    domain::{
        gate::Act,
        push::{Reason, Verdict, verdict_on},
    },
    error::{Error, Kind},
    store::{self, Snapshot},
};

/// Where a job of CI looks for the state unless it is told otherwise, and where a sync puts it.
pub use crate::store::remote::STATE_REF;

/// The answer.
///
/// JSON: `for`, `allowed`, `gates` (those that hold it back, the oldest question first), `tip` (the commit of the state that
/// was looked at).
#[derive(Debug, Serialize)]
pub struct Guarded {
    #[serde(rename = "for")]
    pub act: Act,
    pub allowed: bool,
    pub gates: Vec<GateView>,
    pub tip: String,
    /// The same as a list of reasons.
    #[serde(skip)]
    pub reasons: Vec<Reason>,
}

/// Judges `act` by the state of this clone. Any error means that it must not happen: a gate that cannot see is shut. Takes no
/// lock and writes nothing.
pub fn check(ctx: &Ctx, act: Act) -> Result<Guarded, Error> {
    ctx.store
        .trusted()
        .map_err(Error::from)
        .and_then(|snapshot| judge(ctx, &snapshot, act))
        .map_err(unseen(act))
}

/// Judges `act` by a copy of the state that was fetched to `revision`. Its whole history is verified; what this clone may have of
/// its own is not looked at, and nothing is written.
pub fn check_copy(ctx: &Ctx, act: Act, revision: &str) -> Result<Guarded, Error> {
    let snapshot = ctx.store.verified(revision, ctx.now).map_err(|problem| match problem {
        store::Error::UnknownRevision(name) => Error::new(
            Kind::NotSetUp,
            format!("`{name}` is not here, and it should have a copy of the state"),
        )
        .hint(format!("fetch it first: `git fetch <where the state is> +refs/heads/loopx/state:{STATE_REF}`"))
        .hint("if the state stays on one machine, check there, before anything is pushed"),
        damaged @ store::Error::Damaged(_) => Error::new(Kind::Distrusted, damaged.to_string())
            .hint("if this clone is shallow, get the rest with `git fetch --unshallow`"),
        other => other.into(),
    });
    snapshot.and_then(|snapshot| judge(ctx, &snapshot, act)).map_err(unseen(act))
}

fn judge(ctx: &Ctx, snapshot: &Snapshot<'_>, act: Act) -> Result<Guarded, Error> {
    let gates = gates(snapshot)?;
    let reasons = match verdict_on(act, gates.iter().map(|(goal, id, gate)| (goal, id, gate))) {
        Verdict::Allowed => Vec::new(),
        Verdict::Refused(reasons) => reasons,
    };
    let view = |reason: &Reason| match reason {
        Reason::Gate { goal, id, gate } => {
            Some(GateView::of(ctx, goal.clone(), id.clone(), gate.as_ref().clone()))
        }
        Reason::Carries { .. } => None,
    };
    let gates = reasons.iter().filter_map(view).collect();
    Ok(Guarded { act, allowed: reasons.is_empty(), gates, tip: snapshot.tip(), reasons })
}

/// Says of an error on the way to the answer what it means for `act`.
pub fn unseen(act: Act) -> impl FnOnce(Error) -> Error {
    move |error| {
        let message =
            format!("{} refused: whether a question is open cannot be seen: {}", act.word(), error.message);
        Error { message, ..error }
    }
}
