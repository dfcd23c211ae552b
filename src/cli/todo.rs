use super::Said;
use crate::{
    domain::{
        id::{Capability, EvidenceId, GoalId, TodoPrefix},
        text::{Note, Title},
        time::Seconds,
        todo::{LEASE, Priority, TodoState, Worker},
    },
    error::Error,
    ops::{self, Ctx, todo::TodoView},
    text::Table,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Todo {
    /// Add a todo
    Add {
        /// What is to be done
        title: Title,
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// More about it
        #[arg(long, value_name = "TEXT")]
        body: Option<Note>,
        /// Whose work it is
        #[arg(long = "for", value_name = "WHO", default_value = "agent", value_parser = ["agent", "person"])]
        for_: String,
        /// How urgent it is
        #[arg(long, default_value = "p2", value_parser = ["p0", "p1", "p2", "p3"])]
        priority: String,
        /// A todo that has to be closed first; may be given several times
        #[arg(long, value_name = "TODO")]
        needs: Vec<TodoPrefix>,
        /// What the host has to be able to do, such as `network`; may be given several times
        #[arg(long, value_name = "CAPABILITY")]
        requires: Vec<Capability>,
    },
    /// List the todos that are not closed
    List {
        /// Only this goal's
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// Recently closed ones, too
        #[arg(long)]
        all: bool,
    },
    /// Show one todo
    Show {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
    },
    /// Take a todo, or renew a claim
    Claim {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
        /// How long the claim holds, such as `45m`
        #[arg(long, value_name = "TIME", value_parser = lease)]
        ttl: Option<Seconds>,
    },
    /// Give a claim back
    Release {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
    },
    /// Complete a todo
    Done {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
        /// Evidence for it; may be given several times
        #[arg(long, value_name = "EVIDENCE")]
        evidence: Vec<EvidenceId>,
        /// What came of it
        #[arg(long, value_name = "TEXT")]
        note: Option<Note>,
    },
}

impl Todo {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Add { title, goal_id, body, for_, priority, needs, requires } => {
                let request = ops::todo::Request {
                    goal: goal_id,
                    title,
                    body,
                    for_: if for_ == "person" { Worker::Person } else { Worker::Agent },
                    priority: priority_of(&priority),
                    needs,
                    requires: requires.into_iter().collect(),
                };
                let done = ops::todo::add(ctx, &request)?;
                let text = format!("added todo {}: {}", done.value.id, done.value.todo.title);
                Ok(Said::done(&done, &text))
            }
            Self::List { goal_id, all } => {
                let todos = ops::todo::list(ctx, goal_id.as_ref(), all)?;
                Ok(Said::read(&todos, table(ctx, todos.todos.iter()).to_string()))
            }
            Self::Show { todo } => {
                let view = ops::todo::show(ctx, &todo)?;
                Ok(Said::read(&view, say(ctx, &view)))
            }
            Self::Claim { todo, ttl } => {
                let done = ops::todo::claim(ctx, &todo, ttl.unwrap_or(LEASE))?;
                let until = match &done.value.todo.state {
                    TodoState::Claimed { lease_until, .. } => format!(" until {lease_until}"),
                    _ => String::new(),
                };
                let text = format!("claimed todo {}{until}", done.value.id);
                Ok(Said::done(&done, &text))
            }
            Self::Release { todo } => {
                let done = ops::todo::release(ctx, &todo)?;
                let text = format!("released todo {}", done.value.id);
                Ok(Said::done(&done, &text))
            }
            Self::Done { todo, evidence, note } => {
                let done = ops::todo::done(ctx, &todo, &evidence.into_iter().collect(), note.as_ref())?;
                let text = format!("completed todo {}: {}", done.value.id, done.value.todo.title);
                Ok(Said::done(&done, &text))
            }
        }
    }
}

fn lease(text: &str) -> Result<Seconds, String> {
    match text.parse::<Seconds>() {
        Ok(lease) if lease.0 < 60 => Err("a claim holds for a minute at least".into()),
        Ok(lease) => Ok(lease),
        Err(bad) => Err(bad.to_string()),
    }
}

/// clap has checked the word.
fn priority_of(word: &str) -> Priority {
    match word {
        "p0" => Priority::P0,
        "p1" => Priority::P1,
        "p3" => Priority::P3,
        _ => Priority::P2,
    }
}

/// Todos, a line each.
pub(super) fn table<'a>(ctx: &Ctx, todos: impl Iterator<Item = &'a TodoView>) -> Table {
    let mut table = Table::default();
    for view in todos {
        let state = match &view.todo.state {
            TodoState::Claimed { by, lease_until, .. } if *lease_until > ctx.now => {
                format!("claimed by {}", by.name())
            }
            TodoState::Claimed { by, .. } => format!("claim of {} ran out", by.name()),
            TodoState::Open { .. } if view.todo.for_ == Worker::Person => "open, for a person".to_owned(),
            state => state.word().to_owned(),
        };
        table.row([&view.id, &view.todo.priority.word(), &state, &view.todo.title]);
    }
    table
}

fn say(ctx: &Ctx, view: &TodoView) -> String {
    let todo = &view.todo;
    let ago = |at| super::status::ago(ctx, at);
    let list = |items: Vec<String>| items.join(", ");
    let mut table = Table::default();
    table.row([&"goal", &view.goal]);
    table.row([&"priority", &todo.priority.word()]);
    table.row([&"for", &if todo.for_ == Worker::Person { "person" } else { "agent" }]);
    if !todo.needs.is_empty() {
        table.row([&"needs", &list(todo.needs.iter().map(ToString::to_string).collect())]);
    }
    if !todo.requires.is_empty() {
        table.row([&"requires", &list(todo.requires.iter().map(ToString::to_string).collect())]);
    }
    table.row([&"added", &format!("by {}, {}", todo.added.by.name(), ago(todo.added.at))]);
    match &todo.state {
        TodoState::Open { .. } => table.row([&"state", &"open"]),
        TodoState::Claimed { by, since, lease_until, taken_from, .. } => {
            let from =
                taken_from.as_ref().map(|from| format!(", taken from {}", from.name())).unwrap_or_default();
            let state = format!("claimed by {}, {}{from}, until {lease_until}", by.name(), ago(*since));
            table.row([&"state", &state]);
        }
        TodoState::Blocked { on, reason, .. } => {
            let gate = on.as_ref().map(|on| format!(" by gate {on}")).unwrap_or_default();
            table.row([&"state", &format!("blocked{gate}: {}", reason.as_str().replace('\n', " "))]);
        }
        TodoState::Done { by, at, evidence, note } => {
            table.row([&"state", &format!("done by {}, {}", by.name(), ago(*at))]);
            if !evidence.is_empty() {
                table.row([&"evidence", &list(evidence.iter().map(ToString::to_string).collect())]);
            }
            if let Some(note) = note {
                table.row([&"note", &note.as_str().replace('\n', " ")]);
            }
        }
        TodoState::Dropped { by, at, reason } => {
            table.row([&"state", &format!("dropped by {}, {}: {reason}", by.name(), ago(*at))]);
        }
    }
    let body = todo.body.as_ref().map(|body| format!("\n{}\n", body.as_str().trim_end())).unwrap_or_default();
    format!("todo {}: {}\n{table}{body}", view.id, todo.title)
}
