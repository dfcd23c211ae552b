use std::ffi::OsString;

use serde::Serialize;

use super::{Answer, Global, NOT_NOW, Said, approval};
use crate::{
    caller::Challenge,
    domain::{
        command::CommandLine,
        gate::Act,
        id::GoalId,
        receipt::{Receipt, Written},
        shell::quoted,
        text::shown,
    },
    error::{Error, Kind},
    ops::{
        self, Ctx, Done,
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
    /// Sign for a push to a server that wants receipts (a person only), and print how to push with it
    ///
    /// It lets exactly these commits to exactly these refs in, for an hour.
    Receipt {
        /// The remote's name, or its address
        remote: String,
        /// What is to be pushed: a branch, a tag, or `revision:ref`
        #[arg(required = true, value_name = "REF")]
        refs: Vec<String>,
        /// The key to sign with; `loopx.approvalKey` of git's configuration when left out
        #[arg(long, value_name = "KEY")]
        sign_with: Option<String>,
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
    ) -> Result<Answer<'static>, Error> {
        match self {
            Self::Check { act, receipt, ci, state_ref } => {
                let ctx = ctx().map_err(guard::unseen(act))?;
                let guarded = match ci {
                    true => guard::check_copy(&ctx, act, receipt, state_ref.as_deref().unwrap_or(STATE_REF))?,
                    false => guard::check(&ctx, act, receipt)?,
                };
                Ok(Answer::Said(said(&ctx, &guarded)))
            }
            Self::Receipt { remote, refs, sign_with } => {
                let ctx = ctx().map_err(guard::unseen(Act::Push))?;
                receipt(process, &ctx, &remote, &refs, sign_with.as_deref()).map(Answer::Said)
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

/// A receipt, and how to use it.
#[derive(Debug, Serialize)]
struct Signed {
    /// What the push has to have as an option.
    option: String,
    /// The command that pushes with it.
    command: String,
}

/// Has a person sign for a push.
fn receipt(
    process: &Process,
    ctx: &Ctx,
    remote: &str,
    refs: &[String],
    key: Option<&str>,
) -> Result<Said, Error> {
    let mut sending = guard::sending(ctx, remote, refs)?;
    if !sending.guarded.allowed {
        return Ok(said(ctx, &sending.guarded));
    }
    sending.look_there(ctx, remote, &mut |said| process.err(&String::from_utf8_lossy(said)))?;
    let mut shows = format!("To `{}`:\n", shown(remote, 200));
    let mut words = Vec::new();
    for (Written { name, was, id }, subject) in sending.refs.iter().zip(&sending.subjects) {
        let was = was.as_ref().map_or_else(|| "new".to_owned(), |was| format!("now at {}", &was[..10]));
        shows.push_str(&format!("  {} {} ({was})  {subject}\n", &id[..10], shown(name, 200)));
        words.push(format!("{id}:{name}"));
    }
    let challenge = Challenge {
        what: "sign for a push".into(),
        shows,
        word: sending.refs[0].id[..10].to_owned(),
        command: format!("loopx guard receipt {} {}", shown(remote, 200), refs.join(" ")),
    };
    drop(ctx.caller.at_a_terminal(process, &challenge.what, &challenge.command)?);
    let key = approval::receipt_key(ctx, key)?;
    ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
    let (policy, nonce) = (ops::policy::in_force(ctx)?, approval::nonce(ctx));
    let statement = Receipt::statement(&policy.repository, &sending.refs, ctx.now, &nonce);
    let signature = approval::sign(process, ctx, &key, &statement.to_string())?;
    let receipt = Receipt::new(ctx.now, nonce, &signature)
        .ok_or_else(|| Error::new(Kind::Environment, "what was signed is no signature of OpenSSH"))?;
    let option = format!("{}={receipt}", Receipt::OPTION);
    let words = [quoted(remote)].into_iter().chain(words.iter().map(|word| quoted(word)));
    let command = format!("git push -o {option} {}", words.collect::<Vec<_>>().join(" "));
    let text = format!("{command}\n");
    Ok(Said::read(&Signed { option, command }, text))
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
