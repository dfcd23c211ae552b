use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::Said;
use crate::{
    caller::{Caller, Challenge},
    domain::text::shown,
    error::{Error, Kind},
    ops::{
        Ctx,
        host::{self, Applied, Homes, Plan, Standing},
    },
    process::{CLAUDE_CONFIG_DIR, CODEX_HOME, HOME, Process, XDG_CONFIG_HOME, XDG_STATE_HOME},
    text::Table,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Host {
    /// Every host that loopx knows: whether it is there, and what is installed for it
    List,
    /// Have a host ask loopx before a tool runs, tell its agent what is open, and offer loopx's tools
    Install {
        /// The host
        #[arg(value_parser = one_of(&host::Host::ALL, host::Host::name))]
        host: host::Host,
        /// For everybody who works in this worktree, or for you in every repository
        #[arg(long, value_parser = one_of(&host::Scope::ALL, host::Scope::name), default_value = "project")]
        scope: host::Scope,
        /// Send the agent on as long as `quota should-run` says that there is something to do
        #[arg(long = "loop")]
        loops: bool,
        /// Show what would change, and write nothing
        #[arg(long)]
        dry_run: bool,
        /// Write it without asking
        #[arg(long)]
        yes: bool,
    },
    /// Take out again what an installation put there, and nothing else (a person at a terminal only)
    Uninstall {
        /// The host
        #[arg(value_parser = one_of(&host::Host::ALL, host::Host::name))]
        host: host::Host,
        /// What is taken out: the installation of this worktree, or yours
        #[arg(long, value_parser = one_of(&host::Scope::ALL, host::Scope::name), default_value = "project")]
        scope: host::Scope,
        /// Show what would change, and write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Print a piece that goes where loopx writes nothing itself
    Template {
        /// Which one
        #[arg(value_enum)]
        template: Template,
    },
}

/// What goes where loopx writes nothing itself.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum Template {
    /// Which commands run outside of Codex's sandbox, for `~/.codex/rules/loopx.rules`
    CodexRules,
    /// What may be written inside of it, for `~/.codex/config.toml`
    CodexPermissions,
    /// For `.cursor/rules/loopx.mdc`
    CursorRule,
    /// For `.claude/skills/loopx/SKILL.md`
    ClaudeSkill,
}

/// Reads the name of one of `all`.
fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(move |one| name(*one)))
        .try_map(move |typed| all.iter().copied().find(|one| name(*one) == typed).ok_or("it is none of them"))
}

/// The folders of hosts, as the environment names them.
pub(super) fn homes(process: &Process) -> Homes {
    let folder = |name| process.env_os(name).map(PathBuf::from);
    Homes {
        home: folder(HOME),
        claude: folder(CLAUDE_CONFIG_DIR),
        codex: folder(CODEX_HOME),
        config: folder(XDG_CONFIG_HOME),
        state: folder(XDG_STATE_HOME),
    }
}

/// What goes on where `.git` is closed, in the words of the host that says it is there. What it is was found by trying.
pub(super) fn way_on(process: &Process, error: Error) -> Error {
    let host = Caller::of(process, None).ok().and_then(|caller| caller.agent().map(ToString::to_string));
    match (error.kind, host.as_deref()) {
        (Kind::ReadOnly, Some("codex")) => Error { hints: Vec::new(), ..error }
            .hint("what only reads works here, such as `loopx status` and `loopx quota should-run`")
            .hint("what writes is a tool of the MCP server `loopx`, too, which runs outside of this sandbox; a person sets it up with `loopx host install codex`")
            .hint("or a person lets some commands out of it: `loopx host template codex-rules > ~/.codex/rules/loopx.rules`")
            .hint("or lets loopx's own files be written in it: `loopx host template codex-permissions`"),
        _ => error,
    }
}

