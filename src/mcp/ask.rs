//! A question to the person who sits at the host.
//!
//! The host shows it (elicitation) and hands back what they said, or what a program of theirs said in their stead: nothing here
//! can tell the two apart. So the answer is kept as evidence about the gate, and the gate waits on: it takes a person at their own
//! terminal, or a signature, as the policy has it.

use std::path::Path;

use rmcp::{
    ErrorData,
    model::{
        CallToolResponse, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationSchema, EnumSchema, InputRequest, InputRequests, InputRequiredResult, InputResponses,
        JsonObject, PrimitiveSchemaDefinition, ProtocolVersion, ServerRequest, StringSchema,
    },
};
use serde_json::{Value, json};

use super::{
    Desk, Request, Server, Told, taken_back,
    tools::{GateAsk, Spec},
};
use crate::{
    caller::Caller,
    domain::{
        id::{Choice, GateId, GoalId},
        policy::Approval,
        text::{Note, Title, shown},
    },
    error::{Error, Kind},
    ops::{
        self, Ctx,
        evidence::{About, Saw},
        gate::GateView,
    },
    text::Answer,
};

/// The gate that is asked about.
#[derive(Debug, Clone)]
struct Asked {
    goal: GoalId,
    gate: GateId,
    question: Title,
    options: Vec<Choice>,
    /// What opening it said, if it was opened for this.
    opened: Option<String>,
}

/// What the host handed back.
#[derive(Debug)]
enum Heard {
    Said {
        decision: String,
        note: Option<String>,
    },
    /// They want to give no answer here.
    Declined,
    /// They did not look at it.
    Cancelled,
    /// The host shows no questions.
    Deaf,
    Nonsense(String),
}

/// The name of the one question in a result that asks for input.
const ANSWER: &str = "answer";
/// The longest note.
const NOTE: u32 = 2_000;

impl Server {
    pub(super) async fn ask(
        &self,
        request: &Request,
        spec: &'static Spec,
        arguments: JsonObject,
        responses: Option<InputResponses>,
        state: Option<String>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (caller, dir) = (self.caller(request), self.place(request).await?);
        let who = caller.clone();
        let place = dir.clone();
        let asked = self
            .work(request, move |desk| {
                found(desk, &who, place.as_deref(), spec, &arguments, state.as_deref())
            })
            .await?;
        let asked = match asked {
            Ok(asked) => asked,
            Err(told) => return Ok(told.result().into()),
        };
        let form = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: format!(
                "{}\n\n(gate {} of loopx. What you say here is noted; it does not open the gate.)",
                asked.question, asked.gate
            ),
            requested_schema: form(&asked.options)?,
        };
        let shows = request.client_capabilities().and_then(|can| can.elicitation);
        let shows = shows.is_some_and(|how| how.form.is_some() || how.url.is_none());
        let is_newer =
            request.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let heard = match responses.and_then(|mut responses| responses.remove(ANSWER)) {
            _ if !shows => Heard::Deaf,
            Some(response) => heard(serde_json::from_value(response)),
            None if is_newer => {
                let question = InputRequest::Elicitation(ElicitRequest::new(form));
                let questions: InputRequests = [(ANSWER.to_owned(), question)].into();
                let state = format!("{}/{}", asked.goal, asked.gate);
                return Ok(InputRequiredResult::new(Some(questions), Some(state)).into());
            }
            None => {
                let question = ServerRequest::ElicitRequest(ElicitRequest::new(form));
                let answer = tokio::select! {
                    () = request.ct.cancelled() => return Err(taken_back()),
                    answer = request.peer.send_request(question) => answer,
                };
                match answer {
                    Ok(ClientResult::ElicitResult(result)) => heard(Ok(result)),
                    Ok(_) => Heard::Nonsense("something that is no answer".into()),
                    // The host said that it can, and cannot.
                    Err(_) => Heard::Deaf,
                }
            }
        };
        let told =
            self.work(request, move |desk| noted(desk, &caller, dir.as_deref(), &asked, heard)).await?;
        Ok(told.result().into())
    }
}

