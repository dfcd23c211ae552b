//! beads: one JSON object a line, an issue each.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    Bad, Foreign, Goal, Item, MOST, Outline, Source, State, What,
    outline::Index,
    report::{KEPT, LEFT, Report},
    said,
};
use crate::domain::todo::{Priority, Worker};

/// The fields of one issue, taken out one by one.
struct Issue<'f> {
    file: &'f str,
    line: usize,
    fields: Map<String, Value>,
}

impl Issue<'_> {
    fn bad(&self, problem: impl AsRef<str>) -> Bad {
        Bad::at(self.file, self.line, problem)
    }

    /// A text that may be missing.
    fn text(&mut self, name: &str) -> Result<Option<String>, Bad> {
        match self.fields.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.bad(format!("`{name}` is no text"))),
        }
    }

    fn list(&mut self, name: &str) -> Result<Vec<Value>, Bad> {
        match self.fields.remove(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(self.bad(format!("`{name}` is no list"))),
        }
    }

    /// What is left and can be said in a line; the rest is reported.
    fn rest(self, item: &str, report: &mut Report) -> Vec<(String, String)> {
        let mut kept = Vec::new();
        for (name, value) in self.fields {
            match value {
                Value::String(text) => kept.push((name, text)),
                Value::Number(number) => kept.push((name, number.to_string())),
                Value::Bool(yes) => kept.push((name, yes.to_string())),
                Value::Null => {}
                Value::Array(list) if list.iter().all(Value::is_string) => {
                    let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
                    kept.push((name, texts.join(", ")));
                }
                Value::Object(fields) if fields.is_empty() => {}
                Value::Array(_) | Value::Object(_) => report.say(item, &name, LEFT),
            }
        }
        kept
    }
}

/// Reads the lines of a file of issues, and tells each of them that is taken.
pub fn parse<E: From<Bad>>(
    file: &str,
    lines: impl Iterator<Item = Result<String, E>>,
    mut tell: impl FnMut(Item) -> Result<(), E>,
) -> Result<Foreign, E> {
    let mut report = Report::default();
    let mut items = Outline::default();
    // The line of each item, and of each issue that is none.
    let (mut places, mut left_out): (Vec<usize>, Index) = Default::default();
    let mut count = 0;
    for (line, number) in lines.zip(1..) {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let fields = serde_json::from_str(&line).map_err(|error| {
            Bad::at(file, number, format!("no issue of beads: {}", without_place(&error.to_string())))
        })?;
        drop(line);
        let mut issue = Issue { file, line: number, fields };
        let id = issue.text("id")?.filter(|id| !id.trim().is_empty());
        let id = id.ok_or_else(|| issue.bad("no issue of beads: it has no `id`"))?;
        if let Some(first) = items.find(&id).map(|item| places[item]).or_else(|| left_out.find(&id)) {
            return Err(issue.bad(format!("`{id}` is there twice, first in line {first}")).into());
        }
        count += 1;
        if count > MOST {
            return Err(issue.bad(format!("more than {MOST} issues")).into());
        }
        match read(issue, &id, &mut report)? {
            None => drop(left_out.give(&id, number)),
            Some(item) => {
                items.add(&item);
                places.push(number);
                tell(item)?;
            }
        }
    }
    // An epic is done when its parts are.
    items.join_parts(|items, part, whole| {
        let found = items.find(whole);
        if found.is_none() {
            report.say(items.id(part), "parent-child", "dropped: it names nothing that is imported");
        }
        found
    });
    let items = items.read();
    let objective = "Finish the issues imported from beads".to_owned();
    let name = Some(Source::Beads.word().to_owned());
    let goal = Goal { name, objective, items, ..Goal::default() };
    Ok(Foreign { goals: vec![goal], report })
}

fn read(mut issue: Issue<'_>, id: &str, report: &mut Report) -> Result<Option<Item>, Bad> {
    let status = issue.text("status")?.unwrap_or_else(|| "open".into());
    if status == "tombstone" {
        report.say(id, "status tombstone", "left out: it was deleted");
        return Ok(None);
    }
    let title = issue.text("title")?.unwrap_or_default();
    let mut item = Item::new(id.to_owned(), title);
    item.priority = priority(&mut issue, &item.id, report)?;
    for (name, heading) in [
        ("description", ""),
        ("design", "Design"),
        ("acceptance_criteria", "Acceptance criteria"),
        ("notes", "Notes"),
    ] {
        if let Some(text) = issue.text(name)? {
            item.paragraph(heading, &text);
        }
    }
    dependencies(&mut issue, &mut item, report)?;
    comments(&mut issue, &mut item, report)?;
    let mut kept: Vec<(String, String)> = Vec::new();
    let closed = issue.text("closed_at")?;
    let reason = issue.text("close_reason")?;
    let kind = issue.text("issue_type")?;
    if kind.as_deref() == Some("gate") {
        let awaits = issue.text("await_type")?.filter(|what| !what.is_empty());
        item.what = match awaits.as_deref() {
            None | Some("human") => What::Question { about: Vec::new() },
            Some(what) => {
                report.say(&item.id, "await_type", "no question for a person: it became a person's todo");
                kept.push(("await_type".into(), what.into()));
                What::Work { for_: Worker::Person, requires: Default::default() }
            }
        };
    } else {
        kept.extend(kind.map(|kind| ("issue_type".into(), kind)));
    }
    item.state = match status.as_str() {
        "open" => State::Open,
        "closed" => State::Done(said("closed in beads", closed.as_deref(), reason.as_deref())),
        "blocked" => State::Held("blocked in beads".into()),
        "deferred" => {
            let until = issue.text("defer_until")?;
            State::Blocked(said(
                "deferred in beads",
                until.map(|until| format!("until {until}")).as_deref(),
                None,
            ))
        }
        "in_progress" | "hooked" => {
            report.say(&item.id, &format!("status {status}"), "open: nobody has it until it is claimed here");
            State::Open
        }
        _ => {
            report.say(&item.id, &format!("status {status}"), "open: there is no such state here");
            kept.push(("status".into(), status));
            State::Open
        }
    };
    if !matches!(item.state, State::Done(_)) {
        kept.extend(reason.map(|reason| ("close_reason".into(), reason)));
    }
    for count in ["dependency_count", "dependent_count", "comment_count"] {
        if issue.fields.remove(count).is_some() {
            report.say(&item.id, count, "left out: it follows from the rest");
        }
    }
    if item
        .part_of
        .last()
        .is_some_and(|parent| issue.fields.get("parent") == Some(&Value::from(parent.as_str())))
    {
        issue.fields.remove("parent");
    }
    kept.extend(issue.rest(&item.id, report));
    item.keep(&kept, report);
    Ok(Some(item))
}

