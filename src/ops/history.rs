//! The history, as the state branch tells it: what happened, what it did to the records, and who set what.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    iter,
    rc::Rc,
};

use serde::{Serialize, Serializer};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::Ctx;
use crate::{
    domain::{
        audit::Step,
        change::{Op, Record},
        id::GoalId,
        refusal::Refusal,
        text::shown,
        time::Timestamp,
    },
    error::{Error, Kind},
    store::{self, history::Entry},
};

/// The mutations that fit, the newest first and at most `limit`. They are read when they are told: there may be more of them than
/// anybody wants to hold.
///
/// JSON: `entries`.
#[derive(Serialize)]
pub struct History<'c> {
    #[serde(rename = "entries", serialize_with = "as_list")]
    asked: Asked<'c>,
}

struct Asked<'c> {
    ctx: &'c Ctx,
    filter: Filter,
    patch: bool,
    limit: usize,
}

/// One mutation, with what it did if that was asked for.
#[derive(Debug, Serialize)]
pub struct Told {
    #[serde(flatten)]
    pub entry: Entry,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<Changed>>,
    /// Records that came folded already, with a state from elsewhere. They are counted only: a long past is that of another place.
    #[serde(skip_serializing_if = "super::is_nought")]
    pub folded: usize,
}

/// What a mutation did to one record.
#[derive(Debug, Clone, Serialize)]
pub struct Changed {
    pub record: String,
    pub fields: Vec<Field>,
}

/// What became of one field of a record. Never both nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    /// `state.by`, for example.
    pub field: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Which mutations are meant: those that fit everything that is given.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub goal: Option<GoalId>,
    /// `gate/ship-it`, or the id alone.
    pub record: Option<String>,
    /// `person`, `agent:codex-1`, or the name of an agent.
    pub actor: Option<String>,
    /// `gate.resolve`, or `gate` for all that concerns gates.
    pub op: Option<String>,
    pub since: Option<Timestamp>,
    pub turn: Option<String>,
}

impl Filter {
    /// Whether a mutation is about the record that is asked for.
    fn knows(&self, entry: &Entry) -> bool {
        self.record.as_deref().is_none_or(|asked| entry.records.iter().any(|name| means(asked, name)))
    }

    fn takes(&self, entry: &Entry) -> bool {
        let is = |asked: &Option<String>, fits: &dyn Fn(&str) -> bool| asked.as_deref().is_none_or(fits);
        let goal = self.goal.as_ref().is_none_or(|goal| entry.goal.as_deref() == Some(goal.as_str()));
        let record = self.knows(entry);
        let actor = is(&self.actor, &|asked| {
            let found = entry.actor.as_deref().unwrap_or_default();
            found == asked || found.strip_prefix("agent:") == Some(asked)
        });
        let op = is(&self.op, &|asked| {
            let found = entry.op.as_deref().unwrap_or_default();
            found == asked || found.split('.').next() == Some(asked)
        });
        let turn = is(&self.turn, &|asked| entry.turn.as_deref() == Some(asked));
        goal && record && actor && op && turn && self.since.is_none_or(|since| entry.at >= since)
    }
}

/// Whether `asked` is a record's name, or the id in it.
fn means(asked: &str, name: &str) -> bool {
    name == asked || id_of(name) == asked
}

/// The id in a record's name.
fn id_of(name: &str) -> &str {
    name.split_once('/').map_or(name, |(_, id)| id)
}

/// The history as far as it fits, and, with `patch`, what each mutation did to its records. Refused where the filter names a
/// goal that is not there, or a kind of mutation that there is none of; that nothing knows its record is the last thing that
/// [`History::entries`] says.
pub fn history(ctx: &Ctx, filter: Filter, patch: bool, limit: usize) -> Result<History<'_>, Error> {
    if let Some(goal) = &filter.goal {
        // A state that cannot be read has a history all the same.
        if matches!(ctx.store.read()?.goal(goal), Ok(None)) {
            return Err(Refusal::UnknownGoal(goal.clone()).into());
        }
    }
    if let Some(op) = filter.op.as_deref().filter(|op| !is_a_kind(op)) {
        let nouns: BTreeSet<&str> = Op::ALL.into_iter().map(noun).collect();
        let nouns: Vec<&str> = nouns.into_iter().collect();
        return Err(Error::new(
            Kind::Usage,
            format!("there are no mutations of the kind `{}`", shown(op, 60)),
        )
        .hint("run `loopx history --op gate.resolve`, or `loopx history --op gate` for all about gates")
        .hint(format!("the kinds begin with {}", nouns.join(", "))));
    }
    Ok(History { asked: Asked { ctx, filter, patch, limit } })
}

