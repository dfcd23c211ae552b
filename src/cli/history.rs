use std::io;

use super::{Answer, Long, Said};
use crate::{
    domain::{
        id::GoalId,
        text::shown,
        time::{Seconds, Timestamp},
    },
    error::Error,
    ops::{
        self, Ctx,
        history::{Blame, Changed, Field, Filter, Told, words},
    },
    process::Process,
    text::{Count, Table},
};

#[derive(Debug, clap::Args)]
pub(super) struct History {
    /// Most entries to show; all of them at a terminal, where git's pager shows them, and otherwise 20
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Only of this goal
    #[arg(long, value_name = "GOAL")]
    goal_id: Option<GoalId>,
    /// Only what touched this record, such as `gate/ship-it` or `t-7k3q`
    #[arg(long, value_name = "RECORD")]
    record: Option<String>,
    /// Only by `person`, or by this agent
    #[arg(long, value_name = "ACTOR")]
    actor: Option<String>,
    /// Only of this kind, such as `gate.resolve` or `gate`
    #[arg(long, value_name = "OP")]
    op: Option<String>,
    /// Only since then: `7d`, `90m`, a day such as `2026-11-30` (in UTC), or a time such as `2026-11-30T12:00:00Z`
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
    /// Only in this turn
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
    /// Show what each did to the fields of its records
    #[arg(short, long)]
    patch: bool,
    /// Show the life of one record, the oldest first
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["limit", "record", "actor", "op", "since", "turn", "goal_id"])]
    follow: Option<String>,
}

/// A moment, as people say it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Since {
    Ago(Seconds),
    At(Timestamp),
}

impl std::str::FromStr for Since {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let days = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
        if let Some(days) = days.and_then(|days| days.checked_mul(86_400)) {
            return Ok(Self::Ago(Seconds(days)));
        }
        let ago = || text.parse().map(Self::Ago).ok();
        let day = || format!("{text}T00:00:00Z").parse().map(Self::At).ok();
        let bad = || {
            let text = shown(text, 40);
            format!("`{text}` is no moment (expected `7d`, `90m`, `2026-11-30` or `2026-11-30T12:00:00Z`)")
        };
        text.parse().map(Self::At).ok().or_else(ago).or_else(day).ok_or_else(bad)
    }
}

impl Since {
    pub(super) fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(length) => now.minus(length),
            Self::At(time) => time,
        }
    }
}

/// So many entries are put in columns together.
const SCREEN: usize = 50;
/// So many records of one mutation are shown.
const RECORDS: usize = 20;
/// So many are shown where no pager keeps them together.
const A_SCREEN_FULL: usize = 20;

impl History {
    pub(super) fn run<'c>(self, process: &Process, ctx: &'c Ctx, json: bool) -> Result<Answer<'c>, Error> {
        if let Some(record) = &self.follow {
            let life = ops::history::follow(ctx, record)?;
            let mut text = format!("{}\n", life.record);
            life.entries.iter().for_each(|told| text.push_str(&paragraph(ctx, told)));
            return Ok(Answer::Said(Said::read(&life, text)));
        }
        let at_a_terminal = process.stdout_is_terminal() && !json;
        let limit = self.limit.unwrap_or(if at_a_terminal { usize::MAX } else { A_SCREEN_FULL });
        let Self { goal_id, record, actor, op, since, turn, patch, .. } = self;
        let since = since.map(|since| since.at(ctx.now));
        let filter = Filter { goal: goal_id, record, actor, op, since, turn };
        let history = ops::history::history(ctx, filter, patch, limit)?;
        if json {
            // Half a document is none.
            history.entries()?.try_for_each(|told| told.map(drop))?;
        }
        let pager = at_a_terminal.then(|| ctx.store.git().pager()).flatten();
        let long = Long::of(ctx, history, move |history, out| {
            let mut entries = history.entries().map_err(io::Error::other)?.peekable();
            if limit > 0 && entries.peek().is_none() {
                writeln!(out, "nothing of that kind happened")?;
            }
            while entries.peek().is_some() {
                let (mut screen, mut failed) = (Vec::new(), None);
                for told in entries.by_ref().take(if patch { 1 } else { SCREEN }) {
                    match told {
                        Ok(told) => screen.push(told),
                        Err(error) => failed = Some(error),
                    }
                }
                print(out, ctx, &screen)?;
                failed.map_or(Ok(()), |error| Err(io::Error::other(error)))?;
            }
            Ok(())
        });
        Ok(Answer::Long(Long { pager, ..long }))
    }
}

