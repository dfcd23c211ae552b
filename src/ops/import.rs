//! Taking over what another tool kept: its files are read, shown as what they would become, and put in as one commit.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{Debug, Display},
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use similar::TextDiff;

use super::{Ctx, Done, aside::Aside, notify::Before};
use crate::{
    domain::{
        actor::{Actor, Proven, Stamp},
        change::{Change, Op, Record},
        id::{Entropy, EvidenceId, GoalId, Short, TodoId},
        policy::Policy,
        refusal::Refusal,
        secret,
        text::shown,
    },
    error::{Error, Kind},
    foreign::{
        Bad, Foreign, Goal, Item, MOST, Report, Source,
        backlog::{self, Place},
        beads,
        draft::{Draft, Ids, Terms, draft},
        loopx_python,
    },
    store::{self, message::subject, transfer::NewGoals},
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
    /// The records of the goals themselves.
    #[serde(skip)]
    records: Vec<Record>,
    /// Every file that there would be, with its path.
    #[serde(skip)]
    files: Aside<(String, String)>,
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
    let (foreign, mut items) = read(ctx, &snapshot.policy()?, from, path)?;
    let need = foreign.need();
    let todos = snapshot.todo_population()? + need.todos;
    let evidence = snapshot.evidence_population()? + need.evidence;
    let ids = Ids {
        todos: ids(ctx, need.todos, |entropy, drawn| {
            TodoId::draw(entropy, todos, |id| {
                Ok::<_, Error>(drawn.contains(&Short::of(id)) || snapshot.todo_taken(id)?)
            })
        })?,
        evidence: ids(ctx, need.evidence, |entropy, drawn| {
            EvidenceId::draw(entropy, evidence, |id| {
                Ok::<_, Error>(drawn.contains(&Short::of(id)) || snapshot.evidence_taken(id)?)
            })
        })?,
    };
    let mut imported = Imported {
        from: from.word(),
        goals: Vec::new(),
        todos: 0,
        closed: 0,
        gates: 0,
        evidence: 0,
        report: Report::default(),
    };
    let (mut records, mut made, mut first) = (Vec::new(), NewGoals::default(), First::default());
    let mut files = Aside::new().map_err(not_aside)?;
    let mut put = |file: (String, String)| {
        first.see(&file);
        files.put(&file).map_err(not_aside)
    };
    let terms = Terms { source: from, name: goal, taken: &snapshot.goals()?, stamp, ids };
    let item = |number| items.take_up(number).map_err(|error| Stopped::Failed(not_aside(error)));
    let Draft { goals, report } = draft(foreign, terms, item, |record| {
        match &record {
            Record::Goal(..) => records.push(record.clone()),
            Record::Gate(..) => imported.gates += 1,
            Record::Todo(_, _, todo) if todo.is_closed() => imported.closed += 1,
            Record::Todo(..) => imported.todos += 1,
            Record::Evidence(..) => imported.evidence += 1,
            _ => {}
        }
        made.add(record)?.map_or(Ok(()), &mut put).map_err(Stopped::Failed)
    })
    .map_err(|stopped| match stopped {
        Stopped::Refused(refusal) => refused(refusal, from, path),
        Stopped::Failed(error) => error,
    })?;
    made.rest().try_for_each(|file| put(file?))?;
    (imported.goals, imported.report) = (goals, report);
    Ok(Plan { imported, preview: first.preview(), records, files })
}

/// Why there is no draft.
enum Stopped {
    Refused(Refusal),
    Failed(Error),
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<store::Error> for Stopped {
    fn from(error: store::Error) -> Self {
        Self::Failed(error.into())
    }
}

fn not_aside(error: io::Error) -> Error {
    Error::new(Kind::Environment, format!("cannot put aside what is to be imported: {error}"))
        .hint("nothing was imported; make room in the folder for temporary files, and run the command again")
}

/// Puts in what was planned. Goals, questions and answers of elsewhere come with it, so it takes a person.
pub fn import(ctx: &Ctx, plan: Plan, _proven: &Proven) -> Result<Done<Imported>, Error> {
    let Plan { imported, records, mut files, .. } = plan;
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
    let updated = ctx.store.adopt(&change, &ctx.stamp()?, files.each())?;
    before.tell_news(ctx);
    Ok(Done { value: imported, commit: updated.commit, warnings: updated.warnings })
}

/// Puts aside what a tool kept, after a look for secrets in it: there are marks in their place, if that was asked for.
struct Reading<'r> {
    ctx: &'r Ctx,
    policy: &'r Policy,
    items: Aside<Item>,
    /// Where secrets are, in what was read and in the items of the goal that is being read.
    places: Places,
    latest: Places,
}

