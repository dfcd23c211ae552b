use std::collections::BTreeSet;

use super::{Said, approval};
use crate::{
    caller::Challenge,
    domain::{
        actor::Proof,
        gate::{Act, Approvals, Bind, GateState},
        id::{Choice, GateId, GoalId, TodoPrefix},
        policy::Policy,
        scope::{Glob, Scope},
        text::{Note, Title},
    },
    error::{Error, Kind},
    ops::{
        self, Ctx,
        evidence::brief,
        gate::{Asked, GateView, Step},
    },
    process::Process,
    text::{Ago, Answer, Count, Table},
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Gate {
    /// Ask a question that only a person may answer
    Open {
        /// The question
        question: Title,
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// The gate's id; made from the question when left out
        #[arg(long, value_name = "GATE")]
        gate_id: Option<GateId>,
        /// What waits for the answer; everything when left out
        #[arg(long, value_name = "ACT", value_delimiter = ',', value_parser = ["turn", "push", "publish"])]
        blocks: Vec<String>,
        /// A todo it is about; may be given several times; all of the goal's when left out
        #[arg(long, value_name = "TODO")]
        todo: Vec<TodoPrefix>,
        /// Only pushes to branches like this; `release/*`, `refs/tags/v*`
        #[arg(long, value_name = "GLOB")]
        branch: Vec<Glob>,
        /// Only pushes to remotes like this, by name or address
        #[arg(long, value_name = "GLOB")]
        remote: Vec<Glob>,
        /// Only pushes that change files like this, from the top of the project
        #[arg(long, value_name = "GLOB")]
        path: Vec<Glob>,
        /// Ask again for every commit: a yes is for the commit that was seen and all that it was made from
        #[arg(long)]
        standing: bool,
        /// What a yes is a yes to: the `commit` that was seen, any commit with the same files (`tree`), or, unless the gate
        /// is a standing one, the `question` once and for all
        #[arg(long, value_name = "TO", value_parser = ["commit", "tree", "question"])]
        bind: Option<String>,
        /// How many approvers have to say yes with their signatures; whoever asks is none of them
        #[arg(long, value_name = "NUMBER", default_value = "1")]
        approvals: Approvals,
        /// An answer on offer besides `reject`; `approve` when left out
        #[arg(long, value_name = "DECISION")]
        option: Vec<Choice>,
    },
    /// List the gates in force: open and rejected ones
    List {
        /// Only this goal's
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// Recently closed ones, too
        #[arg(long)]
        all: bool,
    },
    /// Show one gate
    Show {
        /// The gate, by its full id
        gate: GateId,
        /// Its goal, when several have a gate of this id
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
    },
    /// Answer a gate (a person at a terminal only)
    Resolve(Resolve),
    /// Go through all gates that wait, the most urgent first, with a key each (a person at a terminal only)
    Review(Review),
    /// Take a question back, so that nothing waits for it any more (a person at a terminal only)
    Withdraw(TakeBack),
    /// Take a no back, so that the question waits again (a person at a terminal only)
    Reopen(TakeBack),
}

#[derive(Debug, clap::Args)]
pub(super) struct TakeBack {
    /// The gate, by its full id
    gate: GateId,
    /// Its goal, when several have a gate of this id
    #[arg(long, value_name = "GOAL")]
    goal_id: Option<GoalId>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Note,
    /// The key to sign with where answers are signed; `loopx.approvalKey` of git's configuration when left out
    #[arg(long, value_name = "KEY")]
    sign_with: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Review {
    /// Only this goal's
    #[arg(long, value_name = "GOAL")]
    pub(super) goal_id: Option<GoalId>,
    /// The key to sign with where answers are signed; `loopx.approvalKey` of git's configuration when left out
    #[arg(long, value_name = "KEY")]
    pub(super) sign_with: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Resolve {
    /// The gate, by its full id
    #[arg(required_unless_present = "gate_id", conflicts_with = "gate_id")]
    gate: Option<GateId>,
    /// The gate, by its full id
    #[arg(long, value_name = "GATE")]
    gate_id: Option<GateId>,
    /// Its goal, when several have a gate of this id
    #[arg(long, value_name = "GOAL")]
    goal_id: Option<GoalId>,
    /// The answer: `approve`, `reject`, or another that the gate offers
    #[arg(long)]
    decision: Choice,
    /// Why
    #[arg(long, value_name = "TEXT")]
    note: Option<Note>,
    /// The project's commit the answer is about; the one checked out when left out
    #[arg(long, value_name = "REV")]
    commit: Option<String>,
    /// The key to sign with where answers are signed; `loopx.approvalKey` of git's configuration when left out
    #[arg(long, value_name = "KEY")]
    sign_with: Option<String>,
}

impl Gate {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Open {
                question,
                goal_id,
                gate_id,
                blocks,
                todo,
                branch,
                remote,
                path,
                standing,
                bind,
                approvals,
                option,
            } => {
                let standing = match (standing, bind.as_deref()) {
                    (_, Some("tree")) => Some(Bind::Tree),
                    (_, Some("commit")) | (true, None) => Some(Bind::Commit),
                    (false, _) => None,
                    (true, Some(_)) => {
                        let what = "a standing gate is not answered once and for all";
                        return Err(Error::new(Kind::Usage, what)
                            .hint("use `--bind commit` or `--bind tree`, or leave `--standing` out"));
                    }
                };
                let of = |globs: Vec<Glob>| globs.into_iter().collect();
                let scope = Scope { branches: of(branch), remotes: of(remote), paths: of(path) };
                let blocks: BTreeSet<Act> =
                    Act::ALL.into_iter().filter(|act| blocks.iter().any(|word| word == act.word())).collect();
                let question = ops::gate::Question {
                    goal: goal_id,
                    id: gate_id,
                    question,
                    options: option,
                    blocks,
                    todos: todo,
                    scope,
                    standing,
                    approvals,
                };
                let done = ops::gate::open(ctx, &question)?;
                let view = &done.value;
                let text = format!(
                    "opened gate {}: \"{}\"\na person answers with {}",
                    view.id,
                    view.gate.question,
                    Answer(&view.id, &view.gate.answers())
                );
                Ok(Said::done(&done, &text))
            }
            Self::List { goal_id, all } => {
                let gates = ops::gate::list(ctx, goal_id.as_ref(), all)?;
                Ok(Said::read(&gates, table(gates.gates.iter()).to_string()))
            }
            Self::Show { gate, goal_id } => {
                let view = ops::gate::show(ctx, goal_id.as_ref(), &gate)?;
                Ok(Said::read(&view, say(ctx, &view, None)))
            }
            Self::Resolve(resolve) => resolve.run(process, ctx),
            Self::Review(review) => review.run(process, ctx),
            Self::Withdraw(withdraw) => withdraw.run(process, ctx, Step::Withdraw),
            Self::Reopen(reopen) => reopen.run(process, ctx, Step::Reopen),
        }
    }
}

impl TakeBack {
    fn run(self, process: &Process, ctx: &Ctx, step: Step) -> Result<Said, Error> {
        let view = ops::gate::before(ctx, self.goal_id.as_ref(), &self.gate, step)?;
        let (id, verb) = (&view.id, step.word());
        let challenge = Challenge {
            what: format!("{verb} gate `{id}`"),
            shows: say(ctx, &view, None),
            word: view.gate.word(id, verb),
            command: format!("loopx gate {verb} {id} --reason '<why>'"),
        };
        let statement = |policy: &Policy, nonce: &str| {
            ops::gate::statement_of_step(ctx, policy, &view, step, &self.reason, nonce)
        };
        let proven = approval::prove(process, ctx, &challenge, self.sign_with.as_deref(), statement)?;
        let done = ops::gate::take_back(ctx, &view, step, &proven, &self.reason)?;
        let text = match step {
            Step::Withdraw => format!("gate {id} is withdrawn"),
            Step::Reopen => format!("gate {id} is open again"),
        };
        Ok(Said::done(&done, &text))
    }
}

impl Resolve {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let id = self.gate.or(self.gate_id).ok_or_else(|| Error::new(Kind::Usage, "no gate was named"))?;
        let asked = ops::gate::asked(ctx, self.goal_id.as_ref(), &id, self.decision, self.commit.as_deref())?;
        let statement =
            |policy: &Policy, nonce: &str| asked.statement(ctx, policy, self.note.as_ref(), nonce);
        let challenge = challenge(ctx, &asked);
        let proven = approval::prove(process, ctx, &challenge, self.sign_with.as_deref(), statement)?;
        let done = ops::gate::resolve(ctx, &asked, &proven, self.note.as_ref())?;
        Ok(Said::done(&done, &came_of(&asked, &done.value)))
    }
}

