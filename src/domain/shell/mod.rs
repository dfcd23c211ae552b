//! What a command line would do, as far as that can be told without running it.
//!
//! Agents' hosts ask before they run a command. [`deeds`] reads it as a shell would, through quotes, pipes, substitutions and the
//! programs that run other programs, and says what of it loopx has an opinion about: what leaves the machine, what goes round a
//! hook, and what writes where only loopx does. Nothing is looked up here: a file that a command would run is named as a
//! [`Script`], and whoever may read files reads it and asks again with what is in it.
//!
//! It is no shell and need not be one. What it cannot follow and what sounds like a push counts as a push that nobody can see
//! ([`Deed::Unseen`]); what it cannot follow and sounds like nothing passes, so this is a guard rail and no wall. There are
//! parsers to be had: one is under the GPL, one brings a grammar engine and a cache, one wants a C compiler, and none has been told what
//! `env -S` or `xargs` do. A word that is quoted in an odd way is all that a parser would see better.
//!
//! Reading order: `read.rs` (text → simple commands), `means.rs` (a simple command → deeds), `git.rs` (the same for git), `publish.rs`,
//! `place.rs` (paths that are loopx's or git's own).

mod git;
mod means;
mod place;
mod publish;
mod read;

#[cfg(test)]
mod tests;

pub use self::place::{HOST_FILES, Reserved, of_host, reserved};

/// A folder, as far as it is known where a command runs: relative ones start where the host stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// This path; the empty one is where the host stands.
    At(String),
    /// Not to be told.
    Somewhere,
}

/// Something that a command would do and that loopx has an opinion about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deed {
    /// Commits would be sent elsewhere by git.
    Push(Push),
    /// A publisher, a release or another way out than git.
    Publish,
    /// It sounds like one of those, and cannot be followed.
    Unseen { act: Out, why: &'static str },
    /// A hook would be left out for one command.
    SkipsHooks { how: String },
    /// Hooks, or the settings that name them, would be changed.
    TouchesHooks { how: String },
    /// Something that only loopx writes would be changed.
    TouchesState { how: String },
    /// All that git has of the repository in this place would be taken away, if there is one.
    TakesGitAway { how: String },
    /// A host's file, or a folder with such, would be changed. Whether it asks loopx knows who may read it.
    TouchesHost { path: String },
    /// One of these refs would be written. Whether that is the state branch knows who knows its name.
    WritesRef { names: Vec<String> },
    /// A step that only a person may take.
    AsksForPerson { how: String },
}

/// The ways out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Out {
    Push,
    Publish,
}

/// A push by git.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Push {
    /// The remote or the address, where one is said.
    pub remote: Option<String>,
    /// What is said to be pushed, which may be nothing; none when that is everything, or cannot be told. A ref that is only to be
    /// removed on the other side begins with a colon.
    pub refs: Option<Vec<String>>,
}

/// A deed, where it would be done, and the words that do it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    pub deed: Deed,
    pub place: Place,
    pub words: String,
}

/// A text that would be run and that is not here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Script {
    pub place: Place,
    pub what: Text,
}

/// Where that text stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Text {
    /// A file for a shell; where nobody says so, its first line may say that it is for another program.
    File { path: String, for_shell: bool },
    /// A file for the interpreter of another language.
    Program { path: String },
    /// A task of a runner that has them in a file: `make`, `just`, `npm`.
    Task { runner: Runner, file: Option<String>, names: Vec<String> },
    /// An alias of git's.
    Alias { name: String, rest: Vec<String> },
}

/// What runs tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runner {
    Make,
    Just,
    /// npm and what reads `package.json` as it does.
    Npm,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Read {
    pub found: Vec<Found>,
    pub scripts: Vec<Script>,
    /// How much was looked at: commands, and bytes of the texts that they stand in.
    steps: usize,
    bytes: usize,
    is_spent: bool,
}

