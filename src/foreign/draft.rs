//! From what another tool kept to records: legal by construction, or reported.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Foreign, Goal, Item, Report, Source, State, What};
use crate::domain::{
    actor::Stamp,
    change::Record,
    evidence::{Evidence, Finding},
    gate::Gate,
    goal::{self, GoalState},
    id::{EvidenceId, GateId, GoalId, TodoId, slug},
    refusal::Refusal,
    text::{Fit, Note, Title},
    todo::{Monitor, Todo, TodoState, Worker},
};

/// Ids that are free where the records will go, as many as [`Need`] says, ascending: what comes first there comes first
/// here.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    pub todos: Vec<TodoId>,
    pub evidence: Vec<EvidenceId>,
}

/// How many ids a draft takes at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    pub todos: usize,
    pub evidence: usize,
}

impl Foreign {
    /// How many ids its [`draft`] takes at most.
    pub fn need(&self) -> Need {
        let items = || self.goals.iter().flat_map(|goal| &goal.items);
        let questions = items().filter(|item| is_asked(item)).count();
        let notes: usize = self.goals.iter().map(|goal| goal.notes.len()).sum();
        Need { todos: items().count() - questions, evidence: notes + questions }
    }
}

/// What would be put into the state.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub goals: Vec<GoalId>,
    /// A goal before what belongs to it.
    pub records: Vec<Record>,
    pub report: Report,
}

/// Makes records of what `source` kept, stamped by whoever imports them and when: what is said of earlier times stands
/// in the texts. A goal is called as it is there, or `name` when there is only one. Refused when a goal is there
/// already (`taken`), or when `name` could mean several.
pub fn draft(
    foreign: Foreign,
    source: Source,
    name: Option<&GoalId>,
    taken: &[GoalId],
    stamp: &Stamp,
    ids: Ids,
) -> Result<Draft, Refusal> {
    let mut drafting = Drafting {
        source,
        stamp: stamp.clone(),
        todos: ids.todos.into_iter(),
        evidence: ids.evidence.into_iter(),
        draft: Draft { report: foreign.report, ..Draft::default() },
    };
    let mut known = Names::default();
    let mut names: Vec<GoalId> = foreign.goals.iter().map(|goal| drafting.named(goal, &mut known)).collect();
    match (name, names.len()) {
        (None, _) => {}
        (Some(name), 1) => names = vec![name.clone()],
        (Some(_), _) => return Err(Refusal::SeveralGoals(names)),
    }
    if let Some(there) = names.iter().find(|name| taken.contains(name)) {
        return Err(Refusal::GoalExists(there.clone()));
    }
    for (id, goal) in names.iter().zip(foreign.goals) {
        drafting.goal(id, goal)?;
    }
    drafting.draft.goals = names;
    Ok(drafting.draft)
}

/// The item becomes a gate and no todo: a question that nobody has answered there.
fn is_asked(item: &Item) -> bool {
    matches!(item.what, What::Question { .. }) && is_open(item)
}

fn is_open(item: &Item) -> bool {
    matches!(item.state, State::Open | State::Blocked(_) | State::Held(_))
}

struct Drafting {
    source: Source,
    stamp: Stamp,
    todos: std::vec::IntoIter<TodoId>,
    evidence: std::vec::IntoIter<EvidenceId>,
    draft: Draft,
}

impl Drafting {
    fn say(&mut self, item: &str, field: &str, fate: &'static str) {
        self.draft.report.say(item, field, fate);
    }

    /// The id for a goal: what it is called there as far as that is one.
    fn named(&mut self, goal: &Goal, known: &mut Names) -> GoalId {
        let called = goal.name.as_deref().unwrap_or_default();
        let words: Vec<String> = called
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let mut base: String = words.join("-").chars().take(56).collect();
        base.truncate(base.trim_end_matches('-').len());
        if base.is_empty() {
            base = slug(&goal.objective).unwrap_or_else(|| self.source.word().to_owned());
        }
        let id: GoalId = known.free(&base);
        if id.as_str() != called {
            self.say(called, "id of the goal", "made to fit");
        }
        id
    }

    fn title(&mut self, item: &str, text: &str) -> (Title, Fit) {
        let (title, fit) = Title::fit(text).unwrap_or_else(|| {
            self.say(item, "title", "missing: its id stands for it");
            let unnamed = || Title::fit(self.source.name()).expect("a tool has a name");
            Title::fit(item).unwrap_or_else(unnamed)
        });
        if fit.escaped {
            self.say(item, "title", "control characters are written as escapes");
        }
        (title, fit)
    }

    fn note(&mut self, item: &str, field: &str, text: &str) -> Option<Note> {
        let (note, fit) = Note::fit(text)?;
        if fit.escaped {
            self.say(item, field, "control characters are written as escapes");
        }
        if fit.cut {
            self.say(item, field, "cut to 16 KiB");
        }
        Some(note)
    }

