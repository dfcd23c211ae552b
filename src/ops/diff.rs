//! What changed between two states, in sentences.

use serde::{Serialize, Serializer};

use super::{Ctx, evidence::brief};
use crate::{
    domain::{
        audit::Step,
        change::Record,
        gate::{Answer, Gate, GateState},
        policy::{Approval, Policy},
        quota::Quota,
        todo::{Todo, TodoState},
    },
    error::{Error, Kind},
    store::{self, history::Steps},
};

/// The sentences about what differs between two states, in the order of what they are about. They are made when they are told:
/// there may be more of them than anybody wants to hold.
///
/// JSON: `from`, `to` (commits), `changes[]` (`record`, `says`).
#[derive(Serialize)]
pub struct Difference<'c> {
    from: String,
    to: String,
    #[serde(rename = "changes", serialize_with = "as_sentences")]
    steps: Steps<'c>,
}

/// What became of one record.
#[derive(Debug, Serialize)]
pub struct Says {
    pub record: String,
    pub says: String,
}

/// What changed in `range`, such as `loopx/state~1..loopx/state`; an end that is left out is the newest state.
pub fn diff<'c>(ctx: &'c Ctx, range: &str) -> Result<Difference<'c>, Error> {
    let branch = ctx.store.git().branch()?;
    let log = format!("run `git log --oneline {branch}` for those that have one");
    let (from, to) = range.split_once("..").filter(|(_, to)| !to.starts_with('.')).ok_or_else(|| {
        Error::new(Kind::Usage, "expected two states, with `..` between them").hint(format!(
            "run `loopx diff {branch}~1..`: what is left out behind the dots is the newest state"
        ))
    })?;
    let tip = ctx.store.read()?.tip();
    let commit = |end: &str| match end {
        "" => Ok::<_, Error>(tip.clone()),
        end => ctx.store.state_at(end).map(|snapshot| snapshot.tip()).map_err(|problem| match problem {
            store::Error::Unreadable { .. } => {
                let end = crate::domain::text::shown(end, 100);
                Error::new(Kind::NotFound, format!("`{end}` names a commit that has no loopx state"))
                    .hint(log.clone())
            }
            unknown @ store::Error::UnknownRevision(_) => {
                Error::new(Kind::NotFound, unknown.to_string()).hint(log.clone())
            }
            other => other.into(),
        }),
    };
    let (from, to) = (commit(from)?, commit(to)?);
    let steps = ctx.store.steps(Some(&from), &to)?;
    Ok(Difference { from, to, steps })
}

impl Difference<'_> {
    /// Tells the sentences one by one.
    pub fn each(&self, tell: impl FnMut(Says)) -> Result<(), Error> {
        each(&self.steps, tell)
    }
}

fn each(steps: &Steps<'_>, mut tell: impl FnMut(Says)) -> Result<(), Error> {
    Ok(steps.each(|step| {
        let record = step.after.as_ref().or(step.before.as_ref());
        record.into_iter().for_each(|record| tell(Says { record: record.name(), says: sentence(&step) }));
    })?)
}

fn as_sentences<S: Serializer>(steps: &Steps<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    super::listed(serializer, |tell| each(steps, tell))
}

/// What became of a record.
fn sentence(step: &Step) -> String {
    let name = |record: &Record| record.name().replacen('/', " ", 1);
    match (&step.before, &step.after) {
        (None, None) => String::new(),
        (Some(before), None) => format!("{} is gone", name(before)),
        (None, Some(after)) => added(&name(after), after),
        (Some(before), Some(after)) => changed(&name(after), before, after),
    }
}

fn added(name: &str, record: &Record) -> String {
    match record {
        Record::Policy(_) => "the rules of the repository were set".into(),
        Record::Quotas(_) => "the quota was set".into(),
        Record::Goal(_, goal) => format!("{name} was added: {}", goal.objective),
        Record::Gate(_, _, gate) => {
            let question = &gate.question;
            let opened = format!("{name} was opened by {}: \"{question}\"", gate.asked.by.name());
            match &gate.state {
                GateState::Open { given, reopened: None } if given.is_empty() => opened,
                GateState::Standing { answers, .. } if answers.is_empty() => opened,
                _ => format!("{opened}, and {}", answer(gate)),
            }
        }
        Record::Todo(_, _, todo) => match &todo.state {
            TodoState::Open { .. } => format!("{name} was added: {}", todo.title),
            _ => format!("{name} was added and {}: {}", work(todo), todo.title),
        },
        Record::Evidence(_, _, evidence) => {
            format!("{name} was added by {}: {}", evidence.added.by.name(), brief(&evidence.what))
        }
        Record::Spend(goal, _, spend) => {
            let slots = crate::text::Count(usize::try_from(spend.slots).unwrap_or(usize::MAX), "slot");
            format!("turn {} used {slots} of goal {goal}", spend.turn)
        }
        Record::Handoff(_, handoff) => format!("{name} was written by {}", handoff.written.by.name()),
        Record::Bypass(_, bypass) => {
            format!(
                "{name} was noticed: a push to {} on {} went round the hook",
                bypass.push.ref_, bypass.push.remote
            )
        }
    }
}

