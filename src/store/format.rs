//! Records as bytes: one canonical form each, the format version first.
//!
//! A record is TOML or JSON with stable key order, line feeds, and a final newline. A version of a higher major number
//! is not read at all; one of a higher minor number may have top-level fields that we do not know, which
//! [`rewritten`] keeps. Anything else that is not exactly a record is unreadable, with the place named.

use std::collections::BTreeSet;

use serde::{Serialize, de::DeserializeOwned};
use toml::Table;

use super::Error;
use crate::domain::{
    actor::Stamp,
    bypass::Bypass,
    evidence::Evidence,
    gate::Gate,
    goal::Goal,
    handoff::Handoff,
    policy::Policy,
    quota::{Quotas, Spend},
    todo::{Priority, Todo, TodoState, Worker},
};

/// The version this program writes.
pub const FORMAT: &str = "1.0";
const MAJOR: u32 = 1;
const MINOR: u32 = 0;

const TOML_HEAD: &str = "format = \"1.0\"\n";
const JSON_HEAD: &str = "{\n  \"format\": \"1.0\",\n";
const PAGE_HEAD: &str = "+++\nformat = \"1.0\"\n";
/// Between the facts of a page and its text.
const FOLD: &str = "\n+++\n\n";
/// The field that is the text of a page.
const TEXT: &str = "text";

/// How a kind of record is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    Toml,
    Json,
    /// A text for people, with the facts about it in TOML before it.
    Page,
}

/// A kind of record.
pub trait Stored: Serialize + DeserializeOwned {
    const SYNTAX: Syntax;
    /// Every top-level field this program knows.
    const FIELDS: &'static [&'static str];

    /// Reads the plainest form of what [`encode`] writes behind the format version; of anything else it makes nothing, and
    /// then the parser is asked.
    fn plainest(_: &str) -> Option<Self> {
        None
    }
}

impl Stored for Policy {
    const SYNTAX: Syntax = Syntax::Toml;
    const FIELDS: &'static [&'static str] =
        &["repository", "approval", "require_receipt", "approvers", "allowed_secrets", "changed"];
}

impl Stored for Gate {
    const SYNTAX: Syntax = Syntax::Toml;
    const FIELDS: &'static [&'static str] =
        &["question", "options", "blocks", "todos", "scope", "asked", "state"];
}

impl Stored for Todo {
    const SYNTAX: Syntax = Syntax::Toml;
    const FIELDS: &'static [&'static str] =
        &["title", "body", "for", "priority", "needs", "requires", "check", "monitor", "added", "state"];

    /// An open todo without a check that is no monitor, whose texts need no escapes: thousands of these may be read for one
    /// answer.
    fn plainest(body: &str) -> Option<Self> {
        let (head, rest) = body.split_once("\n\n[added]\n")?;
        let (added, state) = rest.split_once("\n\n[state]\n")?;
        let mut fields = Fields { lines: head.split('\n').peekable() };
        let title = fields.text("title")?.parse().ok()?;
        let body =
            fields.text("body").map(|body| body.parse().ok()).map_or(Some(None), |body| body.map(Some))?;
        let for_ = match fields.text("for")? {
            "agent" => Worker::Agent,
            "person" => Worker::Person,
            _ => return None,
        };
        let priority = fields.text("priority")?;
        let known = [Priority::P0, Priority::P1, Priority::P2, Priority::P3];
        let priority = known.into_iter().find(|known| known.word() == priority)?;
        let needs = fields.texts("needs")?;
        let requires = fields.texts("requires")?;
        fields.end()?;
        let mut fields = Fields { lines: added.split('\n').peekable() };
        let added = Stamp { by: fields.text("by")?.parse().ok()?, at: fields.text("at")?.parse().ok()? };
        fields.end()?;
        let mut fields = Fields { lines: state.strip_suffix('\n')?.split('\n').peekable() };
        (fields.text("is")? == "open").then_some(())?;
        let epoch = match fields.value("epoch") {
            None => 0,
            Some(epoch) => epoch.parse().ok().filter(|read: &u32| read.to_string() == epoch)?,
        };
        fields.end()?;
        let state = TodoState::Open { epoch };
        let (check, monitor) = (None, None);
        Some(Self { title, body, for_, priority, needs, requires, check, monitor, added, state })
    }
}

