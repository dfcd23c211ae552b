//! What happens next: a pure function of one goal's state, the time, and who asks.
//!
//! The first rule that applies decides. Each answer carries its own facts and nothing else, so that its fields
//! cannot contradict each other.

use std::collections::BTreeSet;

use super::{
    id::{AgentId, Capability, GateId, SpendId, TodoId},
    state::Loop,
    time::{Seconds, Timestamp},
    todo::{Todo, Worker},
};

/// Who asks what it may do.
#[derive(Debug, Clone)]
pub struct Asker {
    /// Nobody in particular when absent: then no claim counts as its own.
    pub agent: Option<AgentId>,
    /// What its host can do.
    pub can: BTreeSet<Capability>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Go on with a claim this agent holds until `until`.
    Continue { todo: TodoId, until: Timestamp },
    /// Take this todo.
    Run { todo: TodoId },
    /// Take this todo, which is not under the gates that are open elsewhere.
    RunOther { todo: TodoId, gates: Pending },
    /// Look at this monitor, which is due and no less urgent than any todo that is ready; `gates` are open elsewhere.
    Poll { todo: TodoId, gates: Option<Pending> },
    /// Everything this agent could do waits for a person.
    Ask { gates: Pending },
    /// Nothing for an agent is left but a person has something to do.
    AskForTodo { todo: TodoId },
    /// So many turns in a row came to nothing that a person should look.
    AskForPlan { turns: usize },
    /// Time has to pass, or another agent to finish.
    Wait { until: Option<Timestamp>, why: Waiting },
    /// Nothing is left to do: think of the next todos.
    Replan { why: Planless },
    /// The loop is over, or stopped by a person.
    Stop { why: Stopped },
}

/// At least one open gate, the oldest question first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    pub first: GateId,
    pub rest: Vec<GateId>,
}

impl Pending {
    /// The same, with the questions first that cover something which could be done now.
    fn first_over(self, facts: &Facts<'_>) -> Self {
        let could_be_done = || facts.ready.iter().copied().chain(facts.own.iter().map(|(todo, _)| *todo));
        let covers = |id: &GateId| could_be_done().any(|todo| facts.state.gates[id].stops(todo));
        let (over, beside): (Vec<_>, Vec<_>) =
            std::iter::once(self.first.clone()).chain(self.rest.iter().cloned()).partition(covers);
        let mut gates = over.into_iter().chain(beside);
        match gates.next() {
            Some(first) => Self { first, rest: gates.collect() },
            None => self,
        }
    }
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waiting {
    /// The quota of the window is used up.
    Slot,
    /// Other agents have all the work.
    Claims,
    /// Only monitors are left, and none is due.
    Monitors,
}

/// Why there is nothing to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Planless {
    /// No todo is open.
    NoTodo,
    /// Todos are open, but each is blocked, needs one that is, or asks for what the host cannot do.
    NoneReady,
    /// So many turns in a row came to nothing.
    Idle(usize),
    /// Nothing else is ready, and this monitor found nothing new for so long that looking again is no plan.
    Stale(TodoId),
}

/// Why the loop does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// The goal is not active but, in a word, this.
    Goal(&'static str),
    /// Its share of compute is nought.
    NoCompute,
    /// Nothing is left to do, and every criterion is answered: a person can say that it is reached.
    Accepted,
}

/// How soon asking again makes sense when only a person can move things.
pub const ASK_AGAIN: Seconds = Seconds(300);

/// After so many turns in a row that came to nothing, the next one is for thinking of other todos.
pub const IDLE: usize = 2;

/// After so many a person is asked.
pub const STUCK: usize = 4;

/// Decides for `asker` at `now`: by the first of the [rules](Rule) that applies.
///
/// These are rules 2 to 10 of the design, but that turns which came to nothing are looked at before what could be taken:
/// an agent that does nothing about a todo is not sent there for ever; that the state can be read at all (rule 1) is known by whoever
/// calls this.
pub fn next(state: &Loop, asker: &Asker, now: Timestamp) -> Decision {
    let facts = Facts::of(state, asker, now);
    let decided = Rule::ALL.into_iter().find_map(|rule| rule.look(&facts)).map(|looked| looked.decision);
    decided.unwrap_or(Decision::Replan { why: Planless::NoTodo })
}

/// Every rule in its order: whether it applied, and what it looked at. The first that applied is what [`next`] says.
pub fn explained(state: &Loop, asker: &Asker, now: Timestamp) -> Vec<(Rule, Option<Looked>)> {
    let facts = Facts::of(state, asker, now);
    Rule::ALL.into_iter().map(|rule| (rule, rule.look(&facts))).collect()
}

/// One rule of the decision. Their order is that of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The goal is not active, or has no share of compute.
    Stopped,
    /// An open gate covers everything that this asker could do.
    Gated,
    /// The quota of the window is used up.
    Quota,
    /// Turns in a row came to nothing, and the asker is not in one.
    Idle,
    /// The asker has a claim that no gate covers.
    Claim,
    /// Todos or due monitors are ready.
    Ready,
    /// Nothing is ready, and a gate that holds turns back is open.
    OpenGate,
    /// Other agents have what is left.
    Others,
    /// What is left is for a person.
    Person,
    /// Monitors are left, which are not due.
    Monitors,
    /// Nothing is left that could be waited for, and the goal is not known to be reached.
    Planless,
    /// Nothing is left that could be waited for, and every criterion of the goal is answered.
    Accepted,
}

