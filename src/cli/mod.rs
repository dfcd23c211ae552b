//! The command line: what was typed becomes one call of an op, what came of it becomes words or JSON.

mod approval;
mod bypass;
mod check;
mod compact;
mod config;
mod context;
mod doctor;
mod evidence;
mod gate;
mod goal;
mod guard;
mod handoff;
mod history;
mod hooks;
mod host;
mod init;
mod mcp;
mod notify;
mod packet;
mod policy;
mod quota;
mod report;
mod restore;
mod review;
#[cfg(test)]
mod schemas;
mod secret;
mod status;
mod sync;
mod todo;
mod transfer;
mod turn;
mod uninstall;
mod verify;

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use clap::{
    CommandFactory as _, Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};
use serde::Serialize;

use crate::{
    caller::Caller,
    domain::{
        id::{AgentId, GoalId},
        secret::{clean, custom::Custom},
    },
    error::{Error, Kind},
    ops::{
        self, Ctx, Done,
        bypass::{Bypasses, Notice},
    },
    process::{GIT_COMMON_DIR, GIT_DIR, LOOPX_GOAL, PATH, Process},
    store::{Store, gits::Gits},
};

/// A local control plane for long-running AI agents, inside your git repository.
///
/// Exit codes: 0 yes or done, 1 refused or failed, 2 usage; `quota should-run` and `guard` answer 10 for "not now".
#[derive(Debug, Parser)]
#[command(name = "loopx", version, propagate_version = true, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// One noun with its verbs, and nothing else: half of what starting takes is telling clap of all the other commands.
#[derive(Debug, Parser)]
struct Only<S: Subcommand> {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: S,
}

/// Options of every command.
#[derive(Debug, Clone, clap::Args)]
struct Global {
    /// Print one JSON document instead of words, errors included
    #[arg(long, global = true)]
    json: bool,
    /// The agent on whose behalf this runs (or `LOOPX_AGENT_ID`)
    #[arg(long, global = true, value_name = "AGENT")]
    agent_id: Option<AgentId>,
    /// Put a mark in the place of what looks like a secret in the words of this command, instead of refusing
    #[arg(long, global = true)]
    redact: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', global = true, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Global {
    /// None of them was given.
    const NONE: Self = Self { json: false, agent_id: None, redact: false, dir: None };
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Set this repository up, or repair and re-attach what is there
    Init(init::Init),
    /// Goals, open questions, open work, and whether pushes are guarded
    Status,
    /// Objectives
    #[command(subcommand)]
    Goal(goal::Goal),
    /// Switch features and change the quota of a goal
    ConfigureGoal(config::ConfigureGoal),
    /// Show the configuration of a goal
    GoalConfig(config::GoalConfig),
    /// Questions that only a person may answer
    #[command(subcommand)]
    Gate(gate::Gate),
    /// Answer a gate (the same as `gate resolve`)
    ResolveGate(gate::Resolve),
    /// Work
    #[command(subcommand)]
    Todo(todo::Todo),
    /// What was seen
    #[command(subcommand)]
    Evidence(evidence::Evidence),
    /// Whether something may leave this machine now
    #[command(subcommand)]
    Guard(guard::Guard),
    /// What may happen next, and what was used
    #[command(subcommand)]
    Quota(quota::Quota),
    /// One slice of work, from beginning to end
    #[command(subcommand)]
    Turn(turn::Turn),
    /// What a fresh agent needs to know, in a few kilobytes
    Context(context::ContextArgs),
    /// The note for whoever goes on
    #[command(subcommand)]
    Handoff(handoff::Handoff),
    /// What happened, newest first
    History(history::History),
    /// What came of the last days: outcomes, decisions, spend, open questions, evidence
    Report(report::ReportArgs),
    /// What a person has to look at: what waits for them, risks, and what came in since they last looked, for a pull request
    ReviewPacket(packet::ReviewPacket),
    /// Who set each field of a record, when, and in which turn
    Blame(history::BlameArgs),
    /// What changed between two states, in sentences
    Diff(history::Diff),
    /// What is wrong with this clone, and what helps
    Doctor(doctor::Doctor),
    /// Check that each commit of the state is one legal mutation by somebody who may make it
    Verify(verify::Verify),
    /// Look for secrets and for copies of loopx's state in files, in what is staged, or in commits
    ///
    /// Exits 1 when there are some. What they are is never shown.
    Check(check::Check),
    /// Values that look like secrets and are none
    #[command(subcommand)]
    Secret(secret::Secret),
    /// Write the whole state to one file
    Export(transfer::Export),
    /// Put a state that was exported into a clone that has none, or take over what another tool kept
    Import(transfer::Import),
    /// Leave the history of the state behind, and keep the state
    Compact(compact::Compact),
    /// Move the state back to a commit of its own past (a person at a terminal only)
    Restore(restore::Restore),
    /// Pushes that went round the hook
    #[command(subcommand)]
    Bypass(bypass::Bypass),
    /// The repository's own rules
    #[command(subcommand)]
    Policy(policy::Policy),
    /// Whose signatures count where answers are signed
    #[command(subcommand)]
    Approver(policy::Approver),
    /// The command of yours that is run when something begins to wait for you
    #[command(subcommand)]
    Notify(notify::Notify),
    /// The git hook that keeps pushes back
    #[command(subcommand)]
    Hooks(hooks::Hooks),
    /// The programs that agents live in: what each of them asks loopx
    #[command(subcommand)]
    Host(host::Host),
    /// The one remote that the state may go to
    #[command(subcommand)]
    Remote(sync::Remote),
    /// Bring the state here and the one at the remote together
    Sync(sync::Sync),
    /// Take loopx out of this clone again; the state stays unless it is purged (a person at a terminal only)
    Uninstall(uninstall::Uninstall),
    /// Serve an agent's host with the Model Context Protocol on standard input and output
    Mcp(mcp::Mcp),
    /// Called by git, by cargo and by agents' hosts, not by people
    #[command(subcommand, hide = true)]
    Hook(crate::hook::Hook),
    /// Play the whole story in a scratch repository
    Demo,
    /// Print a completion script for a shell
    Completions {
        /// The shell to complete for
        shell: clap_complete::Shell,
    },
}