impl Host {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let homes = homes(process);
        match self {
            Self::List => Ok(list(process, ctx, &homes)),
            Self::Template { template } => {
                #[derive(serde::Serialize)]
                struct Piece {
                    text: &'static str,
                }
                let text = match template {
                    Template::CodexRules => host::CODEX_RULES,
                    Template::CodexPermissions => host::CODEX_PERMISSIONS,
                    Template::CursorRule => host::CURSOR_RULE,
                    Template::ClaudeSkill => host::CLAUDE_SKILL,
                };
                Ok(Said::read(&Piece { text }, text.to_owned()))
            }
            Self::Install { host, scope, loops, dry_run, yes } => {
                let plan = host::plan_install(ctx, &homes, host, scope, loops)?;
                let command = command("install", host, scope) + if loops { " --loop" } else { "" };
                if dry_run {
                    return Ok(looked_at(&plan, &command, "nothing to do: all of it is installed for"));
                }
                if !plan.is_done() && !yes {
                    agreed(process, &plan, &command)?;
                }
                let done = host::install(ctx, &homes, &plan)?;
                let mut text = if yes { done.diff.clone() } else { String::new() };
                text.push_str(&line(&done, "installed for", "nothing to do: all of it is installed for"));
                done.notes.iter().for_each(|note| text.push_str(&format!("{note}\n")));
                Ok(Said::read(&done, text))
            }
            Self::Uninstall { host, scope, dry_run } => {
                let plan = host::plan_uninstall(ctx, &homes, host, scope)?;
                let command = command("uninstall", host, scope);
                if dry_run {
                    return Ok(looked_at(&plan, &command, "nothing to do: nothing is installed for"));
                }
                if plan.is_done() {
                    let done = host::looked_at(&plan);
                    return Ok(Said::read(&done, line(&done, "", "nothing to do: nothing is installed for")));
                }
                let challenge = Challenge {
                    what: format!("take loopx out of {}", host.name()),
                    shows: format!("{}Nothing is asked there from then on.\n", plan.diff()),
                    word: host.name().into(),
                    command,
                };
                let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
                let done = host::uninstall(ctx, &homes, &plan, &proven)?;
                Ok(Said::read(&done, line(&done, "taken out of", "")))
            }
        }
    }
}

/// The command that does it.
fn command(verb: &str, host: host::Host, scope: host::Scope) -> String {
    let scope = if scope == host::Scope::User { " --scope user" } else { "" };
    format!("loopx host {verb} {}{scope}", host.name())
}

fn looked_at(plan: &Plan, command: &str, already: &str) -> Said {
    let done = host::looked_at(plan);
    let text = match plan.is_done() {
        true => line(&done, "", already),
        false => format!("{}nothing was written; do it with `{command}`\n", done.diff),
    };
    Said::read(&done, text)
}

/// What was done to which files.
fn line(done: &Applied, verb: &str, already: &str) -> String {
    let name = done.host.name();
    if done.files.is_empty() {
        return format!("{already} {name}\n");
    }
    let files = done.files.iter().map(|file| format!("  {}\n", shown(&file.to_string_lossy(), 4096)));
    format!("{verb} {name}\n{}", files.collect::<String>())
}

/// Shows what would change, and asks whoever sits at the terminal.
fn agreed(process: &Process, plan: &Plan, command: &str) -> Result<(), Error> {
    let terminal = process.terminal().ok().filter(|_| process.stdin_is_terminal());
    let Some(mut terminal) = terminal else {
        let what = format!("nothing was written to {}: nobody was asked", plan.files().join(", "));
        return Err(Error::new(Kind::Refused, what)
            .hint(format!("look at it with `{command} --dry-run`"))
            .hint(format!("write it with `{command} --yes`")));
    };
    let failed = |error: std::io::Error| {
        Error::new(Kind::Environment, format!("cannot talk to the terminal: {error}"))
    };
    terminal.show(&plan.diff()).map_err(failed)?;
    let key = terminal.key("\nPress y to write this, n to leave it [y/N]: ").map_err(failed)?;
    terminal.show("\n").map_err(failed)?;
    match key {
        Some('y' | 'Y') => Ok(()),
        _ => Err(Error::new(Kind::Refused, "nothing was written").hint(format!("run `{command}` again"))),
    }
}

fn list(process: &Process, ctx: &Ctx, homes: &Homes) -> Said {
    #[derive(serde::Serialize)]
    struct Hosts {
        hosts: Vec<host::Found>,
    }
    let hosts = Hosts { hosts: host::list(ctx, homes, &process.search_path()) };
    let mut table = Table::default();
    for found in &hosts.hosts {
        let said = |scope| {
            let installed = found.installed.iter().find(|installed| installed.scope == scope);
            match installed.map(|installed| installed.standing) {
                Some(Standing::Intact) => "installed",
                Some(Standing::Changed) => "damaged or of another version",
                Some(Standing::Absent) => "not installed",
                None => "-",
            }
        };
        let seen = match found.seen.first() {
            Some(first) => shown(&first.to_string_lossy(), 4096),
            None => "not found".to_owned(),
        };
        let row: [&dyn std::fmt::Display; 4] = [
            &found.host.name(),
            &format!("project: {}", said(host::Scope::Project)),
            &format!("user: {}", said(host::Scope::User)),
            &seen,
        ];
        table.row(row);
    }
    let mut text = table.to_string();
    let problems =
        hosts.hosts.iter().flat_map(|found| &found.installed).flat_map(|installed| &installed.files);
    problems
        .filter_map(|file| file.problem.as_ref())
        .for_each(|problem| text.push_str(&format!("{problem}\n")));
    Said::read(&hosts, text)
}
