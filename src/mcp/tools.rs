//! The tools: what each is called, what it takes, and the command it stands for.
//!
//! A tool's arguments are a struct here, whose documentation is what the agent reads. A field is called as the option of the
//! command, with `_` for `-`; a test in the command line's own module holds the two together, so nothing drifts apart.

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use schemars::{JsonSchema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    domain::{secret::clean, text::shown},
    error::{Error, Kind},
};

/// The question for a person, which is more than a command.
pub(crate) const GATE_ASK: &str = "gate_ask";

/// What a call does to the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// It adds, and what was there stays.
    Adds,
    /// The same, and a second time it changes nothing.
    AddsOnce,
    /// What was there may be over afterwards.
    Ends,
}

/// One tool.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    title: &'static str,
    pub(crate) effect: Effect,
    /// The command that it stands for.
    pub(crate) command: &'static [&'static str],
    /// The arguments that stand in the command without a name, in this order.
    pub(crate) places: &'static [&'static str],
    schema: fn() -> JsonObject,
    checked: fn(JsonObject) -> Result<JsonObject, String>,
}

/// Every tool, in the order in which they are listed.
pub(crate) const ALL: &[Spec] = &[
    spec::<Status>("status", "Status", Effect::Reads, &["status"], &[]),
    spec::<ShouldRun>("should_run", "May the loop go on?", Effect::Reads, &["quota", "should-run"], &[]),
    spec::<TurnBegin>("turn_begin", "Begin a turn", Effect::Adds, &["turn", "begin"], &[]),
    spec::<TurnEnd>("turn_end", "End a turn", Effect::AddsOnce, &["turn", "end"], &[]),
    spec::<TodoAdd>("todo_add", "Add a todo", Effect::Adds, &["todo", "add"], &["title"]),
    spec::<TodoList>("todo_list", "List todos", Effect::Reads, &["todo", "list"], &[]),
    spec::<TodoReady>("todo_ready", "What can be claimed", Effect::Reads, &["todo", "ready"], &[]),
    spec::<TodoNamed>("todo_show", "Show a todo", Effect::Reads, &["todo", "show"], &["todo"]),
    spec::<TodoClaim>("todo_claim", "Take a todo", Effect::Adds, &["todo", "claim"], &["todo"]),
    spec::<TodoRenew>("todo_renew", "Hold a claim for longer", Effect::Adds, &["todo", "renew"], &["todo"]),
    spec::<TodoRelease>(
        "todo_release",
        "Give a claim back",
        Effect::AddsOnce,
        &["todo", "release"],
        &["todo"],
    ),
    spec::<TodoBlock>("todo_block", "Block a todo", Effect::Adds, &["todo", "block"], &["todo"]),
    spec::<TodoUnblock>("todo_unblock", "Free a blocked todo", Effect::Adds, &["todo", "unblock"], &["todo"]),
    spec::<TodoDone>("todo_done", "Complete a todo", Effect::AddsOnce, &["todo", "done"], &["todo"]),
    spec::<TodoDrop>("todo_drop", "Give a todo up", Effect::Ends, &["todo", "drop"], &["todo"]),
    spec::<TodoSplit>("todo_split", "Split a todo", Effect::Adds, &["todo", "split"], &["todo"]),
    spec::<TodoPoll>("todo_poll", "Look at a monitor", Effect::Adds, &["todo", "poll"], &["todo"]),
    spec::<GateOpen>(
        "gate_open",
        "Ask a question that only a person may answer",
        Effect::Adds,
        &["gate", "open"],
        &["question"],
    ),
    spec::<GateList>("gate_list", "List gates", Effect::Reads, &["gate", "list"], &[]),
    spec::<GateShow>("gate_show", "Show a gate", Effect::Reads, &["gate", "show"], &["gate"]),
    spec::<GateAsk>(
        GATE_ASK,
        "Put a question to the person now",
        Effect::Adds,
        &["gate", "open"],
        &["question"],
    ),
    spec::<EvidenceAdd>("evidence_add", "Add evidence", Effect::Adds, &["evidence", "add"], &["todo"]),
    spec::<EvidenceList>("evidence_list", "List evidence", Effect::Reads, &["evidence", "list"], &["todo"]),
    spec::<EvidenceShow>("evidence_show", "Show evidence", Effect::Reads, &["evidence", "show"], &["id"]),
    spec::<Context>("context", "What a fresh agent needs to know", Effect::Reads, &["context"], &[]),
    spec::<HandoffWrite>(
        "handoff_write",
        "Leave a note for whoever goes on",
        Effect::Ends,
        &["handoff", "write"],
        &["text"],
    ),
    spec::<HandoffShow>(
        "handoff_show",
        "Show the note that was left",
        Effect::Reads,
        &["handoff", "show"],
        &[],
    ),
    spec::<History>("history", "What happened", Effect::Reads, &["history"], &[]),
];

