use super::Said;
use crate::{
    error::{Error, INSTALL, Kind},
    ops::{self, Ctx},
    process::Process,
    text::Count,
};

#[derive(Debug, clap::Args)]
pub(super) struct Doctor {
    /// Put right what can be put right without losing anything
    #[arg(long)]
    fix: bool,
}

impl Doctor {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let report = ops::doctor::diagnose(ctx, self.fix, &super::host::homes(process))?;
        let mut text = String::new();
        for finding in &report.findings {
            match &finding.cure {
                Some(advice) if advice.starts_with(INSTALL) => {
                    text.push_str(&format!("{}\n  {advice}\n", finding.problem));
                }
                Some(cure) => text.push_str(&format!("{}\n  run `{cure}`\n", finding.problem)),
                None => text.push_str(&format!("put right: {}\n", finding.problem)),
            }
        }
        let open = report.findings.iter().filter(|finding| !finding.fixed).count();
        text.push_str(&match open {
            0 => "all is well\n".to_owned(),
            open => format!("{} found\n", Count(open, "problem")),
        });
        let code = if open == 0 { 0 } else { Kind::Refused.exit_code() };
        Ok(Said { code, ..Said::read(&report, text) })
    }
}
