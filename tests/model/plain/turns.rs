//! Turns: what they may take, what becomes of it, and what they use.

use std::collections::BTreeSet;

use super::{
    ANN, Answer, Evidence, GoalName, Model, Refused, SAID, Spend, Stamp, State, Todo, Turn, Who,
    goals::allowed, of, text_of,
};

/// How a turn goes that was begun, and was not just booked.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) todo: Option<String>,
    pub(super) until: i64,
    /// What came of it.
    pub(super) end: Option<(&'static str, Stamp)>,
}

/// What somebody may do now.
pub(super) enum Next {
    Work(String),
    /// Think of the next todos.
    Think,
    Nothing,
}

impl Spend {
    pub(super) fn goes_on(&self) -> bool {
        self.course.as_ref().is_some_and(|course| course.end.is_none())
    }

    /// The slots that count.
    fn counted(&self) -> u32 {
        if self.voided.is_some() { 0 } else { self.slots }
    }

    fn end(&mut self, outcome: &'static str, stamp: &Stamp) {
        self.course.as_mut().expect("it was begun").end = Some((outcome, stamp.clone()));
    }
}

impl Model {
    /// The name of the turn that is meant.
    pub(crate) fn turn(&self, by: Who, turn: &Turn) -> String {
        let is_in = |spend: &Spend| spend.goes_on() && spend.added.by == text_of(by);
        match turn {
            Turn::Called(name) => (*name).to_owned(),
            Turn::Own(index) => {
                let own = self.spends.iter().filter(|(_, spend)| is_in(spend)).map(|((_, name), _)| name);
                of(index, own).map_or("turn-1".to_owned(), String::clone)
            }
        }
    }

    pub(super) fn begin_turn(
        &mut self,
        (goal, turn): (GoalName, String),
        lease: i64,
        added: Stamp,
    ) -> Answer {
        let goal = self.goal_of(goal, &turn, &added.by)?;
        let key = (goal.clone(), turn);
        if let Some(booked) = self.spends.get(&key) {
            return match booked.course {
                None => Err("was booked without being begun"),
                Some(_) if booked.added.by != added.by => Err("was begun by"),
                Some(_) => Ok(false),
            };
        }
        let todos = &self.todos;
        let mut lost = 0;
        for spend in self.spends.iter_mut().filter(|((of, _), _)| *of == goal).map(|(_, spend)| spend) {
            let Some(Course { todo, until, end: None }) = &spend.course else { continue };
            let is_held = todo.as_ref().is_some_and(|id| todos[id].holder(added.at) == Some(&spend.added.by));
            if spend.added.by == added.by || *until <= added.at && !is_held {
                spend.end("lost", &added);
                lost += 1;
            }
        }
        let (todo, until) = match self.next(&goal, &added.by, added.at) {
            Next::Nothing => return Ok(lost > 0),
            Next::Think => (None, added.at + lease),
            Next::Work(id) => {
                let todo = self.claimed(&id, &added, lease)?;
                let State::Claimed { until, .. } = todo.state else { return Err("a claim claims") };
                self.put(id.clone(), todo);
                (Some(id), until)
            }
        };
        let course = Some(Course { todo, until, end: None });
        self.spends.insert(key, Spend { slots: 1, evidence: BTreeSet::new(), added, course, voided: None });
        self.filed(goal, "spend");
        Ok(true)
    }

