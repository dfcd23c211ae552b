//! Kills and crowds.

use std::{
    collections::BTreeMap,
    fs,
    process::Stdio,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use crate::{
    dice::Dice,
    repo::{Repo, finish},
    table::Row,
};

const KILLS: usize = 1_000;
/// So many in one repository, so that looking at all of it stays quick.
const STREAK: usize = 25;
const WRITERS: usize = 32;
const EACH: usize = 100;

/// Kills mutations after a random part of the time that one takes, two at a time in repositories of their own.
pub(crate) fn kills() -> Row {
    let usual = usual();
    let (row, moments) = (Mutex::new(Row::new("")), Mutex::new(BTreeMap::<&str, usize>::new()));
    thread::scope(|scope| {
        for seed in [1, 2] {
            let (row, moments) = (&row, &moments);
            scope.spawn(move || {
                let mut dice = Dice(seed);
                for _ in 0..KILLS / STREAK / 2 {
                    let mut repo = Repo::new();
                    for _ in 0..STREAK {
                        let moment = kill(&mut repo, || Duration::from_micros(dice.below(usual)));
                        *moments.lock().expect("no panic").entry(moment).or_default() += 1;
                        row.lock().expect("no panic").count(repo.judge());
                    }
                }
            });
        }
    });
    let moments = moments.into_inner().expect("no panic");
    let moments: Vec<_> = moments.iter().map(|(moment, times)| format!("{times} {moment}")).collect();
    let mut row = row.into_inner().expect("no panic");
    row.rename(format!("`kill -9` at random moments of a mutation: {}", moments.join(", ")));
    row
}

/// Microseconds that a mutation takes.
fn usual() -> u64 {
    let mut repo = Repo::new();
    let mut times: Vec<_> = (0..15)
        .map(|_| {
            let start = Instant::now();
            repo.mutate();
            start.elapsed()
        })
        .collect();
    times.sort();
    u64::try_from(times[7].as_micros()).expect("a moment")
}

/// Kills a mutation and says where it was by then. One that ends before its moment does not count.
fn kill(repo: &mut Repo, mut moment: impl FnMut() -> Duration) -> &'static str {
    loop {
        let tip = repo.git(&["rev-parse", "loopx/state"]);
        let (text, mut command) = repo.next();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        thread::sleep(moment());
        let _ = child.kill();
        let code = child.wait().expect("it ends").code();
        repo.remember(text, code);
        if code.is_none() {
            return place(repo, &tip);
        }
    }
}

fn place(repo: &Repo, tip: &str) -> &'static str {
    let note = fs::read_to_string(repo.top.join(".git/loopx/writer")).unwrap_or_default();
    match note.split(' ').next() {
        Some("ref") => "at the ref",
        Some("view") => "at the view",
        _ if repo.git(&["rev-parse", "loopx/state"]) == tip => "before the ref",
        _ => "after the view",
    }
}

/// Many processes that write to one repository at once.
pub(crate) fn writers() -> Row {
    let mut repo = Repo::new();
    let before = repo.found();
    let ended = thread::scope(|scope| {
        let repo = &repo;
        let run = |writer| move || (0..EACH).map(|number| write(repo, writer, number)).collect::<Vec<_>>();
        let running: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(run(writer))).collect();
        running.into_iter().flat_map(|running| running.join().expect("no panic")).collect::<Vec<_>>()
    });
    ended.into_iter().for_each(|(text, code)| repo.remember(text, code));
    let kept = repo.found() - before;
    let verdict = repo.judge();
    let mut row = Row::new(format!("{WRITERS} writers at once, {EACH} mutations each"));
    row.count_many(WRITERS * EACH, kept, &verdict.said, verdict.survived);
    row
}

fn write(repo: &Repo, writer: usize, number: usize) -> (String, Option<i32>) {
    let text = format!("of writer {writer} {number}");
    let output = finish(repo.mutation(number % 2 == 1, &text));
    (text, output.code)
}
