//! The handoff: a note for whoever goes on with a goal. It takes the place of the one before.

use serde::Serialize;

use super::{Ctx, Done};
use crate::{
    domain::{
        change::{Change, Op, Record},
        handoff::Handoff,
        id::GoalId,
        secret,
        text::{BadText, HandoffText},
    },
    error::{Error, Kind},
    store::message::subject,
};

/// The note of a goal as it stands.
#[derive(Debug, Serialize)]
pub struct Note {
    pub goal: GoalId,
    /// Null when nobody has left one.
    pub handoff: Option<Handoff>,
}

/// Leaves `text` for whoever goes on, in the place of the note before. Line ends are made line feeds, and white space at the end
/// goes. Refused when it is blank, too long, or looks as if it held a secret. The same note again changes nothing.
pub fn write(ctx: &Ctx, goal: Option<&GoalId>, text: &str) -> Result<Done<Note>, Error> {
    let stamp = ctx.stamp()?;
    let text = fit(ctx, text)?;
    ctx.update(&stamp, |snapshot| {
        let goal = ctx.goal_id(snapshot, goal)?;
        let before = snapshot.handoff(&goal)?;
        if let Some(before) = before.filter(|before| before.text == text && before.written.by == stamp.by) {
            return Ok((None, Note { goal, handoff: Some(before) }));
        }
        let handoff = Handoff { text: text.clone(), written: stamp.clone() };
        let first = text.as_str().lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let change = Change {
            op: Op::HandoffWrite,
            subject: subject(&format!("hand on goal {goal}"), &first.replace('\t', " ")),
            body: None,
            goal: Some(goal.clone()),
            turn: None,
            puts: vec![Record::Handoff(goal.clone(), handoff.clone())],
        };
        Ok((Some(change), Note { goal, handoff: Some(handoff) }))
    })
}

fn fit(ctx: &Ctx, text: &str) -> Result<HandoffText, Error> {
    let text = text.replace("\r\n", "\n");
    let text = if ctx.redact { secret::clean(&text).into_owned() } else { text };
    text.trim_end().parse().map_err(|bad| {
        let help = match bad {
            BadText::TooLong { .. } => {
                "leave what is in the history and in evidence out of it: what the next turn needs, in a page"
            }
            BadText::Blank { .. } => {
                "give a text, such as `loopx handoff write \"<what the next turn should know>\"`"
            }
            BadText::LineBreak { .. } | BadText::Control { .. } => {
                "write plain text, with line feeds and tabs"
            }
        };
        Error::new(Kind::Refused, bad.to_string()).hint(help)
    })
}

/// The note of a goal.
pub fn show(ctx: &Ctx, goal: Option<&GoalId>) -> Result<Note, Error> {
    let snapshot = ctx.store.read()?;
    let goal = ctx.goal_id(&snapshot, goal)?;
    Ok(Note { handoff: snapshot.handoff(&goal)?, goal })
}
