//! What turns use.

use std::collections::BTreeSet;

use super::{Answer, GoalName, Model, Refused, Spend, Stamp, goals::allowed};

impl Model {
    pub(super) fn spend(
        &mut self,
        (goal, turn): (GoalName, &str),
        slots: u32,
        evidence: BTreeSet<String>,
        added: Stamp,
    ) -> Answer {
        let goal = self.goal_of(goal, turn)?;
        self.must_have(&goal, &evidence)?;
        let key = (goal.clone(), turn.to_owned());
        if self.spends.contains_key(&key) {
            return Ok(false);
        }
        if self.spent(&goal, added.at) + slots > allowed(self.quota(&goal)) {
            return Err("slots left in this window");
        }
        self.spends.insert(key, Spend { slots, evidence, added });
        self.filed(goal, "spend");
        Ok(true)
    }

    /// Slots that were used in the window that ends at `at`, and after it.
    fn spent(&self, goal: &str, at: i64) -> u32 {
        let from = at - i64::from(self.quota(goal).1) * 3600;
        let counts = |((of, _), spend): &(&(String, String), &Spend)| of == goal && spend.added.at > from;
        self.spends.iter().filter(counts).map(|(_, spend)| spend.slots).sum()
    }

    /// Without a goal, a turn is of the first that has it.
    fn goal_of(&self, named: GoalName, turn: &str) -> Result<String, Refused> {
        match self.spends.keys().find(|(_, booked)| named.is_none() && booked == turn) {
            Some((goal, _)) => Ok(goal.clone()),
            None => self.goal(named),
        }
    }
}
