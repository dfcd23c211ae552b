use super::{Said, approval};
use crate::{
    caller::Challenge,
    domain::{
        id::ApproverId,
        policy::{Amendment, Approval, Policy as Rules},
        time::Timestamp,
    },
    error::{Error, Kind},
    ops::{self, Ctx, policy::PolicyView},
    process::Process,
    text::Table,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Policy {
    /// Show the rules
    Show,
    /// Change a rule. Asking for more is anybody's; asking for less is a person's, and an approver's where answers are signed
    Set {
        /// `approval=signed`: who answers has to sign. `receipt=required`: what is pushed or published has to be, to the byte,
        /// what a check succeeded on
        #[arg(value_name = "RULE", value_parser = RULES)]
        rule: String,
        /// The key to sign with; `loopx.approvalKey` of git's configuration when left out
        #[arg(long, value_name = "KEY")]
        sign_with: Option<String>,
    },
}

const RULES: [&str; 4] = ["approval=signed", "approval=terminal", "receipt=required", "receipt=not-required"];

#[derive(Debug, clap::Subcommand)]
pub(super) enum Approver {
    /// Let somebody's signature count (a person only; where answers are signed, an approver only)
    Add {
        /// What they are called here
        name: ApproverId,
        /// Their public key, or the file that has it
        #[arg(long, value_name = "PUBLIC KEY")]
        key: String,
        /// From this day on it does not count any more
        #[arg(long, value_name = "YYYY-MM-DD")]
        valid_before: Option<String>,
        /// The key to sign with; `loopx.approvalKey` of git's configuration when left out
        #[arg(long, value_name = "KEY")]
        sign_with: Option<String>,
    },
    /// List them
    List,
    /// Let somebody's signature count no more (a person only; where answers are signed, an approver only)
    Remove {
        /// What they are called here
        name: ApproverId,
        /// The key to sign with; `loopx.approvalKey` of git's configuration when left out
        #[arg(long, value_name = "KEY")]
        sign_with: Option<String>,
    },
}

impl Policy {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Show => {
                let view = ops::policy::show(ctx)?;
                Ok(Said::read(&view, say(ctx, &view)))
            }
            Self::Set { rule, sign_with } => {
                let amendment = match rule.as_str() {
                    "approval=signed" => Amendment::Approval(Approval::Signed),
                    "approval=terminal" => Amendment::Approval(Approval::Terminal),
                    "receipt=required" => Amendment::Receipt(true),
                    _ => Amendment::Receipt(false),
                };
                let command = format!("loopx policy set {rule}");
                amend(process, ctx, &amendment, command, sign_with.as_deref())
            }
        }
    }
}

impl Approver {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Add { name, key: typed, valid_before, sign_with } => {
                let command = format!("loopx approver add {name} --key <file>.pub");
                let key = ops::policy::key(ctx, &typed)?;
                let valid_before = valid_before.as_deref().map(day).transpose()?;
                let amendment = Amendment::Add { name, key, valid_before };
                amend(process, ctx, &amendment, command, sign_with.as_deref())
            }
            Self::List => {
                let view = ops::policy::show(ctx)?;
                Ok(Said::read(&view, approvers(ctx, &view.policy).to_string()))
            }
            Self::Remove { name, sign_with } => {
                let command = format!("loopx approver remove {name}");
                amend(process, ctx, &Amendment::Remove(name), command, sign_with.as_deref())
            }
        }
    }
}

/// The beginning of a day, in UTC.
fn day(typed: &str) -> Result<Timestamp, Error> {
    format!("{typed}T00:00:00Z").parse().map_err(|_| {
        let shown = crate::domain::text::shown(typed, 40);
        Error::new(Kind::Usage, format!("`{shown}` is not a day (expected one such as `2027-12-31`)"))
    })
}

fn amend(
    process: &Process,
    ctx: &Ctx,
    amendment: &Amendment,
    command: String,
    key: Option<&str>,
) -> Result<Said, Error> {
    let policy = ops::policy::plan(ctx, amendment)?;
    let proven = match amendment.loosens() {
        false => None,
        true => {
            let does = match amendment {
                // Whose key it is can only be told from the key.
                Amendment::Add { .. } => amendment.line(),
                _ => ops::policy::said(amendment),
            };
            let challenge = Challenge {
                what: ops::policy::said(amendment),
                shows: format!("{}This will {does}\n", say(ctx, &PolicyView { policy })),
                word: amendment.word().to_owned(),
                command,
            };
            let statement =
                |policy: &Rules, nonce: &str| ops::policy::statement(ctx, policy, amendment, nonce);
            Some(approval::prove(process, ctx, &challenge, key, statement)?)
        }
    };
    let done = ops::policy::amend(ctx, amendment, proven.as_ref())?;
    let text = match amendment {
        Amendment::Approval(Approval::Signed) => "answers have to be signed".to_owned(),
        Amendment::Approval(Approval::Terminal) => "answers are given at a terminal".to_owned(),
        Amendment::Receipt(true) => "what goes out needs a receipt".to_owned(),
        Amendment::Receipt(false) => "what goes out needs no receipt".to_owned(),
        Amendment::Add { name, .. } => format!("the signature of {name} counts"),
        Amendment::Remove(name) => format!("the signature of {name} counts no more"),
    };
    Ok(Said::done(&done, &text))
}

fn say(ctx: &Ctx, view: &PolicyView) -> String {
    let policy = &view.policy;
    let mut table = Table::default();
    table.row([&"repository", &policy.repository]);
    table.row([&"approval", &policy.approval.word()]);
    table.row([&"receipt", &if policy.require_receipt { "required" } else { "not required" }]);
    if let Some(changed) = &policy.changed {
        let by = format!("by {}, {}", changed.by.name(), super::status::ago(ctx, changed.at));
        table.row([&"changed", &by]);
    }
    format!("policy\n{table}{}", approvers(ctx, policy))
}

/// Approvers, a line each.
fn approvers(ctx: &Ctx, policy: &Rules) -> Table {
    let mut table = Table::default();
    for (name, entry) in &policy.approvers {
        let state = match (entry.removed, entry.valid_before) {
            (Some(removed), _) => format!("removed {}", super::status::ago(ctx, removed)),
            (None, Some(until)) if until <= ctx.now => "expired".to_owned(),
            (None, Some(until)) => format!("counts before {until}"),
            (None, None) => "counts".to_owned(),
        };
        table.row([name, &state, &entry.key]);
    }
    table
}
