//! `templates/pre-receive`: the rule of the gates on the server's side, which no option of the client's gets past.

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox};

/// A clone whose remote `hub.git` has the hook; the state was not synced yet.
fn guarded() -> Sandbox {
    let mut repo = Sandbox::with_remote();
    let folder = std::path::Path::new(LOOPX).parent().expect("a folder").display().to_string();
    repo.put_on_path(&folder);
    repo.script(
        "hub.git/hooks/pre-receive",
        &std::fs::read_to_string("templates/pre-receive").expect("the template"),
    );
    repo.person("remote set origin", "origin").success();
    repo
}

fn synced() -> Sandbox {
    let repo = guarded();
    repo.loopx("sync").success();
    repo
}

#[test]
fn the_server_holds_whatever_the_client_skips() {
    let repo = synced();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.loopx("sync --agent-id a").success();
    repo.commit("feature");
    let url = format!("file://{}", repo.path("hub.git").display());
    repo.git("-C ../hub.git config receive.unpackLimit 1").success();
    assert_snapshot!(repo.scene(&format!("
        git push -q --no-verify origin main
        git push -q --no-verify {url} main:refs/heads/side
        git -c core.hooksPath=/dev/null push -q --no-verify origin HEAD:refs/tags/v1
        git push -q --no-verify --force origin main~0:refs/heads/x
        git ls-remote origin
    ")).replace(&url, "file://[ROOT]/hub.git"), @r#"
    $ git push -q --no-verify origin main
    [stderr] remote: loopx: push refused: 1 gate stands in its way
    [stderr] remote:   ready  open  "Ready?"  asked by a, 5 s ago
    [stderr] remote: hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] remote: hint: once it is answered, `loopx sync` says so to this repository
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> main (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify file://[ROOT]/hub.git main:refs/heads/side
    [stderr] remote: loopx: push refused: 1 gate stands in its way
    [stderr] remote:   ready  open  "Ready?"  asked by a, 6 s ago
    [stderr] remote: hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] remote: hint: once it is answered, `loopx sync` says so to this repository
    [stderr] To file://[ROOT]/hub.git
    [stderr]  ! [remote rejected] main -> side (pre-receive hook declined)
    [stderr] error: failed to push some refs to 'file://[ROOT]/hub.git'
    [exit 1]
    $ git -c core.hooksPath=/dev/null push -q --no-verify origin HEAD:refs/tags/v1
    [stderr] remote: loopx: push refused: 1 gate stands in its way
    [stderr] remote:   ready  open  "Ready?"  asked by a, 7 s ago
    [stderr] remote: hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] remote: hint: once it is answered, `loopx sync` says so to this repository
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] HEAD -> v1 (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify --force origin main~0:refs/heads/x
    [stderr] remote: loopx: push refused: 1 gate stands in its way
    [stderr] remote:   ready  open  "Ready?"  asked by a, 8 s ago
    [stderr] remote: hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] remote: hint: once it is answered, `loopx sync` says so to this repository
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main~0 -> x (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git ls-remote origin
    [ID]	HEAD
    [ID]	refs/heads/main
    [ID]	refs/loopx/state
    "#);
    repo.person("gate resolve ready --decision approve", "ready").success();
    assert_snapshot!(repo.scene("
        git push -q origin main
        loopx sync
        git push -q origin main main:refs/heads/gone
        git push -q origin --delete gone
    "), @r#"
    $ git push -q origin main
    [stderr] remote: loopx: push refused: 1 gate stands in its way
    [stderr] remote:   ready  open  "Ready?"  asked by a, 11 s ago
    [stderr] remote: hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] remote: hint: once it is answered, `loopx sync` says so to this repository
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> main (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx sync
    pushed 1 commit to `origin`
    $ git push -q origin main main:refs/heads/gone
    $ git push -q origin --delete gone
    "#);
}

#[test]
fn gates_are_about_what_they_say_and_any_name_of_the_server() {
    let repo = synced();
    repo.loopx("gate open Docs? --branch main --path docs --remote backup --agent-id a").success();
    repo.loopx("sync").success();
    repo.commit("feature");
    assert_snapshot!(repo.scene("git push -q --no-verify origin main"), @"$ git push -q --no-verify origin main");
    repo.git("push -q --no-verify origin main:refs/heads/old").success();
    repo.write("repo/docs/a.md", "a");
    repo.git("add docs").success();
    repo.git("commit -q -m docs").success();
    assert_snapshot!(repo.scene("
        git push -q --no-verify origin main:refs/heads/side
        git push -q --no-verify origin main
        git push -q --no-verify origin HEAD~1:refs/heads/main
    "), @r#"
    $ git push -q --no-verify origin main:refs/heads/side
    $ git push -q --no-verify origin main
    [stderr] remote: loopx: push refused: 1 gate stands in its way
    [stderr] remote:   docs  open  "Docs?"  asked by a, 9 s ago
    [stderr] remote: hint: a person answers with `loopx gate resolve docs --decision approve` (or `reject`)
    [stderr] remote: hint: once it is answered, `loopx sync` says so to this repository
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> main (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify origin HEAD~1:refs/heads/main
    "#);
}

#[test]
fn state_comes_by_sync_and_only_forward() {
    let repo = synced();
    repo.loopx("todo add one --agent-id a").success();
    repo.loopx("sync").success();
    let file = repo.read("repo/.loopx/goals/ship/state.json");
    repo.git("tag -a t -m t loopx/state").success();
    assert_snapshot!(repo.scene("
        git push -q --no-verify origin t
        git push -q --no-verify origin loopx/state
        git push -q --no-verify origin loopx/state:refs/loopx/other
        git push -q --no-verify origin loopx/state~1:refs/tags/t
        git push -q --no-verify origin loopx/state^{tree}:refs/tags/t
        git push -q --no-verify origin :refs/loopx/state
        git push -q --no-verify --force origin loopx/state~1:refs/loopx/state
        git push -q --no-verify --force origin main:refs/loopx/state
    "), @"
    $ git push -q --no-verify origin t
    [stderr] remote: loopx: push refused: `[ID]` would take loopx's own state to `refs/tags/t`
    [stderr] remote: hint: push the branches you mean by name, such as `git push origin main`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] t -> t (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify origin loopx/state
    [stderr] remote: loopx: push refused: `[ID]` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] remote: hint: push the branches you mean by name, such as `git push origin main`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] loopx/state -> loopx/state (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify origin loopx/state:refs/loopx/other
    [stderr] remote: loopx: push refused: `[ID]` would take loopx's own state to `refs/loopx/other`
    [stderr] remote: hint: push the branches you mean by name, such as `git push origin main`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] loopx/state -> refs/loopx/other (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify origin loopx/state~1:refs/tags/t
    [stderr] remote: loopx: push refused: `[ID]` would take loopx's own state to `refs/tags/t`
    [stderr] remote: hint: push the branches you mean by name, such as `git push origin main`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] loopx/state~1 -> t (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify origin loopx/state^{tree}:refs/tags/t
    [stderr] remote: loopx: push refused: `[ID]` would take loopx's own state to `refs/tags/t`
    [stderr] remote: hint: push the branches you mean by name, such as `git push origin main`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] loopx/state^{tree} -> t (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify origin :refs/loopx/state
    [stderr] remote: loopx: push refused: `refs/loopx/state` has the gates of this repository, and is not removed by a push
    [stderr] remote: hint: whoever owns the repository removes it there, with `git update-ref -d refs/loopx/state`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] refs/loopx/state (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify --force origin loopx/state~1:refs/loopx/state
    [stderr] remote: loopx: push refused: `refs/loopx/state` only moves forward, and what was pushed does not follow what is here
    [stderr] remote: hint: fetch first, with `loopx sync`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] loopx/state~1 -> refs/loopx/state (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify --force origin main:refs/loopx/state
    [stderr] remote: loopx: push refused: `refs/loopx/state` only moves forward, and what was pushed does not follow what is here
    [stderr] remote: hint: fetch first, with `loopx sync`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> refs/loopx/state (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    repo.forge("goals/ship/state.json", &file.replace("Ship v2", "Ship v3"));
    assert_snapshot!(repo.scene("git push -q --no-verify origin loopx/state:refs/loopx/state"), @"
    $ git push -q --no-verify origin loopx/state:refs/loopx/state
    [stderr] remote: loopx: push refused: `refs/loopx/state` does not take what was pushed: [ID] is no legal mutation of the state: it has no `Signed-off-by` trailer
    [stderr] remote: hint: run `loopx verify --all` where it comes from
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] loopx/state -> refs/loopx/state (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    assert_snapshot!(repo.git_shown("-C ../hub.git for-each-ref"), @"
    [ID] commit	refs/heads/main
    [ID] commit	refs/loopx/state
    ");
}

#[test]
fn before_the_first_sync_nothing_is_known() {
    let repo = guarded();
    repo.commit("feature");
    assert_snapshot!(repo.scene("
        git push -q origin main
        git -C ../hub.git config loopx.require perhaps
        git push -q origin main
        git -C ../hub.git config loopx.require false
        git push -q origin main
        git push -q --no-verify origin loopx/state
        git push -q --no-verify origin main:refs/loopx/state
        git push -q origin main:refs/heads/gone
        git push -q origin :refs/heads/gone
    "), @"
    $ git push -q origin main
    [stderr] remote: loopx: push refused: no state was synced to this repository yet, so whether a question is open is not known
    [stderr] remote: hint: sync it first: `loopx remote set <name>` and `loopx sync`
    [stderr] remote: hint: or its owner lets pushes in until then, there, with `git config loopx.require false`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> main (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git -C ../hub.git config loopx.require perhaps
    $ git push -q origin main
    [stderr] remote: loopx: push refused: no state was synced to this repository yet, so whether a question is open is not known
    [stderr] remote: hint: sync it first: `loopx remote set <name>` and `loopx sync`
    [stderr] remote: hint: or its owner lets pushes in until then, there, with `git config loopx.require false`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> main (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git -C ../hub.git config loopx.require false
    $ git push -q origin main
    $ git push -q --no-verify origin loopx/state
    [stderr] remote: loopx: push refused: `[ID]` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] remote: hint: push the branches you mean by name, such as `git push origin main`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] loopx/state -> loopx/state (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify origin main:refs/loopx/state
    [stderr] remote: loopx: push refused: `refs/loopx/state` does not take what was pushed: [ID] is no legal mutation of the state: it has no `Signed-off-by` trailer
    [stderr] remote: hint: run `loopx verify --all` where it comes from
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> refs/loopx/state (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin main:refs/heads/gone
    $ git push -q origin :refs/heads/gone
    ");
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.commit("more");
    assert_snapshot!(repo.scene("
        loopx sync
        git push -q --no-verify origin main
    "), @r#"
    $ loopx sync
    pushed 3 commits to `origin`
    $ git push -q --no-verify origin main
    [stderr] remote: loopx: push refused: 1 gate stands in its way
    [stderr] remote:   ready  open  "Ready?"  asked by a, just now
    [stderr] remote: hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] remote: hint: once it is answered, `loopx sync` says so to this repository
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> main (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

/// The first sync and code in one push.
#[test]
fn what_is_pushed_with_the_state_is_judged_by_it() {
    let repo = guarded();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.commit("feature");
    assert_snapshot!(repo.scene("
        git push -q --no-verify origin loopx/state:refs/loopx/state main
        git ls-remote origin
    "), @r#"
    $ git push -q --no-verify origin loopx/state:refs/loopx/state main
    [stderr] remote: loopx: push refused: 1 gate stands in its way
    [stderr] remote:   ready  open  "Ready?"  asked by a, just now
    [stderr] remote: hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] remote: hint: once it is answered, `loopx sync` says so to this repository
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> main (pre-receive hook declined)
    [stderr]  ! [remote rejected] loopx/state -> refs/loopx/state (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git ls-remote origin
    [ID]	HEAD
    [ID]	refs/heads/main
    "#);
    repo.person("gate resolve ready --decision approve", "ready").success();
    assert_snapshot!(repo.scene("
        git push -q --no-verify origin loopx/state:refs/loopx/state main
        git ls-remote origin
    "), @"
    $ git push -q --no-verify origin loopx/state:refs/loopx/state main
    $ git ls-remote origin
    [ID]	HEAD
    [ID]	refs/heads/main
    [ID]	refs/loopx/state
    ");
}

#[test]
fn a_state_that_cannot_be_trusted_keeps_everything_out() {
    let repo = synced();
    repo.commit("feature");
    let file = repo.read("repo/.loopx/goals/ship/state.json");
    let kept = repo.tip();
    repo.forge("goals/ship/state.json", &file.replace("Ship v2", "Ship v3"));
    repo.git("-C ../hub.git fetch -q ../repo +loopx/state:refs/loopx/state").success();
    repo.git(&format!("update-ref refs/heads/loopx/state {}", kept.trim())).success();
    assert_snapshot!(repo.scene("git push -q origin main"), @"
    $ git push -q origin main
    [stderr] remote: loopx: push refused: whether a question is open cannot be seen
    [stderr] remote: error: [ID] is no legal mutation of the state: it has no `Signed-off-by` trailer
    [stderr] remote: hint: run `loopx verify --all` where the state comes from, and fetch it again
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> main (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    repo.write("hub.git/refs/loopx/state", "nonsense\n");
    repo.git("-C ../hub.git config loopx.require false").success();
    let told = repo.scene("git push -q --no-verify origin main");
    // Git's own words for it come from two programs at the same time.
    let told: Vec<_> = told.lines().filter(|line| !line.contains("bad object")).collect();
    assert_snapshot!(told.join("\n"), @"
    $ git push -q --no-verify origin main
    [stderr] remote: loopx: push refused: whether a question is open cannot be seen
    [stderr] remote: error: the state branch cannot be read: `refs/loopx/state` is no ref that git could read
    [stderr] remote: hint: run `git fsck --full`: it names what is missing or damaged, to be fetched from a backup
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> main (missing necessary objects)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn the_folder_in_a_commit_is_no_more_welcome_than_the_state() {
    let repo = synced();
    repo.git("add -f .loopx/loopx.toml").success();
    repo.write("repo/x/.loopx/loopx.toml", &repo.read("repo/.loopx/loopx.toml"));
    repo.git("add -f x").success();
    repo.git("mv x/.loopx x/loopx").success();
    repo.git("commit -q -m harmless").success();
    let tree = repo.feed(
        "git",
        &["mktree"],
        &format!("040000 tree {}\t.loopx\n", repo.git("rev-parse HEAD:x/loopx").stdout.trim()),
    );
    let commit = repo.git(&format!("commit-tree -m folder -p HEAD {}", tree.stdout.trim())).stdout;
    repo.git(&format!("branch oops {}", commit.trim())).success();
    assert_snapshot!(repo.scene("
        git push -q --no-verify origin main
        git push -q --no-verify origin oops
    "), @"
    $ git push -q --no-verify origin main
    $ git push -q --no-verify origin oops
    [stderr] remote: loopx: push refused: `[ID]` has a commit with the folder `.loopx` in it, which would go to `refs/heads/oops`
    [stderr] remote: hint: take it out with `git rm -r --cached .loopx` and `git commit --amend`, or with `git rebase -i`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] oops -> oops (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn other_formats_of_ids_and_refs() {
    for flags in ["--object-format=sha256", "--ref-format=reftable"] {
        if Sandbox::empty().git(&format!("init -q {flags} probe")).code != 0 {
            // This git is too old for it.
            continue;
        }
        let mut repo = Sandbox::with_init_flags(flags);
        let folder = std::path::Path::new(LOOPX).parent().expect("a folder").display().to_string();
        repo.put_on_path(&folder);
        repo.loopx("init --goal-text 'Ship v2' --goal-id ship").success();
        repo.git(&format!("init -q --bare {flags} ../hub.git")).success();
        repo.git("remote add origin ../hub.git").success();
        let hook = std::fs::read_to_string("templates/pre-receive").expect("the template");
        repo.script("hub.git/hooks/pre-receive", &hook);
        repo.person("remote set origin", "origin").success();
        repo.loopx("gate open Ready? --agent-id a").success();
        repo.loopx("sync --agent-id a").success();
        let held = repo.git("push -q --no-verify origin main");
        assert!(held.stderr.contains("1 gate stands in its way"), "{flags}: {held}");
        // Without a branch there, older gits do not clone the format of ids.
        repo.git(&format!("init -q {flags} ../other")).success();
        repo.git("-C ../other remote add origin ../hub.git").success();
        repo.cd("other").loopx("init").success();
        repo.person("remote set origin", "origin").success();
        let there = repo.git("-C ../hub.git rev-parse refs/loopx/state").stdout;
        repo.person("sync", &there[..10]).success();
        repo.person("gate resolve ready --decision approve", "ready").success();
        repo.loopx("sync").success();
        repo.cd("repo").loopx("todo add mine --agent-id a").success();
        let there = repo.git("-C ../hub.git rev-parse refs/loopx/state").stdout;
        repo.person("sync", &there[..10]).success();
        repo.git("push -q --no-verify origin main").success();
        assert_eq!(repo.loopx("verify --all").code, 0, "{flags}");
    }
}

#[test]
fn without_the_program_nothing_gets_in() {
    let mut repo = synced();
    repo.clear_env();
    repo.commit("feature");
    assert_snapshot!(repo.scene("git push -q --no-verify origin main"), @"
    $ git push -q --no-verify origin main
    [stderr] remote: loopx: push refused: the program loopx is not on this server, so nobody knows whether a question is open
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> main (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn what_was_verified_is_not_verified_again() {
    let repo = synced();
    repo.commit("feature");
    repo.git("push -q origin main").success();
    assert!(repo.read("hub.git/loopx/verified").starts_with(repo.tip().trim()));
    assert_eq!(crate::sandbox::files(&repo.path("hub.git/loopx")), ["verified"]);
}

#[test]
fn a_long_history_comes_in_at_once() {
    let repo = synced();
    // More than are read before what was read is let go.
    for number in 0..260 {
        repo.loopx(&format!("evidence add --text number-{number} --agent-id a")).success();
    }
    repo.loopx("sync").success();
    let there = repo.git("-C ../hub.git rev-parse refs/loopx/state").success().stdout;
    assert_eq!(there, repo.tip());
}

#[test]
fn it_is_not_for_terminals() {
    let repo = Sandbox::plain();
    assert_snapshot!(repo.person("hook pre-receive", ""), @"
    error: git calls this on a server and sends refs on standard input; it is not for terminals
    hint: put `templates/pre-receive` into the `hooks` folder of the repository
    [exit 2]
    ");
    assert_snapshot!(repo.loopx("hook pre-receive"), @"");
}

/// A server that knows no state and takes pushes with a receipt only, and the key of `ann` beside the clone.
pub(crate) fn by_receipt() -> Sandbox {
    let repo = guarded();
    repo.git("-C ../hub.git config receive.advertisePushOptions true").success();
    let key = repo.path("ann").display().to_string();
    repo.feed("ssh-keygen", &["-q", "-t", "ed25519", "-C", "ann", "-N", "", "-f", &key], "").success();
    repo.write("hub.git/signers", &format!("ann namespaces=\"loopx-gate\" {}", repo.read("ann.pub")));
    repo.git("-C ../hub.git config loopx.approvers signers").success();
    let policy = repo.read("repo/.loopx/loopx.toml");
    let id =
        policy.lines().find_map(|line| line.strip_prefix("repository = ")).expect("an id").trim_matches('"');
    repo.git(&format!("-C ../hub.git config loopx.repository {id}")).success();
    repo.git("config loopx.approvalKey ../ann").success();
    repo
}

#[test]
fn a_receipt_lets_one_push_in() {
    let repo = by_receipt();
    let first = repo.git("rev-parse HEAD").stdout.trim()[..10].to_owned();
    repo.loopx("gate open Ready? --agent-id a").success();
    assert_snapshot!(repo.scene("
        git push -q --no-verify origin main:refs/heads/side
        loopx guard receipt origin main
        loopx guard receipt origin main --agent-id a
        loopx guard receipt origin HEAD
        loopx guard receipt origin nowhere
    "), @r#"
    $ git push -q --no-verify origin main:refs/heads/side
    [stderr] remote: loopx: push refused: nothing says that a person let this push go: pushes to this repository need a receipt
    [stderr] remote: hint: where it comes from: `loopx guard receipt <remote> <branch>` has a person sign one, and says how to push with it
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> side (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx guard receipt origin main
    loopx: push refused: 1 gate stands in its way
      ready  open  "Ready?"  asked by a, just now
    hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [exit 10]
    $ loopx guard receipt origin main --agent-id a
    loopx: push refused: 1 gate stands in its way
      ready  open  "Ready?"  asked by a, just now
    hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [exit 10]
    $ loopx guard receipt origin HEAD
    loopx: push refused: 1 gate stands in its way
      ready  open  "Ready?"  asked by a, just now
    hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [exit 10]
    $ loopx guard receipt origin nowhere
    [stderr] error: `nowhere` names no commit of this repository
    [stderr] hint: run `git log --oneline` for commits that exist
    [exit 1]
    "#);
    repo.person("gate resolve ready --decision approve", "ready").success();
    assert_snapshot!(repo.loopx("guard receipt origin main"), @"
    [stderr] error: only a person at a terminal may sign for a push, and there is none
    [stderr] hint: run `loopx guard receipt origin main` in a terminal
    [exit 1]
    ");
    assert_snapshot!(repo.person("guard receipt origin main", "nonsense"), @"
    To `origin`:
      [ID] refs/heads/main (now at [ID])  base

    Type `[ID]` to sign for a push: nonsense
    error: that was not `[ID]`, so nothing was changed
    hint: run `loopx guard receipt origin main` again
    [exit 1]
    ");
    repo.git("config --unset loopx.approvalKey").success();
    assert_snapshot!(repo.person("guard receipt origin main", &first), @"
    error: a receipt is signed, and no key is named
    hint: add `--sign-with <key file>`, or run `git config loopx.approvalKey <key file>`
    [exit 2]
    ");
    repo.git("config loopx.approvalKey ../ann").success();
    let said = repo.person_raw("guard receipt origin main:side --json", &first).success().stdout;
    let said: serde_json::Value = serde_json::from_str(&said[said.find('{').expect("JSON")..]).expect("JSON");
    let option = said["option"].as_str().expect("an option");
    let command = said["command"].as_str().expect("a command").strip_prefix("git ").expect("git");
    repo.git("tag v1").success();
    let other = repo.git("-C ../hub.git commit-tree -m other main^{tree}").success().stdout;
    repo.git(&format!("-C ../hub.git update-ref refs/heads/base {}", other.trim())).success();
    let id = repo.git("rev-parse HEAD").stdout;
    let id = id.trim();
    repo.commit("more");
    let blank = option.split_once('=').expect("a value").1.rsplit_once(',').expect("fields").0;
    let short = |told: String| {
        told.replace(option, "[OPTION]").replace(blank, "[TIME AND NONCE]").replace(id, "[ID]")
    };
    // Another ref, another commit, one ref more, a signature by nobody, and then what was signed.
    assert_snapshot!(short(repo.scene(&format!("
        git push -q -o {option} origin v1:refs/heads/other
        git push -q -o {option} origin main:refs/heads/side
        git push -q -o {option} origin v1:refs/heads/side v1:refs/heads/extra
        git push -q -o loopx-receipt={blank},AAAA origin v1:refs/heads/side
        git push -q -o loopx-receipt=nonsense origin v1:refs/heads/side
        git {command}
        git -C ../hub.git update-ref refs/heads/side refs/heads/base
        git push -q -f -o {option} origin v1:refs/heads/side
        git push -q origin :refs/heads/side
    "))), @"
    $ git push -q -o [OPTION] origin v1:refs/heads/other
    [stderr] remote: loopx: push refused: the receipt was not signed for this push, of `refs/heads/other` to [ID], by somebody who may
    [stderr] remote: hint: where it comes from: `loopx guard receipt <remote> <branch>` has a person sign one, and says how to push with it
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] v1 -> other (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q -o [OPTION] origin main:refs/heads/side
    [stderr] remote: loopx: push refused: the receipt was not signed for this push, of `refs/heads/side` to [ID], by somebody who may
    [stderr] remote: hint: where it comes from: `loopx guard receipt <remote> <branch>` has a person sign one, and says how to push with it
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> side (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q -o [OPTION] origin v1:refs/heads/side v1:refs/heads/extra
    [stderr] remote: loopx: push refused: the receipt was not signed for this push, of `refs/heads/side` to [ID] and `refs/heads/extra` to [ID], by somebody who may
    [stderr] remote: hint: where it comes from: `loopx guard receipt <remote> <branch>` has a person sign one, and says how to push with it
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] v1 -> side (pre-receive hook declined)
    [stderr]  ! [remote rejected] v1 -> extra (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q -o loopx-receipt=[TIME AND NONCE],AAAA origin v1:refs/heads/side
    [stderr] remote: loopx: push refused: the receipt was not signed for this push, of `refs/heads/side` to [ID], by somebody who may
    [stderr] remote: hint: where it comes from: `loopx guard receipt <remote> <branch>` has a person sign one, and says how to push with it
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] v1 -> side (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q -o loopx-receipt=nonsense origin v1:refs/heads/side
    [stderr] remote: loopx: push refused: `nonsense` is not a receipt (expected `<time>,<nonce>,<signature>`)
    [stderr] remote: hint: where it comes from: `loopx guard receipt <remote> <branch>` has a person sign one, and says how to push with it
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] v1 -> side (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -o [OPTION] origin [ID]:refs/heads/side
    [stderr] To ../hub.git
    [stderr]  * [new branch]      [ID] -> side
    $ git -C ../hub.git update-ref refs/heads/side refs/heads/base
    $ git push -q -f -o [OPTION] origin v1:refs/heads/side
    [stderr] remote: loopx: push refused: the receipt was not signed for this push, of `refs/heads/side` to [ID], by somebody who may
    [stderr] remote: hint: where it comes from: `loopx guard receipt <remote> <branch>` has a person sign one, and says how to push with it
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] v1 -> side (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin :refs/heads/side
    ");
}

#[test]
fn a_receipt_of_somebody_else_lets_nothing_in() {
    let repo = by_receipt();
    let first = repo.git("rev-parse HEAD").stdout.trim()[..10].to_owned();
    let said = repo.person_raw("guard receipt origin main:side --json", &first).success().stdout;
    let said: serde_json::Value = serde_json::from_str(&said[said.find('{').expect("JSON")..]).expect("JSON");
    let option = said["option"].as_str().expect("an option").to_owned();
    let push = format!("push -q -o {option} origin main:refs/heads/side");
    let said_of = |what: &str, change: &dyn Fn(), back: &dyn Fn()| {
        change();
        let said = repo.git(&push);
        back();
        assert_ne!(said.code, 0, "{what}");
        let says = |line: &&str| line.contains("error:") || line.contains("refused: the");
        let said = said.stderr.lines().find(says).expect("a line").to_owned();
        format!("{what}: {}\n", said.trim_start_matches("remote: ").trim_end())
    };
    let key = repo.read("ann.pub");
    let signers = |line: String| repo.write("hub.git/signers", &line);
    let listed = || signers(format!("ann namespaces=\"loopx-gate\" {key}"));
    let set =
        |key: &str, value: &str| drop(repo.git(&format!("-C ../hub.git config {key} {value}")).success());
    let config = repo.read("hub.git/config");
    let id =
        config.lines().find_map(|line| line.trim().strip_prefix("repository = ")).expect("an id").to_owned();
    let mut told = String::new();
    told += &said_of("nobody is listed", &|| signers(String::new()), &listed);
    told += &said_of("for commits only", &|| signers(format!("ann namespaces=\"git\" {key}")), &listed);
    told += &said_of("expired", &|| signers(format!("ann valid-before=\"20200101\" {key}")), &listed);
    told += &said_of("another repository", &|| set("loopx.repository", &"0".repeat(32)), &|| {
        set("loopx.repository", &id)
    });
    told += &said_of("no repository", &|| set("loopx.repository", "x"), &|| set("loopx.repository", &id));
    told += &said_of("no file", &|| set("loopx.approvers", "nowhere"), &|| set("loopx.approvers", "signers"));
    repo.sleep(3700);
    told += &said_of("an hour later", &|| (), &|| ());
    let root = repo.path("hub.git").display().to_string();
    assert_snapshot!(told.replace(&root, "[HUB]"), @"
    nobody is listed: loopx: push refused: the receipt was not signed for this push, of `refs/heads/side` to 6c61d44e62, by somebody who may
    for commits only: loopx: push refused: the receipt was not signed for this push, of `refs/heads/side` to 6c61d44e62, by somebody who may
    expired: loopx: push refused: the receipt was not signed for this push, of `refs/heads/side` to 6c61d44e62, by somebody who may
    another repository: loopx: push refused: the receipt was not signed for this push, of `refs/heads/side` to 6c61d44e62, by somebody who may
    no repository: error: `loopx.approvers` is set here and `loopx.repository` names no state
    no file: error: cannot read `[HUB]/nowhere`: No such file or directory (os error 2)
    an hour later: loopx: push refused: the receipt was signed at 2026-11-30T12:00:15Z, which is more than an hour ago
    ");
}

/// A secret in a state and files that nobody checked are kept out like anything else.
#[test]
fn the_server_asks_for_the_receipt_of_a_check_and_for_no_secrets() {
    let repo = synced();
    repo.loopx("policy set receipt=required --agent-id a").success();
    repo.loopx("sync").success();
    repo.commit("feature");
    assert_snapshot!(repo.scene("git push -q --no-verify origin main"), @"
    $ git push -q --no-verify origin main
    [stderr] remote: loopx: push refused: nothing shows that `refs/heads/main` was checked (tree [ID])
    [stderr] remote: hint: check exactly these files with `loopx evidence run --receipt -- <command>`
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main -> main (pre-receive hook declined)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    repo.loopx("evidence run --receipt --agent-id a -- true").success();
    repo.loopx("sync").success();
    repo.git("push -q --no-verify origin main").success();
    repo.git("-C ../hub.git config loopx.refuseHomePaths true").success();
    repo.loopx("todo add 'look at /home/ann/x' --agent-id a").success();
    assert_snapshot!(repo.scene("loopx sync"), @"
    $ loopx sync
    [stderr] error: cannot push to `origin`: loopx: push refused: commit [ID] comes from elsewhere and has a secret in it: the commit has what looks like a secret in `message`, characters 26 to 34 (rule `home-path`), so nothing was written; hint: if it is none, a person lets it through with `loopx secret allow [ID] --reason <why>`, here or where it comes from; hint: if it is one, make it worthless first; `loopx compact` where it comes from leaves the history behind that has …
    [stderr] hint: see whether git gets through with `git ls-remote origin`
    [exit 1]
    ");
}
