//! The rules once more, as plain maps of plain values. Nothing in here calls the program.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{About, Named, Step, Wanted, What, Who};

/// The git identity of every repository.
pub(super) const ANN: &str = "Ann <ann@example.test>";
/// So much of each kind a goal has that has grown old: one less than what is folded, as two more files come to
/// lie there with it.
pub(super) const OLD: usize = 320;
/// So many files may lie in a folder, and so many are folded when there are more.
const FULL: usize = 320;
const FOLDED: usize = 256;

/// Whether the command changes anything, or a piece of the sentence that refuses it.
type Answer = Result<bool, &'static str>;

#[derive(Debug, Clone)]
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
    Open { epoch: u32 },
    Claimed { by: String, since: i64, until: i64, epoch: u32, from: Option<String>, lease: Option<i64> },
    Blocked { on: String, at: i64, reason: String, epoch: u32 },
    Done { by: String, at: i64, evidence: Option<String>, epoch: u32 },
}

#[derive(Debug, Clone)]
struct Todo {
    goal: String,
    title: String,
    for_person: bool,
    needs: BTreeSet<String>,
    added: Stamp,
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
    evidence: Vec<String>,
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

impl Stamp {
    fn json(&self) -> Value {
        json!({"by": self.by, "at": time(self.at)})
    }
}

impl Gate {
    fn is_open(&self) -> bool {
        self.answer.is_none()
    }

    fn is_rejected(&self) -> bool {
        self.answer.is_some_and(|(decision, ..)| decision == "reject")
    }

    fn is_closed(&self) -> bool {
        !self.is_open() && !self.is_rejected()
    }

    fn stops(&self, todo: &str) -> bool {
        !self.is_closed() && (self.todos.contains(todo) || self.is_open() && self.todos.is_empty())
    }
}

impl Todo {
    fn is_closed(&self) -> bool {
        matches!(self.state, State::Done { .. })
    }

