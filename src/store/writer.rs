//! One writer at a time, and what a killed one leaves behind.
//!
//! Writers queue for an operating-system lock on `.git/loopx/writer`, which goes away with its holder however that
//! dies. Correctness does not rest on it, the compare-and-swap of the ref does that; it makes the queue fair and lets a
//! writer tell its own leftovers from a live program's files.
//!
//! Before a writer takes one of git's lock files it notes the phase in the file it holds. Whoever enters and finds a
//! note knows that the last writer was killed in that phase, and may remove that one lock file, if it is from that moment.

use std::{
    fs::{self, File},
    io::{Seek as _, Write as _},
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::{Duration, SystemTime},
};

use super::{Error, git::Git, view::View};

/// How long a writer waits for another one.
const WAIT: Duration = Duration::from_secs(30);
/// How long it waits for a lock file that git or another program holds.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// A lock file of a dead writer was made within this time after its note.
const CLOSE: Duration = Duration::from_secs(5);

/// A step that takes one of git's lock files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Moving the state branch.
    Ref,
    /// Bringing index and files of `.loopx/` up to date.
    View,
}

/// The right to write, until dropped.
#[derive(Debug)]
pub(super) struct Writer {
    file: File,
}

impl Writer {
    /// Waits for its turn, and clears away what a killed writer left.
    pub(super) fn enter(git: &Git, branch: &str) -> Result<Self, Error> {
        let dir = git.private_dir();
        fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
        let path = dir.join("writer");
        let open = || File::options().create(true).read(true).write(true).truncate(false).open(&path);
        let file = lock(open().map_err(Error::io("open", &path))?, &path)?;
        let note = fs::read_to_string(&path).unwrap_or_default();
        if let Ok(since) = file.metadata().and_then(|meta| meta.modified()) {
            match note.as_str() {
                "ref" => {
                    let name = format!("refs/heads/{branch}");
                    remove_leftover(&git.common_dir().join(format!("{name}.lock")), since);
                    mend_reflog(&git.common_dir().join("logs").join(name));
                    git.unmark_packs();
                }
                "view" => {
                    if let Some(lock) = View::index_lock(git) {
                        remove_leftover(&lock, since);
                    }
                }
                _ => {}
            }
        }
        Ok(Self { file })
    }

    /// Notes that a lock file is about to be taken.
    pub(super) fn begin(&mut self, phase: Phase) -> Result<(), Error> {
        let note = match phase {
            Phase::Ref => "ref",
            Phase::View => "view",
        };
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(note.as_bytes())
        };
        write(&mut self.file).map_err(Error::io("write to", ".git/loopx/writer"))
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
        // Whatever remains of a note makes the next writer look twice, no more.
        let _ = self.file.set_len(0);
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
