//! Taking over what another tool kept: its files are read, shown as what they would become, and put in as one commit.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use similar::TextDiff;

use super::{Ctx, Done, notify::Before};
use crate::{
    domain::{
        actor::{Actor, Proven, Stamp},
        change::{Change, Op, Record},
        id::{Entropy, EvidenceId, GoalId, TodoId},
        policy::Policy,
        refusal::Refusal,
        secret,
        text::shown,
    },
    error::{Error, Kind},
    foreign::{
        Bad, Foreign, MOST, Report, Source,
        backlog::{self, Place},
        beads,
        draft::{Draft, Ids, draft},
        loopx_python,
    },
    store::message::subject,
};

/// What an import would do or did.
#[derive(Debug, Serialize)]
pub struct Imported {
    /// The tool.
    pub from: &'static str,
    pub goals: Vec<GoalId>,
    /// Open and blocked ones.
    pub todos: usize,
    /// Done and dropped ones.
    pub closed: usize,
    /// Open questions.
    pub gates: usize,
    pub evidence: usize,
    /// What had no counterpart, and what was done with it.
    pub report: Report,
}

/// An import, worked out and not made.
#[derive(Debug, Serialize)]
pub struct Plan {
    #[serde(flatten)]
    pub imported: Imported,
    pub preview: Preview,
    #[serde(skip)]
    records: Vec<Record>,
}

/// What would appear below `.loopx/`, as far as it can be looked at.
#[derive(Debug, Serialize)]
pub struct Preview {
    /// A unified diff of the first files.
    pub diff: String,
    /// How many files there would be.
    pub files: usize,
    /// How many of them the diff has.
    pub shown: usize,
}

/// So much of a preview is shown: files, and bytes after which no further file is begun.
const FILES: usize = 24;
const BYTES: usize = 16 * 1024;

/// So many places of secrets are named.
const NAMED: usize = 5;

/// Most bytes of a file that are read, by what it is.
const SMALL: u64 = 4 << 20;
const LARGE: u64 = 256 << 20;
/// Most bytes of all files of a folder.
const FOLDER: u64 = 256 << 20;

/// Reads what `from` kept at `path` and works out what would become of it. Nothing is changed.
pub fn plan(ctx: &Ctx, from: Source, path: &Path, goal: Option<&GoalId>) -> Result<Plan, Error> {
    let snapshot = ctx.store.trusted()?;
    let stamp = Stamp { by: Actor::Person(ctx.owner()?), at: ctx.now };
    let mut foreign = read(ctx, from, path)?;
    must_be_clear(ctx, &snapshot.policy()?, &mut foreign)?;
    let need = foreign.need();
    let todos = snapshot.todo_population()? + need.todos;
    let evidence = snapshot.evidence_population()? + need.evidence;
    let ids = Ids {
        todos: ids(ctx, need.todos, |entropy, drawn| {
            TodoId::draw(entropy, todos, |id| Ok::<_, Error>(drawn.contains(id) || snapshot.todo_taken(id)?))
        })?,
        evidence: ids(ctx, need.evidence, |entropy, drawn| {
            let taken = |id: &EvidenceId| Ok::<_, Error>(drawn.contains(id) || snapshot.evidence_taken(id)?);
            EvidenceId::draw(entropy, evidence, taken)
        })?,
    };
    let Draft { goals, records, report } = draft(foreign, from, goal, &snapshot.goals()?, &stamp, ids)
        .map_err(|refusal| refused(refusal, from, path))?;
    let count = |is: fn(&Record) -> bool| records.iter().filter(|record| is(record)).count();
    let is_closed = |record: &Record| matches!(record, Record::Todo(_, _, todo) if todo.is_closed());
    let closed = count(is_closed);
    let imported = Imported {
        from: from.word(),
        goals,
        todos: count(|record| matches!(record, Record::Todo(..))) - closed,
        closed,
        gates: count(|record| matches!(record, Record::Gate(..))),
        evidence: count(|record| matches!(record, Record::Evidence(..))),
        report,
    };
    let preview = preview(ctx, &records)?;
    Ok(Plan { imported, preview, records })
}

