//! cargo asks for a token before it uploads a crate, and this is asked before the place that has one. It has none itself and
//! sees none: it refuses, or says that it is not the one to ask, and cargo goes on to the next provider.
//!
//! The contract is cargo's credential provider protocol: a greeting, then a line of JSON for each question and one for its
//! answer. Before a publish cargo asks for a token to read with, and takes that for the publish, too, if whoever gave it
//! says that one is as good as the other. So while publishing is held back nobody else is asked for that one, either: where
//! reading takes no token, cargo gets an empty promise, and asks again when it comes to the upload.

use serde::{Deserialize, Serialize};

use crate::{
    domain::gate::Act,
    error::{Error, Kind},
    ops::{Ctx, guard},
    process::Process,
    text::Held,
};

/// Most bytes of one question.
const LIMIT: u64 = 1024 * 1024;

/// What of a question is looked at. There is more in it: the crate, its version.
#[derive(Deserialize)]
struct Question {
    v: u32,
    registry: Registry,
    kind: String,
    operation: Option<String>,
}

#[derive(Deserialize)]
struct Registry {
    /// What the registry said when it was read without a token and refused.
    #[serde(default)]
    headers: Vec<String>,
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// Nothing that could come to a publish.
    Harmless,
    /// A token to read with from where reading takes none, so far as is known.
    Read,
    /// A publish, a token that would be good for one, or something that is not understood.
    Publish,
}

