//! The program's operations in a real repository, each command with a store opened anew, as a process of its own would.
#![expect(clippy::disallowed_methods, reason = "git says what it thinks of a repository")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use loopx::{
    caller::Caller,
    domain::{
        actor::{Proof, Proven, Stamp},
        change::{Change, Op, Record},
        evidence::{Evidence, Finding},
        gate::Act,
        goal::{Feature, Goal},
        id::{Entropy, EvidenceId, GateId, GoalId, SpendId},
        policy::{Policy, RepositoryId},
        quota::Spend,
        time::{Seconds, Timestamp},
        todo::{Priority, Todo, TodoState, Worker},
        turn::Outcome,
    },
    error::Error,
    ops::{Ctx, Done, evidence, gate, goal, quota, todo, transfer, turn},
    store::{DEFAULT_BRANCH, Store},
};
use serde_json::Value;

use super::{
    About, Asked, Killed, Named, Step, Verb, What, Who,
    plain::{ANN, Model, OLD, SAID, old_id, old_time, text_of, title},
};

/// A repository in which git knows who commits and a state was begun, to be copied.
struct Begun {
    files: Vec<(PathBuf, Vec<u8>)>,
    /// Where it lay.
    place: String,
}

static BEGUN: LazyLock<Begun> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a folder");
    let top = dir.path().canonicalize().expect("a path");
    git(&top, &["init", "-q", "-b", "main", "--template=", "."]);
    for (key, value) in [("user.name", "Ann"), ("user.email", "ann@example.test"), ("gc.auto", "0")] {
        git(&top, &["config", key, value]);
    }
    let store = Store::open(&top, None).expect("a repository");
    let policy = Policy::new(RepositoryId::new(&[7; 16]));
    let stamp = Stamp { by: parsed(ANN), at: parsed(START) };
    let situation = store.situation(DEFAULT_BRANCH).expect("a situation");
    let setup = store.set_up(DEFAULT_BRANCH, &situation, &policy, &stamp).expect("a state");
    assert!(setup.warnings.is_empty(), "{:?}", setup.warnings);
    let mut files = Vec::new();
    collect(&top, Path::new(""), &mut files);
    Begun { files, place: top.to_str().expect("a path").to_owned() }
});

const START: &str = "2026-11-30T10:00:00Z";

/// A state that has grown old, exported.
static OLD_STATE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut world = World::begin(&std::env::temp_dir());
    let (goal, stamp) = ("ship".parse::<GoalId>().expect("an id"), old_stamp(0));
    let ctx = world.ctx(Who::Agent("a"), Entropy::default());
    let mut puts = vec![Record::Goal(goal.clone(), Goal::new(parsed("Ship it"), Vec::new(), stamp.clone()))];
    for number in 0..OLD {
        let added = old_stamp(number);
        let state =
            TodoState::Done { by: added.by.clone(), at: added.at, evidence: [].into(), note: None, epoch: 0 };
        let todo = Todo {
            title: parsed(&format!("Work {number}")),
            body: None,
            for_: Worker::Agent,
            priority: Priority::P2,
            needs: [].into(),
            requires: [].into(),
            check: None,
            monitor: None,
            added: added.clone(),
            state,
        };
        let what = Finding::Note { text: parsed(SAID) };
        let (todo_of, gate) = (None, None);
        let evidence =
            Evidence { commit: None, dirty: false, todo: todo_of, gate, added: added.clone(), what };
        let turn = parsed(&format!("old-{number}"));
        let id = SpendId::of_turn(&turn);
        let spend = Spend { turn, slots: 1, evidence: Vec::new(), added, course: None, voided: None };
        puts.push(Record::Todo(goal.clone(), parsed(&old_id("t", number)), todo));
        puts.push(Record::Evidence(goal.clone(), parsed(&old_id("e", number)), evidence));
        puts.push(Record::Spend(goal.clone(), id, spend));
    }
    let subject = "grow old".to_owned();
    let change = Change { op: Op::GoalAdd, subject, body: None, goal: Some(goal), turn: None, puts };
    ctx.store.update(&stamp, |_| Ok::<_, loopx::store::Error>((Some(change.clone()), ()))).expect("a commit");
    fs::read(world.export().expect("an export")).expect("a file")
});

