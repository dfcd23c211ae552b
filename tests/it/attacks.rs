//! An agent that wants to get past a question, with everything that a shell gives it. Each attempt is played; what came of it
//! is what `docs/security.md` says.
//!
//! An attempt is *refused* when it does not get what it wants, *noticed* when it does and `loopx status` or `loopx verify` says
//! so afterwards, and otherwise neither: these are the ones a reader should know best.

use loopx::domain::{
    actor::{Autograph, Proof},
    gate::{Gate, GateState, Seen},
    statement::{Decided, Statement},
};

use crate::{
    sandbox::{LOOPX, Sandbox},
    server::by_receipt,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Refused,
    Noticed,
    Neither,
}
use Fate::{Neither, Noticed, Refused};

/// What is tried, what comes of it and thanks to what, and the attempt: whether it got what it wanted.
type Attempt = (&'static str, Fate, &'static str, fn(&mut Sandbox) -> bool);

/// A commit to push, a todo, and a question over everything that an agent asked.
fn held() -> Sandbox {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.todo("work");
    repo.loopx("gate open Ready? --agent-id a").success();
    repo
}

/// The same where answers are signed.
fn signed() -> Sandbox {
    let repo = held();
    for name in ["ann", "eve"] {
        let file = repo.path(&format!("home/{name}")).display().to_string();
        repo.feed("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &file], "").success();
    }
    repo.person("approver add ann --key ../home/ann.pub", "ann").success();
    repo.loopx("policy set approval=signed").success();
    repo
}

/// A commit that a person said yes to, before a standing gate.
fn standing() -> Sandbox {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("gate open Good? --gate-id ready --standing --branch main --agent-id a").success();
    repo.person("gate resolve ready --decision approve", "ready approve").success();
    repo
}

fn sh(repo: &Sandbox, script: &str) -> bool {
    let script = ["\n", " ", "'"].iter().fold(format!("\n{script}"), |script, before| {
        script.replace(&format!("{before}loopx "), &format!("{before}{LOOPX} "))
    });
    repo.feed("sh", &["-c", &script], "").code == 0
}

/// Pushes, and looks whether the commit has arrived.
fn push(repo: &Sandbox) -> bool {
    push_as(repo, "git push -q origin main")
}

fn push_as(repo: &Sandbox, script: &str) -> bool {
    sh(repo, script);
    has_arrived(repo)
}

fn has_arrived(repo: &Sandbox) -> bool {
    let here = repo.git("rev-parse main").stdout;
    repo.git(&format!("-C ../hub.git cat-file -e {}", here.trim())).code == 0
}

/// Whether the question is not open any more.
fn is_answered(repo: &Sandbox) -> bool {
    !repo.loopx("gate show ready").stdout.contains("  state    open\n")
}

fn try_and_push(repo: &Sandbox, script: &str) -> bool {
    sh(repo, script);
    push(repo)
}

/// Pushes after something that has to work.
#[track_caller]
fn push_after(repo: &Sandbox, script: &str) -> bool {
    assert!(sh(repo, script), "{script}");
    push(repo)
}

/// The only todo.
fn todo(repo: &Sandbox) -> String {
    repo.loopx("todo list --json").json()["todos"][0]["id"].as_str().expect("an id").to_owned()
}

fn does(repo: &Sandbox, script: &str) -> bool {
    let before = repo.tip();
    sh(repo, script) && repo.tip() != before
}

fn is_noticed(repo: &mut Sandbox) -> bool {
    repo.clear_env();
    let status = repo.loopx("status");
    let says = |word| status.stdout.contains(word);
    status.code != 0
        || says(" NOT ")
        || says("ROUND THE HOOK")
        || says("round the hook")
        || repo.loopx("verify --all").code != 0
}

/// Puts a record on the state branch with everything that loopx's own commits have, and with loopx's own note of it.
fn forge(repo: &Sandbox, path: &str, text: &str, subject: &str, op: &str, record: &str) {
    let goal = if path.starts_with("goals/") { "Loopx-Goal: ship\n" } else { "" };
    let message = format!(
        "{subject}\n\nLoopx-Op: {op}\n{goal}Loopx-Record: {record}\nLoopx-Actor: person\nSigned-off-by: Ann <ann@example.test>\n"
    );
    repo.forge_as(path, text, &message);
    repo.write("repo/.git/loopx/writer", &format!("idle {} loopx/state", repo.tip().trim()));
}

/// Says no at the gate in the name of a person (a yes would have to move a file, which changes nothing about what is checked).
fn forge_answer(repo: &mut Sandbox, proof: impl FnOnce(&Gate) -> Proof) -> bool {
    let path = "goals/ship/gates/ready.toml";
    let text = repo.git(&format!("show loopx/state:{path}")).success().stdout;
    let mut gate: Gate =
        toml::from_str(text.strip_prefix("format = \"1.0\"\n").expect("a version")).expect("a gate");
    let at = gate.asked.at.plus(loopx::domain::time::Seconds(3600));
    let (by, decision) =
        ("Ann <ann@example.test>".parse().expect("a person"), "reject".parse().expect("an answer"));
    let seen = Seen { question: gate.digest(), commit: None, tree: None };
    let proof = proof(&gate);
    gate.state = GateState::Resolved { decision, by, at, note: None, seen, proof, after: vec![] };
    let text = format!("format = \"1.0\"\n{}", toml::to_string(&gate).expect("a record"));
    for name in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
        repo.env(name, &format!("{} +0000", at.unix()));
    }
    forge(repo, path, &text, "reject gate ready", "gate.resolve", "gate/ready");
    repo.loopx("gate show ready").stdout.contains("reject by Ann")
}

