//! What lies at hand of a goal with many open todos: which of them a decision depends on, in `.git/loopx/open-<goal>`, so
//! that most of them need not be read to make one.
//!
//! ```text
//! loopx-open 1 <todos> <length> <part> <rest>     the id of the goal's folder of todos, and digests of what follows; `-` for
//!                                                 the length when a decision depends on too many to leave any out
//! t-7k3q <blob>                                   a todo that decisions depend on
//! t-9w2d                                          one that a todo above needs, and that need not be read
//! t-9w2d <blob> 1796000000 - t-7k3q,t-2m4x        the rest: every open todo, when it was added, whether it stands out (`*`), what it needs
//! ```
//!
//! It counts for the one folder that it names, and the todos that it names are read by their ids. That it names the right
//! ones is believed of a file that is whole: whoever can write below `.git` could move the branch as well. Nothing that
//! refuses anything relies on it, only the question what comes next. Writers bring it up to date under their lock. It can be
//! deleted at any time.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    rc::Rc,
};

use gix::{ObjectId, bstr::ByteSlice as _, objs::Tree};

use sha2::{Digest as _, Sha256};

use super::{
    Error, Snapshot, format,
    layout::{self, Edit, Named, Shelf},
    read_plain_file,
};
use crate::domain::{
    foremost::{Foremost, Outline},
    id::{GoalId, TodoId},
    text::hex,
    time::Timestamp,
    todo::Todo,
};

const HEAD: &str = "loopx-open 1 ";
/// So many todos are read as quickly as this file.
const FEW: usize = 64;

fn file(dir: &Path, goal: &GoalId) -> PathBuf {
    dir.join(format!("open-{goal}"))
}

/// The todos that decisions depend on, by the ids of their blobs, and those behind them.
pub(super) struct Word {
    pub(super) todos: Vec<(TodoId, ObjectId)>,
    pub(super) behind: Vec<TodoId>,
}

/// The first line.
struct Head {
    folder: ObjectId,
    /// Bytes of the first part; none when there is no such part, because reading all todos is as quick.
    length: Option<usize>,
    part: String,
    rest: String,
}

/// Tells what is whole from what is not. Nothing rests on it that a forger could not do in other ways.
fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

impl Head {
    fn parse(line: &str) -> Option<Self> {
        let words: Vec<_> = line.strip_prefix(HEAD)?.split(' ').collect();
        let [folder, length, part, rest] = words[..] else { return None };
        let folder = ObjectId::from_hex(folder.as_bytes()).ok()?;
        let length = if length == "-" { None } else { Some(length.parse().ok()?) };
        Some(Self { folder, length, part: part.to_owned(), rest: rest.to_owned() })
    }
}

/// What the file says of the folder `todos`, if it is about that one and its first part is whole; the inner nothing when a
/// decision takes all of them.
fn said(dir: &Path, goal: &GoalId, todos: ObjectId) -> Option<Option<Word>> {
    let path = file(dir, goal);
    fs::metadata(&path).ok().filter(|meta| meta.is_file())?;
    let mut reader = BufReader::new(File::open(path).ok()?);
    let mut line = String::new();
    reader.by_ref().take(400).read_line(&mut line).ok()?;
    let head = Head::parse(line.strip_suffix('\n')?)?;
    (head.folder == todos).then_some(())?;
    let Some(length) = head.length else { return Some(None) };
    let mut part = Vec::new();
    reader.take(length as u64).read_to_end(&mut part).ok()?;
    (digest(&part) == head.part).then_some(())?;
    parse_part(&part).map(Some)
}

/// Which of the todos in the folder `todos` a decision depends on, if the file says so.
pub(super) fn word(dir: &Path, goal: &GoalId, todos: ObjectId) -> Option<Word> {
    said(dir, goal, todos).flatten()
}

fn parse_part(part: &[u8]) -> Option<Word> {
    let mut word = Word { todos: Vec::new(), behind: Vec::new() };
    for line in part.to_str().ok()?.lines() {
        match line.split_once(' ') {
            Some((id, blob)) => {
                word.todos.push((id.parse().ok()?, ObjectId::from_hex(blob.as_bytes()).ok()?));
            }
            None => word.behind.push(line.parse().ok()?),
        }
    }
    Some(word)
}

type Outlines = BTreeMap<TodoId, Outline>;
type Blobs = BTreeMap<TodoId, ObjectId>;

/// Every todo that the file tells of, whichever folder it is about; none when it is not whole.
fn all(bytes: &[u8]) -> Option<BTreeMap<TodoId, (ObjectId, Outline)>> {
    let (line, parts) = bytes.split_once_str("\n")?;
    let head = Head::parse(line.to_str().ok()?)?;
    let rest = parts.get(head.length.unwrap_or(0)..)?;
    (digest(rest) == head.rest).then_some(())?;
    rest.to_str().ok()?.lines().map(parse_outline).collect()
}

fn parse_outline(line: &str) -> Option<(TodoId, (ObjectId, Outline))> {
    let words: Vec<_> = line.split(' ').collect();
    let [id, blob, added, mark, needs] = words[..] else { return None };
    let needs = needs.split(',').filter(|need| !need.is_empty()).map(|need| need.parse().ok());
    let outline = Outline {
        needs: needs.collect::<Option<_>>()?,
        added: Timestamp::from_unix(added.parse().ok()?),
        stands_out: mark == "*",
    };
    Some((id.parse().ok()?, (ObjectId::from_hex(blob.as_bytes()).ok()?, outline)))
}

