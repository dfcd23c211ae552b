//! From what another tool kept to records: legal by construction, or reported.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{Foreign, Goal, Item, Outline, Report, Source, State, What};
use crate::domain::{
    actor::Stamp,
    change::Record,
    evidence::{Evidence, Finding},
    gate::Gate,
    goal::{self, GoalState},
    id::{EvidenceId, GateId, GoalId, Short, TodoId, slug},
    refusal::Refusal,
    text::{Fit, Note, Title},
    todo::{Monitor, Todo, TodoState, Worker},
};

/// Ids that are free where the records will go, as many as [`Need`] says, ascending: what comes first there comes first
/// here.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    pub todos: Vec<Short<TodoId>>,
    pub evidence: Vec<Short<EvidenceId>>,
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
        let items: usize = self.goals.iter().map(|goal| goal.items.len()).sum();
        let questions: usize = self.goals.iter().map(|goal| goal.items.asked().len()).sum();
        let notes: usize = self.goals.iter().map(|goal| goal.notes.len()).sum();
        Need { todos: items - questions, evidence: notes + questions }
    }
}

/// What becomes of what a tool kept.
#[derive(Debug)]
pub struct Terms<'t> {
    pub source: Source,
    /// What the goal is to be called, if there is one only. Otherwise each is called as it is there.
    pub name: Option<&'t GoalId>,
    /// Goals that are there already.
    pub taken: &'t [GoalId],
    /// Whoever imports it, and when: what is said of earlier times stands in the texts.
    pub stamp: Stamp,
    pub ids: Ids,
}

/// What was told.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub goals: Vec<GoalId>,
    pub report: Report,
}

/// Makes records of what a tool kept and tells them, a goal before what belongs to it. `item` tells the item of a number again, as
/// they were counted over all goals while they were read. Refused when a goal is there already, or when the name could mean several.
pub fn draft<E: From<Refusal>>(
    foreign: Foreign,
    terms: Terms<'_>,
    item: impl FnMut(usize) -> Result<Item, E>,
    tell: impl FnMut(Record) -> Result<(), E>,
) -> Result<Draft, E> {
    let mut drafting = Drafting {
        source: terms.source,
        stamp: terms.stamp,
        todos: &terms.ids.todos,
        evidence: terms.ids.evidence.into_iter(),
        report: foreign.report,
        first: 0,
        item,
        tell,
    };
    let mut known = Names::default();
    let mut names: Vec<GoalId> = foreign.goals.iter().map(|goal| drafting.named(goal, &mut known)).collect();
    match (terms.name, names.len()) {
        (None, _) => {}
        (Some(name), 1) => names = vec![name.clone()],
        (Some(_), _) => return Err(Refusal::SeveralGoals(names).into()),
    }
    if let Some(there) = names.iter().find(|name| terms.taken.contains(name)) {
        return Err(Refusal::GoalExists(there.clone()).into());
    }
    for (id, goal) in names.iter().zip(foreign.goals) {
        drafting.goal(id, goal)?;
    }
    Ok(Draft { goals: names, report: drafting.report })
}

struct Drafting<'t, I, T> {
    source: Source,
    stamp: Stamp,
    /// Ids that no todo has yet.
    todos: &'t [Short<TodoId>],
    evidence: std::vec::IntoIter<Short<EvidenceId>>,
    report: Report,
    /// The number of the first item of the goal.
    first: usize,
    item: I,
    tell: T,
}

impl<I, T, E> Drafting<'_, I, T>
where
    I: FnMut(usize) -> Result<Item, E>,
    T: FnMut(Record) -> Result<(), E>,
    E: From<Refusal>,
{
    fn say(&mut self, item: &str, field: &str, fate: &'static str) {
        self.report.say(item, field, fate);
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

    fn goal(&mut self, id: &GoalId, goal: Goal) -> Result<(), E> {
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
        (self.tell)(Record::Goal(id.clone(), record))?;
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
    ) -> Result<(), E> {
        let Some(text) = self.note(item, field, text) else { return Ok(()) };
        let id = self.evidence.next().ok_or(Refusal::NoFreeId)?.id();
        let (added, what) = (self.stamp.clone(), Finding::Note { text });
        let evidence = Evidence { commit: None, dirty: false, todo: None, gate, added, what };
        (self.tell)(Record::Evidence(goal.clone(), id, evidence))
    }

    fn items(&mut self, goal: &GoalId, mut items: Outline) -> Result<(), E> {
        let needs = items.checked_needs(|item, fate| self.report.say(item, "needs", fate));
        let asked = items.asked();
        let (todos, left) =
            self.todos.split_at_checked(items.len() - asked.len()).ok_or(Refusal::NoFreeId)?;
        self.todos = left;
        // Ids go to the todos in their order; a question has none.
        let todo = |item: usize| asked.binary_search(&item).err().map(|before| todos[item - before].id());
        // What needs a question waits for its gate.
        let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for item in (0..items.len()).filter(|item| !asked.is_empty() && items.is_open(*item)) {
            for need in needs.of(item).filter(|need| asked.binary_search(need).is_ok()) {
                waiting.entry(need).or_default().push(item);
            }
        }
        let mut gates = Names::default();
        for at in asked.iter().copied() {
            let item = (self.item)(self.first + at)?;
            let mut waiting = waiting.remove(&at).unwrap_or_default();
            let mut is_about_any = false;
            for other in items.about(at) {
                is_about_any = true;
                match other.filter(|other| items.is_open(*other)) {
                    Some(other) => waiting.push(other),
                    None => self.say(&item.id, "what it is about", "dropped: it names nothing that is open"),
                }
            }
            let waiting: BTreeSet<TodoId> = waiting.into_iter().filter_map(todo).collect();
            if is_about_any && waiting.is_empty() {
                self.say(&item.id, "what it is about", "everything of the goal, as nothing else is left");
            }
            let base = slug(&item.title).unwrap_or_else(|| "gate".into());
            self.gate(goal, gates.free(&base), &item, waiting)?;
        }
        // What is told from here on takes as much room as the names did.
        let count = items.len();
        drop(items);
        for at in 0..count {
            let Some(id) = todo(at) else { continue };
            let item = (self.item)(self.first + at)?;
            let waits = needs.of(at).next().is_some();
            let todo = self.todo(&item, needs.of(at).filter_map(todo).collect(), waits);
            (self.tell)(Record::Todo(goal.clone(), id, todo))?;
        }
        self.first += count;
        Ok(())
    }

    fn gate(&mut self, goal: &GoalId, id: GateId, item: &Item, todos: BTreeSet<TodoId>) -> Result<(), E> {
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
        (self.tell)(Record::Gate(goal.clone(), id.clone(), gate))?;
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
