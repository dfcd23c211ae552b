//! The whole state in one file, and back.
//!
//! The file is JSON lines: a head that says what it is, one line for each file of the state with its digest, and a foot with
//! the digest of everything before it. Nothing in it depends on when or where it was made, so that what is imported
//! exports to the same bytes. Goals that another tool kept come in the same way, beside those that are there.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    io::{self, BufRead, Seek, SeekFrom},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{
    Error, Message, Snapshot, Store, Updated,
    archive::{self, Past},
    layout::{self, Edit, Shelf},
    screen::{self, Cleared},
    verify,
    view::{Look, diff},
};
use crate::domain::{
    actor::Stamp,
    change::{Change, Op, Record},
    id::{GoalId, TodoId},
    needs::circle,
    policy::RepositoryId,
    text::{hex, shown},
};

/// The version of the file's form.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    loopx_export: u32,
    repository: RepositoryId,
    files: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    path: String,
    sha256: String,
    text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Foot {
    end: usize,
    sha256: String,
}

/// A state as it stands in an export. What lies in it was looked at once and is read again when it is needed, so that
/// nobody has to hold all of it.
#[derive(Debug)]
pub struct Export<S> {
    source: S,
    repository: RepositoryId,
    sha256: String,
    files: BTreeMap<String, Place>,
}

/// A line of an export.
#[derive(Debug)]
struct Place {
    number: usize,
    /// Where it begins, in bytes.
    at: u64,
    sha256: String,
}

fn line<T: Serialize>(line: &T) -> String {
    serde_json::to_string(line).expect("texts and numbers") + "\n"
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// What an export came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// The commit whose state it is, in hex.
    pub tip: String,
    pub files: usize,
    /// The digest that the last line has, in hex: of everything before it.
    pub sha256: String,
}

fn bad(line: usize, problem: impl Into<String>) -> Error {
    Error::BadExport { line, problem: problem.into() }
}

/// The next line without its end; `None` behind the last.
fn next_line(source: &mut impl BufRead) -> Result<Option<Vec<u8>>, Error> {
    let mut line = Vec::new();
    let read = source.read_until(b'\n', &mut line).map_err(Error::io("read", "the export"))?;
    Ok((read > 0).then_some(line))
}

impl<S: BufRead + Seek> Export<S> {
    /// Reads an export to its end. A file that was cut off, changed or made by a newer loopx is refused with the place.
    pub fn parse(mut source: S) -> Result<Self, Error> {
        let first = next_line(&mut source)?.ok_or_else(|| bad(1, "the file is too short"))?;
        let head = head(&first)?;
        let mut digest = Sha256::new();
        digest.update(&first);
        let (mut at, mut files) = (first.len() as u64, BTreeMap::new());
        for number in 2.. {
            let text = next_line(&mut source)?.ok_or_else(|| bad(number, "the end is missing"))?;
            let is_last = source.fill_buf().map_err(Error::io("read", "the export"))?.is_empty();
            if is_last {
                let foot: Foot =
                    serde_json::from_slice(&text).map_err(|_| bad(number, "the end is missing"))?;
                if foot.sha256 != hex(&digest.finalize())
                    || foot.end != head.files
                    || files.len() != head.files
                {
                    return Err(bad(number, "the file was changed after it was made"));
                }
                return Ok(Self { source, repository: head.repository, sha256: foot.sha256, files });
            }
            let line = Line::read(number, &text)?;
            if !layout::is_of_a_state(&line.path) || files.contains_key(&line.path) {
                return Err(bad(number, format!("`{}` is no file of a state", shown(&line.path, 200))));
            }
            files.insert(line.path, Place { number, at, sha256: line.sha256 });
            digest.update(&text);
            at += text.len() as u64;
        }
        Err(bad(1, "the file is too long"))
    }

    /// The files with what lies in them, one after the other.
    pub(super) fn contents(&mut self) -> impl Iterator<Item = Result<(String, Vec<u8>), Error>> {
        let Self { source, files, .. } = self;
        files.iter().map(|(path, place)| {
            source.seek(SeekFrom::Start(place.at)).map_err(Error::io("read", "the export"))?;
            let text = next_line(source)?.unwrap_or_default();
            let line = Line::read(place.number, &text)?;
            match line.path == *path && line.sha256 == place.sha256 {
                true => Ok((line.path, line.text.into_bytes())),
                false => Err(bad(place.number, "the file was changed while it was read")),
            }
        })
    }
}

