//! Setting a clone up, and repairing it.

use serde::Serialize;

use super::{
    Ctx, Done,
    enforcement::Enforcement,
    gate,
    goal::{self, Configuration},
};
use crate::{
    domain::{
        actor::Proven,
        gate::Approvals,
        id::{GateId, GoalId, TodoId},
        policy::{Policy, RepositoryId},
        preset::Preset,
        quota::Cap,
        refusal::Refusal,
        scope::Scope,
        text::Title,
    },
    error::{Error, Kind},
    store::{self, Situation, restore::Loss},
};

/// What `init` was asked for.
#[derive(Debug)]
pub struct Request {
    /// Objective of a first goal, with the id that was chosen for it.
    pub goal: Option<(Title, Option<GoalId>)>,
    /// A ready-made goal, with the id that was chosen for it.
    pub preset: Option<(Preset, Option<GoalId>)>,
    pub hooks: bool,
}

/// What `init` did.
#[derive(Debug, Serialize)]
pub struct Initialised {
    pub branch: String,
    /// What became of the state: `began`, `kept`, `put back`, `adopted`.
    pub state: &'static str,
    /// The goal that was added.
    pub goal: Option<GoalId>,
    /// What was added with it, where that was a preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Laid>,
    pub enforcement: Enforcement,
}

/// What belongs to a ready-made goal.
#[derive(Debug, Serialize)]
pub struct Laid {
    pub todos: Vec<TodoId>,
    /// How many of the todos are monitors.
    pub monitors: usize,
    pub gates: Vec<GateId>,
}

/// What an `init` would come to.
#[derive(Debug)]
pub struct Plan {
    branch: String,
    situation: Situation,
    /// What is to be known of a tip that loopx did not put there.
    verdict: Option<String>,
    /// What goes with the tip that loopx left, where it left one; an error says why that cannot be told.
    loss: Option<Result<Loss, store::Error>>,
}

impl Plan {
    /// What only a person may agree to, if there is anything: it completes "only a person may …".
    pub fn loosens(&self) -> Option<String> {
        let branch = &self.branch;
        match &self.situation {
            Situation::New | Situation::Ours | Situation::Lost { .. } => None,
            Situation::Foreign { .. } => {
                Some(format!("take over what something else than loopx put on `{branch}`"))
            }
            Situation::Shown { .. } => Some(format!(
                "put `{branch}` back at what `.loopx/` showed last, which may not be the newest"
            )),
            Situation::Gone => {
                Some(format!("begin `{branch}` anew, without the goals and gates that were there"))
            }
        }
    }

    /// The branch, which is what a person types back.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Whether what is there could have been made by loopx, in a sentence.
    pub fn verdict(&self) -> Option<&str> {
        self.verdict.as_deref()
    }

    /// What would be lost with the tip that loopx left; none when that is part of what is there.
    pub fn loss(&self) -> Option<Gone<'_>> {
        let Situation::Foreign { last: Some(last), .. } = &self.situation else { return None };
        match self.loss.as_ref()? {
            Ok(loss) if loss.commits.is_empty() && loss.gates.is_empty() => None,
            loss => Some(Gone { last, loss: loss.as_ref().ok() }),
        }
    }

    /// The command that shows what there is to agree to.
    pub fn look(&self) -> Option<String> {
        match &self.situation {
            Situation::Foreign { last: Some(last), .. } if !matches!(self.loss, Some(Err(_))) => {
                Some(format!("git log --patch {}...{}", &last[..10], self.branch))
            }
            Situation::Foreign { .. } => Some(format!("git log --patch {}", self.branch)),
            Situation::Shown { last } => Some(format!("git log --patch {}", &last[..10])),
            _ => None,
        }
    }
}

/// What goes when a person takes over.
#[derive(Debug)]
pub struct Gone<'a> {
    /// Where loopx left the branch, in hex.
    pub last: &'a str,
    /// None when git does not have that any more.
    pub loss: Option<&'a Loss>,
}

/// Looks what `init` would meet, without changing it.
pub fn plan(ctx: &Ctx, branch: Option<&str>) -> Result<Plan, Error> {
    let branch = ctx.store.branch_for(branch)?;
    let situation = ctx.store.situation(&branch)?;
    let verdict = match &situation {
        // What was verified once is noted where whoever made the commits may write, so all of it is looked at again.
        Situation::Foreign { .. } => Some(match ctx.store.verify(true, ctx.now, |_, _| ())?.bad {
            None => "each commit of it is a legal mutation".to_owned(),
            Some(bad) => format!("commit {} is no legal mutation: {}", &bad.commit[..10], bad.problem),
        }),
        _ => None,
    };
    let loss = match &situation {
        Situation::Foreign { tip, last: Some(last) } => Some(ctx.store.loss(tip, last)),
        _ => None,
    };
    Ok(Plan { branch, situation, verdict, loss })
}

