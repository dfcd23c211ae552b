//! Codex. The contract is its own documentation of hooks, and what version 0.171.0 was seen to do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Answer, Call, Event, Said, claude::Name, tool};

#[derive(Deserialize)]
struct Payload {
    session_id: Name,
    cwd: PathBuf,
    #[serde(flatten)]
    what: What,
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

/// A denial is exit code 2 with the reason on standard error, and nothing on standard output: there is no field then that Codex
/// might not know, for which it would run the tool. Its exit code 2 without a reason runs the tool as well, so there is always one.
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
