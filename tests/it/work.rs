//! What happens to work besides being done: needs, checks, splitting, dropping, reopening, blocking, editing, finding, and
//! adding many at once.

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox, words};

#[test]
fn a_need_that_leads_back_is_refused_and_the_circle_named() {
    let repo = Sandbox::ready();
    let one = repo.todo("one --agent-id a");
    let two = repo.todo(&format!("two --needs {one} --agent-id a"));
    let three = repo.todo(&format!("three --needs {two} --agent-id a"));
    assert_snapshot!(repo.scene(&format!("
        loopx todo edit {one} --needs {three} --agent-id a
        loopx todo edit {one} --needs {one} --agent-id a
        loopx todo edit {three} --needs {one} --no-needs {two} --agent-id a
        loopx todo done {one} --agent-id a
        loopx todo edit {two} --needs {three} --agent-id a
        loopx todo reopen {one} --agent-id a
        loopx todo list --needs {one}
    ")), @"");
}

#[test]
fn what_was_closed_and_would_close_a_circle_stays_closed() {
    let repo = Sandbox::ready();
    let later = repo.todo("later");
    let first = repo.todo(&format!("first --needs {later}"));
    repo.loopx(&format!("todo done {later}")).success();
    repo.loopx(&format!("todo done {first}")).success();
    repo.loopx(&format!("todo reopen {later}")).success();
    repo.loopx(&format!("todo edit {later} --needs {first}")).success();
    assert_snapshot!(repo.loopx(&format!("todo reopen {first} --reason 'once more'")), @"");
}

#[test]
fn a_check_has_to_pass_before_a_todo_is_done() {
    let repo = Sandbox::ready();
    repo.script("repo/check.sh", "#!/bin/sh\necho looking at $1\necho PASSWORD=hunter2 >&2\ntest -e $1\n");
    let id = repo.todo("'Write it' --check './check.sh done.txt' --agent-id a");
    assert_snapshot!(repo.scene(&format!("
        loopx todo show {id}
        loopx todo done {id} --agent-id a
        loopx todo claim {id} --agent-id b
        loopx todo done {id} --agent-id a
    ")), @"");
    repo.write("repo/done.txt", "");
    let done = repo.loopx(&format!("todo done {id} --agent-id b --json")).success().json();
    let evidence = done["state"]["evidence"][0].as_str().expect("evidence").to_owned();
    let kept = repo.read(&format!("repo/.loopx/goals/ship/evidence/{evidence}.toml"));
    assert_snapshot!(repo.scene("
        loopx evidence list
        git log -1 --format=%B loopx/state
        loopx verify
    "), @"");
    let kept: String = kept.lines().filter(|line| !line.starts_with("commit")).map(|line| format!("{line}\n")).collect();
    assert_snapshot!(kept.replace(&id, "[TODO]"), @"");
}

#[test]
fn a_check_that_hangs_cannot_start_or_says_too_much() {
    let repo = Sandbox::ready();
    let hangs = repo.todo("hangs --check \"sh -c 'sleep 60 & sleep 60'\" --check-timeout 1");
    let gone = repo.todo("gone --check ./gone");
    let loud = repo.todo("loud --check \"sh -c 'yes loud | head -n 20000; exit 3'\"");
    let quiet = repo.todo("quiet --check false --check-timeout 2m");
    let before = repo.tip();
    assert_snapshot!(repo.scene(&format!("
        loopx todo done {hangs}
        loopx todo done {gone}
        loopx todo done {loud}
        loopx todo done {quiet} --json
        loopx todo add x --check 'a && b'
        loopx todo add x --check 'curl --token abc'
        loopx todo add x --check true --check-timeout 0
    ")), @"");
    assert_eq!(repo.tip(), before);
}

#[test]
fn only_a_person_takes_a_check_away() {
    let repo = Sandbox::ready();
    let id = repo.todo("one --agent-id a");
    assert_snapshot!(repo.scene(&format!("
        loopx todo edit {id} --check 'false' --agent-id a
        loopx todo edit {id} --no-check --agent-id a
        loopx todo edit {id} --check true --agent-id a
        loopx todo edit {id} --no-check
    ")), @"");
    assert_snapshot!(repo.person(&format!("todo edit {id} --no-check"), "no"), @"");
    assert_snapshot!(repo.person(&format!("todo edit {id} --check true"), &id), @"");
    assert_snapshot!(repo.loopx("verify"), @"");
}

#[test]
fn a_split_todo_is_done_after_its_parts() {
    let repo = Sandbox::ready();
    let whole = repo.todo("whole --priority p1 --requires network --agent-id a");
    repo.loopx(&format!("todo claim {whole} --agent-id a")).success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo split {whole} --into left right --agent-id b
        loopx todo split {whole} --into left right --agent-id a
        loopx todo show {whole}
        loopx quota should-run --agent-id a --capability network
        git log -1 --format=%B loopx/state
    ")), @"");
}

#[test]
fn what_is_given_up_keeps_its_reason_and_comes_back() {
    let repo = Sandbox::ready();
    let (agents, persons) = (repo.todo("'the agents own' --agent-id a"), repo.todo("'of a person'"));
    let asked = repo.todo("asked --agent-id a");
    repo.loopx(&format!("gate open 'Do it?' --todo {asked} --agent-id a")).success();
    repo.person("gate resolve do-it --decision reject", "do-it").success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo drop {agents} --reason 'not needed' --agent-id b
        loopx todo drop {persons} --reason 'not needed' --agent-id b
        loopx todo drop {asked} --reason 'not needed' --agent-id a
        loopx todo drop {asked} --reason 'not needed'
        loopx todo drop {persons} --reason 'not needed'
        loopx todo reopen {persons} --agent-id b
        loopx todo reopen {agents} --reason 'it is needed' --agent-id b
        loopx todo reopen {agents} --agent-id b
        loopx todo list --all
        git log -1 --format=%B loopx/state
    ")), @"");
    assert_snapshot!(repo.person(&format!("todo drop {asked} --reason 'said no'"), &asked), @"");
    assert_snapshot!(repo.loopx("verify"), @"");
}

#[test]
fn a_folded_todo_comes_back_and_goes_again() {
    let repo = Sandbox::ready();
    let list: String = (0..600).map(|number| format!("- [ ] number {number}\n")).collect();
    let add = |list: &str| {
        let added = repo.feed(LOOPX, &["todo", "add", "--from", "-", "--agent-id", "a", "--json"], list).success();
        let ids = added.json()["todos"].as_array().expect("todos").clone();
        ids.iter().map(|todo| todo["id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    let ids = add(&list);
    for id in &ids[..321] {
        repo.loopx(&format!("todo done {id} --agent-id a")).success();
    }
    let id = &ids[0];
    let path = |folder: &str| repo.path(&format!("repo/.loopx/goals/ship/todos/{folder}{id}.toml"));
    assert!(!path("closed/").exists(), "it was folded");
    let state = || {
        let shown = repo.loopx_raw(&["todo", "show", id, "--json"]).success().json();
        shown["state"]["is"].as_str().expect("a state").to_owned()
    };
    repo.loopx(&format!("todo reopen {id} --agent-id a")).success();
    assert_eq!((path("").exists(), state().as_str()), (true, "open"));
    repo.loopx(&format!("todo drop {id} --reason no --agent-id a")).success();
    assert_eq!(state(), "dropped");
    assert_eq!(repo.loopx(&format!("todo show {}", &id[..id.len() - 1])).code, 0, "a beginning still means it");
    for id in &ids[321..] {
        repo.loopx(&format!("todo done {id} --agent-id a")).success();
    }
    assert!(!path("closed/").exists(), "it was folded again");
    assert_eq!(state(), "dropped", "the last word counts");
    let found = repo.loopx("todo list --all --search 'number 0' --json").success().json();
    assert_eq!(found["todos"].as_array().map(Vec::len), Some(1));
    let verified = repo.loopx("verify");
    assert!(verified.stdout.contains("each is one legal mutation"), "{verified}");
}

#[test]
fn work_is_stopped_for_a_reason_and_freed_again() {
    let repo = Sandbox::ready();
    let (one, two) = (repo.todo("one --agent-id a"), repo.todo("two --agent-id a"));
    repo.loopx("gate open 'Go on?' --blocks push --agent-id a").success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo block {one} --reason 'the API is down' --agent-id a
        loopx todo block {one} --reason 'again' --agent-id a
        loopx todo claim {one} --agent-id b
        loopx todo unblock {one} --reason 'it is up' --agent-id b
        loopx todo unblock {one} --agent-id b
        loopx todo block {one} --reason 'wait for me'
        loopx todo unblock {one} --agent-id b
        loopx todo block {two} --on nope --reason 'as asked' --agent-id a
        loopx todo block {two} --on go-on --reason 'as asked' --agent-id a
        loopx todo unblock {two} --agent-id a
    ")), @"");
    repo.person("gate resolve go-on --decision approve", "go-on").success();
    assert_snapshot!(repo.scene("
        loopx todo list
        loopx verify
    "), @"");
}

#[test]
fn a_change_is_shown_as_a_diff() {
    let repo = Sandbox::ready();
    let (agents, persons) = (repo.todo("one --agent-id a"), repo.todo("two"));
    assert_snapshot!(repo.scene(&format!("
        loopx todo edit {agents} --title uno --priority p0 --body 'More about it' --agent-id b
        loopx todo edit {agents} --title uno --agent-id b
        loopx todo edit {agents} --no-body --for person --requires network --agent-id b
        loopx todo edit {agents} --for agent --agent-id b
        loopx todo edit {persons} --title dos --agent-id b
        loopx todo edit {persons} --needs {agents} --requires gpu --agent-id b
        loopx todo edit {persons} --no-needs {agents} --agent-id b
        loopx todo edit {persons} --every 1h
        loopx todo edit {persons}
        loopx verify
    ")), @"");
}

#[test]
fn an_agent_does_not_get_around_a_person_by_needing_less() {
    let repo = Sandbox::ready();
    let sign = repo.todo("sign --for person --agent-id a");
    let send = repo.todo(&format!("send --needs {sign} --agent-id a"));
    assert_snapshot!(repo.scene(&format!("
        loopx todo edit {send} --no-needs {sign} --agent-id a
        loopx todo edit {send} --no-needs {sign}
    ")), @"");
}

#[test]
fn without_options_a_todo_is_edited_in_the_editor() {
    let mut repo = Sandbox::ready();
    let id = repo.todo("'one thing' --body 'two words'");
    repo.script("home/edit.sh", "#!/bin/sh\nsed -i -e 's/one thing/another/' -e 's/\"p2\"/\"p0\"/' \"$1\"\n");
    let editor = repo.path("home/edit.sh").display().to_string();
    repo.env("EDITOR", &editor);
    assert_snapshot!(repo.person(&format!("todo edit {id}"), ""), @"");
    assert_snapshot!(repo.person(&format!("todo edit {id}"), ""), @"");
    repo.script("home/edit.sh", "#!/bin/sh\necho nonsense > \"$1\"\n");
    assert_snapshot!(repo.person(&format!("todo edit {id}"), ""), @"");
    repo.script("home/edit.sh", "#!/bin/sh\nexit 1\n");
    assert_snapshot!(repo.person(&format!("todo edit {id}"), ""), @"");
}

#[test]
fn todos_are_found_by_what_they_are() {
    let repo = Sandbox::ready();
    let first = repo.todo("'Write the Schema' --priority p0 --agent-id a");
    repo.todo(&format!("'Send it' --needs {first} --requires network --body 'with the schema' --agent-id a"));
    repo.todo("'Sign it' --for person --agent-id a");
    repo.todo("'Look at CI' --every 1h --agent-id a");
    repo.loopx(&format!("todo claim {first} --agent-id a")).success();
    let gone = repo.todo("gone --agent-id a");
    repo.loopx(&format!("todo drop {gone} --reason 'the schema is enough' --agent-id a")).success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo list --search SCHEMA
        loopx todo list --search schema --all
        loopx todo list --state open --for agent
        loopx todo list --state dropped
        loopx todo list --claimed-by a
        loopx todo list --needs {first}
        loopx todo list --requires network
        loopx todo list --monitors
        loopx todo list --priority p0 --priority p1
        loopx todo list --state gone
    ")), @"");
}

#[test]
fn what_could_be_claimed_now_and_what_keeps_the_rest_away() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.loopx("todo ready --agent-id a"), @"nothing of goal ship can be claimed now");
    let first = repo.todo("first --priority p1");
    let gated = repo.todo("gated");
    for more in [
        "urgent --priority p0 --requires gpu".to_owned(),
        format!("after --needs {first}"),
        "theirs --for person".to_owned(),
        "usual".to_owned(),
    ] {
        repo.todo(&more);
    }
    let (mine, others) = (repo.todo("mine"), repo.todo("others"));
    let monitor = repo.todo("watch --every 1h");
    repo.loopx(&format!("todo claim {mine} --agent-id a")).success();
    repo.loopx(&format!("todo claim {others} --agent-id b")).success();
    repo.loopx(&format!("gate open Sure? --todo {gated} --agent-id a")).success();
    assert_snapshot!(repo.loopx("todo ready --agent-id a"), @"");
    repo.loopx(&format!("todo poll {monitor} --same --agent-id a")).success();
    assert_snapshot!(repo.scene("
        loopx todo ready --agent-id a
        loopx todo ready --agent-id a --capability gpu
    "), @"");
}

#[test]
fn a_checklist_becomes_todos_in_one_commit() {
    let repo = Sandbox::ready();
    repo.write("repo/plan.md", "# Plan\n\n- [ ] [P1] Ship\n  - [ ] Build\n    with care\n  - [x] Think\n- [ ] Tell\n");
    repo.write("repo/plan.jsonl", "{\"title\":\"Deploy\",\"needs\":[\"db\"]}\n{\"title\":\"Migrate\",\"key\":\"db\",\"for\":\"person\"}\n");
    assert_snapshot!(repo.scene("
        loopx todo add --from plan.md --agent-id a
        loopx todo add --from plan.jsonl --agent-id a
        loopx todo list
        git log -2 --format=%B loopx/state
        loopx verify
    "), @"");
    repo.write("repo/bad.md", "- [ ] one\n- [ ] two\n- [ ] \n");
    repo.write("repo/bad.jsonl", "{\"title\":\"one\"}\n{\"titel\":\"two\"}\n");
    repo.write("repo/prose.md", "Nothing here.\n");
    let before = repo.tip();
    assert_snapshot!(repo.scene("
        loopx todo add --from bad.md
        loopx todo add --from bad.jsonl
        loopx todo add --from prose.md
        loopx todo add --from gone.md
        loopx todo add one --from plan.md
        loopx todo add
    "), @"");
    assert_eq!(repo.tip(), before);
}

#[test]
fn a_thousand_todos_come_at_once() {
    let repo = Sandbox::ready();
    let base = repo.tip();
    let list: String = (0..1000).map(|number| format!("- [ ] number {number}\n")).collect();
    let added = repo.feed(LOOPX, &["todo", "add", "--from", "-", "--json"], &list).success().json();
    assert_eq!(added["todos"].as_array().map(Vec::len), Some(1000));
    assert_eq!(repo.git(&format!("rev-list --count {}..loopx/state", base.trim())).stdout.trim(), "1");
    let listed = repo.loopx("todo list --json").success().json();
    let titles: Vec<_> = listed["todos"].as_array().expect("todos").iter().map(|todo| &todo["title"]).collect();
    assert_eq!((titles[0], titles[999]), (&"number 0".into(), &"number 999".into()), "in the order of the list");
    assert_eq!(repo.loopx("verify").code, 0);
}

#[test]
fn who_comes_back_late_learns_who_took_over() {
    let repo = Sandbox::ready();
    let id = repo.todo("one --agent-id a");
    repo.loopx(&format!("todo claim {id} --agent-id a --ttl 10m")).success();
    repo.sleep(200);
    let before = repo.tip();
    assert_snapshot!(repo.loopx(&format!("todo renew {id} --agent-id a")), @"");
    assert_eq!(repo.tip(), before, "an early heartbeat makes no commit");
    repo.sleep(200);
    assert_snapshot!(repo.loopx(&format!("todo renew {id} --agent-id a")), @"");
    repo.sleep(700);
    assert_snapshot!(repo.scene(&format!("
        loopx todo claim {id} --agent-id b
        loopx todo renew {id} --agent-id a
        loopx todo done {id} --agent-id a
        loopx todo release {id} --agent-id a
        loopx todo claim {id} --agent-id a
        loopx todo renew {id} --agent-id c
        git log -3 --format=%s loopx/state
        loopx verify
    ")), @"");
}

#[test]
fn the_next_todo_is_claimed_in_one_step() {
    let repo = Sandbox::ready();
    repo.todo("usual --agent-id a");
    repo.todo("urgent --priority p0 --agent-id a");
    assert_snapshot!(repo.scene("
        loopx todo claim --next --agent-id a
        loopx todo claim --next --agent-id a
        loopx todo claim --next --agent-id b
        loopx todo claim --next --agent-id c
        loopx todo claim
        loopx todo claim t-0000 --next
    "), @"");
}

#[test]
fn a_goal_is_paused_by_anybody_and_goes_on_by_a_person() {
    let repo = Sandbox::plain();
    repo.loopx("init").success();
    repo.loopx("goal add 'Ship it' --goal-id ship --done-when 'it builds' --done-when 'it is fast'").success();
    let todo = repo.todo("one --agent-id a");
    assert_snapshot!(repo.scene(&format!("
        loopx goal pause --reason 'the build is broken' --agent-id a
        loopx goal pause ship --agent-id a
        loopx quota should-run --goal-id ship --agent-id a
        loopx todo claim {todo} --agent-id a
        loopx goal resume ship --agent-id a
        loopx goal resume ship
    ")), @"");
    assert_snapshot!(repo.person("goal resume ship", "ship"), @"");
    let evidence = repo.loopx("evidence add --text 'it builds' --json").success().json();
    let evidence = evidence["id"].as_str().expect("an id").to_owned();
    repo.loopx("gate open 'Really?' --agent-id a").success();
    assert_snapshot!(repo.scene(&format!("
        loopx goal achieve --met 1={evidence} --met 2={evidence}
        loopx goal achieve --met 3={evidence}
        loopx goal achieve --met 1=e-0000
        loopx goal achieve --met one
    ")), @"");
    repo.person("gate resolve really --decision approve", "really").success();
    assert_snapshot!(repo.scene(&format!("
        loopx goal achieve --met 1={evidence}
        loopx goal achieve --met 1={evidence} --met 2={evidence} --agent-id a
    ")), @"");
    assert_snapshot!(repo.person(&format!("goal achieve --met 1={evidence} --met 2={evidence}"), "ship"), @"");
    repo.loopx("goal add Other --goal-id other").success();
    assert_snapshot!(repo.person("goal abandon other --reason 'no time'", "other"), @"");
    assert_snapshot!(repo.scene("
        loopx goal list
        loopx goal abandon other --reason again
        loopx verify
    "), @"");
}

#[test]
fn a_monitor_is_looked_at_again_and_again() {
    let repo = Sandbox::ready();
    let id = repo.todo("'Is CI green' --every 1h --agent-id a");
    assert_snapshot!(repo.scene(&format!("
        loopx todo show {id}
        loopx quota should-run --agent-id a
        loopx todo poll {id} --fingerprint green --follow-up 'Look at CI' --agent-id a
        loopx quota should-run --agent-id a
        loopx todo list
        loopx todo poll {id} --agent-id a
        loopx todo poll {id} --same --changed --agent-id a
    ")), @"");
    repo.sleep(3600);
    assert_snapshot!(repo.scene(&format!("
        loopx todo claim --next --agent-id b
        loopx todo poll {id} --fingerprint green --agent-id a
        loopx todo poll {id} --fingerprint green --agent-id b
        loopx todo poll {id} --fingerprint red --follow-up 'Look at CI' --agent-id b
        loopx todo show {id}
        loopx quota should-run --agent-id a
        git log -2 --format=%B loopx/state
        loopx quota status
        loopx verify
    ")), @"");
}

#[test]
fn a_monitor_that_never_finds_anything_asks_for_another_plan() {
    let repo = Sandbox::ready();
    let id = repo.todo("'Is CI green' --every 10m --agent-id a");
    for _ in 0..5 {
        repo.loopx(&format!("todo poll {id} --same --agent-id a")).success();
    }
    assert_snapshot!(repo.loopx("quota should-run --agent-id a"), @"");
    repo.sleep(600);
    assert_snapshot!(repo.scene(&format!("
        loopx quota should-run --agent-id a
        loopx todo claim --next --agent-id a
        loopx todo edit {id} --every 1h --agent-id a
        loopx quota should-run --agent-id a
    ")), @"");
    let needy = repo.todo("'Is it hot' --every 10m --requires thermometer --agent-id a");
    repo.loopx(&format!("todo drop {id} --reason 'nobody reads it' --agent-id a")).success();
    assert_snapshot!(repo.scene(&format!("
        loopx quota should-run --agent-id a
        loopx todo poll {needy} --same --follow-up x --agent-id a
    ")), @"");
}

#[test]
fn a_monitor_under_a_gate_is_not_looked_at() {
    let repo = Sandbox::ready();
    let id = repo.todo("'Is CI green' --every 1h --agent-id a");
    repo.loopx(&format!("gate open 'May we look?' --todo {id} --agent-id a")).success();
    let args = words(&format!("todo poll {id} --same --agent-id a"));
    let args: Vec<&str> = args.iter().map(|arg| arg.to_str().expect("text")).collect();
    assert_snapshot!(repo.loopx_raw(&args), @"");
}
