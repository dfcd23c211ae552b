//! The history of the state branch, read back: newest first, one entry a mutation.

use std::collections::{BTreeMap, HashSet};

use gix::{ObjectId, bstr::ByteSlice as _};

use super::{
    Error, Snapshot, Store, archive,
    error::chain,
    layout::{self, Shelf},
    view::{Look, diff},
};
use crate::domain::{audit::Step, change::Record, id::GoalId, text::shown, time::Timestamp};

/// One mutation as the history tells it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Entry {
    /// The commit in hex.
    pub commit: String,
    pub at: Timestamp,
    pub subject: String,
    /// The `Loopx-Op` trailer; none for a commit that loopx did not make.
    pub op: Option<String>,
    /// The `Loopx-Actor` trailer: `person` or `agent:<id>`.
    pub actor: Option<String>,
    pub goal: Option<String>,
    pub records: Vec<String>,
    pub turn: Option<String>,
    pub signed_off_by: Option<String>,
    /// The commit before it, in hex.
    #[serde(skip)]
    pub parent: Option<String>,
}

/// The history from a commit back, one mutation at a time; as much of it is read as is asked for.
pub struct Walk<'s> {
    store: &'s Store,
    next: Option<ObjectId>,
}

impl Iterator for Walk<'_> {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.store.entry(self.next.take()?);
        Some(read.map(|(entry, parent)| {
            self.next = parent;
            entry
        }))
    }
}

/// What differs between two states. That a record was folded is no difference.
pub struct Steps<'s> {
    /// The records that lie by themselves in one of the states, by their names.
    pub lying: BTreeMap<String, Step>,
    before: Option<Snapshot<'s>>,
    after: Snapshot<'s>,
    /// Segments that one of the states has and the other has not.
    segments: Vec<(Shelf, GoalId, String)>,
}

impl Steps<'_> {
    /// Tells the steps of records that the second state has folded since the first, one by one, so that nobody has to hold all of a
    /// long past: of those whose ids are `wanted`.
    pub fn each_folded(
        &self,
        wanted: impl Fn(&str) -> bool,
        mut tell: impl FnMut(Step),
    ) -> Result<(), Error> {
        for part in self.segments.chunk_by(|one, other| (one.0, &one.1) == (other.0, &other.1)) {
            let mut known: Vec<Box<str>> = Vec::new();
            if let (Some(before), [(shelf, goal, _), ..]) = (&self.before, part) {
                before.each_id(*shelf, goal, |id| known.extend(wanted(id).then(|| id.into())))?;
                known.sort_unstable();
            }
            let is_known = |id: &str| known.binary_search_by(|known| (**known).cmp(id)).is_ok();
            let mut failed = Ok(());
            // What was opened again and folded again is in several; the last one counts.
            let mut told: HashSet<Box<str>> = HashSet::new();
            for (shelf, goal, path) in part.iter().rev() {
                let place = (*shelf, goal, path.as_str());
                archive::each_record(&self.after, place, &wanted, |id, record| {
                    if !told.insert(id.into()) || self.lying.contains_key(&record.name()) {
                        return;
                    }
                    let known = self.before.as_ref().filter(|_| is_known(id));
                    match known.map_or(Ok(None), |before| before.again(&record)) {
                        Ok(before) if before.as_ref() == Some(&record) => {}
                        Ok(before) => tell(Step { before, after: Some(record) }),
                        Err(error) => failed = Err(error),
                    }
                })?;
            }
            failed?;
        }
        Ok(())
    }
}

impl Store {
    /// The mutations, the newest first.
    pub fn history(&self) -> Result<Walk<'_>, Error> {
        let branch = self.git.branch()?;
        let tip = self.git.tip(&branch)?.ok_or(Error::NotInitialised)?;
        Ok(Walk { store: self, next: Some(tip) })
    }

    /// The state as the commit that `revision` names has it.
    pub fn state_at(&self, revision: &str) -> Result<Snapshot<'_>, Error> {
        self.at(super::git::object_id(&self.git.revision(revision)?.commit)?)
    }

    /// What differs between two states in hex; the first may be nothing.
    pub fn steps(&self, from: Option<&str>, to: &str) -> Result<Steps<'_>, Error> {
        let at = |hex: &str| self.at(super::git::object_id(hex)?);
        let (before, after) = (from.map(at).transpose()?, at(to)?);
        let (old, new) = (before.as_ref().map(|before| before.commit().tree), after.commit().tree);
        let mut changes = BTreeMap::new();
        diff(&self.git, old, Some(new), Look::Changes, "", &mut changes)?;
        let mut lying: BTreeMap<String, Step> = BTreeMap::new();
        let mut segments = Vec::new();
        for (path, change) in changes {
            let Some(named) = layout::named(&path) else {
                let place = layout::folded(&path).filter(|_| change.new.is_some());
                segments.extend(place.map(|(shelf, goal)| (shelf, goal, path)));
                continue;
            };
            let read = |snapshot: &Snapshot<'_>| -> Result<Option<Record>, Error> {
                let unreadable = |problem| Error::Unreadable { path: path.clone(), problem };
                let record =
                    |bytes: Vec<u8>| super::verify::record(&named, &path, &bytes).map_err(unreadable);
                snapshot.bytes(&path)?.map(record).transpose()
            };
            let step = lying.entry(named.record_name()).or_insert(Step { before: None, after: None });
            if let Some(before) = before.as_ref().filter(|_| change.old.is_some()) {
                step.before = step.before.take().or(read(before)?);
            }
            if change.new.is_some() {
                step.after = step.after.take().or(read(&after)?);
            }
        }
        // What lies by itself in one of the states may be folded in the other.
        for step in lying.values_mut() {
            match (&step.before, &step.after, &before) {
                (Some(record), None, _) => step.after = after.again(record)?,
                (None, Some(record), Some(before)) => step.before = before.again(record)?,
                _ => {}
            }
        }
        lying.retain(|_, step| step.before != step.after);
        Ok(Steps { lying, before, after, segments })
    }

    pub(super) fn entry(&self, id: ObjectId) -> Result<(Entry, Option<ObjectId>), Error> {
        let damaged = |error: gix::Error| Error::Damaged(chain(&error));
        let commit = self.git.repo().find_commit(id).map_err(damaged)?;
        let decoded = commit.decode().map_err(|error| Error::Damaged(error.to_string()))?;
        let message = decoded.message();
        let text = |bytes: &[u8]| shown(&bytes.to_str_lossy(), 500);
        let trailers: Vec<(String, String)> =
            decoded.message_trailers().map(|trailer| (text(trailer.token), text(&trailer.value))).collect();
        let all = |token: &str| {
            trailers
                .iter()
                .filter(|(found, _)| found == token)
                .map(|(_, value)| value.clone())
                .collect::<Vec<_>>()
        };
        let one = |token: &str| all(token).pop();
        let seconds = decoded
            .committer()
            .ok()
            .and_then(|committer| committer.time().ok())
            .map_or(0, |time| time.seconds);
        let entry = Entry {
            commit: id.to_string(),
            at: Timestamp::from_unix(seconds),
            subject: text(message.summary().as_bytes()),
            op: one("Loopx-Op"),
            actor: one("Loopx-Actor"),
            goal: one("Loopx-Goal"),
            records: all("Loopx-Record"),
            turn: one("Loopx-Turn"),
            signed_off_by: one("Signed-off-by"),
            parent: decoded.parents().next().map(|parent| parent.to_string()),
        };
        Ok((entry, decoded.parents().next()))
    }
}
