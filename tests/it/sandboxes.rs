//! Inside the sandboxes of hosts, where parts of `.git` cannot be written to. Here they are mounts that are read-only, made in a
//! namespace of their own; where a system does not allow that, nothing is tested.

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox};

/// The program that makes a namespace, with its options; none where that is not allowed.
fn unshare(repo: &Sandbox) -> Option<&'static [&'static str]> {
    let ways: [&[&str]; 2] = [&["--mount"], &["--mount", "--map-root-user"]];
    ways.into_iter().find(|way| {
        let try_it = [way, &["sh", "-c", "mount --bind . . && mount -o remount,bind,ro ."][..]].concat();
        std::path::Path::new("/usr/bin/unshare").exists() && repo.feed("unshare", &try_it, "").code == 0
    })
}

/// Runs commands where these files and folders cannot be written to. Shows each with what came of it.
fn where_closed(repo: &Sandbox, closed: &[&str], commands: &str) -> Option<String> {
    let way = unshare(repo)?;
    let mut script = String::from("exec 2>&1\n");
    for path in closed {
        script.push_str(&format!("mount --bind {path} {path} && mount -o remount,bind,ro {path}\n"));
    }
    for command in commands.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let run = command.replace("loopx ", &format!("'{LOOPX}' "));
        script.push_str(&format!("echo '$ {command}'\n{run} || echo \"[exit $?]\"\n"));
    }
    let done = repo.feed("unshare", &[way, &["sh", "-c", &script]].concat(), "").success();
    Some(done.stdout.replace(&repo.root().display().to_string(), "[ROOT]"))
}

#[test]
fn where_all_of_git_is_closed_reads_work_and_writes_say_so() {
    let mut repo = Sandbox::ready();
    repo.loopx("todo add one").success();
    let tip = repo.tip();
    let Some(told) = where_closed(
        &repo,
        &[".git"],
        "
        loopx status
        loopx quota should-run
        loopx guard check --for push
        loopx gate list
        loopx todo list
        loopx doctor
        loopx todo add two
        loopx gate open Ready? --json
    ",
    ) else {
        return;
    };
    assert_snapshot!(told, @r#"
    $ loopx status
    1 goal
      ship  active  0/48 slots  Ship v2
    1 todo open
      t-fdjx  p2  open  one
    pushes are guarded
    $ loopx quota should-run
    true – work on t-fdjx: one
    why: `t-fdjx` is ready and nobody has it
    next: loopx todo claim t-fdjx
    $ loopx guard check --for push
    push allowed: no gate stands in its way
    $ loopx gate list
    $ loopx todo list
      t-fdjx  p2  open  one
    $ loopx doctor
    all is well
    $ loopx todo add two
    error: nothing was written: `.git` is read-only from here, as in the sandboxes of some agents (cannot open `[ROOT]/repo/.git/loopx/writer`: Read-only file system (os error 30))
    hint: what only reads works here, such as `loopx status` and `loopx quota should-run`
    hint: loopx's MCP server runs outside of an agent's sandbox and has the same as tools: a person sets it up with `loopx host install <host>`
    hint: outside of a sandbox, `ls -ld .git .loopx` shows who may write there
    [exit 1]
    $ loopx gate open Ready? --json
    {
      "schema_version": 1,
      "error": {
        "code": "read-only",
        "message": "nothing was written: `.git` is read-only from here, as in the sandboxes of some agents (cannot open `[ROOT]/repo/.git/loopx/writer`: Read-only file system (os error 30))",
        "hints": [
          "what only reads works here, such as `loopx status` and `loopx quota should-run`",
          "loopx's MCP server runs outside of an agent's sandbox and has the same as tools: a person sets it up with `loopx host install <host>`",
          "outside of a sandbox, `ls -ld .git .loopx` shows who may write there"
        ],
        "retryable": false
      }
    }
    [exit 1]
    "#);
    repo.env("CODEX_CI", "1");
    assert_snapshot!(where_closed(&repo, &[".git"], "loopx turn begin").unwrap_or_default(), @"
    $ loopx turn begin
    error: nothing was written: `.git` is read-only from here, as in the sandboxes of some agents (cannot open `[ROOT]/repo/.git/loopx/writer`: Read-only file system (os error 30))
    hint: what only reads works here, such as `loopx status` and `loopx quota should-run`
    hint: what writes is a tool of the MCP server `loopx`, too, which runs outside of this sandbox; a person sets it up with `loopx host install codex`
    hint: or a person lets some commands out of it: `loopx host template codex-rules > ~/.codex/rules/loopx.rules`
    hint: or lets loopx's own files be written in it: `loopx host template codex-permissions`
    [exit 1]
    ");
    assert_eq!(repo.tip(), tip);
}

#[test]
fn where_hooks_and_settings_are_closed_everything_else_works() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    let closed = [".git/hooks", ".git/config"];
    let Some(told) = where_closed(
        &repo,
        &closed,
        &format!(
            "
        loopx turn begin --turn-id t1 --agent-id a
        loopx evidence run --agent-id a -- true
        loopx evidence add {id} --text seen --agent-id a
        loopx turn end --turn-id t1 --outcome progress --summary 'half of it' --agent-id a
        loopx gate open Ready? --agent-id a
        loopx hooks install
        loopx init
        loopx doctor
    "
        ),
    ) else {
        return;
    };
    assert_snapshot!(told, @r#"
    $ loopx turn begin --turn-id t1 --agent-id a
    turn t1: work on t-fdjx: one
    until  2026-11-30T12:45:07Z
    goal   Ship v2
    next: loopx turn end --turn-id t1 --outcome <outcome> --summary "<what>"
    $ loopx evidence run --agent-id a -- true
    $ loopx evidence add t-fdjx --text seen --agent-id a
    added evidence e-s29v4: seen
    $ loopx turn end --turn-id t1 --outcome progress --summary half of it --agent-id a
    ended turn t1: progress, 1 slot used
    $ loopx gate open Ready? --agent-id a
    opened gate ready: "Ready?"
    a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    $ loopx hooks install
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ loopx doctor
    all is well
    "#);
    let fresh = Sandbox::with_remote();
    let told = where_closed(&fresh, &closed, "loopx hooks strict on");
    assert_snapshot!(told.unwrap_or_default(), @"
    $ loopx hooks strict on
    error: nothing was set: `.git/config` is read-only from here, as in the sandboxes of some agents (git cannot write its config: error: could not write config file [ROOT]/repo/.git/config: Device or resource busy)
    hint: run it in a terminal outside of the sandbox; what needs no setting works here
    [exit 1]
    ");
}
