//! A goal: what a loop is for, and whether it may go on.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    actor::{Actor, Person, Stamp},
    id::{EvidenceId, GoalId},
    refusal::Refusal,
    text::{Note, Title},
    time::Timestamp,
};

/// One objective with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// What is to be reached.
    pub objective: Title,
    /// How one will see that it is reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done_when: Vec<Title>,
    /// What was found to answer criteria, in their order, at most one for each. It is for a person to say that it does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub met: Vec<Met>,
    /// Optional parts of loopx that a person switched on.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub features: BTreeSet<Feature>,
    pub added: Stamp,
    pub state: GoalState,
}

/// The evidence that a criterion is met.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Met {
    /// Its number; the first is 1.
    pub criterion: usize,
    pub evidence: EvidenceId,
}

/// Whether the loop may go on, each state with its own facts.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub enum GoalState {
    // Braces on purpose: with a tag, serde accepts any unknown field beside a variant without them.
    Active {},
    Paused { by: Actor, at: Timestamp, reason: Option<Note> },
    Achieved { by: Person, at: Timestamp, evidence: Vec<EvidenceId> },
    Abandoned { by: Person, at: Timestamp, reason: Note },
}

impl GoalState {
    /// The state in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Active {} => "active",
            Self::Paused { .. } => "paused",
            Self::Achieved { .. } => "achieved",
            Self::Abandoned { .. } => "abandoned",
        }
    }
}

/// An optional part of loopx: off until a person switches it on for a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// The graph of what was explored.
    Explore,
    /// Research with metrics.
    Research,
    /// Lessons from human judgement.
    Memory,
}

impl Feature {
    /// Every feature there is.
    pub const ALL: [Self; 3] = [Self::Explore, Self::Research, Self::Memory];

    /// As it is written on the command line and in the record.
    pub fn word(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Research => "research",
            Self::Memory => "memory",
        }
    }
}

impl Goal {
    /// A new goal, active from the start.
    pub fn new(objective: Title, done_when: Vec<Title>, added: Stamp) -> Self {
        let (met, features) = (Vec::new(), BTreeSet::new());
        Self { objective, done_when, met, features, added, state: GoalState::Active {} }
    }

    /// Work may be added to the goal and done for it.
    pub fn must_be_active(&self, id: &GoalId) -> Result<(), Refusal> {
        match &self.state {
            GoalState::Active {} => Ok(()),
            state => Err(Refusal::GoalNotActive { goal: id.clone(), state: state.word() }),
        }
    }

    /// Stops the loop for a while. Anybody may.
    pub fn pause(&self, id: &GoalId, stamp: &Stamp, reason: Option<Note>) -> Result<Self, Refusal> {
        self.must_be_active(id)?;
        let state = GoalState::Paused { by: stamp.by.clone(), at: stamp.at, reason };
        Ok(Self { state, ..self.clone() })
    }

    /// Lets the loop go on. The audit and the ops ask for a person.
    pub fn resume(&self, id: &GoalId) -> Result<Self, Refusal> {
        match &self.state {
            GoalState::Paused { .. } => Ok(Self { state: GoalState::Active {}, ..self.clone() }),
            GoalState::Active {} => Err(Refusal::GoalNotPaused { goal: id.clone() }),
            state => Err(Refusal::GoalNotActive { goal: id.clone(), state: state.word() }),
        }
    }

    /// What was found to answer criterion `number`.
    pub fn met(&self, number: usize) -> Option<&EvidenceId> {
        self.met.iter().find(|met| met.criterion == number).map(|met| &met.evidence)
    }

    /// The criteria that nothing was found for, with their numbers.
    pub fn unmet(&self) -> Vec<(usize, &Title)> {
        let numbered = self.done_when.iter().enumerate().map(|(at, criterion)| (at + 1, criterion));
        numbered.filter(|(number, _)| self.met(*number).is_none()).collect()
    }

    /// It says when it is reached, and something was found for each criterion.
    pub fn is_accepted(&self) -> bool {
        !self.done_when.is_empty() && self.unmet().is_empty()
    }

    /// Puts down what answers criteria, or, with `None`, that nothing does any more. Anybody may: whether it is enough is
    /// what a person says when they achieve the goal.
    pub fn meet(&self, id: &GoalId, found: &[(usize, Option<EvidenceId>)]) -> Result<Self, Refusal> {
        self.must_be_active(id)?;
        let mut met: BTreeMap<usize, EvidenceId> =
            self.met.iter().map(|met| (met.criterion, met.evidence.clone())).collect();
        for (number, evidence) in found {
            if !(1..=self.done_when.len()).contains(number) {
                let (goal, number, of) = (id.clone(), *number, self.done_when.len());
                return Err(Refusal::NoCriterion { goal, number, of });
            }
            match evidence {
                Some(evidence) => drop(met.insert(*number, evidence.clone())),
                None => drop(met.remove(number)),
            }
        }
        let met = met.into_iter().map(|(criterion, evidence)| Met { criterion, evidence }).collect();
        Ok(Self { met, ..self.clone() })
    }

