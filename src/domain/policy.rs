//! The repository's own rules.

use std::{collections::BTreeMap, fmt};

use sha2::{Digest as _, Sha256};

use super::{
    actor::{Actor, Person, Proof, Proven, Stamp},
    approver::{Approver, NAMESPACE, PublicKey, Signature, Signed},
    change::Op,
    id::{ApproverId, Entropy},
    refusal::Refusal,
    statement::Statement,
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
    /// What is pushed or published has to be shown to have been checked: there is a receipt for exactly these files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_receipt: bool,
    /// Whose signatures count, and whose once did.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approvers: BTreeMap<ApproverId, Approver>,
    /// Values that look like secrets and are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_secrets: Vec<AllowedSecret>,
    /// How it came to be like this, if it was ever changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changed>,
}

/// The last change of a policy.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    pub by: Actor,
    pub at: Timestamp,
    /// None for a change that anybody may make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

impl Policy {
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
    /// With the signature of an approver over what was decided.
    Signed,
}

impl Approval {
    /// As it is written on the command line and in the record.
    pub fn word(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Signed => "signed",
        }
    }
}

/// One change of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Amendment {
    Approval(Approval),
    /// Whether what goes out needs a receipt.
    Receipt(bool),
    Add {
        name: ApproverId,
        key: PublicKey,
        valid_before: Option<Timestamp>,
    },
    Remove(ApproverId),
}

impl Amendment {
    /// The kind of mutation.
    pub fn op(&self) -> Op {
        match self {
            Self::Approval(_) | Self::Receipt(_) => Op::PolicySet,
            Self::Add { .. } => Op::ApproverAdd,
            Self::Remove(_) => Op::ApproverRemove,
        }
    }

    /// Whether it makes less of what is asked for, or changes who is asked. Asking for signatures or for a receipt is anybody's.
    pub fn loosens(&self) -> bool {
        !matches!(self, Self::Approval(Approval::Signed) | Self::Receipt(true))
    }

    /// In one line, as it is signed.
    pub fn line(&self) -> String {
        match self {
            Self::Approval(approval) => format!("approval {}", approval.word()),
            Self::Receipt(_) => format!("receipt {}", self.word()),
            Self::Add { name, key, valid_before } => {
                let until = valid_before.map(|until| format!(" valid before {until}")).unwrap_or_default();
                format!("add {name} {}{until}", key.line())
            }
            Self::Remove(name) => format!("remove {name}"),
        }
    }

    /// What a person types back at a terminal.
    pub fn word(&self) -> &str {
        match self {
            Self::Approval(approval) => approval.word(),
            Self::Receipt(true) => "required",
            Self::Receipt(false) => "not-required",
            Self::Add { name, .. } | Self::Remove(name) => name.as_str(),
        }
    }

    /// What was done between two policies, if it was one thing.
    pub fn between(before: &Policy, after: &Policy) -> Option<Self> {
        if before.approval != after.approval {
            return Some(Self::Approval(after.approval));
        }
        if before.require_receipt != after.require_receipt {
            return Some(Self::Receipt(after.require_receipt));
        }
        let (name, now) =
            after.approvers.iter().find(|(name, now)| before.approvers.get(*name) != Some(now))?;
        Some(match now.removed {
            Some(_) => Self::Remove(name.clone()),
            None => Self::Add { name: name.clone(), key: now.key.clone(), valid_before: now.valid_before },
        })
    }
}

impl Policy {
    /// The one of a new repository.
    pub fn new(repository: RepositoryId) -> Self {
        Self {
            repository,
            approval: Approval::Terminal,
            require_receipt: false,
            approvers: BTreeMap::new(),
            allowed_secrets: Vec::new(),
            changed: None,
        }
    }

