use super::Said;
use crate::{
    error::Error,
    ops::{self, Ctx, bypass::Bypasses, status::Status},
    text::{Ago, Answer, Count, Table},
};

pub(super) fn status(ctx: &Ctx, bypasses: Option<&Bypasses>) -> Result<Said, Error> {
    let status = ops::status::status(ctx)?;
    let around = bypasses.map(|found| super::bypass::lines(ctx, found)).unwrap_or_default();
    Ok(Said::read(&status, say(ctx, &status, &around)))
}

/// Most lines of one kind; the rest is counted.
pub(super) const SHOWN: usize = 12;

/// `around` tells of the pushes that went round the hook.
fn say(ctx: &Ctx, status: &Status, around: &str) -> String {
    let mut text = String::new();
    let open = status.gates.iter().filter(|view| view.gate.is_open()).count();
    if open > 0 {
        let wait = if open == 1 { "waits" } else { "wait" };
        text.push_str(&format!("{} {wait} for you\n", Count(open, "question")));
    }
    if !status.gates.is_empty() {
        text.push_str(&super::gate::table(status.gates.iter().take(SHOWN)).to_string());
        text.push_str(&more(status.gates.len()));
        if let Some(first) = status.gates.iter().find(|view| view.gate.is_open()) {
            let answers = first.gate.answers();
            text.push_str(&format!("  a person answers with {}\n", Answer(&first.id, &answers)));
        }
    }
    text.push_str(around);
    if let Some(distrust) = &status.distrust {
        let problem = &distrust.problem;
        text.push_str(&format!("THE STATE IS NOT TRUSTED, so pushes and turns are refused: {problem}\n"));
        text.extend(distrust.hints.iter().map(|hint| format!("  {hint}\n")));
    }
    match status.enforcement.active {
        true => text.push_str(&super::hooks::elsewhere(&status.enforcement)),
        false => text.push_str(&super::hooks::line(&status.enforcement)),
    }
    if let (Some(trouble), None) = (&status.view, &status.distrust) {
        text.push_str(&format!("{trouble}\n"));
    }
    text.push_str(&format!("{}\n", Count(status.goals.len(), "goal")));
    let mut goals = Table::default();
    for goal in status.goals.iter().take(SHOWN) {
        let quota = &goal.quota;
        let used = format!("{}/{} slots", quota.spent_slots, quota.allowed_slots);
        goals.row([&goal.id, &goal.state.word(), &used, &goal.objective]);
    }
    text.push_str(&goals.to_string());
    text.push_str(&more(status.goals.len()));
    text.push_str(&format!("{} open\n", Count(status.todos.len(), "todo")));
    text.push_str(&super::todo::table(ctx, status.todos.iter().take(SHOWN)).to_string());
    text.push_str(&more(status.todos.len()));
    if status.enforcement.active {
        text.push_str("pushes are guarded\n");
    }
    if let (0, []) = (status.goals.len(), &status.gates[..]) {
        text.push_str("next: loopx goal add \"<objective>\"\n");
    }
    text
}

/// How many are not shown, in a line.
pub(super) fn more(all: usize) -> String {
    if all > SHOWN { format!("  and {} more\n", all - SHOWN) } else { String::new() }
}

/// A time in the past, in words.
pub(super) fn ago(ctx: &Ctx, at: crate::domain::time::Timestamp) -> Ago {
    Ago(at.age(ctx.now))
}
