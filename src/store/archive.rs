//! The past, folded: closed records go into immutable segments, so that no folder grows with it.
//!
//! When more than 320 files lie in a closed folder, the oldest 256 become one segment
//! `closed/<from>-<to>.jsonl`, numbered by the order of folding, one record a line:
//!
//! ```json
//! {"format":"1.0","id":"t-7k3q","record":{…}}
//! ```
//!
//! `closed/index/<c>.txt`, by the first character of the id, says in which segment a record is: `t-7k3q 257` for the
//! segment that begins with number 257. So one look finds any record, and an id is known to be taken, however long the
//! past is.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use gix::bstr::ByteSlice as _;
use serde::{Deserialize, Serialize};

use super::{
    Error, Snapshot,
    format::{self, FORMAT, Stored},
    git::lossy,
    layout::{Edit, Shelf},
};
use crate::domain::{
    change::{Change, Op, Record},
    evidence::Evidence,
    gate::{Gate, GateState},
    id::{GoalId, TodoId},
    quota::Spend,
    time::Timestamp,
    todo::{Todo, TodoState},
};

/// So many records lie unfolded before folding begins.
const FULL: usize = 320;
/// So many go into one segment.
const SEGMENT: usize = 256;

#[derive(Serialize, Deserialize)]
struct Line<T> {
    format: String,
    id: String,
    record: T,
}

/// The part of a line that says how to read the rest, and whose it is.
#[derive(Deserialize)]
struct Beginning {
    format: String,
    id: String,
}

pub(super) fn is_segment(name: &str) -> bool {
    name.strip_suffix(".jsonl").and_then(bounds).is_some()
}

/// Whether folding makes a file of this name in a closed folder: a segment or a part of the index.
pub(super) fn is_made_by_folding(name: &str) -> bool {
    let part = name.strip_prefix("index/").and_then(|name| name.strip_suffix(".txt"));
    let is_part = |stem: &str| matches!(stem.as_bytes(), [c] if c.is_ascii_digit() || c.is_ascii_lowercase());
    is_segment(name) || part.is_some_and(is_part)
}

/// First and last number of a segment's records.
fn bounds(stem: &str) -> Option<(usize, usize)> {
    let (from, to) = stem.split_once('-')?;
    let number = |text: &str| text.parse::<u32>().ok().and_then(|number| usize::try_from(number).ok());
    let (from, to) = (number(from)?, number(to)?);
    (from <= to && stem_of(from, to) == stem).then_some((from, to))
}

/// How a segment with these records is called.
fn stem_of(from: usize, to: usize) -> String {
    format!("{from:06}-{to:06}")
}

/// The segments of a closed folder in order, as `(from, to, path)`.
fn segments(snapshot: &Snapshot<'_>, folder: &str) -> Result<Vec<(usize, usize, String)>, Error> {
    let Some(tree) = snapshot.folder(folder)? else { return Ok(Vec::new()) };
    let mut segments: Vec<_> = tree
        .entries
        .iter()
        .filter_map(|entry| {
            let name = lossy(entry.filename.as_bstr());
            let (from, to) = bounds(name.strip_suffix(".jsonl")?)?;
            Some((from, to, format!("{folder}/{name}")))
        })
        .collect();
    segments.sort();
    Ok(segments)
}

/// How many records were folded.
pub(super) fn count(snapshot: &Snapshot<'_>, shelf: Shelf, goal: &GoalId) -> Result<usize, Error> {
    Ok(segments(snapshot, &shelf.closed(goal))?.last().map_or(0, |(_, to, _)| *to))
}

fn index_file(folder: &str, id: &str) -> String {
    // `t-7k3q` is found under `7`; a slug under its own first character.
    let random = id.get(2..).filter(|_| id.get(1..2) == Some("-"));
    let first = random.unwrap_or(id).chars().next().unwrap_or('0');
    format!("{folder}/index/{first}.txt")
}

/// Whether a record of this id was folded.
pub(super) fn holds(snapshot: &Snapshot<'_>, shelf: Shelf, goal: &GoalId, id: &str) -> Result<bool, Error> {
    Ok(segment_of(snapshot, shelf, goal, id)?.is_some())
}

