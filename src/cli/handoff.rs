use std::path::PathBuf;

use super::Said;
use crate::{
    domain::{
        id::GoalId,
        text::{HandoffText, shown},
    },
    error::{Error, Kind},
    ops::{self, Ctx},
    process::Process,
    text::{Ago, SetIn},
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Handoff {
    /// Leave a note for whoever goes on, in the place of the one before
    Write {
        /// The note; read from standard input when it is not given
        #[arg(conflicts_with = "file")]
        text: Option<String>,
        /// The file that it stands in; `-` is standard input
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
    },
    /// Show the note that was left
    Show {
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
    },
}

impl Handoff {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Write { text, file, goal_id } => {
                let text = match text {
                    Some(text) if text == "-" => {
                        return Err(Error::new(Kind::Usage, "`-` would be the whole note")
                            .hint("to read it from standard input: `loopx handoff write --file -`"));
                    }
                    Some(text) => text,
                    None => read(process, ctx, file)?,
                };
                let done = ops::handoff::write(ctx, goal_id.as_ref(), &text)?;
                Ok(Said::done(
                    &done,
                    &format!("left a note for whoever goes on with goal {}", done.value.goal),
                ))
            }
            Self::Show { goal_id } => {
                let note = ops::handoff::show(ctx, goal_id.as_ref())?;
                let text = match &note.handoff {
                    None => format!(
                        "nobody has left a note for goal {}\nnext: loopx handoff write \"<what the next turn should know>\"\n",
                        note.goal
                    ),
                    Some(handoff) => {
                        let (by, ago) = (handoff.written.by.name(), Ago(handoff.written.at.age(ctx.now)));
                        let text = SetIn(handoff.text.as_str());
                        format!("handoff of goal {}, by {by}, {ago}\n\n{text}", note.goal)
                    }
                };
                Ok(Said::read(&note, text))
            }
        }
    }
}

fn read(process: &Process, ctx: &Ctx, file: Option<PathBuf>) -> Result<String, Error> {
    // More than fits, so that what is too long is told so.
    const MOST: u64 = 1024 * HandoffText::LIMIT as u64;
    let file = file.filter(|file| file.as_os_str() != "-");
    if file.is_none() && process.stdin_is_terminal() {
        return Err(Error::new(Kind::Usage, "no note was given").hint(
            "run `loopx handoff write \"<what the next turn should know>\"`, or give a file with `--file`",
        ));
    }
    let bytes = match &file {
        None => process.stdin(MOST),
        Some(file) => std::fs::read(ctx.cwd.join(file)),
    };
    let name = file.as_ref().map_or_else(
        || "standard input".to_owned(),
        |file| format!("`{}`", shown(&file.to_string_lossy(), 200)),
    );
    let bytes = bytes.map_err(|error| {
        Error::new(Kind::Environment, format!("the note cannot be read from {name}: {error}"))
            .hint("check the path")
    })?;
    if bytes.len() as u64 >= MOST {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|_| {
        Error::new(Kind::Refused, format!("what is in {name} is no UTF-8 text")).hint("write plain text")
    })
}