fn old_stamp(number: usize) -> Stamp {
    Stamp { by: parsed("agent:a"), at: Timestamp::from_unix(old_time(number)) }
}

#[track_caller]
fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("a legal text")
}

#[track_caller]
fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git").args(args).current_dir(dir).output().expect("git");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The files below `folder` of `top`.
fn collect(top: &Path, folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(top.join(folder)).expect("a folder").map(|entry| entry.expect("an entry")) {
        let path = folder.join(entry.file_name());
        match entry.path().is_dir() {
            true => collect(top, &path, files),
            false => files.push((path, fs::read(entry.path()).expect("a file"))),
        }
    }
}

fn proven(typed: &str) -> Proven {
    Proven { person: parsed(ANN), proof: Proof::Terminal { typed: typed.to_owned() } }
}

/// What a command came to.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) changed: bool,
    /// The ids of todos or evidence that it added.
    pub(super) ids: Vec<String>,
}

impl Ran {
    fn of<T>(done: &Done<T>, ids: Vec<String>) -> Self {
        Self { changed: done.commit.is_some(), ids }
    }
}

pub(super) struct World {
    dir: tempfile::TempDir,
    /// Clones that the state has been in.
    clones: u8,
    exports: usize,
    now: i64,
    latest: i64,
    /// Commits that the branch has, without those of folding, which the model counts.
    commits: usize,
    folds_before: usize,
    warned: Option<String>,
}

impl World {
    pub(super) fn begin(folder: &Path) -> Self {
        let now = parsed::<Timestamp>(START).unix();
        let dir = tempfile::tempdir_in(folder.canonicalize().expect("a path")).expect("a folder");
        let (commits, folds_before, warned) = (0, 0, None);
        let mut world = Self { dir, clones: 0, exports: 0, now, latest: now, commits, folds_before, warned };
        world.new_clone();
        world
    }

    pub(super) fn now(&self) -> i64 {
        self.now
    }

    fn top(&self) -> PathBuf {
        self.dir.path().join(format!("clone-{}", self.clones))
    }

    /// Goes on in a clone in which a state was begun.
    fn new_clone(&mut self) {
        self.clones += 1;
        let Begun { files, place } = &*BEGUN;
        let top = self.top();
        for (path, bytes) in files {
            let file = top.join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            // The links between repository and view name places.
            let moved = matches!(path.to_str(), Some(".loopx/.git" | ".git/worktrees/-loopx/gitdir"))
                .then(|| String::from_utf8_lossy(bytes).replace(place, top.to_str().expect("a path")));
            fs::write(file, moved.as_ref().map_or(&bytes[..], |text| text.as_bytes())).expect("a file");
        }
        self.commits = 1;
    }

    /// Puts the state of [`Model::grow_old`] there.
    pub(super) fn grow_old(&mut self) {
        let file = self.dir.path().join("old-state");
        fs::write(&file, &*OLD_STATE).expect("a file");
        self.import(&file).expect("an import");
    }

    fn ctx(&self, by: Who, entropy: Entropy) -> Ctx {
        let caller = match by {
            Who::Person => Caller::Person,
            Who::Agent(agent) => Caller::Agent { agent: parsed(agent), named_by: "the model".into() },
        };
        Ctx {
            redact: false,
            store: Store::open(&self.top(), None).expect("a repository"),
            caller,
            now: Timestamp::from_unix(self.now),
            entropy,
            goal: None,
            cwd: self.top(),
            program: "loopx".into(),
            gits: Default::default(),
            tidings: loopx::ops::Tidings::default(),
        }
    }

    fn export(&mut self) -> Result<PathBuf, Error> {
        self.exports += 1;
        let file = self.dir.path().join(format!("export-{}", self.exports));
        transfer::export(&self.ctx(Who::Person, Entropy::default()), &file)?;
        Ok(file)
    }

    fn import(&mut self, file: &Path) -> Result<(), Error> {
        let ctx = self.ctx(Who::Person, Entropy::default());
        let mut export = transfer::read(&ctx, file)?;
        let done = transfer::import(&ctx, &mut export, &proven("import"))?;
        assert!(done.warnings.is_empty(), "{:?}", done.warnings);
        self.commits += 1;
        Ok(())
    }