/// The number that the segment with `id` begins with.
fn segment_of(
    snapshot: &Snapshot<'_>,
    shelf: Shelf,
    goal: &GoalId,
    id: &str,
) -> Result<Option<usize>, Error> {
    let Some(index) = snapshot.bytes(&index_file(&shelf.closed(goal), id))? else { return Ok(None) };
    // What was opened again and folded again is in several; the last one counts.
    let numbers = index.lines().filter_map(|line| line.to_str().ok()?.strip_prefix(id)?.strip_prefix(' '));
    Ok(numbers.filter_map(|from| from.parse().ok()).max())
}

/// The ids of folded records that begin with `prefix`.
pub(super) fn names(
    snapshot: &Snapshot<'_>,
    shelf: Shelf,
    goal: &GoalId,
    prefix: &str,
) -> Result<Vec<String>, Error> {
    let Some(index) = snapshot.bytes(&index_file(&shelf.closed(goal), prefix))? else {
        return Ok(Vec::new());
    };
    let ids = index.lines().filter_map(|line| Some(line.to_str().ok()?.split_once(' ')?.0));
    Ok(ids.filter(|id| id.starts_with(prefix)).map(str::to_owned).collect())
}

/// A folded record.
pub(super) fn find<T: Stored>(
    snapshot: &Snapshot<'_>,
    shelf: Shelf,
    goal: &GoalId,
    id: &str,
) -> Result<Option<T>, Error> {
    let Some(from) = segment_of(snapshot, shelf, goal, id)? else { return Ok(None) };
    let folder = shelf.closed(goal);
    let damaged =
        |problem: &str| Error::Unreadable { path: index_file(&folder, id), problem: problem.to_owned() };
    let segments = segments(snapshot, &folder)?;
    let segment = segments.iter().find(|(first, _, _)| *first == from);
    let (_, _, path) = segment.ok_or_else(|| damaged("it names a segment that is not there"))?;
    let bytes = snapshot.bytes(path)?.unwrap_or_default();
    // A line begins with its format, which may be that of another version.
    let marked = format!(",\"id\":\"{id}\",\"record\":");
    let line = bytes.lines().find(|line| line.find(&marked).is_some_and(|at| at < marked.len() + 32));
    let line = line.ok_or_else(|| damaged("it names a segment that does not have the record"))?;
    record(path, line).map(Some)
}

/// Every folded record, the oldest segment first.
pub(super) fn records<T: Stored>(
    snapshot: &Snapshot<'_>,
    shelf: Shelf,
    goal: &GoalId,
) -> Result<Vec<(String, T)>, Error> {
    let mut records = Vec::new();
    for (_, _, path) in segments(snapshot, &shelf.closed(goal))? {
        let bytes = snapshot.bytes(&path)?.unwrap_or_default();
        for line in bytes.lines() {
            let Line { id, record, format: _ } = read_line::<T>(&path, line)?;
            records.push((id, record));
        }
    }
    Ok(records)
}

/// Tells the records of the segment at `path` whose ids are `wanted`, one by one, so that nobody has to hold all of them.
pub(super) fn each_record(
    snapshot: &Snapshot<'_>,
    (shelf, goal, path): (Shelf, &GoalId, &str),
    wanted: impl Fn(&str) -> bool,
    mut tell: impl FnMut(&str, Record),
) -> Result<(), Error> {
    let bytes = snapshot.bytes(path)?.unwrap_or_default();
    for line in bytes.lines() {
        let Beginning { format, id } = serde_json::from_slice(line).map_err(unreadable(path))?;
        format::must_be_known(path, &format)?;
        if wanted(&id) {
            let record = match shelf {
                Shelf::Gates => Record::Gate(goal.clone(), snapshot.id(path, &id)?, record(path, line)?),
                Shelf::Todos => Record::Todo(goal.clone(), snapshot.id(path, &id)?, record(path, line)?),
                Shelf::Evidence => {
                    Record::Evidence(goal.clone(), snapshot.id(path, &id)?, record(path, line)?)
                }
                Shelf::Spend => Record::Spend(goal.clone(), snapshot.id(path, &id)?, record(path, line)?),
            };
            tell(&id, record);
        }
    }
    Ok(())
}

fn record<T: Stored>(path: &str, line: &[u8]) -> Result<T, Error> {
    read_line::<T>(path, line).map(|line| line.record)
}

