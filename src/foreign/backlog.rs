//! Backlog.md: a folder of Markdown files, a task each.

use super::{
    Bad, Foreign, Goal, Item, MOST, Outline, Source, State,
    front::{self, Value},
    outline::Index,
    report::{LEFT, Report},
    said,
};
use crate::domain::todo::Priority;

/// Where in the folder a task lies, which says as much of it as its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Tasks,
    Completed,
    Drafts,
    Archive,
}

impl Place {
    /// Every place, in the order in which one id is looked for, with its folder.
    pub const ALL: [(Self, &str); 5] = [
        (Self::Tasks, "tasks"),
        (Self::Completed, "completed"),
        (Self::Drafts, "drafts"),
        (Self::Archive, "archive/tasks"),
        (Self::Archive, "archive/drafts"),
    ];
}

/// One file of the folder.
#[derive(Debug, Clone)]
pub struct File {
    /// Its path, to name it by.
    pub path: String,
    pub place: Place,
    pub text: String,
}

/// Reads the files of a folder, in the order of [`Place::ALL`], with its `config.yml`, and tells each task.
pub fn parse<E: From<Bad>>(
    files: impl Iterator<Item = Result<File, E>>,
    config: Option<&File>,
    mut tell: impl FnMut(Item) -> Result<(), E>,
) -> Result<Foreign, E> {
    let mut report = Report::default();
    let config = match config {
        Some(file) => front::fields(&file.path, &file.text, 1)?,
        None => Vec::new(),
    };
    let setting = |name: &str| config.iter().find(|(key, _)| key == name).map(|(_, value)| value.texts());
    let project = setting("project_name").and_then(|texts| texts.into_iter().next());
    let last = setting("statuses").and_then(|mut texts| texts.pop());
    let mut items = Outline::default();
    let mut paths: Vec<String> = Vec::new();
    for file in files {
        let file = file?;
        let Some(item) = read(&file, last.as_deref(), &mut report)? else { continue };
        match items.find(&item.id) {
            None => {}
            // Backlog.md gives the id of an archived task again.
            Some(_) if file.place == Place::Archive => {
                report.say(&item.id, "id", "given again since it was archived: needs mean the other one");
            }
            Some(first) => {
                let problem = format!("`{}` is there twice, first in `{}`", item.id, paths[first]);
                return Err(Bad::whole(&file.path, problem).into());
            }
        }
        items.add(&item);
        if items.len() > MOST {
            return Err(Bad::whole(&file.path, format!("more than {MOST} tasks")).into());
        }
        tell(item)?;
        paths.push(file.path);
    }
    drop(paths);
    // A task is found however its number is written.
    let mut index = Index::default();
    for item in 0..items.len() {
        index.give(&plain(items.id(item)), item);
    }
    items.read_needs(|items, by, need| resolve(&index, items.id(by), need, &mut report));
    items.join_parts(|items, part, whole| {
        let found = resolve(&index, items.id(part), whole, &mut report);
        if found.is_none() {
            report.say(items.id(part), "parent_task_id", "dropped: it names nothing that is imported");
        }
        found
    });
    let items = items.read();
    let objective = match &project {
        Some(project) => format!("Finish the tasks of {project}"),
        None => "Finish the tasks imported from Backlog.md".into(),
    };
    let name = Some(Source::Backlog.word().to_owned());
    Ok(Foreign { goals: vec![Goal { name, objective, items, ..Goal::default() }], report })
}

fn read(file: &File, last_status: Option<&str>, report: &mut Report) -> Result<Option<Item>, Bad> {
    let Some(split) = front::split(&file.text) else {
        report.say(&file.path, "file", "left out: it has no front matter");
        return Ok(None);
    };
    let mut fields = front::fields(&file.path, split.front, 2)?;
    let mut take = |name: &str| {
        let at = fields.iter().position(|(key, _)| key == name)?;
        Some(fields.remove(at).1)
    };
    let mut text = |name: &str| match take(name) {
        None | Some(Value::Nothing) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text)),
        Some(_) => Err(Bad::at(&file.path, 2, format!("`{name}` is no text"))),
    };
    let id = text("id")?.filter(|id| !id.trim().is_empty());
    let id = id.ok_or_else(|| Bad::at(&file.path, 2, "it has no `id`"))?.to_ascii_lowercase();
    let title = text("title")?.unwrap_or_default();
    let status = text("status")?.unwrap_or_default();
    let priority = text("priority")?;
    let parent = text("parent_task_id")?;
    let mut item = Item::new(id, title);
    if let Some(dependencies) = take("dependencies") {
        item.needs = dependencies.texts().iter().map(|id| id.to_ascii_lowercase()).collect();
    }
    if let Some(parent) = parent {
        report.say(&item.id, "parent_task_id", "the parent needs its parts");
        item.part_of.push(parent.to_ascii_lowercase());
    }
    item.priority = match priority.as_deref().map(str::to_ascii_lowercase).as_deref() {
        Some("critical") => Priority::P0,
        Some("high") => Priority::P1,
        Some("medium") | None => Priority::P2,
        Some("low") => Priority::P3,
        Some(_) => {
            report.say(&item.id, "priority", "p2: there is no such priority here");
            Priority::P2
        }
    };
    let body: Vec<&str> = split.body.lines().filter(|line| !is_a_mark(line)).collect();
    item.paragraph("", &body.join("\n"));
    item.state = state(file.place, &status, last_status, &item.id, report);
    let mut kept = Vec::new();
    if !status.is_empty() {
        kept.push(("status".to_owned(), status));
    }
    for (name, value) in fields {
        match value.line() {
            // The parent says it from the other side.
            _ if name == "subtasks" => {}
            Some(line) => kept.push((name, line)),
            None => report.say(&item.id, &name, LEFT),
        }
    }
    item.keep(&kept, report);
    Ok(Some(item))
}

