//! Walks the history of the state branch and checks that each commit is one legal mutation by somebody who may make it:
//! one parent, signed off once, trailers that tell the truth about what it changed, records canonical and in their place, and a
//! step that the domain allows.
//!
//! What was verified once is remembered in `.git/loopx/verified` and not looked at again as long as it is part of the
//! history; deleting the file costs time only.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use gix::{ObjectId, bstr::ByteSlice as _};

use super::{
    Error, Snapshot, Store, Warning, approval, archive,
    format::{self, QuotaFile, Stored},
    hot::Hot,
    layout::{self, Edit, Named},
    read_plain_file, transfer,
    view::{Changed, Look, diff},
};
use crate::domain::{
    actor::{Actor, Person},
    audit::{Mutation, Step},
    change::{Op, Record},
    goal::{Goal, GoalState},
    id::{EvidenceId, GoalId, TodoId},
    needs::circle,
    refusal::Refusal,
    state::may_leave_out,
    text::shown,
    time::{Seconds, Timestamp},
    todo::{Todo, TodoState},
};

/// So many commits are read before what was read of git's packs is let go.
const STRIDE: usize = 16;
/// A commit dated further ahead of the clock than this is not believed.
const AHEAD: Seconds = Seconds(24 * 3600);

/// What a look at the history found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Verified {
    /// The newest commit, in hex.
    pub tip: String,
    /// Commits that were checked now.
    pub checked: usize,
    /// Commits that had been checked before.
    pub known: usize,
    /// Where the history begins, if what was before was left behind.
    pub checkpoint: Option<Checkpoint>,
    /// The oldest commit that is no legal mutation.
    pub bad: Option<Bad>,
}

/// A commit with which a person left the history before it behind. The state in it is whole, and how it came about cannot
/// be looked at any more.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Checkpoint {
    pub commit: String,
    pub at: Timestamp,
    /// Who left it behind.
    pub by: String,
}

/// A commit that is no legal mutation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Bad {
    pub commit: String,
    /// The commit before it, up to which all is well.
    pub parent: Option<String>,
    pub at: Timestamp,
    pub subject: String,
    pub problem: String,
}

/// What was verified once.
struct Remembered {
    tip: ObjectId,
    /// How many commits lead to it, itself among them.
    commits: usize,
    /// The first of them.
    root: ObjectId,
}

/// The commits that lead to a tip, seen from what was verified once.
struct News {
    /// Those that were not, the newest first.
    line: Vec<ObjectId>,
    /// How many were.
    known: usize,
    /// The first commit of all.
    root: ObjectId,
}

/// A commit, read strictly.
pub(super) struct Commit {
    parents: Vec<ObjectId>,
    at: Timestamp,
    subject: String,
    pub(super) trailers: Vec<(String, String)>,
    committer: Option<Person>,
    author_is_committer: bool,
}

fn damaged(error: gix::Error) -> Error {
    Error::Damaged(super::error::chain(&error))
}

impl Commit {
    pub(super) fn read(decoded: &gix::objs::CommitRef<'_>) -> Result<Self, Error> {
        let text = |bytes: &[u8]| shown(&bytes.to_str_lossy(), 500);
        let committer = decoded.committer().map_err(damaged)?;
        let author = decoded.author().map_err(damaged)?;
        let seconds = committer.time().map_or(0, |time| time.seconds);
        Ok(Self {
            parents: decoded.parents().collect(),
            at: Timestamp::from_unix(seconds),
            subject: text(decoded.message().summary().as_bytes()),
            trailers: decoded
                .message_trailers()
                .map(|trailer| (text(trailer.token), text(&trailer.value)))
                .collect(),
            committer: Person::new(&committer.name.to_str_lossy(), &committer.email.to_str_lossy()),
            author_is_committer: author == committer,
        })
    }
}