impl Line {
    fn read(number: usize, text: &[u8]) -> Result<Self, Error> {
        let line: Self = serde_json::from_slice(text).map_err(|error| bad(number, error.to_string()))?;
        match line.sha256 == sha256(line.text.as_bytes()) {
            true => Ok(line),
            false => Err(bad(number, format!("`{}` was changed", shown(&line.path, 200)))),
        }
    }
}

fn head(line: &[u8]) -> Result<Head, Error> {
    let version: Result<BTreeMap<String, serde_json::Value>, _> = serde_json::from_slice(line);
    let version = version.ok().and_then(|head| head.get("loopx_export")?.as_u64());
    match version {
        Some(version) if version == u64::from(VERSION) => {
            serde_json::from_slice(line).map_err(|error| bad(1, error.to_string()))
        }
        Some(newer) => Err(bad(1, format!("it has version {newer}, and this loopx reads {VERSION}"))),
        None => Err(bad(1, "it is no export of loopx")),
    }
}

/// The export of any such files, be they of a state or not.
#[cfg(any(test, fuzzing))]
pub(super) fn written<'a>(files: impl ExactSizeIterator<Item = (&'a str, &'a str)>) -> String {
    let (repository, count) = (RepositoryId::new(&[7; 16]), files.len());
    let mut out = line(&Head { loopx_export: VERSION, repository, files: count });
    for (path, text) in files {
        out += &line(&Line { sha256: sha256(text.as_bytes()), path: path.into(), text: text.into() });
    }
    let foot = Foot { end: count, sha256: sha256(out.as_bytes()) };
    out + &line(&foot)
}

impl<S> Export<S> {
    /// The repository whose state it is.
    pub fn repository(&self) -> &RepositoryId {
        &self.repository
    }

    /// The digest of the file, in hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// How many files the state has.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// How many goals the state has, and how many gates in force.
    pub fn counts(&self) -> (usize, usize) {
        let count = |is: fn(&str) -> bool| self.files.keys().filter(|path| is(path)).count();
        (count(layout::is_a_goal), count(layout::is_a_gate_in_force))
    }
}

impl Store {
    /// Writes the state as one file to `out`, file by file. Only a state that can be trusted is exported.
    pub fn export(&self, mut out: impl io::Write) -> Result<Exported, Error> {
        let snapshot = self.trusted()?;
        let paths = paths(&snapshot)?;
        let mut digest = Sha256::new();
        let mut put = |line: &str, digest: &mut Sha256| {
            digest.update(line);
            out.write_all(line.as_bytes()).map_err(Error::io("write", "the export"))
        };
        let (repository, files) = (snapshot.policy()?.repository, paths.len());
        put(&line(&Head { loopx_export: VERSION, repository, files }), &mut digest)?;
        for path in paths {
            let bytes = snapshot.bytes(&path)?.unwrap_or_default();
            let unreadable = |_| Error::Unreadable { path: path.clone(), problem: "it is no text".into() };
            let text = String::from_utf8(bytes).map_err(unreadable)?;
            put(&line(&Line { sha256: sha256(text.as_bytes()), path, text }), &mut digest)?;
        }
        let sha256 = hex(&digest.clone().finalize());
        put(&line(&Foot { end: files, sha256: sha256.clone() }), &mut digest)?;
        Ok(Exported { tip: snapshot.tip(), files, sha256 })
    }

    /// An error when there are goals, which an import would have to overwrite.
    pub fn must_be_empty(&self) -> Result<(), Error> {
        match self.trusted()?.goals()?.is_empty() {
            true => Ok(()),
            false => Err(Error::NotEmpty),
        }
    }

