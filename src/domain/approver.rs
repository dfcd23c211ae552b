//! Keys that may approve, and signatures made with them, as far as they can be understood without any mathematics: which
//! key, for what purpose, over which text. Whether the mathematics is right is asked of OpenSSH.

use std::{fmt, str::FromStr};

use super::{actor::Stamp, id::ApproverId, time::Timestamp};

/// The purpose that a signature has to be made for, so that one of a commit or of a file is no approval.
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

/// A public key as OpenSSH writes it, without the comment: `ssh-ed25519 AAAA…`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(String);

/// A text was no public key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a public key (expected a line such as `ssh-ed25519 AAAA…`)")]
pub struct BadKey(String);

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
    /// The bytes that stand for it in a signature.
    pub fn blob(&self) -> Vec<u8> {
        self.0.split_once(' ').and_then(|(_, text)| decode(text)).unwrap_or_default()
    }

    /// As OpenSSH writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The kind of key: `ssh-ed25519`.
    pub fn kind(&self) -> &str {
        self.0.split_once(' ').map_or("", |(kind, _)| kind)
    }
}

impl FromStr for PublicKey {
    type Err = BadKey;
    fn from_str(text: &str) -> Result<Self, BadKey> {
        let mut words = text.split_whitespace();
        let bad = || BadKey(super::text::shown(text, 60));
        let (kind, body) = words.next().zip(words.next()).ok_or_else(bad)?;
        let blob = decode(body).filter(|blob| blob.len() <= 2_048).ok_or_else(bad)?;
        let named = part(&blob).map(|(name, _)| name);
        match KINDS.contains(&kind) && named == Some(kind.as_bytes()) {
            true => Ok(Self(format!("{kind} {body}"))),
            false => Err(bad()),
        }
    }
}

impl TryFrom<String> for PublicKey {
    type Error = BadKey;
    fn try_from(text: String) -> Result<Self, BadKey> {
        let key: Self = text.parse()?;
        if key.0 == text { Ok(key) } else { Err(BadKey(super::text::shown(&text, 60))) }
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.0
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What a signature says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The key it was made with, as the bytes that stand for it.
    pub key: Vec<u8>,
    /// The purpose it was made for.
    pub namespace: String,
}

impl Signature {
    /// Reads an armored signature of OpenSSH's (`PROTOCOL.sshsig`).
    pub fn parse(armored: &str) -> Option<Self> {
        let body = armored.trim().strip_prefix("-----BEGIN SSH SIGNATURE-----")?;
        let body = body.strip_suffix("-----END SSH SIGNATURE-----").filter(|body| body.len() <= 16_384)?;
        let bytes = decode(&body.split_whitespace().collect::<String>())?;
        let (key, rest) = part(bytes.strip_prefix(b"SSHSIG\x00\x00\x00\x01")?)?;
        let (namespace, _) = part(rest)?;
        Some(Self { key: key.to_vec(), namespace: String::from_utf8(namespace.to_vec()).ok()? })
    }
}

/// The first of some bytes that have their length before them, and what follows.
fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

/// Base64, with padding.
fn decode(text: &str) -> Option<Vec<u8>> {
    let body = text.trim_end_matches('=');
    if text.is_empty() || !text.len().is_multiple_of(4) || text.len() - body.len() > 2 {
        return None;
    }
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0u32);
    for byte in body.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, held) = ((bits << 6) | u32::from(value), held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(bytes)
}

/// A signature whose key, purpose and text are right: what is left is to ask OpenSSH whether it is one.
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

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIM0k9wDP04g4TTbKvnZcAmDhFjF1K5KaA4WvKBLunZ4F";

    #[test]
    fn a_key_is_a_line_of_openssh_and_names_its_own_kind() {
        let key: PublicKey = format!("{KEY} ann@example.test\n").parse().unwrap();
        assert_eq!((key.as_str(), key.kind(), key.blob().len()), (KEY, "ssh-ed25519", 51));
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
        assert_eq!(signature.namespace, NAMESPACE);
        assert_eq!(signature.key, KEY.parse::<PublicKey>().unwrap().blob());
        for bad in ["", "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----", &armored[..200]] {
            assert_eq!(Signature::parse(bad), None, "{bad}");
        }
    }
}
