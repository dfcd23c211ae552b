//! The hosts that agents live in: what loopx asks each of them to run, put into their settings and taken out again.
//!
//! One table says what each host gets and where. An edit is a function from a text to a text (`json.rs`, `block.rs`), and this
//! file reads the one and writes the other: all of a host's files or none. What is ours in a file is known by the command that it
//! runs, so no mark of ours is needed that a host may not know. Finding a host never installs anything.

mod block;
mod json;
mod place;

use std::path::{Path, PathBuf};

use serde::Serialize;

use self::place::{Before, Notes, Place};
use super::Ctx;
use crate::{
    domain::{actor::Proven, text::shown},
    error::{Error, Kind},
};

/// A host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    Claude,
    Codex,
    Cursor,
    Gemini,
    Opencode,
    Copilot,
    /// No program: the page that many of them read.
    AgentsMd,
}

/// For whom something is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Everybody who works in this worktree.
    Project,
    /// This user, in every repository.
    User,
}

/// One file of a host.
struct Part {
    /// Where it is in a worktree, if it has a place there.
    project: Option<&'static str>,
    /// Where it is in the user's folder of that host, if it has a place there.
    user: Option<&'static str>,
    form: Form,
}

/// How a file is edited.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// JSON, with or without comments, merged with templates.
    Json(&'static [&'static str]),
    /// TOML with one table of ours.
    Table(&'static str),
    /// A page with a marked part.
    Page(&'static str),
    /// A file that is all ours.
    Whole(&'static str),
}

/// What a hook is called with that sends an agent on as long as there is something to do.
const LOOP: &str = " --loop";

macro_rules! template {
    ($path:literal) => {
        include_str!(concat!("../../../templates/hosts/", $path))
    };
}

/// Which commands run outside of Codex's sandbox.
pub const CODEX_RULES: &str = template!("codex/loopx.rules");
/// What may be written inside of it.
pub const CODEX_PERMISSIONS: &str = template!("codex/permissions.toml");
/// What an agent in Cursor is told.
pub const CURSOR_RULE: &str = template!("cursor/rules/loopx.mdc");
/// What an agent in Claude Code is told when it asks.
pub const CLAUDE_SKILL: &str = template!("claude/skills/loopx/SKILL.md");

const CLAUDE: &[Part] = &[
    Part {
        project: Some(".claude/settings.json"),
        user: Some("settings.json"),
        form: Form::Json(&[template!("claude/hooks/hooks.json")]),
    },
    // The user's own servers stand in a file that the host writes all the time.
    Part { project: Some(".mcp.json"), user: None, form: Form::Json(&[template!("claude/.mcp.json")]) },
];
const CODEX: &[Part] = &[
    // Hooks in `config.toml` that the host does not like would keep it from starting; a file of their own is only left out.
    Part {
        project: Some(".codex/hooks.json"),
        user: Some("hooks.json"),
        form: Form::Json(&[template!("codex/hooks.json")]),
    },
    Part {
        project: Some(".codex/config.toml"),
        user: Some("config.toml"),
        form: Form::Table(template!("codex/config.toml")),
    },
];
const CURSOR: &[Part] = &[
    Part {
        project: Some(".cursor/hooks.json"),
        user: Some("hooks.json"),
        form: Form::Json(&[template!("cursor/hooks.json")]),
    },
    Part {
        project: Some(".cursor/mcp.json"),
        user: Some("mcp.json"),
        form: Form::Json(&[template!("cursor/mcp.json")]),
    },
];
const GEMINI: &[Part] = &[Part {
    project: Some(".gemini/settings.json"),
    user: Some("settings.json"),
    form: Form::Json(&[template!("gemini/hooks/hooks.json"), template!("claude/.mcp.json")]),
}];
const OPENCODE: &[Part] = &[
    Part {
        project: Some(".opencode/plugin/loopx.js"),
        user: Some("plugin/loopx.js"),
        form: Form::Whole(template!("opencode/plugin/loopx.js")),
    },
    Part {
        project: Some("opencode.json"),
        user: Some("opencode.json"),
        form: Form::Json(&[template!("opencode/opencode.json")]),
    },
];
const COPILOT: &[Part] = &[Part {
    project: Some(".github/hooks/loopx.json"),
    user: Some("hooks/loopx.json"),
    form: Form::Json(&[template!("copilot/loopx.json")]),
}];
const AGENTS_MD: &[Part] =
    &[Part { project: Some("AGENTS.md"), user: None, form: Form::Page(template!("agents-md/AGENTS.md")) }];

impl Host {
    pub const ALL: [Self; 7] = [
        Self::Claude,
        Self::Codex,
        Self::Cursor,
        Self::Gemini,
        Self::Opencode,
        Self::Copilot,
        Self::AgentsMd,
    ];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Copilot => "copilot",
            Self::AgentsMd => "agents-md",
        }
    }

    fn parts(self) -> &'static [Part] {
        match self {
            Self::Claude => CLAUDE,
            Self::Codex => CODEX,
            Self::Cursor => CURSOR,
            Self::Gemini => GEMINI,
            Self::Opencode => OPENCODE,
            Self::Copilot => COPILOT,
            Self::AgentsMd => AGENTS_MD,
        }
    }

    /// What the host's program may be called, and its folder in a worktree.
    fn traces(self) -> (&'static [&'static str], Option<&'static str>) {
        match self {
            Self::Claude => (&["claude"], Some(".claude")),
            Self::Codex => (&["codex"], Some(".codex")),
            Self::Cursor => (&["cursor", "cursor-agent"], Some(".cursor")),
            Self::Gemini => (&["gemini"], Some(".gemini")),
            Self::Opencode => (&["opencode"], Some(".opencode")),
            Self::Copilot => (&["copilot"], Some(".github/hooks")),
            Self::AgentsMd => (&[], Some("AGENTS.md")),
        }
    }

    /// The event at which an agent would stop.
    fn stop(self) -> &'static str {
        match self {
            Self::Claude | Self::Codex => "Stop",
            Self::Cursor => "stop",
            Self::Gemini => "AfterAgent",
            Self::Opencode => "session.idle",
            Self::Copilot => "agentStop",
            Self::AgentsMd => "",
        }
    }

    /// What whoever installed it has to know.
    fn note(self, scope: Scope) -> Option<&'static str> {
        match (self, scope) {
            (Self::Claude, Scope::User) => {
                Some("for the MCP server run `claude mcp add --scope user loopx -- loopx mcp`")
            }
            (Self::Codex, _) => {
                Some("Codex runs new hooks only after you have looked at them: type `/hooks` in it")
            }
            (Self::Cursor, Scope::Project) => Some(
                "Cursor runs no command for whoever works here without loopx: its hook refuses when it cannot run",
            ),
            (Self::Copilot, Scope::Project) => {
                Some("Copilot runs no tool for whoever works here without loopx, its cloud agent included")
            }
            _ => None,
        }
    }
}

