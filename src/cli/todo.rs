use std::path::{Path, PathBuf};

use super::Said;
use crate::{
    caller::Challenge,
    domain::{
        actor::Proven,
        command::{CommandLine, Ended, printed},
        decision::Obstacle,
        id::{Capability, EvidenceId, GateId, GoalId, TodoId, TodoPrefix},
        text::{Note, Title},
        time::Seconds,
        todo::{Check, LEASE, Looked, Priority, TodoState, Worker},
        worklist::Worklist,
    },
    error::{Error, Kind},
    ops::{
        self, Ctx, Done,
        todo::{Branched, Completion, Edits, Filter, Loosens, Ran, Ready, TodoView},
    },
    process::Process,
    text::{Count, Table},
};

const PRIORITIES: [&str; 4] = ["p0", "p1", "p2", "p3"];
const WORKERS: [&str; 2] = ["agent", "person"];

#[derive(Debug, clap::Subcommand)]
pub(super) enum Todo {
    /// Add a todo, or with `--from` everything of a list
    Add(Add),
    /// List the todos that are not closed, or those of all that fit
    List {
        /// Only this goal's
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// Recently closed ones, too; with anything else asked for, all there ever were
        #[arg(long)]
        all: bool,
        /// Only those with this text in title, body or reason
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// Only those in this state; may be given several times
        #[arg(long, value_parser = ["open", "claimed", "blocked", "done", "dropped"])]
        state: Vec<String>,
        /// Only those this urgent; may be given several times
        #[arg(long, value_parser = PRIORITIES)]
        priority: Vec<String>,
        /// Only this one's work
        #[arg(long = "for", value_name = "WHO", value_parser = WORKERS)]
        for_: Option<String>,
        /// Only those that this agent or person has now
        #[arg(long, value_name = "NAME")]
        claimed_by: Option<String>,
        /// Only those that need this todo
        #[arg(long, value_name = "TODO")]
        needs: Option<TodoPrefix>,
        /// Only those that ask the host for this
        #[arg(long, value_name = "CAPABILITY")]
        requires: Option<Capability>,
        /// Only monitors
        #[arg(long)]
        monitors: bool,
    },
    /// List what you could claim now, the best first, and say what keeps the rest away
    Ready {
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// What the host can do; `shell` when left out
        #[arg(long, value_name = "CAPABILITY", default_value = "shell")]
        capability: Vec<Capability>,
    },
    /// Show one todo
    Show {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
    },
    /// Take a todo, or renew a claim
    Claim {
        /// The todo, or an unambiguous beginning of its id
        #[arg(required_unless_present = "next", conflicts_with = "next")]
        todo: Option<TodoPrefix>,
        /// Take what `quota should-run` would name, in one step
        #[arg(long)]
        next: bool,
        /// The goal for `--next`; may be left out when one is active
        #[arg(long, value_name = "GOAL", requires = "next")]
        goal_id: Option<GoalId>,
        /// What the host can do, for `--next`; `shell` when left out
        #[arg(long, value_name = "CAPABILITY", default_value = "shell")]
        capability: Vec<Capability>,
        /// How long the claim holds, such as `45m`
        #[arg(long, value_name = "TIME", value_parser = lease)]
        ttl: Option<Seconds>,
    },
    /// Say that you are still at it: hold a claim for longer
    Renew {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
        /// How long the claim holds from now on, such as `45m`; as long as it was taken for when left out
        #[arg(long, value_name = "TIME", value_parser = lease)]
        ttl: Option<Seconds>,
    },
    /// Give a claim back
    Release {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
    },
    /// Complete a todo; its check runs first, and has to exit with 0
    Done {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
        /// Evidence for it; may be given several times
        #[arg(long, value_name = "EVIDENCE")]
        evidence: Vec<EvidenceId>,
        /// What came of it
        #[arg(long, value_name = "TEXT")]
        note: Option<Note>,
    },
    /// Give a todo up
    Drop {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Note,
    },
    /// Open a closed todo again
    Reopen {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<Note>,
    },
    /// Stop a todo until somebody frees it
    Block {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Note,
        /// A gate whose yes frees it
        #[arg(long, value_name = "GATE")]
        on: Option<GateId>,
    },
    /// Free a blocked todo
    Unblock {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<Note>,
    },
    /// Make parts of a todo, which it needs from then on
    Split {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
        /// The parts
        #[arg(long, value_name = "TITLE", required = true, num_args = 1..)]
        into: Vec<Title>,
    },
    /// Change a todo: by options, or in your editor when there are none
    Edit(Edit),
    /// Say what a look at a monitor found; costs no quota
    #[command(group(clap::ArgGroup::new("found").required(true).multiple(true)))]
    Poll {
        /// The todo, or an unambiguous beginning of its id
        todo: TodoPrefix,
        /// What there is, in words that tell it from something else: loopx says whether it is new
        #[arg(long, value_name = "TEXT", group = "found", conflicts_with = "same")]
        fingerprint: Option<Title>,
        /// Nothing is new
        #[arg(long, group = "found", conflicts_with = "changed")]
        same: bool,
        /// Something is new
        #[arg(long, group = "found")]
        changed: bool,
        /// A todo to add if something is new
        #[arg(long, value_name = "TITLE", conflicts_with = "same")]
        follow_up: Option<Title>,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct Add {
    /// What is to be done
    #[arg(required_unless_present = "from")]
    title: Option<Title>,
    /// The goal; may be left out when one is active
    #[arg(long, value_name = "GOAL")]
    goal_id: Option<GoalId>,
    /// More about it
    #[arg(long, value_name = "TEXT")]
    body: Option<Note>,
    /// Whose work it is
    #[arg(long = "for", value_name = "WHO", default_value = "agent", value_parser = WORKERS)]
    for_: String,
    /// How urgent it is
    #[arg(long, default_value = "p2", value_parser = PRIORITIES)]
    priority: String,
    /// A todo that has to be closed first; may be given several times
    #[arg(long, value_name = "TODO")]
    needs: Vec<TodoPrefix>,
    /// What the host has to be able to do, such as `network`; may be given several times
    #[arg(long, value_name = "CAPABILITY")]
    requires: Vec<Capability>,
    /// A command that has to exit with 0 before it is done, such as 'cargo test'; no shell reads it
    #[arg(long, value_name = "CMD", value_parser = CommandLine::typed)]
    check: Option<CommandLine>,
    /// How long the check may take; `5m` when left out
    #[arg(long, value_name = "TIME", requires = "check", value_parser = timeout)]
    check_timeout: Option<Seconds>,
    /// Makes it a monitor: something to look at again and again, such as every `1h`
    #[arg(long, value_name = "TIME", value_parser = every)]
    every: Option<Seconds>,
    /// A list of todos, to be added in one commit or not at all; `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["title", "body", "needs", "requires", "check", "every"])]
    from: Option<PathBuf>,
    /// How the list is written: `- [ ] title`, where an item needs those indented below it, or JSON objects, one a line;
    /// told by its looks when left out
    #[arg(long, requires = "from", value_parser = ["markdown", "jsonl"])]
    format: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Edit {
    /// The todo, or an unambiguous beginning of its id
    todo: TodoPrefix,
    /// What is to be done
    #[arg(long, value_name = "TEXT")]
    title: Option<Title>,
    /// More about it
    #[arg(long, value_name = "TEXT")]
    body: Option<Note>,
    /// Take the body away
    #[arg(long, conflicts_with = "body")]
    no_body: bool,
    /// Whose work it is
    #[arg(long = "for", value_name = "WHO", value_parser = WORKERS)]
    for_: Option<String>,
    /// How urgent it is
    #[arg(long, value_parser = PRIORITIES)]
    priority: Option<String>,
    /// A todo more that has to be closed first; may be given several times
    #[arg(long, value_name = "TODO")]
    needs: Vec<TodoPrefix>,
    /// A todo that need not be closed first any more; may be given several times
    #[arg(long, value_name = "TODO")]
    no_needs: Vec<TodoPrefix>,
    /// What the host has to be able to do besides; may be given several times
    #[arg(long, value_name = "CAPABILITY")]
    requires: Vec<Capability>,
    /// What the host need not be able to do any more; may be given several times
    #[arg(long, value_name = "CAPABILITY")]
    no_requires: Vec<Capability>,
    /// A command that has to exit with 0 before it is done; another one in its place takes a person
    #[arg(long, value_name = "CMD", value_parser = CommandLine::typed)]
    check: Option<CommandLine>,
    /// How long the check may take; `5m` when left out
    #[arg(long, value_name = "TIME", requires = "check", value_parser = timeout)]
    check_timeout: Option<Seconds>,
    /// Take the check away (a person at a terminal only)
    #[arg(long, conflicts_with = "check")]
    no_check: bool,
    /// How often to look, if it is a monitor
    #[arg(long, value_name = "TIME", value_parser = every)]
    every: Option<Seconds>,
}

impl Todo {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Add(Add { from: Some(from), format, goal_id, .. }) => {
                let list = list(process, ctx, &from, format.as_deref())?;
                let done = ops::todo::add_all(ctx, goal_id.as_ref(), &list)?;
                let added = &done.value;
                let skipped = match added.skipped {
                    0 => String::new(),
                    done => format!(
                        "; left out {} that {} done",
                        Count(done, "item"),
                        if done == 1 { "is" } else { "are" }
                    ),
                };
                let needing = match added.needing {
                    0 => String::new(),
                    1 => ", 1 of which needs others of the list".to_owned(),
                    many => format!(", {many} of which need others of the list"),
                };
                let text = format!("added {}{needing}{skipped}\n", Count(added.todos.len(), "todo"));
                let text = text + &table(ctx, added.todos.iter()).to_string();
                Ok(Said { text, ..Said::done(&done, "") })
            }
            Self::Add(add) => {
                let title =
                    add.title.ok_or_else(|| Error::new(Kind::Usage, "nothing was given to be done"))?;
                let request = ops::todo::Request {
                    goal: add.goal_id,
                    title,
                    body: add.body,
                    for_: worker_of(&add.for_),
                    priority: priority_of(&add.priority),
                    needs: add.needs,
                    requires: add.requires.into_iter().collect(),
                    check: add.check.map(|argv| check_of(argv, add.check_timeout)),
                    every: add.every,
                };
                let done = ops::todo::add(ctx, &request)?;
                let text = format!("added todo {}: {}", done.value.id, done.value.todo.title);
                Ok(Said::done(&done, &text))
            }
            Self::List {
                goal_id: goal,
                all,
                search,
                state: states,
                priority,
                for_,
                claimed_by,
                needs,
                requires,
                monitors,
            } => {
                let filter = Filter {
                    goal,
                    all: all || states.iter().any(|state| state == "done" || state == "dropped"),
                    search,
                    states,
                    priorities: priority.iter().map(|word| priority_of(word)).collect(),
                    for_: for_.map(|word| worker_of(&word)),
                    claimed_by,
                    needs,
                    requires,
                    monitors,
                };
                let todos = ops::todo::list(ctx, &filter)?;
                Ok(Said::read(&todos, table(ctx, todos.todos.iter()).to_string()))
            }
            Self::Ready { goal_id, capability } => {
                let ready = ops::todo::ready(ctx, goal_id.as_ref(), capability.into_iter().collect())?;
                Ok(Said::read(&ready, say_ready(ctx, &ready)))
            }
            Self::Show { todo } => {
                let view = ops::todo::show(ctx, &todo)?;
                Ok(Said::read(&view, say(ctx, &view)))
            }
            Self::Claim { todo, next: _, goal_id, capability, ttl } => {
                let lease = ttl.unwrap_or(LEASE);
                match todo {
                    Some(todo) => Ok(claimed(ctx, &ops::todo::claim(ctx, &todo, lease)?, "")),
                    None => {
                        let can = capability.into_iter().collect();
                        let done = ops::todo::claim_next(ctx, goal_id.as_ref(), can, lease)?;
                        Ok(claimed(ctx, &done, &format!(" ({})", done.value.todo.title)))
                    }
                }
            }
            Self::Renew { todo, ttl } => {
                let done = ops::todo::renew(ctx, &todo, ttl)?;
                let until = until(&done.value);
                Ok(Said::done(&done, &format!("the claim on todo {} holds{until}", done.value.id)))
            }
            Self::Release { todo } => {
                let done = ops::todo::release(ctx, &todo)?;
                let text = format!("released todo {}", done.value.id);
                Ok(Said::done(&done, &text))
            }
            Self::Done { todo, evidence, note } => complete(process, ctx, &todo, evidence, note),
            Self::Drop { todo, reason } => {
                let proven = match ops::todo::plan_drop(ctx, &todo, &reason)? {
                    None => None,
                    Some(loosens) => {
                        let command = format!("loopx todo drop {} --reason \"<why>\"", loosens.todo);
                        Some(confirm(process, ctx, loosens, command)?)
                    }
                };
                let done = ops::todo::drop(ctx, &todo, &reason, proven.as_ref())?;
                Ok(Said::done(&done, &format!("dropped todo {}: {}", done.value.id, done.value.todo.title)))
            }
            Self::Reopen { todo, reason } => {
                let done = ops::todo::reopen(ctx, &todo, reason.as_ref())?;
                Ok(Said::done(&done, &format!("reopened todo {}: {}", done.value.id, done.value.todo.title)))
            }
            Self::Block { todo, reason, on } => {
                let done = ops::todo::block(ctx, &todo, on.as_ref(), &reason)?;
                Ok(Said::done(&done, &format!("blocked todo {}", done.value.id)))
            }
            Self::Unblock { todo, reason } => {
                let done = ops::todo::unblock(ctx, &todo, reason.as_ref())?;
                Ok(Said::done(&done, &format!("unblocked todo {}", done.value.id)))
            }
            Self::Split { todo, into } => {
                let done = ops::todo::split(ctx, &todo, &into)?;
                let parts = Count(done.value.new.len(), "part");
                let text = format!("split todo {} into {parts}, which it needs now", done.value.view.id);
                Ok(branched(ctx, &done, &text))
            }
            Self::Edit(edit) => edit.run(process, ctx),
            Self::Poll { todo, fingerprint, same, changed, follow_up } => {
                let looked = match (fingerprint, same, changed) {
                    (fingerprint, _, true) => Looked::Changed(fingerprint),
                    (Some(fingerprint), ..) => Looked::Saw(fingerprint),
                    (None, ..) => Looked::Same,
                };
                let done = ops::todo::poll(ctx, &todo, &looked, follow_up.as_ref())?;
                let view = &done.value.view;
                let Some(monitor) = &view.todo.monitor else { return Ok(branched(ctx, &done, "polled")) };
                let found = match (done.value.changed, monitor.unchanged) {
                    (Some(true), _) => "something is new".to_owned(),
                    (_, 0) => "this is what there is to begin with".to_owned(),
                    (_, unchanged) => format!("nothing new, {unchanged} in a row"),
                };
                let text = format!("polled todo {}: {found}; due again at {}", view.id, monitor.next_due);
                Ok(branched(ctx, &done, &text))
            }
        }
    }
}

impl Edit {
    fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let mut command = format!("loopx todo edit {}", self.todo);
        let mut edits = Edits {
            title: self.title,
            body: self.body.map(Some).or(self.no_body.then_some(None)),
            for_: self.for_.map(|word| worker_of(&word)),
            priority: self.priority.map(|word| priority_of(&word)),
            needs: self.needs,
            no_needs: self.no_needs,
            requires: self.requires,
            no_requires: self.no_requires,
            check: match self.check {
                Some(argv) => Some(Some(check_of(argv, self.check_timeout))),
                None => self.no_check.then_some(None),
            },
            every: self.every,
        };
        if edits == Edits::default() {
            edits = in_editor(process, ctx, &self.todo)?;
        }
        match &edits.check {
            Some(Some(check)) => command.push_str(&format!(" --check '{}'", check.argv)),
            Some(None) => command.push_str(" --no-check"),
            None => {}
        }
        let proven = match ops::todo::plan_edit(ctx, &self.todo, &edits)? {
            None => None,
            Some(loosens) => Some(confirm(process, ctx, loosens, command)?),
        };
        let done = ops::todo::edit(ctx, &self.todo, &edits, proven.as_ref())?;
        let said = Said::done(&done, &format!("changed todo {}", done.value.view.id));
        match done.commit {
            None => Ok(Said { text: format!("nothing changed in todo {}\n", done.value.view.id), ..said }),
            Some(_) => {
                let lines = done.value.diff.lines().filter(|line| !line.starts_with("@@"));
                let diff: String = lines.map(|line| format!("  {line}\n")).collect();
                Ok(Said { text: said.text.clone() + &diff, ..said })
            }
        }
    }
}

