//! The rules once more, as plain maps of plain values. Nothing in here calls the program.

use std::collections::{BTreeMap, BTreeSet};

use super::{About, Goal as GoalName, Named, Step, Wanted, What, Who};

mod gates;
mod goals;
mod records;
mod todos;
mod turns;

/// The git identity of every repository.
pub(super) const ANN: &str = "Ann <ann@example.test>";
/// So much of each kind a goal has that has grown old: one less than what is folded, as two more files come to
/// lie there with it.
pub(super) const OLD: usize = 320;
/// So many files may lie in a folder, and so many are folded when there are more.
const FULL: usize = 320;
const FOLDED: usize = 256;

/// A piece of the sentence that refuses a command.
type Refused = &'static str;

/// Whether the command changes anything.
type Answer = Result<bool, Refused>;

#[derive(Debug, Clone, PartialEq)]
struct Stamp {
    by: String,
    at: i64,
}

#[derive(Debug, Clone)]
struct Goal {
    objective: String,
    features: BTreeSet<&'static str>,
    added: Stamp,
}

/// Ten-thousandths of the window, hours, minutes.
type Quota = (u32, u32, u32);
const WHOLE: Quota = (10_000, 24, 30);

#[derive(Debug, Clone)]
struct Gate {
    question: String,
    options: Vec<&'static str>,
    turn_only: bool,
    todos: BTreeSet<String>,
    asked: Stamp,
    answer: Option<(&'static str, i64, Option<&'static str>)>,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Open,
    Claimed { by: String, since: i64, until: i64, from: Option<String>, lease: Option<i64> },
    Blocked { on: String, at: i64, reason: String },
    Done { by: String, at: i64, evidence: BTreeSet<String> },
}

#[derive(Debug, Clone, PartialEq)]
struct Todo {
    goal: String,
    title: String,
    for_person: bool,
    needs: BTreeSet<String>,
    added: Stamp,
    /// How often it was claimed.
    epoch: u32,
    state: State,
}

#[derive(Debug, Clone)]
struct Evidence {
    goal: String,
    todo: Option<String>,
    gate: Option<String>,
    added: Stamp,
}

#[derive(Debug, Clone)]
struct Spend {
    slots: u32,
    evidence: BTreeSet<String>,
    added: Stamp,
}

/// The state as it should be.
#[derive(Debug, Default)]
pub(super) struct Model {
    goals: BTreeMap<String, Goal>,
    quotas: BTreeMap<String, Quota>,
    gates: BTreeMap<(String, String), Gate>,
    todos: BTreeMap<String, Todo>,
    evidence: BTreeMap<String, Evidence>,
    spends: BTreeMap<(String, String), Spend>,
    /// Todos and evidence in the order they came.
    order: Vec<String>,
    /// Files in the folders of one goal where folding looks: todos, gates, evidence, spends.
    lying: BTreeMap<(String, &'static str), usize>,
    /// How often that was too many.
    pub(super) folds: usize,
}

pub(super) fn text_of(who: Who) -> String {
    match who {
        Who::Person => ANN.to_owned(),
        Who::Agent(agent) => format!("agent:{agent}"),
    }
}

/// The title of the record that `step` adds.
pub(super) fn title(step: &Step) -> String {
    format!("Work {}", step.digits.1[9])
}

/// The id of the old record with this number.
pub(super) fn old_id(kind: &str, number: usize) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let digit = |place: u32| char::from(DIGITS[number / 32usize.pow(place) % 32]);
    format!("{kind}-0{}0{}zz", digit(0), digit(1))
}

/// When the old record with this number was made.
pub(super) fn old_time(number: usize) -> i64 {
    1_700_000_000 + i64::try_from(number).expect("a small number")
}

fn time(at: i64) -> String {
    loopx::domain::time::Timestamp::from_unix(at).to_string()
}

impl Model {
    /// The state that [`World::grow_old`](super::World::grow_old) makes.
    pub(super) fn grow_old(&mut self) {
        let stamp = |number| Stamp { by: "agent:a".into(), at: old_time(number) };
        let goal = "ship".to_owned();
        let fresh = Goal { objective: "Ship it".into(), features: BTreeSet::new(), added: stamp(0) };
        self.goals.insert(goal.clone(), fresh);
        for number in 0..OLD {
            let (added, state) = (
                stamp(number),
                State::Done { by: "agent:a".into(), at: old_time(number), evidence: BTreeSet::new() },
            );
            let (title, needs) = (format!("Work {number}"), BTreeSet::new());
            let todo = Todo { goal: goal.clone(), title, for_person: false, needs, added, epoch: 0, state };
            self.todos.insert(old_id("t", number), todo);
            let added = stamp(number);
            let evidence = Evidence { goal: goal.clone(), todo: None, gate: None, added: added.clone() };
            self.evidence.insert(old_id("e", number), evidence);
            let spend = Spend { slots: 1, evidence: BTreeSet::new(), added };
            self.spends.insert((goal.clone(), format!("old-{number}")), spend);
        }
        for kind in ["todos", "evidence", "spend"] {
            self.lying.insert((goal.clone(), kind), OLD);
        }
    }

