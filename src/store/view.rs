//! `.loopx/`: the state branch as files, for people and agents to read.
//!
//! It is a linked worktree of git's own kind, and a view: never read from, brought up to date after each mutation,
//! and made anew from the branch whenever it is gone. Which commit it shows is noted beside git's own files of that
//! worktree. A file that somebody edited by hand is left alone and named.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt, fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use gix::{
    ObjectId,
    bstr::{BString, ByteSlice as _},
    objs::tree::EntryMode,
};

use super::{
    Error,
    error::place,
    git::{Git, lossy},
    health::worktree_of,
    program,
    writer::{PATIENCE, Writer},
};
use crate::domain::time::Timestamp;

/// The name of the folder in the main worktree.
pub const FOLDER: &str = ".loopx";
/// The note of the commit that the view shows. It also marks git's record of the worktree as ours.
pub(super) const NOTE: &str = "loopx-view";

/// Something a person should know after a mutation. The state itself is safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// `.loopx/` is not there, or is not this clone's.
    Detached { why: String },
    /// These files were edited by hand, so their newer content was not written over them.
    Edited(Vec<String>),
    /// These files are missing, or as the state had them before. Nobody's work is in them.
    Behind(Vec<String>),
    /// The files could not be written.
    Failed(String),
    /// The files could not be written, because this lock file is in the way.
    Held(String),
    /// The oldest of the newest commits that is dated in the future, and the one before it.
    Ahead { commit: String, at: Timestamp, before: Option<String> },
    /// The user signs commits, and this one is not signed.
    Unsigned(String),
    /// The hook is not in git's way, or was put back there.
    Unguarded(String),
}

impl Warning {
    /// The warning with the command that helps.
    pub fn with_cure(&self) -> String {
        self.cure().map_or_else(|| self.to_string(), |cure| format!("{self} (run `{cure}`)"))
    }

    /// The command that helps, if one does.
    pub fn cure(&self) -> Option<Cow<'static, str>> {
        let command = match self {
            Self::Detached { .. } => "loopx init",
            Self::Edited(_) => "git -C .loopx checkout HEAD -- .",
            Self::Held(_) | Self::Behind(_) => "loopx doctor --fix",
            Self::Unsigned(_) => "git config loopx.gpgSign false",
            Self::Ahead { before: Some(before), .. } => {
                return Some(format!("loopx restore --to {before}").into());
            }
            Self::Ahead { before: None, .. } => "date",
            Self::Failed(_) | Self::Unguarded(_) => return None,
        };
        Some(command.into())
    }

    fn of(error: &Error) -> Self {
        match error {
            Error::Locked(_) => Self::Held(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Detached { why } => write!(f, "`{FOLDER}/` does not show the state: {why}"),
            Self::Edited(paths) => {
                write!(f, "left alone what was edited by hand: {}", named(paths))
            }
            Self::Behind(paths) => {
                let more = paths.len().saturating_sub(A_FEW);
                let more = if more == 0 { String::new() } else { format!(", and {more} more") };
                let named = named(&paths[..paths.len().min(A_FEW)]);
                write!(f, "`{FOLDER}/` is behind the state: missing, or as it was before: {named}{more}")
            }
            Self::Ahead { commit, at, .. } => write!(
                f,
                "commit {} of the state is dated {at}, in the future, so no other clone takes it nor what follows it",
                &commit[..10]
            ),
            Self::Failed(problem) | Self::Held(problem) => {
                write!(f, "`{FOLDER}/` is behind the state: {problem}")
            }
            Self::Unguarded(what) => f.write_str(what),
            Self::Unsigned(why) => write!(f, "the state commit is not signed: {why}"),
        }
    }
}

/// So many files that are behind are named.
const A_FEW: usize = 10;

fn named(paths: &[String]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| format!("`{FOLDER}/{path}`")).collect();
    paths.join(", ")
}

/// The files of the view that are not what the state has, from the top of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Differing {
    /// They are missing, or as the state had them before: whoever brings the view up to date puts them right.
    pub behind: Vec<String>,
    /// They were edited by hand, and are left alone.
    pub edited: Vec<String>,
}

/// The view of one clone.
#[derive(Debug)]
pub(super) struct View {
    /// Where the files are.
    dir: PathBuf,
    /// Git's own record of the worktree, `.git/worktrees/<name>`.
    admin: PathBuf,
}

