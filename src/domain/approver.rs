//! Keys that may approve, and signatures made with them, as far as they can be understood without any mathematics: which
//! key, for what purpose, over which text. Whether the mathematics is right is asked of OpenSSH, or of GnuPG.

use std::{fmt, str::FromStr};

use super::{
    actor::Stamp,
    base64::decode,
    id::ApproverId,
    openpgp::{self, BadCertificate, Certificate, Fingerprint},
    time::Timestamp,
};

/// The purpose that a signature has to be made for, so that one of a commit or of a file is no approval. OpenPGP has no such
/// thing; there it is the text alone that tells, which begins with `loopx decision 1` as no commit does.
pub const NAMESPACE: &str = "loopx-gate";

/// A key that answers gates where answers have to be signed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approver {
    pub key: PublicKey,
    /// From then on it signs nothing that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_before: Option<Timestamp>,
    /// Since then it signs nothing that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<Timestamp>,
    pub added: Stamp,
}

/// A public key of one of the two kinds that git signs with.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PublicKey {
    OpenSsh(SshKey),
    OpenPgp(Certificate),
}

/// A public key as OpenSSH writes it, without the comment: `ssh-ed25519 AAAA…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshKey(String);

/// A text was no public key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    #[error(
        "`{0}` is not a public key (expected a line such as `ssh-ed25519 AAAA…`, or a block of `gpg --armor --export`)"
    )]
    Odd(String),
    #[error("that {0}")]
    OpenPgp(BadCertificate),
}

/// The kinds of key that OpenSSH signs with. `sk-` ones want to be touched.
const KINDS: [&str; 7] = [
    "ssh-ed25519",
    "sk-ssh-ed25519@openssh.com",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
];

impl PublicKey {
    /// As it is kept: one line.
    pub fn as_str(&self) -> &str {
        match self {
            Self::OpenSsh(key) => &key.0,
            Self::OpenPgp(key) => key.as_str(),
        }
    }

    /// One line that stands for every byte of it, short enough to be read by whoever signs it.
    pub fn line(&self) -> String {
        match self {
            Self::OpenSsh(key) => key.0.clone(),
            Self::OpenPgp(key) => key.line(),
        }
    }

    /// Whether it is a key of OpenPGP's.
    pub fn is_openpgp(&self) -> bool {
        matches!(self, Self::OpenPgp(_))
    }

    /// Whether both can make one and the same signature.
    pub fn is_that_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::OpenPgp(key), Self::OpenPgp(other)) => key.overlaps(other),
            _ => self == other,
        }
    }

    /// Whether a signature says that it was made with this key.
    pub fn is_named_by(&self, signature: &Signature) -> bool {
        match (self, signature) {
            (Self::OpenSsh(own), Signature::OpenSsh { key, .. }) => own.blob() == *key,
            (Self::OpenPgp(own), Signature::OpenPgp { key }) => own.has(*key),
            _ => false,
        }
    }
}

impl SshKey {
    /// The bytes that stand for it in a signature.
    pub fn blob(&self) -> Vec<u8> {
        self.0.split_once(' ').and_then(|(_, text)| decode(text)).unwrap_or_default()
    }
}

impl FromStr for PublicKey {
    type Err = BadKey;
    /// Reads a line of OpenSSH's, a block of `gpg --armor --export`, or what [`as_str`](Self::as_str) gave.
    fn from_str(text: &str) -> Result<Self, BadKey> {
        if Certificate::is_meant(text) {
            return Certificate::parse(text).map(Self::OpenPgp).map_err(BadKey::OpenPgp);
        }
        let mut words = text.split_whitespace();
        let bad = || BadKey::Odd(super::text::shown(text, 60));
        let (kind, body) = words.next().zip(words.next()).ok_or_else(bad)?;
        let blob = decode(body).filter(|blob| blob.len() <= 2_048).ok_or_else(bad)?;
        let named = part(&blob).map(|(name, _)| name);
        match KINDS.contains(&kind) && named == Some(kind.as_bytes()) {
            true => Ok(Self::OpenSsh(SshKey(format!("{kind} {body}")))),
            false => Err(bad()),
        }
    }
}

impl TryFrom<String> for PublicKey {
    type Error = BadKey;
    fn try_from(text: String) -> Result<Self, BadKey> {
        let key: Self = text.parse()?;
        if key.as_str() == text { Ok(key) } else { Err(BadKey::Odd(super::text::shown(&text, 60))) }
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.as_str().to_owned()
    }
}

impl fmt::Display for PublicKey {
    /// As OpenSSH writes it; for OpenPGP the fingerprint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenSsh(key) => key.fmt(f),
            Self::OpenPgp(key) => key.fmt(f),
        }
    }
}

impl fmt::Display for SshKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A key to sign with, as its holder names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SigningKey {
    /// A file, or the public key itself.
    OpenSsh(String),
    /// What `gpg -u` takes.
    OpenPgp(String),
}

impl SigningKey {
    /// What is meant by a name alone: a key of OpenPGP's by its id or fingerprint (16 or 40 hex digits, with a `0x` before or a
    /// `!` after them, if you like), and else one of OpenSSH's. A file whose name looks like an id is `./` and that name.
    pub fn named(text: &str) -> Self {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let digits = digits.strip_suffix('!').unwrap_or(digits);
        match [16, 40].contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            true => Self::OpenPgp(text.to_owned()),
            false => Self::OpenSsh(text.to_owned()),
        }
    }
}

