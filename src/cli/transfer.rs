use std::path::PathBuf;

use super::Said;
use crate::{
    caller::Challenge,
    domain::{id::GoalId, text::shown},
    error::Error,
    foreign::{Report, Source},
    ops::{self, Ctx, import::Imported},
    process::Process,
    text::{Count, Table},
};

#[derive(Debug, clap::Args)]
pub(super) struct Export {
    /// The file to make; outside of the worktree
    file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct Import {
    /// A file that `loopx export` made; with `--from`, where the other tool kept its state: a project, or a file
    #[arg(value_name = "PATH")]
    file: PathBuf,
    /// Take over what another tool kept, as goals beside those that are there
    #[arg(long, value_name = "TOOL")]
    from: Option<Tool>,
    /// What the goal is to be called, if there is one only
    #[arg(long, value_name = "GOAL", requires = "from")]
    goal_id: Option<GoalId>,
    /// Show what would be imported, and import nothing
    #[arg(long, requires = "from")]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Tool {
    /// `.loopx/registry.json` and the goals it names
    LoopxPython,
    /// `.beads/issues.jsonl`
    Beads,
    /// The folder `backlog` of Backlog.md
    Backlog,
}

impl From<Tool> for Source {
    fn from(tool: Tool) -> Self {
        match tool {
            Tool::LoopxPython => Self::LoopxPython,
            Tool::Beads => Self::Beads,
            Tool::Backlog => Self::Backlog,
        }
    }
}

impl Export {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        let exported = ops::transfer::export(ctx, &self.file)?;
        let text = format!("exported {}, digest {}\n", Count(exported.files, "file"), &exported.sha256[..8]);
        Ok(Said::read(&exported, text))
    }
}

impl Import {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        if let Some(from) = self.from {
            return self.run_from(from.into(), process, ctx);
        }
        let mut export = ops::transfer::read(ctx, &self.file)?;
        let (goals, gates) = export.counts();
        let what = format!("{} and {}", Count(goals, "goal"), Count(gates, "gate"));
        let digest = &export.sha256()[..8];
        let challenge = Challenge {
            what: "import a state, with the answers and limits in it".into(),
            shows: format!(
                "State of {}: {what} in {}, digest {digest}\n",
                export.repository(),
                Count(export.files(), "file")
            ),
            word: digest.to_owned(),
            command: "loopx import <file>".into(),
        };
        let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
        let done = ops::transfer::import(ctx, &mut export, &proven)?;
        Ok(Said::done(&done, &format!("imported {what}")))
    }

    fn run_from(self, from: Source, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let plan = ops::import::plan(ctx, from, &self.file, self.goal_id.as_ref())?;
        let what = format!("{} from {}", amount(&plan.imported), from.word());
        let mut shows = plan.preview.diff.clone();
        let more = plan.preview.files - plan.preview.shown;
        if more > 0 {
            shows.push_str(&format!("… and {} besides\n", Count(more, "file")));
        }
        shows.push_str(&told(&plan.imported.report));
        if self.dry_run {
            return Ok(Said::read(&plan, format!("{shows}would import {what}\n")));
        }
        let challenge = Challenge {
            what: format!("import {what}"),
            shows,
            word: plan.imported.goals.first().map(ToString::to_string).unwrap_or_default(),
            command: format!(
                "loopx import --from {} {}",
                from.word(),
                shown(&self.file.to_string_lossy(), 200)
            ),
        };
        let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
        let done = ops::import::import(ctx, plan, &proven)?;
        Ok(Said::done(&done, &format!("imported {what}")))
    }
}

/// What there is, in a line: `1 goal, 3 todos (1 closed) and 2 gates`.
fn amount(imported: &Imported) -> String {
    let closed = match imported.closed {
        0 => String::new(),
        closed => format!(" ({closed} closed)"),
    };
    format!(
        "{}, {}{closed} and {}",
        Count(imported.goals.len(), "goal"),
        Count(imported.todos + imported.closed, "todo"),
        Count(imported.gates, "gate"),
    )
}

/// What had no counterpart, a line each.
fn told(report: &Report) -> String {
    if report.lines().is_empty() {
        return String::new();
    }
    let mut table = Table::default();
    for line in report.lines() {
        let more = if line.count > line.items.len() { ", …" } else { "" };
        table.row([&line.field, &line.fate, &line.count, &format!("{}{more}", line.items.join(", "))]);
    }
    format!("what has no counterpart here:\n{table}")
}
