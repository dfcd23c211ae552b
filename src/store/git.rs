//! What we ask of git: which repository this is, objects, and the one ref that moves.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
    rc::Rc,
};

use gix::{
    ObjectId,
    bstr::{BStr, ByteSlice as _},
    objs::{Kind, tree::EntryKind},
    refs::{
        FullName,
        transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog},
    },
};

use super::{
    Error,
    error::{self, chain},
    hot::Hot,
    message::Message,
    program,
    screen::Cleared,
    signature::{self, Signature},
    view::{NOTE, View},
};
use crate::domain::{actor::Person, time::Timestamp};

/// The git config key that names the state branch.
pub(super) const BRANCH_KEY: &str = "loopx.branch";

/// One clone, seen from one of its worktrees.
pub struct Git {
    repo: gix::Repository,
    common: PathBuf,
    refs: RefFormat,
    /// Where objects are looked for, when that is not where the repository has them.
    objects: Option<PathBuf>,
    /// Small objects that were read or written a moment ago, and how many bytes they have. Objects never change, so these are
    /// never out of date.
    seen: RefCell<(HashMap<ObjectId, Object>, usize)>,
    /// Why the last commit is not signed although the user signs commits.
    unsigned: RefCell<Option<String>>,
    /// What the last [`Git::commit`] wrote, and whether garbage was being collected when it began.
    fresh: RefCell<(Vec<Fresh>, bool)>,
    /// How many bytes of it are at hand.
    fresh_bytes: Cell<usize>,
}

/// An object that was just written. Its bytes are at hand unless a mutation writes a great deal.
pub(super) type Fresh = (ObjectId, Kind, Option<Rc<[u8]>>);

/// Most bytes of objects that are kept at hand.
const AT_HAND: usize = 1024 * 1024;

/// A kind and the bytes.
pub(super) type Object = (Kind, Rc<[u8]>);

/// One of the repository's own files of configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// `.git/config`, for all worktrees of the clone.
    Clone,
    /// The file of one worktree, where the repository has such.
    Worktree,
}

impl Scope {
    fn source(self) -> gix::config::Source {
        match self {
            Self::Clone => gix::config::Source::Local,
            Self::Worktree => gix::config::Source::Worktree,
        }
    }
}

/// How the repository keeps its refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefFormat {
    Files,
    /// gix would write a file that git never sees, so the `git` program reads and moves the ref.
    Reftable,
}

/// What a commit has: its tree.
#[derive(Debug, Clone, Copy)]
pub struct Base {
    pub commit: ObjectId,
    pub tree: ObjectId,
}

impl fmt::Debug for Git {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Git").field("common", &self.common).field("refs", &self.refs).finish_non_exhaustive()
    }
}

impl Git {
    /// Finds the repository `from` lies in; `git_dir` is what the user set in `GIT_DIR`.
    ///
    /// Inside somebody's hook the environment names an index and a worktree in use. None of that is looked at.
    pub(super) fn discover(from: &Path, git_dir: Option<&Path>) -> Result<Self, Error> {
        use gix::{open, sec::Permission};
        let environment = open::permissions::Environment {
            git_prefix: Permission::Deny,
            objects: Permission::Deny,
            ..open::permissions::Environment::all()
        };
        let permissions = open::Permissions { env: environment, ..open::Permissions::all() };
        // A replaced object would show another state than the one that is there.
        let options = open::Options::default()
            .permissions(permissions)
            .config_overrides(["core.useReplaceRefs=false"])
            .bail_if_untrusted(true);
        let open = |options: open::Options| {
            let trust = gix::sec::trust::Mapping { full: options.clone(), reduced: options.clone() };
            let repo = match git_dir {
                Some(dir) => gix::ThreadSafeRepository::open_opts(from.join(dir), options),
                None => gix::ThreadSafeRepository::discover_opts(from, Default::default(), trust),
            };
            repo.map_err(|error| not_opened(git_dir.unwrap_or(from), &error))
        };
        let repo = match open(options.clone()) {
            // Its configuration counts then, as it does for git.
            Err(Error::Untrusted(_)) if git_takes(from, git_dir) => {
                open(options.bail_if_untrusted(false).filter_config_section(|_| true))
            }
            opened => opened,
        };
        let repo = repo?.to_thread_local();
        // Who stands in the folder of the state means the project around it.
        let repo = match repo.git_dir().join(NOTE).exists() {
            true => repo.main_repo().map_err(Error::git("find the main worktree"))?,
            false => repo,
        };
        let common = repo.common_dir().canonicalize().map_err(Error::io("find", repo.common_dir()))?;
        let refs = match repo.config_snapshot().string("extensions.refStorage") {
            None => RefFormat::Files,
            Some(format) if format.as_bstr() == "files" => RefFormat::Files,
            Some(format) if format.as_bstr() == "reftable" => RefFormat::Reftable,
            Some(format) => {
                return Err(Error::RefStorage(crate::domain::text::shown(&format.to_str_lossy(), 40)));
            }
        };
        Ok(Self {
            repo,
            common,
            refs,
            objects: None,
            seen: RefCell::default(),
            unsigned: RefCell::default(),
            fresh: RefCell::default(),
            fresh_bytes: Cell::default(),
        })
    }