/// What a command says, in both languages, and its exit code.
struct Said {
    text: String,
    json: String,
    warnings: Vec<String>,
    code: u8,
}

/// Every JSON document begins with the version of its shape; fields are only ever added within one.
#[derive(Serialize, schemars::JsonSchema)]
struct Versioned<'a, T> {
    schema_version: u32,
    #[serde(flatten)]
    value: &'a T,
}

const SCHEMA_VERSION: u32 = 1;

/// The exit code of `quota should-run` and `guard` for "not now: a person or time must act".
const NOT_NOW: u8 = 10;

impl Said {
    /// Something that was read.
    fn read<T: Serialize>(value: &T, text: String) -> Self {
        let versioned = Versioned { schema_version: SCHEMA_VERSION, value };
        let json = serde_json::to_string_pretty(&versioned).expect("answers are plain data");
        Self { text, json, warnings: Vec::new(), code: 0 }
    }

    /// Something that was done: `line` says what, or that it was so already.
    fn done<T: Serialize>(done: &Done<T>, line: &str) -> Self {
        let warnings = done.warnings.iter().map(crate::store::Warning::with_cure).collect();
        let already = if done.commit.is_some() { "" } else { " already" };
        let text = format!(
            "{line}{already}
"
        );
        Self { warnings, ..Self::read(done, text) }
    }

    /// Adds the field `bypass` to the document, if a push went round the hook.
    fn noticing(mut self, found: Option<&Bypasses>) -> Self {
        if let Some(notice) = found.and_then(Bypasses::notice)
            && let Some(body) = self.json.strip_suffix("\n}")
        {
            let notice = serde_json::to_string_pretty(&notice).expect("a notice is plain data");
            self.json = format!("{body},\n  \"bypass\": {}\n}}", notice.replace('\n', "\n  "));
        }
        self
    }