/// A todo as people edit it.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    title: Title,
    priority: Priority,
    #[serde(rename = "for")]
    for_: Worker,
    #[serde(default)]
    needs: Vec<TodoPrefix>,
    #[serde(default)]
    requires: Vec<Capability>,
    #[serde(default)]
    body: String,
}

/// Lets the user edit the todo, and says what they changed.
fn in_editor(process: &Process, ctx: &Ctx, todo: &TodoPrefix) -> Result<Edits, Error> {
    if !process.stdin_is_terminal() {
        return Err(Error::new(
            Kind::Usage,
            "nothing was given to be changed, and there is no terminal to edit at",
        )
        .hint(format!("give an option, such as `loopx todo edit {todo} --priority p1`")));
    }
    let view = ops::todo::show(ctx, todo)?;
    let before = &view.todo;
    let prefix = |id: &TodoId| id.as_str().parse::<TodoPrefix>();
    let form = Form {
        title: before.title.clone(),
        priority: before.priority,
        for_: before.for_,
        needs: before.needs.iter().filter_map(|id| prefix(id).ok()).collect(),
        requires: before.requires.iter().cloned().collect(),
        body: before.body.as_ref().map(|body| format!("{}\n", body.as_str().trim_end())).unwrap_or_default(),
    };
    let environment = |what: &str, error: &dyn std::fmt::Display| {
        Error::new(Kind::Environment, format!("{what}: {error}"))
            .hint(format!("give an option instead, such as `loopx todo edit {todo} --priority p1`"))
    };
    let text =
        toml::to_string_pretty(&form).map_err(|error| environment("the todo cannot be shown", &error))?;
    let text = format!(
        "# Todo {}. Save and leave to change it; leave it as it is to change nothing.\n{text}",
        view.id
    );
    let file = tempfile::Builder::new().prefix("loopx-").suffix(".toml").tempfile();
    let file = file.map_err(|error| environment("there is no room for a file to edit", &error))?;
    let failed = |error: std::io::Error| environment("the editor cannot be started", &error);
    std::fs::write(file.path(), &text).map_err(failed)?;
    if !process.edit(file.path()).map_err(failed)? {
        return Err(Error::new(Kind::Refused, "the editor did not end well, so nothing was changed")
            .hint("say which editor you want with `export EDITOR=<editor>`"));
    }
    let edited = std::fs::read_to_string(file.path()).map_err(failed)?;
    let edited: Form = toml::from_str(&edited).map_err(|error| {
        let why = error.message().lines().next().unwrap_or_default().to_owned();
        Error::new(Kind::Usage, format!("what was saved is no todo, so nothing was changed: {why}"))
            .hint(format!("run `loopx todo edit {todo}` again"))
    })?;
    let body = Note::fit(&edited.body).map(|(note, _)| note);
    let trimmed = |body: &Option<Note>| body.as_ref().map(|body| body.as_str().trim().to_owned());
    let gone = |id: &&TodoId| !edited.needs.iter().any(|need| need.matches(id.as_str()));
    Ok(Edits {
        title: (edited.title != form.title).then(|| edited.title.clone()),
        body: (trimmed(&body) != trimmed(&before.body)).then_some(body),
        for_: (edited.for_ != form.for_).then_some(edited.for_),
        priority: (edited.priority != form.priority).then_some(edited.priority),
        no_needs: before.needs.iter().filter(gone).filter_map(|id| prefix(id).ok()).collect(),
        needs: edited.needs.iter().filter(|need| !form.needs.contains(need)).cloned().collect(),
        no_requires: form.requires.iter().filter(|it| !edited.requires.contains(it)).cloned().collect(),
        requires: edited.requires,
        check: None,
        every: None,
    })
}

