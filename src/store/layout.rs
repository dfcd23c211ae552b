//! Where a record lies: record ↔ path. The one place that spells a path of the state branch.

use std::collections::BTreeMap;

use super::{
    Error, Snapshot, archive,
    format::{self, QuotaFile},
};
use crate::domain::{
    change::Record,
    id::{BypassId, EvidenceId, GateId, GoalId, SpendId, TodoId},
};

pub(super) const POLICY: &str = "loopx.toml";
pub(super) const QUOTA: &str = "quota.json";
pub(super) const GOALS: &str = "goals";
/// Pushes that went round the hook and that nobody has acknowledged.
pub(super) const BYPASSES: &str = "bypasses";
/// Those that a person has acknowledged. Each took one, so they are never so many that folding would pay.
pub(super) const CLOSED_BYPASSES: &str = "bypasses/closed";
/// How the name of such a file ends.
pub(super) const BYPASS: &str = ".toml";
/// Keeps git from changing line ends in a checkout.
pub(super) const ATTRIBUTES: (&str, &str) = (".gitattributes", "* -text\n");

/// The four kinds of record a goal has many of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shelf {
    Gates,
    Todos,
    Evidence,
    Spend,
}

impl Shelf {
    pub(super) const ALL: [Self; 4] = [Self::Gates, Self::Todos, Self::Evidence, Self::Spend];

    fn name(self) -> &'static str {
        match self {
            Self::Gates => "gates",
            Self::Todos => "todos",
            Self::Evidence => "evidence",
            Self::Spend => "spend",
        }
    }

    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Gates | Self::Todos | Self::Evidence => ".toml",
            Self::Spend => ".json",
        }
    }

    /// Whether records move to `closed/` one by one, when they are closed. The others lie open until they are old.
    pub(super) fn closes(self) -> bool {
        matches!(self, Self::Gates | Self::Todos)
    }

    /// The folder of what is open.
    pub(super) fn open(self, goal: &GoalId) -> String {
        format!("{GOALS}/{goal}/{}", self.name())
    }

    /// The folder of what is closed or old.
    pub(super) fn closed(self, goal: &GoalId) -> String {
        format!("{GOALS}/{goal}/{}/closed", self.name())
    }

    pub(super) fn open_file(self, goal: &GoalId, id: &str) -> String {
        format!("{}/{id}{}", self.open(goal), self.extension())
    }

    pub(super) fn closed_file(self, goal: &GoalId, id: &str) -> String {
        format!("{}/{id}{}", self.closed(goal), self.extension())
    }
}

pub(super) fn goal_file(goal: &GoalId) -> String {
    format!("{GOALS}/{goal}/state.json")
}

pub(super) fn handoff_file(goal: &GoalId) -> String {
    format!("{GOALS}/{goal}/handoff.md")
}

pub(super) fn bypass_file(folder: &str, id: &BypassId) -> String {
    format!("{folder}/{id}{BYPASS}")
}

/// Files to write and to remove, by path.
#[derive(Debug, Default)]
pub struct Edit(BTreeMap<String, Option<Vec<u8>>>);

impl Edit {
    pub(super) fn write(&mut self, path: String, bytes: impl Into<Vec<u8>>) {
        self.0.insert(path, Some(bytes.into()));
    }

    pub(super) fn remove(&mut self, path: String) {
        self.0.insert(path, None);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn written(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().filter_map(|(path, bytes)| Some((path.as_str(), bytes.as_deref()?)))
    }

    /// Everything that is written or removed.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn removed(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, bytes)| bytes.is_none()).map(|(path, _)| path.as_str())
    }
}

/// What has to change on the branch so that `records` are stored. Empty when all of them are, to the byte.
pub(super) fn edit<'r>(
    snapshot: &Snapshot<'_>,
    records: impl IntoIterator<Item = &'r Record>,
) -> Result<Edit, Error> {
    let mut edit = Edit::default();
    for record in records {
        let place = place(record);
        let stored = snapshot.bytes(&place.path)?;
        let previous = match &place.leaves {
            Some(other) if stored.is_none() => snapshot.bytes(other)?,
            _ => None,
        };
        let bytes = encode(&place.path, record, stored.as_deref().or(previous.as_deref()))?;
        if stored.as_deref() != Some(bytes.as_bytes()) {
            edit.write(place.path, bytes);
        }
        if let Some(other) = place.leaves.filter(|_| previous.is_some()) {
            edit.remove(other);
        }
    }
    Ok(edit)
}

