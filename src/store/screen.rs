//! What may become an object of git: only what was looked over for secrets, because a history forgets nothing.
//!
//! [`Git::commit`](super::git::Git::commit) takes a [`Cleared`] edit and nothing else, and there are two ways to one: by being
//! looked over, or by holding nothing that was not in the history before.

use gix::ObjectId;

use super::{
    Error, Snapshot, Store,
    error::LooksSecret,
    format,
    git::Git,
    layout::{self, Edit},
};
use crate::domain::{
    change::Change,
    policy::Policy,
    secret::{
        self, Hit,
        custom::{BadRules, Custom},
    },
};

/// An edit that holds no secret which the history does not hold already.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cleared<'e>(&'e Edit);

impl<'e> Cleared<'e> {
    /// Looks over what `change` writes and says. Whatever stands in a record already stays sayable: it cannot be taken back, and
    /// work goes on.
    pub(super) fn of(before: &Snapshot<'_>, edit: &'e Edit, change: &Change) -> Result<Self, Error> {
        let custom = custom(before.git())?;
        let mut found = Vec::new();
        for (path, bytes) in edit.written() {
            let mut suspects = suspects(&custom, path, bytes)?;
            if !suspects.is_empty() && is_new(before, edit, path)? {
                suspects.iter_mut().for_each(Suspect::forget_id);
            }
            found.extend(suspects);
        }
        let body = change.body.as_ref().map(|body| ("reason", body.as_str()));
        for (field, text) in [("subject", change.subject.as_str())].into_iter().chain(body) {
            found.extend(suspects_in(&custom, "the commit", field, text)?);
        }
        if found.is_empty() {
            return Ok(Self(edit));
        }
        let old = stored(before, edit)?;
        found.retain(|suspect| !old.iter().any(|text| text.contains(&suspect.value)));
        refuse(&before.policy()?, found).map(|()| Self(edit))
    }

    /// An edit of what was in the history before and is only put elsewhere, or in which nobody has typed anything.
    pub(super) fn untyped(edit: &'e Edit) -> Self {
        Self(edit)
    }

    pub(super) fn edit(self) -> &'e Edit {
        self.0
    }
}

/// The git setting that names a file of rules.
const RULES: &str = "loopx.secretRules";
/// The git setting that says whether paths into a home folder are kept out, too.
const HOME_PATHS: &str = "loopx.refuseHomePaths";

/// The rules that the user has besides, from the file that the setting names; a path that is not absolute is one from the top of
/// the worktree.
pub(super) fn custom(git: &Git) -> Result<Custom, Error> {
    let home_paths = git.config_bool(HOME_PATHS);
    let Some(path) = git.config_path(RULES) else { return Ok(Custom::default().with_home_paths(home_paths)) };
    let path = git.worktree().unwrap_or_default().join(path);
    let text = std::fs::read_to_string(&path).map_err(|error| BadRules::File(error.to_string()));
    let custom = text.and_then(|text| Custom::parse(&text)).map_err(Error::SecretRules)?;
    Ok(custom.with_home_paths(home_paths))
}

/// Looks over a file of a state that comes from elsewhere.
pub(super) fn must_be_clear(custom: &Custom, policy: &Policy, path: &str, bytes: &[u8]) -> Result<(), Error> {
    match suspects(custom, path, bytes)? {
        found if found.is_empty() => Ok(()),
        mut found => {
            // Ids are made of texts.
            found.iter_mut().filter(|suspect| suspect.is_in_id()).for_each(Suspect::forget_id);
            refuse(policy, found)
        }
    }
}

/// The same error without the id that was drawn for the record and that nobody knows.
pub(super) fn of_a_new_record(error: Error) -> Error {
    match error {
        Error::Secret(mut found) => {
            found.record = new_record(&found.record);
            Error::Secret(found)
        }
        error => error,
    }
}

fn new_record(name: &str) -> String {
    format!("the new {}", name.split('/').next().unwrap_or_default())
}

impl Store {
    /// Looks over what commits from elsewhere, the newest first, bring along. What stood in a record before, and what a person let
    /// through on either side, passes.
    pub(super) fn must_bring_no_secret(&self, line: &[ObjectId], here: Option<&Policy>) -> Result<(), Error> {
        let Some(tip) = line.first() else { return Ok(()) };
        let (custom, there) = (custom(&self.git)?, self.at(*tip)?.policy()?);
        for id in line.iter().rev() {
            let mut found = self.brought(&custom, *id)?;
            found.retain(|suspect| here.is_none_or(|here| !here.lets_through(&suspect.value)));
            refuse(&there, found).map_err(|error| match error {
                Error::Secret(found) => Error::BringsSecret { commit: id.to_string(), found },
                error => error,
            })?;
        }
        Ok(())
    }

    fn brought(&self, custom: &Custom, id: ObjectId) -> Result<Vec<Suspect>, Error> {
        let mut found = suspects_in(custom, "the commit", "message", &self.said(id)?)?;
        let mut edit = Edit::default();
        for (path, blob) in self.changes(id)? {
            match blob {
                Some(blob) => {
                    let bytes = self.git.blob(blob)?;
                    found.extend(suspects(custom, &path, &bytes)?);
                    edit.write(path, bytes);
                }
                None => edit.remove(path),
            }
        }
        if let (false, Some(parent)) = (found.is_empty(), self.parent(id)?) {
            let old = stored(&self.at(parent)?, &edit)?;
            found.retain(|suspect| !old.iter().any(|text| text.contains(&suspect.value)));
        }
        found.iter_mut().filter(|suspect| suspect.is_in_id()).for_each(Suspect::forget_id);
        Ok(found)
    }
}

