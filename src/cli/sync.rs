use std::collections::BTreeMap;

use super::{Said, verify::Progress};
use crate::{
    caller::Challenge,
    domain::time::Seconds,
    error::{Error, Kind},
    ops::{
        self, Ctx, Done,
        remote::Target,
        sync::{Look, Synced},
    },
    process::Process,
    store::sync::Taken,
    text::Count,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Remote {
    /// Let the state go to a remote of this clone, by `loopx sync` only (a person at a terminal only)
    Set {
        /// The remote's name in git
        name: String,
    },
    /// Say where the state may go
    Show,
    /// Let the state go nowhere
    Unset,
}

impl Remote {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Set { name } => {
                let (remote, is_set) = ops::remote::find(ctx, &name)?;
                if is_set {
                    let target = ops::remote::show(ctx);
                    return Ok(Said::read(&target, format!("{} already\n", line(&target))));
                }
                let name = remote.name();
                let challenge = Challenge {
                    what: format!("let the state go to `{name}`"),
                    shows: format!(
                        "`loopx sync` will send the state of this repository to {}: goals, questions, answers, evidence, and who \
                         did what. Whoever can read there can read all of it.\n",
                        remote.address()
                    ),
                    word: name.to_owned(),
                    command: format!("loopx remote set {name}"),
                };
                let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
                let target = ops::remote::set(ctx, &remote, &proven)?;
                Ok(Said::read(&target, format!("{}\nnext: loopx sync\n", line(&target))))
            }
            Self::Show => {
                let target = ops::remote::show(ctx);
                let hints: String = target.hints.iter().map(|hint| format!("  {hint}\n")).collect();
                Ok(Said::read(&target, format!("{}\n{hints}", line(&target))))
            }
            Self::Unset => {
                let (target, was_set) = ops::remote::unset(ctx)?;
                let already = if was_set { "" } else { " already" };
                Ok(Said::read(&target, format!("the state stays on this machine{already}\n")))
            }
        }
    }
}

fn line(target: &Target) -> String {
    match (&target.remote, &target.address, &target.problem) {
        (_, _, Some(problem)) => format!("the state goes nowhere: {problem}"),
        (Some(name), Some(address), None) => format!("the state may go to `{name}` ({address})"),
        _ => "the state stays on this machine: no remote is set".to_owned(),
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Sync {
    /// Give up what was done here since both sides had the same, instead of making it again on top of theirs (a person at a
    /// terminal only)
    #[arg(long)]
    drop_ours: bool,
}

/// What git says of its progress is passed on when it takes longer than this.
const PATIENCE: Seconds = Seconds(2);
/// How often a sync looks again because the other side has moved meanwhile.
const TRIES: usize = 5;

impl Sync {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let (talks, began) = (process.stderr_is_terminal(), process.now());
        let mut say = |said: &[u8]| {
            if talks && began.age(process.now()) >= PATIENCE {
                let said = String::from_utf8_lossy(said);
                process.err(&said.replace(|c: char| c.is_control() && !"\r\n\t".contains(c), "?"));
            }
        };
        let mut tries = 0;
        loop {
            tries += 1;
            match self.once(process, ctx, &mut say) {
                Err(error) if error.kind == Kind::Conflict && tries < TRIES => {}
                done => return done.map(|done| said(&done)),
            }
        }
    }

    fn once(&self, process: &Process, ctx: &Ctx, say: &mut dyn FnMut(&[u8])) -> Result<Done<Synced>, Error> {
        let progress = Progress::new(process);
        let looked =
            ops::sync::look(ctx, self.drop_ours, say, |checked, total| progress.tell(checked, total));
        progress.end();
        let look = looked?;
        let proven = match look.needs_a_person() {
            true => Some(ctx.caller.prove(process, &ctx.owner()?, &challenge(&look, self.drop_ours))?),
            false => None,
        };
        ops::sync::sync(ctx, &look, proven.as_ref(), say)
    }
}

fn challenge(look: &Look, drop_ours: bool) -> Challenge {
    let remote = look.remote.name();
    let word = look.theirs().unwrap_or_default()[..10].to_owned();
    let command = format!("loopx sync{}", if drop_ours { " --drop-ours" } else { "" });
    if look.replaces() {
        return Challenge {
            what: format!("replace the history at `{remote}` by the one that is left of it here"),
            shows: format!(
                "`{remote}` is at {word}: the state that the history here begins with, and how it came about.\n"
            ),
            word,
            command,
        };
    }
    let takes = look.takes();
    let mut shows =
        format!("{} of `{remote}`, each a legal mutation: {}\n", Count(takes.len(), "commit"), by(takes));
    shows.push_str(&listed("decisions among them", &decisions(takes)));
    if look.replays() > 0 {
        let own = Count(look.replays(), "commit");
        shows.push_str(&format!("Your own {own} will follow on top of them.\n"));
    }
    shows.push_str(&listed("given up here", &look.drops().iter().collect::<Vec<_>>()));
    shows.push_str("See all of it: git log --patch refs/loopx/remote\n");
    Challenge {
        what: format!("take over {} of `{remote}`", Count(takes.len(), "commit")),
        shows,
        word,
        command,
    }
}

/// Who made them, and how many each: `2 by agent:a, 1 by Ann <ann@example.test>`.
fn by(takes: &[Taken]) -> String {
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    takes.iter().for_each(|taken| *tally.entry(&taken.by).or_default() += 1);
    let tally: Vec<_> = tally.iter().map(|(by, count)| format!("{count} by {by}")).collect();
    tally.join(", ")
}

fn decisions(takes: &[Taken]) -> Vec<&Taken> {
    takes.iter().filter(|taken| taken.decides).collect()
}

/// The newest few, a line each.
pub(super) fn listed(what: &str, commits: &[&Taken]) -> String {
    const SHOWN: usize = 20;
    if commits.is_empty() {
        return String::new();
    }
    let mut text = format!("{what}:\n");
    for taken in commits.iter().rev().take(SHOWN) {
        let by = if taken.by.is_empty() { "nobody it names" } else { &taken.by };
        text.push_str(&format!("  {} {}, by {by}\n", &taken.commit[..10], taken.subject));
    }
    if commits.len() > SHOWN {
        text.push_str(&format!("  … and {} older\n", commits.len() - SHOWN));
    }
    text
}

fn said(done: &Done<Synced>) -> Said {
    let Synced { remote, taken, replayed, dropped, pushed, .. } = &done.value;
    let commits = |number: &usize| Count(*number, "commit").to_string();
    let mut parts = Vec::new();
    if *taken > 0 {
        parts.push(format!("took over {} of `{remote}`", commits(taken)));
    }
    if *dropped > 0 {
        parts.push(format!(
            "gave up {} of this clone (the reflog of the state branch has them)",
            commits(dropped)
        ));
    }
    if *replayed > 0 {
        parts.push(format!("put {} of this clone on top", commits(replayed)));
    }
    if *pushed > 0 {
        parts.push(format!("pushed {} to `{remote}`", commits(pushed)));
    }
    let text = match parts.is_empty() {
        true => format!("`{remote}` has the same state already\n"),
        false => format!("{}\n", parts.join(", ")),
    };
    let warnings = done.warnings.iter().map(crate::store::Warning::with_cure).collect();
    Said { warnings, ..Said::read(done, text) }
}