impl Scope {
    pub const ALL: [Self; 2] = [Self::Project, Self::User];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// The folders in which hosts keep what a user has set, as the environment names them.
#[derive(Debug, Clone, Default)]
pub struct Homes {
    pub home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`
    pub codex: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`
    pub config: Option<PathBuf>,
    /// `XDG_STATE_HOME`
    pub state: Option<PathBuf>,
}

impl Homes {
    fn of(&self, host: Host) -> Option<PathBuf> {
        let below = |name: &str| Some(self.home.as_ref()?.join(name));
        match host {
            Host::Claude => self.claude.clone().or_else(|| below(".claude")),
            Host::Codex => self.codex.clone().or_else(|| below(".codex")),
            Host::Cursor => below(".cursor"),
            Host::Gemini => below(".gemini"),
            Host::Opencode => Some(self.config.clone().or_else(|| below(".config"))?.join("opencode")),
            Host::Copilot => below(".copilot"),
            Host::AgentsMd => None,
        }
    }

    fn state(&self) -> Option<PathBuf> {
        self.state.clone().or_else(|| Some(self.home.as_ref()?.join(".local/state")))
    }
}

/// What there is of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    Absent,
    /// All of it, as this version of loopx writes it.
    Intact,
    /// Some of it, or not as this version writes it.
    Changed,
}

