//! A week in which three agents work on one goal: they take todos that need each other, look at a monitor, run into the quota,
//! ask a person, who comes by twice a day, and die in the middle of turns. What must not happen is looked for afterwards in what
//! plain `git log` tells, and in nothing else.

use std::collections::{BTreeMap, BTreeSet};

use loopx::domain::id::SpendId;

use crate::sandbox::Sandbox;

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;
const LEASE: u64 = 45 * 60;
/// Turns that may begin in any 24 hours.
const SLOTS: usize = 12;

/// Chance that is the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// An agent: what it is in the middle of, and when it is there again.
struct Agent {
    name: &'static str,
    turns: u64,
    /// The turn that goes on, its todo, and whether that is a monitor.
    turn: Option<(String, Option<String>, bool)>,
    wakes: u64,
}

/// What the agents and the person did that a log of git's does not tell.
#[derive(Default)]
struct Story {
    /// The todos that a gate is about; none for one that is about all.
    gates: BTreeMap<String, Option<String>>,
    /// The gates that nobody has answered.
    asked: Vec<String>,
    needs: BTreeMap<String, BTreeSet<String>>,
    monitor: String,
    blocked: Vec<String>,
    /// Turns that nobody will end, and late attempts to.
    died: u64,
    late: u64,
    quota: u64,
}

struct Week {
    repo: Sandbox,
    dice: Dice,
    story: Story,
}

impl Week {
    fn begin() -> Self {
        let repo = Sandbox::ready();
        repo.loopx("configure-goal --quota-compute 0.25").success();
        let monitor = repo.todo("'Is CI green?' --every 6h --priority p1");
        let story = Story { monitor, ..Story::default() };
        let mut week = Self { repo, dice: Dice(6), story };
        week.plan(40);
        week
    }

    /// The person adds work, in one commit: of three todos one needs the two before it.
    fn plan(&mut self, count: usize) {
        let lines: Vec<String> = (0..count)
            .map(|at| {
                let needs =
                    if at % 3 == 2 { format!("\"k{}\",\"k{}\"", at - 2, at - 1) } else { String::new() };
                format!(
                    r#"{{"title":"work {at}","key":"k{at}","priority":"p{}","needs":[{needs}]}}"#,
                    1 + at % 3
                )
            })
            .collect();
        self.repo.write("repo/plan.jsonl", &lines.join("\n"));
        let added = self.repo.loopx("todo add --from plan.jsonl --json").success().json();
        for todo in added["todos"].as_array().expect("a list") {
            let needs = todo["needs"].as_array().into_iter().flatten();
            let needs = needs.map(|need| need.as_str().expect("an id").to_owned()).collect();
            self.story.needs.insert(todo["id"].as_str().expect("an id").to_owned(), needs);
        }
    }

    /// The person comes by: answers what was asked, frees what was blocked, adds work when little is left.
    fn visit(&mut self) {
        for gate in std::mem::take(&mut self.story.asked) {
            let about_one = self.story.gates[&gate].is_some();
            let answer = if about_one && self.dice.roll(3) == 0 { "reject" } else { "approve" };
            self.repo.person(&format!("gate resolve {gate} --decision {answer}"), &gate).success();
        }
        for todo in std::mem::take(&mut self.story.blocked) {
            self.repo.loopx(&format!("todo unblock {todo}"));
        }
        if self.dice.roll(3) == 0 {
            self.plan(9);
        }
    }

    /// The agent begins a turn, or ends the one that it is in. When it is there again.
    fn act(&mut self, agent: &mut Agent) -> u64 {
        let now = self.repo.seconds();
        let name = agent.name;
        let Some((turn, todo, is_monitor)) = agent.turn.take() else {
            agent.turns += 1;
            let turn = format!("{name}-{}", agent.turns);
            let begun = self.repo.loopx(&format!("turn begin --turn-id {turn} --agent-id {name} --json"));
            let told = begun.json();
            if begun.code == 10 {
                let why = told["instead"]["why"].as_str().expect("a reason");
                self.story.quota += u64::from(why.contains("quota"));
                let again = told["instead"]["retry_after"].as_u64().unwrap_or(HOUR);
                return now + again.max(90 * 60);
            }
            begun.success();
            let todo = told["turn"]["todo"]["id"].as_str().map(str::to_owned);
            let is_monitor = todo.as_ref() == Some(&self.story.monitor);
            agent.turn = Some((turn, todo, is_monitor));
            return now + 600 + self.dice.roll(40) * 60;
        };
        let Some(todo) = todo else {
            self.plan(3);
            self.end(name, &turn, "progress");
            return now + 60;
        };
        if is_monitor {
            let seen = self.dice.roll(4);
            self.repo
                .loopx(&format!("todo poll {todo} --fingerprint 'build {seen}' --agent-id {name}"))
                .success();
            self.end(name, &turn, "progress");
            return now + 60;
        }
        match self.dice.roll(20) {
            // Dies, and is started again hours later; the turn was ended by somebody else by then, or its next one does that.
            0 | 1 => {
                self.story.died += 1;
                if self.dice.roll(2) == 0 {
                    return now + 2 * HOUR + self.dice.roll(4) * HOUR;
                }
                self.story.late += 1;
                agent.turn = Some((turn, Some(todo), false));
                now + 5 * HOUR
            }
            2 => {
                self.end(name, &turn, "blocked");
                self.story.blocked.push(todo);
                now + 60
            }
            3 | 4 => {
                self.ask(name, &todo);
                self.end(name, &turn, "progress");
                now + 60
            }
            5..8 => {
                self.end(name, &turn, "progress");
                now + 60
            }
            // Takes longer than it said, and says so while it still can.
            8 | 9 => {
                self.repo.loopx(&format!("todo renew {todo} --agent-id {name}"));
                agent.turn = Some((turn, Some(todo), false));
                now + 25 * 60
            }
            _ => {
                self.end(name, &turn, "completed");
                now + 60 + self.dice.roll(10) * 60
            }
        }
    }

