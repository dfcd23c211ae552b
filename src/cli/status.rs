use super::Said;
use crate::{
    domain::goal::GoalState,
    error::Error,
    ops::{
        self, Ctx,
        bypass::Bypasses,
        status::{GoalLine, Status},
        todo::TodoView,
    },
    process::{NO_COLOR, Process, TERM},
    text::{Ago, Answer, Count, Table, fitted},
};

pub(super) fn status(process: &Process, ctx: &Ctx, bypasses: Option<&Bypasses>) -> Result<Said, Error> {
    let status = ops::status::status(ctx)?;
    let around = bypasses.map(|found| super::bypass::lines(ctx, found)).unwrap_or_default();
    let screen = Screen { text: String::new(), coloured: is_coloured(process) };
    Ok(Said::read(&status, say(screen, ctx, &status, &around)))
}

/// Most questions; the rest is counted.
pub(super) const SHOWN: usize = 6;
/// Most goals, and most todos: what waits for a person, and what goes on, fits on one screen together.
const LINES: usize = 5;

/// Whether words go to somebody who sees colours and has not said that they want none.
fn is_coloured(process: &Process) -> bool {
    let sees_them = process.env(TERM).is_some_and(|term| term != "dumb");
    sees_them && process.stdout_is_terminal() && process.env(NO_COLOR).is_none()
}

/// What is shown, a line at a time. Colours only repeat what the words say.
struct Screen {
    text: String,
    coloured: bool,
}

impl Screen {
    fn line(&mut self, style: &str, line: &str) {
        let line = fitted(line);
        match self.coloured && !style.is_empty() {
            true => self.text.push_str(&format!("\u{1b}[{style}m{line}\u{1b}[0m\n")),
            false => self.text.push_str(&format!("{line}\n")),
        }
    }

    /// What somebody has to look at.
    fn alarm(&mut self, line: &str) {
        self.line("1;31", line);
    }

    fn heading(&mut self, line: &str) {
        self.line("1", line);
    }

    /// What matters less than the rest.
    fn aside(&mut self, line: &str) {
        self.line("2", line);
    }

    fn plain(&mut self, lines: &str) {
        lines.lines().for_each(|line| self.line("", line));
    }

    /// Lines of which the first is an alarm. Commands in them are not cut.
    fn alarming(&mut self, lines: &str) {
        let mut lines = lines.lines();
        lines.next().into_iter().for_each(|line| match self.coloured {
            true => self.text.push_str(&format!("\u{1b}[1;31m{line}\u{1b}[0m\n")),
            false => self.text.push_str(&format!("{line}\n")),
        });
        lines.for_each(|line| self.text.push_str(&format!("{line}\n")));
    }

    /// How many are not shown, and what shows them.
    fn more(&mut self, all: usize, shown: usize, command: &str) {
        if all > shown {
            self.aside(&format!("  and {} more: {command}", all - shown));
        }
    }
}

/// `around` tells of the pushes that went round the hook. First what waits for somebody, then what goes on.
fn say(mut screen: Screen, ctx: &Ctx, status: &Status, around: &str) -> String {
    let open = status.gates.iter().filter(|view| view.gate.is_open()).count();
    if open > 0 {
        let wait = if open == 1 { "waits" } else { "wait" };
        screen.alarm(&format!("{} {wait} for you", Count(open, "question")));
    }
    if !status.gates.is_empty() {
        screen.plain(&super::gate::table(status.gates.iter().take(SHOWN)).to_string());
        screen.more(status.gates.len(), SHOWN, "loopx gate list");
        if let Some(first) = status.gates.iter().find(|view| view.gate.is_open()) {
            let answers = first.gate.answers();
            screen.text.push_str(&format!("  a person answers with {}\n", Answer(&first.id, &answers)));
        }
    }
    screen.alarming(around);
    if let Some(distrust) = &status.distrust {
        let problem = &distrust.problem;
        let mut lines = format!("THE STATE IS NOT TRUSTED, so pushes and turns are refused: {problem}\n");
        lines.extend(distrust.hints.iter().map(|hint| format!("  {hint}\n")));
        screen.alarming(&lines);
    }
    match status.enforcement.active {
        true => screen.text.push_str(&super::hooks::elsewhere(&status.enforcement)),
        false => screen.alarming(&super::hooks::line(&status.enforcement)),
    }
    if let (Some(trouble), None) = (&status.view, &status.distrust) {
        screen.text.push_str(&format!("{trouble}\n"));
    }
    screen.heading(&Count(status.goals.len(), "goal").to_string());
    let mut goals: Vec<&GoalLine> = status.goals.iter().collect();
    goals.sort_by_key(|goal| (rank(&goal.state), !asks(status, goal)));
    let mut table = Table::default();
    for goal in goals.iter().take(LINES) {
        let quota = &goal.quota;
        let used = format!("{}/{} slots", quota.spent_slots, quota.allowed_slots);
        table.row([&goal.id, &goal.state.word(), &used, &goal.objective]);
    }
    screen.plain(&table.to_string());
    screen.more(status.goals.len(), LINES, "loopx goal list");
    screen.heading(&format!("{} open", Count(status.todos.len(), "todo")));
    let goes_on =
        |todo: &TodoView| status.goals.iter().any(|goal| goal.id == todo.goal && rank(&goal.state) == 0);
    let (on, resting): (Vec<_>, Vec<_>) = status.todos.iter().partition(|todo| goes_on(todo));
    screen.plain(&super::todo::table(ctx, on.into_iter().chain(resting).take(LINES)).to_string());
    screen.more(status.todos.len(), LINES, "loopx todo list");
    if status.enforcement.active {
        screen.aside("pushes are guarded");
    }
    if let (0, []) = (status.goals.len(), &status.gates[..]) {
        screen.plain("next: loopx goal add \"<objective>\"");
    }
    screen.text
}

/// What goes on comes before what rests, and that before what is over.
fn rank(state: &GoalState) -> u8 {
    match state {
        GoalState::Active {} => 0,
        GoalState::Paused { .. } => 1,
        GoalState::Achieved { .. } | GoalState::Abandoned { .. } => 2,
    }
}

/// The goal has a question for a person.
fn asks(status: &Status, goal: &GoalLine) -> bool {
    status.gates.iter().any(|view| view.goal == goal.id && view.gate.is_open())
}

/// How many are not shown, in a line.
pub(super) fn more(all: usize) -> String {
    if all > SHOWN { format!("  and {} more\n", all - SHOWN) } else { String::new() }
}

/// A time in the past, in words.
pub(super) fn ago(ctx: &Ctx, at: crate::domain::time::Timestamp) -> Ago {
    Ago(at.age(ctx.now))
}
