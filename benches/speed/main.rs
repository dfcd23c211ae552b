//! What loopx costs, beside what git costs, in one run: whole processes, interleaved, in repositories of different ages.
//!
//! Reads are to cost less than twice `git rev-parse HEAD`, mutations less than one `git commit --allow-empty`, both
//! whatever the number of closed records and commits.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench measures and says so")]

mod hosts;
mod memory;
mod open;
mod push;
#[path = "../sealed/mod.rs"]
mod sealed;
mod secrets;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    io::{Seek as _, Write as _},
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use loopx::{
    domain::{
        actor::Stamp,
        time::Timestamp,
        todo::{Priority, Todo, TodoState, Worker},
    },
    store::format,
};

const SIZES: [usize; 3] = [100, 10_000, 100_000];
const OPEN: usize = 50;
/// So many records go into one segment.
const SEGMENT: usize = 256;
const ROUNDS: usize = 49;

struct Repo {
    dir: tempfile::TempDir,
    size: usize,
    added: Vec<String>,
}

/// One thing that is measured, with the git command that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    RevParse,
    Status,
    ShouldRun,
    PrePush,
    Commit,
    Add,
    Claim,
}

impl What {
    const ALL: [Self; 7] =
        [Self::RevParse, Self::Status, Self::ShouldRun, Self::PrePush, Self::Commit, Self::Add, Self::Claim];

    fn name(self) -> &'static str {
        match self {
            Self::RevParse => "git rev-parse HEAD",
            Self::Status => "loopx status",
            Self::ShouldRun => "loopx quota should-run",
            Self::PrePush => "loopx hook pre-push",
            Self::Commit => "git commit --allow-empty",
            Self::Add => "loopx todo add",
            Self::Claim => "loopx todo claim",
        }
    }

    fn is_read(self) -> bool {
        matches!(self, Self::RevParse | Self::Status | Self::ShouldRun | Self::PrePush)
    }

    fn yardstick(self) -> Self {
        if self.is_read() { Self::RevParse } else { Self::Commit }
    }
}

impl Repo {
    /// A repository of this name in which a state was begun.
    fn begun(size: usize, goal: &[&str]) -> Self {
        let repo = Self { dir: tempfile::tempdir().expect("a folder"), size, added: Vec::new() };
        fs::create_dir(repo.top()).expect("a folder");
        sealed::furnish(repo.dir.path());
        repo.run("git", &["init", "-q"], "");
        repo.run("git", &["commit", "-q", "--allow-empty", "-m", "base"], "");
        repo.run(sealed::program(), &[&["init"], goal].concat(), "");
        repo
    }

    /// Puts commits on the state branch as the store would have.
    fn play_the_store(&self, stream: &str) {
        self.run("git", &["fast-import", "--quiet", "--date-format=raw"], stream);
        // So the tip is also noted as its own.
        let tip = self.run("git", &["rev-parse", "loopx/state"], "").1;
        let note = format!("idle {} loopx/state", tip.trim());
        fs::write(self.top().join(".git/loopx/writer"), note).expect("a note");
        // It is of what was there before; the next mutation makes it anew.
        let _ = fs::remove_file(self.top().join(".git/loopx/hot"));
        self.run(sealed::program(), &["init"], "");
    }

    fn new(size: usize) -> Self {
        let mut repo = Self::begun(size, &["--goal-text", "Ship it", "--goal-id", "ship"]);
        repo.play_the_store(&import(size));
        for _ in 0..3 {
            repo.add();
        }
        repo
    }

    fn top(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        sealed::command(self.dir.path(), &self.top(), program, args)
    }

    /// Runs a program to its end; returns how long that took and what it printed.
    fn run(&self, program: &str, args: &[&str], input: &str) -> (Duration, String) {
        finish(self.command(program, args), input)
    }

    fn add(&mut self) -> Duration {
        let (took, said) = self.run(sealed::program(), &["todo", "add", "a new todo", "--json"], "");
        let said: serde_json::Value = serde_json::from_str(&said).expect("an answer");
        self.added.push(said["id"].as_str().expect("an id").to_owned());
        took
    }

    fn measure(&mut self, what: What) -> Duration {
        match what {
            What::RevParse => self.run("git", &["rev-parse", "HEAD"], "").0,
            What::Status => self.run(sealed::program(), &["status"], "").0,
            What::ShouldRun => {
                self.run(sealed::program(), &["quota", "should-run", "--agent-id", "codex-1"], "").0
            }
            What::PrePush => self.pre_push().0,
            What::Commit => self.run("git", &["commit", "-q", "--allow-empty", "-m", "x"], "").0,
            What::Add => self.add(),
            What::Claim => {
                let todo = self.added.pop().expect("one was added");
                let took =
                    self.run(sealed::program(), &["todo", "claim", &todo, "--agent-id", "codex-1"], "").0;
                // As many are open in the next round.
                self.run(sealed::program(), &["todo", "done", &todo, "--agent-id", "codex-1"], "");
                took
            }
        }
    }

    fn pre_push(&self) -> (Duration, String) {
        let head = fs::read_to_string(self.top().join(".git/refs/heads/main")).expect("a commit");
        let line = format!("refs/heads/main {} refs/heads/main {}\n", head.trim(), "0".repeat(40));
        let pushed = self.run(sealed::program(), &["hook", "pre-push", "origin", "../hub.git"], &line);
        // What the push would leave behind; the next one carries what is new since.
        let remote = self.top().join(".git/refs/remotes/origin");
        fs::create_dir_all(&remote).and_then(|()| fs::write(remote.join("main"), head)).expect("a ref");
        pushed
    }
}