/// Puts in what was planned. Goals, questions and answers of elsewhere come with it, so it takes a person.
pub fn import(ctx: &Ctx, plan: Plan, _proven: &Proven) -> Result<Done<Imported>, Error> {
    let Plan { imported, records, .. } = plan;
    let what = match &imported.goals[..] {
        [goal] => format!("import goal {goal} from {}", imported.from),
        goals => format!("import {} goals from {}", goals.len(), imported.from),
    };
    let objective = records.iter().find_map(|record| match record {
        Record::Goal(_, goal) if imported.goals.len() == 1 => Some(goal.objective.clone()),
        _ => None,
    });
    let change = Change {
        op: Op::Import,
        subject: objective.map_or_else(|| what.clone(), |objective| subject(&what, &objective)),
        body: None,
        goal: imported.goals.first().filter(|_| imported.goals.len() == 1).cloned(),
        turn: None,
        puts: records,
    };
    let before = Before::look(ctx);
    let updated = ctx.store.adopt(&change, &ctx.stamp()?)?;
    before.tell_news(ctx);
    Ok(Done { value: imported, commit: updated.commit, warnings: updated.warnings })
}

/// Refuses what looks like a secret, with the places; or puts marks there, if that was asked for.
fn must_be_clear(ctx: &Ctx, policy: &Policy, foreign: &mut Foreign) -> Result<(), Error> {
    let mut places = Vec::new();
    for (item, field, text) in foreign.texts_mut() {
        let mut hits = secret::scan(text);
        hits.retain(|hit| !policy.lets_through(&text[hit.range.clone()]));
        if ctx.redact && !hits.is_empty() {
            *text = secret::redacted(text, &hits);
            continue;
        }
        let item = shown(&secret::clean(&item), 60);
        places.extend(hits.iter().map(|hit| format!("{item} in its {field} (rule `{}`)", hit.rule)));
    }
    if places.is_empty() {
        return Ok(());
    }
    let more =
        if places.len() > NAMED { format!(", and {} more", places.len() - NAMED) } else { String::new() };
    places.truncate(NAMED);
    Err(Error::new(Kind::Refused, format!("what looks like a secret: {}{more}", places.join(", "))).hint(
        "nothing was imported; take them out there, or add `--redact`, which puts marks in their place",
    ))
}

/// Why the draft was refused, in the words of an import.
fn refused(refusal: Refusal, from: Source, path: &Path) -> Error {
    let command = format!("loopx import --from {} {}", from.word(), shown(&path.to_string_lossy(), 200));
    match refusal {
        Refusal::SeveralGoals(goals) => {
            let named: Vec<String> = goals.iter().take(5).map(|goal| format!("`{goal}`")).collect();
            let more = if goals.len() > named.len() { ", …" } else { "" };
            let (name, count, named) = (from.name(), goals.len(), named.join(", "));
            Error::new(
                Kind::Usage,
                format!("`--goal-id` names one goal, and {name} has {count} there ({named}{more})"),
            )
            .hint(format!("run `{command}`: each keeps its own name"))
        }
        Refusal::GoalExists(goal) => Error::new(
            Kind::Refused,
            format!("there is a goal `{goal}` already, and an import overwrites nothing"),
        )
        .hint(format!("run `{command} --goal-id <another>`, or see it with `loopx goal show {goal}`")),
        refusal => refusal.into(),
    }
}

/// Draws `count` ids, ascending. `draw` is told what was drawn already.
pub(super) fn ids<I: Ord>(
    ctx: &Ctx,
    count: usize,
    draw: impl Fn(&Entropy, &BTreeSet<I>) -> Result<Option<I>, Error>,
) -> Result<Vec<I>, Error> {
    let mut drawn = BTreeSet::new();
    for number in 0..count {
        let digest = Sha256::new().chain_update(ctx.entropy).chain_update(number.to_le_bytes()).finalize();
        let mut entropy = Entropy::default();
        entropy.copy_from_slice(&digest[..16]);
        drawn.insert(draw(&entropy, &drawn)?.ok_or(Refusal::NoFreeId)?);
    }
    Ok(drawn.into_iter().collect())
}