/// What stands where the view should be.
enum Place {
    Attached(View),
    /// Git's record is there and ours, but folder and record do not point to each other.
    Loose(View, String),
    Nothing(PathBuf),
    InTheWay(PathBuf),
}

impl View {
    /// Brings files and index to what `tip` has. Says what did not work; the branch is right in any case.
    pub(super) fn refresh(git: &Git, tip: ObjectId, writer: &mut Writer) -> Vec<Warning> {
        match Self::locate(git) {
            Ok(Place::Attached(view)) => view.bring_up_to(git, tip, writer),
            Ok(Place::Loose(_, why)) => vec![Warning::Detached { why }],
            Ok(Place::Nothing(_)) => vec![Warning::Detached { why: "it is not there".into() }],
            Ok(Place::InTheWay(path)) => {
                vec![Warning::Detached { why: format!("`{}` is something else", place(&path)) }]
            }
            // No worktree has shown the state yet.
            Err(Error::Bare { .. }) => Vec::new(),
            Err(error) => vec![Warning::of(&error)],
        }
    }

    /// What is wrong with the view, if anything, by a look that changes nothing.
    pub(super) fn trouble(git: &Git, tip: ObjectId) -> Option<Warning> {
        match Self::locate(git) {
            Ok(Place::Attached(view)) if view.shows() == Some(tip) => {
                let differing = view.was_touched().then(|| view.compare(git, tip).ok()).flatten();
                let behind = differing.map(|differing| differing.behind).unwrap_or_default();
                (!behind.is_empty()).then_some(Warning::Behind(behind))
            }
            Ok(Place::Attached(_)) => {
                Some(Warning::Failed("the next mutation will bring it up to date".into()))
            }
            Ok(Place::Loose(_, why)) => Some(Warning::Detached { why }),
            Ok(Place::Nothing(_)) => Some(Warning::Detached { why: "it is not there".into() }),
            Ok(Place::InTheWay(path)) => {
                Some(Warning::Detached { why: format!("`{}` is something else", place(&path)) })
            }
            // At the root of a bare clone there is no view to look at.
            Err(Error::Bare { .. }) => None,
            Err(error) => Some(Warning::of(&error)),
        }
    }

    /// Makes sure that the view is there and this clone's own, and brings it up to `tip`.
    pub(super) fn attach(
        git: &Git,
        branch: &str,
        tip: ObjectId,
        writer: &mut Writer,
    ) -> Result<Vec<Warning>, Error> {
        let view = match Self::locate(git)? {
            Place::Attached(view) => view,
            Place::Loose(view, _) => {
                view.link(git, branch)?;
                view
            }
            Place::InTheWay(path) => return Err(Error::FolderInTheWay(path)),
            Place::Nothing(dir) => {
                // `--force` twice: a stale record of the same path, locked or not, is ours to replace.
                let reason = "holds the state of loopx";
                let flags =
                    ["worktree", "add", "--force", "--force", "--no-checkout", "--lock", "--reason", reason];
                let top = dir.parent().unwrap_or(&dir);
                let args = flags.into_iter().chain([FOLDER, branch]);
                program::git("add a worktree", git.common_dir(), top, args, b"")?;
                let admin = linked(&dir).ok_or_else(|| Error::Git {
                    doing: "add a worktree",
                    problem: format!("`{}` does not point to it", place(&dir)),
                })?;
                let view = Self { dir, admin };
                fs::write(view.admin.join(NOTE), "").map_err(Error::io("write", view.admin.join(NOTE)))?;
                view
            }
        };
        Ok(view.synced(git, view.shows(), tip, Look::All, writer))
    }

    /// Brings files and index to `tip` after the state went back there from `lost`: files that are as they were in that are
    /// no edits.
    pub(super) fn put_back(
        git: &Git,
        branch: &str,
        lost: Option<ObjectId>,
        tip: ObjectId,
        writer: &mut Writer,
    ) -> Vec<Warning> {
        let warnings =
            Self::attach(git, branch, tip, writer).unwrap_or_else(|error| vec![Warning::of(&error)]);
        match (Self::locate(git), lost) {
            (Ok(Place::Attached(view)), Some(lost)) if !warnings.is_empty() => {
                view.synced(git, Some(lost), tip, Look::All, writer)
            }
            _ => warnings,
        }
    }