/// Lines such as `title = "Write the schema"`, in the order in which they are written.
struct Fields<'t> {
    lines: std::iter::Peekable<std::str::Split<'t, char>>,
}

impl<'t> Fields<'t> {
    /// What stands behind the name in the next line, if that has this name.
    fn value(&mut self, name: &str) -> Option<&'t str> {
        let value = self.lines.peek()?.strip_prefix(name)?.strip_prefix(" = ")?;
        self.lines.next();
        Some(value)
    }

    fn text(&mut self, name: &str) -> Option<&'t str> {
        let quoted = self.lines.peek()?.strip_prefix(name)?.strip_prefix(" = ")?;
        let text = unquoted(quoted)?;
        self.lines.next();
        Some(text)
    }

    /// The elements of a list; of none when there is no such line.
    fn texts<I: std::str::FromStr + Ord>(&mut self, name: &str) -> Option<BTreeSet<I>> {
        let Some(list) = self.value(name) else { return Some(BTreeSet::new()) };
        let list = list.strip_prefix('[')?.strip_suffix(']')?;
        list.split(", ").map(|text| unquoted(text)?.parse().ok()).collect()
    }

    fn end(mut self) -> Option<()> {
        self.lines.next().is_none().then_some(())
    }
}

/// A text in quotes that has nothing in it which would mean something else.
fn unquoted(quoted: &str) -> Option<&str> {
    let text = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let is_plain = |c: char| !c.is_control() && c != '"' && c != '\\';
    text.chars().all(is_plain).then_some(text)
}

impl Stored for Evidence {
    const SYNTAX: Syntax = Syntax::Toml;
    const FIELDS: &'static [&'static str] = &["commit", "dirty", "todo", "gate", "added", "what"];
}

impl Stored for Bypass {
    const SYNTAX: Syntax = Syntax::Toml;
    const FIELDS: &'static [&'static str] = &["push", "noted", "state"];
}

impl Stored for Handoff {
    const SYNTAX: Syntax = Syntax::Page;
    const FIELDS: &'static [&'static str] = &[TEXT, "written"];
}

impl Stored for Goal {
    const SYNTAX: Syntax = Syntax::Json;
    const FIELDS: &'static [&'static str] = &["objective", "done_when", "met", "features", "added", "state"];
}

impl Stored for Spend {
    const SYNTAX: Syntax = Syntax::Json;
    const FIELDS: &'static [&'static str] = &["turn", "slots", "evidence", "added", "course", "voided"];
}

/// `quota.json`: the limits of all goals in one file.
#[derive(Debug, Default, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuotaFile {
    pub goals: Quotas,
}

impl Stored for QuotaFile {
    const SYNTAX: Syntax = Syntax::Json;
    const FIELDS: &'static [&'static str] = &["goals"];
}

/// The canonical bytes of a record.
pub fn encode<T: Stored>(record: &T) -> String {
    match T::SYNTAX {
        Syntax::Toml => {
            let body = toml::to_string(record).expect("a record is a table of strings, numbers and tables");
            format!("{TOML_HEAD}{body}")
        }
        Syntax::Json => {
            let body = serde_json::to_string_pretty(record).expect("a record is an object");
            let fields = body.strip_prefix("{\n").expect("a record has fields");
            format!("{JSON_HEAD}{fields}\n")
        }
        Syntax::Page => {
            let facts = Table::try_from(record).expect("a record is a table of strings, numbers and tables");
            let mut table: Table = [("format".to_owned(), FORMAT.into())].into_iter().collect();
            table.extend(facts);
            page(table).expect("a table of a record can be written")
        }
    }
}

/// Reads a record. `path` is for the error.
pub fn decode<T: Stored>(path: &str, bytes: &[u8]) -> Result<T, Error> {
    let unreadable = |problem: String| Error::Unreadable { path: path.to_owned(), problem };
    let text = std::str::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
    // What this program wrote begins like this, and needs to be parsed only once.
    let direct = match T::SYNTAX {
        Syntax::Toml => text
            .strip_prefix(TOML_HEAD)
            .and_then(|body| T::plainest(body).or_else(|| toml::from_str(body).ok())),
        Syntax::Json => {
            text.strip_prefix(JSON_HEAD).and_then(|fields| serde_json::from_str(&format!("{{{fields}")).ok())
        }
        Syntax::Page => None,
    };
    if let Some(record) = direct {
        return Ok(record);
    }

    let mut table = parse::<T>(text).map_err(unreadable)?;
    let minor = version(path, &table)?;
    table.remove("format");
    if is_newer(minor) {
        table.retain(|field, _| T::FIELDS.contains(&field));
    }
    T::deserialize(table).map_err(|error| unreadable(one_line(&error.to_string())))
}

