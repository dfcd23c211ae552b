//! The shape of Claude Code's hooks, which Codex and Gemini CLI took over with names of their own. An answer has no field that one
//! of them does not know, and a field of a payload is looked at only where the event is one that has it.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Answer, Call, Event, Name, Said, given, tool};

/// What a host calls what the three do not call the same.
pub(super) struct Names {
    pub(super) before_tool: &'static str,
    pub(super) would_stop: &'static str,
    pub(super) compacts: &'static str,
    /// The decision that sends an agent on which would stop.
    pub(super) go_on: &'static str,
}

#[derive(Deserialize)]
struct Payload {
    session_id: Name,
    cwd: PathBuf,
    hook_event_name: String,
    #[serde(default, deserialize_with = "whatever")]
    tool_name: Option<Value>,
    #[serde(default, deserialize_with = "whatever")]
    tool_input: Option<Value>,
    #[serde(default, deserialize_with = "whatever")]
    stop_hook_active: Option<Value>,
}

/// A field that is there, even if it is null.
fn whatever<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

fn typed<T: DeserializeOwned>(field: Option<Value>, name: &'static str) -> serde_json::Result<T> {
    serde_json::from_value(given(field, name)?)
}

impl Names {
    pub(super) fn read(&self, bytes: &[u8]) -> serde_json::Result<Call> {
        let payload: Payload = serde_json::from_slice(bytes)?;
        let event = match payload.hook_event_name.as_str() {
            "SessionStart" => Event::Begins,
            "SessionEnd" => Event::Ends,
            name if name == self.before_tool => {
                let name: String = typed(payload.tool_name, "tool_name")?;
                tool(&name, typed(payload.tool_input, "tool_input")?)?
            }
            name if name == self.would_stop => {
                Event::Stops { again: typed(payload.stop_hook_active, "stop_hook_active")? }
            }
            name if name == self.compacts => Event::Compacts,
            _ => Event::Other,
        };
        Ok(Call { session: payload.session_id.0, cwd: payload.cwd, event })
    }

    /// `event` is the host's own name of it.
    pub(super) fn say(&self, event: &str, answer: &Answer) -> Said {
        match answer {
            Answer::Deny(reason) => Said::denied(reason),
            Answer::Context { text, .. } => Said::json(&Specific {
                hook_specific_output: Inside { hook_event_name: event, additional_context: text },
            }),
            Answer::GoOn(reason) => Said::json(&Decision { decision: self.go_on, reason }),
            Answer::Say(text) => Said::json(&Message { system_message: text }),
        }
    }
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
struct Decision<'a> {
    decision: &'static str,
    reason: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    system_message: &'a str,
}