fn is_a_kind(asked: &str) -> bool {
    Op::from_word(asked).is_some() || Op::ALL.into_iter().any(|op| noun(op) == asked)
}

fn noun(op: Op) -> &'static str {
    op.word().split('.').next().unwrap_or_default()
}

impl History<'_> {
    /// The mutations, each read when it is asked for.
    pub fn entries(&self) -> Result<impl Iterator<Item = Result<Told, Error>> + use<'_>, Error> {
        self.asked.entries()
    }
}

impl Asked<'_> {
    fn entries(&self) -> Result<impl Iterator<Item = Result<Told, Error>> + use<'_>, Error> {
        let Self { ctx, filter, patch, limit } = self;
        let is_known = Rc::new(Cell::new(*limit == 0));
        let seen = Rc::clone(&is_known);
        let fitting = since(ctx.store.history()?, filter.since).filter(move |entry| {
            let Ok(entry) = entry else { return true };
            seen.set(seen.get() || filter.knows(entry));
            filter.takes(entry)
        });
        let told = fitting.map(move |entry| {
            let entry = entry?;
            let (changes, folded) = patch.then(|| changes(ctx, &entry)).transpose()?.unzip();
            Ok(Told { entry, changes, folded: folded.unwrap_or(0) })
        });
        let unknown = iter::once_with(move || match &filter.record {
            // It may be older than what was looked at, or have come with goals from elsewhere.
            Some(record) if !is_known.get() => follow(ctx, record).err(),
            _ => None,
        });
        Ok(told.take(*limit).chain(unknown.flatten().map(Err)))
    }
}

fn as_list<S: Serializer>(asked: &Asked<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    super::listed(serializer, |tell| asked.entries()?.try_for_each(|told| told.map(&mut *tell)))
}

/// So many mutations in a row that are too old mean that the rest is. A sync puts what one clone did on top of what another did
/// later, so that one alone does not.
const TOO_OLD: usize = 500;

/// The mutations of `walk` as long as there may be one of the time since `since` among them.
pub(super) fn since<'w>(
    walk: impl Iterator<Item = Result<Entry, store::Error>> + 'w,
    since: Option<Timestamp>,
) -> impl Iterator<Item = Result<Entry, store::Error>> + 'w {
    let mut in_a_row = 0;
    walk.take_while(move |entry| {
        let is_old = since.zip(entry.as_ref().ok()).is_some_and(|(since, entry)| entry.at < since);
        in_a_row = if is_old { in_a_row + 1 } else { 0 };
        in_a_row < TOO_OLD
    })
}

fn changes(ctx: &Ctx, entry: &Entry) -> Result<(Vec<Changed>, usize), Error> {
    let steps = ctx.store.steps(entry.parent.as_deref(), &entry.commit)?;
    let mut folded = 0;
    steps.each_folded(|_| true, |_| folded += 1)?;
    let changed = |(record, step): (String, Step)| Changed { record, fields: fields(&step) };
    Ok((steps.lying.into_iter().map(changed).collect(), folded))
}

