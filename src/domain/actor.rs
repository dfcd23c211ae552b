//! Who acts. A person and an agent are different types, so that what only a person may do cannot be called with
//! anything else.

use std::{fmt, str::FromStr};

use super::{
    id::{AgentId, ApproverId},
    time::Timestamp,
};

/// The human who owns this machine's git identity.
///
/// Holding one says who is meant, not that a human was there: steps that loosen something ask for a
/// [`Proof`] besides.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Person {
    name: String,
    email: String,
}

impl Person {
    /// From git's `user.name` and `user.email`. Characters that git itself leaves out of an identity (control
    /// characters, `<`, `>`) are left out; `None` when nothing remains of either.
    pub fn new(name: &str, email: &str) -> Option<Self> {
        let clean = |text: &str| {
            let kept: String =
                text.chars().filter(|c| !c.is_control() && !"<>\u{2028}\u{2029}".contains(*c)).collect();
            kept.trim().to_owned()
        };
        let (name, email) = (clean(name), clean(email));
        (!name.is_empty() && !email.is_empty()).then_some(Self { name, email })
    }

    /// The name alone.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address alone.
    pub fn email(&self) -> &str {
        &self.email
    }
}

impl fmt::Display for Person {
    /// `Ann <ann@example.test>`, as in a sign-off.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// A text was no actor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not an actor (expected `Name <address>` or `agent:<id>`)", .0.escape_debug())]
pub struct BadActor(String);

impl FromStr for Person {
    type Err = BadActor;
    fn from_str(text: &str) -> Result<Self, BadActor> {
        text.strip_suffix('>')
            .and_then(|text| text.split_once(" <"))
            .and_then(|(name, email)| Self::new(name, email))
            .filter(|person| person.to_string() == text)
            .ok_or_else(|| BadActor(text.to_owned()))
    }
}

impl TryFrom<String> for Person {
    type Error = BadActor;
    fn try_from(text: String) -> Result<Self, BadActor> {
        text.parse()
    }
}

impl From<Person> for String {
    fn from(person: Person) -> Self {
        person.to_string()
    }
}

/// Who did something: recorded as `Ann <ann@example.test>` or `agent:codex-1`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub enum Actor {
    /// A human, by git identity.
    Person(Person),
    /// An agent, by the name its runner gave it.
    Agent(AgentId),
}

impl Actor {
    /// The agent, if it is one.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::Person(_) => None,
            Self::Agent(agent) => Some(agent),
        }
    }

    /// The value of the `Loopx-Actor` trailer: `person` or `agent:<id>`. Who the person is says the sign-off.
    pub fn trailer(&self) -> String {
        match self {
            Self::Person(_) => "person".to_owned(),
            Self::Agent(agent) => format!("agent:{agent}"),
        }
    }

    /// The name alone, for a sentence: `Ann`, `codex-1`.
    pub fn name(&self) -> &str {
        match self {
            Self::Person(person) => person.name(),
            Self::Agent(agent) => agent.as_str(),
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person(person) => person.fmt(f),
            Self::Agent(agent) => write!(f, "agent:{agent}"),
        }
    }
}

impl FromStr for Actor {
    type Err = BadActor;
    fn from_str(text: &str) -> Result<Self, BadActor> {
        match text.strip_prefix("agent:").map(str::parse) {
            Some(Ok(agent)) => Ok(Self::Agent(agent)),
            _ => text.parse().map(Self::Person),
        }
    }
}

impl TryFrom<String> for Actor {
    type Error = BadActor;
    fn try_from(text: String) -> Result<Self, BadActor> {
        text.parse()
    }
}

impl From<Actor> for String {
    fn from(actor: Actor) -> Self {
        actor.to_string()
    }
}

/// Who and when: the same value stands in the record and becomes the commit's trailer and date.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    pub by: Actor,
    pub at: Timestamp,
}

/// How a person showed to be one when something was loosened.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Proof {
    /// At a controlling terminal, with no agent's mark in the environment, by typing `typed` back. A guard rail
    /// against an agent that helps itself, not a signature.
    Terminal { typed: String },
    /// By signing.
    Signature(Box<Autograph>),
}

/// A signature with the key of `approver` over `statement`: one of OpenSSH's, made for
/// [`NAMESPACE`](super::approver::NAMESPACE), or a detached one of OpenPGP's. The latter says nothing of its purpose; that the text
/// begins with `loopx decision 1` keeps the signature of a commit or of a file from being one.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Autograph {
    pub approver: ApproverId,
    pub statement: String,
    pub signature: String,
}

/// A person, and how they showed to be one. Steps that loosen something take this and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proven {
    pub person: Person,
    pub proof: Proof,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_is_a_person_or_an_agent_and_says_which() {
        let ann: Actor = "Ann <ann@example.test>".parse().unwrap();
        assert_eq!((ann.trailer().as_str(), ann.name(), ann.agent()), ("person", "Ann", None));
        let codex: Actor = "agent:codex-1".parse().unwrap();
        assert_eq!((codex.trailer().as_str(), codex.name()), ("agent:codex-1", "codex-1"));
        for bad in ["", "Ann", "agent:", "agent:a b", "<a@b>", "Ann <>", "Ann <a\n@b>"] {
            assert!(bad.parse::<Actor>().is_err(), "{bad:?} passed");
        }
        assert!(matches!("agent: x <a@b>".parse(), Ok(Actor::Person(_))), "a person may have an odd name");
    }

    #[test]
    fn an_identity_cannot_carry_a_line_break_into_a_trailer() {
        let odd = Person::new("Al\rice\nSigned-off-by: M <m@x>", "a@b").unwrap();
        assert_eq!(odd.to_string(), "AliceSigned-off-by: M m@x <a@b>");
        assert_eq!(Person::new("\n", "a@b"), None);
    }
}
