use std::{ffi::OsString, path::PathBuf};

use clap::builder::PossibleValuesParser;

use super::{Said, guard};
use crate::{
    domain::{
        command::Ended,
        evidence::{Cut, Direction, Finding, Heard, Number, Opinion, Tests, Watched},
        id::{EvidenceId, GateId, GoalId, TodoPrefix},
        text::{Note, Title, shown},
        time::Seconds,
    },
    error::{Error, Kind},
    foreign::results::{Report, count},
    ops::{
        self, Ctx,
        evidence::{
            About, EvidenceNow, EvidenceView, MOST_OF_A_REPORT, Now, ReportFile, Running, Saw, Seen, brief,
        },
    },
    process::{Overheard, Process, Stream},
    text::Table,
};

/// What the evidence is about.
#[derive(Debug, clap::Args)]
pub(super) struct Subject {
    /// The todo it is about, or an unambiguous beginning of its id
    #[arg(conflicts_with = "gate_id")]
    todo: Option<TodoPrefix>,
    /// The gate it is about
    #[arg(long, value_name = "GATE")]
    gate_id: Option<GateId>,
    /// The goal; may be left out when one is active
    #[arg(long, value_name = "GOAL")]
    goal_id: Option<GoalId>,
}

impl Subject {
    fn about(self) -> About {
        match (self.todo, self.gate_id) {
            (Some(todo), _) => About::Todo(todo),
            (None, Some(gate)) => About::Gate(self.goal_id, gate),
            (None, None) => About::Goal(self.goal_id),
        }
    }
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("saw").required(true))]
pub(super) struct Add {
    #[command(flatten)]
    subject: Subject,
    /// Something said
    #[arg(long, value_name = "TEXT", group = "saw")]
    text: Option<Note>,
    /// Something elsewhere
    #[arg(long, value_name = "URL", group = "saw")]
    link: Option<Title>,
    /// A commit of the project, or a range such as `main..topic`
    #[arg(long, value_name = "REV", group = "saw")]
    commit: Option<String>,
    /// A file of the worktree; its digest is kept, not its content
    #[arg(long, value_name = "PATH", group = "saw")]
    file: Option<PathBuf>,
    /// Keep the text of the file, too, if it has at most 64 KiB
    #[arg(long, requires = "file")]
    copy: bool,
    /// Something measured
    #[arg(long, value_name = "NAME=VALUE", group = "saw", value_parser = metric)]
    metric: Option<(Title, Number)>,
    /// What the value counts
    #[arg(long, requires = "metric")]
    unit: Option<Title>,
    /// Which way is better
    #[arg(long, requires = "metric", value_parser = PossibleValuesParser::new(["up", "down"]))]
    direction: Option<String>,
    /// What somebody who looked at it thinks
    #[arg(long, value_name = "VERDICT", group = "saw", requires = "by", value_parser = PossibleValuesParser::new(Opinion::ALL.map(Opinion::word)))]
    review: Option<String>,
    /// Who looked at it
    #[arg(long, value_name = "NAME", conflicts_with_all = ["text", "link", "commit", "file", "metric"])]
    by: Option<Title>,
    /// What they said
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["text", "link", "commit", "file", "metric"])]
    note: Option<Note>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Run {
    /// The todo it is about, or an unambiguous beginning of its id
    #[arg(long, value_name = "TODO", conflicts_with = "gate")]
    todo: Option<TodoPrefix>,
    /// The gate it is about
    #[arg(long, value_name = "GATE")]
    gate: Option<GateId>,
    /// The goal; may be left out when one is active
    #[arg(long, value_name = "GOAL")]
    goal_id: Option<GoalId>,
    /// End it, and everything that it started, after so long; it cannot read from the terminal then
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    timeout: Option<u32>,
    /// Count the tests in what it prints
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(Report::ALL.map(Report::word)))]
    parse: Option<String>,
    /// Count them in this file, which it has to write
    #[arg(long, value_name = "PATH", requires = "parse")]
    report: Option<PathBuf>,
    /// If it succeeds and leaves the files alone, what it looked at may go out where a receipt is required
    #[arg(long)]
    receipt: bool,
    /// The command, after `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

#[derive(Debug, clap::Subcommand)]
pub(super) enum Evidence {
    /// Add evidence about a todo, a gate, or a goal as a whole
    Add(Box<Add>),
    /// Run a command, pass its output and its exit code on, and keep what came of it
    ///
    /// No shell reads it. Its output goes through pipes, so that it prints as if to a file. Exit 124: it ran longer than it
    /// might; 127: it could not be started; 128 and the number: a signal ended it.
    Run(Box<Run>),
    /// Say something about exactly what differs from a commit: committed, staged, unstaged and untracked
    Change {
        #[command(flatten)]
        subject: Subject,
        /// The commit to compare with
        #[arg(long, value_name = "REV")]
        base: String,
        /// What was found out about it
        #[arg(long, value_name = "TEXT")]
        text: Option<Note>,
    },
    /// List recent evidence, newest first
    List {
        /// Only about this todo
        todo: Option<TodoPrefix>,
        /// Only this goal's
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
    },
    /// Show one piece of evidence, and whether what it is about is still the same
    Show {
        /// Its id
        id: EvidenceId,
    },
}

