//! Evidence: adding and listing.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::Serialize;

use super::{Ctx, Done};
use crate::{
    domain::{
        change::{Change, Op, Record},
        command::{CommandLine, Ended},
        evidence::{After, Cut, Direction, Evidence, Finding, Heard, Number, Opinion, Tests, Watched},
        gate::Act,
        id::{EvidenceId, GateId, GoalId, TodoId, TodoPrefix},
        refusal::Refusal,
        text::{BadText, FileCopy, Note, Title, shown},
        time::Timestamp,
    },
    error::{Error, Kind},
    store::{self, Snapshot, message::subject, project::ProjectFile, snapshot::Found},
    text::Count,
};

/// A piece of evidence with its id and goal.
#[derive(Debug, Serialize)]
pub struct EvidenceView {
    pub id: EvidenceId,
    pub goal: GoalId,
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// Evidence, the newest first.
#[derive(Debug, Serialize)]
pub struct EvidenceList {
    pub evidence: Vec<EvidenceView>,
}

/// What the evidence is about, as it was named.
#[derive(Debug, Clone)]
pub enum About {
    Todo(TodoPrefix),
    Gate(Option<GoalId>, GateId),
    Goal(Option<GoalId>),
}

/// What was seen, as it was named.
#[derive(Debug, Clone)]
pub enum Saw {
    Note(Note),
    Link(Title),
    /// A commit, or a range such as `main..topic`.
    Commit(String),
    File {
        path: PathBuf,
        copy: bool,
    },
    Metric {
        name: Title,
        value: Number,
        unit: Option<Title>,
        direction: Option<Direction>,
    },
    Review {
        verdict: Opinion,
        by: Title,
        text: Option<Note>,
    },
    /// The difference between this commit and what lies in the worktree, and what was found out about it.
    Change {
        base: String,
        text: Option<Note>,
    },
}

/// What a piece of evidence is about, found.
#[derive(Debug, Clone)]
struct Target {
    goal: GoalId,
    todo: Option<TodoId>,
    gate: Option<GateId>,
}

impl Target {
    fn of(ctx: &Ctx, snapshot: &Snapshot<'_>, about: &About) -> Result<Self, Error> {
        let (goal, todo, gate) = match about {
            About::Todo(prefix) => match snapshot.find_todo(prefix)? {
                Found::Open(goal, id) | Found::Closed(goal, id) => (goal, Some(id), None),
                Found::Nothing => return Err(Refusal::UnknownTodo(prefix.clone()).into()),
                Found::Several(candidates) => {
                    return Err(Refusal::AmbiguousTodo { prefix: prefix.clone(), candidates }.into());
                }
            },
            About::Gate(goal, id) => {
                let view = super::gate::show(ctx, goal.as_ref(), id)?;
                (view.goal, None, Some(view.id))
            }
            About::Goal(goal) => (ctx.goal_id(snapshot, goal.as_ref())?, None, None),
        };
        Ok(Self { goal, todo, gate })
    }
}

/// Adds evidence. What it points to has to exist: a commit that does not, or a file that is not there, is refused.
pub fn add(ctx: &Ctx, about: &About, saw: &Saw) -> Result<Done<EvidenceView>, Error> {
    let stamp = ctx.stamp()?;
    let git = ctx.store.git();
    let what = found(ctx, saw)?;
    let head = git.head()?;
    let dirty = git.is_dirty()?;
    ctx.update(&stamp, |snapshot| {
        let Target { goal, todo, gate } = Target::of(ctx, snapshot, about)?;
        let commit = head.as_ref().map(|head| head.commit.clone());
        let evidence = Evidence { commit, dirty, todo, gate, added: stamp.clone(), what: what.clone() };
        added(ctx, snapshot, goal, evidence)
    })
}

/// Looks at what was named.
fn found(ctx: &Ctx, saw: &Saw) -> Result<Finding, Error> {
    let git = ctx.store.git();
    Ok(match saw {
        Saw::Note(text) => Finding::Note { text: text.clone() },
        Saw::Link(url) => Finding::Link { url: url.clone() },
        Saw::Commit(revision) => match git.range(revision)? {
            Some((from, to, commits)) => Finding::Range { from: from.commit, to: to.commit, commits },
            None => {
                let commit = git.revision(revision)?;
                Finding::Commit { commit: commit.commit, subject: commit.subject }
            }
        },
        Saw::File { path, copy } => {
            let file = git.file(&ctx.cwd, path, if *copy { FileCopy::LIMIT } else { 0 })?;
            let copy = copy.then(|| copied(&file)).transpose()?;
            Finding::File { path: file.path, bytes: file.bytes, digest: file.digest, copy }
        }
        Saw::Metric { name, value, unit, direction } => {
            let (name, value) = (name.clone(), value.clone());
            Finding::Metric { name, value, unit: unit.clone(), direction: *direction }
        }
        Saw::Review { verdict, by, text } => {
            Finding::Review { verdict: *verdict, by: by.clone(), text: text.clone() }
        }
        Saw::Change { base, text } => {
            let base = git.revision(base)?.commit;
            let (tree, files) = git.difference(&base)?.ok_or_else(|| {
                Error::new(
                    Kind::Refused,
                    "there is no worktree here, so nothing lies in it that could differ",
                )
                .hint("run it in a worktree: `git worktree list`")
            })?;
            Finding::Change { base, tree, files, text: text.clone() }
        }
    })
}

/// The text of a file. A copy is to be read, so that what is no text is not kept.
fn copied(file: &ProjectFile) -> Result<FileCopy, Error> {
    let refused = |why: String| {
        Error::new(Kind::Refused, format!("no copy of `{}` can be kept: {why}", file.path))
            .hint("leave out `--copy`: the digest is kept in any case")
    };
    let Some(content) = &file.content else {
        return Err(refused(format!("it has {} bytes (at most {})", file.bytes, FileCopy::LIMIT)));
    };
    let text = std::str::from_utf8(content).map_err(|_| refused("it is no text".into()))?;
    text.parse().map_err(|bad: BadText| refused(bad.to_string()))
}

/// A command that is about to run.
#[derive(Debug)]
pub struct Running {
    argv: CommandLine,
    /// What no gate held back, if that was asked.
    guarded: Option<Act>,
    /// What the evidence is about; without it none is kept.
    target: Option<Target>,
    began: Timestamp,
    /// What is checked out and whether it was changed: what the command works on.
    project: Result<(Option<String>, bool), store::Error>,
    /// The fingerprint of that.
    tree: Option<String>,
    /// Why there is none, where there should be one.
    blind: Option<String>,
}

impl Running {
    /// Looks at what a command is about to work on. Refused when what it is about cannot be told.
    pub fn begin(ctx: &Ctx, about: &About, argv: CommandLine) -> Result<Self, Error> {
        let target = Some(Target::of(ctx, &ctx.store.trusted()?, about)?);
        let (tree, blind) = match ctx.store.git().fingerprint() {
            Ok(tree) => (tree, None),
            Err(error) => (None, Some(error.to_string())),
        };
        Ok(Self { argv, guarded: None, target, began: ctx.now, project: project(ctx), tree, blind })
    }

