use super::Said;
use crate::{
    caller::Challenge,
    domain::{
        actor::Proven,
        goal::GoalState,
        id::{EvidenceId, GoalId},
        quota::Grant,
        text::{Note, Title},
    },
    error::{Error, Kind},
    ops::{
        self, Ctx,
        goal::{GoalView, Over, QuotaView},
    },
    process::Process,
    text::{Count, Table},
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Goal {
    /// Add a goal
    Add {
        /// What is to be reached
        objective: Title,
        /// Its id; made from the objective when left out
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// How one will see that it is reached; may be given several times
        #[arg(long, value_name = "TEXT")]
        done_when: Vec<Title>,
    },
    /// List all goals
    List,
    /// Show one goal
    Show {
        /// The goal; may be left out when one is active
        goal: Option<GoalId>,
    },
    /// Say which evidence answers which criterion of a goal
    Meet {
        /// The goal; may be left out when one is active
        goal: Option<GoalId>,
        /// The evidence that criterion number N is met; may be given several times
        #[arg(long, value_name = "N=EVIDENCE", value_parser = met, required_unless_present = "unmet")]
        met: Vec<(usize, EvidenceId)>,
        /// The number of a criterion that nothing answers after all; may be given several times
        #[arg(long, value_name = "N")]
        unmet: Vec<usize>,
    },
    /// Stop the loop of a goal for a while
    Pause {
        /// The goal; may be left out when one is active
        goal: Option<GoalId>,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<Note>,
    },
    /// Let the loop of a paused goal go on (a person at a terminal only)
    Resume {
        /// The goal
        goal: GoalId,
    },
    /// End a goal as reached: no question open, each criterion answered (a person at a terminal only)
    Achieve {
        /// The goal; may be left out when one is active
        goal: Option<GoalId>,
        /// The evidence that criterion number N is met; may be given several times
        #[arg(long, value_name = "N=EVIDENCE", value_parser = met)]
        met: Vec<(usize, EvidenceId)>,
    },
    /// End a goal as given up (a person at a terminal only)
    Abandon {
        /// The goal; may be left out when one is active
        goal: Option<GoalId>,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Note,
    },
}

fn met(text: &str) -> Result<(usize, EvidenceId), String> {
    let (number, evidence) = text.split_once('=').ok_or("expected the form `1=e-7k3q`")?;
    let number = number.parse().map_err(|_| "expected the number of a criterion before the `=`")?;
    Ok((number, evidence.parse::<EvidenceId>().map_err(|bad| bad.to_string())?))
}

/// Asks the person to type the goal's id, with what it is about in front of them.
fn confirm(process: &Process, ctx: &Ctx, over: &Over, verb: &str, more: &str) -> Result<Proven, Error> {
    let mut shows = format!("goal {}: {}\n", over.goal, over.objective);
    for (criterion, evidence) in &over.criteria {
        let evidence = evidence.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        shows.push_str(&format!("  done when {criterion}{evidence}\n"));
    }
    if over.open > 0 {
        shows.push_str(&format!("  {} not closed\n", Count(over.open, "todo")));
    }
    let challenge = Challenge {
        what: format!("{verb} goal `{}`", over.goal),
        shows,
        word: over.goal.to_string(),
        command: format!("loopx goal {verb} {}{more}", over.goal),
    };
    ctx.caller.prove(process, &ctx.owner()?, &challenge)
}

impl Goal {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Add { objective, goal_id, done_when } => {
                let done = ops::goal::add(ctx, goal_id, objective, done_when)?;
                let text = format!("added goal {}: {}", done.value.id, done.value.goal.objective);
                Ok(Said::done(&done, &text))
            }
            Self::List => {
                let goals = ops::goal::list(ctx)?;
                let mut table = Table::default();
                for view in &goals.goals {
                    table.row([&view.id, &view.goal.state.word(), &view.goal.objective]);
                }
                Ok(Said::read(&goals, table.to_string()))
            }
            Self::Meet { goal, met, unmet } => {
                if let Some((number, _)) = met.iter().find(|(number, _)| unmet.contains(number)) {
                    return Err(Error::new(
                        Kind::Usage,
                        format!("criterion {number} is both met and not met"),
                    )
                    .hint(format!("say one of `--met {number}=<evidence>` and `--unmet {number}`")));
                }
                let done = ops::goal::meet(ctx, goal.as_ref(), &met, &unmet)?;
                let GoalView { id, goal, .. } = &done.value;
                let (all, open) = (goal.done_when.len(), goal.unmet().len());
                let said = format!("goal {id}: {} of {all} criteria are answered", all - open);
                let said = Said::done(&done, &said);
                let next = match open {
                    0 => format!("{}next: a person ends it with `loopx goal achieve {id}`\n", said.text),
                    _ => said.text.clone(),
                };
                Ok(Said { text: next, ..said })
            }
            Self::Pause { goal, reason } => {
                let done = ops::goal::pause(ctx, goal.as_ref(), reason.as_ref())?;
                Ok(Said::done(&done, &format!("paused goal {}", done.value.id)))
            }
            Self::Resume { goal } => {
                let over = ops::goal::over(ctx, Some(&goal), None)?;
                let proven = confirm(process, ctx, &over, "resume", "")?;
                let done = ops::goal::resume(ctx, Some(&over.goal), &proven)?;
                Ok(Said::done(&done, &format!("resumed goal {}", done.value.id)))
            }
            Self::Achieve { goal, met } => {
                let over = ops::goal::over(ctx, goal.as_ref(), Some(&met))?;
                let more: String = met.iter().map(|(number, id)| format!(" --met {number}={id}")).collect();
                let proven = confirm(process, ctx, &over, "achieve", &more)?;
                let done = ops::goal::achieve(ctx, Some(&over.goal), &met, &proven)?;
                Ok(Said::done(&done, &format!("achieved goal {}", done.value.id)))
            }
            Self::Abandon { goal, reason } => {
                let over = ops::goal::over(ctx, goal.as_ref(), None)?;
                let proven = confirm(process, ctx, &over, "abandon", " --reason \"<why>\"")?;
                let done = ops::goal::abandon(ctx, Some(&over.goal), &reason, &proven)?;
                Ok(Said::done(&done, &format!("abandoned goal {}", done.value.id)))
            }
            Self::Show { goal } => {
                let view = ops::goal::show(ctx, goal.as_ref())?;
                Ok(Said::read(&view, say(ctx, &view)))
            }
        }
    }
}