impl Store {
    /// Checks what has come since the last time, or with `all` the whole history. `now` tells a date in the future;
    /// `progress` is told how many of how many commits were checked.
    pub fn verify(
        &self,
        all: bool,
        now: Timestamp,
        progress: impl FnMut(usize, usize),
    ) -> Result<Verified, Error> {
        let branch = self.git.branch()?;
        let tip = self.git.tip(&branch)?.ok_or(Error::NotInitialised)?;
        let news = self.news(tip, if all { None } else { self.remembered() })?;
        let checkpoint = self.checkpoint(news.root)?;
        let illegal = self.first_illegal(&news.line, now, progress)?;
        let place = |bad: ObjectId| news.line.iter().rev().position(|id| *id == bad);
        let checked = illegal.as_ref().and_then(|(id, _)| place(*id)).unwrap_or(news.line.len());
        let bad = match illegal {
            None => None,
            Some((id, problem)) => {
                let commit = self.commit(id)?;
                Some(Bad {
                    commit: id.to_string(),
                    parent: commit.parents.first().map(ToString::to_string),
                    at: commit.at,
                    subject: commit.subject,
                    problem,
                })
            }
        };
        if bad.is_none() {
            self.remember(tip, &news);
        }
        Ok(Verified { tip: tip.to_string(), checked, known: news.known, checkpoint, bad })
    }