/// What [`forge_answer`] says, as it would be signed.
fn statement(gate: &Gate, repository: String) -> String {
    let (goal, id, question) =
        ("ship".parse().expect("a goal"), "ready".parse().expect("a gate"), gate.digest());
    let seen = Seen { question: question.clone(), commit: None, tree: None };
    let decided = Decided {
        goal: &goal,
        gate: &id,
        question: &question,
        seen: Some(&seen),
        decision: "reject",
        note: None,
        at: gate.asked.at.plus(loopx::domain::time::Seconds(3600)),
    };
    let repository = repository.try_into().expect("an id");
    Statement::at_gate(&repository, &decided, "0123456789abcdef0123456789abcdef").to_string()
}

#[track_caller]
fn play(world: fn() -> Sandbox, attempts: &[Attempt]) -> String {
    let (mut rows, mut others) = (String::new(), Vec::new());
    for (how, fate, thanks_to, attempt) in attempts {
        let mut repo = world();
        let got = attempt(&mut repo);
        let real = match got {
            false => Refused,
            true if is_noticed(&mut repo) => Noticed,
            true => Neither,
        };
        if real != *fate {
            others.push(format!("{how}: {real:?}"));
        }
        let fate = match fate {
            Refused => "refused",
            Noticed => "noticed",
            Neither => "**neither**",
        };
        rows.push_str(&format!("| {how} | {fate} | {thanks_to} |\n"));
    }
    assert_eq!(others, [""; 0], "came out otherwise");
    rows
}

#[track_caller]
fn must_be_told(name: &str, rows: &str) {
    let page = include_str!("../../docs/security.md");
    let (_, told) = page.split_once(&format!("<!-- attempts: {name} -->\n")).expect("a table");
    let (told, _) = told.split_once("<!-- until here -->").expect("an end");
    let wanted = format!("| attempt | what comes of it | thanks to |\n|---|---|---|\n{rows}");
    assert!(told == wanted, "docs/security.md should show for {name}\n{wanted}\n  end");
}

#[test]
fn answering_in_a_persons_stead() {
    let attempts: &[Attempt] = &[
        ("answer without a terminal", Refused, "no controlling terminal, no answer", |repo| {
            sh(repo, "loopx gate resolve ready --decision approve");
            is_answered(repo)
        }),
        ("empty the environment first", Refused, "no controlling terminal, no answer", |repo| {
            sh(repo, "env -i HOME=\"$HOME\" PATH=\"$PATH\" loopx gate resolve ready --decision approve");
            is_answered(repo)
        }),
        (
            "pipe the word in, in a session of its own",
            Refused,
            "no controlling terminal, no answer",
            |repo| {
                sh(repo, "echo ready | setsid -w loopx gate resolve ready --decision approve");
                is_answered(repo)
            },
        ),
        ("pipe the word in at a person's terminal", Refused, "standard input has to be a terminal", |repo| {
            let pipe = format!("yes ready | {LOOPX} gate resolve ready --decision approve");
            repo.at_a_terminal("sh", &["-c".into(), pipe.into()], "ready");
            is_answered(repo)
        }),
        (
            "open a terminal with `script`, with the host's mark still set",
            Refused,
            "the mark of an agent",
            |repo| {
                repo.env("CLAUDECODE", "1");
                sh(repo, "echo ready | script -qec 'loopx gate resolve ready --decision approve' /dev/null");
                is_answered(repo)
            },
        ),
        (
            "type at a terminal with `LOOPX_AGENT_ID` emptied and the host's mark still set",
            Refused,
            "the mark of an agent",
            |repo| {
                repo.env("CODEX_THREAD_ID", "7").env("LOOPX_AGENT_ID", "");
                repo.person("gate resolve ready --decision approve", "ready");
                is_answered(repo)
            },
        ),
        ("take git's name of the person and answer", Refused, "a name is no terminal", |repo| {
            sh(repo, "git config user.name Boss && loopx gate resolve ready --decision approve");
            is_answered(repo)
        }),
        ("call itself a person by `--agent-id`", Refused, "whoever is named is an agent", |repo| {
            repo.person("gate resolve ready --decision approve --agent-id Ann", "ready");
            is_answered(repo)
        }),
        ("type `y`", Refused, "the gate's id has to be typed", |repo| {
            repo.person("gate resolve ready --decision approve", "y");
            is_answered(repo)
        }),
        (
            "clear its marks, open a terminal of its own, and type the id",
            Neither,
            "the terminal policy is a guard rail; `approval=signed` is for this",
            |repo| {
                repo.person("gate resolve ready --decision approve", "ready");
                is_answered(repo)
            },
        ),
        ("take the question back", Refused, "a person's to do", |repo| {
            sh(repo, "loopx gate withdraw ready --reason moot");
            is_answered(repo)
        }),
        ("open a gate of the same id with another question", Refused, "an id is used once", |repo| {
            does(repo, "loopx gate open 'Nothing?' --gate-id ready --blocks turn")
        }),
        ("open a gate of the same id in another goal", Refused, "each gate holds by itself", |repo| {
            try_and_push(
                repo,
                "loopx goal add Other --goal-id other && loopx gate open No? --gate-id ready --goal-id other --blocks turn",
            )
        }),
        ("name another goal by `LOOPX_GOAL` and push", Refused, "a push is asked of all goals", |repo| {
            try_and_push(
                repo,
                "loopx goal add Other --goal-id other; export LOOPX_GOAL=other; git push -q origin main",
            )
        }),
        ("take the todo all the same", Refused, "asked at every claim", |repo| {
            does(repo, &format!("loopx todo claim {} --agent-id a", todo(repo)))
        }),
        ("complete the todo without taking it", Refused, "asked at every completion", |repo| {
            does(repo, &format!("loopx todo done {} --agent-id a", todo(repo)))
        }),
        ("raise the quota", Refused, "a person's to do", |repo| {
            does(repo, "loopx configure-goal --quota-slot-minutes 1")
        }),
        ("switch a feature on", Refused, "a person's to do", |repo| {
            does(repo, "loopx configure-goal --enable explore")
        }),
        ("type the answers into `gate review`", Refused, "no controlling terminal, no answer", |repo| {
            does(repo, "printf 'a\\nready\\n' | loopx gate review")
        }),
        ("have a command of its own run when something waits", Refused, "a person's to do", |repo| {
            sh(repo, "loopx notify set true")
        }),
        ("leave the history behind", Refused, "a person's to do", |repo| does(repo, "loopx compact --apply")),
        ("take loopx out of the clone", Refused, "a person's to do", |repo| {
            try_and_push(repo, "loopx uninstall --purge")
        }),
        ("take the hook out by command", Refused, "a person's to do", |repo| {
            try_and_push(repo, "loopx hooks uninstall")
        }),
        ("list a key of its own", Refused, "a person's to do", |repo| {
            does(repo, "ssh-keygen -q -t ed25519 -N '' -f ../k && loopx approver add me --key ../k.pub")
        }),
    ];
    must_be_told("answers", &play(held, attempts));
}