/// A text that looks like a secret. It is not to be shown.
struct Suspect {
    record: String,
    field: String,
    rule: String,
    /// In characters, from 1.
    from: usize,
    to: usize,
    value: String,
}

impl Suspect {
    /// Some of it may have become the id of the record.
    fn is_in_id(&self) -> bool {
        let value = self.value.to_ascii_lowercase();
        self.record.split(['/', '-']).skip(1).any(|word| word.len() >= 5 && value.contains(word))
    }

    fn forget_id(&mut self) {
        self.record = new_record(&self.record);
    }
}

/// There is no record at `path`, and none that moves there.
fn is_new(before: &Snapshot<'_>, edit: &Edit, path: &str) -> Result<bool, Error> {
    let moves = |from: &str| layout::named(from).is_some_and(|named| Some(named) == layout::named(path));
    Ok(!edit.removed().any(moves) && before.bytes(path)?.is_none())
}

fn refuse(policy: &Policy, found: Vec<Suspect>) -> Result<(), Error> {
    let mut found = found.into_iter().filter(|suspect| !policy.lets_through(&suspect.value));
    let Some(first) = found.next() else { return Ok(()) };
    let digest = secret::digest(&policy.repository, &first.value);
    let more = found.filter(|other| other.value != first.value).count();
    let Suspect { record, field, rule, from, to, .. } = first;
    Err(Error::Secret(Box::new(LooksSecret { record, field, rule, from, to, more, digest })))
}

/// What looks like a secret in a file of a state.
fn suspects(custom: &Custom, path: &str, bytes: &[u8]) -> Result<Vec<Suspect>, Error> {
    let record =
        layout::named(path).map_or_else(|| format!("`{}`", secret::clean(path)), |named| named.record_name());
    let record = secret::clean(&record).into_owned();
    let mut found = suspects_in(custom, &record, "id", &path.replace('/', " "))?;
    for (field, text) in texts(path, bytes) {
        found.extend(suspects_in(custom, &record, &field, &text)?);
    }
    Ok(found)
}

fn suspects_in(custom: &Custom, record: &str, field: &str, text: &str) -> Result<Vec<Suspect>, Error> {
    let suspect = |Hit { rule, range }: Hit| {
        let characters = |to: usize| text[..to].chars().count();
        let (from, to) = (characters(range.start) + 1, characters(range.end));
        let (record, field) = (record.to_owned(), field.to_owned());
        Suspect { record, field, rule: rule.into_owned(), from, to, value: text[range].to_owned() }
    };
    let hits = custom.scan(text, secret::scan(text)).map_err(Error::SecretRules)?;
    Ok(hits.into_iter().map(suspect).collect())
}

/// What the records that are written said before, wherever they lay.
fn stored(before: &Snapshot<'_>, edit: &Edit) -> Result<Vec<String>, Error> {
    let mut old = Vec::new();
    for path in edit.written().map(|(path, _)| path).chain(edit.removed()) {
        let bytes = before.bytes(path)?.unwrap_or_default();
        old.extend(texts(path, &bytes).into_iter().map(|(_, text)| text));
    }
    Ok(old)
}

/// The texts in a file, each with its field. Escapes are undone: a secret behind a line feed is still one. What cannot be read
/// as what it should be is taken as it is.
fn texts(path: &str, bytes: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(bytes);
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let mut found = Vec::new();
    let extension = path.rsplit('.').next().unwrap_or_default();
    let understood = match extension {
        "toml" => toml::from_str::<toml::Table>(&text)
            .map(|table| in_toml("", &toml::Value::Table(table), &mut found))
            .is_ok(),
        "json" => json(&text).map(|value| in_json("", &value, &mut found)).is_some(),
        "jsonl" => text.lines().all(|line| json(line).map(|value| in_json("", &value, &mut found)).is_some()),
        "md" => format::parts(&text)
            .map(|(facts, body)| {
                found.push(("facts".to_owned(), facts.to_owned()));
                found.push(("text".to_owned(), body.to_owned()));
            })
            .is_some(),
        _ => false,
    };
    if !understood {
        found.push(("text".to_owned(), text.into_owned()));
    }
    found
}

fn below(field: &str, name: &str) -> String {
    if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") }
}

fn in_toml(field: &str, value: &toml::Value, found: &mut Vec<(String, String)>) {
    match value {
        toml::Value::String(text) => found.push((field.to_owned(), text.clone())),
        toml::Value::Array(values) => values.iter().for_each(|value| in_toml(field, value, found)),
        toml::Value::Table(table) => {
            table.iter().for_each(|(name, value)| in_toml(&below(field, name), value, found))
        }
        _ => {}
    }
}

fn in_json(field: &str, value: &serde_json::Value, found: &mut Vec<(String, String)>) {
    match value {
        serde_json::Value::String(text) => found.push((field.to_owned(), text.clone())),
        serde_json::Value::Array(values) => values.iter().for_each(|value| in_json(field, value, found)),
        serde_json::Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| in_json(&below(field, name), value, found));
        }
        _ => {}
    }
}
