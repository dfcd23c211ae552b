//! The hook in git's way, beside whatever hook the user has.

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, SMALL, Sandbox};

/// A hook of the user's that says what it was given.
const MINE: &str = "#!/bin/sh\n# mine\necho \"mine: $1 $2\" >&2\ncat >\"$HOME/refs\"\nexit 3\n";

#[test]
fn a_hook_of_the_users_keeps_its_arguments_its_input_and_its_answer() {
    let repo = Sandbox::plain();
    repo.git("init -q --bare ../hub.git").success();
    repo.git("remote add origin ../hub.git").success();
    repo.script("repo/.git/hooks/pre-push", MINE);
    assert_snapshot!(repo.scene("
        loopx init --goal-text Ship
        loopx init
        git push -q origin main
    "), @"
    $ loopx init --goal-text Ship
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: added to [ROOT]/repo/.git/hooks/pre-push
    added goal ship
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ git push -q origin main
    [stderr] mine: origin ../hub.git
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    assert_snapshot!(repo.read("home/refs").replace(repo.git("rev-parse main").stdout.trim(), "[ID]"), @"refs/heads/main [ID] refs/heads/main 0000000000000000000000000000000000000000");
    let hook = repo.read("repo/.git/hooks/pre-push");
    let (head, tail) = MINE.split_at("#!/bin/sh\n".len());
    assert!(hook.starts_with(head) && hook.ends_with(tail), "{hook}");
    assert_eq!(repo.feed(".git/hooks/pre-push", &["origin", "../hub.git"], "").code, 3);
}

#[test]
fn a_gate_refuses_before_the_users_hook_is_asked() {
    let repo = Sandbox::with_remote();
    let hook = repo.read("repo/.git/hooks/pre-push");
    repo.script("repo/.git/hooks/pre-push", &format!("{hook}exit 3\n"));
    repo.commit("feature");
    repo.loopx("gate open Ready? --agent-id a").success();
    assert_snapshot!(repo.scene("
        git push -q origin main
        loopx hooks status
    "), @r#"
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx hooks status
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    "#);
}

#[test]
fn five_thousand_refs_reach_both_hooks() {
    let repo = Sandbox::ready();
    let hook = repo.read("repo/.git/hooks/pre-push");
    repo.script("repo/.git/hooks/pre-push", &format!("{hook}cat >\"$HOME/refs\"\n"));
    let head = repo.git("rev-parse HEAD").stdout;
    let refs: String = (0..5_000)
        .map(|n| format!("refs/heads/b{n} {} refs/heads/b{n} {}\n", head.trim(), "0".repeat(40)))
        .collect();
    repo.feed(".git/hooks/pre-push", &["origin", "../hub.git"], &refs).success();
    assert_eq!(repo.read("home/refs"), refs);
}

#[test]
fn what_a_user_writes_around_the_section_stays() {
    let repo = Sandbox::ready();
    let hook = repo.read("repo/.git/hooks/pre-push");
    let edited = format!("{hook}echo mine >&2\n");
    repo.script("repo/.git/hooks/pre-push", &edited);
    assert_snapshot!(repo.scene("
        loopx hooks install
        loopx init
        loopx hooks status
    "), @"
    $ loopx hooks install
    pushes are guarded: renewed in [ROOT]/repo/.git/hooks/pre-push
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ loopx hooks status
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    ");
    // Ours alone ends the shell; with theirs behind it, the shell goes on.
    let now = repo.read("repo/.git/hooks/pre-push");
    assert!(edited.contains("\nexec \"$loopx_program\"") && !now.contains("\nexec \"$loopx_program\""));
    assert!(
        now.starts_with("#!/bin/sh\n# made by loopx") && now.ends_with("# <<< loopx <<<\necho mine >&2\n")
    );
}

#[test]
fn a_hook_in_another_language_is_left_alone_and_said_loudly() {
    let repo = Sandbox::plain();
    let python = "#!/usr/bin/env python3\nprint('mine')\n";
    repo.script("repo/.git/hooks/pre-push", python);
    assert_snapshot!(repo.scene("
        loopx init
        loopx hooks install
        loopx hooks status
        loopx status
    "), @r#"
    $ loopx init
    began the state on branch `loopx/state`, to be read in `.loopx/`
    PUSHES ARE NOT GUARDED: the hook there does not call loopx (see `loopx hooks install`)
    next: loopx goal add "<objective>"
    $ loopx hooks install
    [stderr] error: the hook was not installed: `[ROOT]/repo/.git/hooks/pre-push` is there already and is no shell script
    [stderr] hint: use git 2.54 or newer, which runs loopx beside it, or call it from a shell script
    [exit 1]
    $ loopx hooks status
    PUSHES ARE NOT GUARDED: the hook there does not call loopx (see `loopx hooks install`)
    [exit 1]
    $ loopx status
    PUSHES ARE NOT GUARDED: the hook there does not call loopx (see `loopx hooks install`)
    0 goals
    0 todos open
    next: loopx goal add "<objective>"
    "#);
    assert_eq!(repo.read("repo/.git/hooks/pre-push"), python);
}

#[test]
fn a_program_as_hook_is_left_alone() {
    let repo = Sandbox::plain();
    std::fs::copy("/bin/true", repo.path("repo/.git/hooks/pre-push")).expect("a program");
    assert_snapshot!(repo.scene("
        loopx init
        loopx hooks install
    "), @r#"
    $ loopx init
    began the state on branch `loopx/state`, to be read in `.loopx/`
    PUSHES ARE NOT GUARDED: the hook there does not call loopx (see `loopx hooks install`)
    next: loopx goal add "<objective>"
    $ loopx hooks install
    [stderr] error: the hook was not installed: `[ROOT]/repo/.git/hooks/pre-push` is a program and not a script
    [stderr] hint: use git 2.54 or newer, which runs loopx beside it, or call it from a shell script
    [exit 1]
    "#);
}

#[test]
fn a_hook_that_is_a_link_is_left_alone() {
    let repo = Sandbox::plain();
    repo.script("repo/tools/pre-push", "#!/bin/sh\nexit 0\n");
    repo.git("add tools").success();
    repo.git("commit -q -m tools").success();
    std::os::unix::fs::symlink("../../tools/pre-push", repo.path("repo/.git/hooks/pre-push"))
        .expect("a link");
    assert_snapshot!(repo.scene("
        loopx init
        loopx hooks install
        loopx status
        git status --porcelain
    "), @r#"
    $ loopx init
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: put before the link at [ROOT]/repo/.git/hooks/pre-push
    next: loopx goal add "<objective>"
    $ loopx hooks install
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ loopx status
    0 goals
    0 todos open
    pushes are guarded
    next: loopx goal add "<objective>"
    $ git status --porcelain
    "#);
}

#[test]
fn a_hook_that_the_user_switched_off_is_not_switched_on() {
    let repo = Sandbox::plain();
    repo.write("repo/.git/hooks/pre-push", MINE);
    assert_snapshot!(repo.scene("
        loopx init
        loopx hooks install
    "), @r#"
    $ loopx init
    began the state on branch `loopx/state`, to be read in `.loopx/`
    PUSHES ARE NOT GUARDED: the hook is not executable, so git skips it (see `loopx hooks install`)
    next: loopx goal add "<objective>"
    $ loopx hooks install
    [stderr] error: the hook was not installed: another one is there that somebody switched off
    [stderr] hint: switch it on with `chmod +x '[ROOT]/repo/.git/hooks/pre-push'` or move it away, and run `loopx hooks install` again
    [exit 1]
    "#);
    assert_eq!(repo.read("repo/.git/hooks/pre-push"), MINE);
}

#[test]
fn a_strict_shell_and_odd_refs_change_nothing() {
    let repo = Sandbox::plain();
    repo.script("repo/.git/hooks/pre-push", "#!/bin/bash -eu\ncat >\"$HOME/refs\"\n");
    repo.loopx("init").success();
    let head = repo.git("rev-parse HEAD").stdout;
    let refs =
        format!("a\\b $(touch x)`touch x`'\"$HOME {head} refs/heads/$(touch${{IFS}}x) {}", "0".repeat(40));
    let refs = format!("{}\n", refs.replace('\n', ""));
    repo.feed(".git/hooks/pre-push", &["origin", "../hub.git"], &refs).success();
    assert_eq!(repo.read("home/refs"), refs);
    assert!(!repo.path("repo/x").exists());
}

#[test]
fn each_worktree_is_asked_for_itself() {
    let mut repo = Sandbox::ready();
    repo.git("config extensions.worktreeConfig true").success();
    repo.git("worktree add -q ../linked -b side").success();
    repo.git("-C ../linked config --worktree core.hooksPath /dev/null").success();
    assert_snapshot!(repo.scene("
        loopx hooks status
        loopx -C ../linked hooks status
    "), @"
    $ loopx hooks status
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    PUSHES FROM `[ROOT]/linked` ARE NOT GUARDED: `core.hooksPath` is `/dev/null`, which is no folder (run `loopx hooks install` there)
    $ loopx -C ../linked hooks status
    PUSHES ARE NOT GUARDED: `core.hooksPath` is `/dev/null`, which is no folder (see `loopx hooks install`)
    [exit 1]
    ");
    for (name, value) in [("COUNT", "1"), ("KEY_0", "core.hooksPath"), ("VALUE_0", "/nowhere")] {
        repo.env(&format!("GIT_CONFIG_{name}"), value);
    }
    assert_snapshot!(repo.loopx("hooks status"), @"
    PUSHES ARE NOT GUARDED: `core.hooksPath` is `/nowhere`, which does not exist (see `loopx hooks install`)
    PUSHES FROM `[ROOT]/linked` ARE NOT GUARDED: `core.hooksPath` is `/nowhere`, which does not exist (run `loopx hooks install` there)
    [exit 1]
    ");
}

#[test]
fn a_folder_of_hooks_for_all_repositories_is_not_written_to() {
    let repo = Sandbox::plain();
    std::fs::create_dir(repo.path("home/hooks")).expect("a folder");
    repo.git("config --global core.hooksPath ~/hooks").success();
    assert_snapshot!(repo.scene("
        loopx init
        loopx hooks install
        loopx status
        git config --local core.hooksPath
    "), @r#"
    $ loopx init
    began the state on branch `loopx/state`, to be read in `.loopx/`
    PUSHES ARE NOT GUARDED: `core.hooksPath` is `~/hooks`, a folder outside of this repository, which other repositories may share (see `loopx hooks install`)
    next: loopx goal add "<objective>"
    $ loopx hooks install
    [stderr] error: the hook was not installed: `core.hooksPath` is `~/hooks`, a folder outside of this repository, which other repositories may share
    [stderr] hint: put what `loopx hooks install --print` prints behind the first line of the shell script that git runs before a push
    [exit 1]
    $ loopx status
    PUSHES ARE NOT GUARDED: `core.hooksPath` is `~/hooks`, a folder outside of this repository, which other repositories may share (see `loopx hooks install`)
    0 goals
    0 todos open
    next: loopx goal add "<objective>"
    $ git config --local core.hooksPath
    [exit 1]
    "#);
    assert!(std::fs::read_dir(repo.path("home/hooks")).expect("the folder").next().is_none());
}

#[test]
fn a_hook_for_all_repositories_asks_where_loopx_is() {
    let mut repo = Sandbox::with_remote();
    let lines = repo.loopx("hooks install --print").success().stdout;
    let theirs = "cat > \"$(git rev-parse --show-toplevel)/../sent\"\n";
    repo.script("home/hooks/pre-push", &format!("#!/bin/sh\n{lines}{theirs}"));
    repo.git("config --global core.hooksPath ~/hooks").success();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.commit("feature");
    assert_snapshot!(repo.scene("
        loopx hooks status
        loopx hooks install
        git push -q origin main
    "), @r#"
    $ loopx hooks status
    pushes are guarded by [ROOT]/home/hooks/pre-push
    $ loopx hooks install
    pushes are guarded by [ROOT]/home/hooks/pre-push
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
    assert!(!repo.path("sent").exists());
    repo.git("clone -q ../hub.git ../plain").success();
    repo.cd("plain").commit("elsewhere");
    repo.git("push -q origin main:elsewhere").success();
    assert!(repo.read("sent").starts_with("refs/heads/main "), "their lines get what git sent");
    repo.cd("repo").person("gate resolve ready --decision approve", "ready").success();
    repo.git("push -q origin main").success();
    assert!(repo.read("sent").ends_with(&format!("{}\n", repo.git("rev-parse origin/main~1").stdout.trim())));
    assert_snapshot!(repo.person("hooks uninstall", "unguarded"), @r"
    0 gates in force

    Type `unguarded` to take the hook away, so that pushes are not kept back any more: unguarded
    warning: `[ROOT]/home/hooks/pre-push`, which other repositories may share, still asks loopx: take its lines out by hand if nobody needs them
    pushes are not kept back any more
      taken out of [ROOT]/repo/.git/config
      taken out of [ROOT]/repo/.git/hooks/pre-push
      taken out of [ROOT]/repo/.git/hooks/pre-commit
    ");
    assert!(repo.read("home/hooks/pre-push").contains(&lines));
}

#[test]
fn a_hook_elsewhere_that_calls_loopx_guards_as_well() {
    let repo = Sandbox::with_remote();
    let hook = repo.read("repo/.git/hooks/pre-push");
    repo.script("home/hooks/pre-push", &hook);
    repo.git("config --global core.hooksPath ~/hooks").success();
    assert_snapshot!(repo.loopx("hooks status"), @"pushes are guarded by [ROOT]/home/hooks/pre-push");
}

#[test]
fn a_line_of_the_users_own_in_such_a_hook_guards_as_well() {
    let mut repo = Sandbox::with_remote();
    repo.script("home/hooks/pre-push", "#!/bin/sh\nloopx hook pre-push \"$@\" || exit 1\necho mine >&2\n");
    repo.git("config --global core.hooksPath ~/hooks").success();
    let bin = std::path::Path::new(LOOPX).parent().expect("a folder").display().to_string();
    repo.env("PATH", &format!("{bin}:/usr/bin:/bin"));
    repo.commit("feature");
    repo.git("push -q origin main").success();
    repo.loopx("gate open Ready? --agent-id a").success();
    assert_snapshot!(repo.scene("
        loopx hooks status
        git push -q origin main:refs/heads/other
    "), @r#"
    $ loopx hooks status
    pushes are guarded by [ROOT]/home/hooks/pre-push
    $ git push -q origin main:refs/heads/other
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn hooks_that_git_will_not_find_are_said() {
    let repo = Sandbox::ready();
    let status = |path: &str| {
        repo.git(&format!("config core.hooksPath '{path}'")).success();
        repo.scene("loopx hooks status\nloopx init")
    };
    assert_snapshot!(status("/nowhere/hooks"), @"
    $ loopx hooks status
    PUSHES ARE NOT GUARDED: `core.hooksPath` is `/nowhere/hooks`, which does not exist (see `loopx hooks install`)
    [exit 1]
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    PUSHES ARE NOT GUARDED: `core.hooksPath` is `/nowhere/hooks`, which does not exist (see `loopx hooks install`)
    ");
    assert_snapshot!(status(""), @"
    $ loopx hooks status
    PUSHES ARE NOT GUARDED: `core.hooksPath` is set to nothing, so git runs no hook (see `loopx hooks install`)
    [exit 1]
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    PUSHES ARE NOT GUARDED: `core.hooksPath` is set to nothing, so git runs no hook (see `loopx hooks install`)
    ");
    assert_snapshot!(status("/dev/null"), @"
    $ loopx hooks status
    PUSHES ARE NOT GUARDED: `core.hooksPath` is `/dev/null`, which is no folder (see `loopx hooks install`)
    [exit 1]
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    PUSHES ARE NOT GUARDED: `core.hooksPath` is `/dev/null`, which is no folder (see `loopx hooks install`)
    ");
    assert_snapshot!(status(".git/hooks"), @"
    $ loopx hooks status
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    ");
}

#[test]
fn a_hook_that_git_would_skip_is_said_and_mended() {
    let repo = Sandbox::ready();
    let hook = repo.path("repo/.git/hooks/pre-push");
    let text = std::fs::read_to_string(&hook).expect("the hook");
    std::fs::remove_file(&hook).expect("the hook");
    repo.write("repo/.git/hooks/pre-push", &text);
    assert_snapshot!(repo.scene("
        loopx status
        loopx hooks install
    "), @"
    $ loopx status
    PUSHES ARE NOT GUARDED: the hook is not executable, so git skips it (see `loopx hooks install`)
    1 goal
      ship  active  0/48 slots  Ship v2
    0 todos open
    $ loopx hooks install
    pushes are guarded: renewed in [ROOT]/repo/.git/hooks/pre-push
    ");
    repo.script("repo/.git/hooks/pre-push", &text.replace('\n', "\r\n"));
    assert_snapshot!(repo.scene("
        loopx hooks status
        loopx hooks install
    "), @"
    $ loopx hooks status
    PUSHES ARE NOT GUARDED: the hook has line ends of Windows, so it does not run (see `loopx hooks install`)
    [exit 1]
    $ loopx hooks install
    pushes are guarded: renewed in [ROOT]/repo/.git/hooks/pre-push
    ");
}

#[test]
fn a_section_that_somebody_took_the_teeth_out_of_is_said_and_renewed() {
    let repo = Sandbox::ready();
    let hook = repo.read("repo/.git/hooks/pre-push");
    let weak = hook.replace("exec \"$loopx_program\"", "\"$loopx_program\"");
    assert_ne!(weak, hook);
    repo.script("repo/.git/hooks/pre-push", &weak);
    assert_snapshot!(repo.scene("
        loopx hooks status
        loopx hooks install
    "), @"
    $ loopx hooks status
    PUSHES ARE NOT GUARDED: loopx's part of the hook was changed (see `loopx hooks install`)
    [exit 1]
    $ loopx hooks install
    pushes are guarded: renewed in [ROOT]/repo/.git/hooks/pre-push
    ");
    assert_eq!(repo.read("repo/.git/hooks/pre-push"), hook);
    repo.script("repo/.git/hooks/pre-push", &format!("{hook}echo mine >&2\n"));
    repo.loopx("hooks install").success();
    let mixed = repo.read("repo/.git/hooks/pre-push");
    let weak = mixed.replace("|| exit 1", "|| true");
    assert_ne!(weak, mixed);
    repo.script("repo/.git/hooks/pre-push", &weak);
    assert_eq!(repo.loopx("hooks status").code, 1);
    repo.loopx("hooks install").success();
    assert_eq!(repo.read("repo/.git/hooks/pre-push"), mixed);
}

#[test]
fn a_line_that_ends_the_hook_before_the_section_is_said() {
    let repo = Sandbox::ready();
    let hook = repo.read("repo/.git/hooks/pre-push").replace("#!/bin/sh\n", "#!/bin/sh\nexit 0\n");
    repo.script("repo/.git/hooks/pre-push", &hook);
    assert_snapshot!(repo.scene("
        loopx hooks status
        loopx hooks install
    "), @"
    $ loopx hooks status
    PUSHES ARE NOT GUARDED: something stands before loopx's part of the hook and may end it early (see `loopx hooks install`)
    [exit 1]
    $ loopx hooks install
    [stderr] error: the hook is in place, but pushes are still not guarded: something stands before loopx's part of the hook and may end it early
    [stderr] hint: look at `[ROOT]/repo/.git/hooks/pre-push`
    [exit 1]
    ");
}

#[test]
fn a_repository_without_a_folder_for_hooks_gets_one() {
    let repo = Sandbox::plain();
    std::fs::remove_dir_all(repo.path("repo/.git/hooks")).expect("the folder");
    assert_snapshot!(repo.loopx("init"), @r#"
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/.git/hooks/pre-push
    next: loopx goal add "<objective>"
    "#);
}

#[test]
fn without_the_program_a_push_is_refused_with_the_way_out() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    let hook = repo.read("repo/.git/hooks/pre-push").replace(SMALL, "/gone/loopx");
    repo.script("repo/.git/hooks/pre-push", &hook);
    assert_snapshot!(repo.git_shown("push -q origin main"), @"
    [stderr] loopx: push refused: the program loopx is not there, so nobody knows whether a question is open
    [stderr] hint: install loopx again, or remove the lines between the loopx marks in this hook:
    [stderr] hint: .git/hooks/pre-push
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn the_hook_needs_none_of_the_systems_tools() {
    let mut repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("gate open Ready? --agent-id a").success();
    let bin = repo.path("home/bin");
    std::fs::create_dir(&bin).expect("a folder");
    let git = repo.feed("sh", &["-c", "command -v git"], "").success().stdout;
    std::os::unix::fs::symlink(git.trim(), bin.join("git")).expect("a link");
    repo.env("PATH", &bin.display().to_string());
    let pushed = repo.git("push -q origin main");
    assert!(pushed.code == 1 && pushed.stderr.contains("1 gate stands in its way"), "{pushed}");
    repo.clear_env();
    assert_eq!(repo.git("ls-remote origin main").stdout[..40], repo.git("rev-parse main~1").stdout[..40]);
}

#[test]
fn another_program_of_the_same_name_is_not_asked() {
    let mut repo = Sandbox::with_remote();
    repo.script("home/bin/loopx", "#!/bin/sh\nexit 0\n");
    repo.commit("feature");
    repo.loopx("gate open Ready? --agent-id a").success();
    let bin = repo.path("home/bin").display().to_string();
    repo.put_on_path(&bin);
    assert_snapshot!(repo.git_shown("push -q origin main"), @r#"
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn a_program_that_moved_is_found_on_the_path() {
    let mut repo = Sandbox::with_remote();
    repo.commit("feature");
    let hook = repo.read("repo/.git/hooks/pre-push").replace(SMALL, "/gone/loopx");
    repo.script("repo/.git/hooks/pre-push", &hook);
    let bin = std::path::Path::new(LOOPX).parent().expect("a folder").display().to_string();
    repo.put_on_path(&bin);
    repo.git("push -q origin main").success();
}

#[test]
fn an_option_that_does_not_exist_is_not_taken() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.loopx("hooks install --force"), @"
    [stderr] error: unexpected argument '--force' found
    [stderr]
    [stderr] Usage: loopx hooks install [OPTIONS]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

/// A repository whose hooks lie where a manager keeps them: out of git's sight, in each worktree for itself.
fn managed() -> Sandbox {
    let repo = Sandbox::plain();
    repo.git("init -q --bare ../hub.git").success();
    repo.git("remote add origin ../hub.git").success();
    repo.script(
        "repo/.manager/_/pre-push",
        "#!/usr/bin/env sh\necho \"mine: $0 $1\" >&2\ncat >\"$HOME/refs\"\n",
    );
    repo.write("repo/.manager/_/.gitignore", "*\n");
    repo.git("config core.hooksPath .manager/_").success();
    repo
}

#[test]
fn a_managers_own_folder_is_guarded_in_every_worktree() {
    let repo = managed();
    let theirs = repo.read("repo/.manager/_/pre-push");
    repo.loopx("init --goal-text Ship").success();
    repo.git("worktree add -q ../linked -b side").success();
    assert_snapshot!(repo.scene("
        loopx status
        loopx -C ../linked hooks install
        git -C ../linked status --porcelain
        git push -q origin main
        loopx gate open Ready?
        git push -q origin main:more
        git -C ../linked push -q origin side
        loopx hooks status
    "), @r#"
    $ loopx status
    PUSHES FROM `[ROOT]/linked` ARE NOT GUARDED: no hook is installed (run `loopx hooks install` there)
    1 goal
      ship  active  0/48 slots  Ship
    0 todos open
    pushes are guarded
    $ loopx -C ../linked hooks install
    pushes are guarded: created [ROOT]/linked/.manager/_/pre-push
    $ git -C ../linked status --porcelain
    $ git push -q origin main
    [stderr] mine: .manager/_/pre-push origin
    $ loopx gate open Ready?
    opened gate ready: "Ready?"
    a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    $ git push -q origin main:more
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git -C ../linked push -q origin side
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx hooks status
    pushes are guarded by [ROOT]/repo/.manager/_/pre-push
    "#);
    assert!(repo.read("home/refs").starts_with("refs/heads/main "));
    repo.person("hooks uninstall", "unguarded").success();
    assert_eq!(repo.read("repo/.manager/_/pre-push"), theirs);
    assert!(!repo.path("linked/.manager").exists());
}

#[test]
fn a_hook_file_of_the_team_is_changed_only_when_that_is_asked_for() {
    let repo = Sandbox::plain();
    repo.script("repo/.githooks/pre-push", "#!/bin/sh\necho mine >&2\n");
    repo.git("add .githooks").success();
    repo.git("commit -q -m hooks").success();
    repo.git("config core.hooksPath .githooks").success();
    repo.loopx("init --goal-text Ship").success();
    assert_snapshot!(repo.scene("
        git status --porcelain
        loopx hooks install
        loopx hooks install --apply
        loopx hooks install --tracked
        git status --porcelain
        loopx hooks install --tracked --apply
        loopx hooks install
        loopx hooks install --tracked
        git status --porcelain
    "), @r#"
    $ git status --porcelain
    $ loopx hooks install
    [stderr] error: the hook was not installed: `[ROOT]/repo/.githooks/pre-push` is shared with everybody who clones this
    [stderr] hint: see what would change with `loopx hooks install --tracked`
    [stderr] hint: or use git 2.54 or newer, which needs no change there
    [exit 1]
    $ loopx hooks install --apply
    [stderr] error: the following required arguments were not provided:
    [stderr]   --tracked
    [stderr]
    [stderr] Usage: loopx hooks install --tracked --apply
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx hooks install --tracked
    --- .githooks/pre-push
    +++ .githooks/pre-push
    @@ -1,2 +1,21 @@
     #!/bin/sh
    +# >>> loopx >>> keeps a push back while a person has not answered; leave these lines as they are
    +loopx_program='loopx'
    +command -v "$loopx_program" >/dev/null 2>&1 || loopx_program=loopx
    +if ! command -v "$loopx_program" >/dev/null 2>&1; then
    +  echo 'loopx: push refused: the program loopx is not there, so nobody knows whether a question is open' >&2
    +  echo 'hint: install loopx again, or remove the lines between the loopx marks in this hook:' >&2
    +  echo "hint: $0" >&2
    +  exit 1
    +fi
    +loopx_refs=$("$loopx_program" hook pre-push --pass-on=. -- "$@") || exit 1
    +loopx_refs=${loopx_refs%.}
    +if [ -n "$loopx_refs" ]; then
    +exec <<LOOPX_REFS
    +${loopx_refs%
    +}
    +LOOPX_REFS
    +else exec </dev/null; fi
    +unset loopx_refs loopx_program
    +# <<< loopx <<<
     echo mine >&2
    do it with `loopx hooks install --tracked --apply`, and commit it
    $ git status --porcelain
    $ loopx hooks install --tracked --apply
    pushes are guarded: added to [ROOT]/repo/.githooks/pre-push
    $ loopx hooks install
    pushes are guarded by [ROOT]/repo/.githooks/pre-push
    $ loopx hooks install --tracked
    no hook file that is shared would change
    $ git status --porcelain
     M .githooks/pre-push
    "#);
    repo.person("hooks uninstall", "unguarded").success();
    assert_snapshot!(repo.git("status --porcelain"), @"");
}

/// A repository whose hook is all ours, and that hook.
fn with_a_hook_of_ours() -> (Sandbox, String) {
    let repo = Sandbox::plain();
    repo.git("init -q --bare ../hub.git").success();
    repo.loopx("init --goal-text Ship").success();
    let ours = repo.read("repo/.git/hooks/pre-push");
    (repo, ours)
}

#[test]
fn what_a_user_writes_behind_our_part_runs_as_if_the_hook_were_theirs() {
    let (repo, ours) = with_a_hook_of_ours();
    let hook = repo.path("repo/.git/hooks/pre-push");
    let theirs = "echo \"$0 $# $1 ${LOOPX_HOOK:-none}\" >&2\ncat >&2\n# it ends as it wants to\nexit 3\n";
    std::fs::write(&hook, ours.clone() + theirs).expect("a hook");
    assert_snapshot!(repo.scene("
        git push -q ../hub.git HEAD:main
        loopx hooks status
    "), @"
    $ git push -q ../hub.git HEAD:main
    [stderr] .git/hooks/pre-push 2 ../hub.git none
    [stderr] HEAD [ID] refs/heads/main [ID]
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx hooks status
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    ");
    std::fs::write(&hook, ours.replace("#!/bin/sh", "#!/bin/bash -u") + "echo \"[$-] ${nobody}\"\n")
        .expect("a hook");
    assert_snapshot!(repo.scene("git push -q ../hub.git HEAD:main"), @"
    $ git push -q ../hub.git HEAD:main
    [stderr] .git/hooks/pre-push: line 1: nobody: unbound variable
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    // Theirs may be in any encoding.
    let latin = [ours.as_bytes(), b"# Gr\xfc\xdfe\necho here >&2\n"].concat();
    std::fs::write(&hook, latin).expect("a hook");
    assert_snapshot!(repo.git_shown("push -q ../hub.git HEAD:latin"), @"[stderr] here");
    // What cannot be run holds the push back.
    std::fs::write(&hook, ours.clone() + &"x".repeat(200_000)).expect("a hook");
    assert_snapshot!(repo.scene("git push -q ../hub.git HEAD:main"), @"
    $ git push -q ../hub.git HEAD:main
    [stderr] loopx: push refused: what stands behind loopx's part of `.git/hooks/pre-push` cannot be run: Argument list too long (os error 7)
    [stderr] hint: loopx hooks install
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    std::fs::write(&hook, ours.clone() + theirs).expect("a hook");
    repo.loopx("gate open 'Ready?' --gate-id ready").success();
    assert_snapshot!(repo.scene("
        git push -q ../hub.git HEAD:main
        loopx init
    "), @r#"
    $ git push -q ../hub.git HEAD:main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: renewed in [ROOT]/repo/.git/hooks/pre-push
    "#);
    assert!(
        std::fs::read_to_string(&hook).expect("a hook").contains("--pass-on=."),
        "the next one takes them in"
    );
    repo.person("hooks uninstall", "unguarded").success();
    assert_eq!(std::fs::read_to_string(&hook).expect("a hook"), format!("#!/bin/sh\n{theirs}"));
}

#[test]
fn what_would_not_run_as_theirs_holds_the_push_back_until_it_is_made_theirs() {
    let (repo, ours) = with_a_hook_of_ours();
    let theirs = "false\necho not stopped >&2\n";
    let before = ours.replacen("# made by", "set -e\n# made by", 1);
    let env = ours.replacen("#!/bin/sh", "#!/usr/bin/env -S sh -e", 1);
    for (hook, why) in
        [(before, "something stands before loopx's part"), (env, "its first line names no shell")]
    {
        repo.script("repo/.git/hooks/pre-push", &(hook + theirs));
        let said = repo.git("push -q ../hub.git HEAD:main");
        assert!(
            said.code == 1 && said.stderr.contains(why) && !said.stderr.contains("not stopped"),
            "{said}"
        );
        assert_eq!(repo.loopx("hooks status").code, 1);
    }
    // Whoever reads our file into their own is not the file that was made for it.
    repo.script("repo/.git/hooks/pre-push", "#!/bin/sh\n. .git/hooks/aside\necho theirs goes on >&2\n");
    repo.script("repo/.git/hooks/aside", &ours);
    let said = repo.git("push -q ../hub.git HEAD:main");
    assert!(said.stderr.contains("loopx's part is not in it"), "{said}");
    repo.loopx("hooks install").success();
    let said = repo.git("push -q ../hub.git HEAD:main");
    assert!(said.code == 1 && said.stderr.contains("loopx's part of it is another one"), "{said}");
    std::fs::remove_file(repo.path("repo/.git/hooks/aside")).expect("a file");
    repo.script("repo/.git/hooks/aside", "echo aside >&2\n");
    assert_snapshot!(repo.git_shown("push -q ../hub.git HEAD:main"), @"
    [stderr] aside
    [stderr] theirs goes on
    ");
}

#[test]
fn what_a_link_leads_to_still_runs_and_the_link_comes_back() {
    let repo = Sandbox::plain();
    repo.git("init -q --bare ../hub.git").success();
    repo.script("repo/tools/pre-push", "#!/usr/bin/env python3\nimport sys\nprint(sys.argv[1], len(sys.stdin.read().split()), file=sys.stderr)\n");
    repo.git("add tools").success();
    repo.git("commit -q -m tools").success();
    let link = repo.path("repo/.git/hooks/pre-push");
    std::os::unix::fs::symlink("../../tools/pre-push", &link).expect("a link");
    repo.loopx("init --goal-text Ship").success();
    assert_snapshot!(repo.scene("
        git push -q ../hub.git main
        loopx gate open Ready?
        git push -q ../hub.git main:more
        loopx hooks install
        git status --porcelain
    "), @r#"
    $ git push -q ../hub.git main
    [stderr] ../hub.git 4
    $ loopx gate open Ready?
    opened gate ready: "Ready?"
    a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    $ git push -q ../hub.git main:more
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx hooks install
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ git status --porcelain
    "#);
    repo.person("hooks uninstall", "unguarded").success();
    assert_eq!(std::fs::read_link(link).expect("a link").to_str(), Some("../../tools/pre-push"));
}

#[test]
fn a_hook_that_somebody_took_away_is_put_back_by_the_next_mutation() {
    let repo = Sandbox::with_remote();
    std::fs::remove_file(repo.path("repo/.git/hooks/pre-push")).expect("a hook");
    assert_snapshot!(repo.scene("
        loopx status
        loopx gate open Ready?
        loopx hooks status
        git config core.hooksPath /nowhere
        loopx todo add one
        git config --unset core.hooksPath
        loopx todo add two
    "), @r#"
    $ loopx status
    PUSHES ARE NOT GUARDED: no hook is installed (see `loopx hooks install`)
    1 goal
      ship  active  0/48 slots  Ship v2
    0 todos open
    $ loopx gate open Ready?
    opened gate ready: "Ready?"
    a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] warning: pushes were not guarded: no hook is installed; the hook was put back
    $ loopx hooks status
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ git config core.hooksPath /nowhere
    $ loopx todo add one
    added todo t-bhmh: one
    [stderr] warning: PUSHES ARE NOT GUARDED: `core.hooksPath` is `/nowhere`, which does not exist (see `loopx hooks install`)
    $ git config --unset core.hooksPath
    $ loopx todo add two
    added todo t-578h: two
    "#);
}

#[test]
fn a_manager_that_moves_the_hook_away_gets_another_part_of_its_own() {
    let repo = Sandbox::with_remote();
    repo.loopx("gate open Ready?").success();
    repo.commit("news");
    let hook = repo.path("repo/.git/hooks/pre-push");
    std::fs::rename(&hook, repo.path("repo/.git/hooks/pre-push.legacy")).expect("a hook");
    let theirs = "#!/usr/bin/env bash\n# theirs\n[ -x \"$0.legacy\" ] && { \"$0.legacy\" \"$@\" || exit; }\necho theirs >&2\n";
    repo.script("repo/.git/hooks/pre-push", theirs);
    assert_snapshot!(repo.scene("
        git push -q origin main
        loopx todo add one
        git push -q origin main
    "), @r#"
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx todo add one
    added todo t-bhmh: one
    [stderr] warning: pushes were not guarded: the hook there does not call loopx; the hook was put back
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by Ann, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
    repo.person("hooks uninstall", "unguarded").success();
    assert_eq!(repo.read("repo/.git/hooks/pre-push"), theirs);
    assert!(!repo.path("repo/.git/hooks/pre-push.legacy").exists());
}

#[test]
fn the_folder_of_the_state_is_not_committed_without_a_word() {
    let repo = Sandbox::with_remote();
    repo.script("repo/.git/hooks/pre-commit", &(repo.read("repo/.git/hooks/pre-commit") + "echo mine >&2\n"));
    repo.git("add -f .loopx").success();
    assert_snapshot!(repo.scene("
        git commit -q -m oops
        git push -q origin main
        git rm -q --cached .loopx
        git commit -q -m better
        git push -q origin main
        git reset -q --soft HEAD~2
        git commit -q --allow-empty -m best
        git push -q origin main
    "), @"
    $ git commit -q -m oops
    [stderr] loopx: `.loopx` is about to be committed to your own branch, and a push of that commit will be refused
    [stderr] hint: run `git rm -r --cached .loopx` first
    [stderr] mine
    $ git push -q origin main
    [stderr] loopx: push refused: `refs/heads/main` has a commit with the folder `.loopx` in it, which would go to `refs/heads/main`
    [stderr] hint: take it out with `git rm -r --cached .loopx` and `git commit --amend`, or with `git rebase -i`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git rm -q --cached .loopx
    $ git commit -q -m better
    [stderr] mine
    $ git push -q origin main
    [stderr] loopx: push refused: `refs/heads/main` has a commit with the folder `.loopx` in it, which would go to `refs/heads/main`
    [stderr] hint: take it out with `git rm -r --cached .loopx` and `git commit --amend`, or with `git rebase -i`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git reset -q --soft HEAD~2
    $ git commit -q --allow-empty -m best
    [stderr] mine
    $ git push -q origin main
    ");
}
