//! The most memory that each command has, with so many records and with so many commits.

use std::{
    fmt::Write as _,
    fs,
    io::{Read as _, Write as _},
    path::Path,
};

use loopx::{
    domain::{
        actor::{Actor, Stamp},
        id::TodoId,
        time::{Seconds, Timestamp},
        todo::Todo,
    },
    store::format,
};

use crate::{OPEN, Repo, id, sealed, todo};

/// GNU time, which says how much memory a program had.
const TIME: &str = "/usr/bin/time";

/// Prints the table.
pub(crate) fn tell(repos: &[Repo; 3]) {
    if !Path::new(TIME).exists() {
        println!("memory: not measured, as there is no {TIME}");
        return;
    }
    let mut rows: Vec<(String, [f64; 3])> = Vec::new();
    let mut columns = repos.each_ref().map(measured).map(Vec::into_iter);
    while let [Some((name, first)), Some((_, second)), Some((_, third))] =
        columns.each_mut().map(Iterator::next)
    {
        rows.push((name, [first, second, third]));
    }
    let cells = |cells: [String; 3]| cells.map(|cell| format!("{cell:>10}")).concat();
    println!(
        "most memory, MB\n{:44}{}",
        "todos, or commits",
        cells(repos.each_ref().map(|repo| repo.size.to_string()))
    );
    for (name, megabytes) in rows {
        println!("{name:44}{}", cells(megabytes.map(|megabytes| format!("{megabytes:.1}"))));
    }
}