fn metric(text: &str) -> Result<(Title, Number), String> {
    let (name, value) = text.split_once('=').ok_or("expected `NAME=VALUE`")?;
    Ok((
        name.parse().map_err(|bad: crate::domain::text::BadText| bad.to_string())?,
        value.parse().map_err(|bad: crate::domain::evidence::BadNumber| bad.to_string())?,
    ))
}

impl Evidence {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        Ok(match self {
            Self::Add(given) => {
                let (about, saw) = given.named()?;
                add(ctx, &about, &saw)?
            }
            Self::Change { subject, base, text } => add(ctx, &subject.about(), &Saw::Change { base, text })?,
            Self::Run(_) => return Err(Error::new(Kind::Bug, "a command came a second time")),
            Self::Show { id } => {
                let shown = ops::evidence::show(ctx, &id)?;
                let text = show(ctx, &shown);
                Said::read(&shown, text)
            }
            Self::List { todo, goal_id } => {
                let list = ops::evidence::list(ctx, goal_id.as_ref(), todo.as_ref())?;
                let mut table = Table::default();
                for view in &list.evidence {
                    let evidence = &view.evidence;
                    let by = by(ctx, view);
                    table.row([&view.id, &about(view), &evidence.what.word(), &by, &brief(&evidence.what)]);
                }
                Said::read(&list, table.to_string())
            }
        })
    }
}

impl Add {
    /// What the evidence is about, and what was seen.
    fn named(self) -> Result<(About, Saw), Error> {
        let Self { subject, text, link, commit, file, copy, metric, unit, direction, review, by, note } =
            self;

        let direction = direction.map(|word| if word == "up" { Direction::Up } else { Direction::Down });
        let opinion = |word: &str| Opinion::ALL.into_iter().find(|opinion| opinion.word() == word);
        let saw = text
            .map(Saw::Note)
            .or(link.map(Saw::Link))
            .or(commit.map(Saw::Commit))
            .or(file.map(|path| Saw::File { path, copy }))
            .or(metric.map(|(name, value)| Saw::Metric { name, value, unit, direction }))
            .or(review.as_deref().and_then(opinion).zip(by).map(|(verdict, by)| Saw::Review {
                verdict,
                by,
                text: note,
            }))
            .ok_or_else(|| Error::new(Kind::Usage, "nothing was given as evidence"))?;

        Ok((subject.about(), saw))
    }
}

impl Run {
    pub(super) fn start(self, process: &Process, ctx: Ctx) -> Result<u8, Error> {
        let Self { todo, gate, goal_id, timeout, parse, report, receipt, command } = self;
        let about = Subject { todo, gate_id: gate, goal_id }.about();
        let format = parse.and_then(|word| Report::ALL.into_iter().find(|report| report.word() == word));
        let counting = format.map(|format| (format, report.map(|path| ReportFile::before(&ctx, &path))));
        let run = Running::begin(&ctx, &about, guard::words(&command))?;
        if let Some(why) = run.blind() {
            process.err(&format!("warning: it is not known what exactly the command works on: {why}\n"));
        }
        let whole = if matches!(counting, Some((_, None))) { MOST_OF_A_REPORT } else { 0 };
        Ok(match process.watch(&command, &ctx.cwd, timeout.map(Seconds), whole) {
            Ok(heard) => ended(process, ctx, run, counting, receipt, heard),
            Err(error) => guard::not_started(process, &command, &error),
        })
    }
}

fn add(ctx: &Ctx, about: &About, saw: &Saw) -> Result<Said, Error> {
    let done = ops::evidence::add(ctx, about, saw)?;
    let view = &done.value;
    let text = format!("added evidence {}: {}", view.id, brief(&view.evidence.what));
    Ok(Said::done(&done, &text))
}