fn print(out: &mut dyn io::Write, ctx: &Ctx, screen: &[Told]) -> io::Result<()> {
    let mut table = Table::default();
    for told in screen.iter().filter(|told| told.changes.is_none()) {
        let entry = &told.entry;
        table.row([&&entry.commit[..10], &super::status::ago(ctx, entry.at), &who(told), &entry.subject]);
    }
    let patched = screen.iter().filter(|told| told.changes.is_some()).map(|told| paragraph(ctx, told));
    write!(out, "{table}{}", patched.collect::<String>())
}

fn who(told: &Told) -> &str {
    told.entry.actor.as_deref().unwrap_or("not made by loopx")
}

/// A mutation with what it did.
fn paragraph(ctx: &Ctx, told: &Told) -> String {
    let entry = &told.entry;
    let turn = entry.turn.as_ref().map(|turn| format!(", turn {turn}")).unwrap_or_default();
    let ago = super::status::ago(ctx, entry.at);
    let mut text = format!("\n{}  {}\n  {}, {ago}{turn}\n", &entry.commit[..10], entry.subject, who(told));
    let changes = told.changes.as_deref().unwrap_or_default();
    for Changed { record, fields } in changes.iter().take(RECORDS) {
        if changes.len() > 1 {
            text.push_str(&format!("  {record}\n"));
        }
        fields.iter().for_each(|field| text.push_str(&format!("    {}\n", line(field))));
    }
    let more = changes.len().saturating_sub(RECORDS) + told.folded;
    if more > 0 {
        text.push_str(&format!("  and {}\n", Count(more, "more record")));
    }
    text
}

fn line(Field { field, before, after }: &Field) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!("  {field}: {}", shown(&words(before, after), 1_000)),
        (None, Some(after)) => format!("+ {field}: {}", shown(after, 500)),
        (Some(before), None) => format!("- {field}: {}", shown(before, 500)),
        (None, None) => String::new(),
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct BlameArgs {
    /// The record, such as `gate/ship-it` or `t-7k3q`
    record: String,
}

impl BlameArgs {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        let blame: Blame = ops::history::blame(ctx, &self.record)?;
        let mut table = Table::default();
        for set in &blame.fields {
            let entry = &set.entry;
            let turn = entry.turn.as_ref().map(|turn| format!("turn {turn}")).unwrap_or_default();
            let by = entry.actor.as_deref().unwrap_or("not made by loopx");
            let ago = super::status::ago(ctx, entry.at);
            let value = format!("{}: {}", set.field, shown(&set.value, 200));
            table.row([&&entry.commit[..10], &ago, &by, &turn, &value]);
        }
        let text = format!("{}\n{table}", blame.record);
        Ok(Said::read(&blame, text))
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Diff {
    /// Two states with `..` between them, such as `loopx/state~1..`
    #[arg(value_name = "A..B")]
    range: String,
}

impl Diff {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Long<'_>, Error> {
        let difference = ops::diff::diff(ctx, &self.range)?;
        // Half a document is none.
        difference.each(|_| ())?;
        Ok(Long::of(ctx, difference, |difference, out| {
            let mut written = Ok(());
            let mut is_any = false;
            let told = difference.each(|says| {
                is_any = true;
                if written.is_ok() {
                    written = writeln!(out, "{}", says.says);
                }
            });
            told.map_err(io::Error::other).and(written)?;
            if is_any { Ok(()) } else { writeln!(out, "nothing changed") }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_a_day_or_so_long_ago() {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        for (said, meant) in [
            ("90m", "2026-11-30T10:30:00Z"),
            ("2d", "2026-11-28T12:00:00Z"),
            ("2026-11-29", "2026-11-29T00:00:00Z"),
            ("2026-11-29T08:00:00Z", "2026-11-29T08:00:00Z"),
        ] {
            assert_eq!(said.parse::<Since>().unwrap().at(now), meant.parse().unwrap(), "{said}");
        }
        for odd in ["", "2026-13-01", "2026-11", "yesterday", "T00:00:00Z", "2026-11-29T08:00:00ZT00:00:00Z"]
        {
            assert!(odd.parse::<Since>().is_err(), "{odd}");
        }
    }
}
