//! GitHub Copilot's command line and cloud agent. The contract is its own documentation of hooks; it was not run here. The case of
//! an event's first letter decides how fields are spelt.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Answer, Call, Event, Name, Said, given, tool};

#[derive(Deserialize)]
struct Payload {
    #[serde(alias = "sessionId")]
    session_id: Name,
    cwd: PathBuf,
    /// Only there where events are spelt with a capital.
    hook_event_name: Option<String>,
    #[serde(alias = "toolName")]
    tool_name: Option<String>,
    #[serde(alias = "toolArgs")]
    tool_input: Option<serde_json::Value>,
    #[serde(default)]
    stop_hook_active: bool,
}

/// `event` is the one that was asked for, for payloads that do not say.
pub(super) fn read(event: &str, bytes: &[u8]) -> serde_json::Result<Call> {
    let payload: Payload = serde_json::from_slice(bytes)?;
    let named = payload.hook_event_name.unwrap_or_else(|| event.to_owned());
    let event = match named.to_ascii_lowercase().as_str() {
        "sessionstart" => Event::Begins,
        "pretooluse" => {
            let name = given(payload.tool_name, "toolName")?;
            tool(&name, given(payload.tool_input, "toolArgs")?)?
        }
        "agentstop" | "stop" => Event::Stops { again: payload.stop_hook_active },
        "precompact" => Event::Compacts,
        "sessionend" => Event::Ends,
        _ => Event::Other,
    };
    Ok(Call { session: payload.session_id.0, cwd: payload.cwd, event })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Permission<'a> {
    permission_decision: &'static str,
    permission_decision_reason: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context<'a> {
    additional_context: &'a str,
}

#[derive(Serialize)]
struct Block<'a> {
    decision: &'static str,
    reason: &'a str,
}

/// A denial is Copilot's own JSON with exit code 0, which is how the model gets the reason. Any other exit code denies as well, so
/// that what cannot be printed is denied by exit code 2; only a time-out lets the tool run.
pub(super) fn say(answer: &Answer) -> Said {
    match answer {
        Answer::Deny(reason) => {
            Said::json(&Permission { permission_decision: "deny", permission_decision_reason: reason })
        }
        Answer::Context { text, .. } => Said::json(&Context { additional_context: text }),
        Answer::GoOn(reason) => Said::json(&Block { decision: "block", reason }),
        // There is no field for it.
        Answer::Say(_) => Said::nothing(),
    }
}
