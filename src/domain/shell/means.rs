//! A simple command → what it would do: through the programs that run other programs, to those that loopx knows.

use std::rc::Rc;

use super::{
    DEEPEST, Deed, MOST_WRAPPED, Out, Place, Read, Reserved, Runner, Text, git,
    publish::publishes,
    read::{self, From, Known, Simple, Values, Word},
    reserved,
};

/// Variables that commands see.
#[derive(Debug, Clone, Default)]
pub(super) struct Env(Rc<Values>);

impl Env {
    pub(super) fn get(&self, name: &str) -> Option<&Word> {
        self.0.get(name).map(Rc::as_ref)
    }

    pub(super) fn beginning_with(&self, name: &'static str) -> impl Iterator<Item = &Word> {
        self.0.iter().filter(move |(key, _)| key.starts_with(name)).map(|(_, word)| word.as_ref())
    }

    /// A variable that tells a manager of hooks to run none.
    pub(super) fn husky(&self) -> Option<String> {
        let off = |name: &&str| {
            self.get(name).is_some_and(|word| match *name {
                "SKIP" => word.text.contains("loopx"),
                "OVERCOMMIT_DISABLE" => !word.text.is_empty() && word.text != "0",
                _ => matches!(word.text.as_str(), "0" | "false"),
            })
        };
        let names = ["HUSKY", "LEFTHOOK", "OVERCOMMIT_DISABLE", "SKIP"];
        names.iter().find(|name| off(name)).map(|name| format!("`{name}={}`", self.0[*name].text))
    }
}

/// Where a text stands among others.
#[derive(Debug, Clone, Default)]
pub(super) struct Surroundings {
    env: Env,
    known: Known,
    depth: usize,
    wrapped: usize,
}

impl Surroundings {
    /// As if these variables were not set.
    pub(super) fn without(mut self, names: &[&str]) -> Self {
        for name in names {
            Rc::make_mut(&mut self.env.0).remove(*name);
            Rc::make_mut(&mut self.known.exported).remove(*name);
        }
        self
    }
}

/// A command that is looked at.
#[derive(Debug, Clone)]
pub(super) struct Seen<'a> {
    pub(super) argv: &'a [Word],
    pub(super) place: &'a Place,
    pub(super) env: Env,
    depth: usize,
    /// How many programs run each other around it.
    wrapped: usize,
    /// All simple commands of the text, and which this is.
    simples: &'a [Simple],
    at: usize,
    known: &'a Known,
}

impl<'a> Seen<'a> {
    pub(super) fn words(&self) -> String {
        let words: Vec<&str> = self.simples[self.at].words.iter().map(|word| word.text.as_str()).collect();
        match words.is_empty() {
            true => self.argv.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "),
            false => words.join(" "),
        }
    }

    /// The words stand in what was typed, and not in a text that it leads to.
    pub(super) fn is_typed(&self) -> bool {
        self.depth == 0
    }

    pub(super) fn with<'b>(&self, argv: &'b [Word]) -> Seen<'b>
    where
        'a: 'b,
    {
        Seen { argv, wrapped: self.wrapped + 1, ..self.clone() }
    }

    pub(super) fn standing_in<'b>(&self, place: &'b Place) -> Seen<'b>
    where
        'a: 'b,
    {
        Seen { place, ..self.clone() }
    }

    pub(super) fn deeper(&self) -> Surroundings {
        Surroundings {
            env: self.env.clone(),
            known: self.known.clone(),
            depth: self.depth + 1,
            wrapped: self.wrapped,
        }
    }

    /// What comes on standard input, where that can be told.
    pub(super) fn input(&self) -> Option<String> {
        let simple = &self.simples[self.at];
        if !simple.here.is_empty() {
            return Some(simple.here.join("\n"));
        }
        let From::Simple(from) = simple.from else { return None };
        printed(&self.simples[from])
    }

    /// The words of the commands before it in the same text.
    pub(super) fn before(&self) -> impl DoubleEndedIterator<Item = &[Word]> {
        self.simples[..self.at].iter().map(|simple| &simple.words[..])
    }

    pub(super) fn reads_what_is_unseen(&self) -> bool {
        let simple = &self.simples[self.at];
        self.input().is_none() && (simple.from != From::Nothing || !simple.reads.is_empty())
    }
}

/// What a command prints whose words say it.
fn printed(simple: &Simple) -> Option<String> {
    let (program, args) = simple.words.split_first()?;
    let text = |from: usize| args[from..].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    match base(&program.text) {
        "echo" => {
            let options = args
                .iter()
                .take_while(|word| matches!(word.text.as_str(), "-e" | "-n" | "-E" | "-en" | "-ne"));
            let from = options.count();
            Some(text(from).replace("\\n", "\n"))
        }
        "printf" => {
            let (format, rest) = args.split_first()?;
            let rest: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
            let mut rest_of = rest.iter();
            let mut out = String::new();
            let mut parts = format.text.split("%s");
            out.push_str(parts.next().unwrap_or_default());
            for part in parts {
                out.push_str(rest_of.next().copied().unwrap_or_default());
                out.push_str(part);
            }
            rest_of.for_each(|word| out.push_str(&format!(" {word}")));
            Some(out.replace("\\n", "\n"))
        }
        "cat" if !simple.here.is_empty() => Some(simple.here.join("\n")),
        _ => None,
    }
}

