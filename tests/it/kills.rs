//! Killed anywhere, the next command goes on; and what is not ours is waited for, not removed.
#![expect(clippy::disallowed_methods, reason = "a kill comes at a moment that is measured")]

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    path::PathBuf,
    process::Stdio,
    thread,
    time::{Duration, Instant, SystemTime},
};

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Program, Sandbox, words};

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Starts loopx, kills it after `moment`, and returns what it had printed by then.
fn killed_after(loopx: &Program, args: &str, moment: Duration) -> String {
    let mut command = loopx.command(&words(args));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let child = child.as_mut().expect("loopx starts");
    let start = Instant::now();
    while start.elapsed() < moment {
        thread::yield_now();
    }
    child.kill().expect("a kill");
    child.wait().expect("loopx ends");
    let mut printed = String::new();
    let _ = child.stdout.take().expect("a pipe").read_to_string(&mut printed);
    printed
}

fn id_of(printed: &str) -> Option<String> {
    let printed: serde_json::Value = serde_json::from_str(printed).ok()?;
    printed["id"].as_str().map(str::to_owned)
}

#[track_caller]
fn assert_in_step(repo: &Sandbox) {
    assert_eq!(repo.git("-C .loopx status --porcelain").success().to_string(), "");
    assert_eq!(repo.git("-C .loopx rev-parse HEAD").success().stdout, repo.tip());
}

#[test]
fn killed_at_two_hundred_moments_nothing_acknowledged_is_lost() {
    let repo = Sandbox::ready();
    let loopx = repo.program(LOOPX);
    let mut times: Vec<Duration> = (0..9)
        .map(|number| {
            let start = Instant::now();
            loopx.run(&words(&format!("todo add 'warm {number}'"))).success();
            start.elapsed()
        })
        .collect();
    times.sort();
    let usual = u64::try_from(times[4].as_micros()).expect("a moment");

    let mut dice = Dice(2);
    let mut acknowledged = BTreeMap::new();
    let mut free = Vec::new();
    for round in 0..200 {
        let moment = Duration::from_micros(dice.below(usual * 5 / 4));
        match free.pop().filter(|_| round % 2 == 1) {
            Some(todo) => {
                let printed =
                    killed_after(&loopx, &format!("todo claim {todo} --json --agent-id killed"), moment);
                acknowledged.insert(todo, if id_of(&printed).is_some() { "claimed" } else { "" });
            }
            None => {
                let printed = killed_after(&loopx, &format!("todo add --json 'round {round}'"), moment);
                acknowledged.extend(id_of(&printed).map(|todo| (todo, "open")));
            }
        }
        // Often enough the next one is killed, too.
        if dice.below(3) == 0 {
            loopx.run(&words("status --json")).success().json();
            let added = loopx.run(&words(&format!("todo add --json 'after {round}'"))).success();
            assert_eq!(added.stderr, "", "round {round}");
            let todo = id_of(&added.stdout).expect("an id");
            acknowledged.insert(todo.clone(), "");
            free.push(todo);
            assert_in_step(&repo);
        }
    }
    repo.loopx("todo add 'the last one'").success();
    assert_in_step(&repo);
    assert_eq!(repo.git("fsck --full --strict --no-dangling").success().to_string(), "");
    let reflog = repo.git("reflog show --format=%H loopx/state").success().stdout.lines().count();
    let commits = repo.git("rev-list --count loopx/state").success().stdout;
    assert!(reflog >= commits.trim().parse::<usize>().expect("a number"), "{reflog} of {commits}");

    let listed = repo.loopx("todo list --json").success().json();
    let todos = listed["todos"].as_array().expect("a list");
    let states: BTreeMap<&str, &str> =
        todos.iter().filter_map(|todo| Some((todo["id"].as_str()?, todo["state"]["is"].as_str()?))).collect();
    for (todo, state) in &acknowledged {
        let found = states.get(todo.as_str()).unwrap_or_else(|| panic!("{todo} is lost"));
        assert!(state.is_empty() || state == found, "{todo} is {found}, not {state}");
    }
}

/// A repository as a writer leaves it that was killed in `phase`.
fn crashed(phase: &str) -> Sandbox {
    let repo = Sandbox::ready();
    let tip = repo.tip();
    let tips = if phase == "ref" { [tip.trim(); 2].join(" ") } else { tip.trim().to_owned() };
    repo.write("repo/.git/loopx/writer", &format!("{phase} {tips} loopx/state"));
    repo
}

fn ref_lock(repo: &Sandbox) -> PathBuf {
    repo.path("repo/.git/refs/heads/loopx/state.lock")
}

fn index_lock(repo: &Sandbox) -> PathBuf {
    repo.path("repo/.git/worktrees/-loopx/index.lock")
}

