use super::Said;
use crate::{
    caller::Challenge,
    domain::{
        bypass::{BypassState, Push},
        id::BypassId,
        text::Note,
    },
    error::Error,
    ops::{
        self, Ctx,
        bypass::{BypassView, Bypasses},
    },
    process::Process,
    text::{Ago, Count, Table},
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Bypass {
    /// List the pushes that went round the hook and that nobody has acknowledged
    List {
        /// Acknowledged ones, too
        #[arg(long)]
        all: bool,
    },
    /// Show one of them
    Show {
        /// The bypass, by its full id
        bypass: BypassId,
    },
    /// Take notice of one (a person at a terminal only)
    Acknowledge {
        /// The bypass, by its full id; the oldest that nobody has acknowledged when left out
        bypass: Option<BypassId>,
        /// What came of it
        #[arg(long, value_name = "TEXT")]
        note: Option<Note>,
    },
}

impl Bypass {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::List { all } => {
                let found = ops::bypass::list(ctx, all, true)?;
                let blind = found.blind.as_deref().map(blind);
                let cure = found.cure().map(|cure| next(&cure)).unwrap_or_default();
                let said = Said::read(&found, format!("{}{cure}", table(ctx, &found)));
                Ok(Said { warnings: blind.into_iter().collect(), ..said })
            }
            Self::Show { bypass } => {
                let view = ops::bypass::show(ctx, &bypass)?;
                Ok(Said::read(&view, say(ctx, &view, true)))
            }
            Self::Acknowledge { bypass, note } => {
                let asked = ops::bypass::asked(ctx, bypass.as_ref())?;
                let id = &asked.view.id;
                let mut command = "loopx bypass acknowledge".to_owned();
                let mut what = "acknowledge a push round the hook".to_owned();
                if asked.is_recorded {
                    command.push_str(&format!(" {id}"));
                    what = format!("acknowledge bypass `{id}`");
                }
                let shows = say(ctx, &asked.view, asked.is_recorded);
                let challenge = Challenge { what, shows, word: id.to_string(), command };
                let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
                let done = ops::bypass::acknowledge(ctx, &asked, &proven, note.as_ref())?;
                Ok(Said::done(&done, &format!("bypass {id} is acknowledged")))
            }
        }
    }
}

/// What an answer of any other command is accompanied by.
pub(super) fn warnings(ctx: &Ctx, found: &Bypasses) -> Vec<String> {
    let pushes: Vec<&Push> = found.pushes().collect();
    let gated = if pushes.iter().any(|push| !push.gates.is_empty()) { " while a gate was open" } else { "" };
    let said = match &pushes[..] {
        [] => None,
        [push] => {
            let Push { remote, ref_, .. } = push;
            let ago = Ago(push.at.age(ctx.now));
            Some(format!("a push to `{ref_}` on `{remote}` went round the hook{gated}, {ago}"))
        }
        _ => Some(format!("pushes to {} went round the hook{gated}", Count(pushes.len(), "place"))),
    };
    let said = said.map(|said| format!("{said} (see `loopx bypass list`)"));
    said.into_iter().chain(found.blind.as_deref().map(blind)).collect()
}

fn blind(why: &str) -> String {
    format!("whether a push went round the hook cannot be seen: {why}")
}

/// The lines that `status` has of them; nothing when there are none.
pub(super) fn lines(ctx: &Ctx, found: &Bypasses) -> String {
    let count = found.pushes().count();
    if count == 0 {
        return found.blind.as_deref().map(|why| format!("{}\n", blind(why))).unwrap_or_default();
    }
    let head = match count {
        1 => "A PUSH WENT ROUND THE HOOK, and nobody has acknowledged it".to_owned(),
        _ => format!("PUSHES TO {count} PLACES WENT ROUND THE HOOK, and nobody has acknowledged them"),
    };
    let next = found.cure().map(|cure| next(&cure)).unwrap_or_default();
    let table = table(ctx, found).to_string();
    let shown: String = table.split_inclusive('\n').take(super::status::SHOWN).collect();
    format!("{head}\n{shown}{}{next}", super::status::more(count))
}

fn next(cure: &str) -> String {
    format!("  a person acknowledges it with `{cure}`\n")
}

/// A line each.
fn table(ctx: &Ctx, found: &Bypasses) -> Table {
    let mut table = Table::default();
    let recorded = found.bypasses.iter().map(|view| {
        let state = if view.bypass.is_acknowledged() { "acknowledged" } else { "open" };
        (view.id.to_string(), state, &view.bypass.push)
    });
    let unrecorded = found.unrecorded.iter().map(|push| ("-".to_owned(), "not recorded yet", push));
    for (id, state, push) in recorded.chain(unrecorded) {
        let ago = Ago(push.at.age(ctx.now));
        let (place, commit) = (place(push), short(&push.commit));
        let gates = gates(push);
        let how = format!("{}{}", push.way.words(), if gates.is_empty() { "" } else { ", against " });
        table.row([&id, &state, &place, &commit, &ago, &format!("{how}{gates}")]);
    }
    table
}

fn place(push: &Push) -> String {
    let more = match push.refs.get() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} {}{more}", push.remote, push.ref_)
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

fn gates(push: &Push) -> String {
    push.gates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn say(ctx: &Ctx, view: &BypassView, is_recorded: bool) -> String {
    let (push, noted) = (&view.bypass.push, &view.bypass.noted);
    let ago = |at| super::status::ago(ctx, at);
    let mut table = Table::default();
    table.row([&"to", &place(push)]);
    table.row([&"commit", &push.commit]);
    table.row([&"pushed", &format!("{}{}", ago(push.at), times(push))]);
    table.row([&"way", &push.way.words()]);
    let gates = gates(push);
    table.row([&"gates", if gates.is_empty() { &"none held pushes back" } else { &gates }]);
    match is_recorded {
        true => table.row([&"noted", &format!("by {}, {}", noted.by.name(), ago(noted.at))]),
        false => table.row([&"noted", &"not yet: it will be first, in a commit of its own"]),
    }
    match &view.bypass.state {
        BypassState::Open {} => table.row([&"state", &"open"]),
        BypassState::Acknowledged { by, at, note, .. } => {
            table.row([&"state", &format!("acknowledged by {}, {}", by.name(), ago(*at))]);
            if let Some(note) = note {
                table.row([&"note", &note.as_str().replace('\n', " ")]);
            }
        }
    }
    format!("bypass {}: a push went round the hook\n{table}", view.id)
}

fn times(push: &Push) -> String {
    match push.pushes.get() {
        1 => String::new(),
        times => format!(", the last of {times}"),
    }
}
