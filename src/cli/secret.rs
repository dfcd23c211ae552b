use super::Said;
use crate::{
    caller::Challenge,
    domain::{policy::SecretDigest, text::Note},
    error::Error,
    ops::{self, Ctx},
    process::Process,
    text::Table,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Secret {
    /// Let a value through that looks like a secret and is none (a person at a terminal only)
    Allow {
        /// Its digest, as the refusal shows it
        digest: SecretDigest,
        /// Why it is none
        #[arg(long, value_name = "TEXT")]
        reason: Note,
    },
    /// List the kinds of secrets that are known
    Kinds,
    /// List the values that are let through, by their digests
    List,
    /// Let a value through no longer
    Forbid {
        /// Its digest
        digest: SecretDigest,
    },
}

impl Secret {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Allow { digest, reason } => {
                let challenge = Challenge {
                    what: "let through what looks like a secret".into(),
                    shows: format!("Value with the digest {digest}\n{reason}\n"),
                    word: digest.challenge().to_owned(),
                    command: format!("loopx secret allow {digest} --reason <why>"),
                };
                let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
                let done = ops::secret::allow(ctx, &digest, &reason, &proven)?;
                Ok(Said::done(&done, &format!("{}… is let through", digest.challenge())))
            }
            Self::Kinds => {
                let kinds = ops::secret::kinds();
                let text: String = kinds.kinds.iter().map(|kind| format!("{kind}\n")).collect();
                Ok(Said::read(&kinds, text))
            }
            Self::List => {
                let list = ops::secret::list(ctx)?;
                let mut table = Table::default();
                for allowed in &list.allowed {
                    let by = format!("by {}, {}", allowed.by.name(), super::status::ago(ctx, allowed.at));
                    let reason = allowed.reason.as_str().lines().next().unwrap_or_default();
                    table.row([&allowed.digest, &by, &reason]);
                }
                Ok(Said::read(&list, table.to_string()))
            }
            Self::Forbid { digest } => {
                let done = ops::secret::forbid(ctx, &digest)?;
                Ok(Said::done(&done, &format!("{}… is let through no longer", digest.challenge())))
            }
        }
    }
}
