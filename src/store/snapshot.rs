//! Reading: the records of one commit.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet, HashMap},
    rc::Rc,
};

use gix::{
    ObjectId,
    bstr::ByteSlice as _,
    objs::{Kind, Tree},
};

use super::{
    Error, archive,
    format::{self, QuotaFile, Stored},
    git::{Base, Git, lossy},
    hot::Hot,
    layout::{self, Shelf},
    outlines,
};
use crate::domain::{
    bypass::{Bypass, Standing, standing},
    change::Record,
    evidence::Evidence,
    gate::Gate,
    goal::Goal,
    handoff::Handoff,
    id::{BypassId, EvidenceId, GateId, GoalId, SpendId, TodoId, TodoPrefix},
    policy::Policy,
    quota::{Quota, Quotas, Spend},
    state::Loop,
    time::Timestamp,
    todo::Todo,
};

/// The state as one commit has it. Nothing of it changes while one looks.
///
/// Only what is asked for is read: the gates of a goal do not cost the todos, and nothing costs the past.
pub struct Snapshot<'s> {
    git: &'s Git,
    hot: &'s Hot,
    base: Base,
    folders: RefCell<HashMap<String, Option<Rc<Tree>>>>,
}

/// An object of the present. Several lie at the empty path: the commit, and the tree of all.
pub(super) struct AtHand {
    pub(super) path: String,
    pub(super) id: ObjectId,
    pub(super) kind: Kind,
    pub(super) bytes: Vec<u8>,
}

/// Where a todo was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Nothing,
    Open(GoalId, TodoId),
    Closed(GoalId, TodoId),
    Several(Vec<TodoId>),
}

impl<'s> Snapshot<'s> {
    pub(super) fn at(git: &'s Git, hot: &'s Hot, tip: ObjectId) -> Result<Self, Error> {
        git.recall(tip, Kind::Commit, hot);
        let snapshot = Self { git, hot, base: git.base(tip)?, folders: RefCell::default() };
        // Whoever holds a snapshot holds one of loopx's own state, in a format that can be read.
        snapshot.policy()?;
        Ok(snapshot)
    }

