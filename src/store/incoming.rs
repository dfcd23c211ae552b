//! The state in a repository that others push to, and what they push, before it is let in.
//!
//! Git keeps the objects of a push in a place of their own until its hook has agreed, and tells only the hook where that is.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use gix::{ObjectId, bstr::ByteSlice as _};

use super::{Error, Snapshot, Store, git::object_id, program, remote::STATE_REF};
use crate::domain::{push::Carried, time::Timestamp};

/// A store that sees the objects of a push, as long as this lives.
#[derive(Debug)]
pub struct Incoming {
    /// A folder that names where the objects are.
    _places: tempfile::TempDir,
}

impl Store {
    /// Looks for objects in the folders `quarantine`, too: where git keeps what is being pushed.
    pub fn see_incoming(&mut self, quarantine: &[PathBuf]) -> Result<Incoming, Error> {
        let dir = self.git.private_dir();
        fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
        let made = tempfile::TempDir::new_in(&dir).map_err(Error::io("create", &dir))?;
        let info = made.path().join("info");
        fs::create_dir(&info).map_err(Error::io("create", &info))?;
        let mut lines = String::new();
        for place in quarantine.iter().chain([&self.git.common_dir().join("objects")]) {
            let line = place.to_str().filter(|line| !line.contains(['\n', '"']) && place.is_absolute());
            let odd = || Error::Io {
                doing: "read",
                path: place.clone(),
                source: std::io::ErrorKind::InvalidFilename.into(),
            };
            lines.push_str(&format!("{}\n", line.ok_or_else(odd)?));
        }
        let file = info.join("alternates");
        fs::write(&file, lines).map_err(Error::io("write", &file))?;
        self.git.look_in(made.path())?;
        Ok(Incoming { _places: made })
    }

    /// Whether pushes have to wait for a state to be here. Only `loopx.require=false` says no.
    pub fn requires_state(&self) -> bool {
        self.git.config_is_not_off("loopx.require")
    }

    /// The state that was synced to this repository, each commit of it verified; none when there is none.
    pub fn synced_here(&self, now: Timestamp) -> Result<Option<Snapshot<'_>>, Error> {
        let Some(tip) = self.synced_tip()? else { return Ok(None) };
        self.must_be_legal_here(tip, now, |_, _| ())?;
        self.at(tip).map(Some)
    }

    /// The state `new` (hex), which is about to become that of this repository, if it only adds legal mutations to what is
    /// here.
    pub fn received(&self, new: &str, now: Timestamp) -> Result<Snapshot<'_>, Error> {
        let (new, here) = (object_id(new)?, self.synced_tip()?);
        let line = self.line(new, here)?;
        let root = line.last().map(|last| self.parent(*last)).transpose()?.flatten();
        match here {
            Some(here) if root != Some(here) && new != here => {
                return Err(Error::NotForward(STATE_REF));
            }
            Some(here) => self.must_be_legal_here(here, now, |_, _| ())?,
            None => {}
        }
        self.must_be_legal(&line, now, |_, _| ())?;
        self.must_bring_no_secret(&line, None)?;
        self.at(new)
    }

    fn synced_tip(&self) -> Result<Option<ObjectId>, Error> {
        let common = self.git.common_dir();
        let args = ["for-each-ref", "--format=%(objectname)", STATE_REF];
        let out = program::git("read the state ref", common, common, args, b"")?;
        match out.lines().next() {
            Some(line) => object_id(&line.to_str_lossy()).map(Some),
            // Git passes over a file that is no ref.
            None if common.join(STATE_REF).exists() => {
                Err(Error::Damaged(format!("`{STATE_REF}` is no ref that git could read")))
            }
            None => Ok(None),
        }
    }

    /// What of loopx's is among what `pushed` (hex) reaches and no ref of this repository does.
    pub fn carries_here(&self, pushed: &str) -> Result<Option<Carried>, Error> {
        let known = self.reached_here(|_| true)?;
        self.git.carries(object_id(pushed)?, None, || known)
    }

    /// The files that are changed by commits which `pushed` (hex) reaches, and neither what its ref `was` nor a ref of this
    /// repository that `counts` by its full name.
    pub fn changed_here(
        &self,
        pushed: &str,
        was: Option<&str>,
        counts: impl Fn(&str) -> bool,
    ) -> Result<Option<BTreeSet<String>>, Error> {
        let mut known = self.reached_here(counts)?;
        known.extend(was.map(object_id).transpose()?);
        self.git.changed_files(object_id(pushed)?, &known)
    }

    fn reached_here(&self, counts: impl Fn(&str) -> bool) -> Result<Vec<ObjectId>, Error> {
        let common: &Path = self.git.common_dir();
        // With what a tag points to; a commit points to nothing else.
        let format = "--format=%(refname) %(objectname) %(*objectname)";
        let args = ["for-each-ref", format, "refs/heads", "refs/tags"];
        let out = program::git("list refs", common, common, args, b"")?;
        let mut ids = Vec::new();
        for line in out.lines() {
            let mut fields = line.fields();
            if fields.next().is_some_and(|name| counts(&name.to_str_lossy())) {
                ids.extend(fields.filter_map(|id| ObjectId::from_hex(id).ok()));
            }
        }
        let is_commit = |id: &ObjectId| {
            self.git.repo().find_header(*id).is_ok_and(|header| header.kind() == gix::objs::Kind::Commit)
        };
        ids.retain(is_commit);
        Ok(ids)
    }
}
