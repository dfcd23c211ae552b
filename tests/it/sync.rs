//! `remote` and `sync`: state goes to one place that a person named, and what comes from there is taken over by a person.

use insta::assert_snapshot;

use crate::sandbox::{Output, Sandbox};

/// A clone `repo` whose state was synced to `hub.git`.
fn synced() -> Sandbox {
    let repo = Sandbox::with_remote();
    repo.person("remote set origin", "origin").success();
    repo.loopx("sync").success();
    repo
}

/// The same, and a second clone `other` that took the state over.
fn two() -> Sandbox {
    let mut repo = synced();
    repo.git("clone -q ../hub.git ../other").success();
    repo.cd("other").loopx("init").success();
    repo.git("config user.name Bob").success();
    repo.git("config user.email bob@example.test").success();
    repo.person("remote set origin", "origin").success();
    take(&repo).success();
    repo.cd("repo");
    repo
}

/// What the hub has.
fn hub(repo: &Sandbox) -> String {
    repo.git("-C ../hub.git rev-parse --verify -q refs/loopx/state").stdout.trim().to_owned()
}

/// A sync by a person who agrees to what the hub has.
fn take(repo: &Sandbox) -> Output {
    repo.person("sync", &hub(repo)[..10])
}

#[test]
fn the_remote_is_a_persons_choice_in_this_clone_only() {
    let mut repo = Sandbox::with_remote();
    repo.git("remote add backup https://ann:secret@host.example.test/x.git").success();
    assert_snapshot!(repo.scene("
        loopx remote show
        loopx sync
        loopx remote set origin
        loopx remote set origin --agent-id a
        loopx remote set nowhere
        loopx remote set ../hub.git
        loopx remote set https://ann:secret@host.example.test/y.git
        loopx remote unset
    "), @"
    $ loopx remote show
    the state stays on this machine: no remote is set
    $ loopx sync
    [stderr] error: no remote is set, so the state stays on this machine
    [stderr] hint: a person says where it may go, with `loopx remote set <name>`
    [exit 1]
    $ loopx remote set origin
    [stderr] error: only a person at a terminal may let the state go to `origin`, and there is none
    [stderr] hint: run `loopx remote set origin` in a terminal
    [exit 1]
    $ loopx remote set origin --agent-id a
    [stderr] error: only a person may let the state go to `origin`, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx remote set origin` in a terminal of their own
    [exit 1]
    $ loopx remote set nowhere
    [stderr] error: `nowhere` is no remote of this clone (it has backup, origin)
    [stderr] hint: name one of them: `loopx remote set backup`
    [exit 1]
    $ loopx remote set ../hub.git
    [stderr] error: `../hub.git` is no remote of this clone (it has backup, origin)
    [stderr] hint: name one of them: `loopx remote set backup`
    [exit 1]
    $ loopx remote set https://ann:secret@host.example.test/y.git
    [stderr] error: `https://host.example.test/y.git` is no remote of this clone (it has backup, origin)
    [stderr] hint: name one of them: `loopx remote set backup`
    [exit 1]
    $ loopx remote unset
    the state stays on this machine already
    ");
    assert_snapshot!(repo.person("remote set backup", "yes"), @"
    `loopx sync` will send the state of this repository to https://host.example.test/x.git: goals, questions, answers, evidence, and who did what. Whoever can read there can read all of it.

    Type `backup` to let the state go to `backup`: yes
    error: that was not `backup`, so nothing was changed
    hint: run `loopx remote set backup` again
    [exit 1]
    ");
    assert_snapshot!(repo.person("remote set origin", "origin"), @"
    `loopx sync` will send the state of this repository to ../hub.git: goals, questions, answers, evidence, and who did what. Whoever can read there can read all of it.

    Type `origin` to let the state go to `origin`: origin
    the state may go to `origin` (../hub.git)
    next: loopx sync
    ");
    assert_snapshot!(repo.scene("
        loopx remote show --json
        loopx remote set origin --agent-id a
        loopx sync --agent-id a
        git config --get-regexp ^loopx.remote
        git ls-remote origin
        git status --porcelain
        git -c loopx.remote=backup -C .loopx status --short
        git clone -q ../hub.git ../other
    "), @r#"
    $ loopx remote show --json
    {
      "schema_version": 1,
      "remote": "origin",
      "address": "../hub.git",
      "problem": null,
      "hints": []
    }
    $ loopx remote set origin --agent-id a
    the state may go to `origin` (../hub.git) already
    $ loopx sync --agent-id a
    pushed 2 commits to `origin`
    $ git config --get-regexp ^loopx.remote
    loopx.remoteaddress sha256:[ID]
    loopx.remote origin
    $ git ls-remote origin
    [ID]	HEAD
    [ID]	refs/heads/main
    [ID]	refs/loopx/state
    $ git status --porcelain
    $ git -c loopx.remote=backup -C .loopx status --short
    $ git clone -q ../hub.git ../other
    "#);
    assert_snapshot!(repo.cd("other").scene("
        git branch -a
        git config --get-regexp ^loopx
        loopx remote show
        loopx init
        loopx remote show
    "), @r#"
    $ git branch -a
    * main
      remotes/origin/HEAD -> origin/main
      remotes/origin/main
    $ git config --get-regexp ^loopx
    [exit 1]
    $ loopx remote show
    the state stays on this machine: no remote is set
    $ loopx init
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/other/.git/hooks/pre-push
    next: loopx goal add "<objective>"
    or, if `origin` has a state already: loopx remote set origin, and loopx sync
    $ loopx remote show
    the state stays on this machine: no remote is set
    "#);
    assert_snapshot!(repo.cd("repo").scene("
        loopx remote unset --agent-id a
        loopx remote unset
        loopx sync
    "), @"
    $ loopx remote unset --agent-id a
    the state stays on this machine
    $ loopx remote unset
    the state stays on this machine already
    $ loopx sync
    [stderr] error: no remote is set, so the state stays on this machine
    [stderr] hint: a person says where it may go, with `loopx remote set <name>`
    [exit 1]
    ");
}

#[test]
fn a_remote_that_points_elsewhere_by_now_is_not_the_one_that_was_chosen() {
    let repo = synced();
    repo.git("init -q --bare ../elsewhere.git").success();
    repo.loopx("todo add one").success();
    assert_snapshot!(repo.scene("
        git remote set-url origin ../elsewhere.git
        loopx sync
        loopx remote show
        git remote set-url origin ../hub.git
        git remote set-url --push origin ../elsewhere.git
        loopx sync
        git remote set-url --add --push origin ../hub.git
        loopx sync
        git config --unset-all remote.origin.pushurl
        git config url.../elsewhere.git.insteadOf ../hub.git
        loopx sync
        git config --unset url.../elsewhere.git.insteadOf
        git config loopx.remote elsewhere
        loopx sync
        git -C ../elsewhere.git for-each-ref
        git config loopx.remote origin
        loopx sync
    "), @"
    $ git remote set-url origin ../elsewhere.git
    $ loopx sync
    [stderr] error: the address of `origin` is not the one that a person let the state go to
    [stderr] hint: look at it with `git remote get-url --push --all origin`
    [stderr] hint: a person lets the state go there with `loopx remote set origin`
    [exit 1]
    $ loopx remote show
    the state goes nowhere: the address of `origin` is not the one that a person let the state go to
      look at it with `git remote get-url --push --all origin`
      a person lets the state go there with `loopx remote set origin`
    $ git remote set-url origin ../hub.git
    $ git remote set-url --push origin ../elsewhere.git
    $ loopx sync
    [stderr] error: the address of `origin` is not the one that a person let the state go to
    [stderr] hint: look at it with `git remote get-url --push --all origin`
    [stderr] hint: a person lets the state go there with `loopx remote set origin`
    [exit 1]
    $ git remote set-url --add --push origin ../hub.git
    $ loopx sync
    [stderr] error: `origin` has several addresses to push to, and the state goes to one place only
    [stderr] hint: look at it with `git remote get-url --push --all origin`
    [stderr] hint: a person lets the state go there with `loopx remote set origin`
    [exit 1]
    $ git config --unset-all remote.origin.pushurl
    $ git config url.../elsewhere.git.insteadOf ../hub.git
    $ loopx sync
    [stderr] error: the address of `origin` is not the one that a person let the state go to
    [stderr] hint: look at it with `git remote get-url --push --all origin`
    [stderr] hint: a person lets the state go there with `loopx remote set origin`
    [exit 1]
    $ git config --unset url.../elsewhere.git.insteadOf
    $ git config loopx.remote elsewhere
    $ loopx sync
    [stderr] error: `elsewhere` is no remote of this clone (it has origin)
    [stderr] hint: name one of them: `loopx remote set origin`
    [exit 1]
    $ git -C ../elsewhere.git for-each-ref
    $ git config loopx.remote origin
    $ loopx sync
    pushed 1 commit to `origin`
    ");
}

#[test]
fn an_agent_pushes_what_is_new_and_nobody_else_pushes_state() {
    let repo = synced();
    repo.loopx("gate open Ready? --agent-id a").success();
    assert_snapshot!(repo.scene("
        git push -q origin loopx/state:refs/loopx/state
        git push -q origin main
        loopx sync --agent-id a
        loopx sync --agent-id a --json
        git push -q origin loopx/state:refs/loopx/state
        git push -q --mirror origin
        git ls-remote origin
    "), @r#"
    $ git push -q origin loopx/state:refs/loopx/state
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin main
    $ loopx sync --agent-id a
    pushed 1 commit to `origin`
    $ loopx sync --agent-id a --json
    {
      "schema_version": 1,
      "remote": "origin",
      "tip": "[ID]",
      "taken": 0,
      "replayed": 0,
      "dropped": 0,
      "pushed": 0,
      "commit": null,
      "warnings": []
    }
    $ git push -q origin loopx/state:refs/loopx/state
    $ git push -q --mirror origin
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] loopx: push refused: `refs/loopx/remote` would take loopx's own state to `refs/loopx/remote`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, 6 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git ls-remote origin
    [ID]	HEAD
    [ID]	refs/heads/main
    [ID]	refs/loopx/state
    "#);
    assert_eq!(hub(&repo), repo.tip().trim());
    repo.git("config remote.origin.mirror true").success();
    repo.git("config push.followTags true").success();
    repo.git("tag -a v1 -m v1").success();
    repo.loopx("todo add one").success();
    assert_snapshot!(repo.scene("
        loopx sync
        git ls-remote origin
    "), @"
    $ loopx sync
    pushed 1 commit to `origin`
    $ git ls-remote origin
    [ID]	HEAD
    [ID]	refs/heads/main
    [ID]	refs/loopx/state
    ");
}

#[test]
fn what_comes_from_elsewhere_takes_a_person() {
    let mut repo = two();
    repo.cd("other").loopx("gate open Ready? --agent-id b").success();
    repo.person("gate resolve ready --decision approve", "ready").success();
    repo.loopx("sync --agent-id b").success();
    let before = repo.cd("repo").tip();
    assert_snapshot!(repo.scene("
        loopx sync
        loopx sync --agent-id a
    "), @"
    $ loopx sync
    [stderr] error: only a person at a terminal may take over 2 commits of `origin`, and there is none
    [stderr] hint: run `loopx sync` in a terminal
    [exit 1]
    $ loopx sync --agent-id a
    [stderr] error: only a person may take over 2 commits of `origin`, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx sync` in a terminal of their own
    [exit 1]
    ");
    assert_snapshot!(repo.person("sync", "yes"), @"
    2 commits of `origin`, each a legal mutation: 1 by Bob <bob@example.test>, 1 by agent:b
    decisions among them:
      [ID] approve gate ready, by Bob <bob@example.test>
    See all of it: git log --patch refs/loopx/remote

    Type `[ID]` to take over 2 commits of `origin`: yes
    error: that was not `[ID]`, so nothing was changed
    hint: run `loopx sync` again
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
    assert_snapshot!(take(&repo), @"
    2 commits of `origin`, each a legal mutation: 1 by Bob <bob@example.test>, 1 by agent:b
    decisions among them:
      [ID] approve gate ready, by Bob <bob@example.test>
    See all of it: git log --patch refs/loopx/remote

    Type `[ID]` to take over 2 commits of `origin`: [ID]
    took over 2 commits of `origin`
    ");
    assert_eq!(hub(&repo), repo.tip().trim());
    assert_snapshot!(repo.scene("
        loopx sync
        loopx gate list --all
        loopx verify --all
        loopx doctor
        git -C .loopx status --short
        git reflog show -1 --format=%gs loopx/state
    "), @"
    $ loopx sync
    `origin` has the same state already
    $ loopx gate list --all
      ready  approve  by b, 13 s ago  Ready?
    $ loopx verify --all
    4 commits (4 new commits): each is one legal mutation, signed off
    $ loopx doctor
    all is well
    $ git -C .loopx status --short
    $ git reflog show -1 --format=%gs loopx/state
    loopx: take over what origin has
    ");
}

#[test]
fn both_sides_went_on_and_touched_different_things() {
    let mut repo = two();
    repo.loopx("gate open Old? --agent-id a").success();
    repo.loopx("sync").success();
    take(repo.cd("other")).success();
    repo.cd("repo").loopx("todo add mine --agent-id a").success();
    repo.person("gate resolve old --decision reject --note 'not yet'", "old").success();
    repo.person("gate resolve old --decision approve", "old").success();
    repo.cd("other").loopx("todo add theirs --agent-id b").success();
    repo.loopx("sync --agent-id b").success();
    assert_snapshot!(repo.cd("repo").loopx("sync --agent-id a"), @"
    [stderr] error: only a person may take over 1 commit of `origin`, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx sync` in a terminal of their own
    [exit 1]
    ");
    assert_snapshot!(take(&repo), @"
    1 commit of `origin`, each a legal mutation: 1 by agent:b
    Your own 3 commits will follow on top of them.
    See all of it: git log --patch refs/loopx/remote

    Type `[ID]` to take over 1 commit of `origin`: [ID]
    took over 1 commit of `origin`, put 3 commits of this clone on top, pushed 3 commits to `origin`
    ");
    assert_eq!(hub(&repo), repo.tip().trim());
    assert_snapshot!(repo.scene("
        git log --format=%s%n%an%n%ad%n%(trailers:key=Loopx-Actor) --date=iso -4 loopx/state
        loopx verify --all
        loopx gate show old
        loopx status
        git -C .loopx status --short
    "), @r#"
    $ git log --format=%s%n%an%n%ad%n%(trailers:key=Loopx-Actor) --date=iso -4 loopx/state
    approve gate old
    Ann
    2026-11-30 12:00:23 +0000
    Loopx-Actor: person

    reject gate old
    Ann
    2026-11-30 12:00:22 +0000
    Loopx-Actor: person

    add todo t-fb6j: mine
    Ann
    2026-11-30 12:00:21 +0000
    Loopx-Actor: agent:a

    add todo t-2n09: theirs
    Bob
    2026-11-30 12:00:24 +0000
    Loopx-Actor: agent:b

    $ loopx verify --all
    7 commits (7 new commits): each is one legal mutation, signed off
    $ loopx gate show old
    gate old: "Old?"
      goal     ship
      asked    by a, 16 s ago
      blocks   turn, push, publish
      options  approve, reject
      state    approve by Ann, 10 s ago
      seen at  [ID]
    $ loopx status
    1 goal
      ship  active  0/48 slots  Ship v2
    2 todos open
      t-fb6j  p2  open  mine
      t-2n09  p2  open  theirs
    pushes are guarded
    $ git -C .loopx status --short
    "#);
    assert_snapshot!(take(repo.cd("other")), @"
    3 commits of `origin`, each a legal mutation: 2 by Ann <ann@example.test>, 1 by agent:a
    decisions among them:
      [ID] approve gate old, by Ann <ann@example.test>
      [ID] reject gate old, by Ann <ann@example.test>
    See all of it: git log --patch refs/loopx/remote

    Type `[ID]` to take over 3 commits of `origin`: [ID]
    took over 3 commits of `origin`
    ");
    assert_eq!(hub(&repo), repo.tip().trim());
}

#[test]
fn both_sides_changed_the_same_record() {
    let mut repo = two();
    let todo = repo.todo("one --agent-id a");
    repo.loopx("sync").success();
    take(repo.cd("other")).success();
    repo.loopx(&format!("todo claim {todo} --agent-id b")).success();
    repo.loopx("sync").success();
    repo.cd("repo").loopx(&format!("todo claim {todo} --agent-id a")).success();
    repo.loopx("todo add two --agent-id a").success();
    let before = repo.tip();
    assert_snapshot!(take(&repo), @"
    error: the state here and the one at `origin` have both changed todo/t-53mf since they were the same
    hint: nothing was changed; see what they did with `git log --patch [ID]..refs/loopx/remote`
    hint: a person lets go of what was done here with `loopx sync --drop-ours`, and does it again
    [exit 1]
    ");
    assert_snapshot!(repo.loopx("sync --agent-id a --json"), @r#"
    {
      "schema_version": 1,
      "error": {
        "code": "refused",
        "message": "the state here and the one at `origin` have both changed todo/t-53mf since they were the same",
        "hints": [
          "nothing was changed; see what they did with `git log --patch [ID]..refs/loopx/remote`",
          "a person lets go of what was done here with `loopx sync --drop-ours`, and does it again"
        ],
        "retryable": false
      }
    }
    [exit 1]
    "#);
    assert_eq!(repo.tip(), before);
    assert_snapshot!(repo.loopx("sync --drop-ours --agent-id a"), @"
    [stderr] error: only a person may take over 1 commit of `origin`, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx sync --drop-ours` in a terminal of their own
    [exit 1]
    ");
    let word = hub(&repo)[..10].to_owned();
    assert_snapshot!(repo.person("sync --drop-ours", &word), @"
    1 commit of `origin`, each a legal mutation: 1 by agent:b
    given up here:
      [ID] add todo t-2n09: two, by agent:a
      [ID] claim todo t-53mf: one, by agent:a
    See all of it: git log --patch refs/loopx/remote

    Type `[ID]` to take over 1 commit of `origin`: [ID]
    took over 1 commit of `origin`, gave up 2 commits of this clone (the reflog of the state branch has them)
    ");
    assert_eq!(hub(&repo), repo.tip().trim());
    assert_snapshot!(repo.scene("
        loopx todo list
        loopx verify --all
        loopx sync
    "), @"
    $ loopx todo list
      t-53mf  p2  claimed by b  one
    $ loopx verify --all
    4 commits (4 new commits): each is one legal mutation, signed off
    $ loopx sync
    `origin` has the same state already
    ");
}

#[test]
fn what_is_legal_alone_may_not_be_after_the_others() {
    let mut repo = two();
    let todo = repo.todo("one --agent-id a");
    repo.loopx("sync").success();
    take(repo.cd("other")).success();
    repo.loopx("gate open Wait? --agent-id b").success();
    repo.loopx("sync").success();
    repo.cd("repo").loopx(&format!("todo claim {todo} --agent-id a")).success();
    let before = repo.tip();
    assert_snapshot!(take(&repo), @r#"
    error: [ID] "claim todo t-53mf: one" cannot follow what `origin` has: it is refused: todo `t-53mf` waits for gate `wait`: "Wait?"
    hint: nothing was changed; see what they did with `git log --patch [ID]..refs/loopx/remote`
    hint: a person lets go of what was done here with `loopx sync --drop-ours`, and does it again
    [exit 1]
    "#);
    assert_eq!(repo.tip(), before);
}

#[test]
fn what_loopx_could_not_have_made_is_not_taken() {
    let mut repo = two();
    repo.cd("other").loopx("gate open Ready? --agent-id b").success();
    let file = repo.read("other/.loopx/goals/ship/gates/ready.toml");
    repo.forge_as(
        "goals/ship/gates/ready.toml",
        &file.replace("Ready?", "Really?"),
        "approve gate ready\n\nLoopx-Op: gate.resolve\nLoopx-Goal: ship\nLoopx-Record: gate/ready\nLoopx-Actor: person\nSigned-off-by: Bob <bob@example.test>\n",
    );
    assert_snapshot!(repo.loopx("sync"), @"
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] hint: or, if it is right as it is, a person takes it over with `loopx init`
    [exit 1]
    ");
    repo.git("push -q --no-verify origin loopx/state:refs/loopx/state").success();
    let before = repo.cd("repo").tip();
    assert_snapshot!(take(&repo), @"
    error: [ID] is no legal mutation of the state: gate/ready is not what `gate.resolve` makes of it
    hint: run `loopx verify --all` where the state comes from, and fetch it again
    [exit 1]
    ");
    repo.git("push -q --no-verify --force origin main:refs/loopx/state").success();
    assert_snapshot!(take(&repo), @"
    error: [ID] is no legal mutation of the state: it has no `Signed-off-by` trailer
    hint: run `loopx verify --all` where the state comes from, and fetch it again
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn another_repositorys_state_is_neither_taken_nor_replaced() {
    let mut repo = synced();
    let kept = hub(&repo);
    repo.git("clone -q ../hub.git ../other").success();
    repo.cd("other").loopx("init --goal-text Other").success();
    repo.person("remote set origin", "origin").success();
    assert_snapshot!(repo.loopx("sync"), @"
    [stderr] error: the state at `origin` is that of another repository
    [stderr] hint: choose another remote with `loopx remote set <name>`, or take that state into a fresh clone
    [stderr] hint: or, if nothing of the state here is worth keeping, begin again: `loopx uninstall --purge`, `loopx init`, `loopx remote set <name>`, `loopx sync`
    [exit 1]
    ");
    assert_eq!(hub(&repo), kept);
}

#[test]
fn a_fresh_clone_goes_on_from_what_the_remote_has() {
    let mut repo = synced();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.loopx("sync").success();
    repo.git("clone -q ../hub.git ../other").success();
    repo.cd("other").loopx("init").success();
    repo.person("remote set origin", "origin").success();
    assert_snapshot!(repo.loopx("sync --agent-id b"), @"
    [stderr] error: only a person may take over 3 commits of `origin`, and this is agent `b` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx sync` in a terminal of their own
    [exit 1]
    ");
    assert_snapshot!(take(&repo), @"
    3 commits of `origin`, each a legal mutation: 2 by Ann <ann@example.test>, 1 by agent:a
    See all of it: git log --patch refs/loopx/remote

    Type `[ID]` to take over 3 commits of `origin`: [ID]
    took over 3 commits of `origin`
    ");
    repo.commit("news");
    assert_snapshot!(repo.scene("
        loopx status
        git push -q origin HEAD
        loopx verify --all
        loopx sync
    "), @r#"
    $ loopx status
    1 question waits for you
      ready  open  by a, 10 s ago  Ready?
      a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    1 goal
      ship  active  0/48 slots  Ship v2
    0 todos open
    pushes are guarded
    $ git push -q origin HEAD
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, 11 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '[ROOT]/repo/../hub.git'
    [exit 1]
    $ loopx verify --all
    3 commits (3 new commits): each is one legal mutation, signed off
    $ loopx sync
    `origin` has the same state already
    "#);
}

#[test]
fn a_history_that_was_left_behind() {
    let mut repo = two();
    let word = repo.tip()[..10].to_owned();
    repo.person("compact --apply", &word).success();
    repo.loopx("todo add after --agent-id a").success();
    assert_snapshot!(repo.loopx("sync --agent-id a"), @"
    [stderr] error: only a person may replace the history at `origin` by the one that is left of it here, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx sync` in a terminal of their own
    [exit 1]
    ");
    assert_snapshot!(take(&repo), @"
    `origin` is at [ID]: the state that the history here begins with, and how it came about.

    Type `[ID]` to replace the history at `origin` by the one that is left of it here: [ID]
    pushed 2 commits to `origin`
    ");
    assert_eq!(hub(&repo), repo.tip().trim());
    assert_snapshot!(repo.loopx("sync"), @"`origin` has the same state already");
    repo.cd("other").loopx("todo add news --agent-id b").success();
    assert_snapshot!(take(&repo), @"
    error: the histories here and at `origin` have no commit in common, because one was left behind there, and the states differ by now
    hint: a person gives up what is only here with `loopx sync --drop-ours`, and does it again
    [exit 1]
    ");
}

#[test]
fn a_history_that_was_left_behind_there_and_nothing_new_here() {
    let mut repo = two();
    let word = repo.tip()[..10].to_owned();
    repo.person("compact --apply", &word).success();
    take(&repo).success();
    assert_snapshot!(take(repo.cd("other")), @"
    1 commit of `origin`, each a legal mutation: 1 by Ann <ann@example.test>
    decisions among them:
      [ID] leave the history up to [ID] behind, by Ann <ann@example.test>
    See all of it: git log --patch refs/loopx/remote

    Type `[ID]` to take over 1 commit of `origin`: [ID]
    took over 1 commit of `origin`
    ");
    assert_eq!(hub(&repo), repo.tip().trim());
    assert_snapshot!(repo.loopx("verify"), @"
    1 commit (1 new commit): each is one legal mutation, signed off
      Ann left the history before them behind, 7 s ago; what it was cannot be verified
    ");
}

#[test]
fn a_remote_out_of_reach_is_one_clear_error() {
    let repo = synced();
    repo.loopx("todo add one").success();
    std::fs::rename(repo.path("hub.git"), repo.path("gone.git")).expect("a move");
    assert_snapshot!(repo.scene("
        loopx sync
        loopx sync --json
    "), @r#"
    $ loopx sync
    [stderr] error: cannot ask `origin`: '../hub.git' does not appear to be a git repository
    [stderr] hint: see whether git gets through with `git ls-remote origin`
    [exit 1]
    $ loopx sync --json
    {
      "schema_version": 1,
      "error": {
        "code": "environment",
        "message": "cannot ask `origin`: '../hub.git' does not appear to be a git repository",
        "hints": [
          "see whether git gets through with `git ls-remote origin`"
        ],
        "retryable": false
      }
    }
    [exit 1]
    "#);
    std::fs::rename(repo.path("gone.git"), repo.path("hub.git")).expect("a move");
    repo.script("hub.git/hooks/pre-receive", "#!/bin/sh\nprintf 'no room\\033[2J for you\\n' >&2\nexit 1\n");
    assert_snapshot!(repo.loopx("sync"), @r"
    [stderr] error: cannot push to `origin`: no room\u{1b}[2J for you
    [stderr] hint: see whether git gets through with `git ls-remote origin`
    [exit 1]
    ");
    assert_eq!(repo.git("rev-parse -q --verify refs/loopx/remote").stdout.trim(), hub(&repo));
}

/// The server moves between the look and the push: a hook on our side of it does that once.
#[test]
fn a_remote_that_moves_meanwhile_is_looked_at_again() {
    let mut repo = two();
    repo.cd("other").loopx("todo add theirs --agent-id b").success();
    let theirs = repo.tip();
    repo.git("push -q --no-verify origin loopx/state:refs/heads/parked").success();
    repo.cd("repo").loopx("todo add mine --agent-id a").success();
    let script = format!(
        "#!/bin/sh\nrm -f hooks/pre-receive\nenv -u GIT_QUARANTINE_PATH git update-ref refs/loopx/state {}\n",
        theirs.trim()
    );
    repo.script("hub.git/hooks/pre-receive", &script);
    assert_snapshot!(repo.loopx("sync --agent-id a"), @"
    [stderr] error: only a person may take over 1 commit of `origin`, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx sync` in a terminal of their own
    [exit 1]
    ");
    assert_snapshot!(take(&repo), @"
    1 commit of `origin`, each a legal mutation: 1 by agent:b
    Your own 1 commit will follow on top of them.
    See all of it: git log --patch refs/loopx/remote

    Type `[ID]` to take over 1 commit of `origin`: [ID]
    took over 1 commit of `origin`, put 1 commit of this clone on top, pushed 1 commit to `origin`
    ");
    assert_eq!(hub(&repo), repo.tip().trim());
}

#[test]
fn what_the_environment_says_of_an_address_counts() {
    let mut repo = synced();
    repo.git("init -q --bare ../elsewhere.git").success();
    repo.loopx("todo add one").success();
    repo.env("GIT_CONFIG_COUNT", "2");
    repo.env("GIT_CONFIG_KEY_0", "url.../elsewhere.git.insteadOf").env("GIT_CONFIG_VALUE_0", "../hub.git");
    repo.env("GIT_CONFIG_KEY_1", "loopx.remote").env("GIT_CONFIG_VALUE_1", "elsewhere");
    assert_snapshot!(repo.loopx("sync"), @"
    [stderr] error: the address of `origin` is not the one that a person let the state go to
    [stderr] hint: look at it with `git remote get-url --push --all origin`
    [stderr] hint: a person lets the state go there with `loopx remote set origin`
    [exit 1]
    ");
    assert_eq!(repo.git("-C ../elsewhere.git for-each-ref").stdout, "");
}

/// A push that fails after the take-over says so, and the next sync goes on from there.
#[test]
fn taken_over_and_not_pushed() {
    let mut repo = two();
    repo.cd("other").loopx("todo add theirs --agent-id b").success();
    repo.loopx("sync").success();
    repo.cd("repo").loopx("todo add mine --agent-id a").success();
    repo.script("hub.git/hooks/pre-receive", "#!/bin/sh\nexit 1\n");
    assert_snapshot!(take(&repo), @"
    1 commit of `origin`, each a legal mutation: 1 by agent:b
    Your own 1 commit will follow on top of them.
    See all of it: git log --patch refs/loopx/remote

    Type `[ID]` to take over 1 commit of `origin`: [ID]
    error: cannot push to `origin`: [remote rejected] (pre-receive hook declined); what it had is taken over, and nothing is lost
    hint: see whether git gets through with `git ls-remote origin`
    [exit 1]
    ");
    std::fs::remove_file(repo.path("hub.git/hooks/pre-receive")).expect("a hook");
    assert_snapshot!(repo.loopx("sync --agent-id a"), @"pushed 1 commit to `origin`");
    assert_eq!(hub(&repo), repo.tip().trim());
}

#[test]
fn a_linked_worktree_syncs_as_well() {
    let mut repo = synced();
    repo.git("worktree add -q ../linked -b side").success();
    repo.loopx("todo add one").success();
    assert_snapshot!(repo.cd("linked").scene("
        loopx sync --agent-id a
        loopx -C ../repo/.loopx sync
    "), @"
    $ loopx sync --agent-id a
    pushed 1 commit to `origin`
    $ loopx -C ../repo/.loopx sync
    `origin` has the same state already
    ");
}

#[test]
fn nothing_of_sync_stays_after_a_purge() {
    let repo = synced();
    repo.person("uninstall --purge", "purge").success();
    assert_snapshot!(repo.scene("
        git for-each-ref --format=%(refname)
        git config --get-regexp ^loopx
    "), @"
    $ git for-each-ref --format=%(refname)
    refs/heads/main
    refs/remotes/origin/main
    $ git config --get-regexp ^loopx
    [exit 1]
    ");
}

#[test]
fn of_two_notes_the_one_that_is_synced_last_stands() {
    let mut repo = two();
    repo.loopx("handoff write 'from here' --agent-id a").success();
    repo.cd("other").loopx("handoff write 'from there' --agent-id b").success();
    repo.loopx("sync").success();
    repo.cd("repo");
    take(&repo).success();
    assert_snapshot!(repo.scene("
        loopx handoff show
        git log -2 --format=%s loopx/state
        loopx verify
    "), @"
    $ loopx handoff show
    handoff of goal ship, by a, 5 s ago

        from here
    $ git log -2 --format=%s loopx/state
    hand on goal ship: from here
    hand on goal ship: from there
    $ loopx verify
    4 commits (4 new commits): each is one legal mutation, signed off
    ");
}

/// The other clone knows no such rule.
#[test]
fn no_secret_comes_in_from_elsewhere() {
    let mut repo = two();
    let value = "acme-k3j8d7s6f5a4";
    repo.loopx(&format!("todo add 'use {value}' --agent-id a")).success();
    repo.loopx("sync").success();
    repo.cd("other")
        .write("other/rules.toml", "[[rules]]\nid = \"acme-key\"\nregex = '''acme-([a-z0-9]{12})'''\n");
    repo.git("config loopx.secretRules rules.toml").success();
    let tip = repo.tip();
    let refused = take(&repo);
    assert_eq!(repo.tip(), tip);
    assert!(!refused.stderr.contains(&value[5..]), "{refused}");
    assert_snapshot!(refused, @"
    error: commit [ID] comes from elsewhere and has a secret in it: the commit has what looks like a secret in `message`, characters 27 to 38 (rule `acme-key`), so nothing was written
    hint: if it is none, a person lets it through with `loopx secret allow [ID] --reason <why>`, here or where it comes from
    hint: if it is one, make it worthless first; `loopx compact` where it comes from leaves the history behind that has it
    [exit 1]
    ");
    let shown = repo.person_raw("sync", &hub(&repo)[..10]);
    let (_, rest) = shown.stdout.split_once("secret allow ").expect("a hint");
    let digest = rest.split_whitespace().next().expect("a digest").to_owned();
    repo.person(&format!("secret allow {digest} --reason sample"), &digest[..8]).success();
    assert_snapshot!(take(&repo).success(), @"
    1 commit of `origin`, each a legal mutation: 1 by agent:a
    Your own 1 commit will follow on top of them.
    See all of it: git log --patch refs/loopx/remote

    Type `[ID]` to take over 1 commit of `origin`: [ID]
    took over 1 commit of `origin`, put 1 commit of this clone on top, pushed 1 commit to `origin`
    ");
}

#[test]
fn what_a_wrong_clock_made_is_named_with_the_way_back() {
    let mut repo = synced();
    let good = repo.tip().trim().to_owned();
    repo.env("LOOPX_NOW", "2099-01-01T00:00:00Z").loopx("todo add early").success();
    repo.clear_env();
    assert_snapshot!(repo.scene("
        loopx todo add one
        loopx todo add two
        loopx sync
        loopx doctor
    "), @r#"
    $ loopx todo add one
    added todo t-bhmh: one
    [stderr] warning: commit [ID] of the state is dated 2099-01-01T00:00:00Z, in the future, so no other clone takes it nor what follows it (run `loopx restore --to [ID]`)
    $ loopx todo add two
    added todo t-zv3z: two
    [stderr] warning: commit [ID] of the state is dated 2099-01-01T00:00:00Z, in the future, so no other clone takes it nor what follows it (run `loopx restore --to [ID]`)
    $ loopx sync
    [stderr] error: [ID] of the state here is no legal mutation: its date, 2099-01-01T00:00:00Z, lies in the future
    [stderr] hint: all is well up to the one before it; a person goes back there, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    $ loopx doctor
    commit [ID] of the state, "add todo t-f8b6: early", is no legal mutation: its date, 2099-01-01T00:00:00Z, lies in the future
      run `loopx verify`
    1 problem found
    [exit 1]
    "#);
    assert_snapshot!(repo.person(&format!("restore --to {good}"), &good[..10]), @"
    `loopx/state` is at [ID].
    lost with it, 3 commits:
      [ID] add todo t-zv3z: two, by Ann <ann@example.test>
      [ID] add todo t-bhmh: one, by Ann <ann@example.test>
      [ID] add todo t-f8b6: early, by Ann <ann@example.test>
    Each commit up to [ID] is a legal mutation.

    Type `[ID]` to restore `loopx/state` to [ID]: [ID]
    `loopx/state` is at [ID] again
    ");
    assert_snapshot!(repo.scene("
        loopx todo add one
        loopx sync
        loopx doctor
    "), @"
    $ loopx todo add one
    added todo t-53mf: one
    $ loopx sync
    pushed 1 commit to `origin`
    $ loopx doctor
    all is well
    ");
}
