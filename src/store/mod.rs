//! Where state lives: one orphan branch of the user's repository, one commit a mutation.
//!
//! This is the only place that knows git and file formats. It hands out a [`Snapshot`] of one commit and takes a
//! [`Change`], and between the two it keeps four promises:
//!
//! - **The branch is the truth.** A read looks at one commit; the files in `.loopx/` are a view that is brought up to
//!   date afterwards ([`view`]) and never read.
//! - **One mutation, one commit, or none.** [`Store::update`] moves the ref expecting the tip that was read. Whoever
//!   loses the race decides again on the new tip.
//! - **Killed anywhere, the next one goes on** ([`writer`]). Objects first, then the ref, then the view.
//! - **The past stays cheap.** Closed records are folded into segments ([`archive`]), so that no folder, no index and
//!   no checkout grows with it.
//!
//! Reading order: [`git`] and [`program`] (what we ask of git), [`format`](mod@format) and [`layout`] (bytes and paths of a
//! record), [`snapshot`] (reading), this file (writing), `screen.rs` (what is kept out), [`history`] and [`project`] (the other two things that are read),
//! [`pushes`] (what went out, and what the hook said of it).

pub mod approval;
pub mod archive;
mod checkpoint;
mod durability;
pub mod error;
pub mod format;
pub mod git;
pub mod gits;
pub mod health;
pub mod history;
pub mod hot;
mod incoming;
pub mod inspect;
pub mod layout;
pub mod message;
mod notify;
mod outlines;
pub mod program;
pub mod project;
pub mod pushes;
pub mod remote;
pub mod restore;
mod screen;
pub mod sessions;
pub mod setup;
mod shelter;
mod signature;
pub mod snapshot;
pub mod sync;
pub mod takedown;
pub mod transfer;
pub mod transport;
mod upkeep;
pub mod verify;
pub mod view;
pub mod writer;

#[cfg(any(test, fuzzing))]
pub mod outside;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::{cell::OnceCell, collections::BTreeSet, fs, path::Path};

use gix::ObjectId;

pub use self::{error::Error, setup::Situation, snapshot::Snapshot, view::Warning};
use self::{
    error::Newer,
    git::{Git, object_id},
    hot::Hot,
    message::Message,
    screen::Cleared,
    view::View,
    writer::{Standing, Writer},
};
use crate::domain::{
    actor::{Person, Stamp},
    change::Change,
    push::{Brought, Carried},
};

/// The branch that holds the state unless the user chose another at `init`.
pub const DEFAULT_BRANCH: &str = "loopx/state";

/// The state of one clone.
#[derive(Debug)]
pub struct Store {
    git: Git,
    hot: OnceCell<Hot>,
}

/// What a mutation came to.
#[derive(Debug)]
pub struct Updated<T> {
    /// What the decision returned, from the run of it that counted.
    pub value: T,
    /// The commit in hex; none when everything was like that already.
    pub commit: Option<String>,
    /// What went wrong with the view. The mutation is safe in any case.
    pub warnings: Vec<Warning>,
}

/// How often a mutation decides again before it gives up. With the writer's lock only a stranger to it (git itself, a
/// merge) can win a race, so this is generous.
const TRIES: u32 = 20;

/// The bytes of a file of ours, if it is there and is one: a pipe of that name would be waited for.
fn read_plain_file(path: &Path) -> Option<Vec<u8>> {
    let is_file = fs::metadata(path).is_ok_and(|meta| meta.is_file());
    is_file.then(|| fs::read(path).ok()).flatten()
}

impl Store {
    /// Finds the repository that `from` lies in, or the one `git_dir` names.
    pub fn open(from: &Path, git_dir: Option<&Path>) -> Result<Self, Error> {
        Ok(Self { git: Git::discover(from, git_dir)?, hot: OnceCell::new() })
    }

