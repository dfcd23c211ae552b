//! Ready-made goals: what `init --preset` sets up, read from the files in `templates/presets/`, which are part of the program.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    command::CommandLine,
    gate::Act,
    id::{Capability, GateId, GoalId},
    text::{Note, Title},
    time::Seconds,
    todo::{Check, Priority, Worker},
    worklist::{Entry, Need, Worklist},
};

/// The presets there are, by name.
const FILES: [(&str, &str); 4] = [
    ("changelog-draft", include_str!("../../templates/presets/changelog-draft.toml")),
    ("daily-triage", include_str!("../../templates/presets/daily-triage.toml")),
    ("pr-watch", include_str!("../../templates/presets/pr-watch.toml")),
    ("release", include_str!("../../templates/presets/release.toml")),
];

/// A goal with everything that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    /// What it is for, in a phrase.
    pub about: String,
    pub goal: GoalId,
    pub objective: Title,
    pub done_when: Vec<Title>,
    /// The cap on the slots of a window.
    pub slots: Option<u32>,
    pub todos: Worklist,
    pub gates: Vec<Question>,
}

/// A gate of a preset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub id: GateId,
    pub question: Title,
    pub blocks: BTreeSet<Act>,
    /// The places of the todos that it is about; of none when it is about everything.
    pub todos: Vec<usize>,
}

/// A file that is no preset: where in it, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct BadPreset {
    pub place: String,
    pub why: String,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    goal: Goal,
    todos: Vec<Todo>,
    #[serde(default)]
    gates: Vec<Gate>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Goal {
    id: GoalId,
    objective: Title,
    #[serde(default)]
    done_when: Vec<Title>,
    slots: Option<u32>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Todo {
    key: Option<String>,
    title: Title,
    body: Option<Note>,
    #[serde(rename = "for")]
    for_: Option<Worker>,
    priority: Option<Priority>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    requires: Vec<Capability>,
    check: Option<String>,
    every: Option<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Gate {
    id: GateId,
    question: Title,
    blocks: BTreeSet<Act>,
    #[serde(default)]
    todos: Vec<String>,
}

fn bad(place: impl Into<String>, why: impl std::fmt::Display) -> BadPreset {
    BadPreset { place: place.into(), why: why.to_string() }
}

impl Preset {
    /// The names there are.
    pub fn names() -> [&'static str; 4] {
        FILES.map(|(name, _)| name)
    }

    /// The preset of this name.
    pub fn named(name: &str) -> Option<Self> {
        let (_, text) = FILES.into_iter().find(|(known, _)| *known == name)?;
        // A test reads every one of them.
        Self::parse(text).ok()
    }

    /// Reads the file of a preset.
    pub fn parse(text: &str) -> Result<Self, BadPreset> {
        let file: File = toml::from_str(text).map_err(|error| bad("the file", error.message()))?;
        let keys: BTreeMap<&str, usize> = (file.todos.iter().enumerate())
            .filter_map(|(place, todo)| Some((todo.key.as_deref()?, place)))
            .collect();
        let place = |of: &str, key: &String| {
            keys.get(key.as_str())
                .copied()
                .ok_or_else(|| bad(of, format!("`{key}` is not the key of a todo")))
        };
        let mut entries = Vec::new();
        for todo in &file.todos {
            let at = todo.title.as_str();
            let needs =
                todo.needs.iter().map(|key| place(at, key).map(Need::Entry)).collect::<Result<_, _>>()?;
            let argv =
                todo.check.as_deref().map(CommandLine::typed).transpose().map_err(|why| bad(at, why))?;
            let every = todo.every.as_deref().map(str::parse::<Seconds>).transpose();
            entries.push(Entry {
                title: todo.title.clone(),
                body: todo.body.clone(),
                for_: todo.for_.unwrap_or(Worker::Agent),
                priority: todo.priority.unwrap_or(Priority::P2),
                requires: todo.requires.clone(),
                needs,
                check: argv.map(|argv| Check { argv, timeout: Check::TIMEOUT }),
                every: every.map_err(|why| bad(at, why))?,
            });
        }
        let gate = |gate: Gate| {
            let todos =
                gate.todos.iter().map(|key| place(gate.id.as_str(), key)).collect::<Result<_, _>>()?;
            Ok(Question { id: gate.id, question: gate.question, blocks: gate.blocks, todos })
        };
        let gates = file.gates.into_iter().map(gate).collect::<Result<_, _>>()?;
        let todos = Worklist { entries, skipped: 0 };
        match todos.circle() {
            Some(place) => Err(bad(todos.entries[place].title.as_str(), "it would need itself in the end")),
            None => Ok(Self {
                about: file.about,
                goal: file.goal.id,
                objective: file.goal.objective,
                done_when: file.goal.done_when,
                slots: file.goal.slots,
                todos,
                gates,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_can_be_read_and_is_more_than_text() {
        for (name, text) in FILES {
            let preset = Preset::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(preset.goal.as_str(), name);
            assert!(preset.todos.entries.iter().any(|todo| !todo.needs.is_empty()), "{name}");
            assert!(preset.todos.entries.iter().any(|todo| todo.needs.is_empty()), "{name}");
            assert!(!preset.gates.is_empty() && preset.slots.is_some(), "{name}");
        }
        assert_eq!(Preset::named("nope"), None);
    }

    #[test]
    fn a_file_that_is_none_is_named() {
        let good =
            "about = \"x\"\n[goal]\nid = \"g\"\nobjective = \"o\"\n[[todos]]\nkey = \"a\"\ntitle = \"A\"\n";
        assert!(Preset::parse(good).is_ok());
        for (more, why) in [
            ("needs = [\"b\"]\n", "A: `b` is not the key of a todo"),
            ("needs = [\"a\"]\n", "A: it would need itself in the end"),
            ("every = \"soon\"\n", "A: `soon` is not a length of time (expected the form `45m` or `1h 30m`)"),
            ("check = \"a && b\"\n", "A: a check is one command, and `&` means something to a shell only"),
            (
                "color = \"red\"\n",
                "the file: unknown field `color`, expected one of `key`, `title`, `body`, `for`, `priority`, `needs`, `requires`, `check`, `every`",
            ),
        ] {
            assert_eq!(Preset::parse(&format!("{good}{more}")).unwrap_err().to_string(), why);
        }
    }
}