    /// Runs the command, or what would have been left of it. The error is the sentence that refuses it.
    pub(super) fn play(&mut self, step: &Step, model: &Model) -> Result<Ran, String> {
        self.now += step.later;
        self.latest = self.latest.max(self.now);
        self.warned = None;
        let (view, aside) = (self.top().join(".loopx"), self.dir.path().join("aside"));
        let before = git_tip(&self.top());
        match step.killed {
            Killed::Never => {}
            Killed::BeforeTheRef => self.note(&format!("ref {before} {} loopx/state", "1".repeat(40))),
            Killed::BeforeTheView => fs::rename(&view, &aside).expect("a view"),
        }
        let top = self.top();
        let done = self.run(step, model).map_err(|error| error.message);
        if step.killed == Killed::BeforeTheView {
            // The one thing that a command does to the view then is to say that it is not there.
            fs::rename(&aside, top.join(".loopx")).expect("a view");
            let after = git_tip(&self.top());
            if top == self.top() && before != after {
                self.note(&format!("ref {before} {after} loopx/state"));
            }
        } else if let Some(warning) = self.warned.take() {
            return Err(format!("a warning: {warning}"));
        }
        if matches!(&done, Ok(done) if done.changed) && !matches!(step.what, What::Move) {
            self.commits += 1;
        }
        done
    }

    /// What a killed writer leaves.
    fn note(&self, line: &str) {
        fs::write(self.top().join(".git/loopx/writer"), format!("{line:<340}\n")).expect("a note");
    }

    fn done<T>(&mut self, done: Done<T>, ids: impl FnOnce(&T) -> Vec<String>) -> Ran {
        self.warned = done.warnings.first().map(ToString::to_string);
        Ran::of(&done, ids(&done.value))
    }