/// Most bytes of a list.
const LIST: u64 = 8 * 1024 * 1024;

fn list(process: &Process, ctx: &Ctx, from: &Path, format: Option<&str>) -> Result<Worklist, Error> {
    let shown = crate::domain::text::shown(&from.to_string_lossy(), 200);
    let bytes = match from == Path::new("-") {
        true => process.stdin(LIST + 1),
        false => std::fs::read(ctx.cwd.join(from)),
    };
    let bytes = bytes.map_err(|error| {
        Error::new(Kind::Environment, format!("the list `{shown}` cannot be read: {error}"))
            .hint("check the path; `-` is standard input")
    })?;
    let unfit = |why: &str| {
        Error::new(Kind::Usage, format!("nothing was added: {why}"))
            .hint("run `loopx todo add --help` for how a list is written")
    };
    if bytes.len() as u64 > LIST {
        return Err(unfit("the list has more than 8 MiB"));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| unfit("the list is no UTF-8 text"))?;
    let is_json = match format {
        Some(format) => format == "jsonl",
        None => text.trim_start().starts_with('{'),
    };
    let read = if is_json { Worklist::json_lines(text) } else { Worklist::markdown(text) };
    let list = read.map_err(|bad| unfit(&bad.to_string()))?;
    match (list.entries.is_empty(), list.skipped) {
        (true, 0) => Err(unfit("the list has no todos")),
        _ => Ok(list),
    }
}

