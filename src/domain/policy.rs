//! The repository's own rules.

use std::fmt;

use super::id::Entropy;

/// What holds for the whole repository.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Tells this repository's state from any other's; drawn once at `init`.
    pub repository: RepositoryId,
    /// How a person shows to be one.
    pub approval: Approval,
    /// What is pushed or published has to be shown to have been checked: there is a receipt for exactly these files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_receipt: bool,
}

impl Policy {
    /// Whether it lets something through that the other does not.
    pub fn is_looser_than(&self, other: &Self) -> bool {
        other.require_receipt && !self.require_receipt
    }
}

/// How a person shows to be one when they answer a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approval {
    /// At a controlling terminal without an agent's mark, by typing the gate's id back.
    Terminal,
}

/// 32 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepositoryId(String);

impl RepositoryId {
    /// A new one from random bytes.
    pub fn new(entropy: &Entropy) -> Self {
        Self(super::text::hex(entropy))
    }
}

impl TryFrom<String> for RepositoryId {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        if text.len() == 32 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            Ok(Self(text))
        } else {
            Err(format!("`{}` is not a repository id (expected 32 hex digits)", text.escape_debug()))
        }
    }
}

impl From<RepositoryId> for String {
    fn from(id: RepositoryId) -> Self {
        id.0
    }
}

impl fmt::Display for RepositoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
