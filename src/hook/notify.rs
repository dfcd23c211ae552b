//! What waits for the user's command, so that nothing else has to.

use crate::{
    domain::command::Ended,
    error::Error,
    ops::{Ctx, notify::LIMIT},
    process::{LOOPX_EVENT, Process},
};

/// Most bytes that are told.
const MOST: u64 = 64 * 1024;

/// Runs the command that is set, and notes when that did not end well.
pub(super) fn run(process: &Process, ctx: impl Fn() -> Result<Ctx, Error>) -> u8 {
    let (Ok(ctx), Ok(input)) = (ctx(), process.stdin(MOST)) else { return 1 };
    let Some(command) = ctx.store.notify_command() else { return 0 };
    let event = process.env(LOOPX_EVENT).unwrap_or_default();
    let heard = process.listen_to(&command, &ctx.cwd, LIMIT, Some((input, (LOOPX_EVENT, &event))));
    let problem = match heard {
        Err(error) => format!("it did not start: {error}"),
        Ok(heard) => match heard.ended {
            Some(Ended::Exit(0)) => return 0,
            ended => {
                let how = match ended {
                    Some(Ended::Exit(code)) => format!("it ended with {code}"),
                    Some(Ended::Signal(signal)) => format!("signal {signal} ended it"),
                    None => format!("it was stopped after {LIMIT}"),
                };
                let said = String::from_utf8_lossy(&heard.words.head).into_owned();
                format!("{how}: {}", said.lines().next().unwrap_or("it said nothing"))
            }
        },
    };
    ctx.store.note_notify_failure(&format!("{} {event} {problem}", process.now()));
    1
}
