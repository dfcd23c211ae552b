use super::Said;
use crate::{
    caller::Challenge,
    error::Error,
    ops::{self, Ctx, policy::PolicyView},
    process::Process,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Policy {
    /// Show the rules of this repository
    Show,
    /// Say whether what is pushed or published needs a receipt: that exactly these files were checked
    RequireReceipt {
        /// `off` takes a person
        #[arg(value_name = "on|off", action = clap::ArgAction::Set, value_parser = on_or_off)]
        required: bool,
    },
}

fn on_or_off(word: &str) -> Result<bool, &'static str> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected `on` or `off`"),
    }
}

impl Policy {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Show => {
                let view = ops::policy::show(ctx)?;
                Ok(Said::read(&view, said(&view)))
            }
            Self::RequireReceipt { required } => {
                let proven = match ops::policy::loosens(ctx, required)? {
                    false => None,
                    true => {
                        let challenge = Challenge {
                            what: "let out what was not checked".into(),
                            shows: "This will let pushes and publishing go without a receipt\n".into(),
                            word: "off".into(),
                            command: "loopx policy require-receipt off".into(),
                        };
                        Some(ctx.caller.prove(process, &ctx.owner()?, &challenge)?)
                    }
                };
                let done = ops::policy::require_receipt(ctx, required, proven.as_ref())?;
                let unchanged = if done.commit.is_none() { "nothing changed\n" } else { "" };
                let text = format!("{unchanged}{}", said(&done.value));
                let warnings = done.warnings.iter().map(crate::store::Warning::with_cure).collect();
                Ok(Said { warnings, ..Said::read(&done, text) })
            }
        }
    }
}

fn said(view: &PolicyView) -> String {
    let needs = if view.require_receipt { "a receipt" } else { "no receipt" };
    format!("a person answers at a terminal; what goes out needs {needs}\n")
}