    /// The same for a command that no gate held back. It runs whether there is a goal for the evidence or not.
    pub fn begin_guarded(
        ctx: &Ctx,
        act: Act,
        goal: Option<&GoalId>,
        argv: CommandLine,
    ) -> Result<Self, Error> {
        let goal = ctx.goal_if_any(&ctx.store.trusted()?, goal)?;
        let target = goal.map(|goal| Target { goal, todo: None, gate: None });
        let project = project(ctx);
        Ok(Self { argv, guarded: Some(act), target, began: ctx.now, project, tree: None, blind: None })
    }

    /// Why it is not known what exactly the command works on, if it is not.
    pub fn blind(&self) -> Option<&str> {
        self.blind.as_deref()
    }

    /// Whether there is a goal that evidence goes to.
    pub fn is_recorded(&self) -> bool {
        self.target.is_some()
    }

    /// Records that the command ran, and how it ended, as of `ctx.now`; nothing without a goal.
    pub fn end(
        self,
        ctx: &Ctx,
        ended: Ended,
        saw: Option<Seen>,
    ) -> Result<Option<Done<EvidenceView>>, Error> {
        let Some(Target { goal, todo, gate }) = self.target else { return Ok(None) };
        let (commit, dirty) = self.project?;
        let stamp = ctx.stamp()?;
        let watched = saw.map(|saw| -> Result<_, Error> {
            let Seen { cut, receipt, tests, stdout, stderr } = saw;
            let (now, is_dirty) = project(ctx)?;
            let tree = self.tree.as_ref().and_then(|_| ctx.store.git().fingerprint().ok().flatten());
            // What cannot be seen any more is not the same.
            let receipt = receipt && tree.is_some();
            let moved = (now != commit || tree != self.tree).then_some(tree).flatten();
            let after = moved.map(|tree| After { commit: now, dirty: is_dirty, tree });
            Ok(Box::new(Watched { cut, receipt, tree: self.tree, after, tests, stdout, stderr }))
        });
        let seconds = self.began.age(ctx.now);
        let (argv, guarded, watched) = (self.argv, self.guarded, watched.transpose()?);
        let what = Finding::Command { argv, guarded, seconds, ended, watched };
        let evidence = Evidence { commit, dirty, todo, gate, added: stamp.clone(), what };
        ctx.update(&stamp, |snapshot| added(ctx, snapshot, goal.clone(), evidence.clone())).map(Some)
    }
}

/// What was seen of a command while it ran.
#[derive(Debug)]
pub struct Seen {
    pub cut: Option<Cut>,
    /// It is to show that what it looked at may go out.
    pub receipt: bool,
    pub tests: Option<Tests>,
    pub stdout: Option<Heard>,
    pub stderr: Option<Heard>,
}

fn project(ctx: &Ctx) -> Result<(Option<String>, bool), store::Error> {
    let git = ctx.store.git();
    git.head().and_then(|head| Ok((head.map(|head| head.commit), git.is_dirty()?)))
}

/// A file of the worktree with a report in it, as it is told whether a command wrote it anew.
#[derive(Debug)]
pub struct ReportFile {
    path: PathBuf,
    before: Option<(u64, SystemTime)>,
}

/// Most bytes of a report.
pub const MOST_OF_A_REPORT: usize = 16 * 1024 * 1024;

impl ReportFile {
    /// Looks at what is there before the command runs.
    pub fn before(ctx: &Ctx, path: &Path) -> Self {
        let path = ctx.cwd.join(path);
        Self { before: written(&path), path }
    }