#[test]
fn changing_what_is_kept() {
    let attempts: &[Attempt] = &[
        ("edit the gate's file in `.loopx/`", Refused, "the files are a view; the branch is read", |repo| {
            push_after(repo, "sed -i 's/is = \"open\"/is = \"resolved\"/' .loopx/goals/ship/gates/ready.toml")
        }),
        ("move the gate's file to `closed/`", Refused, "the files are a view; the branch is read", |repo| {
            push_after(
                repo,
                "mkdir -p .loopx/goals/ship/gates/closed && mv .loopx/goals/ship/gates/ready.toml .loopx/goals/ship/gates/closed/",
            )
        }),
        (
            "commit that edit in `.loopx/`",
            Refused,
            "a tip that loopx did not leave is relied on by nothing",
            |repo| {
                push_after(
                    repo,
                    "git -C .loopx rm -q goals/ship/gates/ready.toml && git -C .loopx commit -q -m 'approve gate ready'",
                )
            },
        ),
        ("remove `.loopx/`", Refused, "the files are a view; the branch is read", |repo| {
            push_after(repo, "rm -rf .loopx")
        }),
        ("remove the worktree", Refused, "the files are a view; the branch is read", |repo| {
            push_after(repo, "git worktree remove -f -f .loopx")
        }),
        ("delete the branch", Refused, "a gate that cannot see is shut", |repo| {
            push_after(repo, "git update-ref -d refs/heads/loopx/state")
        }),
        ("rename the branch", Refused, "a gate that cannot see is shut", |repo| {
            push_after(repo, "git branch -m loopx/state old")
        }),
        (
            "move the branch back to before the question",
            Refused,
            "a tip that loopx did not leave is relied on by nothing",
            |repo| push_after(repo, "git update-ref refs/heads/loopx/state loopx/state~1"),
        ),
        (
            "point `loopx.branch` at another branch with a state",
            Refused,
            "loopx notes where it left the state",
            |repo| push_after(repo, "git branch other loopx/state~1 && git config loopx.branch other"),
        ),
        ("remove `.git/loopx/`", Refused, "without its note no tip is relied on", |repo| {
            push_after(repo, "rm -rf .git/loopx")
        }),
        (
            "write nonsense into `.git/loopx/hot`",
            Refused,
            "bytes are believed only by their digest",
            |repo| push_after(repo, "echo nonsense > .git/loopx/hot"),
        ),
        (
            "claim work out of turn, with word in `.git/loopx/open-<goal>` that it is ready",
            Refused,
            "claims and gates read the state alone",
            |repo| {
                let ids = crate::work::chain(repo);
                crate::work::call_ready(repo, &ids[50]);
                repo.loopx(&format!("todo claim {} --agent-id a", ids[50])).code == 0
            },
        ),
        ("replace the commit with `git replace`", Refused, "replacements are not followed", |repo| {
            push_after(repo, "git replace loopx/state loopx/state~1")
        }),
        ("make a record unreadable", Refused, "a gate that cannot see is shut", |repo| {
            repo.plant("goals/ship/gates/ready.toml", "");
            push(repo)
        }),
        ("claim a format that no program knows", Refused, "a gate that cannot see is shut", |repo| {
            repo.plant("goals/ship/gates/ready.toml", "format = \"9.0\"\n");
            push(repo)
        }),
        (
            "put a state without a past in its place",
            Refused,
            "a tip that loopx did not leave is relied on by nothing",
            |repo| {
                let tree = repo.git("rev-parse loopx/state~1^{tree}").stdout;
                let message =
                    "x\n\nLoopx-Op: checkpoint\nLoopx-Actor: person\nSigned-off-by: Ann <ann@example.test>\n";
                let commit = repo.feed("git", &["commit-tree", tree.trim()], message).stdout;
                push_after(repo, &format!("git update-ref refs/heads/loopx/state {}", commit.trim()))
            },
        ),
        ("go back to before the question by `loopx restore`", Refused, "a person's to do", |repo| {
            try_and_push(repo, "loopx restore --to loopx/state~1")
        }),
        ("take over by `loopx init` what it did", Refused, "a person's to do", |repo| {
            try_and_push(repo, "git update-ref refs/heads/loopx/state loopx/state~1; loopx init")
        }),
        (
            "write a record with loopx's own note, without a proof",
            Noticed,
            "`verify` runs each step again",
            |repo| {
                forge(
                    repo,
                    "goals/ship/gates/ready.toml",
                    "format = \"1.0\"\n",
                    "x",
                    "gate.resolve",
                    "gate/ready",
                );
                true
            },
        ),
        (
            "raise the quota by a commit with loopx's own note, in an agent's name",
            Noticed,
            "`verify` runs each step again",
            |repo| {
                let quota = "{\n  \"format\": \"1.0\",\n  \"goals\": {\n    \"ship\": {\n      \"compute\": 1.0,\n      \"window_hours\": 1,\n      \"slot_minutes\": 1\n    }\n  }\n}\n";
                repo.forge_as("quota.json", quota, "configure goal ship\n\nLoopx-Op: goal.configure\nLoopx-Goal: ship\nLoopx-Record: quota\nLoopx-Actor: agent:a\nSigned-off-by: Ann <ann@example.test>\n");
                repo.write("repo/.git/loopx/writer", &format!("idle {} loopx/state", repo.tip().trim()));
                true
            },
        ),
        (
            "write a whole answer in the person's name, with loopx's own note",
            Neither,
            "what loopx does as a person, a program that does the same can do; `approval=signed` is for this",
            |repo| forge_answer(repo, |_| Proof::Terminal { typed: "ready".into() }),
        ),
    ];
    must_be_told("state", &play(held, attempts));
}