    /// Removes the folder and git's record of it: an error with the folder's path says that it is none of ours and was left
    /// alone. Refuses when something in it is not what the state has.
    pub(super) fn detach(git: &Git) -> Result<Option<Result<PathBuf, PathBuf>>, Error> {
        let view = match Self::locate(git)? {
            Place::Attached(view) | Place::Loose(view, _) => view,
            Place::InTheWay(path) => return Ok(Some(Err(path))),
            Place::Nothing(_) => return Ok(None),
        };
        let dir = view.dir.to_string_lossy().into_owned();
        let common = git.common_dir();
        if view.dir.join(".git").exists() {
            let args = ["status", "--porcelain", "--untracked-files=normal"];
            if !program::git("look at the folder", &view.admin, &view.dir, args, b"")?.is_empty() {
                return Err(Error::EditedView);
            }
            // One that is not locked is unlocked all the same.
            let _ = program::git("unlock a worktree", common, common, ["worktree", "unlock", &dir], b"");
            program::git("remove a worktree", common, common, ["worktree", "remove", &dir], b"")?;
        } else {
            // What the folder has then is nobody's but the user's.
            fs::remove_dir_all(&view.admin).map_err(Error::io("remove", &view.admin))?;
        }
        // Git leaves the folder of all records when it was there before.
        let _ = fs::remove_dir(common.join("worktrees"));
        Ok(Some(Ok(view.dir)))
    }

    /// Where git locks the index of the view, if there is a view.
    pub(super) fn index_lock(git: &Git) -> Option<PathBuf> {
        match Self::locate(git) {
            Ok(Place::Attached(view) | Place::Loose(view, _)) => Some(view.admin.join("index.lock")),
            Ok(Place::Nothing(_) | Place::InTheWay(_)) | Err(_) => None,
        }
    }

    /// The files that are not what `tip` has. None when there is no view to look at.
    pub(super) fn differing(git: &Git, tip: ObjectId) -> Result<Differing, Error> {
        match Self::locate(git)? {
            Place::Attached(view) => view.compare(git, tip),
            _ => Ok(Differing::default()),
        }
    }

    fn compare(&self, git: &Git, tip: ObjectId) -> Result<Differing, Error> {
        let mut found = Differing::default();
        let mut in_doubt = BTreeMap::new();
        for (path, change) in self.changes(git, self.shows(), tip, Look::All)? {
            match self.there(git, &path).unwrap_or(There::SomethingElse) {
                There::Nothing if change.new.is_none() => {}
                There::Nothing => found.behind.push(path),
                There::File(id) if change.new == Some(id) => {}
                There::File(id) if change.old == Some(id) => found.behind.push(path),
                There::File(id) => drop(in_doubt.insert(path, (id, change.is_of_a_state()))),
                There::SomethingElse if change.is_of_a_state() => found.edited.push(path),
                There::SomethingElse => {}
            }
        }
        let files = in_doubt.iter().map(|(path, (id, _))| (path.clone(), *id)).collect();
        let had = had_before(git, tip, files);
        for (path, (_, is_of_a_state)) in in_doubt {
            match had.contains_key(&path) {
                true => found.behind.push(path),
                false if is_of_a_state => found.edited.push(path),
                false => {}
            }
        }
        found.behind.sort();
        found.edited.sort();
        Ok(found)
    }

    /// Refuses when something of the user's stands where the view goes.
    pub(super) fn must_have_room(git: &Git) -> Result<(), Error> {
        match Self::locate(git)? {
            Place::InTheWay(path) => Err(Error::FolderInTheWay(path)),
            _ => Ok(()),
        }
    }

    /// The commit of the state that this clone showed last, if it is still there.
    pub(super) fn last_shown(git: &Git) -> Result<Option<ObjectId>, Error> {
        let shown = match Self::locate(git)? {
            Place::Attached(view) | Place::Loose(view, _) => view.shows(),
            Place::Nothing(_) | Place::InTheWay(_) => None,
        };
        Ok(shown.filter(|commit| git.base(*commit).is_ok()))
    }

    /// The top of the worktree in which git's record says that the view lies, if that is still there.
    pub(super) fn holder(git: &Git) -> Option<PathBuf> {
        Self::record(git).1.as_deref().and_then(holder)
    }