/// Why a text is not edited.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Trouble {
    /// It cannot be read as what it should be.
    Unparsable(String),
    /// What the keys lead to is not what it should be.
    Shape { path: String, is: &'static str },
    /// Something that is not ours is where ours goes.
    Taken(String),
    /// The file itself is.
    TakenFile,
}

impl Trouble {
    fn shape(path: &[String], is: &'static str) -> Self {
        Self::Shape { path: path.join("."), is }
    }

    /// The error for `file`.
    fn about(&self, file: &str) -> Error {
        let error = |message| Error::new(Kind::Refused, message);
        match self {
            Self::Unparsable(why) => {
                error(format!("`{file}` cannot be read, so it was left alone: {}", shown(why, 200)))
                    .hint(format!("put `{file}` right and run it again"))
            }
            Self::Shape { path, is } => {
                error(format!("`{file}` was left alone: `{}` in it is {is}", shown(path, 200)))
                    .hint(format!("put `{file}` right and run it again"))
            }
            Self::Taken(what) => {
                error(format!("`{file}` was left alone: `{what}` is there already and is not loopx's"))
                    .hint(format!("rename `{what}` in `{file}` and run it again"))
            }
            Self::TakenFile => {
                error(format!("`{file}` was left alone: it is there already and is not loopx's"))
                    .hint(format!("look at `{file}`, and move it away"))
            }
        }
    }
}

/// Whether a value is a hook that asks loopx for `host`, whichever loopx and for whichever event.
fn asks(value: &serde_json::Value, host: &str) -> bool {
    let is_loopx = |word: &str| Path::new(word).file_name().is_some_and(|name| name == "loopx");
    ["command", "bash", "exec"].iter().filter_map(|key| value.get(key)?.as_str()).any(|command| {
        let mut words = command.split_whitespace();
        let called = words.next().is_some_and(is_loopx);
        let args = value.get("args").and_then(serde_json::Value::as_array);
        let args = args.into_iter().flatten().filter_map(serde_json::Value::as_str);
        let mut rest = words.chain(args);
        called && rest.next() == Some("hook") && rest.next() == Some(host)
    })
}

/// Whether a value is a server that is loopx.
fn serves(value: &serde_json::Value) -> bool {
    let command = value.get("command");
    let words = command.into_iter().chain(value.get("args")).flat_map(|value| match value {
        serde_json::Value::Array(words) => words.iter().filter_map(|word| word.as_str()).collect(),
        word => word.as_str().into_iter().collect::<Vec<_>>(),
    });
    let words: Vec<&str> = words.collect();
    matches!(words[..], [program, "mcp", ..] if Path::new(program).file_name().is_some_and(|name| name == "loopx"))
}

impl Form {
    fn standing(self, text: &str, host: Host) -> Result<Standing, Trouble> {
        match self {
            Self::Json(templates) => json::standing(text, json::Ours { host: host.name(), templates }),
            Self::Table(_) => block::table::standing(text),
            Self::Page(page) => block::page::standing(text, page),
            Self::Whole(whole) if text == whole || text == self.looping(whole, host) => Ok(Standing::Intact),
            Self::Whole(whole) if text.lines().next() == whole.lines().next() => Ok(Standing::Changed),
            Self::Whole(_) => Ok(Standing::Absent),
        }
    }