/// What every command had, by its name.
fn measured(repo: &Repo) -> Vec<(String, f64)> {
    let folded = id(0);
    let agent = ["--agent-id", "codex-1"];
    let of = |words: &[&'static str]| words.to_vec();
    let commands: Vec<Vec<&str>> = vec![
        of(&["status"]),
        [&["quota", "should-run"][..], &agent].concat(),
        of(&["hook", "pre-push", "origin", "../hub.git"]),
        of(&["goal", "list"]),
        of(&["gate", "open", "May we?"]),
        of(&["gate", "list", "--all"]),
        of(&["todo", "add", "one more"]),
        of(&["todo", "list"]),
        of(&["todo", "list", "--all"]),
        vec!["todo", "show", &folded],
        vec!["evidence", "add", &folded, "--text", "seen"],
        of(&["evidence", "list"]),
        of(&["history"]),
    ];
    let name = |args: &[&str]| {
        let words: Vec<&str> =
            args.iter().copied().take_while(|word| !word.starts_with("t-")).take(2).collect();
        let flags = args.iter().filter(|word| word.starts_with("--all")).copied();
        [words, flags.collect()].concat().join(" ")
    };
    let mut rows: Vec<(String, f64)> = commands.iter().map(|args| (name(args), repo.memory(args))).collect();
    let file = repo.dir.path().join("state.jsonl");
    let file = file.to_str().expect("a path");
    rows.push(("export".into(), repo.memory(&["export", file])));
    let other = Repo::begun(repo.size, &[]);
    rows.push(("import".into(), other.memory_at_a_terminal(&["import", file])));
    let issues = repo.dir.path().join("issues.jsonl");
    fs::write(&issues, beads(repo.size)).expect("a file");
    let begun = Repo::begun(repo.size, &[]);
    let from = ["import", "--from", "beads", issues.to_str().expect("a path")];
    rows.push(("import --from beads".into(), begun.memory_at_a_terminal(&from)));
    rows.push(("status after an import".into(), other.memory(&["status"])));
    rows.push(("diff of the import".into(), other.memory(&["diff", "loopx/state~1..", "--json"])));
    rows.push(("report of all time".into(), other.memory(&["report", "--since", "2020-01-01"])));
    rows.push((
        "review-packet of all time".into(),
        other.memory(&["review-packet", "--since", "2020-01-01"]),
    ));
    rows.push(("doctor".into(), other.memory(&["doctor"])));
    rows.push(("verify --all of the import".into(), other.memory(&["verify", "--all"])));
    let long = Repo::begun(repo.size, &["--goal-text", "Ship it", "--goal-id", "ship"]);
    long.play_the_store(&claims(repo.size));
    rows.push(("verify --all of so many commits".into(), long.memory(&["verify", "--all"])));
    rows.push(("verify of nothing new after so many commits".into(), long.memory(&["verify"])));
    rows
}

/// So many issues as beads exports them, as many of them open as are elsewhere, each with a description and two that it needs.
fn beads(size: usize) -> String {
    (0..size).fold(String::new(), |mut issues, number| {
        let status = if number < size - OPEN { "closed" } else { "open" };
        let text = "what has to be done, and why it is not done yet ".repeat(6);
        let needs = [number / 2, number / 3].map(|on| format!("{{\"depends_on_id\":\"bd-{on}\"}}")).join(",");
        let _ = writeln!(
            issues,
            "{{\"id\":\"bd-{number}\",\"title\":\"Issue {number}\",\"description\":\"{text}\",\"status\":\"{status}\",\
             \"priority\":2,\"closed_at\":\"2025-12-16T13:26:47Z\",\"dependencies\":[{needs}]}}"
        );
        issues
    })
}

/// A stream for `git fast-import`: a todo, and so many legal commits that claim it and release it.
fn claims(size: usize) -> String {
    let (id, agent) =
        (id(0).parse::<TodoId>().expect("an id"), "agent:codex-1".parse::<Actor>().expect("an actor"));
    let mut stream = String::new();
    let mut present = todo(0, false);
    let mut put = |number: usize, op: &str, todo: &Todo| {
        let at = todo_time(number);
        let message = format!(
            "work on todo {id}\n\nLoopx-Op: {op}\nLoopx-Goal: ship\nLoopx-Record: todo/{id}\nLoopx-Actor: {agent}\n\
             Signed-off-by: Ann <ann@example.test>\n"
        );
        let from = if number == 0 { "from refs/heads/loopx/state^0\n" } else { "" };
        let bytes = format::encode(todo);
        let _ = write!(
            stream,
            "commit refs/heads/loopx/state\ncommitter Ann <ann@example.test> {} +0000\ndata {}\n{message}{from}\
             M 100644 inline goals/ship/todos/{id}.toml\ndata {}\n{bytes}\n",
            at.unix(),
            message.len(),
            bytes.len()
        );
    };
    put(0, "todo.add", &present);
    for number in 1..size {
        let stamp = Stamp { by: agent.clone(), at: todo_time(number) };
        let (op, next) = match number % 2 {
            1 => ("todo.claim", present.claim(&id, &stamp, Seconds(60))),
            _ => ("todo.release", present.release(&id, &agent)),
        };
        present = next.expect("a legal step");
        put(number, op, &present);
    }
    stream + "done\n"
}

fn todo_time(number: usize) -> Timestamp {
    Timestamp::from_unix(1_700_000_000 + i64::try_from(number).expect("a number"))
}

impl Repo {
    /// The most memory a command had, in MB.
    fn memory(&self, args: &[&str]) -> f64 {
        let note = self.note();
        let args = [&["-o", &note, "-f", "%M", sealed::program()], args].concat();
        let head = self.run("git", &["rev-parse", "HEAD"], "").1;
        let line = format!("refs/heads/main {} refs/heads/main {}\n", head.trim(), "0".repeat(40));
        self.run(TIME, &args, if args.contains(&"pre-push") { &line } else { "" });
        read(&note)
    }

    /// The same for a command that has its word typed back.
    fn memory_at_a_terminal(&self, args: &[&str]) -> f64 {
        let note = self.note();
        let (mut pty, pts) = pty_process::blocking::open().expect("a pseudo-terminal");
        let command =
            pty_process::blocking::Command::new(TIME).args(["-o", &note, "-f", "%M", sealed::program()]);
        let command = command.args(args).env_clear().current_dir(self.top());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let command = command.env("PATH", path).env("HOME", self.dir.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        let mut child = command.spawn(pts).expect("it starts");
        let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
        // The terminal ends with an error when its last user has gone.
        while let Ok(read @ 1..) = pty.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&shown);
            let asks = text.rsplit_once("Type `").and_then(|(_, asks)| asks.split_once('`'));
            if let Some((word, _)) = asks.filter(|(_, rest)| rest.ends_with(": ")) {
                pty.write_all(format!("{word}\n").as_bytes()).expect("the terminal takes input");
            }
        }
        assert!(child.wait().expect("it ends").success(), "{}", String::from_utf8_lossy(&shown));
        read(&note)
    }

    fn note(&self) -> String {
        self.dir.path().join("memory").to_str().expect("a path").to_owned()
    }
}

fn read(note: &str) -> f64 {
    let kilobytes = fs::read_to_string(note).expect("a note");
    kilobytes.trim().parse::<f64>().expect("a number") / 1024.0
}