/// What the person sees: the answers that the gate offers, and room for a word.
fn form(options: &[Choice]) -> Result<ElicitationSchema, ErrorData> {
    let decisions = EnumSchema::builder(options.iter().map(ToString::to_string).collect())
        .title("Decision")
        .untitled()
        .build();
    let note =
        StringSchema::new().title("Note").description("Anything the agent should know").max_length(NOTE);
    ElicitationSchema::builder()
        .required_property("decision", PrimitiveSchemaDefinition::Enum(decisions))
        .property("note", PrimitiveSchemaDefinition::String(note))
        .build()
        .map_err(|what| ErrorData::internal_error(what, None))
}

fn heard(result: Result<ElicitResult, serde_json::Error>) -> Heard {
    let Ok(result) = result else { return Heard::Nonsense("something that is no answer".into()) };
    match result.action {
        ElicitationAction::Accept => {
            let content = result.content.unwrap_or_default();
            let text = |name: &str| content.get(name).and_then(Value::as_str).map(str::to_owned);
            match text("decision") {
                Some(decision) => {
                    Heard::Said { decision, note: text("note").filter(|note| !note.trim().is_empty()) }
                }
                None => Heard::Nonsense("an answer without a decision".into()),
            }
        }
        ElicitationAction::Decline => Heard::Declined,
        _ => Heard::Cancelled,
    }
}

/// Finds the gate, or opens it.
fn found(
    desk: &dyn Desk,
    caller: &Caller,
    dir: Option<&Path>,
    spec: &Spec,
    arguments: &JsonObject,
    state: Option<&str>,
) -> Result<Asked, Told> {
    let failed = |error: Error| Told::failed(desk, &error);
    let usage = |what: String| failed(Error::new(Kind::Usage, what).hint("look at the tool's input schema"));
    let given: GateAsk =
        serde_json::from_value(Value::Object(arguments.clone())).map_err(|bad| usage(bad.to_string()))?;
    let ctx = desk.context(caller, dir).map_err(failed)?;
    let id = |text: &String| text.parse::<GateId>().map_err(|bad| usage(bad.to_string()));
    let goal = given.goal_id.as_ref().map(|text| text.parse::<GoalId>()).transpose();
    let goal = goal.map_err(|bad| usage(bad.to_string()))?;
    // What comes back from the client names the gate, and is looked at like an argument.
    let asked_before = state.and_then(|state| state.split_once('/'));
    let there = match (asked_before, &given.gate_id) {
        (Some((goal, gate)), _) => {
            let goal = goal.parse::<GoalId>().map_err(|bad| usage(bad.to_string()))?;
            Some(ops::gate::show(&ctx, Some(&goal), &id(&gate.to_owned())?).map_err(failed)?)
        }
        (None, Some(gate)) => match ops::gate::show(&ctx, goal.as_ref(), &id(gate)?) {
            Ok(view) => Some(view),
            Err(error) if error.kind == Kind::NotFound && given.question.is_some() => None,
            Err(error) => return Err(failed(error)),
        },
        (None, None) => {
            let gates = ops::gate::list(&ctx, goal.as_ref(), false).map_err(failed)?;
            let asks = |view: &GateView| {
                view.gate.is_open() && given.question.as_deref() == Some(view.gate.question.as_str())
            };
            gates.gates.into_iter().find(asks)
        }
    };
    let Some(view) = there else {
        if given.question.is_none() {
            return Err(usage("neither `question` nor `gate_id` was given".into()));
        }
        let told = desk.tell(caller, dir, &spec.words(arguments));
        if !told.is_fine {
            return Err(told);
        }
        let document = told.document();
        let named = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
        let (goal, gate) = (named("goal").parse::<GoalId>(), named("id").parse::<GateId>());
        let (Ok(goal), Ok(gate)) = (goal, gate) else { return Err(usage("the gate has no name".into())) };
        let view = ops::gate::show(&ctx, Some(&goal), &gate).map_err(failed)?;
        return Ok(Asked { opened: Some(told.text), ..asked_of(&view) });
    };
    let another = given.question.as_deref().is_some_and(|question| question != view.gate.question.as_str())
        || given.gate_id.as_deref().is_some_and(|gate| gate != view.id.as_str());
    if another {
        let what = format!("gate `{}` asks something else: \"{}\"", view.id, view.gate.question);
        return Err(failed(Error::new(Kind::Usage, what).hint(format!("run `loopx gate show {}`", view.id))));
    }
    let words = |name: &str| -> Vec<&str> {
        arguments
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    };
    let (gate, blocks) = (&view.gate, words("blocks"));
    let differs = !blocks.is_empty() && gate.blocks.iter().any(|act| !blocks.contains(&act.word()))
        || blocks.iter().any(|word| gate.blocks.iter().all(|act| act.word() != *word))
        || words("option").iter().any(|word| gate.options.iter().all(|option| option.as_str() != *word))
        || words("todo")
            .iter()
            .any(|prefix| gate.todos.iter().all(|todo| !todo.as_str().starts_with(prefix)));
    if differs {
        let what = format!("gate `{}` is there already, and what waits for it does not change", view.id);
        return Err(failed(Error::new(Kind::Usage, what).hint("leave `blocks`, `todo` and `option` out")));
    }
    if !view.gate.is_open() {
        let what = format!("gate `{}` does not wait for an answer", view.id);
        return Err(failed(
            Error::new(Kind::Refused, what).hint(format!("run `loopx gate show {}`", view.id)),
        ));
    }
    Ok(asked_of(&view))
}

