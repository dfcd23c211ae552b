//! Many at once: nobody's work is lost, and what only one can have only one gets.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use crate::sandbox::{LOOPX, Output, Program, Sandbox, files, words};

/// What has to hold whenever the dust has settled: `commits` mutations since `base` in one line, each signed off once,
/// no lock left behind, and a view that shows the tip.
#[track_caller]
fn assert_sound(repo: &Sandbox, base: &str, commits: usize) {
    let range = format!("{}..loopx/state", base.trim());
    let count = |flags: &str| repo.git(&format!("rev-list --count {flags} {range}")).success().stdout;
    assert_eq!(count("").trim(), commits.to_string());
    assert_eq!(count("--min-parents=2").trim(), "0", "history is one line");
    let log =
        repo.git(&format!("log --format=%(trailers:key=Signed-off-by,separator=%x2c)|%s {range}")).success();
    for line in log.stdout.lines() {
        assert!(line.starts_with("Signed-off-by: Ann <ann@example.test>|"), "{line}");
    }
    assert_unlocked(&repo.path("repo/.git"));
    assert_eq!(repo.git("fsck --full --strict --no-dangling").success().to_string(), "");
    assert_eq!(repo.git("-C .loopx status --porcelain").success().stdout, "");
    assert_eq!(repo.git("-C .loopx rev-parse HEAD").stdout, repo.tip());
}

#[track_caller]
fn assert_unlocked(git_dir: &Path) {
    let locks: Vec<String> = files(git_dir).into_iter().filter(|file| file.ends_with(".lock")).collect();
    assert!(locks.is_empty(), "{locks:?}");
}

fn open_titles(repo: &Sandbox) -> BTreeSet<String> {
    let todos = repo.loopx("todo list --json").success().json();
    let titles = todos["todos"].as_array().expect("a list").iter();
    titles.map(|todo| todo["title"].as_str().expect("a title").to_owned()).collect()
}