/// Reads `text` as a shell and adds what it would do.
pub(super) fn line(text: &str, place: &Place, around: &Surroundings, told: &mut Read) {
    if around.depth > DEEPEST {
        told.is_spent = true;
    }
    if !told.spend(1, text.len()) {
        return;
    }
    let commands = read::read(text, place, &around.known);
    told.is_spent |= commands.is_too_much;
    if commands.is_broken {
        unseen(text, place, "it does not end as a shell wants it to", told);
    }
    for (at, simple) in commands.simples.iter().enumerate() {
        let place = simple.place.as_ref().unwrap_or(place);
        for file in &simple.writes {
            writes(&file.text, place, ">", told);
        }
        let mut env = around.env.clone();
        if !simple.exported.is_empty() || !simple.set.is_empty() {
            let values = Rc::make_mut(&mut env.0);
            values.extend(simple.exported.iter().map(|(name, value)| (name.clone(), Rc::clone(value))));
            values.extend(simple.set.iter().map(|(name, value)| (name.clone(), Rc::new(value.clone()))));
        }
        let (simples, depth, wrapped) = (&commands.simples[..], around.depth, around.wrapped);
        let known = &around.known;
        command(&Seen { argv: &simple.words, place, env, depth, wrapped, simples, at, known }, told);
    }
}

/// A text that cannot be followed counts by the words in it.
fn unseen(text: &str, place: &Place, why: &'static str, told: &mut Read) {
    let low = text.to_ascii_lowercase();
    let sounding = text.lines().find_map(|line| Some((line.trim(), sounds_like(line)?)));
    if let Some((text, act)) = sounding {
        told.add(Deed::Unseen { act, why }, place, text);
        if ["--no-verify", "core.hookspath", "hook.loopx"].iter().any(|word| low.contains(word)) {
            told.add(Deed::SkipsHooks { how: "a word for it".to_owned() }, place, text);
        }
    }
}

