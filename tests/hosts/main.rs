//! The real programs that agents live in, with a model on loopback that says what a script tells it.
//!
//! `LOOPX_HOSTS` names the folder with their commands (`claude`, `codex`, `gemini`, `opencode`); one that is not there is not
//! played. See `docs/hosts.md` for how to install them, and for the table that comes of it.
#![expect(clippy::disallowed_methods, reason = "tests look at the world and start programs")]

mod model;
#[path = "../it/sandbox.rs"]
#[expect(dead_code, reason = "the scenes use the rest of it")]
mod sandbox;

use std::{
    io::Write as _,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use model::{Line, Model};
use sandbox::{LOOPX, Sandbox, words};

/// How long a host may take for the whole story.
const PATIENCE: Duration = Duration::from_secs(300);

/// What is done for a host so that it talks to the model and asks nobody.
struct Host {
    name: &'static str,
    settings: fn(&Sandbox, &str),
    environment: fn(&str) -> Vec<(&'static str, String)>,
    command: &'static str,
}

const HOSTS: [Host; 4] = [
    Host {
        name: "claude",
        settings: |_, _| {},
        environment: |address| {
            vec![
                ("ANTHROPIC_BASE_URL", address.to_owned()),
                ("ANTHROPIC_API_KEY", "none".to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ]
        },
        command: "claude -p go --allowedTools Bash",
    },
    Host {
        name: "codex",
        settings: |repo, address| {
            let top = repo.path("repo").display().to_string();
            repo.write(
                "home/.codex/config.toml",
                &format!(
                    "model = \"test\"\nmodel_provider = \"stub\"\n\n[model_providers.stub]\nname = \"stub\"\nbase_url = \"{address}/v1\"\n\
                     wire_api = \"responses\"\nenv_key = \"STUB_KEY\"\n\n[projects.\"{top}\"]\ntrust_level = \"trusted\"\n"
                ),
            );
        },
        environment: |_| vec![("STUB_KEY", "none".to_owned())],
        command: "codex exec --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust go",
    },
    Host {
        name: "gemini",
        settings: |repo, _| {
            let settings = "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}, \"privacy\": {\"usageStatisticsEnabled\": false}}\n";
            repo.write("home/.gemini/settings.json", settings);
        },
        environment: |address| {
            vec![
                ("GOOGLE_GEMINI_BASE_URL", address.to_owned()),
                ("GEMINI_API_KEY", "none".to_owned()),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ]
        },
        command: "gemini -m gemini-2.5-pro --approval-mode yolo -p go",
    },
    Host {
        name: "opencode",
        settings: |repo, address| {
            let settings = serde_json::json!({
                "model": "stub/test", "small_model": "stub/test", "autoupdate": false, "share": "disabled",
                "provider": { "stub": { "npm": "@ai-sdk/anthropic", "name": "stub",
                    "options": { "baseURL": format!("{address}/v1"), "apiKey": "none" },
                    "models": { "test": { "name": "test", "tool_call": true, "limit": { "context": 100_000, "output": 8000 } } } } },
            });
            repo.write("home/.config/opencode/opencode.json", &settings.to_string());
        },
        environment: |_| vec![],
        // A plain `opencode run` ends when the session is idle for the first time; a server goes on.
        command: "opencode run --attach [SERVER] go",
    },
];

/// What is looked for, in the order of the table.
const LOOKED_FOR: [&str; 8] = [
    "told at the start",
    "`git push` refused",
    "`--no-verify` refused",
    "`bash -c` refused",
    "a push passed once a person had approved",
    "sent on with the next todo",
    "stopped at `stop`",
    "left a handoff",
];

#[test]
fn the_hosts_that_are_installed() {
    let Some(folder) = std::env::var_os("LOOPX_HOSTS").map(PathBuf::from) else {
        eprintln!("LOOPX_HOSTS names no folder, so no host is played");
        return;
    };
    let only = std::env::var("LOOPX_HOST").ok();
    let mut rows = Vec::new();
    let mut missed = Vec::new();
    for host in HOSTS.iter().filter(|host| only.as_deref().is_none_or(|only| only == host.name)) {
        if !folder.join(host.name).exists() {
            eprintln!("{} is not in {}", host.name, folder.display());
            continue;
        }
        let (version, seen) = play(host, &folder);
        let cells: Vec<&str> = seen.iter().map(|seen| if *seen { "yes" } else { "**no**" }).collect();
        rows.push(format!("| {} {version} | {} |\n", host.name, cells.join(" | ")));
        let not_seen = LOOKED_FOR.iter().zip(seen).filter(|(_, seen)| !seen);
        missed.extend(not_seen.map(|(what, _)| format!("{}: {what}", host.name)));
    }
    let head = format!("| host | {} |\n|---|{}\n", LOOKED_FOR.join(" | "), "---|".repeat(LOOKED_FOR.len()));
    let table = head + &rows.concat();
    println!("{table}");
    if std::env::var_os("LOOPX_WRITE_HOSTS").is_some() {
        let page = std::fs::read_to_string("docs/hosts.md").expect("the page");
        let (before, rest) = page.split_once("<!-- hosts seen -->\n").expect("a mark");
        let (_, after) = rest.split_once("<!-- until here -->").expect("a mark");
        let page = format!("{before}<!-- hosts seen -->\n{table}<!-- until here -->{after}");
        std::fs::write("docs/hosts.md", page).expect("the page");
    }
    assert_eq!(missed, [""; 0], "not everything was seen");
}

/// Plays the story in one host. Returns its version, and what was seen of what is looked for.
fn play(host: &Host, folder: &Path) -> (String, [bool; 8]) {
    let mut repo = Sandbox::with_remote();
    let ours = Path::new(LOOPX).parent().expect("a folder");
    repo.put_on_path(&format!("{}:{}", folder.display(), ours.display()));
    let version = run(&repo, &[], &format!("{} --version", host.name));
    let version = version.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let version = version.unwrap_or("of no version").to_owned();

    repo.loopx(&format!("host install {} --yes --loop", host.name)).success();
    let todo = repo.todo("'Write the notes'");
    let rest = repo.todo("'Tidy up afterwards'");
    repo.loopx("gate open 'May it go out?' --gate-id out --blocks push --agent-id somebody").success();
    repo.commit("feature");
    let base = hub(&repo);

    let (ask, asked) = mpsc::channel();
    let (answer, answered) = mpsc::channel::<()>();
    let script = vec![
        Line::Runs("git push -q origin main".into()),
        Line::Runs("git push -q --no-verify origin main".into()),
        Line::Runs("bash -c 'git push -q origin main'".into()),
        Line::Meanwhile(Box::new(move || {
            let _ = ask.send(());
            let _ = answered.recv_timeout(PATIENCE);
        })),
        Line::Runs("git push -q origin main".into()),
        Line::Says("That is it.".into()),
        Line::Runs(format!("{LOOPX} todo claim {todo}")),
        Line::Runs(format!("{LOOPX} todo done {todo}")),
        Line::Runs(format!("{LOOPX} todo claim {rest}")),
        Line::Runs(format!("{LOOPX} goal pause ship")),
        Line::Says("Now it really is.".into()),
    ];
    let model = Model::plays(script);
    (host.settings)(&repo, &model.address);
    let environment = (host.environment)(&model.address);
    let server = host.command.contains("[SERVER]").then(|| Server::start(&repo, &environment));
    let address = server.as_ref().map(|server| server.address.as_str()).unwrap_or_default();
    let mut child = start(&repo, &environment, &host.command.replace("[SERVER]", address));
    let told = listen(&mut child);

    let held = asked.recv_timeout(PATIENCE).is_ok() && hub(&repo) == base;
    repo.person("gate resolve out --decision approve", "out");
    let _ = answer.send(());
    let ended = wait(&mut child);
    let told = told.join().expect("a listener");
    if let Some(server) = server {
        server.end(|| model.asked().len() >= 10);
    }

    let requests = model.asked();
    let has = |number: usize, what: &str| requests.get(number).is_some_and(|request| request.contains(what));
    // What is refused names the gate, or the option; each request has all that was said before, so only what is new counts.
    let new = |number: usize, what: &str| {
        let count = |number: usize| requests.get(number).map_or(0, |request| request.matches(what).count());
        number < requests.len() && count(number) > count(number - 1)
    };
    let went = hub(&repo) != base;
    let handoff = repo.loopx("handoff show --goal-id ship").stdout;
    let seen = [
        has(0, "Ship v2"),
        held && new(1, "refused"),
        held && new(2, "refused"),
        held && new(3, "refused"),
        went && has(5, "That is it.") || went,
        new(5, "Write the notes"),
        ended && requests.len() == 10,
        handoff.contains("Tidy up afterwards") || handoff.contains(&rest),
    ];
    if seen.contains(&false) {
        let history = repo.loopx("history").stdout;
        eprintln!("{}: {} requests\n{told}\n{handoff}\n{history}", host.name, requests.len());
        for (number, request) in requests.iter().enumerate() {
            let file = std::env::temp_dir().join(format!("loopx-hosts-{}-{number}.json", host.name));
            let _ = std::fs::write(&file, request);
        }
    }
    (version, seen)
}

/// opencode's own server.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(repo: &Sandbox, environment: &[(&str, String)]) -> Self {
        let free =
            TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
        let mut child = start(repo, environment, &format!("opencode serve --port {}", free.port()));
        drop(listen(&mut child));
        let server = Self { child, address: format!("http://{free}") };
        until(|| server.asked("GET", "/session").is_some());
        server
    }

    /// Lets it go on until it has done what it should, and deletes its sessions.
    fn end(mut self, is_done: impl Fn() -> bool) {
        until(is_done);
        // What it said last is still on its way.
        thread::sleep(Duration::from_secs(2));
        let sessions = self.asked("GET", "/session").unwrap_or_default();
        for session in serde_json::from_str::<Vec<serde_json::Value>>(&sessions).unwrap_or_default() {
            self.asked("DELETE", &format!("/session/{}", session["id"].as_str().unwrap_or_default()));
        }
        thread::sleep(Duration::from_secs(2));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// The body of an answer.
    fn asked(&self, method: &str, path: &str) -> Option<String> {
        let place = self.address.strip_prefix("http://")?;
        let mut stream = TcpStream::connect(place).ok()?;
        write!(stream, "{method} {path} HTTP/1.0\r\nhost: {place}\r\n\r\n").ok()?;
        let answer = std::io::read_to_string(stream).ok()?;
        answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned())
    }
}

/// Waits, with patience.
fn until(is_done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_done() && begin.elapsed() < PATIENCE / 5 {
        thread::sleep(Duration::from_millis(100));
    }
}

fn hub(repo: &Sandbox) -> String {
    repo.git("-C ../hub.git rev-parse main").stdout
}

fn start(repo: &Sandbox, environment: &[(&str, String)], line: &str) -> Child {
    let line = words(line);
    let mut command = repo.command(&line[0].to_string_lossy(), &line[1..]);
    command.env_remove("LOOPX_SEED").env_remove("GIT_AUTHOR_DATE").env_remove("GIT_COMMITTER_DATE");
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap_or_else(|error| panic!("{line:?}: {error}"))
}

fn run(repo: &Sandbox, environment: &[(&str, String)], line: &str) -> String {
    let mut child = start(repo, environment, line);
    let told = listen(&mut child);
    wait(&mut child);
    told.join().expect("a listener")
}

/// All that a program prints.
fn listen(child: &mut Child) -> thread::JoinHandle<String> {
    let (mut out, mut err) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    thread::spawn(move || {
        let errors = thread::spawn(move || std::io::read_to_string(&mut err).unwrap_or_default());
        let out = std::io::read_to_string(&mut out).unwrap_or_default();
        out + &errors.join().expect("a listener")
    })
}

/// Whether a program ended well before patience did.
fn wait(child: &mut Child) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().expect("a program") {
            return status.success();
        }
        thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}