/// Records what came of a command. Returns its exit code.
fn ended(
    process: &Process,
    ctx: Ctx,
    run: Running,
    counting: Option<(Report, Option<ReportFile>)>,
    receipt: bool,
    heard: Overheard,
) -> u8 {
    let Overheard { ended, cut, stdout, stderr } = heard;
    let code = match cut {
        Some(Cut::Timeout) => TIMED_OUT,
        _ => ended.exit_code(),
    };
    let tests = counting.map(|(format, file)| counted(format, file.as_ref(), stdout.as_ref()));
    let tests = tests.and_then(|tests| {
        tests.map_err(|why| process.err(&format!("warning: no tests were counted: {why}\n"))).ok()
    });
    let heard = |stream: Option<Stream>| -> Option<Heard> { stream.map(|stream| stream.heard) };
    let seen = Seen { cut, receipt, tests, stdout: heard(stdout), stderr: heard(stderr) };
    let done = run.end(&Ctx { now: process.now(), ..ctx }, ended, Some(seen));
    if let (Ok(Some(done)), true, Ended::Exit(0)) = (&done, receipt, ended)
        && done.value.evidence.what.receipt().is_none()
    {
        let why = match &done.value.evidence.what {
            Finding::Command { watched: Some(watched), .. } if watched.after.is_some() => {
                "the command changed the files that it looked at"
            }
            Finding::Command { watched: Some(watched), .. } if watched.cut.is_some() => {
                "the command was ended before its time"
            }
            _ => "it is not known what exactly the command looked at",
        };
        process.err(&format!("warning: no receipt was made: {why}\n"));
    }
    guard::say_how_it_was_recorded(process, done);
    code
}

/// The exit code of `timeout` for a command that ran too long.
const TIMED_OUT: u8 = 124;

fn counted(format: Report, file: Option<&ReportFile>, stdout: Option<&Stream>) -> Result<Tests, String> {
    let bytes = match (file, stdout) {
        (Some(file), _) => file.read()?,
        (None, None) => Vec::new(),
        (None, Some(stdout)) => stdout.whole.clone().ok_or_else(|| {
            format!("the command printed {} bytes (at most {MOST_OF_A_REPORT})", stdout.heard.bytes)
        })?,
    };
    count(format, &String::from_utf8_lossy(&bytes)).map_err(|bad| bad.to_string())
}

fn about(view: &EvidenceView) -> String {
    match (&view.evidence.todo, &view.evidence.gate) {
        (Some(todo), _) => todo.to_string(),
        (None, Some(gate)) => gate.to_string(),
        (None, None) => view.goal.to_string(),
    }
}

fn by(ctx: &Ctx, view: &EvidenceView) -> String {
    let added = &view.evidence.added;
    format!("by {}, {}", added.by.name(), super::status::ago(ctx, added.at))
}

fn show(ctx: &Ctx, EvidenceNow { view, now }: &EvidenceNow) -> String {
    let evidence = &view.evidence;
    let mut table = Table::default();
    table.row([&"goal", &view.goal]);
    evidence.todo.iter().for_each(|todo| table.row([&"todo", todo]));
    evidence.gate.iter().for_each(|gate| table.row([&"gate", gate]));
    table.row([&"added", &by(ctx, view)]);
    let dirty = if evidence.dirty { ", with changes" } else { "" };
    let commit = evidence.commit.as_deref().map_or("none", |commit| &commit[..commit.len().min(10)]);
    table.row([&"commit", &format!("{commit}{dirty}")]);
    let text = match &evidence.what {
        Finding::Note { text } => Some(text.as_str()),
        Finding::File { copy, digest, .. } => {
            table.row([&"digest", digest]);
            copy.as_ref().map(|copy| copy.as_str())
        }
        Finding::Review { text, .. } | Finding::Change { text, .. } | Finding::Check { output: text, .. } => {
            text.as_ref().map(Note::as_str)
        }
        _ => None,
    };
    let mut streams = String::new();
    if let Finding::Command { watched: Some(watched), .. } = &evidence.what {
        watch(&mut table, &mut streams, watched);
    }
    let answer = match now {
        Some(Now::Same) => "still the same",
        Some(Now::Changed) => "changed since",
        Some(Now::Gone) => "gone",
        None => "nothing to compare with",
    };
    table.row([&"now", &answer]);
    let text = text.map(|text| format!("\n{}\n", text.trim_end())).unwrap_or_default();
    format!("evidence {}: {}\n{table}{text}{streams}", view.id, brief(&evidence.what))
}

fn watch(table: &mut Table, streams: &mut String, watched: &Watched) {
    let short = |id: &str| shown(id, 10).trim_end_matches('…').to_owned();
    watched.tree.iter().for_each(|tree| table.row([&"tree", &short(tree)]));
    watched.after.iter().for_each(|after| table.row([&"left at", &format!("tree {}", short(&after.tree))]));
    if watched.receipt {
        table.row([&"receipt", &"asked for"]);
    }
    for (name, heard) in [("stdout", &watched.stdout), ("stderr", &watched.stderr)] {
        let Some(heard) = heard else { continue };
        table.row([&name, &format!("{} bytes, {}", heard.bytes, heard.digest)]);
        let parts: Vec<&str> = [&heard.head, &heard.tail].into_iter().flatten().map(Note::as_str).collect();
        streams.push_str(&format!("\n{name}:\n{}\n", parts.join("\n[…]\n")));
    }
}
