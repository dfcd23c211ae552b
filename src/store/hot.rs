//! The tip's commit, its trees and the open records in one file, `.git/loopx/hot`, so that a reader opens one file and
//! not fifty.
//!
//! It is no second truth. Entries are found by the id that the state branch or a tree of it names, and are only
//! believed when their bytes have that id; so an old, torn or forged file can make reading slower and nothing else.
//! Writers append to it under their lock. It can be deleted at any time.

use std::{collections::HashMap, fs, io::Write as _, ops::Range, path::Path};

use gix::{ObjectId, objs::Kind};

use super::{
    Snapshot,
    git::Fresh,
    layout::{self, Edit},
    read_plain_file,
};

const FILE: &str = "hot";
/// Room for growth before the file is written anew with only what is open.
const SLACK: usize = 64 * 1024;
/// The first line, before the size that the file had when it was written anew.
const HEAD: &str = "loopx-hot 1 ";

/// What was at hand when the file was read.
#[derive(Debug)]
pub(super) struct Hot {
    bytes: Vec<u8>,
    entries: HashMap<ObjectId, Range<usize>>,
    /// Size of the file when it was last written anew; none when there is no file of ours, or when it is torn, so that
    /// nothing behind the tear would be read.
    base: Option<usize>,
}

impl Hot {
    pub(super) fn load(dir: &Path, kind: gix::hash::Kind) -> Self {
        Self::read(read_plain_file(&dir.join(FILE)).unwrap_or_default(), kind)
    }

    fn read(bytes: Vec<u8>, kind: gix::hash::Kind) -> Self {
        let head = bytes.iter().position(|byte| *byte == b'\n');
        let base =
            head.and_then(|end| std::str::from_utf8(&bytes[..end]).ok()?.strip_prefix(HEAD)?.parse().ok());
        let (entries, end) = match (base, head) {
            (Some(_), Some(end)) => parse(&bytes, end + 1, kind),
            _ => (HashMap::new(), 0),
        };
        let base = base.filter(|_| end == bytes.len());
        Self { bytes, entries, base }
    }

    pub(super) fn get(&self, id: ObjectId, kind: Kind) -> Option<&[u8]> {
        let bytes = &self.bytes[self.entries.get(&id)?.clone()];
        let real = gix::objs::compute_hash(id.kind(), kind, bytes).ok()?;
        (real == id).then_some(bytes)
    }

    /// Adds what the last mutation wrote, without what was closed by it, or writes the file anew when it is missing or mostly of the past. The next
    /// reader does without whatever fails here.
    pub(super) fn keep(&self, dir: &Path, snapshot: &Snapshot<'_>, edit: &Edit, fresh: &[Fresh]) {
        match self.base {
            Some(base) if self.bytes.len() < base * 2 + SLACK => {
                drop(append(&dir.join(FILE), edit, fresh, snapshot.commit().tree.kind()))
            }
            _ => Self::renew(dir, snapshot),
        }
    }

    /// Writes the file anew with what is open. The next reader does without if that fails.
    pub(super) fn renew(dir: &Path, snapshot: &Snapshot<'_>) {
        drop(renew(dir, snapshot));
    }
}

/// `<hex id> <length>\n<bytes>\n`, one after the other. Reading ends at the first thing that is not of this form; where
/// that was is returned, too.
fn parse(bytes: &[u8], mut at: usize, kind: gix::hash::Kind) -> (HashMap<ObjectId, Range<usize>>, usize) {
    let mut entries = HashMap::new();
    while let Some(end) = bytes[at..].iter().position(|byte| *byte == b'\n').map(|length| at + length) {
        let head = std::str::from_utf8(&bytes[at..end]).ok().and_then(|head| head.split_once(' '));
        let Some((hex, length)) = head else { break };
        let (Ok(id), Ok(length)) = (ObjectId::from_hex(hex.as_bytes()), length.parse::<usize>()) else {
            break;
        };
        let body = end + 1..(end + 1).saturating_add(length);
        if id.kind() != kind || bytes.get(body.end) != Some(&b'\n') {
            break;
        }
        at = body.end + 1;
        entries.insert(id, body);
    }
    (entries, at)
}

