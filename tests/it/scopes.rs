//! A gate may be about some pushes only: by branch, by remote, by the files that are changed.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A repository with a second remote, in which one commit changes `docs/` and the next one `src/`.
fn two_remotes() -> Sandbox {
    let repo = Sandbox::with_remote();
    repo.git("init -q --bare ../backup.git").success();
    repo.git("remote add backup ../backup.git").success();
    for file in ["docs/a.md", "src/b.rs"] {
        repo.write(&format!("repo/{file}"), "x");
        repo.git(&format!("checkout -q -b {}", &file[..file.find('/').expect("a folder")])).success();
        repo.git("add .").success();
        repo.git(&format!("commit -q -m {file}")).success();
    }
    repo
}

#[test]
fn a_gate_about_a_branch_lets_the_others_go() {
    let repo = two_remotes();
    repo.loopx("gate open Release? --branch main --branch release/* --branch 'refs/tags/v*' --blocks push")
        .success();
    assert_snapshot!(repo.scene("
        loopx gate show release
        git push -q origin docs
        git push -q origin docs:main
        git push -q origin HEAD~1:refs/heads/release/1
        git push -q origin docs main
        git tag v1
        git push -q origin v1
        git push -q origin docs:v1
        git push -q origin :docs
        git push -q origin --all
    "), @r#"
    $ loopx gate show release
    gate release: "Release?"
      goal      ship
      asked     by Ann, just now
      blocks    push
      branches  main, refs/tags/v*, release/*
      options   approve, reject
      state     open
    $ git push -q origin docs
    $ git push -q origin docs:main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   release  open  "Release?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve release --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin HEAD~1:refs/heads/release/1
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   release  open  "Release?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve release --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin docs main
    $ git tag v1
    $ git push -q origin v1
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   release  open  "Release?"  asked by Ann, 7 s ago
    [stderr] hint: a person answers with `loopx gate resolve release --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin docs:v1
    $ git push -q origin :docs
    $ git push -q origin --all
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn a_gate_about_a_remote_knows_it_by_any_name() {
    let repo = two_remotes();
    repo.loopx("gate open Public? --remote origin --blocks push").success();
    let hub = repo.path("hub.git");
    assert_snapshot!(repo.scene(&format!("
        git push -q backup docs
        git push -q origin docs
        git push -q ../hub.git docs
        git push -q ../hub.git/ docs
        git push -q file://{0} docs
        git push -q {0} docs
        git push -q ../backup.git src
    ", hub.display())).replace(&hub.display().to_string(), "[HUB]"), @r#"
    $ git push -q backup docs
    $ git push -q origin docs
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   public  open  "Public?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve public --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q ../hub.git docs
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   public  open  "Public?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve public --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q ../hub.git/ docs
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   public  open  "Public?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve public --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git/'
    [exit 1]
    $ git push -q file://[HUB] docs
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   public  open  "Public?"  asked by Ann, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve public --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to 'file://[ROOT]/hub.git'
    [exit 1]
    $ git push -q [HUB] docs
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   public  open  "Public?"  asked by Ann, 6 s ago
    [stderr] hint: a person answers with `loopx gate resolve public --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '[ROOT]/hub.git'
    [exit 1]
    $ git push -q ../backup.git src
    "#);
}

#[test]
fn a_gate_about_files_looks_at_what_the_remote_does_not_have() {
    let repo = two_remotes();
    repo.loopx("gate open Schema? --path src --blocks push").success();
    assert_snapshot!(repo.scene("
        git push -q origin docs
        git push -q origin src
        git revert --no-edit HEAD
        git push -q origin src
        git checkout -q docs
        git merge -q --no-edit main
        git push -q origin docs
        git merge -q --no-edit src
        git push -q origin docs
        git checkout -q --orphan fresh docs
        git commit -q -m all
        git push -q origin fresh
        git push -q --no-verify origin src
        git push -q origin docs
    "), @r#"
    $ git push -q origin docs
    $ git push -q origin src
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   schema  open  "Schema?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve schema --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git revert --no-edit HEAD
    [src [ID]] Revert "src/b.rs"
     Date: Mon Nov 30 12:00:19 2026 +0000
     1 file changed, 1 deletion(-)
     delete mode 100644 src/b.rs
    $ git push -q origin src
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   schema  open  "Schema?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve schema --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git checkout -q docs
    $ git merge -q --no-edit main
    $ git push -q origin docs
    $ git merge -q --no-edit src
    $ git push -q origin docs
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   schema  open  "Schema?"  asked by Ann, 9 s ago
    [stderr] hint: a person answers with `loopx gate resolve schema --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git checkout -q --orphan fresh docs
    $ git commit -q -m all
    $ git push -q origin fresh
    $ git push -q --no-verify origin src
    $ git push -q origin docs
    "#);
}

#[test]
fn what_went_to_another_branch_is_new_to_the_one_that_a_gate_is_about() {
    let repo = two_remotes();
    repo.loopx("gate open Schema? --branch main --path src --blocks push").success();
    assert_snapshot!(repo.scene("
        git push -q origin docs:main
        git push -q origin src
        git push -q origin src:main
        git push -q origin src:maintenance
        git push -q origin main:refs/loopx/state
    "), @r#"
    $ git push -q origin docs:main
    $ git push -q origin src
    $ git push -q origin src:main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   schema  open  "Schema?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve schema --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin src:maintenance
    $ git push -q origin main:refs/loopx/state
    [stderr] loopx: push refused: `refs/heads/main` would take loopx's own state to `refs/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn an_odd_pattern_is_no_pattern() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx gate open Ready? --branch '[main'
        loopx gate open Ready? --path ''
    "), @"
    $ loopx gate open Ready? --branch '[main'
    [stderr] error: invalid value '[main' for '--branch <GLOB>': `[main` is not a pattern (expected 1 to 200 letters, digits and `*`, `?`, `/`, `.`, `_`, `-`, `@`, `:`, `+`, `~`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx gate open Ready? --path ''
    [stderr] error: invalid value '' for '--path <GLOB>': `` is not a pattern (expected 1 to 200 letters, digits and `*`, `?`, `/`, `.`, `_`, `-`, `@`, `:`, `+`, `~`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}