    /// The text with ours in it; of no file when there is none.
    fn install(self, text: Option<&str>, host: Host) -> Result<String, Trouble> {
        let Some(text) = text else {
            return match self {
                Self::Json(templates @ [first, ..]) => {
                    json::install(first, json::Ours { host: host.name(), templates })
                }
                Self::Json([]) => Ok(String::new()),
                Self::Table(whole) | Self::Page(whole) | Self::Whole(whole) => Ok(whole.to_owned()),
            };
        };
        match self {
            Self::Json(templates) => json::install(text, json::Ours { host: host.name(), templates }),
            Self::Table(table) => block::table::install(text, table),
            Self::Page(page) => block::page::install(text, page),
            Self::Whole(_) if self.standing(text, host)? == Standing::Absent => Err(Trouble::TakenFile),
            Self::Whole(whole) if text == self.looping(whole, host) => Ok(text.to_owned()),
            Self::Whole(whole) => Ok(whole.to_owned()),
        }
    }

    /// The text with the hook at the end of a turn told to send the agent on.
    fn looping(self, text: &str, host: Host) -> String {
        let hook = format!("\"loopx hook {} {}", host.name(), host.stop());
        match self {
            Self::Json(_) => text.replace(&format!("{hook}\""), &format!("{hook}{LOOP}\"")),
            // The plugin has one line for it.
            Self::Whole(_) => text.replacen("OPTIONS = []", &format!("OPTIONS = [\"{}\"]", LOOP.trim()), 1),
            Self::Table(_) | Self::Page(_) => text.to_owned(),
        }
    }

    /// What the text may have been before ours came into it, the likeliest first; none for no file.
    fn remove(self, text: &str, host: Host) -> Result<Vec<Option<String>>, Trouble> {
        match self {
            Self::Json(templates) => json::remove(text, json::Ours { host: host.name(), templates }),
            Self::Table(_) => block::table::remove(text),
            Self::Page(_) => block::page::remove(text),
            Self::Whole(_) => Ok(vec![None]),
        }
    }
}

/// What would become of a file.
#[derive(Debug)]
struct Edit {
    place: Place,
    form: Form,
    before: Option<String>,
    after: Option<String>,
    /// What `before` was, and its folders.
    was: Before,
}

/// What an installation or its end would change.
#[derive(Debug)]
pub struct Plan {
    host: Host,
    scope: Scope,
    edits: Vec<Edit>,
    notes: Vec<String>,
}

impl Plan {
    /// Whether it is all there, or all gone, already.
    pub fn is_done(&self) -> bool {
        self.edits.is_empty()
    }

    /// The files that would change, as they are shown.
    pub fn files(&self) -> Vec<String> {
        self.edits.iter().map(|edit| edit.place.shown()).collect()
    }

    /// A unified diff of everything that would change, fit to print.
    pub fn diff(&self) -> String {
        let diffs = self.edits.iter().map(|edit| {
            let (before, after) = (edit.before.as_deref(), edit.after.as_deref());
            let diff = similar::TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
            let name =
                |text: Option<&str>| text.map_or_else(|| "/dev/null".to_owned(), |_| edit.place.shown());
            diff.unified_diff().header(&name(before), &name(after)).to_string()
        });
        let fit = |line: &str| {
            let words = line.trim_end_matches('\r').split('\t').map(|text| shown(text, usize::MAX));
            words.collect::<Vec<_>>().join("\t")
        };
        diffs.flat_map(|diff| diff.lines().map(|line| fit(line) + "\n").collect::<Vec<_>>()).collect()
    }
}

/// What an installation or its end came to.
#[derive(Debug, Serialize)]
pub struct Applied {
    pub host: Host,
    pub scope: Scope,
    /// Files that were written or taken away.
    pub files: Vec<PathBuf>,
    /// A unified diff of what changed.
    pub diff: String,
    /// Whether it was only looked at.
    pub dry_run: bool,
    /// What whoever installs it has to know.
    pub notes: Vec<String>,
}

