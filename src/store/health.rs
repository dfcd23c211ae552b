//! Looks at what the state rests on: worktrees, lock files, scraps, files edited by hand. Changes nothing.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, UNIX_EPOCH},
};

use gix::{
    ObjectId,
    objs::{Kind, Write as _},
};

use super::{
    Error, Snapshot, Store,
    git::Git,
    program,
    snapshot::AtHand,
    view::{Differing, FOLDER, NOTE, View},
};
use crate::domain::time::{Seconds, Timestamp};

/// An object that the object database should have, and its bytes.
#[derive(Debug)]
pub struct Lost {
    id: ObjectId,
    kind: Kind,
    bytes: Vec<u8>,
}

impl Lost {
    /// Its id, in hex.
    pub fn id(&self) -> String {
        self.id.to_string()
    }

    fn is_in(&self, repo: &gix::Repository) -> bool {
        repo.find_object(self.id).is_ok_and(|object| object.data == self.bytes)
    }
}

/// A half-written object that old belongs to nobody who is still writing.
const SCRAP: Seconds = Seconds(24 * 3600);

/// The top of the linked worktree that git's `record` is of, be it there or not.
pub(super) fn worktree_of(record: &Path) -> Option<PathBuf> {
    let back = fs::read_to_string(record.join("gitdir")).ok()?;
    record.join(back.trim_end()).parent().map(Path::to_path_buf)
}

impl Git {
    /// The tops of all worktrees of the clone but the one that shows the state.
    pub fn worktrees(&self) -> Result<Vec<PathBuf>, Error> {
        let mut tops: Vec<PathBuf> = self.main_worktree().into_iter().collect();
        for top in self.linked_worktrees() {
            if !tops.contains(&top) {
                tops.push(top);
            }
        }
        Ok(tops)
    }

    /// The same without the main one.
    pub(super) fn linked_worktrees(&self) -> Vec<PathBuf> {
        let top =
            |record: PathBuf| worktree_of(&record).filter(|top| top.is_dir() && !record.join(NOTE).exists());
        entries(&self.common_dir().join("worktrees")).into_iter().filter_map(top).collect()
    }

    /// Whether an index (this worktree's, unless another file is named) has `.loopx` or something below it. False when it
    /// cannot be read.
    pub fn index_has_the_view(&self, file: Option<&Path>) -> bool {
        let file = file.map_or_else(|| self.repo().index_path(), Path::to_path_buf);
        let skip_hash = gix::index::decode::Options::default();
        let Ok(index) = gix::index::File::at(file, self.hash_kind(), true, skip_hash) else { return false };
        let below = format!("{FOLDER}/");
        index.entry_by_path(FOLDER.into()).is_some()
            || index.prefixed_entries(below.as_str().into()).is_some()
    }

    /// Whether the user's own branch tracks `.loopx`, as `git add -f` makes it.
    pub fn tracks_the_view(&self) -> Result<bool, Error> {
        let Ok(top) = self.main_worktree() else { return Ok(false) };
        let args = ["ls-files", "-z", "--", FOLDER];
        Ok(!program::git("list tracked files", self.common_dir(), &top, args, b"")?.is_empty())
    }
}

impl Store {
    /// The files of `.loopx/` that are not what the state says.
    pub fn differing_files(&self, snapshot: &Snapshot<'_>) -> Result<Differing, Error> {
        View::differing(self.git(), snapshot.commit().commit)
    }

    /// Objects of the present that the object database has lost or cannot read, of those that are at hand beside it.
    pub fn lost_objects(&self, snapshot: &Snapshot<'_>) -> Result<Vec<Lost>, Error> {
        let repo = self.git().repo();
        let there =
            snapshot.at_hand()?.into_iter().map(|AtHand { id, kind, bytes, .. }| Lost { id, kind, bytes });
        Ok(there.filter(|object| !object.is_in(repo)).collect())
    }

    /// Writes an object that was lost or damaged. False when it still cannot be read.
    pub fn put_back(&self, lost: &Lost) -> bool {
        let repo = self.git().repo();
        repo.objects.write_buf(lost.kind, &lost.bytes).is_ok() && lost.is_in(repo)
    }

    /// Lock files on the way of a mutation that are older than `age`.
    pub fn stale_locks(&self, now: Timestamp, age: Seconds) -> Result<Vec<PathBuf>, Error> {
        let common = self.git().common_dir();
        let branch = self.branch_lock()?;
        let view = View::index_lock(self.git());
        let locks = [branch, common.join("packed-refs.lock"), common.join("config.lock")];
        let is_stale = |lock: &PathBuf| is_older(lock, now.minus(age));
        Ok(locks.into_iter().chain(view).filter(is_stale).collect())
    }

    /// The lock file of the state branch, if one is there and stays. Who is at work keeps it for moments only.
    pub fn held_lock(&self) -> Result<Option<PathBuf>, Error> {
        let lock = self.branch_lock()?;
        let made = || fs::symlink_metadata(&lock).and_then(|meta| meta.modified()).ok();
        let Some(before) = made() else { return Ok(None) };
        thread::sleep(Duration::from_millis(300));
        Ok((made() == Some(before)).then_some(lock))
    }

    fn branch_lock(&self) -> Result<PathBuf, Error> {
        Ok(self.git().common_dir().join(format!("refs/heads/{}.lock", self.git().branch()?)))
    }

    /// Where git locks the index of `.loopx/`, if that is there.
    pub fn view_lock(&self) -> Option<PathBuf> {
        View::index_lock(self.git())
    }

    /// Half-written objects of killed writers, which no `git gc` removes.
    pub fn scraps(&self, now: Timestamp) -> Result<Vec<PathBuf>, Error> {
        let scraps = entries(&self.git().common_dir().join("objects"));
        let is_scrap = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp"))
                && is_older(path, now.minus(SCRAP))
        };
        Ok(scraps.into_iter().filter(is_scrap).collect())
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn is_older(path: &Path, than: Timestamp) -> bool {
    let than = UNIX_EPOCH + Duration::from_secs(u64::try_from(than.unix()).unwrap_or(0));
    fs::symlink_metadata(path).and_then(|meta| meta.modified()).is_ok_and(|modified| modified < than)
}