/// Completes a todo, after its check if it has one.
fn complete(
    process: &Process,
    ctx: &Ctx,
    todo: &TodoPrefix,
    evidence: Vec<EvidenceId>,
    note: Option<Note>,
) -> Result<Said, Error> {
    let mut completion = Completion { evidence: evidence.into_iter().collect(), note, ran: None };
    if let Some((id, check)) = ops::todo::to_run(ctx, todo, &completion)? {
        completion.ran = Some(checked(process, ctx, &id, &check)?);
    }
    let done = ops::todo::done(ctx, todo, &completion)?;
    let said = Said::done(&done, &format!("completed todo {}: {}", done.value.id, done.value.todo.title));
    match &completion.ran {
        None => Ok(said),
        Some(ran) => {
            let text = format!(
                "{}its check `{}` passed in {}, which is kept as evidence\n",
                said.text,
                ran.argv,
                ctx.now.age(ran.ended)
            );
            Ok(Said { text, ..said })
        }
    }
}

/// Last lines of a check that are told when it fails.
const LINES: usize = 10;

pub(super) fn checked(process: &Process, ctx: &Ctx, id: &TodoId, check: &Check) -> Result<Ran, Error> {
    let argv = &check.argv;
    if !process.starts_commands() {
        let what = format!("todo `{id}` has a check, `{argv}`, and no command is started from here");
        return Err(Error::new(Kind::Refused, what)
            .hint(format!("run `loopx todo done {id}` where your commands run")));
    }
    let dir = ctx.store.git().worktree().unwrap_or_else(|| ctx.cwd.clone());
    if process.stderr_is_terminal() {
        process.err(&format!("running the check `{argv}`\n"));
    }
    let heard = process.listen(argv.words(), &dir, check.timeout).map_err(|error| {
        let program = argv.words().first().map_or("", String::as_str);
        Error::new(Kind::Environment, format!("the check `{argv}` of todo `{id}` cannot be started: {error}"))
            .hint(format!("look whether it is there with `command -v {program}`"))
    })?;
    let words = &heard.words;
    let output = printed(&words.head, &words.tail, words.left_out, 6 * 1024);
    let how = match heard.ended {
        Some(Ended::Exit(0)) => {
            let output = Note::fit(&output).map(|(note, _)| note);
            return Ok(Ran { argv: argv.clone(), ended: process.now(), output });
        }
        Some(ended @ Ended::Exit(_)) => format!("ended with {ended}"),
        Some(ended) => format!("was {ended}"),
        None => format!("took longer than {} and was ended", check.timeout),
    };
    let lines: Vec<&str> = output.lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    let last: String = last.iter().map(|line| format!("\n  {line}").trim_end().to_owned()).collect();
    Err(Error::new(Kind::Refused, format!("todo `{id}` is not done: its check `{argv}` {how}{last}"))
        .hint(format!("make it pass and run `loopx todo done {id}` again")))
}