/// Longest text that is read; a longer one is only searched for words.
pub const LONGEST: usize = 256 * 1024;
/// Most deeds and scripts that are told of.
const MOST: usize = 64;
/// How deep texts in texts are followed.
const DEEPEST: usize = 12;
/// How many programs that run another are followed from one to the next, in all the texts around a command.
const MOST_WRAPPED: usize = 16;
/// How much is looked at for one line. A line may lead to a great many others, which nobody waits for.
const MOST_STEPS: usize = 64 * 1024;
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// What the command line `text`, run in `place`, would do.
pub fn deeds(text: &str, place: &Place) -> Read {
    let mut told = Read::default();
    means::line(text, place, &means::Surroundings::default(), &mut told);
    // Whatever it does beyond that, it is no line that somebody types.
    if told.is_spent {
        let why = "it leads to more than can be looked at";
        told.found.truncate(MOST - 1);
        told.add(Deed::Unseen { act: Out::Push, why }, place, text);
    }
    told.found.sort();
    told.found.dedup();
    told.scripts.sort();
    told.scripts.dedup();
    told
}

/// What the text of a program in another language would do, by the words in it. It lies in `file`.
pub fn code(text: &str, file: &str, place: &Place) -> Vec<Found> {
    let mut told = Read::default();
    let first = text.lines().next().filter(|line| line.starts_with("#!")).unwrap_or_default();
    means::code(text, place, &format!("{file} {first}"), &mut told);
    told.found
}

/// What a text that nobody can read sounds like.
pub fn sounding(text: &str, place: &Place) -> Vec<Found> {
    let mut told = Read::default();
    means::sounding(text, place, &mut told);
    told.found
}

/// The files that a patch in the form of `apply_patch` writes.
pub fn patched(text: &str) -> Vec<String> {
    const BEFORE: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let file =
        |line: &str| BEFORE.iter().find_map(|before| line.trim().strip_prefix(before)).map(str::to_owned);
    text.lines().filter_map(file).collect()
}

/// The words of git's alias, with what was typed behind it, as a command line.
pub fn alias(value: &str, rest: &[String]) -> String {
    let rest: Vec<String> = rest.iter().map(|word| quoted(word)).collect();
    match value.trim().strip_prefix('!') {
        Some(shell) => format!("{shell} {}", rest.join(" ")),
        None => format!("git {value} {}", rest.join(" ")),
    }
}

/// A word that a shell takes as this text.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The words of the first simple command in `text`, where all of them are known. For tests of reading.
#[cfg(any(test, fuzzing))]
pub fn first_words(text: &str) -> Option<Vec<String>> {
    let read = read::read(text, &Place::At(String::new()), &read::Known::default());
    let first = read.simples.into_iter().find(|simple| !simple.words.is_empty())?;
    first
        .words
        .iter()
        .all(|word| !word.is_open)
        .then(|| first.words.into_iter().map(|word| word.text).collect())
}

impl Place {
    /// Where `path`, said here, leads.
    #[must_use]
    pub fn join(&self, path: &str) -> Self {
        const LONGEST: usize = 4096;
        let is_absolute = path.starts_with('/') || path.starts_with('~');
        let so_far = if let Self::At(here) = self { here.len() } else { 0 };
        match self {
            _ if path.len() > LONGEST || !is_absolute && so_far > LONGEST => Self::Somewhere,
            _ if is_absolute => Self::At(path.to_owned()),
            Self::Somewhere => Self::Somewhere,
            Self::At(here) if here.is_empty() || path.is_empty() => Self::At(format!("{here}{path}")),
            Self::At(here) => Self::At(format!("{}/{path}", here.trim_end_matches('/'))),
        }
    }
}

impl Read {
    /// Looks at this much more. False when it is too much; then nothing more needs to be looked at.
    fn spend(&mut self, steps: usize, bytes: usize) -> bool {
        self.steps = self.steps.saturating_add(steps);
        self.bytes = self.bytes.saturating_add(bytes);
        self.is_spent |= self.steps > MOST_STEPS || self.bytes > MOST_BYTES;
        !self.is_spent
    }

    fn add(&mut self, deed: Deed, place: &Place, words: &str) {
        if self.found.len() < MOST {
            let words = super::text::shown(words, 120);
            self.found.push(Found { deed, place: place.clone(), words });
        }
    }

    fn run(&mut self, what: Text, place: &Place) {
        if self.scripts.len() < MOST {
            self.scripts.push(Script { place: place.clone(), what });
        }
    }
}