    /// Changes it. What loosens needs the proof that it asks for itself; see [`accept`](Self::accept).
    pub fn amend(&self, amendment: &Amendment, stamp: &Stamp, proof: Option<Proof>) -> Result<Self, Refusal> {
        let mut after = self.clone();
        match amendment {
            Amendment::Approval(approval) => {
                if *approval == Approval::Signed && self.signers(stamp.at).next().is_none() {
                    return Err(Refusal::NoApprovers);
                }
                after.approval = *approval;
            }
            Amendment::Receipt(required) => after.require_receipt = *required,
            Amendment::Add { name, key, valid_before } => {
                if self.approvers.get(name).is_some_and(|known| known.removed.is_none()) {
                    return Err(Refusal::ApproverExists(name.clone()));
                }
                let same = |(_, known): &(&ApproverId, &Approver)| {
                    known.key.is_that_of(key) && known.removed.is_none()
                };
                if let Some((other, _)) = self.approvers.iter().find(same) {
                    return Err(Refusal::KeyOfAnother { approver: other.clone() });
                }
                let (key, valid_before, added) = (key.clone(), *valid_before, stamp.clone());
                after.approvers.insert(name.clone(), Approver { key, valid_before, removed: None, added });
            }
            Amendment::Remove(name) => {
                let entry = after.approvers.get_mut(name).filter(|known| known.removed.is_none());
                entry.ok_or_else(|| Refusal::NotAnApprover(name.clone()))?.removed = Some(stamp.at);
                if self.approval == Approval::Signed && after.signers(stamp.at).next().is_none() {
                    return Err(Refusal::LastApprover(name.clone()));
                }
            }
        }
        if after == *self {
            return Ok(after);
        }
        after.changed = Some(Changed { by: stamp.by.clone(), at: stamp.at, proof });
        Ok(after)
    }

    /// Whose signatures count at a time.
    pub fn signers(&self, at: Timestamp) -> impl Iterator<Item = (&ApproverId, &Approver)> {
        let counts = move |entry: &Approver| {
            entry.removed.is_none() && entry.valid_before.is_none_or(|until| at < until)
        };
        self.approvers.iter().filter(move |(_, entry)| counts(entry))
    }

    /// The approver whose key made a signature.
    pub fn signer_of(&self, armored: &str) -> Result<&ApproverId, Refusal> {
        let signature = Signature::parse(armored).ok_or(Refusal::NoSignature)?;
        let is_theirs = |(_, entry): &(&ApproverId, &Approver)| entry.key.is_named_by(&signature);
        let mut theirs = self.approvers.iter().filter(is_theirs);
        let (first, last) = (theirs.next(), theirs.next_back());
        last.or(first).map(|(name, _)| name).ok_or(Refusal::UnlistedKey)
    }

    /// Whether a proof shows, under this policy, that a person decided at `at` what `statement` says, given the bytes that
    /// made it another signing. What is left of a signature is to ask OpenSSH or GnuPG whether it is one.
    pub fn accept(
        &self,
        proof: &Proof,
        at: Timestamp,
        statement: impl FnOnce(&str) -> Statement,
    ) -> Result<Option<Signed>, Refusal> {
        let (name, text, armored) = match (proof, self.approval) {
            (Proof::Terminal { .. }, Approval::Terminal) => return Ok(None),
            (Proof::Terminal { .. }, Approval::Signed) => return Err(Refusal::SignatureNeeded),
            (Proof::Signature(by), _) => (&by.approver, &by.statement, &by.signature),
        };
        let entry = self.approvers.get(name).ok_or_else(|| Refusal::NotAnApprover(name.clone()))?;
        if let Some(removed) = entry.removed {
            return Err(Refusal::ApproverRemoved { approver: name.clone(), at: removed });
        }
        if let Some(until) = entry.valid_before.filter(|until| *until <= at) {
            return Err(Refusal::KeyExpired { approver: name.clone(), until, at });
        }
        let signature = Signature::parse(armored).ok_or(Refusal::NoSignature)?;
        if let Signature::OpenSsh { namespace, .. } = &signature
            && namespace != NAMESPACE
        {
            let found = super::text::shown(namespace, 40);
            return Err(Refusal::OtherNamespace { found, wanted: NAMESPACE });
        }
        if !entry.key.is_named_by(&signature) {
            return Err(Refusal::OtherKey { approver: name.clone() });
        }
        let nonce = Statement::nonce(text).ok_or(Refusal::NoSignature)?;
        if let Some(differs) = statement(nonce).differs(text) {
            return Err(Refusal::SignedElse(differs));
        }
        let (approver, key) = (name.clone(), entry.key.clone());
        Ok(Some(Signed { approver, key, text: text.clone(), signature: armored.clone() }))
    }

    /// What an amendment of this very policy is signed as.
    pub fn statement(&self, amendment: &Amendment, at: Timestamp, nonce: &str) -> Statement {
        Statement::of_policy(&self.repository, &self.digest(), &amendment.line(), at, nonce)
    }

