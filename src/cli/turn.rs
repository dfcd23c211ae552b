use super::{NOT_NOW, Said};
use crate::{
    domain::{
        id::{Capability, EvidenceId, GoalId, TurnId},
        text::Note,
        time::Seconds,
        todo::LEASE,
        turn::Outcome,
    },
    error::Error,
    ops::{
        self, Ctx,
        turn::{Context, Finish},
    },
    process::Process,
    text::Count,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Turn {
    /// Decide, claim, and be told what it is about, in one step; once for each turn, however often it is run
    Begin {
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// How the turn is called; a new name when left out
        #[arg(long, value_name = "TURN")]
        turn_id: Option<TurnId>,
        /// What the host can do; `shell` when left out
        #[arg(long, value_name = "CAPABILITY", default_value = "shell")]
        capability: Vec<Capability>,
        /// How long the turn may take, such as `45m`; `todo renew` makes it longer
        #[arg(long, value_name = "TIME", value_parser = super::todo::lease)]
        lease: Option<Seconds>,
    },
    /// Say what came of a turn: evidence, what becomes of its todo, and what it used; once for each turn
    End {
        /// The turn
        #[arg(long, value_name = "TURN")]
        turn_id: TurnId,
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// What came of it
        #[arg(long, value_parser = ["progress", "completed", "blocked", "nothing"])]
        outcome: String,
        /// What whoever goes on should know
        #[arg(long, value_name = "TEXT")]
        summary: Note,
        /// Evidence for it; may be given several times
        #[arg(long, value_name = "EVIDENCE")]
        evidence: Vec<EvidenceId>,
        /// How many slots it used; what was put aside when left out, and none for `nothing`
        #[arg(long, value_name = "SLOTS", value_parser = clap::value_parser!(u32).range(0..=10_000))]
        spend: Option<u32>,
    },
}

impl Turn {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Begin { goal_id, turn_id, capability, lease } => {
                let can = capability.into_iter().collect();
                let done = ops::turn::begin(ctx, goal_id.as_ref(), turn_id, can, lease.unwrap_or(LEASE))?;
                let begun = &done.value;
                let said = Said::done(&done, "");
                let lost =
                    begun.lost.iter().map(|turn| format!("ended turn {turn}, which nobody had ended\n"));
                let lost: String = lost.collect();
                match (&begun.turn, &begun.instead) {
                    (Some(turn), _) => Ok(Said { text: format!("{}{lost}", told(turn)), ..said }),
                    (None, instead) => {
                        let why = instead.as_ref().map(super::quota::say).unwrap_or_default();
                        Ok(Said { text: format!("{why}{lost}"), code: NOT_NOW, ..said })
                    }
                }
            }
            Self::End { turn_id, goal_id, outcome, summary, evidence, spend } => {
                let outcome = match outcome.as_str() {
                    "progress" => Outcome::Progress,
                    "completed" => Outcome::Completed,
                    "blocked" => Outcome::Blocked,
                    _ => Outcome::Nothing,
                };
                let evidence = evidence.into_iter().collect();
                let mut finish = Finish { outcome, summary, evidence, slots: spend, ran: None };
                if let Some((id, check)) = ops::turn::to_run(ctx, goal_id.as_ref(), &turn_id, &finish)? {
                    finish.ran = Some(super::todo::checked(process, ctx, &id, &check)?);
                }
                let done = ops::turn::end(ctx, goal_id.as_ref(), &turn_id, &finish)?;
                let ended = &done.value.spend;
                let end = ended.course.as_ref().and_then(|course| course.end.as_ref());
                let word = end.map_or("", |end| end.outcome.word());
                let used = Count(ended.slots as usize, "slot");
                Ok(Said::done(&done, &format!("ended turn {turn_id}: {word}, {used} used")))
            }
        }
    }
}

/// The turn in words.
fn told(turn: &Context) -> String {
    let mut said = match &turn.todo {
        Some(work) => format!("turn {}: work on {}: {}\n", turn.id, work.id, work.todo.title),
        None => format!("turn {}: think of the next todos\n", turn.id),
    };
    match &turn.ended {
        Some(end) => said.push_str(&format!("ended  {}, at {}\n", end.outcome.word(), end.at)),
        None => said.push_str(&format!("until  {}\n", turn.until)),
    }
    said.push_str(&format!("goal   {}\n", turn.objective));
    turn.done_when.iter().for_each(|done| said.push_str(&format!("  done when {done}\n")));
    turn.gates.iter().for_each(|gate| said.push_str(&format!("gate   {}: {}\n", gate.id, gate.question)));
    for left in &turn.handoff {
        let summary = left.end.summary.as_ref().map_or("", |note| note.as_str().lines().next().unwrap_or(""));
        said.push_str(&format!("before {} ({}): {summary}\n", left.turn, left.end.outcome.word()));
    }
    if let Some(note) = &turn.note {
        let by = note.written.by.name();
        said.push_str(&format!("note by {by}\n{}", crate::text::SetIn(note.text.as_str())));
    }
    if turn.ended.is_none() {
        let next = format!("loopx turn end --turn-id {} --outcome <outcome> --summary \"<what>\"", turn.id);
        said.push_str(&format!("next: {next}\n"));
    }
    said
}
