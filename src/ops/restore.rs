//! Moving the state back to where it was.

use serde::Serialize;

use super::{Ctx, Done};
use crate::{
    domain::actor::Proven,
    error::Error,
    store::{restore::WayBack, sync::Taken},
};

/// What a move back came to.
#[derive(Debug, Serialize)]
pub struct Restored {
    pub branch: String,
    /// Where it was, in hex, if it was there.
    pub from: Option<String>,
    pub to: String,
    /// What is no part of the state any more, oldest first; none when what was there cannot be read.
    pub lost: Option<Vec<Taken>>,
    pub regained: Vec<Taken>,
}

/// Looks what going back to `revision` would come to; see [`Store::way_back`](crate::store::Store::way_back).
pub fn look(ctx: &Ctx, revision: &str, progress: impl FnMut(usize, usize)) -> Result<WayBack, Error> {
    Ok(ctx.store.way_back(revision, ctx.now, progress)?)
}

/// Goes the way back that a person has seen. Takes a person: gates and answers that came since are gone.
pub fn restore(ctx: &Ctx, way: &WayBack, _proven: &Proven) -> Result<Done<Restored>, Error> {
    let updated = ctx.store.go_back(way, &ctx.stamp()?)?;
    Ok(Done { value: restored(way), commit: updated.commit, warnings: updated.warnings })
}

/// The answer when loopx left the state there, and nothing is to be done.
pub fn is_there(way: &WayBack) -> Done<Restored> {
    Done { value: restored(way), commit: None, warnings: Vec::new() }
}

fn restored(way: &WayBack) -> Restored {
    Restored {
        branch: way.branch().to_owned(),
        from: way.from(),
        to: way.to(),
        lost: way.lost.clone(),
        regained: way.regained.clone(),
    }
}
