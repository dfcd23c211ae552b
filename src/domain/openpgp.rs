//! Keys and signatures of OpenPGP's (RFC 4880, RFC 9580), as far as they can be understood without any mathematics: which
//! packets there are, and which key is named. Whether anything in them is true is asked of GnuPG.

use std::fmt;

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::{base64, text::hex};

/// Most characters of a key as it is kept.
const LIMIT: usize = 16 * 1024;

/// The word before the base64 of a key as it is kept.
const WORD: &str = "openpgp ";

/// The public key of one holder, with its names, subkeys and what was certified of them: what `gpg --export` gives for it.
///
/// There is exactly one primary key, of version 4, nothing secret, and no more than 16 KiB of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// `openpgp ` and the base64 of its packets.
    text: String,
    primary: Fingerprint,
    subkeys: Vec<Fingerprint>,
}

/// What tells a key of version 4 from any other: the SHA-1 of it, which OpenPGP has settled on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 20]);

/// A text was no public key of OpenPGP's that can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadCertificate {
    #[error("has no OpenPGP public key in it that can be read")]
    Odd,
    #[error("has a secret key in it")]
    Secret,
    #[error("has several OpenPGP keys in it")]
    Several,
    #[error("has an OpenPGP key of a version other than 4 in it")]
    Version,
    #[error("has an OpenPGP key of more than 16 KiB in it")]
    TooLong,
}

impl Certificate {
    /// Whether a text is meant to be one, whatever is wrong with it.
    pub fn is_meant(text: &str) -> bool {
        let text = text.trim_start();
        text.starts_with("-----BEGIN PGP ") || text.starts_with(WORD)
    }

    /// Reads what `gpg --armor --export` writes, or the form it is kept in.
    pub fn parse(text: &str) -> Result<Self, BadCertificate> {
        let text = text.trim();
        if text.starts_with("-----BEGIN PGP PRIVATE KEY BLOCK-----") {
            return Err(BadCertificate::Secret);
        }
        let packets = match text.strip_prefix(WORD) {
            Some(body) => base64::decode(body),
            None => unarmored(text, "PUBLIC KEY BLOCK"),
        };
        Self::from_packets(&packets.ok_or(BadCertificate::Odd)?)
    }

    /// Reads its packets.
    pub fn from_packets(bytes: &[u8]) -> Result<Self, BadCertificate> {
        let text = format!("{WORD}{}", base64::encode(bytes));
        if text.len() > LIMIT {
            return Err(BadCertificate::TooLong);
        }
        let (mut primary, mut subkeys) = (None, Vec::new());
        for packet in Packets(bytes) {
            let (tag, body) = packet.ok_or(BadCertificate::Odd)?;
            match (tag, primary) {
                (Tag::SECRET_KEY | Tag::SECRET_SUBKEY, _) => return Err(BadCertificate::Secret),
                (Tag::PUBLIC_KEY, Some(_)) => return Err(BadCertificate::Several),
                (Tag::PUBLIC_KEY, None) => {
                    primary = Some(Fingerprint::of(body).ok_or(BadCertificate::Version)?);
                }
                (Tag::PUBLIC_SUBKEY, Some(_)) => subkeys.extend(Fingerprint::of(body)),
                (Tag::SIGNATURE | Tag::USER_ID | Tag::USER_ATTRIBUTE, Some(_)) => {}
                _ => return Err(BadCertificate::Odd),
            }
        }
        Ok(Self { text, primary: primary.ok_or(BadCertificate::Odd)?, subkeys })
    }

    /// As it is kept.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its packets, which is what a keyring of GnuPG's with it alone consists of.
    pub fn packets(&self) -> Vec<u8> {
        self.text.strip_prefix(WORD).and_then(base64::decode).unwrap_or_default()
    }

    /// The primary key.
    pub fn primary(&self) -> Fingerprint {
        self.primary
    }

    /// Whether a key is the primary one or a subkey.
    pub fn has(&self, key: Fingerprint) -> bool {
        self.primary == key || self.subkeys.contains(&key)
    }

    /// Whether a key is in both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.has(other.primary) || other.subkeys.iter().any(|key| self.has(*key))
    }

    /// In one line that stands for every byte of it: `openpgp <fingerprint> sha256:<hex>`.
    pub fn line(&self) -> String {
        format!("{self} sha256:{}", hex(&Sha256::digest(&self.text)))
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{WORD}{}", self.primary))
    }
}

impl Fingerprint {
    /// That of a key packet; `None` when it is not of version 4.
    fn of(body: &[u8]) -> Option<Self> {
        let length = u16::try_from(body.len()).ok()?;
        let hash = Sha1::new().chain_update([0x99]).chain_update(length.to_be_bytes());
        (body.first() == Some(&4)).then(|| Self(hash.chain_update(body).finalize().into()))
    }
}