/// Whether a text is a record of any kind, or a segment of closed ones.
pub fn is_record(text: &str) -> bool {
    fn is<T: Stored>(text: &str) -> bool {
        decode::<T>("", text.as_bytes()).is_ok()
    }
    if text.starts_with("format = ") {
        return is::<Policy>(text)
            || is::<Gate>(text)
            || is::<Todo>(text)
            || is::<Evidence>(text)
            || is::<Bypass>(text);
    }
    if text.starts_with("+++\nformat = ") {
        return is::<Handoff>(text);
    }
    if text.starts_with("{\n  \"format\": ") {
        return is::<Goal>(text) || is::<Spend>(text) || is::<QuotaFile>(text);
    }
    text.starts_with("{\"format\":\"1.")
        && text.lines().next().is_some_and(|line| line.contains("\"record\":{"))
}

/// The bytes of `record` where `old` stands: fields of a newer minor version that we do not know are kept, and so
/// is that version.
pub fn rewritten<T: Stored>(path: &str, old: Option<&[u8]>, record: &T) -> Result<String, Error> {
    let fresh = encode(record);
    let Some(old) = old.and_then(|old| std::str::from_utf8(old).ok()) else { return Ok(fresh) };
    if [TOML_HEAD, JSON_HEAD, PAGE_HEAD].iter().any(|head| old.starts_with(head)) {
        return Ok(fresh);
    }
    let unreadable = |problem: String| Error::Unreadable { path: path.to_owned(), problem };
    let table = parse::<T>(old).map_err(unreadable)?;
    if !is_newer(version(path, &table)?) {
        return Ok(fresh);
    }
    let mut merged = parse::<T>(&fresh).map_err(unreadable)?;
    for (field, value) in table {
        if !T::FIELDS.contains(&field.as_str()) {
            merged.insert(field, value);
        }
    }
    Ok(match T::SYNTAX {
        Syntax::Toml => toml::to_string(&merged).map_err(|error| unreadable(error.to_string()))?,
        Syntax::Json => {
            serde_json::to_string_pretty(&merged).map_err(|error| unreadable(error.to_string()))? + "\n"
        }
        Syntax::Page => page(merged).map_err(|error| unreadable(error.to_string()))?,
    })
}

fn parse<T: Stored>(text: &str) -> Result<Table, String> {
    match T::SYNTAX {
        Syntax::Toml => parse_toml(text),
        Syntax::Json => serde_json::from_str(text).map_err(|error| error.to_string()),
        Syntax::Page => {
            let (facts, body) = parts(text).ok_or("it has no facts between two lines of `+++`")?;
            let mut table = parse_toml(facts)?;
            // A fact that would end the facts where it is written again.
            if page(table.clone()).is_ok_and(|page| parts(&page).is_none_or(|(_, text)| text != "\n")) {
                return Err("a fact has a line of `+++` in it".to_owned());
            }
            let body = body.strip_suffix('\n').ok_or("its text does not end with a line feed")?;
            match table.insert(TEXT.to_owned(), body.into()) {
                None => Ok(table),
                Some(_) => Err("it has two texts".to_owned()),
            }
        }
    }
}

fn parse_toml(text: &str) -> Result<Table, String> {
    text.parse().map_err(|error: toml::de::Error| one_line(&error.to_string()))
}

/// The facts of a page and its text; nothing when it is none.
pub(super) fn parts(page: &str) -> Option<(&str, &str)> {
    page.strip_prefix("+++\n")?.split_once(FOLD)
}

/// A text with its facts before it.
fn page(mut facts: Table) -> Result<String, toml::ser::Error> {
    let text = facts.remove(TEXT);
    let text = text.as_ref().and_then(toml::Value::as_str).unwrap_or_default();
    Ok(format!("+++\n{}+++\n\n{text}\n", toml::to_string(&facts)?))
}