/// The file of a record of which nothing is stored yet, with its path.
pub(super) fn file(record: &Record) -> Result<(String, String), Error> {
    let path = place(record).path;
    let text = encode(&path, record, None)?;
    Ok((path, text))
}

/// What a path of the state branch names. The inverse of [`path_of`], up to whether the record is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    Policy,
    Quotas,
    Goal(GoalId),
    Gate(GoalId, GateId),
    Todo(GoalId, TodoId),
    Evidence(GoalId, EvidenceId),
    Spend(GoalId, SpendId),
    Handoff(GoalId),
    Bypass(BypassId),
}

impl Named {
    pub(super) fn goal(&self) -> Option<&GoalId> {
        match self {
            Self::Policy | Self::Quotas | Self::Bypass(_) => None,
            Self::Goal(goal)
            | Self::Gate(goal, _)
            | Self::Todo(goal, _)
            | Self::Evidence(goal, _)
            | Self::Spend(goal, _)
            | Self::Handoff(goal) => Some(goal),
        }
    }

    /// The value of the record's trailer.
    pub(super) fn record_name(&self) -> String {
        match self {
            Self::Policy => "policy".into(),
            Self::Quotas => "quota".into(),
            Self::Goal(id) => format!("goal/{id}"),
            Self::Gate(_, id) => format!("gate/{id}"),
            Self::Todo(_, id) => format!("todo/{id}"),
            Self::Evidence(_, id) => format!("evidence/{id}"),
            Self::Spend(_, id) => format!("spend/{id}"),
            Self::Handoff(goal) => format!("handoff/{goal}"),
            Self::Bypass(id) => format!("bypass/{id}"),
        }
    }

    /// The shelf it lies on.
    pub(super) fn shelved(&self) -> Option<(Shelf, GoalId)> {
        let shelf = match self {
            Self::Policy | Self::Quotas | Self::Goal(_) | Self::Handoff(_) | Self::Bypass(_) => return None,
            Self::Gate(..) => Shelf::Gates,
            Self::Todo(..) => Shelf::Todos,
            Self::Evidence(..) => Shelf::Evidence,
            Self::Spend(..) => Shelf::Spend,
        };
        self.goal().map(|goal| (shelf, goal.clone()))
    }
}

/// What a path names, if it is one of a record that lies by itself.
pub(super) fn named(path: &str) -> Option<Named> {
    match path {
        POLICY => return Some(Named::Policy),
        QUOTA => return Some(Named::Quotas),
        _ => {}
    }
    if let Some(file) = path.strip_prefix(BYPASSES).and_then(|rest| rest.strip_prefix('/')) {
        let id = file.strip_prefix("closed/").unwrap_or(file).strip_suffix(BYPASS)?;
        return id.parse().ok().map(Named::Bypass);
    }
    let (goal, rest) = path.strip_prefix(GOALS)?.strip_prefix('/')?.split_once('/')?;
    let goal: GoalId = goal.parse().ok()?;
    if rest == "state.json" {
        return Some(Named::Goal(goal));
    }
    if rest == "handoff.md" {
        return Some(Named::Handoff(goal));
    }
    let (folder, file) = rest.split_once('/')?;
    let shelf = Shelf::ALL.into_iter().find(|shelf| shelf.name() == folder)?;
    let id = file.strip_prefix("closed/").filter(|_| shelf.closes()).unwrap_or(file);
    let id = id.strip_suffix(shelf.extension())?;
    match shelf {
        Shelf::Gates => id.parse().ok().map(|id| Named::Gate(goal, id)),
        Shelf::Todos => id.parse().ok().map(|id| Named::Todo(goal, id)),
        Shelf::Evidence => id.parse().ok().map(|id| Named::Evidence(goal, id)),
        Shelf::Spend => id.parse().ok().map(|id| Named::Spend(goal, id)),
    }
}

/// The goal that a path lies in.
pub(super) fn goal_of(path: &str) -> Option<GoalId> {
    path.strip_prefix(GOALS)?.strip_prefix('/')?.split_once('/')?.0.parse().ok()
}

