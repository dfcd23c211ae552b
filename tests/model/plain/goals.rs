//! Goals and their limits.

use std::collections::BTreeSet;

use super::{Answer, Goal, GoalName, Model, Quota, Refused, Stamp, Verb, WHOLE, Wanted, numbered};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum State {
    Active,
    Paused(Stamp),
    /// And what answered its criterion.
    Achieved(i64, Option<String>),
    Abandoned(i64),
}

impl Goal {
    pub(super) fn must_be_active(&self) -> Result<(), Refused> {
        match self.state {
            State::Active => Ok(()),
            State::Paused(_) => Err("` is paused"),
            State::Achieved(..) => Err("` is achieved"),
            State::Abandoned(_) => Err("` is abandoned"),
        }
    }

    fn must_not_be_over(&self) -> Result<(), Refused> {
        match self.state {
            State::Active | State::Paused(_) => Ok(()),
            State::Achieved(..) => Err("was achieved by"),
            State::Abandoned(_) => Err("was abandoned by"),
        }
    }

    /// It says when it is reached, and something answers that.
    pub(super) fn is_accepted(&self) -> bool {
        self.has_criterion && self.met.is_some()
    }
}

impl Model {
    pub(super) fn add_goal(&mut self, id: GoalName, has_criterion: bool, added: Stamp) -> Answer {
        let free = |n: &usize| !self.goals.contains_key(&numbered("ship-it", *n));
        let made = || numbered("ship-it", (1..).find(free).expect("a number"));
        let id = id.map_or_else(made, str::to_owned);
        if self.goals.contains_key(&id) {
            return Err("there is a goal");
        }
        let (objective, features) = ("Ship it".to_owned(), BTreeSet::new());
        let goal = Goal { objective, has_criterion, met: None, features, added, state: State::Active };
        self.goals.insert(id, goal);
        Ok(true)
    }

    /// Takes a goal from one state to another. The evidence is for its criterion.
    pub(super) fn turn_goal(
        &mut self,
        goal: GoalName,
        verb: Verb,
        evidence: BTreeSet<String>,
        stamp: Stamp,
    ) -> Answer {
        let id = self.goal(goal)?;
        self.must_have(&id, &evidence)?;
        let goal = &self.goals[&id];
        let mut after = goal.clone();
        let evidence = evidence.into_iter().next();
        let is_for_nothing = evidence.is_some() && !goal.has_criterion;
        match verb {
            Verb::Pause => {
                goal.must_be_active()?;
                after.state = State::Paused(stamp);
            }
            Verb::Resume => {
                if !matches!(goal.state, State::Paused(_)) {
                    return goal.must_be_active().and(Err("is not paused"));
                }
                stamp.must_be_of_a_person()?;
                after.state = State::Active;
            }
            Verb::Meet => {
                goal.must_be_active()?;
                if is_for_nothing {
                    return Err("has no criterion");
                }
                after.met = evidence.or(after.met);
            }
            Verb::Achieve => {
                if is_for_nothing {
                    return Err("has no criterion");
                }
                if self.gates.iter().any(|((of, _), gate)| *of == id && gate.is_open()) {
                    return Err("has open questions");
                }
                goal.must_not_be_over()?;
                let answer = evidence.or(after.met.clone());
                if goal.has_criterion && answer.is_none() {
                    return Err("lacks evidence");
                }
                stamp.must_be_of_a_person()?;
                after.state = State::Achieved(stamp.at, answer);
            }
            Verb::Abandon => {
                goal.must_not_be_over()?;
                stamp.must_be_of_a_person()?;
                after.state = State::Abandoned(stamp.at);
            }
        }
        let changes = *goal != after;
        self.goals.insert(id, after);
        Ok(changes)
    }

    pub(super) fn configure(&mut self, id: &str, wanted: &Wanted, proven: bool) -> Answer {
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

    pub(super) fn quota(&self, goal: &str) -> Quota {
        self.quotas.get(goal).copied().unwrap_or(WHOLE)
    }

    /// The goal that is meant: the one named, or the only active one.
    pub(super) fn goal(&self, named: Option<&str>) -> Result<String, Refused> {
        let mut active = self.goals.iter().filter(|(_, goal)| goal.state == State::Active);
        match (named, active.next(), active.next()) {
            (Some(goal), ..) if self.goals.contains_key(goal) => Ok(goal.to_owned()),
            (Some(_), ..) => Err("there is no goal"),
            (None, None, _) => Err("there is no active goal"),
            (None, Some((only, _)), None) => Ok(only.clone()),
            (None, ..) => Err("goals are active"),
        }
    }

    /// The same, if work can be added to it.
    pub(super) fn active_goal(&self, named: GoalName) -> Result<String, Refused> {
        let goal = self.goal(named)?;
        self.goals[&goal].must_be_active()?;
        Ok(goal)
    }
}

/// Slots of a window that may be used.
pub(super) fn allowed((share, hours, minutes): Quota) -> u32 {
    hours * 60 / minutes * share / 10_000
}