/// The first files that there would be: goals, questions and work first, and what is open before what is closed.
fn preview(ctx: &Ctx, records: &[Record]) -> Result<Preview, Error> {
    let files = ctx.store.preview(records)?;
    let mut paths: Vec<&String> = files.keys().collect();
    let kinds = ["/state.json", "/gates/", "/todos/"];
    let kind = |path: &str| kinds.iter().position(|kind| path.contains(kind)).unwrap_or(kinds.len());
    paths.sort_by_key(|path| (path.contains("/closed/"), kind(path)));
    let mut preview = Preview { diff: String::new(), files: files.len(), shown: 0 };
    for path in paths.into_iter().take(FILES) {
        if preview.diff.len() > BYTES || files[path].len() > BYTES {
            break;
        }
        let diff = TextDiff::from_lines("", files[path].as_str());
        let diff = diff.unified_diff().header("/dev/null", &format!(".loopx/{path}")).to_string();
        preview.diff.push_str(&diff);
        preview.shown += 1;
    }
    Ok(preview)
}

fn read(ctx: &Ctx, from: Source, path: &Path) -> Result<Foreign, Error> {
    let path = ctx.cwd.join(path);
    match from {
        Source::LoopxPython => read_loopx_python(&path),
        Source::Beads => read_beads(&path),
        Source::Backlog => read_backlog(&path),
    }
}

impl From<Bad> for Error {
    fn from(bad: Bad) -> Self {
        Self::new(Kind::Refused, bad.to_string())
            .hint("nothing was imported; mend the file, or take it away, and run the command again")
    }
}

/// A folder that files are read from, and from nowhere else.
struct Folder {
    top: PathBuf,
}

impl Folder {
    fn open(path: &Path) -> Result<Self, Error> {
        let top = path.canonicalize().map_err(|error| cannot_read(path, error.to_string()))?;
        Ok(Self { top })
    }

    /// The text of a file below it; `None` when there is none of that name. Links that lead out, what is no plain file,
    /// what is too long and what is no text are refused.
    fn text(&self, below: &Path, limit: u64) -> Result<Option<String>, Error> {
        let path = self.top.join(below);
        if fs::symlink_metadata(&path).is_err() {
            return Ok(None);
        }
        let real = path.canonicalize().map_err(|error| cannot_read(&path, error.to_string()))?;
        if !real.starts_with(&self.top) {
            return Err(cannot_read(&path, "it leads out of the folder".into()));
        }
        let shown = below.to_string_lossy();
        text(&real, &shown, limit).map(Some)
    }

    /// The names in a folder below it, the small numbers in them first.
    fn names(&self, below: &str) -> Result<Vec<String>, Error> {
        let path = self.top.join(below);
        let Ok(entries) = fs::read_dir(&path) else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| cannot_read(&path, error.to_string()))?;
            names.extend(entry.file_name().into_string().ok().filter(|name| name.ends_with(".md")));
            if names.len() > MOST {
                return Err(cannot_read(&path, format!("it has more than {MOST} files")));
            }
        }
        let numbers = |name: &str| -> Vec<u64> {
            let id = name.split(" - ").next().unwrap_or_default();
            id.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
        };
        names.sort_by_cached_key(|name| (numbers(name), name.clone()));
        Ok(names)
    }
}

fn cannot_read(path: &Path, problem: String) -> Error {
    let place = shown(&path.to_string_lossy(), 4096);
    Error::new(Kind::Environment, format!("cannot read `{place}`: {problem}"))
        .hint("nothing was imported; `loopx import --help` says what a path is")
}

fn text(path: &Path, name: &str, limit: u64) -> Result<String, Error> {
    let failed = |error: std::io::Error| cannot_read(path, error.to_string());
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(cannot_read(path, "it is no plain file".into()));
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(cannot_read(path, format!("it has more than {} MiB", limit >> 20)));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Bad::at(name, line, "it is no text in UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn missing(path: &Path, wanted: &str, hint: &str) -> Error {
    let place = shown(&path.to_string_lossy(), 4096);
    Error::new(Kind::NotFound, format!("there is no {wanted} in `{place}`")).hint(hint)
}

/// The file that was named, or one of `names` in the folder that was named.
fn one_of(path: &Path, names: &[&str], limit: u64) -> Result<Option<(PathBuf, String)>, Error> {
    if !path.is_dir() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        return Ok(Some((path.to_owned(), text(path, &name, limit)?)));
    }
    let folder = Folder::open(path)?;
    for name in names {
        if let Some(text) = folder.text(Path::new(name), limit)? {
            return Ok(Some((path.join(name), text)));
        }
    }
    Ok(None)
}

