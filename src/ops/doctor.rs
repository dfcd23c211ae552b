//! What is wrong with this clone, one finding at a time: what, why, and the command that helps.
//!
//! With `fix`, what can be put right without losing anything is put right, and said. A healthy clone has no finding.

use serde::Serialize;

use super::{Ctx, enforcement, host};
use crate::{
    domain::time::Seconds,
    error::{Error, Kind},
    store::{Snapshot, Store, Warning},
};

/// Everything that was found.
#[derive(Debug, Serialize)]
pub struct Report {
    pub findings: Vec<Finding>,
}

/// One thing that is wrong.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// What is wrong, and why.
    pub problem: String,
    /// The command that helps; null when it was put right.
    pub cure: Option<String>,
    /// Whether it was put right.
    pub fixed: bool,
}

impl Finding {
    fn new(problem: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { problem: problem.into(), cure: Some(cure.into()), fixed: false }
    }

    fn fixed(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), cure: None, fixed: true }
    }

    fn of(error: &Error) -> Self {
        let cure =
            error.commands().next().or(error.hints.first().map(String::as_str)).unwrap_or("loopx status");
        Self::new(error.message.clone(), cure)
    }
}

/// A lock file older than this belongs to no git that is at work.
const STALE: Seconds = Seconds(15 * 60);

/// Looks at everything that this clone's state rests on.
pub fn diagnose(ctx: &Ctx, fix: bool, homes: &host::Homes) -> Result<Report, Error> {
    let mut findings = Vec::new();
    if let Err(error) = ctx.owner() {
        findings.push(Finding::of(&error));
    }
    let trusted = ctx.store.trusted().map_err(Error::from);
    match &trusted {
        Err(error) if error.kind == Kind::NotSetUp => {
            findings.push(Finding::of(error));
            return Ok(Report { findings });
        }
        Err(error) => findings.push(Finding::of(error)),
        Ok(snapshot) => {
            if let Err(error) = snapshot.states().map_err(Error::from) {
                findings.push(Finding::of(&error));
            }
            objects(ctx, snapshot, fix, &mut findings);
        }
    }
    let is_trusted = trusted.is_ok();
    drop(trusted);
    history(ctx, &mut findings)?;
    locks(ctx, fix, &mut findings)?;
    view(ctx, fix, is_trusted, &mut findings)?;
    guards(ctx, fix, &mut findings)?;
    leftovers(ctx, fix, &mut findings)?;
    bypasses(ctx, &mut findings);
    findings.extend(host::damaged(ctx, homes).into_iter().map(|(problem, cure)| Finding::new(problem, cure)));
    Ok(Report { findings })
}

/// The objects that git should have of the present.
fn objects(ctx: &Ctx, snapshot: &Snapshot<'_>, fix: bool, findings: &mut Vec<Finding>) {
    // What cannot be read at all was said already.
    for lost in ctx.store.lost_objects(snapshot).unwrap_or_default() {
        let problem = format!("git has lost the object {} of the state, which is still at hand", lost.id());
        findings.push(match fix {
            true if ctx.store.put_back(&lost) => Finding::fixed(problem),
            true => Finding::new(problem, format!("git cat-file -p {}", lost.id())),
            false => Finding::new(problem, "loopx doctor --fix"),
        });
    }
}

/// The commits since the last look, and their dates.
fn history(ctx: &Ctx, findings: &mut Vec<Finding>) -> Result<(), Error> {
    if let Some(bad) = ctx.store.verify(false, ctx.now, |_, _| ())?.bad {
        let short = &bad.commit[..10];
        let problem = format!(
            "commit {short} of the state, \"{}\", is no legal mutation: {}",
            bad.subject, bad.problem
        );
        findings.push(Finding::new(problem, "loopx verify"));
    }
    if let Some(newest) = ctx.store.history()?.next().transpose()?
        && newest.at > ctx.now
    {
        let ahead = ctx.now.age(newest.at);
        findings.push(Finding::new(
            format!("the clock is {ahead} behind the newest commit of the state, so leases and quota windows are off"),
            "date",
        ));
    }
    Ok(())
}

/// The files in `.loopx/`. What they should show is not known while the state is not trusted, and setting them up would take it
/// over.
fn view(ctx: &Ctx, fix: bool, is_trusted: bool, findings: &mut Vec<Finding>) -> Result<(), Error> {
    let snapshot = ctx.store.read()?;
    let (differing, mut is_fixed) = (ctx.store.differing_files(&snapshot), false);
    let behind = || {
        let behind = differing.as_ref().ok()?.behind.clone();
        (!behind.is_empty()).then_some(Warning::Behind(behind))
    };
    let trouble = is_trusted.then(|| ctx.store.view_trouble(&snapshot).or_else(behind)).flatten();
    if let Some(trouble) = &trouble {
        if fix && !matches!(trouble, Warning::Edited(_)) {
            let plan = super::init::plan(ctx, None)?;
            if plan.loosens().is_none() {
                let branch = ctx.store.branch_for(None)?;
                let situation = ctx.store.situation(&branch)?;
                ctx.store.set_up(&branch, &situation, &snapshot.policy()?, &ctx.stamp()?)?;
                findings.push(Finding::fixed(trouble.to_string()));
                is_fixed = true;
            }
        } else {
            findings.push(Finding::new(
                trouble.to_string(),
                trouble.cure().unwrap_or("loopx doctor --fix".into()),
            ));
        }
    }
    let differing = if is_fixed { ctx.store.differing_files(&snapshot) } else { differing };
    let edited = differing?.edited;
    if !edited.is_empty() {
        let edited = Warning::Edited(edited);
        findings.push(Finding::new(edited.to_string(), edited.cure().unwrap_or("loopx init".into())));
    }
    if ctx.store.git().tracks_the_view()? {
        findings.push(Finding::new(
            "`.loopx` is tracked by your own branch, as a submodule that nobody can clone",
            "git rm --cached .loopx",
        ));
    }
    Ok(())
}

