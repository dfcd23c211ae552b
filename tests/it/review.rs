//! `gate review`: a person goes through what waits, a key and a word each.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A repository with a commit to push and four gates that wait.
fn waiting() -> Sandbox {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    for gate in [
        "'Push it?' --gate-id push --blocks push",
        "'Drop the table?' --gate-id drop --blocks turn",
        "'Which colour?' --gate-id colour --blocks turn --option red --option blue",
        "'Publish 2.0?' --gate-id publish --blocks publish",
    ] {
        repo.loopx(&format!("gate open {gate} --agent-id a")).success();
    }
    repo
}

#[test]
fn only_a_person_at_a_terminal_goes_through_them() {
    let mut repo = waiting();
    let before = repo.tip();
    assert_snapshot!(repo.scene("
        loopx gate review --agent-id a
        loopx gate review
    "), @"
    $ loopx gate review --agent-id a
    [stderr] error: only a person may answer gates, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx gate review` in a terminal of their own
    [exit 1]
    $ loopx gate review
    [stderr] error: only a person at a terminal may answer gates, and there is none
    [stderr] hint: run `loopx gate review` in a terminal
    [exit 1]
    ");
    repo.env("CLAUDECODE", "1");
    assert_snapshot!(repo.person_typing("gate review", &["a", "drop"]), @"
    error: only a person may answer gates, and this is agent `claude-code` (`CLAUDECODE` is set)
    hint: ask the person to run `loopx gate review` in a terminal of their own
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn what_holds_work_up_comes_first_and_each_answer_takes_its_word() {
    let repo = waiting();
    let keys =
        ["x", "d", "a", "colour", "r", "drop", "2", "colour", "s", "a", "publish", "a", "publish approve"];
    assert_snapshot!(repo.person_typing("gate review", &keys), @r#"

    [1 of 4] gate drop: "Drop the table?"
      goal     ship
      asked    by a, just now
      blocks   turn
      options  approve, reject
      state    open
      commit   [ID] feature
    1 commit that no remote has:
      feature.txt | 1 +
      1 file changed, 1 insertion(+)

    Press a for approve, r for reject, d for the diff, s to skip, q to quit: x

    Press a for approve, r for reject, d for the diff, s to skip, q to quit: d
    diff --git a/feature.txt b/feature.txt
    new file mode 100644
    index [ID]..[ID]
    --- /dev/null
    +++ b/feature.txt
    @@ -0,0 +1 @@
    +feature
    \ No newline at end of file

    Press a for approve, r for reject, d for the diff, s to skip, q to quit: a

    Type `drop` to approve gate `drop`: colour
    that was not `drop`, so nothing was changed

    Press a for approve, r for reject, d for the diff, s to skip, q to quit: r

    Type `drop` to reject gate `drop`: drop
    gate drop is answered: reject

    [2 of 4] gate colour: "Which colour?"
      goal     ship
      asked    by a, just now
      blocks   turn
      options  red, blue, reject
      state    open
      commit   [ID] feature
    1 commit that no remote has:
      feature.txt | 1 +
      1 file changed, 1 insertion(+)

    Press 1 for red, 2 for blue, r for reject, d for the diff, s to skip, q to quit: 2

    Type `colour` to answer gate `colour` with blue: colour
    gate colour is answered: blue

    [3 of 4] gate push: "Push it?"
      goal     ship
      asked    by a, just now
      blocks   push
      options  approve, reject
      state    open
      commit   [ID] feature
    1 commit that no remote has:
      feature.txt | 1 +
      1 file changed, 1 insertion(+)

    Press a for approve, r for reject, d for the diff, s to skip, q to quit: s

    [4 of 4] gate publish: "Publish 2.0?"
      goal     ship
      asked    by a, just now
      blocks   publish
      options  approve, reject
      state    open
      commit   [ID] feature
    1 commit that no remote has:
      feature.txt | 1 +
      1 file changed, 1 insertion(+)

    Press a for approve, r for reject, d for the diff, s to skip, q to quit: a

    Type `publish approve` to approve gate `publish`: publish
    that was not `publish approve`, so nothing was changed

    Press a for approve, r for reject, d for the diff, s to skip, q to quit: a

    Type `publish approve` to approve gate `publish`: publish approve
    gate publish is answered: approve
    3 gates answered, 1 left
    "#);
    assert_snapshot!(repo.scene("
        loopx gate list --all
        loopx verify
        git log --format=%s -7 loopx/state
    "), @"
    $ loopx gate list --all
      push     open     by a, 5 s ago   Push it?
      drop     reject   by a, just now  Drop the table?
      colour   blue     by a, just now  Which colour?
      publish  approve  by a, just now  Publish 2.0?
    $ loopx verify
    9 commits (9 new commits): each is one legal mutation, signed off
    $ git log --format=%s -7 loopx/state
    approve gate publish
    answer gate colour with blue
    reject gate drop
    open gate publish: Publish 2.0?
    open gate colour: Which colour?
    open gate drop: Drop the table?
    open gate push: Push it?
    ");
    assert_snapshot!(repo.person_typing("gate review", &["q"]), @r#"

    [1 of 1] gate push: "Push it?"
      goal     ship
      asked    by a, 8 s ago
      blocks   push
      options  approve, reject
      state    open
      commit   [ID] feature
    1 commit that no remote has:
      feature.txt | 1 +
      1 file changed, 1 insertion(+)

    Press a for approve, r for reject, d for the diff, s to skip, q to quit: q
    0 gates answered, 1 left
    "#);
    // Ctrl-C.
    assert_snapshot!(repo.person_typing("gate review --json", &["\u{3}"]), @r#"

    [1 of 1] gate push: "Push it?"
      goal     ship
      asked    by a, 9 s ago
      blocks   push
      options  approve, reject
      state    open
      commit   [ID] feature
    1 commit that no remote has:
      feature.txt | 1 +
      1 file changed, 1 insertion(+)

    Press a for approve, r for reject, d for the diff, s to skip, q to quit:  
    {
      "schema_version": 1,
      "answered": [],
      "left": 1
    }
    "#);
}

#[test]
fn where_answers_are_signed_each_is() {
    let repo = waiting();
    let file = repo.path("home/ann").display().to_string();
    repo.feed("ssh-keygen", &["-q", "-t", "ed25519", "-C", "ann", "-N", "", "-f", &file], "").success();
    repo.person("approver add ann --key ../home/ann.pub", "ann").success();
    repo.loopx("policy set approval=signed --agent-id a").success();
    let told =
        repo.person_typing("gate review --sign-with ../home/ann", &["a", "drop", "s", "r", "push", "q"]);
    assert!(told.stdout.ends_with("2 gates answered, 2 left\n"), "{told}");
    let drop = repo.loopx("gate show drop --json").json();
    assert_eq!(drop["state"]["proof"]["kind"], "signature", "{drop}");
    repo.loopx("verify").success();
}

#[test]
fn ten_gates_are_ten_keys_and_ten_words() {
    let repo = Sandbox::ready();
    for number in 0..10 {
        repo.loopx(&format!("gate open 'Number {number}?' --gate-id g{number} --agent-id a")).success();
    }
    let words: Vec<String> = (0..10).map(|number| format!("g{number}")).collect();
    let typed: Vec<&str> = words.iter().flat_map(|word| ["a", word.as_str()]).collect();
    let told = repo.person_typing("gate review", &typed);
    assert!(told.stdout.ends_with("10 gates answered, 0 left\n"), "{told}");
}