/// Whether a state has a file at `path`: a record, or what folding makes of records.
pub(super) fn is_of_a_state(path: &str) -> bool {
    let folded = || -> Option<bool> {
        let (goal, rest) = path.strip_prefix(GOALS)?.strip_prefix('/')?.split_once('/')?;
        goal.parse::<GoalId>().ok()?;
        let (folder, rest) = rest.split_once('/')?;
        Shelf::ALL.into_iter().find(|shelf| shelf.name() == folder)?;
        Some(archive::is_made_by_folding(rest.strip_prefix("closed/")?))
    };
    path == ATTRIBUTES.0 || named(path).is_some() || folded() == Some(true)
}

/// The shelf whose records are folded into what lies at `path`.
pub(super) fn folded(path: &str) -> Option<(Shelf, GoalId)> {
    let goal = goal_of(path)?;
    let shelf = Shelf::ALL.into_iter().find(|shelf| {
        let name = path.strip_prefix(&shelf.closed(&goal)).and_then(|rest| rest.strip_prefix('/'));
        name.is_some_and(archive::is_segment)
    })?;
    Some((shelf, goal))
}

/// Whether `path` is that of a goal's own record.
pub(super) fn is_a_goal(path: &str) -> bool {
    matches!(named(path), Some(Named::Goal(_)))
}

/// Whether `path` is that of a gate which was not closed.
pub(super) fn is_a_gate_in_force(path: &str) -> bool {
    matches!(named(path), Some(Named::Gate(..))) && !path.contains("/closed/")
}

/// Whether every look at the present reads what lies at `path`: neither closed records, nor evidence, nor what was handed on.
pub(super) fn is_of_the_present(path: &str) -> bool {
    let of = |named: Named| !matches!(named, Named::Evidence(..) | Named::Handoff(_));
    !path.contains("/closed/") && named(path).is_some_and(of)
}

/// Where a record lies.
pub(super) fn path_of(record: &Record) -> String {
    place(record).path
}

/// Where a record lies now, and where it may have lain before it was closed or opened again.
struct Place {
    path: String,
    leaves: Option<String>,
}

fn place(record: &Record) -> Place {
    let on_shelf = |shelf: Shelf, goal: &GoalId, id: &str, closed: bool| {
        let (open_file, closed_file) = (shelf.open_file(goal, id), shelf.closed_file(goal, id));
        match closed {
            false => Place { path: open_file, leaves: Some(closed_file) },
            true => Place { path: closed_file, leaves: Some(open_file) },
        }
    };
    let fixed = |path: String| Place { path, leaves: None };
    match record {
        Record::Policy(_) => fixed(POLICY.to_owned()),
        Record::Quotas(_) => fixed(QUOTA.to_owned()),
        Record::Goal(goal, _) => fixed(goal_file(goal)),
        Record::Gate(goal, id, gate) => on_shelf(Shelf::Gates, goal, id.as_str(), gate.is_closed()),
        Record::Todo(goal, id, todo) => on_shelf(Shelf::Todos, goal, id.as_str(), todo.is_closed()),
        Record::Evidence(goal, id, _) => fixed(Shelf::Evidence.open_file(goal, id.as_str())),
        Record::Spend(goal, id, _) => fixed(Shelf::Spend.open_file(goal, id.as_str())),
        Record::Handoff(goal, _) => fixed(handoff_file(goal)),
        Record::Bypass(id, bypass) => {
            let files = [BYPASSES, CLOSED_BYPASSES].map(|folder| bypass_file(folder, id));
            let [path, leaves] = match bypass.is_acknowledged() {
                false => files,
                true => {
                    let [open, closed] = files;
                    [closed, open]
                }
            };
            Place { path, leaves: Some(leaves) }
        }
    }
}

fn encode(path: &str, record: &Record, old: Option<&[u8]>) -> Result<String, Error> {
    match record {
        Record::Policy(policy) => format::rewritten(path, old, policy),
        Record::Quotas(goals) => format::rewritten(path, old, &QuotaFile { goals: goals.clone() }),
        Record::Goal(_, goal) => format::rewritten(path, old, goal),
        Record::Gate(_, _, gate) => format::rewritten(path, old, gate),
        Record::Todo(_, _, todo) => format::rewritten(path, old, todo),
        Record::Evidence(_, _, evidence) => format::rewritten(path, old, evidence),
        Record::Spend(_, _, spend) => format::rewritten(path, old, spend),
        Record::Handoff(_, handoff) => format::rewritten(path, old, handoff),
        Record::Bypass(_, bypass) => format::rewritten(path, old, bypass),
    }
}