const fn spec<T: JsonSchema + Serialize + DeserializeOwned>(
    name: &'static str,
    title: &'static str,
    effect: Effect,
    command: &'static [&'static str],
    places: &'static [&'static str],
) -> Spec {
    Spec { name, title, effect, command, places, schema: schema_of::<T>, checked: checked::<T> }
}

/// More than any command takes, and little enough to look at it twice.
const MOST: usize = 256 * 1024;

impl Spec {
    /// The tool of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|spec| spec.name == name)
    }

    /// What it takes, as a JSON Schema of an object, with nothing in it that not every host understands.
    pub(crate) fn schema(&self) -> JsonObject {
        (self.schema)()
    }

    /// As it is listed.
    pub(super) fn tool(&self) -> Tool {
        let mut schema = self.schema();
        let about = match schema.remove("description") {
            Some(Value::String(about)) => about.replace('\n', " "),
            _ => String::new(),
        };
        let reads = self.effect == Effect::Reads;
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(reads)
            .destructive(self.effect == Effect::Ends)
            .idempotent(matches!(self.effect, Effect::Reads | Effect::AddsOnce))
            .open_world(false);
        let tool = Tool::new(self.name, about, schema).with_title(self.title).with_annotations(hints);
        if self.name != GATE_ASK {
            return tool;
        }
        // A question to whoever sits there makes no sense when nobody does.
        let mut meta = JsonObject::new();
        meta.insert("anthropic/requiresUserInteraction".into(), true.into());
        tool.with_meta(MetaObject(meta))
    }

    /// The arguments, if they are such as the tool takes.
    pub(super) fn arguments(&self, given: Option<JsonObject>) -> Result<JsonObject, Error> {
        let mut given = given.unwrap_or_default();
        given.retain(|_, value| !value.is_null());
        let bad = |what: String| {
            Error::new(Kind::Usage, format!("`{}` does not take this: {what}", self.name))
                .hint("look at the tool's input schema")
        };
        let length = serde_json::to_string(&given).map_or(usize::MAX, |text| text.len());
        if length > MOST {
            return Err(bad(format!("the arguments are {length} bytes long, and {MOST} are the most")));
        }
        let failed = match (self.checked)(given.clone()) {
            Ok(arguments) => return Ok(arguments),
            Err(failed) => failed,
        };
        let culprit = given.keys().find(|name| {
            let mut rest = given.clone();
            rest.remove(name.as_str());
            (self.checked)(rest).err().as_ref() != Some(&failed)
        });
        let named = |name: &String| format!("`{}`: {failed}", shown(&clean(name), 60));
        Err(bad(shown(&clean(&culprit.map_or(failed.clone(), named)), 400)))
    }

    /// The command that the tool stands for, with these arguments.
    pub(crate) fn words(&self, arguments: &JsonObject) -> Vec<String> {
        let mut words: Vec<String> = self.command.iter().map(|&word| word.to_owned()).collect();
        for (name, value) in arguments.iter().filter(|(name, _)| !self.places.contains(&name.as_str())) {
            let option = format!("--{}", name.replace('_', "-"));
            match value {
                Value::Bool(true) => words.push(option),
                Value::Array(values) => {
                    words.extend(values.iter().map(|value| format!("{option}={}", plain(value))));
                }
                Value::Null | Value::Bool(false) => {}
                value => words.push(format!("{option}={}", plain(value))),
            }
        }
        let placed: Vec<String> =
            self.places.iter().filter_map(|place| arguments.get(*place)).map(plain).collect();
        if !placed.is_empty() {
            words.push("--".to_owned());
            words.extend(placed);
        }
        words
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn schema_of<T: JsonSchema>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // What may be left out is not in `required`; that it may be null as well confuses more than it helps.
    let mut simpler = RecursiveTransform(|schema: &mut schemars::Schema| {
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = &types[..] {
                let only = only.clone();
                schema.insert("type".into(), only);
            }
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        if let Some(Value::Array(of)) = schema.get_mut("anyOf") {
            of.retain(|one| one.get("type").is_none_or(|name| name != "null"));
            if let [Value::Object(only)] = &of[..] {
                let only = only.clone();
                schema.remove("anyOf");
                for (name, value) in only {
                    if schema.get(&name).is_none() {
                        schema.insert(name, value);
                    }
                }
            }
        }
        for name in ["default", "title", "format", "$schema"] {
            schema.remove(name);
        }
    });
    schemars::transform::Transform::transform(&mut simpler, &mut schema);
    let mut schema = match schema.to_value() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    // Hosts expect it even where there is nothing to take.
    schema.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    schema
}

