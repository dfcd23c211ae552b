//! Many todos at once, as people and programs write them: a checklist in Markdown, or one JSON object a line.
//!
//! Markdown: `- [ ] title`. An item that has others indented below it needs them. Indented text below an item is its
//! body, `[p1]` before the title its priority, and `[x]` is skipped: it is done. Everything else is prose.

use std::{collections::BTreeMap, fmt};

use super::{
    command::CommandLine,
    id::{Capability, TodoId, TodoPrefix},
    needs::circle,
    text::{Note, Title},
    time::Seconds,
    todo::{Check, Priority, Worker},
};

/// What is to be added, in the order it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worklist {
    pub entries: Vec<Entry>,
    /// Items that are done already.
    pub skipped: usize,
}

/// One todo to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub title: Title,
    pub body: Option<Note>,
    pub for_: Worker,
    pub priority: Priority,
    pub requires: Vec<Capability>,
    pub needs: Vec<Need>,
    pub check: Option<Check>,
    /// Makes it a monitor.
    pub every: Option<Seconds>,
}

/// What an entry needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// The entry at this place of the list.
    Entry(usize),
    /// A todo that is there.
    Known(TodoPrefix),
}

/// Most entries of a list.
pub const MOST: usize = 5_000;

/// A line that is no todo.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BadLine {
    pub line: usize,
    pub why: String,
}

fn bad(at: usize, why: impl fmt::Display) -> BadLine {
    BadLine { line: at + 1, why: why.to_string() }
}

impl Worklist {
    /// Reads a checklist in Markdown. One item that cannot be a todo refuses all.
    pub fn markdown(text: &str) -> Result<Self, BadLine> {
        let mut list = Self::default();
        // The items that what follows may lie below: their indentation, and their place unless they are done.
        let mut above: Vec<(usize, Option<usize>)> = Vec::new();
        let mut bodies: BTreeMap<usize, String> = BTreeMap::new();
        let mut fenced = false;
        for (at, line) in text.lines().enumerate() {
            let trimmed = line.trim_start();
            let indent =
                line[..line.len() - trimmed.len()].chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
            if trimmed.starts_with("```") {
                fenced = !fenced;
            }
            let item = if fenced { None } else { boxed(trimmed) };
            let Some((is_done, title)) = item else {
                match above.last() {
                    Some((outer, Some(place))) if indent > *outer && !trimmed.is_empty() => {
                        let body = bodies.entry(*place).or_default();
                        body.push_str(trimmed.trim_end());
                        body.push('\n');
                    }
                    _ if trimmed.is_empty() => {}
                    Some((outer, _)) if indent > *outer => {}
                    _ => above.clear(),
                }
                continue;
            };
            above.retain(|(outer, _)| *outer < indent);
            if is_done {
                list.skipped += 1;
                above.push((indent, None));
                continue;
            }
            let (priority, title) = urgent(title);
            let title = title.trim().parse::<Title>().map_err(|why| bad(at, why))?;
            let place = list.push(at, Entry::plain(title, priority))?;
            if let Some(parent) = above.iter().rev().find_map(|(_, place)| *place) {
                list.entries[parent].needs.push(Need::Entry(place));
            }
            above.push((indent, Some(place)));
        }
        for (place, body) in bodies {
            list.entries[place].body = Note::fit(&body).map(|(note, _)| note);
        }
        Ok(list)
    }

    /// Reads one JSON object a line: `title`, and if wanted `body`, `for`, `priority`, `requires`, `check` (a
    /// command line), `needs` (ids, or the `key` of another line) and `key`. One line that is no such thing refuses all.
    pub fn json_lines(text: &str) -> Result<Self, BadLine> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Line {
            title: Title,
            body: Option<Note>,
            #[serde(rename = "for")]
            for_: Option<Worker>,
            priority: Option<Priority>,
            #[serde(default)]
            requires: Vec<Capability>,
            #[serde(default)]
            needs: Vec<String>,
            check: Option<String>,
            key: Option<String>,
        }
        let mut list = Self::default();
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        let mut wanted: Vec<(usize, Vec<String>)> = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line: Line = serde_json::from_str(line).map_err(|error| {
                let why = error.to_string();
                bad(at, why.split(" at line ").next().unwrap_or_default())
            })?;
            let priority = line.priority.unwrap_or(Priority::P2);
            let (for_, requires) = (line.for_.unwrap_or(Worker::Agent), line.requires);
            let check = line.check.map(|check| CommandLine::typed(&check)).transpose();
            let check =
                check.map_err(|why| bad(at, why))?.map(|argv| Check { argv, timeout: Check::TIMEOUT });
            let entry =
                Entry { body: line.body, for_, requires, check, ..Entry::plain(line.title, priority) };
            let place = list.push(at, entry)?;
            if let Some(key) = line.key
                && keys.insert(key.clone(), place).is_some()
            {
                return Err(bad(at, format!("the key `{}` is there twice", super::text::shown(&key, 80))));
            }
            wanted.push((at, line.needs));
        }
        for (place, (at, needs)) in wanted.iter().enumerate() {
            for need in needs {
                let need = match keys.get(need) {
                    Some(other) => Need::Entry(*other),
                    None => Need::Known(need.parse().map_err(|_| {
                        let need = super::text::shown(need, 80);
                        bad(*at, format!("`{need}` is no todo id and not the key of a line"))
                    })?),
                };
                list.entries[place].needs.push(need);
            }
        }
        match list.circle() {
            None => Ok(list),
            Some(place) => Err(bad(wanted[place].0, "it would need itself in the end")),
        }
    }

    fn push(&mut self, at: usize, entry: Entry) -> Result<usize, BadLine> {
        if self.entries.len() == MOST {
            return Err(bad(at, format!("a list has at most {MOST} todos")));
        }
        self.entries.push(entry);
        Ok(self.entries.len() - 1)
    }

    /// The place of an entry that needs itself in the end.
    pub(super) fn circle(&self) -> Option<usize> {
        let name = |place: usize| format!("t-{place:08}").parse::<TodoId>().expect("digits");
        let place = |id: &TodoId| id.as_str()[2..].parse::<usize>().unwrap_or_default();
        let found = circle((0..self.entries.len()).map(name), |id| {
            let within = self.entries[place(id)].needs.iter().filter_map(|need| match need {
                Need::Entry(other) => Some(name(*other)),
                Need::Known(_) => None,
            });
            Ok::<_, std::convert::Infallible>(within.collect())
        });
        found.unwrap_or_default().and_then(|circle| circle.first().map(place))
    }
}

