//! The door that git knocks at. It reads strictly, calls an op, says what came of it, and exits.

pub(crate) mod helper;
mod pre_push;

use crate::{error::Error, ops::Ctx, process::Process};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Hook {
    /// Judge a push: refs come on standard input, as git sends them
    PrePush {
        /// The remote's name, or its address when it has none
        remote: String,
        /// The remote's address
        url: String,
    },
}

impl Hook {
    /// Returns the exit code: 0 lets git go on, 1 stops it.
    pub(crate) fn run(self, process: &Process, ctx: impl FnOnce() -> Result<Ctx, Error>) -> u8 {
        match self {
            Self::PrePush { remote, url: _ } => pre_push::run(process, &remote, ctx),
        }
    }
}