    fn run(&mut self, step: &Step, model: &Model) -> Result<Ran, Error> {
        let mut entropy = [step.digits.0; 16];
        entropy[6..].copy_from_slice(&step.digits.1);
        let ctx = &self.ctx(step.by, entropy);
        let named_goal = |goal: &super::Goal| goal.map(parsed::<GoalId>);
        let todo_named = |named: &Named| parsed(&model.name(&text_of(step.by), "t-", named));
        let evidence_named = |named: &Named| parsed(&model.piece(named));
        let gate_named = |asked: &Asked| {
            let (goal, gate) = model.typed(asked);
            (goal.map(|goal| parsed::<GoalId>(&goal)), parsed::<GateId>(&gate))
        };
        let said = || parsed(SAID);
        Ok(match &step.what {
            What::AddGoal { id, criterion } => {
                let done_when = criterion.then(|| parsed("It works")).into_iter().collect();
                let done = goal::add(ctx, named_goal(id), parsed("Ship it"), done_when)?;
                self.done(done, |_| Vec::new())
            }
            What::TurnGoal { goal, verb, evidence } => {
                let (goal, sure) = (named_goal(goal), proven(SAID));
                let met: Vec<_> = evidence.iter().map(|evidence| (1, evidence_named(evidence))).collect();
                let done = match verb {
                    Verb::Pause => goal::pause(ctx, goal.as_ref(), None)?,
                    Verb::Resume => goal::resume(ctx, goal.as_ref(), &sure)?,
                    Verb::Meet => goal::meet(ctx, goal.as_ref(), &met, &[])?,
                    Verb::Achieve => goal::achieve(ctx, goal.as_ref(), &met, &sure)?,
                    Verb::Abandon => goal::abandon(ctx, goal.as_ref(), &said(), &sure)?,
                };
                self.done(done, |_| Vec::new())
            }
            What::Configure { goal, wanted, proven: shows } => {
                let feature = |word: &str| {
                    Feature::ALL.into_iter().find(|feature| feature.word() == word).expect("a feature")
                };
                let configuration = goal::Configuration {
                    enable: wanted.enable.map(feature).into_iter().collect(),
                    disable: wanted.disable.map(feature).into_iter().collect(),
                    compute: wanted.compute.map(parsed),
                    window_hours: wanted.window_hours,
                    slot_minutes: wanted.slot_minutes,
                    slots: None,
                };
                let proven = (*shows && step.by == Who::Person).then(|| proven(goal));
                let done = goal::configure(ctx, &parsed(goal), &configuration, proven.as_ref())?;
                self.done(done, |_| Vec::new())
            }
            What::OpenGate { goal, id, option, turn_only, todos } => {
                let question = gate::Question {
                    goal: named_goal(goal),
                    id: id.map(parsed),
                    question: parsed("May we?"),
                    options: option.then(|| parsed("blue")).into_iter().collect(),
                    blocks: turn_only.then_some(Act::Turn).into_iter().collect(),
                    todos: todos.iter().map(todo_named).collect(),
                    scope: Default::default(),
                    standing: None,
                    approvals: Default::default(),
                };
                let done = gate::open(ctx, &question)?;
                self.done(done, |_| Vec::new())
            }
            What::Resolve { gate, decision, note } => {
                let (goal, gate) = gate_named(gate);
                let asked = gate::asked(ctx, goal.as_ref(), &gate, parsed(decision), None)?;
                let note = note.then(|| parsed("because"));
                let done = gate::resolve(ctx, &asked, &proven(gate.as_str()), note.as_ref())?;
                self.done(done, |_| Vec::new())
            }
            What::Withdraw { gate } | What::ReopenGate { gate } => {
                let (goal, gate) = gate_named(gate);
                let is_withdrawn = matches!(step.what, What::Withdraw { .. });
                let verb = if is_withdrawn { gate::Step::Withdraw } else { gate::Step::Reopen };
                let view = gate::before(ctx, goal.as_ref(), &gate, verb)?;
                let done = gate::take_back(ctx, &view, verb, &proven(gate.as_str()), &said())?;
                self.done(done, |_| Vec::new())
            }
            What::AddTodo { goal, for_person, needs } => {
                let request = todo::Request {
                    goal: named_goal(goal),
                    title: parsed(&title(step)),
                    body: None,
                    for_: if *for_person { Worker::Person } else { Worker::Agent },
                    priority: Priority::P2,
                    needs: needs.iter().map(todo_named).collect(),
                    requires: [].into(),
                    check: None,
                    every: None,
                };
                let done = todo::add(ctx, &request)?;
                self.done(done, |view| vec![view.id.to_string()])
            }
            What::Claim { todo, lease } => {
                let done = todo::claim(ctx, &todo_named(todo), Seconds(*lease))?;
                self.done(done, |_| Vec::new())
            }
            What::Release { todo } => {
                let done = todo::release(ctx, &todo_named(todo))?;
                self.done(done, |_| Vec::new())
            }
            What::ClaimNext { goal, lease } => {
                let goal = named_goal(goal);
                let done = todo::claim_next(ctx, goal.as_ref(), [].into(), Seconds(*lease))?;
                self.done(done, |_| Vec::new())
            }
            What::Renew { todo, lease } => {
                let done = todo::renew(ctx, &todo_named(todo), lease.map(Seconds))?;
                self.done(done, |_| Vec::new())
            }
            What::Block { todo, on } => {
                let on = on.map(parsed::<GateId>);
                let done = todo::block(ctx, &todo_named(todo), on.as_ref(), &said())?;
                self.done(done, |_| Vec::new())
            }
            What::Unblock { todo } => {
                let done = todo::unblock(ctx, &todo_named(todo), None)?;
                self.done(done, |_| Vec::new())
            }
            What::Drop { todo, proven: shows } => {
                let proven = (*shows && step.by == Who::Person).then(|| proven(SAID));
                let done = todo::drop(ctx, &todo_named(todo), &said(), proven.as_ref())?;
                self.done(done, |_| Vec::new())
            }
            What::Split { todo, parts } => {
                let titles: Vec<_> = (1..=*parts).map(|part| parsed(&format!("Part {part}"))).collect();
                let done = todo::split(ctx, &todo_named(todo), &titles)?;
                self.done(done, |branched| branched.new.iter().map(|view| view.id.to_string()).collect())
            }
            What::Edit { todo, edits } => {
                let priorities = [Priority::P0, Priority::P1, Priority::P2, Priority::P3];
                let worker = |person| if person { Worker::Person } else { Worker::Agent };
                let edits = todo::Edits {
                    priority: edits.priority.map(|priority| priorities[usize::from(priority)]),
                    for_: edits.for_person.map(worker),
                    needs: edits.need.iter().map(todo_named).collect(),
                    no_needs: edits.no_need.iter().map(todo_named).collect(),
                    ..todo::Edits::default()
                };
                let done = todo::edit(ctx, &todo_named(todo), &edits, None)?;
                self.done(done, |_| Vec::new())
            }
            What::Reopen { todo } => {
                let done = todo::reopen(ctx, &todo_named(todo), None)?;
                self.done(done, |_| Vec::new())
            }
            What::Done { todo, evidence } => {
                let evidence = evidence.iter().map(evidence_named).collect();
                let completion = todo::Completion { evidence, ..todo::Completion::default() };
                let done = todo::done(ctx, &todo_named(todo), &completion)?;
                self.done(done, |_| Vec::new())
            }
            What::AddEvidence { about } => {
                let about = match about {
                    About::Todo(todo) => evidence::About::Todo(todo_named(todo)),
                    About::Gate(gate) => {
                        let (goal, gate) = gate_named(gate);
                        evidence::About::Gate(goal, gate)
                    }
                    About::Goal(goal) => evidence::About::Goal(named_goal(goal)),
                };
                let done = evidence::add(ctx, &about, &evidence::Saw::Note(parsed(SAID)))?;
                self.done(done, |view| vec![view.id.to_string()])
            }
            What::Spend { goal, turn, slots, evidence } => {
                let goal = named_goal(goal);
                let evidence: Vec<_> = evidence.iter().map(evidence_named).collect();
                let done = quota::spend_slot(ctx, goal.as_ref(), Some(parsed(turn)), *slots, &evidence)?;
                self.done(done, |_| Vec::new())
            }
            What::Void { goal, turn } => {
                let seen = quota::voidable(ctx, named_goal(goal).as_ref(), &parsed(turn))?;
                let done = quota::void(ctx, &seen, &said(), &proven(turn))?;
                self.done(done, |_| Vec::new())
            }
            What::BeginTurn { goal, turn, lease } => {
                let turn = parsed(&model.turn(step.by, turn));
                let goal = named_goal(goal);
                let done = turn::begin(ctx, goal.as_ref(), Some(turn), [].into(), Seconds(*lease))?;
                self.done(done, |_| Vec::new())
            }
            What::EndTurn { goal, turn, outcome, slots, evidence } => {
                let turn = parsed(&model.turn(step.by, turn));
                let outcome = match *outcome {
                    "progress" => Outcome::Progress,
                    "completed" => Outcome::Completed,
                    "blocked" => Outcome::Blocked,
                    _ => Outcome::Nothing,
                };
                let evidence: BTreeSet<EvidenceId> = evidence.iter().map(evidence_named).collect();
                let given = evidence.clone();
                let finish =
                    turn::Finish { outcome, summary: parsed(SAID), evidence, slots: *slots, ran: None };
                let done = turn::end(ctx, named_goal(goal).as_ref(), &turn, &finish)?;
                self.done(done, |ended| {
                    let new = ended.spend.evidence.iter().find(|id| !given.contains(id));
                    new.map(ToString::to_string).into_iter().collect()
                })
            }
            What::Move => {
                let file = self.export()?;
                self.new_clone();
                self.import(&file)?;
                self.folds_before = model.folds;
                let again = self.export()?;
                let bytes = |file| fs::read(file).expect("an export");
                assert!(bytes(file) == bytes(again), "what was imported exports to the same bytes");
                Ran { changed: true, ids: Vec::new() }
            }
            What::ImportHere if self.records().is_ok_and(|records| records.len() == 1) => {
                Ran { changed: false, ids: Vec::new() }
            }
            What::ImportHere => {
                let file = self.export()?;
                self.import(&file)?;
                Ran { changed: true, ids: Vec::new() }
            }
        })
    }