    /// The state that `revision` names, if every commit of its history is a legal mutation. For a place that has a copy of
    /// the state and no note of what loopx left: nothing is remembered, nothing is written, and a history that is cut off is
    /// an error.
    pub fn verified(&self, revision: &str, now: Timestamp) -> Result<Snapshot<'_>, Error> {
        let tip = super::git::object_id(&self.git.revision(revision)?.commit)?;
        let mut next = Some(tip);
        while let Some(id) = next {
            if let Err(problem) = self.judge(id, now)? {
                return Err(Error::Illegal { commit: id.to_string(), problem });
            }
            next = self.commit(id)?.parents.first().copied();
        }
        self.at(tip)
    }

    /// The commits from `tip` back to `until` and without it, the newest first; all of them when it is not among them.
    pub(super) fn line(&self, tip: ObjectId, until: Option<ObjectId>) -> Result<Vec<ObjectId>, Error> {
        Ok(self.since(tip, until)?.0)
    }

    /// The commit before `id`.
    pub(super) fn parent(&self, id: ObjectId) -> Result<Option<ObjectId>, Error> {
        Ok(self.commit(id)?.parents.first().copied())
    }

    /// An error that names the oldest commit of a line, which is given the newest first, that is no legal mutation.
    pub(super) fn must_be_legal(
        &self,
        line: &[ObjectId],
        now: Timestamp,
        progress: impl FnMut(usize, usize),
    ) -> Result<(), Error> {
        match self.first_illegal(line, now, progress)? {
            None => Ok(()),
            Some((id, problem)) => Err(Error::Illegal { commit: id.to_string(), problem }),
        }
    }

    /// The oldest commit of such a line that is no legal mutation, and why not.
    fn first_illegal(
        &self,
        line: &[ObjectId],
        now: Timestamp,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Option<(ObjectId, String)>, Error> {
        let mut store = if line.len() > STRIDE { Some(self.anew()?) } else { None };
        for (checked, id) in (1..).zip(line.iter().rev()) {
            if let Err(problem) = store.as_ref().unwrap_or(self).judge(*id, now)? {
                return Ok(Some((*id, problem)));
            }
            progress(checked, line.len());
            if checked.is_multiple_of(STRIDE) {
                store = Some(self.anew()?);
            }
        }
        Ok(None)
    }

    /// Checks what has come to `tip` since the last time this was asked here, and notes that it was.
    pub(super) fn must_be_legal_here(
        &self,
        tip: ObjectId,
        now: Timestamp,
        progress: impl FnMut(usize, usize),
    ) -> Result<(), Error> {
        let news = self.news(tip, self.remembered())?;
        self.must_be_legal(&news.line, now, progress)?;
        if !news.line.is_empty() {
            self.remember(tip, &news);
        }
        Ok(())
    }

    /// The same error about a commit that this clone has made, with the way back.
    pub(super) fn of_this_clone(&self, error: Error) -> Error {
        match error {
            Error::Illegal { commit, problem } => {
                let before = super::git::object_id(&commit).and_then(|id| self.parent(id)).ok().flatten();
                Error::IllegalHere { commit, problem, before: before.map(|id| id.to_string()) }
            }
            error => error,
        }
    }

    /// A warning when commits that were made lately are dated so far in the future that no clone takes them. Looks at a few
    /// commits, and at more only where it finds one.
    pub fn ahead(&self, now: Timestamp) -> Option<Warning> {
        const FEW: usize = 8;
        let mut next = self.git.tip(&self.git.branch().ok()?).ok()?;
        let (mut found, mut left) = (None, FEW);
        while let Some(id) = next.filter(|_| left > 0) {
            let commit = self.commit(id).ok()?;
            next = commit.parents.first().copied();
            left -= 1;
            if now.plus(AHEAD) < commit.at {
                found = Some((id, commit.at, next));
                left = FEW;
            }
        }
        found.map(|(id, at, before)| Warning::Ahead {
            commit: id.to_string(),
            at,
            before: before.map(|id| id.to_string()),
        })
    }

    /// What leads to `tip` and was not verified yet.
    fn news(&self, tip: ObjectId, remembered: Option<Remembered>) -> Result<News, Error> {
        let (line, next) = self.since(tip, remembered.as_ref().map(|remembered| remembered.tip))?;
        // What was verified once is no part of a history that was made anew.
        let known = remembered.filter(|remembered| next == Some(remembered.tip));
        let root = known.as_ref().map_or_else(|| *line.last().unwrap_or(&tip), |known| known.root);
        Ok(News { line, known: known.map_or(0, |known| known.commits), root })
    }

    /// Without the note, the next look costs more.
    fn remember(&self, tip: ObjectId, News { line, known, root }: &News) {
        let dir = self.git.private_dir();
        let note = format!("{tip} {} {root}", known + line.len());
        let _ = fs::create_dir_all(&dir).and_then(|()| fs::write(dir.join("verified"), note));
    }

    fn remembered(&self) -> Option<Remembered> {
        let note = read_plain_file(&self.git.private_dir().join("verified"))?;
        let note = String::from_utf8(note).ok()?;
        let words: Vec<&str> = note.split_whitespace().collect();
        let [tip, commits, root] = words[..] else { return None };
        let id = |hex: &str| ObjectId::from_hex(hex.as_bytes()).ok();
        Some(Remembered { tip: id(tip)?, commits: commits.parse().ok()?, root: id(root)? })
    }

    /// The commits from `tip` back to and without `known`, the newest first, and what comes before them: `known`, or nothing
    /// when it is no part of this history.
    fn since(
        &self,
        tip: ObjectId,
        known: Option<ObjectId>,
    ) -> Result<(Vec<ObjectId>, Option<ObjectId>), Error> {
        let mut unknown = Vec::new();
        let mut next = Some(tip);
        let mut store = None;
        while let Some(id) = next.filter(|id| Some(*id) != known) {
            unknown.push(id);
            next = store.as_ref().unwrap_or(self).commit(id)?.parents.first().copied();
            if unknown.len().is_multiple_of(STRIDE) {
                store = Some(self.anew()?);
            }
        }
        Ok((unknown, next))
    }

    /// The same state, read by nobody yet.
    fn anew(&self) -> Result<Self, Error> {
        Ok(Self { git: self.git.anew()?, hot: Hot::none(self.git.hash_kind()).into() })
    }

    pub(super) fn checkpoint(&self, root: ObjectId) -> Result<Option<Checkpoint>, Error> {
        let commit = self.commit(root)?;
        let is_one = commit.trailers.contains(&("Loopx-Op".to_owned(), Op::Checkpoint.word().to_owned()));
        let by = commit.committer.map_or_else(String::new, |person| person.name().to_owned());
        Ok(is_one.then(|| Checkpoint { commit: root.to_string(), at: commit.at, by }))
    }

    fn commit(&self, id: ObjectId) -> Result<Commit, Error> {
        let object = self.git.repo().find_commit(id).map_err(damaged)?;
        Commit::read(&object.decode().map_err(damaged)?)
    }

    /// Whether a commit is a legal mutation; the inner error says why not.
    pub(super) fn judge(&self, id: ObjectId, now: Timestamp) -> Result<Result<(), String>, Error> {
        let commit = self.commit(id)?;
        let parent = match commit.parents[..] {
            [] => None,
            [parent] => Some(parent),
            _ => return Ok(Err("it is a merge, and the history is linear".into())),
        };
        let words = match Words::of(&commit, now) {
            Ok(words) => words,
            Err(problem) => return Ok(Err(problem)),
        };
        let after = match self.at(id) {
            Ok(after) => after,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let before = parent.map(|parent| self.at(parent)).transpose()?;
        let mut changes = BTreeMap::new();
        let old = before.as_ref().map(|before| before.commit().tree);
        diff(&self.git, old, Some(after.commit().tree), Look::Changes, "", &mut changes)?;
        match (words.op, &before) {
            (Op::Fold, Some(before)) => self.judge_fold(before, &changes, commit.at),
            (Op::Import, Some(before)) => judge_import(&words, before, &after, &changes, commit.at),
            (Op::Checkpoint, None) => Ok(judge_whole(&words, &after, commit.at)),
            _ => judge_records(&words, before.as_ref(), &after, changes, commit.at),
        }
    }

    /// Folding is checked by folding again.
    fn judge_fold(
        &self,
        before: &Snapshot<'_>,
        changes: &BTreeMap<String, Changed>,
        at: Timestamp,
    ) -> Result<Result<(), String>, Error> {
        let folded = changes.keys().find_map(|path| layout::named(path)).and_then(|named| named.shelved());
        let Some((shelf, goal)) = folded else {
            return Ok(Err("it folds nothing that could be folded".into()));
        };
        let Some(edit) = archive::fold(before, shelf, &goal, at)? else {
            return Ok(Err("it folds what was not due".into()));
        };
        match is_same(self, &edit, changes) {
            true => Ok(Ok(())),
            false => Ok(Err("the segment is not what folding makes of the records".into())),
        }
    }
}

/// What was imported has a history elsewhere, so that it is enough that a person put whole goals where there were none of
/// that name. With the first goals of all may come policy and limits.
fn judge_import(
    words: &Words,
    before: &Snapshot<'_>,
    after: &Snapshot<'_>,
    changes: &BTreeMap<String, Changed>,
    at: Timestamp,
) -> Result<Result<(), String>, Error> {
    let there = before.goals()?;
    for path in changes.keys().filter(|_| !there.is_empty()) {
        match layout::goal_of(path) {
            Some(goal) if there.contains(&goal) => {
                return Ok(Err(format!("it imports into goal `{goal}`, which was there already")));
            }
            Some(_) => {}
            None => return Ok(Err(format!("it imports `{}` beside goals", shown(path, 200)))),
        }
    }
    if let Err(problem) = transfer::must_be_apart(before, after) {
        return Ok(Err(problem));
    }
    Ok(judge_whole(words, after, at))
}

/// A state without a past is judged by what it is and by who put it there.
fn judge_whole(words: &Words, after: &Snapshot<'_>, at: Timestamp) -> Result<(), String> {
    transfer::must_be_whole(after)?;
    let (op, by) = (words.op, words.by.clone());
    let policy = after.policy().map_err(|error| error.to_string())?;
    let (gates, standing) = (BTreeMap::new(), Vec::new());
    let mutation = Mutation { op, by, at, steps: Vec::new(), policy, gates, standing };
    mutation.judge().map_err(|illegal| illegal.to_string())
}

/// Whether `edit` makes exactly these changes.
fn is_same(store: &Store, edit: &Edit, changes: &BTreeMap<String, Changed>) -> bool {
    let kind = store.git.hash_kind();
    let written: BTreeMap<&str, Option<ObjectId>> = edit
        .written()
        .map(|(path, bytes)| (path, gix::objs::compute_hash(kind, gix::objs::Kind::Blob, bytes).ok()))
        .chain(edit.removed().map(|path| (path, None)))
        .collect();
    let made: BTreeMap<&str, Option<ObjectId>> =
        changes.iter().map(|(path, change)| (path.as_str(), change.new)).collect();
    written == made
}

/// What a commit's message says of itself.
pub(super) struct Words {
    pub(super) op: Op,
    pub(super) by: Actor,
    goal: Option<String>,
    records: BTreeSet<String>,
}

impl Words {
    pub(super) fn of(commit: &Commit, now: Timestamp) -> Result<Self, String> {
        let all = |token: &str| -> Vec<&str> {
            let found = commit.trailers.iter().filter(|(name, _)| name == token);
            found.map(|(_, value)| value.as_str()).collect()
        };
        let one = |token: &str| match all(token)[..] {
            [value] => Ok(value),
            [] => Err(format!("it has no `{token}` trailer")),
            _ => Err(format!("it has several `{token}` trailers")),
        };
        let person = commit.committer.clone().ok_or("its committer has no name or address")?;
        if one("Signed-off-by")? != person.to_string() || !commit.author_is_committer {
            return Err("it is not signed off by the one who made it".into());
        }
        if now.plus(AHEAD) < commit.at {
            return Err(format!("its date, {}, lies in the future", commit.at));
        }
        let op = one("Loopx-Op")?;
        let op = Op::from_word(op).ok_or_else(|| format!("`{op}` is no kind of mutation"))?;
        let by = match one("Loopx-Actor")? {
            "person" => Actor::Person(person),
            agent => match agent.parse() {
                Ok(agent @ Actor::Agent(_)) => agent,
                _ => return Err(format!("`{agent}` is no actor")),
            },
        };
        let goal = all("Loopx-Goal").first().map(ToString::to_string);
        Ok(Self { op, by, goal, records: all("Loopx-Record").into_iter().map(str::to_owned).collect() })
    }
}

fn judge_records(
    words: &Words,
    before: Option<&Snapshot<'_>>,
    after: &Snapshot<'_>,
    changes: BTreeMap<String, Changed>,
    at: Timestamp,
) -> Result<Result<(), String>, Error> {
    let mut steps: BTreeMap<String, Step> = BTreeMap::new();
    let mut gates = BTreeMap::new();
    for (path, change) in changes {
        let attributes = layout::ATTRIBUTES;
        if path == attributes.0 && before.is_none() {
            continue;
        }
        let Some(named) = layout::named(&path) else {
            return Ok(Err(format!("it changes `{}`, which is no record", shown(&path, 200))));
        };
        if let Some(goal) = named.goal() {
            if words.goal.as_deref() != Some(goal.as_str()) {
                return Ok(Err(format!("it changes goal `{goal}` and does not say so")));
            }
            if let Some(before) = before {
                gates = before.gates(goal)?;
            }
        }
        let read = |snapshot: &Snapshot<'_>| -> Result<Result<Option<Record>, String>, Error> {
            match snapshot.bytes(&path) {
                Ok(bytes) => Ok(bytes.map(|bytes| record(&named, &path, &bytes)).transpose()),
                Err(error @ Error::Unreadable { .. }) => Ok(Err(error.to_string())),
                Err(error) => Err(error),
            }
        };
        let old = match before.filter(|_| change.old.is_some()).map(read).transpose()? {
            None => None,
            Some(Ok(old)) => old,
            Some(Err(problem)) => return Ok(Err(problem)),
        };
        let new = match Some(after).filter(|_| change.new.is_some()).map(read).transpose()? {
            None => None,
            Some(Ok(new)) => new,
            Some(Err(problem)) => return Ok(Err(problem)),
        };
        let step = steps.entry(named.record_name()).or_insert(Step { before: None, after: None });
        if step.before.is_some() && old.is_some() || step.after.is_some() && new.is_some() {
            return Ok(Err(format!("it has {} in two places", named.record_name())));
        }
        step.before = step.before.take().or(old);
        step.after = step.after.take().or(new);
    }
    if words.op == Op::TodoReopen
        && let (Some(before), Some(step)) = (before, steps.values_mut().next())
        && let (None, Some(Record::Todo(goal, id, _))) = (&step.before, &step.after)
    {
        // It was folded, and its segment stays as it is.
        step.before = before.todo(goal, id)?.map(|todo| Record::Todo(goal.clone(), id.clone(), todo));
    }
    let fresh: BTreeSet<EvidenceId> = steps
        .values()
        .filter_map(|step| match (&step.before, &step.after) {
            (None, Some(Record::Evidence(_, id, _))) => Some(id.clone()),
            _ => None,
        })
        .collect();
    if let Some(before) = before
        && let Some(problem) = misneeded(words, before, after, &steps)?
    {
        return Ok(Err(problem));
    }
    for step in steps.values() {
        let (Some(before), Some(after)) = (before, &step.after) else { continue };
        if let Some(problem) = misfit(before, step.before.is_none(), after, &fresh)? {
            return Ok(Err(problem));
        }
    }
    if steps.is_empty() {
        return Ok(Err("it changes no record".into()));
    }
    let changed: BTreeSet<String> = steps.keys().cloned().collect();
    // `init` writes policy and quota and names neither.
    if words.op != Op::Init && !changed.is_subset(&words.records) {
        let silent: Vec<_> = changed.difference(&words.records).cloned().collect();
        return Ok(Err(format!("it changes {} and does not say so", silent.join(", "))));
    }
    let standing = match (words.op, before) {
        (Op::BypassNote, Some(before)) => before.standing()?,
        _ => Vec::new(),
    };
    let policy = before.unwrap_or(after).policy()?;
    let (op, by, steps) = (words.op, words.by.clone(), steps.into_values().collect());
    let mutation = Mutation { op, by, at, steps, policy, gates, standing };
    if let Err(illegal) = mutation.judge() {
        return Ok(Err(illegal.to_string()));
    }
    match mutation.signed() {
        Some(signed) => Ok(match approval::judge(signed, at, before.unwrap_or(after))? {
            Ok(()) => Ok(()),
            Err(refusal) => Err(format!("it is refused: {refusal}")),
        }),
        None => Ok(Ok(())),
    }
}

