//! Payloads as hosts send them, and answers as they take them.

use proptest::{collection::vec, prelude::*};

use super::*;

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/it/fixtures/hosts/{name}.json", env!("CARGO_MANIFEST_DIR"));
    fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[track_caller]
fn check(host: Host, name: &str, expected: &Event) {
    let (_, event) =
        name.split_once(".").map(|(_, rest)| rest.rsplit_once('.').unwrap_or(("", rest))).unwrap();
    let bytes = fixture(name);
    assert_eq!(host.really(&bytes), host, "{name}");
    let call = host.read(event, &bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!((&call.event, call.cwd.as_path()), (expected, Path::new("/home/dev/repo")), "{name}");
}

fn runs(line: &str) -> Event {
    Event::Tool { tool: Tool::Shell(line.into()), dir: None }
}

#[test]
fn recorded_payloads_are_understood() {
    let stops = Event::Stops { again: false };
    let push = runs("git push origin main");
    for (name, expected) in [
        ("SessionStart", &Event::Begins),
        ("PreToolUse", &runs("false")),
        ("PostToolUse", &Event::Other),
        ("PostToolUseFailure", &Event::Other),
        ("UserPromptSubmit", &Event::Other),
        ("Stop", &stops),
        ("SessionEnd", &Event::Ends),
    ] {
        check(Host::Claude, &format!("claude-code-2.1.332.{name}"), expected);
    }
    for (name, expected) in [
        ("SessionStart", &Event::Begins),
        ("PreToolUse", &push),
        ("PostToolUse", &Event::Other),
        ("UserPromptSubmit", &Event::Other),
        ("Stop", &stops),
        ("SessionEnd", &Event::Ends),
    ] {
        check(Host::Codex, &format!("codex-0.171.0.{name}"), expected);
    }
    for (name, expected) in [
        ("SessionStart", &Event::Begins),
        ("BeforeTool", &push),
        ("AfterTool", &Event::Other),
        ("BeforeAgent", &Event::Other),
        ("AfterAgent", &stops),
        ("SessionEnd", &Event::Ends),
    ] {
        check(Host::Gemini, &format!("gemini-cli-0.61.0.{name}"), expected);
    }
    check(Host::Cursor, "cursor-docs.beforeShellExecution", &push);
    check(Host::Cursor, "cursor-docs.preToolUse", &push);
    check(Host::Cursor, "cursor-docs.stop", &stops);
    check(Host::Cursor, "cursor-docs.sessionStart", &Event::Begins);
    check(Host::Copilot, "copilot-docs.preToolUse", &push);
    check(Host::Copilot, "copilot-docs.PreToolUse", &push);
    check(Host::Copilot, "copilot-docs.agentStop", &stops);
    check(Host::Copilot, "copilot-docs.sessionStart", &Event::Begins);
    check(Host::Opencode, "opencode-1.18.33.tool.execute.before", &push);
    check(Host::Opencode, "opencode-1.18.33.session.idle", &stops);
    check(Host::Opencode, "opencode-1.18.33.session.created", &Event::Begins);
}

#[test]
fn whoever_reads_the_settings_of_another_host_is_told_apart() {
    for (name, expected) in [
        ("claude-code-2.1.332.PreToolUse", Host::Claude),
        ("claude-code-2.1.332.SessionStart", Host::Claude),
        ("cursor-docs.preToolUse", Host::Cursor),
        ("cursor-docs.stop", Host::Cursor),
        ("copilot-docs.preToolUse", Host::Copilot),
        ("copilot-docs.PreToolUse", Host::Copilot),
    ] {
        assert_eq!(Host::Claude.really(&fixture(name)), expected, "{name}");
    }
}

#[test]
fn tools_that_write_are_known_by_what_hosts_call_them() {
    let event = |name: &str, arguments: &str| tool(name, serde_json::from_str(arguments).unwrap()).unwrap();
    let edits = |path: &str| Event::Tool { tool: Tool::Edit(vec![path.into()]), dir: None };
    assert_eq!(event("Write", r#"{"file_path":"x","content":"git push"}"#), edits("x"));
    assert_eq!(event("NotebookEdit", r#"{"notebook_path":"x","new_source":""}"#), edits("x"));
    assert_eq!(event("replace", r#"{"file_path":"x"}"#), edits("x"));
    assert_eq!(event("edit", r#"{"filePath":"x","oldString":"a"}"#), edits("x"));
    assert_eq!(event("create", r#"{"path":"x"}"#), edits("x"));
    let patch = r#"{"command":"*** Begin Patch\n*** Update File: x\n@@\n*** End Patch"}"#;
    assert_eq!(event("apply_patch", patch), edits("x"));
    assert_eq!(event("bash", r#""{\"command\":\"ls\"}""#), runs("ls"));
    assert_eq!(
        event("run_shell_command", r#"{"command":"ls","dir_path":"sub"}"#),
        Event::Tool { tool: Tool::Shell("ls".into()), dir: Some("sub".into()) }
    );
    assert_eq!(event("Read", r#"{"file_path":".loopx/loopx.toml"}"#), Event::Other);
    assert_eq!(event("mcp__x__push", "{}"), Event::Other);
    for bad in [r#"{}"#, r#"{"command":7}"#, "7"] {
        assert!(tool("Bash", serde_json::from_str(bad).unwrap()).is_err(), "{bad}");
    }
}

#[test]
fn payloads_that_are_not_whole_are_not_understood() {
    for (host, bytes) in [
        (
            Host::Claude,
            r#"{"hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
        ),
        (Host::Claude, r#"{"session_id":"","cwd":"/","hook_event_name":"SessionStart"}"#),
        (Host::Claude, r#"{"session_id":"x","cwd":"/","hook_event_name":"Stop","stop_hook_active":"no"}"#),
        (Host::Codex, r#"{"session_id":7,"cwd":"/","hook_event_name":"Stop","stop_hook_active":false}"#),
        (Host::Gemini, r#"{"session_id":"x","cwd":"/","hook_event_name":"BeforeTool"}"#),
        (Host::Cursor, r#"{"conversation_id":"x","hook_event_name":"beforeShellExecution"}"#),
        (Host::Copilot, r#"{"sessionId":"x"}"#),
        (Host::Opencode, r#"{"event":"session.idle","session":"x","cwd":"/","more":1}"#),
        (Host::Claude, ""),
        (Host::Claude, "null"),
    ] {
        assert!(host.read("PreToolUse", bytes.as_bytes()).is_err(), "{bytes}");
    }
}

/// What each host is told, byte for byte: some run the tool for a field too many.
#[test]
fn answers_have_the_fields_that_their_host_knows_and_no_others() {
    let context = Answer::Context { text: "c".into(), agent: "a".into() };
    let answers = [Answer::Deny("no\n".into()), context, Answer::GoOn("on".into()), Answer::Say("s".into())];
    let said = |host: Host, event: &str| {
        let all = answers.iter().map(|answer| {
            let said = host.say(event, answer);
            format!("{} {}{}", said.code, said.err.trim_end(), said.out.trim_end())
        });
        all.collect::<Vec<_>>()
    };
    assert_eq!(
        said(Host::Claude, "SessionStart"),
        [
            "2 no",
            r#"0 {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}"#,
            r#"0 {"decision":"block","reason":"on"}"#,
            r#"0 {"systemMessage":"s"}"#,
        ]
    );
    assert_eq!(said(Host::Codex, "SessionStart"), said(Host::Claude, "SessionStart"));
    assert_eq!(
        said(Host::Gemini, "SessionStart"),
        [
            "2 no",
            r#"0 {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}"#,
            r#"0 {"decision":"deny","reason":"on"}"#,
            r#"0 {"systemMessage":"s"}"#,
        ]
    );
    assert_eq!(
        said(Host::Cursor, "sessionStart"),
        [
            r#"2 no{"permission":"deny","user_message":"no\n","agent_message":"no\n"}"#,
            r#"0 {"env":{"LOOPX_AGENT_ID":"a"},"additional_context":"c"}"#,
            r#"0 {"followup_message":"on"}"#,
            "0 ",
        ]
    );
    assert_eq!(
        said(Host::Copilot, "sessionStart"),
        [
            r#"0 {"permissionDecision":"deny","permissionDecisionReason":"no\n"}"#,
            r#"0 {"additionalContext":"c"}"#,
            r#"0 {"decision":"block","reason":"on"}"#,
            "0 ",
        ]
    );
    assert_eq!(
        said(Host::Opencode, "session.created"),
        [
            r#"0 {"decision":"deny","reason":"no\n"}"#,
            r#"0 {"context":"c","env":{"LOOPX_AGENT_ID":"a"}}"#,
            r#"0 {"continue":"on"}"#,
            r#"0 {"message":"s"}"#,
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// A payload that is damaged is understood as something or as nothing.
    #[test]
    fn a_damaged_payload_makes_nobody_stumble(
        file in any::<prop::sample::Index>(),
        wounds in vec((any::<prop::sample::Index>(), 0..12usize, vec(any::<u8>(), 0..4)), 0..4),
    ) {
        let names = ["claude-code-2.1.332.PreToolUse", "codex-0.171.0.Stop", "cursor-docs.preToolUse", "copilot-docs.preToolUse"];
        let mut bytes = fixture(names[file.index(names.len())]);
        for (place, length, new) in wounds {
            let from = place.index(bytes.len() + 1);
            let to = (from + length).min(bytes.len());
            bytes.splice(from..to, new);
        }
        promises(&bytes);
    }
}
