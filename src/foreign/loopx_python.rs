//! LoopX, the Python program: a registry of goals, and a Markdown file a goal with its todos.
//!
//! A todo is a line with a box and below it a comment of `key=value` words, the values URL-encoded. Questions for a
//! person are todos of the class `user_gate`.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::{
    Bad, Goal, Item, MOST, Outline, State, What,
    beads::without_place,
    front,
    outline::Interned,
    report::{KEPT, LEFT, Report},
    said,
};
use crate::domain::{
    time::Seconds,
    todo::{Priority, Worker},
};

/// A goal as the registry has it.
#[derive(Debug, Clone)]
pub struct Registered {
    pub id: String,
    /// The path of its Markdown file, from the folder of the project.
    pub state_file: String,
    status: String,
    /// Other settings it has.
    settings: Vec<String>,
}

/// Reads the registry.
pub fn registry(file: &str, text: &str) -> Result<Vec<Registered>, Bad> {
    let whole: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
        let problem = format!("no registry of LoopX: {}", without_place(&error.to_string()));
        Bad::at(file, error.line().max(1), problem)
    })?;
    let goals = whole.get("goals").and_then(Value::as_array);
    let goals = goals.ok_or_else(|| Bad::whole(file, "no registry of LoopX: it has no list `goals`"))?;
    let mut found: Vec<Registered> = Vec::new();
    for (index, goal) in goals.iter().enumerate() {
        let text = |name: &str| {
            let value = goal.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
            let missing = || Bad::whole(file, format!("goal {} of the list has no `{name}`", index + 1));
            value.map(str::to_owned).ok_or_else(missing)
        };
        let (id, state_file) = (text("id")?, text("state_file")?);
        if found.iter().any(|goal| goal.id == id) {
            return Err(Bad::whole(file, format!("goal `{id}` is there twice")));
        }
        if found.len() >= 1_000 {
            return Err(Bad::whole(file, "more than 1000 goals"));
        }
        let status = text("status").unwrap_or_else(|_| "active".into());
        let fields = goal.as_object().into_iter().flatten();
        let settings = fields.filter(|(name, value)| !is_known(name) && !is_empty(value));
        let settings = settings.map(|(name, _)| name.clone()).collect();
        found.push(Registered { id, state_file, status, settings });
    }
    Ok(found)
}

fn is_known(setting: &str) -> bool {
    matches!(setting, "id" | "state_file" | "status" | "repo" | "objective")
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Which list a todo stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    User,
    Agent,
}

/// Reads the Markdown file of a goal, and tells each todo.
pub fn goal<E: From<Bad>>(
    registered: &Registered,
    file: &str,
    text: &str,
    report: &mut Report,
    mut tell: impl FnMut(Item) -> Result<(), E>,
) -> Result<Goal, E> {
    if text.trim().is_empty() {
        return Err(Bad::whole(file, "it is empty; LoopX may have lost what was in it").into());
    }
    for setting in &registered.settings {
        report.say(&registered.id, setting, "left out: a setting of LoopX");
    }
    let (fields, body, first) = match front::split(text) {
        Some(split) => (front::fields(file, split.front, 2)?, split.body, split.line),
        None => (Vec::new(), text, 1),
    };
    let objective = fields.iter().find(|(name, _)| name == "objective").and_then(|(_, value)| value.line());
    let mut goal = Goal { name: Some(registered.id.clone()), ..Goal::default() };
    goal.paused = (registered.status != "active").then(|| format!("{} in LoopX", registered.status));
    let mut reading = Reading { file, items: Outline::default(), ..Reading::default() };
    let mut list = None;
    // The todo that the lines below it belong to, and one that nothing can be added to any more.
    let mut above: Option<Item> = None;
    let mut lines = body.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let number = first + index;
        if let Some(heading) = line.strip_prefix("## ").map(str::trim) {
            list = list_of(heading);
            above.take().map_or(Ok(()), &mut tell)?;
            if list.is_none() {
                goal.notes.push((heading.to_owned(), String::new()));
            }
            continue;
        }
        let boxed = boxed(line).filter(|_| list.is_some());
        let Some((mark, title)) = boxed else {
            if line.trim_start().starts_with("<!-- loopx:") {
                // A mark of a program's own, about the list and no todo.
                continue;
            }
            if list.is_some() && !line.trim().is_empty() {
                match &mut above {
                    Some(item) => {
                        report.say(&item.id, "line below a todo", KEPT);
                        item.paragraph("", line);
                    }
                    None => report.say(&format!("line {number}"), "line above the todos", LEFT),
                }
            } else if let Some((_, note)) = goal.notes.last_mut().filter(|_| list.is_none()) {
                note.push_str(line);
                note.push('\n');
            }
            continue;
        };
        let tokens = lines.peek().and_then(|(_, next)| tokens(next));
        if tokens.is_some() {
            lines.next();
        }
        let list = list.unwrap_or(List::Agent);
        let item = reading.todo(number, list, mark, title, tokens.unwrap_or_default(), report)?;
        if reading.items.len() > MOST {
            return Err(Bad::at(file, number, format!("more than {MOST} todos")).into());
        }
        above.replace(item).map_or(Ok(()), &mut tell)?;
    }
    above.map_or(Ok(()), tell)?;
    goal.items = reading.joined(report);
    let section = goal.notes.iter().position(|(heading, _)| heading == "Objective");
    let section = section.map(|at| goal.notes.remove(at).1);
    let objective = objective.filter(|text| !text.trim().is_empty()).or(section);
    goal.objective = objective.unwrap_or_default();
    goal.notes.retain(|(_, text)| !text.trim().is_empty());
    Ok(goal)
}

