//! Gemini CLI. The contract is its own documentation and source, and what version 0.61.0 was seen to do.

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
    BeforeTool {
        tool_name: String,
        tool_input: serde_json::Value,
    },
    AfterAgent {
        stop_hook_active: bool,
    },
    PreCompress {},
    SessionEnd {},
    #[serde(other)]
    Other,
}

pub(super) fn read(bytes: &[u8]) -> serde_json::Result<Call> {
    let Payload { session_id, cwd, what } = serde_json::from_slice(bytes)?;
    let event = match what {
        What::SessionStart {} => Event::Begins,
        What::BeforeTool { tool_name, tool_input } => tool(&tool_name, tool_input)?,
        What::AfterAgent { stop_hook_active } => Event::Stops { again: stop_hook_active },
        What::PreCompress {} => Event::Compacts,
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
struct Deny<'a> {
    decision: &'static str,
    reason: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    system_message: &'a str,
}

/// A denial is exit code 2 with the reason on standard error, seen to block. JSON would do as long as nothing stands before it on
/// standard output, and that is not in our hands alone: whatever else the hook's command prints would run the tool.
pub(super) fn say(event: &str, answer: &Answer) -> Said {
    match answer {
        Answer::Deny(reason) => Said::denied(reason),
        Answer::Context { text, .. } => Said::json(&Specific {
            hook_specific_output: Inside { hook_event_name: event, additional_context: text },
        }),
        // Denying the end of a turn sends the agent on with the reason as its prompt.
        Answer::GoOn(reason) => Said::json(&Deny { decision: "deny", reason }),
        Answer::Say(text) => Said::json(&Message { system_message: text }),
    }
}
