//! The door for agents' hosts: the Model Context Protocol on standard input and output.
//!
//! A tool stands for a command, and `Desk` runs it as the command line does: the same words and rules, the same answer, the
//! same error. What is here is the protocol, who calls, and where they stand. Both eras of the protocol are spoken: the one
//! that begins with `initialize`, and the one of 2026-07-28, where each request says everything itself.
//!
//! Whoever calls through this door is an agent, whatever the environment says. No tool answers a gate; `ask` puts a question
//! to the person at the host, and what they say there proves nothing.
//!
//! This is the only part of the house with a runtime for async: one thread that talks, and a few that work. The state is
//! opened for each call, because others change it meanwhile.

mod ask;
mod resources;
mod roots;
pub(crate) mod tools;

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
        GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
        ReadResourceResponse, ServerCapabilities, ServerConfig,
    },
    service::{NotificationContext, RequestContext, ServerInitializeError},
    transport::async_rw::AsyncRwTransport,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{
    caller::Caller,
    domain::{id::AgentId, text::shown},
    error::{Error, Kind},
    ops::Ctx,
};

/// What the command line does for this door.
pub(crate) trait Desk: Send + Sync + 'static {
    /// Runs a command for an agent, in a folder if one is named.
    fn tell(&self, caller: &Caller, dir: Option<&Path>, words: &[String]) -> Told;
    /// What ops may know of the world.
    fn context(&self, caller: &Caller, dir: Option<&Path>) -> Result<Ctx, Error>;
    /// An error as `--json` prints it.
    fn document(&self, error: &Error) -> String;
    /// Tells the person's own command what began to wait.
    fn notify(&self, ctx: &Ctx);
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Told {
    /// In words.
    pub(crate) text: String,
    /// As the one JSON document.
    pub(crate) json: String,
    /// It did what it was called for, or answered.
    pub(crate) is_fine: bool,
}

impl Told {
    /// What went wrong, as the command line says it.
    pub(crate) fn failed(desk: &dyn Desk, error: &Error) -> Self {
        Self { text: error.to_string(), json: desk.document(error), is_fine: false }
    }

    fn document(&self) -> Value {
        serde_json::from_str(&self.json).unwrap_or(Value::Null)
    }

    fn result(self) -> CallToolResult {
        let document = self.document();
        let mut result = match self.is_fine {
            true => CallToolResult::structured(document),
            false => CallToolResult::structured_error(document),
        };
        result.content = vec![ContentBlock::text(self.text)];
        result
    }
}

/// So many calls are worked on at once; the others wait.
const AT_ONCE: usize = 8;
/// A longer message is dropped.
const LONGEST: usize = 4 * 1024 * 1024;
/// So long a call may go on when the client has gone.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// Serves until the client goes. `named` is who calls, if somebody said so; otherwise they are named after the client.
pub(crate) fn serve(desk: Arc<dyn Desk>, named: Option<Caller>, streams: (File, File)) -> Result<(), Error> {
    let environment = |what: &str, error: &dyn std::fmt::Display| {
        Error::new(Kind::Environment, format!("{what}: {error}"))
            .hint("add `loopx mcp` to a client, as docs/mcp.md tells; it is not for typing")
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(AT_ONCE + 4)
        .build()
        .map_err(|error| environment("the server cannot start", &error))?;
    let (input, output) = (tokio::fs::File::from_std(streams.0), tokio::fs::File::from_std(streams.1));
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(LONGEST);
    let server = Server {
        desk,
        named,
        work: Arc::new(Semaphore::new(AT_ONCE)),
        root: Arc::new(Mutex::new(Where::Unknown)),
    };
    let served = runtime.block_on(async {
        match server.serve(transport).await {
            Ok(running) => {
                running.waiting().await.map(drop).map_err(|error| environment("the server failed", &error))
            }
            // A client that looks whether we are there, and goes.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => {
                let what = shown(&error.to_string(), 200);
                Err(environment("the client does not speak the protocol", &what))
            }
        }
    });
    // What is being written is written; a killed writer would leave the state whole as well.
    runtime.shutdown_timeout(AFTERWARDS);
    served
}

