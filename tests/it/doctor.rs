//! `doctor` finds what is wrong, says what helps, and puts right what cannot lose anything.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn a_healthy_clone_has_no_finding() {
    let repo = Sandbox::with_remote();
    repo.loopx("todo add one").success();
    repo.git("worktree add -q ../elsewhere -b work").success();
    assert_snapshot!(repo.loopx("doctor"), @"all is well");
}

#[test]
fn what_cannot_lose_anything_is_put_right() {
    let repo = Sandbox::with_remote();
    repo.loopx("todo add one").success();
    std::fs::remove_dir_all(repo.path("repo/.loopx")).expect("the view");
    std::fs::remove_file(repo.path("repo/.git/hooks/pre-push")).expect("the hook");
    assert_snapshot!(repo.scene("
        loopx doctor
        loopx hooks status
        loopx doctor --fix
        loopx doctor
        git -C .loopx status --short
    "), @"
    $ loopx doctor
    `.loopx/` does not show the state: it is not there
      run `loopx init`
    pushes from `[ROOT]/repo` are not guarded: no hook is installed
      run `loopx hooks install`
    2 problems found
    [exit 1]
    $ loopx hooks status
    PUSHES ARE NOT GUARDED: no hook is installed (see `loopx hooks install`)
    [exit 1]
    $ loopx doctor --fix
    put right: `.loopx/` does not show the state: it is not there
    put right: pushes from `[ROOT]/repo` are not guarded: no hook is installed
    all is well
    $ loopx doctor
    all is well
    $ git -C .loopx status --short
    ");
}

#[test]
fn a_hook_that_another_loopx_answers_is_renewed() {
    let repo = Sandbox::with_remote();
    let hook = repo.read("repo/.git/hooks/pre-push").replace(crate::sandbox::SMALL, "/opt/old/loopx");
    repo.script("repo/.git/hooks/pre-push", &hook);
    assert_snapshot!(repo.loopx("doctor --fix").to_string().replace(crate::sandbox::LOOPX, "[LOOPX]"), @"
    put right: pushes from `[ROOT]/repo` are judged by `/opt/old/loopx` and not by this loopx
    all is well
    ");
    assert_snapshot!(repo.loopx("doctor"), @"all is well");
}

#[test]
fn one_worktree_without_the_hook_is_found_from_another() {
    let repo = Sandbox::with_remote();
    repo.git("worktree add -q ../elsewhere -b work").success();
    repo.git("config extensions.worktreeConfig true").success();
    repo.git("-C ../elsewhere config --worktree core.hooksPath nowhere").success();
    assert_snapshot!(repo.scene("
        loopx hooks status
        loopx doctor --fix
    "), @"
    $ loopx hooks status
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    PUSHES FROM `[ROOT]/elsewhere` ARE NOT GUARDED: no hook is installed (run `loopx hooks install` there)
    $ loopx doctor --fix
    put right: pushes from `[ROOT]/elsewhere` are not guarded: no hook is installed
    all is well
    ");
}

#[test]
fn what_could_lose_something_is_left_to_the_user() {
    let repo = Sandbox::with_remote();
    let id = repo.todo("one");
    repo.write(&format!("repo/.loopx/goals/ship/todos/{id}.toml"), "mine");
    repo.git("add -f .loopx").success();
    repo.forge("goals/ship/todos/t-0000.toml", "mine");
    let lock = std::fs::File::create(repo.path("repo/.git/refs/heads/loopx/state.lock")).expect("a lock");
    lock.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("an old lock");
    assert_snapshot!(repo.loopx("doctor --fix"), @r#"
    `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
      run `git update-ref refs/heads/loopx/state [ID]`
    commit [ID] of the state, "forged", is no legal mutation: it has no `Signed-off-by` trailer
      run `loopx verify`
    `[ROOT]/repo/.git/refs/heads/loopx/state.lock` is older than 15 min; no git that is at work keeps it so long
      run `rm '[ROOT]/repo/.git/refs/heads/loopx/state.lock'`
    left alone what was edited by hand: `.loopx/goals/ship/todos/t-0000.toml`, `.loopx/goals/ship/todos/t-c22j.toml`
      run `git -C .loopx checkout -- .`
    `.loopx` is tracked by your own branch, as a submodule that nobody can clone
      run `git rm --cached .loopx`
    5 problems found
    [exit 1]
    "#);
}

#[test]
fn scraps_of_killed_writers_are_swept_away() {
    let repo = Sandbox::ready();
    let scrap = std::fs::File::create(repo.path("repo/.git/objects/.tmpAbCdEf")).expect("a scrap");
    scrap.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("an old scrap");
    std::fs::File::create(repo.path("repo/.git/objects/.tmpInUse")).expect("a scrap");
    assert_snapshot!(repo.scene("
        loopx doctor
        loopx doctor --fix
    "), @"
    $ loopx doctor
    1 half-written file of killed writers in `.git/objects`
      run `loopx doctor --fix`
    1 problem found
    [exit 1]
    $ loopx doctor --fix
    put right: 1 half-written file of killed writers in `.git/objects`
    all is well
    ");
    assert!(!repo.path("repo/.git/objects/.tmpAbCdEf").exists());
    assert!(repo.path("repo/.git/objects/.tmpInUse").exists());
}

#[test]
fn a_lost_object_of_the_present_is_put_back() {
    let repo = Sandbox::ready();
    let todo = repo.todo("work");
    let object = |path: &str| {
        let id = repo.git(&format!("rev-parse loopx/state:{path}")).success().stdout;
        format!("repo/.git/objects/{}/{}", &id[..2], id[2..].trim())
    };
    for path in [&format!("goals/ship/todos/{todo}.toml"), "goals/ship/todos", "goals/ship/state.json"] {
        std::fs::remove_file(repo.path(&object(path))).expect("a loose object");
    }
    assert_snapshot!(repo.scene("
        loopx doctor
        loopx doctor --fix
        git fsck --full --strict --no-dangling
    "), @"
    $ loopx doctor
    git has lost the object [ID] of the state, which is still at hand
      run `loopx doctor --fix`
    git has lost the object [ID] of the state, which is still at hand
      run `loopx doctor --fix`
    git has lost the object [ID] of the state, which is still at hand
      run `loopx doctor --fix`
    3 problems found
    [exit 1]
    $ loopx doctor --fix
    put right: git has lost the object [ID] of the state, which is still at hand
    put right: git has lost the object [ID] of the state, which is still at hand
    put right: git has lost the object [ID] of the state, which is still at hand
    all is well
    $ git fsck --full --strict --no-dangling
    ");

    let damaged = object("goals/ship/todos");
    std::fs::remove_file(repo.path(&damaged)).expect("a loose object");
    repo.write(&damaged, "");
    repo.loopx("doctor --fix");
    let fsck = repo.git("fsck --full --strict --no-dangling");
    assert_snapshot!(repo.loopx("doctor"), @"all is well");
    assert_eq!(fsck.code, 0, "{fsck}");
}

#[test]
fn a_dead_lock_of_the_view_is_removed_and_the_view_shows_the_state_again() {
    let repo = Sandbox::ready();
    let lock = std::fs::File::create(repo.path("repo/.git/worktrees/-loopx/index.lock")).expect("a lock");
    lock.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("an old lock");
    assert_snapshot!(repo.scene("
        loopx todo add one
        loopx doctor
        loopx doctor --fix
        loopx doctor
        loopx todo add two
    "), @"
    $ loopx todo add one
    added todo t-fdjx: one
    [stderr] warning: `.loopx/` is behind the state: another program holds `[ROOT]/repo/.git/worktrees/-loopx/index.lock` (run `loopx doctor --fix`)
    $ loopx doctor
    `[ROOT]/repo/.git/worktrees/-loopx/index.lock` is older than 15 min; no git that is at work keeps it so long
      run `loopx doctor --fix`
    `.loopx/` is behind the state: the next mutation will bring it up to date
      run `loopx doctor --fix`
    2 problems found
    [exit 1]
    $ loopx doctor --fix
    put right: `[ROOT]/repo/.git/worktrees/-loopx/index.lock` is older than 15 min; no git that is at work keeps it so long
    put right: `.loopx/` is behind the state: the next mutation will bring it up to date
    all is well
    $ loopx doctor
    all is well
    $ loopx todo add two
    added todo t-sry7: two
    ");
}
