use super::*;

const NAMES: [Host; 7] = Host::ALL;

/// Texts that a user may have, for any file of JSON.
const JSON: [&str; 16] = [
    "{}",
    "{}\n",
    "{ }\n",
    "{\n}\n",
    "{\"a\": 1}",
    "{ \"a\": [1, 2] }\n",
    "{\n  \"a\": 1\n}\n",
    "{\n  \"a\": 1\n}",
    "{\r\n\t\"a\": 1\r\n}\r\n",
    "// mine\n{\n    // one\n    \"a\": 1, // last\n    \"b\": {}, /* end */\n    // off: \"c\": 2,\n}\n// bye\n",
    "{\n  \"a\": 1 // no comma\n  // and a word after it\n}\n",
    "{\n  // nothing yet\n}\n",
    "{ /* nothing */ }",
    "\u{feff}{\n   \"a\": \"\\u00e9, // no comment\"\n}\n",
    "{\n \"hooks\": { },\n \"mcpServers\": { },\n \"mcp\": { }\n}\n",
    "{\"hooks\":{\"PreToolUse\":[],\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]}]},\"mcpServers\":{\"x\":{\"command\":\"x\"}}}",
];

const TOML: [&str; 6] = [
    "model = \"x\"",
    "# mine\nmodel = \"x\"\n",
    "[mcp_servers.other]\ncommand = \"x\" # its\n\n",
    "a = '''\n[no.table]\n'''\n[profiles.x]\r\n",
    "\n",
    "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\n",
];

const PAGES: [&str; 6] = ["# Mine\n", "# Mine", "# Mine\r", "# Mine\r\n\r\nwords\r\n", "\n", "# Mine\n\n\n"];

fn texts(form: Form) -> &'static [&'static str] {
    match form {
        Form::Json(_) => &JSON,
        Form::Table(_) => &TOML,
        Form::Page(_) => &PAGES,
        Form::Whole(_) => &[],
    }
}

/// What stays when what is ours is left out: every line of the user's that is not only a bracket, in its order.
fn each(check: impl Fn(Host, Form, &str)) {
    for host in NAMES {
        for part in host.parts() {
            texts(part.form).iter().for_each(|text| check(host, part.form, text));
        }
    }
}

#[test]
fn what_was_there_is_among_what_it_may_have_been() {
    each(|host, form, before| {
        let text =
            form.install(Some(before), host).unwrap_or_else(|error| panic!("{host:?} {before:?}: {error:?}"));
        assert_eq!(form.standing(before, host), Ok(Standing::Absent), "{host:?} {before:?}");
        assert_eq!(form.standing(&text, host), Ok(Standing::Intact), "{host:?} {text}");
        assert_eq!(form.install(Some(&text), host).as_ref(), Ok(&text), "a second time: {host:?} {before:?}");
        let candidates = form.remove(&text, host).expect("it can be taken out");
        assert!(
            candidates.contains(&Some(before.to_owned())),
            "{host:?} {before:?}\n{text}\n{candidates:#?}"
        );
        for candidate in candidates.iter().flatten() {
            assert_eq!(form.standing(candidate, host), Ok(Standing::Absent), "{host:?} {candidate}");
        }
    });
}

#[test]
fn a_new_file_goes_again() {
    for host in NAMES {
        for part in host.parts() {
            let text = part.form.install(None, host).expect("a new file");
            assert_eq!(part.form.standing(&text, host), Ok(Standing::Intact), "{host:?}\n{text}");
            assert_eq!(part.form.remove(&text, host).expect("it goes")[0], None, "{host:?}");
        }
    }
}

#[test]
fn every_byte_of_the_users_stays_in_its_order() {
    each(|host, form, before| {
        let text = form.install(Some(before), host).expect("it goes in");
        let mut rest = text.chars();
        assert!(before.chars().all(|c| rest.any(|other| other == c)), "{host:?} {before:?}\n{text}");
    });
}

#[test]
fn what_a_user_adds_later_survives() {
    let form = CLAUDE[0].form;
    let text = form.install(Some("{\n  \"a\": 1\n}\n"), Host::Claude).expect("it goes in");
    let text = text.replacen("\"Stop\": [", "\"Stop\": [\n      {\"hooks\": [{\"command\": \"mine\"}]},", 1);
    let text = text
        .trim_end()
        .strip_suffix('}')
        .map(|text| format!("{},\n  \"z\": 2 // mine\n}}\n", text.trim_end()))
        .expect("an end");
    let gone = form.remove(&text, Host::Claude).expect("it goes").swap_remove(0).expect("a file");
    assert_eq!(
        gone,
        "{\n  \"a\": 1,\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"command\": \"mine\"}]}\n    ]\n  },\n  \"z\": 2 // mine\n}\n"
    );
}

#[test]
fn an_older_part_is_renewed_in_its_place() {
    let form = CLAUDE[0].form;
    let old = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      // ours, once\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"/opt/loopx hook claude PreToolUse\"}]},\n      {\"matcher\": \"Edit\", \"hooks\": [{\"type\": \"command\", \"command\": \"fmt\"}]}\n    ],\n    \"Notification\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"loopx hook claude Notification\"}]}]\n  }\n}\n";
    assert_eq!(form.standing(old, Host::Claude), Ok(Standing::Changed));
    let new = form.install(Some(old), Host::Claude).expect("it is renewed");
    assert_eq!(form.standing(&new, Host::Claude), Ok(Standing::Intact), "{new}");
    assert!(
        new.contains("// ours, once") && new.contains("\"command\": \"fmt\"") && !new.contains("/opt/loopx"),
        "{new}"
    );
}

