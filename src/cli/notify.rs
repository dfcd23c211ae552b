use std::ffi::OsStr;

use serde::Serialize;

use super::Said;
use crate::{
    caller::Challenge,
    domain::{command::Ended, text::shown},
    error::{Error, Kind},
    ops::{
        self, Ctx,
        notify::{LIMIT, Notifying, Tiding},
    },
    process::{LOOPX_EVENT, Process},
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Notify {
    /// Have a command run when a gate is opened or a push round the hook is noticed (a person at a terminal only)
    ///
    /// It gets a JSON object on standard input and `LOOPX_EVENT` in its environment, has ten seconds, and holds nothing up.
    Set {
        /// The command, after `--`; no shell reads it
        #[arg(required = true, value_name = "CMD")]
        command: Vec<String>,
    },
    /// Have none run any more
    Unset,
    /// Show the command, and when it did not end well
    Show,
    /// Run the command now, and say how it ended
    Test,
}

/// How a trial ended.
#[derive(Debug, Serialize)]
struct Tried {
    command: Vec<String>,
    /// Null when it was not done in time.
    ended: Option<Ended>,
    output: String,
}

impl Notify {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Set { command } => {
                let challenge = Challenge {
                    what: "have a command run when something waits".into(),
                    shows: format!(
                        "It runs as you, whenever a gate is opened or a push round the hook is noticed:\n  {}\n",
                        line(&command)
                    ),
                    word: "notify".into(),
                    command: "loopx notify set -- <command>".into(),
                };
                let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
                let now = ops::notify::set(ctx, &command, &proven)?;
                Ok(Said::read(&now, format!("what begins to wait is told by {}\n", line(&command))))
            }
            Self::Unset => {
                let (now, was_set) = ops::notify::unset(ctx)?;
                let already = if was_set { "" } else { " already" };
                Ok(Said::read(&now, format!("what begins to wait is told by nothing{already}\n")))
            }
            Self::Show => {
                let now = ops::notify::show(ctx);
                Ok(Said::read(&now, say(&now)))
            }
            Self::Test => test(process, ctx),
        }
    }
}

fn test(process: &Process, ctx: &Ctx) -> Result<Said, Error> {
    let command = ops::notify::show(ctx).command.ok_or_else(|| {
        Error::new(Kind::Refused, "no command is set")
            .hint("a person sets one with `loopx notify set -- <command>`")
    })?;
    let tiding = Tiding::test();
    let input = Some((body(ctx, &tiding), (LOOPX_EVENT, tiding.event())));
    let heard = process.listen_to(&command, &ctx.cwd, LIMIT, input).map_err(|error| {
        Error::new(Kind::Environment, format!("{} did not start: {error}", line(&command)))
            .hint("a person sets another with `loopx notify set -- <command>`")
    })?;
    let how = match heard.ended {
        Some(Ended::Exit(0)) => "it ended well".to_owned(),
        Some(Ended::Exit(code)) => format!("it ended with {code}"),
        Some(Ended::Signal(signal)) => format!("signal {signal} ended it"),
        None => format!("it was not done after {LIMIT}, and was stopped"),
    };
    let said = String::from_utf8_lossy(&heard.words.head).into_owned();
    let output: Vec<String> = said.lines().map(|line| shown(line, 200)).collect();
    let code = u8::from(heard.ended != Some(Ended::Exit(0)));
    let tried = Tried { command, ended: heard.ended, output: output.join("\n") };
    let mut text: String = output.iter().map(|line| format!("  {line}\n")).collect();
    text.push_str(&format!("{how}\n"));
    Ok(Said { code, ..Said::read(&tried, text) })
}

fn say(now: &Notifying) -> String {
    let mut text = match &now.command {
        Some(command) => format!("what begins to wait is told by {}\n", line(command)),
        None => "what begins to wait is told by nothing\n".to_owned(),
    };
    text.extend(now.failures.iter().rev().take(5).map(|failure| format!("  {failure}\n")));
    text
}

fn line(command: &[String]) -> String {
    let words: Vec<String> = command.iter().map(|word| format!("`{}`", shown(word, 200))).collect();
    words.join(" ")
}

/// What the command gets to read.
fn body(ctx: &Ctx, tiding: &Tiding) -> Vec<u8> {
    #[derive(Serialize)]
    struct Told<'a> {
        repository: String,
        at: crate::domain::time::Timestamp,
        #[serde(flatten)]
        tiding: &'a Tiding,
    }
    let place = ctx.store.git().main_worktree().unwrap_or_else(|_| ctx.store.git().common_dir().to_owned());
    let told = Told { repository: place.to_string_lossy().into_owned(), at: ctx.now, tiding };
    Said::read(&told, String::new()).json.into_bytes()
}

/// Tells what began to wait while a command ran. Nothing waits for it, and nothing depends on it.
pub(super) fn tell(process: &Process, ctx: &Ctx) {
    let tidings = ctx.tidings.take();
    if tidings.is_empty() || ctx.store.notify_command().is_none() {
        return;
    }
    let place = ctx.store.git().worktree().unwrap_or_else(|| ctx.store.git().common_dir().to_owned());
    for tiding in tidings {
        let args = [OsStr::new("-C"), place.as_os_str(), OsStr::new("hook"), OsStr::new("notify")];
        if let Err(error) = process.leave_to(&args, &body(ctx, &tiding), (LOOPX_EVENT, tiding.event())) {
            let line = format!("{} {} it did not start: {error}", ctx.now, tiding.event());
            ctx.store.note_notify_failure(&line);
        }
    }
}
