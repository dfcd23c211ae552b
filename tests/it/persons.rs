//! What loosens something takes a person: at a terminal, without an agent's mark, and with the word typed back.

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox, words};

/// A repository where a gate waits.
fn asked() -> Sandbox {
    let repo = Sandbox::ready();
    repo.loopx("gate open Ready? --agent-id codex-1").success();
    repo
}

#[test]
fn every_mark_of_an_agent_shuts_the_door_even_at_a_terminal() {
    let mut repo = asked();
    let before = repo.tip();
    let marks = loopx::caller::MARKERS.into_iter().chain([("LOOPX_AGENT_ID", "codex-1")]);
    for (variable, agent) in marks {
        let value = if variable == "LOOPX_AGENT_ID" { agent } else { "1" };
        repo.clear_env().env(variable, value);
        for (act, command) in [
            ("approve gate `ready`", "gate resolve ready --decision approve"),
            ("switch on `explore` for goal `ship`", "configure-goal --goal-id ship --enable explore"),
        ] {
            assert_eq!(
                repo.person(command, "ready").to_string(),
                format!(
                    "error: only a person may {act}, and this is agent `{agent}` (`{variable}` is set)\n\
                     hint: ask the person to run `loopx {command}` in a terminal of their own\n\
                     [exit 1]\n"
                )
            );
        }
    }
    assert_eq!(repo.tip(), before);
}

