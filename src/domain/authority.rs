//! Who may do what. The one table that the ops, the judge of the history and the documentation are made from.
//!
//! The law behind it: an agent may only tighten; only a person may loosen.

use super::{actor::Actor, change::Op};

/// Who may do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Persons and agents.
    Anybody,
    /// A person, who shows to be one.
    Person,
}

/// One thing that can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deed {
    /// What is done, as a person would say it.
    pub what: &'static str,
    /// How it is asked for; none when nobody asks for it.
    pub command: Option<&'static str>,
    pub who: Who,
    pub why: &'static str,
}

const fn anybody(what: &'static str, command: &'static str, why: &'static str) -> Deed {
    Deed { what, command: Some(command), who: Who::Anybody, why }
}

const fn person(what: &'static str, command: &'static str, why: &'static str) -> Deed {
    Deed { what, command: Some(command), who: Who::Person, why }
}

/// What mutations of a kind can be. Those that a person is needed for are those that loosen something.
pub fn deeds(op: Op) -> Vec<Deed> {
    match op {
        Op::Init => vec![anybody("begin the state", "init", "there is nothing yet that could be loosened")],
        Op::GoalAdd => vec![anybody(
            "add a goal",
            "goal add 'Ship v3' --goal-id next",
            "more is asked for, and nothing allowed",
        )],
        Op::GoalConfigure => vec![
            anybody("lower a quota", "configure-goal --goal-id ship --quota-compute 0.5", "it tightens"),
            person(
                "raise a quota",
                "configure-goal --goal-id ship --quota-compute 1",
                "more may be used than before",
            ),
            person(
                "switch a feature on",
                "configure-goal --goal-id ship --enable explore",
                "optional means off",
            ),
            anybody("switch a feature off", "configure-goal --goal-id ship --disable explore", "it tightens"),
        ],
        Op::GoalMeet => vec![anybody(
            "say what answers a criterion",
            "goal meet other --met 1=<evidence>",
            "a person says whether it does when they end the goal",
        )],
        Op::GoalPause => {
            vec![anybody("pause a goal", "goal pause next", "nothing more happens then")]
        }
        Op::GoalResume => vec![person("let a goal go on", "goal resume next", "work begins again")],
        Op::GoalAchieve => {
            vec![person("end a goal as reached", "goal achieve ship", "what it asked for is asked no more")]
        }
        Op::GoalAbandon => vec![person(
            "end a goal as given up",
            "goal abandon ship --reason moot",
            "what it asked for is asked no more",
        )],
        Op::GateOpen => {
            vec![anybody(
                "open a gate",
                "gate open Ready? --gate-id ready --blocks push",
                "it holds something back",
            )]
        }
        Op::GateResolve => vec![
            person("say yes at a gate", "gate resolve open --decision approve", "what waits may go"),
            person("say no at a gate", "gate resolve open --decision reject", "a decision is a person's"),
        ],
        Op::GateWithdraw => vec![person(
            "take a question back",
            "gate withdraw open --reason moot",
            "nothing waits for it any more",
        )],
        Op::GateReopen => vec![person(
            "take a no back",
            "gate reopen no --reason 'seen again'",
            "a no holds until a person takes it back",
        )],
        Op::TodoAdd => vec![anybody("add a todo", "todo add more", "more is asked for, and nothing allowed")],
        Op::TodoClaim => vec![
            anybody("take a todo", "todo claim <todo>", "unless a gate is over it or somebody has it"),
            person("take a todo that is for a person", "todo claim <errand>", "it is a person's work"),
        ],
        Op::TodoRenew => vec![anybody("hold a claim for longer", "todo renew <todo>", "whoever has it may")],
        Op::TodoBlock => {
            vec![anybody("stop a todo", "todo block <todo> --reason broken", "it holds something back")]
        }
        Op::TodoUnblock => vec![
            anybody("free a todo", "todo unblock <todo>", "unless a gate or a person stopped it"),
            person("free what a person stopped", "todo unblock <stopped>", "who said stop says go"),
        ],
        Op::TodoDrop => vec![
            anybody("give a todo up", "todo drop <spare> --reason moot", "unless a gate is over it"),
            person(
                "give up what a person asked for",
                "todo drop <errand> --reason moot",
                "it is a person's work",
            ),
        ],
        Op::TodoReopen => vec![anybody(
            "open a todo again",
            "todo reopen <spare>",
            "more is asked for, unless a person closed it",
        )],
        Op::TodoEdit => vec![
            anybody("change a todo", "todo edit <spare> --priority p1", "unless a person asked for it"),
            person("take a check away", "todo edit <checked> --no-check", "less has to be shown"),
        ],
        Op::TodoSplit => {
            vec![anybody("make parts of a todo", "todo split <spare> --into part", "more is asked for")]
        }
        Op::TodoPoll => {
            vec![anybody(
                "say what a monitor shows",
                "todo poll <watch> --same",
                "nothing is used or allowed",
            )]
        }
        Op::TodoRelease => vec![anybody("give a todo back", "todo release <todo>", "whoever has it may")],
        Op::TodoDone => vec![
            anybody(
                "complete a todo",
                "todo done <todo>",
                "unless a gate is over it, was rejected over it, or somebody else has it",
            ),
            person("complete a todo that is for a person", "todo done <errand>", "it is a person's work"),
        ],
        Op::EvidenceAdd => vec![anybody(
            "add evidence",
            "evidence add --text seen",
            "what was seen is added to and never changed",
        )],
        Op::QuotaSpend => vec![anybody(
            "book what a turn used",
            "quota spend-slot --turn-id turn-1",
            "less is left afterwards",
        )],
        Op::QuotaVoid => vec![person(
            "void what a turn booked",
            "quota void turn-1 --reason crashed",
            "more is left afterwards",
        )],
        Op::QuotaGrant => vec![person(
            "grant slots on top of a quota for a while",
            "quota grant --slots 4 --for 2h --reason release",
            "more may be used than before",
        )],
        Op::TurnBegin => vec![anybody(
            "begin a turn",
            "turn begin --turn-id turn-2",
            "it takes what could be claimed, and puts a slot aside",
        )],
        Op::TurnEnd => vec![anybody(
            "end a turn",
            "turn end --turn-id turn-2 --outcome nothing --summary seen",
            "whoever began it may, and what completes or blocks a todo is refused here, too",
        )],
        Op::HandoffWrite => vec![anybody(
            "leave a note for the next turn",
            "handoff write 'the tests pass'",
            "nothing is used or allowed, and the note before it stays in the history",
        )],
        Op::BypassNote => vec![Deed {
            what: "record a push that went round the hook",
            command: None,
            who: Who::Anybody,
            why: "loopx does it before a mutation; it says what was seen",
        }],
        Op::BypassAcknowledge => vec![person(
            "acknowledge a push that went round the hook",
            "bypass acknowledge <bypass>",
            "it warns until a person knows of it",
        )],
        Op::SecretAllow => vec![person(
            "let a value through that looks like a secret",
            "secret allow <digest> --reason harmless",
            "what is written down stays in the history",
        )],
        Op::SecretForbid => {
            vec![anybody("let it through no longer", "secret forbid <digest>", "it tightens")]
        }
        Op::PolicySet => vec![
            anybody("ask for signed answers", "policy set approval=signed", "it tightens"),
            person(
                "ask for no signed answers any more",
                "policy set approval=terminal",
                "it takes what the present policy asks for",
            ),
            anybody("ask for a receipt for what goes out", "policy set receipt=required", "it tightens"),
            person(
                "ask for no receipt any more",
                "policy set receipt=not-required",
                "less has to be shown, and it takes what the present policy asks for",
            ),
        ],
        Op::ApproverAdd => vec![person(
            "let somebody's signature count",
            "approver add eve --key ../eve.pub",
            "whoever is listed may say yes",
        )],
        Op::ApproverRemove => vec![person(
            "let somebody's signature count no more",
            "approver remove ann",
            "who is asked is a person's decision",
        )],
        Op::Fold => vec![Deed {
            what: "fold closed records",
            command: None,
            who: Who::Anybody,
            why: "loopx does it after a mutation; nothing that can be asked changes",
        }],
        Op::Import => vec![person(
            "import a state, or what another tool kept",
            "import ../state.jsonl",
            "answers and limits come with it",
        )],
        Op::Checkpoint => vec![person(
            "leave the history behind",
            "compact --apply",
            "nobody can verify afterwards what was",
        )],
    }
}