fn list_of(heading: &str) -> Option<List> {
    let heading = heading.to_lowercase();
    if heading.contains("user todo") || heading.contains("owner review") {
        Some(List::User)
    } else if heading.contains("agent todo") || heading.contains("completed work archive") {
        Some(List::Agent)
    } else {
        None
    }
}

/// The mark and the text of a line with a box: `- [x] Text`.
fn boxed(line: &str) -> Option<(char, &str)> {
    let line = line.trim_start();
    let rest = line.strip_prefix("- [").or_else(|| line.strip_prefix("* ["))?;
    let mut characters = rest.chars();
    let mark = characters.next().filter(|mark| " xX-".contains(*mark))?;
    let title = characters.as_str().strip_prefix(']')?.trim();
    (!title.is_empty()).then_some((mark, title))
}

/// The words of a comment below a todo.
fn tokens(line: &str) -> Option<Vec<(String, String)>> {
    let inside = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim().strip_prefix("loopx:")?;
    let inside = inside.strip_prefix("todo").unwrap_or(inside);
    if inside.starts_with('-') {
        return None;
    }
    let pairs = inside.split_whitespace().filter_map(|word| word.split_once('='));
    Some(pairs.map(|(key, value)| (key.to_owned(), decoded(value))).collect())
}

/// `%20` and the like, undone. What is no such code stays as it is.
fn decoded(value: &str) -> String {
    let bytes = value.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = bytes.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        let code = code.filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What is known while the todos of a file are read.
#[derive(Default)]
struct Reading<'f> {
    file: &'f str,
    items: Outline,
    scopes: Interned,
    /// Scopes with the questions that decide them.
    deciding: Vec<(u32, usize)>,
    /// Todos with the scopes they ask for.
    wanted: Vec<(usize, u32)>,
}