/// The hook, seen from every worktree.
fn guards(ctx: &Ctx, fix: bool, findings: &mut Vec<Finding>) -> Result<(), Error> {
    for worktree in ctx.store.git().worktrees()? {
        let Ok(store) = Store::open(&worktree, None) else {
            findings.push(Finding::new(
                format!("the worktree `{}` cannot be opened", worktree.display()),
                "git worktree prune",
            ));
            continue;
        };
        let found = enforcement::probe_one(ctx, &store);
        let asked = enforcement::program_asked(&store, &found);
        let other = asked.filter(|program| !enforcement::is_this(ctx, program));
        let place = worktree.display();
        let problem = match (found.why, other) {
            (Some(why), _) => format!("pushes from `{place}` are not guarded: {why}"),
            (None, Some(other)) => {
                format!("pushes from `{place}` are judged by `{}` and not by this loopx", other.display())
            }
            (None, None) => continue,
        };
        findings.push(match fix {
            false => Finding::new(problem, "loopx hooks install"),
            true => match enforcement::install(&ctx.standing_in(store), false) {
                Ok(now) if now.active => Finding::fixed(problem),
                Ok(_) => Finding::new(problem, "loopx hooks status"),
                Err(error) => Finding { cure: error.hints.first().cloned(), ..Finding::new(problem, "") },
            },
        });
    }
    for git in enforcement::deaf_gits(ctx) {
        let git = git.display();
        findings.push(Finding::new(
            format!("a push by `{git}` from here would meet no gate: that git is older than 2.54 and runs no hook that its configuration names"),
            "loopx hooks install",
        ));
    }
    Ok(())
}

/// Pushes that went round the hook and that nobody has acknowledged.
fn bypasses(ctx: &Ctx, findings: &mut Vec<Finding>) {
    // What cannot be read was said already.
    let Ok(found) = super::bypass::list(ctx, false, true) else { return };
    let gated = found.pushes().any(|push| !push.gates.is_empty());
    if let Some(cure) = found.cure() {
        let places = crate::text::Count(found.pushes().count(), "place");
        let gated = if gated { " while a gate was open" } else { "" };
        let problem =
            format!("a push to {places} went round the hook{gated}, and nobody has acknowledged it");
        findings.push(Finding::new(problem, cure));
    }
    if let Some(why) = found.blind {
        let problem = format!("whether a push went round the hook cannot be seen: {why}");
        findings.push(Finding::new(problem, "loopx bypass list"));
    }
}

/// Lock files that a killed program left behind. The one of `.loopx/` is loopx's to remove; the others are git's.
fn locks(ctx: &Ctx, fix: bool, findings: &mut Vec<Finding>) -> Result<(), Error> {
    let stale = ctx.store.stale_locks(ctx.now, STALE)?;
    for lock in ctx.store.held_lock()?.into_iter().filter(|lock| !stale.contains(lock)) {
        let place = lock.display();
        findings.push(Finding::new(
            format!("`{place}` keeps every mutation out: a program is at work, or was killed and left it; if no git is at work here"),
            format!("rm '{place}'"),
        ));
    }
    for lock in stale {
        let place = lock.display();
        let problem = format!("`{place}` is older than {STALE}; no git that is at work keeps it so long");
        let is_ours = ctx.store.view_lock().as_ref() == Some(&lock);
        findings.push(match (is_ours, fix) {
            (true, true) if std::fs::remove_file(&lock).is_ok() => Finding::fixed(problem),
            (true, false) => Finding::new(problem, "loopx doctor --fix"),
            _ => Finding::new(problem, format!("rm '{place}'")),
        });
    }
    Ok(())
}

/// Files that a killed writer left behind.
fn leftovers(ctx: &Ctx, fix: bool, findings: &mut Vec<Finding>) -> Result<(), Error> {
    let scraps = ctx.store.scraps(ctx.now)?;
    if !scraps.is_empty() {
        let problem = format!(
            "{} of killed writers in `.git/objects`",
            crate::text::Count(scraps.len(), "half-written file")
        );
        match fix {
            true => {
                scraps.iter().for_each(|scrap| drop(std::fs::remove_file(scrap)));
                findings.push(Finding::fixed(problem));
            }
            false => findings.push(Finding::new(problem, "loopx doctor --fix")),
        }
    }
    Ok(())
}