    /// Ends a turn as an agent does that does not know what happened in between.
    fn end(&self, agent: &str, turn: &str, outcome: &str) {
        self.repo.loopx(&format!(
            "turn end --turn-id {turn} --outcome {outcome} --summary 'said so' --agent-id {agent}"
        ));
    }

    /// Asks the person about a todo; now and then about everything.
    fn ask(&mut self, agent: &str, todo: &str) {
        let gate = format!("question-{}", self.story.gates.len());
        let about = (self.dice.roll(5) > 0).then(|| todo.to_owned());
        let scope = about.as_ref().map(|todo| format!("--todo {todo}")).unwrap_or_default();
        self.repo
            .loopx(&format!("gate open 'Go on?' --gate-id {gate} --blocks turn {scope} --agent-id {agent}"))
            .success();
        self.story.gates.insert(gate.clone(), about);
        self.story.asked.push(gate);
    }
}

/// A commit of the state branch, as `git log` tells it.
struct Said {
    at: u64,
    op: String,
    actor: String,
    turn: Option<String>,
    records: Vec<String>,
    /// What it says besides, in a word: how a turn ended, or what was said at a gate.
    word: String,
}

impl Said {
    fn ids<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        self.records.iter().filter_map(move |name| name.strip_prefix(kind)?.strip_prefix('/'))
    }
}

fn log(repo: &Sandbox) -> Vec<Said> {
    let field = |key: &str| format!("%(trailers:key={key},valueonly,separator=%x2c)");
    let fields = ["Loopx-Op", "Loopx-Actor", "Loopx-Turn", "Loopx-Record"].map(field).join("%x09");
    let told =
        repo.git(&format!("log --reverse --format=%ct%x09{fields}%x09%s loopx/state")).success().stdout;
    let line = |line: &str| {
        let parts: Vec<&str> = line.split('\t').collect();
        let [at, op, actor, turn, records, subject] = parts[..] else { panic!("{line}") };
        Said {
            at: at.parse().expect("a time"),
            op: op.to_owned(),
            actor: actor.to_owned(),
            turn: (!turn.is_empty()).then(|| turn.to_owned()),
            records: records.split(',').map(str::to_owned).collect(),
            word: match subject.split_once(": ") {
                Some((_, outcome)) if op == "turn.end" => outcome.to_owned(),
                _ => subject.split(' ').next().unwrap_or_default().to_owned(),
            },
        }
    };
    told.lines().map(line).collect()
}

/// What somebody has of a todo: since when, and until when it holds.
struct Lease {
    by: String,
    until: u64,
}

/// What the log comes to, counted.
#[derive(Debug, Default)]
struct Counted {
    turns: usize,
    done: usize,
    taken_over: usize,
    lost: usize,
    polls: usize,
    answers: usize,
}

/// The name of a turn's booking.
fn spend_of(turn: &str) -> String {
    SpendId::of_turn(&turn.parse().expect("a turn")).to_string()
}