/// Asks whoever sits at the terminal to type the todo's id.
fn confirm(process: &Process, ctx: &Ctx, loosens: Loosens, command: String) -> Result<Proven, Error> {
    let Loosens { todo, title, what } = loosens;
    let shows = format!("todo {todo}: {title}\n");
    ctx.caller.prove(process, &ctx.owner()?, &Challenge { what, shows, word: todo.to_string(), command })
}

/// What was done to a todo, and the todos that came of it.
fn branched(ctx: &Ctx, done: &Done<Branched>, line: &str) -> Said {
    let said = Said::done(done, line);
    let text = said.text.clone() + &table(ctx, done.value.new.iter()).to_string();
    Said { text, ..said }
}

fn claimed(ctx: &Ctx, done: &Done<TodoView>, title: &str) -> Said {
    let view = &done.value;
    let from = match &view.todo.state {
        TodoState::Claimed { by, since, taken_from: Some(from), .. } if from != by && *since == ctx.now => {
            format!(" (taken over from {})", from.name())
        }
        _ => String::new(),
    };
    Said::done(done, &format!("claimed todo {}{title}{}{from}", view.id, until(view)))
}

fn until(view: &TodoView) -> String {
    match &view.todo.state {
        TodoState::Claimed { lease_until, .. } => format!(" until {lease_until}"),
        _ => String::new(),
    }
}

