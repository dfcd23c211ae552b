use std::ffi::OsString;

use super::{Answer, Global, NOT_NOW, Said};
use crate::{
    domain::{command::CommandLine, gate::Act, id::GoalId, text::shown},
    error::{Error, Kind},
    ops::{
        Ctx, Done,
        evidence::{EvidenceView, Running},
        guard::{self, Guarded, STATE_REF},
    },
    process::{LOOPX_GUARD, Process},
    text::Held,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Guard {
    /// Say whether a gate holds it back: exit 0 no, 10 yes, 1 that cannot be seen
    Check {
        /// What is about to happen
        #[arg(long = "for", value_name = "ACT", value_parser = act)]
        act: Act,
        /// Ask for a receipt even where the policy does not: that exactly these files were checked
        #[arg(long)]
        receipt: bool,
        /// Judge by a copy of the state that was fetched, after verifying its whole history
        #[arg(long)]
        ci: bool,
        /// The ref that has the copy; `refs/loopx/state` when left out
        #[arg(long, value_name = "REF", requires = "ci")]
        state_ref: Option<String>,
    },
    /// Run a command if no gate holds it back, pass its exit code on, and record that it ran
    ///
    /// The command has the streams and the environment of this one, and `LOOPX_GUARD` in it. Exit 127: it could not be
    /// started; 128 and the number: a signal ended it.
    Run {
        /// What the command does
        #[arg(long = "for", value_name = "ACT", value_parser = act)]
        act: Act,
        /// The goal that gets the evidence; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// The command, after `--`; no shell reads it
        #[arg(last = true, required = true, value_name = "CMD")]
        command: Vec<OsString>,
    },
}

fn act(word: &str) -> Result<Act, String> {
    let offered = [Act::Push, Act::Publish];
    offered
        .into_iter()
        .find(|act| act.word() == word)
        .ok_or_else(|| "expected `push` or `publish`".to_owned())
}

/// The exit code of shells for a command that cannot be started.
const NOT_STARTED: u8 = 127;

impl Guard {
    pub(super) fn run(
        self,
        process: &Process,
        global: &Global,
        ctx: impl Fn() -> Result<Ctx, Error>,
    ) -> Result<Answer, Error> {
        match self {
            Self::Check { act, receipt, ci, state_ref } => {
                let ctx = ctx().map_err(guard::unseen(act))?;
                let guarded = match ci {
                    true => guard::check_copy(&ctx, act, receipt, state_ref.as_deref().unwrap_or(STATE_REF))?,
                    false => guard::check(&ctx, act, receipt)?,
                };
                Ok(Answer::Said(said(&ctx, &guarded)))
            }
            Self::Run { act, goal_id, command } => {
                let ctx = ctx().map_err(guard::unseen(act))?;
                let guarded = guard::check(&ctx, act, false)?;
                if !guarded.allowed && global.json {
                    return Ok(Answer::Said(said(&ctx, &guarded)));
                }
                if !guarded.allowed {
                    // Standard output is the command's.
                    process.err(&Held(act, &guarded.reasons, ctx.now).to_string());
                    return Ok(Answer::Silent(NOT_NOW));
                }
                start(process, ctx, act, goal_id.as_ref(), &command).map(Answer::Silent)
            }
        }
    }
}

fn said(ctx: &Ctx, guarded: &Guarded) -> Said {
    let text = match guarded.allowed {
        true => format!("{} allowed: no gate stands in its way\n", guarded.act.word()),
        false => Held(guarded.act, &guarded.reasons, ctx.now).to_string(),
    };
    let code = if guarded.allowed { 0 } else { NOT_NOW };
    Said { code, ..Said::read(guarded, text) }
}

/// Runs the command and records it. Returns its exit code, whatever came of the recording.
fn start(
    process: &Process,
    ctx: Ctx,
    act: Act,
    goal: Option<&GoalId>,
    command: &[OsString],
) -> Result<u8, Error> {
    let run = Running::begin_guarded(&ctx, act, goal, words(command))?;
    let ended = match process.run(command, &ctx.cwd, (LOOPX_GUARD, act.word())) {
        Ok(ended) => ended,
        Err(error) => return Ok(not_started(process, command, &error)),
    };
    if !run.is_recorded() {
        process.err("loopx: no evidence was recorded: there is no active goal\n");
    }
    let ctx = Ctx { now: process.now(), ..ctx };
    say_how_it_was_recorded(process, run.end(&ctx, ended, None));
    super::notify::tell(process, &ctx);
    Ok(ended.exit_code())
}

/// What may be kept of a command's words.
pub(super) fn words(command: &[OsString]) -> CommandLine {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    CommandLine::of(&words)
}

/// Says that a command could not be started. Returns the exit code for it.
pub(super) fn not_started(process: &Process, command: &[OsString], error: &std::io::Error) -> u8 {
    let program = command.first().map(|program| shown(&program.to_string_lossy(), 200)).unwrap_or_default();
    let problem = Error::new(Kind::Environment, format!("`{program}` cannot be started: {error}"))
        .hint(format!("nothing was run; look whether it is there with `command -v {program}`"));
    process.err(&problem.to_string());
    NOT_STARTED
}

/// Whatever came of the recording: the command ran, and its exit code is the answer.
pub(super) fn say_how_it_was_recorded(process: &Process, done: Result<Option<Done<EvidenceView>>, Error>) {
    match done {
        Ok(done) => done
            .iter()
            .flat_map(|done| &done.warnings)
            .for_each(|warning| process.err(&format!("warning: {}\n", warning.with_cure()))),
        Err(error) => {
            process.err(&format!("warning: no evidence was recorded: {}\n", error.message));
            error.hints.iter().for_each(|hint| process.err(&format!("hint: {hint}\n")));
        }
    }
}