/// Where the client stands, if not where we were started.
#[derive(Debug, Clone)]
enum Where {
    Unknown,
    Here,
    There(PathBuf),
}

#[derive(Clone)]
struct Server {
    desk: Arc<dyn Desk>,
    named: Option<Caller>,
    work: Arc<Semaphore>,
    root: Arc<Mutex<Where>>,
}

type Request = RequestContext<RoleServer>;

impl Server {
    /// Who calls: as it was said when we were started, or the client by its own name.
    fn caller(&self, request: &Request) -> Caller {
        if let Some(caller) = &self.named {
            return caller.clone();
        }
        let client = request.client_info().map(|client| client.name).unwrap_or_default();
        let word: String = client
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
            .collect();
        let word = word.trim_matches('-').to_ascii_lowercase();
        let agent = match word.get(..word.len().min(60)) {
            None | Some("") => "mcp".to_owned(),
            Some(word) => format!("mcp-{word}"),
        };
        let named_by = format!("the MCP client calls itself `{}`", shown(&client, 60));
        Caller::Agent { agent: agent.parse().unwrap_or_else(|_| unnamed()), named_by }
    }

    /// Does something that may wait for files and locks, unless the client has taken its request back.
    async fn work<T: Send + 'static>(
        &self,
        request: &Request,
        work: impl FnOnce(&dyn Desk) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let turn = tokio::select! {
            biased;
            () = request.ct.cancelled() => return Err(taken_back()),
            turn = Arc::clone(&self.work).acquire_owned() => turn.map_err(|_| taken_back())?,
        };
        let desk = Arc::clone(&self.desk);
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work(&*desk)
        });
        done.await.map_err(|_| ErrorData::internal_error("a fault of loopx; nothing is lost", None))
    }

    async fn tell(&self, request: &Request, words: Vec<String>) -> Result<Told, ErrorData> {
        let (caller, dir) = (self.caller(request), self.place(request).await?);
        self.work(request, move |desk| desk.tell(&caller, dir.as_deref(), &words)).await
    }
}

fn taken_back() -> ErrorData {
    ErrorData::invalid_request("the request was cancelled", None)
}

/// The agent that nobody named.
fn unnamed() -> AgentId {
    "mcp".parse().unwrap_or_else(|_| unreachable!("it is a word"))
}

const INSTRUCTIONS: &str = "loopx keeps the state of this repository's agent loops and its gates: questions that only a person may \
    answer. Before you work, call should_run (or turn_begin, which also claims the work); when it says no, stop and tell the \
    person `why` and `next`. Open a gate with gate_open for what a person has to decide, such as a push or a release, and do \
    other work meanwhile. No tool answers, withdraws or narrows a gate: a person does, at a terminal of their own.";

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let about = Implementation::new("loopx", env!("CARGO_PKG_VERSION")).with_title("loopx");
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Request,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::ALL.iter().map(tools::Spec::tool).collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        request: Request,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(spec) = tools::Spec::named(&call.name) else {
            let what = format!("there is no tool `{}`", shown(&call.name, 60));
            return Err(ErrorData::invalid_params(what, None));
        };
        let arguments = match spec.arguments(call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return Ok(Told::failed(&*self.desk, &error).result().into()),
        };
        if spec.name == tools::GATE_ASK {
            return self.ask(&request, spec, arguments, call.input_responses, call.request_state).await;
        }
        Ok(self.tell(&request, spec.words(&arguments)).await?.result().into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        request: Request,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.resources(&request).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Request,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        request: Request,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.resource(&request, &asked.uri).await.map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Request,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(resources::prompts())
    }

    async fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        _: Request,
    ) -> Result<GetPromptResponse, ErrorData> {
        resources::prompt(&asked).map(Into::into)
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = Where::Unknown;
    }
}

/// A protocol error that says what the command line says.
fn refused(told: &Told) -> ErrorData {
    let error = told.document();
    let message = error["error"]["message"].as_str().unwrap_or("it failed").to_owned();
    match error["error"]["code"].as_str() {
        Some("not-found") => ErrorData::resource_not_found(message, Some(json!(error["error"]))),
        _ => ErrorData::internal_error(message, Some(json!(error["error"]))),
    }
}
