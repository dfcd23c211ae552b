//! Evidence: adding and listing.

use std::path::PathBuf;

use serde::Serialize;

use super::{Ctx, Done};
use crate::{
    domain::{
        change::{Change, Op, Record},
        evidence::{Evidence, Finding},
        id::{EvidenceId, GateId, GoalId, TodoPrefix},
        refusal::Refusal,
        text::{Note, Title},
    },
    error::Error,
    store::{Snapshot, message::subject, snapshot::Found},
};

/// A piece of evidence with its id and goal.
#[derive(Debug, Serialize)]
pub struct EvidenceView {
    pub id: EvidenceId,
    pub goal: GoalId,
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// Evidence, the newest first.
#[derive(Debug, Serialize)]
pub struct EvidenceList {
    pub evidence: Vec<EvidenceView>,
}

/// What the evidence is about, as it was named.
#[derive(Debug, Clone)]
pub enum About {
    Todo(TodoPrefix),
    Gate(Option<GoalId>, GateId),
    Goal(Option<GoalId>),
}

/// What was seen, as it was named.
#[derive(Debug, Clone)]
pub enum Saw {
    Note(Note),
    Link(Title),
    Commit(String),
    File(PathBuf),
}

/// Adds evidence. What it points to has to exist: a commit that does not, or a file that is not there, is refused.
pub fn add(ctx: &Ctx, about: &About, saw: &Saw) -> Result<Done<EvidenceView>, Error> {
    let stamp = ctx.stamp()?;
    let git = ctx.store.git();
    let what = match saw {
        Saw::Note(text) => Finding::Note { text: text.clone() },
        Saw::Link(url) => Finding::Link { url: url.clone() },
        Saw::Commit(revision) => {
            let commit = git.revision(revision)?;
            Finding::Commit { commit: commit.commit, subject: commit.subject }
        }
        Saw::File(path) => {
            let file = git.file(&ctx.cwd, path)?;
            Finding::File { path: file.path, bytes: file.bytes, digest: file.digest }
        }
    };
    let head = git.head()?;
    let dirty = git.is_dirty()?;
    ctx.update(&stamp, |snapshot| {
        let (goal, todo, gate) = match about {
            About::Todo(prefix) => match snapshot.find_todo(prefix)? {
                Found::Open(goal, id) | Found::Closed(goal, id) => (goal, Some(id), None),
                Found::Nothing => return Err(Refusal::UnknownTodo(prefix.clone()).into()),
                Found::Several(candidates) => {
                    return Err(Refusal::AmbiguousTodo { prefix: prefix.clone(), candidates }.into());
                }
            },
            About::Gate(goal, id) => {
                let view = super::gate::show(ctx, goal.as_ref(), id)?;
                (view.goal, None, Some(view.id))
            }
            About::Goal(goal) => (ctx.goal_id(snapshot, goal.as_ref())?, None, None),
        };
        let commit = head.as_ref().map(|head| head.commit.clone());
        let evidence = Evidence { commit, dirty, todo, gate, added: stamp.clone(), what: what.clone() };
        added(ctx, snapshot, goal, evidence)
    })
}

/// The mutation that adds evidence to a goal.
pub(super) fn added(
    ctx: &Ctx,
    snapshot: &Snapshot<'_>,
    goal: GoalId,
    evidence: Evidence,
) -> Result<(Option<Change>, EvidenceView), Error> {
    let id =
        EvidenceId::draw(&ctx.entropy, snapshot.evidence_population()?, |id| snapshot.evidence_taken(id))?
            .ok_or(Refusal::NoFreeId)?;
    let target = match (&evidence.todo, &evidence.gate) {
        (Some(todo), _) => format!("todo {todo}"),
        (None, Some(gate)) => format!("gate {gate}"),
        (None, None) => format!("goal {goal}"),
    };
    let change = Change {
        op: Op::EvidenceAdd,
        subject: subject(&format!("add evidence {id} for {target}"), &brief(&evidence.what)),
        body: None,
        goal: Some(goal.clone()),
        turn: None,
        puts: vec![Record::Evidence(goal.clone(), id.clone(), evidence.clone())],
    };
    Ok((Some(change), EvidenceView { id, goal, evidence }))
}

/// A finding in one line.
pub fn brief(what: &Finding) -> String {
    match what {
        Finding::Note { text } => text.as_str().lines().next().unwrap_or_default().to_owned(),
        Finding::Link { url } => url.to_string(),
        Finding::Commit { commit, subject } => {
            format!("commit {} {subject}", &commit[..commit.len().min(10)])
        }
        Finding::File { path, bytes, .. } => {
            let bytes = crate::text::Count(usize::try_from(*bytes).unwrap_or(usize::MAX), "byte");
            format!("file {path} ({bytes})")
        }
        Finding::Command { argv, seconds, ended, .. } => format!("{argv} ({ended}, {seconds})"),
        Finding::Check { argv, seconds, .. } => format!("{argv} (passed, {seconds})"),
    }
}

/// The recent evidence of one goal or of all, the newest first; of one todo alone if `todo` is given.
pub fn list(ctx: &Ctx, goal: Option<&GoalId>, todo: Option<&TodoPrefix>) -> Result<EvidenceList, Error> {
    let snapshot = ctx.store.read()?;
    let goals = match goal {
        Some(goal) => vec![ctx.goal_id(&snapshot, Some(goal))?],
        None => snapshot.goals()?,
    };
    let mut evidence = Vec::new();
    for goal in goals {
        let found = snapshot.evidence(&goal)?;
        evidence.extend(found.into_iter().map(|(id, evidence)| EvidenceView {
            id,
            goal: goal.clone(),
            evidence,
        }));
    }
    if let Some(prefix) = todo {
        evidence.retain(|view| view.evidence.todo.as_ref().is_some_and(|todo| prefix.matches(todo.as_str())));
    }
    evidence.sort_by(|a, b| (b.evidence.added.at, &b.id).cmp(&(a.evidence.added.at, &a.id)));
    Ok(EvidenceList { evidence })
}