/// The arguments, read as `T` and written down again.
fn checked<T: Serialize + DeserializeOwned>(given: JsonObject) -> Result<JsonObject, String> {
    let typed: T = serde_json::from_value(Value::Object(given)).map_err(|bad| bad.to_string())?;
    match serde_json::to_value(&typed) {
        Ok(Value::Object(mut arguments)) => {
            arguments.retain(|_, value| !value.is_null());
            Ok(arguments)
        }
        _ => Ok(JsonObject::new()),
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Priority {
    P0,
    P1,
    P2,
    P3,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Worker {
    Agent,
    Person,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum State {
    Open,
    Claimed,
    Blocked,
    Done,
    Dropped,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Progress,
    Completed,
    Blocked,
    Nothing,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Act {
    Turn,
    Push,
    Publish,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Bind {
    Commit,
    Tree,
    Question,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Up,
    Down,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Approve,
    Changes,
    Comment,
}

/// Goals, open questions, open work, and whether pushes are guarded.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Status {}

/// Whether the loop may go on now, and with what. Call it before you work and after each turn; `should_run` false means stop,
/// and `why` and `next` say what helps.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShouldRun {
    /// The goal; may be left out when one is active
    goal_id: Option<String>,
    /// What the host can do; `shell` when left out
    #[serde(default)]
    capability: Vec<String>,
    /// Show each rule, whether it applies, and the records that make it so
    #[serde(default)]
    explain: bool,
}

/// Begin a slice of work: decides what it is about, claims the todo, and tells what you need to know, in one step. `turn` is
/// null when a person or time must act first; `instead` says why.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TurnBegin {
    /// The goal; may be left out when one is active
    goal_id: Option<String>,
    /// How the turn is called; a new name when left out. With the same name it is begun once
    turn_id: Option<String>,
    /// What the host can do; `shell` when left out
    #[serde(default)]
    capability: Vec<String>,
    /// How long the turn may take, such as `45m`; todo_renew makes it longer
    lease: Option<String>,
}

/// End a turn: evidence, what becomes of its todo, and what it used, in one step. Once for each turn.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TurnEnd {
    /// The turn
    turn_id: String,
    /// The goal; may be left out when one is active
    goal_id: Option<String>,
    /// What came of it
    outcome: Outcome,
    /// What whoever goes on should know
    summary: String,
    /// Ids of evidence for it
    #[serde(default)]
    evidence: Vec<String>,
    /// How many slots it used; what was put aside when left out
    spend: Option<u32>,
}

/// Add a todo.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoAdd {
    /// What is to be done
    title: String,
    /// The goal; may be left out when one is active
    goal_id: Option<String>,
    /// More about it
    body: Option<String>,
    /// Whose work it is; `agent` when left out
    r#for: Option<Worker>,
    /// How urgent it is; `p2` when left out
    priority: Option<Priority>,
    /// Todos that have to be closed first
    #[serde(default)]
    needs: Vec<String>,
    /// What the host has to be able to do, such as `network`
    #[serde(default)]
    requires: Vec<String>,
    /// A command that has to exit with 0 before it is done, such as `cargo test`; no shell reads it
    check: Option<String>,
    /// How long the check may take; `5m` when left out
    check_timeout: Option<String>,
    /// Makes it a monitor: something to look at again and again, such as every `1h`
    every: Option<String>,
}

/// List the todos that are not closed, or those of all that fit, the most urgent first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoList {
    /// Only this goal's
    goal_id: Option<String>,
    /// Recently closed ones, too; with anything else asked for, all there ever were
    #[serde(default)]
    all: bool,
    /// Only those with this text in title, body or reason
    search: Option<String>,
    /// Only those in one of these states
    #[serde(default)]
    state: Vec<State>,
    /// Only those this urgent
    #[serde(default)]
    priority: Vec<Priority>,
    /// Only this one's work
    r#for: Option<Worker>,
    /// Only those that this agent or person has now
    claimed_by: Option<String>,
    /// Only those that need this todo
    needs: Option<String>,
    /// Only those that ask the host for this
    requires: Option<String>,
    /// Only monitors
    #[serde(default)]
    monitors: bool,
}

/// List what you could claim now, the best first, and say what keeps the rest away.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoReady {
    /// The goal; may be left out when one is active
    goal_id: Option<String>,
    /// What the host can do; `shell` when left out
    #[serde(default)]
    capability: Vec<String>,
}