#[test]
fn one_host_is_known_by_the_value_of_its_variable() {
    let mut repo = asked();
    repo.env("CURSOR_EXTENSION_HOST_ROLE", "agent-exec");
    assert_snapshot!(repo.person("gate resolve ready --decision approve", "ready"), @"
    error: only a person may approve gate `ready`, and this is agent `cursor` (`CURSOR_EXTENSION_HOST_ROLE` is set)
    hint: ask the person to run `loopx gate resolve ready --decision approve` in a terminal of their own
    [exit 1]
    ");
    repo.clear_env().env("CURSOR_EXTENSION_HOST_ROLE", "user");
    repo.person("gate resolve ready --decision approve", "ready").success();
}

#[test]
fn an_agent_that_is_named_is_no_person() {
    let repo = asked();
    assert_snapshot!(repo.person("gate resolve ready --decision approve --agent-id codex-1", "ready"), @"
    error: only a person may approve gate `ready`, and this is agent `codex-1` (`--agent-id` was given)
    hint: ask the person to run `loopx gate resolve ready --decision approve` in a terminal of their own
    [exit 1]
    ");
    assert_snapshot!(repo.person("gate resolve ready --decision reject --agent-id codex-1", "ready"), @"
    error: only a person may reject gate `ready`, and this is agent `codex-1` (`--agent-id` was given)
    hint: ask the person to run `loopx gate resolve ready --decision reject` in a terminal of their own
    [exit 1]
    ");
}

#[test]
fn an_agent_with_an_odd_name_is_not_believed() {
    let mut repo = asked();
    repo.env("LOOPX_AGENT_ID", "Ann <ann@example.test>");
    assert_snapshot!(repo.loopx("todo add one"), @"
    [stderr] error: `LOOPX_AGENT_ID`: `Ann <ann@example.test>` is not an agent id (expected 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit, such as `codex-1`)
    [exit 2]
    ");
    assert_snapshot!(repo.loopx("todo add one --agent-id agent:x"), @"
    [stderr] error: invalid value 'agent:x' for '--agent-id <AGENT>': `agent:x` is not an agent id (expected 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit, such as `codex-1`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn a_name_that_is_no_text_is_not_taken_for_none() {
    use std::os::unix::ffi::OsStringExt as _;
    let repo = asked();
    let before = repo.tip();
    let told = |variable: &str| {
        let mut command = repo.command(LOOPX, &words("todo add one"));
        command.env(variable, std::ffi::OsString::from_vec(b"codex\xff".to_vec()));
        repo.finish(command, "")
    };
    assert_snapshot!(told("LOOPX_AGENT_ID"), @"
    [stderr] error: `LOOPX_AGENT_ID`: `codex�` is not an agent id (expected 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit, such as `codex-1`)
    [exit 2]
    ");
    assert_snapshot!(told("LOOPX_GOAL"), @"
    [stderr] error: `LOOPX_GOAL`: `codex�` is not a goal id (expected lower-case words joined by `-`, 64 characters at most, such as `ship-v2`)
    [exit 2]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn without_a_terminal_nobody_answers() {
    let repo = asked();
    let before = repo.tip();
    assert_snapshot!(repo.loopx("gate resolve ready --decision approve"), @"
    [stderr] error: only a person at a terminal may approve gate `ready`, and there is none
    [stderr] hint: run `loopx gate resolve ready --decision approve` in a terminal
    [exit 1]
    ");
    let mut alone = repo.command("setsid", &words("-w"));
    alone.arg(LOOPX).args(words("gate resolve ready --decision approve"));
    assert_snapshot!(repo.finish(alone, "ready\n"), @"
    [stderr] error: only a person at a terminal may approve gate `ready`, and there is none
    [stderr] hint: run `loopx gate resolve ready --decision approve` in a terminal
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn an_answer_cannot_be_piped_in() {
    let repo = asked();
    let before = repo.tip();
    let pipe = format!("echo ready | {LOOPX} gate resolve ready --decision approve");
    assert_snapshot!(repo.at_a_terminal("sh", &["-c".into(), pipe.into()], "ready"), @"
    error: only a person at a terminal may approve gate `ready`, and standard input is not one
    hint: run `loopx gate resolve ready --decision approve` in a terminal
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn another_word_is_no_answer() {
    let repo = asked();
    let before = repo.tip();
    assert_snapshot!(repo.person("gate resolve ready --decision approve", "yes"), @r#"
    gate ready: "Ready?"
      goal     ship
      asked    by codex-1, just now
      blocks   turn, push, publish
      options  approve, reject
      state    open
      commit   [ID] base
    its changes:
      base.txt | 1 +
      1 file changed, 1 insertion(+)

    Type `ready` to approve gate `ready`: yes
    error: that was not `ready`, so nothing was changed
    hint: run `loopx gate resolve ready --decision approve` again
    [exit 1]
    "#);
    assert_snapshot!(repo.person("gate resolve ready --decision approve", "Ready"), @r#"
    gate ready: "Ready?"
      goal     ship
      asked    by codex-1, just now
      blocks   turn, push, publish
      options  approve, reject
      state    open
      commit   [ID] base
    its changes:
      base.txt | 1 +
      1 file changed, 1 insertion(+)

    Type `ready` to approve gate `ready`: Ready
    error: that was not `ready`, so nothing was changed
    hint: run `loopx gate resolve ready --decision approve` again
    [exit 1]
    "#);
    assert_snapshot!(repo.person("gate resolve ready --decision approve", "\u{4}"), @r#"
    gate ready: "Ready?"
      goal     ship
      asked    by codex-1, just now
      blocks   turn, push, publish
      options  approve, reject
      state    open
      commit   [ID] base
    its changes:
      base.txt | 1 +
      1 file changed, 1 insertion(+)

    Type `ready` to approve gate `ready`: 
    error: that was not `ready`, so nothing was changed
    hint: run `loopx gate resolve ready --decision approve` again
    [exit 1]
    "#);
    assert_eq!(repo.tip(), before);
}

#[test]
fn a_person_sees_what_they_answer_for() {
    let repo = Sandbox::with_remote();
    let todo = repo.todo("schema");
    repo.loopx(&format!("evidence add {todo} --text 'all tests pass' --agent-id codex-1")).success();
    repo.loopx(&format!(
        "gate open 'Release 0.2?' --gate-id ship-it --blocks publish --todo {todo} --agent-id codex-1"
    ))
    .success();
    repo.loopx("evidence add --gate-id ship-it --link https://ci.example.test/7 --agent-id codex-1")
        .success();
    repo.commit("one");
    repo.write("repo/two\u{1b}[2J.txt", "x\n");
    repo.git("add .").success();
    repo.git("commit -q -m two").success();
    repo.sleep(3600);
    assert_snapshot!(repo.person("gate resolve ship-it --decision approve", "ship-it"), @r#"
    gate ship-it: "Release 0.2?"
      goal     ship
      asked    by codex-1, 1 h ago
      blocks   publish
      about    t-c22j
      options  approve, reject
      state    open
      commit   [ID] two
    2 commits that no remote has:
      one.txt          | 1 +
      "two\033[2J.txt" | 1 +
      2 files changed, 2 insertions(+)
    evidence
      e-f8b6  ship-it  link  by codex-1, 1 h ago  https://ci.example.test/7
      e-sry7  t-c22j   note  by codex-1, 1 h ago  all tests pass

    Type `ship-it approve` to approve gate `ship-it`: ship-it
    error: that was not `ship-it approve`, so nothing was changed
    hint: run `loopx gate resolve ship-it --decision approve` again
    [exit 1]
    "#);
    assert_snapshot!(repo.person("gate resolve ship-it --decision approve --commit origin/main", "ship-it approve"), @r#"
    gate ship-it: "Release 0.2?"
      goal     ship
      asked    by codex-1, 1 h ago
      blocks   publish
      about    t-c22j
      options  approve, reject
      state    open
      commit   [ID] base
    it is at a remote already
    evidence
      e-f8b6  ship-it  link  by codex-1, 1 h ago  https://ci.example.test/7
      e-sry7  t-c22j   note  by codex-1, 1 h ago  all tests pass

    Type `ship-it approve` to approve gate `ship-it`: ship-it approve
    gate ship-it is answered: approve
    "#);
    assert_eq!(repo.loopx("verify").code, 0);
}

#[test]
fn a_terminal_that_a_program_made_is_one_and_the_marks_in_it_are_still_seen() {
    let mut repo = asked();
    let before = repo.tip();
    repo.env("CLAUDECODE", "1");
    let typed = format!("script -qec '{LOOPX} gate resolve ready --decision approve' /dev/null");
    assert_snapshot!(repo.feed("sh", &["-c", &typed], "ready\n"), @"
    ready
    error: only a person may approve gate `ready`, and this is agent `claude-code` (`CLAUDECODE` is set)
    hint: ask the person to run `loopx gate resolve ready --decision approve` in a terminal of their own
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
}