    /// `sha256:` and the hex digest of all that holds and how it came to hold, so that no policy comes twice.
    fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        };
        part(&self.repository.0);
        part(self.approval.word());
        if self.require_receipt {
            part("receipt required");
        }
        for (name, entry) in &self.approvers {
            part(name.as_str());
            part(entry.key.as_str());
            for time in [entry.valid_before, entry.removed, Some(entry.added.at)] {
                part(&time.map(|time| time.to_string()).unwrap_or_default());
            }
        }
        if let Some(changed) = &self.changed {
            part(&changed.by.to_string());
            part(&changed.at.to_string());
            if let Some(Proof::Signature(autograph)) = &changed.proof {
                part(&autograph.statement);
            }
        }
        format!("sha256:{}", super::text::hex(&hash.finalize()))
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::{at, stamp};

    const ANN: &str = "Ann <ann@example.test>";
    const KEYS: [&str; 2] = [
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIM0k9wDP04g4TTbKvnZcAmDhFjF1K5KaA4WvKBLunZ4F",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIM0k9wDP04g4TTbKvnZcAmDhFjF1K5KaA4WvKBLunZ4A",
    ];

    fn add(name: &str, key: usize) -> Amendment {
        Amendment::Add { name: name.parse().unwrap(), key: KEYS[key].parse().unwrap(), valid_before: None }
    }

    fn remove(name: &str) -> Amendment {
        Amendment::Remove(name.parse().unwrap())
    }

    fn after(steps: &[Amendment]) -> Policy {
        let fresh = Policy::new(RepositoryId::new(&[7; 16]));
        steps.iter().fold(fresh, |policy, step| policy.amend(step, &stamp(ANN, "10:00"), None).unwrap())
    }

    #[test]
    fn each_amendment_is_legal_or_refused() {
        use Amendment::Approval as Set;
        let (signed, terminal) = (|| Set(Approval::Signed), || Set(Approval::Terminal));
        let name = |name: &str| name.parse().unwrap();
        for (before, step, refused) in [
            (vec![], signed(), Refusal::NoApprovers),
            (vec![add("ann", 0), remove("ann")], signed(), Refusal::NoApprovers),
            (vec![add("ann", 0)], add("ann", 1), Refusal::ApproverExists(name("ann"))),
            (vec![add("ann", 0)], add("bob", 0), Refusal::KeyOfAnother { approver: name("ann") }),
            (vec![], remove("ann"), Refusal::NotAnApprover(name("ann"))),
            (vec![add("ann", 0), remove("ann")], remove("ann"), Refusal::NotAnApprover(name("ann"))),
            (vec![add("ann", 0), signed()], remove("ann"), Refusal::LastApprover(name("ann"))),
        ] {
            let before = after(&before);
            assert_eq!(before.amend(&step, &stamp(ANN, "11:00"), None), Err(refused), "{step:?}");
        }
        let full = after(&[add("ann", 0), add("bob", 1), signed(), remove("ann"), terminal()]);
        assert_eq!(full.signers(at("12:00")).map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["bob"]);
        let same = full.amend(&terminal(), &stamp(ANN, "13:00"), None);
        assert_eq!(same, Ok(full), "what is so already changes nothing");
    }

    #[test]
    fn what_was_done_between_two_policies_is_told() {
        let before = after(&[add("ann", 0)]);
        for step in
            [add("bob", 1), remove("ann"), Amendment::Approval(Approval::Signed), Amendment::Receipt(true)]
        {
            let after = before.amend(&step, &stamp(ANN, "11:00"), None).unwrap();
            assert_eq!(Amendment::between(&before, &after), Some(step));
            assert_ne!(before.digest(), after.digest());
        }
        assert_eq!(Amendment::between(&before, &before), None);
        let again = after(&[add("ann", 0), add("bob", 1), remove("bob")]);
        assert_ne!(again.digest(), before.digest(), "no policy comes twice");
    }

    #[test]
    fn only_asking_for_signatures_or_a_receipt_is_anybodys() {
        for (step, loosens) in [
            (Amendment::Approval(Approval::Signed), false),
            (Amendment::Approval(Approval::Terminal), true),
            (Amendment::Receipt(true), false),
            (Amendment::Receipt(false), true),
            (add("ann", 0), true),
            (remove("ann"), true),
        ] {
            assert_eq!(step.loosens(), loosens, "{step:?}");
        }
    }

    #[test]
    fn a_word_at_a_terminal_is_enough_until_signatures_are_asked_for() {
        let word = Proof::Terminal { typed: "bucket".into() };
        let never = |_: &str| -> Statement { panic!("there is nothing to compare") };
        assert_eq!(after(&[add("ann", 0)]).accept(&word, at("11:00"), never), Ok(None));
        let signed = after(&[add("ann", 0), Amendment::Approval(Approval::Signed)]);
        assert_eq!(signed.accept(&word, at("11:00"), never), Err(Refusal::SignatureNeeded));
    }
}