fn say_ready(ctx: &Ctx, ready: &Ready) -> String {
    let mut text = table(ctx, ready.todos.iter()).to_string();
    if ready.todos.is_empty() {
        text = format!("nothing of goal {} can be claimed now\n", ready.goal);
    }
    let away = Obstacle::ALL.into_iter().filter_map(|obstacle| {
        let count = ready.kept_away.get(obstacle.word())?;
        Some(format!("{count} {}", ops::todo::said(obstacle)))
    });
    let away: Vec<String> = away.collect();
    if !away.is_empty() {
        text.push_str(&format!("not now: {}\n", away.join(", ")));
    }
    text
}

pub(super) fn lease(text: &str) -> Result<Seconds, String> {
    match text.parse::<Seconds>() {
        Ok(lease) if lease.0 < 60 => Err("a claim holds for a minute at least".into()),
        Ok(lease) => Ok(lease),
        Err(bad) => Err(bad.to_string()),
    }
}

fn every(text: &str) -> Result<Seconds, String> {
    match text.parse::<Seconds>() {
        Ok(every) if every.0 < 60 => Err("a monitor waits for a minute at least".into()),
        Ok(every) => Ok(every),
        Err(bad) => Err(bad.to_string()),
    }
}

/// A number alone is seconds.
fn timeout(text: &str) -> Result<Seconds, String> {
    let seconds = text.parse().map(Seconds).or_else(|_| text.parse::<Seconds>());
    match seconds {
        Ok(Seconds(1..=86_400)) => seconds.map_err(|bad| bad.to_string()),
        Ok(_) => Err("a check may take a second to a day".into()),
        Err(bad) => Err(bad.to_string()),
    }
}