    /// The id that is meant among those that begin with `kind`.
    pub(super) fn name(&self, kind: &str, named: &Named) -> String {
        let ids: Vec<&String> = self.order.iter().filter(|id| id.starts_with(kind)).collect();
        match named {
            Named::Whole(index) if !ids.is_empty() => index.get(&ids).to_string(),
            Named::Begun(index, length) if !ids.is_empty() => {
                let id = index.get(&ids);
                id[..id.len().min(*length)].to_owned()
            }
            _ => format!("{kind}zzzz"),
        }
    }

    /// The same where no beginning will do.
    pub(super) fn whole_name(&self, kind: &str, named: &Named) -> String {
        match named {
            Named::Begun(index, _) => self.name(kind, &Named::Whole(*index)),
            _ => self.name(kind, named),
        }
    }

    /// Does what the command says. `id` is that of the record which the program added.
    pub(super) fn play(&mut self, step: &Step, id: Option<&str>, now: i64) -> Answer {
        let stamp = Stamp { by: text_of(step.by), at: now };
        let id = id.unwrap_or("none");
        match &step.what {
            What::AddGoal { id } => self.add_goal(*id, stamp),
            What::Configure { goal, wanted, proven } => {
                self.configure(goal, wanted, *proven && step.by == Who::Person)
            }
            What::OpenGate { goal, id, option, turn_only, todos } => {
                self.open_gate((*goal, *id), (*option, *turn_only), todos, stamp)
            }
            What::Resolve { goal, gate, decision, note } => {
                self.resolve(*goal, gate, decision, note.then_some("because"), now)
            }
            What::AddTodo { goal, for_person, needs } => {
                self.add_todo(*goal, (title(step), *for_person, needs), id, stamp)
            }
            What::Claim { todo, lease } => {
                self.step(todo, |model, id, _| model.claimed(id, &stamp, i64::from(*lease)))
            }
            What::Release { todo } => self.step(todo, |_, _, todo| todo.released(&stamp.by)),
            What::Done { todo, evidence } => {
                let evidence = self.pieces(evidence.as_ref());
                self.step(todo, |model, id, _| model.completed(id, &stamp, evidence.clone()))
            }
            What::AddEvidence { about } => self.add_evidence(about, id, stamp),
            What::Spend { goal, turn, slots, evidence } => {
                let evidence = self.pieces(evidence.as_ref());
                self.spend((*goal, turn), *slots, evidence, stamp)
            }
            What::Move => Ok(true),
            What::ImportHere if self.goals.is_empty() => Ok(false),
            What::ImportHere => Err("there are goals here already"),
        }
    }

    fn add_evidence(&mut self, about: &About, id: &str, added: Stamp) -> Answer {
        let (goal, todo, gate) = match about {
            About::Todo(todo) => {
                let todo = self.find(&self.name("t-", todo))?;
                (self.todos[&todo].goal.clone(), Some(todo), None)
            }
            About::Gate(goal, gate) => {
                let (goal, gate) = self.gate(*goal, gate)?;
                (goal, None, Some(gate))
            }
            About::Goal(goal) => (self.goal(*goal)?, None, None),
        };
        self.put_evidence(id, Evidence { goal, todo, gate, added })
    }

    fn put_evidence(&mut self, id: &str, evidence: Evidence) -> Answer {
        self.order.push(id.to_owned());
        self.filed(evidence.goal.clone(), "evidence");
        self.evidence.insert(id.to_owned(), evidence).map_or(Ok(true), |_| Err("its id is new"))
    }

    /// The evidence that is meant.
    fn pieces(&self, named: Option<&Named>) -> BTreeSet<String> {
        named.into_iter().map(|named| self.whole_name("e-", named)).collect()
    }

    fn must_have(&self, goal: &str, evidence: &BTreeSet<String>) -> Result<(), Refused> {
        let is_there = |id| self.evidence.get(id).is_some_and(|evidence| evidence.goal == goal);
        if evidence.iter().all(is_there) { Ok(()) } else { Err("there is no evidence") }
    }

    /// A record came to lie where folding looks.
    fn filed(&mut self, goal: String, kind: &'static str) {
        let lying = self.lying.entry((goal, kind)).or_default();
        *lying += 1;
        if *lying > FULL {
            // What folding makes lies there, too: a segment and a folder, or the folder that has both.
            *lying = *lying - FOLDED + if matches!(kind, "todos" | "gates") { 2 } else { 1 };
            self.folds += 1;
        }
    }
}

/// `name`, with a number behind it from the second on.
fn numbered(name: &str, number: usize) -> String {
    if number == 1 { name.to_owned() } else { format!("{name}-{number}") }
}
