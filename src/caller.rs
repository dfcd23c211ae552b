//! Who is calling? The one place that turns the outside world into a person or an agent, and that asks a person to show
//! to be one.
//!
//! A label is not authentication: an agent that wants to can clear its environment and open a terminal of its own. What
//! is here is a guard rail against agents that help themselves, and it is called that wherever users read of it.

use crate::{
    domain::{
        actor::{Actor, Person, Proof, Proven},
        id::AgentId,
    },
    error::{Error, Kind},
    process::{LOOPX_AGENT_ID, Process, Terminal},
};

/// Environment variables that agents' hosts set for the commands they run, and what the host is called here.
///
/// Measured or taken from the hosts' documentation. A variable that a host also sets in a person's own terminal is
/// listed all the same: refusing a person who can unset it is better than believing an agent.
pub const MARKERS: [(&str, &str); 24] = [
    ("AI_AGENT", "agent"),
    ("AGENT", "agent"),
    ("CLAUDECODE", "claude-code"),
    ("CLAUDE_CODE_CHILD_SESSION", "claude-code"),
    ("CLAUDE_CODE_REMOTE", "claude-code"),
    ("CODEX_CI", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_SESSION_ID", "codex"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "codex"),
    ("GEMINI_CLI", "gemini-cli"),
    ("CURSOR_AGENT", "cursor"),
    ("OPENCODE", "opencode"),
    ("OPENCODE_PID", "opencode"),
    ("COPILOT_AGENT", "copilot"),
    ("VSCODE_AGENT", "vscode"),
    ("AUGMENT_AGENT", "augment"),
    ("AMP_CURRENT_THREAD_ID", "amp"),
    ("QWEN_CODE", "qwen-code"),
    ("PI_CODING_AGENT", "pi"),
    ("CRUSH", "crush"),
    ("ANTIGRAVITY_AGENT", "antigravity"),
    ("GOOSE_TERMINAL", "goose"),
    ("REPL_ID", "replit"),
];

/// Who calls, and what says so.
#[derive(Debug, Clone)]
pub enum Caller {
    /// Nothing says that it is an agent. Nothing proves that it is a person, either.
    Person,
    Agent {
        agent: AgentId,
        /// What named it: an option or a variable.
        named_by: String,
    },
}

impl Caller {
    /// Looks at `--agent-id`, `LOOPX_AGENT_ID` and the hosts' markers, in this order.
    pub fn of(process: &Process, agent_id: Option<AgentId>) -> Result<Self, Error> {
        if let Some(agent) = agent_id {
            return Ok(Self::Agent { agent, named_by: "`--agent-id` was given".into() });
        }
        if let Some(agent) = process.env(LOOPX_AGENT_ID) {
            let agent =
                agent.parse().map_err(|bad| Error::new(Kind::Usage, format!("`{LOOPX_AGENT_ID}`: {bad}")))?;
            return Ok(Self::Agent { agent, named_by: format!("`{LOOPX_AGENT_ID}` is set") });
        }
        let marked = MARKERS.iter().find(|(variable, _)| process.env_os(variable).is_some());
        let cursor = || process.env("CURSOR_EXTENSION_HOST_ROLE").is_some_and(|role| role == "agent-exec");
        let (variable, host) = match marked {
            Some(marked) => *marked,
            None if cursor() => ("CURSOR_EXTENSION_HOST_ROLE", "cursor"),
            None => return Ok(Self::Person),
        };
        let agent = host.parse().map_err(|bad| Error::new(Kind::Bug, format!("{bad}")))?;
        Ok(Self::Agent { agent, named_by: format!("`{variable}` is set") })
    }

    /// Which agent it is, if it is one.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::Agent { agent, .. } => Some(agent),
            Self::Person => None,
        }
    }

    /// As records name the caller; `owner` is the human whom git's identity names.
    pub fn actor(&self, owner: &Person) -> Actor {
        match self {
            Self::Person => Actor::Person(owner.clone()),
            Self::Agent { agent, .. } => Actor::Agent(agent.clone()),
        }
    }

    /// Asks whoever sits at the terminal to show to be a person, and returns them with the proof.
    ///
    /// Refused for an agent, without a controlling terminal, when input is not a terminal (an answer cannot be piped
    /// in), and when anything else than the challenge's word comes back.
    pub fn prove(&self, process: &Process, owner: &Person, challenge: &Challenge) -> Result<Proven, Error> {
        let what = &challenge.what;
        let mut terminal = self.at_a_terminal(process, what, &challenge.command)?;
        let failed = |error: std::io::Error| {
            Error::new(Kind::Environment, format!("cannot talk to the terminal: {error}"))
        };
        let word = &challenge.word;
        terminal.show(&challenge.shows).map_err(failed)?;
        terminal.show(&format!("\nType `{word}` to {what}: ")).map_err(failed)?;
        match terminal.line().map_err(failed)? {
            Some(typed) if typed == *word => {
                Ok(Proven { person: owner.clone(), proof: Proof::Terminal { typed } })
            }
            _ => Err(Error::new(Kind::Refused, format!("that was not `{word}`, so nothing was changed"))
                .hint(format!("run `{}` again", challenge.command))),
        }
    }

    /// The terminal of whoever may be a person, to talk to them; it proves nothing. Refused as [`Caller::prove`] refuses. `what`
    /// completes "only a person may …", and `command` is what they can run themselves.
    pub fn at_a_terminal(&self, process: &Process, what: &str, command: &str) -> Result<Terminal, Error> {
        if let Self::Agent { agent, named_by } = self {
            return Err(Error::new(
                Kind::PersonNeeded,
                format!("only a person may {what}, and this is agent `{agent}` ({named_by})"),
            )
            .hint(format!("ask the person to run `{command}` in a terminal of their own")));
        }
        let no_terminal = |why: &str| {
            Error::new(Kind::PersonNeeded, format!("only a person at a terminal may {what}, and {why}"))
                .hint(format!("run `{command}` in a terminal"))
        };
        let terminal = process.terminal().map_err(|_| no_terminal("there is none"))?;
        match process.stdin_is_terminal() {
            true => Ok(terminal),
            false => Err(no_terminal("standard input is not one")),
        }
    }
}

/// What a person is shown before something is loosened, and what they have to type back.
#[derive(Debug)]
pub struct Challenge {
    /// Completes "only a person may …".
    pub what: String,
    /// Everything they should have in front of them.
    pub shows: String,
    pub word: String,
    /// The command they can run themselves.
    pub command: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_marker_names_a_legal_agent() {
        for (variable, host) in MARKERS {
            assert!(host.parse::<AgentId>().is_ok(), "{variable}");
        }
    }
}