fn unreadable(path: &str) -> impl Fn(serde_json::Error) -> Error {
    |error| Error::Unreadable { path: path.to_owned(), problem: error.to_string() }
}

/// A line of the segment at `path`.
fn read_line<T: Stored>(path: &str, line: &[u8]) -> Result<Line<T>, Error> {
    let beginning: Beginning = serde_json::from_slice(line).map_err(unreadable(path))?;
    format::must_be_known(path, &beginning.format)?;
    serde_json::from_slice(line).map_err(unreadable(path))
}

/// Reads all segments of a shelf. An error when one has a gap, or a record that makes no sense, or when the index says
/// something else.
pub(super) fn must_be_whole(snapshot: &Snapshot<'_>, shelf: Shelf, goal: &GoalId) -> Result<(), Error> {
    match shelf {
        Shelf::Todos => whole::<Todo>(snapshot, &shelf.closed(goal)),
        Shelf::Gates => whole::<Gate>(snapshot, &shelf.closed(goal)),
        Shelf::Evidence => whole::<Evidence>(snapshot, &shelf.closed(goal)),
        Shelf::Spend => whole::<Spend>(snapshot, &shelf.closed(goal)),
    }
}

fn whole<T: Stored>(snapshot: &Snapshot<'_>, folder: &str) -> Result<(), Error> {
    let mut indexes: BTreeMap<String, String> = BTreeMap::new();
    let mut next = 1;
    for (from, to, path) in segments(snapshot, folder)? {
        let bytes = snapshot.bytes(&path)?.unwrap_or_default();
        let mut records = 0;
        for line in bytes.lines() {
            let id = read_line::<T>(&path, line)?.id;
            indexes.entry(index_file(folder, &id)).or_default().push_str(&format!("{id} {from}\n"));
            records += 1;
        }
        if from != next || to + 1 != from + records {
            let problem = "its name does not say which records it has".into();
            return Err(Error::Unreadable { path, problem });
        }
        next = to + 1;
    }
    let parts = snapshot.folder(&format!("{folder}/index"))?.map_or(0, |tree| tree.entries.len());
    for (path, lines) in &indexes {
        let mut lines: Vec<&str> = lines.split_inclusive('\n').collect();
        lines.sort_unstable();
        if snapshot.bytes(path)?.as_deref() != Some(lines.concat().as_bytes()) {
            let problem = "it does not say where the records are".into();
            return Err(Error::Unreadable { path: path.clone(), problem });
        }
    }
    match parts == indexes.len() {
        true => Ok(()),
        false => Err(Error::Unreadable {
            path: format!("{folder}/index"),
            problem: "it names records that are not there".into(),
        }),
    }
}

/// What has to be folded after `edit` made the state of `snapshot`, if anything.
pub(super) fn due(
    snapshot: &Snapshot<'_>,
    edit: &Edit,
    now: Timestamp,
) -> Result<Option<(Edit, Change)>, Error> {
    for goal in snapshot.goals()? {
        for shelf in Shelf::ALL {
            let folder = source(shelf, &goal);
            let in_folder = |path: &str| path.rsplit_once('/').is_some_and(|(parent, _)| parent == folder);
            let files = snapshot.folder(&folder)?.map_or(0, |tree| tree.entries.len());
            if files <= FULL || !edit.written().any(|(path, _)| in_folder(path)) {
                continue;
            }
            if let Some(edit) = fold(snapshot, shelf, &goal, now)? {
                let what = match shelf {
                    Shelf::Gates => "closed gates",
                    Shelf::Todos => "closed todos",
                    Shelf::Evidence => "old pieces of evidence",
                    Shelf::Spend => "old spends",
                };
                let subject = format!("fold {SEGMENT} {what} of goal {goal}");
                let puts = Vec::new();
                let change = Change { op: Op::Fold, subject, body: None, goal: Some(goal), turn: None, puts };
                return Ok(Some((edit, change)));
            }
        }
    }
    Ok(None)
}

/// Where the records lie that are folded.
fn source(shelf: Shelf, goal: &GoalId) -> String {
    if shelf.closes() { shelf.closed(goal) } else { shelf.open(goal) }
}

