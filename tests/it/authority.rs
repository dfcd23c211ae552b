//! Who may do what: the table in the documentation is the one that the program goes by.

use loopx::domain::{
    authority::{BEYOND, Deed, Who, deeds, table},
    change::Op,
};

use crate::sandbox::Sandbox;

/// A repository in which everything that the table names can be asked for.
fn everything() -> (Sandbox, Vec<(&'static str, String)>) {
    let mut repo = Sandbox::with_remote();
    repo.env("LOOPX_GOAL", "ship");
    let mut names = vec![
        ("<todo>", repo.todo("work --agent-id a")),
        ("<errand>", repo.todo("errand --for person")),
        ("<spare>", repo.todo("spare --agent-id a")),
        ("<stopped>", repo.todo("stopped --agent-id a")),
        ("<checked>", repo.todo("checked --check true --agent-id a")),
        ("<watch>", repo.todo("watch --every 1h --agent-id a")),
    ];
    repo.loopx(&format!("todo block {} --reason wait", names[3].1)).success();
    repo.commit("news");
    repo.git("push -q --no-verify origin main:side").success();
    repo.loopx("todo add noticed --agent-id a").success();
    let bypasses = repo.loopx("bypass list --json").json();
    names.push(("<bypass>", bypasses["bypasses"][0]["id"].as_str().expect("an id").to_owned()));
    repo.loopx("hooks strict on --remote origin").success();
    repo.loopx("goal add Other --goal-id other --done-when fast").success();
    let seen = repo.loopx("evidence add --goal-id other --text fast --json").json();
    names.push(("<evidence>", seen["id"].as_str().expect("an id").to_owned()));
    let digest = "5".repeat(64);
    repo.person(&format!("secret allow {digest} --reason harmless"), &digest[..8]).success();
    names.push(("<digest>", digest));
    repo.loopx("gate open Open? --gate-id open --blocks push --agent-id a").success();
    repo.loopx("gate open No? --gate-id no --blocks push --agent-id a").success();
    repo.person("gate resolve no --decision reject", "no").success();
    for name in ["ann", "bob", "eve"] {
        let file = repo.path(name).display().to_string();
        repo.feed("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &file], "").success();
    }
    for name in ["ann", "bob"] {
        repo.person(&format!("approver add {name} --key ../{name}.pub"), name).success();
    }
    repo.person("notify set -- true", "notify").success();
    repo.loopx("export ../state.jsonl").success();
    names.push(("<commit>", repo.git("rev-parse loopx/state~1").stdout.trim().to_owned()));
    (repo, names)
}

fn all() -> impl Iterator<Item = (Option<Op>, Deed)> {
    let mutations =
        Op::ALL.into_iter().flat_map(|op| deeds(op).into_iter().map(move |deed| (Some(op), deed)));
    mutations.chain(BEYOND.into_iter().map(|deed| (None, deed)))
}

#[test]
fn the_table_in_the_documentation_is_the_one_in_the_code() {
    let page = include_str!("../../docs/authority.md");
    let (_, shown) = page.split_once("<!-- made by the program -->\n").expect("a table");
    let (shown, _) = shown.split_once("<!-- until here -->\n").expect("an end of the table");
    assert_eq!(shown, table(), "docs/authority.md should show\n{}", table());
}

#[test]
fn an_agent_gets_what_the_table_allows_and_is_refused_the_rest() {
    let (repo, names) = everything();
    for (op, deed) in all() {
        let Some(command) = deed.command else { continue };
        let command = names.iter().fold(command.to_owned(), |command, (name, id)| command.replace(name, id));
        if command == "init" && deed.who == Who::Person {
            let tip = repo.tip();
            repo.git("-C .loopx reset -q --hard HEAD~1").success();
            let refused = repo.loopx("init --agent-id a");
            assert!(refused.stderr.contains("error: only a person may take over"), "{refused}");
            repo.git(&format!("-C .loopx reset -q --hard {}", tip.trim())).success();
            continue;
        }
        if op == Some(Op::Import) {
            // What is there is never overwritten, whoever asks.
            let fresh = Sandbox::plain();
            fresh.loopx("init").success();
            fresh.write("state.jsonl", &repo.read("state.jsonl"));
            let refused = fresh.loopx(&format!("{command} --agent-id a"));
            assert!(refused.stderr.starts_with("error: only a person may "), "{refused}");
            continue;
        }
        let before = repo.tip();
        let told = repo.loopx(&format!("{command} --agent-id a"));
        match deed.who {
            Who::Anybody => drop(told.success()),
            Who::Person => {
                let says = match op {
                    Some(Op::TodoClaim | Op::TodoDone) => "is for a person, not for agent `a`",
                    Some(Op::TodoUnblock | Op::TodoDrop | Op::TodoEdit) => "person",
                    Some(Op::GoalAchieve) => "error: ",
                    _ => "error: only a person may ",
                };
                assert!(told.code == 1 && told.stderr.contains(says), "{command}: {told}");
                assert_eq!(repo.tip(), before, "{command}");
            }
        }
    }
}
