//! Claude Code. The contract is its own documentation of hooks, and what version 2.1.332 was seen to do.

use std::{fs::OpenOptions, io::Write as _, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{Answer, Call, Event, Said, tool};
use crate::process::{CLAUDE_ENV_FILE, Process};

#[derive(Deserialize)]
struct Payload {
    session_id: Name,
    cwd: PathBuf,
    #[serde(flatten)]
    what: What,
}

/// A text with something in it.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Name(pub(super) String);

impl TryFrom<String> for Name {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, &'static str> {
        if text.is_empty() { Err("a name is empty") } else { Ok(Self(text)) }
    }
}

#[derive(Deserialize)]
#[serde(tag = "hook_event_name")]
enum What {
    SessionStart {},
    PreToolUse {
        tool_name: String,
        tool_input: serde_json::Value,
    },
    Stop {
        stop_hook_active: bool,
    },
    PreCompact {},
    SessionEnd {},
    #[serde(other)]
    Other,
}

pub(super) fn read(bytes: &[u8]) -> serde_json::Result<Call> {
    let Payload { session_id, cwd, what } = serde_json::from_slice(bytes)?;
    let event = match what {
        What::SessionStart {} => Event::Begins,
        What::PreToolUse { tool_name, tool_input } => tool(&tool_name, tool_input)?,
        What::Stop { stop_hook_active } => Event::Stops { again: stop_hook_active },
        What::PreCompact {} => Event::Compacts,
        What::SessionEnd {} => Event::Ends,
        What::Other => Event::Other,
    };
    Ok(Call { session: session_id.0, cwd, event })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_specific_output: Inside<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inside<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

#[derive(Serialize)]
struct Block<'a> {
    decision: &'static str,
    reason: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    system_message: &'a str,
}

/// A denial is exit code 2 with the reason on standard error: seen to block and to show the model the reason, and it blocks whatever is
/// printed besides, also where another host runs this hook. (So does `permissionDecision`, for as long as it is printed whole.)
pub(super) fn say(event: &str, answer: &Answer) -> Said {
    match answer {
        Answer::Deny(reason) => Said::denied(reason),
        Answer::Context { text, .. } => Said::json(&Specific {
            hook_specific_output: Inside { hook_event_name: event, additional_context: text },
        }),
        Answer::GoOn(reason) => Said::json(&Block { decision: "block", reason }),
        Answer::Say(text) => Said::json(&Message { system_message: text }),
    }
}

/// Has the commands of this session call loopx by the session's name: the host runs the lines of this file before them.
pub(super) fn name_the_session(process: &Process, agent: &str) {
    let file = process
        .env_os(CLAUDE_ENV_FILE)
        .and_then(|path| OpenOptions::new().append(true).create(true).open(path).ok());
    if let Some(mut file) = file {
        let _ = writeln!(file, "export LOOPX_AGENT_ID={}", crate::domain::shell::quoted(agent));
    }
}