    fn warning(mut self, warnings: Vec<String>) -> Self {
        self.warnings.extend(warnings);
        self
    }
}

/// Runs the command that `process` was started with. Returns its exit code.
pub fn run(process: &Process) -> u8 {
    let cli = match parsed(process.args()) {
        // Before anything is made of the words: ids are derived from them, and sentences.
        Ok(cli) if cli.global.redact => {
            Cli::try_parse_from(redacted(process.args(), &rules(process, &cli.global)))
        }
        parsed => parsed,
    };
    let cli = match cli {
        Ok(cli) => cli,
        Err(error) => return usage(process, &fit_to_print(error)),
    };
    let json = cli.global.json;
    match dispatch(process, cli) {
        Ok(Answer::Said(said)) => {
            said.warnings.iter().for_each(|warning| process.err(&format!("warning: {warning}\n")));
            print(process, &if json { said.json + "\n" } else { said.text }).unwrap_or(said.code)
        }
        Ok(Answer::Silent(code)) => code,
        Ok(Answer::Long(long)) => {
            long.write(process, json).map_or_else(|error| fail(process, &error, json), |()| 0)
        }
        Err(error) => fail(process, &host::way_on(process, error), json),
    }
}

/// What the words of a command line mean. What agents, hosts and git ask at every step is looked at alone first; help, and what is
/// wrong, is said by the whole.
fn parsed(args: &[OsString]) -> Result<Cli, clap::Error> {
    fn only<S: Subcommand>(words: &[OsString], command: fn(S) -> Command) -> Option<Cli> {
        let Only { global, verb } = Only::<S>::try_parse_from(words).ok()?;
        Some(Cli { global, command: command(verb) })
    }
    /// A command without words of its own.
    #[derive(Debug, Parser)]
    struct Bare {
        #[command(flatten)]
        global: Global,
    }
    let cli = match (args.get(1).and_then(|noun| noun.to_str()), args.get(1..)) {
        (Some("hook"), Some(words)) => match crate::hook::PrePush::said_by_a_hook(words) {
            Some(asked) => {
                Some(Cli { global: Global::NONE, command: Command::Hook(crate::hook::Hook::PrePush(asked)) })
            }
            None => only(words, Command::Hook),
        },
        (Some("quota"), Some(words)) => only(words, Command::Quota),
        (Some("turn"), Some(words)) => only(words, Command::Turn),
        (Some("todo"), Some(words)) => only(words, Command::Todo),
        (Some("guard"), Some(words)) => only(words, Command::Guard),
        (Some("status"), Some(words)) => {
            Bare::try_parse_from(words).ok().map(|Bare { global }| Cli { global, command: Command::Status })
        }
        _ => None,
    };
    cli.map_or_else(|| Cli::try_parse_from(args), Ok)
}

/// Runs `git-remote-loopx <remote> <address>`, or what our own hooks ask: starting it takes less than starting all of loopx.
/// Returns its exit code.
pub fn run_remote_helper(process: &Process) -> u8 {
    if let Some(asked) = process.args().get(1..).and_then(crate::hook::PrePush::said_by_a_hook) {
        return asked.run(process, || context(process, &Global::NONE));
    }
    match process.args() {
        [_, version] if version == "--version" => {
            return print(process, crate::ops::enforcement::VERSION).unwrap_or(0);
        }
        [_, hook, ..] if hook == "hook" => {
            process.err("loopx: push refused: what the hook asks cannot be read, as it was made by another loopx\nhint: loopx hooks install\n");
            return Kind::Usage.exit_code();
        }
        _ => {}
    }
    let [_, remote, address] = process.args() else {
        process.err("error: git calls this for addresses that begin with `loopx::`\nhint: run `loopx hooks strict on`\n");
        return Kind::Usage.exit_code();
    };
    let global = Global::NONE;
    let (remote, address) = (remote.to_string_lossy(), address.to_string_lossy());
    crate::hook::helper::run(process, &remote, &address, || context(process, &global))
}