    /// What the command wrote. A report from before is none of it.
    pub fn read(&self) -> Result<Vec<u8>, String> {
        let named = shown(&self.path.to_string_lossy(), 200);
        let now = written(&self.path).ok_or_else(|| format!("there is no file `{named}`"))?;
        if self.before == Some(now) {
            return Err(format!("`{named}` was there before, and the command did not write it"));
        }
        if now.0 > MOST_OF_A_REPORT as u64 {
            return Err(format!("`{named}` has {} bytes (at most {MOST_OF_A_REPORT})", now.0));
        }
        std::fs::read(&self.path).map_err(|error| format!("`{named}` cannot be read: {error}"))
    }
}

fn written(path: &Path) -> Option<(u64, SystemTime)> {
    let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some((meta.len(), meta.modified().ok()?))
}

/// The mutation that adds evidence to a goal.
pub(super) fn added(
    ctx: &Ctx,
    snapshot: &Snapshot<'_>,
    goal: GoalId,
    evidence: Evidence,
) -> Result<(Option<Change>, EvidenceView), Error> {
    let id =
        EvidenceId::draw(&ctx.entropy, snapshot.evidence_population()?, |id| snapshot.evidence_taken(id))?
            .ok_or(Refusal::NoFreeId)?;
    let target = match (&evidence.todo, &evidence.gate) {
        (Some(todo), _) => format!("todo {todo}"),
        (None, Some(gate)) => format!("gate {gate}"),
        (None, None) => format!("goal {goal}"),
    };
    let change = Change {
        op: Op::EvidenceAdd,
        subject: subject(&format!("add evidence {id} for {target}"), &brief(&evidence.what)),
        body: None,
        goal: Some(goal.clone()),
        turn: None,
        puts: vec![Record::Evidence(goal.clone(), id.clone(), evidence.clone())],
    };
    Ok((Some(change), EvidenceView { id, goal, evidence }))
}

/// A finding in one line, with what matters most first.
pub fn brief(what: &Finding) -> String {
    let first_line = |text: &Note| text.as_str().lines().next().unwrap_or_default().to_owned();
    let short = |commit: &str| commit[..commit.len().min(10)].to_owned();
    let count = |number: u64, noun| Count(usize::try_from(number).unwrap_or(usize::MAX), noun);
    match what {
        Finding::Note { text } => first_line(text),
        Finding::Link { url } => url.to_string(),
        Finding::Commit { commit, subject } => format!("commit {} {subject}", short(commit)),
        Finding::Range { from, to, commits } => {
            format!("{} {}..{}", count(*commits, "commit"), short(from), short(to))
        }
        Finding::File { path, bytes, .. } => format!("file {path} ({})", count(*bytes, "byte")),
        Finding::Metric { name, value, unit, direction } => {
            let unit = unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
            let better = match direction {
                Some(Direction::Up) => " (more is better)",
                Some(Direction::Down) => " (less is better)",
                None => "",
            };
            format!("{name} = {value}{unit}{better}")
        }
        Finding::Review { verdict, by, text } => {
            let verdict = match verdict {
                Opinion::Approve => "approved",
                Opinion::Changes => "changes wanted",
                Opinion::Comment => "commented on",
            };
            let text = text.as_ref().map(|text| format!(": {}", first_line(text))).unwrap_or_default();
            format!("{verdict} by {by}{text}")
        }
        Finding::Change { base, tree, files, text } => {
            let text = text.as_ref().map(|text| format!(": {}", first_line(text))).unwrap_or_default();
            format!("{} on {}, tree {}{text}", count(*files, "changed file"), short(base), short(tree))
        }
        Finding::Command { argv, seconds, ended, watched, .. } => {
            let watched = watched.as_deref();
            let cut = match watched.and_then(|watched| watched.cut) {
                Some(Cut::Timeout) => "timed out, ",
                Some(Cut::Interrupt) => "interrupted, ",
                None => "",
            };
            let tests = watched.and_then(|watched| watched.tests);
            let tests = tests.map(|tests| format!(", {tests}")).unwrap_or_default();
            format!("{cut}{ended}, {seconds}{tests}: {argv}")
        }
        Finding::Check { argv, seconds, .. } => format!("passed, {seconds}: {argv}"),
    }
}

/// A piece of evidence, held against what is there now.
#[derive(Debug, Serialize)]
pub struct EvidenceNow {
    #[serde(flatten)]
    pub view: EvidenceView,
    /// Null when there is nothing that could be compared.
    pub now: Option<Now>,
}

/// How what the evidence is about compares to what is there now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Now {
    Same,
    Changed,
    Gone,
}