/// Puts the oldest records of a shelf into a segment. Nothing when too few are of the past.
pub(super) fn fold(
    snapshot: &Snapshot<'_>,
    shelf: Shelf,
    goal: &GoalId,
    now: Timestamp,
) -> Result<Option<Edit>, Error> {
    match shelf {
        Shelf::Todos => fold_kind::<Todo>(snapshot, shelf, goal, |todo| closed_at(&todo.state)),
        Shelf::Gates => fold_kind::<Gate>(snapshot, shelf, goal, |gate| decided_at(&gate.state)),
        Shelf::Evidence => fold_kind::<Evidence>(snapshot, shelf, goal, |evidence| Some(evidence.added.at)),
        Shelf::Spend => {
            let window_began = now.minus(snapshot.quota(goal)?.window());
            let old =
                |spend: &Spend| Some(spend.added.at).filter(|at| *at < window_began && !spend.goes_on());
            fold_kind::<Spend>(snapshot, shelf, goal, old)
        }
    }
}

fn closed_at(state: &TodoState) -> Option<Timestamp> {
    match state {
        TodoState::Done { at, .. } | TodoState::Dropped { at, .. } => Some(*at),
        TodoState::Open { .. } | TodoState::Claimed { .. } | TodoState::Blocked { .. } => None,
    }
}

fn decided_at(state: &GateState) -> Option<Timestamp> {
    match state {
        GateState::Resolved { at, .. } | GateState::Withdrawn { at, .. } => Some(*at),
        GateState::Open { .. } | GateState::Standing { .. } => None,
    }
}

/// `age_of` says since when a record has been of the past; one of
/// which it says nothing stays, and so does one that this program could not write to the byte (it has fields of a newer
/// version).
fn fold_kind<T: Stored>(
    snapshot: &Snapshot<'_>,
    shelf: Shelf,
    goal: &GoalId,
    age_of: impl Fn(&T) -> Option<Timestamp>,
) -> Result<Option<Edit>, Error> {
    let folder = source(shelf, goal);
    let Some(tree) = snapshot.folder(&folder)? else { return Ok(None) };
    let mut old = Vec::new();
    for entry in tree.entries.iter().filter(|entry| entry.mode.is_blob()) {
        let name = lossy(entry.filename.as_bstr());
        let Some(id) = name.strip_suffix(shelf.extension()) else { continue };
        let path = format!("{folder}/{name}");
        let bytes = snapshot.bytes(&path)?.unwrap_or_default();
        let record: T = format::decode(&path, &bytes)?;
        if let Some(at) = age_of(&record).filter(|_| format::encode(&record).as_bytes() == bytes) {
            old.push((at, id.to_owned(), path, record));
        }
    }
    if old.len() < SEGMENT {
        return Ok(None);
    }
    old.sort_by(|(at, id, ..), (other_at, other_id, ..)| (at, id).cmp(&(other_at, other_id)));
    old.truncate(SEGMENT);

    let closed = shelf.closed(goal);
    let from = count(snapshot, shelf, goal)? + 1;
    let mut indexes: BTreeMap<String, String> = BTreeMap::new();
    let mut edit = Edit::default();
    for (_, id, path, _) in &old {
        if let Entry::Vacant(index) = indexes.entry(index_file(&closed, id)) {
            let bytes = snapshot.bytes(index.key())?.unwrap_or_default();
            index.insert(String::from_utf8_lossy(&bytes).into_owned());
        }
        edit.remove(path.clone());
    }
    let records = old.into_iter().map(|(_, id, _, record)| (id, record));
    let (path, segment) = segment(&mut indexes, &closed, from, records);
    edit.write(path, segment);
    sorted(indexes).for_each(|(file, index)| edit.write(file, index));
    Ok(Some(edit))
}

/// A segment of the closed folder that begins with number `from`, with its path; where its records are goes into `indexes`.
fn segment<T: Stored>(
    indexes: &mut BTreeMap<String, String>,
    closed: &str,
    from: usize,
    records: impl Iterator<Item = (String, T)>,
) -> (String, String) {
    let mut segment = String::new();
    for (id, record) in records {
        indexes.entry(index_file(closed, &id)).or_default().push_str(&format!("{id} {from}\n"));
        let line = Line { format: FORMAT.to_owned(), id, record };
        segment.push_str(&serde_json::to_string(&line).expect("a record is made of texts and numbers"));
        segment.push('\n');
    }
    (format!("{closed}/{}.jsonl", stem_of(from, from + SEGMENT - 1)), segment)
}