/// What a signature says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signature {
    OpenSsh {
        /// The key it was made with, as the bytes that stand for it.
        key: Vec<u8>,
        /// The purpose it was made for.
        namespace: String,
    },
    OpenPgp {
        /// The key it was made with: a primary one or a subkey.
        key: Fingerprint,
    },
}

impl Signature {
    /// Reads an armored signature of OpenSSH's (`PROTOCOL.sshsig`), or a detached one of OpenPGP's.
    pub fn parse(armored: &str) -> Option<Self> {
        let armored = Some(armored.trim()).filter(|armored| armored.len() <= 16_384)?;
        let Some(body) = armored.strip_prefix("-----BEGIN SSH SIGNATURE-----") else {
            return openpgp::issuer(armored).map(|key| Self::OpenPgp { key });
        };
        let body = body.strip_suffix("-----END SSH SIGNATURE-----")?;
        let bytes = decode(&body.split_whitespace().collect::<String>())?;
        let (key, rest) = part(bytes.strip_prefix(b"SSHSIG\x00\x00\x00\x01")?)?;
        let (namespace, _) = part(rest)?;
        Some(Self::OpenSsh { key: key.to_vec(), namespace: String::from_utf8(namespace.to_vec()).ok()? })
    }
}

/// The first of some bytes that have their length before them, and what follows.
fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

/// A signature whose key, purpose and text are right: what is left is to ask OpenSSH or GnuPG whether it is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    pub approver: ApproverId,
    pub key: PublicKey,
    pub text: String,
    pub signature: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::{OPENPGP_KEY, OPENPGP_SIGNATURE};

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIM0k9wDP04g4TTbKvnZcAmDhFjF1K5KaA4WvKBLunZ4F";

    #[test]
    fn a_key_is_a_line_of_openssh_and_names_its_own_kind() {
        let key: PublicKey = format!("{KEY} ann@example.test\n").parse().unwrap();
        assert_eq!((key.as_str(), key.line().as_str(), key.is_openpgp()), (KEY, KEY, false));
        let other = KEY.replace("ssh-ed25519", "ssh-rsa");
        for bad in [
            "",
            "ssh-ed25519",
            "ssh-ed25519 !",
            "ssh-dss AAAA",
            &other,
            "-----BEGIN OPENSSH PRIVATE KEY-----",
        ] {
            assert!(bad.parse::<PublicKey>().is_err(), "{bad}");
        }
        assert!(PublicKey::try_from(format!("{KEY} comment")).is_err(), "a record has no comment");
    }

    #[test]
    fn a_signature_names_its_key_and_its_purpose() {
        let armored = "-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgzST3AM/TiDhNNsq+dlwCYOEWMX
UrkpoDha8oEu6dngUAAAAKbG9vcHgtZ2F0ZQAAAAAAAAAGc2hhNTEyAAAAUwAAAAtzc2gt
ZWQyNTUxOQAAAEDytQJIIZ7VPDmrrT5+56qBp3kp9k0PDuasEqoRzvp0MxUjPDQDw+CeBl
MFg4e/6yLgignXnc0SqwvWAvCuLKAG
-----END SSH SIGNATURE-----
";
        let signature = Signature::parse(armored).unwrap();
        let Signature::OpenSsh { namespace, .. } = &signature else { panic!("{signature:?}") };
        let (ssh, pgp) = (KEY.parse::<PublicKey>().unwrap(), OPENPGP_KEY.parse::<PublicKey>().unwrap());
        assert_eq!(namespace, NAMESPACE);
        assert!(ssh.is_named_by(&signature) && !pgp.is_named_by(&signature));
        let signature = Signature::parse(OPENPGP_SIGNATURE).unwrap();
        assert!(pgp.is_named_by(&signature) && !ssh.is_named_by(&signature));
        assert!(pgp.is_that_of(&pgp) && ssh.is_that_of(&ssh) && !pgp.is_that_of(&ssh));
        for bad in ["", "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----", &armored[..200]] {
            assert_eq!(Signature::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_key_of_openpgp_is_kept_in_one_line_and_read_in_no_other_form_from_a_record() {
        let key: PublicKey = OPENPGP_KEY.parse().unwrap();
        let kept = key.as_str().to_owned();
        assert!(key.is_openpgp() && kept.starts_with("openpgp mDME") && kept.lines().count() == 1);
        assert_eq!(PublicKey::try_from(kept.clone()), Ok(key));
        for other in [OPENPGP_KEY.to_owned(), format!("{kept}\n"), kept.replace("openpgp ", "openpgp  ")] {
            assert!(PublicKey::try_from(other).is_err(), "one key has one form");
        }
    }

    #[test]
    fn an_id_names_a_key_of_openpgp_and_anything_else_a_file() {
        let id = "3590C5E81E836124";
        for name in [id, &format!("0x{id}"), &format!("{id}!"), "e6fd93fc27d3c9a0d3ea88dd3590c5e81e836124"] {
            assert_eq!(SigningKey::named(name), SigningKey::OpenPgp(name.to_owned()));
        }
        for name in ["", "~/.ssh/id_ed25519", KEY, "./3590C5E81E836124", "1E836124", "ann@example.test"] {
            assert_eq!(SigningKey::named(name), SigningKey::OpenSsh(name.to_owned()));
        }
    }
}