#[test]
fn a_hook_in_a_group_of_the_users_leaves_the_group() {
    let form = CLAUDE[0].form;
    let group = "{\"hooks\":{\"Stop\":[{\"matcher\":\"x\",\"hooks\":[{\"command\":\"mine\"}, {\"command\":\"loopx hook claude Stop\"}]}]}}";
    let new = form.install(Some(group), Host::Claude).expect("it is renewed");
    assert_eq!(form.standing(&new, Host::Claude), Ok(Standing::Intact), "{new}");
    let gone = form.remove(&new, Host::Claude).expect("it goes").swap_remove(0);
    assert_eq!(
        gone.as_deref(),
        Some("{\"hooks\":{\"Stop\":[{\"matcher\":\"x\",\"hooks\":[{\"command\":\"mine\"}]}]}}")
    );
}

#[test]
fn a_table_that_the_user_went_on_with_goes_whole() {
    let Form::Table(block) = CODEX[1].form else { panic!("a table") };
    let form = CODEX[1].form;
    let text = format!(
        "a = 1\n\n{block}startup_timeout_sec = 5\n\n[mcp_servers.loopx.tools.status]\napproval_mode = \"approve\"\n\n# next\n[other]\nb = 2\n"
    );
    assert_eq!(form.standing(&text, Host::Codex), Ok(Standing::Intact));
    assert_eq!(form.install(Some(&text), Host::Codex).as_ref(), Ok(&text));
    let gone = form.remove(&text, Host::Codex).expect("it goes").swap_remove(0);
    assert_eq!(gone.as_deref(), Some("a = 1\n\n# next\n[other]\nb = 2\n"));
}

#[test]
fn what_cannot_be_understood_is_left_alone() {
    let refused = |form: Form, text: &str| {
        let bad = form.install(Some(text), Host::Claude).expect_err(text);
        bad.about("settings").message
    };
    let json = Form::Json(&[template!("claude/hooks/hooks.json"), template!("claude/.mcp.json")]);
    for (text, why) in [
        ("", "`settings` cannot be read, so it was left alone: it is empty, and an object was expected"),
        ("[]", "`settings` cannot be read, so it was left alone: an object was expected"),
        (
            "{\"a\": 1",
            "`settings` cannot be read, so it was left alone: Unterminated object on line 1 column 1",
        ),
        (
            "{'a': 1}",
            "`settings` cannot be read, so it was left alone: Single-quoted strings are not allowed on line 1 column 2",
        ),
        ("{\"hooks\": []}", "`settings` was left alone: `hooks` in it is no object"),
        ("{\"hooks\": {\"Stop\": {}}}", "`settings` was left alone: `hooks.Stop` in it is no list"),
        ("{\"hooks\": {}, \"hooks\": {}}", "`settings` was left alone: `hooks` in it is there twice"),
        (
            "{\"mcpServers\": {\"loopx\": {\"command\": \"other\"}}}",
            "`settings` was left alone: `mcpServers.loopx` is there already and is not loopx's",
        ),
    ] {
        assert_eq!(refused(json, text), why);
    }
    let table = CODEX[1].form;
    for (text, why) in [
        ("a = ", "`settings` cannot be read, so it was left alone: TOML parse error at line 1, column 5"),
        (
            "mcp_servers = { a = { command = \"x\" } }",
            "`settings` was left alone: `mcp_servers` in it is not written as tables of its own",
        ),
        (
            "[mcp_servers]\nloopx.command = \"x\"",
            "`settings` was left alone: `mcp_servers.loopx` is there already and is not loopx's",
        ),
    ] {
        assert_eq!(refused(table, text), why);
    }
    let page = AGENTS_MD[0].form;
    assert!(refused(page, "<!-- loopx:begin -->\n").contains("were expected"));
}

#[test]
fn a_server_is_left_as_the_user_has_it_run() {
    let mcp = CLAUDE[1].form;
    let text = "{\"mcpServers\": {\"loopx\": {\"command\": \"/opt/bin/loopx\", \"args\": [\"mcp\"], \"env\": {\"A\": \"b\"}}}}";
    assert_eq!(mcp.standing(text, Host::Claude), Ok(Standing::Intact));
    assert_eq!(mcp.install(Some(text), Host::Claude).as_deref(), Ok(text));
    assert_eq!(mcp.remove(text, Host::Claude).expect("it goes")[0], None);
    let table = CODEX[1].form;
    let text = "[mcp_servers.loopx]\ncommand = \"/opt/bin/loopx\"\nargs = [\"mcp\"]\nenabled = true\n";
    assert_eq!(table.standing(text, Host::Codex), Ok(Standing::Intact));
    assert_eq!(table.install(Some(text), Host::Codex).as_deref(), Ok(text));
    assert_eq!(table.remove(text, Host::Codex).expect("it goes")[0], None);
}

/// What an agent's tools do not write is what is installed.
#[test]
fn every_file_of_a_host_is_looked_after() {
    let here = crate::domain::shell::Place::At("/repo".into());
    let is_known = |file: &str| crate::domain::shell::of_host(file, &here, false).is_some();
    for host in Host::ALL.into_iter().filter(|host| *host != Host::AgentsMd) {
        for file in host.parts().iter().filter_map(|part| part.project) {
            assert!(is_known(file), "{}: {file}", host.name());
        }
    }
}