/// One slot a day, which is used up.
fn used_up() -> Sandbox {
    let repo = Sandbox::ready();
    repo.todo("work");
    repo.loopx("configure-goal --quota-slots 1 --agent-id a").success();
    repo.loopx("quota spend-slot --turn-id turn-1 --agent-id a").success();
    repo
}

/// Whether another turn may be begun.
fn may_go_on(repo: &Sandbox) -> bool {
    repo.loopx("turn begin --agent-id a").code == 0
}

/// Puts something else in the place of what a file of the state says, in a commit with loopx's own note.
fn reword(repo: &Sandbox, path: &str, from: &str, to: &str, op: &str, record: &str, actor: &str) -> bool {
    let text = repo.git(&format!("show loopx/state:{path}")).success().stdout;
    assert!(text.contains(from), "{text}");
    let goal = if path.starts_with("goals/") { "Loopx-Goal: ship\n" } else { "" };
    let message = format!(
        "x\n\nLoopx-Op: {op}\n{goal}Loopx-Record: {record}\nLoopx-Actor: {actor}\nSigned-off-by: Ann <ann@example.test>\n"
    );
    repo.forge_as(path, &text.replacen(from, to, 1), &message);
    repo.write("repo/.git/loopx/writer", &format!("idle {} loopx/state", repo.tip().trim()));
    may_go_on(repo)
}

/// The booking of `turn-1`.
fn booking(repo: &Sandbox) -> String {
    let folder = repo.git("ls-tree --name-only loopx/state:goals/ship/spend").success().stdout;
    folder.trim().trim_end_matches(".json").to_owned()
}

#[test]
fn getting_more_turns() {
    const VOIDED: &str = "  \"voided\": {\n    \"by\": \"Ann <ann@example.test>\",\n    \"at\": \"2026-11-30T12:00:09Z\",\n    \"reason\": \"crashed\",\n    \"proof\": {\n      \"kind\": \"terminal\",\n      \"typed\": \"turn-1\"\n    }\n  }\n}\n";
    const GRANTED: &str = "\"slots\": 1,\n      \"grants\": [\n        {\n          \"slots\": 9,\n          \"until\": \"2026-11-30T20:00:00Z\",\n          \"by\": \"Ann <ann@example.test>\",\n          \"at\": \"2026-11-30T12:00:09Z\",\n          \"reason\": \"release\",\n          \"proof\": {\n            \"kind\": \"terminal\",\n            \"typed\": \"grant 9\"\n          }\n        }\n      ]";
    fn voided(repo: &Sandbox, op: &str, actor: &str) -> bool {
        let record = booking(repo);
        let path = format!("goals/ship/spend/{record}.json");
        let text = repo.git(&format!("show loopx/state:{path}")).success().stdout;
        let end = text.rfind("\n}").expect("an object");
        let (end, to) = (text[end - 4..].to_owned(), format!("{},\n{VOIDED}", &text[end - 4..end]));
        reword(repo, &path, &end, &to, op, &format!("spend/{record}"), actor)
    }
    fn granted(repo: &Sandbox, op: &str, actor: &str) -> bool {
        reword(repo, "quota.json", "\"slots\": 1", GRANTED, op, "quota", actor)
    }
    let attempts: &[Attempt] = &[
        ("grant itself slots", Refused, "a person's to do", |repo| {
            sh(repo, "loopx quota grant --slots 9 --for 2h --reason release --agent-id a");
            may_go_on(repo)
        }),
        (
            "grant slots in a person's name, without a terminal",
            Refused,
            "no controlling terminal, no answer",
            |repo| {
                sh(repo, "echo grant 9 | setsid -w loopx quota grant --slots 9 --for 2h --reason release");
                may_go_on(repo)
            },
        ),
        ("void what it booked", Refused, "a person's to do", |repo| {
            sh(repo, "loopx quota void turn-1 --reason crashed --agent-id a");
            may_go_on(repo)
        }),
        ("take the cap away", Refused, "a person's to do", |repo| {
            sh(repo, "loopx configure-goal --quota-slots none --agent-id a");
            may_go_on(repo)
        }),
        ("make the window shorter", Refused, "a person's to do", |repo| {
            sh(repo, "loopx configure-goal --quota-window-hours 1 --agent-id a");
            repo.sleep(3600);
            may_go_on(repo)
        }),
        ("book the same turn again, with less", Refused, "a turn is booked once", |repo| {
            sh(repo, "loopx quota spend-slot --turn-id turn-1 --slots 1 --agent-id b");
            may_go_on(repo)
        }),
        (
            "write a grant into the state with loopx's own note, in its own name",
            Noticed,
            "`verify` lets a person only",
            |repo| granted(repo, "quota.grant", "agent:a"),
        ),
        (
            "write it there as a change of the configuration",
            Noticed,
            "`verify` runs each step again",
            |repo| granted(repo, "goal.configure", "person"),
        ),
        (
            "mark its booking as voided with loopx's own note, in its own name",
            Noticed,
            "`verify` lets a person only",
            |repo| voided(repo, "quota.void", "agent:a"),
        ),
        (
            "mark it as voided by the commit of another booking",
            Noticed,
            "`verify` runs each step again",
            |repo| voided(repo, "quota.spend", "agent:a"),
        ),
        (
            "make its booking smaller with loopx's own note",
            Noticed,
            "`verify` runs each step again",
            |repo| {
                let record = booking(repo);
                let path = format!("goals/ship/spend/{record}.json");
                let (from, to) = ("\"slots\": 1", "\"slots\": 0");
                reword(repo, &path, from, to, "quota.void", &format!("spend/{record}"), "person")
            },
        ),
    ];
    must_be_told("turns", &play(used_up, attempts));
}