    /// gix can read this repository's refs; otherwise the `git` program has to.
    pub(super) fn reads_refs_itself(&self) -> bool {
        self.refs == RefFormat::Files
    }

    pub(super) fn repo(&self) -> &gix::Repository {
        &self.repo
    }

    /// `.git`, or what stands for it: shared by all worktrees of the clone.
    pub fn common_dir(&self) -> &Path {
        &self.common
    }

    /// Files of ours beside git's: `.git/loopx`. All but the writer's note can be deleted.
    pub(super) fn private_dir(&self) -> PathBuf {
        self.common.join("loopx")
    }

    /// The top of the worktree the user stands in.
    pub fn worktree(&self) -> Option<PathBuf> {
        self.repo.workdir().map(Path::to_path_buf)
    }

    /// The top of the clone's main worktree, where `.loopx/` belongs. In a bare clone: the worktree the user stands in.
    pub fn main_worktree(&self) -> Result<PathBuf, Error> {
        let main = match self.repo.kind() {
            gix::repository::Kind::LinkedWorkTree => {
                self.repo.main_repo().map_err(Error::git("find the main worktree"))?
            }
            _ => self.repo.clone(),
        };
        let bare = || {
            // The one that shows the state, if one does.
            let worktree = View::holder(self).or_else(|| self.linked_worktrees().into_iter().min());
            Error::Bare { at: self.common.clone(), worktree }
        };
        let dir = main.workdir().or_else(|| self.repo.workdir()).ok_or_else(bare)?;
        dir.canonicalize().map_err(Error::io("find", dir))
    }

    /// The clone has no main worktree, only linked ones.
    pub(super) fn is_bare(&self) -> bool {
        match self.repo.kind() {
            gix::repository::Kind::LinkedWorkTree => {
                self.repo.main_repo().is_ok_and(|main| main.workdir().is_none())
            }
            _ => self.repo.workdir().is_none(),
        }
    }

    pub(super) fn hash_kind(&self) -> gix::hash::Kind {
        self.repo.object_hash()
    }

    /// A value of git's configuration as git itself would see it.
    pub fn config(&self, key: &str) -> Option<String> {
        self.repo.config_snapshot().string(key).map(|value| value.to_str_lossy().into_owned())
    }

    /// The program with which git shows what is longer than a screen; nothing when it is to be printed as it is.
    pub fn pager(&self) -> Option<String> {
        let said = program::says("git".as_ref(), &self.common, ["var", "GIT_PAGER"])?;
        let pager = said.trim().to_str_lossy().into_owned();
        (!pager.is_empty() && pager != "cat").then_some(pager)
    }

    /// All values of a key that may be set several times, from the widest scope to the nearest.
    pub fn config_all(&self, key: &str) -> Vec<String> {
        let values = self.repo.config_snapshot().plumbing().strings(key).unwrap_or_default();
        values.iter().map(|value| value.to_str_lossy().into_owned()).collect()
    }