impl fmt::Display for Fingerprint {
    /// 40 hex digits, as GnuPG writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex(&self.0).to_uppercase())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The key that an armored detached signature says it was made with. `None` for anything but a single signature of version 4
/// over bytes, with a digest of the SHA-2 or SHA-3 family, that names its key by fingerprint and does not expire: what GnuPG
/// makes since 2.1.16, unless it is told otherwise.
pub fn issuer(armored: &str) -> Option<Fingerprint> {
    let bytes = unarmored(armored.trim(), "SIGNATURE")?;
    let mut packets = Packets(&bytes);
    let (tag, body) = packets.next()??;
    if tag != Tag::SIGNATURE || packets.next().is_some() {
        return None;
    }
    let rest = body.strip_prefix(&[4, OVER_BYTES])?;
    let ([_, digest, first, second], rest) = rest.split_first_chunk::<4>()?;
    if !DIGESTS.contains(digest) {
        return None;
    }
    let (hashed, _) = rest.split_at_checked(usize::from(u16::from_be_bytes([*first, *second])))?;
    let mut issuer = None;
    let mut left = hashed;
    while !left.is_empty() {
        let (part, rest) = counted(left)?;
        left = rest;
        let (kind, body) = part.split_first()?;
        match kind & 0x7f {
            EXPIRES => return None,
            ISSUER_FINGERPRINT if issuer.is_none() => {
                issuer = Some(Fingerprint(body.strip_prefix(&[4])?.try_into().ok()?))
            }
            ISSUER_FINGERPRINT => return None,
            _ => {}
        }
    }
    issuer
}

/// The class of a signature over bytes, in which nothing is changed before they are looked at.
const OVER_BYTES: u8 = 0x00;
/// SHA-256, SHA-384, SHA-512, SHA-224, SHA3-256, SHA3-512.
const DIGESTS: [u8; 6] = [8, 9, 10, 11, 12, 14];
/// Parts of a signature.
const EXPIRES: u8 = 3;
const ISSUER_FINGERPRINT: u8 = 33;

/// The kinds of packet that matter here.
struct Tag;

impl Tag {
    const SIGNATURE: u8 = 2;
    const SECRET_KEY: u8 = 5;
    const PUBLIC_KEY: u8 = 6;
    const SECRET_SUBKEY: u8 = 7;
    const USER_ID: u8 = 13;
    const PUBLIC_SUBKEY: u8 = 14;
    const USER_ATTRIBUTE: u8 = 17;
}

/// Packets, each with its kind; `None` for the last one when it is damaged, or has a length that only data may have.
struct Packets<'a>(&'a [u8]);

impl<'a> Iterator for Packets<'a> {
    type Item = Option<(u8, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        let (first, rest) = self.0.split_first()?;
        let found = match first >> 6 {
            0b11 => counted(rest).map(|(body, rest)| (first & 0x3f, body, rest)),
            0b10 => counted_of_old(first & 3, rest).map(|(body, rest)| ((first >> 2) & 0xf, body, rest)),
            _ => None,
        };
        self.0 = found.map_or(&[], |(_, _, rest)| rest);
        Some(found.map(|(tag, body, _)| (tag, body)))
    }
}

/// The first of some bytes that have their length before them, in one, two or five bytes, and what follows.
fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (first, rest) = bytes.split_first()?;
    match first {
        0..192 => rest.split_at_checked(usize::from(*first)),
        192..224 => {
            let (second, rest) = rest.split_first()?;
            rest.split_at_checked(((usize::from(*first) - 192) << 8) + usize::from(*second) + 192)
        }
        255 => counted_of_old(2, rest),
        _ => None,
    }
}

/// The same with a length in one, two or four bytes, as the packet's first byte says.
fn counted_of_old(kind: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_at_checked(1 << kind).filter(|_| kind < 3)?;
    let length = length.iter().fold(0u32, |length, byte| (length << 8) | u32::from(*byte));
    rest.split_at_checked(usize::try_from(length).ok()?)
}

