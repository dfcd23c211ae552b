//! The tip's commit, its trees and the open records in a file, `.git/loopx/hot`, so that a reader opens one file and not
//! fifty. What the next decision does not depend on, where a goal has many open todos, lies in a second one,
//! `.git/loopx/hot-rest`, which `should-run` leaves alone; `outlines.rs` knows what that is.
//!
//! They are no second truth. Entries are found by the id that the state branch or a tree of it names, and are only
//! believed when their bytes have that id; so an old, torn or forged file can make reading slower and nothing else.
//! Writers append to them under their lock. They can be deleted at any time.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    io::{self, Write as _},
    ops::Range,
    path::{Path, PathBuf},
};

use gix::{ObjectId, objs::Kind};

use super::{
    Snapshot,
    git::Fresh,
    layout::{self, Edit, Named},
    outlines, read_plain_file,
    snapshot::AtHand,
};
use crate::domain::id::GoalId;

const NEAR: &str = "hot";
const REST: &str = "hot-rest";
/// Room for growth before a file is written anew with only what is open.
const SLACK: usize = 64 * 1024;
/// A tree of so many bytes is kept apart where there are many todos: it may be their folder.
const LARGE: usize = 16 * 1024;
/// The first line, before the size that the file had when it was written anew.
const HEAD: &str = "loopx-hot 1 ";

/// What was at hand when the files were read.
#[derive(Debug)]
pub(super) struct Hot {
    dir: PathBuf,
    kind: gix::hash::Kind,
    near: Part,
    rest: OnceCell<Part>,
}

/// One of the files.
#[derive(Debug)]
struct Part {
    bytes: Vec<u8>,
    entries: HashMap<ObjectId, Range<usize>>,
    /// Size of the file when it was last written anew; none when there is no file of ours, or when it is torn, so that
    /// nothing behind the tear would be read.
    base: Option<usize>,
}

impl Part {
    fn load(path: &Path, kind: gix::hash::Kind) -> Self {
        Self::read(read_plain_file(path).unwrap_or_default(), kind)
    }

    fn read(bytes: Vec<u8>, kind: gix::hash::Kind) -> Self {
        let head = bytes.iter().position(|byte| *byte == b'\n');
        let base =
            head.and_then(|end| std::str::from_utf8(&bytes[..end]).ok()?.strip_prefix(HEAD)?.parse().ok());
        let (entries, end) = match (base, head) {
            (Some(_), Some(end)) => parse(&bytes, end + 1, kind),
            _ => (HashMap::new(), 0),
        };
        let base = base.filter(|_| end == bytes.len());
        Self { bytes, entries, base }
    }

    fn get(&self, id: ObjectId, kind: Kind) -> Option<&[u8]> {
        let bytes = &self.bytes[self.entries.get(&id)?.clone()];
        let real = gix::objs::compute_hash(id.kind(), kind, bytes).ok()?;
        (real == id).then_some(bytes)
    }

    /// Whether something can be added: it is neither missing nor mostly of the past.
    fn has_room(&self) -> bool {
        self.base.is_some_and(|base| self.bytes.len() < base * 2 + SLACK)
    }
}

/// Objects by their ids.
type Entries = BTreeMap<ObjectId, Vec<u8>>;

impl Hot {
    pub(super) fn load(dir: &Path, kind: gix::hash::Kind) -> Self {
        let near = Part::load(&dir.join(NEAR), kind);
        Self { dir: dir.to_owned(), kind, near, rest: OnceCell::new() }
    }

    /// Nothing at hand, so that everything is read from git.
    pub(super) fn none(kind: gix::hash::Kind) -> Self {
        let nothing = || Part::read(Vec::new(), kind);
        Self { dir: PathBuf::new(), kind, near: nothing(), rest: nothing().into() }
    }

    fn rest(&self) -> &Part {
        self.rest.get_or_init(|| Part::load(&self.dir.join(REST), self.kind))
    }

    pub(super) fn get(&self, id: ObjectId, kind: Kind) -> Option<&[u8]> {
        self.near.get(id, kind).or_else(|| self.rest().get(id, kind))
    }