/// What became of the fields of a record, by name.
fn fields(Step { before, after }: &Step) -> Vec<Field> {
    let flat = |record: &Option<Record>| record.as_ref().map(flattened).unwrap_or_default();
    let (before, after) = (flat(before), flat(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let field = |name: &String| Field {
        field: name.clone(),
        before: before.get(name).cloned(),
        after: after.get(name).cloned(),
    };
    names.into_iter().map(field).filter(|field| field.before != field.after).collect()
}

/// A record as fields of one line each.
fn flattened(record: &Record) -> BTreeMap<String, String> {
    let value = match record {
        Record::Policy(policy) => serde_json::to_value(policy),
        Record::Quotas(quotas) => serde_json::to_value(quotas),
        Record::Goal(_, goal) => serde_json::to_value(goal),
        Record::Gate(_, _, gate) => serde_json::to_value(gate),
        Record::Todo(_, _, todo) => serde_json::to_value(todo),
        Record::Evidence(_, _, evidence) => serde_json::to_value(evidence),
        Record::Spend(_, _, spend) => serde_json::to_value(spend),
        Record::Handoff(_, handoff) => serde_json::to_value(handoff),
        Record::Bypass(_, bypass) => serde_json::to_value(bypass),
    };
    let mut fields = BTreeMap::new();
    flatten("", value.expect("a record is plain data"), &mut fields);
    fields
}

fn flatten(name: &str, value: Value, fields: &mut BTreeMap<String, String>) {
    let said = match value {
        Value::Object(parts) => {
            for (part, value) in parts {
                let name = if name.is_empty() { part } else { format!("{name}.{part}") };
                flatten(&name, value, fields);
            }
            return;
        }
        Value::Array(items) => {
            let plain = |item: Value| match item {
                Value::String(text) => text,
                other => other.to_string(),
            };
            items.into_iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        Value::String(text) => text,
        other => other.to_string(),
    };
    fields.insert(name.to_owned(), said.replace('\n', " ⏎ "));
}

/// How one text became another, word by word: `[-old-]` went, `{+new+}` came.
pub fn words(before: &str, after: &str) -> String {
    let diff = TextDiff::from_words(before, after);
    let kept = |text: &str| text.chars().any(char::is_alphanumeric);
    let changes: Vec<_> = diff.iter_all_changes().collect();
    if !changes.iter().any(|change| change.tag() == ChangeTag::Equal && kept(change.value())) {
        return format!("{before} → {after}");
    }
    let mut said = String::new();
    let mut open = ChangeTag::Equal;
    let close = |tag| match tag {
        ChangeTag::Equal => "",
        ChangeTag::Delete => "-]",
        ChangeTag::Insert => "+}",
    };
    for change in changes {
        if change.tag() != open {
            said.push_str(close(open));
            open = change.tag();
            said.push_str(match open {
                ChangeTag::Equal => "",
                ChangeTag::Delete => "[-",
                ChangeTag::Insert => "{+",
            });
        }
        said.push_str(change.value());
    }
    said + close(open)
}

/// The life of one record, the oldest first, with what each step did to it.
///
/// JSON: `record`, `entries`.
#[derive(Debug, Serialize)]
pub struct Life {
    pub record: String,
    pub entries: Vec<Told>,
}

/// The life of the record that `asked` names, across moves and folds. Where it came with goals from elsewhere, or what was
/// before was left behind, it begins there.
pub fn follow(ctx: &Ctx, asked: &str) -> Result<Life, Error> {
    let mut named: Option<String> = None;
    let mut entries = Vec::new();
    for entry in ctx.store.history()? {
        let entry = entry?;
        let is_whole = matches!(entry.op.as_deref(), Some("import" | "checkpoint" | "init"));
        let is_about = |name: &String| match &named {
            Some(named) => named == name,
            None => means(asked, name),
        };
        if !is_whole && !entry.records.iter().any(is_about) {
            continue;
        }
        let steps = ctx.store.steps(entry.parent.as_deref(), &entry.commit)?;
        let mut fitting = BTreeMap::new();
        let wanted = id_of(named.as_deref().unwrap_or(asked));
        steps.each_folded(
            |id| id == wanted,
            |step| fitting.extend(step.after.as_ref().map(|record| (record.name(), step.clone()))),
        )?;
        fitting.extend(steps.lying);
        fitting.retain(|name, _| is_about(name));
        if let (Some(one), 2..) = (fitting.keys().next(), fitting.len()) {
            return Err(Error::new(Kind::Usage, format!("there are several records `{asked}`"))
                .hint(format!("write more of the name, such as `{one}`")));
        }
        let Some((name, step)) = fitting.pop_first() else { continue };
        let changes = Some(vec![Changed { fields: fields(&step), record: name.clone() }]);
        named = Some(name);
        entries.push(Told { entry, changes, folded: 0 });
    }
    entries.reverse();
    let unknown = || {
        let asked = shown(asked, 100);
        Error::new(Kind::NotFound, format!("the history knows no record `{asked}`"))
            .hint("run `loopx history`, or name it as there: `gate/ship-it`, `todo/t-7k3q`")
    };
    Ok(Life { record: named.ok_or_else(unknown)?, entries })
}

/// Who set what of a record.
///
/// JSON: `record`, `fields[]` (`field`, `value`, `commit`, `at`, `actor`, `turn`, `subject`).
#[derive(Debug, Serialize)]
pub struct Blame {
    pub record: String,
    pub fields: Vec<Set>,
}

/// A field as it is now, and the mutation that made it so.
#[derive(Debug, Serialize)]
pub struct Set {
    pub field: String,
    pub value: String,
    #[serde(flatten)]
    pub entry: Entry,
}

/// Who set each field of the record that `asked` names to what it is now.
pub fn blame(ctx: &Ctx, asked: &str) -> Result<Blame, Error> {
    let life = follow(ctx, asked)?;
    let mut fields: BTreeMap<String, Set> = BTreeMap::new();
    for told in life.entries {
        for Field { field, after, .. } in
            told.changes.into_iter().flatten().flat_map(|changed| changed.fields)
        {
            match after {
                None => fields.remove(&field),
                Some(value) => fields.insert(field.clone(), Set { field, value, entry: told.entry.clone() }),
            };
        }
    }
    Ok(Blame { record: life.record, fields: fields.into_values().collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_a_word_of_the_history_or_its_noun() {
        for kind in ["gate", "gate.resolve", "init", "fold", "bypass"] {
            assert!(is_a_kind(kind), "{kind}");
        }
        for odd in ["", "gat", "gate.", "gate.resolv", "resolve", "Gate"] {
            assert!(!is_a_kind(odd), "{odd}");
        }
    }

    #[test]
    fn texts_are_compared_by_words() {
        assert_eq!(words("Ship it now", "Ship it later"), "Ship it [-now-]{+later+}");
        assert_eq!(words("open", "claimed"), "open → claimed");
        assert_eq!(words("a b", "c d"), "a b → c d");
    }

    fn entry(at: i64) -> Entry {
        Entry {
            commit: "1".into(),
            at: Timestamp::from_unix(at),
            subject: "x".into(),
            op: Some("gate.open".into()),
            actor: Some("agent:codex-1".into()),
            goal: Some("ship".into()),
            records: vec!["gate/ready".into()],
            turn: None,
            signed_off_by: None,
            parent: None,
        }
    }

    #[test]
    fn a_date_out_of_order_hides_nothing() {
        let told = |walk: Vec<i64>| {
            let read = std::cell::Cell::new(0);
            let walk = walk.into_iter().map(|at| Ok(entry(at))).inspect(|_| read.set(read.get() + 1));
            let recent = since(walk, Some(Timestamp::from_unix(100)));
            let recent = recent.filter(|entry| entry.as_ref().unwrap().at.unix() >= 100).count();
            (recent, read.get())
        };
        assert_eq!(told(vec![50, 120, 60, 110]), (2, 4));
        assert_eq!(told([vec![120], vec![50; 10_000]].concat()), (1, 1 + TOO_OLD));
    }

    #[test]
    fn a_filter_takes_names_in_full_and_short() {
        let entry = entry(Timestamp::unix("2026-11-30T12:00:00Z".parse().unwrap()));
        let some = |text: &str| Some(text.to_owned());
        let takes = |filter: Filter| filter.takes(&entry);
        assert!(takes(Filter::default()));
        for op in ["gate.open", "gate"] {
            assert!(takes(Filter { op: some(op), ..Filter::default() }));
        }
        for actor in ["codex-1", "agent:codex-1"] {
            assert!(takes(Filter { actor: some(actor), ..Filter::default() }));
        }
        for record in ["gate/ready", "ready"] {
            assert!(takes(Filter { record: some(record), ..Filter::default() }));
        }
        for filter in [
            Filter { op: some("gate.o"), ..Filter::default() },
            Filter { actor: some("person"), ..Filter::default() },
            Filter { record: some("todo/ready"), ..Filter::default() },
            Filter { turn: some("t"), ..Filter::default() },
            Filter { goal: Some("other".parse().unwrap()), ..Filter::default() },
            Filter { since: Some("2026-11-30T12:00:01Z".parse().unwrap()), ..Filter::default() },
        ] {
            assert!(!takes(filter));
        }
    }
}