enum Answer<'c> {
    Said(Said),
    Long(Long<'c>),
    /// The command has said it all itself.
    Silent(u8),
}

fn dispatch(process: &Process, cli: Cli) -> Result<Answer<'static>, Error> {
    let global = cli.global;
    let command = match cli.command {
        Command::Hook(hook) => {
            let at = |dir: &Path, agent: &AgentId| {
                let (dir, agent_id) = (Some(dir.to_path_buf()), Some(agent.clone()));
                context(process, &Global { json: false, agent_id, redact: false, dir })
            };
            return Ok(Answer::Silent(hook.run(process, || context(process, &global), at)));
        }
        Command::Mcp(mcp) => return mcp.serve(process, global),
        Command::Guard(guard) => return guard.run(process, &global, || context(process, &global)),
        Command::Demo => {
            let told = crate::demo::play(process, global.json)?;
            return Ok(Answer::Said(Said::read(&told, String::new())));
        }
        Command::Completions { shell } => return Ok(Answer::Said(completions(shell))),
        Command::Evidence(evidence::Evidence::Run(run)) => {
            return Ok(Answer::Silent(run.start(process, context(process, &global)?)?));
        }
        command => command,
    };
    let ctx = &context(process, &global)?;
    let answer = answer(process, ctx, command, global.json);
    notify::tell(process, ctx);
    match answer? {
        Answer::Said(said) => Ok(Answer::Said(said)),
        Answer::Long(long) => long.write(process, global.json).map(|()| Answer::Silent(0)),
        Answer::Silent(code) => Ok(Answer::Silent(code)),
    }
}

fn answer<'c>(process: &Process, ctx: &'c Ctx, command: Command, json: bool) -> Result<Answer<'c>, Error> {
    // What cannot be read here is the command's own to say.
    let thorough = matches!(command, Command::Doctor(_));
    let around = || ops::bypass::list(ctx, false, thorough).ok();
    let said = match command {
        Command::Status => {
            let around = around();
            return Ok(Answer::Said(
                status::status(process, ctx, around.as_ref())?.noticing(around.as_ref()),
            ));
        }
        Command::Bypass(bypass) => return Ok(Answer::Said(bypass.run(process, ctx)?)),
        Command::Init(init) => init.run(process, ctx)?,
        Command::Goal(goal) => goal.run(process, ctx)?,
        Command::ConfigureGoal(configure) => configure.run(process, ctx)?,
        Command::GoalConfig(show) => show.run(ctx)?,
        Command::Gate(gate) => gate.run(process, ctx)?,
        Command::ResolveGate(resolve) => resolve.run(process, ctx)?,
        Command::Todo(todo) => todo.run(process, ctx)?,
        Command::Evidence(evidence) => evidence.run(ctx)?,
        Command::Quota(quota) => quota.run(process, ctx)?,
        Command::Turn(turn) => turn.run(process, ctx)?,
        Command::Context(context) => context.run(ctx, json)?,
        Command::Handoff(handoff) => handoff.run(process, ctx)?,
        Command::History(history) => match history.run(process, ctx, json)? {
            Answer::Said(said) => said,
            long => return Ok(long),
        },
        Command::Report(report) => report.run(ctx, json)?,
        Command::ReviewPacket(packet) => packet.run(ctx)?,
        Command::Blame(blame) => blame.run(ctx)?,
        Command::Diff(diff) => return diff.run(ctx).map(Answer::Long),
        Command::Doctor(doctor) => doctor.run(process, ctx)?,
        Command::Check(check) => check.run(ctx)?,
        Command::Secret(secret) => secret.run(process, ctx)?,
        Command::Verify(verify) => verify.run(process, ctx)?,
        Command::Compact(compact) => compact.run(process, ctx)?,
        Command::Restore(restore) => restore.run(process, ctx)?,
        Command::Export(export) => export.run(ctx)?,
        Command::Import(import) => import.run(process, ctx)?,
        Command::Policy(policy) => policy.run(process, ctx)?,
        Command::Approver(approver) => approver.run(process, ctx)?,
        Command::Remote(remote) => remote.run(process, ctx)?,
        Command::Sync(sync) => sync.run(process, ctx)?,
        Command::Notify(notify) => notify.run(process, ctx)?,
        Command::Hooks(hooks) => hooks.run(process, ctx)?,
        Command::Host(host) => host.run(process, ctx)?,
        Command::Uninstall(uninstall) => uninstall.run(process, ctx)?,
        Command::Hook(_)
        | Command::Guard(_)
        | Command::Mcp(_)
        | Command::Demo
        | Command::Completions { .. } => {
            return Err(Error::new(Kind::Bug, "a command came a second time"));
        }
    };
    let around = around();
    let warnings = around.as_ref().map(|found| bypass::warnings(ctx, found)).unwrap_or_default();
    Ok(Answer::Said(said.noticing(around.as_ref()).warning(warnings)))
}