impl Reading<'_> {
    fn item(&mut self, mut item: Item) -> Result<(), Error> {
        let id = item.id.clone();
        for (field, text) in item.texts_mut() {
            self.latest.look(self.ctx, self.policy, (&id, field), text);
        }
        self.items.put(&item).map_err(not_aside)
    }

    /// The goal that the items before it belong to.
    fn goal(&mut self, goal: &mut Goal) {
        let called = goal.name.clone().unwrap_or_else(|| "the goal".to_owned());
        for (field, text) in goal.texts_mut() {
            self.places.look(self.ctx, self.policy, (&called, field), text);
        }
        self.places.append(std::mem::take(&mut self.latest));
    }

    /// Refuses what looks like a secret, with the places.
    fn must_be_clear(&self) -> Result<(), Error> {
        let Places { count, named } = &self.places;
        if *count == 0 {
            return Ok(());
        }
        let more = if *count > NAMED { format!(", and {} more", count - NAMED) } else { String::new() };
        Err(Error::new(Kind::Refused, format!("what looks like a secret: {}{more}", named.join(", "))).hint(
            "nothing was imported; take them out there, or add `--redact`, which puts marks in their place",
        ))
    }
}

/// How many places of secrets there are, and the first of them.
#[derive(Default)]
struct Places {
    count: usize,
    named: Vec<String>,
}

impl Places {
    fn look(&mut self, ctx: &Ctx, policy: &Policy, (item, field): (&str, &str), text: &mut String) {
        let mut hits = secret::scan(text);
        hits.retain(|hit| !policy.lets_through(&text[hit.range.clone()]));
        if ctx.redact && !hits.is_empty() {
            *text = secret::redacted(text, &hits);
            return;
        }
        let named = hits.iter().map(|hit| {
            let item = shown(&secret::clean(item), 60);
            format!("{item} in its {field} (rule `{}`)", hit.rule)
        });
        self.append(Self { count: hits.len(), named: named.take(NAMED).collect() });
    }

    fn append(&mut self, other: Self) {
        self.count += other.count;
        self.named.extend(other.named);
        self.named.truncate(NAMED);
    }
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
pub(super) fn ids<I: Ord + Display + FromStr<Err: Debug>>(
    ctx: &Ctx,
    count: usize,
    draw: impl Fn(&Entropy, &BTreeSet<Short<I>>) -> Result<Option<I>, Error>,
) -> Result<Vec<Short<I>>, Error> {
    let mut drawn = BTreeSet::new();
    for number in 0..count {
        let digest = Sha256::new().chain_update(ctx.entropy).chain_update(number.to_le_bytes()).finalize();
        let mut entropy = Entropy::default();
        entropy.copy_from_slice(&digest[..16]);
        drawn.insert(Short::of(&draw(&entropy, &drawn)?.ok_or(Refusal::NoFreeId)?));
    }
    Ok(drawn.into_iter().collect())
}

/// The first of the files that there would be: goals, questions and work first, and what is open before what is closed.
#[derive(Default)]
struct First {
    count: usize,
    /// By their order. What is too long to be shown stays out.
    files: BTreeMap<(bool, usize, String), Option<String>>,
}

impl First {
    fn see(&mut self, (path, text): &(String, String)) {
        self.count += 1;
        let kinds = ["/state.json", "/gates/", "/todos/"];
        let kind = kinds.iter().position(|kind| path.contains(kind)).unwrap_or(kinds.len());
        let key = (path.contains("/closed/"), kind, path.clone());
        if self.files.len() < FILES || self.files.last_key_value().is_some_and(|(last, _)| key < *last) {
            self.files.insert(key, (text.len() <= BYTES).then(|| text.clone()));
        }
        if self.files.len() > FILES {
            self.files.pop_last();
        }
    }