/// The parts of an index as they are written.
fn sorted(indexes: BTreeMap<String, String>) -> impl Iterator<Item = (String, String)> {
    indexes.into_iter().map(|(file, index)| {
        let mut lines: Vec<&str> = index.lines().collect();
        lines.sort_unstable();
        (file, lines.join("\n") + "\n")
    })
}

/// The closed todos of a new goal, folded as they come: told in the order in which they were closed, they make the segments that
/// folding one by one would.
#[derive(Debug, Default)]
pub(super) struct Past {
    lying: BTreeMap<(Option<Timestamp>, TodoId), Todo>,
    indexes: BTreeMap<String, String>,
    /// How many were folded.
    folded: usize,
}

impl Past {
    /// Takes one more, and makes a file of the oldest when there are enough of them.
    pub(super) fn add(&mut self, goal: &GoalId, id: TodoId, todo: Todo) -> Option<(String, String)> {
        self.lying.insert((closed_at(&todo.state), id), todo);
        if self.lying.len() <= FULL {
            return None;
        }
        let oldest = std::iter::from_fn(|| self.lying.pop_first()).take(SEGMENT);
        let records = oldest.map(|((_, id), todo)| (id.to_string(), todo));
        let from = self.folded + 1;
        self.folded += SEGMENT;
        Some(segment(&mut self.indexes, &Shelf::Todos.closed(goal), from, records))
    }

    /// Those that lie by themselves, and the index of the others.
    pub(super) fn end(
        self,
    ) -> (impl Iterator<Item = (TodoId, Todo)>, impl Iterator<Item = (String, String)>) {
        (self.lying.into_iter().map(|((_, id), todo)| (id, todo)), sorted(self.indexes))
    }
}

/// Tells the ids of all folded records one by one.
pub(super) fn each_id(
    snapshot: &Snapshot<'_>,
    shelf: Shelf,
    goal: &GoalId,
    mut tell: impl FnMut(&str),
) -> Result<(), Error> {
    let folder = format!("{}/index", shelf.closed(goal));
    let Some(tree) = snapshot.folder(&folder)? else { return Ok(()) };
    for entry in &tree.entries {
        let index = snapshot.bytes(&format!("{folder}/{}", lossy(entry.filename.as_bstr())))?;
        let index = index.unwrap_or_default();
        index.lines().filter_map(|line| Some(line.to_str().ok()?.split_once(' ')?.0)).for_each(&mut tell);
    }
    Ok(())
}

/// The ids of records that are in several segments, as they were opened again and folded again.
pub(super) fn folded_again(
    snapshot: &Snapshot<'_>,
    shelf: Shelf,
    goal: &GoalId,
) -> Result<BTreeSet<String>, Error> {
    let (mut again, mut last) = (BTreeSet::new(), String::new());
    each_id(snapshot, shelf, goal, |id| {
        if id == last {
            again.insert(id.to_owned());
        }
        id.clone_into(&mut last);
    })?;
    Ok(again)
}

/// Looks whether reading this line keeps its promise; see [`super::outside`].
#[cfg(any(test, fuzzing))]
pub(super) fn promises<T: Stored>(line: &[u8]) {
    let Ok(read) = read_line::<T>("it", line) else { return };
    let written = serde_json::to_string(&read).expect("a record is made of texts and numbers");
    let again = read_line::<T>("it", written.as_bytes()).expect("what was written can be read");
    assert_eq!(serde_json::to_string(&again).expect("the same"), written);
}

/// The same for the name of a file in a closed folder.
#[cfg(any(test, fuzzing))]
pub(super) fn promises_of_name(name: &str) {
    let stem = name.strip_suffix(".jsonl");
    let bounds = stem.and_then(bounds);
    assert_eq!(bounds.map(|(from, to)| stem_of(from, to)).as_deref(), stem.filter(|_| bounds.is_some()));
    assert!(bounds.is_none() || is_made_by_folding(name));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_called_by_the_first_character_of_ids() {
        assert!(is_made_by_folding("index/7.txt") && is_made_by_folding("index/z.txt"));
        for odd in ["index//.txt", "index/..txt", "index/\\.txt", "index/A.txt", "index/77.txt", "index/.txt"]
        {
            assert!(!is_made_by_folding(odd), "{odd}");
        }
    }
}