fn finish(mut command: Command, input: &str) -> (Duration, String) {
    // From a file, so that nobody waits for the writing.
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(input.as_bytes()).and_then(|()| file.rewind()).expect("an input");
    command.stdin(file).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let output = child.wait_with_output().expect("it ends");
    let took = start.elapsed();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    (took, String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The id of the todo with this number: scattered, and different for different numbers.
fn id(number: usize) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let scattered = number.wrapping_mul(0x9e37_79b1) % (1 << 30);
    let digit = |place: u32| char::from(DIGITS[scattered >> (5 * place) & 31]);
    (0..6).fold(String::from("t-"), |id, place| format!("{id}{}", digit(place)))
}

fn todo(number: usize, closed: bool) -> Todo {
    let at = Timestamp::from_unix(1_700_000_000 + i64::try_from(number).expect("a number"));
    let added = Stamp { by: "agent:codex-1".parse().expect("an actor"), at };
    let state = match closed {
        true => TodoState::Done { by: added.by.clone(), at, evidence: [].into(), note: None, epoch: 0 },
        false => TodoState::Open { epoch: 0 },
    };
    Todo {
        title: format!("Do what has to be done as number {number}").parse().expect("a title"),
        body: None,
        for_: Worker::Agent,
        priority: Priority::P2,
        needs: [].into(),
        requires: [].into(),
        check: None,
        monitor: None,
        added,
        state,
    }
}

/// A stream for `git fast-import`: a commit for each todo, and in the last one the files as the store would have folded
/// them.
fn import(size: usize) -> String {
    let closed = size - OPEN;
    let folded = closed / SEGMENT * SEGMENT;
    let mut files = BTreeMap::new();
    let mut indexes: BTreeMap<char, Vec<String>> = BTreeMap::new();
    let folder = "goals/ship/todos";
    for from in (0..folded).step_by(SEGMENT) {
        let mut segment = String::new();
        for number in from..from + SEGMENT {
            let id = id(number);
            indexes
                .entry(id.chars().nth(2).expect("a digit"))
                .or_default()
                .push(format!("{id} {}", from + 1));
            let record = serde_json::to_string(&todo(number, true)).expect("plain data");
            let _ = writeln!(segment, r#"{{"format":"1.0","id":"{id}","record":{record}}}"#);
        }
        files.insert(format!("{folder}/closed/{:06}-{:06}.jsonl", from + 1, from + SEGMENT), segment);
    }
    for (first, mut lines) in indexes {
        lines.sort_unstable();
        files.insert(format!("{folder}/closed/index/{first}.txt"), lines.join("\n") + "\n");
    }
    for number in folded..size {
        let is_closed = number < closed;
        let below = if is_closed { "closed/" } else { "" };
        files
            .insert(format!("{folder}/{below}{}.toml", id(number)), format::encode(&todo(number, is_closed)));
    }

    let mut stream = String::new();
    for number in 0..size {
        let message = format!("complete todo {}\n", id(number));
        let _ = write!(
            stream,
            "commit refs/heads/loopx/state\ncommitter Ann <ann@example.test> {} +0000\ndata {}\n{message}",
            1_700_000_000 + number,
            message.len()
        );
        if number == 0 {
            stream.push_str("from refs/heads/loopx/state^0\n");
        }
        if number + 1 == size {
            for (path, bytes) in &files {
                let _ = write!(stream, "M 100644 inline {path}\ndata {}\n{bytes}\n", bytes.len());
            }
        }
        stream.push('\n');
    }
    stream + "done\n"
}

fn time(repos: &mut [Repo; 3]) {
    let mut times: BTreeMap<(What, usize), Vec<Duration>> = BTreeMap::new();
    for round in 0..ROUNDS {
        for repo in repos.iter_mut() {
            // Who comes after a mutation pays for some of it, so everybody takes a turn there.
            let step = 1 + round % (What::ALL.len() - 1);
            for turn in 0..What::ALL.len() {
                let what = What::ALL[(round + turn * step) % What::ALL.len()];
                let took = repo.measure(what);
                times.entry((what, repo.size)).or_default().push(took);
            }
        }
    }
    times.values_mut().for_each(|times| times.sort());
    let median = |what: What, size: usize| times[&(what, size)][ROUNDS / 2].as_secs_f64() * 1e3;
    let least = |what: What, size: usize| times[&(what, size)][0].as_secs_f64() * 1e3;

    println!(
        "whole processes, {ROUNDS} rounds, milliseconds: median (least), and the median's ratio to git's"
    );
    println!(
        "{:26}{}",
        format!("todos ({OPEN} of them open)"),
        SIZES.map(|size| format!("{size:>25}")).concat()
    );
    for what in What::ALL {
        let cells = SIZES.map(|size| {
            let ratio = median(what, size) / median(what.yardstick(), size);
            format!("{:>9.2} ({:>5.2}) {ratio:>5.2} x", median(what, size), least(what, size))
        });
        println!("{:26}{}", what.name(), cells.map(|cell| format!("{cell:>25}")).concat());
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let wants = |part: &str| args.is_empty() || args.iter().any(|arg| arg == part);
    if wants("push") {
        push::tell();
    }
    if wants("open") {
        open::tell();
    }
    if wants("secrets") {
        secrets::tell();
    }
    if wants("hosts") {
        hosts::tell();
    }
    if !wants("time") && !wants("memory") {
        return;
    }
    let mut repos = SIZES.map(Repo::new);
    if wants("time") {
        time(&mut repos);
    }
    if wants("memory") {
        memory::tell(&repos);
    }
}