    /// Puts an export where a state was begun and nothing added to it yet, as one commit. Whatever is no whole state is
    /// refused before the branch moves.
    pub fn import<S: BufRead + Seek>(
        &self,
        export: &mut Export<S>,
        stamp: &Stamp,
    ) -> Result<Updated<()>, Error> {
        let change =
            Change::without_records(Op::Import, format!("import the state of {}", export.repository));
        self.put(&change, stamp, |before| {
            if !before.goals()?.is_empty() {
                return Err(Error::NotEmpty);
            }
            let mut edit = Edit::default();
            for path in paths(before)?.into_iter().filter(|path| !export.files.contains_key(path)) {
                edit.remove(path);
            }
            Ok((edit, export.contents()))
        })
    }

    /// Puts goals that are not there yet, with everything in them, as one commit: what [`NewGoals`] made of their records.
    /// `change` is an [import](Op::Import) and has the records of the goals themselves; a file of anything else is refused.
    pub fn adopt(
        &self,
        change: &Change,
        stamp: &Stamp,
        files: impl Iterator<Item = io::Result<(String, String)>>,
    ) -> Result<Updated<()>, Error> {
        let made = |before: &Snapshot<'_>| {
            let there = before.goals()?;
            let files = files.map(move |file| {
                let (path, text) = file.map_err(Error::io("read", "a temporary file"))?;
                match layout::goal_of(&path).is_some_and(|goal| !there.contains(&goal)) {
                    true => Ok((path, text.into_bytes())),
                    false => {
                        Err(Error::NotNew(layout::named(&path).map_or(path, |named| named.record_name())))
                    }
                }
            });
            Ok((Edit::default(), files))
        };
        self.put(change, stamp, made).map_err(screen::of_a_new_record)
    }

    /// Commits the edit that `made` makes of the tip and its files besides, if it is a whole state after that.
    fn put<I: Iterator<Item = Result<(String, Vec<u8>), Error>>>(
        &self,
        change: &Change,
        stamp: &Stamp,
        made: impl FnOnce(&Snapshot<'_>) -> Result<(Edit, I), Error>,
    ) -> Result<Updated<()>, Error> {
        let signer = self.git.identity()?;
        let (writer, base) = self.enter()?;
        let before = self.at(base)?;
        let (edit, files) = made(&before)?;
        let message = Message::of(change, stamp, &signer);
        let cleared = Cleared::of(&before, &edit, change)?;
        let (policy, custom) = (before.policy()?, screen::custom(&self.git)?);
        let files = files.map(|file| {
            let (path, bytes) = file?;
            screen::must_be_clear(&custom, &policy, &path, &bytes)?;
            Ok((path, bytes))
        });
        let new = self.git.commit_with(cleared, files, Some(&before.commit()), &message)?;
        let after = self.at(new)?;
        must_be_whole(&after).and_then(|()| must_be_apart(&before, &after)).map_err(Error::NotWhole)?;
        let warnings = self.move_on(writer, base, new, &message)?;
        Ok(Updated { value: (), commit: Some(new.to_string()), warnings })
    }
}

/// Makes files of the records of goals that are not there yet, told one by one. Of many closed todos the oldest are folded at
/// once.
#[derive(Debug, Default)]
pub struct NewGoals {
    past: BTreeMap<GoalId, Past>,
}

impl NewGoals {
    /// The file that there is on account of one more record, with its path; none when it waits for others.
    pub fn add(&mut self, record: Record) -> Result<Option<(String, String)>, Error> {
        match record {
            Record::Todo(goal, id, todo) if todo.is_closed() => {
                Ok(self.past.entry(goal.clone()).or_default().add(&goal, id, todo))
            }
            record => layout::file(&record).map(Some),
        }
    }

    /// The files of what has waited.
    pub fn rest(self) -> impl Iterator<Item = Result<(String, String), Error>> {
        self.past.into_iter().flat_map(|(goal, past)| {
            let (lying, index) = past.end();
            let lying = lying.map(move |(id, todo)| layout::file(&Record::Todo(goal.clone(), id, todo)));
            lying.chain(index.map(Ok))
        })
    }
}

