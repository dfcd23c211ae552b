//! The door that git, publishers and agents' hosts knock at. It reads strictly, calls an op, says what came of it, and exits.

mod cargo_credential;
pub(crate) mod helper;
mod host;
mod notify;
mod pre_commit;
mod pre_push;
mod pre_receive;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use self::host::Host;
use crate::{
    domain::id::AgentId,
    error::Error,
    ops::{Ctx, push::Remote},
    process::Process,
};

/// What git says before a push, and who asks on its behalf.
#[derive(Debug, clap::Args)]
pub(crate) struct PrePush {
    /// Git's configuration names this hook, so it speaks for a hook file, too
    #[arg(long)]
    config: bool,
    /// Print on standard output what came on standard input, for whoever comes after, and this after it
    #[arg(
        long,
        value_name = "END",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with = "config"
    )]
    pass_on: Option<String>,
    /// Go on with what stands behind loopx's part of this hook file
    #[arg(long, value_name = "FILE", require_equals = true, conflicts_with_all = ["config", "pass_on"])]
    then: Option<PathBuf>,
    /// The remote's name, or its address when it has none
    remote: String,
    /// The remote's address
    url: String,
}

impl PrePush {
    /// What our own hooks say, in the one way in which they say it: every push waits for it, and to tell clap what could have been
    /// said takes longer than to judge one.
    pub(crate) fn said_by_a_hook(words: &[OsString]) -> Option<Self> {
        let [hook, pre_push, asked, dashes, remote, url] = words else { return None };
        (hook == "hook" && pre_push == "pre-push" && dashes == "--").then_some(())?;
        let (remote, url) = (remote.to_str()?.to_owned(), url.to_str()?.to_owned());
        let (mut config, mut pass_on, mut then) = (false, None, None);
        match asked.to_str()?.split_once('=') {
            None if asked == "--config" => config = true,
            Some(("--pass-on", end)) => pass_on = Some(end.to_owned()),
            Some(("--then", file)) if !file.is_empty() => then = Some(file.into()),
            _ => return None,
        }
        Some(Self { config, pass_on, then, remote, url })
    }

    /// Returns the exit code: 0 lets git go on, 1 stops it.
    pub(crate) fn run(self, process: &Process, ctx: impl FnOnce() -> Result<Ctx, Error>) -> u8 {
        let Self { config, pass_on, then, remote, url } = self;
        let asked = match (config, pass_on, then) {
            (true, ..) => pre_push::Asked::Config,
            (false, Some(end), _) => pre_push::Asked::HookFile { end },
            (false, None, Some(file)) => pre_push::Asked::HookFileOfOurs { file },
            (false, None, None) => pre_push::Asked::Hand,
        };
        pre_push::run(process, &Remote { name: remote, url }, asked, ctx)
    }
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Hook {
    /// Judge a push: refs come on standard input, as git sends them
    PrePush(PrePush),
    /// Say when `.loopx` is about to be committed; refuses nothing
    PreCommit,
    /// On a server: judge a push before it is let in
    PreReceive,
    /// Run the user's command for what waits; it comes on standard input
    Notify,
    /// Judge what cargo wants a token for
    CargoCredential {
        /// Given by cargo to say which protocol it speaks
        #[arg(long)]
        cargo_plugin: bool,
    },
    /// Asked by Claude Code
    Claude(host::Asked),
    /// Asked by Codex
    Codex(host::Asked),
    /// Asked by Gemini CLI
    Gemini(host::Asked),
    /// Asked by Cursor
    Cursor(host::Asked),
    /// Asked by GitHub Copilot
    Copilot(host::Asked),
    /// Asked by loopx's plugin for opencode
    Opencode(host::Asked),
}

/// See [`crate::fuzz`].
#[cfg(any(test, fuzzing))]
pub fn host_promises(bytes: &[u8]) {
    host::promises(bytes);
}

/// See [`crate::fuzz`].
#[cfg(any(test, fuzzing))]
pub fn pre_push_promises(bytes: &[u8]) {
    pre_push::promises(bytes);
}

/// See [`crate::fuzz`].
#[cfg(any(test, fuzzing))]
pub fn pre_receive_promises(bytes: &[u8]) {
    pre_receive::promises(bytes);
}

/// See [`crate::fuzz`].
#[cfg(any(test, fuzzing))]
pub fn helper_promises(bytes: &[u8]) {
    helper::promises(bytes);
}

/// See [`crate::fuzz`].
#[cfg(any(test, fuzzing))]
pub fn cargo_credential_promises(bytes: &[u8]) {
    cargo_credential::promises(bytes);
}

impl Hook {
    /// Returns the exit code: 0 lets git go on, 1 stops it. `open` opens the repository of another folder, for an agent.
    pub(crate) fn run(
        self,
        process: &Process,
        ctx: impl Fn() -> Result<Ctx, Error>,
        open: impl Fn(&Path, &AgentId) -> Result<Ctx, Error>,
    ) -> u8 {
        match self {
            Self::PrePush(asked) => asked.run(process, ctx),
            Self::PreReceive => pre_receive::run(process, ctx),
            Self::PreCommit => pre_commit::run(process, ctx),
            Self::Notify => notify::run(process, ctx),
            Self::CargoCredential { cargo_plugin: _ } => cargo_credential::run(process, ctx),
            Self::Claude(asked) => host::run(Host::Claude, &asked, process, open),
            Self::Codex(asked) => host::run(Host::Codex, &asked, process, open),
            Self::Gemini(asked) => host::run(Host::Gemini, &asked, process, open),
            Self::Cursor(asked) => host::run(Host::Cursor, &asked, process, open),
            Self::Copilot(asked) => host::run(Host::Copilot, &asked, process, open),
            Self::Opencode(asked) => host::run(Host::Opencode, &asked, process, open),
        }
    }
}