/// Show one todo.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoNamed {
    /// The todo, or an unambiguous beginning of its id
    todo: String,
}

/// Take a todo, or renew a claim. With `next`, take what should_run would name.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoClaim {
    /// The todo, or an unambiguous beginning of its id
    todo: Option<String>,
    /// Take what should_run would name, instead of naming a todo
    #[serde(default)]
    next: bool,
    /// The goal for `next`; may be left out when one is active
    goal_id: Option<String>,
    /// What the host can do, for `next`; `shell` when left out
    #[serde(default)]
    capability: Vec<String>,
    /// How long the claim holds, such as `45m`
    ttl: Option<String>,
}

/// Say that you are still at it: hold a claim for longer.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoRenew {
    /// The todo, or an unambiguous beginning of its id
    todo: String,
    /// How long the claim holds from now on, such as `45m`; as long as it was taken for when left out
    ttl: Option<String>,
}

/// Give a claim back.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoRelease {
    /// The todo, or an unambiguous beginning of its id
    todo: String,
}

/// Stop a todo until somebody frees it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoBlock {
    /// The todo, or an unambiguous beginning of its id
    todo: String,
    /// Why
    reason: String,
    /// A gate whose yes frees it
    on: Option<String>,
}

/// Free a blocked todo.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoUnblock {
    /// The todo, or an unambiguous beginning of its id
    todo: String,
    /// Why
    reason: Option<String>,
}

/// Complete a todo. One with a check is refused unless this server was told to run checks: run `loopx todo done` in your shell.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoDone {
    /// The todo, or an unambiguous beginning of its id
    todo: String,
    /// Ids of evidence for it
    #[serde(default)]
    evidence: Vec<String>,
    /// What came of it
    note: Option<String>,
}

/// Give a todo up.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoDrop {
    /// The todo, or an unambiguous beginning of its id
    todo: String,
    /// Why
    reason: String,
}

/// Make parts of a todo, which it needs from then on.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoSplit {
    /// The todo, or an unambiguous beginning of its id
    todo: String,
    /// The titles of the parts
    into: Vec<String>,
}

/// Say what a look at a monitor found: a fingerprint of it, or that nothing or something is new. Costs no quota.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoPoll {
    /// The todo, or an unambiguous beginning of its id
    todo: String,
    /// What there is, in words that tell it from something else: loopx says whether it is new
    fingerprint: Option<String>,
    /// Nothing is new
    #[serde(default)]
    same: bool,
    /// Something is new
    #[serde(default)]
    changed: bool,
    /// A todo to add if something is new
    follow_up: Option<String>,
}

/// Ask a question that only a person may answer, and hold back what waits for the answer. Only a person answers or withdraws it,
/// at a terminal of their own: no tool does.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GateOpen {
    /// The question
    question: String,
    /// The goal; may be left out when one is active
    goal_id: Option<String>,
    /// The gate's id; made from the question when left out
    gate_id: Option<String>,
    /// What waits for the answer; everything when left out
    #[serde(default)]
    blocks: Vec<Act>,
    /// Todos it is about; all of the goal's when left out
    #[serde(default)]
    todo: Vec<String>,
    /// Only pushes to branches like this; `release/*`, `refs/tags/v*`
    #[serde(default)]
    branch: Vec<String>,
    /// Only pushes to remotes like this, by name or address
    #[serde(default)]
    remote: Vec<String>,
    /// Only pushes that change files like this, from the top of the project
    #[serde(default)]
    path: Vec<String>,
    /// Ask again for every commit: a yes is for the commit that was seen and all that it was made from
    #[serde(default)]
    standing: bool,
    /// What a yes is a yes to: the commit that was seen, any commit with the same files, or the question once and for all
    bind: Option<Bind>,
    /// How many approvers have to say yes with their signatures
    approvals: Option<u32>,
    /// Answers on offer besides `reject`; `approve` when left out
    #[serde(default)]
    option: Vec<String>,
}