    /// Where git keeps its records of worktrees, and the one that is marked as the view's.
    fn record(git: &Git) -> (PathBuf, Option<PathBuf>) {
        let worktrees = git.common_dir().join("worktrees");
        // Git gives this name to the first worktree called `.loopx`; another only if that was taken.
        let usual = worktrees.join("-loopx");
        let admin = if usual.join(NOTE).exists() {
            Some(usual)
        } else {
            let entries = fs::read_dir(&worktrees).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).find(|admin| admin.join(NOTE).exists())
        };
        (worktrees, admin)
    }

    fn locate(git: &Git) -> Result<Place, Error> {
        let (worktrees, admin) = Self::record(git);
        // Without a main worktree the view stays in the linked one where it was put first.
        let held = if git.is_bare() { admin.as_deref().and_then(holder) } else { None };
        let dir = match held {
            Some(top) => top.join(FOLDER),
            None => git.main_worktree()?.join(FOLDER),
        };
        let kind = fs::symlink_metadata(&dir).ok();
        let Some(admin) = admin else {
            return Ok(match (kind, linked(&dir)) {
                (None, _) => Place::Nothing(dir),
                // Killed between git's step and our note: git's record is of this clone and shows our branch.
                (Some(_), Some(admin)) if admin.parent() == Some(&worktrees) => {
                    Place::Loose(Self { dir, admin }, "it was only half set up".into())
                }
                (Some(meta), _) if meta.is_dir() && is_empty(&dir) => Place::Nothing(dir),
                (Some(_), _) => Place::InTheWay(dir),
            });
        };
        let view = Self { dir, admin };
        let back = fs::read_to_string(view.admin.join("gitdir")).unwrap_or_default();
        // Absolute, or from git's record on when `worktree.useRelativePaths` is set.
        let back = view.admin.join(back.trim_end()).canonicalize();
        let points_back = back.is_ok_and(|back| back == view.dir.join(".git"));
        match kind {
            None => Ok(Place::Loose(view, "it is not there".into())),
            Some(meta) if !meta.is_dir() => Ok(Place::InTheWay(view.dir)),
            Some(_) => match linked(&view.dir) {
                Some(admin) if admin == view.admin && points_back && !view.is_on(git)? => {
                    Ok(Place::Loose(view, "another branch or commit is checked out in it".into()))
                }
                Some(admin) if admin == view.admin && points_back => Ok(Place::Attached(view)),
                Some(_) => {
                    Ok(Place::Loose(view, "it belongs to another place, as after a move or a copy".into()))
                }
                None if is_empty(&view.dir) => Ok(Place::Loose(view, "it is empty".into())),
                None => Ok(Place::Loose(view, "it lost its link to the repository".into())),
            },
        }
    }

    /// Whether the state branch is checked out in it. In a repository with reftables git's record does not say.
    fn is_on(&self, git: &Git) -> Result<bool, Error> {
        let head = fs::read_to_string(self.admin.join("HEAD")).unwrap_or_default();
        Ok(!git.reads_refs_itself() || head.trim_end() == format!("ref: refs/heads/{}", git.branch()?))
    }

    /// Makes folder and git's record point to each other. What the folder has is looked at file by file afterwards.
    fn link(&self, git: &Git, branch: &str) -> Result<(), Error> {
        fs::create_dir_all(&self.dir).map_err(Error::io("create", &self.dir))?;
        let write = |path: PathBuf, text: String| fs::write(&path, text).map_err(Error::io("write", &path));
        write(self.dir.join(".git"), format!("gitdir: {}\n", self.admin.display()))?;
        write(self.admin.join("gitdir"), format!("{}\n", self.dir.join(".git").display()))?;
        if git.reads_refs_itself() {
            write(self.admin.join("HEAD"), format!("ref: refs/heads/{branch}\n"))?;
        }
        match self.shows() {
            Some(_) => Ok(()),
            None => write(self.admin.join(NOTE), String::new()),
        }
    }

    fn shows(&self) -> Option<ObjectId> {
        let note = fs::read(self.admin.join(NOTE)).ok()?;
        ObjectId::from_hex(note.trim()).ok()
    }

    fn bring_up_to(&self, git: &Git, tip: ObjectId, writer: &mut Writer) -> Vec<Warning> {
        match (self.shows(), self.was_touched()) {
            (Some(shown), false) if shown == tip => Vec::new(),
            (shown, false) => self.synced(git, shown, tip, Look::Changes, writer),
            (shown, true) => self.synced(git, shown, tip, Look::All, writer),
        }
    }

    /// Whether the index was written after the files were brought up to date: git did so in our stead, as with `git reset`, or
    /// we did and were killed.
    fn was_touched(&self) -> bool {
        let written = |name| fs::metadata(self.admin.join(name)).and_then(|meta| meta.modified()).ok();
        written("index").zip(written(NOTE)).is_some_and(|(index, note)| index > note)
    }

    /// The files to be looked at on the way from `shown` to `tip`. With all of them go those that only the index knows, which
    /// git may have put there from an older state.
    fn changes(
        &self,
        git: &Git,
        shown: Option<ObjectId>,
        tip: ObjectId,
        look: Look,
    ) -> Result<BTreeMap<String, Changed>, Error> {
        let new = git.base(tip)?.tree;
        // A commit that is gone cannot be compared with: then every file is looked at.
        let old = shown.and_then(|commit| git.base(commit).ok()).map(|base| base.tree);
        let mut changes = BTreeMap::new();
        diff(git, old, Some(new), look, "", &mut changes)?;
        if look == Look::All
            && let Ok(index) =
                gix::index::File::at(self.admin.join("index"), git.hash_kind(), true, Default::default())
        {
            for entry in index.entries() {
                let path = lossy(entry.path(&index));
                changes.entry(path).or_insert(Changed { old: None, new: None });
            }
        }
        Ok(changes)
    }

    fn synced(
        &self,
        git: &Git,
        shown: Option<ObjectId>,
        tip: ObjectId,
        look: Look,
        writer: &mut Writer,
    ) -> Vec<Warning> {
        let synced = writer.begin_view(tip).and_then(|()| self.sync(git, shown, tip, look));
        writer.view_is_halfway(synced.is_err());
        match synced {
            Ok(edited) if edited.is_empty() => Vec::new(),
            Ok(edited) => vec![Warning::Edited(edited)],
            Err(error) => vec![Warning::of(&error)],
        }
    }

    /// Returns the files that were left alone.
    fn sync(
        &self,
        git: &Git,
        shown: Option<ObjectId>,
        tip: ObjectId,
        look: Look,
    ) -> Result<Vec<String>, Error> {
        let mut changes = self.changes(git, shown, tip, look)?;
        let mut applied = BTreeMap::new();
        for (path, change) in &changes {
            applied.insert(path.clone(), self.apply(git, path, change)?);
        }
        let in_doubt = applied.iter().filter_map(|(path, applied)| match applied {
            Applied::LeftAlone(found) => Some((path.clone(), (*found)?)),
            Applied::Done => None,
        });
        for (path, blob) in had_before(git, tip, in_doubt.collect()) {
            let Some(change) = changes.get_mut(&path) else { continue };
            change.old = Some(blob);
            applied.insert(path.clone(), self.apply(git, &path, change)?);
        }
        let is_edited = |path: &str| {
            changes.get(path).is_some_and(Changed::is_of_a_state) && applied.get(path) != Some(&Applied::Done)
        };
        let edited = changes.keys().filter(|path| is_edited(path)).cloned().collect();
        let written: Vec<_> = changes
            .iter()
            .map(|(path, change)| (path.as_str(), change.new, applied.get(path) == Some(&Applied::Done)))
            .collect();
        if !self.write_index(git, look, &written)? {
            return self.sync(git, shown, tip, Look::All);
        }
        // Over the old one, which is as long: half a note would make every file look as if it had been edited by hand.
        let (note, hex) = (self.admin.join(NOTE), tip.to_string());
        fs::File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&note)
            .and_then(|mut file| file.write_all(hex.as_bytes()).and_then(|()| file.set_len(hex.len() as u64)))
            .map_err(Error::io("write", &note))?;
        Ok(edited)
    }

    fn apply(&self, git: &Git, path: &str, change: &Changed) -> Result<Applied, Error> {
        let file = self.dir.join(path);
        match (self.there(git, path)?, change.new) {
            (There::Nothing, None) => Ok(Applied::Done),
            (There::File(there), Some(new)) if there == new => Ok(Applied::Done),
            (There::SomethingElse, _) => Ok(Applied::LeftAlone(None)),
            (There::File(there), _) if Some(there) != change.old => Ok(Applied::LeftAlone(Some(there))),
            (There::File(_), None) => {
                fs::remove_file(&file).map_err(Error::io("remove", &file))?;
                // Folders that this emptied go, too; one that still has something says so by refusing.
                let parents =
                    Path::new(path).ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
                let _ = parents
                    .map(|parent| fs::remove_dir(self.dir.join(parent)))
                    .take_while(Result::is_ok)
                    .count();
                Ok(Applied::Done)
            }
            (_, Some(new)) => {
                self.write(&file, &git.blob(new)?)?;
                Ok(Applied::Done)
            }
        }
    }

    fn there(&self, git: &Git, path: &str) -> Result<There, Error> {
        let file = self.dir.join(path);
        if self.leads_elsewhere(path) {
            return Ok(There::SomethingElse);
        }
        match fs::symlink_metadata(&file) {
            Err(_) => Ok(There::Nothing),
            Ok(meta) if meta.is_file() => {
                let bytes = fs::read(&file).map_err(Error::io("read", &file))?;
                let id = gix::objs::compute_hash(git.hash_kind(), gix::objs::Kind::Blob, &bytes);
                Ok(id.map_or(There::SomethingElse, There::File))
            }
            Ok(_) => Ok(There::SomethingElse),
        }
    }

    /// Whether a folder on the way to `path` is a symbolic link, behind which nothing of ours may be written.
    fn leads_elsewhere(&self, path: &str) -> bool {
        Path::new(path)
            .ancestors()
            .skip(1)
            .filter(|parent| !parent.as_os_str().is_empty())
            .any(|parent| fs::symlink_metadata(self.dir.join(parent)).is_ok_and(|meta| !meta.is_dir()))
    }

    /// Old content or new, never half of it; and no leftover among the user's files when killed.
    fn write(&self, file: &Path, bytes: &[u8]) -> Result<(), Error> {
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        }
        let scratch = self.admin.join("loopx-scratch");
        fs::File::create(&scratch)
            .and_then(|mut scratch| scratch.write_all(bytes))
            .map_err(Error::io("write", &scratch))?;
        match fs::rename(&scratch, file) {
            Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {
                fs::write(file, bytes).map_err(Error::io("write", file))
            }
            result => result.map_err(Error::io("write", file)),
        }
    }

    /// Tells git's index of the worktree what its files are, so that `git status` there is clean. Does nothing and
    /// returns false when changes are all that is known and there is no sound index to put them into. A change says whether the
    /// file is as it says.
    fn write_index(
        &self,
        git: &Git,
        look: Look,
        changes: &[(&str, Option<ObjectId>, bool)],
    ) -> Result<bool, Error> {
        use gix::index::{File, State, entry};
        let failed = || Error::git("write the index of `.loopx/`");
        let path = self.admin.join("index");
        let patience = gix::lock::acquire::Fail::AfterDurationWithBackoff(PATIENCE);
        let lock = gix::lock::File::acquire_to_update_resource(&path, patience, None, 0);
        let lock = lock.map_err(|error| match path.with_extension("lock") {
            lock if lock.exists() => Error::Locked(lock),
            _ => Error::Git { doing: "lock the index of `.loopx/`", problem: error.to_string() },
        })?;
        let mut index = match look {
            // Its checksum is not looked at: it would cost as much as all the rest, and git looks.
            Look::Changes => match File::at(&path, git.hash_kind(), true, Default::default()) {
                Ok(index) => index,
                Err(_) => return Ok(false),
            },
            Look::All => File::from_state(State::new(git.hash_kind()), path),
        };
        // The tree cache would make git commit what was there before.
        index.remove_tree();
        let mut gone: Vec<BString> = Vec::new();
        let mut added = Vec::new();
        for (path, blob, is_done) in changes {
            let name = BString::from(*path);
            let Some(blob) = blob else {
                gone.push(name);
                continue;
            };
            // Git believes a file to be unchanged when its stat is the one noted here, so an edited one gets none.
            let stat = Some(self.dir.join(path))
                .filter(|_| *is_done)
                .and_then(|file| gix::index::fs::Metadata::from_path_no_follow(&file).ok())
                .and_then(|meta| entry::Stat::from_fs(&meta).ok())
                .unwrap_or_default();
            match index.entry_mut_by_path_and_stage(name.as_bstr(), entry::Stage::Unconflicted) {
                Some(entry) => (entry.stat, entry.id) = (stat, *blob),
                None => added.push((stat, *blob, name)),
            }
        }
        if !added.is_empty() {
            for (stat, blob, name) in added {
                let (flags, mode) = (entry::Flags::empty(), entry::Mode::FILE);
                index.dangerously_push_entry(stat, blob, flags, mode, name.as_bstr());
            }
            index.sort_entries();
        }
        if !gone.is_empty() {
            gone.sort();
            index.remove_entries(|_, path, _| gone.binary_search_by(|gone| gone.as_bstr().cmp(path)).is_ok());
        }
        let mut out = std::io::BufWriter::with_capacity(64 * 1024, lock);
        index.write_to(&mut out, Default::default()).map_err(failed())?;
        let problem = |problem: String| Error::Git { doing: "write the index of `.loopx/`", problem };
        let lock = out.into_inner().map_err(|error| problem(error.to_string()))?;
        lock.commit().map_err(|error| problem(error.to_string()))?;
        Ok(true)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Applied {
    Done,
    /// What is there is nothing that a change was expected to meet; a file is named by its blob.
    LeftAlone(Option<ObjectId>),
}

/// What is found where a file of the state belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum There {
    Nothing,
    File(ObjectId),
    /// No file, or one that cannot be reached without leaving the view.
    SomethingElse,
}

