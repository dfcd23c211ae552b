//! Goals and gates as things to look at, and the two prompts.

use rmcp::{
    ErrorData,
    model::{
        GetPromptRequestParams, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, Prompt, PromptArgument, PromptMessage, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate, Role,
    },
};

use super::{Request, Server, refused};
use crate::{
    domain::{
        id::{GoalId, TurnId},
        text::shown,
    },
    ops,
};

const JSON: &str = "application/json";

impl Server {
    /// Every goal, and the gates in force.
    pub(super) async fn resources(&self, request: &Request) -> Result<ListResourcesResult, ErrorData> {
        let (caller, dir) = (self.caller(request), self.place(request).await?);
        let found = self
            .work(request, move |desk| {
                let ctx = desk.context(&caller, dir.as_deref())?;
                Ok::<_, crate::error::Error>((ops::goal::list(&ctx)?, ops::gate::list(&ctx, None, false)?))
            })
            .await?;
        // Where nothing is set up there is nothing to look at.
        let Ok((goals, gates)) = found else { return Ok(ListResourcesResult::default()) };
        let goals = goals.goals.iter().map(|view| {
            Resource::new(format!("loopx://goal/{}", view.id), format!("goal {}", view.id))
                .with_title(view.goal.objective.to_string())
                .with_mime_type(JSON)
        });
        let gates = gates.gates.iter().map(|view| {
            Resource::new(format!("loopx://gate/{}/{}", view.goal, view.id), format!("gate {}", view.id))
                .with_title(view.gate.question.to_string())
                .with_mime_type(JSON)
        });
        Ok(ListResourcesResult::with_all_items(goals.chain(gates).collect()))
    }

    /// One of them, as `--json` prints it.
    pub(super) async fn resource(
        &self,
        request: &Request,
        uri: &str,
    ) -> Result<ReadResourceResult, ErrorData> {
        let parts: Vec<&str> = uri.strip_prefix("loopx://").unwrap_or_default().split('/').collect();
        let words: Vec<String> = match parts[..] {
            ["goal", goal] => vec!["goal".into(), "show".into(), "--".into(), goal.into()],
            ["gate", goal, gate] => {
                vec!["gate".into(), "show".into(), format!("--goal-id={goal}"), "--".into(), gate.into()]
            }
            _ => {
                let what = format!("there is no resource `{}`", shown(uri, 100));
                return Err(ErrorData::resource_not_found(what, None));
            }
        };
        let told = self.tell(request, words).await?;
        match told.is_fine {
            true => Ok(ReadResourceResult::new(vec![
                ResourceContents::text(told.json, shown(uri, 200)).with_mime_type(JSON),
            ])),
            false => Err(refused(&told)),
        }
    }
}

/// How the resources are called.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = |uri: &str, name: &str, about: &str| {
        ResourceTemplate::new(uri, name).with_description(about).with_mime_type(JSON)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template("loopx://goal/{goal}", "goal", "A goal: its objective, its criteria, its state, its quota"),
        template(
            "loopx://gate/{goal}/{gate}",
            "gate",
            "A gate: the question, what waits for it, and the answer",
        ),
    ])
}

const START: &str = "start-loop";
const HAND_OVER: &str = "hand-over";

/// The prompts.
pub(super) fn prompts() -> ListPromptsResult {
    let argument = |name: &str, about: &str| {
        Some(vec![PromptArgument::new(name).with_description(about).with_required(false)])
    };
    ListPromptsResult::with_all_items(vec![
        Prompt::new(
            START,
            Some("Work on the goal turn by turn, until a person is needed"),
            argument("goal", "The goal; may be left out when one is active"),
        )
        .with_title("Start a loop"),
        Prompt::new(
            HAND_OVER,
            Some("Stop well: what was done, what is left, what waits for a person"),
            argument("turn", "The turn that you are in, if you began one"),
        )
        .with_title("Hand over"),
    ])
}

/// One of them, filled in.
pub(super) fn prompt(asked: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let given = |name: &str| {
        let value = asked.arguments.as_ref().and_then(|arguments| arguments.get(name));
        value.and_then(|value| value.as_str()).filter(|value| !value.is_empty()).map(str::to_owned)
    };
    let bad = |what: String| ErrorData::invalid_params(what, None);
    let (about, text) = match asked.name.as_str() {
        START => {
            let goal = given("goal").map(|goal| goal.parse::<GoalId>()).transpose();
            let with = match goal.map_err(|error| bad(error.to_string()))? {
                Some(goal) => format!(" with goal_id `{goal}`"),
                None => String::new(),
            };
            ("Start a loop", format!(include_str!("start-loop.md"), with = with))
        }
        HAND_OVER => {
            let turn = given("turn").map(|turn| turn.parse::<TurnId>()).transpose();
            let which = match turn.map_err(|error| bad(error.to_string()))? {
                Some(turn) => format!("turn `{turn}`"),
                None => "the turn that you began, if you began one,".to_owned(),
            };
            ("Hand over", format!(include_str!("hand-over.md"), turn = which))
        }
        other => return Err(bad(format!("there is no prompt `{}`", shown(other, 60)))),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(about))
}
