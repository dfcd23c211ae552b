//! The store on real git, in a temporary folder.
#![expect(clippy::disallowed_methods, reason = "tests run git and look at the world")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Cursor,
    num::NonZeroU32,
    path::{Path, PathBuf},
    process::{self, Command},
};

use super::{
    DEFAULT_BRANCH, Error, Situation, Snapshot, Store, Updated, Warning,
    setup::Setup,
    snapshot::Found,
    transfer::{self, Export, NewGoals},
    view::View,
    writer::Writer,
};
use crate::domain::{
    actor::{Actor, Proof, Proven, Stamp},
    bypass::{Bypass, Push, Way},
    change::{Change, Op, Record},
    command::{CommandLine, Ended},
    evidence::{After, Cut, Direction, Evidence, Finding, Heard, Opinion, Tests, Watched},
    foremost::{Foremost, Outline},
    gate::{Act, Gate, Seen},
    goal::{Feature, Goal},
    handoff::Handoff,
    id::{GoalId, SpendId, TodoId, TodoPrefix},
    policy::{Policy, RepositoryId},
    quota::{Quota, Quotas, Spend},
    state::Loop,
    time::{Seconds, Timestamp},
    todo::{Check, Looked, Monitor, Priority, Todo, TodoState, Worker},
};

/// A repository with state in it.
struct Repo {
    dir: tempfile::TempDir,
}

impl Repo {
    fn new() -> Self {
        let repo = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(repo.top()).unwrap();
        repo.git("init -q -b main .");
        repo.git("config user.name Ann");
        repo.git("config user.email ann@example.test");
        repo.git("config gc.auto 0");
        repo.git("commit -q --allow-empty -m base");
        let store = repo.store();
        set_up(&store, "10:00");
        repo.put(vec![Record::Goal(ship(), Goal::new("Ship it".parse().unwrap(), vec![], stamp("10:00")))]);
        repo
    }

    fn top(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("repo")
    }

    fn store(&self) -> Store {
        Store::open(&self.top(), None).unwrap()
    }

    /// A commit on the state branch that loopx did not make.
    fn strangers_commit(&self) -> String {
        let tree = self.git("rev-parse loopx/state^{tree}");
        let other = self.git(&format!("commit-tree {tree} -p loopx/state -m other"));
        self.git(&format!("update-ref refs/heads/loopx/state {other}"));
        other
    }

    /// One mutation that stores `records`.
    #[track_caller]
    fn put(&self, records: Vec<Record>) -> Updated<()> {
        put(&self.store(), records)
    }

    #[track_caller]
    fn git(&self, args: &str) -> String {
        git(&self.top(), args)
    }

    fn view(&self, path: &str) -> PathBuf {
        self.top().join(".loopx").join(path)
    }

    #[track_caller]
    fn assert_in_step(&self) {
        assert_eq!(self.git("-C .loopx status --porcelain"), "");
        assert_eq!(self.git("-C .loopx rev-parse HEAD"), self.git("rev-parse loopx/state"));
        assert_eq!(self.git("fsck --full --strict --no-dangling"), "");
    }

    fn commits(&self) -> usize {
        self.git("rev-list --count loopx/state").parse().unwrap()
    }
}

#[track_caller]
fn git(dir: &Path, args: &str) -> String {
    let output = Command::new("git").args(args.split(' ')).current_dir(dir).output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&all).trim().to_owned();
    assert!(output.status.success(), "git {args}: {said}");
    said
}

#[track_caller]
fn put(store: &Store, records: Vec<Record>) -> Updated<()> {
    store.update(&stamp("11:00"), |_| Ok::<_, Error>((Some(change(records.clone())), ()))).unwrap()
}

fn change(puts: Vec<Record>) -> Change {
    Change { op: Op::TodoAdd, subject: "store it".into(), body: None, goal: Some(ship()), turn: None, puts }
}

fn at(time: &str) -> Timestamp {
    format!("2026-11-30T{time}:00Z").parse().unwrap()
}

fn stamp(time: &str) -> Stamp {
    Stamp { by: "agent:codex-1".parse().unwrap(), at: at(time) }
}

fn set_up(store: &Store, time: &str) -> Setup {
    let situation = store.situation(DEFAULT_BRANCH).unwrap();
    store.set_up(DEFAULT_BRANCH, &situation, &policy(), &stamp(time)).unwrap()
}

fn policy() -> Policy {
    Policy::new(RepositoryId::new(&[7; 16]))
}

fn ship() -> GoalId {
    "ship".parse().unwrap()
}

fn todo_id(id: &str) -> TodoId {
    id.parse().unwrap()
}

fn todo(title: &str) -> Todo {
    Todo {
        title: title.parse().unwrap(),
        body: None,
        for_: Worker::Agent,
        priority: Priority::P2,
        needs: BTreeSet::new(),
        requires: BTreeSet::new(),
        check: None,
        monitor: None,
        added: stamp("10:00"),
        state: TodoState::Open { epoch: 0 },
    }
}

fn put_todo(id: &str, todo: Todo) -> Record {
    Record::Todo(ship(), todo_id(id), todo)
}

/// A todo that was closed `second` seconds after noon.
fn done(title: &str, second: i64) -> Todo {
    let at = Timestamp::from_unix(at("12:00").unix() + second);
    let by: Actor = "agent:codex-1".parse().unwrap();
    Todo { state: TodoState::Done { by, at, evidence: BTreeSet::new(), note: None, epoch: 0 }, ..todo(title) }
}

/// The id of the todo with this number; ids begin with every digit there is.
fn numbered(number: usize) -> TodoId {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let digit = |place: u32| char::from(DIGITS[number * 7 / 32usize.pow(place) % 32]);
    format!("t-{}{}{}0{}", digit(0), digit(1), digit(2), digit(3)).parse().unwrap()
}

fn prefix(text: &str) -> TodoPrefix {
    text.parse().unwrap()
}