/// The bytes of the file; without the first part unless it pays.
fn written(folder: ObjectId, blobs: &Blobs, outlines: &Outlines, foremost: Option<&Foremost>) -> String {
    let mut part = String::new();
    for id in foremost.iter().flat_map(|foremost| &foremost.todos) {
        let _ = writeln!(part, "{id} {}", blobs[id]);
    }
    for id in foremost.iter().flat_map(|foremost| &foremost.behind) {
        let _ = writeln!(part, "{id}");
    }
    let mut rest = String::new();
    for ((id, outline), blob) in outlines.iter().zip(blobs.values()) {
        let mark = if outline.stands_out { '*' } else { '-' };
        let _ = write!(rest, "{id} {blob} {} {mark} ", outline.added.unix());
        for (place, need) in outline.needs.iter().enumerate() {
            let _ = write!(rest, "{}{need}", if place == 0 { "" } else { "," });
        }
        rest.push('\n');
    }
    let [one, other] = [&part, &rest].map(|text| digest(text.as_bytes()));
    let length = foremost.map_or("-".to_owned(), |_| part.len().to_string());
    format!("{HEAD}{folder} {length} {one} {other}\n{part}{rest}")
}

/// The open todos in a folder by the ids of their blobs; none when something else is there, which whoever reads all will name.
fn blobs(tree: &Tree) -> Option<Blobs> {
    let files = tree.entries.iter().filter(|entry| !entry.mode.is_tree());
    let todos = files.map(|entry| {
        let name = entry.filename.to_str().ok().filter(|_| entry.mode.is_blob())?;
        Some((name.strip_suffix(Shelf::Todos.extension())?.parse().ok()?, entry.oid))
    });
    todos.collect()
}

/// Brings the file of a goal up to date, or removes it where there are few todos. Returns what it says now.
pub(super) fn refresh(
    dir: &Path,
    snapshot: &Snapshot<'_>,
    goal: &GoalId,
) -> Result<Option<Word>, Box<dyn std::error::Error>> {
    let (path, folder) = (file(dir, goal), Shelf::Todos.open(goal));
    let id = snapshot.folder_id(&folder)?;
    if let Some(said) = id.and_then(|id| said(dir, goal, id)) {
        return Ok(said);
    }
    let tree: Option<Rc<Tree>> = snapshot.folder(&folder)?;
    let (Some(tree), Some(id)) = (tree.filter(|tree| tree.entries.len() > FEW), id) else {
        drop(fs::remove_file(path));
        return Ok(None);
    };
    let mut known = read_plain_file(&path).and_then(|bytes| all(&bytes)).unwrap_or_default();
    let blobs = blobs(&tree).ok_or("something else is there")?;
    let outline = |(todo, blob): (&TodoId, &ObjectId)| -> Result<_, Error> {
        let outline = match known.remove(todo) {
            Some((known, outline)) if known == *blob => outline,
            _ => {
                let name = Shelf::Todos.open_file(goal, todo.as_str());
                Outline::of(&format::decode::<Todo>(&name, &snapshot.blob(*blob)?)?)
            }
        };
        Ok((todo.clone(), outline))
    };
    let outlines = blobs.iter().map(outline).collect::<Result<Outlines, _>>()?;
    let foremost = Some(Foremost::of(&outlines)).filter(|it| it.todos.len() * 2 <= outlines.len());
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(written(id, &blobs, &outlines, foremost.as_ref()).as_bytes())?;
    file.persist(&path)?;
    Ok(foremost.map(|Foremost { todos, behind }| Word {
        todos: todos.into_iter().map(|todo| (todo.clone(), blobs[&todo])).collect(),
        behind: behind.into_iter().collect(),
    }))
}

/// The same for the goals of which `edit` touched a todo. Returns the blobs that decisions depend on.
pub(super) fn refresh_touched(dir: &Path, snapshot: &Snapshot<'_>, edit: &Edit) -> Vec<ObjectId> {
    let of_todo = |path| if let Some(Named::Todo(goal, _)) = layout::named(path) { Some(goal) } else { None };
    let goals: BTreeSet<GoalId> = edit.paths().filter_map(of_todo).collect();
    // The next reader does without whatever fails.
    let words = goals.iter().filter_map(|goal| refresh(dir, snapshot, goal).ok()?);
    words.flat_map(|word| word.todos).map(|(_, blob)| blob).collect()
}

/// Looks whether reading these bytes keeps its promise; see [`super::outside`]. They are the two parts of a file, with a zero
/// between them: what is understood of the second is written so that it is understood as the same.
#[cfg(any(test, fuzzing))]
pub(super) fn promises(bytes: &[u8]) {
    let (part, rest) = bytes.split_once_str("\0").unwrap_or((bytes, b""));
    drop(parse_part(part));
    let folder = ObjectId::null(gix::hash::Kind::Sha1);
    let head = format!("{HEAD}{folder} {} {} {}\n", part.len(), digest(part), digest(rest));
    assert!(all(bytes).is_none(), "digests are of what they are of");
    let Some(read) = all(&[head.as_bytes(), part, rest].concat()) else { return };
    let blobs: Blobs = read.iter().map(|(id, (blob, _))| (id.clone(), *blob)).collect();
    let outlines: Outlines = read.iter().map(|(id, (_, outline))| (id.clone(), outline.clone())).collect();
    let foremost = Foremost::of(&outlines);
    let text = written(folder, &blobs, &outlines, Some(&foremost));
    assert_eq!(all(text.as_bytes()), Some(read));
    let (line, parts) = text.split_once('\n').expect("a head");
    let length = Head::parse(line).and_then(|head| head.length).expect("it was written");
    let word = parse_part(&parts.as_bytes()[..length]).expect("it was written");
    let todos = word.todos.into_iter().map(|(id, _)| id).collect();
    assert_eq!(Foremost { todos, behind: word.behind.into_iter().collect() }, foremost);
}