/// List the gates in force: open and rejected ones, the oldest question first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GateList {
    /// Only this goal's
    goal_id: Option<String>,
    /// Recently closed ones, too
    #[serde(default)]
    all: bool,
}

/// Show one gate.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GateShow {
    /// The gate, by its full id
    gate: String,
    /// Its goal, when several have a gate of this id
    goal_id: Option<String>,
}

/// Put a question to the person who sits at this host now. Opens a gate, or takes an open one (by `gate_id`, or by the same
/// question), and shows it to them. What they say here is kept with the gate but does not answer it: that takes their own
/// terminal, and `asked_in_host.how` says how. Use gate_open when nobody is there.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GateAsk {
    /// The question; may be left out when `gate_id` names an open gate
    pub(super) question: Option<String>,
    /// The goal; may be left out when one is active
    pub(super) goal_id: Option<String>,
    /// The gate's id
    pub(super) gate_id: Option<String>,
    /// What waits for the answer; everything when left out
    #[serde(default)]
    blocks: Vec<Act>,
    /// Todos it is about; all of the goal's when left out
    #[serde(default)]
    todo: Vec<String>,
    /// Answers on offer besides `reject`; `approve` when left out
    #[serde(default)]
    option: Vec<String>,
}

/// Add evidence about a todo, a gate, or a goal as a whole: exactly one of `text`, `link`, `commit`, `file`, `metric` and `review`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EvidenceAdd {
    /// The todo it is about, or an unambiguous beginning of its id
    todo: Option<String>,
    /// The gate it is about
    gate_id: Option<String>,
    /// The goal; may be left out when one is active
    goal_id: Option<String>,
    /// Something said
    text: Option<String>,
    /// Something elsewhere
    link: Option<String>,
    /// A commit of the project, or a range such as `main..topic`
    commit: Option<String>,
    /// A file of the worktree; its digest is kept, not its content
    file: Option<String>,
    /// Keep the text of the file, too, if it has at most 64 KiB
    #[serde(default)]
    copy: bool,
    /// Something measured, as `name=value`
    metric: Option<String>,
    /// What the value counts
    unit: Option<String>,
    /// Which way is better
    direction: Option<Direction>,
    /// What somebody who looked at it thinks; needs `by`
    review: Option<Verdict>,
    /// Who looked at it
    by: Option<String>,
    /// What they said
    note: Option<String>,
}

/// List recent evidence, newest first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EvidenceList {
    /// Only about this todo
    todo: Option<String>,
    /// Only this goal's
    goal_id: Option<String>,
}

/// Show one piece of evidence, and whether what it is about is still the same.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EvidenceShow {
    /// Its id
    id: String,
}

/// What a fresh agent needs to know: the goal, its criteria, the work, what waits for a person, what was decided and seen. Call it
/// when you know nothing yet, or after your own context was cut.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Context {
    /// The goal; may be left out when one is active
    goal_id: Option<String>,
    /// About this todo; what you have or would get when left out
    todo: Option<String>,
    /// How long it may be; what is least important is left out, and that is said
    max_bytes: Option<u32>,
}

/// Leave a note for whoever goes on with the goal, in the place of the one before: what was done, what did not work and why, what
/// comes next.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HandoffWrite {
    /// The note
    text: String,
    /// The goal; may be left out when one is active
    goal_id: Option<String>,
}

/// Show the note that was left for whoever goes on with the goal.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HandoffShow {
    /// The goal; may be left out when one is active
    goal_id: Option<String>,
}

/// What happened, newest first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct History {
    /// Most entries to show; 20 when left out
    #[schemars(range(max = 1000))]
    limit: Option<u16>,
    /// Only of this goal
    goal_id: Option<String>,
    /// Only what touched this record, such as `gate/ship-it` or `t-7k3q`
    record: Option<String>,
    /// Only by `person`, or by this agent
    actor: Option<String>,
    /// Only of this kind, such as `gate.resolve` or `gate`
    op: Option<String>,
    /// Only since then: `7d`, `90m`, or a time such as `2026-11-30T12:00:00Z`
    since: Option<String>,
    /// Only in this turn
    turn: Option<String>,
    /// Show what each did to the fields of its records
    #[serde(default)]
    patch: bool,
    /// Show the life of one record instead, the oldest first
    follow: Option<String>,
}
