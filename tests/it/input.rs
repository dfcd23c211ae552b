//! What people and agents type is data: stored to the letter or refused, never interpreted.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn text_that_acts_on_a_screen_or_breaks_a_line_is_refused() {
    let repo = Sandbox::ready();
    let before = repo.tip();
    let said = |text: &str| repo.loopx_raw(&["todo", "add", text]);
    assert_snapshot!(said("x\n\nSigned-off-by: Mallory <m@x>"), @r"
    [stderr] error: invalid value 'x\u{a}\u{a}Signed-off-by: Mallory <m@x>' for '[TITLE]': the text has a line break in it (expected one line)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(said("a\u{1b}[2K\u{1b}[1Aapproved"), @r"
    [stderr] error: invalid value 'a\u{1b}[2K\u{1b}[1Aapproved' for '[TITLE]': the text has the control character `\u{1b}` in it
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(said("b\rc"), @r"
    [stderr] error: invalid value 'b\u{d}c' for '[TITLE]': the text has a line break in it (expected one line)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(said("d\u{2028}e"), @r"
    [stderr] error: invalid value 'd\u{2028}e' for '[TITLE]': the text has a line break in it (expected one line)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(said("f\u{202e}g"), @r"
    [stderr] error: invalid value 'f\u{202e}g' for '[TITLE]': the text has the control character `\u{202e}` in it
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(said("   "), @"
    [stderr] error: invalid value '   ' for '[TITLE]': the text is blank
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    let mega = "x".repeat(100_000);
    let told = said(&mega);
    assert_eq!((told.code, told.stdout.as_str()), (2, ""));
    assert!(told.stderr.len() < 1_000, "{} bytes are said", told.stderr.len());
    assert_eq!(repo.tip(), before);
}

#[test]
fn a_path_cannot_act_on_the_screen() {
    let mut repo = Sandbox::empty();
    let odd = "\u{1b}[2J";
    let dir = format!("repo/{odd}");
    std::fs::create_dir(repo.path(&dir)).expect("a folder");
    repo.cd(&dir);
    assert_snapshot!(repo.loopx("status"), @r"
    [stderr] error: `[ROOT]/repo/\u{1b}[2J` is not in a git repository
    [stderr] hint: run `git init` first, or go to a repository
    [exit 1]
    ");
    repo.git("init -q -b main .").success();
    repo.commit("base");
    assert_snapshot!(repo.loopx("init"), @r#"
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/\u{1b}[2J/.git/hooks/pre-push
    next: loopx goal add "<objective>"
    "#);
    assert_snapshot!(repo.loopx_raw(&["evidence", "add", "--file", odd]), @r"
    [stderr] error: `\u{1b}[2J` is no file of this worktree
    [stderr] hint: name a file inside this worktree
    [exit 1]
    ");
    repo.write(&format!("{dir}/.git/hooks/pre-push"), "#!/usr/bin/env python3\n");
    assert_snapshot!(repo.loopx("hooks install"), @r"
    [stderr] error: the hook was not installed: `[ROOT]/repo/\u{1b}[2J/.git/hooks/pre-push` is there already and is no shell script
    [stderr] hint: use git 2.54 or newer, which runs loopx beside it, or call it from a shell script
    [exit 1]
    ");
    repo.git("config extensions.refStorage '\u{1b}[2J'").success();
    assert_snapshot!(repo.loopx("status"), @r"
    [stderr] error: this repository keeps its refs in the format `\u{1b}[2J`, which loopx does not know
    [stderr] hint: use a repository with refs in files or reftables
    [exit 1]
    ");
}

#[test]
fn a_question_cannot_paint_over_the_prompt() {
    let repo = Sandbox::ready();
    let before = repo.tip();
    assert_snapshot!(repo.loopx_raw(&["gate", "open", "Ready?\u{1b}[2J"]), @r"
    [stderr] error: invalid value 'Ready?\u{1b}[2J' for '<QUESTION>': the text has the control character `\u{1b}` in it
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(repo.loopx_raw(&["gate", "open", "Ready?", "--gate-id", "a\u{1b}[2J"]), @r"
    [stderr] error: invalid value 'a\u{1b}[2J' for '--gate-id <GATE>': `a\u{1b}[2J` is not a gate id (expected lower-case words joined by `-`, 64 characters at most, such as `schema-review`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn what_looks_like_a_trailer_is_none() {
    let repo = Sandbox::ready();
    let id = repo.todo("'Signed-off-by: Mallory <m@x>'");
    let note = "fine\n\nLoopx-Actor: person\nSigned-off-by: Mallory <m@x>";
    repo.loopx_raw(&["todo", "done", &id, "--note", note, "--agent-id", "a"]).success();
    assert_snapshot!(repo.scene("
        git log -2 --format=%s|%(trailers) loopx/state
        loopx todo list --all
    "), @"
    $ git log -2 --format=%s|%(trailers) loopx/state
    complete todo t-fdjx: Signed-off-by: Mallory <m@x>|Loopx-Op: todo.done
    Loopx-Goal: ship
    Loopx-Record: todo/t-fdjx
    Loopx-Actor: agent:a
    Signed-off-by: Ann <ann@example.test>

    add todo t-fdjx: Signed-off-by: Mallory <m@x>|Loopx-Op: todo.add
    Loopx-Goal: ship
    Loopx-Record: todo/t-fdjx
    Loopx-Actor: person
    Signed-off-by: Ann <ann@example.test>

    $ loopx todo list --all
      t-fdjx  p2  done  Signed-off-by: Mallory <m@x>
    ");
}

#[test]
fn odd_text_comes_back_to_the_letter() {
    let repo = Sandbox::ready();
    let odd = "\"\"\" it's \\ \" $(id) `x` 🎉 '''";
    repo.loopx_raw(&["todo", "add", odd]).success();
    let todos = repo.loopx("todo list --json").json();
    assert_eq!(todos["todos"][0]["title"], odd);
    assert_snapshot!(repo.loopx("todo list"), @r#"  t-fdjx  p2  open  """ it's \ " $(id) `x` 🎉 '''"#);
}

#[test]
fn an_identity_with_a_line_break_signs_once() {
    let repo = Sandbox::ready();
    repo.git("config user.name 'Al\rice\nSigned-off-by: Mallory'").success();
    repo.loopx("todo add one").success();
    assert_snapshot!(repo.git("log -1 --format=%an|%(trailers) loopx/state"), @"
    AliceSigned-off-by: Mallory|Loopx-Op: todo.add
    Loopx-Goal: ship
    Loopx-Record: todo/t-7p0h
    Loopx-Actor: person
    Signed-off-by: AliceSigned-off-by: Mallory <ann@example.test>
    ");
}

#[test]
fn ids_that_are_not_there_are_not_found() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx gate show nope
        loopx gate resolve nope --decision approve
        loopx gate show 'No Gate'
        loopx gate open x --todo t-zzzz
        loopx goal show nope
        loopx evidence list --goal-id nope
        loopx gate list --goal-id nope
    "), @"
    $ loopx gate show nope
    [stderr] error: there is no gate `nope`
    [stderr] hint: run `loopx gate list --all`
    [exit 1]
    $ loopx gate resolve nope --decision approve
    [stderr] error: there is no gate `nope`
    [stderr] hint: run `loopx gate list --all`
    [exit 1]
    $ loopx gate show 'No Gate'
    [stderr] error: invalid value 'No Gate' for '<GATE>': `No Gate` is not a gate id (expected lower-case words joined by `-`, 64 characters at most, such as `schema-review`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx gate open x --todo t-zzzz
    [stderr] error: there is no todo `t-zzzz`
    [stderr] hint: run `loopx todo list --all`
    [exit 1]
    $ loopx goal show nope
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    $ loopx evidence list --goal-id nope
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    $ loopx gate list --goal-id nope
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    ");
}

#[test]
fn a_command_that_does_not_exist() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx todo
        loopx frobnicate
        loopx todo finish t-1
    "), @"
    $ loopx todo
    [stderr] Work
    [stderr]
    [stderr] Usage: loopx todo [OPTIONS] <COMMAND>
    [stderr]
    [stderr] Commands:
    [stderr]   add      Add a todo, or with `--from` everything of a list
    [stderr]   list     List the todos that are not closed, or those of all that fit
    [stderr]   ready    List what you could claim now, the best first, and say what keeps the rest away
    [stderr]   show     Show one todo
    [stderr]   claim    Take a todo, or renew a claim
    [stderr]   renew    Say that you are still at it: hold a claim for longer
    [stderr]   release  Give a claim back
    [stderr]   done     Complete a todo; its check runs first, and has to exit with 0
    [stderr]   drop     Give a todo up
    [stderr]   reopen   Open a closed todo again
    [stderr]   block    Stop a todo until somebody frees it
    [stderr]   unblock  Free a blocked todo
    [stderr]   split    Make parts of a todo, which it needs from then on
    [stderr]   edit     Change a todo: by options, or in your editor when there are none
    [stderr]   poll     Say what a look at a monitor found; costs no quota
    [stderr]
    [stderr] Options:
    [stderr]       --json              Print one JSON document instead of words, errors included
    [stderr]       --agent-id <AGENT>  The agent on whose behalf this runs (or `LOOPX_AGENT_ID`)
    [stderr]       --redact            Put a mark in the place of what looks like a secret in the words of this
    [stderr]                           command, instead of refusing
    [stderr]   -C <DIR>                Run as if started in this folder
    [stderr]   -h, --help              Print help
    [stderr]   -V, --version           Print version
    [exit 2]
    $ loopx frobnicate
    [stderr] error: unrecognized subcommand 'frobnicate'
    [stderr]
    [stderr] Usage: loopx [OPTIONS] <COMMAND>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo finish t-1
    [stderr] error: unrecognized subcommand 'finish'
    [stderr]
    [stderr] Usage: loopx todo [OPTIONS] <COMMAND>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn text_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStringExt as _;
    let repo = Sandbox::ready();
    let args = ["todo".into(), "add".into(), std::ffi::OsString::from_vec(vec![b'a', 0xff])];
    assert_snapshot!(repo.finish(repo.command(crate::sandbox::LOOPX, &args), ""), @"
    [stderr] error: invalid UTF-8 was detected in one or more arguments
    [stderr]
    [stderr] Usage: loopx todo add [OPTIONS] [TITLE]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn what_contradicts_itself_is_not_done() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx goal meet ship --met 1=e-1234 --unmet 1
        loopx handoff write -
    "), @"
    $ loopx goal meet ship --met 1=e-1234 --unmet 1
    [stderr] error: criterion 1 is both met and not met
    [stderr] hint: say one of `--met 1=<evidence>` and `--unmet 1`
    [exit 2]
    $ loopx handoff write -
    [stderr] error: `-` would be the whole note
    [stderr] hint: to read it from standard input: `loopx handoff write --file -`
    [exit 2]
    ");
}