impl Entry {
    fn plain(title: Title, priority: Priority) -> Self {
        let (requires, needs, check) = (Vec::new(), Vec::new(), None);
        Self { title, body: None, for_: Worker::Agent, priority, requires, needs, check, every: None }
    }
}

/// What stands behind the box of an item, and whether that is ticked.
fn boxed(line: &str) -> Option<(bool, &str)> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind = match digits.len() == line.len() {
        true => line.strip_prefix(['-', '*', '+'])?,
        false => digits.strip_prefix(['.', ')'])?,
    };
    let behind = behind.strip_prefix([' ', '\t'])?.trim_start().strip_prefix('[')?;
    let (mark, behind) = behind.split_once(']')?;
    let title = match behind.strip_prefix([' ', '\t']) {
        Some(title) => title,
        None if behind.is_empty() => behind,
        None => return None,
    };
    match mark {
        " " => Some((false, title)),
        "x" | "X" => Some((true, title)),
        _ => None,
    }
}

/// `[p1] title`.
fn urgent(title: &str) -> (Priority, &str) {
    let marked = || {
        let (mark, rest) = title.trim_start().strip_prefix('[')?.split_once(']')?;
        let priorities = [Priority::P0, Priority::P1, Priority::P2, Priority::P3];
        let priority = priorities.into_iter().find(|priority| mark.eq_ignore_ascii_case(priority.word()))?;
        Some((priority, rest))
    };
    marked().unwrap_or((Priority::P2, title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: Result<Worklist, BadLine>, expected: &[&str]) {
        let list = list.unwrap();
        let said = list.entries.iter().map(|entry| {
            let needs = entry.needs.iter().map(|need| match need {
                Need::Entry(place) => format!(" <{place}"),
                Need::Known(id) => format!(" <{id}"),
            });
            let body = entry.body.as_ref().map(|body| format!(" ({body})")).unwrap_or_default();
            format!("{} {}{}{body}", entry.priority.word(), entry.title, needs.collect::<String>())
        });
        assert_eq!(said.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_checklist_is_read_and_what_lies_below_is_needed() {
        let text = "# Plan\n\nSome prose - [ ] not an item\n- [ ] Ship\n  - [ ] [P1] Build\n    with care\n\n    - [x] Look\n      - [ ] Deep\n  - [ ] Sign\n* [ ] Other\n- plain\n1. [ ] Last\n```\n- [ ] in code\n```\n";
        check(
            Worklist::markdown(text),
            &["p2 Ship <1 <3", "p1 Build <2 (with care)", "p2 Deep", "p2 Sign", "p2 Other", "p2 Last"],
        );
        assert_eq!(Worklist::markdown(text).unwrap().skipped, 1);
        check(Worklist::markdown("- [ ] a\n\nprose\n  - [ ] b\n"), &["p2 a", "p2 b"]);
        check(Worklist::markdown(""), &[]);
        check(Worklist::markdown("- [ ] Grüße\r\n\t- [ ] 日本\r\n"), &["p2 Grüße <1", "p2 日本"]);
    }

    #[test]
    fn lines_of_json_name_each_other_by_key() {
        let text = r#"{"title":"a","needs":["second","t-7k3q"],"priority":"p0"}

{"title":"b","key":"second","body":"why"}"#;
        check(Worklist::json_lines(text), &["p0 a <1 <t-7k3q", "p2 b (why)"]);
    }

    #[test]
    fn one_bad_line_refuses_all_and_is_named() {
        let said = |list: Result<Worklist, BadLine>| list.unwrap_err().to_string();
        assert_eq!(said(Worklist::markdown("- [ ] a\n- [ ] \n")), "line 2: the text is blank");
        assert_eq!(
            said(Worklist::markdown("x\n- [ ] a\u{1b}[2K")),
            "line 2: the text has the control character `\\u{1b}` in it"
        );
        assert_eq!(
            said(Worklist::json_lines("{\"title\":\"a\"}\n{\"titel\":\"b\"}")).as_str(),
            "line 2: unknown field `titel`, expected one of `title`, `body`, `for`, `priority`, `requires`, `needs`, `check`, `key`"
        );
        assert_eq!(
            said(Worklist::json_lines(r#"{"title":"a","needs":["b"]}"#)),
            "line 1: `b` is no todo id and not the key of a line"
        );
        assert_eq!(
            said(Worklist::json_lines(r#"{"title":"a","key":"a","needs":["a"]}"#)),
            "line 1: it would need itself in the end"
        );
        let twice = "{\"title\":\"a\",\"key\":\"a\"}\n{\"title\":\"a\",\"key\":\"a\"}";
        assert_eq!(said(Worklist::json_lines(twice)), "line 2: the key `a` is there twice");
        let many = "- [ ] a\n".repeat(MOST + 1);
        assert_eq!(said(Worklist::markdown(&many)), "line 5001: a list has at most 5000 todos");
    }
}
