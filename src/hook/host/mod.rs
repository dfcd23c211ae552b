//! The door that agents' hosts knock at: `loopx hook <host> <event>`, with the host's own JSON on standard input.
//!
//! Each host has a file: what of its payload is read, and the one shape in which it takes an answer; three of them share a shape. A field that is read has to be
//! of its type; fields that are not read may be anything, for hosts add some with every release. What is printed has no field that the
//! host does not know: one of them runs the tool when there is one.
//!
//! No host lets a hook fail shut when it takes too long, so this is a guard rail that has to be fast, and git's own hook stands
//! behind it. Where a payload cannot be read, what sounds like a push is held back as if it were one, and everything else runs: a
//! tool is never made impossible by a fault of ours. Hooks that only watch never fail, and where loopx was not set up nothing is said.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod opencode;
mod shape;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    domain::id::AgentId,
    error::{Error, Kind},
    ops::{
        Ctx,
        session::{self, Next},
        tool::{self, Tool},
    },
    process::{HOME, LOOPX_AGENT_ID, LOOPX_LOOP, Process},
};

/// Most bytes of a payload: the text of a file that is written may be in it.
const LIMIT: u64 = 32 * 1024 * 1024;

/// A host of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    Claude,
    Codex,
    Gemini,
    Cursor,
    Copilot,
    Opencode,
}

/// What a host calls for.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Asked {
    /// The event, as the host calls it; the payload says the same
    event: String,
    /// Send the session on as long as `quota should-run` says that there is something to do (or `LOOPX_LOOP=1`)
    #[arg(long = "loop")]
    loops: bool,
}

/// What a payload says, whoever sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    session: String,
    cwd: PathBuf,
    event: Event,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// A session begins, or begins to know nothing again.
    Begins,
    /// A tool is about to run, in this folder if it says so.
    Tool {
        tool: Tool,
        dir: Option<PathBuf>,
    },
    /// The agent would stop. `again`: it was sent on before.
    Stops {
        again: bool,
    },
    /// The session is about to forget most of what it knows.
    Compacts,
    Ends,
    /// Nothing that is looked at.
    Other,
}

/// What a host is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// The tool does not run.
    Deny(String),
    /// For the agent to know. The session is this agent to loopx.
    Context { text: String, agent: String },
    /// The agent goes on with this.
    GoOn(String),
    /// For the person to read.
    Say(String),
}

/// An answer as it is printed, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Said {
    out: String,
    err: String,
    code: u8,
}

/// What stops a tool at most hosts, if something stands on standard error.
const DENIED: u8 = 2;

/// A text with something in it.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Name(String);

impl TryFrom<String> for Name {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, &'static str> {
        if text.is_empty() { Err("a name is empty") } else { Ok(Self(text)) }
    }
}

/// A field that has to be there.
fn given<T>(field: Option<T>, name: &'static str) -> serde_json::Result<T> {
    field.ok_or_else(|| serde::de::Error::missing_field(name))
}

impl Said {
    /// Refused by exit code, with the reason on standard error.
    fn denied(reason: &str) -> Self {
        Self { out: String::new(), err: reason.to_owned(), code: DENIED }
    }

    fn json(value: &impl Serialize) -> Self {
        // It is plain data; without it nothing is said, which lets things be.
        let out = serde_json::to_string(value).map(|json| json + "\n").unwrap_or_default();
        Self { out, ..Self::default() }
    }

    fn nothing() -> Self {
        Self::default()
    }
}