#[derive(Serialize)]
enum Reply {
    Ok(Token),
    Err(Failure),
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Token {
    Get { token: &'static str, cache: &'static str, operation_independent: bool },
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Failure {
    /// cargo asks the next provider.
    UrlNotSupported,
    /// cargo gives up, and shows the message.
    #[serde(rename_all = "kebab-case")]
    Other { message: String, caused_by: Vec<String> },
}

/// No token of anybody's. Good for this one question.
const EMPTY_PROMISE: Token =
    Token::Get { token: "none-while-publishing-is-held-back", cache: "never", operation_independent: false };

pub(super) fn run(process: &Process, ctx: impl Fn() -> Result<Ctx, Error>) -> u8 {
    if process.stdin_is_terminal() {
        let usage =
            Error::new(Kind::Usage, "cargo calls this and asks on standard input; it is not for terminals")
                .hint("run `loopx guard check --for publish` for the answer that cargo gets");
        process.err(&usage.to_string());
        return Kind::Usage.exit_code();
    }
    match converse(process, ctx) {
        Ok(()) => 0,
        Err(error) => {
            process.err(&Error::new(Kind::Environment, format!("cannot talk to cargo: {error}")).to_string());
            Kind::Environment.exit_code()
        }
    }
}

fn converse(process: &Process, ctx: impl Fn() -> Result<Ctx, Error>) -> std::io::Result<()> {
    process.out("{\"v\":[1]}\n")?;
    while let Some(line) = process.stdin_line(LIMIT)? {
        let refused = match Wish::of(&line) {
            Wish::Harmless => None,
            wish => refusal(&ctx).map(|refusal| (wish, refusal)),
        };
        let reply = match refused {
            None => Reply::Err(Failure::UrlNotSupported),
            Some((Wish::Read, _)) => Reply::Ok(EMPTY_PROMISE),
            Some((_, refusal)) => Reply::Err(refusal),
        };
        let reply = serde_json::to_string(&reply).map_err(std::io::Error::other)?;
        process.out(&(reply + "\n"))?;
    }
    Ok(())
}

impl Wish {
    fn of(line: &[u8]) -> Self {
        let Ok(question) = serde_json::from_slice::<Question>(line) else { return Self::Publish };
        match (question.v, question.kind.as_str(), question.operation.as_deref()) {
            (1, "get", Some("yank" | "unyank" | "owners")) | (1, "login" | "logout", _) => Self::Harmless,
            (1, "get", Some("read")) if question.registry.headers.is_empty() => Self::Read,
            _ => Self::Publish,
        }
    }
}

/// Why publishing is held back now, if it is.
fn refusal(ctx: &impl Fn() -> Result<Ctx, Error>) -> Option<Failure> {
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let said = match ctx()
        .map_err(guard::unseen(Act::Publish))
        .and_then(|ctx| Ok((guard::check(&ctx, Act::Publish, false)?, ctx.now)))
    {
        Ok((guarded, _)) if guarded.allowed => return None,
        Ok((guarded, now)) => lines(&Held(Act::Publish, &guarded.reasons, now).to_string()),
        Err(error) => lines(&error.to_string()),
    };
    let mut said = said.into_iter();
    Some(Failure::Other { message: said.next().unwrap_or_default(), caused_by: said.collect() })
}

/// Looks whether reading these bytes keeps its promise: what is not clearly something else counts as a publish.
#[cfg(any(test, fuzzing))]
pub(super) fn promises(bytes: &[u8]) {
    if Wish::of(bytes) != Wish::Publish {
        // A field that is not looked at may be no text.
        let text = String::from_utf8_lossy(bytes);
        let question: serde_json::Value = serde_json::from_str(&text).expect("it was understood");
        let said = |name: &str| question[name].as_str().unwrap_or_default().to_owned();
        assert_eq!(question["v"], 1);
        assert!(match said("kind").as_str() {
            "get" => ["read", "yank", "unyank", "owners"].contains(&said("operation").as_str()),
            kind => ["login", "logout"].contains(&kind),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_counts_as_a_publish() {
        let wish =
            |fields: &str| Wish::of(format!(r#"{{"registry":{{"index-url":"x"}},{fields}}}"#).as_bytes());
        for harmless in [
            r#""v":1,"kind":"get","operation":"yank","name":"x","vers":"1.0.0""#,
            r#""v":1,"kind":"get","operation":"owners","args":[]"#,
            r#""v":1,"kind":"login","login-url":"x""#,
            r#""v":1,"kind":"logout""#,
        ] {
            assert_eq!(wish(harmless), Wish::Harmless, "{harmless}");
        }
        assert_eq!(wish(r#""v":1,"kind":"get","operation":"read""#), Wish::Read);
        for publish in [
            r#""v":1,"kind":"get","operation":"publish","name":"x","vers":"1.0.0","cksum":"00""#,
            r#""v":1,"kind":"get","operation":"something new""#,
            r#""v":1,"kind":"get""#,
            r#""v":2,"kind":"get","operation":"read""#,
            r#""v":1,"kind":"something new","operation":"read""#,
        ] {
            assert_eq!(wish(publish), Wish::Publish, "{publish}");
        }
        let closed =
            r#"{"v":1,"registry":{"headers":["WWW-Authenticate: x"]},"kind":"get","operation":"read"}"#;
        for line in [closed, "", "[]"] {
            assert_eq!(Wish::of(line.as_bytes()), Wish::Publish, "{line}");
        }
        let in_bytes =
            b"{\"v\":1,\"registry\":{\"index-url\":\"\xff\"},\"kind\":\"get\",\"operation\":\"read\"}";
        assert_eq!(Wish::of(in_bytes), Wish::Read, "what is not looked at may be anything");
    }

    #[test]
    fn replies_are_as_cargo_reads_them() {
        let json = |reply| serde_json::to_string(&reply).unwrap();
        assert_eq!(json(Reply::Err(Failure::UrlNotSupported)), r#"{"Err":{"kind":"url-not-supported"}}"#);
        let other = Failure::Other { message: "no".into(), caused_by: vec!["x".into()] };
        assert_eq!(json(Reply::Err(other)), r#"{"Err":{"kind":"other","message":"no","caused-by":["x"]}}"#);
        let none = r#"{"Ok":{"kind":"get","token":"none-while-publishing-is-held-back","cache":"never","operation_independent":false}}"#;
        assert_eq!(json(Reply::Ok(EMPTY_PROMISE)), none);
    }
}