    fn preview(self) -> Preview {
        let mut preview = Preview { diff: String::new(), files: self.count, shown: 0 };
        for ((_, _, path), text) in self.files {
            let Some(text) = text.filter(|_| preview.diff.len() <= BYTES) else { break };
            let diff = TextDiff::from_lines("", text.as_str());
            let diff = diff.unified_diff().header("/dev/null", &format!(".loopx/{path}")).to_string();
            preview.diff.push_str(&diff);
            preview.shown += 1;
        }
        preview
    }
}

/// Reads what `from` kept at `path`. The items are put aside in the order in which the draft counts them.
fn read(ctx: &Ctx, policy: &Policy, from: Source, path: &Path) -> Result<(Foreign, Aside<Item>), Error> {
    let path = ctx.cwd.join(path);
    let items = Aside::new().map_err(not_aside)?;
    let (places, latest) = (Places::default(), Places::default());
    let mut reading = Reading { ctx, policy, items, places, latest };
    let foreign = match from {
        Source::LoopxPython => read_loopx_python(&path, &mut reading),
        Source::Beads => read_beads(&path, &mut reading),
        Source::Backlog => read_backlog(&path, &mut reading),
    }?;
    reading.must_be_clear()?;
    Ok((foreign, reading.items))
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
        let Some(real) = self.file(below)? else { return Ok(None) };
        text(&real, &below.to_string_lossy(), limit).map(Some)
    }

