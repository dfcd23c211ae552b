//! Goals and their limits.

use std::collections::BTreeSet;

use super::{Answer, Goal, GoalName, Model, Quota, Refused, Stamp, WHOLE, Wanted, numbered};

impl Model {
    pub(super) fn add_goal(&mut self, id: GoalName, added: Stamp) -> Answer {
        let free = |n: &usize| !self.goals.contains_key(&numbered("ship-it", *n));
        let made = || numbered("ship-it", (1..).find(free).expect("a number"));
        let id = id.map_or_else(made, str::to_owned);
        if self.goals.contains_key(&id) {
            return Err("there is a goal");
        }
        let goal = Goal { objective: "Ship it".into(), features: BTreeSet::new(), added };
        self.goals.insert(id, goal);
        Ok(true)
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

    /// The goal that is meant: the one named, or the only one.
    pub(super) fn goal(&self, named: Option<&str>) -> Result<String, Refused> {
        let mut goals = self.goals.keys();
        match (named, goals.next(), goals.next()) {
            (Some(goal), ..) if self.goals.contains_key(goal) => Ok(goal.to_owned()),
            (Some(_), ..) => Err("there is no goal"),
            (None, None, _) => Err("there is no active goal"),
            (None, Some(only), None) => Ok(only.clone()),
            (None, ..) => Err("goals are active"),
        }
    }
}

/// Slots of a window that may be used.
pub(super) fn allowed((share, hours, minutes): Quota) -> u32 {
    hours * 60 / minutes * share / 10_000
}
