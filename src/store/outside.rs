//! What the readers of bytes from outside promise, a function each, whatever the bytes: that they end, and that what can be
//! read is written in one way only. A function that returns has found the promise kept.
//!
//! `properties.rs` calls them with bytes made by chance, and so do the targets in `fuzz/`.

use std::{collections::BTreeMap, io::Cursor};

use gix::{hash::Kind, objs::CommitRef};

use super::{
    archive,
    format::{QuotaFile, Stored, decode, encode, rewritten},
    hot,
    layout::{self, Named},
    transfer::{self, Export},
    verify::{Commit, Words},
    writer::Note,
};
use crate::domain::{
    actor::Actor, bypass::Bypass, change::Op, evidence::Evidence, gate::Gate, goal::Goal, handoff::Handoff,
    policy::Policy, quota::Spend, time::Timestamp, todo::Todo,
};

/// A record of each kind: what can be read is written in one way only, and reads as the same.
pub fn record(bytes: &[u8]) {
    settles::<Todo>(bytes);
    settles::<Gate>(bytes);
    settles::<Evidence>(bytes);
    settles::<Policy>(bytes);
    settles::<Goal>(bytes);
    settles::<Spend>(bytes);
    settles::<QuotaFile>(bytes);
    settles::<Handoff>(bytes);
    settles::<Bypass>(bytes);
}

fn settles<T: Stored>(bytes: &[u8]) {
    let Ok(record) = decode::<T>("it", bytes) else { return };
    let canonical = encode(&record);
    let again = decode::<T>("it", canonical.as_bytes()).expect("what was written can be read");
    assert_eq!(encode(&again), canonical);
    let written = rewritten("it", Some(bytes), &record).expect("what was read can be written");
    let kept = rewritten("it", Some(written.as_bytes()), &record).expect("what was written can be read");
    assert_eq!(kept, written);
}

/// A path of the state branch: one that names a record is the very one where that record lies, and none leads
/// elsewhere.
pub fn path(bytes: &[u8]) {
    let Ok(path) = std::str::from_utf8(bytes) else { return };
    let is_of_a_state = layout::is_of_a_state(path);
    if is_of_a_state {
        assert!(path.split('/').all(|part| !["", ".", "..", ".git"].contains(&part)));
        assert!(path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\'));
    }
    let Some(named) = layout::named(path) else { return };
    assert!(is_of_a_state);
    let name = named.record_name();
    let id = name.split_once('/').map_or("", |(_, id)| id);
    let places = match (&named, named.shelved()) {
        (_, Some((shelf, goal))) => vec![shelf.open_file(&goal, id), shelf.closed_file(&goal, id)],
        (Named::Goal(goal), None) => vec![layout::goal_file(goal)],
        (Named::Handoff(goal), None) => vec![layout::handoff_file(goal)],
        (Named::Bypass(id), None) => {
            [layout::BYPASSES, layout::CLOSED_BYPASSES].map(|folder| layout::bypass_file(folder, id)).into()
        }
        (_, None) => vec![layout::POLICY.to_owned(), layout::QUOTA.to_owned()],
    };
    assert!(places.iter().any(|place| place == path));
}

/// A commit of the state branch: what it says of itself it says once, and can be said again.
pub fn commit(bytes: &[u8]) {
    for kind in [Kind::Sha1, Kind::Sha256] {
        let Ok(decoded) = CommitRef::from_bytes(bytes, kind) else { continue };
        let Ok(commit) = Commit::read(&decoded) else { continue };
        let Ok(words) = Words::of(&commit, Timestamp::from_unix(i64::MAX)) else { continue };
        assert_eq!(Op::from_word(words.op.word()), Some(words.op));
        assert_eq!(words.by.to_string().parse::<Actor>().as_ref(), Ok(&words.by));
        let said = |token: &str| {
            let mut found = commit.trailers.iter().filter(|(name, _)| name == token);
            (found.next().map(|(_, value)| value.clone()), found.count())
        };
        assert_eq!(said("Loopx-Actor"), (Some(words.by.trailer()), 0));
        assert_eq!(said("Loopx-Op"), (Some(words.op.word().to_owned()), 0));
        assert_eq!(said("Signed-off-by").1, 0);
    }
}

/// The writer's note: what can be read is written as it was meant.
pub fn note(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (note, branch) = Note::parse(text);
    assert_eq!(Note::parse(&note.line(&branch)), (note, branch));
}

/// An export: any bytes are one or none, and one that has those lines is read as what it says, or refused.
pub fn export(bytes: &[u8]) {
    drop(Export::parse(Cursor::new(bytes)));
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // Chance makes no digest, so here is a file with its digests for any text: a path and what lies there, in turn.
    let lines: Vec<&str> = text.split('\0').collect();
    let files: Vec<(&str, &str)> = lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let is_good = files.iter().enumerate().all(|(number, (path, _))| {
        layout::is_of_a_state(path) && !files[..number].iter().any(|(other, _)| other == path)
    });
    let read = Export::parse(Cursor::new(transfer::written(files.iter().copied())));
    assert_eq!(read.is_ok(), is_good);
    if let Ok(mut read) = read {
        let found = read.contents().collect::<Result<BTreeMap<_, _>, _>>().expect("it was read once");
        let meant = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        assert_eq!(found, meant.collect());
    }
}

/// The file of what is at hand: reading ends at the first thing that is none, and everything before it is what was written.
pub fn hot(bytes: &[u8]) {
    for kind in [Kind::Sha1, Kind::Sha256] {
        hot::promises(bytes, kind);
    }
}

/// What lies at hand of the open todos of a goal.
pub fn outlines(bytes: &[u8]) {
    super::outlines::promises(bytes);
}

/// A segment, line by line, and its name.
pub fn segment(bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n') {
        archive::promises::<Todo>(line);
        archive::promises::<Gate>(line);
        archive::promises::<Evidence>(line);
        archive::promises::<Spend>(line);
    }
    if let Ok(name) = std::str::from_utf8(bytes) {
        archive::promises_of_name(name);
    }
}
