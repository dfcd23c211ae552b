//! One writer at a time, what a killed one leaves behind, and which tip is loopx's own.
//!
//! Writers queue for an operating-system lock on `.git/loopx/writer`, which goes away with its holder however that
//! dies. Correctness does not rest on it, the compare-and-swap of the ref does that; it makes the queue fair and lets a
//! writer tell its own leftovers from a live program's files.
//!
//! The file has a note of one line, written before a writer takes one of git's lock files: `ref <old> <new> <branch>`,
//! `view <tip> <branch>`, and `idle <tip> <branch>` at the end. It serves two ends. Whoever enters and finds another note than `idle` knows that
//! the last writer was killed in that phase, and may remove that one lock file, if it is from that moment. And a tip
//! of the state branch that the note does not name was not put there by loopx: somebody committed by hand, moved the
//! branch back, or removed the note. That keeps an agent from answering a gate with `git commit`; it is a guard rail, because
//! whoever can write to `.git` can write the note, too.

use std::{
    fs::{self, File},
    io::{Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::{Duration, SystemTime},
};

use gix::ObjectId;

use super::{Error, git::Git, message::Message, read_plain_file, view::View};

/// How long a writer waits for another one.
const WAIT: Duration = Duration::from_secs(30);
/// How long it waits for a lock file that git or another program holds.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// A lock file of a dead writer was made within this time after its note.
const CLOSE: Duration = Duration::from_secs(5);

/// The right to write, until dropped.
#[derive(Debug)]
pub(super) struct Writer {
    file: File,
    branch: String,
    /// What stands in the file.
    note: Note,
    /// The tip that this writer put there last.
    moved_to: Option<ObjectId>,
    /// The files of the view are on the way to the tip that the note names, and did not get there.
    is_halfway: bool,
}

/// What the last writer was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Note {
    /// Nothing is known: no loopx has written here yet, or the note was removed.
    None,
    /// Moving the state branch. Its tip is one of the two.
    Ref { old: Option<ObjectId>, new: ObjectId },
    /// Bringing index and files of `.loopx/` up to date.
    View { tip: ObjectId },
    /// Done.
    Idle { tip: ObjectId },
}

impl Note {
    /// The note and the branch it is about.
    fn read(path: &Path) -> (Self, String) {
        let text = read_plain_file(path).and_then(|bytes| String::from_utf8(bytes).ok());
        Self::parse(&text.unwrap_or_default())
    }

    pub(super) fn parse(text: &str) -> (Self, String) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let id = |hex: &str| ObjectId::from_hex(hex.as_bytes()).ok();
        let note = match words[..] {
            ["ref", old, new, branch] => id(old).zip(id(new)).map(|(old, new)| {
                (Self::Ref { old: Some(old).filter(|old| !old.is_null()), new }, branch.to_owned())
            }),
            ["view", tip, branch] => id(tip).map(|tip| (Self::View { tip }, branch.to_owned())),
            ["idle", tip, branch] => id(tip).map(|tip| (Self::Idle { tip }, branch.to_owned())),
            _ => None,
        };
        note.unwrap_or((Self::None, String::new()))
    }

    /// The line that reads as this note about `branch`.
    pub(super) fn line(&self, branch: &str) -> String {
        let null = |id: &ObjectId| ObjectId::null(id.kind());
        match self {
            Self::None => String::new(),
            Self::Ref { old, new } => format!("ref {} {new} {branch}", old.unwrap_or_else(|| null(new))),
            Self::View { tip } => format!("view {tip} {branch}"),
            Self::Idle { tip } => format!("idle {tip} {branch}"),
        }
    }

    fn names(&self, tip: ObjectId) -> bool {
        match self {
            Self::None => false,
            Self::Ref { old, new } => *old == Some(tip) || *new == tip,
            Self::View { tip: known } | Self::Idle { tip: known } => *known == tip,
        }
    }

    /// The tip that loopx put there last.
    fn last(&self) -> Option<ObjectId> {
        match self {
            Self::None => None,
            Self::Ref { old, .. } => *old,
            Self::View { tip } | Self::Idle { tip } => Some(*tip),
        }
    }
}

fn note_file(git: &Git) -> PathBuf {
    git.private_dir().join("writer")
}