fn read_beads(path: &Path) -> Result<Foreign, Error> {
    let names = [".beads/issues.jsonl", ".beads/beads.jsonl", "issues.jsonl", "beads.jsonl"];
    let (file, text) = one_of(path, &names, LARGE)?.ok_or_else(|| {
        missing(path, "`.beads/issues.jsonl`", "run `bd export -o issues.jsonl` there, and name that file")
    })?;
    Ok(beads::parse(&file.file_name().unwrap_or_default().to_string_lossy(), &text)?)
}

fn read_backlog(path: &Path) -> Result<Foreign, Error> {
    let candidates = ["backlog", ".backlog", "."].map(|name| path.join(name));
    let top = candidates.iter().find(|folder| folder.join("tasks").is_dir()).ok_or_else(|| {
        missing(path, "folder `backlog/tasks`", "name the project, or the folder that has `tasks` in it")
    })?;
    let folder = Folder::open(top)?;
    if !folder.top.starts_with(Folder::open(path)?.top) {
        return Err(cannot_read(top, "it leads out of the folder".into()));
    }
    let mut left = FOLDER;
    let mut file = |place: Place, path: String| -> Result<Option<backlog::File>, Error> {
        let Some(text) = folder.text(Path::new(&path), SMALL)? else { return Ok(None) };
        left = left.checked_sub(text.len() as u64).ok_or_else(|| {
            cannot_read(&folder.top, format!("its files have more than {} MiB", FOLDER >> 20))
        })?;
        Ok(Some(backlog::File { path, place, text }))
    };
    let mut files = Vec::new();
    for (place, below) in Place::ALL {
        for name in folder.names(below)? {
            files.extend(file(place, format!("{below}/{name}"))?);
        }
    }
    let config = file(Place::Tasks, "config.yml".to_owned())?;
    let mut foreign = backlog::parse(&files, config.as_ref())?;
    for below in ["docs", "decisions", "milestones"] {
        for name in folder.names(below)? {
            foreign.report.say(&format!("{below}/{name}"), below, "left out: no task");
        }
    }
    Ok(foreign)
}

fn read_loopx_python(path: &Path) -> Result<Foreign, Error> {
    let names = [".loopx/registry.json", "registry.json"];
    let (file, text) = one_of(path, &names, SMALL)?.ok_or_else(|| {
        missing(
            path,
            "`.loopx/registry.json`",
            "name the project, or the folder that its `.loopx` was moved to",
        )
    })?;
    let registry = file.parent().unwrap_or(Path::new("."));
    let project = if file == path.join(names[0]) { path } else { registry.parent().unwrap_or(registry) };
    let folders = [Folder::open(project)?, Folder::open(registry)?];
    let mut foreign = Foreign::default();
    for goal in loopx_python::registry(&file.file_name().unwrap_or_default().to_string_lossy(), &text)? {
        // The folder `.loopx` may have been moved away to make room for ours.
        let moved = goal.state_file.strip_prefix(".loopx/").unwrap_or(&goal.state_file);
        let mut found = None;
        for (folder, below) in folders.iter().zip([goal.state_file.as_str(), moved]) {
            if found.is_none() {
                found = folder.text(Path::new(below), LARGE)?;
            }
        }
        let text = found.ok_or_else(|| {
            let file = format!("`{}` of goal `{}`", shown(&goal.state_file, 200), shown(&goal.id, 80));
            missing(project, &file, "take the goal out of the registry, or put the file back")
        })?;
        let goal = loopx_python::goal(&goal, &goal.state_file, &text, &mut foreign.report)?;
        foreign.goals.push(goal);
    }
    match foreign.goals.is_empty() {
        true => Err(missing(&file, "goal", "name a project that LoopX has a goal in")),
        false => Ok(foreign),
    }
}