fn changed(name: &str, before: &Record, after: &Record) -> String {
    match (before, after) {
        (Record::Gate(_, _, before), Record::Gate(_, _, after)) if before.state != after.state => {
            format!("{name} {}: \"{}\"", answer(after), after.question)
        }
        (Record::Todo(_, _, before), Record::Todo(_, _, after)) if before.state != after.state => {
            format!("{name} {}: {}", work(after), after.title)
        }
        (Record::Goal(_, before), Record::Goal(_, after)) if before.state != after.state => {
            format!("{name} is {} now, and was {}", after.state.word(), before.state.word())
        }
        (Record::Goal(_, before), Record::Goal(_, after)) if before.features != after.features => {
            let words = |on: bool| {
                let (from, to) = if on { (before, after) } else { (after, before) };
                let new = to.features.difference(&from.features);
                new.map(|feature| {
                    format!("{} was switched {}", feature.word(), if on { "on" } else { "off" })
                })
                .collect::<Vec<_>>()
            };
            format!("{name}: {}", [words(true), words(false)].concat().join(", "))
        }
        (Record::Quotas(before), Record::Quotas(after)) => {
            let of = |quota: Option<&Quota>| quota.cloned().unwrap_or_default();
            let slots = |quota: Option<&Quota>| of(quota).allowed();
            let goals = after.keys().filter(|goal| before.get(*goal) != after.get(*goal));
            let said = goals.map(|goal| {
                let (was, is) = (slots(before.get(goal)), slots(after.get(goal)));
                let granted = of(after.get(goal));
                let known = of(before.get(goal));
                match granted.grants().iter().rfind(|grant| !known.grants().contains(grant)) {
                    Some(grant) => {
                        let slots = crate::text::Count(grant.slots as usize, "slot");
                        let (by, until) = (grant.by.name(), grant.until);
                        format!("{by} granted {slots} to goal {goal} until {until}")
                    }
                    None => format!("the quota of goal {goal} is {is} slots now, and was {was}"),
                }
            });
            said.collect::<Vec<_>>().join("; ")
        }
        (Record::Policy(before), Record::Policy(after)) => rules(before, after),
        (Record::Handoff(..), Record::Handoff(_, after)) => {
            format!("{name} was written anew by {}", after.written.by.name())
        }
        (Record::Goal(_, before), Record::Goal(_, after)) if before.met != after.met => {
            let (open, all) = (after.unmet().len(), after.done_when.len());
            format!("{name}: {} of {all} criteria are answered", all - open)
        }
        (Record::Spend(_, _, before), Record::Spend(_, _, after)) if before.voided != after.voided => {
            let by = after.voided.as_ref().map_or("nobody", |voided| voided.by.name());
            format!("what turn {} used was voided by {by}", after.turn)
        }
        (Record::Bypass(..), Record::Bypass(_, after)) if after.is_acknowledged() => {
            format!("{name} was acknowledged")
        }
        _ => format!("{name} was changed"),
    }
}

/// What the rules ask for that they did not, or not any more.
fn rules(before: &Policy, after: &Policy) -> String {
    let mut said: Vec<String> = Vec::new();
    if before.approval != after.approval {
        said.push(match after.approval {
            Approval::Signed => "answers have to be signed now".into(),
            Approval::Terminal => "answers are given at a terminal now".into(),
        });
    }
    if before.require_receipt != after.require_receipt {
        said.push(match after.require_receipt {
            true => "what goes out needs a receipt now".into(),
            false => "what goes out needs no receipt any more".into(),
        });
    }
    let changed = after.approvers.iter().filter(|(name, entry)| before.approvers.get(*name) != Some(*entry));
    said.extend(changed.map(|(name, entry)| match entry.removed {
        None => format!("the signature of {name} counts now"),
        Some(_) => format!("the signature of {name} counts no more"),
    }));
    if said.is_empty() { "the rules of the repository were changed".into() } else { said.join("; ") }
}

/// What became of a question, after its name.
fn answer(gate: &Gate) -> String {
    match &gate.state {
        GateState::Open { given, reopened } => match (given.last(), reopened) {
            (Some(yes), _) => {
                let (number, needed) = (given.len(), gate.approvals.number());
                format!("got yes {number} of {needed}, `{}` by {}", yes.decision, yes.by.name())
            }
            (None, Some(again)) => format!("waits again: {} took the no back", again.by.name()),
            (None, None) => "was opened".into(),
        },
        GateState::Standing { answers, .. } => match answers.last() {
            Some(Answer { decision, by, seen, .. }) => {
                let commit = seen.commit.as_deref().map(|commit| &commit[..commit.len().min(10)]);
                let about = commit.map(|commit| format!(" about {commit}")).unwrap_or_default();
                format!("was answered `{decision}` by {}{about}", by.name())
            }
            None => "was opened".into(),
        },
        GateState::Resolved { decision, by, .. } => format!("was answered `{decision}` by {}", by.name()),
        GateState::Withdrawn { by, .. } => format!("was withdrawn by {}", by.name()),
    }
}

/// What became of work, after its name.
fn work(todo: &Todo) -> String {
    match &todo.state {
        TodoState::Open { .. } => "is free again".into(),
        TodoState::Claimed { by, .. } => format!("was claimed by {}", by.name()),
        TodoState::Blocked { on: Some(gate), .. } => format!("was blocked by gate {gate}"),
        TodoState::Blocked { by, .. } => format!("was blocked by {}", by.name()),
        TodoState::Done { by, .. } => format!("was done by {}", by.name()),
        TodoState::Dropped { by, .. } => format!("was dropped by {}", by.name()),
    }
}
