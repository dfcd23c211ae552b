//! What can be computed about a token of the right shape.

use super::rules::Verdict;

/// GitHub's and npm's: the last six digits are the CRC-32 of what stands between them and the prefix, in base 62.
///
/// One that is wrong may still have been typed or cut by hand, so that it stays possible.
pub(super) fn crc_base62(token: &str) -> Verdict {
    let body = token.split_once('_').map_or(token, |(_, body)| body);
    let (random, sum) = body.split_at(body.len().saturating_sub(6));
    if sum.as_bytes() == base62(crc32(random.as_bytes())) { Verdict::Certain } else { Verdict::Possible }
}

/// Six digits.
pub(super) fn base62(mut number: u32) -> [u8; 6] {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut digits = [b'0'; 6];
    for place in digits.iter_mut().rev() {
        *place = DIGITS[(number % 62) as usize];
        number /= 62;
    }
    digits
}

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| {
                if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 }
            },
        )
    })
}

/// The first part of a bot's token is the number of its account.
pub(super) fn discord(token: &str) -> Verdict {
    let id = token.split('.').next().and_then(decoded).unwrap_or_default();
    let is_number = id.len() >= 17 && id.iter().all(u8::is_ascii_digit);
    if is_number { Verdict::Possible } else { Verdict::Harmless }
}

/// The first part is a JSON object that names an algorithm.
pub(super) fn web_token(token: &str) -> Verdict {
    let head = token.split('.').next().and_then(decoded).unwrap_or_default();
    let head = String::from_utf8_lossy(&head);
    if head.starts_with('{') && head.contains("\"alg\"") { Verdict::Possible } else { Verdict::Harmless }
}

pub(super) fn private_key_in_base64(text: &str) -> Verdict {
    let head: String = text.chars().take(80).collect();
    let decoded = decoded(&head).unwrap_or_default();
    if String::from_utf8_lossy(&decoded).contains("PRIVATE KEY") {
        Verdict::Possible
    } else {
        Verdict::Harmless
    }
}

/// Base64 of either alphabet, as far as it goes.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut bits, mut have) = (0_u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(digit)) & 0x00ff_ffff;
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have & 0xff) as u8);
        }
    }
    Some(out)
}
