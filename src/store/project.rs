//! Facts about the user's own repository: what a decision or a piece of evidence is bound to, and what a push carries.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use gix::{ObjectId, bstr::ByteSlice as _, objs::Kind};
use sha2::{Digest as _, Sha256};

use super::{
    Error,
    error::chain,
    git::Git,
    layout, program,
    view::{FOLDER, Look, diff},
};
use crate::domain::{
    gate::Tip,
    push::{Brought, Carried},
    secret,
    text::shown,
};

/// So many new commits are looked at before anything is left out that the other side has on other branches.
const A_FEW: usize = 200;

/// A commit of the project, in hex, with its tree and its subject, in which marks stand for what looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectCommit {
    pub commit: String,
    pub tree: String,
    pub subject: String,
}

/// What a commit would take along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brings {
    /// Commits that no remote is known to have; none in a clone that knows of no remote, where the commit is compared with
    /// the one it was made from.
    pub commits: Option<usize>,
    /// The files that differ, a line each, and their number.
    pub files: Vec<String>,
}

/// A file of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// From the top of the worktree, with `/`.
    pub path: String,
    pub bytes: u64,
    /// `sha256:` and hex.
    pub digest: String,
    /// All of it, if it has no more bytes than were asked for.
    pub content: Option<Vec<u8>>,
}

