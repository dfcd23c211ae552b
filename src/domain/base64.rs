//! Base64 with padding, as keys and signatures have it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What a text without white space stands for; `None` when it is no base64.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
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

/// The one text that stands for some bytes.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for at in 0..4 {
            let value = (bits >> (18 - 6 * at)) & 63;
            text.push(if at > chunk.len() { '=' } else { char::from(ALPHABET[value as usize]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for (bytes, text) in [(&b"f"[..], "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v"), (b"\xfb\xff", "+/8=")] {
            assert_eq!((encode(bytes).as_str(), decode(text).as_deref()), (text, Some(bytes)));
        }
        for bad in ["", "Zg", "Zg=", "Z===", "Zm9v\n", "Zm9-"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}
