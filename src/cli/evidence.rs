use std::path::PathBuf;

use super::Said;
use crate::{
    domain::{
        id::{GateId, GoalId, TodoPrefix},
        text::{Note, Title},
    },
    error::{Error, Kind},
    ops::{
        self, Ctx,
        evidence::{About, Saw, brief},
    },
    text::Table,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Evidence {
    /// Add evidence about a todo, a gate, or a goal as a whole
    #[command(group = clap::ArgGroup::new("saw").required(true))]
    Add {
        /// The todo it is about, or an unambiguous beginning of its id
        #[arg(conflicts_with = "gate_id")]
        todo: Option<TodoPrefix>,
        /// The gate it is about
        #[arg(long, value_name = "GATE")]
        gate_id: Option<GateId>,
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// Something said
        #[arg(long, value_name = "TEXT", group = "saw")]
        text: Option<Note>,
        /// Something elsewhere
        #[arg(long, value_name = "URL", group = "saw")]
        link: Option<Title>,
        /// A commit of the project
        #[arg(long, value_name = "REV", group = "saw")]
        commit: Option<String>,
        /// A file of the worktree; its digest is kept, not its content
        #[arg(long, value_name = "PATH", group = "saw")]
        file: Option<PathBuf>,
    },
    /// List recent evidence, newest first
    List {
        /// Only about this todo
        todo: Option<TodoPrefix>,
        /// Only this goal's
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
    },
}

impl Evidence {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Add { todo, gate_id, goal_id, text, link, commit, file } => {
                let about = match (todo, gate_id) {
                    (Some(todo), _) => About::Todo(todo),
                    (None, Some(gate)) => About::Gate(goal_id, gate),
                    (None, None) => About::Goal(goal_id),
                };
                let saw = text
                    .map(Saw::Note)
                    .or(link.map(Saw::Link))
                    .or(commit.map(Saw::Commit))
                    .or(file.map(Saw::File))
                    .ok_or_else(|| Error::new(Kind::Usage, "nothing was given as evidence"))?;
                let done = ops::evidence::add(ctx, &about, &saw)?;
                let view = &done.value;
                let text = format!("added evidence {}: {}", view.id, brief(&view.evidence.what));
                Ok(Said::done(&done, &text))
            }
            Self::List { todo, goal_id } => {
                let list = ops::evidence::list(ctx, goal_id.as_ref(), todo.as_ref())?;
                let mut table = Table::default();
                for view in &list.evidence {
                    let evidence = &view.evidence;
                    let about = match (&evidence.todo, &evidence.gate) {
                        (Some(todo), _) => todo.to_string(),
                        (None, Some(gate)) => gate.to_string(),
                        (None, None) => view.goal.to_string(),
                    };
                    let by = format!(
                        "by {}, {}",
                        evidence.added.by.name(),
                        super::status::ago(ctx, evidence.added.at)
                    );
                    table.row([&view.id, &about, &evidence.what.word(), &by, &brief(&evidence.what)]);
                }
                Ok(Said::read(&list, table.to_string()))
            }
        }
    }
}