/// What installing `host` would change. Nothing is written.
/// With `loops`, the agent is sent on as long as there is something to do.
pub fn plan_install(ctx: &Ctx, homes: &Homes, host: Host, scope: Scope, loops: bool) -> Result<Plan, Error> {
    let mut edits = Vec::new();
    for (place, form) in places(ctx, homes, host, scope)? {
        let before = place.read()?;
        let after = form.install(before.as_deref(), host).map_err(|trouble| trouble.about(&place.shown()))?;
        let after = if loops { form.looping(&after, host) } else { after };
        if before.as_ref() != Some(&after) {
            edits.push(Edit {
                was: place.before(before.as_deref()),
                place,
                form,
                before,
                after: Some(after),
            });
        }
    }
    let mut notes: Vec<String> = host.note(scope).map(str::to_owned).into_iter().collect();
    let other = if scope == Scope::User { Scope::Project } else { Scope::User };
    if stands(ctx, homes, host, other).is_some_and(|standing| standing != Standing::Absent) {
        notes.push(format!(
            "it is installed with `--scope {}`, too, so each hook may be asked twice",
            other.name()
        ));
    }
    let readers: &[Host] = match host {
        Host::Claude => &[Host::Cursor, Host::Copilot],
        Host::Cursor | Host::Copilot => &[Host::Claude],
        Host::Codex | Host::Gemini | Host::Opencode | Host::AgentsMd => &[],
    };
    let is_there = |host: &&Host| {
        let stands = |scope| stands(ctx, homes, **host, scope);
        Scope::ALL.into_iter().filter_map(stands).any(|standing| standing != Standing::Absent)
    };
    notes.extend(readers.iter().filter(is_there).map(|other| {
        let reader = if host == Host::Claude { other } else { &host };
        format!(
            "{} runs the hooks of claude, too: before a tool loopx is asked twice there, and says the same twice",
            reader.name()
        )
    }));
    Ok(Plan { host, scope, edits, notes })
}

/// What taking `host` out again would change. Nothing is written.
pub fn plan_uninstall(ctx: &Ctx, homes: &Homes, host: Host, scope: Scope) -> Result<Plan, Error> {
    let notes = notes(ctx, homes, scope);
    let mut edits = Vec::new();
    for (place, form) in places(ctx, homes, host, scope)? {
        let Some(text) = place.read()? else { continue };
        let about = |trouble: Trouble| trouble.about(&place.shown());
        if form.standing(&text, host).map_err(about)? == Standing::Absent {
            continue;
        }
        let candidates = form.remove(&text, host).map_err(about)?;
        let before = notes.before(&place.file);
        let exact = before.and_then(|before| candidates.iter().find(|text| before.was(text.as_deref())));
        // More than what is ours has changed since: a file that was there before stays.
        let stays = |text: &&Option<String>| text.is_some() || before.is_none_or(|before| before.was(None));
        let after = exact.or_else(|| candidates.iter().find(stays)).cloned().flatten();
        edits.push(Edit { was: place.before(Some(&text)), place, form, before: Some(text), after });
    }
    Ok(Plan { host, scope, edits, notes: Vec::new() })
}

/// Writes what was planned for an installation: all of it, or, where a file cannot be written, nothing.
pub fn install(ctx: &Ctx, homes: &Homes, plan: &Plan) -> Result<Applied, Error> {
    let mut notes = notes(ctx, homes, plan.scope);
    write(plan)?;
    for edit in &plan.edits {
        let stood = |text: &str| edit.form.standing(text, plan.host) != Ok(Standing::Absent);
        if !edit.before.as_deref().is_some_and(stood) {
            notes.remember(&edit.place.file, edit.was.clone());
        }
    }
    // Without it nothing is lost but the last byte of a file that had an empty list in it.
    let _ = notes.save();
    Ok(applied(plan))
}

/// Writes what was planned for the end of an installation. It takes a person, because nobody is asked there from then on.
pub fn uninstall(ctx: &Ctx, homes: &Homes, plan: &Plan, _proven: &Proven) -> Result<Applied, Error> {
    let mut notes = notes(ctx, homes, plan.scope);
    write(plan)?;
    for edit in &plan.edits {
        let made = notes.forget(&edit.place.file);
        if edit.after.is_none() {
            edit.place.sweep(made);
        }
    }
    let _ = notes.save();
    Ok(applied(plan))
}

