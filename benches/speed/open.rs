//! What an answer costs when much is open: a chain of todos, each of which needs the one before it.

use std::{fmt::Write as _, time::Duration};

use loopx::{domain::todo::Todo, store::format};

use crate::{ROUNDS, Repo, id, sealed, todo};

const SIZES: [usize; 3] = [10, 1_000, 10_000];

/// A commit that puts the whole chain there.
fn chain(size: usize) -> String {
    let message = "add the chain\n";
    let mut stream = format!(
        "commit refs/heads/loopx/state\ncommitter Ann <ann@example.test> 1800000000 +0000\ndata {}\n{message}from refs/heads/loopx/state^0\n",
        message.len()
    );
    for number in 0..size {
        let needs =
            number.checked_sub(1).map(|before| id(before).parse().expect("an id")).into_iter().collect();
        let bytes = format::encode(&Todo { needs, ..todo(number, false) });
        let path = format!("goals/ship/todos/{}.toml", id(number));
        let _ = write!(stream, "M 100644 inline {path}\ndata {}\n{bytes}\n", bytes.len());
    }
    stream + "\ndone\n"
}

/// Prints what `should-run` and `status` take, beside git's own start, at each size.
pub(crate) fn tell() {
    let repos = SIZES.map(|size| {
        let mut repo = Repo::begun(size, &["--goal-text", "Ship it", "--goal-id", "ship"]);
        repo.play_the_store(&chain(size));
        // The first mutation puts at hand what is open.
        repo.add();
        repo
    });
    let commands: [(&str, &[&str]); 3] = [
        ("git", &["rev-parse", "HEAD"]),
        (sealed::program(), &["quota", "should-run", "--agent-id", "codex-1"]),
        (sealed::program(), &["status"]),
    ];
    let mut times = [const { [const { Vec::new() }; 3] }; 3];
    for _ in 0..ROUNDS {
        for (repo, times) in repos.iter().zip(&mut times) {
            for ((program, args), times) in commands.iter().zip(times.iter_mut()) {
                times.push(repo.run(program, args, "").0);
            }
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    println!("open todos, each of which needs the one before it; {ROUNDS} rounds, milliseconds: median");
    println!("{:26}{}", "open todos", SIZES.map(|size| format!("{size:>10}")).concat());
    for (at, name) in ["git rev-parse HEAD", "loopx quota should-run", "loopx status"].into_iter().enumerate()
    {
        let cells = times.iter_mut().map(|times| format!("{:>10.2}", median(&mut times[at])));
        println!("{name:26}{}", cells.collect::<String>());
    }
}