    /// Looks at everything that has to hold after a sequence.
    pub(super) fn judge(&mut self, model: &Model) -> Result<(), String> {
        let (found, expected) = (self.records()?, model.records());
        for name in found.keys().chain(expected.keys()) {
            if found.get(name) != expected.get(name) {
                let (found, expected) = (found.get(name), expected.get(name));
                return Err(format!("{name} is {found:?}, and in the model {expected:?}"));
            }
        }

        let commits = self.commits + model.folds - self.folds_before;
        let signed = "--format=%P|%(trailers:key=Signed-off-by,valueonly,separator=%x2c)";
        let log = git(&self.top(), &["log", signed, "loopx/state"]);
        for line in log.lines() {
            if !matches!(line.split_once('|'), Some((parents, ANN)) if !parents.contains(' ')) {
                return Err(format!("a commit with parents and sign-offs `{line}`"));
            }
        }
        if log.lines().count() != commits {
            return Err(format!("{} commits for {commits} changes", log.lines().count()));
        }

        let store = Store::open(&self.top(), None).map_err(|error| error.to_string())?;
        let verified = store.verify(true, Timestamp::from_unix(self.latest), |_, _| ());
        let verified = verified.map_err(|error| error.to_string())?;
        if verified.checked != commits || verified.bad.is_some() {
            return Err(format!("verify says {verified:?}"));
        }

        let snapshot = store.trusted().map_err(|error| error.to_string())?;
        if let Some(trouble) = store.view_trouble(&snapshot) {
            return Err(format!("the view: {trouble}"));
        }
        match git(&self.top().join(".loopx"), &["status", "--porcelain"]) {
            clean if clean.is_empty() => Ok(()),
            dirty => Err(format!("git says of the view: {dirty}")),
        }
    }

