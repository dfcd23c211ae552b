//! Claude Code. The contract is its own documentation of hooks, and what version 2.1.332 was seen to do.

use std::{fs::OpenOptions, io::Write as _};

use super::shape::Names;
use crate::process::{CLAUDE_ENV_FILE, Process};

/// A denial is exit code 2 with the reason on standard error: seen to block and to show the model the reason, and it blocks whatever is
/// printed besides, also where another host runs this hook. (So does `permissionDecision`, for as long as it is printed whole.)
pub(super) const NAMES: Names =
    Names { before_tool: "PreToolUse", would_stop: "Stop", compacts: "PreCompact", go_on: "block" };

/// Has the commands of this session call loopx by the session's name: the host runs the lines of this file before them.
pub(super) fn name_the_session(process: &Process, agent: &str) {
    let file = process
        .env_os(CLAUDE_ENV_FILE)
        .and_then(|path| OpenOptions::new().append(true).create(true).open(path).ok());
    if let Some(mut file) = file {
        let _ = writeln!(file, "export LOOPX_AGENT_ID={}", crate::domain::shell::quoted(agent));
    }
}