/// Whether words in `text` are those of a push or a publisher, in this order and near each other, on one line.
pub(super) fn sounds_like(text: &str) -> Option<Out> {
    const NEAR: usize = 8;
    const SAYS: [(&str, &str, Out); 19] = [
        ("git", "push", Out::Push),
        ("git", "send-pack", Out::Push),
        ("jj", "push", Out::Push),
        ("gh", "merge", Out::Publish),
        ("gh", "release", Out::Publish),
        ("gh", "sync", Out::Publish),
        ("cargo", "publish", Out::Publish),
        ("npm", "publish", Out::Publish),
        ("pnpm", "publish", Out::Publish),
        ("yarn", "publish", Out::Publish),
        ("bun", "publish", Out::Publish),
        ("twine", "upload", Out::Publish),
        ("uv", "publish", Out::Publish),
        ("poetry", "publish", Out::Publish),
        ("gem", "push", Out::Publish),
        ("docker", "push", Out::Publish),
        ("podman", "push", Out::Publish),
        ("goreleaser", "release", Out::Publish),
        ("helm", "push", Out::Publish),
    ];
    text.lines().find_map(|line| {
        let words: Vec<&str> = (line.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_')))
            .filter(|word| !word.is_empty())
            .collect();
        (0..words.len()).find_map(|at| {
            let near = &words[at + 1..words.len().min(at + 1 + NEAR)];
            let said = |(first, second, out): &(&str, &str, Out)| {
                (words[at] == *first && near.contains(second)).then_some(*out)
            };
            match words[at] {
                "git-push" | "git-send-pack" => Some(Out::Push),
                _ => SAYS.iter().find_map(said),
            }
        })
    })
}

/// The text of a program in a language that is not read here; `by` is what runs it, or its file. What is said in it counts where it
/// runs programs at all, and not where it is a comment or only printed.
pub(super) fn code(text: &str, place: &Place, by: &str, told: &mut Read) {
    let text = &without_comments(text);
    let low = text.to_ascii_lowercase();
    let has_ticks =
        ["ruby", "perl", "php", ".rb", ".pl", "rakefile", "fastfile"].iter().any(|word| by.contains(word));
    let runs = |text: &str| RUNS.iter().any(|word| text.contains(word)) || has_ticks && text.contains('`');
    if runs(&low) {
        let is_said = |line: &&str| {
            let begin = line.trim_start();
            let low = begin.to_ascii_lowercase();
            let calls = || CALLS.iter().any(|word| low.contains(word)) || has_ticks && low.contains('`');
            !PRINTS.iter().any(|word| begin.starts_with(word)) || calls()
        };
        let lines: Vec<&str> = text.lines().filter(is_said).collect();
        unseen(&lines.join("\n"), place, "it is the text of a program, and has the words in it", told);
        let words: Vec<&str> = text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .filter(|word| !word.is_empty())
            .collect();
        for at in (0..words.len()).filter(|at| words[*at] == "loopx") {
            let rest: Vec<&str> = words[at + 1..words.len().min(at + 5)].to_vec();
            if let Some(verb) = for_persons(&rest) {
                told.add(Deed::AsksForPerson { how: format!("`loopx {verb}`") }, place, text);
            }
        }
    }
    let writing = [
        "'w", "\"w", "'a", "\"a", "write", "unlink", "remove", "rmtree", "rename", "chmod", "delete", "copy",
        "rmsync", "rmdir", "rm(", "rm_", "truncate", "symlink", "move",
    ];
    let is_writing = || writing.iter().any(|word| low.contains(word));
    for file in super::HOST_FILES.iter().filter(|file| low.contains(**file) && is_writing()) {
        told.add(Deed::TouchesHost { path: (*file).to_owned() }, &Place::At(String::new()), text);
    }
    if low.contains(".git/hooks") && is_writing() {
        told.add(Deed::TouchesHooks { how: "a program with `.git/hooks` in it".to_owned() }, place, text);
    }
    if [".git/loopx", ".loopx/", "refs/heads/loopx"].iter().any(|word| low.contains(word)) && is_writing() {
        told.add(
            Deed::TouchesState { how: "a program with loopx's own files in it".to_owned() },
            place,
            text,
        );
    }
}

/// What programs run others with, in lower case.
const RUNS: [&str; 30] = [
    "system",
    "subprocess",
    "popen",
    "exec",
    "spawn",
    "child_process",
    "shell",
    "%x",
    "qx",
    "command::new",
    "command(",
    "call(",
    "run(",
    "run ",
    "sh(",
    "sh.",
    "$`",
    "getline",
    "| \"",
    "fork",
    "pexpect",
    "process",
    "git.repo",
    ".push(",
    "pygit2",
    "dulwich",
    "simple-git",
    "cmd(",
    "invoke",
    "!git",
];

/// What can be called on a line that prints something, too.
const CALLS: [&str; 10] =
    ["system(", "exec", "spawn", "popen", "subprocess", "call(", "run(", "sh(", "getline", "| \""];

/// What a line begins with that only says something.
const PRINTS: [&str; 14] = [
    "print",
    "console.",
    "puts ",
    "puts(",
    "echo ",
    "raise ",
    "throw ",
    "log",
    "warn",
    "assert",
    "sys.stderr.write",
    "sys.stdout.write",
    "help=",
    "//",
];

/// The text without comments and docstrings.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !matches!(c, '"' | '\'' | '/' | '#') {
            kept.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let before = kept.trim_end_matches([' ', '\t']);
        let is_first = before.is_empty() || before.ends_with('\n');
        let ends_before = is_first || before.ends_with([';', '{', '}', '(', ')', ',', '[', ']']);
        let is_apart = is_first || before.len() < kept.len();
        let docs = ["\"\"\"", "'''"].into_iter().find(|quote| is_first && rest.starts_with(quote));
        let to = if let Some(quote) = docs {
            rest[3..].find(quote).map_or(rest.len(), |at| at + 6)
        } else if rest.starts_with("/*") && ends_before {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with("//") && ends_before
            || c == '#' && is_apart && !rest[1..].starts_with(|c: char| c.is_ascii_lowercase() || c == '{')
        {
            rest.find('\n').unwrap_or(rest.len())
        } else if matches!(c, '"' | '\'') {
            // A string, if it ends on this line.
            let mut is_escaped = false;
            let end =
                rest[1..].char_indices().take(256).take_while(|(_, c)| *c != '\n').find(|(_, inside)| {
                    let ends = *inside == c && !is_escaped;
                    is_escaped = *inside == '\\' && !is_escaped;
                    ends
                });
            let to = end.map_or(1, |(at, _)| at + 2);
            kept.push_str(&rest[..to]);
            rest = &rest[to..];
            continue;
        } else {
            kept.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        rest = &rest[to..];
    }
    kept
}

/// A text that cannot be read as anything.
pub(super) fn sounding(text: &str, place: &Place, told: &mut Read) {
    unseen(text, place, "it came in a form that cannot be read", told);
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Something would be written at `path`, which may be a host's. It is about where the host stands, wherever that lies.
pub(super) fn host(path: &str, place: &Place, by: &str, told: &mut Read) {
    let is_taken = matches!(by, "rm" | "mv" | "find" | "shred" | "trash" | "rmdir" | "git rm" | "git mv");
    if let Some(whole) = super::of_host(path, place, is_taken) {
        told.add(Deed::TouchesHost { path: whole }, &Place::At(String::new()), &format!("{by} {path}"));
    }
}

/// Something would be written at `path`.
fn writes(path: &str, place: &Place, by: &str, told: &mut Read) {
    host(path, place, by, told);
    let Some((whose, place)) = reserved(path, place) else { return };
    let how = format!("`{by}` on `{path}`");
    let deed = match whose {
        Reserved::Git if !matches!(by, "rm" | "mv" | "find" | "rsync" | "ln" | "shred") => return,
        Reserved::Git => Deed::TakesGitAway { how },
        Reserved::State => Deed::TouchesState { how },
        Reserved::Hooks => Deed::TouchesHooks { how },
    };
    told.add(deed, &place, &format!("{by} {path}"));
}

/// Programs that run the rest of their words: options of theirs with a value, and how many words come before the program.
const RUNNERS: [(&str, &[&str], usize); 47] = [
    ("watch", &["-n", "--interval"], 0),
    ("runuser", &["-u", "-g", "-G", "-w", "-s", "--user", "--group"], 0),
    ("corepack", &[], 0),
    ("uvx", &["--from", "--with", "-p", "--python"], 0),
    (
        "sudo",
        &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group", "--chdir"],
        0,
    ),
    ("doas", &["-u", "-C"], 0),
    ("nohup", &[], 0),
    ("nice", &["-n", "--adjustment"], 0),
    ("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    ("timeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    ("gtimeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    ("stdbuf", &["-i", "-o", "-e"], 0),
    ("setsid", &[], 0),
    ("builtin", &[], 0),
    ("exec", &["-a"], 0),
    ("time", &["-f", "-o", "--format", "--output"], 0),
    ("chronic", &[], 0),
    ("unbuffer", &[], 0),
    ("strace", &["-e", "-o", "-p", "-s", "-P", "-u", "-E"], 0),
    ("ltrace", &["-e", "-o", "-p", "-s", "-u"], 0),
    (
        "xargs",
        &[
            "-n",
            "-I",
            "-P",
            "-L",
            "-d",
            "-a",
            "-s",
            "-E",
            "--max-args",
            "--replace",
            "--max-procs",
            "--delimiter",
        ],
        0,
    ),
    ("gxargs", &["-n", "-I", "-P", "-L", "-d", "-a", "-s", "-E"], 0),
    ("flock", &["-w", "-E", "--timeout"], 1),
    ("caffeinate", &["-t", "-w"], 0),
    ("taskset", &[], 1),
    ("chrt", &[], 1),
    ("unshare", &[], 0),
    ("setarch", &[], 0),
    ("firejail", &[], 0),
    ("proxychains", &["-f"], 0),
    ("proxychains4", &["-f"], 0),
    ("torsocks", &[], 0),
    ("faketime", &["-f"], 1),
    ("rlwrap", &[], 0),
    ("entr", &[], 0),
    ("retry", &["-t", "-d"], 0),
    ("ssh-agent", &[], 0),
    ("dbus-run-session", &[], 0),
    ("xvfb-run", &["-s", "-n"], 0),
    ("systemd-run", &["-u", "-p", "--unit", "--property"], 0),
    ("cgexec", &["-g"], 0),
    ("busybox", &[], 0),
    ("toybox", &[], 0),
    ("npx", &["-p", "--package"], 0),
    ("bunx", &[], 0),
    ("pnpx", &[], 0),
    ("dotenv", &["-e", "-f"], 0),
];

/// Programs that run their words behind one of these.
const ENVIRONMENTS: [(&str, &[&str], usize); 21] = [
    ("pipx", &["run"], 0),
    ("poetry", &["run"], 0),
    ("uv", &["run"], 0),
    ("rye", &["run"], 0),
    ("pdm", &["run"], 0),
    ("hatch", &["run"], 0),
    ("pipenv", &["run"], 0),
    ("bundle", &["exec"], 0),
    ("direnv", &["exec"], 1),
    ("mise", &["exec", "x"], 0),
    ("asdf", &["exec"], 0),
    ("rtx", &["exec", "x"], 0),
    ("npm", &["exec", "x"], 0),
    ("pnpm", &["exec", "dlx"], 0),
    ("yarn", &["exec", "dlx"], 0),
    ("nix", &["develop", "shell", "run"], 0),
    ("op", &["run"], 0),
    ("doppler", &["run"], 0),
    ("conda", &["run"], 0),
    ("rustup", &["run"], 1),
    ("heroku", &["local:run"], 0),
];

const SHELLS: [&str; 11] =
    ["sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash", "yash", "busybox-sh"];

/// Programs that take a command line as one word.
const TAKE_LINES: [&str; 17] = [
    "watch",
    "su",
    "script",
    "nix-shell",
    "tmux",
    "screen",
    "at",
    "batch",
    "expect",
    "trap",
    "parallel",
    "concurrently",
    "runuser",
    "flock",
    "entr",
    "hyperfine",
    "foreman",
];

/// One simple command.
pub(super) fn command(seen: &Seen<'_>, told: &mut Read) {
    if seen.depth > DEEPEST || seen.wrapped > MOST_WRAPPED {
        told.is_spent = true;
    }
    if !told.spend(1 + seen.argv.len() / 8, 0) {
        return;
    }
    let Some((program, args)) = seen.argv.split_first() else { return };
    let name = base(&program.text);
    if name.is_empty() || name.contains(['$', '`', '*', '?', '[', '(']) {
        untold(seen, args, told);
    } else if !hands_on(seen, program, args, told) {
        named(seen, program, args, told);
    }
}

/// A command whose program cannot be told.
fn untold(seen: &Seen<'_>, args: &[Word], told: &mut Read) {
    let texts: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    let all: Vec<&str> = seen.argv.iter().map(|word| word.text.as_str()).collect();
    let why = "which program it is cannot be told";
    let act = match sounds_like(&all.join(" ")) {
        Some(act) => Some(act),
        None if texts.first() == Some(&"push") || texts.contains(&"send-pack") => Some(Out::Push),
        None if texts.first() == Some(&"publish") => Some(Out::Publish),
        None => None,
    };
    if let Some(act) = act {
        told.add(Deed::Unseen { act, why }, seen.place, &all.join(" "));
    }
    if texts.iter().any(|text| text.starts_with("--no-veri")) && texts.contains(&"push") {
        told.add(Deed::SkipsHooks { how: "`--no-verify`".to_owned() }, seen.place, &all.join(" "));
    }
}

/// A program that runs the rest of its words, or lines that it is given. False for any other.
fn hands_on(seen: &Seen<'_>, program: &Word, args: &[Word], told: &mut Read) -> bool {
    let name = base(&program.text);
    let texts: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    // `npx -c 'git push'`: a line that is one word to whoever runs it.
    if seen.wrapped > 0 && name.contains(char::is_whitespace) && !program.text.starts_with('/') {
        let words: Vec<&str> = seen.argv.iter().map(|word| word.text.as_str()).collect();
        line(&words.join(" "), seen.place, &seen.deeper(), told);
        return true;
    }
    // `time -p git push`: the word before it was taken for the shell's own.
    if name.starts_with('-') {
        command(&seen.with(args), told);
        return true;
    }
    if let Some((_, with_value, skip)) = RUNNERS.iter().find(|(runner, ..)| *runner == name) {
        if name.ends_with("xargs") {
            fed_words(seen, args, with_value, told);
        }
        let rest = behind_options(args, with_value);
        command(&seen.with(rest.get(*skip..).unwrap_or_default()), told);
        if !TAKE_LINES.contains(&name) {
            return true;
        }
    }
    if let Some((_, verbs, skip)) = ENVIRONMENTS.iter().find(|(program, ..)| *program == name)
        && !publishes(name, &texts)
        && let Some(at) = texts.iter().position(|text| verbs.contains(text))
    {
        let rest = &args[at + 1..];
        let rest = match rest.iter().position(|word| matches!(word.text.as_str(), "--" | "-c" | "--command"))
        {
            Some(at) => &rest[at + 1..],
            None => behind_options(rest, &["--with", "--python", "-p", "--project", "-n"]),
        };
        command(&seen.with(rest.get(*skip..).unwrap_or_default()), told);
        return true;
    }
    if name == "parallel" {
        parallel(seen, args, told);
    }
    if TAKE_LINES.contains(&name) {
        for text in texts.iter().filter(|text| text.contains(char::is_whitespace)) {
            match name {
                "expect" => code(text, seen.place, name, told),
                _ => line(text, seen.place, &seen.deeper(), told),
            }
        }
        if matches!(name, "tmux" | "screen") {
            (1..args.len()).for_each(|at| command_at(seen, &args[at..], told));
        }
        if matches!(name, "at" | "batch" | "expect")
            && let Some(text) = seen.input()
        {
            line(&text, seen.place, &seen.deeper(), told);
            code(&text, seen.place, name, told);
        }
        return true;
    }
    if SHELLS.contains(&name) {
        shell(seen, name, args, told);
        return true;
    }
    false
}

/// A program that is known by its name, or that lies in a file which may be read.
fn named(seen: &Seen<'_>, program: &Word, args: &[Word], told: &mut Read) {
    let name = base(&program.text);
    let texts: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    if let Some(verb) =
        name.strip_prefix("git-").filter(|verb| matches!(*verb, "push" | "send-pack" | "http-push"))
    {
        let mut words = vec![Word { text: verb.to_owned(), is_open: false }];
        words.extend_from_slice(args);
        return git::git(seen, &words, told);
    }
    match name {
        "git" => git::git(seen, args, told),
        "env" | "genv" | "cross-env" | "cross-env-shell" => env(seen, args, told),
        "command" if !texts.iter().any(|text| matches!(*text, "-v" | "-V")) => {
            command(&seen.with(behind_options(args, &[])), told);
        }
        "eval" => line(&texts.join(" "), seen.place, &seen.deeper(), told),
        "alias" => {
            // What is only defined, as in files that set a shell up, is not done yet.
            let is_used = |name: &str| {
                let later = seen.simples[seen.at + 1..].iter().filter_map(|simple| simple.words.first());
                later.into_iter().any(|word| word.text == name)
            };
            let values =
                texts.iter().filter_map(|text| text.split_once('=')).filter(|(name, _)| is_used(name));
            values.for_each(|(_, value)| line(value, seen.place, &seen.deeper(), told));
        }
        "." | "source" => match args.first() {
            Some(file) if !file.is_open => run_file(seen, &file.text, true, told),
            Some(file) => unseen(&file.text, seen.place, "it comes from another command", told),
            None => {}
        },
        "apply_patch" | "applypatch" => {
            let text = seen.input().unwrap_or_else(|| texts.join("\n"));
            super::patched(&text).iter().for_each(|file| writes(file, seen.place, name, told));
        }
        "find" | "gfind" | "fd" | "fdfind" => find(seen, args, told),
        "loopx" => persons(seen, &texts, args, told),
        "claude" | "codex" | "gemini" | "opencode" | "cursor-agent" | "copilot"
            if texts.iter().any(|text| text.contains("loopx"))
                && texts.iter().any(|text| matches!(*text, "remove" | "rm" | "uninstall" | "disable")) =>
        {
            told.add(
                Deed::AsksForPerson { how: "taking loopx out of a host".to_owned() },
                seen.place,
                &seen.words(),
            );
        }
        "make" | "gmake" | "just" => tasks(seen, name, &texts, told),
        _ => {
            if publishes(name, &texts) {
                return told.add(Deed::Publish, seen.place, &seen.words());
            }
            // It hands on to git what it does not know.
            if name == "hub" {
                return git::git(seen, args, told);
            }
            if is_interpreter(name) {
                return interpreter(seen, name, args, told);
            }
            if matches!(name, "npm" | "pnpm" | "yarn" | "bun") {
                return tasks(seen, name, &texts, told);
            }
            if written_by(seen, name, args, told) {
                return;
            }
            let path = &program.text;
            let is_systems =
                ["/usr/", "/bin/", "/sbin/", "/opt/", "/nix/"].iter().any(|dir| path.starts_with(dir));
            if path.contains('/') && !program.is_open && !is_systems {
                let is_written = seen.simples[..seen.at].iter().any(|simple| !simple.writes.is_empty());
                match is_written {
                    true => run_file(seen, path, true, told),
                    false => told.run(Text::File { path: path.clone(), for_shell: false }, seen.place),
                }
            }
        }
    }
}

/// What stands at the end of words that are otherwise not understood.
fn command_at(seen: &Seen<'_>, rest: &[Word], told: &mut Read) {
    let is_known = rest.first().is_some_and(|word| {
        let name = base(&word.text);
        name == "git" || SHELLS.contains(&name) || matches!(name, "cargo" | "npm" | "gh")
    });
    if is_known {
        command(&seen.with(rest), told);
    }
}

/// The words behind the options at the front.
fn behind_options<'a>(args: &'a [Word], with_value: &[&str]) -> &'a [Word] {
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        if text == "--" {
            return after;
        }
        if !text.starts_with('-') || text == "-" {
            return rest;
        }
        rest = if with_value.contains(&text) { after.get(1..).unwrap_or_default() } else { after };
    }
    rest
}

/// `parallel git push ::: origin`, `parallel git {} ::: push`.
fn parallel(seen: &Seen<'_>, args: &[Word], told: &mut Read) {
    let with_value =
        ["-j", "--jobs", "-a", "--arg-file", "--delay", "--timeout", "--joblog", "-S", "-n", "-N", "-I"];
    let rest = behind_options(args, &with_value);
    let end = rest.iter().position(|word| word.text.starts_with(":::")).unwrap_or(rest.len());
    let (words, values) = rest.split_at(end);
    let values = values.iter().skip(1).filter(|word| !word.text.starts_with(":::")).take(64);
    let fed: Vec<Word> = match seen.input() {
        Some(input) => input.lines().take(64).map(Word::plain).collect(),
        None => Vec::new(),
    };
    let mut is_fed = false;
    for value in values.chain(&fed) {
        is_fed = true;
        let mut words = words.to_vec();
        match words.iter().any(|word| word.text.contains("{}")) {
            true => words.iter_mut().for_each(|word| word.text = word.text.replace("{}", &value.text)),
            false => words.push(value.clone()),
        }
        command(&seen.with(&words), told);
    }
    if !is_fed {
        command(&seen.with(words), told);
    }
}

/// `echo push | xargs git`.
fn fed_words(seen: &Seen<'_>, args: &[Word], with_value: &[&str], told: &mut Read) {
    let rest = behind_options(args, with_value);
    if rest.is_empty() {
        return;
    }
    if let Some(input) = seen.input()
        && told.spend(1 + input.len() / 16, 0)
    {
        let fed = input.split_whitespace().map(|text| Word { text: text.to_owned(), is_open: false });
        let words: Vec<Word> = rest.iter().cloned().chain(fed).collect();
        command(&seen.with(&words), told);
    }
}

/// `env -i X=1 -C dir git push`, `env -S 'git push'`.
fn env(seen: &Seen<'_>, args: &[Word], told: &mut Read) {
    let mut env = seen.env.clone();
    let mut place = seen.place.clone();
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        rest = match text {
            "-u" | "--unset" => after.get(1..).unwrap_or_default(),
            "-C" | "--chdir" => {
                place = after.first().map_or(Place::Somewhere, |dir| place.join(&dir.text));
                after.get(1..).unwrap_or_default()
            }
            "-S" | "--split-string" => {
                let words: Vec<&str> = after.iter().map(|word| word.text.as_str()).collect();
                let inside = Surroundings { env, ..seen.deeper() };
                return line(&words.join(" "), &place, &inside, told);
            }
            text if text.starts_with("-S") || text.starts_with("--split-string=") => {
                let text = text.trim_start_matches("--split-string=").trim_start_matches("-S");
                let words: Vec<&str> =
                    std::iter::once(text).chain(after.iter().map(|word| word.text.as_str())).collect();
                let inside = Surroundings { env, ..seen.deeper() };
                return line(&words.join(" "), &place, &inside, told);
            }
            text if text.starts_with('-') => after,
            text => match text.split_once('=') {
                Some((name, value)) => {
                    let value = Word { text: value.to_owned(), is_open: word.is_open };
                    Rc::make_mut(&mut env.0).insert(name.to_owned(), Rc::new(value));
                    after
                }
                None => break,
            },
        };
    }
    command(&Seen { argv: rest, place: &place, env, wrapped: seen.wrapped + 1, ..seen.clone() }, told);
}