/// Looks whether the todos and the evidence of the goals that came have ids which nothing had before. The error names
/// one that does not.
pub(super) fn must_be_apart(before: &Snapshot<'_>, after: &Snapshot<'_>) -> Result<(), String> {
    let said = |error: Error| error.to_string();
    let twice = |id: &str| format!("`{}` is there twice", shown(id, 40));
    let there = before.goals().map_err(said)?;
    let goals: Vec<GoalId> =
        after.goals().map_err(said)?.into_iter().filter(|goal| !there.contains(goal)).collect();
    let each = |goal: &GoalId, tell: &mut dyn FnMut(Shelf, &str)| {
        for shelf in [Shelf::Todos, Shelf::Evidence] {
            after.each_id(shelf, goal, |id| tell(shelf, id)).map_err(said)?;
        }
        Ok::<_, String>(())
    };
    // All ids of a long past take more room than their hashes. Within a goal the past tells some again: what was opened again
    // is folded and lies there, too.
    let hash = BuildHasherDefault::<DefaultHasher>::default();
    let (mut hashes, mut taken) = (Vec::new(), Ok(()));
    for goal in &goals {
        let mut own = Vec::new();
        each(goal, &mut |shelf, id| {
            own.push(hash.hash_one(id));
            if taken.is_ok() {
                taken = match before.taken(shelf, id) {
                    Ok(false) => Ok(()),
                    Ok(true) => Err(twice(id)),
                    Err(error) => Err(said(error)),
                };
            }
        })?;
        own.sort_unstable();
        own.dedup();
        hashes.append(&mut own);
    }
    taken?;
    hashes.sort_unstable();
    let alike: BTreeSet<u64> = hashes.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0]).collect();
    let (mut seen, mut again) = (BTreeSet::new(), Ok(()));
    for goal in goals.iter().filter(|_| !alike.is_empty()) {
        let mut own = BTreeSet::new();
        each(goal, &mut |_, id| own.extend(alike.contains(&hash.hash_one(id)).then(|| id.to_owned())))?;
        if let Some(id) = own.intersection(&seen).next() {
            again = Err(twice(id));
        }
        seen.append(&mut own);
    }
    again
}

/// The files of a state, sorted.
fn paths(snapshot: &Snapshot<'_>) -> Result<Vec<String>, Error> {
    let mut files = BTreeMap::new();
    diff(snapshot.git(), None, Some(snapshot.commit().tree), Look::Changes, "", &mut files)?;
    Ok(files.into_keys().collect())
}

/// Looks at everything a state consists of: each record canonical and in its place, each segment and its index in
/// agreement, and nothing else. The error says what is wrong.
pub(super) fn must_be_whole(snapshot: &Snapshot<'_>) -> Result<(), String> {
    let said = |error: Error| error.to_string();
    for path in paths(snapshot).map_err(said)? {
        let bytes = snapshot.bytes(&path).map_err(said)?.unwrap_or_default();
        match layout::named(&path) {
            Some(named) => drop(verify::record(&named, &path, &bytes)?),
            None if layout::is_of_a_state(&path) => {}
            None => return Err(format!("`{}` is no file of a state", shown(&path, 200))),
        }
    }
    let (attributes, lines) = layout::ATTRIBUTES;
    if snapshot.bytes(attributes).map_err(said)?.as_deref() != Some(lines.as_bytes()) {
        return Err(format!("`{attributes}` is not what loopx makes"));
    }
    for goal in snapshot.goals().map_err(said)? {
        snapshot.quotas().map_err(said)?;
        if snapshot.goal(&goal).map_err(said)?.is_none() {
            let (path, problem) = (layout::goal_file(&goal), "it is missing".into());
            return Err(said(Error::Unreadable { path, problem }));
        }
        for shelf in Shelf::ALL {
            archive::must_be_whole(snapshot, shelf, &goal).map_err(said)?;
            if let Some(id) = snapshot.open_and_closed(shelf, &goal).map_err(said)? {
                return Err(format!("`{}` is there twice", shown(&id, 40)));
            }
        }
        // All open todos take a hundred times the room of their names.
        let needs =
            |id: &TodoId| Ok(snapshot.open_todo(&goal, id)?.map(|todo| todo.needs).unwrap_or_default());
        let circle = circle(snapshot.open_todos(&goal).map_err(said)?, needs).map_err(said)?;
        if let Some(first) = circle.and_then(|circle| circle.first().cloned()) {
            return Err(format!("todo `{first}` would need itself in the end"));
        }
    }
    Ok(())
}