/// Runs `step` for the numbers below `count` on as many threads, all released at once. Each gets a program of its own.
fn at_once<T: Send>(repo: &Sandbox, count: usize, step: impl Fn(usize, &Program) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(count);
    let programs: Vec<Program> = (0..count).map(|_| repo.program(LOOPX)).collect();
    thread::scope(|scope| {
        let (start, step) = (&start, &step);
        let runs: Vec<_> = programs
            .iter()
            .enumerate()
            .map(|(number, program)| {
                scope.spawn(move || {
                    start.wait();
                    step(number, program)
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().expect("no panic")).collect()
    })
}

/// Says that it is over when dropped, so that nobody waits for one that failed.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn sixteen_processes_adding_fifty_todos_each_lose_none() {
    let repo = Sandbox::ready();
    let base = repo.tip();
    at_once(&repo, 16, |writer, loopx| {
        for number in 0..50 {
            loopx.run(&words(&format!("todo add 'work {writer}-{number}'"))).success();
        }
    });
    let expected: BTreeSet<_> =
        (0..16).flat_map(|writer| (0..50).map(move |number| format!("work {writer}-{number}"))).collect();
    assert_eq!(open_titles(&repo), expected);
    assert_sound(&repo, &base, 800);
}

#[test]
fn of_eight_that_want_one_claim_one_has_it() {
    let repo = Sandbox::ready();
    let base = repo.tip();
    for round in 0..100 {
        let todo = repo.todo(&format!("'round {round}'"));
        let claims = at_once(&repo, 8, |number, loopx| {
            loopx.run(&words(&format!("todo claim {todo} --agent-id agent-{number}")))
        });
        let winners: Vec<usize> = (0..8).filter(|number| claims[*number].code == 0).collect();
        let [winner] = winners[..] else { panic!("round {round}: {winners:?}") };
        for (_, Output { code, stdout, stderr }) in
            claims.iter().enumerate().filter(|(number, _)| *number != winner)
        {
            let sentence = format!("error: todo `{todo}` is claimed by agent-{winner} until ");
            assert!(
                *code == 1 && stdout.is_empty() && stderr.starts_with(&sentence),
                "{stdout}{stderr}[{code}]"
            );
        }
        let shown = repo.loopx(&format!("todo show {todo} --json")).success().json();
        assert_eq!(shown["state"]["by"], format!("agent:agent-{winner}"));
    }
    assert_sound(&repo, &base, 200);
}

#[test]
fn eight_that_ask_for_the_next_todo_get_eight() {
    let repo = Sandbox::ready();
    for number in 0..10 {
        repo.todo(&format!("'number {number}' --agent-id a"));
    }
    let base = repo.tip();
    let claims = at_once(&repo, 8, |number, loopx| {
        let args = format!("todo claim --next --json --agent-id agent-{number}");
        loopx.run(&words(&args)).success().json()
    });
    let taken: BTreeSet<_> = claims.iter().map(|claim| claim["id"].as_str().expect("an id")).collect();
    assert_eq!(taken.len(), 8);
    let listed = repo.loopx("todo list --state claimed --json").success().json();
    let listed = listed["todos"].as_array().expect("todos").iter();
    let listed: Vec<_> = listed.map(|todo| todo["title"].as_str().expect("a title").to_owned()).collect();
    let first: Vec<_> = (0..8).map(|number| format!("number {number}")).collect();
    assert_eq!(listed, first, "the best were taken");
    assert_sound(&repo, &base, 8);
}

#[test]
fn of_many_that_complete_split_and_drop_one_todo_one_does() {
    let repo = Sandbox::ready();
    let base = repo.tip();
    for round in 0..5 {
        let todo = repo.todo(&format!("'round {round}' --check true --agent-id a"));
        let steps = at_once(&repo, 6, |number, loopx| {
            let step = match number % 3 {
                0 => format!("todo done {todo}"),
                1 => format!("todo drop {todo} --reason no"),
                _ => format!("todo block {todo} --reason no"),
            };
            loopx.run(&words(&format!("{step} --agent-id agent-{number}")))
        });
        let (done, refused): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step.code == 0);
        // A block may come before what drops it.
        assert!((1..=2).contains(&done.len()), "round {round}: {}", done.len());
        assert!(refused.iter().all(|step| step.stderr.starts_with("error: todo `")), "round {round}");
    }
    let commits = repo.git(&format!("rev-list --count {}..loopx/state", base.trim())).stdout;
    assert_sound(&repo, &base, commits.trim().parse().expect("a number"));
    assert_eq!(repo.loopx("verify --all").code, 0);
}

#[test]
fn collecting_garbage_meanwhile_takes_nothing_that_was_acknowledged() {
    let repo = Sandbox::ready();
    let base = repo.tip();
    let git = repo.program("git");
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let gc = scope.spawn(|| {
            let mut runs = 0;
            while !over.load(Ordering::Relaxed) {
                // It fails when a ref moves under it, which is its own affair.
                git.run(&words("gc --prune=now --quiet"));
                runs += 1;
            }
            runs
        });
        let writing = Over(&over);
        at_once(&repo, 4, |writer, loopx| {
            for number in 0..25 {
                loopx.run(&words(&format!("todo add 'work {writer}-{number}'"))).success();
            }
        });
        drop(writing);
        assert!(gc.join().expect("no panic") > 1, "garbage was collected meanwhile");
    });
    let expected: BTreeSet<_> =
        (0..4).flat_map(|writer| (0..25).map(move |number| format!("work {writer}-{number}"))).collect();
    assert_eq!(open_titles(&repo), expected);
    assert_sound(&repo, &base, 100);
}

#[test]
fn a_reader_sees_a_whole_state_while_others_write() {
    let repo = Sandbox::ready();
    let over = AtomicBool::new(false);
    let readers = [0, 1].map(|_| repo.program(LOOPX));
    thread::scope(|scope| {
        let looks = readers.each_ref().map(|loopx| {
            let over = &over;
            scope.spawn(move || {
                let mut seen = 0;
                let mut looks = 0;
                while !over.load(Ordering::Relaxed) {
                    let todos = loopx.run(&words("todo list --json")).success().json();
                    let count = todos["todos"].as_array().expect("a list").len();
                    assert!(count >= seen, "{count} todos after {seen}");
                    seen = count;
                    let status = loopx.run(&words("status --json")).success().json();
                    assert_eq!(status["schema_version"], 1);
                    let next = loopx.run(&words("quota should-run --agent-id reader --json")).json();
                    assert_eq!(next["schema_version"], 1);
                    looks += 1;
                }
                looks
            })
        });
        let writing = Over(&over);
        at_once(&repo, 4, |writer, loopx| {
            for number in 0..25 {
                loopx.run(&words(&format!("todo add 'work {writer}-{number}'"))).success();
            }
        });
        drop(writing);
        for look in looks {
            assert!(look.join().expect("no panic") > 1);
        }
    });
    assert!(fs::exists(repo.path("repo/.loopx/loopx.toml")).expect("a look"));
}
