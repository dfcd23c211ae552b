//! What one turn leaves for the next.

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox};

#[test]
fn a_note_takes_the_place_of_the_one_before() {
    let repo = Sandbox::ready();
    repo.write("repo/note.md", "# Where I am\r\n\r\n- the parser is done\r\n- next: the writer\r\n\r\n");
    assert_snapshot!(repo.scene("
        loopx handoff show
        loopx handoff write 'begin with the parser' --agent-id a
        loopx handoff write 'begin with the parser' --agent-id a
        loopx handoff write --file note.md --agent-id b
        loopx handoff show
        loopx handoff show --json
        git show loopx/state:goals/ship/handoff.md
        loopx diff loopx/state~1..
        git log -1 --format=%B loopx/state
        git -C .loopx status --porcelain
        loopx verify
    "), @r##"
    $ loopx handoff show
    nobody has left a note for goal ship
    next: loopx handoff write "<what the next turn should know>"
    $ loopx handoff write 'begin with the parser' --agent-id a
    left a note for whoever goes on with goal ship
    $ loopx handoff write 'begin with the parser' --agent-id a
    left a note for whoever goes on with goal ship already
    $ loopx handoff write --file note.md --agent-id b
    left a note for whoever goes on with goal ship
    $ loopx handoff show
    handoff of goal ship, by b, just now

        # Where I am

        - the parser is done
        - next: the writer
    $ loopx handoff show --json
    {
      "schema_version": 1,
      "goal": "ship",
      "handoff": {
        "text": "# Where I am\n\n- the parser is done\n- next: the writer",
        "written": {
          "by": "agent:b",
          "at": "2026-11-30T12:00:08Z"
        }
      }
    }
    $ git show loopx/state:goals/ship/handoff.md
    +++
    format = "1.0"

    [written]
    by = "agent:b"
    at = "2026-11-30T12:00:08Z"
    +++

    # Where I am

    - the parser is done
    - next: the writer
    $ loopx diff loopx/state~1..
    handoff ship was written anew by b
    $ git log -1 --format=%B loopx/state
    hand on goal ship: # Where I am

    Loopx-Op: handoff.write
    Loopx-Goal: ship
    Loopx-Record: handoff/ship
    Loopx-Actor: agent:b
    Signed-off-by: Ann <ann@example.test>

    $ git -C .loopx status --porcelain
    $ loopx verify
    4 commits (4 new commits): each is one legal mutation, signed off
    "##);
}

#[test]
fn it_comes_from_standard_input_as_well() {
    let repo = Sandbox::ready();
    repo.feed(LOOPX, &["handoff", "write", "--agent-id", "a"], "from a pipe\n").success();
    assert_snapshot!(repo.loopx("history --follow handoff/ship"), @"
    handoff/ship

    [ID]  hand on goal ship: from a pipe
      agent:a, just now
        + text: from a pipe
        + written.at: 2026-11-30T12:00:05Z
        + written.by: agent:a
    ");
}

#[test]
fn what_does_not_fit_or_looks_secret_is_refused_and_nothing_is_written() {
    let repo = Sandbox::ready();
    let before = repo.tip();
    repo.write("repo/long.md", &"é".repeat(2049));
    repo.write("repo/odd.md", "a\u{202e}b");
    let secret = format!("the key is {}", ["ghp", &"0123456789abcdefghijABCDEFGHIJ456789"[..36]].join("_"));
    repo.write("repo/secret.md", &secret);
    assert_snapshot!(repo.scene("
        loopx handoff write --file long.md --agent-id a
        loopx handoff write --file odd.md --agent-id a
        loopx handoff write --file nope.md --agent-id a
        loopx handoff write '  ' --agent-id a
        loopx handoff write --file secret.md --agent-id a
        loopx handoff write x --goal-id nope --agent-id a
    "), @r#"
    $ loopx handoff write --file long.md --agent-id a
    [stderr] error: the handoff has 4098 bytes (at most 4096)
    [stderr] hint: leave what is in the history and in evidence out of it: what the next turn needs, in a page
    [exit 1]
    $ loopx handoff write --file odd.md --agent-id a
    [stderr] error: the handoff has the control character `\u{202e}` in it
    [stderr] hint: write plain text, with line feeds and tabs
    [exit 1]
    $ loopx handoff write --file nope.md --agent-id a
    [stderr] error: the note cannot be read from `nope.md`: No such file or directory (os error 2)
    [stderr] hint: check the path
    [exit 1]
    $ loopx handoff write '  ' --agent-id a
    [stderr] error: the handoff is blank
    [stderr] hint: give a text, such as `loopx handoff write "<what the next turn should know>"`
    [exit 1]
    $ loopx handoff write --file secret.md --agent-id a
    [stderr] error: the new handoff has what looks like a secret in `text`, characters 12 to 51 (rule `github-pat`), so nothing was written
    [stderr] hint: say it without the secret, or add `--redact`, which puts a mark in its place
    [stderr] hint: if it is none, a person lets it through with `loopx secret allow [ID] --reason <why>`
    [exit 1]
    $ loopx handoff write x --goal-id nope --agent-id a
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    "#);
    assert_eq!(repo.tip(), before);
    repo.write("repo/long.md", &"é".repeat(2048));
    repo.loopx("handoff write --file long.md --agent-id a").success();
    assert_snapshot!(repo.scene("
        loopx handoff write --file secret.md --redact --agent-id a
        loopx handoff show
    "), @"
    $ loopx handoff write --file secret.md --redact --agent-id a
    left a note for whoever goes on with goal ship
    $ loopx handoff show
    handoff of goal ship, by a, just now

        the key is [redacted:github-pat]
    ");
}

#[test]
fn a_forged_note_is_found() {
    let repo = Sandbox::ready();
    repo.loopx("handoff write one --agent-id a").success();
    let path = "goals/ship/handoff.md";
    let page = repo.git(&format!("show loopx/state:{path}")).stdout;
    let message = repo.git("log -1 --format=%B loopx/state").stdout;
    repo.forge_as(path, &page.replace("agent:a", "agent:b"), &message);
    assert_snapshot!(repo.loopx("verify"), @r#"
    NOT A LEGAL MUTATION: [ID] "hand on goal ship: one", just now: handoff/ship says another actor or time than the commit
      see it with `git show [ID]`
      all is well up to the commit before it; go back with `git update-ref refs/heads/loopx/state [ID]`,
      or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    "#);
    assert_snapshot!(repo.loopx("context"), @"
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] hint: or, if it is right as it is, a person takes it over with `loopx init`
    [exit 1]
    ");
}

#[test]
fn a_turn_begins_with_the_note_and_a_bounded_object() {
    let repo = Sandbox::ready();
    let long = "what to do and why\n".repeat(800);
    repo.loopx_raw(&["todo", "add", "one", "--body", &long]).success();
    repo.loopx("turn begin --turn-id x-1 --agent-id a").success();
    repo.loopx_raw(&[
        "turn",
        "end",
        "--turn-id",
        "x-1",
        "--outcome",
        "progress",
        "--summary",
        &long,
        "--agent-id",
        "a",
    ])
    .success();
    repo.loopx_raw(&["handoff", "write", &long[..4000], "--agent-id", "a"]).success();
    let begun = repo.loopx("turn begin --turn-id x-2 --agent-id b --json").success();
    assert!(begun.stdout.len() < 9_000, "{}", begun.stdout.len());
    let turn = &begun.json()["turn"];
    for text in [&turn["todo"]["body"], &turn["handoff"][0]["summary"], &turn["note"]["text"]] {
        let text = text.as_str().expect("a text");
        assert!(text.starts_with("what to do") && text.ends_with(" bytes more]"), "{text}");
    }
    assert_eq!(turn["note"]["written"]["by"], "agent:a");
}