/// What an answer came to.
pub(super) fn came_of(asked: &Asked, now: &GateView) -> String {
    let id = &asked.view.id;
    let commit = asked.commit.as_ref().filter(|_| asked.view.gate.bind().is_some());
    let about = commit.map(|commit| format!(" for {}", &commit.commit[..10])).unwrap_or_default();
    match &now.gate.state {
        GateState::Open { given, .. } => {
            let needed = Count(usize::from(asked.view.gate.approvals.number()), "approver");
            format!("gate {id} has {} of {needed} now", given.len())
        }
        _ => format!("gate {id} is answered{about}: {}", asked.decision),
    }
}

pub(super) fn challenge(ctx: &Ctx, asked: &Asked) -> Challenge {
    let (view, decision) = (&asked.view, &asked.decision);
    let commit = asked.commit.as_ref().map(|commit| format!("{} {}", &commit.commit[..10], commit.subject));
    let mut shows = say(ctx, view, commit.as_deref());
    if let Some(brings) = &asked.brings {
        shows.push_str(&match brings.commits {
            Some(0) => "it is at a remote already\n".to_owned(),
            Some(new) => format!("{} that no remote has:\n", Count(new, "commit")),
            None => "its changes:\n".to_owned(),
        });
        shows.extend(brings.files.iter().map(|line| format!("  {line}\n")));
    }
    if !asked.evidence.is_empty() {
        let mut table = Table::default();
        for view in asked.evidence.iter().take(EVIDENCE) {
            let about =
                view.evidence.todo.as_ref().map_or_else(|| asked.view.id.to_string(), ToString::to_string);
            let by = format!(
                "by {}, {}",
                view.evidence.added.by.name(),
                super::status::ago(ctx, view.evidence.added.at)
            );
            table.row([&view.id, &about, &view.evidence.what.word(), &by, &brief(&view.evidence.what)]);
        }
        shows.push_str(&format!("evidence\n{table}"));
        if asked.evidence.len() > EVIDENCE {
            shows.push_str(&format!("  and {} more\n", asked.evidence.len() - EVIDENCE));
        }
    }
    Challenge {
        what: decision.given_to(&format!("`{}`", view.id)),
        shows,
        word: view.gate.word(&view.id, decision.as_str()),
        command: format!("loopx gate resolve {} --decision {decision}", view.id),
    }
}