fn every_kind() -> Vec<Record> {
    let gate = Gate::new(
        "Delete the bucket?".parse().unwrap(),
        vec![],
        BTreeSet::new(),
        [todo_id("t-7k3q")].into(),
        stamp("10:00"),
    );
    let proven = Proven {
        person: "Ann <ann@example.test>".parse().unwrap(),
        proof: Proof::Terminal { typed: "bucket".into() },
    };
    let seen = Seen { question: gate.digest(), commit: Some("0".repeat(40)), tree: None };
    let id = "bucket".parse().unwrap();
    let answer = |word: &str| {
        let note = Some("fine\n\nby me".parse().unwrap());
        gate.resolve(&id, word.parse().unwrap(), proven.clone(), at("12:00"), note, seen.clone()).unwrap()
    };
    let claimed = todo("Naïve \"quotes\" 日本 👩‍🚀 # = [x]");
    let claimed = Todo {
        body: Some("two\nlines".parse().unwrap()),
        needs: [todo_id("t-0001")].into(),
        requires: ["network".parse().unwrap()].into(),
        ..claimed
    };
    let claimed = claimed.claim(&todo_id("t-7k3q"), &stamp("10:00"), Seconds(3600)).unwrap();
    let check = Check { argv: CommandLine::typed("sh -c 'a \"b\" && c'").unwrap(), timeout: Seconds(60) };
    let watched =
        Todo { check: Some(check), monitor: Some(Monitor::new(Seconds(600), at("10:00"))), ..todo("Watch") };
    let (watched, _) =
        watched.poll(&todo_id("t-0003"), &stamp("10:00"), Looked::Saw("green".parse().unwrap())).unwrap();
    let watched = watched.claim(&todo_id("t-0003"), &stamp("10:00"), Seconds(60)).unwrap();
    let note = "too risky".parse().unwrap();
    let blocked = claimed.block_on(&id, &stamp("10:00").by, at("10:10"), note);
    let finding = |what: Finding| Evidence {
        commit: None,
        dirty: true,
        todo: Some(todo_id("t-7k3q")),
        gate: None,
        added: stamp("10:00"),
        what,
    };
    let evidence = |id: &str, what: Finding| Record::Evidence(ship(), id.parse().unwrap(), finding(what));
    let argv = CommandLine::of(&["sh", "-c", "echo \"it's\"\n", ""]);
    let command = |ended, watched: Option<Watched>| Finding::Command {
        argv: argv.clone(),
        guarded: Some(Act::Publish),
        seconds: Seconds(90),
        ended,
        watched: watched.map(Box::new),
    };
    let heard = Heard::of(9_000, &[1; 32], b"a \"b\"\n\n c", b"\ttail\n");
    let overheard = Watched {
        cut: Some(Cut::Timeout),
        receipt: true,
        tree: Some("1".repeat(40)),
        after: Some(After { commit: None, dirty: true, tree: "2".repeat(40) }),
        tests: Some(Tests { passed: 1, failed: 2, skipped: 3 }),
        stdout: Some(heard),
        stderr: None,
    };
    let output = Some("  ok\n\n\"quoted\"\n".parse().unwrap());
    let passed = Finding::Check { argv: argv.clone(), seconds: Seconds(3), output };
    let turn = "turn-1".parse().unwrap();
    let spend = Spend {
        turn,
        slots: 2,
        evidence: vec!["e-0001".parse().unwrap()],
        added: stamp("10:00"),
        course: None,
        voided: None,
    };
    let mut goal = Goal::new("Ship it".parse().unwrap(), vec!["it runs".parse().unwrap()], stamp("10:00"));
    goal.features.insert(Feature::Explore);
    let push = Push {
        remote: "origin".parse().unwrap(),
        ref_: "refs/heads/main".parse().unwrap(),
        commit: "0".repeat(40),
        at: stamp("09:00").at,
        pushes: NonZeroU32::new(3).unwrap(),
        refs: NonZeroU32::MIN,
        way: Way::NoVerify,
        gates: vec!["ship/open".parse().unwrap()],
    };
    let bypass = Bypass::new(push, stamp("10:00"));
    let proof = Proof::Terminal { typed: "b-0002".into() };
    let ann = Proven { person: "Ann <ann@example.test>".parse().unwrap(), proof };
    let note = Some("a mistake".parse().unwrap());
    let acknowledged = bypass.acknowledge(&"b-0002".parse().unwrap(), ann, stamp("11:00").at, note).unwrap();
    let gates = [("open", gate.clone()), ("yes", answer("approve")), ("no", answer("reject"))];
    gates
        .into_iter()
        .map(|(id, gate)| Record::Gate(ship(), id.parse().unwrap(), gate))
        .chain([
            Record::Policy(policy()),
            Record::Quotas([(ship(), Quota::default())].into()),
            Record::Goal(ship(), goal),
            put_todo("t-7k3q", claimed),
            put_todo("t-0001", blocked),
            put_todo("t-0002", done("Done", 1)),
            put_todo("t-0003", watched),
            evidence("e-0001", Finding::Note { text: "it works".parse().unwrap() }),
            evidence("e-0002", Finding::Link { url: "https://example.test/?a=b#c".parse().unwrap() }),
            evidence("e-0003", Finding::Commit { commit: "0".repeat(40), subject: "fix: \"it\"".into() }),
            evidence(
                "e-0004",
                Finding::File {
                    path: "a b".into(),
                    bytes: 1,
                    digest: "sha256:00".into(),
                    copy: Some("a\n\tb \"\"\" \\\n".parse().unwrap()),
                },
            ),
            evidence("e-0005", command(Ended::Exit(0), None)),
            evidence("e-0006", command(Ended::Signal(15), Some(overheard))),
            evidence("e-0007", Finding::Range { from: "0".repeat(40), to: "1".repeat(40), commits: 2 }),
            evidence(
                "e-0008",
                Finding::Metric {
                    name: "p99".parse().unwrap(),
                    value: "-1.50".parse().unwrap(),
                    unit: Some("ms".parse().unwrap()),
                    direction: Some(Direction::Down),
                },
            ),
            evidence(
                "e-0009",
                Finding::Review { verdict: Opinion::Changes, by: "Bob".parse().unwrap(), text: None },
            ),
            evidence(
                "e-000a",
                Finding::Change { base: "0".repeat(40), tree: "1".repeat(40), files: 3, text: None },
            ),
            evidence("e-000b", passed),
            Record::Spend(ship(), SpendId::of_turn(&spend.turn), spend),
            Record::Handoff(
                ship(),
                Handoff { text: "# next\n\n+++\n".parse().unwrap(), written: stamp("10:00") },
            ),
            Record::Bypass("b-0001".parse().unwrap(), bypass.clone()),
            Record::Bypass("b-0002".parse().unwrap(), acknowledged),
        ])
        .collect()
}

/// What the store has where `record` belongs.
fn stored(snapshot: &Snapshot<'_>, record: &Record) -> Option<Record> {
    match record {
        Record::Policy(_) => snapshot.policy().ok().map(Record::Policy),
        Record::Quotas(_) => snapshot.quotas().ok().map(Record::Quotas),
        Record::Goal(goal, _) => snapshot.goal(goal).unwrap().map(|found| Record::Goal(goal.clone(), found)),
        Record::Gate(goal, id, _) => {
            snapshot.gate(goal, id).unwrap().map(|found| Record::Gate(goal.clone(), id.clone(), found))
        }
        Record::Todo(goal, id, _) => {
            snapshot.todo(goal, id).unwrap().map(|found| Record::Todo(goal.clone(), id.clone(), found))
        }
        Record::Evidence(goal, id, _) => {
            let found = snapshot.evidence(goal).unwrap().remove(id);
            found.map(|found| Record::Evidence(goal.clone(), id.clone(), found))
        }
        Record::Spend(goal, id, _) => {
            snapshot.spend(goal, id).unwrap().map(|found| Record::Spend(goal.clone(), id.clone(), found))
        }
        Record::Handoff(goal, _) => {
            snapshot.handoff(goal).unwrap().map(|found| Record::Handoff(goal.clone(), found))
        }
        Record::Bypass(id, _) => snapshot.bypass(id).unwrap().map(|found| Record::Bypass(id.clone(), found)),
    }
}