impl Git {
    /// The commit that is checked out here; nothing in a project without commits.
    pub fn head(&self) -> Result<Option<ProjectCommit>, Error> {
        match self.revision("HEAD") {
            Ok(commit) => Ok(Some(commit)),
            Err(Error::UnknownRevision(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The commit that `revision` names, read as git reads it. A tag counts as what it points to.
    pub fn revision(&self, revision: &str) -> Result<ProjectCommit, Error> {
        let unknown = || Error::UnknownRevision(crate::domain::text::shown(revision, 100));
        let spec = format!("{revision}^{{commit}}");
        let dir = self.worktree().unwrap_or_else(|| self.common_dir().to_path_buf());
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &spec];
        let out =
            program::git("read a revision", self.repo().git_dir(), &dir, args, b"").map_err(|_| unknown())?;
        let id = ObjectId::from_hex(out.trim()).map_err(|_| unknown())?;
        let base = self.base(id)?;
        let commit = self.repo().find_commit(id).map_err(|error| Error::Damaged(chain(&error)))?;
        let message = commit.message_raw().map_err(|error| Error::Damaged(chain(&error)))?;
        let subject = message.lines().next().unwrap_or_default().to_str_lossy();
        Ok(ProjectCommit {
            commit: id.to_string(),
            tree: base.tree.to_string(),
            // Cut, a secret could not be told any more.
            subject: shown(&secret::clean(&subject), 120),
        })
    }

    /// The full name of the ref that a push of `from` writes when it says `name`: one that is written in full, else a tag if that
    /// is what `from` is, else a branch. Nothing when `from` is no ref and `name` does not say more.
    pub fn full_ref(&self, name: &str, from: &str) -> Option<String> {
        if name.starts_with("refs/") {
            return gix::refs::FullName::try_from(name).ok().map(|_| name.to_owned());
        }
        let args = ["rev-parse", "--symbolic-full-name", "--verify", "--quiet", "--end-of-options", from];
        let dir = self.worktree().unwrap_or_else(|| self.common_dir().to_path_buf());
        let said = program::git("read a ref", self.repo().git_dir(), &dir, args, b"").ok()?;
        let full = said.trim().to_str_lossy().into_owned();
        let folder = if full.starts_with("refs/tags/") { "refs/tags/" } else { "refs/heads/" };
        match name == from {
            true => (!full.is_empty()).then_some(full),
            false => {
                let full = format!("{folder}{name}");
                gix::refs::FullName::try_from(full.as_str()).ok().map(|_| full)
            }
        }
    }

    /// What a commit (hex) would take along to whoever has what the remotes of this clone have.
    pub fn brings(&self, commit: &str) -> Result<Brings, Error> {
        let (commits, compare) = self.compared(commit)?;
        let files = self.diff(compare.as_deref(), &["--stat=70,50,10"])?;
        let shown = |line: &[u8]| crate::domain::text::shown(line.to_str_lossy().trim(), 100);
        let files = files.lines().filter(|line| !line.is_empty()).map(shown).collect();
        Ok(Brings { commits, files })
    }

    /// The same, line by line as a diff, fit to print.
    pub fn patch(&self, commit: &str) -> Result<Vec<String>, Error> {
        let (_, compare) = self.compared(commit)?;
        let lines = self.diff(compare.as_deref(), &["--patch"])?;
        let shown = |line: &str| crate::domain::text::shown(&line.replace('\t', "    "), 300);
        Ok(lines.lines().map(|line| shown(&line.to_str_lossy())).collect())
    }

    fn diff(&self, compare: Option<&[String]>, form: &[&str]) -> Result<Vec<u8>, Error> {
        let Some(compare) = compare else { return Ok(Vec::new()) };
        let compare: Vec<&str> = compare.iter().map(String::as_str).collect();
        let (verb, revisions) = compare.split_at(1);
        let flags = ["--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"];
        self.ask(&[&["-c", "core.quotePath=true"], verb, form, &flags, revisions].concat())
    }

    fn ask(&self, args: &[&str]) -> Result<Vec<u8>, Error> {
        let dir = self.worktree().unwrap_or_else(|| self.common_dir().to_path_buf());
        program::git("compare commits", self.repo().git_dir(), &dir, args, b"")
    }

    /// How many commits no remote is known to have, and what git is asked to see what they change, if anything.
    fn compared(&self, commit: &str) -> Result<(Option<usize>, Option<Vec<String>>), Error> {
        let knows_a_remote = !self.ask(&["for-each-ref", "--count=1", "refs/remotes"])?.is_empty();
        let new = self.ask(&["rev-list", "--boundary", "--topo-order", commit, "--not", "--remotes"])?;
        let (there, new): (Vec<_>, Vec<_>) =
            new.lines().map(|line| line.to_str_lossy().into_owned()).partition(|line| line.starts_with('-'));
        let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
        let compare = match (knows_a_remote, new.is_empty(), there.first()) {
            (true, true, _) => None,
            (true, false, Some(base)) => words(&["diff", &base[1..], commit]),
            _ => words(&["show", "--format=", "--first-parent", commit]),
        };
        Ok((knows_a_remote.then_some(new.len()), compare))
    }

    /// Whether tracked files differ from the commit that is checked out.
    pub fn is_dirty(&self) -> Result<bool, Error> {
        let Some(dir) = self.worktree() else { return Ok(false) };
        let args = ["status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty"];
        Ok(!program::git("compare the worktree", self.repo().git_dir(), &dir, args, b"")?.is_empty())
    }

    /// The fingerprint of what lies in this worktree: the tree, in hex, that git would make of it, whether it is committed,
    /// staged, unstaged or untracked; ignored files do not count, and of a submodule only its commit does. The same files
    /// have the same fingerprint, wherever they lie and whenever they were written. Nothing without a worktree.
    pub fn fingerprint(&self) -> Result<Option<String>, Error> {
        let Some(dir) = self.worktree() else { return Ok(None) };
        let aside = self.aside()?;
        Ok(Some(self.written_aside(&dir, aside.path())?))
    }

    /// The same, and how many files differ from the commit `base`, in hex.
    pub fn difference(&self, base: &str) -> Result<Option<(String, u64)>, Error> {
        let Some(dir) = self.worktree() else { return Ok(None) };
        let aside = self.aside()?;
        let tree = self.written_aside(&dir, aside.path())?;
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", base, &tree];
        let doing = "compare what lies here";
        let names = program::git_aside(doing, self.repo().git_dir(), &dir, args, aside.path())?;
        let files = names.split(|byte| *byte == 0).filter(|name| !name.is_empty()).count();
        Ok(Some((tree, files as u64)))
    }

    /// A folder beside the repository with a copy of the index, and from where the repository's objects are seen.
    fn aside(&self) -> Result<tempfile::TempDir, Error> {
        let aside = tempfile::tempdir().map_err(Error::io("make a folder for", "the fingerprint"))?;
        let (objects, index) = (aside.path().join("objects/info"), aside.path().join("index"));
        fs::create_dir_all(&objects).map_err(Error::io("make", &objects))?;
        let mut store = self.common_dir().join("objects").into_os_string();
        store.push("\n");
        let alternates = objects.join("alternates");
        fs::write(&alternates, store.as_encoded_bytes()).map_err(Error::io("write", &alternates))?;
        let users = self.repo().index_path();
        if let Ok(meta) = fs::metadata(&users) {
            fs::copy(&users, &index).map_err(Error::io("copy", &users))?;
            // By its date git tells which files may have changed since without a trace.
            let copy = fs::File::options().write(true).open(&index).map_err(Error::io("open", &index))?;
            meta.modified().and_then(|then| copy.set_modified(then)).map_err(Error::io("date", &index))?;
        }
        Ok(aside)
    }

    fn written_aside(&self, dir: &Path, aside: &Path) -> Result<String, Error> {
        let doing = "take the fingerprint of what lies here";
        let all = ["-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false", "add", "-A", "."];
        program::git_aside(doing, self.repo().git_dir(), dir, all, aside)?;
        let tree = program::git_aside(doing, self.repo().git_dir(), dir, ["write-tree"], aside)?;
        Ok(tree.trim().to_str_lossy().into_owned())
    }

    /// The commits from `range`, such as `main..topic`: both ends, and how many there are.
    pub fn range(&self, range: &str) -> Result<Option<(ProjectCommit, ProjectCommit, u64)>, Error> {
        let Some((from, to)) = range.split_once("..").filter(|(_, to)| !to.starts_with('.')) else {
            return Ok(None);
        };
        let or_head = |end: &str| if end.is_empty() { "HEAD".to_owned() } else { end.to_owned() };
        let (from, to) = (self.revision(&or_head(from))?, self.revision(&or_head(to))?);
        let args = ["rev-list", "--count", &to.commit, &format!("^{}", from.commit)];
        let out = program::git("count commits", self.repo().git_dir(), self.common_dir(), args, b"")?;
        let count = out.trim().to_str_lossy().parse().unwrap_or(0);
        Ok(Some((from, to, count)))
    }

    /// Whether a commit in hex is here.
    pub fn has_commit(&self, commit: &str) -> bool {
        ObjectId::from_hex(commit.as_bytes()).is_ok_and(|id| self.repo().find_commit(id).is_ok())
    }

    /// The tree, in hex, that an object in hex is or points to; nothing for a file.
    pub fn tree_of(&self, object: &str) -> Result<Option<String>, Error> {
        let failed =
            |error: gix::Error| Error::Git { doing: "look at what is pushed", problem: chain(&error) };
        let object = self.repo().find_object(super::git::object_id(object)?).map_err(failed)?;
        let object = object.peel_tags_to_end().map_err(failed)?;
        Ok(match object.kind {
            Kind::Commit => Some(self.base(object.id)?.tree.to_string()),
            Kind::Tree => Some(object.id.to_string()),
            Kind::Blob | Kind::Tag => None,
        })
    }

    /// A file of the worktree, by a path as the user typed it in `cwd`; its content up to `most` bytes.
    pub fn file(&self, cwd: &Path, path: &Path, most: usize) -> Result<ProjectFile, Error> {
        let unknown = || Error::UnknownFile(path.to_path_buf());
        let top = self.worktree().ok_or_else(unknown)?;
        let (top, full) = (
            top.canonicalize().map_err(Error::io("find", &top))?,
            cwd.join(path).canonicalize().map_err(|_| unknown())?,
        );
        let inside = full.strip_prefix(&top).map_err(|_| unknown())?;
        let mut file = fs::File::open(&full).map_err(Error::io("read", &full))?;
        if !file.metadata().is_ok_and(|meta| meta.is_file()) {
            return Err(unknown());
        }
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        let mut bytes = 0;
        let mut content = Some(Vec::new());
        loop {
            match file.read(&mut buffer).map_err(Error::io("read", &full))? {
                0 => break,
                read => {
                    hash.update(&buffer[..read]);
                    bytes += read as u64;
                    content = content.filter(|content| content.len() + read <= most);
                    content.iter_mut().for_each(|content| content.extend(&buffer[..read]));
                }
            }
        }
        let digest = format!("sha256:{}", crate::domain::text::hex(&hash.finalize()));
        let path: PathBuf = inside.components().collect();
        let path = crate::domain::text::shown(&path.to_string_lossy(), 4096);
        Ok(ProjectFile { path, bytes, digest, content })
    }

    /// What of loopx's is among what `pushed` reaches and neither `was` does, what the ref was on the other side, nor what
    /// else is `known` to be there: a commit of any state, or a commit that has the folder of the state in it.
    ///
    /// Decided by what the objects contain: the ref may be called anything. An object that is not here cannot be looked
    /// at, which is an error and not a no.
    pub(super) fn carries(
        &self,
        pushed: ObjectId,
        was: Option<ObjectId>,
        known: impl FnOnce() -> Vec<ObjectId>,
    ) -> Result<Option<Carried>, Error> {
        let damaged =
            |error: gix::Error| Error::Git { doing: "look at what is pushed", problem: chain(&error) };
        let tip = match self.any_object(pushed).map_err(damaged)?.0 {
            Kind::Tag => {
                let object = self.repo().find_object(pushed).map_err(damaged)?;
                object.peel_tags_to_end().map_err(damaged)?.id
            }
            _ => pushed,
        };
        match self.any_object(tip).map_err(damaged)?.0 {
            Kind::Tree => return self.carried(tip),
            Kind::Blob | Kind::Tag => return Ok(None),
            Kind::Commit => {}
        }
        // Most pushes of state push its tip.
        if let Some(carried) = self.carried(self.base(tip)?.tree)? {
            return Ok(Some(carried));
        }
        let hides = |id: &ObjectId| self.hides(*id);
        let found = |known: Vec<ObjectId>, most: usize| -> Result<Option<Option<Carried>>, Error> {
            let walk = self.repo().rev_walk([tip]).with_hidden(known).all().map_err(damaged)?;
            for (count, step) in walk.enumerate() {
                if count == most {
                    return Ok(None);
                }
                let step = step.map_err(|error| Error::Damaged(error.to_string()))?;
                if let Some(carried) = self.carried(self.base(step.id)?.tree)? {
                    return Ok(Some(Some(carried)));
                }
            }
            Ok(Some(None))
        };
        let was: Vec<ObjectId> = was.into_iter().filter(hides).collect();
        // Mostly a branch grows by a few commits in a row, and the other branches need not be looked at.
        if let [was] = was[..]
            && let Some(carried) = self.carried_in_a_row(was, tip)
        {
            return Ok(carried);
        }
        if !was.is_empty()
            && let Some(carried) = found(was.clone(), A_FEW)?
        {
            return Ok(carried);
        }
        let known = known().into_iter().filter(hides).chain(was).collect();
        Ok(found(known, usize::MAX)?.flatten())
    }

    /// What the commits from `was` to `tip` carry, themselves excepted, where each of them has one parent and they are few. Nothing
    /// is known otherwise, nor where one cannot be read: a walk as git does it knows of clones that do not have all commits.
    fn carried_in_a_row(&self, was: ObjectId, tip: ObjectId) -> Option<Option<Carried>> {
        let mut at = tip;
        for _ in 0..A_FEW {
            let [parent] = self.parents(at).ok()?[..] else { return None };
            if parent == was {
                return Some(None);
            }
            if let Some(carried) = self.carried(self.base(parent).ok()?.tree).ok()? {
                return Some(Some(carried));
            }
            at = parent;
        }
        None
    }

    /// Whether what `id` reaches need not be looked at when the other side has it. A remote-tracking branch that is itself at
    /// a state was put there by hand, and hides nothing.
    fn hides(&self, id: ObjectId) -> bool {
        let base = self.repo().has_object(id).then(|| self.base(id).ok()).flatten();
        base.is_some_and(|base| self.carried(base.tree).is_ok_and(|carried| carried != Some(Carried::State)))
    }

    /// The commit on the branch that ends with `pushed` which brought a state into its history, among those that no `known`
    /// one reaches; nothing when there is none, and when the branch itself began as a state.
    pub(super) fn brought_in(
        &self,
        pushed: ObjectId,
        known: Vec<ObjectId>,
    ) -> Result<Option<Brought>, Error> {
        let damaged =
            |error: gix::Error| Error::Git { doing: "look at what is pushed", problem: chain(&error) };
        let object = self.repo().find_object(pushed).map_err(damaged)?;
        let object = object.peel_tags_to_end().map_err(damaged)?;
        if object.kind != Kind::Commit {
            return Ok(None);
        }
        let tip = object.id;
        let known: Vec<ObjectId> = known.into_iter().filter(|id| self.hides(*id)).collect();
        let mut first_parents: HashMap<ObjectId, Option<ObjectId>> = HashMap::new();
        let mut children: HashMap<ObjectId, Vec<ObjectId>> = HashMap::new();
        let mut left = Vec::new();
        for step in self.repo().rev_walk([tip]).with_hidden(known).all().map_err(damaged)? {
            let step = step.map_err(|error| Error::Damaged(error.to_string()))?;
            let parents: Vec<ObjectId> = step.parent_ids().map(gix::Id::detach).collect();
            first_parents.insert(step.id, parents.first().copied());
            parents.into_iter().for_each(|parent| children.entry(parent).or_default().push(step.id));
            if self.carried(self.base(step.id)?.tree)? == Some(Carried::State) {
                left.push(step.id);
            }
        }
        let mut with_state = HashSet::new();
        while let Some(id) = left.pop() {
            if with_state.insert(id) {
                left.extend(children.get(&id).into_iter().flatten());
            }
        }
        let mut at = tip;
        while let Some(Some(before)) = first_parents.get(&at).filter(|_| with_state.contains(&at)) {
            if !with_state.contains(before) {
                // A shallow clone may not have it, and then nobody can go back there.
                if !self.repo().has_object(*before) {
                    return Ok(None);
                }
                let (commit, before) = (at.to_string(), before.to_string());
                return Ok(Some(Brought { commit, before, is_newest: at == tip }));
            }
            at = *before;
        }
        Ok(None)
    }

    /// The files that commits change which `pushed` reaches and `known` does not.
    pub(super) fn changed_files(
        &self,
        pushed: ObjectId,
        known: &[ObjectId],
    ) -> Result<Option<BTreeSet<String>>, Error> {
        let failed =
            |error: gix::Error| Error::Git { doing: "look at what is pushed", problem: chain(&error) };
        let object = self.repo().find_object(pushed).map_err(failed)?.peel_tags_to_end().map_err(failed)?;
        if object.kind != Kind::Commit {
            return Ok(None);
        }
        let known: Vec<ObjectId> = known.iter().copied().filter(|id| self.repo().has_object(*id)).collect();
        let mut changed = BTreeSet::new();
        for step in self.repo().rev_walk([object.id]).with_hidden(known).all().map_err(failed)? {
            let step = step.map_err(|error| Error::Damaged(error.to_string()))?;
            let new = self.base(step.id)?.tree;
            let parents: Vec<ObjectId> = step.parent_ids().map(gix::Id::detach).collect();
            let is_first = parents.is_empty();
            // A shallow clone ends where the rest is known to the other side.
            let there = parents.into_iter().filter(|id| self.repo().has_object(*id));
            let olds = there.map(|id| Ok(Some(self.base(id)?.tree))).chain(is_first.then_some(Ok(None)));
            // A merge changes what differs from every one of its parents: the rest came from one of them.
            let mut of_commit: Option<BTreeSet<String>> = None;
            for old in olds {
                let mut files = BTreeMap::new();
                diff(self, old?, Some(new), Look::Changes, "", &mut files)?;
                let files: BTreeSet<String> = files.into_keys().collect();
                of_commit = Some(of_commit.map_or_else(|| files.clone(), |others| &others & &files));
            }
            changed.extend(of_commit.unwrap_or_default());
        }
        Ok(Some(changed))
    }

    /// The commit that `pushed` (hex) is or names, and how it is related to those that were `answered` about (hex). None
    /// for something else than a commit. An answer about a commit that is not here is about nothing that is.
    pub fn leaving(&self, pushed: &str, answered: &BTreeSet<&str>) -> Result<Option<Tip>, Error> {
        let failed =
            |error: gix::Error| Error::Git { doing: "look at what is pushed", problem: chain(&error) };
        let object = self.repo().find_object(super::git::object_id(pushed)?).map_err(failed)?;
        let object = object.peel_tags_to_end().map_err(failed)?;
        if object.kind != Kind::Commit {
            return Ok(None);
        }
        let commit = object.id;
        let mut tip =
            Tip { commit: commit.to_string(), tree: self.base(commit)?.tree.to_string(), ..Tip::default() };
        for name in answered {
            let Some(seen) =
                ObjectId::from_hex(name.as_bytes()).ok().filter(|id| self.repo().has_object(*id))
            else {
                continue;
            };
            if self.was_made_from(seen, commit)? {
                tip.within.insert((*name).to_owned());
            }
            if self.was_made_from(commit, seen)? {
                tip.reaches.insert((*name).to_owned());
            }
        }
        Ok(Some(tip))
    }

    /// Whether `old` is `new` or one of its ancestors.
    fn was_made_from(&self, new: ObjectId, old: ObjectId) -> Result<bool, Error> {
        if new == old {
            return Ok(true);
        }
        let failed =
            |error: gix::Error| Error::Git { doing: "look at what is pushed", problem: chain(&error) };
        let mut beyond = self.repo().rev_walk([old]).with_hidden([new]).all().map_err(failed)?;
        beyond
            .next()
            .transpose()
            .map_err(|error| Error::Damaged(error.to_string()))
            .map(|step| step.is_none())
    }

    /// The names and addresses by which a remote is known here that git calls `name` with the address `url`.
    pub fn known_as(&self, name: &str, url: &str) -> Result<BTreeSet<String>, Error> {
        let mut names: BTreeSet<String> = [name.to_owned(), url.to_owned()].into();
        let top = self.worktree().unwrap_or_else(|| self.common_dir().to_path_buf());
        let place = |url: &str| {
            let path = url.strip_prefix("file://").unwrap_or(url);
            top.join(path)
                .canonicalize()
                .unwrap_or_else(|_| url.trim_end_matches('/').trim_end_matches(".git").into())
        };
        for remote in self.repo().remote_names() {
            let Ok(found) = self.repo().find_remote(&**remote) else { continue };
            for direction in [gix::remote::Direction::Push, gix::remote::Direction::Fetch] {
                let Some(other) = found.url(direction).map(|url| url.to_bstring().to_string()) else {
                    continue;
                };
                if place(&other) == place(url) {
                    names.extend([remote.to_string(), other]);
                }
            }
        }
        Ok(names)
    }

    /// What a root tree has of loopx's. That of a state has the file that only such a tree has.
    fn carried(&self, tree: ObjectId) -> Result<Option<Carried>, Error> {
        let tree = self.tree(tree)?;
        let find = |name: &str| tree.entries.iter().find(|entry| entry.filename == name);
        if let Some(policy) = find(layout::POLICY).filter(|entry| entry.mode.is_blob()) {
            let bytes = self.blob(policy.oid)?;
            if contains(&bytes, b"format") && contains(&bytes, b"repository") {
                return Ok(Some(Carried::State));
            }
        }
        Ok(find(FOLDER).map(|_| Carried::Folder))
    }

    /// The state branch, and what was fetched of it from elsewhere, by hand or to be compared.
    pub(super) fn state_refs(&self, branch: &str) -> Result<Vec<String>, Error> {
        let remote = format!("refs/remotes/*/{branch}");
        let own = format!("refs/heads/{branch}");
        let args = ["for-each-ref", "--format=%(refname)", &own, &remote, super::remote::LAST_SEEN];
        let out = program::git("list branches", self.common_dir(), self.common_dir(), args, b"")?;
        Ok(out.lines().map(|name| name.to_str_lossy().into_owned()).collect())
    }

    /// What this clone believes `remote` to have: its remote-tracking branches, as far as they `count` by the full name that
    /// they have there.
    pub(super) fn known_to_have(&self, remote: &str, counts: impl Fn(&str) -> bool) -> Vec<ObjectId> {
        let dir = self.common_dir();
        let pattern = format!("refs/remotes/{remote}/");
        if crate::domain::text::shown(remote, 200) != remote
            || remote.contains(['*', '[', '?', ' '])
            || remote.is_empty()
        {
            return Vec::new();
        }
        let counts = |name: &str| {
            name.strip_prefix(&pattern).is_some_and(|branch| counts(&format!("refs/heads/{branch}")))
        };
        if self.reads_refs_itself() {
            let Ok(platform) = self.repo().references() else { return Vec::new() };
            let Ok(references) = platform.prefixed(pattern.as_str()) else { return Vec::new() };
            return references
                .flatten()
                .filter(|reference| counts(&reference.name().as_bstr().to_str_lossy()))
                .filter_map(|mut reference| reference.peel_to_id().ok())
                .map(gix::Id::detach)
                .collect();
        }
        let args = ["for-each-ref", "--format=%(objectname) %(refname)", &pattern];
        let out = program::git("list remote-tracking branches", dir, dir, args, b"").unwrap_or_default();
        let line = |line: &[u8]| {
            let (id, name) = line.split_once_str(" ")?;
            counts(&name.to_str_lossy()).then(|| ObjectId::from_hex(id).ok())?
        };
        out.lines().filter_map(line).collect()
    }
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.find(needle).is_some()
}
