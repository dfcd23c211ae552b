//! What our hook adds to a push of one commit to a bare repository on the same disk.

use std::{fs, time::Duration};

use crate::{ROUNDS, Repo};

/// Pushes one commit with the hook and one without, in turn, and says what the difference is.
pub(crate) fn tell() {
    let repo = Repo::begun(100, &["--goal-text", "Ship it", "--goal-id", "ship"]);
    repo.run("git", &["init", "-q", "--bare", "../hub.git"], "");
    repo.run("git", &["remote", "add", "origin", "../hub.git"], "");
    let hook = repo.top().join(".git/hooks/pre-push");
    let ours = fs::read(&hook).ok();
    let mut with = Vec::new();
    let mut without = Vec::new();
    for round in 0..2 * ROUNDS {
        repo.run("git", &["commit", "-q", "--allow-empty", "-m", "x"], "");
        let is_with = round % 2 == 0;
        let verify = if is_with { "--verify" } else { "--no-verify" };
        let took = repo.run("git", &["push", "-q", verify, "origin", "main"], "").0;
        if is_with { with.push(took) } else { without.push(took) }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    let (with, without) = (median(&mut with), median(&mut without));
    let means = if ours.is_some() { "a hook file" } else { "git's configuration" };
    println!(
        "a push of one commit, {ROUNDS} rounds, median: {without:.2} ms without the hook, {:.2} ms more with it ({means})",
        with - without
    );
}