impl Host {
    #[cfg(any(test, fuzzing))]
    const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Cursor, Self::Copilot, Self::Opencode];

    fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
        }
    }

    fn read(self, event: &str, bytes: &[u8]) -> serde_json::Result<Call> {
        match self {
            Self::Claude => claude::NAMES.read(bytes),
            Self::Codex => codex::NAMES.read(bytes),
            Self::Gemini => gemini::NAMES.read(bytes),
            Self::Cursor => cursor::read(bytes),
            Self::Copilot => copilot::read(event, bytes),
            Self::Opencode => opencode::read(bytes),
        }
    }

    /// `event` is the host's own name of it.
    fn say(self, event: &str, answer: &Answer) -> Said {
        match self {
            Self::Claude => claude::NAMES.say(event, answer),
            Self::Codex => codex::NAMES.say(event, answer),
            Self::Gemini => gemini::NAMES.say(event, answer),
            Self::Cursor => cursor::say(answer),
            Self::Copilot => copilot::say(answer),
            Self::Opencode => opencode::say(answer),
        }
    }

    /// Who really sent this: two hosts run what stands in Claude Code's settings, too.
    fn really(self, bytes: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Marks {
            conversation_id: Option<serde::de::IgnoredAny>,
            cursor_version: Option<serde::de::IgnoredAny>,
            #[serde(rename = "sessionId")]
            session_id: Option<serde::de::IgnoredAny>,
            timestamp: Option<serde::de::IgnoredAny>,
            prompt_id: Option<serde::de::IgnoredAny>,
        }
        if self != Self::Claude {
            return self;
        }
        match serde_json::from_slice::<Marks>(bytes) {
            Ok(marks) if marks.cursor_version.is_some() || marks.conversation_id.is_some() => Self::Cursor,
            Ok(marks) if marks.session_id.is_some() => Self::Copilot,
            Ok(marks) if marks.timestamp.is_some() && marks.prompt_id.is_none() => Self::Copilot,
            _ => self,
        }
    }

    /// Its own settings have this hook as well, so that whoever read another host's has nothing to add.
    fn asks_by_itself(self, cwd: &Path, home: Option<&Path>) -> bool {
        let mark = format!("loopx hook {}", self.word());
        let has = |file: &Path| fs::read_to_string(file).is_ok_and(|text| text.contains(&mark));
        let below = |dir: &Path| match self {
            Self::Cursor => has(&dir.join(".cursor/hooks.json")),
            Self::Copilot => [".github/hooks", ".copilot/hooks"].iter().any(|hooks| {
                fs::read_dir(dir.join(hooks)).into_iter().flatten().flatten().any(|entry| has(&entry.path()))
            }),
            _ => false,
        };
        cwd.ancestors().take(16).any(below) || home.is_some_and(below)
    }
}

/// A tool is about to run, by the name of the event.
fn is_before_tool(event: &str) -> bool {
    let low = event.to_ascii_lowercase();
    low.contains("tooluse") && low.starts_with("pre")
        || matches!(low.as_str(), "beforetool" | "beforeshellexecution" | "tool.execute.before")
}

pub(super) fn run(
    host: Host,
    asked: &Asked,
    process: &Process,
    open: impl Fn(&Path, &AgentId) -> Result<Ctx, Error>,
) -> u8 {
    if process.stdin_is_terminal() {
        let what = "hosts of agents call this with JSON on standard input; it is not for terminals";
        process.err(&Error::new(Kind::Usage, what).hint("read `docs/hosts.md`").to_string());
        return Kind::Usage.exit_code();
    }
    let home = process.env_os(HOME).map(PathBuf::from);
    let bytes = process.stdin(LIMIT).unwrap_or_default();
    let sender = host.really(&bytes);
    let call = match sender.read(&asked.event, &bytes) {
        Ok(call) => call,
        Err(_) if !is_before_tool(&asked.event) => return 0,
        // What sounds like a push is not let through because it came in an odd way.
        Err(_) => Call {
            session: String::new(),
            cwd: process.cwd().unwrap_or_default(),
            event: Event::Tool {
                tool: Tool::Unread(String::from_utf8_lossy(&bytes).into_owned()),
                dir: None,
            },
        },
    };
    let agent = agent(process, sender, &call.session);
    let Some(agent) = agent else { return 0 };
    let is_tool = matches!(call.event, Event::Tool { .. });
    if sender != host && !is_tool && sender.asks_by_itself(&call.cwd, home.as_deref()) {
        return 0;
    }
    let loops = asked.loops || process.env(LOOPX_LOOP).is_some_and(|value| value == "1");
    let open = |dir: &Path| open(dir, &agent);
    let Some(answer) = answer(sender, &call, &agent, loops, home.as_deref(), open) else { return 0 };
    if let (Host::Claude, Answer::Context { agent, .. }) = (sender, &answer) {
        claude::name_the_session(process, agent);
    }
    let said = sender.say(&asked.event, &answer);
    if !said.err.is_empty() {
        process.err(&said.err);
    }
    match process.out(&said.out) {
        Ok(()) => said.code,
        // What was not heard must not let a tool run.
        Err(_) if matches!(answer, Answer::Deny(_)) => DENIED,
        Err(_) => 0,
    }
}

