//! Strict mode: pushes to a remote go through `git-remote-loopx`, and no option of `git push` leaves that out.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::Stdio,
    thread,
};

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Program, Sandbox};

/// A repository with a remote in strict mode, an open gate and a commit to push. The helper is on `PATH`.
fn strict() -> Sandbox {
    at("../hub.git")
}

/// The same with the remote at another address.
fn at(address: &str) -> Sandbox {
    let mut repo = Sandbox::with_remote();
    let folder = std::path::Path::new(LOOPX).parent().expect("a folder").display().to_string();
    repo.put_on_path(&folder);
    let address = address.replace("[ROOT]", &repo.root().display().to_string());
    repo.git(&format!("remote set-url origin '{address}'")).success();
    repo.loopx("hooks strict on").success();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.commit("feature");
    repo
}

fn answer(repo: &Sandbox) {
    repo.person("gate resolve ready --decision approve", "ready").success();
}

/// What the other side has on `main`.
fn there(repo: &Sandbox) -> String {
    repo.git("--git-dir ../hub.git log -1 --format=%s main").success().stdout
}

#[test]
fn no_option_goes_past_it() {
    let repo = strict();
    assert_snapshot!(repo.scene("
        git push -q origin main
        git push -q --no-verify origin main
        git -c core.hooksPath=/dev/null push -q origin main
        git -c hook.loopx.enabled=false push -q --no-verify origin main
        git push -q --no-verify ../hub.git main:by-address
        git push -q --no-verify origin :main
    "), @r#"
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to 'loopx::../hub.git'
    [exit 1]
    $ git push -q --no-verify origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] To loopx::../hub.git
    [stderr]  ! [remote rejected] main -> main (refused by loopx)
    [stderr] error: failed to push some refs to 'loopx::../hub.git'
    [exit 1]
    $ git -c core.hooksPath=/dev/null push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] To loopx::../hub.git
    [stderr]  ! [remote rejected] main -> main (refused by loopx)
    [stderr] error: failed to push some refs to 'loopx::../hub.git'
    [exit 1]
    $ git -c hook.loopx.enabled=false push -q --no-verify origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, 6 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] To loopx::../hub.git
    [stderr]  ! [remote rejected] main -> main (refused by loopx)
    [stderr] error: failed to push some refs to 'loopx::../hub.git'
    [exit 1]
    $ git push -q --no-verify ../hub.git main:by-address
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, 7 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] To loopx::../hub.git
    [stderr]  ! [remote rejected] main -> by-address (refused by loopx)
    [stderr] error: failed to push some refs to 'loopx::../hub.git'
    [exit 1]
    $ git push -q --no-verify origin :main
    [stderr] remote: error: By default, deleting the current branch is denied, because the next
    [stderr] remote: 'git clone' won't result in any file checked out, causing confusion.
    [stderr] remote:
    [stderr] remote: You can set 'receive.denyDeleteCurrent' configuration variable to
    [stderr] remote: 'warn' or 'ignore' in the remote repository to allow deleting the
    [stderr] remote: current branch, with or without a warning message.
    [stderr] remote:
    [stderr] remote: To squelch this message, you can set it to 'refuse'.
    [stderr] remote: error: refusing to delete the current branch: refs/heads/main
    [stderr] To loopx::../hub.git
    [stderr]  ! [remote rejected] main (deletion of the current branch prohibited)
    [stderr] error: failed to push some refs to 'loopx::../hub.git'
    [exit 1]
    "#);
    assert_eq!(there(&repo), "base\n");
    answer(&repo);
    assert_snapshot!(repo.scene("
        git push -q --no-verify origin main
        git push -q --no-verify --force-with-lease origin main:next
        git push -q origin main
        git fetch -q
        git push -q origin loopx/state
        git push -q --no-verify origin loopx/state:refs/heads/innocent
        loopx bypass list
        loopx todo add one
    "), @"
    $ git push -q --no-verify origin main
    $ git push -q --no-verify --force-with-lease origin main:next
    $ git push -q origin main
    $ git fetch -q
    $ git push -q origin loopx/state
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to 'loopx::../hub.git'
    [exit 1]
    $ git push -q --no-verify origin loopx/state:refs/heads/innocent
    [stderr] loopx: push refused: `refs/heads/innocent` would take loopx's own state to `refs/heads/innocent`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] To loopx::../hub.git
    [stderr]  ! [remote rejected] loopx/state -> innocent (refused by loopx)
    [stderr] error: failed to push some refs to 'loopx::../hub.git'
    [exit 1]
    $ loopx bypass list
    $ loopx todo add one
    added todo t-s1q6: one
    ");
    assert_eq!(there(&repo), "feature\n");
}

#[test]
fn addresses_of_other_kinds() {
    let repo = at("file://[ROOT]/hub.git");
    assert_snapshot!(repo.git_shown("push -q --no-verify origin main"), @r#"
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] To loopx::file://[ROOT]/hub.git
    [stderr]  ! [remote rejected] main -> main (refused by loopx)
    [stderr] error: failed to push some refs to 'loopx::file://[ROOT]/hub.git'
    [exit 1]
    "#);
    answer(&repo);
    assert_snapshot!(repo.git_shown("push -q --no-verify origin main"), @"");
    assert_eq!(there(&repo), "feature\n");

    let mut repo = at("git@host.test:hub.git");
    repo.script(
        "ssh",
        "#!/bin/sh\necho \"$@\" >>\"$HOME/ssh\"\ncd \"$HOME/..\"\neval \"exec git ${2#git-}\"\n",
    );
    let script = repo.path("ssh").display().to_string();
    repo.env("GIT_SSH_COMMAND", &script);
    assert_snapshot!(repo.git_shown("push -q --no-verify origin main"), @r#"
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] To host.test:hub.git
    [stderr]  ! [remote rejected] main -> main (refused by loopx)
    [stderr] error: failed to push some refs to 'host.test:hub.git'
    [exit 1]
    "#);
    answer(&repo);
    assert_snapshot!(repo.git_shown("push -q --no-verify origin main"), @"");
    assert_eq!(there(&repo), "feature\n");
    assert_snapshot!(repo.read("home/ssh"), @"
    git@host.test git-receive-pack 'hub.git'
    git@host.test git-receive-pack 'hub.git'
    ");
}

#[test]
fn switching_it_off_takes_a_person() {
    let repo = strict();
    let key = "url.loopx::../hub.git.pushInsteadOf";
    assert_snapshot!(repo.scene(&format!("
        loopx hooks strict on --json
        git config --get-all {key}
        loopx hooks strict off --agent-id a
        loopx hooks strict off
        git config --get-all {key}
    ")), @r#"
    $ loopx hooks strict on --json
    {
      "schema_version": 1,
      "remote": "origin",
      "addresses": [
        "../hub.git"
      ],
      "strict": true
    }
    $ git config --get-all url.loopx::../hub.git.pushInsteadOf
    ../hub.git
    $ loopx hooks strict off --agent-id a
    [stderr] error: only a person may let pushes to `origin` go past loopx, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx hooks strict off --remote origin` in a terminal of their own
    [exit 1]
    $ loopx hooks strict off
    [stderr] error: only a person at a terminal may let pushes to `origin` go past loopx, and there is none
    [stderr] hint: run `loopx hooks strict off --remote origin` in a terminal
    [exit 1]
    $ git config --get-all url.loopx::../hub.git.pushInsteadOf
    ../hub.git
    "#);
    assert_snapshot!(repo.person("hooks strict off", "origin"), @"
    Without it, `git push --no-verify` asks nobody.

    Type `origin` to let pushes to `origin` go past loopx: origin
    pushes to origin no longer go through loopx
    ");
    assert_snapshot!(repo.scene(&format!("
        git config --get-all {key}
        git push -q --no-verify origin main
    ")), @"
    $ git config --get-all url.loopx::../hub.git.pushInsteadOf
    [exit 1]
    $ git push -q --no-verify origin main
    ");
}

#[test]
fn where_it_would_do_nothing_it_is_refused() {
    let repo = Sandbox::ready();
    repo.git("remote add web git://host.test/x.git").success();
    repo.git("remote add split ../hub.git").success();
    repo.git("config remote.split.pushurl ../other.git").success();
    assert_snapshot!(repo.scene("
        loopx hooks strict on
        loopx hooks strict on --remote web
        loopx hooks strict on --remote split
        loopx hooks strict on --remote nope
    "), @"
    $ loopx hooks strict on
    [stderr] error: there are 2 remotes
    [stderr] hint: add `--remote split`
    [exit 2]
    $ loopx hooks strict on --remote web
    [stderr] error: strict mode knows folders, `file://`, ssh and `https://`, and `git://host.test/x.git` is none of them
    [stderr] hint: run `git remote -v` for the addresses of your remotes
    [exit 1]
    $ loopx hooks strict on --remote split
    [stderr] error: strict mode would do nothing: remote `split` has an address for pushing alone, which git takes as it is
    [stderr] hint: run `git config --unset-all remote.split.pushurl` first
    [exit 1]
    $ loopx hooks strict on --remote nope
    [stderr] error: there is no remote `nope`
    [stderr] hint: run `git remote -v`
    [exit 1]
    ");
}

#[test]
fn without_the_helper_nothing_is_pushed() {
    let mut repo = strict();
    repo.clear_env();
    answer(&repo);
    let pushed = repo.git("push -q --no-verify origin main");
    assert_eq!(pushed.code, 128, "{pushed}");
    assert_eq!(there(&repo), "base\n");
    assert_snapshot!(repo.loopx("hooks strict on"), @"
    pushes to origin go through loopx
    [stderr] warning: `git-remote-loopx` is in no folder of `PATH`, so git cannot push there: put it where `loopx` is
    ");
}

#[test]
fn state_that_cannot_be_trusted_shuts_it() {
    let repo = strict();
    answer(&repo);
    repo.git("commit-tree -m forged loopx/state^{tree}").success();
    let forged = repo.git("commit-tree -m forged loopx/state^{tree}").success().stdout;
    repo.git(&format!("update-ref refs/heads/loopx/state {}", forged.trim())).success();
    assert_snapshot!(repo.git_shown("push -q --no-verify origin main"), @"
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] hint: or, if it is right as it is, a person takes it over with `loopx init`
    [stderr] To loopx::../hub.git
    [stderr]  ! [remote rejected] main -> main (refused by loopx)
    [stderr] error: failed to push some refs to 'loopx::../hub.git'
    [exit 1]
    ");
    assert_eq!(there(&repo), "base\n");
}

/// Answers one request with git's own program for web servers.
fn serve(stream: TcpStream, git: &Program, root: &str) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut request = String::new();
    reader.read_line(&mut request).ok()?;
    let (mut length, mut kind) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        match header.trim().to_ascii_lowercase().split_once(": ") {
            None => break,
            Some(("content-length", value)) => length = value.parse().ok()?,
            Some(("content-type", value)) => kind = value.to_owned(),
            Some(_) => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut words = request.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut command = git.command(&["http-backend".into()]);
    command.envs([("GIT_PROJECT_ROOT", root), ("GIT_HTTP_EXPORT_ALL", "1"), ("REMOTE_USER", "ann")]);
    command.envs([("REQUEST_METHOD", method), ("PATH_INFO", path), ("QUERY_STRING", query)]);
    command.envs([("CONTENT_TYPE", kind), ("CONTENT_LENGTH", length.to_string())]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    child.stdin.take()?.write_all(&body).ok()?;
    let answer = child.wait_with_output().ok()?.stdout;
    let mut stream = stream;
    stream.write_all(b"HTTP/1.0 200 OK\r\n").ok()?;
    stream.write_all(&answer).ok()
}

#[test]
fn a_web_server() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let repo = at(&format!("http://127.0.0.1:{port}/hub.git"));
    let (git, root) = (repo.program("git"), repo.root().display().to_string());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            serve(stream, &git, &root);
        }
    });
    if repo.git("ls-remote origin").code != 0 {
        // This git came without its programs for the web.
        return;
    }
    let pushed = |args: &str| repo.git_shown(args).to_string().replace(&format!(":{port}/"), ":[PORT]/");
    assert_snapshot!(pushed("push -q --no-verify origin main"), @r#"
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] To loopx::http://127.0.0.1:[PORT]/hub.git
    [stderr]  ! [remote rejected] main -> main (refused by loopx)
    [stderr] error: failed to push some refs to 'loopx::http://127.0.0.1:[PORT]/hub.git'
    [exit 1]
    "#);
    assert_eq!(there(&repo), "base\n");
    answer(&repo);
    assert_snapshot!(pushed("push -q --no-verify origin main"), @"");
    assert_snapshot!(pushed("push -q --no-verify origin HEAD~1:refs/heads/old"), @"");
    assert_snapshot!(pushed("push -q --no-verify origin :old"), @"");
    assert_snapshot!(pushed("push -q --no-verify origin loopx/state:innocent"), @"
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/innocent`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] To loopx::http://127.0.0.1:[PORT]/hub.git
    [stderr]  ! [remote rejected] loopx/state -> innocent (refused by loopx)
    [stderr] error: failed to push some refs to 'loopx::http://127.0.0.1:[PORT]/hub.git'
    [exit 1]
    ");
    assert_snapshot!(pushed("push -q origin main"), @"");
    assert_snapshot!(pushed("fetch -q"), @"");
    assert_eq!(there(&repo), "feature\n");
    assert_snapshot!(repo.loopx("bypass list"), @"");
}

#[test]
fn it_goes_with_the_hook() {
    for (command, word) in
        [("hooks uninstall", "unguarded"), ("uninstall", "uninstall"), ("uninstall --purge", "purge")]
    {
        let repo = strict();
        // A remote that is gone leaves its setting behind.
        repo.git("remote add other ../other.git").success();
        repo.loopx("hooks strict on --remote other").success();
        repo.git("remote remove other").success();
        repo.person(command, word).success();
        assert_eq!(repo.git("config --local --get-regexp ^url").stdout, "", "{command}");
        repo.git("push -q origin main").success();
        assert_eq!(there(&repo), "feature\n", "{command}");
    }
}

#[test]
fn the_state_goes_past_it_to_where_a_person_let_it_go() {
    let repo = strict();
    assert_snapshot!(repo.person("remote set origin", "origin"), @r"
    `loopx sync` will send the state of this repository to ../hub.git: goals, questions, answers, evidence, and who did what. Whoever can read there can read all of it.

    Type `origin` to let the state go to `origin`: origin
    the state may go to `origin` (../hub.git)
    next: loopx sync
    ");
    assert_snapshot!(repo.scene("
        loopx sync
        git push -q origin loopx/state:refs/heads/leak
    "), @r#"
    $ loopx sync
    pushed 3 commits to `origin`
    $ git push -q origin loopx/state:refs/heads/leak
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/leak`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to 'loopx::../hub.git'
    [exit 1]
    "#);
    repo.person("hooks strict off", "origin").success();
    repo.loopx("todo add one").success();
    repo.loopx("sync").success();
    assert_eq!(repo.git("--git-dir ../hub.git rev-parse refs/loopx/state").stdout, repo.tip());
}