    pub(super) fn end_turn(
        &mut self,
        (goal, turn): (GoalName, String),
        (outcome, slots): (&'static str, Option<u32>),
        mut evidence: BTreeSet<String>,
        seen: &str,
        stamp: Stamp,
    ) -> Answer {
        let goal = self.goal_of(goal, &turn, &stamp.by)?;
        let key = (goal.clone(), turn);
        let spend = self.spends.get(&key).ok_or("there is no turn")?.clone();
        let course = spend.course.ok_or("was booked without being begun")?;
        if matches!(&course.end, Some((outcome, end)) if *outcome != "lost" && end.by == stamp.by) {
            return Ok(false);
        }
        self.must_have(&goal, &evidence)?;
        let is_nothing = outcome == "nothing";
        if !is_nothing {
            self.must_be_new(seen)?;
            evidence.insert(seen.to_owned());
        }
        let todo = course.todo.as_ref().map(|id| (id, &self.todos[id])).filter(|(_, todo)| !todo.is_closed());
        let after = match todo {
            Some((id, _)) if outcome == "completed" => {
                Some((id.clone(), self.completed(id, &stamp, evidence.clone(), Some(SAID))?))
            }
            Some((id, todo)) if todo.is_claimed_by(&stamp.by) && outcome == "blocked" => {
                Some((id.clone(), self.blocked(todo, &stamp, None)?))
            }
            Some((id, todo)) if todo.is_claimed_by(&stamp.by) => {
                Some((id.clone(), todo.released(&stamp.by)?))
            }
            _ => None,
        };
        if course.end.is_some() {
            return Err("was ended at");
        }
        if spend.added.by != stamp.by {
            return Err("was begun by");
        }
        let slots = slots.unwrap_or(if is_nothing { 0 } else { spend.slots });
        let others = self.spent(&goal, spend.added.at) - spend.slots;
        if slots > spend.slots && others + slots > allowed(self.quota(&goal)) {
            return Err("slots left in this window");
        }
        if let Some((id, todo)) = after {
            self.put(id, todo);
        }
        let spend = self.spends.get_mut(&key).expect("it is there");
        (spend.slots, spend.evidence) = (slots, evidence);
        spend.end(outcome, &stamp);
        if !is_nothing {
            let about = Evidence { goal, todo: course.todo, gate: None, added: stamp };
            self.put_evidence(seen, about)?;
        }
        Ok(true)
    }

    /// The first thing that is true of `by`, in the order of the design.
    pub(super) fn next(&self, goal: &str, by: &str, now: i64) -> Next {
        let is_accepted = self.goals[goal].is_accepted();
        if self.goals[goal].must_be_active().is_err() || self.quota(goal).0 == 0 {
            return Next::Nothing;
        }
        let gates: Vec<_> =
            self.gates.iter().filter(|((of, _), gate)| of == goal && gate.is_open()).collect();
        let todos = || self.todos.iter().filter(|(_, todo)| todo.goal == goal && !todo.is_closed());
        let may_begin = |todo: &Todo| todo.needs.iter().all(|need| self.todos[need].is_closed());
        // A claim of a person's is nothing that they are told to go on with.
        let own = todos().filter_map(|(id, todo)| match &todo.state {
            State::Claimed { by: holder, until, .. } if holder == by && by != ANN && *until > now => {
                (!todo.for_person && may_begin(todo)).then_some((*until, 0, todo.added.at, id))
            }
            _ => None,
        });
        let ready = todos().filter(|(_, todo)| !todo.for_person && todo.is_free(now) && may_begin(todo));
        let mut work: Vec<_> = own.collect();
        work.sort();
        let mut fresh: Vec<_> = ready.map(|(id, todo)| (0, todo.priority, todo.added.at, id)).collect();
        fresh.sort();
        work.extend(fresh);
        let best = work.iter().find(|(.., id)| !self.is_stopped(goal, id));
        let covers_all = gates.iter().any(|(_, gate)| gate.todos.is_empty());
        if covers_all || !gates.is_empty() && !work.is_empty() && best.is_none() {
            return Next::Nothing;
        }
        if self.spent(goal, now) >= allowed(self.quota(goal)) {
            return Next::Nothing;
        }
        let is_in_one = self
            .spends
            .iter()
            .any(|((of, _), spend)| of == goal && by != ANN && spend.added.by == by && spend.goes_on());
        let for_person = |todo: &Todo| todo.for_person && todo.is_free(now) && may_begin(todo);
        let is_waited_for = |todo: &Todo| todo.holder(now).is_some() || for_person(todo);
        let something_waits = !gates.is_empty() || todos().any(|(_, todo)| is_waited_for(todo));
        let is_reached = is_accepted && best.is_none() && !something_waits;
        let idle = self.idle(goal, now);
        if idle >= 2 && !is_in_one && !is_reached {
            return if idle >= 4 || !gates.is_empty() { Next::Nothing } else { Next::Think };
        }
        match best {
            Some((.., id)) => Next::Work((*id).clone()),
            None if something_waits || is_reached => Next::Nothing,
            None => Next::Think,
        }
    }

    /// How many of the latest turns came to nothing, or had no todo, since a todo was added that is still open.
    fn idle(&self, goal: &str, now: i64) -> usize {
        let window = now - i64::from(self.quota(goal).1) * 3600;
        let open = self.todos.values().filter(|todo| todo.goal == goal && !todo.is_closed());
        let from = open.map(|todo| todo.added.at).max().unwrap_or(i64::MIN);
        let mut ended: Vec<_> = (self.spends.iter())
            .filter(|((of, _), spend)| of == goal && spend.added.at > window)
            .filter_map(|((_, name), spend)| {
                let Course { todo, end, .. } = spend.course.as_ref()?;
                let (outcome, Stamp { at, .. }) = end.as_ref()?;
                let is_idle = todo.is_none() || ["nothing", "lost"].contains(outcome);
                Some((*at, name, is_idle && spend.added.at > from))
            })
            .collect();
        ended.sort();
        ended.iter().rev().take_while(|(.., is_idle)| *is_idle).count()
    }

    pub(super) fn spend(
        &mut self,
        (goal, turn): (GoalName, &str),
        slots: u32,
        evidence: BTreeSet<String>,
        added: Stamp,
    ) -> Answer {
        let goal = self.goal_of(goal, turn, &added.by)?;
        self.goals[&goal].must_be_active()?;
        self.must_have(&goal, &evidence)?;
        let key = (goal.clone(), turn.to_owned());
        match self.spends.get(&key) {
            Some(booked) if booked.goes_on() => return Err("goes on until"),
            Some(_) => return Ok(false),
            None => {}
        }
        if self.spent(&goal, added.at) + slots > allowed(self.quota(&goal)) {
            return Err("slots left in this window");
        }
        self.spends.insert(key, Spend { slots, evidence, added, course: None, voided: None });
        self.filed(goal, "spend");
        Ok(true)
    }

    pub(super) fn void(&mut self, (goal, turn): (GoalName, &str), stamp: &Stamp) -> Answer {
        let goal = self.goal_of(goal, turn, &stamp.by)?;
        let spend = self.spends.get_mut(&(goal, turn.to_owned())).ok_or("there is no booking")?;
        if spend.voided.is_some() {
            return Err("was voided by");
        }
        if spend.goes_on() {
            return Err("goes on until");
        }
        if self.folded.contains(turn) {
            return Err("is older than the window");
        }
        stamp.must_be_of_a_person()?;
        spend.voided = Some(stamp.at);
        Ok(true)
    }

    /// Slots that were used in the window that ends at `at`, and after it.
    fn spent(&self, goal: &str, at: i64) -> u32 {
        let from = at - i64::from(self.quota(goal).1) * 3600;
        let counts = |((of, _), spend): &(&(String, String), &Spend)| of == goal && spend.added.at > from;
        self.spends.iter().filter(counts).map(|(_, spend)| spend.counted()).sum()
    }

    /// Without a goal, a turn is of the first in which `by` has it if that is an agent, else of the first that has it.
    fn goal_of(&self, named: GoalName, turn: &str, by: &str) -> Result<String, Refused> {
        let has = || self.spends.iter().filter(|((_, booked), _)| named.is_none() && booked == turn);
        let own = has().find(|(_, spend)| by.starts_with("agent:") && spend.added.by == by);
        match own.or_else(|| has().next()) {
            Some(((goal, _), _)) => Ok(goal.clone()),
            None => self.goal(named),
        }
    }
}