/// Whether a minor version may have fields that this program does not know.
fn is_newer(minor: u32) -> bool {
    minor > MINOR
}

/// The minor version of a record whose major version is ours.
fn version(path: &str, table: &Table) -> Result<u32, Error> {
    let unreadable = |problem: &str| Error::Unreadable { path: path.to_owned(), problem: problem.to_owned() };
    let found = table.get("format").ok_or_else(|| unreadable("it has no `format`"))?;
    let found = found.as_str().ok_or_else(|| unreadable("its `format` is not a text"))?;
    must_be_known(path, found)
}

/// The minor number of a version text whose major number is ours.
pub(super) fn must_be_known(path: &str, found: &str) -> Result<u32, Error> {
    let numbers =
        found.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    match numbers {
        Some((MAJOR, minor)) => Ok(minor),
        Some((major, _)) if major > MAJOR => Err(Error::Newer {
            path: path.to_owned(),
            found: crate::domain::text::shown(found, 20),
            known: FORMAT.to_owned(),
        }),
        _ => {
            let problem = "its `format` is not a version such as `1.0`".to_owned();
            Err(Error::Unreadable { path: path.to_owned(), problem })
        }
    }
}

/// A parser's message of several lines, made into one without the drawing of the place.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.contains('|') && !line.is_empty());
    crate::domain::text::shown(&lines.collect::<Vec<_>>().join(": "), 300)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODO: &str = r#"format = "1.0"
title = "Write the schema"
for = "agent"
priority = "p1"

[added]
by = "agent:codex-1"
at = "2026-11-30T12:00:00Z"