    /// What we ask of git.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// The state as it is now, to be looked at. Takes no lock and writes nothing.
    pub fn read(&self) -> Result<Snapshot<'_>, Error> {
        let tip = self.git.tip(&self.git.branch()?)?.ok_or(Error::NotInitialised)?;
        self.at(tip)
    }

    /// The state as it is now, to be relied on: an error when the tip is not one that loopx put there.
    pub fn trusted(&self) -> Result<Snapshot<'_>, Error> {
        self.at(self.trusted_tip()?)
    }

    fn trusted_tip(&self) -> Result<ObjectId, Error> {
        self.trusted_tip_of(&self.git.branch()?)
    }

    fn trusted_tip_of(&self, branch: &str) -> Result<ObjectId, Error> {
        match writer::standing(&self.git, branch)? {
            (tip, Standing::Ours) => Ok(tip),
            (tip, Standing::Foreign(last)) => Err(self.foreign(branch, tip, last)),
            (_, Standing::Elsewhere(left)) => Err(Error::Redirected { branch: branch.to_owned(), left }),
        }
    }

    /// What to say of a tip that loopx did not put there.
    fn foreign(&self, branch: &str, tip: ObjectId, last: Option<ObjectId>) -> Error {
        self.if_newer(tip, writer::foreign(branch, tip, last))
    }

    /// The same error, which says whether `tip` takes a newer loopx, or cannot be read at all.
    fn if_newer(&self, tip: ObjectId, error: Error) -> Error {
        let read = || self.at(tip).and_then(|snapshot| snapshot.policy().and(snapshot.states()));
        match error {
            Error::Foreign { branch, tip, last, newer: None, .. } => {
                let (newer, is_unreadable) = match read() {
                    Ok(_) => (None, false),
                    Err(Error::Newer { path, found, known }) => {
                        (Some(Box::new(Newer { path, found, known })), true)
                    }
                    Err(_) => (None, true),
                };
                Error::Foreign { branch, tip, last, newer, is_unreadable }
            }
            error => error,
        }
    }

    fn at(&self, tip: ObjectId) -> Result<Snapshot<'_>, Error> {
        Snapshot::at(&self.git, self.hot(), tip)
    }

    fn hot(&self) -> &Hot {
        self.hot.get_or_init(|| Hot::load(&self.git.private_dir(), self.git.hash_kind()))
    }

    /// Decides on the newest state and publishes what was decided as one commit by `stamp.by` at `stamp.at`.
    ///
    /// `decide` may run several times and must not notice: what it returns from the last run counts. It returns no
    /// change when nothing is to be written. An error of its own ends the mutation with nothing written.
    pub fn update<T, E: From<Error>>(
        &self,
        stamp: &Stamp,
        decide: impl FnMut(&Snapshot<'_>) -> Result<(Option<Change>, T), E>,
    ) -> Result<Updated<T>, E> {
        self.update_after(stamp, |_| Ok(None), decide)
    }

    /// The same, where something may have to be written down before: as long as `first` returns a change, that becomes a
    /// commit of its own, and `decide` decides again on it. `first` is asked with the writer's lock held, and only once
    /// `decide` has something to write.
    pub fn update_after<T, E: From<Error>>(
        &self,
        stamp: &Stamp,
        mut first: impl FnMut(&Snapshot<'_>) -> Result<Option<Change>, E>,
        mut decide: impl FnMut(&Snapshot<'_>) -> Result<(Option<Change>, T), E>,
    ) -> Result<Updated<T>, E> {
        let branch = self.git.branch()?;
        let signer = self.git.identity()?;
        if self.git.tip(&branch)?.is_none() {
            return Err(Error::NotInitialised.into());
        }
        let mut writer = Writer::enter(&self.git, &branch)?;
        for attempt in 0..TRIES {
            writer.pause(attempt);
            let base = self.git.tip(&branch)?.ok_or(Error::NotInitialised)?;
            writer.must_know(&self.git, base).map_err(|error| self.if_newer(base, error))?;
            let snapshot = self.at(base)?;
            let (change, value) = decide(&snapshot)?;
            let Some(change) = change else {
                return Ok(Updated { value, commit: None, warnings: Vec::new() });
            };
            let edit = match layout::edit(&snapshot, &change.puts)? {
                edit if edit.is_empty() => return Ok(Updated { value, commit: None, warnings: Vec::new() }),
                edit => edit,
            };
            let (change, edit, is_first) = match first(&snapshot)? {
                Some(before) => {
                    let edit = layout::edit(&snapshot, &before.puts)?;
                    (before, edit, true)
                }
                None => (change, edit, false),
            };
            let cleared = Cleared::of(&snapshot, &edit, &change)?;
            let message = &Message::of(&change, stamp, &signer);
            let published = self
                .git
                .commit(cleared, Some(&snapshot.commit()), message)
                .and_then(|new| Ok(writer.publish(&self.git, new, Some(base), message)?.then_some(new)));
            let new = match published {
                Ok(Some(new)) => new,
                Ok(None) => continue,
                Err(error) if error.is_passing() => continue,
                Err(error) => return Err(error.into()),
            };
            let tip = self.settle(new, &edit, stamp, &signer, &mut writer);
            if is_first {
                continue;
            }
            let warnings = self.show(tip, &mut writer);
            return Ok(Updated { value, commit: Some(new.to_string()), warnings });
        }
        Err(Error::Contended(branch).into())
    }

    /// The writer's turn, and the tip that it goes on from, which loopx put there.
    fn enter(&self) -> Result<(Writer, ObjectId), Error> {
        let branch = self.git.branch()?;
        let there = || self.git.tip(&branch)?.ok_or(Error::NotInitialised);
        there()?;
        let mut writer = Writer::enter(&self.git, &branch)?;
        let base = there()?;
        writer.must_know(&self.git, base).map_err(|error| self.if_newer(base, error))?;
        Ok((writer, base))
    }

    /// Moves the branch from `base` to `new`, where whoever loses the race does not decide again, and brings what follows
    /// it there.
    fn move_on(
        &self,
        mut writer: Writer,
        base: ObjectId,
        new: ObjectId,
        message: &Message,
    ) -> Result<Vec<Warning>, Error> {
        let after = self.at(new)?;
        if !writer.publish(&self.git, new, Some(base), message)? {
            return Err(Error::Contended(self.git.branch()?));
        }
        Hot::renew(&self.git.private_dir(), &after);
        Ok(self.show(new, &mut writer))
    }

    /// Brings the files in `.loopx/` to a new tip, and says what went wrong on the way to it.
    fn show(&self, tip: ObjectId, writer: &mut Writer) -> Vec<Warning> {
        let mut warnings = View::refresh(&self.git, tip, writer);
        warnings.extend(self.git.unsigned().map(Warning::Unsigned));
        self.git.keep_up(tip);
        warnings
    }

    /// What follows a mutation and may fail without harm: the next reader gets the new records at hand, and what has
    /// piled up in a closed folder is folded, in a commit of its own for each folder. Returns the tip that there is then.
    fn settle(
        &self,
        mut tip: ObjectId,
        edit: &layout::Edit,
        stamp: &Stamp,
        signer: &Person,
        writer: &mut Writer,
    ) -> ObjectId {
        if let Ok(snapshot) = self.at(tip) {
            self.hot().keep(&snapshot, edit, &self.git.fresh().0);
        }
        let unfolded = tip;
        while let Some(new) = self.fold(tip, edit, stamp, signer, writer) {
            tip = new;
        }
        // The past lies below the open todos, so their folder is another one now.
        if let (true, Ok(snapshot)) = (tip != unfolded, self.at(tip)) {
            outlines::refresh_touched(&self.git.private_dir(), &snapshot, edit);
        }
        tip
    }

    /// Folds one folder that `edit` wrote to, if one is full.
    fn fold(
        &self,
        tip: ObjectId,
        edit: &layout::Edit,
        stamp: &Stamp,
        signer: &Person,
        writer: &mut Writer,
    ) -> Option<ObjectId> {
        let snapshot = self.at(tip).ok()?;
        let (edit, change) = archive::due(&snapshot, edit, stamp.at).ok()??;
        let message = Message::of(&change, stamp, signer);
        let new = self.git.commit(Cleared::untyped(&edit), Some(&snapshot.commit()), &message).ok()?;
        writer.publish(&self.git, new, Some(tip), &message).ok()?.then_some(new)
    }

    /// What of loopx's is among what `pushed` (hex) reaches and `remote` is not known to have. `was` is what the remote said
    /// the ref is now.
    pub fn carries(&self, pushed: &str, remote: &str, was: Option<&str>) -> Result<Option<Carried>, Error> {
        let known = || self.git.known_to_have(remote, |_| true);
        self.git.carries(object_id(pushed)?, was.map(object_id).transpose()?, known)
    }

    /// How a state came into the history of `pushed` (hex), by the same measure as [`Self::carries`]; nothing when none did,
    /// and when `pushed` is a state itself.
    pub fn brought_in(
        &self,
        pushed: &str,
        remote: &str,
        was: Option<&str>,
    ) -> Result<Option<Brought>, Error> {
        let mut known = self.git.known_to_have(remote, |_| true);
        known.extend(was.map(object_id).transpose()?);
        self.git.brought_in(object_id(pushed)?, known)
    }

    /// The files that are changed by commits which `pushed` (hex) reaches, and neither what its ref `was` on the other side
    /// nor a branch that `remote` is known to have and that `counts` by its full name there. From the top of the project; none
    /// for something else than commits.
    pub fn changed_files(
        &self,
        pushed: &str,
        remote: &str,
        was: Option<&str>,
        counts: impl Fn(&str) -> bool,
    ) -> Result<Option<BTreeSet<String>>, Error> {
        let mut known = self.git.known_to_have(remote, counts);
        known.extend(was.map(object_id).transpose()?);
        self.git.changed_files(object_id(pushed)?, &known)
    }

    /// Whether anything here says that loopx was set up in this clone, however little of it is left.
    pub fn is_set_up(&self) -> bool {
        let has_tip =
            || self.git.branch().and_then(|branch| self.git.tip(&branch)).is_ok_and(|tip| tip.is_some());
        self.git.config(git::BRANCH_KEY).is_some() || self.git.private_dir().exists() || has_tip()
    }

    /// What is wrong with the tip of the state branch, if anything: the error that everything which relies on it gets.
    pub fn distrust(&self) -> Option<Error> {
        self.trusted_tip().err()
    }

    /// What is wrong with the files in `.loopx/`, if anything. Looks and changes nothing.
    pub fn view_trouble(&self, snapshot: &Snapshot<'_>) -> Option<Warning> {
        View::trouble(&self.git, snapshot.commit().commit)
    }
}
