//! The history, as the state branch tells it.

use serde::Serialize;

use super::Ctx;
use crate::{error::Error, store::history::Entry};

/// The newest mutations first.
#[derive(Debug, Serialize)]
pub struct History {
    pub entries: Vec<Entry>,
}

/// The newest `limit` mutations.
pub fn history(ctx: &Ctx, limit: usize) -> Result<History, Error> {
    Ok(History { entries: ctx.store.history(limit)? })
}