    /// A value that is set in one of the repository's own files.
    pub fn config_in(&self, scope: Scope, key: &str) -> Option<String> {
        let snapshot = self.repo.config_snapshot();
        let value = snapshot.plumbing().string_filter(key, |meta| meta.source == scope.source())?;
        Some(value.to_str_lossy().into_owned())
    }

    /// Sets a key in the configuration of the clone; what is read afterwards is what was there when this was opened.
    pub fn set_config(&self, key: &str, value: &str) -> Result<(), Error> {
        let args = ["config", "--local", "--replace-all", key, value];
        program::git(error::WRITE_CONFIG, &self.common, &self.common, args, b"").map(drop)
    }

    /// Takes a key out of a file of the repository's configuration.
    pub fn unset_config(&self, scope: Scope, key: &str) -> Result<(), Error> {
        let flag = match scope {
            Scope::Clone => "--local",
            Scope::Worktree => "--worktree",
        };
        let args = ["config", flag, "--unset-all", key];
        program::git(error::WRITE_CONFIG, self.repo.git_dir(), self.repo.git_dir(), args, b"").map(drop)
    }

    /// Takes a whole section out of the configuration of the clone. False when there is none.
    pub fn remove_config(&self, section: &str) -> Result<bool, Error> {
        let snapshot = self.repo.config_snapshot();
        let (name, below) =
            section.split_once('.').map_or((section, None), |(name, below)| (name, Some(below)));
        let is_ours = |found: &gix::config::file::SectionRef<'_>| {
            found.meta().source == Scope::Clone.source()
                && found.header().subsection_name() == below.map(|below| BStr::new(below.as_bytes()))
        };
        let there = snapshot
            .plumbing()
            .sections_by_name(name)
            .is_some_and(|mut found| found.any(|found| is_ours(&found)));
        if there {
            let args = ["config", "--local", "--remove-section", section];
            program::git(error::WRITE_CONFIG, &self.common, &self.common, args, b"")?;
        }
        Ok(there)
    }

    /// Whether git ignores a file of the worktree at `top`, which it does not track.
    pub fn ignores(&self, top: &Path, file: &Path) -> bool {
        let dir = self.repo.git_dir();
        let name = file.to_string_lossy().into_owned();
        program::git("look at ignored files", dir, top, ["check-ignore", "-q", "--", &name], b"").is_ok()
    }

    /// A switch in git's configuration; off when it is not there.
    pub fn config_bool(&self, key: &str) -> bool {
        self.repo.config_snapshot().boolean(key).unwrap_or(false)
    }

    /// The same for a switch that is on when it is not there, and when it makes no sense.
    pub(super) fn config_is_not_off(&self, key: &str) -> bool {
        self.repo.config_snapshot().boolean(key).unwrap_or(true)
    }

    /// Why the last commit was not signed although the user signs commits, told once.
    pub(super) fn unsigned(&self) -> Option<String> {
        self.unsigned.borrow_mut().take()
    }

    /// A path from git's configuration, with `~` put in full.
    pub fn config_path(&self, key: &str) -> Option<PathBuf> {
        self.repo.config_snapshot().trusted_path(key).ok().flatten()
    }

    /// The state branch of this clone, without `refs/heads/`.
    pub fn branch(&self) -> Result<String, Error> {
        let branch = self.config(BRANCH_KEY).unwrap_or_else(|| super::DEFAULT_BRANCH.to_owned());
        full_name(&branch).map_err(|_| Error::BranchSetting(crate::domain::text::shown(&branch, 200)))?;
        Ok(branch)
    }

    /// What git pushes when nobody says what, as `HEAD:<ref>`; nothing when no branch is checked out, or when settings ask for more
    /// than that one.
    pub fn pushed_by_default(&self) -> Option<String> {
        let config = self.repo.config_snapshot();
        let is_plain = config.string("push.default").is_none_or(|value| {
            matches!(value.to_str_lossy().as_ref(), "simple" | "current" | "upstream" | "nothing")
        });
        let remotes = config.plumbing().sections_by_name("remote").into_iter().flatten();
        let asks_for_more = remotes
            .into_iter()
            .any(|section| section.value("push").is_some() || section.value("mirror").is_some());
        let head = self.repo.head_name().ok()??;
        (is_plain && !asks_for_more).then(|| format!("HEAD:{}", head.as_bstr()))
    }

    /// Whether a branch can have this name.
    pub(super) fn full_name_of(&self, branch: &str) -> Result<(), Error> {
        full_name(branch).map(drop)
    }

    /// The human behind this repository's git identity, who signs off every mutation.
    pub fn identity(&self) -> Result<Person, Error> {
        let config = self.repo.config_snapshot();
        let value = |key: &str, fallback: &str| {
            config
                .string(key)
                .or_else(|| config.string(fallback))
                .map(|value| value.to_str_lossy().into_owned())
        };
        let name = value("committer.name", "user.name").ok_or(Error::NoIdentity)?;
        let email = value("committer.email", "user.email").ok_or(Error::NoIdentity)?;
        Person::new(&name, &email).ok_or(Error::NoIdentity)
    }

    /// What `branch` points to; nothing when there is no such branch.
    pub(super) fn tip(&self, branch: &str) -> Result<Option<ObjectId>, Error> {
        let name = full_name(branch)?;
        match self.refs {
            RefFormat::Files => {
                let found = self.repo.refs.try_find(name.as_ref()).map_err(|_| self.broken_ref(&name))?;
                match found.map(|reference| reference.target) {
                    None => Ok(None),
                    Some(gix::refs::Target::Object(id)) => Ok(Some(id)),
                    Some(gix::refs::Target::Symbolic(other)) => {
                        Err(Error::Damaged(format!("`{branch}` is a symbolic ref to `{other}`")))
                    }
                }
            }
            RefFormat::Reftable => {
                let args =
                    ["for-each-ref", "--format=%(objectname)", name.as_bstr().to_str().unwrap_or_default()];
                let out = program::git("read the state branch", &self.common, &self.common, args, b"")?;
                match out.trim() {
                    b"" => Ok(None),
                    hex => {
                        ObjectId::from_hex(hex).map(Some).map_err(|error| Error::Damaged(error.to_string()))
                    }
                }
            }
        }
    }

    fn broken_ref(&self, name: &FullName) -> Error {
        Error::BrokenRef(self.common.join(name.as_bstr().to_string()))
    }

    /// A branch that keeps git from having one called `branch`: `a` or `a/b/c` where `a/b` is wanted.
    pub(super) fn branch_in_the_way(&self, branch: &str) -> Result<Option<String>, Error> {
        for (end, _) in branch.match_indices('/') {
            if self.tip(&branch[..end])?.is_some() {
                return Ok(Some(branch[..end].to_owned()));
            }
        }
        let below = format!("refs/heads/{branch}/");
        let args = ["for-each-ref", "--count=1", "--format=%(refname:lstrip=2)", &below];
        let out = program::git("list branches", &self.common, &self.common, args, b"")?;
        Ok(out.lines().next().map(|name| name.to_str_lossy().into_owned()))
    }

    /// Moves `branch` from `expecting` (nothing: it must not exist) to `new`. `false` when it was not there any more.
    pub(super) fn publish(
        &self,
        branch: &str,
        new: ObjectId,
        expecting: Option<ObjectId>,
        message: &Message,
    ) -> Result<bool, Error> {
        let name = full_name(branch)?;
        let locks = [name.as_bstr().to_str_lossy().as_ref(), "packed-refs"]
            .map(|file| self.common.join(format!("{file}.lock")));
        let log = format!("loopx: {}", message.subject());
        if self.refs == RefFormat::Reftable {
            let old = expecting.unwrap_or_else(|| self.hash_kind().null()).to_string();
            let (new, name) = (new.to_string(), name.as_bstr().to_str_lossy().into_owned());
            let args = ["update-ref", "--create-reflog", "-m", &log, &name, &new, &old];
            return match program::git("move the state branch", &self.common, &self.common, args, b"") {
                Ok(_) => Ok(true),
                // Whether it was the race or something else, the ref tells: git's words are not for parsing.
                Err(error) => match self.tip(branch)? {
                    tip if tip == expecting => Err(error),
                    _ => Ok(false),
                },
            };
        }
        let expected = match expecting {
            Some(old) => PreviousValue::MustExistAndMatch(old.into()),
            None => PreviousValue::MustNotExist,
        };
        let log = LogChange { mode: RefLog::AndReference, force_create_reflog: true, message: log.into() };
        let edit = RefEdit::new(name, Change::Update { log, expected, new: new.into() });
        let patience = gix::lock::acquire::Fail::AfterDurationWithBackoff(super::writer::PATIENCE);
        let moved = self
            .repo
            .refs
            .transaction()
            .prepare(Some(edit), patience, patience)
            .and_then(|transaction| transaction.commit(Some(message.signature())));
        match moved {
            Ok(_) => Ok(true),
            Err(_) if self.tip(branch)? != expecting => Ok(false),
            Err(error) => match locks.into_iter().find(|lock| lock.exists()) {
                Some(lock) => Err(Error::Locked(lock)),
                None if error.is_conflict() => Ok(false),
                None => Err(Error::git("move the state branch")(error)),
            },
        }
    }

    /// Writes the blobs, trees and the commit of `edit` on top of `base`. Nothing points to them yet.
    pub(super) fn commit(
        &self,
        edit: Cleared<'_>,
        base: Option<&Base>,
        message: &Message,
    ) -> Result<ObjectId, Error> {
        self.commit_with(edit, std::iter::empty(), base, message)
    }

    /// The same with files that are made one after the other, so that nobody has to hold all of them.
    pub(super) fn commit_with(
        &self,
        edit: Cleared<'_>,
        files: impl Iterator<Item = Result<(String, Vec<u8>), Error>>,
        base: Option<&Base>,
        message: &Message,
    ) -> Result<ObjectId, Error> {
        let (edit, failed) = (edit.edit(), || Error::git("write an object"));
        self.begin_fresh();
        let tree = match base {
            Some(base) => self.tree(base.tree)?,
            None => gix::objs::Tree::default(),
        };
        let mut editor = gix::objs::tree::Editor::new(tree, self, self.hash_kind());
        for path in edit.removed() {
            editor.remove(path.split('/')).map_err(failed())?;
        }
        for (path, bytes) in edit.written() {
            let blob = self.write(gix::objs::BlobRef { data: bytes }).map_err(failed())?;
            editor.upsert(path.split('/'), EntryKind::Blob, blob).map_err(failed())?;
        }
        for file in files {
            let (path, bytes) = file?;
            let blob = self.write(gix::objs::BlobRef { data: &bytes }).map_err(failed())?;
            editor.upsert(path.split('/'), EntryKind::Blob, blob).map_err(failed())?;
        }
        let tree = editor.write(|tree| self.write(tree)).map_err(failed())?;
        self.seal(tree, base.map(|base| base.commit), message)
    }

    /// Writes a commit of `tree` that has nothing before it.
    pub(super) fn first_commit(&self, tree: ObjectId, message: &Message) -> Result<ObjectId, Error> {
        self.begin_fresh();
        self.seal(tree, None, message)
    }

    fn seal(&self, tree: ObjectId, parent: Option<ObjectId>, message: &Message) -> Result<ObjectId, Error> {
        let signature = message
            .signature()
            .to_owned()
            .map_err(|error| Error::Git { doing: "write a signature", problem: error.to_string() })?;
        let mut commit = gix::objs::Commit {
            tree,
            parents: parent.into_iter().collect(),
            author: signature.clone(),
            committer: signature,
            encoding: None,
            message: message.text().into(),
            extra_headers: Vec::new(),
        };
        let mut payload = Vec::new();
        gix::objs::WriteTo::write_to(&commit, &mut payload).map_err(Error::io("write", "a commit"))?;
        match signature::sign(self, message.signer(), &payload) {
            Signature::NotWanted => {}
            Signature::Missing(why) => *self.unsigned.borrow_mut() = Some(why),
            Signature::Made(signature) => {
                let header = match self.hash_kind() {
                    gix::hash::Kind::Sha1 => "gpgsig",
                    _ => "gpgsig-sha256",
                };
                commit.extra_headers.push((header.into(), signature.into()));
            }
        }
        self.write(commit).map_err(Error::git("write an object"))
    }

    /// The tree a commit has.
    pub(super) fn base(&self, commit: ObjectId) -> Result<Base, Error> {
        let bytes = self.object(commit, Kind::Commit)?;
        let tree =
            gix::objs::CommitRefIter::from_bytes(&bytes, self.hash_kind()).tree_id().map_err(damaged)?;
        Ok(Base { commit, tree })
    }

    /// The parents that a commit has.
    pub(super) fn parents(&self, commit: ObjectId) -> Result<Vec<ObjectId>, Error> {
        let bytes = self.object(commit, Kind::Commit)?;
        Ok(gix::objs::CommitRefIter::from_bytes(&bytes, self.hash_kind()).parent_ids().collect())
    }

    /// When a commit was made, as it says itself.
    pub(super) fn date(&self, commit: ObjectId) -> Result<Timestamp, Error> {
        let bytes = self.object(commit, Kind::Commit)?;
        let committer =
            gix::objs::CommitRefIter::from_bytes(&bytes, self.hash_kind()).committer().map_err(damaged)?;
        Ok(Timestamp::from_unix(committer.time().map_or(0, |time| time.seconds)))
    }

    /// The bytes of a blob.
    pub(super) fn blob(&self, id: ObjectId) -> Result<Vec<u8>, Error> {
        Ok(self.object(id, Kind::Blob)?.to_vec())
    }

    /// The entries of a tree, in git's order.
    pub(super) fn tree(&self, id: ObjectId) -> Result<gix::objs::Tree, Error> {
        let bytes = self.object(id, Kind::Tree)?;
        Ok(gix::objs::TreeRef::from_bytes(&bytes, self.hash_kind()).map_err(damaged)?.into())
    }

    /// Takes an object from what lies at hand, so that it need not be looked for in the object database.
    pub(super) fn recall(&self, id: ObjectId, kind: Kind, hot: &Hot) {
        if let Some(bytes) = hot.get(id, kind).filter(|_| !self.seen.borrow().0.contains_key(&id)) {
            self.keep(id, &(kind, bytes.into()));
        }
    }

    /// The bytes of a commit or a tree.
    pub(super) fn node(&self, id: ObjectId, kind: Kind) -> Result<Vec<u8>, Error> {
        Ok(self.object(id, kind)?.to_vec())
    }

    fn object(&self, id: ObjectId, expected: Kind) -> Result<Rc<[u8]>, Error> {
        let (kind, bytes) = self.any_object(id).map_err(damaged)?;
        match kind == expected {
            true => Ok(bytes),
            false => Err(Error::Damaged(format!("{id} is a {kind} where a {expected} should be"))),
        }
    }

    /// An object of any kind.
    pub(super) fn any_object(&self, id: ObjectId) -> Result<Object, gix::Error> {
        if let Some(known) = self.seen.borrow().0.get(&id) {
            return Ok(known.clone());
        }
        // `git gc` may have moved it elsewhere just as we looked.
        let object = self.repo.find_object(id).or_else(|_| self.repo.find_object(id))?;
        let found = (object.kind, Rc::from(object.data.as_slice()));
        self.keep(id, &found);
        Ok(found)
    }

    fn write(&self, object: impl gix::objs::WriteTo) -> Result<ObjectId, gix::Error> {
        let mut bytes = Vec::new();
        object.write_to(&mut bytes).map_err(gix::Error::from_error)?;
        let id = self.repo.write_object(&object)?.detach();
        let object: Object = (object.kind(), bytes.into());
        self.keep(id, &object);
        let (kind, bytes) = object;
        let held = self.fresh_bytes.get() + bytes.len();
        let bytes = Some(bytes).filter(|_| held <= AT_HAND);
        if bytes.is_some() {
            self.fresh_bytes.set(held);
        }
        self.fresh.borrow_mut().0.push((id, kind, bytes));
        Ok(id)
    }

    /// Nothing is fresh yet.
    fn begin_fresh(&self) {
        self.fresh.replace((Vec::new(), self.is_collecting()));
        self.fresh_bytes.set(0);
    }

    /// What [`Git::fresh`] is from now on: the objects of several commits that are published as one.
    pub(super) fn put_fresh(&self, objects: Vec<Fresh>, was_collecting: bool) {
        self.fresh.replace((objects, was_collecting));
    }

    /// Looks for objects in `objects` only, and in the places that it names.
    pub(super) fn look_in(&mut self, objects: &Path) -> Result<(), Error> {
        let found = gix::odb::at(objects, self.hash_kind()).map_err(Error::io("open", objects))?;
        self.repo.objects = found.into();
        self.objects = Some(objects.to_path_buf());
        Ok(())
    }

    /// The same clone, without what was read so far: git's packs are mapped into memory as they are read.
    pub(super) fn anew(&self) -> Result<Self, Error> {
        let mut repo = self.repo.clone();
        let objects = repo.objects.store_ref().path().to_owned();
        repo.objects = gix::odb::at(&objects, self.hash_kind()).map_err(Error::io("open", &objects))?.into();
        Ok(Self {
            repo,
            common: self.common.clone(),
            refs: self.refs,
            objects: self.objects.clone(),
            seen: RefCell::default(),
            unsigned: RefCell::default(),
            fresh: RefCell::default(),
            fresh_bytes: Cell::default(),
        })
    }

    pub(super) fn fresh(&self) -> std::cell::Ref<'_, (Vec<Fresh>, bool)> {
        self.fresh.borrow()
    }

    fn keep(&self, id: ObjectId, object: &Object) {
        let length = object.1.len();
        if length > 64 * 1024 {
            return;
        }
        let (seen, held) = &mut *self.seen.borrow_mut();
        if *held + length > AT_HAND {
            seen.clear();
            *held = 0;
        }
        if seen.insert(id, object.clone()).is_none() {
            *held += length;
        }
    }
}