    /// Ends it as reached: `evidence` has one piece for each criterion, in their order.
    pub fn achieve(
        &self,
        id: &GoalId,
        by: Person,
        at: Timestamp,
        evidence: Vec<Option<EvidenceId>>,
    ) -> Result<Self, Refusal> {
        self.must_not_be_over(id)?;
        let given = |at: usize| evidence.get(at).cloned().flatten();
        let missing: Vec<_> = (self.done_when.iter().enumerate())
            .filter(|(at, _)| given(*at).is_none())
            .map(|(at, criterion)| (at + 1, criterion.clone()))
            .collect();
        if !missing.is_empty() {
            return Err(Refusal::GoalUnmet { goal: id.clone(), missing });
        }
        let evidence = evidence.into_iter().flatten().collect();
        Ok(Self { state: GoalState::Achieved { by, at, evidence }, ..self.clone() })
    }

    /// Ends it as given up.
    pub fn abandon(&self, id: &GoalId, by: Person, at: Timestamp, reason: Note) -> Result<Self, Refusal> {
        self.must_not_be_over(id)?;
        Ok(Self { state: GoalState::Abandoned { by, at, reason }, ..self.clone() })
    }

    fn must_not_be_over(&self, id: &GoalId) -> Result<(), Refusal> {
        match &self.state {
            GoalState::Active {} | GoalState::Paused { .. } => Ok(()),
            GoalState::Achieved { by, .. } | GoalState::Abandoned { by, .. } => Err(Refusal::GoalAlready {
                goal: id.clone(),
                state: self.state.word(),
                by: Actor::Person(by.clone()),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::{at, goal_id, stamp};

    #[test]
    fn each_turn_of_a_goal_is_legal_or_refused() {
        let id = goal_id("ship");
        let ann: Person = "Ann <ann@example.test>".parse().unwrap();
        let done_when = vec!["it builds".parse().unwrap(), "it is fast".parse().unwrap()];
        let goal = Goal::new("Ship it".parse().unwrap(), done_when, stamp("agent:a", "08:00"));
        let e = |id: &str| Some(id.parse::<EvidenceId>().unwrap());
        let achieve = |goal: &Goal, evidence| goal.achieve(&id, ann.clone(), at("10:00"), evidence);
        let abandon = |goal: &Goal| goal.abandon(&id, ann.clone(), at("10:00"), "no".parse().unwrap());

        let paused = goal.pause(&id, &stamp("agent:a", "09:00"), None).unwrap();
        assert_eq!(paused.resume(&id).unwrap(), goal);
        assert!(matches!(
            paused.pause(&id, &stamp("agent:a", "09:00"), None),
            Err(Refusal::GoalNotActive { .. })
        ));
        assert!(matches!(goal.resume(&id), Err(Refusal::GoalNotPaused { .. })));
        let missing = vec![(2, "it is fast".parse().unwrap())];
        assert_eq!(achieve(&goal, vec![e("e-0001")]), Err(Refusal::GoalUnmet { goal: id.clone(), missing }));
        assert!(achieve(&goal, vec![None, e("e-0001")]).is_err());
        let achieved = achieve(&paused, vec![e("e-0001"), e("e-0001")]).unwrap();
        for over in [achieved, abandon(&goal).unwrap()] {
            assert!(matches!(over.meet(&id, &[]), Err(Refusal::GoalNotActive { .. })));
            assert!(matches!(abandon(&over), Err(Refusal::GoalAlready { .. })));
            assert!(matches!(achieve(&over, vec![]), Err(Refusal::GoalAlready { .. })));
            assert!(over.resume(&id).is_err() && over.pause(&id, &stamp("agent:a", "09:00"), None).is_err());
        }
    }

    #[test]
    fn criteria_are_answered_one_by_one_and_an_answer_can_be_taken_back() {
        let id = goal_id("ship");
        let done_when = vec!["it builds".parse().unwrap(), "it is fast".parse().unwrap()];
        let goal = Goal::new("Ship it".parse().unwrap(), done_when, stamp("agent:a", "08:00"));
        let e = |id: &str| Some(id.parse::<EvidenceId>().unwrap());
        let numbers = |goal: &Goal| goal.unmet().iter().map(|(number, _)| *number).collect::<Vec<_>>();
        assert_eq!((numbers(&goal), goal.is_accepted()), (vec![1, 2], false));
        let half = goal.meet(&id, &[(2, e("e-0002"))]).unwrap();
        assert_eq!((numbers(&half), half.met(2).cloned()), (vec![1], e("e-0002")));
        let whole = half.meet(&id, &[(1, e("e-0001")), (2, e("e-0003"))]).unwrap();
        assert!(whole.is_accepted() && whole.met(2).cloned() == e("e-0003"));
        assert_eq!(numbers(&whole.meet(&id, &[(1, None)]).unwrap()), [1]);
        for number in [0, 3] {
            let none = Refusal::NoCriterion { goal: id.clone(), number, of: 2 };
            assert_eq!(goal.meet(&id, &[(number, None)]), Err(none));
        }
        let plain = Goal { done_when: vec![], ..goal };
        assert!(!plain.is_accepted(), "nobody said when it is reached");
    }
}