    /// Adds what the last mutation wrote, without what was closed by it, or writes the files anew when one of them is missing
    /// or mostly of the past. The next reader does without whatever fails here.
    pub(super) fn keep(&self, snapshot: &Snapshot<'_>, edit: &Edit, fresh: &[Fresh]) {
        let foremost = outlines::refresh_touched(&self.dir, snapshot, edit);
        let has_rest = !foremost.is_empty();
        let [mut near, rest] = self.split(edit, fresh, has_rest);
        if !self.near.has_room() || has_rest && !self.rest().has_room() {
            return Self::renew(&self.dir, snapshot);
        }
        for id in foremost.into_iter().filter(|id| !self.near.entries.contains_key(id)) {
            if let (false, Ok(bytes)) = (near.contains_key(&id), snapshot.blob(id)) {
                near.insert(id, bytes);
            }
        }
        drop(append(&self.dir.join(NEAR), &near));
        drop(append(&self.dir.join(REST), &rest));
    }

    /// What of a mutation is to be added to each of the files; with `has_rest`, large folders to the second.
    fn split(&self, edit: &Edit, fresh: &[Fresh], has_rest: bool) -> [Entries; 2] {
        let is_present = |(path, _): &(&str, &[u8])| layout::is_of_the_present(path);
        let records = edit.written().filter(is_present).map(|(_, bytes)| (Kind::Blob, bytes));
        let nodes = fresh.iter().filter_map(|(_, kind, bytes)| Some((*kind, bytes.as_deref()?)));
        let nodes = nodes.filter(|(kind, _)| *kind != Kind::Blob);
        let mut parts = [Entries::new(), Entries::new()];
        for (kind, bytes) in records.chain(nodes) {
            if let Ok(id) = gix::objs::compute_hash(self.kind, kind, bytes) {
                parts[usize::from(has_rest && is_large(kind, bytes))].insert(id, bytes.to_vec());
            }
        }
        parts
    }

    /// Writes the files anew with what is open. The next reader does without if that fails.
    pub(super) fn renew(dir: &Path, snapshot: &Snapshot<'_>) {
        drop(renew(dir, snapshot));
    }
}

fn is_large(kind: Kind, bytes: &[u8]) -> bool {
    kind == Kind::Tree && bytes.len() >= LARGE
}

/// `<hex id> <length>\n<bytes>\n`, one after the other. Reading ends at the first thing that is not of this form; where
/// that was is returned, too.
fn parse(bytes: &[u8], mut at: usize, kind: gix::hash::Kind) -> (HashMap<ObjectId, Range<usize>>, usize) {
    let mut entries = HashMap::new();
    while let Some(end) = bytes[at..].iter().position(|byte| *byte == b'\n').map(|length| at + length) {
        let head = std::str::from_utf8(&bytes[at..end]).ok().and_then(|head| head.split_once(' '));
        let Some((hex, length)) = head else { break };
        let (Ok(id), Ok(length)) = (ObjectId::from_hex(hex.as_bytes()), length.parse::<usize>()) else {
            break;
        };
        let body = end + 1..(end + 1).saturating_add(length);
        if id.kind() != kind || bytes.get(body.end) != Some(&b'\n') {
            break;
        }
        at = body.end + 1;
        entries.insert(id, body);
    }
    (entries, at)
}

fn head(id: ObjectId, bytes: &[u8]) -> String {
    format!("{id} {}\n", bytes.len())
}

fn entry(id: ObjectId, bytes: &[u8], out: &mut impl io::Write) -> io::Result<()> {
    out.write_all(head(id, bytes).as_bytes())?;
    out.write_all(bytes)?;
    out.write_all(b"\n")
}

fn body<'e>(entries: impl IntoIterator<Item = (&'e ObjectId, &'e Vec<u8>)>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut entries = entries.into_iter();
    entries
        .try_for_each(|(id, bytes)| entry(*id, bytes, &mut out))
        .expect("nothing fails that goes to memory");
    out
}

fn append(path: &Path, entries: &Entries) -> io::Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    // One write, so that a reader sees all of it or an end it does not believe.
    fs::File::options().append(true).open(path)?.write_all(&body(entries))
}

