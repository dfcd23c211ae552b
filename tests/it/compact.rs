//! `compact` leaves the history behind and keeps the state, for a person only.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A repository with an answered and an open gate, and a claimed todo.
fn lived_in() -> Sandbox {
    let repo = Sandbox::with_remote();
    let todo = repo.todo("one --agent-id a");
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.person("gate resolve ready --decision approve", "ready").success();
    repo.loopx(&format!("todo claim {todo} --agent-id a")).success();
    repo.loopx("gate open 'Really?' --blocks push --agent-id a").success();
    repo.commit("news");
    repo
}

fn word(repo: &Sandbox) -> String {
    repo.tip()[..10].to_owned()
}

#[test]
fn the_state_stays_to_the_byte_and_the_past_is_a_reflog_away() {
    let repo = lived_in();
    let tree = repo.git("rev-parse loopx/state^{tree}").success().stdout;
    assert_snapshot!(repo.scene("loopx compact"), @"
    $ loopx compact
    would leave 7 commits behind; all records and decisions of [ID] stay, to the byte
      a person does it with `loopx compact --apply`; keep a copy first with `loopx export <file>`
    ");
    assert_snapshot!(repo.person("compact --apply", &word(&repo)), @"
    All records and decisions of [ID] stay, to the byte. How they came about, 7 commits, can be looked at and verified only as long as git's reflog of the branch remembers it.

    Type `[ID]` to leave 7 commits behind: [ID]
    left 7 commits behind; see them with `git log loopx/state@{1}`
    ");
    assert_eq!(repo.git("rev-parse loopx/state^{tree}").success().stdout, tree);
    repo.loopx("todo add two --agent-id a").success();
    assert_snapshot!(repo.scene("
        git log --format=%s loopx/state
        git log --oneline --format=%s loopx/state@{2}
        git -C .loopx status --short
        loopx verify
        loopx verify --all
        loopx gate show ready
        loopx doctor
        git push -q origin main
        loopx compact
    "), @r#"
    $ git log --format=%s loopx/state
    add todo t-narq: two
    leave the history up to [ID] behind
    $ git log --oneline --format=%s loopx/state@{2}
    open gate really: Really?
    claim todo t-c22j: one
    approve gate ready
    open gate ready: Ready?
    add todo t-c22j: one
    add goal ship: Ship v2
    begin loopx state
    $ git -C .loopx status --short
    $ loopx verify
    2 commits (2 new commits): each is one legal mutation, signed off
      Ann left the history before them behind, 6 s ago; what it was cannot be verified
    $ loopx verify --all
    2 commits (2 new commits): each is one legal mutation, signed off
      Ann left the history before them behind, 7 s ago; what it was cannot be verified
    $ loopx gate show ready
    gate ready: "Ready?"
      goal     ship
      asked    by a, 17 s ago
      blocks   turn, push, publish
      options  approve, reject
      state    approve by Ann, 16 s ago
      seen at  [ID]
    $ loopx doctor
    all is well
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   really  open  "Really?"  asked by a, 16 s ago
    [stderr] hint: a person answers with `loopx gate resolve really --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx compact
    would leave 2 commits behind; all records and decisions of [ID] stay, to the byte
      a person does it with `loopx compact --apply`; keep a copy first with `loopx export <file>`
    "#);
}

#[test]
fn no_agent_leaves_the_past_behind() {
    let repo = lived_in();
    let tip = repo.tip();
    assert_snapshot!(repo.scene("
        loopx compact --apply --agent-id a
        loopx compact --apply
        loopx compact --json
    "), @r#"
    $ loopx compact --apply --agent-id a
    [stderr] error: only a person may leave 7 commits behind, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx compact --apply` in a terminal of their own
    [exit 1]
    $ loopx compact --apply
    [stderr] error: only a person at a terminal may leave 7 commits behind, and there is none
    [stderr] hint: run `loopx compact --apply` in a terminal
    [exit 1]
    $ loopx compact --json
    {
      "schema_version": 1,
      "tip": "[ID]",
      "commits": 7,
      "applied": false
    }
    "#);
    assert_eq!(repo.person("compact --apply", "no").code, 1);
    assert_eq!(repo.tip(), tip);
}

#[test]
fn a_checkpoint_by_hand_is_not_trusted() {
    let repo = lived_in();
    let tip = repo.tip();
    let forge = |tree: &str, actor: &str| {
        let message = format!(
            "x\n\nLoopx-Op: checkpoint\nLoopx-Actor: {actor}\nSigned-off-by: Ann <ann@example.test>\n"
        );
        repo.write("repo/message", &message);
        let commit = repo.git(&format!("commit-tree {tree} -F message")).success().stdout;
        repo.git(&format!("update-ref refs/heads/loopx/state {}", commit.trim())).success();
    };
    forge("loopx/state^{tree}", "person");
    assert_snapshot!(repo.scene("
        git push -q origin main
        loopx todo add two
    "), @"
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] hint: or, if it is right as it is, a person takes it over with `loopx init`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx todo add two
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] hint: or, if it is right as it is, a person takes it over with `loopx init`
    [exit 1]
    ");
    let mut said = String::new();
    for (tree, actor) in
        [("loopx/state^{tree}", "agent:a"), ("loopx/state:goals", "person"), ("HEAD^{tree}", "person")]
    {
        repo.git(&format!("update-ref refs/heads/loopx/state {}", tip.trim())).success();
        forge(tree, actor);
        said.push_str(&repo.loopx("verify").stdout);
    }
    assert_snapshot!(said, @r#"
    NOT A LEGAL MUTATION: [ID] "x", just now: only a person may do that, and a did
      see it with `git show [ID]`
    NOT A LEGAL MUTATION: [ID] "x", just now: `loopx.toml` on the state branch cannot be read: it is missing
      see it with `git show [ID]`
    NOT A LEGAL MUTATION: [ID] "x", just now: `loopx.toml` on the state branch cannot be read: it is missing
      see it with `git show [ID]`
    "#);
}

#[test]
fn a_history_that_was_tampered_with_is_kept() {
    let repo = lived_in();
    let open = repo.read("repo/.loopx/goals/ship/gates/really.toml");
    repo.forge_as("goals/ship/gates/really.toml", &open.replace("Really?", "Fine?"), "by hand");
    repo.person("init", "loopx/state").success();
    assert_snapshot!(repo.person("compact --apply", "x"), @"
    error: the history has a commit that is no legal mutation: [ID]
    hint: run `loopx verify`
    [exit 1]
    ");
}
