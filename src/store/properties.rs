//! What holds for any bytes from outside: records, exports, and the messages that typed text becomes part of.

use std::collections::BTreeSet;

use gix::bstr::ByteSlice as _;
use proptest::{collection::vec, prelude::*};

use super::{
    format::{QuotaFile, Stored, decode, encode, rewritten},
    message::{Message, subject},
    transfer::Export,
};
use crate::domain::{
    actor::{Person, Stamp},
    change::{Change, Op},
    evidence::Evidence,
    gate::Gate,
    goal::Goal,
    policy::Policy,
    quota::Spend,
    text::{Note, Title},
    todo::{Priority, Todo, TodoState, Worker},
};

const SAMPLES: [&str; 5] = [
    "format = \"1.0\"\ntitle = \"Write\"\nfor = \"agent\"\npriority = \"p1\"\nneeds = [\"t-0000\"]\n\n[added]\nby = \"agent:a\"\nat = \"2026-11-30T12:00:00Z\"\n\n[state]\nis = \"claimed\"\nby = \"agent:a\"\nsince = \"2026-11-30T12:00:00Z\"\nlease_until = \"2026-11-30T13:00:00Z\"\nepoch = 1\n",
    "format = \"1.3\"\nquestion = \"Delete?\"\noptions = [\"approve\", \"reject\"]\nblocks = [\"push\"]\ncolour = \"red\"\n\n[asked]\nby = \"Ann <ann@example.test>\"\nat = \"2026-11-30T12:00:00Z\"\n\n[state]\nis = \"open\"\n",
    "format = \"1.0\"\nrepository = \"07070707070707070707070707070707\"\napproval = \"terminal\"\n",
    "{\n  \"format\": \"1.0\",\n  \"goals\": {\n    \"ship\": {\n      \"compute\": 0.5,\n      \"window_hours\": 24,\n      \"slot_minutes\": 30\n    }\n  }\n}\n",
    "{\"loopx_export\":1,\"repository\":\"07070707070707070707070707070707\",\"files\":1}\n{\"path\":\"quota.json\",\"sha256\":\"0\",\"text\":\"\"}\n{\"end\":1,\"sha256\":\"0\"}\n",
];

/// Bytes that nearly are something: a sample with pieces cut out, doubled and overwritten.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    let wound = (any::<prop::sample::Index>(), 0..40usize, vec(any::<u8>(), 0..6));
    (prop::sample::select(&SAMPLES[..]), vec(wound, 0..4)).prop_map(|(sample, wounds)| {
        let mut bytes = sample.as_bytes().to_vec();
        for (place, length, new) in wounds {
            let from = place.index(bytes.len().max(1)).min(bytes.len());
            let to = (from + length).min(bytes.len());
            // Every third wound repeats what was there.
            let new = if length % 3 == 0 { bytes[from..to].repeat(2) } else { new };
            bytes.splice(from..to, new);
        }
        bytes
    })
}

fn outside() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![1 => vec(any::<u8>(), 0..200), 4 => nearly()]
}

fn title() -> impl Strategy<Value = Title> {
    "\\PC{1,60}".prop_filter_map("no title", |text| text.parse().ok())
}

fn note() -> impl Strategy<Value = Note> {
    "(\\PC{0,20}[\n\t ]{0,2}((Signed-off-by|Loopx-Actor|Loopx-Op): )?){1,6}"
        .prop_filter_map("no note", |text| text.parse().ok())
}

/// What can be read is written in one way only, and reads as the same.
fn settles<T: Stored>(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(record) = decode::<T>("it", bytes) else { return Ok(()) };
    let canonical = encode(&record);
    let again =
        decode::<T>("it", canonical.as_bytes()).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&encode(&again), &canonical);
    let written =
        rewritten("it", Some(bytes), &record).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let kept = rewritten("it", Some(written.as_bytes()), &record);
    prop_assert_eq!(kept.map_err(|error| TestCaseError::fail(error.to_string()))?, written);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_record_or_none(bytes in outside()) {
        settles::<Todo>(&bytes)?;
        settles::<Gate>(&bytes)?;
        settles::<Evidence>(&bytes)?;
        settles::<Policy>(&bytes)?;
        settles::<Goal>(&bytes)?;
        settles::<Spend>(&bytes)?;
        settles::<QuotaFile>(&bytes)?;
    }

    #[test]
    fn a_todo_comes_back_whatever_was_typed(title in title(), body in prop::option::of(note()), for_person: bool) {
        let todo = Todo {
            title,
            body,
            for_: if for_person { Worker::Person } else { Worker::Agent },
            priority: Priority::P2,
            needs: BTreeSet::new(),
            requires: BTreeSet::new(),
        check: None,
        monitor: None,
            added: stamp(),
            state: TodoState::Open { epoch: 0 },
        };
        let bytes = encode(&todo);
        let read: Todo = decode("it", bytes.as_bytes()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(read, todo);
    }

    #[test]
    fn any_bytes_are_an_export_or_none(bytes in outside()) {
        // Digests make it all but impossible to get one by chance.
        prop_assert!(Export::parse(&String::from_utf8_lossy(&bytes)).is_err());
    }

    #[test]
    fn nothing_typed_becomes_a_trailer(title in title(), body in prop::option::of(note())) {
        let change = Change {
            op: Op::GateResolve,
            subject: subject("approve gate ship", &title),
            body,
            goal: Some("ship".parse().expect("an id")),
            turn: None,
            puts: Vec::new(),
        };
        let ann: Person = "Ann <ann@example.test>".parse().expect("a person");
        let message = Message::of(&change, &stamp(), &ann);
        let parsed = gix::objs::commit::MessageRef::from_bytes(message.text().as_bytes());
        let body = parsed.body().expect("trailers");
        let tokens: Vec<String> =
            body.trailers().map(|trailer| trailer.token.to_str_lossy().into_owned()).collect();
        prop_assert_eq!(tokens, ["Loopx-Op", "Loopx-Goal", "Loopx-Actor", "Signed-off-by"]);
        prop_assert_eq!(parsed.title.lines().count(), 1);
        // Nor does a naive search take it for one.
        let looks = |line: &&str| line.starts_with("Loopx-") || line.starts_with("Signed-off-by");
        prop_assert_eq!(message.text().lines().filter(looks).count(), 4);
    }
}

/// What is nearly a sample would be far from anything, were the samples none.
#[test]
fn the_samples_are_records() {
    let [todo, gate, policy, quota, _] = SAMPLES.map(str::as_bytes);
    decode::<Todo>("it", todo).expect("a todo");
    decode::<Gate>("it", gate).expect("a gate");
    decode::<Policy>("it", policy).expect("a policy");
    decode::<QuotaFile>("it", quota).expect("limits");
}

fn stamp() -> Stamp {
    Stamp { by: "agent:a".parse().expect("an actor"), at: "2026-11-30T12:00:00Z".parse().expect("a time") }
}
