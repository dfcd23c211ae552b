//! Scenes with a client of the Model Context Protocol, line by line.
#![expect(clippy::disallowed_methods, reason = "a client waits for its server")]

use std::{
    ffi::OsString,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{LOOPX, Program, Sandbox};

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

/// A client that says what it is told to.
struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: mpsc::Receiver<String>,
    last: u64,
    /// What goes along with each request in the newer era.
    meta: Option<Value>,
}

impl Client {
    /// Starts the server with these words behind `loopx`.
    fn start(program: &Program, words: &[&str]) -> Self {
        let words: Vec<OsString> = words.iter().map(Into::into).collect();
        let mut command = program.command(&words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let to = child.stdin.take();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (told, from) = mpsc::channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| told.send(line)));
        Self { child, to, from, last: 0, meta: None }
    }

    /// A client of the older era that has said hello.
    fn old(program: &Program, capabilities: Value) -> Self {
        Self::old_with(program, &["mcp"], capabilities)
    }

    fn old_with(program: &Program, words: &[&str], capabilities: Value) -> Self {
        let mut client = Self::start(program, words);
        let hello = json!({
            "protocolVersion": OLD, "capabilities": capabilities,
            "clientInfo": { "name": "Scripted Client", "version": "1" },
        });
        let answer = client.ask("initialize", hello);
        assert_eq!(answer["result"]["protocolVersion"], OLD, "{answer}");
        client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    /// A client of the newer era, which says no hello.
    fn new(program: &Program, capabilities: Value) -> Self {
        let mut client = Self::start(program, &["mcp"]);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientInfo": { "name": "new-client", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        client
    }

    fn line(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.to.as_mut().expect("an open pipe").write_all(bytes).expect("the server reads");
    }

    /// The next message from the server.
    #[track_caller]
    fn next(&self) -> Value {
        let line = self.from.recv_timeout(Duration::from_secs(30)).expect("the server says something");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let id = self.last;
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// Sends a request and waits for its answer.
    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool.
    #[track_caller]
    fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": name, "arguments": arguments }));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool, and what it says in words.
    #[track_caller]
    fn told(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments);
        let error = if result["isError"] == true { "[error] " } else { "" };
        format!("{error}{}", result["content"][0]["text"].as_str().expect("a text"))
    }

    /// Goes, and waits for the server to go as well.
    #[track_caller]
    fn leave(mut self) -> String {
        drop(self.to.take());
        let output = self.child.wait_with_output().expect("the server ends");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

fn ready() -> (Sandbox, Program) {
    let repo = Sandbox::ready();
    let program = repo.program(LOOPX);
    (repo, program)
}

/// The same answer as the command line gives, but for what differs from call to call.
#[track_caller]
fn same(tool: &Value, command: &str) {
    let command: Value = serde_json::from_str(command).expect("JSON");
    let without = |value: &Value| {
        let mut value = value.clone();
        for object in [Some(&mut value)].into_iter().flatten().filter_map(Value::as_object_mut) {
            object.retain(|name, _| name != "age_seconds");
        }
        value
    };
    assert_eq!(without(&tool["structuredContent"]), without(&command));
}

#[test]
fn an_agent_works_through_a_turn() {
    let (repo, program) = ready();
    let mut client = Client::old(&program, json!({}));
    let added = client.call("todo_add", json!({ "title": "one", "priority": "p1" }));
    let todo = added["structuredContent"]["id"].as_str().expect("an id").to_owned();
    let scene = [
        client.told("should_run", json!({})),
        client.told("turn_begin", json!({ "turn_id": "x-1" })),
        client.told("todo_renew", json!({ "todo": todo, "ttl": "1h" })),
        client.told("evidence_add", json!({ "todo": todo, "text": "it works" })),
        client.told("turn_end", json!({ "turn_id": "x-1", "outcome": "completed", "summary": "done" })),
        client.told("turn_end", json!({ "turn_id": "x-1", "outcome": "completed", "summary": "done" })),
        client.told("status", json!({})),
    ];
    let evidence = client.call("evidence_list", json!({}));
    let seen = evidence["structuredContent"]["evidence"].as_array().expect("evidence");
    assert_eq!(seen.len(), 2);
    let added = seen.iter().find(|one| one.to_string().contains("it works")).expect("what was added");
    let e = added["id"].as_str().expect("an id");
    let scene = scene.join("\n").replace(&todo, "[TODO]");
    assert_snapshot!(scene.replace(e, "[EVIDENCE]"), @r#"
    true – work on [TODO]: one
    why: `[TODO]` is ready and nobody has it
    next: loopx todo claim [TODO]

    turn x-1: work on [TODO]: one
    until  2026-11-30T12:45:05Z
    goal   Ship v2
    next: loopx turn end --turn-id x-1 --outcome <outcome> --summary "<what>"

    the claim on todo [TODO] holds until 2026-11-30T12:45:05Z already

    added evidence [EVIDENCE]: it works

    ended turn x-1: completed, 1 slot used

    ended turn x-1: completed, 1 slot used already

    1 goal
      ship  active  1/48 slots  Ship v2
    0 todos open
    pushes are guarded
    "#);
    assert_snapshot!(repo.git("log --format='%s %(trailers:key=Loopx-Actor,separator= )' loopx/state").stdout.replace(&todo, "[TODO]").replace(e, "[EVIDENCE]"), @"
    end turn x-1: completed Loopx-Actor: agent:mcp-scripted-client
    add evidence [EVIDENCE] for todo [TODO]: it works Loopx-Actor: agent:mcp-scripted-client
    begin turn x-1, claim todo [TODO]: one Loopx-Actor: agent:mcp-scripted-client
    add todo [TODO]: one Loopx-Actor: agent:mcp-scripted-client
    add goal ship: Ship v2 Loopx-Actor: person
    begin loopx state Loopx-Actor: person
    ");
    repo.loopx("verify").success();
    assert_eq!(client.leave(), "");
}

#[test]
fn the_answers_are_those_of_the_command_line() {
    let (repo, program) = ready();
    let todo = repo.todo("one");
    repo.loopx("gate open 'Ship?' --gate-id ship-it --blocks push --agent-id a").success();
    repo.loopx(&format!("evidence add {todo} --text seen --agent-id a")).success();
    let mut client = Client::old_with(&program, &["--agent-id", "a", "mcp"], json!({}));
    let token = ["gh", "p_", "0123456789abcdefghij", "ABCDEFGHIJ012345"].concat();
    let run = |words: &[&str]| {
        let words: Vec<OsString> =
            ["--agent-id", "a", "--json"].iter().chain(words).map(Into::into).collect();
        program.run(&words).stdout
    };
    for (tool, arguments, command) in [
        ("status", json!({}), &["status"][..]),
        ("should_run", json!({ "explain": true }), &["quota", "should-run", "--explain"]),
        (
            "todo_list",
            json!({ "state": ["open"], "for": "agent" }),
            &["todo", "list", "--state=open", "--for=agent"],
        ),
        ("todo_ready", json!({}), &["todo", "ready"]),
        ("todo_show", json!({ "todo": todo }), &["todo", "show", &todo]),
        ("todo_show", json!({ "todo": "t-none" }), &["todo", "show", "t-none"]),
        ("gate_list", json!({ "all": true }), &["gate", "list", "--all"]),
        ("gate_show", json!({ "gate": "ship-it" }), &["gate", "show", "ship-it"]),
        ("evidence_list", json!({ "todo": todo }), &["evidence", "list", &todo]),
        ("history", json!({ "patch": true }), &["history", "--patch"]),
        ("history", json!({ "follow": "gate/ship-it" }), &["history", "--follow", "gate/ship-it"]),
        ("todo_add", json!({ "title": "a\u{1b}[2Jb" }), &["todo", "add", "a\u{1b}[2Jb"]),
        ("todo_add", json!({ "title": format!("key {token}") }), &["todo", "add", &format!("key {token}")]),
        (
            "gate_open",
            json!({ "question": "Ship?", "gate_id": "ship-it" }),
            &["gate", "open", "Ship?", "--gate-id=ship-it"],
        ),
        (
            "turn_end",
            json!({ "turn_id": "none", "outcome": "nothing", "summary": "x" }),
            &["turn", "end", "--turn-id=none", "--outcome=nothing", "--summary=x"],
        ),
    ] {
        let told = client.call(tool, arguments);
        let said = run(command);
        same(&told, &said);
        let failed = told["structuredContent"].get("error").is_some();
        assert_eq!(told["isError"], failed, "{tool}: {told}");
    }
    client.leave();
}

#[test]
fn the_tools_are_listed() {
    let (_repo, program) = ready();
    let mut client = Client::old(&program, json!({}));
    let answer = client.ask("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().expect("tools");
    let mut list = String::new();
    for tool in tools {
        let schema = &tool["inputSchema"];
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        let hints = &tool["annotations"];
        assert_eq!(hints["openWorldHint"], false);
        let mut marks = Vec::new();
        for (hint, mark) in
            [("readOnlyHint", "reads"), ("destructiveHint", "ends"), ("idempotentHint", "once")]
        {
            if hints[hint] == true {
                marks.push(mark);
            }
        }
        if tool["_meta"]["anthropic/requiresUserInteraction"] == true {
            marks.push("asks");
        }
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let arguments: Vec<String> = schema["properties"]
            .as_object()
            .expect("properties")
            .keys()
            .map(|name| if required.contains(&name.as_str()) { name.clone() } else { format!("[{name}]") })
            .collect();
        list.push_str(&format!(
            "{} ({}): {}\n",
            tool["name"].as_str().expect("a name"),
            marks.join(", "),
            arguments.join(" ")
        ));
    }
    assert_snapshot!(list, @"
    status (reads, once): 
    should_run (reads, once): [capability] [explain] [goal_id]
    turn_begin (): [capability] [goal_id] [lease] [turn_id]
    turn_end (once): [evidence] [goal_id] outcome [spend] summary turn_id
    todo_add (): [body] [check] [check_timeout] [every] [for] [goal_id] [needs] [priority] [requires] title
    todo_list (reads, once): [all] [claimed_by] [for] [goal_id] [monitors] [needs] [priority] [requires] [search] [state]
    todo_ready (reads, once): [capability] [goal_id]
    todo_show (reads, once): todo
    todo_claim (): [capability] [goal_id] [next] [todo] [ttl]
    todo_renew (): todo [ttl]
    todo_release (once): todo
    todo_block (): [on] reason todo
    todo_unblock (): [reason] todo
    todo_done (once): [evidence] [note] todo
    todo_drop (ends): reason todo
    todo_split (): into todo
    todo_poll (): [changed] [fingerprint] [follow_up] [same] todo
    gate_open (): [approvals] [bind] [blocks] [branch] [gate_id] [goal_id] [option] [path] question [remote] [standing] [todo]
    gate_list (reads, once): [all] [goal_id]
    gate_show (reads, once): gate [goal_id]
    gate_ask (asks): [blocks] [gate_id] [goal_id] [option] [question] [todo]
    evidence_add (): [by] [commit] [copy] [direction] [file] [gate_id] [goal_id] [link] [metric] [note] [review] [text] [todo] [unit]
    evidence_list (reads, once): [goal_id] [todo]
    evidence_show (reads, once): id
    context (reads, once): [goal_id] [max_bytes] [todo]
    handoff_write (ends): [goal_id] text
    handoff_show (reads, once): [goal_id]
    history (reads, once): [actor] [follow] [goal_id] [limit] [op] [patch] [record] [since] [turn]
    ");
    assert!(
        answer.to_string().len() < 24_000,
        "it costs every conversation {} bytes",
        answer.to_string().len()
    );
    client.leave();
}

#[test]
fn the_page_lists_the_tools() {
    let (_repo, program) = ready();
    let mut client = Client::old(&program, json!({}));
    let answer = client.ask("tools/list", json!({}));
    client.leave();
    let mut rows = "| tool | it | what for |\n|---|---|---|\n".to_owned();
    for tool in answer["result"]["tools"].as_array().expect("tools") {
        let (name, about) =
            (tool["name"].as_str().expect("a name"), tool["description"].as_str().expect("words"));
        let it = match (&tool["annotations"]["readOnlyHint"], &tool["annotations"]["destructiveHint"]) {
            (Value::Bool(true), _) => "reads",
            (_, Value::Bool(true)) => "ends",
            _ => "adds",
        };
        rows.push_str(&format!("| `{name}` | {it} | {about} |\n"));
    }
    let page = include_str!("../../docs/mcp.md");
    let (_, told) = page.split_once("<!-- tools -->\n").expect("a table");
    let (told, _) = told.split_once("<!-- until here -->").expect("its end");
    assert!(told == rows, "docs/mcp.md should list\n{rows}\n  end");
}

#[test]
fn arguments_that_make_no_sense_are_refused_clearly() {
    let (repo, program) = ready();
    let tip = repo.tip();
    let mut client = Client::old(&program, json!({}));
    let scene: String = [
        ("todo_add", json!({})),
        ("todo_add", json!({ "title": 7 })),
        ("todo_add", json!({ "title": "one", "colour": "red" })),
        ("todo_add", json!({ "title": "one", "priority": "urgent" })),
        ("todo_add", json!({ "title": "one", "agent_id": "another" })),
        ("todo_add", json!({ "title": "one", "needs": "t-abcd" })),
        ("todo_claim", json!({ "todo": "t-abcd", "next": true })),
        ("todo_claim", json!({})),
        ("todo_show", json!({ "todo": "--json" })),
        ("gate_open", json!({ "question": "one\ntwo" })),
        ("gate_ask", json!({})),
        ("history", json!({ "limit": -1 })),
        ("evidence_add", json!({ "text": "a", "link": "b" })),
        ("todo_add", json!({ "title": "x".repeat(300_000) })),
    ]
    .into_iter()
    .map(|(tool, arguments)| client.told(tool, arguments))
    .collect();
    assert_snapshot!(scene, @r#"
    [error] error: `todo_add` does not take this: missing field `title`
    hint: look at the tool's input schema
    [error] error: `todo_add` does not take this: `title`: invalid type: integer `7`, expected a string
    hint: look at the tool's input schema
    [error] error: `todo_add` does not take this: `colour`: unknown field `colour`, expected one of `title`, `goal_id`, `body`, `for`, `priority`, `needs`, `requires`, `check`, `check_timeout`, `every`
    hint: look at the tool's input schema
    [error] error: `todo_add` does not take this: `priority`: unknown variant `urgent`, expected one of `p0`, `p1`, `p2`, `p3`
    hint: look at the tool's input schema
    [error] error: `todo_add` does not take this: `agent_id`: unknown field `agent_id`, expected one of `title`, `goal_id`, `body`, `for`, `priority`, `needs`, `requires`, `check`, `check_timeout`, `every`
    hint: look at the tool's input schema
    [error] error: `todo_add` does not take this: `needs`: invalid type: string "t-abcd", expected a sequence
    hint: look at the tool's input schema
    [error] error: the argument '--next' cannot be used with '[TODO]'
    hint: run `loopx --help`
    [error] error: the following required arguments were not provided: <TODO>
    hint: run `loopx --help`
    [error] error: invalid value '--json' for '<TODO>': `--json` is not a todo id (expected `t-` and what follows it, such as `t-7k3q`, or an unambiguous beginning of that)
    hint: run `loopx --help`
    [error] error: invalid value 'one\u{a}two' for '<QUESTION>': the text has a line break in it (expected one line)
    hint: run `loopx --help`
    [error] error: neither `question` nor `gate_id` was given
    hint: look at the tool's input schema
    [error] error: `history` does not take this: `limit`: invalid value: integer `-1`, expected u16
    hint: look at the tool's input schema
    [error] error: the argument '--link <URL>' cannot be used with '--text <TEXT>'
    hint: run `loopx --help`
    [error] error: `todo_add` does not take this: the arguments are 300012 bytes long, and 262144 are the most
    hint: look at the tool's input schema
    "#);
    let unknown = client.ask("tools/call", json!({ "name": "gate_resolve", "arguments": {} }));
    assert_snapshot!(unknown["error"], @r#"{"code":-32602,"message":"there is no tool `gate_resolve`"}"#);
    assert_eq!(repo.tip(), tip);
    client.leave();
}

#[test]
fn both_eras_are_spoken() {
    let (_repo, program) = ready();
    // As Claude does: it looks what there is, and begins in the older way.
    let mut client = Client::new(&program, json!({}));
    let found = client.ask("server/discover", json!({}));
    assert_snapshot!(found["result"]["supportedVersions"], @r#"["2024-11-05","2025-03-26","2025-06-18","2025-11-25","2026-07-28"]"#);
    let listed = client.ask("tools/list", json!({}));
    assert!(
        listed["result"]["ttlMs"].is_number() && listed["result"]["resultType"] == "complete",
        "{listed}"
    );
    let told = client.call("should_run", json!({}));
    assert_eq!((&told["resultType"], &told["isError"]), (&json!("complete"), &json!(false)));
    assert_eq!(client.ask("ping", json!({}))["error"]["code"], -32601);
    // Each request says which version it is of.
    client.meta.as_mut().expect("meta")["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let refused = client.ask("tools/list", json!({}));
    assert_snapshot!(refused["error"], @r#"{"code":-32022,"data":{"requested":"2031-01-01","supported":["2024-11-05","2025-03-26","2025-06-18","2025-11-25","2026-07-28"]},"message":"Unsupported protocol version"}"#);
    client.leave();

    for (asked, agreed) in
        [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("2031-01-01", OLD), (NEW, OLD)]
    {
        let mut client = Client::start(&program, &["mcp"]);
        let hello = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        assert_eq!(client.ask("initialize", hello)["result"]["protocolVersion"], agreed);
        client.leave();
    }
    let mut client = Client::old(&program, json!({}));
    assert_eq!(client.ask("server/nothing", json!({}))["error"]["code"], -32601);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    client.leave();
}

#[test]
fn what_makes_no_sense_disturbs_nothing() {
    let (repo, program) = ready();
    let mut client = Client::old(&program, json!({}));
    client.line("");
    client.line("not JSON");
    client.bytes(b"\xff\xfe\n");
    client.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":90,\"method\":\"tools/call\",\"params\":{\"name\":\"todo_add\",\"arguments\":{\"title\":\"\xff\"}}}\n");
    client.line(&format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)));
    client.line(&format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"{}\"}}",
        "y".repeat(5 * 1024 * 1024)
    ));
    client.line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/of/nobody\"}");
    assert_eq!(
        client.told("todo_add", json!({ "title": "still here" })).split(':').nth(1),
        Some(" still here\n")
    );
    client.line("{\"foo\":1}");
    assert_eq!(client.next()["error"]["code"], -32600);
    client.line("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"tools/list\"}");
    assert_eq!(client.next()["error"]["code"], -32600);
    assert_eq!(client.leave(), "");
    // It goes in the middle of a line.
    let mut client = Client::old(&program, json!({}));
    client
        .bytes(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"todo_add\",");
    client.leave();
    assert_eq!(Client::start(&program, &["mcp"]).leave(), "");
    assert_eq!(repo.git("rev-list --count loopx/state").stdout.trim(), "3");
    repo.loopx("verify").success();
}

#[test]
fn many_calls_at_once_are_one_commit_each() {
    let (repo, program) = ready();
    let mut client = Client::old(&program, json!({}));
    let ids: Vec<u64> = (0..24)
        .map(|n| {
            client.send(
                "tools/call",
                json!({ "name": "todo_add", "arguments": { "title": format!("todo {n}") } }),
            )
        })
        .collect();
    // One of them is taken back, perhaps in time.
    client.line(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": ids[23] } })
            .to_string(),
    );
    let answers: Vec<Value> =
        ids[..23].iter().map(|_| client.next()).filter(|answer| answer["id"] != ids[23]).collect();
    assert!(answers.iter().all(|answer| answer["result"]["isError"] == false), "{answers:?}");
    client.leave();
    let todos = repo.loopx("todo list --json").json()["todos"].as_array().expect("todos").len();
    assert!((23..=24).contains(&todos), "{todos}");
    let commits: usize = repo.git("rev-list --count loopx/state").stdout.trim().parse().expect("a number");
    assert_eq!(commits, todos + 2);
    repo.loopx("verify").success();
}

#[test]
fn a_client_that_is_killed_leaves_a_whole_state() {
    let (repo, program) = ready();
    for wait in [0, 5, 20, 60] {
        let mut client = Client::old(&program, json!({}));
        for n in 0..6 {
            client.send(
                "tools/call",
                json!({ "name": "todo_add", "arguments": { "title": format!("todo {wait} {n}") } }),
            );
        }
        thread::sleep(Duration::from_millis(wait));
        client.child.kill().expect("it runs");
        client.child.wait().expect("it ends");
    }
    repo.loopx("todo add after").success();
    repo.loopx("verify").success();
}

#[test]
fn a_person_is_asked_in_the_host_and_the_gate_waits_on() {
    let (repo, program) = ready();
    let mut client = Client::old(&program, json!({ "elicitation": { "form": {} } }));
    let id = client.send(
        "tools/call",
        json!({ "name": "gate_ask", "arguments": { "question": "Ship it?", "blocks": ["push"] } }),
    );
    let question = client.next();
    assert_eq!(question["method"], "elicitation/create");
    assert_snapshot!(serde_json::to_string_pretty(&question["params"]).expect("JSON"), @r#"
    {
      "_meta": {
        "progressToken": 0
      },
      "message": "Ship it?\n\n(gate ship-it of loopx. What you say here is noted; it does not open the gate.)",
      "mode": "form",
      "requestedSchema": {
        "properties": {
          "decision": {
            "enum": [
              "approve",
              "reject"
            ],
            "title": "Decision",
            "type": "string"
          },
          "note": {
            "description": "Anything the agent should know",
            "maxLength": 2000,
            "title": "Note",
            "type": "string"
          }
        },
        "required": [
          "decision"
        ],
        "type": "object"
      }
    }
    "#);
    let answer = json!({ "action": "accept", "content": { "decision": "approve", "note": "go ahead" } });
    client.line(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }).to_string());
    let told = client.next();
    assert_eq!(told["id"], id);
    let result = &told["result"];
    let evidence =
        result["structuredContent"]["asked_in_host"]["evidence"].as_str().expect("evidence").to_owned();
    assert_snapshot!(result["content"][0]["text"].as_str().expect("a text"), @r#"
    opened gate ship-it: "Ship it?"
    answered in the host: approve; not proven, so the gate waits on
    a person answers at a terminal of their own with `loopx gate resolve ship-it --decision approve` (or `reject`)
    "#);
    assert_eq!(result["structuredContent"]["asked_in_host"]["counts"], false);
    assert_eq!(result["structuredContent"]["state"]["is"], "open");
    assert_snapshot!(repo.loopx(&format!("evidence show {evidence}")).to_string().replace(&evidence, "[EVIDENCE]"), @"
    evidence [EVIDENCE]: answered in the host: approve; not proven
      goal    ship
      gate    ship-it
      added   by mcp-scripted-client, just now
      commit  [ID]
      now     nothing to compare with

    answered in the host: approve; not proven

    go ahead
    ");
    assert_eq!(repo.loopx("guard check --for push").code, 10);

    // The same question is the same gate, and what else is said of it is not heard.
    let mut asked = |arguments: Value, answer: Value| {
        client.send("tools/call", json!({ "name": "gate_ask", "arguments": arguments }));
        let first = client.next();
        if first["method"] != "elicitation/create" {
            return first["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
        }
        client.line(&json!({ "jsonrpc": "2.0", "id": first["id"], "result": answer }).to_string());
        client.next()["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
    };
    let scene = [
        asked(json!({ "question": "Ship it?" }), json!({ "action": "decline" })),
        asked(json!({ "gate_id": "ship-it" }), json!({ "action": "cancel" })),
        asked(
            json!({ "gate_id": "ship-it" }),
            json!({ "action": "accept", "content": { "decision": "sure" } }),
        ),
        asked(json!({ "gate_id": "ship-it" }), json!({ "action": "accept" })),
        asked(json!({ "gate_id": "ship-it", "question": "Something else?" }), json!({})),
        asked(json!({ "gate_id": "ship-it", "blocks": ["turn"] }), json!({})),
        asked(json!({ "question": "Ship it?", "blocks": ["push"], "option": ["later"] }), json!({})),
        asked(json!({ "question": "Ship it?", "blocks": ["push"] }), json!({ "action": "decline" })),
        asked(json!({ "gate_id": "nothing" }), json!({})),
    ];
    assert_snapshot!(scene.join("\n"), @r#"
    gate ship-it: "Ship it?"
    they gave no answer in the host
    a person answers at a terminal of their own with `loopx gate resolve ship-it --decision approve` (or `reject`)

    gate ship-it: "Ship it?"
    the question was put away in the host without an answer
    a person answers at a terminal of their own with `loopx gate resolve ship-it --decision approve` (or `reject`)

    gate ship-it: "Ship it?"
    answered in the host with `sure`, which is not on offer
    a person answers at a terminal of their own with `loopx gate resolve ship-it --decision approve` (or `reject`)

    gate ship-it: "Ship it?"
    the host handed back an answer without a decision
    a person answers at a terminal of their own with `loopx gate resolve ship-it --decision approve` (or `reject`)

    error: gate `ship-it` asks something else: "Ship it?"
    hint: run `loopx gate show ship-it`

    error: gate `ship-it` is there already, and what waits for it does not change
    hint: leave `blocks`, `todo` and `option` out

    error: gate `ship-it` is there already, and what waits for it does not change
    hint: leave `blocks`, `todo` and `option` out

    gate ship-it: "Ship it?"
    they gave no answer in the host
    a person answers at a terminal of their own with `loopx gate resolve ship-it --decision approve` (or `reject`)

    error: there is no gate `nothing`
    hint: run `loopx gate list --all`
    "#);
    client.leave();

    repo.person("gate resolve ship-it --decision approve", "ship-it").success();
    let mut client = Client::old(&program, json!({ "elicitation": {} }));
    assert_snapshot!(client.told("gate_ask", json!({ "gate_id": "ship-it" })), @"
    [error] error: gate `ship-it` does not wait for an answer
    hint: run `loopx gate show ship-it`
    ");
    client.leave();
    repo.loopx("verify").success();
}

#[test]
fn in_the_newer_era_the_question_comes_back_as_a_result() {
    let (repo, program) = ready();
    let mut client = Client::new(&program, json!({ "elicitation": { "form": {} } }));
    let arguments = json!({ "question": "Ship it?" });
    let asks = client.call("gate_ask", arguments.clone());
    assert_eq!(
        (&asks["resultType"], &asks["requestState"]),
        (&json!("input_required"), &json!("ship/ship-it"))
    );
    assert_eq!(asks["inputRequests"]["answer"]["method"], "elicitation/create");
    let answers = json!({ "answer": { "action": "accept", "content": { "decision": "reject" } } });
    let told = client.ask(
        "tools/call",
        json!({ "name": "gate_ask", "arguments": arguments, "inputResponses": answers, "requestState": asks["requestState"] }),
    );
    assert_snapshot!(told["result"]["content"][0]["text"].as_str().expect("a text"), @r#"
    gate ship-it: "Ship it?"
    answered in the host: reject; not proven, so the gate waits on
    a person answers at a terminal of their own with `loopx gate resolve ship-it --decision approve` (or `reject`)
    "#);
    // A state that was made up is an argument like any other.
    for state in ["ship/none", "../x", "ship/ship-it/x", ""] {
        let made_up = json!({ "name": "gate_ask", "arguments": { "question": "Another?" }, "inputResponses": answers, "requestState": state });
        let told = client.ask("tools/call", made_up);
        assert_eq!(told["result"]["isError"], !state.is_empty(), "{told}");
    }
    client.leave();
    assert_eq!(repo.loopx("gate list --json").json()["gates"][0]["state"]["is"], "open");
    repo.loopx("verify").success();
}

#[test]
fn an_answer_in_the_host_does_not_count_where_answers_are_signed() {
    let repo = Sandbox::ready();
    repo.feed("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", "../home/key"], "").success();
    repo.person("approver add ann --key ../home/key.pub", "ann").success();
    repo.loopx("policy set approval=signed --agent-id a").success();
    let program = repo.program(LOOPX);
    let mut client = Client::old(&program, json!({ "elicitation": {} }));
    client.send("tools/call", json!({ "name": "gate_ask", "arguments": { "question": "Ship it?" } }));
    let question = client.next();
    let answer = json!({ "action": "accept", "content": { "decision": "approve" } });
    client.line(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }).to_string());
    assert_snapshot!(client.next()["result"]["content"][0]["text"].as_str().expect("a text"), @r#"
    opened gate ship-it: "Ship it?"
    answered in the host: approve; not proven, so the gate waits on
    a person answers with an approver's signature with `loopx gate resolve ship-it --decision approve` (or `reject`)
    "#);
    client.leave();
    assert_eq!(repo.loopx("gate list --json").json()["gates"][0]["state"]["is"], "open");
}

#[test]
fn no_command_is_started_unless_a_person_said_so() {
    let (repo, program) = ready();
    let todo = repo.todo("one --check 'touch ran'");
    let mut client = Client::old(&program, json!({}));
    client.told("todo_claim", json!({ "todo": todo }));
    let refused = client.told("todo_done", json!({ "todo": todo }));
    assert_snapshot!(refused.replace(&todo, "[TODO]"), @"
    [error] error: todo `[TODO]` has a check, `touch ran`, and no command is started from here
    hint: run `loopx todo done [TODO]` where your commands run
    ");
    client.told("todo_release", json!({ "todo": todo }));
    client.told("turn_begin", json!({ "turn_id": "x-1" }));
    let refused =
        client.told("turn_end", json!({ "turn_id": "x-1", "outcome": "completed", "summary": "s" }));
    assert!(refused.starts_with("[error] "), "{refused}");
    client.leave();
    assert!(!repo.path("repo/ran").exists());
    let mut client = Client::old_with(&program, &["mcp", "--run-checks"], json!({}));
    let told = client.told("turn_end", json!({ "turn_id": "x-1", "outcome": "completed", "summary": "s" }));
    assert_eq!(told, "ended turn x-1: completed, 1 slot used\n");
    client.leave();
    assert!(repo.path("repo/ran").exists());
}

#[test]
fn whoever_calls_is_an_agent() {
    let mut repo = Sandbox::ready();
    let mut names = String::new();
    let mut name = |repo: &Sandbox, words: &[&str], client: Value| {
        let mut talker = Client::start(&repo.program(LOOPX), words);
        talker.ask("initialize", json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": client }));
        let added = talker.call("todo_add", json!({ "title": "one" }));
        names.push_str(&format!("{}\n", added["structuredContent"]["added"]["by"]));
        talker.leave();
    };
    name(&repo, &["mcp"], json!({ "name": "Claude Code", "version": "1" }));
    name(&repo, &["mcp"], json!({ "name": "\u{1b}[2J", "version": "1" }));
    name(&repo, &["mcp"], json!({ "name": "ä".repeat(300), "version": "1" }));
    name(&repo, &["mcp"], json!({ "name": "x".repeat(300), "version": "1" }));
    name(&repo, &["mcp", "--agent-id", "codex-1"], json!({ "name": "person", "version": "1" }));
    repo.env("LOOPX_AGENT_ID", "codex-2");
    name(&repo, &["mcp"], json!({ "name": "c", "version": "1" }));
    assert_snapshot!(names, @r#"
    "agent:mcp-claude-code"
    "agent:mcp-2j"
    "agent:mcp"
    "agent:mcp-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "agent:codex-1"
    "agent:codex-2"
    "#);
    repo.env("LOOPX_AGENT_ID", "not an id");
    let bad = repo.loopx("mcp");
    assert_snapshot!(bad, @"
    [stderr] error: `LOOPX_AGENT_ID`: `not an id` is not an agent id (expected 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit, such as `codex-1`)
    [exit 2]
    ");
}

#[test]
fn a_client_that_stands_elsewhere_says_where_its_project_is() {
    let mut repo = Sandbox::ready();
    repo.write("elsewhere/x", "");
    repo.git("worktree add -q ../linked -b side").success();
    let root = repo.root().display().to_string();
    repo.cd("elsewhere");
    let program = repo.program(LOOPX);
    let mut client = Client::old(&program, json!({}));
    assert_snapshot!(client.told("status", json!({})).replace(&root, "[ROOT]"), @"
    [error] error: `[ROOT]/elsewhere` is not in a git repository
    hint: run `git init` first, or go to a repository
    ");
    client.leave();

    let mut client = Client::old(&program, json!({ "roots": { "listChanged": true } }));
    client.send("tools/call", json!({ "name": "todo_add", "arguments": { "title": "one" } }));
    let asked = client.next();
    assert_eq!(asked["method"], "roots/list");
    let roots = json!({ "roots": [{ "uri": "https://example.test" }, { "uri": format!("file://{root}/elsewhere") }, { "uri": format!("file://{root}/linked") }] });
    client.line(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots }).to_string());
    assert_eq!(client.next()["result"]["isError"], false);
    // It is not asked again.
    assert!(client.told("todo_list", json!({})).contains("one"));
    client.leave();

    let mut client = Client::old_with(&program, &["mcp", "-C", "../linked"], json!({}));
    assert!(client.told("todo_list", json!({})).contains("one"));
    client.leave();
}

#[test]
fn goals_and_gates_can_be_looked_at() {
    let (repo, program) = ready();
    repo.loopx("gate open 'Ship?' --gate-id ship-it --agent-id a").success();
    let mut client = Client::old(&program, json!({}));
    let listed = client.ask("resources/list", json!({}));
    assert_snapshot!(serde_json::to_string_pretty(&listed["result"]).expect("JSON"), @r#"
    {
      "resources": [
        {
          "mimeType": "application/json",
          "name": "goal ship",
          "title": "Ship v2",
          "uri": "loopx://goal/ship"
        },
        {
          "mimeType": "application/json",
          "name": "gate ship-it",
          "title": "Ship?",
          "uri": "loopx://gate/ship/ship-it"
        }
      ]
    }
    "#);
    let templates = client.ask("resources/templates/list", json!({}));
    let uris: Vec<&Value> = templates["result"]["resourceTemplates"]
        .as_array()
        .expect("some")
        .iter()
        .map(|one| &one["uriTemplate"])
        .collect();
    assert_eq!(uris, ["loopx://goal/{goal}", "loopx://gate/{goal}/{gate}"]);
    let mut read = |uri: &str| client.ask("resources/read", json!({ "uri": uri }));
    let gate = read("loopx://gate/ship/ship-it");
    let text: Value =
        serde_json::from_str(gate["result"]["contents"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!((&text["schema_version"], &text["question"]), (&json!(1), &json!("Ship?")));
    assert!(
        read("loopx://goal/ship")["result"]["contents"][0]["text"]
            .as_str()
            .expect("text")
            .contains("Ship v2")
    );
    let bad: Vec<String> = [
        "loopx://goal/none",
        "loopx://gate/ship/none",
        "loopx://policy",
        "file:///etc/passwd",
        "loopx://goal/--help",
    ]
    .iter()
    .map(|uri| read(uri)["error"].to_string())
    .collect();
    assert_snapshot!(bad.join("\n"), @r#"
    {"code":-32002,"data":{"code":"not-found","hints":["run `loopx goal list`"],"message":"there is no goal `none`","retryable":false},"message":"there is no goal `none`"}
    {"code":-32002,"data":{"code":"not-found","hints":["run `loopx gate list --all`"],"message":"there is no gate `none`","retryable":false},"message":"there is no gate `none`"}
    {"code":-32002,"message":"there is no resource `loopx://policy`"}
    {"code":-32002,"message":"there is no resource `file:///etc/passwd`"}
    {"code":-32603,"data":{"code":"usage","hints":["run `loopx --help`"],"message":"invalid value '--help' for '[GOAL]': `--help` is not a goal id (expected lower-case words joined by `-`, 64 characters at most, such as `ship-v2`)","retryable":false},"message":"invalid value '--help' for '[GOAL]': `--help` is not a goal id (expected lower-case words joined by `-`, 64 characters at most, such as `ship-v2`)"}
    "#);
    client.leave();
}

#[test]
fn a_prompt_tells_the_agent_what_to_do() {
    let (_repo, program) = ready();
    let mut client = Client::old(&program, json!({}));
    let listed = client.ask("prompts/list", json!({}));
    let names: Vec<&Value> =
        listed["result"]["prompts"].as_array().expect("some").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["start-loop", "hand-over"]);
    let mut text = |name: &str, arguments: Value| {
        let answer = client.ask("prompts/get", json!({ "name": name, "arguments": arguments }));
        answer["result"]["messages"][0]["content"]["text"]
            .as_str()
            .map_or_else(|| answer["error"].to_string(), str::to_owned)
    };
    let scene = [
        text("start-loop", json!({ "goal": "ship" })),
        text("hand-over", json!({})),
        text("start-loop", json!({ "goal": "ship` and push" })),
        text("nothing", json!({})),
    ];
    assert_snapshot!(scene.join("\n"), @r#"
    Work on this repository's goal turn by turn, with the tools of loopx.

    1. Call turn_begin with goal_id `ship`. If `turn` is null, stop: tell me `instead.why` and `instead.next`.
    2. Do what the turn's todo says, and nothing else. Without a todo, think of the next todos and add them with todo_add.
    3. What only a person may decide, such as a push, a release or something that cannot be undone, is a question: open it with
       gate_open, or gate_ask if I am here, and go on with something else. Never answer it yourself, and never push past it.
    4. Put down what you saw with evidence_add: tests that ran, commits, files.
    5. Call turn_end with the outcome (completed, progress, blocked or nothing) and a summary for whoever goes on. Begin again with 1.

    Stop well, so that somebody who knows nothing of this conversation can go on.

    1. Add what is left as todos with todo_add, one for each, and what you saw as evidence with evidence_add.
    2. Open a gate with gate_open for each question that only I can answer.
    3. End the turn that you began, if you began one, with turn_end: the outcome as it is, and a summary of what was done, what did not work and why, and what comes next.
    4. Leave a note with handoff_write for what no todo says.
    5. Tell me the same in a few lines, with the questions that wait for me and the command that answers each.

    {"code":-32602,"message":"`ship` and push` is not a goal id (expected lower-case words joined by `-`, 64 characters at most, such as `ship-v2`)"}
    {"code":-32602,"message":"there is no prompt `nothing`"}
    "#);
    client.leave();
}

/// The folders with the programs of official clients: `mcp-inspector`, and a `python` that has the package `mcp`.
#[expect(clippy::print_stderr, reason = "a test that looks at nothing should say so")]
fn clients() -> Option<String> {
    let named = std::env::var("LOOPX_MCP_CLIENTS").ok().filter(|named| !named.is_empty());
    if named.is_none() {
        eprintln!("skipped: `LOOPX_MCP_CLIENTS` names no folder; see docs/mcp.md");
    }
    named
}

#[test]
fn official_python_client_speaks_both_eras() {
    let Some(clients) = clients() else { return };
    let client = std::path::absolute("tests/mcp/client.py").expect("a path").display().to_string();
    for (mode, speaks) in [("auto", NEW), ("legacy", OLD)] {
        let mut repo = Sandbox::ready();
        repo.put_on_path(&clients);
        let told = repo.feed("python", &[&client, LOOPX, mode], "").success().stdout;
        assert_eq!(told.lines().next(), Some(&*format!("speaks {speaks} with loopx")));
        // The call that asks for input opened it, and the one that brings it found it.
        let rest = told.split_once('\n').expect("more").1.replace("opened gate", "gate");
        insta::allow_duplicates! { assert_snapshot!(rest, @r#"
        28 tools, 12 of which read
        added: False, one
        wrong: True, usage
        should run: True
        asked: Ship it?
        gate ship-it: "Ship it?"
        answered in the host: approve; not proven, so the gate waits on
        a person answers at a terminal of their own with `loopx gate resolve ship-it --decision approve` (or `reject`)
        the gate is open
        loopx://goal/ship: True
        loopx://gate/ship/ship-it: True
        ['start-loop', 'hand-over']
        Stop well, so that somebody who knows nothing of this conversation can go on.
        "#); }
        repo.loopx("verify").success();
    }
}

#[test]
fn official_inspector_understands_every_answer() {
    let Some(clients) = clients() else { return };
    let mut repo = Sandbox::ready();
    repo.put_on_path(&clients);
    let inspect = |args: &str| {
        let line: Vec<String> =
            crate::sandbox::words(args).iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let words: Vec<&str> =
            ["--cli", LOOPX, "mcp"].into_iter().chain(line.iter().map(String::as_str)).collect();
        let output = repo.feed("mcp-inspector", &words, "").success();
        output.json()
    };
    assert!(inspect("--method tools/list")["tools"].as_array().expect("tools").len() > 20);
    let added =
        inspect("--method tools/call --tool-name todo_add --tool-arg title=one --tool-arg priority=p1");
    assert_eq!(added["structuredContent"]["added"]["by"], "agent:mcp-inspector-cli");
    let begun = inspect("--method tools/call --tool-name turn_begin --tool-arg turn_id=x-1");
    assert_eq!(begun["structuredContent"]["turn"]["id"], "x-1");
    assert_eq!(inspect("--method tools/call --tool-name todo_add --tool-arg colour=red")["isError"], true);
    assert_eq!(inspect("--method resources/list")["resources"][0]["uri"], "loopx://goal/ship");
    assert!(inspect("--method resources/read --uri loopx://goal/ship")["contents"][0]["text"].is_string());
    assert_eq!(
        inspect("--method resources/templates/list")["resourceTemplates"].as_array().expect("some").len(),
        2
    );
    assert_eq!(inspect("--method prompts/list")["prompts"][0]["name"], "start-loop");
    assert!(
        inspect("--method prompts/get --prompt-name hand-over")["messages"][0]["content"]["text"].is_string()
    );
}