    fn goal(&mut self, id: &GoalId, goal: Goal) -> Result<(), Refusal> {
        let called = goal.name.clone().unwrap_or_else(|| id.to_string());
        let (objective, fit) = self.title(&called, &goal.objective);
        if fit.cut {
            self.say(&called, "objective", "cut; a note of the goal has it whole");
        }
        let mut record = goal::Goal::new(objective, Vec::new(), self.stamp.clone());
        if let Some(why) = &goal.paused {
            let reason = self.note(&called, "status", why);
            record.state = GoalState::Paused { by: self.stamp.by.clone(), at: self.stamp.at, reason };
        }
        self.draft.records.push(Record::Goal(id.clone(), record));
        let whole = fit.cut.then(|| ("Objective".to_owned(), goal.objective.clone()));
        for (heading, text) in whole.into_iter().chain(goal.notes) {
            let text = format!("{heading} ({}):\n{}", self.source.name(), text.trim());
            self.evidence(id, &called, &heading, &text, None)?;
        }
        self.items(id, goal.items)
    }

    fn evidence(
        &mut self,
        goal: &GoalId,
        item: &str,
        field: &str,
        text: &str,
        gate: Option<GateId>,
    ) -> Result<(), Refusal> {
        let Some(text) = self.note(item, field, text) else { return Ok(()) };
        let id = self.evidence.next().ok_or(Refusal::NoFreeId)?;
        let (added, what) = (self.stamp.clone(), Finding::Note { text });
        let evidence = Evidence { commit: None, dirty: false, todo: None, gate, added, what };
        self.draft.records.push(Record::Evidence(goal.clone(), id, evidence));
        Ok(())
    }

    fn items(&mut self, goal: &GoalId, items: Vec<Item>) -> Result<(), Refusal> {
        let needs = self.checked_needs(&items);
        let mut todos: Vec<Option<TodoId>> = Vec::new();
        for item in &items {
            todos.push(match is_asked(item) {
                true => None,
                false => Some(self.todos.next().ok_or(Refusal::NoFreeId)?),
            });
        }
        // What needs a question waits for its gate.
        let mut waiting: Vec<BTreeSet<TodoId>> = vec![BTreeSet::new(); items.len()];
        for (at, needs) in needs.iter().enumerate().filter(|(at, _)| is_open(&items[*at])) {
            for need in needs.iter().filter(|need| is_asked(&items[**need])) {
                waiting[*need].extend(todos[at].clone());
            }
        }
        let index = indexed(&items);
        let mut gates = Names::default();
        for (at, item) in items.iter().enumerate().filter(|(_, item)| is_asked(item)) {
            let What::Question { about } = &item.what else { continue };
            for id in about {
                match index.get(id.as_str()).filter(|at| is_open(&items[**at])) {
                    Some(other) => waiting[at].extend(todos[*other].clone()),
                    None => self.say(&item.id, "what it is about", "dropped: it names nothing that is open"),
                }
            }
            if !about.is_empty() && waiting[at].is_empty() {
                self.say(&item.id, "what it is about", "everything of the goal, as nothing else is left");
            }
            let base = slug(&item.title).unwrap_or_else(|| "gate".into());
            self.gate(goal, gates.free(&base), item, std::mem::take(&mut waiting[at]))?;
        }
        for (at, item) in items.iter().enumerate() {
            let Some(id) = todos[at].clone() else { continue };
            let needs_of = &needs[at];
            let needs = needs_of.iter().filter_map(|need| todos[*need].clone()).collect();
            let todo = self.todo(item, needs, !needs_of.is_empty());
            self.draft.records.push(Record::Todo(goal.clone(), id, todo));
        }
        Ok(())
    }

    fn gate(
        &mut self,
        goal: &GoalId,
        id: GateId,
        item: &Item,
        todos: BTreeSet<TodoId>,
    ) -> Result<(), Refusal> {
        let called = format!(" ({})", item.id);
        let (question, fit) = self.title(&item.id, &item.title);
        let question = match Title::fit(&format!("{question}{called}")) {
            Some((with_id, Fit { cut: false, .. })) => with_id,
            _ => question,
        };
        if !matches!(item.state, State::Open) {
            self.say(&item.id, "state", "asked at once: a question has no other state here");
        }
        let gate = Gate::new(question, Vec::new(), BTreeSet::new(), todos, self.stamp.clone());
        self.draft.records.push(Record::Gate(goal.clone(), id.clone(), gate));
        let mut text = self.origin(item);
        if fit.cut {
            text.push_str(&format!("\n\n{}", item.title.trim()));
        }
        if !item.body.trim().is_empty() {
            text.push_str(&format!("\n\n{}", item.body.trim()));
        }
        self.evidence(goal, &item.id, "text", &text, Some(id))
    }