/// A rule that applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// What it decides if none before it does.
    pub decision: Decision,
    /// The names of the records that made it apply, the first ones first.
    pub records: Vec<String>,
}

/// What the rules look at.
struct Facts<'a> {
    state: &'a Loop,
    asker: &'a Asker,
    now: Timestamp,
    waiting: Option<Pending>,
    own: Vec<(&'a TodoId, Timestamp)>,
    ready: Vec<&'a TodoId>,
}

impl<'a> Facts<'a> {
    fn of(state: &'a Loop, asker: &'a Asker, now: Timestamp) -> Self {
        let (own, ready) = (own_claims(state, asker, now), ready(state, asker, now));
        Self { state, asker, now, waiting: pending(state), own, ready }
    }

    fn is_free(&self, todo: &TodoId) -> bool {
        self.state.gate_over(todo).is_none()
    }

    /// The first of the asker's claims that no gate is over.
    fn continued(&self) -> Option<(&'a TodoId, Timestamp)> {
        self.own.iter().copied().find(|(todo, _)| self.is_free(todo))
    }

    /// The best of what is ready and not under a gate.
    fn best(&self) -> Option<&'a TodoId> {
        self.ready.iter().copied().find(|todo| self.is_free(todo))
    }

    /// There is nothing to take, and nothing that could be waited for.
    fn nothing_is_left(&self) -> bool {
        let left = [Rule::Claim, Rule::Ready, Rule::OpenGate, Rule::Others, Rule::Person, Rule::Monitors];
        left.iter().all(|rule| rule.look(self).is_none())
    }

    /// When the first monitor that nothing else keeps away is due.
    fn due(&self) -> Option<(&'a TodoId, Timestamp)> {
        let Self { state, asker, now, .. } = self;
        let todos = state.todos.iter();
        todos
            .filter(|(id, todo)| obstacle(state, asker, *now, id, todo) == Some(Obstacle::NotDue))
            .filter_map(|(id, todo)| todo.monitor.as_ref().map(|monitor| (id, monitor.next_due)))
            .min_by_key(|(_, due)| *due)
    }
}

fn todo_name(id: &TodoId) -> String {
    format!("todo/{id}")
}

fn gate_names(gates: &Pending) -> Vec<String> {
    std::iter::once(&gates.first).chain(&gates.rest).map(|id| format!("gate/{id}")).collect()
}

impl Rule {
    /// Every rule, the one that decides before the others first.
    pub const ALL: [Self; 12] = [
        Self::Stopped,
        Self::Gated,
        Self::Quota,
        Self::Idle,
        Self::Claim,
        Self::Ready,
        Self::OpenGate,
        Self::Others,
        Self::Person,
        Self::Monitors,
        Self::Planless,
        Self::Accepted,
    ];

