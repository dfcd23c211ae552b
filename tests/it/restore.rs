//! `restore`: a person moves the state back to a commit of its own past.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const GATE: &str = "goals/ship/gates/ready.toml";

/// A repository with a commit to push, a todo, and a gate that waits. And the commit that loopx left.
fn waiting() -> (Sandbox, String) {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("todo add one").success();
    repo.loopx("gate open Ready? --gate-id ready --agent-id a").success();
    let left = repo.tip().trim().to_owned();
    (repo, left)
}

fn answered(gate: &str) -> String {
    let seen = "seen = { question = \"sha256:0\" }\nproof = { kind = \"terminal\", typed = \"ready\" }\n";
    let answer = format!(
        "is = \"resolved\"\ndecision = \"approve\"\nby = \"Ann <ann@example.test>\"\nat = \"2026-11-30T12:00:00Z\"\n{seen}"
    );
    gate.replace("is = \"open\"\n", &answer)
}

#[test]
fn a_commit_made_by_hand_is_undone_by_a_person_who_sees_it() {
    let (repo, left) = waiting();
    repo.forge(GATE, &answered(&repo.read(&format!("repo/.loopx/{GATE}"))));
    assert_snapshot!(repo.scene("
        loopx verify
        loopx restore --to loopx/state~1 --agent-id a
        loopx restore --to loopx/state~1
        loopx restore --to loopx/state
    "), @r#"
    $ loopx verify
    NOT A LEGAL MUTATION: [ID] "forged", just now: it has no `Signed-off-by` trailer
      see it with `git show [ID]`
      all is well up to the commit before it; go back with `git update-ref refs/heads/loopx/state [ID]`,
      or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    $ loopx restore --to loopx/state~1 --agent-id a
    [stderr] error: only a person may restore `loopx/state` to [ID], and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx restore --to [ID]` in a terminal of their own
    [exit 1]
    $ loopx restore --to loopx/state~1
    [stderr] error: only a person at a terminal may restore `loopx/state` to [ID], and there is none
    [stderr] hint: run `loopx restore --to [ID]` in a terminal
    [exit 1]
    $ loopx restore --to loopx/state
    [stderr] error: what is to be restored has [ID] in its history, which is no legal mutation: it has no `Signed-off-by` trailer
    [stderr] hint: all is well up to the one before it: `loopx restore --to [ID]`
    [exit 1]
    "#);
    assert_snapshot!(repo.person(&format!("restore --to {left}"), "yes"), @"
    `loopx/state` is at [ID].
    lost with it, 1 commit:
      [ID] forged, by nobody it names
    Each commit up to [ID] is a legal mutation.

    Type `[ID]` to restore `loopx/state` to [ID]: yes
    error: that was not `[ID]`, so nothing was changed
    hint: run `loopx restore --to [ID]` again
    [exit 1]
    ");
    assert_snapshot!(repo.person(&format!("restore --to {left}"), &left[..10]), @"
    `loopx/state` is at [ID].
    lost with it, 1 commit:
      [ID] forged, by nobody it names
    Each commit up to [ID] is a legal mutation.

    Type `[ID]` to restore `loopx/state` to [ID]: [ID]
    `loopx/state` is at [ID] again
    ");
    assert_eq!(repo.tip().trim(), left);
    assert_snapshot!(repo.scene("
        loopx verify
        loopx gate list
        loopx doctor
        loopx todo add two
        git log --walk-reflogs --format=%gs -3 loopx/state --
    "), @"
    $ loopx verify
    4 commits (4 new commits): each is one legal mutation, signed off
    $ loopx gate list
      ready  open  by a, 16 s ago  Ready?
    $ loopx doctor
    all is well
    $ loopx todo add two
    added todo t-nkta: two
    $ git log --walk-reflogs --format=%gs -3 loopx/state --
    loopx: add todo t-nkta: two
    loopx: restore [ID]
    ");
}

#[test]
fn what_was_never_a_commit_of_the_state_is_refused() {
    let (repo, left) = waiting();
    assert_snapshot!(repo.scene("
        loopx restore --to 0123456789012345678901234567890123456789
        loopx restore --to main
        loopx restore --to loopx/state
    "), @"
    $ loopx restore --to 0123456789012345678901234567890123456789
    [stderr] error: `[ID]` names no commit of this repository
    [stderr] hint: run `git log --oneline` for commits that exist
    [exit 1]
    $ loopx restore --to main
    [stderr] error: [ID] is no commit that `loopx/state` was ever at, or was made from
    [stderr] hint: run `git log --walk-reflogs --oneline loopx/state --` for where it was
    [exit 1]
    $ loopx restore --to loopx/state
    `loopx/state` is at [ID] already
    ");
    // A state of its own making, whose commits are all legal.
    let other = Sandbox::ready();
    other.loopx("todo add other").success();
    repo.git(&format!("fetch -q {} loopx/state", other.path("repo").display())).success();
    assert_snapshot!(repo.scene("loopx restore --to FETCH_HEAD"), @"
    $ loopx restore --to FETCH_HEAD
    [stderr] error: [ID] is no commit that `loopx/state` was ever at, or was made from
    [stderr] hint: run `git log --walk-reflogs --oneline loopx/state --` for where it was
    [exit 1]
    ");
    assert_eq!(repo.tip().trim(), left);
}

#[test]
fn a_history_that_was_written_anew_is_left_for_the_old_one() {
    let (repo, left) = waiting();
    // Back by two, and on from there as if nobody had asked.
    repo.git("update-ref refs/heads/loopx/state loopx/state~2").success();
    repo.forge("mine.txt", "mine");
    assert_snapshot!(repo.person(&format!("restore --to {left}"), &left[..10]), @"
    `loopx/state` is at [ID].
    lost with it, 1 commit:
      [ID] forged, by nobody it names
    there again, 2 commits:
      [ID] open gate ready: Ready?, by agent:a
      [ID] add todo t-a4wn: one, by Ann <ann@example.test>
    Each commit up to [ID] is a legal mutation.

    Type `[ID]` to restore `loopx/state` to [ID]: [ID]
    `loopx/state` is at [ID] again
    ");
    repo.git("push -q origin main");
    assert_snapshot!(repo.loopx("verify --all"), @"4 commits (4 new commits): each is one legal mutation, signed off");
}

#[test]
fn a_branch_and_a_note_that_are_gone_do_not_keep_a_person_from_it() {
    let (repo, left) = waiting();
    repo.git("update-ref -d refs/heads/loopx/state").success();
    assert_snapshot!(repo.person(&format!("restore --to {left}"), &left[..10]), @"
    `loopx/state` is not there.
    there again, 4 commits:
      [ID] open gate ready: Ready?, by agent:a
      [ID] add todo t-a4wn: one, by Ann <ann@example.test>
      [ID] add goal ship: Ship v2, by Ann <ann@example.test>
      [ID] begin loopx state, by Ann <ann@example.test>
    Each commit up to [ID] is a legal mutation.

    Type `[ID]` to restore `loopx/state` to [ID]: [ID]
    `loopx/state` is at [ID] again
    ");
    std::fs::remove_file(repo.path("repo/.git/loopx/writer")).unwrap();
    assert_snapshot!(repo.loopx("todo add two"), @"
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not where loopx left it
    [stderr] hint: if it is right as it is, a person takes it over with `loopx init`
    [exit 1]
    ");
    assert_snapshot!(repo.person(&format!("restore --to {left}"), &left[..10]), @"
    `loopx/state` is at [ID].
    Only git's reflog knows [ID]: it is not among what loopx left last. Look at it first: git log --patch [ID]
    Each commit up to [ID] is a legal mutation.

    Type `[ID]` to restore `loopx/state` to [ID]: [ID]
    `loopx/state` is at [ID] again
    ");
    repo.loopx("todo add two").success();
}

#[test]
fn a_decision_that_a_person_made_can_be_taken_back_by_one() {
    let (repo, left) = waiting();
    repo.person("gate resolve ready --decision approve", "ready").success();
    assert_snapshot!(repo.person(&format!("restore --to {left}"), &left[..10]), @"
    `loopx/state` is at [ID].
    lost with it, 1 commit:
      [ID] approve gate ready, by Ann <ann@example.test>
    Each commit up to [ID] is a legal mutation.

    Type `[ID]` to restore `loopx/state` to [ID]: [ID]
    `loopx/state` is at [ID] again
    ");
    assert_snapshot!(repo.scene("
        loopx gate list
        git push -q origin main
    "), @r#"
    $ loopx gate list
      ready  open  by a, just now  Ready?
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn files_that_were_edited_are_left_alone() {
    let (repo, left) = waiting();
    let path = format!("repo/.loopx/{GATE}");
    repo.write(&path, &answered(&repo.read(&path)));
    repo.git("-C .loopx commit -q --no-verify -am 'resolve gate ready'").success();
    let policy = repo.read("repo/.loopx/loopx.toml");
    repo.write("repo/.loopx/loopx.toml", &format!("{policy}# mine\n"));
    assert_snapshot!(repo.person(&format!("restore --to {left}"), &left[..10]), @"
    `loopx/state` is at [ID].
    lost with it, 1 commit:
      [ID] resolve gate ready, by nobody it names
    Each commit up to [ID] is a legal mutation.

    Type `[ID]` to restore `loopx/state` to [ID]: [ID]
    warning: left alone what was edited by hand: `.loopx/loopx.toml` (run `git -C .loopx checkout HEAD -- .`)
    `loopx/state` is at [ID] again
    ");
    repo.write("repo/.loopx/mine.txt", "mine");
    assert_snapshot!(repo.scene("
        git -C .loopx checkout HEAD -- .
        git -C .loopx status --short
        loopx status
    "), @"
    $ git -C .loopx checkout HEAD -- .
    $ git -C .loopx status --short
    ?? mine.txt
    $ loopx status
    1 question waits for you
      ready  open  by a, 6 s ago  Ready?
      a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    1 goal
      ship  active  0/48 slots  Ship v2
    1 todo open
      t-a4wn  p2  open  one
    pushes are guarded
    ");
}