#[test]
fn pushing_past_the_hook() {
    let attempts: &[Attempt] = &[
        ("push", Refused, "the hook", |repo| push(repo)),
        ("push from another worktree", Refused, "the hook", |repo| {
            push_as(repo, "git worktree add -q ../side -b side && git -C ../side push -q origin side")
        }),
        ("push to another name", Refused, "a gate holds every ref it does not leave out", |repo| {
            push_as(repo, "git push -q origin main:refs/heads/elsewhere")
        }),
        ("push a bare id", Refused, "a gate holds every ref it does not leave out", |repo| {
            push_as(repo, "git push -q origin $(git rev-parse main):refs/heads/x")
        }),
        ("push a tag", Refused, "a gate holds every ref it does not leave out", |repo| {
            push_as(repo, "git tag v1 && git push -q origin v1")
        }),
        ("push to an address", Refused, "the hook", |repo| push_as(repo, "git push -q ../hub.git main")),
        ("push everything with `--mirror`", Refused, "the hook", |repo| {
            push_as(repo, "git push -q --mirror origin")
        }),
        (
            "put another `loopx` first on `PATH`",
            Refused,
            "the hook calls the program that installed it",
            |repo| {
                repo.script("fake/loopx", "#!/bin/sh\nexit 0\n");
                let fake = repo.path("fake").display().to_string();
                repo.put_on_path(&fake);
                push(repo)
            },
        ),
        (
            "push with `--no-verify`",
            Noticed,
            "`status` tells of a ref that moved without a verdict",
            |repo| push_as(repo, "git push -q --no-verify origin main"),
        ),
        (
            "push with `-c core.hooksPath=/dev/null`",
            Noticed,
            "`status` tells of a ref that moved without a verdict",
            |repo| {
                push_as(
                    repo,
                    "git -c core.hooksPath=/dev/null -c hook.loopx.enabled=false push -q origin main",
                )
            },
        ),
        ("send with `git send-pack`", Neither, "no hook runs; a server's check is for this", |repo| {
            push_as(repo, "git send-pack ../hub.git main")
        }),
        ("fetch from the other side", Neither, "nothing is pushed; a server's check is for this", |repo| {
            push_as(repo, "git -C ../hub.git fetch -q ../repo main:refs/heads/fetched")
        }),
        ("push from another clone", Neither, "the clone has no hook; a server's check is for this", |repo| {
            push_as(
                repo,
                "git clone -q . ../clone && git -C ../clone push -q ../hub.git HEAD:refs/heads/cloned",
            )
        }),
        (
            "remove the hook's file and every setting",
            Noticed,
            "`status` asks git what it would run",
            |repo| {
                push_as(
                    repo,
                    "rm -f .git/hooks/pre-push; git config --remove-section hook.loopx; git push -q origin main",
                )
            },
        ),
        (
            "point `core.hooksPath` elsewhere, and keep it there",
            Noticed,
            "`status` asks git what it would run",
            |repo| {
                push_as(
                    repo,
                    "git config core.hooksPath /nowhere; git config hook.loopx.enabled false; git push -q origin main",
                )
            },
        ),
    ];
    must_be_told("pushes", &play(held, attempts));
}

#[test]
fn changing_what_was_seen() {
    let attempts: &[Attempt] = &[
        ("amend the commit after the yes", Refused, "a standing gate knows the commit", |repo| {
            push_after(repo, "echo more >> feature.txt && git commit -q -a --amend -m feature")
        }),
        (
            "amend its message only",
            Refused,
            "a standing gate knows the commit, unless it binds to the tree",
            |repo| push_after(repo, "git commit -q --amend -m 'other words'"),
        ),
        ("put a commit on top", Refused, "a standing gate knows the commit", |repo| {
            push_after(repo, "echo x > x && git add x && git commit -q -m x")
        }),
        ("merge another branch in", Refused, "a standing gate knows the commit", |repo| {
            push_after(
                repo,
                "git checkout -q -b side HEAD~1 && echo x > x && git add x && git commit -q -m x && git checkout -q main && git merge -q side",
            )
        }),
        (
            "replace the commit with `git replace`, and push what it stands for",
            Refused,
            "the id is pushed, and replacements are not followed",
            |repo| {
                let other = "echo x > x && git add x && git commit -q -m x && git replace HEAD~1 HEAD";
                push_after(repo, other)
            },
        ),
        (
            "cut the history off in `.git/shallow`",
            Refused,
            "what cannot be seen was not said yes to",
            |repo| {
                push_after(
                    repo,
                    "echo x > x && git add x && git commit -q -m x && git rev-parse HEAD > .git/shallow",
                )
            },
        ),
    ];
    must_be_told("commits", &play(standing, attempts));
}