fn say(ctx: &Ctx, view: &GoalView) -> String {
    let goal = &view.goal;
    let mut text = format!("goal {}: {}\n", view.id, goal.objective);
    let added = format!("by {}, {}", goal.added.by.name(), super::status::ago(ctx, goal.added.at));
    let mut table = Table::default();
    let ago = |at| super::status::ago(ctx, at);
    let because = |reason: &str| format!(": {}", reason.replace('\n', " "));
    let state = match &goal.state {
        GoalState::Active {} => "active".to_owned(),
        GoalState::Paused { by, at, reason } => {
            let reason = reason.as_ref().map(|reason| because(reason.as_str())).unwrap_or_default();
            format!("paused by {}, {}{reason}", by.name(), ago(*at))
        }
        GoalState::Achieved { by, at, .. } => format!("achieved by {}, {}", by.name(), ago(*at)),
        GoalState::Abandoned { by, at, reason } => {
            format!("abandoned by {}, {}{}", by.name(), ago(*at), because(reason.as_str()))
        }
    };
    table.row([&"state", &state]);
    table.row([&"added", &added]);
    for (at, criterion) in goal.done_when.iter().enumerate() {
        let evidence = match &goal.state {
            GoalState::Achieved { evidence, .. } => evidence.get(at),
            _ => goal.met(at + 1),
        };
        let evidence = evidence.map(|id| format!(" ({id})")).unwrap_or_default();
        table.row([&"done when", &format!("{criterion}{evidence}")]);
    }
    quota(&mut table, &view.quota);
    text.push_str(&table.to_string());
    text
}

/// The rows that say what a limit comes to.
pub(super) fn quota(table: &mut Table, quota: &QuotaView) {
    let window = format!("{} h in slots of {} min", quota.window_hours, quota.slot_minutes);
    let slots = format!("{} of {} used", quota.spent_slots, quota.allowed_slots);
    table.row([&"compute", &quota.compute]);
    table.row([&"window", &window]);
    if let Some(cap) = quota.cap_slots {
        table.row([&"cap", &Count(cap as usize, "slot")]);
    }
    table.row([&"slots", &slots]);
    for Grant { slots, until, by, reason, .. } in &quota.grants {
        let (slots, reason) = (Count(*slots as usize, "slot"), reason.as_str().replace('\n', " "));
        table.row([&"granted", &format!("{slots} until {until} by {}: {reason}", by.name())]);
    }
}
