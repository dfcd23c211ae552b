use super::{NOT_NOW, Said};
use crate::{
    caller::Challenge,
    domain::{
        decision::Decision,
        id::{Capability, EvidenceId, GoalId, TurnId},
        quota::Burst,
        text::Note,
        time::{Seconds, Timestamp},
    },
    error::{Error, Kind},
    ops::{
        self, Ctx,
        goal::QuotaView,
        quota::{Booking, QuotaStatus, ShouldRun},
    },
    process::Process,
    text::{Count, Table},
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Quota {
    /// Whether the loop may go on now, and with what
    ShouldRun {
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// What the host can do; `shell` when left out
        #[arg(long, value_name = "CAPABILITY", default_value = "shell")]
        capability: Vec<Capability>,
        /// Show each rule, whether it applies, and the records that make it so
        #[arg(long)]
        explain: bool,
    },
    /// Book slots for a turn; once for each turn, however often it is run
    SpendSlot {
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// The turn that used them; a new name when left out
        #[arg(long, value_name = "TURN")]
        turn_id: Option<TurnId>,
        /// How many
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        slots: u32,
        /// What they paid for; may be given several times
        #[arg(long, value_name = "EVIDENCE")]
        evidence: Vec<EvidenceId>,
    },
    /// Take what a turn booked out of the count (a person at a terminal only)
    Void {
        /// The turn, or the id of the booking
        #[arg(value_name = "TURN")]
        booking: Booking,
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Note,
    },
    /// Grant slots on top of the limit for a while (a person at a terminal only)
    #[command(group = clap::ArgGroup::new("end").required(true))]
    Grant {
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// How many
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(Burst::MOST)))]
        slots: u32,
        /// When the grant ends, such as `2026-11-30T18:00:00Z`
        #[arg(long, value_name = "TIME", group = "end")]
        until: Option<Timestamp>,
        /// After how long it ends, such as `2h`
        #[arg(long = "for", value_name = "TIME", group = "end")]
        for_: Option<Seconds>,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Note,
    },
    /// Which of the active goals should get the next slot
    Plan {
        /// What the host can do; `shell` when left out
        #[arg(long, value_name = "CAPABILITY", default_value = "shell")]
        capability: Vec<Capability>,
    },
    /// How much of the window is used
    Status {
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
    },
}

impl Quota {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::ShouldRun { goal_id, capability, explain } => {
                let can = capability.into_iter().collect();
                let answer = ops::quota::should_run(ctx, goal_id.as_ref(), can, explain)?;
                let code = match (&answer.decision, answer.should_run) {
                    (None, _) => Kind::Distrusted.exit_code(),
                    (Some(_), true) => 0,
                    (Some(_), false) => NOT_NOW,
                };
                Ok(Said { code, ..Said::read(&answer, say(&answer)) })
            }
            Self::SpendSlot { goal_id, turn_id, slots, evidence } => {
                let done = ops::quota::spend_slot(ctx, goal_id.as_ref(), turn_id, slots, &evidence)?;
                let (spend, quota) = (&done.value.spend, &done.value.quota);
                if let (None, Some(voided)) = (&done.commit, &spend.voided) {
                    let said = format!("turn {} was voided by {} already\n", spend.turn, voided.by.name());
                    return Ok(Said::read(&done, said));
                }
                let booked = format!("booked {} for {}", Count(spend.slots as usize, "slot"), spend.turn);
                let said = Said::done(&done, &booked);
                Ok(left(said, quota))
            }
            Self::Void { booking, goal_id, reason } => {
                let seen = ops::quota::voidable(ctx, goal_id.as_ref(), &booking)?;
                let spend = &seen.spend;
                let slots = Count(spend.slots as usize, "slot");
                let (by, ago) = (spend.added.by.name(), super::status::ago(ctx, spend.added.at));
                let mut shows =
                    format!("turn {} booked {slots} of goal {}, by {by}, {ago}\n", spend.turn, seen.goal);
                if let Some(end) = spend.course.as_ref().and_then(|course| course.end.as_ref()) {
                    shows.push_str(&format!("  it came to: {}\n", end.outcome.word()));
                }
                shows.extend(spend.evidence.iter().map(|id| format!("  it paid for {id}\n")));
                let challenge = Challenge {
                    what: format!("void what turn `{}` booked", spend.turn),
                    shows,
                    word: spend.turn.to_string(),
                    command: format!("loopx quota void {} --reason \"<why>\"", spend.turn),
                };
                let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
                let done = ops::quota::void(ctx, &seen, &reason, &proven)?;
                let said = format!("voided {slots} that {} booked", spend.turn);
                Ok(left(Said::done(&done, &said), &done.value.quota))
            }
            Self::Grant { goal_id, slots, until, for_, reason } => {
                let end = until.or_else(|| for_.map(|length| ctx.now.plus(length)));
                let burst = Burst { slots, until: end.unwrap_or(ctx.now) };
                let status = ops::quota::grantable(ctx, goal_id.as_ref(), burst, &reason)?;
                let goal = &status.goal;
                let slots = Count(burst.slots as usize, "slot");
                let shows = format!("{}  this would grant {slots} more until {}\n", of(&status), burst.until);
                let end = match for_ {
                    Some(length) => format!("--for {}m", length.0.div_ceil(60)),
                    None => format!("--until {}", burst.until),
                };
                let challenge = Challenge {
                    what: format!("grant {slots} to goal `{goal}`"),
                    shows,
                    word: burst.word(),
                    command: format!(
                        "loopx quota grant --goal-id {goal} --slots {} {end} --reason \"<why>\"",
                        burst.slots
                    ),
                };
                let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
                let done = ops::quota::grant(ctx, goal, burst, &reason, &proven)?;
                let said = format!("granted {slots} to goal {goal} until {}", burst.until);
                Ok(left(Said::done(&done, &said), &done.value.quota))
            }
            Self::Plan { capability } => {
                let plan = ops::quota::plan(ctx, capability.into_iter().collect())?;
                let mut table = Table::default();
                for line in &plan.goals {
                    let used = format!("{} of {}", line.spent_slots, line.allowed_slots);
                    let behind = match line.deficit {
                        0 => "even".to_owned(),
                        1.. => format!("{} behind", line.deficit),
                        _ => format!("{} ahead", -line.deficit),
                    };
                    let window = bar(line.spent_slots, line.allowed_slots);
                    table.row([&line.goal, &window, &used, &behind, &line.answer]);
                }
                let head = match &plan.next {
                    Some(goal) => format!(
                        "the next slot is for goal {goal}\nnext: loopx quota should-run --goal-id {goal}\n"
                    ),
                    None if plan.goals.is_empty() => "no goal is active\n".to_owned(),
                    None => "no goal can use a slot now\n".to_owned(),
                };
                let code = if plan.next.is_some() { 0 } else { NOT_NOW };
                Ok(Said { code, ..Said::read(&plan, format!("{head}{table}")) })
            }
            Self::Status { goal_id } => {
                let status = ops::quota::status(ctx, goal_id.as_ref())?;
                Ok(Said::read(&status, of(&status)))
            }
        }
    }
}