fn check_of(argv: CommandLine, timeout: Option<Seconds>) -> Check {
    Check { argv, timeout: timeout.unwrap_or(Check::TIMEOUT) }
}

/// clap has checked the word.
fn worker_of(word: &str) -> Worker {
    if word == "person" { Worker::Person } else { Worker::Agent }
}

/// clap has checked the word.
fn priority_of(word: &str) -> Priority {
    match word {
        "p0" => Priority::P0,
        "p1" => Priority::P1,
        "p3" => Priority::P3,
        _ => Priority::P2,
    }
}

/// Todos, a line each.
pub(super) fn table<'a>(ctx: &Ctx, todos: impl Iterator<Item = &'a TodoView>) -> Table {
    let mut table = Table::default();
    for view in todos {
        let state = match &view.todo.state {
            TodoState::Claimed { by, lease_until, .. } if *lease_until > ctx.now => {
                format!("claimed by {}", by.name())
            }
            TodoState::Claimed { by, .. } => format!("claim of {} ran out", by.name()),
            TodoState::Open { .. } if view.todo.monitor.is_some() => due(ctx, &view.todo),
            TodoState::Open { .. } if view.todo.for_ == Worker::Person => "open, for a person".to_owned(),
            state => state.word().to_owned(),
        };
        table.row([&view.id, &view.todo.priority.word(), &state, &view.todo.title]);
    }
    table
}