/// Writes the files anew with what is open in `snapshot`.
fn renew(dir: &Path, snapshot: &Snapshot<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let mut foremost: BTreeMap<GoalId, BTreeSet<ObjectId>> = BTreeMap::new();
    for goal in snapshot.goals()? {
        if let Ok(Some(word)) = outlines::refresh(dir, snapshot, &goal) {
            foremost.insert(goal, word.todos.into_iter().map(|(_, blob)| blob).collect());
        }
    }
    let waits = |path: &str, id: &ObjectId| match layout::named(path) {
        Some(Named::Todo(goal, _)) => foremost.get(&goal).is_some_and(|foremost| !foremost.contains(id)),
        _ => false,
    };
    let mut parts = [Entries::new(), Entries::new()];
    for AtHand { path, id, kind, bytes } in snapshot.at_hand()? {
        let is_rest = waits(&path, &id) || !foremost.is_empty() && is_large(kind, &bytes);
        parts[usize::from(is_rest)].insert(id, bytes);
    }
    for (name, entries) in [NEAR, REST].into_iter().zip(parts) {
        let path = dir.join(name);
        if name == REST && entries.is_empty() {
            drop(fs::remove_file(path));
            continue;
        }
        let length: usize = entries.iter().map(|(id, bytes)| head(*id, bytes).len() + bytes.len() + 1).sum();
        let mut file = io::BufWriter::new(tempfile::NamedTempFile::new_in(dir)?);
        writeln!(file, "{HEAD}{length}")?;
        entries.iter().try_for_each(|(id, bytes)| entry(*id, bytes, &mut file))?;
        file.into_inner()?.persist(path)?;
    }
    Ok(())
}

/// Looks whether reading these bytes keeps its promise; see [`super::outside`].
#[cfg(any(test, fuzzing))]
pub(super) fn promises(bytes: &[u8], kind: gix::hash::Kind) {
    let (entries, end) = parse(bytes, 0, kind);
    let (mut last, mut written) = (0, 0);
    for (id, body) in &entries {
        let mut again = Vec::new();
        entry(*id, &bytes[body.clone()], &mut again).unwrap();
        written += again.len();
        last = last.max(body.end + 1);
    }
    // Of two with the same id the later one counts.
    assert!(last == end && written <= end && end <= bytes.len());
    let hot = Part::read([format!("{HEAD}0\n").as_bytes(), bytes].concat(), kind);
    assert_eq!(hot.entries.len(), entries.len());
    for id in entries.keys() {
        hot.get(*id, Kind::Blob);
    }
    drop(Part::read(bytes.to_vec(), kind));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(bytes: &[u8]) -> ObjectId {
        gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, bytes).unwrap()
    }

    fn read(entries: &[u8]) -> Part {
        Part::read([format!("{HEAD}0\n").as_bytes(), entries].concat(), gix::hash::Kind::Sha1)
    }

    #[test]
    fn what_was_put_in_comes_out_up_to_the_first_tear() {
        let mut file = Vec::new();
        entry(id(b"a\n\nb"), b"a\n\nb", &mut file).unwrap();
        entry(id(b""), b"", &mut file).unwrap();
        let whole = file.len();
        entry(id(b"torn"), b"torn", &mut file).unwrap();
        for end in whole..file.len() {
            let hot = read(&file[..end]);
            assert_eq!(hot.get(id(b"a\n\nb"), Kind::Blob), Some(&b"a\n\nb"[..]));
            assert_eq!(hot.get(id(b""), Kind::Blob), Some(&b""[..]));
            assert_eq!(hot.get(id(b"torn"), Kind::Blob), None);
        }
        for nonsense in [&b""[..], b"\n", b"x", &[0; 99], b"zz 3\nabc\n", &[0xff; 64]] {
            assert!(read(nonsense).entries.is_empty());
        }
    }

    #[test]
    fn a_forged_entry_is_not_believed() {
        let mut file = Vec::new();
        entry(id(b"is = \"open\""), b"is = \"resolved\"", &mut file).unwrap();
        assert_eq!(read(&file).get(id(b"is = \"open\""), Kind::Blob), None);
    }
}