/// What can be done that is no mutation of the state.
pub const BEYOND: [Deed; 15] = [
    anybody("put the hook in git's way", "hooks install", "it holds something back"),
    anybody("put back what was there", "init", "the state is the one that loopx left"),
    person("take over a state that something else changed", "init", "nobody knows what was changed"),
    person("move the state back", "restore --to <commit>", "what came since is decided no more"),
    person(
        "name the remote that the state may go to",
        "remote set origin",
        "the state may leave from then on",
    ),
    anybody("name none any more", "remote unset", "it tightens"),
    person(
        "have a command run when something waits",
        "notify set true",
        "an agent can have it run by asking",
    ),
    anybody("try that command", "notify test", "it is the one that a person set"),
    anybody("have none run any more", "notify unset", "nothing but a word is missing"),
    anybody("have a host of agents ask loopx", "host install agents-md --yes", "it only adds questions"),
    person("have it ask no more", "host uninstall agents-md", "nothing is asked there any more"),
    person("keep pushes without strict mode", "hooks strict off", "less is held back"),
    person("take the hook out of git's way", "hooks uninstall", "nothing is held back any more"),
    person("take loopx out of a clone", "uninstall", "nothing is held back any more"),
    person("remove the state", "uninstall --purge", "nothing is held back any more"),
];