/// Adds how much is left.
fn left(said: Said, quota: &QuotaView) -> Said {
    let left = quota.allowed_slots.saturating_sub(quota.spent_slots);
    let text = format!("{}{} left in this window\n", said.text, Count(left as usize, "slot"));
    Said { text, ..said }
}

/// A limit and how much of it is used.
fn of(status: &QuotaStatus) -> String {
    let quota = &status.quota;
    let mut table = Table::default();
    super::goal::quota(&mut table, quota);
    if let Some(free_at) = status.free_at {
        table.row([&"next slot", &free_at]);
    }
    let (used, of) = (quota.spent_slots, quota.allowed_slots);
    format!("goal {}: {} {used} of {}\n{table}", status.goal, bar(used, of), Count(of as usize, "slot"))
}

/// `used` of `all` as a bar that any terminal shows. It is full only when all is used, and empty only when nothing is.
fn bar(used: u32, all: u32) -> String {
    const WIDTH: u64 = 12;
    let (used, all) = (u64::from(used), u64::from(all));
    let filled = match used {
        0 => 0,
        _ if used >= all => WIDTH,
        _ => (used * WIDTH / all).clamp(1, WIDTH - 1),
    };
    let count = |length: u64| usize::try_from(length).unwrap_or_default();
    format!("[{}{}]", "#".repeat(count(filled)), "-".repeat(count(WIDTH - filled)))
}

/// One line that says yes or no and what, then why and the next command.
pub(super) fn say(answer: &ShouldRun) -> String {
    let pick = answer.todo.as_ref().map(|pick| format!("{}: {}", pick.id, pick.title)).unwrap_or_default();
    let question = answer
        .gates
        .first()
        .map(|gate| format!("user gate pending: \"{}\"", gate.question))
        .unwrap_or_default();
    let what = match &answer.decision {
        Some(Decision::Continue { .. }) => format!("go on with {pick}"),
        Some(Decision::Run { .. }) => format!("work on {pick}"),
        Some(Decision::RunOther { .. }) => format!("work on {pick} ({question})"),
        Some(Decision::Poll { gates: None, .. }) => format!("look at {pick}"),
        Some(Decision::Poll { gates: Some(_), .. }) => format!("look at {pick} ({question})"),
        Some(Decision::Ask { .. }) => question,
        Some(Decision::AskForTodo { .. }) => "a person has something to do".to_owned(),
        Some(Decision::AskForPlan { .. }) => "a person should look at the plan".to_owned(),
        Some(Decision::Wait { .. }) => "wait".to_owned(),
        Some(Decision::Replan { .. }) => "think of the next todos".to_owned(),
        Some(Decision::Stop { .. }) => "stop".to_owned(),
        None => "the state cannot be trusted".to_owned(),
    };
    let mut said = format!("{} – {what}\nwhy: {}\nnext: {}\n", answer.should_run, answer.why, answer.next);
    if !answer.rules.is_empty() {
        said.push_str("rules, of which the first that applies decides\n");
    }
    for rule in &answer.rules {
        let mark = match (rule.decides, rule.applies) {
            (true, _) => "=>",
            (false, true) => "yes",
            (false, false) => "no",
        };
        let more = if rule.more > 0 { format!(" and {} more", rule.more) } else { String::new() };
        let records = match &rule.records[..] {
            [] => String::new(),
            records => format!(" ({}{more})", records.join(", ")),
        };
        said.push_str(&format!("  {mark:<3}  {}{records}\n", rule.says));
    }
    said
}