/// When a monitor is due.
fn due(ctx: &Ctx, todo: &crate::domain::todo::Todo) -> String {
    match &todo.monitor {
        Some(monitor) if !monitor.is_due(ctx.now) => {
            format!("monitor, due in {}", ctx.now.age(monitor.next_due))
        }
        _ => "monitor, due".to_owned(),
    }
}

fn say(ctx: &Ctx, view: &TodoView) -> String {
    let todo = &view.todo;
    let ago = |at| super::status::ago(ctx, at);
    let list = |items: Vec<String>| items.join(", ");
    let mut table = Table::default();
    table.row([&"goal", &view.goal]);
    table.row([&"priority", &todo.priority.word()]);
    table.row([&"for", &if todo.for_ == Worker::Person { "person" } else { "agent" }]);
    if !todo.needs.is_empty() {
        table.row([&"needs", &list(todo.needs.iter().map(ToString::to_string).collect())]);
    }
    if !todo.requires.is_empty() {
        table.row([&"requires", &list(todo.requires.iter().map(ToString::to_string).collect())]);
    }
    if let Some(check) = &todo.check {
        table.row([&"check", &format!("{} (at most {})", check.argv, check.timeout)]);
    }
    if let Some(monitor) = &todo.monitor {
        let due = if monitor.is_due(ctx.now) { "now".to_owned() } else { format!("at {}", monitor.next_due) };
        table.row([&"monitor", &format!("every {}, due {due}", monitor.every)]);
        if let Some(polled) = &monitor.polled {
            let found = match monitor.unchanged {
                0 => String::new(),
                unchanged => format!(", nothing new {unchanged} in a row"),
            };
            table.row([&"polled", &format!("by {}, {}{found}", polled.by.name(), ago(polled.at))]);
        }
        if let Some(fingerprint) = &monitor.fingerprint {
            table.row([&"found", fingerprint]);
        }
    }
    table.row([&"added", &format!("by {}, {}", todo.added.by.name(), ago(todo.added.at))]);
    match &todo.state {
        TodoState::Open { .. } => table.row([&"state", &"open"]),
        TodoState::Claimed { by, since, lease_until, taken_from, .. } => {
            let from = taken_from.as_ref().filter(|from| *from != by);
            let from = from.map(|from| format!(", taken from {}", from.name())).unwrap_or_default();
            let state = format!("claimed by {}, {}{from}, until {lease_until}", by.name(), ago(*since));
            table.row([&"state", &state]);
        }
        TodoState::Blocked { on, reason, .. } => {
            let gate = on.as_ref().map(|on| format!(" by gate {on}")).unwrap_or_default();
            table.row([&"state", &format!("blocked{gate}: {}", reason.as_str().replace('\n', " "))]);
        }
        TodoState::Done { by, at, evidence, note, .. } => {
            table.row([&"state", &format!("done by {}, {}", by.name(), ago(*at))]);
            if !evidence.is_empty() {
                table.row([&"evidence", &list(evidence.iter().map(ToString::to_string).collect())]);
            }
            if let Some(note) = note {
                table.row([&"note", &note.as_str().replace('\n', " ")]);
            }
        }
        TodoState::Dropped { by, at, reason, .. } => {
            table.row([&"state", &format!("dropped by {}, {}: {reason}", by.name(), ago(*at))]);
        }
    }
    let body = todo.body.as_ref().map(|body| format!("\n{}\n", body.as_str().trim_end())).unwrap_or_default();
    format!("todo {}: {}\n{table}{body}", view.id, todo.title)
}