/// An answer that is made while it is written, as there may be more of it than anybody wants to hold.
struct Long<'c> {
    parts: Box<dyn Parts + 'c>,
    /// What shows it in words, if anything does.
    pager: Option<String>,
    warnings: Vec<String>,
}

/// The two languages of a long answer.
trait Parts {
    fn text(&self, out: &mut dyn io::Write) -> io::Result<()>;
    fn json(&self, out: &mut dyn io::Write) -> io::Result<()>;
}

#[derive(Serialize)]
struct Noticing<'t, T> {
    #[serde(flatten)]
    document: Versioned<'t, T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bypass: Option<&'t Notice>,
}

impl<'c> Long<'c> {
    /// `text` says `value` in words.
    fn of<T: Serialize + 'c>(
        ctx: &Ctx,
        value: T,
        text: impl Fn(&T, &mut dyn io::Write) -> io::Result<()> + 'c,
    ) -> Self {
        struct Both<T, F> {
            value: T,
            text: F,
            notice: Option<Notice>,
        }
        impl<T: Serialize, F: Fn(&T, &mut dyn io::Write) -> io::Result<()>> Parts for Both<T, F> {
            fn text(&self, out: &mut dyn io::Write) -> io::Result<()> {
                (self.text)(&self.value, out)
            }
            fn json(&self, out: &mut dyn io::Write) -> io::Result<()> {
                let document = Versioned { schema_version: SCHEMA_VERSION, value: &self.value };
                let whole = Noticing { document, bypass: self.notice.as_ref() };
                Ok(serde_json::to_writer_pretty(out, &whole)?)
            }
        }
        let around = ops::bypass::list(ctx, false, false).ok();
        let notice = around.as_ref().and_then(Bypasses::notice);
        let warnings = around.as_ref().map(|found| bypass::warnings(ctx, found)).unwrap_or_default();
        Self { parts: Box::new(Both { value, text, notice }), pager: None, warnings }
    }

    /// Writes it to standard output, or lets the pager show it.
    fn write(self, process: &Process, json: bool) -> Result<(), Error> {
        let written = match json {
            true => process.paged(None, |out| {
                self.parts.json(out)?;
                writeln!(out)
            }),
            false => process.paged(self.pager.as_deref(), |out| self.parts.text(out)),
        };
        self.warnings.iter().for_each(|warning| process.err(&format!("warning: {warning}\n")));
        written.map_err(|error| {
            let printed = |error: io::Error| {
                Error::new(Kind::Environment, format!("the answer cannot be printed: {error}"))
            };
            error.downcast().unwrap_or_else(printed)
        })
    }

    /// All of it, for a door that hands it on.
    fn held(self) -> Result<Said, Error> {
        let held = |write: &dyn Fn(&mut dyn io::Write) -> io::Result<()>| {
            let mut bytes = Vec::new();
            write(&mut bytes).map_err(|error| {
                error.downcast().unwrap_or_else(|error| Error::new(Kind::Bug, error.to_string()))
            })?;
            Ok::<_, Error>(String::from_utf8_lossy(&bytes).into_owned())
        };
        let (text, json) = (held(&|out| self.parts.text(out))?, held(&|out| self.parts.json(out))?);
        Ok(Said { text, json, warnings: self.warnings, code: 0 })
    }
}

