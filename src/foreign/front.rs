//! The front matter of a Markdown file: the few YAML that tools put before the text.
//!
//! Only what stands at the top level is understood: texts and lists of texts. Nothing is expanded, so nothing can
//! explode.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::Bad;

/// The longest front matter that is read, and the most fields it has.
const LIMIT: usize = 64 * 1024;
const FIELDS: usize = 200;

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Nothing,
    Text(String),
    List(Vec<String>),
    /// Something deeper.
    Deep,
}

impl Value {
    /// All of it in one line; `None` for what is deeper.
    pub(super) fn line(&self) -> Option<String> {
        match self {
            Self::Nothing => Some(String::new()),
            Self::Text(text) => Some(text.clone()),
            Self::List(list) => Some(list.join(", ")),
            Self::Deep => None,
        }
    }

    /// The texts in it.
    pub(super) fn texts(&self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text.clone()],
            Self::List(list) => list.clone(),
            Self::Nothing | Self::Deep => Vec::new(),
        }
    }
}

/// A text with its front matter apart.
pub(super) struct Split<'t> {
    pub(super) front: &'t str,
    pub(super) body: &'t str,
    /// The line the body begins in.
    pub(super) line: usize,
}

/// Takes the front matter off a text; `None` when there is none, or no end of it.
pub(super) fn split(text: &str) -> Option<Split<'_>> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let start = text.len() - rest.len();
    let mut at = start;
    for (index, line) in rest.split_inclusive('\n').enumerate() {
        if line.trim_end() == "---" {
            let body = &text[at + line.len()..];
            return Some(Split { front: &text[start..at], body, line: index + 3 });
        }
        at += line.len();
    }
    None
}

/// The fields of a front matter that begins in `first` of `file`, in order.
pub(super) fn fields(file: &str, front: &str, first: usize) -> Result<Vec<(String, Value)>, Bad> {
    if front.len() > LIMIT {
        return Err(Bad::at(file, first, format!("more than {LIMIT} bytes of front matter")));
    }
    let quoted: Vec<String> = front.lines().map(quoted).collect();
    let text = quoted.join("\n");
    let mut fields: Vec<(String, Value)> = Vec::new();
    let mut key: Option<String> = None;
    let mut inside = false;
    let mut nested: Vec<Option<Vec<String>>> = Vec::new();
    let mut parser = Parser::new_from_str(&text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            Bad::at(
                file,
                first + error.marker().line().saturating_sub(1),
                format!("no YAML: {}", error.info()),
            )
        })?;
        let line = first + span.start.line().saturating_sub(1);
        let value = match event {
            Event::MappingStart(..) if !inside => {
                inside = true;
                continue;
            }
            Event::MappingStart(..) => {
                nested.push(None);
                continue;
            }
            Event::SequenceStart(..) if inside => {
                nested.push(Some(Vec::new()));
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => match nested.pop() {
                Some(Some(list)) if nested.is_empty() => Value::List(list),
                Some(_) => Value::Deep,
                None => continue,
            },
            Event::Scalar(text, style, ..) => match (style, &*text) {
                (ScalarStyle::Plain, "" | "~" | "null") => Value::Nothing,
                _ => Value::Text(text.into_owned()),
            },
            Event::Alias(_) => Value::Deep,
            Event::SequenceStart(..) => return Err(Bad::at(file, line, "a list where fields are expected")),
            _ => continue,
        };
        if let Some(around) = nested.last_mut() {
            *around = match (around.take(), value) {
                (Some(mut list), Value::Text(text)) => {
                    list.push(text);
                    Some(list)
                }
                (Some(list), Value::Nothing) => Some(list),
                _ => None,
            };
            continue;
        }
        match (key.take(), value) {
            _ if !inside => return Err(Bad::at(file, line, "a text where fields are expected")),
            (Some(_), _) if fields.len() == FIELDS => {
                return Err(Bad::at(file, line, format!("more than {FIELDS} fields")));
            }
            (Some(name), value) => fields.push((name, value)),
            (None, Value::Text(name)) if fields.iter().any(|(known, _)| *known == name) => {
                return Err(Bad::at(file, line, format!("the field `{name}` is there twice")));
            }
            (None, name) => key = Some(name.line().unwrap_or_default()),
        }
    }
    Ok(fields)
}

/// People's names are written `@ann` without the quotes that YAML wants.
fn quoted(line: &str) -> String {
    let Some((name, value)) = line.split_once(':') else { return line.to_owned() };
    let value = value.trim();
    if !matches!(name.trim(), "assignee" | "reporter") {
        return line.to_owned();
    }
    let quote = |text: &str| match text.trim() {
        text if text.starts_with('@') => format!("'{}'", text.replace('\'', "''")),
        text => text.to_owned(),
    };
    match value.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        Some(list) => {
            let list: Vec<String> = list.split(',').map(quote).collect();
            format!("{name}: [{}]", list.join(", "))
        }
        None => format!("{name}: {}", quote(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(front: &str, expected: &str) {
        let said = match fields("t.md", front, 2) {
            Ok(fields) => format!("{fields:?}"),
            Err(bad) => bad.to_string(),
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn texts_and_lists_are_understood_and_the_rest_is_named() {
        read(
            "id: a\nlist: [x, 'y']\nnone:\n",
            r#"[("id", Text("a")), ("list", List(["x", "y"])), ("none", Nothing)]"#,
        );
        read(
            "assignee: @ann\nreporter: [@bob, eve]",
            r#"[("assignee", Text("@ann")), ("reporter", List(["@bob", "eve"]))]"#,
        );
        read(
            "a: {b: [c]}\nd: [[e]]\nf: *a\ng: h",
            "`t.md`, line 4: no YAML: while parsing node, found unknown anchor",
        );
        read("a: {b: [c]}\nd: [[e]]\ng: h", r#"[("a", Deep), ("d", Deep), ("g", Text("h"))]"#);
        read("id: a\nid: b", "`t.md`, line 3: the field `id` is there twice");
        read("- a", "`t.md`, line 2: a list where fields are expected");
        read("", "[]");
    }

    #[test]
    fn the_body_begins_after_the_second_line_of_dashes() {
        let split = split("---\r\nid: a\r\n---\r\n\r\nText").unwrap();
        assert_eq!((split.front, split.body, split.line), ("id: a\r\n", "\r\nText", 4));
        assert!(super::split("---\nid: a\n").is_none());
        assert!(super::split("id: a\n").is_none());
    }
}
