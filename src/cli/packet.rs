use super::{Said, history::Since, report::escaped_in_markdown as text};
use crate::{
    domain::id::GoalId,
    error::Error,
    ops::{
        self, Ctx,
        packet::{Needed, Packet},
    },
    text::{Answer, Count},
};

#[derive(Debug, clap::Args)]
pub(super) struct ReviewPacket {
    /// The goal; all of them when left out
    #[arg(long, value_name = "GOAL")]
    goal_id: Option<GoalId>,
    /// From when on: `7d`, `90m`, a day such as `2026-11-30` (in UTC), or a time such as `2026-11-30T12:00:00Z`; when a person last did something here when left out
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
}

impl ReviewPacket {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        let since = self.since.map(|since| since.at(ctx.now));
        let packet = ops::packet::packet(ctx, self.goal_id.as_ref(), since)?;
        Ok(Said::read(&packet, markdown(&packet)))
    }
}

/// So many lines of a kind are told; the rest is counted.
const MOST: usize = 20;

fn slots(slots: u32) -> Count {
    Count(usize::try_from(slots).unwrap_or(usize::MAX), "slot")
}

/// `left_out` are behind the lines.
fn section(
    out: &mut String,
    heading: &str,
    lines: impl ExactSizeIterator<Item = String>,
    left_out: usize,
    see: &str,
) {
    let all = lines.len() + left_out;
    if all == 0 {
        return;
    }
    out.push_str(&format!("\n## {heading}\n\n"));
    lines.take(MOST).for_each(|line| out.push_str(&format!("- {line}\n")));
    if all > MOST {
        out.push_str(&format!("- and {} more: `{see}`\n", all - MOST));
    }
}

/// The packet for a pull request: what a person has to do comes first, and what is empty is left out.
fn markdown(packet: &Packet) -> String {
    let looked = match &packet.looked {
        Some(looked) => format!(", when a person last did something here ({})", text(looked)),
        None => String::new(),
    };
    let (needed, chores) = (packet.needed.len(), packet.chores.len());
    let mut out = String::from("# Review\n\n");
    out.push_str(&match (needed, chores) {
        (0, 0) => "**Nothing waits for you.**".to_owned(),
        (needed, 0) => format!("**{} for you.**", waits(Count(needed, "decision"))),
        (0, chores) => format!("**{} for you.**", waits(Count(chores, "todo"))),
        (needed, chores) => {
            format!("**{} and {} wait for you.**", Count(needed, "decision"), Count(chores, "todo"))
        }
    });
    let left_out = &packet.left_out;
    let done = packet.goals.iter().map(|goal| goal.done).sum();
    let risks = Count(packet.risks.len() + left_out.risks, "risk");
    let pieces = Count(packet.evidence.len() + left_out.evidence, "piece");
    let spend = &packet.spend;
    out.push_str(&format!(
        " {risks}, {} done, {pieces} of evidence, {} used in {}.\n",
        Count(done, "todo"),
        slots(spend.slots),
        Count(spend.turns, "turn")
    ));
    out.push_str(&format!("Since {}{looked}.\n", packet.since));
    section(&mut out, "Decisions needed", packet.needed.iter().map(question), 0, "loopx gate list");
    section(
        &mut out,
        "Only you can do",
        packet.chores.iter().map(|chore| {
            let needed = match chore.needed_by {
                0 => String::new(),
                needed => format!("; needed by {}", Count(needed, "todo")),
            };
            let (id, priority) = (&chore.todo, chore.priority.word());
            format!("**{}** ({id}, {priority}{needed}): `loopx todo done {id}`", text(chore.title.as_str()))
        }),
        0,
        "loopx todo list --for person",
    );
    section(
        &mut out,
        "Risks",
        packet
            .risks
            .iter()
            .map(|risk| format!("**{}**: {} (`{}`)", risk.kind.word(), text(&risk.says), risk.next)),
        left_out.risks,
        "loopx review-packet --json",
    );
    section(
        &mut out,
        "Done",
        packet.outcomes.iter().map(|outcome| {
            let dropped = if outcome.state == "done" { "" } else { "dropped: " };
            let note = outcome.note.as_ref().and_then(|note| note.as_str().lines().next());
            let note = note.map(|note| format!(": {}", text(note))).unwrap_or_default();
            let (id, title, by) = (&outcome.todo, text(outcome.title.as_str()), text(outcome.by.name()));
            format!("{dropped}{title} ({id}, by {by}){note}")
        }),
        left_out.outcomes,
        "loopx todo list --all",
    );
    section(
        &mut out,
        "Decided",
        packet.decisions.iter().map(|decision| {
            let (question, by) = (text(decision.question.as_str()), text(&decision.by));
            format!("{question} **{}** ({}, by {by})", text(&decision.decision), decision.gate)
        }),
        left_out.decisions,
        "loopx gate list --all",
    );
    section(
        &mut out,
        "Evidence",
        packet.evidence.iter().map(|seen| {
            let about = seen.about.as_ref().map(|about| format!(" on {about}")).unwrap_or_default();
            format!("{}{about}: {} (by {})", seen.id, text(&seen.says), text(seen.by.name()))
        }),
        left_out.evidence,
        "loopx evidence list",
    );
    if !packet.goals.is_empty() {
        out.push_str("\n## Goals\n\n| goal | objective | state | done | open | criteria | slots in the window |\n|---|---|---|---|---|---|---|\n");
    }
    for goal in &packet.goals {
        let (id, objective, state) = (&goal.id, text(goal.objective.as_str()), goal.state);
        let criteria = format!("{}/{}", goal.answered, goal.criteria);
        let window = format!("{}/{}", goal.quota.spent_slots, goal.quota.allowed_slots);
        let (done, open) = (goal.done, goal.open);
        out.push_str(&format!(
            "| {id} | {objective} | {state} | {done} | {open} | {criteria} | {window} |\n"
        ));
    }
    if spend.agents.len() > 1 {
        let agents = spend.agents.iter().map(|(agent, used)| format!("{} {}", text(agent), slots(*used)));
        out.push_str(&format!("\nSlots: {}.\n", agents.collect::<Vec<_>>().join(", ")));
    }
    out.push_str(&format!("\nState {}, read at {}.\n", &packet.tip[..10], packet.until));
    out
}

fn waits(count: Count) -> String {
    let verb = if count.0 == 1 { "waits" } else { "wait" };
    format!("{count} {verb}")
}

fn question(needed: &Needed) -> String {
    let blocks: Vec<_> = needed.blocks.iter().map(|act| act.word()).collect();
    let mut holds = format!("holds back {}", blocks.join(", "));
    if needed.todos > 0 {
        holds.push_str(&format!(", and {}", Count(needed.todos, "todo")));
    }
    let standing = if needed.standing { ", for the commit that is checked out" } else { "" };
    let mut line = format!(
        "**{}** ({}, asked by {} {} ago{standing}; {holds})\n  {}",
        text(needed.question.as_str()),
        needed.gate,
        text(needed.asked_by.name()),
        needed.waits_seconds,
        Answer(&needed.gate, &needed.options),
    );
    needed.evidence.iter().for_each(|seen| line.push_str(&format!("\n  - {}", text(seen))));
    line
}