#[test]
fn a_dead_writers_lock_of_the_branch_is_cleared_away() {
    let repo = crashed("ref");
    fs::write(ref_lock(&repo), "").expect("a lock");
    assert_eq!(repo.loopx("todo add work").success().stderr, "");
    assert!(!ref_lock(&repo).exists());
    assert_in_step(&repo);
}

#[test]
fn a_dead_writers_lock_of_the_index_is_cleared_away() {
    let repo = crashed("view");
    fs::write(index_lock(&repo), "").expect("a lock");
    assert_eq!(repo.loopx("todo add work").success().stderr, "");
    assert!(!index_lock(&repo).exists());
    assert_in_step(&repo);
}

#[test]
fn a_torn_line_of_the_reflog_is_cut_off() {
    let repo = crashed("ref");
    let path = "repo/.git/logs/refs/heads/loopx/state";
    let whole = repo.read(path);
    repo.write(path, &format!("{whole}{} {}", repo.tip().trim(), &repo.tip()[..20]));
    repo.loopx("todo add work").success();
    let mended = repo.read(path);
    assert!(mended.starts_with(&whole) && mended.lines().count() == whole.lines().count() + 1, "{mended}");
}

#[test]
fn a_living_lock_of_the_branch_is_waited_for_and_then_named() {
    let repo = Sandbox::ready();
    let tip = repo.tip();
    fs::write(ref_lock(&repo), "").expect("a lock");
    assert_snapshot!(repo.loopx("todo add work"), @"
    [stderr] error: another program holds `[ROOT]/repo/.git/refs/heads/loopx/state.lock`
    [stderr] hint: run the command again when the git command that holds it has ended; if there is none, remove that file
    [exit 1]
    ");
    assert!(ref_lock(&repo).exists());
    assert_eq!(repo.tip(), tip);
    fs::remove_file(ref_lock(&repo)).expect("its owner removes it");
    repo.loopx("todo add work").success();
    assert_in_step(&repo);
}

#[test]
fn a_living_lock_of_packed_refs_is_waited_for_and_then_named() {
    let repo = Sandbox::ready();
    let (tip, lock) = (repo.tip(), repo.path("repo/.git/packed-refs.lock"));
    fs::write(&lock, "").expect("a lock");
    assert_snapshot!(repo.loopx("todo add work"), @"
    [stderr] error: another program holds `[ROOT]/repo/.git/packed-refs.lock`
    [stderr] hint: run the command again when the git command that holds it has ended; if there is none, remove that file
    [exit 1]
    ");
    assert_eq!(repo.tip(), tip);
    fs::remove_file(&lock).expect("its owner removes it");
    repo.loopx("todo add work").success();
    assert_in_step(&repo);
}

#[test]
fn a_lock_from_before_the_crash_is_not_the_dead_writers() {
    let repo = crashed("ref");
    let lock = fs::File::create(ref_lock(&repo)).expect("a lock");
    lock.set_modified(SystemTime::now() - Duration::from_secs(60)).expect("an old lock");
    assert_eq!(repo.loopx("todo add work").code, 1);
    assert!(ref_lock(&repo).exists());
}

#[test]
fn a_living_lock_of_the_index_only_keeps_the_view_behind() {
    let repo = Sandbox::ready();
    fs::write(index_lock(&repo), "").expect("a lock");
    let added = repo.loopx_raw(&["todo", "add", "work", "--json"]).success();
    assert_eq!(added.json()["warnings"].as_array().expect("a list").len(), 1);
    assert_snapshot!(added.stderr, @"warning: `.loopx/` is behind the state: another program holds `[ROOT]/repo/.git/worktrees/-loopx/index.lock` (run `loopx doctor --fix`)");
    assert!(index_lock(&repo).exists());
    fs::remove_file(index_lock(&repo)).expect("its owner removes it");
    repo.loopx("todo add 'more work'").success();
    assert_in_step(&repo);
}

/// The file is new, and the note of what the view shows still the old one.
#[test]
fn killed_between_the_files_and_the_note_nobody_edited_anything() {
    let repo = Sandbox::ready();
    let shown = "repo/.git/worktrees/-loopx/loopx-view";
    repo.loopx("handoff write one --agent-id a").success();
    let note = repo.read(shown);
    repo.loopx("handoff write two --agent-id a").success();
    let tip = repo.tip();
    repo.write(shown, &note);
    repo.write("repo/.git/loopx/writer", &format!("view {} loopx/state", tip.trim()));
    // Killed once more on the way.
    repo.loopx("status").success();
    assert_snapshot!(repo.loopx("handoff write three --agent-id a"), @"left a note for whoever goes on with goal ship");
    assert!(repo.read("repo/.loopx/goals/ship/handoff.md").contains("three"));
    assert_in_step(&repo);
}