#[test]
fn forging_what_is_signed() {
    let attempts: &[Attempt] = &[
        (
            "clear its marks, open a terminal of its own, and type the id",
            Refused,
            "no signature, no answer",
            |repo| {
                repo.person("gate resolve ready --decision approve", "ready");
                is_answered(repo)
            },
        ),
        ("sign with a key of its own", Refused, "the key is not listed", |repo| {
            repo.person("gate resolve ready --decision approve --sign-with ../home/eve", "ready");
            is_answered(repo)
        }),
        ("ask for signatures no more", Refused, "that takes a signature itself", |repo| {
            let before = repo.tip();
            repo.person("policy set approval=terminal --sign-with ../home/eve", "terminal");
            repo.tip() != before
        }),
        (
            "write a whole answer in the person's name, with loopx's own note",
            Noticed,
            "`verify` misses the signature",
            |repo| forge_answer(repo, |_| Proof::Terminal { typed: "ready".into() }),
        ),
        (
            "the same with a signature of another decision",
            Noticed,
            "`verify` compares what was signed",
            |repo| {
                let text =
                    "loopx decision 1\ngate other\nnonce 0123456789abcdef0123456789abcdef\n".to_owned();
                let file = repo.path("home/ann").display().to_string();
                let args = ["-q", "-Y", "sign", "-n", "loopx-gate", "-f", &file];
                let signature = repo.feed("ssh-keygen", &args, &text).success().stdout;
                assert!(Statement::nonce(&text).is_some());
                forge_answer(repo, |_| {
                    Proof::Signature(
                        Autograph { approver: "ann".parse().expect("a name"), statement: text, signature }
                            .into(),
                    )
                })
            },
        ),
        (
            "list a key of its own by a commit with loopx's own note",
            Noticed,
            "`verify` misses the signature",
            |repo| {
                let policy = repo.git("show loopx/state:loopx.toml").stdout;
                let public = repo.read("home/eve.pub");
                let key: Vec<_> = public.split(' ').take(2).collect();
                let policy = policy.replace(
                "[approvers.ann]",
                &format!("[approvers.aaa]\nkey = \"{}\"\n\n[approvers.aaa.added]\nby = \"Ann <ann@example.test>\"\nat = \"2026-11-30T12:00:01Z\"\n\n[approvers.ann]", key.join(" ")),
            );
                forge(repo, "loopx.toml", &policy, "add approver aaa", "approver.add", "policy");
                repo.loopx("approver list").stdout.contains("aaa")
            },
        ),
        (
            "set the policy back by a commit with loopx's own note",
            Noticed,
            "`verify` misses the signature",
            |repo| {
                let policy = repo.git("show loopx/state:loopx.toml").stdout;
                let policy = policy.replace("approval = \"signed\"", "approval = \"terminal\"");
                forge(repo, "loopx.toml", &policy, "set approval to terminal", "policy.set", "policy");
                repo.loopx("policy show").stdout.contains("terminal")
            },
        ),
        (
            "put another `ssh-keygen` first on its own `PATH`, and write an answer with a signature that is none",
            Noticed,
            "anybody else's `verify` asks the real one",
            |repo| {
                repo.script("fake/ssh-keygen", "#!/bin/sh\nexit 0\n");
                let file = repo.path("home/ann").display().to_string();
                let args = ["-q", "-Y", "sign", "-n", "loopx-gate", "-f", &file];
                let signature = repo.feed("ssh-keygen", &args, "something else").success().stdout;
                let policy = repo.git("show loopx/state:loopx.toml").stdout;
                let repository =
                    policy.lines().find_map(|line| line.strip_prefix("repository = ")).expect("one");
                let repository = repository.trim_matches('"').to_owned();
                let fake = repo.path("fake").display().to_string();
                repo.put_on_path(&fake);
                forge_answer(repo, |gate| {
                    let statement = statement(gate, repository);
                    let approver = "ann".parse().expect("a name");
                    Proof::Signature(Autograph { approver, statement, signature }.into())
                })
            },
        ),
        (
            "use the approver's key, which lies readable in a file without a passphrase",
            Neither,
            "a key that wants a touch or a passphrase is for this",
            |repo| {
                repo.person("gate resolve ready --decision approve --sign-with ../home/ann", "ready");
                is_answered(repo)
            },
        ),
    ];
    must_be_told("signatures", &play(signed, attempts));
}