    /// As it stands in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Gated => "gated",
            Self::Quota => "quota",
            Self::Idle => "idle",
            Self::Claim => "claim",
            Self::Ready => "ready",
            Self::OpenGate => "open-gate",
            Self::Others => "others",
            Self::Person => "person",
            Self::Monitors => "monitors",
            Self::Planless => "planless",
            Self::Accepted => "accepted",
        }
    }

    /// The rule as a sentence that is true when it applies.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Stopped => "the goal is not active, or has no share of compute",
            Self::Gated => "an open gate covers everything that could be done",
            Self::Quota => "the quota of the window is used up",
            Self::Idle => "the last turns came to nothing, or had no todo and added none",
            Self::Claim => "you have a claim that no gate covers",
            Self::Ready => "something is ready and no gate covers it",
            Self::OpenGate => "nothing is ready beside an open gate",
            Self::Others => "other agents have claims",
            Self::Person => "a person has something to do",
            Self::Monitors => "a monitor will be due",
            Self::Planless => {
                "nothing is left that could be waited for, and the goal is not known to be reached"
            }
            Self::Accepted => "nothing is left, and every criterion is answered",
        }
    }

    /// What the rule says by itself; nothing when it does not apply.
    fn look(self, facts: &Facts<'_>) -> Option<Looked> {
        let (state, now) = (facts.state, facts.now);
        let looked = |decision, records| Some(Looked { decision, records });
        match self {
            Self::Stopped => {
                if !matches!(state.goal.state, super::goal::GoalState::Active {}) {
                    let why = Stopped::Goal(state.goal.state.word());
                    return looked(Decision::Stop { why }, vec![format!("goal/{}", state.id)]);
                }
                let is_paused = state.quota.compute().is_zero();
                is_paused.then_some(())?;
                looked(Decision::Stop { why: Stopped::NoCompute }, vec!["quota".into()])
            }
            Self::Gated => {
                let mut gates = facts.waiting.clone()?;
                // An open gate for everything covers even work that nobody has thought of yet.
                let over_everything = |gate: &super::gate::Gate| {
                    gate.is_open() && gate.todos.is_empty() && gate.holds_back(super::gate::Act::Turn)
                };
                let everything_waits = state.gates.values().any(over_everything);
                let has_work = !facts.own.is_empty() || !facts.ready.is_empty();
                let all_covered = facts.continued().is_none() && facts.best().is_none() && has_work;
                (everything_waits || all_covered).then_some(())?;
                if !everything_waits {
                    gates = gates.first_over(facts);
                }
                let records = gate_names(&gates);
                looked(Decision::Ask { gates }, records)
            }
            Self::Quota => {
                let limit = state.quota.limit(&state.spends, now);
                (state.quota.spent(&state.spends, now) >= limit).then_some(())?;
                let until = state.quota.free_at(&state.spends, now);
                looked(Decision::Wait { until, why: Waiting::Slot }, vec!["quota".into()])
            }
            Self::Idle => {
                let agent = facts.asker.agent.as_ref();
                let is_in_one = agent.is_some_and(|agent| state.turn_of(agent).is_some());
                let idle = state.idle_turns(now);
                let is_reached = state.goal.is_accepted() && facts.nothing_is_left();
                (idle.len() >= IDLE && !is_in_one && !is_reached).then_some(())?;
                let records = idle.iter().map(|turn| format!("spend/{}", SpendId::of_turn(&turn.turn)));
                let decision = match facts.waiting.clone() {
                    Some(gates) => Decision::Ask { gates },
                    None if idle.len() >= STUCK => Decision::AskForPlan { turns: idle.len() },
                    None => Decision::Replan { why: Planless::Idle(idle.len()) },
                };
                looked(decision, records.collect())
            }
            Self::Claim => {
                let (todo, until) = facts.continued()?;
                looked(Decision::Continue { todo: todo.clone(), until }, vec![todo_name(todo)])
            }
            Self::Ready => {
                let todo = facts.best()?.clone();
                let mut records = vec![todo_name(&todo)];
                records.extend(facts.waiting.iter().flat_map(gate_names));
                let decision = match (facts.waiting.clone(), &state.todos[&todo].monitor) {
                    (Some(gates), Some(monitor)) if monitor.is_stale() => Decision::Ask { gates },
                    (None, Some(monitor)) if monitor.is_stale() => {
                        Decision::Replan { why: Planless::Stale(todo) }
                    }
                    (gates, Some(_)) => Decision::Poll { todo, gates },
                    (None, None) => Decision::Run { todo },
                    (Some(gates), None) => Decision::RunOther { todo, gates },
                };
                looked(decision, records)
            }
            Self::OpenGate => {
                let gates = facts.waiting.clone().filter(|_| facts.best().is_none())?;
                let records = gate_names(&gates);
                looked(Decision::Ask { gates }, records)
            }
            Self::Others => {
                let held = state.todos.iter().filter_map(|(id, todo)| Some((id, todo.holder(now)?.1)));
                let (todo, held) = held.min_by_key(|(_, until)| *until)?;
                let until = facts.due().map_or(held, |(_, due)| due.min(held));
                let why = Waiting::Claims;
                looked(Decision::Wait { until: Some(until), why }, vec![todo_name(todo)])
            }
            Self::Person => {
                let for_person = |(_, todo): &(&TodoId, &Todo)| {
                    todo.for_ == Worker::Person && todo.is_free(now) && !state.waits(todo)
                };
                let (todo, _) = state.todos.iter().find(for_person)?;
                looked(Decision::AskForTodo { todo: todo.clone() }, vec![todo_name(todo)])
            }
            Self::Monitors => {
                let (todo, due) = facts.due()?;
                let decision = Decision::Wait { until: Some(due), why: Waiting::Monitors };
                looked(decision, vec![todo_name(todo)])
            }
            Self::Planless => {
                (!state.goal.is_accepted() && facts.nothing_is_left()).then_some(())?;
                let why = if state.todos.is_empty() { Planless::NoTodo } else { Planless::NoneReady };
                looked(Decision::Replan { why }, state.todos.keys().map(todo_name).collect())
            }
            Self::Accepted => {
                (state.goal.is_accepted() && facts.nothing_is_left()).then_some(())?;
                let answers = state.goal.met.iter().map(|met| format!("evidence/{}", met.evidence));
                looked(Decision::Stop { why: Stopped::Accepted }, answers.collect())
            }
        }
    }
}

/// The todos that the asker holds and could complete if no gate were over them; the one whose lease ends first comes first.
fn own_claims<'a>(state: &'a Loop, asker: &Asker, now: Timestamp) -> Vec<(&'a TodoId, Timestamp)> {
    let Some(agent) = asker.agent.as_ref() else { return Vec::new() };
    let mut own: Vec<_> = state
        .todos
        .iter()
        .filter_map(|(id, todo)| todo.holder(now).map(|(by, until)| (id, todo, by, until)))
        .filter(|(_, _, by, _)| by.agent() == Some(agent))
        .filter(|(_, todo, ..)| todo.for_ == Worker::Agent && !state.waits(todo))
        .map(|(id, _, _, until)| (id, until))
        .collect();
    own.sort_by_key(|(_, until)| *until);
    own
}

/// What keeps an asker from taking a todo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// It is a person's work.
    Person,
    Blocked,
    /// It is the asker's already.
    Yours,
    /// Somebody else has it.
    Claimed,
    /// Something it needs is not closed.
    Needs,
    /// The host cannot do what it requires.
    Capability,
    /// It is a monitor, and it is not time to look.
    NotDue,
    /// A gate is over it.
    Gate,
}

impl Obstacle {
    /// Every obstacle there is.
    pub const ALL: [Self; 8] = [
        Self::Person,
        Self::Blocked,
        Self::Yours,
        Self::Claimed,
        Self::Needs,
        Self::Capability,
        Self::NotDue,
        Self::Gate,
    ];

    /// As it stands in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Blocked => "blocked",
            Self::Yours => "yours",
            Self::Claimed => "claimed",
            Self::Needs => "needs",
            Self::Capability => "capability",
            Self::NotDue => "not-due",
            Self::Gate => "gate",
        }
    }
}