/// What one armored block of a kind has in it. A checksum is not looked at: it is no proof of anything.
fn unarmored(text: &str, kind: &str) -> Option<Vec<u8>> {
    let body = text.strip_prefix("-----BEGIN PGP ")?.strip_prefix(kind)?.strip_prefix("-----")?;
    let body = body.strip_suffix("-----")?.strip_suffix(kind)?.strip_suffix("-----END PGP ")?;
    // So much longer than the bytes that are kept are the line ends and headers that no key and no signature outgrows.
    let body = Some(body).filter(|body| body.len() <= 16 * LIMIT)?;
    let mut lines: Vec<&str> = body.lines().map(str::trim).collect();
    if let Some(blank) = lines.iter().skip(1).position(|line| line.is_empty()) {
        let headers = lines.drain(..=blank + 1).skip(1).filter(|line| !line.is_empty());
        headers.map(|line| line.contains(": ").then_some(())).collect::<Option<()>>()?;
    }
    lines.retain(|line| !line.is_empty());
    if lines.last().is_some_and(|line| line.len() == 5 && line.starts_with('=')) {
        lines.pop();
    }
    base64::decode(&lines.concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::samples::{OPENPGP_KEY, OPENPGP_SIGNATURE};

    const PRIMARY: &str = "E6FD93FC27D3C9A0D3EA88DD3590C5E81E836124";

    /// Some packets as they are kept.
    fn kept(packets: &[&[u8]]) -> String {
        format!("openpgp {}", base64::encode(&packets.concat()))
    }

    #[test]
    fn a_key_is_one_public_key_and_nothing_else() {
        let key = Certificate::parse(OPENPGP_KEY).unwrap();
        assert_eq!(key.to_string(), format!("openpgp {PRIMARY}"));
        assert_eq!(Certificate::parse(key.as_str()), Ok(key.clone()), "the form it is kept in");
        assert!(
            key.line().starts_with(&format!("openpgp {PRIMARY} sha256:")) && key.line().lines().count() == 1
        );
        let with_header = OPENPGP_KEY.replacen("-----\n", "-----\nComment: mine\n", 1).replace('\n', "\r\n");
        assert_eq!(Certificate::parse(&with_header), Ok(key.clone()));
        let (primary, new) = (b"\x98\x02\x04x".as_slice(), b"\xc6\x02\x04x".as_slice());
        let long = [b"\xb5\xff\xff".as_slice(), &[b'x'; 65_535]].concat();
        let secret = OPENPGP_KEY.replace("PUBLIC", "PRIVATE");
        for (bad, why) in [
            (String::new(), BadCertificate::Odd),
            ("openpgp !".into(), BadCertificate::Odd),
            (OPENPGP_SIGNATURE.into(), BadCertificate::Odd),
            (OPENPGP_KEY[..200].into(), BadCertificate::Odd),
            (OPENPGP_KEY.replace("mDME", "mFME"), BadCertificate::Odd),
            (format!("{OPENPGP_KEY}{OPENPGP_KEY}"), BadCertificate::Odd),
            (secret, BadCertificate::Secret),
            (kept(&[b"\x94\x02\x04x"]), BadCertificate::Secret),
            (kept(&[primary, b"\x9c\x02\x04x"]), BadCertificate::Secret),
            (kept(&[primary, new]), BadCertificate::Several),
            (kept(&[b"\x98\x02\x06x"]), BadCertificate::Version),
            (kept(&[b"\xb4\x01x", primary]), BadCertificate::Odd),
            (kept(&[primary, b"\xcb\x01x"]), BadCertificate::Odd),
            (kept(&[primary, b"\xcd\xe1x"]), BadCertificate::Odd),
            (kept(&[primary, b"\x9b"]), BadCertificate::Odd),
            (kept(&[primary, &long]), BadCertificate::TooLong),
        ] {
            assert_eq!(Certificate::parse(&bad).err(), Some(why), "{}", &bad[..bad.len().min(80)]);
        }
        let sub = Certificate::parse(&kept(&[primary, b"\xce\x02\x04y"])).unwrap();
        let other = Certificate::parse(&kept(&[b"\x98\x02\x04z", b"\xce\x02\x04y"])).unwrap();
        assert!(
            sub.overlaps(&other) && other.overlaps(&sub) && !key.overlaps(&sub) && sub.has(other.subkeys[0])
        );
    }

    #[test]
    fn a_signature_names_its_key() {
        assert_eq!(issuer(OPENPGP_SIGNATURE).unwrap().to_string(), PRIMARY);
        let bytes = unarmored(OPENPGP_SIGNATURE.trim(), "SIGNATURE").unwrap();
        let armored = |bytes: &[u8]| {
            format!(
                "-----BEGIN PGP SIGNATURE-----\n\n{}\n-----END PGP SIGNATURE-----\n",
                base64::encode(bytes)
            )
        };
        assert!(issuer(&armored(&bytes)).is_some());
        let with = |at: usize, byte: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = byte;
            armored(&bytes)
        };
        for (bad, what) in [
            (with(2, 3), "another version"),
            (with(3, 1), "over text, whose line ends may be others"),
            (with(5, 2), "with SHA-1"),
            (with(9, 2), "without the issuer's fingerprint"),
            (armored(&[&bytes[..], &bytes].concat()), "two signatures"),
            (armored(&bytes[..60]), "cut short"),
            (OPENPGP_KEY.into(), "a key"),
            (format!("x{OPENPGP_SIGNATURE}"), "with something before it"),
            (format!("{OPENPGP_SIGNATURE}x"), "with something after it"),
        ] {
            assert_eq!(issuer(&bad), None, "{what}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_text_is_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..600, byte in any::<char>()) {
            for kind in ["PUBLIC KEY BLOCK", "SIGNATURE"] {
                let body = base64::encode(&bytes);
                let text = format!("-----BEGIN PGP {kind}-----\n\n{body}\n-----END PGP {kind}-----\n");
                drop((Certificate::parse(&text), issuer(&text)));
            }
            if let Ok(key) = Certificate::parse(&kept(&[&bytes])) {
                prop_assert_eq!(Certificate::parse(key.as_str()), Ok(key.clone()));
            }
            for text in [OPENPGP_KEY, OPENPGP_SIGNATURE] {
                let changed: String =
                    text.chars().enumerate().map(|(here, old)| if here == at { byte } else { old }).collect();
                drop((Certificate::parse(&changed), issuer(&changed)));
            }
        }
    }
}