/// Whether a mutation of this kind takes a person. `loosens`: it does what only some of its kind do.
pub fn takes_a_person(op: Op, loosens: bool) -> bool {
    let mut deeds = deeds(op).into_iter().map(|deed| deed.who == Who::Person);
    if loosens { deeds.any(|person| person) } else { deeds.all(|person| person) }
}

/// Whether `by` may make a mutation of this kind.
pub fn allows(op: Op, loosens: bool, by: &Actor) -> bool {
    matches!(by, Actor::Person(_)) || !takes_a_person(op, loosens)
}

/// The table, as the documentation shows it.
pub fn table() -> String {
    let mut table = String::from("| what | command | person | agent | why |\n|---|---|---|---|---|\n");
    let mutations =
        Op::ALL.into_iter().flat_map(|op| deeds(op).into_iter().map(move |deed| (Some(op), deed)));
    for (op, deed) in mutations.chain(BEYOND.into_iter().map(|deed| (None, deed))) {
        let command = deed.command.map_or_else(String::new, |command| format!("`loopx {command}`"));
        let op = op.map_or_else(String::new, |op| format!(" (`{}`)", op.word()));
        let agent = match deed.who {
            Who::Anybody => "allowed",
            Who::Person => "refused",
        };
        table.push_str(&format!("| {}{op} | {command} | allowed | {agent} | {} |\n", deed.what, deed.why));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::actor;

    #[test]
    fn an_agent_may_tighten_and_a_person_may_loosen() {
        let (ann, agent) = (actor("Ann <ann@example.test>"), actor("agent:a"));
        for (op, loosens, may) in [
            (Op::GateOpen, false, true),
            (Op::GateResolve, false, false),
            (Op::GateWithdraw, false, false),
            (Op::GoalConfigure, false, true),
            (Op::GoalConfigure, true, false),
            (Op::Checkpoint, false, false),
        ] {
            assert_eq!(allows(op, loosens, &agent), may, "{op:?}");
            assert!(allows(op, loosens, &ann));
        }
        assert!(Op::ALL.iter().all(|op| !deeds(*op).is_empty()));
    }
}
