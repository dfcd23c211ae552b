//! `verify` tells a history of legal mutations from one that somebody else had a hand in.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A repository in which one of each mutation was made.
fn lived_in() -> Sandbox {
    let repo = Sandbox::with_remote();
    let todo = repo.todo("one --agent-id a");
    let other = repo.todo("two");
    repo.loopx(&format!("todo claim {todo} --agent-id a")).success();
    repo.loopx(&format!("todo release {todo} --agent-id a")).success();
    repo.loopx(&format!("evidence add {todo} --commit HEAD --agent-id a")).success();
    repo.loopx(&format!("todo done {todo} --agent-id a")).success();
    repo.loopx("quota spend-slot --turn-id turn-1 --agent-id a").success();
    repo.loopx("configure-goal --quota-compute 0.5 --agent-id a").success();
    repo.person("configure-goal --enable explore", "ship").success();
    repo.loopx(&format!("gate open Ready? --todo {other} --agent-id a")).success();
    repo.person("gate resolve ready --decision reject", "ready").success();
    repo.person("gate resolve ready --decision approve", "ready").success();
    repo
}

/// A repository in which each step of work, monitors and goals was made that [`lived_in`] lacks.
fn worked_in() -> Sandbox {
    let repo = Sandbox::with_remote();
    let one = repo.todo("one --check true --agent-id a");
    let two = repo.todo(&format!("two --needs {one} --agent-id a"));
    let monitor = repo.todo("watch --every 1h --agent-id a");
    for step in [
        format!("todo claim {one} --ttl 10m --agent-id a"),
        format!("todo renew {one} --ttl 1h --agent-id a"),
        format!("todo split {one} --into left right --agent-id a"),
        format!("todo edit {two} --no-needs {one} --title 'two more' --agent-id a"),
        format!("todo block {two} --reason why --agent-id a"),
        format!("todo unblock {two} --agent-id a"),
        format!("todo poll {monitor} --fingerprint red --agent-id a"),
        format!("todo poll {monitor} --fingerprint green --follow-up look --agent-id a"),
        format!("todo drop {two} --reason why --agent-id a"),
        format!("todo reopen {two} --agent-id a"),
        "todo add checked --check true --agent-id a".to_owned(),
        "goal pause --agent-id a".to_owned(),
    ] {
        repo.loopx(&step).success();
    }
    repo.person("goal resume ship", "ship").success();
    let listed = repo.loopx("todo list --search checked --json").json();
    repo.loopx(&format!("todo done {} --agent-id a", listed["todos"][0]["id"].as_str().expect("an id")))
        .success();
    let list = "- [ ] outer\n  - [ ] inner\n";
    repo.feed(crate::sandbox::LOOPX, &["todo", "add", "--from", "-", "--agent-id", "a"], list).success();
    repo.loopx("goal add Other --goal-id other").success();
    repo.person("goal abandon other --reason no", "other").success();
    repo.person("goal achieve ship", "ship").success();
    repo
}

#[test]
fn each_step_of_work_is_legal() {
    assert_snapshot!(worked_in().loopx("verify"), @"23 commits (23 new commits): each is one legal mutation, signed off");
}

