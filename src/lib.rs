//! loopx: a local control plane for long-running AI agents, inside the user's git repository.
//!
//! A **door** ([`cli`], [`hook`], [`mcp`]) turns input into one call of an **op** ([`ops`]); the op asks the **domain**
//! ([`domain`]) for a decision and the **store** ([`store`]) to commit it; the door says what happened.
//!
//! Read in this order: [`domain`] for the words and the rules, [`store`] for how one decision becomes one commit,
//! [`ops`] for what can be done, then a door. [`foreign`] understands the files of other tools. [`process`] is the outside world, [`caller`] says who is calling,
//! [`error`] and [`text`] are how things are said. `ARCHITECTURE.md` has the map and the invariants.

pub mod caller;
pub mod cli;
pub mod demo;
pub mod domain;
pub mod error;
pub mod foreign;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
pub mod hook;
pub mod mcp;
pub mod ops;
pub mod process;
pub mod store;
pub mod text;

use std::process::ExitCode;

/// Runs the program on `process` and returns its exit code; see [`error`] for what the codes mean.
pub fn run(process: &process::Process) -> ExitCode {
    guarded(|| cli::run(process))
}

/// Runs the small program: the helper that git starts for pushes in strict mode, and what our hooks ask; see [`hook`].
pub fn run_remote_helper(process: &process::Process) -> ExitCode {
    guarded(|| cli::run_remote_helper(process))
}

fn guarded(run: impl FnOnce() -> u8) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map(|place| format!(" at {}:{}", place.file(), place.line()))
            .unwrap_or_default();
        let what = panic.payload_as_str().unwrap_or("no message");
        process::Process::this().err(&format!(
            "error: a fault of loopx{place}: {what}\nhint: nothing is lost; run the command again, and report this line if it comes back\n"
        ));
    }));
    let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    ExitCode::from(code.unwrap_or(error::Kind::Bug.exit_code()))
}