/// 0 is the most urgent; what is missing is 0, as beads reads it.
fn priority(issue: &mut Issue<'_>, item: &str, report: &mut Report) -> Result<Priority, Bad> {
    let value = match issue.fields.remove("priority") {
        None | Some(Value::Null) => {
            report.say(item, "priority", "missing: p0, as beads reads it");
            return Ok(Priority::P0);
        }
        Some(value) => value,
    };
    match value.as_u64() {
        Some(0) => Ok(Priority::P0),
        Some(1) => Ok(Priority::P1),
        Some(2) => Ok(Priority::P2),
        Some(3) => Ok(Priority::P3),
        Some(4) => {
            report.say(item, "priority 4", "p3, the lowest there is");
            Ok(Priority::P3)
        }
        _ => Err(issue.bad("`priority` is not one of 0 to 4")),
    }
}

/// Puts what blocks the issue among its needs, and the other links into the text.
fn dependencies(issue: &mut Issue<'_>, item: &mut Item, report: &mut Report) -> Result<(), Bad> {
    let mut links: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for dependency in issue.list("dependencies")? {
        let text = |names: [&str; 2]| {
            names.iter().find_map(|name| dependency.get(name)?.as_str()).map(str::to_owned)
        };
        let Some(on) = text(["depends_on_id", "id"]) else {
            return Err(issue.bad("a dependency has no `depends_on_id`"));
        };
        let kind = text(["type", "dependency_type"]).unwrap_or_else(|| "blocks".into());
        match kind.as_str() {
            "blocks" => item.needs.push(on),
            "conditional-blocks" | "waits-for" => {
                report.say(&item.id, &kind, "it needs the other one");
                item.needs.push(on);
            }
            "parent-child" => {
                report.say(&item.id, &kind, "the parent needs its parts");
                links.entry("part of".into()).or_default().push(on.clone());
                item.part_of.push(on);
            }
            _ => {
                report.say(&item.id, &kind, KEPT);
                links.entry(kind).or_default().push(on);
            }
        }
    }
    let lines = links.into_iter().map(|(kind, ids)| format!("{kind}: {}", ids.join(", ")));
    item.paragraph("", &lines.collect::<Vec<_>>().join("\n"));
    Ok(())
}

fn comments(issue: &mut Issue<'_>, item: &mut Item, report: &mut Report) -> Result<(), Bad> {
    for comment in issue.list("comments")? {
        let text = |name: &str| comment.get(name).and_then(Value::as_str);
        report.say(&item.id, "comments", KEPT);
        let who =
            said(&format!("Comment by {}", text("author").unwrap_or("somebody")), text("created_at"), None);
        item.paragraph(&who, text("text").unwrap_or_default());
    }
    Ok(())
}

/// A parser's message without its own idea of lines, as each line is a document.
pub(super) fn without_place(message: &str) -> &str {
    message.split(" at line ").next().unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let lines = text.lines().map(|line| Ok::<_, Bad>(line.to_owned()));
        assert_eq!(parse("i.jsonl", lines, |_| Ok(())).unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_place_that_makes_no_sense_is_named() {
        refused(
            "{\"id\":\"a\",\"priority\":2}\n\nhello",
            "`i.jsonl`, line 3: no issue of beads: expected value",
        );
        refused("[]", "`i.jsonl`, line 1: no issue of beads: invalid type: sequence, expected a map");
        refused("{}", "`i.jsonl`, line 1: no issue of beads: it has no `id`");
        refused("{\"id\":\"a\"}\n{\"id\":\"a\"}", "`i.jsonl`, line 2: `a` is there twice, first in line 1");
        refused("{\"id\":\"a\",\"priority\":-1}", "`i.jsonl`, line 1: `priority` is not one of 0 to 4");
        refused("{\"id\":\"a\",\"title\":5}", "`i.jsonl`, line 1: `title` is no text");
        refused(
            "{\"id\":\"a\",\"dependencies\":[7]}",
            "`i.jsonl`, line 1: a dependency has no `depends_on_id`",
        );
        let deep = format!("{{\"id\":{}", "[".repeat(10_000));
        refused(&deep, "`i.jsonl`, line 1: no issue of beads: recursion limit exceeded");
    }
}