/// The blobs of one file in two trees.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) old: Option<ObjectId>,
    pub(super) new: Option<ObjectId>,
}

impl Changed {
    /// It is a file of one of the two states, and not one that was found beside them.
    fn is_of_a_state(&self) -> bool {
        self.old.is_some() || self.new.is_some()
    }
}

/// Which files are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Those that differ between what is shown and what is to be shown.
    Changes,
    /// All, so that what was deleted comes back.
    All,
}

/// The files of two trees that are to be looked at, by path.
pub(super) fn diff(
    git: &Git,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
    look: Look,
    folder: &str,
    changes: &mut BTreeMap<String, Changed>,
) -> Result<(), Error> {
    let mut entries: BTreeMap<String, [Option<(EntryMode, ObjectId)>; 2]> = BTreeMap::new();
    for (side, tree) in [old, new].into_iter().enumerate() {
        let Some(tree) = tree else { continue };
        for entry in git.tree(tree)?.entries {
            entries.entry(lossy(entry.filename.as_bstr())).or_default()[side] = Some((entry.mode, entry.oid));
        }
    }
    for (name, [old, new]) in entries.into_iter().filter(|(_, [old, new])| look == Look::All || old != new) {
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let pick = |side: Option<(EntryMode, ObjectId)>, tree: bool| {
            side.filter(|(mode, _)| mode.is_tree() == tree).map(|(_, id)| id)
        };
        if pick(old, true).is_some() || pick(new, true).is_some() {
            diff(git, pick(old, true), pick(new, true), look, &path, changes)?;
        }
        let (old, new) = (pick(old, false), pick(new, false));
        if old.is_some() || new.is_some() {
            changes.insert(path, Changed { old, new });
        }
    }
    Ok(())
}

