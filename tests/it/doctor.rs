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
    left alone what was edited by hand: `.loopx/goals/ship/todos/t-c22j.toml`
      run `git -C .loopx checkout HEAD -- .`
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

/// Two todos and one that is done, taken out of the view again by a `git reset`, and the branch put back.
fn reset_and_put_back() -> Sandbox {
    let repo = Sandbox::ready();
    let done = repo.todo("one");
    let held = repo.todo("two");
    repo.todo("three");
    repo.loopx(&format!("todo claim {held} --agent-id a")).success();
    repo.loopx(&format!("todo done {done}")).success();
    let tip = repo.tip();
    repo.git("-C .loopx reset -q --hard HEAD~3").success();
    repo.git(&format!("update-ref refs/heads/loopx/state {}", tip.trim())).success();
    repo
}

#[test]
fn what_git_took_out_of_the_view_is_nobodys_edit() {
    let repo = reset_and_put_back();
    repo.write("repo/.loopx/mine.txt", "mine");
    repo.git("-C .loopx add mine.txt").success();
    assert_snapshot!(repo.scene("
        loopx status
        loopx doctor
        loopx doctor --fix
        loopx doctor
        loopx status
        git -C .loopx status --short
    "), @"
    $ loopx status
    `.loopx/` is behind the state: missing, or as it was before: `.loopx/goals/ship/todos/closed/t-fdjx.toml`, `.loopx/goals/ship/todos/t-7p0h.toml`, `.loopx/goals/ship/todos/t-fdjx.toml`, `.loopx/goals/ship/todos/t-s29v.toml` (run `loopx doctor --fix`)
    1 goal
      ship  active  0/48 slots  Ship v2
    2 todos open
      t-7p0h  p2  claimed by a  two
      t-s29v  p2  open          three
    pushes are guarded
    $ loopx doctor
    `.loopx/` is behind the state: missing, or as it was before: `.loopx/goals/ship/todos/closed/t-fdjx.toml`, `.loopx/goals/ship/todos/t-7p0h.toml`, `.loopx/goals/ship/todos/t-fdjx.toml`, `.loopx/goals/ship/todos/t-s29v.toml`
      run `loopx doctor --fix`
    1 problem found
    [exit 1]
    $ loopx doctor --fix
    put right: `.loopx/` is behind the state: missing, or as it was before: `.loopx/goals/ship/todos/closed/t-fdjx.toml`, `.loopx/goals/ship/todos/t-7p0h.toml`, `.loopx/goals/ship/todos/t-fdjx.toml`, `.loopx/goals/ship/todos/t-s29v.toml`
    all is well
    $ loopx doctor
    all is well
    $ loopx status
    1 goal
      ship  active  0/48 slots  Ship v2
    2 todos open
      t-7p0h  p2  claimed by a  two
      t-s29v  p2  open          three
    pushes are guarded
    $ git -C .loopx status --short
    ?? mine.txt
    ");

    let repo = reset_and_put_back();
    assert_snapshot!(repo.scene("
        loopx todo add four
        loopx doctor
        git -C .loopx status --short
    "), @"
    $ loopx todo add four
    added todo t-zv3z: four
    $ loopx doctor
    all is well
    $ git -C .loopx status --short
    ");
}

#[test]
fn a_hand_edit_among_what_git_took_out_is_still_one() {
    let repo = reset_and_put_back();
    let policy = repo.read("repo/.loopx/loopx.toml");
    repo.write("repo/.loopx/loopx.toml", &format!("{policy}# mine\n"));
    repo.git("-C .loopx add loopx.toml").success();
    assert_snapshot!(repo.scene("
        loopx doctor
        loopx doctor --fix
        git -C .loopx status --short
        git -C .loopx checkout HEAD -- .
        loopx doctor
    "), @"
    $ loopx doctor
    `.loopx/` is behind the state: missing, or as it was before: `.loopx/goals/ship/todos/closed/t-fdjx.toml`, `.loopx/goals/ship/todos/t-7p0h.toml`, `.loopx/goals/ship/todos/t-fdjx.toml`, `.loopx/goals/ship/todos/t-s29v.toml`
      run `loopx doctor --fix`
    left alone what was edited by hand: `.loopx/loopx.toml`
      run `git -C .loopx checkout HEAD -- .`
    2 problems found
    [exit 1]
    $ loopx doctor --fix
    put right: `.loopx/` is behind the state: missing, or as it was before: `.loopx/goals/ship/todos/closed/t-fdjx.toml`, `.loopx/goals/ship/todos/t-7p0h.toml`, `.loopx/goals/ship/todos/t-fdjx.toml`, `.loopx/goals/ship/todos/t-s29v.toml`
    left alone what was edited by hand: `.loopx/loopx.toml`
      run `git -C .loopx checkout HEAD -- .`
    1 problem found
    [exit 1]
    $ git -C .loopx status --short
     M loopx.toml
    $ git -C .loopx checkout HEAD -- .
    $ loopx doctor
    all is well
    ");
}

#[test]
fn a_writer_that_was_killed_before_the_view_leaves_no_hand_edits() {
    let repo = Sandbox::ready();
    repo.todo("one");
    let shown = repo.tip();
    let id = repo.todo("two");
    // As if the last one had been killed when it had moved the branch.
    std::fs::remove_file(repo.path(&format!("repo/.loopx/goals/ship/todos/{id}.toml"))).expect("the todo");
    repo.git("-C .loopx read-tree HEAD~1").success();
    repo.write("repo/.git/worktrees/-loopx/loopx-view", shown.trim());
    assert_snapshot!(repo.scene("
        loopx doctor
        loopx doctor --fix
        git -C .loopx status --short
    "), @"
    $ loopx doctor
    `.loopx/` is behind the state: the next mutation will bring it up to date
      run `loopx doctor --fix`
    1 problem found
    [exit 1]
    $ loopx doctor --fix
    put right: `.loopx/` is behind the state: the next mutation will bring it up to date
    all is well
    $ git -C .loopx status --short
    ");
}

#[test]
fn a_file_that_is_missing_from_the_view_is_put_back() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    std::fs::remove_file(repo.path(&format!("repo/.loopx/goals/ship/todos/{id}.toml"))).expect("the todo");
    assert_snapshot!(repo.scene("
        loopx doctor
        loopx doctor --fix
        loopx doctor
        git -C .loopx status --short
    "), @"
    $ loopx doctor
    `.loopx/` is behind the state: missing, or as it was before: `.loopx/goals/ship/todos/t-fdjx.toml`
      run `loopx doctor --fix`
    1 problem found
    [exit 1]
    $ loopx doctor --fix
    put right: `.loopx/` is behind the state: missing, or as it was before: `.loopx/goals/ship/todos/t-fdjx.toml`
    all is well
    $ loopx doctor
    all is well
    $ git -C .loopx status --short
    ");
}

#[test]
fn a_lock_that_stays_is_named_whatever_its_age() {
    let repo = Sandbox::ready();
    let lock = std::fs::File::create(repo.path("repo/.git/refs/heads/loopx/state.lock")).expect("a lock");
    let soon = std::time::Duration::from_secs(20 * 365 * 24 * 3600);
    lock.set_modified(std::time::SystemTime::UNIX_EPOCH + 5 * soon).expect("a young lock");
    assert_snapshot!(repo.scene("
        loopx doctor --fix
        loopx todo add one
    "), @"
    $ loopx doctor --fix
    `[ROOT]/repo/.git/refs/heads/loopx/state.lock` keeps every mutation out: a program is at work, or was killed and left it; if no git is at work here
      run `rm '[ROOT]/repo/.git/refs/heads/loopx/state.lock'`
    1 problem found
    [exit 1]
    $ loopx todo add one
    [stderr] error: another program holds `[ROOT]/repo/.git/refs/heads/loopx/state.lock`
    [stderr] hint: run the command again when the git command that holds it has ended; if there is none, remove that file
    [exit 1]
    ");
}