#[test]
fn every_kind_of_record_comes_back_from_a_commit() {
    let repo = Repo::new();
    let records = every_kind();
    let first = repo.put(records.clone());
    assert!(first.commit.is_some() && first.warnings.is_empty());
    for record in &records {
        assert_eq!(stored(&repo.store().read().unwrap(), record).as_ref(), Some(record));
    }
    repo.assert_in_step();

    let again = repo.put(records);
    assert_eq!(again.commit, None, "what is stored to the byte needs no commit");
    assert_eq!(repo.commits(), 3);
}

#[test]
fn who_loses_a_race_decides_again_on_the_new_tip() {
    let repo = Repo::new();
    let mut runs = 0;
    let updated = repo.store().update(&stamp("11:00"), |snapshot| {
        runs += 1;
        let todos = snapshot.todos(&ship())?.len();
        if runs == 1 {
            // A loopx that the lock does not reach, as on a file system without locks.
            let other = repo.strangers_commit();
            fs::write(repo.top().join(".git/loopx/writer"), format!("idle {other} loopx/state")).unwrap();
        }
        Ok::<_, Error>((Some(change(vec![put_todo("t-0001", todo("Work"))])), todos))
    });
    let updated = updated.unwrap();
    assert_eq!((runs, updated.value), (2, 0));
    assert_eq!(repo.git("log -2 --format=%s loopx/state"), "store it\nother");
    repo.assert_in_step();
}

#[test]
fn nothing_is_built_on_a_strangers_commit() {
    let repo = Repo::new();
    let mut runs = 0;
    let refused = repo.store().update(&stamp("11:00"), |_| {
        runs += 1;
        repo.strangers_commit();
        Ok::<_, Error>((Some(change(vec![put_todo("t-0001", todo("Work"))])), ()))
    });
    assert!(matches!(refused, Err(Error::Foreign { .. })), "{refused:?}");
    assert_eq!(runs, 1);
    assert!(matches!(repo.store().trusted().err(), Some(Error::Foreign { .. })));
    assert_eq!(repo.git("log -1 --format=%s loopx/state"), "other");
}

#[test]
fn nothing_is_built_on_another_branch_than_the_one_that_has_the_state() {
    let repo = Repo::new();
    repo.git("branch other loopx/state");
    repo.git("config loopx.branch other");
    let refused = repo.store().update(&stamp("11:00"), |_| {
        Ok::<_, Error>((Some(change(vec![put_todo("t-0001", todo("Work"))])), ()))
    });
    assert!(matches!(refused, Err(Error::Redirected { .. })), "{refused:?}");
    assert_eq!(repo.git("rev-parse other"), repo.git("rev-parse loopx/state"));
}

#[test]
fn a_decision_that_fails_or_changes_nothing_writes_nothing() {
    let repo = Repo::new();
    let before = repo.commits();
    let failed: Result<Updated<()>, Error> =
        repo.store().update(&stamp("11:00"), |_| Err(Error::NotInitialised));
    assert!(failed.is_err());
    let nothing = repo.store().update(&stamp("11:00"), |_| Ok::<_, Error>((None, 7))).unwrap();
    assert_eq!((nothing.value, nothing.commit), (7, None));
    assert_eq!(repo.commits(), before);
}

#[test]
fn a_crash_between_branch_and_view_is_healed_by_the_next_mutation() {
    let repo = Repo::new();
    // Everything a mutation does, up to the view.
    let store = repo.store();
    let base = store.read().unwrap().commit();
    let edit = super::layout::edit(&store.read().unwrap(), &[put_todo("t-0001", todo("Work"))]).unwrap();
    let message = super::Message::of(&change(vec![]), &stamp("11:00"), &store.git.identity().unwrap());
    let new = store.git.commit(super::Cleared::untyped(&edit), Some(&base), &message).unwrap();
    let mut writer = Writer::enter(&store.git, DEFAULT_BRANCH).unwrap();
    assert!(writer.publish(&store.git, new, Some(base.commit), &message).unwrap());
    drop(writer);
    assert!(!repo.view("goals/ship/todos/t-0001.toml").exists());
    assert!(matches!(store.view_trouble(&store.read().unwrap()), Some(Warning::Failed(_))));

    assert_eq!(repo.put(vec![put_todo("t-0002", todo("More"))]).warnings, vec![]);
    assert!(repo.view("goals/ship/todos/t-0001.toml").exists());
    repo.assert_in_step();
}

#[test]
fn half_a_note_of_what_the_view_shows_is_no_hand_edit() {
    let repo = Repo::new();
    repo.put(vec![put_todo("t-0001", todo("Work"))]);
    fs::write(repo.top().join(".git/worktrees/-loopx/loopx-view"), "").unwrap();
    assert_eq!(repo.put(vec![put_todo("t-0002", todo("More"))]).warnings, vec![]);
    repo.assert_in_step();
}

#[test]
fn a_file_edited_by_hand_is_left_alone_named_and_seen_by_git() {
    let repo = Repo::new();
    repo.put(vec![put_todo("t-0001", todo("Work"))]);
    let path = "goals/ship/todos/t-0001.toml";
    fs::write(repo.view(path), "mine").unwrap();
    let updated = repo.put(vec![put_todo("t-0001", todo("Work harder")), put_todo("t-0002", todo("More"))]);
    assert_eq!(updated.warnings, vec![Warning::Edited(vec![path.into()])]);
    assert_eq!(fs::read_to_string(repo.view(path)).unwrap(), "mine");
    assert_eq!(repo.git("-C .loopx status --porcelain"), format!("M {path}"));

    let updated = repo.put(vec![put_todo("t-0001", done("Work harder", 0))]);
    assert_eq!(updated.warnings, vec![Warning::Edited(vec![path.into()])]);
    assert_eq!(repo.git("-C .loopx status --porcelain"), "?? goals/ship/todos/t-0001.toml");

    fs::remove_file(repo.view(path)).unwrap();
    repo.put(vec![put_todo("t-0003", todo("Rest"))]);
    repo.assert_in_step();
}

