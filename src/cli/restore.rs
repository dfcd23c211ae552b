use super::{Said, sync::listed, verify::Progress};
use crate::{
    caller::Challenge,
    error::Error,
    ops::{self, Ctx},
    process::Process,
    store::{restore::WayBack, sync::Taken},
    text::Count,
};

#[derive(Debug, clap::Args)]
pub(super) struct Restore {
    /// The commit of the state to go back to
    #[arg(long, value_name = "COMMIT")]
    to: String,
}

impl Restore {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let progress = Progress::new(process);
        let looked = ops::restore::look(ctx, &self.to, |checked, total| progress.tell(checked, total));
        progress.end();
        let way = looked?;
        let line = format!("`{}` is at {}", way.branch(), &way.to()[..10]);
        if way.is_there() {
            return Ok(Said::done(&ops::restore::is_there(&way), &line));
        }
        let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge(&way))?;
        Ok(Said::done(&ops::restore::restore(ctx, &way, &proven)?, &format!("{line} again")))
    }
}

fn challenge(way: &WayBack) -> Challenge {
    let (branch, to) = (way.branch(), way.to());
    let short = to[..10].to_owned();
    let mut shows = match way.from() {
        Some(from) => format!("`{branch}` is at {}.\n", &from[..10]),
        None => format!("`{branch}` is not there.\n"),
    };
    match &way.lost {
        Some(lost) => shows.push_str(&commits("lost with it", lost)),
        None => shows.push_str("What is there cannot be read, so what is lost with it cannot be told.\n"),
    }
    shows.push_str(&commits("there again", &way.regained));
    if !way.is_left {
        shows.push_str(&format!(
            "Only git's reflog knows {short}: it is not among what loopx left last. Look at it first: git log --patch {short}\n"
        ));
    }
    shows.push_str(&format!("Each commit up to {short} is a legal mutation.\n"));
    Challenge {
        what: format!("restore `{branch}` to {short}"),
        shows,
        word: short,
        command: format!("loopx restore --to {to}"),
    }
}

pub(super) fn commits(what: &str, commits: &[Taken]) -> String {
    let title = format!("{what}, {}", Count(commits.len(), "commit"));
    listed(&title, &commits.iter().collect::<Vec<_>>())
}