/// The tip that loopx put there last, if that is known.
pub(super) fn last(git: &Git) -> Option<ObjectId> {
    match Note::read(&note_file(git)).0 {
        Note::Ref { old, new } => old.or(Some(new)),
        note => note.last(),
    }
}

/// How the tip of the state branch stands to what loopx left.
#[derive(Debug)]
pub(super) enum Standing {
    /// loopx put it there.
    Ours,
    /// It did not; it put this one there last, if that is known.
    Foreign(Option<ObjectId>),
    /// The state that loopx left is on another branch.
    Elsewhere(String),
}

/// The tip of `branch` and how it stands. Writers may be at work meanwhile: only what stands still is judged.
pub(super) fn standing(git: &Git, branch: &str) -> Result<(ObjectId, Standing), Error> {
    let path = note_file(git);
    let tip = || git.tip(branch)?.ok_or(Error::NotInitialised);
    let mut seen = tip()?;
    loop {
        let (note, noted) = Note::read(&path);
        if note != Note::None && noted != branch {
            return Ok((seen, Standing::Elsewhere(noted)));
        }
        if note.names(seen) {
            return Ok((seen, Standing::Ours));
        }
        let again = tip()?;
        if again == seen && Note::read(&path).0 == note {
            return Ok((seen, Standing::Foreign(note.last())));
        }
        seen = again;
    }
}

impl Writer {
    /// Waits for its turn, and clears away what a killed writer left.
    pub(super) fn enter(git: &Git, branch: &str) -> Result<Self, Error> {
        let dir = git.private_dir();
        fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
        let path = note_file(git);
        let open = || File::options().create(true).read(true).write(true).truncate(false).open(&path);
        let file = lock(open().map_err(Error::io("open", &path))?, &path)?;
        let (note, noted) = Note::read(&path);
        let note = if noted == branch { note } else { Note::None };
        if let Ok(since) = file.metadata().and_then(|meta| meta.modified()) {
            match note {
                Note::Ref { .. } => {
                    let name = format!("refs/heads/{branch}");
                    remove_leftover(&git.common_dir().join(format!("{name}.lock")), since);
                    mend_reflog(&git.common_dir().join("logs").join(name));
                    git.unmark_packs();
                }
                Note::View { .. } => {
                    if let Some(lock) = View::index_lock(git) {
                        remove_leftover(&lock, since);
                    }
                }
                Note::None | Note::Idle { .. } => {}
            }
        }
        let half_shown = if let Note::View { tip } = note { Some(tip) } else { None };
        let mut writer = Self { file, branch: branch.to_owned(), note, moved_to: None, is_halfway: false };
        // From here on the way to the next tip would begin elsewhere, and what the last writer wrote look like somebody's edits.
        if let Some(tip) = half_shown {
            View::refresh(git, tip, &mut writer);
        }
        Ok(writer)
    }

    /// Says whether the view got to where it was on the way to: if not, the next writer goes on with it first.
    pub(super) fn view_is_halfway(&mut self, is_halfway: bool) {
        self.is_halfway = is_halfway;
    }

    /// Nothing may be built on a tip that loopx did not put there: that would make it loopx's own.
    pub(super) fn must_know(&mut self, git: &Git, tip: ObjectId) -> Result<(), Error> {
        if !self.note.names(tip) {
            let (note, noted) = Note::read(&note_file(git));
            if note != Note::None && noted != self.branch {
                return Err(Error::Redirected { branch: self.branch.clone(), left: noted });
            }
            self.note = note;
        }
        match self.note.names(tip) {
            true => Ok(()),
            false => Err(foreign(&self.branch, tip, self.note.last())),
        }
    }

    /// From now on `tip` counts as put there by loopx: a person said so.
    pub(super) fn adopt(&mut self, tip: ObjectId) -> Result<(), Error> {
        self.put(Note::Idle { tip })
    }

    /// Moves the state branch; see [`Git::publish`].
    pub(super) fn publish(
        &mut self,
        git: &Git,
        new: ObjectId,
        expecting: Option<ObjectId>,
        message: &Message,
    ) -> Result<bool, Error> {
        self.publish_from(git, new, expecting, expecting, message)
    }