#[test]
fn nothing_is_written_behind_a_symbolic_link() {
    let repo = Repo::new();
    let elsewhere = repo.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, repo.view("goals/ship/todos")).unwrap();
    let updated = repo.put(vec![put_todo("t-0001", todo("Work"))]);
    assert_eq!(updated.warnings, vec![Warning::Edited(vec!["goals/ship/todos/t-0001.toml".into()])]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_deleted_view_is_missed_and_set_up_brings_it_back() {
    let repo = Repo::new();
    repo.put(vec![put_todo("t-0001", todo("Work"))]);
    fs::remove_dir_all(repo.view("")).unwrap();
    let updated = repo.put(vec![put_todo("t-0002", todo("More"))]);
    assert!(matches!(&updated.warnings[..], [Warning::Detached { .. }]), "{:?}", updated.warnings);
    let setup = set_up(&repo.store(), "12:00");
    assert!(setup.situation == Situation::Ours && setup.warnings.is_empty(), "{setup:?}");
    repo.assert_in_step();

    fs::remove_file(repo.view("goals/ship/todos/t-0001.toml")).unwrap();
    let setup = set_up(&repo.store(), "12:00");
    assert_eq!(setup.warnings, vec![]);
    repo.assert_in_step();
}

#[test]
fn who_comes_second_to_a_set_up_keeps_what_is_there() {
    let repo = Repo::new();
    let tip = repo.git("rev-parse loopx/state");
    // What one sees while another one is about to put the branch there.
    for situation in [Situation::New, Situation::Gone, Situation::Lost { last: tip.clone() }] {
        let setup = repo.store().set_up(DEFAULT_BRANCH, &situation, &policy(), &stamp("12:00")).unwrap();
        assert_eq!(setup.situation, Situation::Ours);
    }
    assert_eq!(repo.git("rev-parse loopx/state"), tip);
}

#[test]
fn a_moved_repository_is_missed_and_set_up_brings_the_view_along() {
    let repo = Repo::new();
    let moved = repo.dir.path().canonicalize().unwrap().join("moved");
    fs::rename(repo.top(), &moved).unwrap();
    let store = || Store::open(&moved, None).unwrap();
    let updated = put(&store(), vec![put_todo("t-0001", todo("Work"))]);
    assert!(matches!(&updated.warnings[..], [Warning::Detached { .. }]), "{:?}", updated.warnings);
    assert_eq!(set_up(&store(), "12:00").warnings, vec![]);
    assert!(moved.join(".loopx/goals/ship/todos/t-0001.toml").exists());
    assert_eq!(git(&moved, "-C .loopx status --porcelain"), "");
}

#[test]
fn a_copied_repository_leaves_the_original_alone() {
    let repo = Repo::new();
    let copy = repo.dir.path().canonicalize().unwrap().join("copy");
    let copied = Command::new("cp").arg("-r").arg(repo.top()).arg(&copy).status().unwrap();
    assert!(copied.success());
    let tip = repo.git("rev-parse loopx/state");
    let store = || Store::open(&copy, None).unwrap();
    put(&store(), vec![put_todo("t-0001", todo("Work"))]);
    set_up(&store(), "12:00");
    let updated = put(&store(), vec![put_todo("t-0002", todo("More"))]);
    assert_eq!(updated.warnings, vec![]);
    assert_eq!(git(&copy, "-C .loopx status --porcelain"), "");
    assert!(copy.join(".loopx/goals/ship/todos/t-0002.toml").exists());

    assert_eq!(repo.git("rev-parse loopx/state"), tip);
    assert!(!repo.view("goals/ship/todos").exists());
    repo.put(vec![put_todo("t-0003", todo("Here"))]);
    repo.assert_in_step();
}

#[test]
fn a_view_with_relative_links_is_this_clones_own() {
    let repo = Repo::new();
    fs::write(repo.view(".git"), "gitdir: ../.git/worktrees/-loopx\n").unwrap();
    fs::write(repo.top().join(".git/worktrees/-loopx/gitdir"), "../../../.loopx/.git\n").unwrap();
    assert_eq!(repo.put(vec![put_todo("t-0001", todo("Work"))]).warnings, vec![]);
    assert!(repo.view("goals/ship/todos/t-0001.toml").exists());
}

#[test]
fn objects_outlive_a_collection_that_began_before_them() {
    let repo = Repo::new();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    fs::write(repo.top().join(".git/gc.pid"), format!("{} {}", process::id(), host.trim())).unwrap();
    let loose = |hex: &str| repo.top().join(format!(".git/objects/{}/{}", &hex[..2], &hex[2..]));
    let updated = repo.put(vec![put_todo("t-0001", todo("Work"))]);
    // What a collection deletes that listed what is reachable before the ref moved.
    let fresh = repo.git("rev-list --objects loopx/state --not loopx/state~1");
    for line in fresh.lines() {
        let _ = fs::remove_file(loose(line.split(' ').next().unwrap()));
    }
    assert!(!loose(&updated.commit.unwrap()).exists());
    assert!(repo.store().read().unwrap().todo(&ship(), &todo_id("t-0001")).unwrap().is_some());
    let packs = fs::read_dir(repo.top().join(".git/objects/pack")).unwrap();
    let names: Vec<_> = packs.map(|entry| entry.unwrap().path()).collect();
    assert!(names.iter().all(|name| name.extension().is_some_and(|end| end != "keep")), "{names:?}");
    repo.assert_in_step();
}

#[test]
fn a_mark_on_a_pack_does_not_outlive_its_dead_writer() {
    let repo = Repo::new();
    let packs = repo.top().join(".git/objects/pack");
    fs::write(packs.join("pack-1.keep"), "loopx").unwrap();
    fs::write(packs.join("pack-2.keep"), "somebody else").unwrap();
    let tip = repo.git("rev-parse loopx/state");
    fs::write(repo.top().join(".git/loopx/writer"), format!("ref {tip} {tip} loopx/state")).unwrap();
    repo.put(vec![put_todo("t-0001", todo("Work"))]);
    assert!(!packs.join("pack-1.keep").exists() && packs.join("pack-2.keep").exists());
}

/// Closes todos in mutations of `step` records; returns their ids.
fn close_many(repo: &Repo, numbers: std::ops::Range<usize>, step: usize) -> Vec<TodoId> {
    let ids: Vec<TodoId> = numbers.clone().map(numbered).collect();
    for (part, first) in ids.chunks(step).zip(numbers.step_by(step)) {
        let record = |(offset, id): (usize, &TodoId)| {
            let number = first + offset;
            Record::Todo(ship(), id.clone(), done(&format!("work {number}"), number as i64))
        };
        assert_eq!(repo.put(part.iter().enumerate().map(record).collect()).warnings, vec![]);
    }
    ids
}

#[test]
fn folded_todos_are_found_counted_and_never_come_twice() {
    let repo = Repo::new();
    let ids = close_many(&repo, 0..400, 40);
    repo.put(vec![put_todo("t-zzzz", todo("Open"))]);
    let store = repo.store();
    let snapshot = store.read().unwrap();
    assert_eq!(snapshot.todo_population().unwrap(), 401);
    for (number, id) in ids.iter().enumerate() {
        let found = snapshot.todo(&ship(), id).unwrap().unwrap();
        assert_eq!(found, done(&format!("work {number}"), number as i64));
        assert!(snapshot.todo_taken(id).unwrap());
        assert_eq!(snapshot.find_todo(&prefix(id.as_str())).unwrap(), Found::Closed(ship(), id.clone()));
    }
    for start in ["t-0", "t-1v", "t-zz", "t-zzzz", "t-7k"] {
        let matching: Vec<TodoId> = ids.iter().filter(|id| id.as_str().starts_with(start)).cloned().collect();
        match snapshot.find_todo(&prefix(start)).unwrap() {
            Found::Open(_, id) => assert!(id.as_str().starts_with(start) && start.starts_with("t-zz")),
            Found::Closed(_, id) => assert_eq!(vec![id], matching),
            Found::Nothing => assert_eq!(matching, vec![]),
            Found::Several(mut several) => {
                several.sort();
                let mut matching = matching;
                matching.sort();
                assert_eq!(several, matching);
            }
        }
    }
    assert!(!snapshot.todo_taken(&todo_id("t-zzz0")).unwrap());

    let closed = snapshot.folder("goals/ship/todos/closed").unwrap().unwrap();
    assert!(closed.entries.len() <= 400 - 256 + 2, "{}", closed.entries.len());
    let segment = snapshot.bytes("goals/ship/todos/closed/000001-000256.jsonl").unwrap().unwrap();
    let lines: Vec<String> = String::from_utf8(segment).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 256);
    for (line, id) in lines.iter().zip(&ids) {
        assert!(line.starts_with(&format!("{{\"format\":\"1.0\",\"id\":\"{id}\",\"record\":{{")), "{line}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(line).unwrap()["id"], id.as_str());
    }
    assert_eq!(repo.git("log --format=%s --grep=fold loopx/state"), "fold 256 closed todos of goal ship");
    drop(snapshot);
    repo.assert_in_step();
}

#[test]
fn a_mutation_that_fills_two_folders_folds_both() {
    let repo = Repo::new();
    let both = |number: usize| {
        let id = numbered(number);
        let (added, what) = (stamp("11:00"), Finding::Note { text: "it works".parse().unwrap() });
        let note = Evidence { commit: None, dirty: false, todo: None, gate: None, added, what };
        let evidence = id.as_str().replace("t-", "e-").parse().unwrap();
        [Record::Todo(ship(), id, done("work", number as i64)), Record::Evidence(ship(), evidence, note)]
    };
    repo.put((0..320).flat_map(both).collect());
    repo.put(both(320).into());
    assert_eq!(
        repo.git("log --format=%s --grep=fold loopx/state"),
        "fold 256 old pieces of evidence of goal ship\nfold 256 closed todos of goal ship"
    );
    repo.assert_in_step();
}

/// A repository in which nothing was added yet.
fn begun() -> Repo {
    let repo = Repo::new();
    let first = repo.git("rev-parse loopx/state~1");
    repo.git(&format!("update-ref refs/heads/loopx/state {first}"));
    fs::remove_file(repo.top().join(".git/loopx/writer")).unwrap();
    set_up(&repo.store(), "10:30");
    repo
}

#[test]
fn the_folded_past_is_exported_and_imported_and_looked_at() {
    type Damage<'a> = &'a dyn Fn(&mut BTreeMap<String, String>);
    let from = Repo::new();
    let ids = close_many(&from, 0..400, 40);
    let mut file = Vec::new();
    from.store().export(&mut file).unwrap();
    let export = |damage: Damage<'_>| {
        let found = Export::parse(Cursor::new(&file)).unwrap().contents().collect::<Result<Vec<_>, _>>();
        let text = |(path, bytes)| (path, String::from_utf8(bytes).unwrap());
        let mut files = found.unwrap().into_iter().map(text).collect();
        damage(&mut files);
        let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        Export::parse(Cursor::new(transfer::written(files)))
    };

    let to = begun();
    let import = |export: Result<Export<_>, Error>| {
        to.store().import(&mut export?, &stamp("11:00")).map(|updated| updated.warnings)
    };
    let segment = "goals/ship/todos/closed/000001-000256.jsonl";
    let index = "goals/ship/todos/closed/index/0.txt";
    let refused: [(Damage<'_>, &str); 7] = [
        (
            &|files| {
                let endless = segment.replace("000256", &usize::MAX.to_string());
                drop(files.remove(segment).map(|text| files.insert(endless, text)));
            },
            "is no file of a state",
        ),
        (&|files| drop(files.remove(segment)), "names records that are not there"),
        (&|files| drop(files.remove(index)), "does not say where the records are"),
        (&|files| files.get_mut(index).unwrap().push_str("zzzz 1\n"), "does not say where the records are"),
        (
            &|files| {
                drop(files.remove(segment).map(|text| files.insert(segment.replace("01-", "02-"), text)))
            },
            "its name does not say which records it has",
        ),
        (
            &|files| *files.get_mut(segment).unwrap() = files[segment].replace("\"done\"", "\"gone\""),
            "unknown variant `gone`",
        ),
        (
            &|files| *files.get_mut(segment).unwrap() = files[segment].replace("\"1.0\"", "\"2.0\""),
            "has format 2.0",
        ),
    ];
    for (damage, problem) in refused {
        let error = import(export(damage)).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    assert_eq!(to.commits(), 1);

    assert_eq!(import(export(&|_| ())).unwrap(), vec![]);
    assert_eq!(to.git("rev-parse loopx/state^{tree}"), from.git("rev-parse loopx/state^{tree}"));
    let (first, folded) = (&ids[0], done("work 0", 0));
    assert_eq!(to.store().read().unwrap().todo(&ship(), first).unwrap(), Some(folded));
    to.assert_in_step();
    assert!(matches!(import(export(&|_| ())), Err(Error::NotEmpty)));
}

/// The files of a new goal with so many closed todos, and its own record.
fn new_goal(goal: &GoalId, closed: usize) -> (Record, Vec<(String, String)>) {
    let record = Goal::new("Take over".parse().unwrap(), vec![], stamp("10:00"));
    let record = Record::Goal(goal.clone(), record);
    let todo =
        |number| Record::Todo(goal.clone(), numbered(number), done(&format!("work {number}"), number as i64));
    let (mut made, mut files) = (NewGoals::default(), Vec::new());
    for record in [record.clone()].into_iter().chain((0..closed).map(todo)) {
        files.extend(made.add(record).unwrap());
    }
    files.extend(made.rest().map(Result::unwrap));
    (record, files)
}

#[test]
fn a_past_from_elsewhere_is_folded_as_if_it_had_been_closed_here() {
    for (closed, segments, lying) in [(0, 0, 0), (320, 0, 320), (321, 1, 65), (576, 1, 320), (577, 2, 65)] {
        let (_, files) = new_goal(&ship(), closed);
        let count = |end: &str| files.iter().filter(|(path, _)| path.ends_with(end)).count();
        assert_eq!((count(".jsonl"), count(".toml")), (segments, lying), "{closed}");
        let is_the_latest = |(path, text): &(String, String)| {
            !path.ends_with(".toml")
                || (segments * 256..closed).any(|number| text.contains(&format!("\"work {number}\"")))
        };
        assert!(files.iter().all(is_the_latest), "{closed}");
    }
}

#[test]
fn goals_from_elsewhere_come_beside_those_that_are_there() {
    let repo = Repo::new();
    let import = |goal: &str, file: Option<&str>| {
        let goal: GoalId = goal.parse().unwrap();
        let (record, mut files) = new_goal(&goal, 577);
        files.extend(file.map(|path| (path.to_owned(), String::new())));
        let change = Change { op: Op::Import, goal: Some(goal), ..change(vec![record]) };
        repo.store().adopt(&change, &stamp("13:00"), files.into_iter().map(Ok))
    };
    for (goal, file, other) in [
        ("ship", None, "goal/ship"),
        ("other", Some("goals/ship/state.json"), "goal/ship"),
        (
            "other",
            Some("goals/ship/todos/closed/000001-000256.jsonl"),
            "goals/ship/todos/closed/000001-000256.jsonl",
        ),
        ("other", Some("loopx.toml"), "policy"),
    ] {
        let error = import(goal, file).unwrap_err();
        assert!(matches!(&error, Error::NotNew(name) if name == other), "{error}");
    }
    assert_eq!(repo.commits(), 2);
    assert_eq!(import("other", None).unwrap().warnings, vec![]);
    repo.assert_in_step();
}

#[test]
fn a_whole_id_means_that_todo_although_an_open_one_begins_so() {
    let repo = Repo::new();
    repo.put(vec![put_todo("t-7k3q", done("Work", 0)), put_todo("t-7k3q5", todo("More"))]);
    let store = repo.store();
    let find = |id: &str| store.read().unwrap().find_todo(&prefix(id)).unwrap();
    assert_eq!(find("t-7k3q"), Found::Closed(ship(), todo_id("t-7k3q")));
    assert_eq!(find("t-7k3"), Found::Open(ship(), todo_id("t-7k3q5")));
}

#[test]
fn what_lies_at_hand_changes_no_answer() {
    let repo = Repo::new();
    close_many(&repo, 0..30, 10);
    repo.put((100..120).map(|n| put_todo(numbered(n).as_str(), todo(&format!("open {n}")))).collect());
    let hot = repo.top().join(".git/loopx/hot");
    let answers = || {
        let store = repo.store();
        let snapshot = store.read().unwrap();
        (snapshot.tip(), snapshot.todos(&ship()).unwrap(), snapshot.todo(&ship(), &numbered(3)).unwrap())
    };
    let expected = answers();
    let good = fs::read(&hot).unwrap();
    let forged = gix::bstr::ByteSlice::replace(&good[..], "open 101", "open 999");
    assert_ne!(forged, good);
    let torn = &good[..good.len() / 2];
    for bytes in [&b""[..], b"loopx-hot 1 ", &[0xff; 100], &forged, torn] {
        fs::write(&hot, bytes).unwrap();
        assert_eq!(answers(), expected);
    }
    fs::remove_file(&hot).unwrap();
    assert_eq!(answers(), expected);
    assert!(!hot.exists(), "reading does not write");
}

#[test]
fn a_torn_end_of_what_lies_at_hand_is_not_built_upon() {
    let repo = Repo::new();
    repo.put(vec![put_todo("t-0001", todo("Work"))]);
    let hot = repo.top().join(".git/loopx/hot");
    let mut bytes = fs::read(&hot).unwrap();
    bytes.extend(format!("{} 500\ntorn", "0".repeat(40)).as_bytes());
    fs::write(&hot, bytes).unwrap();
    repo.put(vec![put_todo("t-0002", todo("More"))]);
    let store = repo.store();
    let snapshot = store.read().unwrap();
    let blob = repo.git("rev-parse loopx/state:goals/ship/todos/t-0002.toml");
    let blob = gix::ObjectId::from_hex(blob.as_bytes()).unwrap();
    assert!(snapshot.todo(&ship(), &todo_id("t-0002")).unwrap().is_some());
    assert!(store.hot().get(blob, gix::objs::Kind::Blob).is_some());
}

/// What the domain would leave of `state` to decide on.
fn least(state: Loop) -> Loop {
    let outlines = state.todos.iter().map(|(id, todo)| (id.clone(), Outline::of(todo))).collect();
    let Foremost { todos, behind } = Foremost::of(&outlines);
    let todos = state.todos.into_iter().filter(|(id, _)| todos.contains(id)).collect();
    Loop { todos, behind, ..state }
}

/// A hundred todos of which each needs the one before it.
fn chain(repo: &Repo) {
    let links = (0..100).map(|n: usize| {
        let needs = n.checked_sub(1).map(numbered).into_iter().collect();
        put_todo(numbered(n).as_str(), Todo { needs, ..todo(&format!("link {n}")) })
    });
    repo.put(links.collect());
}

#[test]
fn what_a_decision_depends_on_is_at_hand_after_every_mutation() {
    let repo = Repo::new();
    chain(&repo);
    let claimed = |needs: &[usize]| Todo {
        needs: needs.iter().copied().map(numbered).collect(),
        ..todo("held").claim(&numbered(50), &stamp("12:00"), Seconds(60)).unwrap()
    };
    let added = |needs: &[usize], time: &str| Todo {
        needs: needs.iter().copied().map(numbered).collect(),
        added: stamp(time),
        ..todo("new")
    };
    let monitor = Some(Monitor::new(Seconds(60), at("12:00")));
    for (records, count) in [
        (vec![], 2),
        (vec![put_todo(numbered(0).as_str(), done("link 0", 0))], 2),
        (vec![put_todo(numbered(0).as_str(), todo("link 0"))], 2),
        (vec![put_todo(numbered(50).as_str(), claimed(&[0, 49]))], 3),
        (vec![put_todo(numbered(50).as_str(), added(&[49], "10:30"))], 2),
        (vec![put_todo(numbered(60).as_str(), Todo { monitor, ..added(&[59], "10:00") })], 3),
        (vec![put_todo("t-ffff", added(&[7], "11:30"))], 3),
        (vec![put_todo("t-fffe", added(&[], "11:30"))], 4),
        ((0..100).map(|n| put_todo(numbered(n).as_str(), done("link", 0))).collect(), 2),
    ] {
        if !records.is_empty() {
            repo.put(records);
        }
        let store = repo.store();
        let snapshot = store.read().unwrap();
        let (whole, found) =
            (snapshot.state(&ship()).unwrap().unwrap(), snapshot.state_to_decide_on(&ship()).unwrap());
        assert_eq!(found.as_ref().map(|found| found.todos.len()), Some(count));
        assert_eq!(found, Some(least(whole)));
    }
    assert!(!repo.top().join(".git/loopx/open-ship").exists(), "few todos are read as quickly");
}

#[test]
fn where_all_are_ready_all_are_read_and_that_is_known() {
    use std::os::unix::fs::MetadataExt as _;
    let repo = Repo::new();
    repo.put((0..100).map(|n| put_todo(numbered(n).as_str(), todo(&format!("work {n}")))).collect());
    let file = repo.top().join(".git/loopx/open-ship");
    let written = || fs::metadata(&file).unwrap().ino();
    let check = || {
        let store = repo.store();
        let snapshot = store.read().unwrap();
        assert_eq!(snapshot.state_to_decide_on(&ship()).unwrap(), snapshot.state(&ship()).unwrap());
    };
    check();
    let before = written();
    let goal = Goal::new("Ship it now".parse().unwrap(), vec![], stamp("10:00"));
    repo.put(vec![Record::Goal(ship(), goal)]);
    assert_eq!(written(), before, "no todo was touched");
    repo.put(vec![put_todo(numbered(7).as_str(), done("work 7", 0))]);
    assert_ne!(written(), before);
    check();
}

#[test]
fn folding_what_lies_below_the_open_todos_leaves_word_of_them() {
    let repo = Repo::new();
    chain(&repo);
    close_many(&repo, 200..521, 321);
    assert_eq!(repo.git("log -1 --format=%s loopx/state"), "fold 256 closed todos of goal ship");
    let store = repo.store();
    let snapshot = store.read().unwrap();
    let found = snapshot.state_to_decide_on(&ship()).unwrap();
    assert_eq!(found.as_ref().map(|found| found.todos.len()), Some(2));
    assert_eq!(found, snapshot.state(&ship()).unwrap().map(least));
}

#[test]
fn what_is_said_of_a_decision_is_believed_whole_or_not_at_all() {
    let repo = Repo::new();
    chain(&repo);
    let dir = repo.top().join(".git/loopx");
    let (file, whole) = (dir.join("open-ship"), repo.store().read().unwrap().state(&ship()).unwrap());
    let good = fs::read(&file).unwrap();
    let found = || repo.store().read().unwrap().state_to_decide_on(&ship()).unwrap();
    assert_eq!(found(), whole.clone().map(least));
    for place in (0..good.len()).step_by(7) {
        let mut bytes = good.clone();
        bytes[place] ^= 1;
        for bytes in [&bytes[..], &good[..place]] {
            fs::write(&file, bytes).unwrap();
            let found = found();
            assert!(found == whole || found == whole.clone().map(least), "byte {place}");
        }
    }
    // The next mutation begins with what it finds, and leaves what is right.
    for (name, bytes) in [("open-ship", &good[..good.len() / 2]), ("hot", &b"no"[..]), ("hot-rest", b"no")] {
        fs::write(dir.join(name), bytes).unwrap();
        repo.put(vec![put_todo("t-ffff", todo(name))]);
        let store = repo.store();
        let snapshot = store.read().unwrap();
        let state = snapshot.state(&ship()).unwrap().map(least);
        assert_eq!(snapshot.state_to_decide_on(&ship()).unwrap(), state);
    }
    // What waits is out of the way of whoever decides.
    let sizes = ["hot", "hot-rest"].map(|name| fs::metadata(dir.join(name)).unwrap().len());
    assert!(sizes[0] * 3 < sizes[1], "{sizes:?}");
    let another = repo.git("rev-parse loopx/state~1");
    let store = repo.store();
    let before = store.at(gix::ObjectId::from_hex(another.as_bytes()).unwrap()).unwrap();
    assert_eq!(
        before.state_to_decide_on(&ship()).unwrap(),
        before.state(&ship()).unwrap(),
        "it is about one tree"
    );
}

#[test]
fn one_writer_enters_at_a_time() {
    let repo = Repo::new();
    let store = repo.store();
    let inside = Writer::enter(&store.git, "loopx/state").unwrap();
    let second = std::thread::scope(|scope| {
        let second = scope.spawn(|| repo.put(vec![put_todo("t-0001", todo("Work"))]));
        let tip = store.git.tip("loopx/state").unwrap().unwrap();
        assert_eq!(View::trouble(&store.git, tip), None);
        drop(inside);
        second.join().unwrap()
    });
    assert!(second.commit.is_some());
}

/// Random mutations, compared with a plain map after each.
#[test]
fn the_store_does_what_a_map_does() {
    let repo = Repo::new();
    let mut dice = 1u64;
    let mut roll = |end: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % end
    };
    let mut model: BTreeMap<TodoId, Todo> = BTreeMap::new();
    let mut quotas = Quotas::new();
    for round in 0..60 {
        let before = (model.clone(), quotas.clone());
        let mut records = Vec::new();
        for _ in 0..=roll(3) {
            let id = numbered(usize::try_from(roll(12)).unwrap());
            let new = match roll(4) {
                0 => todo(&format!("round {round}")),
                1 => todo("the same"),
                2 => done("done", i64::try_from(roll(3)).unwrap()),
                _ => todo("free").claim(&id, &stamp("10:00"), Seconds(60)).unwrap(),
            };
            if !records.iter().any(|record| matches!(record, Record::Todo(_, known, _) if *known == id)) {
                model.insert(id.clone(), new.clone());
                records.push(Record::Todo(ship(), id, new));
            }
        }
        if roll(5) == 0 {
            quotas.insert(ship(), Quota::new("0.5".parse().unwrap(), 24, 30).unwrap());
            records.push(Record::Quotas(quotas.clone()));
        }
        let updated = repo.put(records);
        assert_eq!(updated.commit.is_some(), before != (model.clone(), quotas.clone()), "round {round}");
        let store = repo.store();
        let snapshot = store.read().unwrap();
        let mut found = snapshot.todos(&ship()).unwrap();
        assert!(found.values().all(|todo| !todo.is_closed()));
        found.extend(snapshot.closed_todos(&ship()).unwrap());
        assert_eq!(found, model, "round {round}");
        assert_eq!(snapshot.quotas().unwrap(), quotas);
    }
    let log = repo.git("log --format=%P|%(trailers:key=Signed-off-by,valueonly,separator=%x2c) loopx/state");
    for line in log.lines() {
        let (parents, signed) = line.split_once('|').unwrap();
        assert!(!parents.contains(' ') && signed == "Ann <ann@example.test>", "{line}");
    }
    repo.assert_in_step();
}

/// A legal mutation by an agent.
fn legal(store: &Store, op: Op, record: Record, time: Timestamp) {
    let stamp = Stamp { by: "agent:codex-1".parse().unwrap(), at: time };
    let change = Change { op, ..change(vec![record]) };
    store.update(&stamp, |_| Ok::<_, Error>((Some(change.clone()), ()))).unwrap();
}

/// Legal notes with these numbers, one mutation each.
fn notes(store: &Store, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let at = Timestamp::from_unix(at("12:00").unix() + number as i64);
        let by = "agent:codex-1".parse().unwrap();
        let what = Finding::Note { text: format!("note {number}").parse().unwrap() };
        let added = Stamp { by, at };
        let note = Evidence { commit: None, dirty: false, todo: None, gate: None, added, what };
        let id = numbered(number).as_str().replacen('t', "e", 1).parse().unwrap();
        legal(store, Op::EvidenceAdd, Record::Evidence(ship(), id, note), at);
    }
}