/// `bash -lc '…'`, `sh file`, `… | sh`.
fn shell(seen: &Seen<'_>, name: &str, args: &[Word], told: &mut Read) {
    let mut rest = args.iter();
    let mut takes_line = false;
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if text == "--" || !text.starts_with(['-', '+']) || text == "-" {
            let file = match text {
                "--" | "-" => rest.next(),
                _ => Some(word),
            };
            if takes_line {
                return inside(seen, file.map_or("", |word| word.text.as_str()), told);
            }
            if let Some(file) = file {
                let path = file.text.clone();
                if !file.is_open {
                    run_file(seen, &path, true, told);
                } else if let Some(act) = sounds_like(&path) {
                    told.add(
                        Deed::Unseen { act, why: "it comes from another command" },
                        seen.place,
                        &seen.words(),
                    );
                }
                return;
            }
            break;
        }
        match text {
            "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file" => {
                rest.next();
            }
            text if text.starts_with("--") => takes_line |= text == "--command",
            // It only looks whether the text is well formed.
            text if text.starts_with('-') && text.contains('n') => return,
            text => takes_line |= text.starts_with('-') && text.contains('c'),
        }
    }
    if takes_line {
        return;
    }
    let simple = &seen.simples[seen.at];
    if let Some(text) = seen.input() {
        return inside(seen, &text, told);
    }
    for file in simple.reads.iter().filter(|file| !file.is_open) {
        told.run(Text::File { path: file.text.clone(), for_shell: true }, seen.place);
    }
    let before: Vec<&Simple> = match simple.from {
        From::Nothing => return,
        From::Several => seen.simples[..seen.at].iter().collect(),
        From::Simple(_) => pipe(seen.simples, seen.at),
    };
    for upstream in before {
        if !told.spend(1 + upstream.words.len() / 8, 0) {
            return;
        }
        let Some((program, args)) = upstream.words.split_first() else { continue };
        let words: Vec<&str> = upstream.words.iter().map(|word| word.text.as_str()).collect();
        let text = format!("{} {}", words.join(" "), upstream.here.join("\n"));
        match base(&program.text) {
            "cat" | "head" | "tail" | "sed" | "tac" => {
                let files = args.iter().filter(|word| !word.is_open && !word.text.starts_with('-'));
                for file in files {
                    told.run(Text::File { path: file.text.clone(), for_shell: true }, seen.place);
                }
            }
            "echo" | "printf" => {
                if let Some(text) = printed(upstream) {
                    inside(seen, &text, told);
                }
            }
            // Nobody writes a script in this way but to hide it.
            "base64" | "base32" | "xxd" | "openssl" | "rev" | "tr" | "uudecode" | "gunzip" | "zcat" => {
                let why = "it comes out of a program that makes it readable";
                told.add(
                    Deed::Unseen { act: Out::Push, why },
                    seen.place,
                    &format!("{} | {name}", text.trim()),
                );
            }
            _ => unseen(&text, seen.place, "it comes from another command", told),
        }
    }
}