/// Why a record does not fit to what there was before, if it does not.
fn misfit(
    before: &Snapshot<'_>,
    is_new: bool,
    after: &Record,
    fresh: &BTreeSet<EvidenceId>,
) -> Result<Option<String>, Error> {
    let name = after.name();
    if is_new && was_there(before, after)? {
        return Ok(Some(format!("it adds {name}, which there was already")));
    }
    if let Some(goal) = after.within()
        && before.goal(goal)?.is_none()
    {
        return Ok(Some(format!("it adds {name} to goal `{goal}`, which is not there")));
    }
    if let Record::Spend(goal, _, spend) = after {
        let spends: Vec<_> = before.spends(goal)?.into_values().collect();
        if let Err(refusal) = before.quota(goal)?.spend(goal, &spends, spend.clone()) {
            return Ok(Some(format!("it is refused: {refusal}")));
        }
    }
    if let Record::Todo(goal, _, Todo { state: TodoState::Done { evidence, .. }, .. }) = after {
        for id in evidence.difference(fresh) {
            if !before.has_evidence(goal, id)? {
                return Ok(Some(format!("it completes {name} with evidence `{id}`, which is not there")));
            }
        }
    }
    if let Record::Goal(goal, Goal { state: GoalState::Achieved { evidence, .. }, .. }) = after {
        for id in evidence {
            if !before.has_evidence(goal, id)? {
                return Ok(Some(format!("it achieves {name} with evidence `{id}`, which is not there")));
            }
        }
    }
    if let Record::Goal(goal, Goal { met, .. }) = after {
        for met in met {
            if !before.has_evidence(goal, &met.evidence)? {
                let id = &met.evidence;
                return Ok(Some(format!("it answers for {name} with evidence `{id}`, which is not there")));
            }
        }
    }
    Ok(None)
}