impl Reading<'_> {
    fn todo(
        &mut self,
        line: usize,
        list: List,
        mark: char,
        title: &str,
        mut tokens: Vec<(String, String)>,
        report: &mut Report,
    ) -> Result<Item, Bad> {
        let mut take = |name: &str| {
            let at = tokens.iter().position(|(key, _)| key == name)?;
            Some(tokens.remove(at).1).filter(|value| !value.trim().is_empty())
        };
        let id = take("todo_id").unwrap_or_else(|| format!("line-{line}"));
        if self.items.find(&id).is_some() {
            return Err(Bad::at(self.file, line, format!("`{id}` is there twice")));
        }
        let (priority, title) = prioritised(title);
        let mut item = Item::new(id, title.to_owned());
        item.priority = priority;
        let class = take("task_class").unwrap_or_default();
        let role = take("role");
        let is_for_user = role.as_deref().map_or(list == List::User, |role| role == "user")
            || matches!(class.as_str(), "user_gate" | "user_action");
        let status = take("status").unwrap_or_else(|| {
            let status = match mark {
                ' ' => "open",
                '-' => "deferred",
                _ => "done",
            };
            status.to_owned()
        });
        let note = take("note");
        if let Some(note) = &note {
            item.paragraph("", note);
        }
        let mut kept = Vec::new();
        let mut about: Vec<String> = take("unblocks_todo_id").into_iter().collect();
        let (scope, is_global) = (take("decision_scope"), take("global_gate").is_some());
        if let Some(scope) = scope {
            match class == "user_gate" && !is_global {
                true => self.deciding.push((self.scopes.number(&scope), self.items.len())),
                false => kept.push(("decision_scope".into(), scope)),
            }
        }
        if is_global {
            about.clear();
        }
        for scope in take("required_decision_scopes").iter().flat_map(|scopes| scopes.split(',')) {
            self.wanted.push((self.items.len(), self.scopes.number(scope.trim())));
        }
        let mut requires = BTreeSet::new();
        for name in take("required_capabilities").iter().flat_map(|names| names.split(',')) {
            match name.trim().replace(['_', ':'], "-").parse() {
                Ok(capability) => drop(requires.insert(capability)),
                Err(_) => kept.push(("required_capability".into(), name.to_owned())),
            }
        }
        let for_ = if is_for_user { Worker::Person } else { Worker::Agent };
        let (outcome, reason, completed) = (take("decision_outcome"), take("reason"), take("completed_at"));
        let resume = take("resume_when");
        let need = resume.as_deref().and_then(|when| when.strip_prefix("todo_done:"));
        item.needs.extend(need.map(str::to_owned));
        item.what = match status == "done" || class != "user_gate" {
            true => What::Work { for_, requires },
            false => What::Question { about },
        };
        if status == "done" && class == "user_gate" {
            report.say(&item.id, "user_gate, answered", "a person's done todo: no answer is taken over");
        }
        if class == "continuous_monitor" {
            let cadence = take("cadence");
            item.every = cadence.as_deref().and_then(every);
            if item.every.is_none() {
                report.say(&item.id, "continuous_monitor", "a todo: it does not say how often to look");
                kept.extend(cadence.map(|cadence| ("cadence".into(), cadence)));
            }
        }
        item.state = match status.as_str() {
            "open" => State::Open,
            "done" => {
                let how = outcome.as_deref().or(reason.as_deref());
                State::Done(said("done in LoopX", completed.as_deref(), how))
            }
            "deferred" if need.is_some() => State::Held(said("deferred in LoopX", None, resume.as_deref())),
            "deferred" => {
                State::Blocked(said("deferred in LoopX", None, resume.as_deref().or(reason.as_deref())))
            }
            "blocked" => {
                State::Blocked(said("blocked in LoopX", None, reason.as_deref().or(note.as_deref())))
            }
            _ => {
                report.say(&item.id, &format!("status {status}"), "open: there is no such state here");
                State::Open
            }
        };
        if let Some(when) = resume.filter(|when| !when.starts_with("todo_done:")) {
            kept.push(("resume_when".into(), when));
        }
        kept.extend(reason.map(|reason| ("reason".into(), reason)));
        let is_known = matches!(class.as_str(), "" | "advancement_task" | "user_gate" | "user_action");
        if !is_known && item.every.is_none() {
            kept.push(("task_class".into(), class));
        }
        kept.extend(tokens);
        item.keep(&kept, report);
        self.items.add(&item);
        Ok(item)
    }

    /// The todos, which wait for the questions that decide what they ask for.
    fn joined(self, report: &mut Report) -> Outline {
        let Self { mut items, deciding, wanted, .. } = self;
        let mut questions: HashMap<u32, Vec<usize>> = HashMap::new();
        for (scope, question) in deciding {
            questions.entry(scope).or_default().push(question);
        }
        for (todo, scope) in wanted {
            let deciding = questions.get(&scope).map(Vec::as_slice).unwrap_or_default();
            let mut say = |fate| report.say(items.id(todo), "required_decision_scopes", fate);
            match deciding.len() {
                0 => say("dropped: no open question decides it"),
                1..=DECIDING => {}
                _ => say("it waits for the first 16 questions only"),
            }
            deciding.iter().take(DECIDING).for_each(|question| items.need(todo, *question));
        }
        items.read()
    }
}

/// A todo waits for so many questions of one scope at most.
const DECIDING: usize = 16;

/// `[P1] Text` as a priority and a text.
fn prioritised(title: &str) -> (Priority, &str) {
    let inside = title.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((tag, rest)) = inside.filter(|(_, rest)| !rest.trim().is_empty()) else {
        return (Priority::P2, title);
    };
    let tag = tag.to_ascii_uppercase();
    let priority = match tag.split('-').next() {
        Some("P0") => Priority::P0,
        Some("P1") => Priority::P1,
        Some("P2") => Priority::P2,
        Some("P3" | "P4" | "P5") => Priority::P3,
        _ => return (Priority::P2, title),
    };
    (priority, rest.trim())
}

/// How often to look: `30m`, `2h`, `1d`. A minute at least.
fn every(cadence: &str) -> Option<Seconds> {
    let days = cadence.trim().strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    let every = match days {
        Some(days) => Seconds(days.checked_mul(86_400)?),
        None => cadence.parse().ok()?,
    };
    (every >= Seconds(60)).then_some(every)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_undone_and_what_is_none_stays() {
        assert_eq!(decoded("after%20100%25%20of%C3%BC"), "after 100% ofü");
        assert_eq!(decoded("%"), "%");
        assert_eq!(decoded("%2"), "%2");
        assert_eq!(decoded("%+1%zz%é"), "%+1%zz%é");
        assert_eq!(decoded("%ff"), "\u{fffd}");
    }

    #[test]
    fn a_priority_stands_before_the_text() {
        assert_eq!(prioritised("[P0-user] Ship"), (Priority::P0, "Ship"));
        assert_eq!(prioritised("[P1]"), (Priority::P2, "[P1]"));
        assert_eq!(prioritised("[api] Ship"), (Priority::P2, "[api] Ship"));
    }

    #[test]
    fn a_registry_that_makes_no_sense_is_named() {
        let refused = |text: &str| registry("r.json", text).unwrap_err().to_string();
        assert_eq!(refused("{\n  x"), "`r.json`, line 2: no registry of LoopX: key must be a string");
        assert_eq!(refused("{}"), "`r.json`: no registry of LoopX: it has no list `goals`");
        assert_eq!(refused("{\"goals\":[{}]}"), "`r.json`: goal 1 of the list has no `id`");
    }
}