fn answer(
    host: Host,
    call: &Call,
    agent: &AgentId,
    loops: bool,
    home: Option<&Path>,
    open: impl Fn(&Path) -> Result<Ctx, Error>,
) -> Option<Answer> {
    match &call.event {
        Event::Tool { tool, dir } => {
            let cwd = dir.as_ref().map_or_else(|| call.cwd.clone(), |dir| call.cwd.join(dir));
            tool::refused(tool, &cwd, home, open).map(Answer::Deny)
        }
        Event::Begins => {
            let text = session::begins(open(&call.cwd).ok()?)?;
            Some(Answer::Context { text, agent: agent.to_string() })
        }
        Event::Stops { again } if loops => {
            match session::stops(open(&call.cwd).ok()?, &call.session, *again, host.word()) {
                Next::On(text) => Some(Answer::GoOn(text)),
                Next::Stop(text) => text.map(Answer::Say),
            }
        }
        Event::Compacts => {
            let _ = session::leaves(open(&call.cwd).ok()?, "was about to be compacted", host.word());
            // The others ask anew when a session begins to know nothing.
            if host != Host::Opencode {
                return None;
            }
            let text = session::begins(open(&call.cwd).ok()?)?;
            Some(Answer::Context { text, agent: agent.to_string() })
        }
        Event::Ends => {
            if let Ok(ctx) = open(&call.cwd) {
                session::over(&ctx, &call.session);
                let _ = session::leaves(ctx, "ended", host.word());
            }
            None
        }
        Event::Stops { .. } | Event::Other => None,
    }
}

/// The agent that a session is to loopx: the one that the environment names, else the host with the end of the session's name,
/// whose beginning is the time at some hosts. Never a person.
fn agent(process: &Process, host: Host, session: &str) -> Option<AgentId> {
    if let Some(named) = process.env(LOOPX_AGENT_ID).and_then(|named| named.parse().ok()) {
        return Some(named);
    }
    let letters: Vec<char> = session.chars().filter(char::is_ascii_alphanumeric).collect();
    let short: String =
        letters[letters.len().saturating_sub(8)..].iter().map(char::to_ascii_lowercase).collect();
    let name = if short.is_empty() { host.word().to_owned() } else { format!("{}-{short}", host.word()) };
    name.parse().ok()
}

/// The fields of tools' arguments that are looked at, as hosts call them.
#[derive(Debug, Default, Deserialize)]
struct Fields {
    command: Option<String>,
    #[serde(
        alias = "filePath",
        alias = "path",
        alias = "notebook_path",
        alias = "target_file",
        alias = "absolute_path"
    )]
    file_path: Option<String>,
    #[serde(alias = "patchText", alias = "input")]
    patch: Option<String>,
    #[serde(alias = "workdir", alias = "dir_path", alias = "directory", alias = "working_directory")]
    cwd: Option<PathBuf>,
}

/// What tools of this name do, with their arguments. `reads` names those that only look at the file they are given.
fn tool(name: &str, arguments: serde_json::Value) -> serde_json::Result<Event> {
    let low = name.to_ascii_lowercase();
    let is_shell = matches!(
        low.as_str(),
        "bash"
            | "shell"
            | "run_shell_command"
            | "powershell"
            | "exec_command"
            | "local_shell"
            | "run_terminal_cmd"
            | "monitor"
    );
    let is_edit = matches!(
        low.as_str(),
        "write"
            | "edit"
            | "multiedit"
            | "notebookedit"
            | "write_file"
            | "replace"
            | "create"
            | "str_replace_editor"
            | "delete"
            | "edit_file"
            | "search_replace"
            | "strreplace"
    );
    let is_patch = matches!(low.as_str(), "apply_patch" | "patch" | "applypatch");
    if !is_shell && !is_edit && !is_patch {
        return Ok(Event::Other);
    }
    // Copilot may send the arguments as a text.
    let fields: Fields = match &arguments {
        serde_json::Value::String(text) if is_patch => {
            Fields { patch: Some(text.clone()), ..Fields::default() }
        }
        serde_json::Value::String(text) => serde_json::from_str(text)?,
        _ => serde_json::from_value(arguments)?,
    };
    let dir = fields.cwd;
    let tool = match (is_shell, is_patch) {
        (true, _) => Tool::Shell(given(fields.command, "command")?),
        (_, true) => {
            let text = given(fields.patch.or(fields.command).or(fields.file_path), "patch")?;
            Tool::Edit(crate::domain::shell::patched(&text))
        }
        _ => Tool::Edit(vec![given(fields.file_path, "file_path")?]),
    };
    Ok(Event::Tool { tool, dir: dir.filter(|_| is_shell) })
}

/// Looks whether reading these bytes keeps its promise: what is understood names the session, and whatever it is, no reader stumbles.
#[cfg(any(test, fuzzing))]
pub(super) fn promises(bytes: &[u8]) {
    for host in Host::ALL {
        for event in ["PreToolUse", "preToolUse", "stop"] {
            if let Ok(call) = host.really(bytes).read(event, bytes) {
                assert!(!call.session.is_empty() || host == Host::Opencode, "a session without a name");
            }
        }
    }
}

#[cfg(test)]
mod tests;