/// Whatever was folded in between, what was added is told, and what was only folded is not.
#[test]
fn folding_is_no_difference() {
    let repo = begun();
    let goal = Goal::new("Ship it".parse().unwrap(), vec![], stamp("11:00"));
    legal(&repo.store(), Op::GoalAdd, Record::Goal(ship(), goal), at("11:00"));
    notes(&repo.store(), 0..100);
    let before = repo.store().read().unwrap().tip();
    notes(&repo.store(), 100..330);
    let (store, folds) = (repo.store(), repo.git("log --oneline --grep Loopx-Op:.fold loopx/state"));
    assert_eq!(folds.lines().count(), 1);
    assert!(folds.contains("fold 256 old pieces of evidence of goal ship"), "{folds}");
    let steps = store.steps(Some(&before), &store.read().unwrap().tip()).unwrap();
    assert!(steps.lying.values().all(|step| step.before.is_none() && step.after.is_some()));
    let mut folded = 0;
    steps.each_folded(|_| true, |_| folded += 1).unwrap();
    assert_eq!((steps.lying.len(), folded), (74, 156));
    let fold = folds.split(' ').next().unwrap();
    let parent = repo.git(&format!("rev-parse {fold}^"));
    let fold = repo.git(&format!("rev-parse {fold}"));
    let steps = store.steps(Some(parent.trim()), fold.trim()).unwrap();
    steps.each_folded(|_| true, |step| panic!("{step:?}")).unwrap();
    assert_eq!(steps.lying, Default::default());
}