fn context(process: &Process, global: &Global) -> Result<Ctx, Error> {
    let environment =
        |what: &str, error: std::io::Error| Error::new(Kind::Environment, format!("{what}: {error}"));
    let here = process.cwd().map_err(|error| environment("the working directory cannot be read", error))?;
    let cwd = global.dir.as_ref().map_or_else(|| here.clone(), |dir| here.join(dir));
    if !cwd.is_dir() {
        let shown = crate::domain::text::shown(&cwd.to_string_lossy(), 200);
        return Err(Error::new(Kind::Environment, format!("there is no folder `{shown}`"))
            .hint("look at what `-C` was given"));
    }
    let git_dir = process.env_os(GIT_DIR).filter(|_| global.dir.is_none()).map(PathBuf::from);
    let store = Store::open(&cwd, git_dir.as_deref())?;
    // With this, git takes refs and hooks from one repository and we would take the state from another.
    if let Some(common) = process.env_os(GIT_COMMON_DIR).filter(|_| global.dir.is_none())
        && here.join(&common).canonicalize().ok().as_deref() != Some(store.git().common_dir())
    {
        let shown = crate::domain::text::shown(&common.to_string_lossy(), 200);
        let what = format!("`{GIT_COMMON_DIR}` is `{shown}`, which is not the repository that is meant here");
        return Err(Error::new(Kind::Environment, what).hint(format!("run `unset {GIT_COMMON_DIR}`")));
    }
    let goal = process.env(LOOPX_GOAL).map(|goal| goal.parse::<GoalId>());
    let goal = goal.transpose().map_err(|bad| Error::new(Kind::Usage, format!("`{LOOPX_GOAL}`: {bad}")))?;
    Ok(Ctx {
        caller: Caller::of(process, global.agent_id.clone())?,
        store,
        now: process.now(),
        entropy: process.entropy().map_err(|error| environment("no random bytes can be had", error))?,
        goal,
        redact: global.redact,
        cwd,
        gits: Gits::on(process.env_os(PATH)),
        tidings: ops::Tidings::default(),
        program: process.program().map_err(|error| environment("loopx does not find itself", error))?,
    })
}

/// The user's own rules for secrets. Where they cannot be had, the command says so itself.
fn rules(process: &Process, global: &Global) -> Custom {
    context(process, global).ok().and_then(|ctx| ctx.store.git().secret_rules().ok()).unwrap_or_default()
}

/// The words of a command with marks in the place of what looks like a secret; those of a command to be run stay.
fn redacted(args: &[OsString], rules: &Custom) -> Vec<OsString> {
    let ours = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let clean = |arg: &OsString| match arg.to_str() {
        Some(text) => OsString::from(rules.clean(text).unwrap_or_else(|_| clean(text)).into_owned()),
        None => arg.clone(),
    };
    args[..ours].iter().map(clean).chain(args[ours..].iter().cloned()).collect()
}

/// clap repeats what was typed as it was typed; here what acts on a screen is escaped, the end of a long text cut, and nothing
/// said that looks like a secret.
fn fit_to_print(mut error: clap::Error) -> clap::Error {
    let mut is_changed = false;
    for kind in [ContextKind::InvalidValue, ContextKind::InvalidArg, ContextKind::InvalidSubcommand] {
        if let Some(ContextValue::String(typed)) = error.get(kind) {
            let shown = crate::domain::text::shown(&clean(typed), 200);
            is_changed |= shown != *typed;
            error.insert(kind, ContextValue::String(shown));
        }
    }
    // What clap suggests repeats it once more.
    if is_changed {
        for kind in [
            ContextKind::SuggestedCommand,
            ContextKind::SuggestedSubcommand,
            ContextKind::SuggestedArg,
            ContextKind::SuggestedValue,
            ContextKind::TrailingArg,
            ContextKind::Suggested,
        ] {
            error.remove(kind);
        }
    }
    error
}