/// A file that would be run. What stands in it may be written by the very same line, before anybody can read it.
fn run_file(seen: &Seen<'_>, path: &str, for_shell: bool, told: &mut Read) {
    if !told.spend(1 + seen.at / 64, 0) {
        return;
    }
    let plain = |path: &str| path.trim_start_matches("./").to_owned();
    let writes_it = |simple: &&Simple| {
        let to = simple.writes.iter().any(|word| plain(&word.text) == plain(path));
        let by_tee =
            simple.words.first().is_some_and(|word| matches!(base(&word.text), "tee" | "cp" | "mv" | "ln"))
                && simple.words[1..].iter().any(|word| plain(&word.text) == plain(path));
        to || by_tee
    };
    for (at, _) in seen.simples[..seen.at].iter().enumerate().filter(|(_, simple)| writes_it(simple)) {
        let upstream: Vec<&Simple> =
            std::iter::once(&seen.simples[at]).chain(pipe(seen.simples, at)).collect();
        for simple in upstream {
            if !told.spend(1, 0) {
                return;
            }
            match printed(simple).or_else(|| (!simple.here.is_empty()).then(|| simple.here.join("\n"))) {
                Some(text) if for_shell => inside(seen, &text, told),
                Some(text) => code(&text, seen.place, path, told),
                None => {
                    let words: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
                    unseen(&words.join(" "), seen.place, "it is written by the same line that runs it", told);
                }
            }
        }
    }
    let path = path.to_owned();
    told.run(if for_shell { Text::File { path, for_shell } } else { Text::Program { path } }, seen.place);
}