/// The first thing that keeps `asker` from taking the open todo `id`; a gate is asked about last.
pub fn obstacle(state: &Loop, asker: &Asker, now: Timestamp, id: &TodoId, todo: &Todo) -> Option<Obstacle> {
    use super::todo::TodoState as S;
    let holder = todo.holder(now).map(|(by, _)| by);
    if todo.for_ == Worker::Person {
        Some(Obstacle::Person)
    } else if matches!(todo.state, S::Blocked { .. }) {
        Some(Obstacle::Blocked)
    } else if holder.is_some_and(|by| asker.agent.is_some() && by.agent() == asker.agent.as_ref()) {
        Some(Obstacle::Yours)
    } else if !todo.is_free(now) {
        Some(Obstacle::Claimed)
    } else if state.waits(todo) {
        Some(Obstacle::Needs)
    } else if !todo.requires.is_subset(&asker.can) {
        Some(Obstacle::Capability)
    } else if todo.monitor.as_ref().is_some_and(|monitor| !monitor.is_due(now)) {
        Some(Obstacle::NotDue)
    } else {
        state.gate_over(id).map(|_| Obstacle::Gate)
    }
}

/// What the asker could take if no gate were there: the most urgent first, a monitor that is due before todos that are
/// as urgent, then the oldest. A monitor that found nothing new for long comes last.
pub fn ready<'a>(state: &'a Loop, asker: &Asker, now: Timestamp) -> Vec<&'a TodoId> {
    let mut ready: Vec<_> = state
        .todos
        .iter()
        .filter(|(id, todo)| matches!(obstacle(state, asker, now, id, todo), None | Some(Obstacle::Gate)))
        .collect();
    ready.sort_by_key(|(id, todo)| {
        let stale = todo.monitor.as_ref().is_some_and(super::todo::Monitor::is_stale);
        (stale, todo.priority, todo.monitor.is_none(), todo.added.at, *id)
    });
    ready.into_iter().map(|(id, _)| id).collect()
}

/// The open gates that can hold back a turn.
fn pending(state: &Loop) -> Option<Pending> {
    let mut open = state
        .open_gates()
        .into_iter()
        .filter(|(_, gate)| gate.holds_back(super::gate::Act::Turn))
        .map(|(id, _)| id.clone());
    open.next().map(|first| Pending { first, rest: open.collect() })
}