[state]
is = "open"
"#;

    #[test]
    fn a_record_comes_back_to_the_byte() {
        let todo: Todo = decode("t", TODO.as_bytes()).unwrap();
        assert_eq!(encode(&todo), TODO);
        let quotas =
            QuotaFile { goals: [("ship".parse().unwrap(), crate::domain::quota::Quota::default())].into() };
        let bytes = encode(&quotas);
        assert!(bytes.starts_with(JSON_HEAD) && bytes.ends_with("}\n"));
        assert_eq!(encode(&decode::<QuotaFile>("q", bytes.as_bytes()).unwrap()), bytes);
        assert_eq!(encode(&QuotaFile::default()), "{\n  \"format\": \"1.0\",\n  \"goals\": {}\n}\n");
    }

    #[test]
    fn a_page_has_its_facts_before_its_text() {
        let page = "+++\nformat = \"1.0\"\n\n[written]\nby = \"agent:codex-1\"\nat = \"2026-11-30T12:00:00Z\"\n+++\n\n# What next\n\n+++\n\nthe tests\n";
        let handoff: Handoff = decode("h", page.as_bytes()).unwrap();
        assert_eq!(handoff.text.as_str(), "# What next\n\n+++\n\nthe tests");
        assert_eq!(encode(&handoff), page);
        assert!(is_record(page) && !is_record("+++\nformat = 1\n+++\n\nx\n"));
        let newer = page.replace("1.0\"\n", "1.7\"\ncolour = \"red\"\n");
        let handoff: Handoff = decode("h", newer.as_bytes()).unwrap();
        assert_eq!(rewritten("h", Some(newer.as_bytes()), &handoff).unwrap(), newer);
        for (bad, why) in [
            ("the tests", "it has no facts between two lines of `+++`"),
            (&page[..page.len() - 1], "its text does not end with a line feed"),
            (&page.replace("[written]", "text = 1\n[written]"), "it has two texts"),
            (&newer.replace("\"red\"", r#""a\n+++\n\nb""#), "a fact has a line of `+++` in it"),
        ] {
            let problem = decode::<Handoff>("h", bad.as_bytes()).map(|_| ()).unwrap_err().to_string();
            assert_eq!(problem, format!("`h` on the state branch cannot be read: {why}"));
        }
    }

    #[test]
    fn line_ends_and_spaces_of_a_hand_edit_are_understood() {
        let edited = TODO.replace('\n', "\r\n").replace("format = ", "format=");
        assert_eq!(encode(&decode::<Todo>("t", edited.as_bytes()).unwrap()), TODO);
    }

    #[track_caller]
    fn unreadable(bytes: &[u8], expected: &str) {
        assert_eq!(
            decode::<Todo>("goals/g/todos/t-7k3q.toml", bytes).unwrap_err().to_string(),
            format!("`goals/g/todos/t-7k3q.toml` on the state branch {expected}")
        );
    }

    #[test]
    fn nonsense_is_named() {
        unreadable(b"", "cannot be read: it has no `format`");
        unreadable(
            &[0; 40],
            "cannot be read: TOML parse error at line 1, column 41: key with no value, expected `=`",
        );
        unreadable(b"\xff", "cannot be read: invalid utf-8 sequence of 1 bytes from index 0");
        unreadable(
            TODO.replace("1.0", "one").as_bytes(),
            "cannot be read: its `format` is not a version such as `1.0`",
        );
        unreadable(TODO.replace("1.0", "2.0").as_bytes(), "has format 2.0, and this loopx reads up to 1.0");
        unreadable(
            TODO.replace("is = \"open\"", "is = \"open\"\nby = \"x\"").as_bytes(),
            "cannot be read: unknown field `by`, expected `epoch`: in `state`",
        );
        unreadable(
            TODO.replace("title", "tittle").as_bytes(),
            "cannot be read: unknown field `tittle`, expected one of `title`, `body`, `for`, `priority`, `needs`, `requires`, `check`, `monitor`, `added`, `state`",
        );
        unreadable(
            format!("{TODO}<<<<<<< a\n").as_bytes(),
            "cannot be read: TOML parse error at line 12, column 9: key with no value, expected `=`",
        );
    }

    #[test]
    fn fields_of_a_newer_minor_version_survive_a_rewrite() {
        let newer = TODO.replace("\"1.0\"", "\"1.7\"").replace("priority", "colour = \"red\"\npriority");
        let mut todo: Todo = decode("t", newer.as_bytes()).unwrap();
        todo.title = "Write it".parse().unwrap();
        let written = rewritten("t", Some(newer.as_bytes()), &todo).unwrap();
        assert!(written.starts_with("format = \"1.7\"\n"), "{written}");
        assert!(
            written.contains("colour = \"red\"\n") && written.contains("title = \"Write it\"\n"),
            "{written}"
        );
        assert_eq!(decode::<Todo>("t", written.as_bytes()).unwrap(), todo);
        unreadable(
            TODO.replace("priority", "colour = \"red\"\npriority").as_bytes(),
            "cannot be read: unknown field `colour`, expected one of `title`, `body`, `for`, `priority`, `needs`, `requires`, `check`, `monitor`, `added`, `state`",
        );
    }

    #[test]
    fn the_plainest_form_is_read_as_the_parser_reads_it() {
        let full = TODO
            .replace("for =", "body = \"Look at it\"\nfor =")
            .replace("\"p1\"", "\"p3\"\nneeds = [\"t-0001\", \"t-0002\"]\nrequires = [\"network\"]")
            .replace("\"open\"", "\"open\"\nepoch = 7");
        let parsed = |body: &str| toml::from_str::<Todo>(body).ok();
        for text in [TODO, &full] {
            let body = text.strip_prefix(TOML_HEAD).unwrap();
            assert!(Todo::plainest(body).is_some_and(|todo| Some(todo) == parsed(body)), "{text}");
            assert_eq!(encode(&Todo::plainest(body).unwrap()), text);
        }
        // Whatever it makes of a text that is nearly one is what the parser makes of it, or nothing.
        let body = full.strip_prefix(TOML_HEAD).unwrap();
        let pieces = [
            "",
            "\"",
            "\\",
            "\n",
            " ",
            "\r",
            "\t",
            "#",
            "[",
            "]",
            ",",
            "=",
            "0",
            "-1",
            "epoch = 1\n",
            "\u{7f}",
            "ü",
            "'",
        ];
        let mut read = 0;
        for at in (0..=body.len()).filter(|at| body.is_char_boundary(*at)) {
            for piece in pieces {
                for cut in 0..3 {
                    let Some(rest) = body.get(at + cut..) else { continue };
                    let near = format!("{}{piece}{rest}", &body[..at]);
                    if let Some(todo) = Todo::plainest(&near) {
                        assert_eq!(Some(todo), parsed(&near), "{near}");
                        read += 1;
                    }
                }
            }
        }
        assert!(read > 100, "{read}");
    }
}