/// An answer that clap gives in our stead: help, version, or a usage error.
fn usage(process: &Process, error: &clap::Error) -> u8 {
    let wants_json = process.args().iter().any(|arg| arg == &OsString::from("--json"));
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => print(process, &error.to_string()).unwrap_or(0),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !wants_json => {
            process.err(&error.to_string());
            Kind::Usage.exit_code()
        }
        _ if wants_json => fail(process, &misused(error), true),
        _ => {
            process.err(&error.to_string());
            Kind::Usage.exit_code()
        }
    }
}

/// A usage error in one line.
fn misused(error: &clap::Error) -> Error {
    let text = error.to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let message = lines.next().unwrap_or("the command line makes no sense").trim_start_matches("error: ");
    let message = match message.strip_suffix(':') {
        // What is missing stands in lines of its own.
        Some(_) => {
            let missing: Vec<&str> = lines.take_while(|line| !line.starts_with("Usage")).collect();
            format!("{message} {}", missing.join(", "))
        }
        None => message.to_owned(),
    };
    Error::new(Kind::Usage, message).hint("run `loopx --help`")
}

/// Prints an answer. Returns an exit code when that failed: an answer that nobody got is no success.
fn print(process: &Process, text: &str) -> Option<u8> {
    let error = process.out(text).err()?;
    process.err(&format!("error: the answer cannot be printed: {error}\n"));
    Some(Kind::Environment.exit_code())
}

/// Says what went wrong: in words on standard error, or as the one JSON document on standard output.
fn fail(process: &Process, error: &Error, json: bool) -> u8 {
    if json {
        return print(process, &(document(error) + "\n")).unwrap_or(error.kind.exit_code());
    }
    process.err(&error.to_string());
    error.kind.exit_code()
}

/// An error as the one JSON document.
#[derive(Serialize, schemars::JsonSchema)]
struct Failed<'a> {
    error: Failure<'a>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Failure<'a> {
    code: &'static str,
    message: &'a str,
    hints: &'a [String],
    retryable: bool,
}

fn document(error: &Error) -> String {
    let failure = Failure {
        code: error.kind.code(),
        message: &error.message,
        hints: &error.hints,
        retryable: error.kind.is_retryable(),
    };
    Said::read(&Failed { error: failure }, String::new()).json
}

fn completions(shell: clap_complete::Shell) -> Said {
    #[derive(Serialize)]
    struct Script {
        shell: String,
        script: String,
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "loopx", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    Said::read(&Script { shell: shell.to_string(), script: script.clone() }, script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_read_alone_means_what_the_whole_says() {
        for line in [
            "loopx status",
            "loopx status --json -C x",
            "loopx hook pre-push --pass-on=. -- origin ../hub.git",
            "loopx hook pre-push --then=.git/hooks/pre-push -- origin ../hub.git",
            "loopx hook pre-push --config -- ../hub.git ../hub.git",
            "loopx hook pre-push --config -- --json -C",
            "loopx hook pre-push --json --config -- origin ../hub.git",
            "loopx quota should-run --agent-id a --capability network --json",
            "loopx quota --agent-id a status",
            "loopx turn begin --turn-id t --redact",
            "loopx todo add title --priority p1 --goal-id g",
            "loopx guard check --for publish --ci",
            "loopx guard run --for push -- git push --json",
        ] {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            let whole = Cli::try_parse_from(&words).unwrap();
            assert_eq!(format!("{:?}", parsed(&words).unwrap()), format!("{whole:?}"), "{line}");
        }
        for odd in ["loopx", "loopx quota", "loopx status more", "loopx todo --help", "loopx turn --version"]
        {
            let words: Vec<OsString> = odd.split(' ').map(Into::into).collect();
            let (alone, whole) = (parsed(&words).unwrap_err(), Cli::try_parse_from(&words).unwrap_err());
            assert_eq!(alone.to_string(), whole.to_string(), "{odd}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