    pub(super) fn git(&self) -> &'s Git {
        self.git
    }

    pub(super) fn commit(&self) -> Base {
        self.base
    }

    /// The commit this is the state of, in hex.
    pub fn tip(&self) -> String {
        self.base.commit.to_string()
    }

    /// When this became the state, as its commit says.
    pub fn date(&self) -> Result<Timestamp, Error> {
        self.git.date(self.base.commit)
    }

    /// The repository's own rules.
    pub fn policy(&self) -> Result<Policy, Error> {
        let missing = || Error::Unreadable { path: layout::POLICY.into(), problem: "it is missing".into() };
        self.record(layout::POLICY)?.ok_or_else(missing)
    }

    /// All goals there ever were, by id.
    pub fn goals(&self) -> Result<Vec<GoalId>, Error> {
        let Some(folder) = self.folder(layout::GOALS)? else { return Ok(Vec::new()) };
        let goals =
            folder.entries.iter().map(|entry| self.id(layout::GOALS, &lossy(entry.filename.as_bstr())));
        let mut goals = goals.collect::<Result<Vec<_>, _>>()?;
        // Git sorts `a-b` before the folder `a`.
        goals.sort();
        Ok(goals)
    }

    /// One goal.
    pub fn goal(&self, id: &GoalId) -> Result<Option<Goal>, Error> {
        self.record(&layout::goal_file(id))
    }

    /// The limits that were set; a goal without one has the default.
    pub fn quotas(&self) -> Result<Quotas, Error> {
        let missing = || Error::Unreadable { path: layout::QUOTA.into(), problem: "it is missing".into() };
        self.record::<QuotaFile>(layout::QUOTA)?.map(|file| file.goals).ok_or_else(missing)
    }

    /// The limit of one goal.
    pub fn quota(&self, goal: &GoalId) -> Result<Quota, Error> {
        Ok(self.quotas()?.get(goal).cloned().unwrap_or_default())
    }

    /// The gates in force: open and rejected ones.
    pub fn gates(&self, goal: &GoalId) -> Result<BTreeMap<GateId, Gate>, Error> {
        self.shelf(Shelf::Gates, goal)
    }

    /// The todos that are not closed.
    pub fn todos(&self, goal: &GoalId) -> Result<BTreeMap<TodoId, Todo>, Error> {
        self.shelf(Shelf::Todos, goal)
    }

    /// The spends that have not been folded away: at least those of the present window.
    pub fn spends(&self, goal: &GoalId) -> Result<BTreeMap<SpendId, Spend>, Error> {
        self.shelf(Shelf::Spend, goal)
    }

    /// The recent evidence of a goal.
    pub fn evidence(&self, goal: &GoalId) -> Result<BTreeMap<EvidenceId, Evidence>, Error> {
        self.shelf(Shelf::Evidence, goal)
    }

    /// One piece of evidence, recent or old.
    pub fn piece(&self, goal: &GoalId, id: &EvidenceId) -> Result<Option<Evidence>, Error> {
        self.anywhere(Shelf::Evidence, goal, id.as_str())
    }

    /// Whether there is such a piece of evidence, recent or old.
    pub fn has_evidence(&self, goal: &GoalId, id: &EvidenceId) -> Result<bool, Error> {
        Ok(self.bytes(&Shelf::Evidence.open_file(goal, id.as_str()))?.is_some()
            || archive::holds(self, Shelf::Evidence, goal, id.as_str())?)
    }

    /// The spend that was booked for a turn, recent or old.
    pub fn spend(&self, goal: &GoalId, id: &SpendId) -> Result<Option<Spend>, Error> {
        self.anywhere(Shelf::Spend, goal, id.as_str())
    }

    /// A gate in force or closed.
    pub fn gate(&self, goal: &GoalId, id: &GateId) -> Result<Option<Gate>, Error> {
        self.anywhere(Shelf::Gates, goal, id.as_str())
    }

    /// A todo, open or closed.
    pub fn todo(&self, goal: &GoalId, id: &TodoId) -> Result<Option<Todo>, Error> {
        self.anywhere(Shelf::Todos, goal, id.as_str())
    }

    /// The note that was left for whoever goes on with a goal.
    pub fn handoff(&self, goal: &GoalId) -> Result<Option<Handoff>, Error> {
        self.record(&layout::handoff_file(goal))
    }

    /// The pushes that went round the hook and that nobody has acknowledged.
    pub fn bypasses(&self) -> Result<BTreeMap<BypassId, Bypass>, Error> {
        self.files(layout::BYPASS, layout::BYPASSES)
    }

    /// Those that a person has acknowledged.
    pub fn closed_bypasses(&self) -> Result<BTreeMap<BypassId, Bypass>, Error> {
        self.files(layout::BYPASS, layout::CLOSED_BYPASSES)
    }

    /// One of them, acknowledged or not.
    pub fn bypass(&self, id: &BypassId) -> Result<Option<Bypass>, Error> {
        match self.record(&layout::bypass_file(layout::BYPASSES, id))? {
            Some(open) => Ok(Some(open)),
            None => self.record(&layout::bypass_file(layout::CLOSED_BYPASSES, id)),
        }
    }

    /// The gates of all goals that hold pushes back.
    pub fn standing(&self) -> Result<Vec<Standing>, Error> {
        let mut found = Vec::new();
        for goal in self.goals()? {
            found.extend(standing(&goal, &self.gates(&goal)?));
        }
        Ok(found)
    }

    /// The record of the same name.
    pub(super) fn again(&self, record: &Record) -> Result<Option<Record>, Error> {
        Ok(match record {
            Record::Policy(_) => Some(Record::Policy(self.policy()?)),
            Record::Quotas(_) => Some(Record::Quotas(self.quotas()?)),
            Record::Goal(id, _) => self.goal(id)?.map(|goal| Record::Goal(id.clone(), goal)),
            Record::Gate(goal, id, _) => {
                self.gate(goal, id)?.map(|gate| Record::Gate(goal.clone(), id.clone(), gate))
            }
            Record::Todo(goal, id, _) => {
                self.todo(goal, id)?.map(|todo| Record::Todo(goal.clone(), id.clone(), todo))
            }
            Record::Evidence(goal, id, _) => {
                self.piece(goal, id)?.map(|piece| Record::Evidence(goal.clone(), id.clone(), piece))
            }
            Record::Spend(goal, id, _) => {
                self.spend(goal, id)?.map(|spend| Record::Spend(goal.clone(), id.clone(), spend))
            }
            Record::Handoff(goal, _) => {
                self.handoff(goal)?.map(|handoff| Record::Handoff(goal.clone(), handoff))
            }
            Record::Bypass(id, _) => self.bypass(id)?.map(|bypass| Record::Bypass(id.clone(), bypass)),
        })
    }

    /// Whether a todo is there and not closed.
    pub(super) fn is_open(&self, goal: &GoalId, id: &TodoId) -> Result<bool, Error> {
        Ok(self.entry(&Shelf::Todos.open_file(goal, id.as_str()))?.is_some())
    }

    /// The names of the todos that are not closed.
    pub(super) fn open_todos(&self, goal: &GoalId) -> Result<Vec<TodoId>, Error> {
        let folder = Shelf::Todos.open(goal);
        let names = self.names(Shelf::Todos.extension(), &folder)?;
        names.iter().map(|name| self.id(&folder, name)).collect()
    }

    /// One of them.
    pub(super) fn open_todo(&self, goal: &GoalId, id: &TodoId) -> Result<Option<Todo>, Error> {
        self.record(&Shelf::Todos.open_file(goal, id.as_str()))
    }

    /// A goal with everything open in it.
    pub fn state(&self, id: &GoalId) -> Result<Option<Loop>, Error> {
        self.state_with(id, || Ok((self.todos(id)?, BTreeSet::new())))
    }

    /// The same with no more todos than a decision depends on, where the last mutation left word of which those are: for
    /// [`decision::next`](crate::domain::decision::next) and what explains its answer, and nothing else.
    pub fn state_to_decide_on(&self, id: &GoalId) -> Result<Option<Loop>, Error> {
        self.state_with(id, || match self.foremost_todos(id) {
            Some(foremost) => Ok(foremost),
            None => Ok((self.todos(id)?, BTreeSet::new())),
        })
    }

    fn state_with(
        &self,
        id: &GoalId,
        todos: impl FnOnce() -> Result<(BTreeMap<TodoId, Todo>, BTreeSet<TodoId>), Error>,
    ) -> Result<Option<Loop>, Error> {
        let Some(goal) = self.goal(id)? else { return Ok(None) };
        let (todos, behind) = todos()?;
        Ok(Some(Loop {
            id: id.clone(),
            goal,
            quota: self.quota(id)?,
            gates: self.gates(id)?,
            todos,
            behind,
            spends: self.spends(id)?.into_values().collect(),
        }))
    }

    /// None when nothing is known, or anything is amiss: whoever reads all will name it.
    fn foremost_todos(&self, goal: &GoalId) -> Option<(BTreeMap<TodoId, Todo>, BTreeSet<TodoId>)> {
        let folder = self.folder_id(&Shelf::Todos.open(goal)).ok()??;
        let word = outlines::word(&self.git.private_dir(), goal, folder)?;
        let todos = word.todos.into_iter().map(|(id, blob)| {
            let path = Shelf::Todos.open_file(goal, id.as_str());
            let todo = format::decode(&path, &self.blob(blob).ok()?).ok()?;
            Some((id, todo))
        });
        Some((todos.collect::<Option<_>>()?, word.behind.into_iter().collect()))
    }

    /// Every goal with everything open in it, by id. One that cannot be read is no reason to look at the others only.
    pub fn states(&self) -> Result<Vec<Loop>, Error> {
        let state = |id: GoalId| {
            let missing =
                || Error::Unreadable { path: layout::goal_file(&id), problem: "it is missing".into() };
            self.state(&id)?.ok_or_else(missing)
        };
        self.goals()?.into_iter().map(state).collect()
    }

    /// The latest closed gates: those that were not folded away yet.
    pub fn closed_gates(&self, goal: &GoalId) -> Result<BTreeMap<GateId, Gate>, Error> {
        self.files(Shelf::Gates.extension(), &Shelf::Gates.closed(goal))
    }

    /// The latest closed todos: those that were not folded away yet.
    pub fn closed_todos(&self, goal: &GoalId) -> Result<BTreeMap<TodoId, Todo>, Error> {
        self.files(Shelf::Todos.extension(), &Shelf::Todos.closed(goal))
    }

    /// Every closed todo there ever was. This is the one look whose cost follows the past.
    pub fn all_closed_todos(&self, goal: &GoalId) -> Result<BTreeMap<TodoId, Todo>, Error> {
        let mut all = BTreeMap::new();
        for (id, todo) in archive::records::<Todo>(self, Shelf::Todos, goal)? {
            let id = self.id(&Shelf::Todos.closed(goal), &id)?;
            if !self.is_open(goal, &id)? {
                all.insert(id, todo);
            }
        }
        all.extend(self.closed_todos(goal)?);
        Ok(all)
    }

    /// Finds the todo `prefix` means: the one of that very id, else the only open one that begins so, else the only
    /// closed one. What is typed in full and open is found without a look at the past.
    pub fn find_todo(&self, prefix: &TodoPrefix) -> Result<Found, Error> {
        let mut open = Vec::new();
        for goal in self.goals()? {
            let names = self.names(Shelf::Todos.extension(), &Shelf::Todos.open(&goal))?;
            open.extend(self.matching(prefix, &goal, names)?);
        }
        if let Some(exact) = open.iter().position(|(_, id)| id.as_str() == prefix.as_str()) {
            open = vec![open.swap_remove(exact)];
        } else if let Ok(id) = prefix.as_str().parse::<TodoId>() {
            for goal in self.goals()? {
                if self.lies_closed(Shelf::Todos, &goal, id.as_str())? {
                    return Ok(Found::Closed(goal, id));
                }
            }
        }
        match one(open) {
            Ok(None) => {}
            Ok(Some((goal, id))) => return Ok(Found::Open(goal, id)),
            Err(several) => return Ok(Found::Several(several)),
        }

        let mut closed = Vec::new();
        for goal in self.goals()? {
            let mut names = self.names(Shelf::Todos.extension(), &Shelf::Todos.closed(&goal))?;
            names.extend(archive::names(self, Shelf::Todos, &goal, prefix.as_str())?);
            // What was folded, opened again and closed again lies in two places.
            names.sort();
            names.dedup();
            closed.extend(self.matching(prefix, &goal, names)?);
        }
        Ok(match one(closed) {
            Ok(None) => Found::Nothing,
            Ok(Some((goal, id))) => Found::Closed(goal, id),
            Err(several) => Found::Several(several),
        })
    }

    /// The goals that have a gate of this name, in force or closed.
    pub fn goals_with_gate(&self, id: &GateId) -> Result<Vec<GoalId>, Error> {
        let mut goals = self.goals()?;
        let mut failed = None;
        goals.retain(|goal| match self.anywhere::<Gate>(Shelf::Gates, goal, id.as_str()) {
            Ok(found) => found.is_some(),
            Err(error) => {
                failed = Some(error);
                false
            }
        });
        failed.map_or(Ok(goals), Err)
    }

    /// How many todos there are and ever were, for the length of a new id.
    pub fn todo_population(&self) -> Result<usize, Error> {
        self.population(Shelf::Todos)
    }

    /// How many pieces of evidence there are and ever were, for the length of a new id.
    pub fn evidence_population(&self) -> Result<usize, Error> {
        self.population(Shelf::Evidence)
    }

    fn population(&self, shelf: Shelf) -> Result<usize, Error> {
        let records = |folder: &str| -> Result<usize, Error> {
            let Some(tree) = self.folder(folder)? else { return Ok(0) };
            let is_record = |name: &[u8]| name.ends_with(shelf.extension().as_bytes());
            Ok(tree.entries.iter().filter(|entry| is_record(&entry.filename)).count())
        };
        self.goals()?.iter().try_fold(0, |sum, goal| {
            let lying = records(&shelf.open(goal))? + records(&shelf.closed(goal))?;
            Ok(sum + lying + archive::count(self, shelf, goal)?)
        })
    }

    /// An id of a record that lies open and closed, as none should.
    pub(super) fn open_and_closed(&self, shelf: Shelf, goal: &GoalId) -> Result<Option<String>, Error> {
        let open: BTreeSet<_> = self.names(shelf.extension(), &shelf.open(goal))?.into_iter().collect();
        let closed = self.names(shelf.extension(), &shelf.closed(goal))?;
        Ok(closed.into_iter().find(|id| open.contains(id)))
    }

    /// Whether an id of a todo was ever used.
    pub fn todo_taken(&self, id: &TodoId) -> Result<bool, Error> {
        self.taken(Shelf::Todos, id.as_str())
    }

    /// Whether an id of a piece of evidence was ever used.
    pub fn evidence_taken(&self, id: &EvidenceId) -> Result<bool, Error> {
        self.taken(Shelf::Evidence, id.as_str())
    }

    /// Tells the ids of everything on a shelf, open, closed or folded, one by one, so that nobody has to hold all of them.
    pub(super) fn each_id(
        &self,
        shelf: Shelf,
        goal: &GoalId,
        mut tell: impl FnMut(&str),
    ) -> Result<(), Error> {
        for folder in [shelf.open(goal), shelf.closed(goal)] {
            self.names(shelf.extension(), &folder)?.iter().for_each(|id| tell(id));
        }
        archive::each_id(self, shelf, goal, tell)
    }

    pub(super) fn taken(&self, shelf: Shelf, id: &str) -> Result<bool, Error> {
        for goal in self.goals()? {
            if self.entry(&shelf.open_file(&goal, id))?.is_some() || self.lies_closed(shelf, &goal, id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn lies_closed(&self, shelf: Shelf, goal: &GoalId, id: &str) -> Result<bool, Error> {
        Ok(self.entry(&shelf.closed_file(goal, id))?.is_some() || archive::holds(self, shelf, goal, id)?)
    }

    fn matching(
        &self,
        prefix: &TodoPrefix,
        goal: &GoalId,
        names: Vec<String>,
    ) -> Result<Vec<(GoalId, TodoId)>, Error> {
        names
            .into_iter()
            .filter(|name| prefix.matches(name))
            .map(|name| Ok((goal.clone(), self.id(&Shelf::Todos.open(goal), &name)?)))
            .collect()
    }

    fn anywhere<T: Stored>(&self, shelf: Shelf, goal: &GoalId, id: &str) -> Result<Option<T>, Error> {
        if let Some(record) = self.record(&shelf.open_file(goal, id))? {
            return Ok(Some(record));
        }
        match self.record(&shelf.closed_file(goal, id))? {
            Some(record) => Ok(Some(record)),
            None => archive::find(self, shelf, goal, id),
        }
    }

    fn shelf<I, T>(&self, shelf: Shelf, goal: &GoalId) -> Result<BTreeMap<I, T>, Error>
    where
        I: std::str::FromStr<Err: std::fmt::Display> + Ord,
        T: Stored,
    {
        self.files(shelf.extension(), &shelf.open(goal))
    }

    fn files<I, T>(&self, extension: &str, folder: &str) -> Result<BTreeMap<I, T>, Error>
    where
        I: std::str::FromStr<Err: std::fmt::Display> + Ord,
        T: Stored,
    {
        let names = self.names(extension, folder)?;
        names
            .into_iter()
            .map(|name| {
                let path = format!("{folder}/{name}{extension}");
                let gone = || Error::Damaged(format!("`{path}` is in its folder but cannot be read"));
                Ok((self.id(folder, &name)?, self.record(&path)?.ok_or_else(gone)?))
            })
            .collect()
    }

    /// The records in a folder, without their extension. A file that is no record makes the folder unreadable: it
    /// might be a gate that we fail to see.
    fn names(&self, extension: &str, folder: &str) -> Result<Vec<String>, Error> {
        let Some(tree) = self.folder(folder)? else { return Ok(Vec::new()) };
        let files = tree.entries.iter().filter(|entry| !entry.mode.is_tree());
        let names = files.filter_map(|entry| {
            let name = lossy(entry.filename.as_bstr());
            match name.strip_suffix(extension) {
                Some(stem) => Some(Ok(stem.to_owned())),
                None if archive::is_segment(&name) => None,
                None => Some(Err(Error::Unreadable {
                    path: format!("{folder}/{}", crate::domain::text::shown(&name, 80)),
                    problem: format!("it is no record (expected a name that ends in `{extension}`)"),
                })),
            }
        });
        names.collect()
    }

    /// The id that `name` is, of a record in `folder`, which is for the error.
    pub(super) fn id<I: std::str::FromStr<Err: std::fmt::Display>>(
        &self,
        folder: &str,
        name: &str,
    ) -> Result<I, Error> {
        name.parse().map_err(|error: I::Err| Error::Unreadable {
            path: format!("{folder}/{}", crate::domain::text::shown(name, 80)),
            problem: error.to_string(),
        })
    }

    fn record<T: Stored>(&self, path: &str) -> Result<Option<T>, Error> {
        self.bytes(path)?.map(|bytes| format::decode(path, &bytes)).transpose()
    }

    pub(super) fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        match self.entry(path)? {
            None => Ok(None),
            Some(entry) if !entry.mode.is_blob() => {
                Err(Error::Unreadable { path: path.to_owned(), problem: "it is not a plain file".into() })
            }
            Some(entry) => self.blob(entry.oid).map(Some),
        }
    }

    pub(super) fn blob(&self, id: ObjectId) -> Result<Vec<u8>, Error> {
        match self.hot.get(id, Kind::Blob) {
            Some(bytes) => Ok(bytes.to_vec()),
            None => self.git.blob(id),
        }
    }

    /// The id of the tree at `path`, if there is one.
    pub(super) fn folder_id(&self, path: &str) -> Result<Option<ObjectId>, Error> {
        Ok(self.entry(path)?.filter(|entry| entry.mode.is_tree()).map(|entry| entry.oid))
    }

    fn entry(&self, path: &str) -> Result<Option<gix::objs::tree::Entry>, Error> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(tree) = self.folder(folder)? else { return Ok(None) };
        let found = match tree.entries.len() {
            // A tree that somebody wrote in another order than git's is seen as it is.
            0..=64 => tree.entries.iter().find(|entry| entry.filename.as_bstr() == name),
            _ => [false, true].into_iter().find_map(|as_folder| sought(&tree, name, as_folder)),
        };
        Ok(found.cloned())
    }

    /// The tree at `path`, read once; `None` when there is none.
    pub(super) fn folder(&self, path: &str) -> Result<Option<Rc<Tree>>, Error> {
        if let Some(known) = self.folders.borrow().get(path) {
            return Ok(known.clone());
        }
        let tree = match path {
            "" => Some(self.tree(self.base.tree)?),
            _ => match self.entry(path)? {
                None => None,
                Some(entry) if entry.mode.is_tree() => Some(self.tree(entry.oid)?),
                Some(_) => {
                    let problem = "it is not a folder".into();
                    return Err(Error::Unreadable { path: path.to_owned(), problem });
                }
            },
        };
        self.folders.borrow_mut().insert(path.to_owned(), tree.clone());
        Ok(tree)
    }

    fn tree(&self, id: ObjectId) -> Result<Rc<Tree>, Error> {
        self.git.recall(id, Kind::Tree, self.hot);
        self.git.tree(id).map(Rc::new)
    }

    /// The objects that a look at the present needs: the commit, the trees on the way and all open records.
    pub(super) fn at_hand(&self) -> Result<Vec<AtHand>, Error> {
        let mut paths = vec![layout::POLICY.to_owned(), layout::QUOTA.to_owned()];
        for goal in self.goals()? {
            paths.push(layout::goal_file(&goal));
            for shelf in [Shelf::Gates, Shelf::Todos, Shelf::Spend] {
                let folder = shelf.open(&goal);
                let names = self.names(shelf.extension(), &folder)?;
                paths.extend(names.into_iter().map(|name| format!("{folder}/{name}{}", shelf.extension())));
            }
        }
        for name in self.names(layout::BYPASS, layout::BYPASSES)? {
            paths.push(format!("{}/{name}{}", layout::BYPASSES, layout::BYPASS));
        }
        let mut objects = Vec::new();
        for path in paths {
            if let (Some(entry), Some(bytes)) = (self.entry(&path)?, self.bytes(&path)?) {
                objects.push(AtHand { path, id: entry.oid, kind: Kind::Blob, bytes });
            }
        }
        let mut nodes = vec![
            (String::new(), self.base.commit, Kind::Commit),
            (String::new(), self.base.tree, Kind::Tree),
        ];
        let folders: Vec<String> = self.folders.borrow().keys().cloned().collect();
        for path in folders.iter().filter(|path| !path.is_empty()) {
            if let Some(entry) = self.entry(path)? {
                nodes.push((path.clone(), entry.oid, Kind::Tree));
            }
        }
        for (path, id, kind) in nodes {
            objects.push(AtHand { path, id, kind, bytes: self.git.node(id, kind)? });
        }
        Ok(objects)
    }
}

/// The entry of this name in a tree in git's order: as if the name of a folder ended in a slash.
fn sought<'t>(tree: &'t Tree, name: &str, as_folder: bool) -> Option<&'t gix::objs::tree::Entry> {
    let slash = |is_folder: bool| is_folder.then_some(b'/');
    let wanted = || name.bytes().chain(slash(as_folder));
    let at = tree.entries.binary_search_by(|entry| {
        let known = entry.filename.iter().copied().chain(slash(entry.mode.is_tree()));
        known.cmp(wanted())
    });
    at.ok().map(|at| &tree.entries[at])
}

/// Nothing, the only one, or the ids of all.
fn one(mut found: Vec<(GoalId, TodoId)>) -> Result<Option<(GoalId, TodoId)>, Vec<TodoId>> {
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => Err(found.into_iter().map(|(_, id)| id).collect()),
    }
}