/// The commands of the pipe that ends before `at`.
fn pipe(simples: &[Simple], at: usize) -> Vec<&Simple> {
    let mut found = Vec::new();
    let mut from = simples[at].from;
    while let From::Simple(before) = from {
        found.push(&simples[before]);
        from = simples[before].from;
    }
    if from == From::Several {
        found.extend(&simples[..at]);
    }
    found
}

fn inside(seen: &Seen<'_>, text: &str, told: &mut Read) {
    let mut around = seen.deeper();
    // What is exported is known inside, too.
    let values = || seen.env.0.iter().map(|(name, value)| (name.clone(), Rc::clone(value)));
    around.known.values.extend(values());
    Rc::make_mut(&mut around.known.exported).extend(values());
    line(text, seen.place, &around, told);
}

fn find(seen: &Seen<'_>, args: &[Word], told: &mut Read) {
    let starts = args.iter().take_while(|word| !word.text.starts_with(['-', '(', '!']));
    let starts: Vec<&Word> = starts.collect();
    if args.iter().any(|word| word.text == "-delete") {
        starts.iter().for_each(|start| writes(&start.text, seen.place, "find", told));
    }
    let mut rest = args;
    while let Some(at) = rest.iter().position(|word| {
        matches!(
            word.text.as_str(),
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
        )
    }) {
        let behind = &rest[at + 1..];
        let end =
            behind.iter().position(|word| matches!(word.text.as_str(), ";" | "+")).unwrap_or(behind.len());
        let mut words = behind[..end].to_vec();
        // What is found lies below where it begins.
        if let Some(start) = starts.first() {
            words.iter_mut().filter(|word| word.text == "{}").for_each(|word| word.text = start.text.clone());
        }
        command(&seen.with(&words), told);
        rest = &behind[end..];
    }
}

