//! What a host of agents waits for before each tool, beside `git rev-parse HEAD`, turn by turn.

use std::time::Duration;

use super::{Repo, sealed};

const ROUNDS: usize = 99;

/// What is asked about. The last one is refused, in the way in which that is no failure of the hook.
const LINES: [(&str, &str); 6] = [
    ("ls", "ls -la"),
    (
        "a long line",
        "cd sub && for f in *.rs; do grep -n 'git push' \"$f\" | sed -e 's/x/y/' ; done; cargo test 2>&1 | tail -5",
    ),
    ("a script that is read", "sh build.sh"),
    ("git commit", "git add -A && git commit -q -m 'say why a push waits'"),
    ("git push --no-verify", "git push --no-verify origin main"),
    ("git push at a gate", "git push origin main"),
];

pub(crate) fn tell() {
    let repo = Repo::new(1_000);
    repo.run("git", &["init", "-q", "--bare", "../hub.git"], "");
    repo.run("git", &["remote", "add", "origin", "../hub.git"], "");
    repo.run(
        sealed::program(),
        &["gate", "open", "Ship?", "--gate-id", "ship-it", "--agent-id", "codex-1"],
        "",
    );
    std::fs::write(repo.top().join("build.sh"), "set -e\ncargo build --release\n".repeat(200))
        .expect("a file");
    let payload = |line: &str| {
        serde_json::json!({
            "sessionId": "s", "timestamp": 0, "cwd": repo.top(), "toolName": "bash", "toolArgs": { "command": line },
        })
        .to_string()
    };
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); LINES.len() + 1];
    for _ in 0..ROUNDS {
        times[0].push(repo.run("git", &["rev-parse", "HEAD"], "").0);
        for (at, (_, line)) in LINES.iter().enumerate() {
            times[at + 1]
                .push(repo.run(sealed::program(), &["hook", "copilot", "preToolUse"], &payload(line)).0);
        }
    }
    println!("before a tool, {ROUNDS} rounds, milliseconds: median (most)");
    let names = std::iter::once("git rev-parse HEAD").chain(LINES.iter().map(|(name, _)| *name));
    for (name, mut times) in names.zip(times) {
        times.sort();
        let millis = |at: usize| times[at].as_secs_f64() * 1e3;
        println!("{name:24} {:>6.2} ({:>6.2})", millis(ROUNDS / 2), millis(ROUNDS - 1));
    }
}
