//! The history of the state branch, read back: newest first, one entry a mutation.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

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

/// The kinds of records, in the order in which their steps are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Goal,
    On(Shelf),
    Quotas,
    Policy,
    Bypass,
    Handoff,
}

fn kind(step: &Step) -> Option<Kind> {
    step.after.as_ref().or(step.before.as_ref()).map(|record| match record {
        Record::Goal(..) => Kind::Goal,
        Record::Gate(..) => Kind::On(Shelf::Gates),
        Record::Todo(..) => Kind::On(Shelf::Todos),
        Record::Evidence(..) => Kind::On(Shelf::Evidence),
        Record::Spend(..) => Kind::On(Shelf::Spend),
        Record::Quotas(_) => Kind::Quotas,
        Record::Policy(_) => Kind::Policy,
        Record::Bypass(..) => Kind::Bypass,
        Record::Handoff(..) => Kind::Handoff,
    })
}

impl Steps<'_> {
    /// Tells each step: kind by kind, of a kind what was folded, and then what lies by itself by its names. Nobody has to hold all of
    /// a long past.
    pub fn each(&self, mut tell: impl FnMut(Cow<'_, Step>)) -> Result<(), Error> {
        let shelves = Shelf::ALL.into_iter().map(Kind::On);
        for kind in self.lying.values().filter_map(kind).chain(shelves).collect::<BTreeSet<_>>() {
            if let Kind::On(shelf) = kind {
                self.each_on(shelf, &|_| true, &mut |step| tell(Cow::Owned(step)))?;
            }
            let lying = self.lying.values().filter(|step| self::kind(step) == Some(kind));
            lying.for_each(|step| tell(Cow::Borrowed(step)));
        }
        Ok(())
    }

    /// Tells the steps of records that the second state has folded since the first, one by one: of those whose ids are `wanted`.
    pub fn each_folded(
        &self,
        wanted: impl Fn(&str) -> bool,
        mut tell: impl FnMut(Step),
    ) -> Result<(), Error> {
        Shelf::ALL.into_iter().try_for_each(|shelf| self.each_on(shelf, &wanted, &mut tell))
    }

    fn each_on(
        &self,
        shelf: Shelf,
        wanted: &dyn Fn(&str) -> bool,
        tell: &mut dyn FnMut(Step),
    ) -> Result<(), Error> {
        let on_shelf: Vec<_> = self.segments.iter().filter(|(on, _, _)| *on == shelf).collect();
        for part in on_shelf.chunk_by(|one, other| one.1 == other.1) {
            let mut known: Vec<Box<str>> = Vec::new();
            if let (Some(before), [(_, goal, _), ..]) = (&self.before, part) {
                before.each_id(shelf, goal, |id| known.extend(wanted(id).then(|| id.into())))?;
                known.sort_unstable();
            }
            let is_known = |id: &str| known.binary_search_by(|known| (**known).cmp(id)).is_ok();
            let mut failed = Ok(());
            // Of what is in several, the last one counts.
            let mut again = part.first().map_or(Ok(BTreeMap::new()), |(_, goal, _)| {
                let again = archive::folded_again(&self.after, shelf, goal)?;
                Ok::<_, Error>(again.into_iter().map(|id| (id, false)).collect())
            })?;
            for (_, goal, path) in part.iter().rev() {
                archive::each_record(&self.after, (shelf, goal, path), wanted, |id, record| {
                    let is_told = again.get_mut(id).is_some_and(|is_told| std::mem::replace(is_told, true));
                    if is_told || self.lying.contains_key(&record.name()) {
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