impl Request {
    /// The id of the goal that is to be added, where it is known already.
    fn wanted(&self) -> Option<&GoalId> {
        let preset = self.preset.as_ref().map(|(preset, id)| id.as_ref().unwrap_or(&preset.goal));
        preset.or(self.goal.as_ref().and_then(|(_, id)| id.as_ref()))
    }
}

/// Adds a ready-made goal with its todos, its gates and its cap: a commit for each kind of step.
fn lay(ctx: &Ctx, preset: &Preset, goal: &GoalId) -> Result<Done<Laid>, Error> {
    let mut done =
        goal::add(ctx, Some(goal.clone()), preset.objective.clone(), preset.done_when.clone())?.without();
    if let Some(slots) = preset.slots {
        let configuration = Configuration { slots: Some(Cap(Some(slots))), ..Configuration::default() };
        done = done.then(goal::configure(ctx, goal, &configuration, None)?.without());
    }
    let added = super::todo::add_all(ctx, Some(goal), &preset.todos)?;
    let todos: Vec<TodoId> = added.value.todos.iter().map(|view| view.id.clone()).collect();
    let monitors = added.value.todos.iter().filter(|view| view.todo.monitor.is_some()).count();
    done = done.then(added.without());
    let mut gates = Vec::new();
    for gate in &preset.gates {
        let about = gate.todos.iter().filter_map(|place| todos.get(*place)?.as_str().parse().ok());
        let question = gate::Question {
            goal: Some(goal.clone()),
            id: Some(gate.id.clone()),
            question: gate.question.clone(),
            options: Vec::new(),
            blocks: gate.blocks.clone(),
            todos: about.collect(),
            scope: Scope::default(),
            standing: None,
            approvals: Approvals::default(),
        };
        let opened = gate::open(ctx, &question)?;
        gates.push(opened.value.id.clone());
        done = done.then(opened.without());
    }
    Ok(Done { value: Laid { todos, monitors, gates }, commit: done.commit, warnings: done.warnings })
}

/// Makes what is missing of branch, config, exclude entry, `.loopx/` and hook, and adds a first goal if asked to.
pub fn init(
    ctx: &Ctx,
    plan: &Plan,
    request: Request,
    proven: Option<&Proven>,
) -> Result<Done<Initialised>, Error> {
    if let (Some(loosened), None) = (plan.loosens(), proven) {
        return Err(Error::new(Kind::PersonNeeded, format!("only a person may {loosened}"))
            .hint("run `loopx init` in a terminal"));
    }
    if let (Situation::Ours, Some(goal)) = (&plan.situation, request.wanted()) {
        // Nothing is set up or repaired on the way to a refusal.
        if ctx.store.read()?.goal(goal)?.is_some() {
            return Err(Refusal::GoalExists(goal.clone()).into());
        }
    }
    let stamp = ctx.stamp()?;
    let policy = Policy::new(RepositoryId::new(&ctx.entropy));
    let setup = ctx.store.set_up(&plan.branch, &plan.situation, &policy, &stamp)?;
    // The configuration that was just written is read by a store of its own.
    let ctx = &ctx.reopened()?;
    let enforcement = match request.hooks {
        true => super::enforcement::install(ctx, false).unwrap_or_else(|_| super::enforcement::probe(ctx)),
        false => super::enforcement::probe(ctx),
    };
    super::bypass::watch(ctx);
    let mut warnings = setup.warnings;
    let (mut added, mut commit) = (None, None);
    if let Some((objective, id)) = request.goal {
        let done = goal::add(ctx, id, objective, Vec::new())?;
        warnings.extend(done.warnings);
        commit = done.commit;
        added = Some(done.value.id);
    }
    let mut laid = None;
    if let Some((preset, id)) = request.preset {
        let goal = id.unwrap_or_else(|| preset.goal.clone());
        let done = lay(ctx, &preset, &goal)?;
        warnings.extend(done.warnings);
        commit = done.commit;
        (added, laid) = (Some(goal), Some(done.value));
    }
    let state = match setup.situation {
        Situation::New | Situation::Gone => "began",
        Situation::Ours => "kept",
        Situation::Lost { .. } | Situation::Shown { .. } => "put back",
        Situation::Foreign { .. } => "adopted",
    };
    let value = Initialised { branch: setup.branch, state, goal: added, preset: laid, enforcement };
    Ok(Done { value, commit, warnings })
}
