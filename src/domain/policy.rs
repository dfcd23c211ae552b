//! The repository's own rules.

use std::fmt;

use super::{
    actor::{Person, Proof, Proven},
    id::Entropy,
    text::Note,
    time::Timestamp,
};

/// What holds for the whole repository.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Tells this repository's state from any other's; drawn once at `init`.
    pub repository: RepositoryId,
    /// How a person shows to be one.
    pub approval: Approval,
    /// Values that look like secrets and are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_secrets: Vec<AllowedSecret>,
}

impl Policy {
    /// A policy for a new repository.
    pub fn new(repository: RepositoryId) -> Self {
        Self { repository, approval: Approval::Terminal, allowed_secrets: Vec::new() }
    }

    /// Lets a value through. Only a person can, so only a [`Proven`] person fits here.
    pub fn allow_secret(&self, digest: SecretDigest, reason: Note, proven: Proven, at: Timestamp) -> Self {
        let Proven { person: by, proof } = proven;
        let mut policy = self.without_secret(&digest);
        policy.allowed_secrets.push(AllowedSecret { digest, reason, by, at, proof });
        policy
    }

    /// Whether a person let this value through.
    pub fn lets_through(&self, value: &str) -> bool {
        if self.allowed_secrets.is_empty() {
            return false;
        }
        let digest = super::secret::digest(&self.repository, value);
        self.allowed_secrets.iter().any(|allowed| allowed.digest.as_str() == digest)
    }

    /// Lets it through no longer, which anybody may do.
    pub fn without_secret(&self, digest: &SecretDigest) -> Self {
        let mut policy = self.clone();
        policy.allowed_secrets.retain(|allowed| allowed.digest != *digest);
        policy
    }
}

/// A value that a person lets through, known by its salted digest.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowedSecret {
    pub digest: SecretDigest,
    pub reason: Note,
    pub by: Person,
    pub at: Timestamp,
    pub proof: Proof,
}

/// 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretDigest(String);

impl SecretDigest {
    /// The first digits, which a person types back.
    pub fn challenge(&self) -> &str {
        &self.0[..8]
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for SecretDigest {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        text.to_owned().try_into()
    }
}

impl TryFrom<String> for SecretDigest {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        if text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            Ok(Self(text))
        } else {
            // It may have been the value itself.
            Err("that is no digest of a value (expected 64 hex digits, as a refusal shows them)".to_owned())
        }
    }
}

impl From<SecretDigest> for String {
    fn from(digest: SecretDigest) -> Self {
        digest.0
    }
}

impl fmt::Display for SecretDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
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