#[test]
fn needs_that_lie_are_named() {
    let repo = Sandbox::ready();
    let one = repo.todo("one --agent-id a");
    let two = repo.todo(&format!("two --needs {one} --agent-id a"));
    let sign = repo.todo("sign --for person --agent-id a");
    let send = repo.todo(&format!("send --needs {sign} --agent-id a"));
    let tip = repo.tip();
    let path = |id: &str| format!("goals/ship/todos/{id}.toml");
    let todo = |id: &str| repo.read(&format!("repo/.loopx/{}", path(id)));
    let says = |op: &str, id: &str| {
        format!(
            "x\n\nLoopx-Op: {op}\nLoopx-Goal: ship\nLoopx-Record: todo/{id}\nLoopx-Actor: agent:a\nSigned-off-by: Ann <ann@example.test>\n"
        )
    };
    let needing =
        |id: &str, need: &str| todo(id).replace("\n[added]", &format!("needs = [\"{need}\"]\n\n[added]"));
    let line = |text: &str, begins: &str| -> String {
        text.lines().filter(|line| !line.starts_with(begins)).map(|line| format!("{line}\n")).collect()
    };
    let lies = [
        (path(&one), needing(&one, &two), says("todo.edit", &one)),
        (path(&one), needing(&one, "t-0000"), says("todo.edit", &one)),
        (path(&send), line(&todo(&send), "needs"), says("todo.edit", &send)),
        (
            path(&two),
            todo(&two).replace("is = \"open\"", "is = \"claimed\"\nby = \"agent:a\"\nsince = \"2026-11-30T12:00:00Z\"\nlease_until = \"2026-11-30T12:45:00Z\"\nepoch = 1"),
            says("todo.claim", &two),
        ),
    ];
    let mut said = String::new();
    for (path, text, message) in lies {
        repo.forge_as(&path, &text, &message);
        let verified = repo.loopx("verify --json");
        assert_eq!(verified.code, 1, "{path}: {message}");
        said.push_str(&format!("{}\n", verified.json()["bad"]["problem"].as_str().expect("a sentence")));
        repo.git(&format!("update-ref refs/heads/loopx/state {}", tip.trim())).success();
    }
    assert_snapshot!(said, @"
    it is refused: todo `t-fdjx` would need itself: `t-fdjx` needs `t-7p0h` needs `t-fdjx`
    todo/t-fdjx needs `t-0000`, which is not there
    it is refused: todo `t-c22j` needs `t-s29v`, which is for a person, and agent `a` may not leave that out
    it is refused: todo `t-7p0h` needs `t-fdjx`, which is not closed yet
    ");
}

#[test]
fn what_loopx_does_is_legal_and_is_looked_at_once() {
    let repo = lived_in();
    assert_snapshot!(repo.scene("
        loopx verify
        loopx todo add three
        loopx verify
        loopx verify --all
    "), @"
    $ loopx verify
    14 commits (14 new commits): each is one legal mutation, signed off
    $ loopx todo add three
    added todo t-fb6j: three
    $ loopx verify
    15 commits (1 new commit): each is one legal mutation, signed off
    $ loopx verify --all
    15 commits (15 new commits): each is one legal mutation, signed off
    ");
}

#[test]
fn every_lie_is_named() {
    let repo = lived_in();
    repo.loopx("gate open 'Really?' --agent-id a").success();
    let tip = repo.tip();
    let open = repo.read("repo/.loopx/goals/ship/gates/really.toml");
    let todos = repo.loopx("todo list --json").json();
    let id = todos["todos"][0]["id"].as_str().expect("an id").to_owned();
    let (path, todo) = (
        format!("goals/ship/todos/{id}.toml"),
        repo.read(&format!("repo/.loopx/goals/ship/todos/{id}.toml")),
    );
    let signed = "Signed-off-by: Ann <ann@example.test>";
    let says = |op: &str, record: &str, actor: &str| {
        format!(
            "x\n\nLoopx-Op: {op}\nLoopx-Goal: ship\nLoopx-Record: {record}\nLoopx-Actor: {actor}\n{signed}\n"
        )
    };
    let gate = "goals/ship/gates/really.toml";
    let record = format!("todo/{id}");
    let lies = [
        (gate, open.replace("Really?", "Fine?"), "by hand".to_owned()),
        (
            gate,
            open.replace("Really?", "Fine?"),
            format!("x\n\nLoopx-Op: gate.open\nLoopx-Actor: person\n{signed}\n{signed}\n"),
        ),
        (
            gate,
            open.replace("Really?", "Fine?"),
            says("gate.open", "gate/really", "person").replace("Ann", "Mallory"),
        ),
        (gate, open.replace("Really?", "Fine?"), says("gate.open", "gate/really", "person")),
        (gate, open.replace("Really?", "Fine?"), says("gate.vanish", "gate/really", "person")),
        (gate, open.replace("Really?", "Fine?"), says("gate.open", "gate/really", "mallory")),
        (gate, open.replace("Really?", "Fine?"), says("todo.add", &record, "person")),
        (gate, open.replace("is = \"open\"", "is = 'open'"), says("gate.open", "gate/really", "person")),
        (path.as_str(), todo.replace("two", "three"), says("todo.claim", &record, "agent:a")),
        (
            path.as_str(),
            todo.replace("two", "three"),
            says("todo.claim", &record, "agent:a").replace("ship", "other"),
        ),
        ("goals/ship/notes.md", "mine".to_owned(), says("todo.add", &record, "agent:a")),
        ("goals/ship/todos/closed/t-0000.toml", todo.clone(), says("todo.add", "todo/t-0000", "agent:a")),
        ("loopx.toml", repo.read("repo/.loopx/loopx.toml") + "\n", says("init", "policy", "person")),
        (
            "quota.json",
            repo.read("repo/.loopx/quota.json").replace("0.5", "1.0"),
            says("goal.configure", "quota", "agent:a"),
        ),
        ("goals/ship/todos/closed/000001-000256.jsonl", "{}\n".to_owned(), says("fold", "x", "agent:a")),
    ];
    let mut said = String::new();
    for (path, text, message) in lies {
        repo.forge_as(path, &text, &message);
        let verified = repo.loopx("verify --json");
        assert_eq!(verified.code, 1, "{path}: {message}");
        said.push_str(&format!("{}\n", verified.json()["bad"]["problem"].as_str().expect("a sentence")));
        repo.git(&format!("update-ref refs/heads/loopx/state {}", tip.trim())).success();
    }
    assert_snapshot!(said, @"
    it has no `Signed-off-by` trailer
    it has several `Signed-off-by` trailers
    it is not signed off by the one who made it
    `gate.open` does not do that to gate/really
    `gate.vanish` is no kind of mutation
    `mallory` is no actor
    it changes gate/really and does not say so
    `goals/ship/gates/really.toml` is not in canonical form
    todo/t-sry7 is not what `todo.claim` makes of it
    it changes goal `ship` and does not say so
    it changes `goals/ship/notes.md`, which is no record
    `goals/ship/todos/closed/t-0000.toml` is not where the record belongs
    `loopx.toml` is not in canonical form
    only a person may do that, and a did
    it folds nothing that could be folded
    ");
}

#[test]
fn a_lie_in_several_files_or_in_none_is_named() {
    let repo = lived_in();
    let todos = repo.loopx("todo list --all --json").json();
    let id = |state: &str| {
        let todos = todos["todos"].as_array().expect("todos");
        let todo = todos.iter().find(|todo| todo["state"]["is"] == state).expect("a todo");
        todo["id"].as_str().expect("an id").to_owned()
    };
    let (open, done, tip) = (id("open"), id("done"), repo.tip());
    let file = |below: &str, id: &str| format!("repo/.loopx/goals/ship/todos/{below}{id}.toml");
    let (open_text, done_text) = (repo.read(&file("", &open)), repo.read(&file("closed/", &done)));
    let mut said = String::new();
    let mut check = |goal: &str, op: &str, id: &str| {
        let words =
            format!("Loopx-Op: {op}\nLoopx-Goal: {goal}\nLoopx-Record: todo/{id}\nLoopx-Actor: agent:a");
        repo.git("-C .loopx add -A").success();
        repo.git(&format!("-C .loopx commit -q -s --allow-empty -m x -m '{words}'")).success();
        let verified = repo.loopx("verify --json").json();
        said.push_str(&format!("{}\n", verified["bad"]["problem"].as_str().expect("a sentence")));
        repo.git(&format!("-C .loopx reset -q --hard {}", tip.trim())).success();
    };
    check("ship", "goal.configure", &open);
    repo.write(&file("", &done), &open_text);
    check("ship", "todo.add", &done);
    let done_again = done_text.replace("epoch", "evidence = [\"e-0000\"]\nepoch");
    repo.write("repo/.loopx/goals/ship/todos/closed/t-0000.toml", &done_again);
    check("ship", "todo.done", "t-0000");
    repo.write("repo/.loopx/goals/nope/todos/t-0000.toml", &open_text);
    check("nope", "todo.add", "t-0000");
    repo.write(&file("closed/", &open), &done_text);
    repo.write(&file("", &open), &open_text.replace("two", "three"));
    check("ship", "todo.done", &open);
    std::fs::remove_file(repo.path(&file("closed/", &done))).expect("a record");
    std::os::unix::fs::symlink("x", repo.path(&file("closed/", &done))).expect("a link");
    check("ship", "todo.done", &done);
    let spend = repo.git("-C .loopx ls-files goals/ship/spend").success().stdout;
    let spend = repo.read(&format!("repo/.loopx/{}", spend.trim()));
    let slots = spend.replace("\"slots\": 1", "\"slots\": 9999");
    repo.write("repo/.loopx/goals/ship/spend/s-000000000000.json", &slots);
    check("ship", "quota.spend", "t-0000");
    assert_snapshot!(said.replace(&open, "[OPEN]").replace(&done, "[DONE]"), @"
    it changes no record
    it adds todo/[DONE], which there was already
    it completes todo/t-0000 with evidence `e-0000`, which is not there
    it adds todo/t-0000 to goal `nope`, which is not there
    it has todo/[OPEN] in two places
    `goals/ship/todos/closed/[DONE].toml` on the state branch cannot be read: it is not a plain file
    it is refused: goal `ship` has 24 of 24 slots left in this window, and 9999 are wanted
    ");
}

#[test]
fn the_first_bad_commit_is_shown_with_the_way_back() {
    let repo = lived_in();
    repo.forge("goals/ship/todos/t-0000.toml", "mine");
    repo.forge("goals/ship/todos/t-0001.toml", "mine");
    assert_snapshot!(repo.loopx("verify"), @r#"
    NOT A LEGAL MUTATION: [ID] "forged", 8 s ago: it has no `Signed-off-by` trailer
      see it with `git show [ID]`
      all is well up to the commit before it; go back with `git update-ref refs/heads/loopx/state [ID]`,
      or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    "#);
}

#[test]
fn a_person_is_shown_the_verdict_before_taking_over() {
    let repo = lived_in();
    let open = repo.todo("four");
    let path = format!("goals/ship/todos/{open}.toml");
    repo.forge(&path, &repo.read(&format!("repo/.loopx/{path}")).replace("four", "five"));
    repo.git("-C .loopx reset -q --hard").success();
    assert_snapshot!(repo.person("init", "loopx/state"), @"
    This will take over what something else than loopx put on `loopx/state`
    What is there: commit [ID] is no legal mutation: it has no `Signed-off-by` trailer
    Look at it first: git log --patch [ID]...loopx/state

    Type `loopx/state` to take over what something else than loopx put on `loopx/state`: loopx/state
    adopted the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    ");

    let repo = lived_in();
    std::fs::remove_file(repo.path("repo/.git/loopx/writer")).expect("the note");
    assert_snapshot!(repo.person("init", "no"), @"
    This will take over what something else than loopx put on `loopx/state`
    What is there: each commit of it is a legal mutation
    Look at it first: git log --patch loopx/state

    Type `loopx/state` to take over what something else than loopx put on `loopx/state`: no
    error: that was not `loopx/state`, so nothing was changed
    hint: run `loopx init` again
    [exit 1]
    ");
    assert_snapshot!(repo.person("init", "loopx/state"), @"
    This will take over what something else than loopx put on `loopx/state`
    What is there: each commit of it is a legal mutation
    Look at it first: git log --patch loopx/state

    Type `loopx/state` to take over what something else than loopx put on `loopx/state`: loopx/state
    adopted the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    ");
    repo.git("push -q origin main").success();
}

#[test]
fn a_note_that_all_was_verified_does_not_soothe_who_takes_over() {
    let repo = lived_in();
    let open = repo.todo("four");
    let path = format!("goals/ship/todos/{open}.toml");
    repo.forge(&path, &repo.read(&format!("repo/.loopx/{path}")).replace("four", "five"));
    repo.write("repo/.git/loopx/verified", &repo.tip());
    assert_snapshot!(repo.person("init", "no"), @"
    This will take over what something else than loopx put on `loopx/state`
    What is there: commit [ID] is no legal mutation: it has no `Signed-off-by` trailer
    Look at it first: git log --patch [ID]...loopx/state

    Type `loopx/state` to take over what something else than loopx put on `loopx/state`: no
    error: that was not `loopx/state`, so nothing was changed
    hint: run `loopx init` again
    [exit 1]
    ");
}

#[test]
fn without_a_place_for_its_note_verify_looks_all_the_same() {
    let repo = lived_in();
    std::fs::remove_dir_all(repo.path("repo/.git/loopx")).expect("the folder");
    assert_snapshot!(repo.person("init", "loopx/state"), @"
    This will take over what something else than loopx put on `loopx/state`
    What is there: each commit of it is a legal mutation
    Look at it first: git log --patch loopx/state

    Type `loopx/state` to take over what something else than loopx put on `loopx/state`: loopx/state
    adopted the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    ");
    std::fs::remove_dir_all(repo.path("repo/.git/loopx")).expect("the folder");
    repo.write("repo/.git/loopx", "a file");
    assert_snapshot!(repo.loopx("verify"), @"14 commits (14 new commits): each is one legal mutation, signed off");
}