fn asked_of(view: &GateView) -> Asked {
    Asked {
        goal: view.goal.clone(),
        gate: view.id.clone(),
        question: view.gate.question.clone(),
        options: view.gate.answers().into_iter().cloned().collect(),
        opened: None,
    }
}

/// Keeps what was said with the gate, and tells what it is worth.
fn noted(desk: &dyn Desk, caller: &Caller, dir: Option<&Path>, asked: &Asked, heard: Heard) -> Told {
    match desk.context(caller, dir).and_then(|ctx| note(desk, &ctx, asked, heard)) {
        Ok(told) => told,
        Err(error) => Told::failed(desk, &error),
    }
}

fn note(desk: &dyn Desk, ctx: &Ctx, asked: &Asked, heard: Heard) -> Result<Told, Error> {
    let Asked { goal, gate, options, .. } = asked;
    let offered = |decision: &str| options.iter().find(|option| option.as_str() == decision);
    let (said, decision, evidence) = match heard {
        Heard::Said { decision, note } => match offered(&decision) {
            Some(decision) => {
                let mut text = format!("answered in the host: {decision}; not proven");
                note.iter().for_each(|note| text.push_str(&format!("\n\n{note}")));
                let text: Note =
                    text.parse().map_err(|bad| Error::new(Kind::Usage, format!("the note: {bad}")))?;
                let about = About::Gate(Some(goal.clone()), gate.clone());
                let done = ops::evidence::add(ctx, &about, &Saw::Note(text))?;
                desk.notify(ctx);
                let said = format!("answered in the host: {decision}; not proven, so the gate waits on");
                (said, Some(decision.clone()), Some(done.value.id))
            }
            None => (
                format!("answered in the host with `{}`, which is not on offer", shown(&decision, 40)),
                None,
                None,
            ),
        },
        Heard::Declined => ("they gave no answer in the host".to_owned(), None, None),
        Heard::Cancelled => {
            ("the question was put away in the host without an answer".to_owned(), None, None)
        }
        Heard::Deaf => ("this host shows no questions".to_owned(), None, None),
        Heard::Nonsense(what) => (format!("the host handed back {what}"), None, None),
    };
    let view = ops::gate::show(ctx, Some(goal), gate)?;
    let needs = match ops::policy::show(ctx)?.policy.approval {
        Approval::Terminal => "at a terminal of their own",
        Approval::Signed => "with an approver's signature",
    };
    let how = format!("a person answers {needs} with {}", Answer(gate, options));
    let in_host = json!({
        "said": said,
        "decision": decision,
        "evidence": evidence,
        "counts": false,
        "how": how,
    });
    let head = match &asked.opened {
        Some(opened) => opened.lines().next().unwrap_or_default().to_owned(),
        None => format!("gate {gate}: \"{}\"", view.gate.question),
    };
    let mut document = json!({ "schema_version": 1 });
    if let (Some(document), Ok(Value::Object(fields))) =
        (document.as_object_mut(), serde_json::to_value(&view))
    {
        document.extend(fields);
        document.insert("asked_in_host".into(), in_host);
    }
    Ok(Told { text: format!("{head}\n{said}\n{how}\n"), json: document.to_string(), is_fine: true })
}