/// What was looked at only.
pub fn looked_at(plan: &Plan) -> Applied {
    Applied { dry_run: true, ..applied(plan) }
}

fn applied(plan: &Plan) -> Applied {
    Applied {
        host: plan.host,
        scope: plan.scope,
        files: plan.edits.iter().map(|edit| edit.place.file.clone()).collect(),
        diff: plan.diff(),
        dry_run: false,
        notes: plan.notes.clone(),
    }
}

/// Writes all files or, when one cannot be written, puts back those that were.
fn write(plan: &Plan) -> Result<(), Error> {
    for (at, edit) in plan.edits.iter().enumerate() {
        // Somebody may have changed it while the diff was looked at.
        let written = match edit.place.read()? == edit.before {
            true => edit.place.write(edit.after.as_deref()),
            false => Err(Error::new(
                Kind::Conflict,
                format!("`{}` was changed in the meantime", edit.place.shown()),
            )
            .hint("look at the difference again")),
        };
        if let Err(error) = written {
            for done in plan.edits[..at].iter().rev() {
                if done.place.write(done.before.as_deref()).is_ok() && done.before.is_none() {
                    done.place.sweep(Some(done.was.made));
                }
            }
            return Err(error);
        }
    }
    Ok(())
}

/// The files of a host, with how each is edited.
fn places(ctx: &Ctx, homes: &Homes, host: Host, scope: Scope) -> Result<Vec<(Place, Form)>, Error> {
    let nowhere = |what: String| Error::new(Kind::Refused, what);
    let base = match scope {
        Scope::Project => ctx.store.git().worktree().ok_or_else(|| {
            nowhere("this repository is bare, and a project's settings lie in a worktree".into())
                .hint("run it in a worktree, or with `--scope user`")
        })?,
        Scope::User => homes.of(host).ok_or_else(|| match host {
            Host::AgentsMd => nowhere("`AGENTS.md` is a project's page".into())
                .hint("run `loopx host install agents-md --scope project`"),
            _ => nowhere("it is not known where your home is".into()).hint("set `HOME`"),
        })?,
    };
    let mut found = Vec::new();
    for part in host.parts() {
        let below = match scope {
            Scope::Project => part.project,
            Scope::User => part.user,
        };
        if let Some(below) = below {
            found.push((Place::at(&base, below, scope)?, part.form));
        }
    }
    Ok(found)
}

fn notes(ctx: &Ctx, homes: &Homes, scope: Scope) -> Notes {
    let folder = match scope {
        Scope::Project => Some(ctx.store.git().common_dir().to_path_buf()),
        Scope::User => homes.state(),
    };
    Notes::load(folder.map(|folder| folder.join("loopx/hosts")))
}

/// What is known of a host.
#[derive(Debug, Serialize)]
pub struct Found {
    pub host: Host,
    /// What shows that it is there: programs and folders.
    pub seen: Vec<PathBuf>,
    /// What is installed, by scope; only scopes that the host has.
    pub installed: Vec<Installed>,
}

/// What is installed of a host in one scope.
#[derive(Debug, Serialize)]
pub struct Installed {
    pub scope: Scope,
    pub standing: Standing,
    pub files: Vec<File>,
}

/// One file of a host.
#[derive(Debug, Serialize)]
pub struct File {
    pub file: PathBuf,
    pub standing: Standing,
    /// Why it cannot be read, or null.
    pub problem: Option<String>,
    #[serde(skip)]
    pub shown: String,
}

/// Every host that loopx knows. Nothing is written.
pub fn list(ctx: &Ctx, homes: &Homes, programs: &[PathBuf]) -> Vec<Found> {
    let top = ctx.store.git().worktree();
    let found = Host::ALL.into_iter().map(|host| {
        let (names, folder) = host.traces();
        let files = names.iter().flat_map(|name| programs.iter().map(move |folder| folder.join(name)));
        let program = files.into_iter().find(|file| file.is_file());
        let folders = [homes.of(host), top.as_ref().zip(folder).map(|(top, folder)| top.join(folder))];
        let folders = folders.into_iter().flatten().filter(|folder| folder.exists());
        let installed = Scope::ALL.into_iter().filter_map(|scope| installed(ctx, homes, host, scope));
        Found { host, seen: program.into_iter().chain(folders).collect(), installed: installed.collect() }
    });
    found.collect()
}

