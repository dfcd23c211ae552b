//! Cursor. The contract is its own documentation of hooks; it was not run here. It also runs the hooks in Claude Code's settings,
//! with a payload of its own, which is told by `cursor_version` and `conversation_id`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Answer, Call, Event, Name, Said, given, tool};
use crate::ops::tool::Tool;

#[derive(Deserialize)]
struct Payload {
    conversation_id: Name,
    hook_event_name: String,
    #[serde(default)]
    workspace_roots: Vec<PathBuf>,
    cwd: Option<PathBuf>,
    command: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<serde_json::Value>,
    #[serde(default)]
    loop_count: u32,
}

pub(super) fn read(bytes: &[u8]) -> serde_json::Result<Call> {
    let payload: Payload = serde_json::from_slice(bytes)?;
    let root = payload.workspace_roots.into_iter().next();
    let cwd = payload.cwd.filter(|cwd| !cwd.as_os_str().is_empty()).or(root).unwrap_or_default();
    // The names of Claude Code's events differ in case only where both have one.
    let event = match payload.hook_event_name.to_ascii_lowercase().as_str() {
        "sessionstart" => Event::Begins,
        "beforeshellexecution" => {
            let tool = Tool::Shell(given(payload.command, "command")?);
            Event::Tool { tool, dir: None }
        }
        "pretooluse" => {
            let name = given(payload.tool_name, "tool_name")?;
            tool(&name, given(payload.tool_input, "tool_input")?)?
        }
        "stop" => Event::Stops { again: payload.loop_count > 0 },
        "precompact" => Event::Compacts,
        "sessionend" => Event::Ends,
        _ => Event::Other,
    };
    Ok(Call { session: payload.conversation_id.0, cwd, event })
}

#[derive(Serialize)]
struct Permission<'a> {
    permission: &'static str,
    user_message: &'a str,
    agent_message: &'a str,
}

#[derive(Serialize)]
struct Context<'a> {
    env: Env<'a>,
    additional_context: &'a str,
}

#[derive(Serialize)]
struct Env<'a> {
    #[serde(rename = "LOOPX_AGENT_ID")]
    agent: &'a str,
}

#[derive(Serialize)]
struct Followup<'a> {
    followup_message: &'a str,
}

/// A denial is exit code 2, which is documented to deny, and Cursor's own JSON besides, which is how the agent learns why; its
/// documentation prints both together.
pub(super) fn say(answer: &Answer) -> Said {
    match answer {
        Answer::Deny(reason) => {
            let json = Permission { permission: "deny", user_message: reason, agent_message: reason };
            Said { out: Said::json(&json).out, ..Said::denied(reason) }
        }
        Answer::Context { text, agent } => {
            Said::json(&Context { env: Env { agent }, additional_context: text })
        }
        Answer::GoOn(reason) => Said::json(&Followup { followup_message: reason }),
        // There is no field for it.
        Answer::Say(_) => Said::nothing(),
    }
}