fn is_interpreter(name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        plain,
        "python"
            | "pypy"
            | "node"
            | "nodejs"
            | "perl"
            | "ruby"
            | "php"
            | "deno"
            | "bun"
            | "lua"
            | "osascript"
            | "awk"
            | "gawk"
            | "mawk"
            | "tclsh"
            | "pwsh"
            | "ipython"
            | "vim"
            | "vi"
            | "nvim"
            | "ex"
            | "emacs"
    )
}

/// `python -c '…'`, `node -e '…'`, `python deploy.py`.
fn interpreter(seen: &Seen<'_>, name: &str, args: &[Word], told: &mut Read) {
    let texts: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    if let ["-m", module, rest @ ..] = texts.as_slice() {
        if publishes(module, rest) {
            told.add(Deed::Publish, seen.place, &seen.words());
        }
        return;
    }
    if texts.first().is_some_and(|file| base(file) == "setup.py") && texts.contains(&"upload") {
        return told.add(Deed::Publish, seen.place, &seen.words());
    }
    let is_line = |text: &&&str| text.contains(['(', ' ', ';', '!']);
    for text in texts.iter().filter(is_line) {
        code(text, seen.place, name, told);
    }
    if let Some(text) = seen.input() {
        code(&text, seen.place, name, told);
    }
    if matches!(name, "vim" | "vi" | "nvim" | "ex" | "emacs" | "perl" | "ruby") {
        written_by(seen, name, args, told);
    }
    let has_inline =
        texts.iter().any(|text| matches!(*text, "-c" | "-e" | "--eval" | "-p" | "-r" | "-pe" | "-ne" | "-E"));
    let file =
        args.iter().find(|word| !word.text.starts_with('-') && !matches!(word.text.as_str(), "run" | "test"));
    // What they are given is edited, or read.
    let is_editor = matches!(name, "vim" | "vi" | "nvim" | "ex" | "emacs" | "awk" | "gawk" | "mawk");
    if let Some(file) =
        file.filter(|word| !is_editor && !has_inline && !word.is_open && !word.text.contains(['(', ' ', ';']))
    {
        run_file(seen, &file.text, false, told);
    }
}

/// Files that a program writes, by where they stand among its words. False for a program that is not known to.
fn written_by(seen: &Seen<'_>, name: &str, args: &[Word], told: &mut Read) -> bool {
    let plain = || args.iter().filter(|word| !word.text.starts_with('-'));
    let has =
        |options: &[&str]| args.iter().any(|word| options.iter().any(|option| word.text.starts_with(option)));
    match name {
        "rm" | "rmdir" | "unlink" | "shred" | "truncate" | "touch" | "mkdir" | "tee" | "chmod" | "chown"
        | "chgrp" | "mv" | "ed" | "vi" | "vim" | "nvim" | "nano" | "emacs" | "ex" | "setfacl" | "chattr"
        | "mkfifo" | "sponge" | "patch" | "trash" | "xattr" => {
            plain().for_each(|word| writes(&word.text, seen.place, name, told))
        }
        "cp" | "install" | "rsync" | "scp" | "ln" | "gcp" => {
            let mut words = args.iter();
            while let Some(word) = words.next() {
                match word.text.as_str() {
                    "-t" | "--target-directory" => {
                        words.next().into_iter().for_each(|word| writes(&word.text, seen.place, name, told));
                    }
                    text => text
                        .strip_prefix("--target-directory=")
                        .into_iter()
                        .for_each(|path| writes(path, seen.place, name, told)),
                }
            }
            plain().next_back().into_iter().for_each(|word| writes(&word.text, seen.place, name, told));
        }
        "sed" | "gsed" | "perl" | "ruby" => {
            if has(&["-i", "--in-place", "-pi", "-ni"]) {
                plain().for_each(|word| writes(&word.text, seen.place, name, told));
            }
        }
        "dd" => {
            let outs = args.iter().filter_map(|word| word.text.strip_prefix("of="));
            outs.for_each(|path| writes(path, seen.place, name, told));
        }
        "tar" | "bsdtar" | "unzip" => {
            let mut words = args.iter();
            while let Some(word) = words.next() {
                if matches!(word.text.as_str(), "-C" | "-d" | "--directory") {
                    words.next().into_iter().for_each(|word| writes(&word.text, seen.place, name, told));
                }
            }
        }
        "curl" | "wget" => {
            let mut words = args.iter();
            while let Some(word) = words.next() {
                if matches!(word.text.as_str(), "-o" | "-O" | "--output" | "--output-document") {
                    words.next().into_iter().for_each(|word| writes(&word.text, seen.place, name, told));
                }
            }
        }
        _ => return false,
    }
    true
}

