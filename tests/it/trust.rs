//! State that cannot be trusted: every command says so, nothing is written, and no push goes out.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A repository with a commit to push and a todo.
fn sound() -> Sandbox {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("todo add one").success();
    repo
}

const GATE: &str = "goals/ship/gates/ready.toml";

/// What a person, an agent and git are told; nothing of it moves the branch.
fn told(repo: &Sandbox) -> String {
    let before = repo.tip();
    let told = repo.scene(
        "
        loopx status
        loopx quota should-run
        loopx todo add two
        git push -q origin main
    ",
    );
    assert_eq!(repo.tip(), before);
    told
}

#[test]
fn a_commit_made_by_hand_shuts_the_door() {
    let repo = sound();
    repo.loopx("gate open Ready? --agent-id a").success();
    let gate = repo.read(&format!("repo/.loopx/{GATE}"));
    // A resolution that is right in every field but for who made the commit.
    let seen = "seen = { question = \"sha256:0\" }\nproof = { kind = \"terminal\", typed = \"ready\" }\n";
    let answer = format!(
        "is = \"resolved\"\ndecision = \"approve\"\nby = \"Ann <ann@example.test>\"\nat = \"2026-11-30T12:00:00Z\"\n{seen}"
    );
    repo.forge(GATE, &gate.replace("is = \"open\"\n", &answer));
    repo.loopx("gate show ready").success();
    assert_snapshot!(told(&repo), @"
    $ loopx status
      ready  approve  by a, 9 s ago  Ready?
    THE STATE IS NOT TRUSTED, so pushes and turns are refused: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
      put it back with `git update-ref refs/heads/loopx/state [ID]`
      or a person does, and sees first what is lost: `loopx restore --to [ID]`
      or, if it is right as it is, a person takes it over with `loopx init`
    1 goal
      ship  active  0/48 slots  Ship v2
    1 todo open
      t-a4wn  p2  open  one
    pushes are guarded
    $ loopx quota should-run
    false – the state cannot be trusted
    why: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    next: git update-ref refs/heads/loopx/state [ID]
    [exit 1]
    $ loopx todo add two
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] hint: or, if it is right as it is, a person takes it over with `loopx init`
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] hint: or, if it is right as it is, a person takes it over with `loopx init`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn every_kind_of_nonsense_is_named_and_shuts_the_door() {
    let quota =
        r#"{"format": "1.0", "goals": {"ship": {"compute": 9, "window_hours": 24, "slot_minutes": 30}}}"#;
    let edits = [
        (GATE, "state = \"approved\"\n"),
        (GATE, ""),
        (GATE, "format = \"1.0\"\nquestion = \"Ready?\"\napproved = true\n"),
        ("goals/ship/gates/notes.md", "mine"),
        ("goals/README", "mine"),
        ("goals/ship/todos/t-0000.toml", "format = \"1.0\"\ntitle = \"a\\nb\"\n"),
        ("quota.json", quota),
        ("loopx.toml", "approval = \"none\"\n"),
    ];
    let mut said = String::new();
    for (path, text) in edits {
        let repo = sound();
        repo.forge(path, text);
        let status = repo.loopx("status");
        assert_eq!(status.code, 1);
        assert!(
            status.stderr.contains("hint: put it back with `git update-ref refs/heads/loopx/state "),
            "{status}"
        );
        said.push_str(status.stderr.lines().next().expect("a sentence"));
        said.push('\n');
        let tip = repo.tip();
        for command in ["quota should-run", "todo add two"] {
            assert_eq!(repo.loopx(command).code, 1, "{command} with {path}");
        }
        assert_eq!(repo.git("push -q origin main").code, 1, "push with {path}");
        assert_eq!(repo.tip(), tip);
    }
    assert_snapshot!(said, @"
    error: `goals/ship/gates/ready.toml` on the state branch cannot be read: it has no `format`
    error: `goals/ship/gates/ready.toml` on the state branch cannot be read: it has no `format`
    error: `goals/ship/gates/ready.toml` on the state branch cannot be read: unknown field `approved`, expected one of `question`, `options`, `blocks`, `todos`, `scope`, `approvals`, `asked`, `state`
    error: `goals/ship/gates/notes.md` on the state branch cannot be read: it is no record (expected a name that ends in `.toml`)
    error: `goals/README` on the state branch cannot be read: `README` is not a goal id (expected lower-case words joined by `-`, 64 characters at most, such as `ship-v2`)
    error: `goals/ship/todos/t-0000.toml` on the state branch cannot be read: the text has a line break in it (expected one line): in `title`
    error: `quota.json` on the state branch cannot be read: `9` is not a share (expected 0 to 1 with at most four decimals, such as `0.5`): in `goals.ship.compute`
    error: `loopx.toml` on the state branch cannot be read: it has no `format`
    ");
}

#[test]
fn a_gate_does_not_go_away_with_its_goal() {
    let repo = sound();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.git("-C .loopx rm -q goals/ship/state.json").success();
    repo.git("-C .loopx commit -q -m gone").success();
    assert_snapshot!(told(&repo), @"
    $ loopx status
    [stderr] error: `goals/ship/state.json` on the state branch cannot be read: it is missing
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    $ loopx quota should-run
    false – the state cannot be trusted
    why: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    next: git update-ref refs/heads/loopx/state [ID]
    [exit 1]
    $ loopx todo add two
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn a_newer_major_version_shuts_the_door() {
    let repo = sound();
    let policy = repo.read("repo/.loopx/loopx.toml");
    repo.plant("loopx.toml", &policy.replace("1.0", "2.0"));
    assert_snapshot!(told(&repo), @"
    $ loopx status
    [stderr] error: `loopx.toml` on the state branch has format 2.0, and this loopx reads up to 1.0
    [stderr] hint: install a newer loopx; nothing was changed
    [exit 1]
    $ loopx quota should-run
    false – the state cannot be trusted
    why: `loopx.toml` on the state branch has format 2.0, and this loopx reads up to 1.0
    next: loopx status
    [exit 1]
    $ loopx todo add two
    [stderr] error: `loopx.toml` on the state branch has format 2.0, and this loopx reads up to 1.0
    [stderr] hint: install a newer loopx; nothing was changed
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `loopx.toml` on the state branch has format 2.0, and this loopx reads up to 1.0
    [stderr] hint: install a newer loopx; nothing was changed
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn a_record_of_a_newer_major_version_shuts_the_door() {
    let repo = sound();
    repo.plant(GATE, "format = \"2.0\"\nquestion = \"Ready?\"\n");
    assert_snapshot!(repo.scene("
        loopx status
        loopx quota should-run
        loopx gate list
        git push -q origin main
    "), @"
    $ loopx status
    [stderr] error: `goals/ship/gates/ready.toml` on the state branch has format 2.0, and this loopx reads up to 1.0
    [stderr] hint: install a newer loopx; nothing was changed
    [exit 1]
    $ loopx quota should-run
    false – the state cannot be trusted
    why: `goals/ship/gates/ready.toml` on the state branch has format 2.0, and this loopx reads up to 1.0
    next: loopx status
    [exit 1]
    $ loopx gate list
    [stderr] error: `goals/ship/gates/ready.toml` on the state branch has format 2.0, and this loopx reads up to 1.0
    [stderr] hint: install a newer loopx; nothing was changed
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `goals/ship/gates/ready.toml` on the state branch has format 2.0, and this loopx reads up to 1.0
    [stderr] hint: install a newer loopx; nothing was changed
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn a_newer_minor_version_works_and_its_fields_survive() {
    let repo = sound();
    let id = repo.todo("two");
    let path = format!("goals/ship/todos/{id}.toml");
    let todo = repo.read(&format!("repo/.loopx/{path}"));
    repo.plant(&path, &todo.replace("\"1.0\"\n", "\"1.7\"\nmood = \"hopeful\"\n"));
    assert_snapshot!(repo.scene(&format!("
        loopx todo claim {id} --agent-id a
        git show loopx/state:{path}
        loopx todo done {id} --agent-id a
        git show loopx/state:goals/ship/todos/closed/{id}.toml
    ")), @r#"
    $ loopx todo claim t-f8b6 --agent-id a
    claimed todo t-f8b6 until 2026-11-30T12:45:19Z
    $ git show loopx/state:goals/ship/todos/t-f8b6.toml
    format = "1.7"
    title = "two"
    for = "agent"
    priority = "p2"
    mood = "hopeful"

    [added]
    by = "Ann <ann@example.test>"
    at = "2026-11-30T12:00:11Z"

    [state]
    is = "claimed"
    by = "agent:a"
    since = "2026-11-30T12:00:19Z"
    lease_until = "2026-11-30T12:45:19Z"
    epoch = 1
    $ loopx todo done t-f8b6 --agent-id a
    completed todo t-f8b6: two
    $ git show loopx/state:goals/ship/todos/closed/t-f8b6.toml
    format = "1.7"
    title = "two"
    for = "agent"
    priority = "p2"
    mood = "hopeful"

    [added]
    by = "Ann <ann@example.test>"
    at = "2026-11-30T12:00:11Z"

    [state]
    is = "done"
    by = "agent:a"
    at = "2026-11-30T12:00:21Z"
    epoch = 1
    "#);
}

#[test]
fn a_record_with_line_ends_of_windows_can_be_read() {
    let repo = sound();
    repo.loopx("gate open Ready? --agent-id a").success();
    let gate = repo.read("repo/.loopx/goals/ship/gates/ready.toml");
    repo.plant(GATE, &gate.replace('\n', "\r\n"));
    assert_snapshot!(repo.loopx("gate list"), @"  ready  open  by a, 8 s ago  Ready?");
}

#[test]
fn an_edit_in_the_folder_is_no_answer() {
    let repo = sound();
    repo.loopx("gate open Ready? --agent-id a").success();
    std::fs::remove_file(repo.path("repo/.loopx/goals/ship/gates/ready.toml")).expect("the gate");
    assert_snapshot!(repo.scene("
        git push -q origin main
        loopx gate list
        loopx status
    "), @r#"
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx gate list
      ready  open  by a, just now  Ready?
    $ loopx status
    1 question waits for you
      ready  open  by a, just now  Ready?
      a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    1 goal
      ship  active  0/48 slots  Ship v2
    1 todo open
      t-a4wn  p2  open  one
    pushes are guarded
    "#);
}

#[test]
fn a_branch_that_points_nowhere_shuts_the_door() {
    let repo = sound();
    repo.write("repo/.git/refs/heads/loopx/state", "1111111111111111111111111111111111111111\n");
    assert_snapshot!(repo.scene("
        loopx status
        loopx init
        git push -q origin main
    "), @"
    $ loopx status
    [stderr] error: the state branch cannot be read: An object with id [ID] could not be found
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    $ loopx init
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    repo.write("repo/.git/refs/heads/loopx/state", "\0\0\0\0");
    assert_snapshot!(repo.scene("
        loopx status
        loopx init
        git push -q origin main
    "), @"
    $ loopx status
    [stderr] error: `[ROOT]/repo/.git/refs/heads/loopx/state` is no ref that git could read
    [stderr] hint: remove it with `rm '[ROOT]/repo/.git/refs/heads/loopx/state'`, and `loopx init` puts the branch back
    [exit 1]
    $ loopx init
    [stderr] error: `[ROOT]/repo/.git/refs/heads/loopx/state` is no ref that git could read
    [stderr] hint: remove it with `rm '[ROOT]/repo/.git/refs/heads/loopx/state'`, and `loopx init` puts the branch back
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `[ROOT]/repo/.git/refs/heads/loopx/state` is no ref that git could read
    [stderr] hint: remove it with `rm '[ROOT]/repo/.git/refs/heads/loopx/state'`, and `loopx init` puts the branch back
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn a_branch_named_in_the_config_that_holds_no_state_shuts_the_door() {
    let repo = sound();
    repo.git("config loopx.branch main").success();
    assert_snapshot!(repo.scene("
        loopx status
        git push -q origin main
    "), @"
    $ loopx status
    [stderr] error: `loopx.toml` on the state branch cannot be read: it is missing
    [stderr] hint: set it back with `git config loopx.branch loopx/state`
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: git's setting `loopx.branch` names `main`, and loopx left the state on `loopx/state`
    [stderr] hint: set it back with `git config loopx.branch loopx/state`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    repo.git("config loopx.branch 'no branch'").success();
    assert_snapshot!(repo.scene("
        loopx status
        git push -q origin main
    "), @"
    $ loopx status
    [stderr] error: git's setting `loopx.branch` is `no branch`, which cannot be the name of a branch
    [stderr] hint: run `git config loopx.branch loopx/state`, or with the name that was chosen at `init`
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: git's setting `loopx.branch` is `no branch`, which cannot be the name of a branch
    [stderr] hint: run `git config loopx.branch loopx/state`, or with the name that was chosen at `init`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn a_replaced_commit_hides_no_gate() {
    let repo = sound();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.git("replace loopx/state loopx/state~1").success();
    assert_snapshot!(repo.scene("
        loopx gate list
        git push -q origin main
    "), @r#"
    $ loopx gate list
      ready  open  by a, just now  Ready?
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn a_branch_that_was_moved_back_shuts_the_door() {
    let repo = sound();
    repo.loopx("gate open Ready? --agent-id a").success();
    let tip = repo.tip();
    repo.git("-C .loopx reset -q --hard HEAD~1").success();
    assert_snapshot!(told(&repo), @"
    $ loopx status
    THE STATE IS NOT TRUSTED, so pushes and turns are refused: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
      put it back with `git update-ref refs/heads/loopx/state [ID]`
      or a person does, and sees first what is lost: `loopx restore --to [ID]`
      or, if it is right as it is, a person takes it over with `loopx init`
    1 goal
      ship  active  0/48 slots  Ship v2
    1 todo open
      t-a4wn  p2  open  one
    pushes are guarded
    $ loopx quota should-run
    false – the state cannot be trusted
    why: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    next: git update-ref refs/heads/loopx/state [ID]
    [exit 1]
    $ loopx todo add two
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] hint: or, if it is right as it is, a person takes it over with `loopx init`
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] hint: or, if it is right as it is, a person takes it over with `loopx init`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    assert_snapshot!(repo.loopx("init"), @"
    [stderr] error: only a person at a terminal may take over what something else than loopx put on `loopx/state`, and there is none
    [stderr] hint: run `loopx init` in a terminal
    [exit 1]
    ");
    repo.git(&format!("-C .loopx reset -q --hard {}", tip.trim())).success();
    assert_snapshot!(repo.scene("
        loopx status
        loopx todo add two
        git -C .loopx status --porcelain
    "), @"
    $ loopx status
    1 question waits for you
      ready  open  by a, 11 s ago  Ready?
      a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    1 goal
      ship  active  0/48 slots  Ship v2
    1 todo open
      t-a4wn  p2  open  one
    pushes are guarded
    $ loopx todo add two
    added todo t-kz3d: two
    $ git -C .loopx status --porcelain
    ");
}

#[test]
fn a_pipe_in_place_of_the_note_is_not_waited_for() {
    let repo = sound();
    std::fs::remove_file(repo.path("repo/.git/loopx/writer")).expect("the note");
    repo.feed("mkfifo", &[&repo.path("repo/.git/loopx/writer").display().to_string()], "").success();
    assert_snapshot!(repo.git_shown("push -q origin main"), @"
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not where loopx left it
    [stderr] hint: if it is right as it is, a person takes it over with `loopx init`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn who_takes_over_a_branch_that_was_moved_back_sees_what_is_lost_with_it() {
    let repo = sound();
    repo.loopx("gate open --gate-id k1 'ship?' --agent-id a").success();
    let left = repo.tip().trim().to_owned();
    repo.git("update-ref refs/heads/loopx/state loopx/state~1").success();
    assert_snapshot!(repo.scene("
        loopx doctor
        loopx doctor --fix
    "), @"
    $ loopx doctor
    `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
      run `git update-ref refs/heads/loopx/state [ID]`
    1 problem found
    [exit 1]
    $ loopx doctor --fix
    `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
      run `git update-ref refs/heads/loopx/state [ID]`
    1 problem found
    [exit 1]
    ");
    assert_snapshot!(repo.person("init", "no"), @r#"
    This will take over what something else than loopx put on `loopx/state`
    What is there: each commit of it is a legal mutation
    NO LONGER IN THE WAY OF ANYTHING, 1 gate:
      ship/k1 "ship?"
    lost with it, 1 commit:
      [ID] open gate k1: ship?, by agent:a
    To lose nothing, answer no and go back: git update-ref refs/heads/loopx/state [ID]
    or: loopx restore --to [ID]
    Look at it first: git log --patch [ID]...loopx/state

    Type `loopx/state` to take over what something else than loopx put on `loopx/state`: no
    error: that was not `loopx/state`, so nothing was changed
    hint: run `loopx init` again
    [exit 1]
    "#);
    repo.git(&format!("update-ref refs/heads/loopx/state {left}")).success();
    assert_snapshot!(repo.scene("
        loopx doctor
        git push -q origin main
    "), @r#"
    $ loopx doctor
    all is well
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   k1  open  "ship?"  asked by a, 8 s ago
    [stderr] hint: a person answers with `loopx gate resolve k1 --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn that_what_was_lost_cannot_be_told_is_said() {
    let repo = sound();
    let left = repo.tip().trim().to_owned();
    repo.git("update-ref refs/heads/loopx/state loopx/state~1").success();
    std::fs::remove_file(repo.path(&format!("repo/.git/objects/{}/{}", &left[..2], &left[2..])))
        .expect("the commit");
    assert_snapshot!(repo.person("init", "loopx/state"), @"
    This will take over what something else than loopx put on `loopx/state`
    What is there: each commit of it is a legal mutation
    loopx left it at [ID], which git does not have any more: what is lost with it cannot be told.
    Look at it first: git log --patch loopx/state

    Type `loopx/state` to take over what something else than loopx put on `loopx/state`: loopx/state
    adopted the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    ");
}

#[test]
fn a_state_that_is_newer_than_the_program_takes_a_newer_program() {
    let repo = sound();
    let policy = repo.read("repo/.loopx/loopx.toml").replace("format = \"1.0\"", "format = \"9.0\"");
    repo.forge("loopx.toml", &policy);
    assert_snapshot!(told(&repo), @"
    $ loopx status
    [stderr] error: `loopx.toml` on the state branch has format 9.0, and this loopx reads up to 1.0
    [stderr] hint: install a newer loopx: loopx.toml on the state branch has format 9.0, and this one reads up to 1.0
    [stderr] hint: or, if nobody used a newer one, put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    $ loopx quota should-run
    false – the state cannot be trusted
    why: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    next: loopx status
    [exit 1]
    $ loopx todo add two
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: install a newer loopx: loopx.toml on the state branch has format 9.0, and this one reads up to 1.0
    [stderr] hint: or, if nobody used a newer one, put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: install a newer loopx: loopx.toml on the state branch has format 9.0, and this one reads up to 1.0
    [stderr] hint: or, if nobody used a newer one, put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    assert_snapshot!(repo.scene("
        loopx init
        loopx doctor
    "), @"
    $ loopx init
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: install a newer loopx: loopx.toml on the state branch has format 9.0, and this one reads up to 1.0
    [stderr] hint: or, if nobody used a newer one, put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    $ loopx doctor
    [stderr] error: `loopx.toml` on the state branch has format 9.0, and this loopx reads up to 1.0
    [stderr] hint: install a newer loopx; nothing was changed
    [exit 1]
    ");
    std::fs::remove_file(repo.path("repo/.git/loopx/writer")).expect("the note");
    assert_snapshot!(repo.scene("
        loopx status
        loopx todo add two
        loopx init
        git push -q origin main
    "), @"
    $ loopx status
    [stderr] error: `loopx.toml` on the state branch has format 9.0, and this loopx reads up to 1.0
    [stderr] hint: install a newer loopx: loopx.toml on the state branch has format 9.0, and this one reads up to 1.0
    [exit 1]
    $ loopx todo add two
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not where loopx left it
    [stderr] hint: install a newer loopx: loopx.toml on the state branch has format 9.0, and this one reads up to 1.0
    [exit 1]
    $ loopx init
    [stderr] error: `loopx.toml` on the state branch has format 9.0, and this loopx reads up to 1.0
    [stderr] hint: install a newer loopx; nothing was changed
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not where loopx left it
    [stderr] hint: install a newer loopx: loopx.toml on the state branch has format 9.0, and this one reads up to 1.0
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}
