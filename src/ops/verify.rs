//! Checking the history of the state.

use super::Ctx;
use crate::{error::Error, store::verify::Verified};

/// Checks what has come since the last time, or the whole history; see [`Store::verify`](crate::store::Store::verify).
pub fn verify(ctx: &Ctx, all: bool, progress: impl FnMut(usize, usize)) -> Result<Verified, Error> {
    Ok(ctx.store.verify(all, ctx.now, progress)?)
}