fn installed(ctx: &Ctx, homes: &Homes, host: Host, scope: Scope) -> Option<Installed> {
    let places = places(ctx, homes, host, scope).ok()?;
    let files: Vec<File> = places
        .into_iter()
        .map(|(place, form)| {
            let looked = place.read().and_then(|text| match text {
                None => Ok(Standing::Absent),
                Some(text) => form.standing(&text, host).map_err(|trouble| trouble.about(&place.shown())),
            });
            let problem = looked.as_ref().err().map(|error| error.message.clone());
            let standing = looked.unwrap_or(Standing::Absent);
            File { shown: place.shown(), file: place.file, standing, problem }
        })
        .collect();
    let all = |wanted| files.iter().all(|file| file.standing == wanted);
    let standing = match () {
        () if all(Standing::Absent) => Standing::Absent,
        () if all(Standing::Intact) => Standing::Intact,
        () => Standing::Changed,
    };
    (!files.is_empty()).then_some(Installed { scope, standing, files })
}

fn stands(ctx: &Ctx, homes: &Homes, host: Host, scope: Scope) -> Option<Standing> {
    installed(ctx, homes, host, scope).map(|installed| installed.standing)
}

/// The hosts that this worktree has something of ours for.
pub fn asking(ctx: &Ctx) -> Vec<Host> {
    let asks = |host: &Host| {
        stands(ctx, &Homes::default(), *host, Scope::Project)
            .is_some_and(|standing| standing != Standing::Absent)
    };
    Host::ALL.into_iter().filter(asks).collect()
}

/// Where something is installed and not as it should be: the files, and the command that helps.
pub fn damaged(ctx: &Ctx, homes: &Homes) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for host in Host::ALL {
        for scope in Scope::ALL {
            let Some(installed) = installed(ctx, homes, host, scope) else { continue };
            if installed.standing != Standing::Changed {
                continue;
            }
            let files = installed.files.iter().filter(|file| file.standing != Standing::Intact);
            let files: Vec<String> = files.map(|file| format!("`{}`", file.shown)).collect();
            let problem = format!(
                "what loopx installed for {} is damaged or of another version: {}",
                host.name(),
                files.join(", ")
            );
            let scope = if scope == Scope::Project { "" } else { " --scope user" };
            found.push((problem, format!("loopx host install {}{scope}", host.name())));
        }
    }
    found
}

/// See [`crate::fuzz`]: whatever a user's file says, what goes in comes out again, and every character of theirs stays in its order.
#[cfg(any(test, fuzzing))]
pub fn promises(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for host in Host::ALL {
        for form in host.parts().iter().map(|part| part.form) {
            if form.standing(text, host) != Ok(Standing::Absent) {
                let _ = (form.install(Some(text), host), form.remove(text, host));
                continue;
            }
            let Ok(new) = form.install(Some(text), host) else { continue };
            // Only what is between the brackets of an empty list gives way.
            let (mut rest, mut said) = (new.chars(), text.chars().filter(|c| !c.is_whitespace()));
            assert!(said.all(|c| rest.any(|other| other == c)), "something was lost in {new}");
            assert_eq!(form.standing(&new, host), Ok(Standing::Intact), "{new}");
            assert_eq!(form.install(Some(&new), host).as_ref(), Ok(&new));
            let candidates = form.remove(&new, host).expect("what went in comes out");
            assert!(!candidates.is_empty());
            for candidate in candidates.iter().flatten() {
                assert_eq!(form.standing(candidate, host), Ok(Standing::Absent), "{candidate}");
            }
        }
    }
}

#[cfg(test)]
mod tests;