/// So many commits back a file may come from.
const FAR: usize = 1_000;

/// Those of `files` that were just so in one of the newest commits up to `tip`.
fn had_before(git: &Git, tip: ObjectId, mut files: BTreeMap<String, ObjectId>) -> BTreeMap<String, ObjectId> {
    // What git does not have, no commit has: so hand edits are told at once.
    files.retain(|_, blob| git.repo().has_object(*blob));
    let mut had = BTreeMap::new();
    let mut next = Some(tip);
    for _ in 0..FAR {
        // The past may end where it was left behind.
        let Some(base) = next.filter(|_| !files.is_empty()).and_then(|commit| git.base(commit).ok()) else {
            break;
        };
        files.retain(|path, blob| {
            let is_it = blob_at(git, base.tree, path) == Some(*blob);
            if is_it {
                had.insert(path.clone(), *blob);
            }
            !is_it
        });
        next = git.parents(base.commit).ok().and_then(|parents| parents.first().copied());
    }
    had
}

fn blob_at(git: &Git, tree: ObjectId, path: &str) -> Option<ObjectId> {
    path.split('/').try_fold(tree, |tree, name| {
        let tree = git.tree(tree).ok()?;
        tree.entries.into_iter().find(|entry| entry.filename == name).map(|entry| entry.oid)
    })
}

/// The folder in which the worktree of git's record `admin` lies, if that is there.
fn holder(admin: &Path) -> Option<PathBuf> {
    let view = worktree_of(admin)?;
    view.parent().filter(|top| top.is_dir()).map(Path::to_path_buf)
}

/// Where the `.git` file of a linked worktree points.
fn linked(dir: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(dir.join(".git")).ok()?;
    let target = Path::new(text.strip_prefix("gitdir: ")?.trim_end_matches('\n'));
    dir.join(target).canonicalize().ok()
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}