impl Decision {
    /// The answer in the words of the design.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Continue { .. } | Self::Run { .. } | Self::Poll { gates: None, .. } => "run",
            Self::RunOther { .. } | Self::Poll { gates: Some(_), .. } => "run-other",
            Self::Ask { .. } | Self::AskForTodo { .. } | Self::AskForPlan { .. } => "ask",
            Self::Wait { .. } => "wait",
            Self::Replan { .. } => "replan",
            Self::Stop { .. } => "stop",
        }
    }

    /// Whether the agent has something to do now.
    pub fn should_run(&self) -> bool {
        self.todo().is_some() || matches!(self, Self::Replan { .. })
    }

    /// The todo to work on.
    pub fn todo(&self) -> Option<&TodoId> {
        match self {
            Self::Continue { todo, .. }
            | Self::Run { todo }
            | Self::RunOther { todo, .. }
            | Self::Poll { todo, .. } => Some(todo),
            _ => None,
        }
    }

    /// The gates a person should answer.
    pub fn gates(&self) -> Option<&Pending> {
        match self {
            Self::RunOther { gates, .. } | Self::Ask { gates } => Some(gates),
            Self::Poll { gates, .. } => gates.as_ref(),
            _ => None,
        }
    }

    /// How long the answer will stay the same unless somebody acts: for `wait` and `ask`.
    pub fn retry_after(&self, now: Timestamp) -> Option<Seconds> {
        match self {
            Self::Wait { until: Some(until), .. } => Some(now.age(*until)),
            Self::Wait { until: None, .. }
            | Self::Ask { .. }
            | Self::AskForTodo { .. }
            | Self::AskForPlan { .. } => Some(ASK_AGAIN),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        gate::{Act, Gate},
        goal::GoalState,
        quota::Quota,
        samples::{agent, at, gate, gate_id, loop_with, spend, stamp, todo, todo_id},
        todo::Monitor,
    };

    #[track_caller]
    fn check(state: &Loop, expected: Decision) {
        let asker = Asker { agent: Some(agent("a")), can: ["shell".parse().unwrap()].into() };
        assert_eq!(next(state, &asker, at("10:00")), expected);
    }

    fn pending(first: &str, rest: &[&str]) -> Pending {
        Pending { first: gate_id(first), rest: rest.iter().map(|id| gate_id(id)).collect() }
    }

    fn claimed(by: &str, time: &str) -> Todo {
        todo("p2").claim(&todo_id("t-0001"), &stamp(by, time), Seconds(3600)).unwrap()
    }

    fn run(id: &str) -> Decision {
        Decision::Run { todo: todo_id(id) }
    }

    #[test]
    fn rule_2_a_goal_that_is_not_active_stops() {
        let mut state = loop_with(&[("t-0001", todo("p0"))], &[("bucket", gate(&[]))]);
        state.goal.state =
            GoalState::Paused { by: stamp("agent:a", "09:00").by, at: at("09:00"), reason: None };
        check(&state, Decision::Stop { why: Stopped::Goal("paused") });
        state.goal.state = GoalState::Active {};
        state.quota = Quota::default().with_compute("0".parse().unwrap()).unwrap();
        check(&state, Decision::Stop { why: Stopped::NoCompute });
    }

    #[test]
    fn rule_3_a_gate_over_everything_asks() {
        let ask = |first: &str| Decision::Ask { gates: pending(first, &[]) };
        check(&loop_with(&[("t-0001", todo("p0"))], &[("bucket", gate(&[]))]), ask("bucket"));
        check(&loop_with(&[], &[("bucket", gate(&[]))]), ask("bucket"));
        check(
            &loop_with(&[("t-0001", claimed("agent:a", "09:30"))], &[("bucket", gate(&[]))]),
            ask("bucket"),
        );
        check(&loop_with(&[("t-0001", todo("p0"))], &[("bucket", gate(&["t-0001"]))]), ask("bucket"));

        let older = Gate { asked: stamp("agent:b", "08:00"), ..gate(&["t-0001"]) };
        let state = loop_with(&[("t-0001", todo("p0"))], &[("bucket", gate(&["t-0001"])), ("older", older)]);
        check(&state, Decision::Ask { gates: pending("older", &["bucket"]) });
        let needy = Todo { needs: [todo_id("t-0001")].into(), ..todo("p0") };
        let older = Gate { asked: stamp("agent:b", "08:00"), ..gate(&["t-0002"]) };
        let todos = [("t-0001", todo("p0")), ("t-0002", needy)];
        let state = loop_with(&todos, &[("bucket", gate(&["t-0001"])), ("older", older)]);
        check(&state, Decision::Ask { gates: pending("bucket", &["older"]) });
    }

    #[test]
    fn rule_3_a_gate_for_the_push_alone_does_not_hold_the_turn() {
        let mut push_only = gate(&[]);
        push_only.blocks = [Act::Push].into();
        check(&loop_with(&[("t-0001", todo("p0"))], &[("bucket", push_only)]), run("t-0001"));
    }

    #[test]
    fn rule_4_a_spent_quota_waits_for_the_next_slot() {
        let mut state = loop_with(&[("t-0001", claimed("agent:a", "09:30"))], &[]);
        state.quota = Quota::new("1".parse().unwrap(), 1, 30).unwrap();
        state.spends = vec![spend("x", 2, "09:10")];
        check(&state, Decision::Wait { until: Some(at("10:10")), why: Waiting::Slot });
        state.spends = vec![spend("x", 1, "09:10")];
        check(&state, Decision::Continue { todo: todo_id("t-0001"), until: at("10:30") });
    }

    #[test]
    fn rule_5_the_own_claim_goes_on_before_anything_else() {
        let state = loop_with(&[("t-0001", claimed("agent:a", "09:30")), ("t-0002", todo("p0"))], &[]);
        check(&state, Decision::Continue { todo: todo_id("t-0001"), until: at("10:30") });
        let state = loop_with(
            &[("t-0001", claimed("agent:a", "09:30")), ("t-0002", todo("p3"))],
            &[("bucket", gate(&["t-0001"]))],
        );
        check(&state, Decision::RunOther { todo: todo_id("t-0002"), gates: pending("bucket", &[]) });
        let both = [("t-0001", claimed("agent:a", "09:10")), ("t-0002", claimed("agent:a", "09:30"))];
        let state = loop_with(&both, &[("bucket", gate(&["t-0001"]))]);
        check(&state, Decision::Continue { todo: todo_id("t-0002"), until: at("10:30") });
    }

    fn monitor(priority: &str, next_due: &str, unchanged: u32) -> Todo {
        let monitor =
            Monitor { next_due: at(next_due), unchanged, ..Monitor::new(Seconds(3600), at("08:00")) };
        Todo { monitor: Some(monitor), ..todo(priority) }
    }

    #[test]
    fn rule_6_a_due_monitor_goes_before_what_is_no_more_urgent() {
        let poll = |gates| Decision::Poll { todo: todo_id("t-0001"), gates };
        check(&loop_with(&[("t-0001", monitor("p1", "10:00", 0)), ("t-0002", todo("p1"))], &[]), poll(None));
        check(
            &loop_with(&[("t-0001", monitor("p1", "10:00", 0)), ("t-0002", todo("p0"))], &[]),
            run("t-0002"),
        );
        check(
            &loop_with(&[("t-0001", monitor("p1", "10:01", 0)), ("t-0002", todo("p3"))], &[]),
            run("t-0002"),
        );
        check(&loop_with(&[("t-0001", monitor("p3", "10:00", 4))], &[]), poll(None));
        let elsewhere = [("t-0001", monitor("p1", "10:00", 0)), ("t-0002", todo("p0"))];
        let state = loop_with(&elsewhere, &[("bucket", gate(&["t-0002"]))]);
        check(&state, poll(Some(pending("bucket", &[]))));
        let state = loop_with(&elsewhere[..1], &[("bucket", gate(&["t-0001"]))]);
        check(&state, Decision::Ask { gates: pending("bucket", &[]) });
    }

    #[test]
    fn rule_8_a_monitor_that_is_not_due_waits_and_a_stale_one_plans() {
        let wait = |until, why| Decision::Wait { until: Some(at(until)), why };
        check(&loop_with(&[("t-0001", monitor("p1", "10:20", 0))], &[]), wait("10:20", Waiting::Monitors));
        let beside =
            loop_with(&[("t-0001", monitor("p1", "10:20", 0)), ("t-0002", claimed("agent:b", "09:30"))], &[]);
        check(&beside, wait("10:20", Waiting::Claims));
        let stale = Decision::Replan { why: Planless::Stale(todo_id("t-0001")) };
        check(&loop_with(&[("t-0001", monitor("p0", "10:00", 5))], &[]), stale);
        check(
            &loop_with(&[("t-0001", monitor("p0", "10:00", 5)), ("t-0002", todo("p3"))], &[]),
            run("t-0002"),
        );
        let gated = loop_with(
            &[("t-0001", monitor("p0", "10:00", 5)), ("t-0002", todo("p3"))],
            &[("bucket", gate(&["t-0002"]))],
        );
        check(&gated, Decision::Ask { gates: pending("bucket", &[]) });
        check(&loop_with(&[("t-0001", monitor("p0", "10:20", 5))], &[]), wait("10:20", Waiting::Monitors));
        let online = Todo { requires: ["network".parse().unwrap()].into(), ..monitor("p0", "10:20", 0) };
        check(&loop_with(&[("t-0001", online)], &[]), Decision::Replan { why: Planless::NoneReady });
        let theirs = Todo { for_: Worker::Person, ..todo("p3") };
        let state = loop_with(&[("t-0001", monitor("p1", "10:20", 0)), ("t-0002", theirs)], &[]);
        check(&state, Decision::AskForTodo { todo: todo_id("t-0002") });
    }

    #[test]
    fn rule_7_the_most_urgent_and_then_the_oldest_ready_todo() {
        let older = Todo { added: stamp("agent:a", "08:00"), ..todo("p1") };
        check(
            &loop_with(&[("t-0001", todo("p1")), ("t-0002", older), ("t-0003", todo("p2"))], &[]),
            run("t-0002"),
        );
        check(&loop_with(&[("t-0001", claimed("agent:b", "08:00"))], &[]), run("t-0001"));

        let needy = Todo { needs: [todo_id("t-0002")].into(), ..todo("p0") };
        check(&loop_with(&[("t-0001", needy), ("t-0002", todo("p3"))], &[]), run("t-0002"));
        let online = Todo { requires: ["network".parse().unwrap()].into(), ..todo("p0") };
        check(&loop_with(&[("t-0001", online), ("t-0002", todo("p3"))], &[]), run("t-0002"));
        let theirs = Todo { for_: Worker::Person, ..todo("p0") };
        check(&loop_with(&[("t-0001", theirs), ("t-0002", todo("p3"))], &[]), run("t-0002"));
    }

    #[test]
    fn rule_7_beside_a_gate_says_both() {
        let state =
            loop_with(&[("t-0001", todo("p0")), ("t-0002", todo("p1"))], &[("bucket", gate(&["t-0001"]))]);
        check(&state, Decision::RunOther { todo: todo_id("t-0002"), gates: pending("bucket", &[]) });
    }

    #[test]
    fn rule_8_the_rest_waits_asks_or_plans() {
        check(
            &loop_with(&[("t-0001", claimed("agent:b", "09:30"))], &[]),
            Decision::Wait { until: Some(at("10:30")), why: Waiting::Claims },
        );
        let theirs = Todo { for_: Worker::Person, ..todo("p0") };
        check(&loop_with(&[("t-0001", theirs)], &[]), Decision::AskForTodo { todo: todo_id("t-0001") });
        check(&loop_with(&[], &[]), Decision::Replan { why: Planless::NoTodo });
        let online = Todo { requires: ["network".parse().unwrap()].into(), ..todo("p0") };
        check(&loop_with(&[("t-0001", online)], &[]), Decision::Replan { why: Planless::NoneReady });
    }

    #[test]
    fn rule_10_what_is_accepted_stops_when_nothing_is_left() {
        let accepted = |todos: &[(&str, Todo)], gates: &[(&str, Gate)]| {
            let mut state = loop_with(todos, gates);
            state.goal.done_when = vec!["it builds".parse().unwrap()];
            let found = [(1, Some("e-0001".parse().unwrap()))];
            Loop { goal: state.goal.meet(&state.id, &found).unwrap(), ..state }
        };
        let stop = Decision::Stop { why: Stopped::Accepted };
        check(&accepted(&[], &[]), stop.clone());
        let online = Todo { requires: ["network".parse().unwrap()].into(), ..todo("p0") };
        check(&accepted(&[("t-0001", online)], &[]), stop.clone());
        check(&accepted(&[("t-0001", todo("p0"))], &[]), run("t-0001"));
        check(&accepted(&[], &[("bucket", gate(&[]))]), Decision::Ask { gates: pending("bucket", &[]) });
        let theirs = Todo { for_: Worker::Person, ..todo("p0") };
        check(&accepted(&[("t-0001", theirs)], &[]), Decision::AskForTodo { todo: todo_id("t-0001") });
        let wait = |until, why| Decision::Wait { until: Some(at(until)), why };
        check(&accepted(&[("t-0001", claimed("agent:b", "09:30"))], &[]), wait("10:30", Waiting::Claims));
        check(&accepted(&[("t-0001", monitor("p1", "10:20", 0))], &[]), wait("10:20", Waiting::Monitors));
        let mut idle = accepted(&[], &[]);
        idle.spends = (0..STUCK)
            .map(|turn| {
                let begun = stamp("agent:a", "09:10");
                let turn = crate::domain::quota::Spend::begin(
                    format!("x{turn}").parse().unwrap(),
                    0,
                    None,
                    at("09:20"),
                    begun,
                );
                turn.lose(&stamp("agent:b", "09:30")).unwrap()
            })
            .collect();
        check(&idle, stop);
        idle.goal.met.clear();
        check(&idle, Decision::AskForPlan { turns: STUCK });
    }

    #[test]
    fn nothing_under_a_gate_is_ever_handed_out() {
        // Every state of two todos and two gates out of these, for an agent that may hold one of them.
        let todos = [
            todo("p0"),
            claimed("agent:a", "09:30"),
            claimed("agent:b", "09:30"),
            claimed("agent:b", "08:00"),
            Todo { needs: [todo_id("t-0002")].into(), ..claimed("agent:a", "09:30") },
            Todo { for_: Worker::Person, ..claimed("agent:a", "09:30") },
            monitor("p0", "10:00", 0),
            monitor("p0", "10:00", 5),
            monitor("p0", "10:30", 0),
        ];
        let gates = [None, Some(gate(&[])), Some(gate(&["t-0001"])), Some(gate(&["t-0001", "t-0002"]))];
        for (first, second) in todos.iter().flat_map(|first| todos.iter().map(move |second| (first, second)))
        {
            for gate in &gates {
                let gates: Vec<_> = gate.iter().map(|gate| ("bucket", gate.clone())).collect();
                let state = loop_with(&[("t-0001", first.clone()), ("t-0002", second.clone())], &gates);
                let asker = Asker { agent: Some(agent("a")), can: BTreeSet::new() };
                let decision = next(&state, &asker, at("10:00"));
                if let Some(todo) = decision.todo() {
                    assert!(state.gate_over(todo).is_none(), "{decision:?} in {state:?}");
                    assert!(
                        state.claim(todo, &stamp("agent:a", "10:00"), Seconds(60)).is_ok(),
                        "{decision:?} in {state:?}"
                    );
                }
                assert!(decision.should_run() || decision.retry_after(at("10:00")).is_some(), "{decision:?}");
            }
        }
    }

    mod properties {
        use proptest::prelude::*;

        use super::*;
        use crate::domain::{
            foremost::{Foremost, Outline},
            quota::Spend,
            todo::{Looked, TodoState},
            turn::{End, Outcome},
        };

        const IDS: [&str; 4] = ["t-0001", "t-0002", "t-0003", "t-0004"];

        /// A todo that needs only those before it, as the checks of needs leave them.
        fn any_todo(place: usize) -> impl Strategy<Value = Todo> {
            let who = prop_oneof![3 => Just(Worker::Agent), 1 => Just(Worker::Person)];
            let holder = prop_oneof![Just("agent:a"), Just("agent:b"), Just("Ann <ann@example.test>")];
            let state = (0..5usize, holder, 0..60u32);
            let watch = proptest::option::weighted(0.3, (0..60u32, 0..7u32));
            let needs = proptest::collection::vec(0..4usize, 0..2);
            (who, 0..4u32, state, watch, needs, any::<bool>()).prop_map(
                move |(for_, priority, (kind, by, minutes), watch, needs, online)| {
                    let mut todo = todo(&format!("p{priority}"));
                    todo.monitor = watch.map(|(due, unchanged)| Monitor {
                        unchanged,
                        ..Monitor::new(Seconds(600), at("09:30").plus(Seconds(due * 60)))
                    });
                    todo.needs = needs
                        .into_iter()
                        .filter(|need| *need < place)
                        .map(|need| todo_id(IDS[need]))
                        .collect();
                    todo.requires =
                        if online { ["network".parse().unwrap()].into() } else { BTreeSet::new() };
                    todo.state = match kind {
                        0 | 1 => {
                            let stamp = crate::domain::actor::Stamp {
                                by: crate::domain::samples::actor(by),
                                at: at("09:00").plus(Seconds(minutes * 60)),
                            };
                            todo.claim(&todo_id(IDS[place]), &stamp, Seconds(1800)).unwrap().state
                        }
                        2 => TodoState::Blocked {
                            on: None,
                            by: crate::domain::samples::actor(by),
                            at: at("09:00"),
                            reason: "why".parse().unwrap(),
                            epoch: 0,
                        },
                        _ => todo.state,
                    };
                    Todo { for_, ..todo }
                },
            )
        }

        fn any_gate() -> impl Strategy<Value = Gate> {
            (proptest::collection::vec(0..4usize, 0..3), any::<bool>()).prop_map(|(todos, push_only)| {
                let todos: Vec<_> = todos.into_iter().map(|at| IDS[at]).collect();
                let mut gate = gate(&todos);
                if push_only {
                    gate.blocks = [Act::Push].into();
                }
                gate
            })
        }

        /// What the asker could take, gates or none, and what somebody holds.
        fn facts_left(state: &Loop, asker: &Asker, now: Timestamp) -> usize {
            let held = state.todos.values().filter(|todo| todo.holder(now).is_some());
            ready(state, asker, now).len() + held.count()
        }

        pub(super) fn any_state() -> impl Strategy<Value = Loop> {
            let todos = (any_todo(0), any_todo(1), any_todo(2), any_todo(3), 0..5usize);
            let gates = proptest::collection::vec(any_gate(), 0..3);
            (todos, gates, 0..4u32, 0..3usize).prop_map(|((a, b, c, d, many), gates, spent, criteria)| {
                let todos: Vec<_> = IDS.into_iter().zip([a, b, c, d]).take(many).collect();
                let gates: Vec<_> = ["one", "two"].into_iter().zip(gates).collect();
                let mut state = loop_with(&todos, &gates);
                state.goal.done_when = vec!["it builds".parse().unwrap(); criteria.min(1)];
                if criteria == 2 {
                    state.goal = state.goal.meet(&state.id, &[(1, Some("e-0001".parse().unwrap()))]).unwrap();
                }
                state.quota = Quota::new("1".parse().unwrap(), 2, 30).unwrap();
                state.spends = (0..spent).map(|at| spend(&format!("s{at}"), 1, "09:10")).collect();
                state
            })
        }

        proptest! {
            #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

            #[test]
            fn an_answer_never_contradicts_itself_or_hands_out_what_waits(state in any_state()) {
                let asker = Asker { agent: Some(agent("a")), can: ["shell".parse().unwrap()].into() };
                let now = at("10:00");
                let decision = next(&state, &asker, now);
                if let Some(todo) = decision.todo() {
                    prop_assert!(state.gate_over(todo).is_none());
                    prop_assert!(state.todos[todo].requires.is_subset(&asker.can) || state.todos[todo].holder(now).is_some());
                    prop_assert!(state.claim(todo, &stamp("agent:a", "10:00"), Seconds(60)).is_ok());
                }
                let comes_back = decision.retry_after(now).is_some();
                let is_over = matches!(decision, Decision::Stop { .. });
                prop_assert_eq!([decision.should_run(), comes_back, is_over].iter().filter(|is| **is).count(), 1);
                prop_assert!(decision.retry_after(now) != Some(Seconds(0)), "asking again at once would say the same");
                let is_reached = decision == Decision::Stop { why: Stopped::Accepted };
                prop_assert!(!is_reached || state.goal.is_accepted() && facts_left(&state, &asker, now) == 0);
                let first = explained(&state, &asker, now).into_iter().find_map(|(_, looked)| looked);
                prop_assert_eq!(first.map(|looked| looked.decision), Some(decision));
            }

            #[test]
            fn the_foremost_todos_are_all_that_matters(
                state in any_state(),
                added in proptest::array::uniform4(0..60u32),
                turns in proptest::collection::vec((0..60u32, 0..5usize, any::<bool>()), 0..4),
            ) {
                let mut whole = state;
                for (todo, minutes) in whole.todos.values_mut().zip(added) {
                    todo.added.at = at("09:00").plus(Seconds(minutes * 60));
                }
                for (number, (begun, todo, is_idle)) in turns.into_iter().enumerate() {
                    let (name, todo) = (format!("x{number}").parse().unwrap(), IDS.get(todo).map(|id| todo_id(id)));
                    let by = crate::domain::samples::actor("agent:b");
                    let begun = crate::domain::actor::Stamp { by: by.clone(), at: at("09:00").plus(Seconds(begun * 60)) };
                    let begun = Spend::begin(name, 0, todo, at("10:30"), begun);
                    let outcome = if is_idle { Outcome::Nothing } else { Outcome::Progress };
                    let end = End { outcome, by, at: at("09:59"), summary: None };
                    whole.spends.push(begun.end(end, 0, vec![]).unwrap());
                }
                let outlines = whole.todos.iter().map(|(id, todo)| (id.clone(), Outline::of(todo))).collect();
                let Foremost { todos: chosen, behind } = Foremost::of(&outlines);
                let mut less = Loop { behind, ..whole.clone() };
                less.todos.retain(|id, _| chosen.contains(id));
                for (agent, now) in [(None, "09:30"), (Some("a"), "10:00"), (Some("b"), "10:00"), (Some("a"), "11:00")] {
                    let asker = Asker { agent: agent.map(crate::domain::samples::agent), can: ["shell".parse().unwrap()].into() };
                    prop_assert_eq!(next(&whole, &asker, at(now)), next(&less, &asker, at(now)));
                    prop_assert_eq!(whole.how_idle(at(now)), less.how_idle(at(now)));
                }
            }

            #[test]
            fn whoever_does_as_told_to_no_effect_ends_at_a_person(state in any_state()) {
                let asker = Asker { agent: Some(agent("a")), can: ["shell".parse().unwrap()].into() };
                let (mut state, mut now) = (state, at("10:00"));
                for turn in 0..200 {
                    let decision = next(&state, &asker, now);
                    if matches!(decision.word(), "ask" | "stop") {
                        return Ok(());
                    }
                    let by = crate::domain::actor::Stamp { by: crate::domain::samples::actor("agent:a"), at: now };
                    match decision {
                        Decision::Poll { todo, .. } => {
                            let (polled, _) = state.poll(&todo, &by, Looked::Same).unwrap();
                            state.todos.insert(todo, polled);
                        }
                        Decision::Wait { .. } => now = now.plus(decision.retry_after(now).unwrap()),
                        _ => {
                            let (name, todo) = (format!("x{turn}").parse().unwrap(), decision.todo().cloned());
                            let begun = Spend::begin(name, 1, todo, now.plus(Seconds(60)), by.clone());
                            let end = End { outcome: Outcome::Nothing, by: by.by, at: now, summary: None };
                            state.spends.push(begun.end(end, 0, vec![]).unwrap());
                            now = now.plus(Seconds(60));
                        }
                    }
                }
                prop_assert!(false, "nobody was ever asked");
            }
        }
    }
}