/// For gix's tree editor, so that it does not read again what was read for the decision.
impl gix::objs::Find for Git {
    fn try_find<'a>(
        &self,
        id: &gix::oid,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Option<gix::objs::Data<'a>>, gix::Error> {
        let Some((kind, bytes)) = self.seen.borrow().0.get(id).cloned() else {
            return self.repo.objects.try_find(id, buffer);
        };
        buffer.clear();
        buffer.extend_from_slice(&bytes);
        Ok(Some(gix::objs::Data::new(buffer, kind, id.kind())))
    }
}

fn damaged(error: impl std::error::Error + 'static) -> Error {
    Error::Damaged(chain(&error))
}

/// Whether git takes a repository of another user: unlike gix, it reads `safe.directory` in the environment, too.
fn git_takes(from: &Path, git_dir: Option<&Path>) -> bool {
    let said = program::says("git".as_ref(), from, ["rev-parse", "--absolute-git-dir"]);
    said.and_then(|said| said.trim().to_path().ok()?.canonicalize().ok()).is_some_and(|found| {
        git_dir.is_none_or(|dir| from.join(dir).canonicalize().is_ok_and(|dir| dir == found))
    })
}

fn not_opened(from: &Path, error: &gix::Error) -> Error {
    let problem = chain(error);
    if problem.contains("unsafe") || problem.contains("owned by") || problem.contains("trust") {
        return Error::Untrusted(from.to_path_buf());
    }
    match problem.contains("Could not find")
        || problem.contains("not a git repository")
        || error.is_not_found()
    {
        true => Error::NotARepository(from.to_path_buf()),
        false => Error::Git { doing: "open the repository", problem },
    }
}

fn full_name(branch: &str) -> Result<FullName, Error> {
    // A branch that begins with a dash would be an option to git.
    let legal = !branch.starts_with('-') && branch.len() <= 200 && !branch.contains(char::is_whitespace);
    let name: Result<FullName, _> = format!("refs/heads/{branch}").try_into();
    name.ok().filter(|_| legal).ok_or_else(|| Error::BadBranch(crate::domain::text::shown(branch, 200)))
}

/// An id that we wrote or that git said, in hex.
pub(super) fn object_id(hex: &str) -> Result<ObjectId, Error> {
    ObjectId::from_hex(hex.as_bytes()).map_err(|error| Error::Damaged(error.to_string()))
}

/// A file name from git, for people.
pub(super) fn lossy(name: &BStr) -> String {
    name.to_str_lossy().into_owned()
}