    /// Every record in an export, read as plain TOML and JSON, by goal, kind and name.
    fn records(&self) -> Result<BTreeMap<String, Value>, String> {
        let mut export = Vec::new();
        let store = Store::open(&self.top(), None).map_err(|error| error.to_string())?;
        store.export(&mut export).map_err(|error| error.to_string())?;
        let export = String::from_utf8(export).map_err(|error| error.to_string())?;
        let (mut records, mut folded) = (BTreeMap::new(), Vec::new());
        for line in export.lines() {
            let line: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
            let (Some(path), Some(text)) = (line["path"].as_str(), line["text"].as_str()) else { continue };
            let Some((stem, extension)) = path.trim_start_matches("goals/").rsplit_once('.') else {
                continue;
            };
            if path == "loopx.toml" || path == ".gitattributes" || extension == "txt" {
                continue;
            }
            if extension == "jsonl" {
                let folder = stem.rsplit_once('/').map_or(stem, |(folder, _)| folder);
                for line in text.lines() {
                    let line: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
                    let id = line["id"].as_str().unwrap_or("no id");
                    folded.push((format!("{folder}/{id}"), line["record"].clone()));
                }
                continue;
            }
            let record: Value = match extension {
                "toml" => toml::from_str(text).map_err(|error| error.to_string())?,
                _ => serde_json::from_str(text).map_err(|error| error.to_string())?,
            };
            let whole = if stem.contains('/') && !stem.ends_with("/state") { "" } else { ".json" };
            add(&mut records, stem, whole, record)?;
        }
        for (name, record) in folded {
            // What was opened again has a file of its own, and that counts.
            if ![&name, &name.replace("/closed/", "/")].iter().any(|name| records.contains_key(*name)) {
                add(&mut records, &name, "", record)?;
            }
        }
        Ok(records)
    }
}

/// Adds a record as the model would write it.
fn add(
    records: &mut BTreeMap<String, Value>,
    path: &str,
    extension: &str,
    mut record: Value,
) -> Result<(), String> {
    let fields = record.as_object_mut().ok_or("a record is no object")?;
    if fields.remove("format").is_some_and(|format| format != "1.0") {
        return Err(format!("{path} has another format"));
    }
    if let Some(state) = fields.get_mut("state").and_then(Value::as_object_mut) {
        state.remove("seen");
    }
    // Where old evidence and spends lie says nothing; a spend is known by its turn.
    let mut name = path.replace("/evidence/closed/", "/evidence/");
    if let Some(turn) = record["turn"].as_str() {
        let goal = path.split('/').next().unwrap_or_default();
        name = format!("{goal}/spend/{turn}");
    }
    match records.insert(format!("{name}{extension}"), record) {
        None => Ok(()),
        Some(_) => Err(format!("{name} is there twice")),
    }
}

fn git_tip(top: &Path) -> String {
    fs::read_to_string(top.join(".git/refs/heads/loopx/state")).expect("a ref").trim().to_owned()
}