/// One piece of evidence, recent or old, with how it stands today.
pub fn show(ctx: &Ctx, id: &EvidenceId) -> Result<EvidenceNow, Error> {
    let snapshot = ctx.store.read()?;
    for goal in snapshot.goals()? {
        let Some(evidence) = snapshot.piece(&goal, id)? else { continue };
        let now = now(ctx, &evidence.what)?;
        return Ok(EvidenceNow { view: EvidenceView { id: id.clone(), goal, evidence }, now });
    }
    Err(Error::new(Kind::NotFound, format!("there is no evidence `{id}`")).hint("run `loopx evidence list`"))
}

fn now(ctx: &Ctx, what: &Finding) -> Result<Option<Now>, Error> {
    let git = ctx.store.git();
    let same = |is_same| Some(if is_same { Now::Same } else { Now::Changed });
    let here = |is_here| Some(if is_here { Now::Same } else { Now::Gone });
    Ok(match what {
        Finding::Commit { commit, .. } => here(git.has_commit(commit)),
        Finding::Range { from, to, .. } => here(git.has_commit(from) && git.has_commit(to)),
        Finding::File { path, digest, .. } => {
            let top = git.worktree().unwrap_or_default();
            match git.file(&top, Path::new(path), 0) {
                Ok(file) => same(file.digest == *digest),
                Err(store::Error::UnknownFile(_)) => Some(Now::Gone),
                Err(error) => return Err(error.into()),
            }
        }
        what => match what.tree() {
            Some(tree) => git.fingerprint()?.and_then(|now| same(now == *tree)),
            None => None,
        },
    })
}

/// The recent evidence of one goal or of all, the newest first; of one todo alone if `todo` is given, which has to be there.
pub fn list(ctx: &Ctx, goal: Option<&GoalId>, todo: Option<&TodoPrefix>) -> Result<EvidenceList, Error> {
    let snapshot = ctx.store.read()?;
    let goals = match goal {
        Some(goal) => vec![ctx.goal_id(&snapshot, Some(goal))?],
        None => snapshot.goals()?,
    };
    let mut evidence = Vec::new();
    for goal in goals {
        let found = snapshot.evidence(&goal)?;
        evidence.extend(found.into_iter().map(|(id, evidence)| EvidenceView {
            id,
            goal: goal.clone(),
            evidence,
        }));
    }
    if let Some(prefix) = todo {
        evidence.retain(|view| view.evidence.todo.as_ref().is_some_and(|todo| prefix.matches(todo.as_str())));
    }
    if let Some(prefix) = todo.filter(|_| evidence.is_empty())
        && matches!(snapshot.find_todo(prefix)?, Found::Nothing)
    {
        return Err(Refusal::UnknownTodo(prefix.clone()).into());
    }
    evidence.sort_by(|a, b| (b.evidence.added.at, &b.id).cmp(&(a.evidence.added.at, &a.id)));
    Ok(EvidenceList { evidence })
}