/// What is wrong with needs: work on a todo begins and ends when they are closed, what is newly needed is there, none
/// leads back to where it began, and an agent does not get around a person's work.
fn misneeded(
    words: &Words,
    before: &Snapshot<'_>,
    after: &Snapshot<'_>,
    steps: &BTreeMap<String, Step>,
) -> Result<Option<String>, Error> {
    let mut changed: BTreeMap<&TodoId, (&GoalId, &Todo)> = BTreeMap::new();
    for step in steps.values() {
        let Some(Record::Todo(goal, id, todo)) = &step.after else { continue };
        let had = match &step.before {
            Some(Record::Todo(_, _, before)) => before.needs.clone(),
            _ => BTreeSet::new(),
        };
        let ends_work = words.op == Op::TurnEnd && todo.is_closed();
        let works = matches!(words.op, Op::TodoClaim | Op::TodoDone | Op::TodoPoll | Op::TurnBegin);
        if (works || ends_work) && step.before.is_some() {
            for need in &todo.needs {
                if before.is_open(goal, need)? {
                    let (todo, needs) = (id.clone(), vec![need.clone()]);
                    return Ok(Some(format!("it is refused: {}", Refusal::NeedsOpen { todo, needs })));
                }
            }
        }
        for need in todo.needs.difference(&had) {
            if after.todo(goal, need)?.is_none() {
                return Ok(Some(format!("todo/{id} needs `{need}`, which is not there")));
            }
        }
        for need in had.difference(&todo.needs) {
            if let Some(needed) = before.todo(goal, need)?
                && let Err(refusal) = may_leave_out(id, need, &needed, &words.by)
            {
                return Ok(Some(format!("it is refused: {refusal}")));
            }
        }
        if todo.needs != had || words.op == Op::TodoReopen {
            changed.insert(id, (goal, todo));
        }
    }
    // Nothing that was there needs what is new.
    let only_new = words.op == Op::TodoAdd;
    if only_new && changed.len() < 2 {
        return Ok(None);
    }
    let Some((goal, _)) = changed.values().next().copied() else { return Ok(None) };
    let found = circle(changed.keys().map(|id| (*id).clone()), |id| match changed.get(id) {
        Some((_, todo)) => Ok(todo.needs.clone()),
        None if only_new || !after.is_open(goal, id)? => Ok(BTreeSet::new()),
        None => Ok::<_, Error>(after.todo(goal, id)?.map(|todo| todo.needs).unwrap_or_default()),
    })?;
    Ok(found.and_then(|circle| {
        let refusal = Refusal::Circle { todo: circle.first()?.clone(), circle };
        Some(format!("it is refused: {refusal}"))
    }))
}