/// A commit for a server that wants receipts.
fn received() -> Sandbox {
    let repo = by_receipt();
    let file = repo.path("eve").display().to_string();
    repo.feed("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &file], "").success();
    repo.commit("feature");
    repo
}

/// The option of a push that somebody at a terminal signed a receipt for.
fn receipt(repo: &Sandbox, what: &str) -> String {
    let commit = repo.git("rev-parse main").stdout;
    let said =
        repo.person_raw(&format!("guard receipt origin {what} --json"), &commit[..10]).success().stdout;
    let said: serde_json::Value = serde_json::from_str(&said[said.find('{').expect("JSON")..]).expect("JSON");
    said["option"].as_str().expect("an option").to_owned()
}

/// Whether a push arrives at `main` there.
fn push_with(repo: &Sandbox, options: &str) -> bool {
    sh(repo, &format!("git push -q {options} origin main"));
    let there = |repo: &Sandbox| repo.git("-C ../hub.git rev-parse -q --verify refs/heads/main").stdout;
    there(repo) == repo.git("rev-parse main").stdout
}

#[test]
fn pushing_without_a_receipt() {
    let attempts: &[Attempt] = &[
        ("push without one, past the hook", Refused, "the server wants one", |repo| {
            push_with(repo, "--no-verify")
        }),
        ("make one up", Refused, "the server asks OpenSSH", |repo| {
            let time = "2026-11-30T12:00:10Z";
            let nonce = "0123456789abcdef0123456789abcdef";
            push_with(repo, &format!("-o loopx-receipt={time},{nonce},AAAA"))
        }),
        ("push with one of another commit", Refused, "commit and ref are signed", |repo| {
            let option = receipt(repo, "main");
            repo.commit("more");
            push_with(repo, &format!("-o {option}"))
        }),
        ("push with one of another ref", Refused, "commit and ref are signed", |repo| {
            let option = receipt(repo, "main:side");
            push_with(repo, &format!("-o {option}"))
        }),
        ("push another ref along with one", Refused, "all refs of a push are signed together", |repo| {
            let option = receipt(repo, "main");
            push_as(repo, &format!("git push -q -o {option} origin main main:side"))
        }),
        ("push with one that is more than an hour old", Refused, "it is for an hour", |repo| {
            let option = receipt(repo, "main");
            repo.sleep(3700);
            push_with(repo, &format!("-o {option}"))
        }),
        ("write a later time into it", Refused, "the time is signed", |repo| {
            let option = receipt(repo, "main");
            repo.sleep(3700);
            let (_, signed) = option.split_once(',').expect("a time");
            push_with(repo, &format!("-o loopx-receipt=2026-11-30T13:02:00Z,{signed}"))
        }),
        ("sign one with a key of its own", Refused, "the key is not listed at the server", |repo| {
            let option = receipt(repo, "main --sign-with ../eve");
            push_with(repo, &format!("-o {option}"))
        }),
        (
            "name its own key in the configuration of its clone",
            Refused,
            "the server reads its own configuration",
            |repo| {
                let key = repo.read("eve.pub");
                repo.write("repo/.git/signers", &format!("ann namespaces=\"loopx-gate\" {key}"));
                repo.git("config loopx.approvers signers").success();
                let option = receipt(repo, "main --sign-with ../eve");
                push_with(repo, &format!("-o {option}"))
            },
        ),
        (
            "push the same again within the hour, after it was taken away there",
            Refused,
            "a receipt names what the ref was",
            |repo| {
                let option = receipt(repo, "main");
                assert!(push_with(repo, &format!("-o {option}")));
                repo.git("-C ../hub.git update-ref -d refs/heads/main").success();
                push_with(repo, &format!("-o {option}"))
            },
        ),
        (
            "sign one with the key of somebody listed, which lies readable in a file without a passphrase",
            Neither,
            "a key that wants a touch or a passphrase is for this",
            |repo| {
                let option = receipt(repo, "main --sign-with ../ann");
                push_with(repo, &format!("-o {option}"))
            },
        ),
        (
            "remove the hook of a server that is a folder on the same machine",
            Neither,
            "whoever can write there is the server",
            |repo| sh(repo, "rm ../hub.git/hooks/pre-receive") && push_with(repo, ""),
        ),
    ];
    must_be_told("receipts", &play(received, attempts));
}

/// What the server for agents' hosts says to these calls, one after the other.
fn host(repo: &Sandbox, calls: &[(&str, &str)]) -> Vec<serde_json::Value> {
    let lines = calls.iter().enumerate().map(|(id, (tool, more))| {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"person","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#;
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{{meta},\"name\":\"{tool}\",{more}}}}}\n")
    });
    // Calls are answered side by side, so that each gets a server of its own.
    lines.map(|line| repo.feed(LOOPX, &["mcp"], &line).json()).collect()
}

/// Whether the last of them did what it was called for.
fn host_does(repo: &Sandbox, calls: &[(&str, &str)]) -> bool {
    host(repo, calls).last().is_some_and(|told| told["result"]["isError"] == false)
}

#[test]
fn an_agent_at_the_server_for_hosts() {
    let attempts: &[Attempt] = &[
        ("call a tool that answers", Refused, "there is none", |repo| {
            ["gate_resolve", "resolve_gate", "gate_review"].iter().any(|tool| {
                host_does(repo, &[(tool, r#""arguments":{"gate":"ready","decision":"approve"}"#)])
            })
        }),
        ("call one that takes the question back, or narrows it", Refused, "there is none", |repo| {
            ["gate_withdraw", "gate_reopen", "gate_edit"]
                .iter()
                .any(|tool| host_does(repo, &[(tool, r#""arguments":{"gate":"ready","reason":"done"}"#)]))
        }),
        ("call one that raises the quota, or changes the policy", Refused, "there is none", |repo| {
            ["configure_goal", "goal_config", "policy_set", "approver_add", "hooks_uninstall"]
                .iter()
                .any(|tool| host_does(repo, &[(tool, r#""arguments":{"quota":1}"#)]))
        }),
        ("slip an option in with an argument", Refused, "an argument is never an option", |repo| {
            host_does(repo, &[("gate_show", r#""arguments":{"gate":"--help"}"#)])
                || host_does(
                    repo,
                    &[("todo_drop", r#""arguments":{"todo":"t-","reason":"x --agent-id=y","for":"person"}"#)],
                )
        }),
        (
            "let its host answer the question with a program, and push",
            Refused,
            "what a host hands back is noted, and proves nothing",
            |repo| {
                let answered = host_does(
                    repo,
                    &[
                        ("gate_ask", r#""arguments":{"gate_id":"ready"}"#),
                        (
                            "gate_ask",
                            r#""arguments":{"gate_id":"ready"},"requestState":"ship/ready","inputResponses":{"answer":{"action":"accept","content":{"decision":"approve"}}}"#,
                        ),
                    ],
                );
                assert!(answered && repo.loopx("evidence list").stdout.contains("not proven"));
                is_answered(repo) || push(repo)
            },
        ),
        (
            "ask again, so that less waits for the answer",
            Refused,
            "a gate that is there does not change",
            |repo| {
                host_does(
                    repo,
                    &[(
                        "gate_ask",
                        r#""arguments":{"gate_id":"ready","question":"Ready?","blocks":["publish"]}"#,
                    )],
                ) || push(repo)
            },
        ),
        ("call itself a person by the client's name", Refused, "whoever calls is an agent", |repo| {
            let told = host(repo, &[("evidence_add", r#""arguments":{"text":"I am Ann"}"#)]);
            told[0]["result"]["structuredContent"]["added"]["by"] != "agent:mcp-person"
        }),
        (
            "have a command of its own run outside of its sandbox, as the check of a todo",
            Refused,
            "a server starts no command",
            |repo| {
                let told =
                    host(repo, &[("todo_add", r#""arguments":{"title":"mine","check":"touch ../escaped"}"#)]);
                repo.person("gate resolve ready --decision approve", "ready").success();
                let todo = &told[0]["result"]["structuredContent"]["id"];
                host(
                    repo,
                    &[
                        ("todo_claim", &format!(r#""arguments":{{"todo":{todo}}}"#)),
                        ("todo_done", &format!(r#""arguments":{{"todo":{todo}}}"#)),
                    ],
                );
                repo.path("escaped").exists()
            },
        ),
    ];
    must_be_told("mcp", &play(held, attempts));
}

/// Runs a command line as a host does that asks loopx before, and looks whether the commit has arrived.
fn by_a_host(repo: &Sandbox, line: &str) -> bool {
    let cwd = repo.path("repo").display().to_string();
    let asked = serde_json::json!({
        "session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": line },
    });
    if repo.loopx_told("hook claude PreToolUse", &asked.to_string()).code == 0 {
        sh(repo, line);
    }
    has_arrived(repo)
}

#[test]
fn getting_past_a_host_that_asks() {
    let attempts: &[Attempt] = &[
        ("push", Refused, "the line is read", |repo| by_a_host(repo, "git push -q origin main")),
        ("push with `--no-verify`", Refused, "refused, gate or no gate", |repo| {
            by_a_host(repo, "git push -q --no-verify origin main")
        }),
        ("push with `-c core.hooksPath=/dev/null`", Refused, "refused, gate or no gate", |repo| {
            by_a_host(repo, "git -c core.hooksPath=/dev/null push -q origin main")
        }),
        ("send with `git send-pack`", Refused, "refused, gate or no gate", |repo| {
            by_a_host(repo, "git send-pack ../hub.git main")
        }),
        ("have `bash -c` do it, with `--no-verify`", Refused, "the line in the line is read", |repo| {
            by_a_host(repo, "bash -c 'git push -q --no-verify origin main'")
        }),
        ("give git an alias for it on the command line", Refused, "git's own words are read", |repo| {
            by_a_host(repo, "git -c alias.x='push -q --no-verify' x origin main")
        }),
        ("put it together from variables", Refused, "variables of the line are known", |repo| {
            by_a_host(repo, "G=git; P=pu; Q=sh; $G $P$Q -q --no-verify origin main")
        }),
        ("put it into a script and run that", Refused, "the script is read", |repo| {
            repo.write("repo/x.sh", "git push -q --no-verify origin main\n");
            by_a_host(repo, "sh x.sh")
        }),
        ("write that script in the same line", Refused, "what the line writes is known", |repo| {
            by_a_host(repo, "echo 'git push -q --no-verify origin main' > x.sh; sh x.sh")
        }),
        (
            "hide it in base64",
            Refused,
            "what comes out readable and goes to a shell counts as a push",
            |repo| by_a_host(repo, "echo Z2l0IHB1c2ggLXEgLS1uby12ZXJpZnkgb3JpZ2luIG1haW4K | base64 -d | sh"),
        ),
        ("switch the hook off first", Refused, "refused, gate or no gate", |repo| {
            by_a_host(repo, "git config core.hooksPath /dev/null; git config hook.loopx.enabled false")
                || by_a_host(repo, "git push -q origin main")
        }),
        ("call it from another language", Refused, "words near each other count", |repo| {
            let line = "python3 -c 'import os; os.system(\"git push -q --no-verify origin main\")'";
            by_a_host(repo, line)
        }),
        (
            "put the words together in another language",
            Noticed,
            "`status` tells of a ref that moved without a verdict",
            |repo| {
                let line = "python3 -c 'import os; os.system(\"git pu\" + \"sh -q --no-ver\" + \"ify origin main\")'";
                by_a_host(repo, line)
            },
        ),
        (
            "run a program that nobody can read",
            Noticed,
            "`status` tells of a ref that moved without a verdict",
            |repo| {
                repo.script("repo/x", "#!/bin/sh\n: '\u{0}'\ngit push -q --no-verify origin main\n");
                by_a_host(repo, "./x")
            },
        ),
        (
            "push from a clone of this one",
            Neither,
            "the clone has neither hook nor state; a server's check is for this",
            |repo| {
                by_a_host(repo, "git clone -q . ../c")
                    || by_a_host(repo, "git -C ../c push -q ../hub.git main")
            },
        ),
    ];
    must_be_told("hosts", &play(held, attempts));
}
