//! The rules once more, as plain maps of plain values. Nothing in here calls the program.

use std::collections::{BTreeMap, BTreeSet};

use proptest::sample::Index;

use super::{About, Asked, Edits, Goal as GoalName, Named, Step, Turn, Verb, Wanted, What, Who};

mod gates;
mod goals;
mod records;
mod todos;
mod turns;

/// What is said where somebody has to say something.
pub(super) const SAID: &str = "seen";
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

impl Stamp {
    fn must_be_of_a_person(&self) -> Result<(), Refused> {
        if self.by == ANN { Ok(()) } else { Err("takes a person") }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Goal {
    objective: String,
    has_criterion: bool,
    /// The evidence that answers it.
    met: Option<String>,
    features: BTreeSet<&'static str>,
    added: Stamp,
    state: goals::State,
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
    state: gates::State,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Open,
    Claimed { by: String, since: i64, until: i64, from: Option<String>, lease: Option<i64> },
    Blocked { on: Option<String>, by: String, at: i64, reason: String },
    Done { by: String, at: i64, evidence: BTreeSet<String>, note: Option<&'static str> },
    Dropped { by: String, at: i64 },
}

#[derive(Debug, Clone, PartialEq)]
struct Todo {
    goal: String,
    title: String,
    for_person: bool,
    priority: u8,
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
    course: Option<turns::Course>,
    /// When a person took it out of the count.
    voided: Option<i64>,
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
    /// The todos that were closed and folded, and not opened since; and the turns whose spends were.
    folded: BTreeSet<String>,
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
        self.add_goal(Some("ship"), false, stamp(0)).expect("the first goal");
        for number in 0..OLD {
            let (added, state) = (
                stamp(number),
                State::Done {
                    by: "agent:a".into(),
                    at: old_time(number),
                    evidence: BTreeSet::new(),
                    note: None,
                },
            );
            let (title, needs) = (format!("Work {number}"), BTreeSet::new());
            let todo = Todo {
                goal: goal.clone(),
                title,
                for_person: false,
                priority: 2,
                needs,
                added,
                epoch: 0,
                state,
            };
            self.todos.insert(old_id("t", number), todo);
            let added = stamp(number);
            let evidence = Evidence { goal: goal.clone(), todo: None, gate: None, added: added.clone() };
            self.evidence.insert(old_id("e", number), evidence);
            let spend = Spend { slots: 1, evidence: BTreeSet::new(), added, course: None, voided: None };
            self.spends.insert((goal.clone(), format!("old-{number}")), spend);
        }
        for kind in ["todos", "evidence", "spend"] {
            self.lying.insert((goal.clone(), kind), OLD);
        }
    }

    /// Who takes a step: whoever has what it is about, if it says so.
    pub(super) fn who(&self, step: &Step) -> Who {
        let has = match &step.what {
            What::Renew { todo: Named::Own(index), .. }
            | What::Release { todo: Named::Own(index) }
            | What::Done { todo: Named::Own(index), .. } => {
                let claimed = self.todos.values().filter_map(|todo| match &todo.state {
                    State::Claimed { by, .. } => Some(by),
                    _ => None,
                });
                of(index, claimed)
            }
            What::BeginTurn { turn: Turn::Own(index), .. } | What::EndTurn { turn: Turn::Own(index), .. } => {
                of(index, self.spends.values().filter(|turn| turn.goes_on()).map(|turn| &turn.added.by))
            }
            _ => None,
        };
        let everybody = [Who::Person, Who::Agent("a"), Who::Agent("b")];
        everybody.into_iter().find(|who| has == Some(&text_of(*who))).unwrap_or(step.by)
    }

    /// The id that `by` means among those that begin with `kind`.
    pub(super) fn name(&self, by: &str, kind: &str, named: &Named) -> String {
        let ids = self.order.iter().filter(|id| id.starts_with(kind));
        let has = |id: &&String| self.todos.get(*id).is_some_and(|todo| todo.is_claimed_by(by));
        let id = match named {
            Named::Whole(index) => of(index, ids).cloned(),
            Named::Own(index) => of(index, ids.filter(has)).cloned(),
            Named::Begun(index, length) => of(index, ids).map(|id| id.chars().take(*length).collect()),
            Named::Old(number) => Some(old_id(&kind[..1], *number)),
            Named::Unknown => None,
        };
        id.unwrap_or_else(|| format!("{kind}zzzz"))
    }

    /// The id of the evidence that is meant: no beginning will do.
    pub(super) fn piece(&self, named: &Named) -> String {
        match named {
            Named::Begun(index, _) => self.name("", "e-", &Named::Whole(*index)),
            _ => self.name("", "e-", named),
        }
    }

    /// Does what the command says. `ids` are those of the records which the program added.
    pub(super) fn play(&mut self, step: &Step, ids: &[String], now: i64) -> Answer {
        let stamp = Stamp { by: text_of(step.by), at: now };
        let id = ids.first().map_or("none", String::as_str);
        match &step.what {
            What::AddGoal { id, criterion } => self.add_goal(*id, *criterion, stamp),
            What::TurnGoal { goal, verb, evidence } => {
                self.turn_goal(*goal, *verb, self.pieces(evidence.as_ref()), stamp)
            }
            What::Configure { goal, wanted, proven } => {
                self.configure(goal, wanted, *proven && step.by == Who::Person)
            }
            What::OpenGate { goal, id, option, turn_only, todos } => {
                self.open_gate((*goal, *id), (*option, *turn_only), todos, stamp)
            }
            What::Resolve { gate, decision, note } => {
                self.resolve(gate, decision, note.then_some("because"), &stamp)
            }
            What::Withdraw { gate } => self.take_back(gate, false, &stamp),
            What::ReopenGate { gate } => self.take_back(gate, true, &stamp),
            What::AddTodo { goal, for_person, needs } => {
                self.add_todo(*goal, (title(step), *for_person, needs), id, stamp)
            }
            What::Claim { todo, lease } => {
                self.step(&stamp.by, todo, |model, id, _| model.claimed(id, &stamp, i64::from(*lease)))
            }
            What::Release { todo } => self.step(&stamp.by, todo, |_, _, todo| todo.released(&stamp.by)),
            What::ClaimNext { goal, lease } => self.claim_next(*goal, i64::from(*lease), stamp),
            What::Renew { todo, lease } => {
                self.step(&stamp.by, todo, |_, _, todo| todo.renewed(&stamp, lease.map(i64::from)))
            }
            What::Block { todo, on } => {
                self.step(&stamp.by, todo, |model, _, todo| model.blocked(todo, &stamp, *on))
            }
            What::Unblock { todo } => {
                self.step(&stamp.by, todo, |model, _, todo| model.unblocked(todo, &stamp.by))
            }
            What::Drop { todo, proven } => {
                self.step(&stamp.by, todo, |model, id, _| model.dropped(id, &stamp, *proven))
            }
            What::Split { todo, parts: _ } => self.split(todo, ids, stamp),
            What::Edit { todo, edits } => {
                self.step(&stamp.by, todo, |model, id, _| model.edited(id, edits, &stamp))
            }
            What::Reopen { todo } => self.reopen(todo, stamp),
            What::Done { todo, evidence } => {
                let evidence = self.pieces(evidence.as_ref());
                self.step(&stamp.by, todo, |model, id, todo| {
                    model.must_have(&todo.goal, &evidence)?;
                    model.completed(id, &stamp, evidence.clone(), None)
                })
            }
            What::AddEvidence { about } => self.add_evidence(about, id, stamp),
            What::Spend { goal, turn, slots, evidence } => {
                let evidence = self.pieces(evidence.as_ref());
                self.spend((*goal, turn), *slots, evidence, stamp)
            }
            What::Void { goal, turn } => self.void((*goal, turn), &stamp),
            What::BeginTurn { goal, turn, lease } => {
                self.begin_turn((*goal, self.turn(step.by, turn)), i64::from(*lease), stamp)
            }
            What::EndTurn { goal, turn, outcome, slots, evidence } => {
                let evidence = self.pieces(evidence.as_ref());
                self.end_turn((*goal, self.turn(step.by, turn)), (outcome, *slots), evidence, id, stamp)
            }
            What::Move => Ok(true),
            What::ImportHere if self.goals.is_empty() => Ok(false),
            What::ImportHere => Err("there are goals here already"),
        }
    }

    fn add_evidence(&mut self, about: &About, id: &str, added: Stamp) -> Answer {
        let (goal, todo, gate) = match about {
            About::Todo(todo) => {
                let todo = self.find(&self.name(&added.by, "t-", todo))?;
                (self.todos[&todo].goal.clone(), Some(todo), None)
            }
            About::Gate(gate) => {
                let (goal, gate) = self.gate(gate)?;
                (goal, None, Some(gate))
            }
            About::Goal(goal) => (self.goal(*goal)?, None, None),
        };
        self.put_evidence(id, Evidence { goal, todo, gate, added })
    }

    fn put_evidence(&mut self, id: &str, evidence: Evidence) -> Answer {
        self.must_be_new(id)?;
        self.order.push(id.to_owned());
        self.filed(evidence.goal.clone(), "evidence");
        self.evidence.insert(id.to_owned(), evidence);
        Ok(true)
    }

    fn must_be_new(&self, id: &str) -> Result<(), Refused> {
        let is_known = self.todos.contains_key(id) || self.evidence.contains_key(id);
        if is_known { Err("its id is new") } else { Ok(()) }
    }

    /// The evidence that is meant.
    fn pieces(&self, named: Option<&Named>) -> BTreeSet<String> {
        named.into_iter().map(|named| self.piece(named)).collect()
    }

    fn must_have(&self, goal: &str, evidence: &BTreeSet<String>) -> Result<(), Refused> {
        let is_there = |id| self.evidence.get(id).is_some_and(|evidence| evidence.goal == goal);
        if evidence.iter().all(is_there) { Ok(()) } else { Err("there is no evidence") }
    }

    /// A record came to lie where folding looks.
    fn filed(&mut self, goal: String, kind: &'static str) {
        let lying = self.lying.entry((goal.clone(), kind)).or_default();
        *lying += 1;
        if *lying > FULL {
            // What folding makes lies there, too: a segment and a folder, or the folder that has both.
            *lying = *lying - FOLDED + if matches!(kind, "todos" | "gates") { 2 } else { 1 };
            self.folds += 1;
            let closed = self.todos.iter().filter(|(_, todo)| todo.goal == goal);
            let closed = closed.filter_map(|(id, todo)| Some((todo.closed()?.0, id)));
            let booked = self.spends.iter().filter(|((of, _), _)| *of == goal);
            let booked = booked.map(|((_, turn), spend)| (spend.added.at, turn));
            let all: Vec<_> = match kind {
                "todos" => closed.collect(),
                "spend" => booked.collect(),
                _ => Vec::new(),
            };
            let mut old: Vec<_> = all.into_iter().filter(|(_, name)| !self.folded.contains(*name)).collect();
            old.sort();
            let old: Vec<String> = old.into_iter().take(FOLDED).map(|(_, name)| name.clone()).collect();
            self.folded.extend(old);
        }
    }
}

fn of<T>(index: &Index, items: impl Iterator<Item = T>) -> Option<T> {
    let mut items: Vec<T> = items.collect();
    (!items.is_empty()).then(|| items.swap_remove(index.index(items.len())))
}

/// `name`, with a number behind it from the second on.
fn numbered(name: &str, number: usize) -> String {
    if number == 1 { name.to_owned() } else { format!("{name}-{number}") }
}
