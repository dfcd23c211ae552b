//! What happens next: a pure function of one goal's state, the time, and who asks.
//!
//! The first rule that applies decides. Each answer carries its own facts and nothing else, so that its fields
//! cannot contradict each other.

use std::collections::BTreeSet;

use super::{
    id::{AgentId, Capability, GateId, TodoId},
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
}

/// How soon asking again makes sense when only a person can move things.
pub const ASK_AGAIN: Seconds = Seconds(300);

/// Decides for `asker` at `now`.
///
/// These are rules 2 to 8 of the design; that the state can be read at all (rule 1) is known by whoever
/// calls this.
pub fn next(state: &Loop, asker: &Asker, now: Timestamp) -> Decision {
    if !matches!(state.goal.state, super::goal::GoalState::Active {}) {
        return Decision::Stop { why: Stopped::Goal(state.goal.state.word()) };
    }
    if state.quota.compute().is_zero() {
        return Decision::Stop { why: Stopped::NoCompute };
    }

    let own = own_claim(state, asker, now);
    let ready = ready(state, asker, now);
    let waiting = pending(state);
    let is_free = |todo: &&TodoId| state.gate_over(todo).is_none();
    let continued = own.filter(|(todo, _)| is_free(todo));
    let best = ready.iter().copied().find(|todo| is_free(todo));

    // An open gate for everything covers even work that nobody has thought of yet.
    let everything_waits = state
        .gates
        .values()
        .any(|gate| gate.is_open() && gate.todos.is_empty() && gate.holds_back(super::gate::Act::Turn));
    let all_covered = continued.is_none() && best.is_none() && (own.is_some() || !ready.is_empty());
    if let Some(gates) = waiting.clone().filter(|_| everything_waits || all_covered) {
        return Decision::Ask { gates };
    }
    if state.quota.spent(&state.spends, now) >= state.quota.allowed() {
        return Decision::Wait { until: state.quota.free_at(&state.spends, now), why: Waiting::Slot };
    }
    if let Some((todo, until)) = continued {
        return Decision::Continue { todo: todo.clone(), until };
    }
    if let Some(todo) = best.cloned() {
        return match (waiting, &state.todos[&todo].monitor) {
            (Some(gates), Some(monitor)) if monitor.is_stale() => Decision::Ask { gates },
            (None, Some(monitor)) if monitor.is_stale() => Decision::Replan { why: Planless::Stale(todo) },
            (gates, Some(_)) => Decision::Poll { todo, gates },
            (None, None) => Decision::Run { todo },
            (Some(gates), None) => Decision::RunOther { todo, gates },
        };
    }
    if let Some(gates) = waiting {
        return Decision::Ask { gates };
    }
    let held = state.todos.values().filter_map(|todo| todo.holder(now)).map(|(_, until)| until).min();
    let due = state
        .todos
        .iter()
        .filter(|(id, todo)| obstacle(state, asker, now, id, todo) == Some(Obstacle::NotDue))
        .filter_map(|(_, todo)| todo.monitor.as_ref().map(|monitor| monitor.next_due))
        .min();
    if let Some(held) = held {
        let until = due.map_or(held, |due| due.min(held));
        return Decision::Wait { until: Some(until), why: Waiting::Claims };
    }
    let for_person = |(_, todo): &(&TodoId, &Todo)| {
        todo.for_ == Worker::Person
            && todo.is_free(now)
            && !todo.needs.iter().any(|need| state.todos.contains_key(need))
    };
    if let Some((todo, _)) = state.todos.iter().find(for_person) {
        return Decision::AskForTodo { todo: todo.clone() };
    }
    if let Some(until) = due {
        return Decision::Wait { until: Some(until), why: Waiting::Monitors };
    }
    let why = if state.todos.is_empty() { Planless::NoTodo } else { Planless::NoneReady };
    Decision::Replan { why }
}

/// The todo the asker holds and could complete if no gate were over it; the one whose lease ends first, if several.
fn own_claim<'a>(state: &'a Loop, asker: &Asker, now: Timestamp) -> Option<(&'a TodoId, Timestamp)> {
    let agent = asker.agent.as_ref()?;
    state
        .todos
        .iter()
        .filter(|(_, todo)| {
            todo.for_ == Worker::Agent && !todo.needs.iter().any(|need| state.todos.contains_key(need))
        })
        .filter_map(|(id, todo)| todo.holder(now).map(|(by, until)| (id, by, until)))
        .filter(|(_, by, _)| by.agent() == Some(agent))
        .map(|(id, _, until)| (id, until))
        .min_by_key(|(_, until)| *until)
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
    } else if todo.needs.iter().any(|need| state.todos.contains_key(need)) {
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
            Self::Ask { .. } | Self::AskForTodo { .. } => "ask",
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
            Self::Wait { until: None, .. } | Self::Ask { .. } | Self::AskForTodo { .. } => Some(ASK_AGAIN),
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
}