/// Gates, a line each.
pub(super) fn table<'a>(gates: impl Iterator<Item = &'a GateView>) -> Table {
    let mut table = Table::default();
    for view in gates {
        let asked = format!("by {}, {}", view.gate.asked.by.name(), Ago(view.age_seconds));
        let state = match &view.gate.state {
            GateState::Open { .. } => "open".to_owned(),
            GateState::Standing { .. } => "standing".to_owned(),
            GateState::Resolved { decision, .. } => decision.to_string(),
            GateState::Withdrawn { .. } => "withdrawn".to_owned(),
        };
        table.row([&view.id, &state, &asked, &view.gate.question]);
    }
    table
}

/// Most pieces of evidence that are shown before an answer.
const EVIDENCE: usize = 5;

/// Who gave an answer: by whose key, or by git's identity.
fn signer(answer: &crate::domain::gate::Answer) -> &str {
    match &answer.proof {
        Proof::Terminal { .. } => answer.by.name(),
        Proof::Signature(autograph) => autograph.approver.as_str(),
    }
}

/// Most answers of a standing gate that are shown.
const ANSWERS: usize = 3;

/// One gate; `commit` is what the project has checked out, for somebody who is about to answer.
fn say(ctx: &Ctx, view: &GateView, commit: Option<&str>) -> String {
    let gate = &view.gate;
    let words = |words: Vec<String>| words.join(", ");
    let asked = format!("by {}, {}", gate.asked.by.name(), Ago(view.age_seconds));
    let mut table = Table::default();
    table.row([&"goal", &view.goal]);
    table.row([&"asked", &asked]);
    table.row([&"blocks", &words(gate.blocks.iter().map(|act| act.word().to_owned()).collect())]);
    if gate.approvals.number() > 1 {
        table.row([&"needs", &format!("the signatures of {} approvers", gate.approvals.number())]);
    }
    if !gate.todos.is_empty() {
        table.row([&"about", &words(gate.todos.iter().map(ToString::to_string).collect())]);
    }
    for (part, globs) in gate.scope.parts() {
        table.row([&part, &words(globs.iter().map(ToString::to_string).collect())]);
    }
    table.row([&"options", &words(gate.options.iter().map(ToString::to_string).collect())]);
    let ago = |at| super::status::ago(ctx, at);
    match &gate.state {
        GateState::Open { given, reopened } => {
            let again = reopened
                .as_ref()
                .map(|again| format!("open again by {}, {}", again.by.name(), ago(again.at)));
            table.row([&"state", &again.unwrap_or_else(|| "open".to_owned())]);
            if let Some(reopened) = reopened {
                table.row([&"reason", &reopened.reason.as_str().replace('\n', " ")]);
            }
            for answer in given {
                let by = format!("{} by {}, {}", answer.decision, signer(answer), ago(answer.at));
                table.row([&"answer", &by]);
            }
        }
        GateState::Standing { bind, answers } => {
            table.row([&"state", &format!("standing: each {} needs an answer", bind.word())]);
            for answer in answers.iter().rev().take(ANSWERS) {
                let commit =
                    answer.seen.commit.as_deref().map_or("", |commit| commit.get(..10).unwrap_or(commit));
                let by = format!("{} {commit} by {}, {}", answer.decision, signer(answer), ago(answer.at));
                table.row([&"answer", &by]);
            }
        }
        GateState::Resolved { decision, by, at, note, seen, proof, after } => {
            table.row([&"state", &format!("{decision} by {}, {}", by.name(), ago(*at))]);
            if let Proof::Signature(autograph) = proof {
                table.row([&"signed", &format!("with the key of {}", autograph.approver)]);
            }
            for answer in after {
                table.row([
                    &"answer",
                    &format!("{} by {}, {}", answer.decision, signer(answer), ago(answer.at)),
                ]);
            }
            if let Some(commit) = &seen.commit {
                table.row([&"seen at", &commit]);
            }
            if let Some(note) = note {
                table.row([&"note", &note.as_str().replace('\n', " ")]);
            }
        }
        GateState::Withdrawn { by, at, reason, .. } => {
            table.row([&"state", &format!("withdrawn by {}, {}", by.name(), ago(*at))]);
            table.row([&"reason", &reason.as_str().replace('\n', " ")]);
        }
    }
    if let Some(commit) = commit {
        table.row([&"commit", &commit]);
    }
    format!("gate {}: \"{}\"\n{table}", view.id, gate.question)
}