fn tasks(seen: &Seen<'_>, name: &str, texts: &[&str], told: &mut Read) {
    let mut place = seen.place.clone();
    let (mut file, mut names) = (None, Vec::new());
    let mut words = texts.iter();
    while let Some(text) = words.next() {
        match *text {
            "-C" | "--directory" | "--prefix" | "--cwd" | "-d" | "--working-directory" => {
                place = words.next().map_or(Place::Somewhere, |dir| place.join(dir));
            }
            "-f" | "--file" | "--makefile" | "--justfile" if matches!(name, "make" | "gmake" | "just") => {
                file = words.next().map(|file| (*file).to_owned());
            }
            "-n" | "--dry-run" | "--just-print" if name != "just" || *text != "-n" => return,
            "--" => break,
            text if text.starts_with('-') || text.contains('=') => {}
            text => names.push(text.to_owned()),
        }
    }
    if file.as_deref() == Some("-")
        && let Some(text) = seen.input()
    {
        let recipes =
            text.lines().filter_map(|line| line.strip_prefix('\t').or_else(|| Some(line.split_once(';')?.1)));
        for recipe in recipes {
            line(recipe.trim_start_matches(['@', '-', '+', ' ']), &place, &seen.deeper(), told);
        }
        return;
    }
    let runner = match name {
        "make" | "gmake" => Runner::Make,
        "just" => Runner::Just,
        _ => Runner::Npm,
    };
    if runner == Runner::Npm {
        let first = names.first().cloned().unwrap_or_default();
        names = match (name, first.as_str()) {
            (_, "run" | "run-script" | "rum") => names.get(1).cloned().into_iter().collect(),
            ("npm" | "pnpm", "t" | "tst") => vec!["test".to_owned()],
            ("npm" | "pnpm", "test" | "start" | "stop" | "restart") => vec![first],
            (_, "version") => ["preversion", "version", "postversion"].map(str::to_owned).into(),
            // yarn, pnpm and bun run a task by its name alone.
            ("yarn" | "pnpm" | "bun", _) if !first.is_empty() => vec![first],
            _ => return,
        };
        let hooks = names.iter().flat_map(|name| [format!("pre{name}"), name.clone(), format!("post{name}")]);
        names = hooks.collect();
    }
    told.run(Text::Task { runner, file, names }, &place);
}

/// The step that these words of a `loopx` command ask for, if only a person may take it.
fn for_persons(words: &[&str]) -> Option<String> {
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    let is = match first {
        "resolve-gate" | "restore" | "uninstall" | "import" => return Some(first.to_owned()),
        "gate" => matches!(second, "resolve" | "withdraw" | "reopen" | "review"),
        "goal" => matches!(second, "resume" | "achieve" | "abandon"),
        "bypass" => second == "acknowledge",
        "approver" => matches!(second, "add" | "remove"),
        "secret" => second == "allow",
        "remote" | "notify" => second == "set",
        "quota" => matches!(second, "void" | "grant"),
        "host" => second == "uninstall",
        "todo" => second == "edit" && words.contains(&"--no-check"),
        "hooks" => second == "uninstall" || second == "strict" && words.get(2) == Some(&"off"),
        "compact" => words.contains(&"--apply"),
        _ => false,
    };
    let second = if first == "compact" { "--apply" } else { second };
    is.then(|| format!("{first} {second}"))
}

fn persons(seen: &Seen<'_>, texts: &[&str], args: &[Word], told: &mut Read) {
    let mut rest = 0;
    while let Some(text) = texts.get(rest).filter(|text| text.starts_with('-')) {
        rest += if matches!(*text, "-C" | "--agent-id") { 2 } else { 1 };
    }
    let plain = texts.get(rest..).unwrap_or_default();
    // What it runs is looked at like everything else.
    if let ["evidence" | "guard", "run", ..] = plain {
        if let Some(at) = texts.iter().position(|text| *text == "--") {
            let before = std::mem::take(&mut told.found);
            command(&seen.with(&args[at + 1..]), told);
            // The guard asks for itself.
            let is_for = |what: &str| {
                plain[0] == "guard" && texts[..at].windows(2).any(|two| two == ["--for", what])
                    || texts[..at].contains(&format!("--for={what}").as_str())
            };
            if is_for("publish") {
                let publishes = |found: &super::Found| {
                    matches!(found.deed, Deed::Publish | Deed::Unseen { act: Out::Publish, .. })
                };
                told.found.retain(|found| !publishes(found));
            }
            told.found.splice(0..0, before);
        }
        return;
    }
    if texts.iter().any(|text| matches!(*text, "-h" | "--help")) {
        return;
    }
    let telling = |text: &&str| !text.starts_with("--") || matches!(*text, "--apply" | "--no-check");
    let words: Vec<&str> = plain.iter().copied().filter(telling).collect();
    if plain.first() == Some(&"import") && plain.contains(&"--dry-run") {
        return;
    }
    if let Some(verb) = for_persons(&words) {
        told.add(Deed::AsksForPerson { how: format!("`loopx {verb}`") }, seen.place, &seen.words());
    }
}
