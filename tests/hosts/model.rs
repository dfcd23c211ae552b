//! A model that says what a script tells it, on loopback, in the protocols that the hosts speak.
//!
//! Each request with tools in it is the next line of the script; one without is a host asking for a title or the like. What the
//! host sent is kept, so that a test can look at what a model would have seen.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

/// What the model does next.
pub(crate) enum Line {
    /// It runs a command in the host's shell.
    Runs(String),
    /// It says something, and its turn is over.
    Says(String),
    /// Something happens elsewhere before the next line.
    Meanwhile(Box<dyn FnOnce() + Send>),
}

/// A server that plays a script, as long as this lives.
pub(crate) struct Model {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Model {
    pub(crate) fn plays(script: Vec<Line>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let script = Arc::new(Mutex::new(script.into_iter()));
        let seen = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                thread::spawn(move || {
                    let next = || {
                        let mut script = script.lock().expect("the script");
                        loop {
                            match script.next() {
                                Some(Line::Meanwhile(happens)) => happens(),
                                line => return line,
                            }
                        }
                    };
                    answer(stream, &seen, next);
                });
            }
        });
        Self { address, asked }
    }

    /// What was sent to the model so far, a text for each request with tools in it.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("what was asked").clone()
    }
}

fn answer(stream: TcpStream, seen: &Mutex<Vec<String>>, next: impl FnOnce() -> Option<Line>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut first = String::new();
    if reader.read_line(&mut first).is_err() {
        return;
    }
    let mut length = 0;
    let mut chunked = false;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "transfer-encoding" => chunked = value.contains("chunked"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    if chunked {
        body = unchunked(&mut reader);
    } else if reader.read_exact(&mut body).is_err() {
        return;
    }
    let path = first.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let asks: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let has_tools = asks["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let line = match has_tools {
        true => {
            seen.lock().expect("what was asked").push(String::from_utf8_lossy(&body).into_owned());
            next().unwrap_or(Line::Says("there is nothing more in the script".into()))
        }
        false => Line::Says("a title".into()),
    };
    let events = if path.contains("/messages") {
        anthropic(&line, &asks)
    } else if path.contains("/responses") {
        responses(&line, &asks)
    } else if path.contains("enerateContent") {
        gemini(&line)
    } else {
        let _ = respond(stream, "404 Not Found", "application/json", "{}");
        return;
    };
    let is_streamed = asks["stream"] == json!(true) || path.contains("streamGenerateContent");
    let _ = match is_streamed {
        true => respond(stream, "200 OK", "text/event-stream", &events),
        false => respond(stream, "200 OK", "application/json", &whole(&path, &line)),
    };
}

fn unchunked(reader: &mut impl std::io::BufRead) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        if reader.read_line(&mut size).is_err() {
            return body;
        }
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        let mut chunk = vec![0; size + 2];
        if reader.read_exact(&mut chunk).is_err() || size == 0 {
            return body;
        }
        body.extend_from_slice(&chunk[..size]);
    }
}

fn respond(mut stream: TcpStream, status: &str, kind: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    format!("event: {name}\ndata: {data}\n\n")
}

/// The tool that runs commands, as the request names it.
fn tool<'a>(asks: &'a Value, names: &[&'a str]) -> &'a str {
    let tools = asks["tools"].as_array();
    let named = |tool: &Value, name: &str| tool["name"] == json!(name);
    let offered = |name: &&str| tools.is_some_and(|tools| tools.iter().any(|tool| named(tool, name)));
    names.iter().copied().find(offered).unwrap_or(names[0])
}

/// Claude Code and opencode.
fn anthropic(line: &Line, asks: &Value) -> String {
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage });
    let (block, delta, reason) = match line {
        Line::Runs(command) => {
            let name = tool(asks, &["Bash", "bash"]);
            let input = json!({ "command": command, "description": "run it" }).to_string();
            (
                json!({ "type": "tool_use", "id": id(), "name": name, "input": {} }),
                json!({ "type": "input_json_delta", "partial_json": input }),
                "tool_use",
            )
        }
        Line::Says(text) => {
            (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": text }), "end_turn")
        }
        Line::Meanwhile(_) => unreachable!("it happens before"),
    };
    [
        event("message_start", json!({ "message": message })),
        event("content_block_start", json!({ "index": 0, "content_block": block })),
        event("content_block_delta", json!({ "index": 0, "delta": delta })),
        event("content_block_stop", json!({ "index": 0 })),
        event(
            "message_delta",
            json!({ "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": usage }),
        ),
        event("message_stop", json!({})),
    ]
    .concat()
}

/// Codex.
fn responses(line: &Line, asks: &Value) -> String {
    let item = match line {
        Line::Runs(command) => {
            let name = tool(asks, &["exec_command", "shell_command", "shell"]);
            let arguments = match name {
                "exec_command" => json!({ "cmd": command }),
                "shell" => json!({ "command": ["bash", "-lc", command] }),
                _ => json!({ "command": command }),
            };
            json!({ "type": "function_call", "id": id(), "call_id": id(), "name": name, "arguments": arguments.to_string() })
        }
        Line::Says(text) => json!({ "type": "message", "id": id(), "role": "assistant",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }] }),
        Line::Meanwhile(_) => unreachable!("it happens before"),
    };
    let usage = json!({ "input_tokens": 1, "input_tokens_details": null, "output_tokens": 1,
        "output_tokens_details": null, "total_tokens": 2 });
    [
        event("response.created", json!({ "response": { "id": "resp_1" } })),
        event("response.output_item.done", json!({ "output_index": 0, "item": item })),
        event("response.completed", json!({ "response": { "id": "resp_1", "usage": usage } })),
    ]
    .concat()
}

/// Gemini CLI.
fn gemini(line: &Line) -> String {
    format!("data: {}\n\n", candidate(line))
}

fn candidate(line: &Line) -> Value {
    let part = match line {
        Line::Runs(command) => json!({ "functionCall": { "name": "run_shell_command",
            "args": { "command": command, "description": "run it" } } }),
        Line::Says(text) => json!({ "text": text }),
        Line::Meanwhile(_) => unreachable!("it happens before"),
    };
    json!({ "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 } })
}

/// The same as one document.
fn whole(path: &str, line: &Line) -> String {
    let text = if let Line::Says(text) = line { text.as_str() } else { "" };
    match path {
        path if path.contains("/messages") => json!({ "id": "msg_1", "type": "message", "role": "assistant",
            "model": "claude-test", "content": [{ "type": "text", "text": text }], "stop_reason": "end_turn",
            "stop_sequence": null, "usage": { "input_tokens": 1, "output_tokens": 1 } }),
        _ => candidate(line),
    }
    .to_string()
}

fn id() -> String {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static COUNT: AtomicUsize = AtomicUsize::new(1);
    format!("call_{}", COUNT.fetch_add(1, Ordering::Relaxed))
}