/// What was folded, opened again and folded again is one record: to an import, and to whoever asks what happened.
#[test]
fn what_comes_back_from_the_past_and_goes_again_is_one_record() {
    let (repo, empty) = (Repo::new(), begun());
    close_many(&repo, 0..321, 321);
    let before = repo.store().read().unwrap().tip();
    let id = numbered(0);
    for (put, count) in [
        (vec![put_todo(id.as_str(), todo("work 0"))], 1),
        (vec![put_todo(id.as_str(), done("work 0", 9_000))], 1),
        (
            (400..656).map(|n| put_todo(numbered(n).as_str(), done(&format!("work {n}"), 10_000))).collect(),
            257,
        ),
    ] {
        repo.put(put);
        let (store, nothing) = (repo.store(), empty.store());
        let snapshot = store.read().unwrap();
        let told = store.steps(Some(&before), &snapshot.tip()).unwrap();
        let mut all = told.lying.clone();
        told.each_folded(|_| true, |step| drop(all.insert(step.after.as_ref().unwrap().name(), step)))
            .unwrap();
        assert_eq!(all.len(), count);
        let step = &all[&format!("todo/{id}")];
        assert!(step.before.is_some() && step.after.is_some(), "{step:?}");
        assert_eq!(transfer::must_be_whole(&snapshot), Ok(()));
        assert_eq!(transfer::must_be_apart(&nothing.read().unwrap(), &snapshot), Ok(()));
    }
    let folds = repo.git("log --format=%s --grep Loopx-Op:.fold loopx/state");
    assert_eq!(folds.lines().count(), 2, "it is folded twice");
}