    fn origin(&self, item: &Item) -> String {
        format!("From {}: {}", self.source.name(), item.id)
    }

    /// `waits` says that it needs something, be it a question.
    fn todo(&mut self, item: &Item, needs: BTreeSet<TodoId>, waits: bool) -> Todo {
        let (title, fit) = self.title(&item.id, &item.title);
        let mut body = self.origin(item);
        if fit.cut {
            self.say(&item.id, "title", "cut; the text has it whole");
            body.push_str(&format!("\n\n{}", item.title.trim()));
        }
        if !item.body.trim().is_empty() {
            body.push_str(&format!("\n\n{}", item.body.trim()));
        }
        let body = self.note(&item.id, "text", &body);
        let (for_, requires) = match &item.what {
            What::Work { for_, requires } => (*for_, requires.clone()),
            What::Question { .. } => (Worker::Person, BTreeSet::new()),
        };
        let Stamp { by, at } = self.stamp.clone();
        let reason = |drafting: &mut Self, text: &str| {
            let fallback = || Note::fit(drafting.source.name()).map(|(note, _)| note);
            Note::fit(text).map(|(note, _)| note).or_else(fallback).expect("a tool has a name")
        };
        let state = match &item.state {
            State::Held(_) if waits => {
                self.say(&item.id, "status", "open: its needs say until when");
                TodoState::Open { epoch: 0 }
            }
            State::Open => TodoState::Open { epoch: 0 },
            State::Blocked(why) | State::Held(why) => {
                TodoState::Blocked { on: None, by, at, reason: reason(self, why), epoch: 0 }
            }
            State::Done(note) => {
                let note = self.note(&item.id, "why it was closed", note);
                TodoState::Done { by, at, evidence: BTreeSet::new(), note, epoch: 0 }
            }
            State::Dropped(why) => TodoState::Dropped { by, at, reason: reason(self, why), epoch: 0 },
        };
        let added = self.stamp.clone();
        let (check, priority) = (None, item.priority);
        let monitor = item.every.map(|every| Monitor::new(every, self.stamp.at));
        Todo { title, body, for_, priority, needs, requires, check, monitor, added, state }
    }

    /// The needs of each item by their places, without what is unknown and without what would close a circle.
    fn checked_needs(&mut self, items: &[Item]) -> Vec<Vec<usize>> {
        let index = indexed(items);
        let mut needs: Vec<Vec<usize>> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let mut known: Vec<usize> = Vec::new();
            for need in &item.needs {
                match index.get(need.as_str()) {
                    None => {
                        self.draft.report.say(&item.id, "needs", "dropped: it names nothing that is imported")
                    }
                    Some(other) if *other == at => {
                        self.draft.report.say(&item.id, "needs", "dropped: it would need itself");
                    }
                    Some(other) => known.push(*other),
                }
            }
            known.sort_unstable();
            known.dedup();
            needs.push(known);
        }
        self.without_circles(items, &mut needs);
        needs
    }

    /// Walks along the needs, each once and without recursion, and drops those that lead back to where the walk is.
    fn without_circles(&mut self, items: &[Item], needs: &mut [Vec<usize>]) {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            No,
            Here,
            Done,
        }
        let mut seen = vec![Seen::No; needs.len()];
        for start in 0..needs.len() {
            if seen[start] != Seen::No {
                continue;
            }
            let mut walk = vec![(start, 0)];
            seen[start] = Seen::Here;
            while let Some((at, next)) = walk.last_mut() {
                let at = *at;
                let Some(need) = needs[at].get(*next).copied() else {
                    seen[at] = Seen::Done;
                    walk.pop();
                    continue;
                };
                match seen[need] {
                    Seen::Here => {
                        needs[at].swap_remove(*next);
                        self.draft.report.say(
                            &items[at].id,
                            "needs",
                            "dropped: it would need itself in the end",
                        );
                    }
                    Seen::Done => *next += 1,
                    Seen::No => {
                        *next += 1;
                        seen[need] = Seen::Here;
                        walk.push((need, 0));
                    }
                }
            }
        }
    }
}

fn indexed(items: &[Item]) -> HashMap<&str, usize> {
    let mut index = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        index.entry(item.id.as_str()).or_insert(at);
    }
    index
}

/// Slugs that are taken, and from which number on each base may be free.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Names {
    /// `base`, a slug of at most 56 characters, with a number behind it when that is taken.
    fn free<I: std::str::FromStr<Err: std::fmt::Debug>>(&mut self, base: &str) -> I {
        let number = self.next.entry(base.to_owned()).or_insert(1);
        loop {
            let text = if *number == 1 { base.to_owned() } else { format!("{base}-{number}") };
            *number += 1;
            if self.taken.insert(text.clone()) {
                return text.parse().expect("a slug");
            }
        }
    }
}
