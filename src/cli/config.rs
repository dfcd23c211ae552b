use clap::builder::PossibleValuesParser;

use super::Said;
use crate::{
    caller::Challenge,
    domain::{
        goal::Feature,
        id::GoalId,
        quota::{Cap, Share},
    },
    error::Error,
    ops::{
        self, Ctx,
        goal::{Configuration, GoalView},
    },
    process::Process,
    text::Table,
};

#[derive(Debug, clap::Args)]
pub(super) struct ConfigureGoal {
    /// The goal; may be left out when one is active
    #[arg(long, value_name = "GOAL")]
    goal_id: Option<GoalId>,
    /// Record that a feature is switched on (a person only); this version has nothing that looks at it yet
    #[arg(long, value_name = "FEATURE", value_parser = features())]
    enable: Vec<String>,
    /// Record that a feature is switched off
    #[arg(long, value_name = "FEATURE", value_parser = features())]
    disable: Vec<String>,
    /// Share of the window's slots, 0 to 1; more than now takes a person
    #[arg(long, value_name = "SHARE")]
    quota_compute: Option<Share>,
    /// Length of the window in hours
    #[arg(long, value_name = "HOURS")]
    quota_window_hours: Option<u32>,
    /// Length of a slot in minutes
    #[arg(long, value_name = "MINUTES")]
    quota_slot_minutes: Option<u32>,
    /// At most so many slots of a window, whatever the share comes to; `none` takes the cap away
    #[arg(long, value_name = "SLOTS")]
    quota_slots: Option<Cap>,
}

fn features() -> PossibleValuesParser {
    PossibleValuesParser::new(Feature::ALL.map(Feature::word))
}

fn chosen(words: &[String]) -> impl Iterator<Item = Feature> {
    Feature::ALL.into_iter().filter(|feature| words.iter().any(|word| word == feature.word()))
}

/// What is to be known of features before they are switched on, and after.
fn unseen<'a>(features: impl IntoIterator<Item = &'a Feature>) -> String {
    let words: Vec<_> = features.into_iter().map(|feature| format!("`{}`", feature.word())).collect();
    match &words[..] {
        [] => String::new(),
        words => format!("{} is recorded; this version has nothing that looks at it yet\n", words.join(", ")),
    }
}

impl ConfigureGoal {
    /// The command line that asks for the same.
    fn command(&self, goal: &GoalId) -> String {
        let mut command = format!("loopx configure-goal --goal-id {goal}");
        let mut option =
            |name: &str, value: &dyn std::fmt::Display| command.push_str(&format!(" --{name} {value}"));
        self.enable.iter().for_each(|feature| option("enable", feature));
        self.disable.iter().for_each(|feature| option("disable", feature));
        self.quota_compute.iter().for_each(|share| option("quota-compute", share));
        self.quota_window_hours.iter().for_each(|hours| option("quota-window-hours", hours));
        self.quota_slot_minutes.iter().for_each(|minutes| option("quota-slot-minutes", minutes));
        self.quota_slots.iter().for_each(|cap| option("quota-slots", cap));
        command
    }

    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let configuration = Configuration {
            enable: chosen(&self.enable).collect(),
            disable: chosen(&self.disable).collect(),
            compute: self.quota_compute,
            window_hours: self.quota_window_hours,
            slot_minutes: self.quota_slot_minutes,
            slots: self.quota_slots,
        };
        let plan = ops::goal::plan(ctx, self.goal_id.as_ref(), &configuration)?;
        let proven = match &plan.loosens[..] {
            [] => None,
            loosens => {
                let goal = &plan.goal;
                let shows = format!(
                    "This will\n{}{}",
                    loosens.iter().map(|line| format!("  {line}\n")).collect::<String>(),
                    unseen(&configuration.enable)
                );
                let challenge = Challenge {
                    what: loosens.join(" and "),
                    shows,
                    word: goal.to_string(),
                    command: self.command(goal),
                };
                Some(ctx.caller.prove(process, &ctx.owner()?, &challenge)?)
            }
        };
        let done = ops::goal::configure(ctx, &plan.goal, &configuration, proven.as_ref())?;
        let text = format!("{}{}", say(&done.value), unseen(&configuration.enable));
        let unchanged = done.commit.is_none();
        let said = Said::read(&done, if unchanged { format!("nothing changed\n{text}") } else { text });
        Ok(Said { warnings: done.warnings.iter().map(crate::store::Warning::with_cure).collect(), ..said })
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct GoalConfig {
    /// The goal; may be left out when one is active
    #[arg(long, value_name = "GOAL")]
    goal_id: Option<GoalId>,
}

impl GoalConfig {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        let view = ops::goal::show(ctx, self.goal_id.as_ref())?;
        Ok(Said::read(&view, say(&view)))
    }
}

fn say(view: &GoalView) -> String {
    let features: Vec<_> = view.goal.features.iter().map(|feature| feature.word()).collect();
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
    let mut table = Table::default();
    table.row([&"features", &features]);
    super::goal::quota(&mut table, &view.quota);
    format!("goal {}\n{table}", view.id)
}
