//! What two clones did to the same state since they last agreed, and whether both can be kept.

use std::collections::BTreeSet;

use super::id::GoalId;

/// What a mutation touched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touched {
    /// One record, by its name; with the goal that it lies in, since other goals may have one of that name.
    Record { goal: Option<GoalId>, name: String },
    /// Everything in a goal, which came as a whole.
    Goal(GoalId),
}

impl Touched {
    /// For people.
    pub fn name(&self) -> String {
        match self {
            Self::Record { name, .. } => name.clone(),
            Self::Goal(goal) => format!("goal/{goal}"),
        }
    }

    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Goal(whole), Self::Record { goal: Some(goal), .. } | Self::Goal(goal))
            | (Self::Record { goal: Some(goal), .. }, Self::Goal(whole)) => whole == goal,
            (Self::Record { .. }, Self::Record { .. }) => self == other,
            (Self::Goal(_), Self::Record { goal: None, .. })
            | (Self::Record { goal: None, .. }, Self::Goal(_)) => false,
        }
    }
}

/// The names of what both sides touched. Empty when the mutations of one can be made again on top of the other's.
pub fn clashes(ours: &BTreeSet<Touched>, theirs: &BTreeSet<Touched>) -> BTreeSet<String> {
    let met = |touched: &&Touched| match touched {
        // Only a goal that came as a whole meets something else than itself.
        Touched::Record { .. } if theirs.contains(*touched) => true,
        touched => theirs.iter().any(|other| touched.meets(other)),
    };
    ours.iter().filter(met).map(Touched::name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `gate/a` of the goal `ship`; `other:gate/a`; `:quota` of no goal; `other:*` for the whole goal.
    fn touched(names: &[&str]) -> BTreeSet<Touched> {
        let one = |name: &&str| {
            let (goal, name) = name.split_once(':').unwrap_or(("ship", name));
            match (goal, name) {
                (goal, "*") => Touched::Goal(goal.parse().unwrap()),
                ("", name) => Touched::Record { goal: None, name: name.into() },
                (goal, name) => Touched::Record { goal: Some(goal.parse().unwrap()), name: name.into() },
            }
        };
        names.iter().map(one).collect()
    }

    #[test]
    fn what_only_one_side_touched_stands_in_nobodys_way() {
        let check = |ours: &[&str], theirs: &[&str], both: &[&str]| {
            let found: Vec<String> = clashes(&touched(ours), &touched(theirs)).into_iter().collect();
            assert_eq!(found, both, "{ours:?} {theirs:?}");
        };
        check(&[], &[], &[]);
        check(&["gate/a"], &["gate/b"], &[]);
        check(&["gate/a", "todo/t-1"], &["todo/t-1", "gate/b"], &["todo/t-1"]);
        check(&["gate/a"], &["other:gate/a"], &[]);
        check(&[":quota"], &[":quota"], &["quota"]);
        check(&["other:*"], &["gate/a", ":quota"], &[]);
        check(&["other:*"], &["other:gate/a"], &["goal/other"]);
        check(&["other:gate/a"], &["other:*"], &["gate/a"]);
        check(&["other:*"], &["other:*"], &["goal/other"]);
    }
}