    /// Where a file below it lies.
    fn file(&self, below: &Path) -> Result<Option<PathBuf>, Error> {
        let path = self.top.join(below);
        if fs::symlink_metadata(&path).is_err() {
            return Ok(None);
        }
        let real = path.canonicalize().map_err(|error| cannot_read(&path, error.to_string()))?;
        match real.starts_with(&self.top) {
            true => Ok(Some(real)),
            false => Err(cannot_read(&path, "it leads out of the folder".into())),
        }
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
    lines(path, name, limit)?.try_fold(String::new(), |text, line| Ok(text + &line?))
}

/// The lines of a file, each with its end.
fn lines(path: &Path, name: &str, limit: u64) -> Result<impl Iterator<Item = Result<String, Error>>, Error> {
    let (place, name) = (path.to_owned(), name.to_owned());
    let failed = move |error: io::Error| cannot_read(&place, error.to_string());
    let too_long = {
        let place = path.to_owned();
        move || cannot_read(&place, format!("it has more than {} MiB", limit >> 20))
    };
    let found = fs::metadata(path).map_err(&failed)?;
    if !found.is_file() {
        return Err(cannot_read(path, "it is no plain file".into()));
    }
    if found.len() > limit {
        return Err(too_long());
    }
    let mut source = BufReader::new(File::open(path).map_err(&failed)?.take(limit + 1));
    let (mut number, mut read) = (0, 0);
    Ok(std::iter::from_fn(move || {
        let mut bytes = Vec::new();
        match source.read_until(b'\n', &mut bytes) {
            Err(error) => return Some(Err(failed(error))),
            Ok(0) => return None,
            Ok(length) => read += length as u64,
        }
        number += 1;
        if read > limit {
            return Some(Err(too_long()));
        }
        Some(match String::from_utf8(bytes) {
            Err(_) => Err(Bad::at(&name, number, "it is no text in UTF-8").into()),
            Ok(line) if number == 1 => Ok(line.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(line)),
            Ok(line) => Ok(line),
        })
    }))
}

fn missing(path: &Path, wanted: &str, hint: &str) -> Error {
    let place = shown(&path.to_string_lossy(), 4096);
    Error::new(Kind::NotFound, format!("there is no {wanted} in `{place}`")).hint(hint)
}

/// The file that was named, or one of `names` in the folder that was named: as it is called, and where it lies.
fn one_of(path: &Path, names: &[&str]) -> Result<Option<(PathBuf, PathBuf)>, Error> {
    if !path.is_dir() {
        return Ok(Some((path.to_owned(), path.to_owned())));
    }
    let folder = Folder::open(path)?;
    for name in names {
        if let Some(real) = folder.file(Path::new(name))? {
            return Ok(Some((path.join(name), real)));
        }
    }
    Ok(None)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read_beads(path: &Path, reading: &mut Reading<'_>) -> Result<Foreign, Error> {
    let names = [".beads/issues.jsonl", ".beads/beads.jsonl", "issues.jsonl", "beads.jsonl"];
    let (file, real) = one_of(path, &names)?.ok_or_else(|| {
        missing(path, "`.beads/issues.jsonl`", "run `bd export -o issues.jsonl` there, and name that file")
    })?;
    let name = file_name(&file);
    let mut foreign = beads::parse(&name, lines(&real, &name, LARGE)?, |item| reading.item(item))?;
    foreign.goals.iter_mut().for_each(|goal| reading.goal(goal));
    Ok(foreign)
}

fn read_backlog(path: &Path, reading: &mut Reading<'_>) -> Result<Foreign, Error> {
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
    let config = file(Place::Tasks, "config.yml".to_owned())?;
    let mut names = Vec::new();
    for (place, below) in Place::ALL {
        names.extend(folder.names(below)?.into_iter().map(|name| (place, format!("{below}/{name}"))));
    }
    let files = names.into_iter().filter_map(|(place, path)| file(place, path).transpose());
    let mut foreign = backlog::parse(files, config.as_ref(), |item| reading.item(item))?;
    foreign.goals.iter_mut().for_each(|goal| reading.goal(goal));
    for below in ["docs", "decisions", "milestones"] {
        for name in folder.names(below)? {
            foreign.report.say(&format!("{below}/{name}"), below, "left out: no task");
        }
    }
    Ok(foreign)
}

fn read_loopx_python(path: &Path, reading: &mut Reading<'_>) -> Result<Foreign, Error> {
    let names = [".loopx/registry.json", "registry.json"];
    let (file, real) = one_of(path, &names)?.ok_or_else(|| {
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
    let name = file_name(&file);
    for goal in loopx_python::registry(&name, &text(&real, &name, SMALL)?)? {
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
        let mut goal = loopx_python::goal(&goal, &goal.state_file, &text, &mut foreign.report, |item| {
            reading.item(item)
        })?;
        reading.goal(&mut goal);
        foreign.goals.push(goal);
    }
    match foreign.goals.is_empty() {
        true => Err(missing(&file, "goal", "name a project that LoopX has a goal in")),
        false => Ok(foreign),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(files: &[(String, String)]) -> (Vec<String>, usize) {
        let mut first = First::default();
        files.iter().for_each(|file| first.see(file));
        let preview = first.preview();
        let path = |line: &str| line.strip_prefix("+++ .loopx/goals/g/").map(str::to_owned);
        let paths: Vec<String> = preview.diff.lines().filter_map(path).collect();
        assert_eq!(paths.len(), preview.shown);
        (paths, preview.files)
    }

    #[test]
    fn what_is_shown_first_does_not_follow_from_when_it_came() {
        let file = |path: &str| (format!("goals/g/{path}"), "a\n".to_owned());
        let mut files = vec![
            file("todos/closed/t-1111.toml"),
            file("evidence/e-1111.toml"),
            file("todos/t-2222.toml"),
            file("todos/t-1111.toml"),
            file("gates/a.toml"),
            file("state.json"),
        ];
        let all =
            (files.iter().rev().map(|(path, _)| path["goals/g/".len()..].to_owned()).collect::<Vec<_>>(), 6);
        assert_eq!(shown(&files).0[..3], all.0[..3]);
        files.reverse();
        assert_eq!(shown(&files), shown(&files.iter().rev().cloned().collect::<Vec<_>>()));

        files.extend((0..100).map(|number| file(&format!("todos/t-{number:04}.toml"))));
        let (paths, count) = shown(&files);
        assert_eq!((paths.len(), &*paths[2], count), (FILES, "todos/t-0000.toml", 106));
        // What is too long ends it.
        files.push(("goals/g/todos/t-00000.toml".to_owned(), "a".repeat(BYTES + 1)));
        let (paths, count) = shown(&files);
        assert_eq!(
            (paths, count),
            (vec!["state.json".to_owned(), "gates/a.toml".into(), "todos/t-0000.toml".into()], 107)
        );
    }
}