/// Whether the id of a record was used before, even if the record is closed by now.
fn was_there(before: &Snapshot<'_>, record: &Record) -> Result<bool, Error> {
    match record {
        Record::Policy(_) | Record::Quotas(_) | Record::Goal(..) | Record::Handoff(..) => Ok(false),
        Record::Gate(goal, id, _) => Ok(before.gate(goal, id)?.is_some()),
        Record::Todo(_, id, _) => before.todo_taken(id),
        Record::Evidence(_, id, _) => before.evidence_taken(id),
        Record::Spend(goal, id, _) => Ok(before.spend(goal, id)?.is_some()),
        Record::Bypass(id, _) => Ok(before.bypass(id)?.is_some()),
    }
}

/// A record at `path`, canonical and where it belongs.
pub(super) fn record(named: &Named, path: &str, bytes: &[u8]) -> Result<Record, String> {
    fn read<T: Stored>(path: &str, bytes: &[u8]) -> Result<T, String> {
        let record: T = format::decode(path, bytes).map_err(|error| error.to_string())?;
        let canonical = format::rewritten(path, Some(bytes), &record).map_err(|error| error.to_string())?;
        match canonical.as_bytes() == bytes {
            true => Ok(record),
            false => Err(format!("`{path}` is not in canonical form")),
        }
    }
    let record = match named.clone() {
        Named::Policy => Record::Policy(read(path, bytes)?),
        Named::Quotas => Record::Quotas(read::<QuotaFile>(path, bytes)?.goals),
        Named::Goal(goal) => Record::Goal(goal, read(path, bytes)?),
        Named::Gate(goal, id) => Record::Gate(goal, id, read(path, bytes)?),
        Named::Todo(goal, id) => Record::Todo(goal, id, read(path, bytes)?),
        Named::Evidence(goal, id) => Record::Evidence(goal, id, read(path, bytes)?),
        Named::Spend(goal, id) => Record::Spend(goal, id, read(path, bytes)?),
        Named::Handoff(goal) => Record::Handoff(goal, read(path, bytes)?),
        Named::Bypass(id) => Record::Bypass(id, read(path, bytes)?),
    };
    match layout::path_of(&record) == path {
        true => Ok(record),
        false => Err(format!("`{path}` is not where the record belongs")),
    }
}