    /// Why it cannot be taken any further by somebody who does not have it.
    fn refused(&self, by: &str) -> &'static str {
        match &self.state {
            State::Open { .. } => "nobody has claimed todo",
            State::Claimed { by: holder, from: Some(from), .. } if from == by && holder != by => {
                "took it over"
            }
            State::Claimed { .. } => "is claimed by",
            State::Blocked { .. } => "is blocked by gate",
            State::Done { .. } => "was done by",
        }
    }
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
                State::Done { by: "agent:a".into(), at: old_time(number), evidence: None, epoch: 0 },
            );
            let (title, needs) = (format!("Work {number}"), BTreeSet::new());
            let todo = Todo { goal: goal.clone(), title, for_person: false, needs, added, state };
            self.todos.insert(old_id("t", number), todo);
            let added = stamp(number);
            let evidence = Evidence { goal: goal.clone(), todo: None, gate: None, added: added.clone() };
            self.evidence.insert(old_id("e", number), evidence);
            let spend = Spend { slots: 1, evidence: Vec::new(), added };
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
        let id = id.unwrap_or("none").to_owned();
        match &step.what {
            What::AddGoal { id: None } => {
                let free = |n: &usize| !self.goals.contains_key(&numbered("ship-it", *n));
                let number = (1..).find(free).expect("a number");
                self.add_goal(numbered("ship-it", number), stamp)
            }
            What::AddGoal { id: Some(goal) } => self.add_goal((*goal).to_owned(), stamp),
            What::Configure { goal, wanted, proven } => {
                self.configure(goal, wanted, *proven && step.by == Who::Person)
            }
            What::OpenGate { goal, id: gate, option, turn_only, todos } => {
                let goal = self.goal(*goal)?;
                let free = |n: &usize| !self.gates.contains_key(&(goal.clone(), numbered("may-we", *n)));
                let gate = match gate {
                    Some(gate) => (*gate).to_owned(),
                    None => numbered("may-we", (1..).find(free).expect("a number")),
                };
                let key = (goal.clone(), gate);
                if self.gates.contains_key(&key) {
                    return Err("an id is used once");
                }
                let mut about = BTreeSet::new();
                for todo in todos {
                    let todo = self.find_in(&goal, &self.name("t-", todo))?;
                    if self.todos[&todo].is_closed() {
                        return Err("was done by");
                    }
                    about.insert(todo);
                }
                let options = vec![if *option { "blue" } else { "approve" }, "reject"];
                let question = "May we?".to_owned();
                let (turn_only, todos, asked) = (*turn_only, about, stamp);
                let gate = Gate { question, options, turn_only, todos, asked, answer: None };
                self.gates.insert(key, gate);
                Ok(true)
            }
            What::Resolve { goal, gate, decision, note } => {
                self.resolve(*goal, gate, decision, note.then_some("because"), now)
            }
            What::AddTodo { goal, for_person, needs } => {
                let goal = self.goal(*goal)?;
                let found = needs.iter().map(|need| self.find_in(&goal, &self.name("t-", need)));
                let needs = found.collect::<Result<BTreeSet<_>, _>>()?;
                let (title, for_person, state) = (title(step), *for_person, State::Open { epoch: 0 });
                let todo = Todo { goal, title, for_person, needs, added: stamp, state };
                self.add(id.clone(), |model, id| model.todos.insert(id, todo).is_some())
            }
            What::Claim { todo, lease } => {
                self.step(todo, |model, id| model.claimed(id, &stamp, i64::from(*lease)))
            }
            What::Release { todo } => self.step(todo, |model, id| match &model.todos[id].state {
                State::Claimed { by, epoch, .. } if *by == stamp.by => Ok(State::Open { epoch: *epoch }),
                _ => Err(model.todos[id].refused(&stamp.by)),
            }),
            What::Done { todo, evidence } => {
                let evidence = evidence.as_ref().map(|evidence| self.whole_name("e-", evidence));
                self.step(todo, |model, id| model.completed(id, &stamp, evidence.clone()))
            }
            What::AddEvidence { about } => {
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
                let evidence = Evidence { goal: goal.clone(), todo, gate, added: stamp };
                self.add(id.clone(), |model, id| model.evidence.insert(id, evidence).is_some())?;
                self.filed(goal, "evidence");
                Ok(true)
            }
            What::Spend { goal, turn, slots, evidence } => {
                // Without a goal, a turn is of the first that has it.
                let booked = self.spends.keys().find(|(_, booked)| goal.is_none() && booked == turn);
                let goal = booked.map_or_else(|| self.goal(*goal), |(goal, _)| Ok(goal.clone()))?;
                let evidence: Vec<_> =
                    evidence.iter().map(|evidence| self.whole_name("e-", evidence)).collect();
                if !evidence.iter().all(|id| self.has_evidence(&goal, id)) {
                    return Err("there is no evidence");
                }
                let key = (goal.clone(), (*turn).to_owned());
                if self.spends.contains_key(&key) {
                    return Ok(false);
                }
                let (share, hours, minutes) = self.quota(&goal);
                let from = now - i64::from(hours) * 3600;
                let counts =
                    |((of, _), spend): &(&(String, String), &Spend)| *of == goal && spend.added.at > from;
                let spent: u32 = self.spends.iter().filter(counts).map(|(_, spend)| spend.slots).sum();
                if spent + slots > hours * 60 / minutes * share / 10_000 {
                    return Err("slots left in this window");
                }
                self.spends.insert(key, Spend { slots: *slots, evidence, added: stamp });
                self.filed(goal, "spend");
                Ok(true)
            }
            What::Move => Ok(true),
            What::ImportHere if self.goals.is_empty() => Ok(false),
            What::ImportHere => Err("there are goals here already"),
        }
    }

    fn add_goal(&mut self, id: String, added: Stamp) -> Answer {
        if self.goals.contains_key(&id) {
            return Err("there is a goal");
        }
        let goal = Goal { objective: "Ship it".into(), features: BTreeSet::new(), added };
        self.goals.insert(id, goal);
        Ok(true)
    }

    fn configure(&mut self, id: &str, wanted: &Wanted, proven: bool) -> Answer {
        let goal = self.goals.get(id).ok_or("there is no goal")?;
        let before = self.quota(id);
        let compute = match wanted.compute {
            None => before.0,
            Some(share) => (share.parse::<f64>().expect("a number") * 10_000.0).round() as u32,
        };
        let hours = wanted.window_hours.unwrap_or(before.1);
        let minutes = wanted.slot_minutes.unwrap_or(before.2);
        if hours == 0 {
            return Err("a window has 1 to 720 hours");
        }
        if minutes > hours * 60 {
            return Err("a slot has 1 to 1440 minutes");
        }
        let allowed = |(share, hours, minutes): Quota| hours * 60 / minutes * share / 10_000;
        let after = (compute, hours, minutes);
        if compute > 0 && allowed(after) == 0 {
            return Err("is less than one slot");
        }
        let mut features = goal.features.clone();
        features.extend(wanted.enable);
        let enables = features != goal.features;
        let raises = allowed(after) > allowed(before) || hours < before.1 || minutes > before.2;
        if (enables || raises) && !proven {
            return Err("only a person may");
        }
        wanted.disable.map(|feature| features.remove(feature));
        let changes = features != goal.features || after != before;
        if after != before {
            self.quotas.insert(id.to_owned(), after);
        }
        self.goals.get_mut(id).expect("it is there").features = features;
        Ok(changes)
    }

    fn resolve(
        &mut self,
        goal: super::Goal,
        gate: &str,
        decision: &'static str,
        note: Option<&'static str>,
        now: i64,
    ) -> Answer {
        let key = self.gate(goal, gate)?;
        let gate = self.gates.get_mut(&key).expect("it is there");
        if gate.is_closed() || gate.is_rejected() && decision == "reject" {
            return Err("was decided already");
        }
        if !gate.options.contains(&decision) {
            return Err("does not offer");
        }
        gate.answer = Some((decision, now, note));
        let (goal, id) = key;
        for name in &gate.todos {
            let todo = self.todos.get_mut(name).expect("it is there");
            let epoch = match &todo.state {
                State::Open { epoch } | State::Claimed { epoch, .. } | State::Blocked { epoch, .. } => *epoch,
                State::Done { .. } => continue,
            };
            if decision == "reject" {
                let said = format!("a person said no at gate {id}");
                let reason = note.map_or(said, str::to_owned);
                todo.state = State::Blocked { on: id.clone(), at: now, reason, epoch };
            } else if matches!(&todo.state, State::Blocked { on, .. } if *on == id) {
                todo.state = State::Open { epoch };
            }
        }
        if gate.is_closed() {
            self.filed(goal, "gates");
        }
        Ok(true)
    }

    /// One step of the open todo that is meant.
    fn step(&mut self, todo: &Named, take: impl Fn(&Self, &str) -> Result<State, &'static str>) -> Answer {
        let id = self.find(&self.name("t-", todo))?;
        if self.todos[&id].is_closed() {
            return Err("was done by");
        }
        let state = take(self, &id)?;
        let todo = self.todos.get_mut(&id).expect("it is there");
        let changes = todo.state != state;
        todo.state = state;
        if todo.is_closed() {
            let goal = todo.goal.clone();
            self.filed(goal, "todos");
        }
        Ok(changes)
    }

    fn claimed(&self, id: &str, stamp: &Stamp, lease: i64) -> Result<State, &'static str> {
        self.must_be_workable(id, stamp)?;
        let (by, now) = (stamp.by.clone(), stamp.at);
        let fresh = |epoch: u32, from| State::Claimed {
            by: by.clone(),
            since: now,
            until: now + lease,
            epoch: epoch + 1,
            from,
            lease: unusual(lease),
        };
        match &self.todos[id].state {
            State::Open { epoch } => Ok(fresh(*epoch, None)),
            State::Claimed { by: holder, until, epoch, .. } if *until <= now => {
                Ok(fresh(*epoch, Some(holder.clone())))
            }
            State::Claimed { by: holder, until, .. } if *holder == by && until - lease / 2 > now => {
                Ok(self.todos[id].state.clone())
            }
            State::Claimed { by: holder, since, epoch, from, .. } if *holder == by => {
                let (until, lease) = (now + lease, unusual(lease));
                Ok(State::Claimed { by, since: *since, until, epoch: *epoch, from: from.clone(), lease })
            }
            _ => Err(self.todos[id].refused(&stamp.by)),
        }
    }

    fn completed(&self, id: &str, stamp: &Stamp, evidence: Option<String>) -> Result<State, &'static str> {
        if !evidence.iter().all(|evidence| self.has_evidence(&self.todos[id].goal, evidence)) {
            return Err("there is no evidence");
        }
        self.must_be_workable(id, stamp)?;
        match &self.todos[id].state {
            State::Claimed { by, until, .. } if *by != stamp.by && *until > stamp.at => {
                Err(self.todos[id].refused(&stamp.by))
            }
            State::Open { epoch } | State::Claimed { epoch, .. } => {
                Ok(State::Done { by: stamp.by.clone(), at: stamp.at, evidence, epoch: *epoch })
            }
            _ => Err(self.todos[id].refused(&stamp.by)),
        }
    }

    fn must_be_workable(&self, id: &str, stamp: &Stamp) -> Result<(), &'static str> {
        let todo = &self.todos[id];
        let mut over = self.gates.iter().filter(|((goal, _), _)| *goal == todo.goal);
        if over.any(|(_, gate)| gate.stops(id)) {
            return Err("waits for gate");
        }
        if todo.needs.iter().any(|need| !self.todos[need].is_closed()) {
            return Err("not closed yet");
        }
        if todo.for_person && stamp.by != ANN {
            return Err("is for a person");
        }
        Ok(())
    }

    fn quota(&self, goal: &str) -> Quota {
        self.quotas.get(goal).copied().unwrap_or(WHOLE)
    }

    fn has_evidence(&self, goal: &str, id: &str) -> bool {
        self.evidence.get(id).is_some_and(|evidence| evidence.goal == goal)
    }

    /// The goal that is meant: the one named, or the only one.
    fn goal(&self, named: super::Goal) -> Result<String, &'static str> {
        let mut goals = self.goals.keys();
        match (named, goals.next(), goals.next()) {
            (Some(goal), ..) if self.goals.contains_key(goal) => Ok(goal.to_owned()),
            (Some(_), ..) => Err("there is no goal"),
            (None, None, _) => Err("there is no active goal"),
            (None, Some(only), None) => Ok(only.clone()),
            (None, ..) => Err("goals are active"),
        }
    }

    fn gate(&self, goal: super::Goal, gate: &str) -> Result<(String, String), &'static str> {
        let goals: Vec<String> = match goal {
            Some(_) => vec![self.goal(goal)?],
            None => self.gates.keys().filter(|(_, id)| id == gate).map(|(goal, _)| goal.clone()).collect(),
        };
        match &goals[..] {
            [_, _, ..] => Err("so the goal has to be named"),
            [goal] if self.gates.contains_key(&(goal.clone(), gate.to_owned())) => {
                Ok((goal.clone(), gate.to_owned()))
            }
            _ => Err("there is no gate"),
        }
    }

    /// The todo of that very id, else the only open one that begins so, else the only closed one.
    fn find(&self, named: &str) -> Result<String, &'static str> {
        if self.todos.contains_key(named) {
            return Ok(named.to_owned());
        }
        for closed in [false, true] {
            let fits = |(id, todo): &(&String, &Todo)| id.starts_with(named) && todo.is_closed() == closed;
            let found: Vec<&String> = self.todos.iter().filter(fits).map(|(id, _)| id).collect();
            match found[..] {
                [] => {}
                [only] => return Ok(only.clone()),
                _ => return Err("todos ("),
            }
        }
        Err("there is no todo")
    }

    fn find_in(&self, goal: &str, named: &str) -> Result<String, &'static str> {
        let id = self.find(named)?;
        if self.todos[&id].goal == goal { Ok(id) } else { Err("belongs to goal") }
    }

    /// Adds a record under a new id.
    fn add(&mut self, id: String, insert: impl FnOnce(&mut Self, String) -> bool) -> Answer {
        self.order.push(id.clone());
        if insert(self, id) { Err("its id is new") } else { Ok(true) }
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

    /// Every record as it should stand in the export, by goal, kind and name.
    pub(super) fn records(&self) -> BTreeMap<String, Value> {
        let mut records = BTreeMap::new();
        let quota = |(share, hours, minutes): &Quota| json!({"compute": f64::from(*share) / 10_000.0, "window_hours": hours, "slot_minutes": minutes});
        let quotas: BTreeMap<_, _> = self.quotas.iter().map(|(goal, limit)| (goal, quota(limit))).collect();
        records.insert("quota.json".to_owned(), json!({"goals": quotas}));
        for (id, goal) in &self.goals {
            let state = json!({"is": "active"});
            records.insert(
                format!("{id}/state.json"),
                bare(json!({"objective": goal.objective, "features": goal.features, "added": goal.added.json(), "state": state})),
            );
        }
        for ((goal, id), gate) in &self.gates {
            let acts: &[&str] = if gate.turn_only { &["turn"] } else { &["turn", "push", "publish"] };
            let state = match gate.answer {
                None => json!({"is": "open"}),
                Some((decision, at, note)) => bare(
                    json!({"is": "resolved", "decision": decision, "by": ANN, "at": time(at), "note": note, "proof": {"kind": "terminal", "typed": id}}),
                ),
            };
            let below = if gate.is_closed() { "closed/" } else { "" };
            records.insert(
                format!("{goal}/gates/{below}{id}"),
                bare(json!({"question": gate.question, "options": gate.options, "blocks": acts, "todos": gate.todos, "asked": gate.asked.json(), "state": state})),
            );
        }
        for (id, todo) in &self.todos {
            let state = match &todo.state {
                State::Open { epoch: 0 } => json!({"is": "open"}),
                State::Open { epoch } => json!({"is": "open", "epoch": epoch}),
                State::Claimed { by, since, until, epoch, from, lease } => bare(
                    json!({"is": "claimed", "by": by, "since": time(*since), "lease_until": time(*until), "epoch": epoch, "taken_from": from, "lease": lease}),
                ),
                State::Blocked { on, at, reason, epoch } => {
                    json!({"is": "blocked", "on": on, "by": ANN, "at": time(*at), "reason": reason, "epoch": epoch})
                }
                State::Done { by, at, evidence, epoch } => {
                    let evidence: Vec<_> = evidence.iter().collect();
                    let epoch = (*epoch > 0).then_some(epoch);
                    bare(
                        json!({"is": "done", "by": by, "at": time(*at), "evidence": evidence, "epoch": epoch}),
                    )
                }
            };
            let below = if todo.is_closed() { "closed/" } else { "" };
            let worker = if todo.for_person { "person" } else { "agent" };
            records.insert(
                format!("{}/todos/{below}{id}", todo.goal),
                bare(json!({"title": todo.title, "for": worker, "priority": "p2", "needs": todo.needs, "added": todo.added.json(), "state": state})),
            );
        }
        for (id, evidence) in &self.evidence {
            let what = json!({"kind": "note", "text": "seen"});
            records.insert(
                format!("{}/evidence/{id}", evidence.goal),
                bare(json!({"dirty": false, "todo": evidence.todo, "gate": evidence.gate, "added": evidence.added.json(), "what": what})),
            );
        }
        for ((goal, turn), spend) in &self.spends {
            records.insert(
                format!("{goal}/spend/{turn}"),
                bare(json!({"turn": turn, "slots": spend.slots, "evidence": spend.evidence, "added": spend.added.json()})),
            );
        }
        records
    }
}

/// How long a claim holds, unless that is the usual time.
fn unusual(lease: i64) -> Option<i64> {
    (lease != 45 * 60).then_some(lease)
}

/// `name`, with a number behind it from the second on.
fn numbered(name: &str, number: usize) -> String {
    if number == 1 { name.to_owned() } else { format!("{name}-{number}") }
}

/// An object without the fields that have nothing in them.
fn bare(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty()));
    }
    value
}
