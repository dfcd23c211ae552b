//! What other tools keep, understood: their files in, goals with work and questions out.
//!
//! Each parser ([`loopx_python`], [`beads`], [`backlog`]) is a pure function from text to [`Foreign`]: nothing is opened
//! here, and whatever the text is, the answer is a value or a [`Bad`] place in it. As there may be very many items, each is told
//! to whoever called, and an [`Outline`] is all that is kept of them. [`draft`](mod@draft) has the items told again and makes records
//! of them, legal by construction, and the [`Report`] says of everything that has no counterpart what became of it.

pub mod backlog;
pub mod beads;
pub mod draft;
mod front;
pub mod loopx_python;
pub mod outline;
pub mod report;
pub mod results;
pub mod tasks;

#[cfg(test)]
mod properties;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use self::{outline::Outline, report::Report};
use crate::domain::{
    id::Capability,
    text::shown,
    time::Seconds,
    todo::{Priority, Worker},
};

/// The tools whose files are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    LoopxPython,
    Beads,
    Backlog,
}

impl Source {
    /// As it is written on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::LoopxPython => "loopx-python",
            Self::Beads => "beads",
            Self::Backlog => "backlog",
        }
    }

    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::LoopxPython => "LoopX",
            Self::Beads => "beads",
            Self::Backlog => "Backlog.md",
        }
    }
}

/// Most items of one source.
pub const MOST: usize = 100_000;

/// A place in a file that makes no sense. Nothing of the source is taken then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{file}`{}: {problem}", .line.map(|line| format!(", line {line}")).unwrap_or_default())]
pub struct Bad {
    file: String,
    line: Option<usize>,
    problem: String,
}

impl Bad {
    /// A problem in a line, the first of which is 1.
    pub fn at(file: &str, line: usize, problem: impl AsRef<str>) -> Self {
        Self { line: Some(line), ..Self::whole(file, problem) }
    }

    /// A problem of the whole file.
    pub fn whole(file: &str, problem: impl AsRef<str>) -> Self {
        Self { file: shown(file, 200), line: None, problem: shown(problem.as_ref(), 300) }
    }
}

/// What a tool kept.
#[derive(Debug, Clone, Default)]
pub struct Foreign {
    pub goals: Vec<Goal>,
    pub report: Report,
}

/// One goal as it stands elsewhere. A tool without goals has one for everything.
#[derive(Debug, Clone, Default)]
pub struct Goal {
    /// What it is called there, if it has a name.
    pub name: Option<String>,
    pub objective: String,
    /// Why it is paused, if it is.
    pub paused: Option<String>,
    /// Texts that belong to it, with their headings.
    pub notes: Vec<(String, String)>,
    /// What it consists of, without the texts.
    pub items: Outline,
}

/// One piece of work or one question. How it hangs together with others stands in the [`Outline`] and is not written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Item {
    /// What it is called there. Of several with the same id the first is the one that others can mean.
    pub id: String,
    pub title: String,
    pub body: String,
    pub what: What,
    pub priority: Priority,
    /// Ids of what has to be closed first.
    #[serde(skip)]
    pub needs: Vec<String>,
    /// Ids of what has this to be closed first.
    #[serde(skip)]
    pub part_of: Vec<String>,
    /// It is looked at again and again, this often.
    pub every: Option<Seconds>,
    pub state: State,
}

/// What an item asks for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum What {
    Work {
        for_: Worker,
        requires: BTreeSet<Capability>,
    },
    /// A person's answer, on which these items wait besides those that need it.
    Question {
        #[serde(skip)]
        about: Vec<String>,
    },
}

/// How far an item is, with what was said to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    Open,
    Blocked(String),
    /// Blocked, unless something that it needs says until when.
    Held(String),
    Done(String),
    Dropped(String),
}

impl Goal {
    /// Every text of its own that becomes one of a record, with its field.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut String)> {
        let name = self.name.as_mut().map(|name| ("name", name));
        let paused = self.paused.as_mut().map(|why| ("status", why));
        let notes = self.notes.iter_mut().flat_map(|(heading, text)| [("note", heading), ("note", text)]);
        [("objective", &mut self.objective)].into_iter().chain(name).chain(paused).chain(notes)
    }
}

impl Item {
    /// Every text that becomes one of a record, with its field.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut String)> {
        let said = match &mut self.state {
            State::Open => None,
            State::Blocked(text) | State::Held(text) | State::Done(text) | State::Dropped(text) => {
                Some(("state", text))
            }
        };
        [("title", &mut self.title), ("body", &mut self.body)].into_iter().chain(said)
    }

    fn new(id: String, title: String) -> Self {
        let what = What::Work { for_: Worker::Agent, requires: BTreeSet::new() };
        let (body, needs, part_of) = (String::new(), Vec::new(), Vec::new());
        let (priority, state) = (Priority::P2, State::Open);
        Self { id, title, body, what, priority, needs, part_of, every: None, state }
    }

    /// Adds a paragraph to the body.
    fn paragraph(&mut self, heading: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if !self.body.is_empty() {
            self.body.push_str("\n\n");
        }
        if !heading.is_empty() {
            self.body.push_str(heading);
            self.body.push_str(":\n");
        }
        self.body.push_str(text.trim());
    }

    /// Adds fields that have no place of their own, a line each, and reports each.
    fn keep(&mut self, fields: &[(String, String)], report: &mut Report) {
        let fields = fields.iter().filter(|(_, value)| !value.trim().is_empty());
        let mut lines = Vec::new();
        for (name, value) in fields {
            report.say(&self.id, name, report::KEPT);
            lines.push(format!("{name}: {}", value.trim()));
        }
        self.paragraph("", &lines.join("\n"));
    }
}

/// A reason with what it was about: `closed 2025-12-01: done`.
fn said(what: &str, at: Option<&str>, why: Option<&str>) -> String {
    let at = at.map(|at| format!(" {at}")).unwrap_or_default();
    let why = why.map(str::trim).filter(|why| !why.is_empty()).map(|why| format!(": {why}"));
    format!("{what}{at}{}", why.unwrap_or_default())
}