/// Goes through the log and holds each commit against what may be.
fn judge<'l>(log: &'l [Said], story: &Story) -> (Counted, BTreeSet<&'l str>) {
    let mut counted = Counted::default();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut leases: BTreeMap<&str, Lease> = BTreeMap::new();
    let mut gates: BTreeSet<&str> = BTreeSet::new();
    let mut turns: BTreeMap<String, &str> = BTreeMap::new();
    let mut begun: Vec<u64> = Vec::new();
    for said in log {
        let at = said.at;
        let todos: Vec<&str> = said.ids("todo").collect();
        let about = |gate: &&&str, todo: &str| story.gates[**gate].as_deref().is_none_or(|it| it == todo);
        let over = |todo: &str| gates.iter().find(|gate| about(gate, todo)).copied();
        match said.op.as_str() {
            "gate.open" => gates.extend(said.ids("gate")),
            "gate.resolve" => {
                counted.answers += 1;
                // A no takes what it is about from whoever has it, and stays where it is.
                todos.iter().for_each(|todo| drop(leases.remove(todo)));
                gates.retain(|gate| {
                    said.word == "reject" || !said.ids("gate").any(|answered| answered == *gate)
                });
            }
            "todo.renew" => todos.iter().for_each(|todo| {
                let lease = leases.get_mut(todo).expect("somebody has what is renewed");
                assert_eq!(lease.by, said.actor);
                lease.until = at + LEASE;
            }),
            "todo.poll" => {
                counted.polls += 1;
                assert_eq!(todos.first(), Some(&story.monitor.as_str()));
                leases.remove(story.monitor.as_str());
            }
            "turn.begin" => {
                let own = said.turn.as_deref().map(spend_of);
                for spend in said.ids("spend").filter(|spend| Some(*spend) != own.as_deref()) {
                    assert!(turns.remove(spend).is_some(), "what is lost goes on until then");
                    counted.lost += 1;
                }
                let Some(own) = own else { continue };
                counted.turns += 1;
                let is_look = todos.contains(&story.monitor.as_str());
                if !is_look {
                    begun.push(at);
                    let window = begun.iter().filter(|then| **then > at - DAY).count();
                    assert!(window <= SLOTS, "{window} turns in the 24 hours before {at}");
                }
                assert!(!turns.values().any(|by| *by == said.actor), "one turn at a time: {}", said.actor);
                assert!(turns.insert(own, &said.actor).is_none(), "a turn begins once");
                for todo in todos {
                    assert_eq!(over(todo), None, "{todo} was handed out at {at} while a gate was over it");
                    assert!(!done.contains(todo), "{todo} was handed out again");
                    let needs = story.needs.get(todo).into_iter().flatten();
                    let open = needs.map(String::as_str).find(|need| !done.contains(need));
                    assert_eq!(open, None, "{todo} was handed out before what it needs");
                    let lease = Lease { by: said.actor.clone(), until: at + LEASE };
                    if let Some(before) = leases.insert(todo, lease) {
                        assert!(
                            before.by == said.actor || before.until <= at,
                            "{todo} was taken from {}",
                            before.by
                        );
                        counted.taken_over += usize::from(before.by != said.actor);
                    }
                }
            }
            "turn.end" => {
                let turn = said.turn.as_ref().expect("a turn");
                assert_eq!(
                    turns.remove(&spend_of(turn)),
                    Some(said.actor.as_str()),
                    "{turn} is ended once, by who began it"
                );
                for todo in todos {
                    let lease = leases.remove(todo);
                    assert_eq!(lease.map(|lease| lease.by).as_deref(), Some(said.actor.as_str()), "{todo}");
                    if said.word == "completed" && todo != story.monitor {
                        assert!(done.insert(todo), "{todo} was done twice");
                        assert_eq!(over(todo), None, "{todo} was done while a gate was over it");
                    }
                }
            }
            "todo.add" | "todo.unblock" | "goal.add" | "goal.configure" | "init" | "fold" => {}
            other => panic!("nobody did `{other}`"),
        }
    }
    counted.done = done.len();
    (counted, leases.into_keys().collect())
}

#[test]
fn three_agents_a_week_and_one_log() {
    let mut week = Week::begin();
    let start = week.repo.seconds();
    let mut agents = ["ada", "bob", "cyd"].map(|name| Agent { name, turns: 0, turn: None, wakes: start });
    let mut visits = (0..14).map(|half| start + half * 12 * HOUR + 9 * HOUR).peekable();
    loop {
        let next = agents.iter().map(|agent| agent.wakes).min().expect("three");
        if next.max(week.repo.seconds()) > start + 7 * DAY {
            break;
        }
        if visits.next_if(|visit| *visit <= next).is_some() {
            week.visit();
        }
        week.repo.sleep(next.saturating_sub(week.repo.seconds()));
        let agent = agents.iter_mut().min_by_key(|agent| agent.wakes).expect("three");
        agent.wakes = week.act(agent).max(agent.wakes + 1);
    }
    let log = log(&week.repo);
    let (counted, standing) = judge(&log, &week.story);
    // What the log has nobody give back is what the state says is somebody's.
    let claimed = week.repo.git("grep -l -e 'is = \"claimed\"' loopx/state -- goals/ship/todos").stdout;
    let name = |line: &str| Some(line.rsplit('/').next()?.strip_suffix(".toml")?.to_owned());
    let claimed: BTreeSet<String> = claimed.lines().filter_map(name).collect();
    assert_eq!(claimed.iter().map(String::as_str).collect::<BTreeSet<_>>(), standing);
    let everything = week.story.gates.values().filter(|about| about.is_none()).count();
    let Story { died, late, quota, gates, .. } = &week.story;
    insta::assert_snapshot!(
        format!("{} commits, {} gates ({everything} about everything), died {died} times, late {late} times, no slot left {quota} times\n{counted:#?}", log.len(), gates.len()),
        @"
    248 commits, 9 gates (3 about everything), died 17 times, late 11 times, no slot left 72 times
    Counted {
        turns: 100,
        done: 38,
        taken_over: 12,
        lost: 17,
        polls: 16,
        answers: 9,
    }
    "
    );
    week.repo.loopx("verify").success();
}