/// Syncs, and takes over whatever comes.
fn sync(repo: &Repo) -> (usize, usize, usize) {
    let store = repo.store();
    let remote = store.remote("origin").unwrap();
    let plan = store.compare(&remote, false, at("23:00"), &mut |_| (), |_, _| ()).unwrap();
    let taken = store.take(&remote, &plan, &stamp("23:00")).unwrap();
    store.send(&remote, &plan, taken.as_ref(), &mut |_| ()).unwrap();
    (plan.takes.len(), plan.replays, plan.pushes)
}

/// Both sides have so many records that each folds some; the folding of one side stays.
#[test]
fn what_both_sides_folded_is_there_once() {
    let (ours, theirs) = (begun(), begun());
    let goal = Goal::new("Ship it".parse().unwrap(), vec![], stamp("11:00"));
    legal(&ours.store(), Op::GoalAdd, Record::Goal(ship(), goal), at("11:00"));
    notes(&ours.store(), 0..310);
    let hub = ours.dir.path().join("hub.git");
    ours.git("init -q --bare ../hub.git");
    for repo in [&ours, &theirs] {
        repo.git(&format!("remote add origin {}", hub.display()));
        repo.git("config protocol.file.allow always");
    }
    assert_eq!(sync(&ours), (0, 0, 312));
    // Both were begun by the same person in the same second, so that they have the same first commit.
    assert_eq!(sync(&theirs), (311, 0, 0));
    notes(&ours.store(), 310..325);
    notes(&theirs.store(), 325..340);
    assert_eq!(sync(&theirs), (0, 0, 16));
    assert_eq!(sync(&ours), (16, 15, 15));
    assert_eq!(sync(&theirs), (15, 0, 0));
    assert_eq!(ours.git("rev-parse loopx/state"), theirs.git("rev-parse loopx/state"));
    assert_eq!(ours.git("log --format=%s --grep=fold loopx/state").lines().count(), 1);
    let store = ours.store();
    assert_eq!(store.read().unwrap().evidence_population().unwrap(), 340);
    assert_eq!(store.verify(true, at("23:00"), |_, _| ()).unwrap().bad, None);
    ours.assert_in_step();
    theirs.assert_in_step();
    notes(&store, 340..400);
    assert_eq!(ours.store().verify(true, at("23:00"), |_, _| ()).unwrap().bad, None);
}
