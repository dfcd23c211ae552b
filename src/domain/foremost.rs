//! Which open todos a decision depends on. Of ten thousand that need each other nearly all only wait.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    id::TodoId,
    time::Timestamp,
    todo::{Todo, TodoState},
};

/// Of an open todo, what says whether a decision depends on the rest of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// What it needs, closed or not.
    pub needs: BTreeSet<TodoId>,
    pub added: Timestamp,
    /// It is claimed, blocked or a monitor: decisions look at it though it waits.
    pub stands_out: bool,
}

impl Outline {
    pub fn of(todo: &Todo) -> Self {
        let is_open = matches!(todo.state, TodoState::Open { .. });
        Self {
            needs: todo.needs.clone(),
            added: todo.added.at,
            stands_out: !is_open || todo.monitor.is_some(),
        }
    }
}

/// The todos that a decision depends on, whoever asks and whenever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Foremost {
    pub todos: BTreeSet<TodoId>,
    /// Of the others, those that one of them needs. That they are open is all that matters.
    pub behind: BTreeSet<TodoId>,
}

impl Foremost {
    /// Chooses from all open todos of a goal: those that wait for none of the others, that stand out, and the one that was
    /// added last, as turns count from there.
    pub fn of(open: &BTreeMap<TodoId, Outline>) -> Self {
        let last = open.iter().max_by_key(|(_, outline)| outline.added).map(|(id, _)| id);
        let is_chosen = |(id, outline): &(&TodoId, &Outline)| {
            let waits = || outline.needs.iter().any(|need| open.contains_key(need));
            outline.stands_out || Some(*id) == last || !waits()
        };
        let todos: BTreeSet<_> = open.iter().filter(is_chosen).map(|(id, _)| id.clone()).collect();
        let needed = todos.iter().flat_map(|id| &open[id].needs);
        let behind = needed.filter(|need| open.contains_key(need) && !todos.contains(need));
        Self { behind: behind.cloned().collect(), todos }
    }
}
