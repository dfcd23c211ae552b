//! opencode. Its plugins run inside of it, so the one that calls this is ours, and so are both shapes: `docs/hosts.md` has them.
//!
//! The plugin sends `{"event", "session", "cwd", "tool", "args", "again"}` and takes back `{"decision": "deny", "reason"}`,
//! `{"context", "env"}`, `{"continue"}` or `{"message"}`, or nothing at all. It throws on a denial, which opencode was seen to show to the model
//! as an error of the tool, and on any exit code but 0.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Answer, Call, Event, Name, Said, given, tool};

/// It is ours, so nothing is in it that is not known here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    event: String,
    session: Name,
    cwd: PathBuf,
    tool: Option<String>,
    args: Option<serde_json::Value>,
    #[serde(default)]
    again: bool,
}

pub(super) fn read(bytes: &[u8]) -> serde_json::Result<Call> {
    let payload: Payload = serde_json::from_slice(bytes)?;
    let event = match payload.event.as_str() {
        "session.created" => Event::Begins,
        "tool.execute.before" => {
            let name = given(payload.tool, "tool")?;
            tool(&name, given(payload.args, "args")?)?
        }
        "session.idle" => Event::Stops { again: payload.again },
        "session.compacting" => Event::Compacts,
        "session.deleted" | "dispose" => Event::Ends,
        _ => Event::Other,
    };
    Ok(Call { session: payload.session.0, cwd: payload.cwd, event })
}

#[derive(Serialize)]
#[serde(untagged)]
enum Reply<'a> {
    Deny { decision: &'static str, reason: &'a str },
    Context { context: &'a str, env: Env<'a> },
    Continue { r#continue: &'a str },
    Message { message: &'a str },
}

#[derive(Serialize)]
struct Env<'a> {
    #[serde(rename = "LOOPX_AGENT_ID")]
    agent: &'a str,
}

pub(super) fn say(answer: &Answer) -> Said {
    Said::json(&match answer {
        Answer::Deny(reason) => Reply::Deny { decision: "deny", reason },
        Answer::Context { text, agent } => Reply::Context { context: text, env: Env { agent } },
        Answer::GoOn(reason) => Reply::Continue { r#continue: reason },
        Answer::Say(message) => Reply::Message { message },
    })
}