fn state(place: Place, status: &str, last_status: Option<&str>, item: &str, report: &mut Report) -> State {
    let is = |word: &str| status.eq_ignore_ascii_case(word);
    let is_done = last_status.is_some_and(is) || ["done", "completed", "closed"].into_iter().any(is);
    match place {
        Place::Completed => State::Done(said("completed in Backlog.md", None, None)),
        _ if is_done => State::Done(said("done in Backlog.md", None, None)),
        Place::Archive => State::Dropped("archived in Backlog.md".into()),
        Place::Drafts => {
            report.say(item, "draft", "blocked: there are no drafts here");
            State::Blocked("a draft in Backlog.md".into())
        }
        Place::Tasks if is("blocked") => State::Blocked("blocked in Backlog.md".into()),
        Place::Tasks => {
            if !status.is_empty() && !is("to do") && !is("open") {
                report.say(item, &format!("status {status}"), "open: nobody has it until it is claimed here");
            }
            State::Open
        }
    }
}

/// Finds what `id` means to the task `by`. A project that chose another prefix than `task` still has that one in old links.
fn resolve(index: &Index, by: &str, id: &str, report: &mut Report) -> Option<usize> {
    if let Some(place) = index.find(&plain(id)) {
        return Some(place);
    }
    let (number, (prefix, _)) = (id.strip_prefix("task-")?, by.rsplit_once('-')?);
    let place = index.find(&plain(&format!("{prefix}-{number}")))?;
    report.say(by, "task-…", "read with the prefix of the project");
    Some(place)
}

/// An id with its numbers as numbers: `task-24.02` is `task-24.2`.
fn plain(id: &str) -> String {
    let without_zeros = |part: &str| match part.trim_start_matches('0') {
        "" if !part.is_empty() => "0".to_owned(),
        rest => rest.to_owned(),
    };
    let Some((prefix, numbers)) = id.rsplit_once('-') else { return id.to_owned() };
    let numbers: Vec<String> = numbers.split('.').map(without_zeros).collect();
    format!("{prefix}-{}", numbers.join("."))
}

/// A comment that only marks where a section begins or ends: `<!-- AC:BEGIN -->`.
fn is_a_mark(line: &str) -> bool {
    let inside = line.trim().strip_prefix("<!--").and_then(|line| line.strip_suffix("-->"));
    inside.is_some_and(|inside| {
        let inside = inside.trim();
        !inside.is_empty() && inside.bytes().all(|byte| byte.is_ascii_uppercase() || b":_".contains(&byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, fields: &str) -> File {
        let text = format!("---\nid: {id}\n{fields}\n---\n");
        File { path: format!("tasks/{id}.md"), place: Place::Tasks, text }
    }

    #[test]
    fn a_number_means_its_task_however_it_is_written() {
        let files = [
            task("BACK-1", "dependencies: [task-2.1, back-02.1, task-9]"),
            task("back-2.01", "parent_task_id: task-1"),
        ];
        let mut foreign = parse(files.into_iter().map(Ok::<_, Bad>), None, |_| Ok(())).unwrap();
        let mut dropped = Vec::new();
        let needs = foreign.goals[0].items.checked_needs(|item, why| dropped.push(format!("{item} {why}")));
        assert_eq!(needs.of(0).collect::<Vec<_>>(), [1]);
        assert_eq!(needs.of(1).count(), 0);
        assert_eq!(dropped, ["back-1 dropped: it names nothing that is imported"]);
    }

    #[test]
    fn a_place_that_makes_no_sense_is_named() {
        let refused = |files: &[File]| {
            let files = files.iter().cloned().map(Ok::<_, Bad>);
            parse(files, None, |_| Ok(())).unwrap_err().to_string()
        };
        assert_eq!(refused(&[task("[a]", "")]), "`tasks/[a].md`, line 2: `id` is no text");
        assert_eq!(refused(&[task("", "")]), "`tasks/.md`, line 2: it has no `id`");
        assert_eq!(
            refused(&[task("a", ""), task("a", "title: b")]),
            "`tasks/a.md`: `a` is there twice, first in `tasks/a.md`"
        );
    }
}