    /// The same from a tip that may not be loopx's: killed halfway, it does not become so.
    pub(super) fn put_back(
        &mut self,
        git: &Git,
        new: ObjectId,
        expecting: Option<ObjectId>,
        message: &Message,
    ) -> Result<bool, Error> {
        self.publish_from(git, new, expecting, None, message)
    }

    fn publish_from(
        &mut self,
        git: &Git,
        new: ObjectId,
        expecting: Option<ObjectId>,
        known: Option<ObjectId>,
        message: &Message,
    ) -> Result<bool, Error> {
        if self.was_overtaken() {
            return Ok(false);
        }
        let before = self.note.clone();
        self.put(Note::Ref { old: known, new })?;
        let _kept = git.shelter()?;
        git.sync_objects()?;
        let moved = git.publish(&self.branch, new, expecting, message);
        match moved {
            Ok(true) => {
                self.moved_to = Some(new);
                git.sync_ref(&self.branch)?;
            }
            // Nothing of ours is in the way now, so whoever comes next must not look for it.
            Ok(false) | Err(_) => self.put(before)?,
        }
        moved
    }

    /// Whether a writer that our lock does not reach, on a file system without locks, has left a note of its own.
    fn was_overtaken(&mut self) -> bool {
        let mut text = String::new();
        let read = self.file.rewind().and_then(|()| self.file.read_to_string(&mut text));
        let (note, noted) = Note::parse(&text);
        read.is_ok() && noted == self.branch && note != self.note
    }

    /// Notes that the index of the view is about to be locked.
    pub(super) fn begin_view(&mut self, tip: ObjectId) -> Result<(), Error> {
        self.put(Note::View { tip })
    }

    fn put(&mut self, note: Note) -> Result<(), Error> {
        // As long as the longest note, so that one write replaces all of the last one.
        let line = format!("{:<340}\n", note.line(&self.branch));
        let write = |file: &mut File| {
            file.rewind()?;
            file.write_all(line.as_bytes())
        };
        write(&mut self.file).map_err(Error::io("write to", ".git/loopx/writer"))?;
        self.note = note;
        Ok(())
    }

    /// Waits a little longer before each further try.
    pub(super) fn pause(&self, attempt: u32) {
        if attempt > 0 {
            thread::sleep(Duration::from_millis(1 << attempt.min(7)));
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.is_halfway {
            return;
        }
        // A note of a phase that stays makes the next writer look twice, no more.
        match (self.moved_to, &self.note) {
            (Some(tip), _) | (None, &Note::View { tip }) => drop(self.put(Note::Idle { tip })),
            (None, _) => {}
        }
    }
}

/// What to say of a tip that loopx did not put there.
pub(super) fn foreign(branch: &str, tip: ObjectId, last: Option<ObjectId>) -> Error {
    let last = last.map(|last| last.to_string());
    Error::Foreign {
        branch: branch.to_owned(),
        tip: tip.to_string(),
        last,
        newer: None,
        is_unreadable: false,
    }
}

/// Waits in the kernel's queue, but not for ever: a stopped writer must not stop everybody.
fn lock(file: File, path: &Path) -> Result<File, Error> {
    if file.try_lock().is_ok() {
        return Ok(file);
    }
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(file.lock().map(|()| file)));
    match receiver.recv_timeout(WAIT) {
        Ok(Ok(file)) => Ok(file),
        Ok(Err(error)) => Err(Error::io("lock", path)(error)),
        Err(_) => Err(Error::Busy(WAIT.as_secs())),
    }
}

/// Removes a lock file that appeared within moments of a dead writer's note and that nobody has touched since.
fn remove_leftover(path: &Path, since: SystemTime) {
    let modified = |path: &Path| fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    let Some(made) = modified(path) else { return };
    if made + Duration::from_millis(20) < since || made > since + CLOSE {
        return;
    }
    thread::sleep(Duration::from_millis(300));
    if modified(path) == Some(made) {
        let _ = fs::remove_file(path);
    }
}

/// Cuts off a line of the reflog that a killed writer did not finish; git could not read past it.
fn mend_reflog(path: &PathBuf) {
    let Ok(bytes) = fs::read(path) else { return };
    if bytes.last().is_none_or(|last| *last == b'\n') {
        return;
    }
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if let Ok(file) = File::options().write(true).open(path) {
        let _ = file.set_len(whole as u64);
    }
}