fn entry(id: ObjectId, bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{id} {}\n", bytes.len()).as_bytes());
    out.extend_from_slice(bytes);
    out.push(b'\n');
}

fn append(path: &Path, edit: &Edit, fresh: &[Fresh], hash: gix::hash::Kind) -> std::io::Result<()> {
    let mut out = Vec::new();
    let is_present = |(path, _): &(&str, &[u8])| layout::is_of_the_present(path);
    let records = edit.written().filter(is_present).map(|(_, bytes)| (Kind::Blob, bytes));
    let nodes = fresh.iter().filter_map(|(_, kind, bytes)| Some((*kind, bytes.as_deref()?)));
    let nodes = nodes.filter(|(kind, _)| *kind != Kind::Blob);
    for (kind, bytes) in records.chain(nodes) {
        if let Ok(id) = gix::objs::compute_hash(hash, kind, bytes) {
            entry(id, bytes, &mut out);
        }
    }
    // One write, so that a reader sees all of it or an end it does not believe.
    fs::File::options().append(true).open(path)?.write_all(&out)
}

/// Writes the file anew with what is open in `snapshot`.
fn renew(dir: &Path, snapshot: &Snapshot<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let mut body = Vec::new();
    for (id, _, bytes) in snapshot.at_hand()? {
        entry(id, &bytes, &mut body);
    }
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(format!("{HEAD}{}\n", body.len()).as_bytes())?;
    file.write_all(&body)?;
    file.persist(dir.join(FILE))?;
    Ok(())
}

/// Looks whether reading these bytes keeps its promise; see [`super::outside`].
#[cfg(any(test, fuzzing))]
pub(super) fn promises(bytes: &[u8], kind: gix::hash::Kind) {
    let (entries, end) = parse(bytes, 0, kind);
    let (mut last, mut written) = (0, 0);
    for (id, body) in &entries {
        let mut again = Vec::new();
        entry(*id, &bytes[body.clone()], &mut again);
        written += again.len();
        last = last.max(body.end + 1);
    }
    // Of two with the same id the later one counts.
    assert!(last == end && written <= end && end <= bytes.len());
    let hot = Hot::read([format!("{HEAD}0\n").as_bytes(), bytes].concat(), kind);
    assert_eq!(hot.entries.len(), entries.len());
    for id in entries.keys() {
        hot.get(*id, Kind::Blob);
    }
    drop(Hot::read(bytes.to_vec(), kind));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(bytes: &[u8]) -> ObjectId {
        gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, bytes).unwrap()
    }

    fn read(entries: &[u8]) -> Hot {
        Hot::read([format!("{HEAD}0\n").as_bytes(), entries].concat(), gix::hash::Kind::Sha1)
    }

    #[test]
    fn what_was_put_in_comes_out_up_to_the_first_tear() {
        let mut file = Vec::new();
        entry(id(b"a\n\nb"), b"a\n\nb", &mut file);
        entry(id(b""), b"", &mut file);
        let whole = file.len();
        entry(id(b"torn"), b"torn", &mut file);
        for end in whole..file.len() {
            let hot = read(&file[..end]);
            assert_eq!(hot.get(id(b"a\n\nb"), Kind::Blob), Some(&b"a\n\nb"[..]));
            assert_eq!(hot.get(id(b""), Kind::Blob), Some(&b""[..]));
            assert_eq!(hot.get(id(b"torn"), Kind::Blob), None);
        }
        for nonsense in [&b""[..], b"\n", b"x", &[0; 99], b"zz 3\nabc\n", &[0xff; 64]] {
            assert!(read(nonsense).entries.is_empty());
        }
    }

    #[test]
    fn a_forged_entry_is_not_believed() {
        let mut file = Vec::new();
        entry(id(b"is = \"open\""), b"is = \"resolved\"", &mut file);
        assert_eq!(read(&file).get(id(b"is = \"open\""), Kind::Blob), None);
    }
}
