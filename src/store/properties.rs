//! What holds for any bytes from outside: records, exports, and the messages that typed text becomes part of.

use std::{collections::BTreeSet, io::Cursor};

use gix::bstr::ByteSlice as _;
use proptest::{collection::vec, prelude::*};

use super::{
    format::{QuotaFile, decode, encode},
    message::{Message, subject},
    outside,
    transfer::Export,
};
use crate::domain::{
    actor::{Person, Stamp},
    bypass::Bypass,
    change::{Change, Op},
    gate::Gate,
    handoff::Handoff,
    policy::Policy,
    text::{Note, Title},
    todo::{Priority, Todo, TodoState, Worker},
};

const SAMPLES: [&str; 12] = [
    "format = \"1.0\"\ntitle = \"Write\"\nfor = \"agent\"\npriority = \"p1\"\nneeds = [\"t-0000\"]\n\n[added]\nby = \"agent:a\"\nat = \"2026-11-30T12:00:00Z\"\n\n[state]\nis = \"claimed\"\nby = \"agent:a\"\nsince = \"2026-11-30T12:00:00Z\"\nlease_until = \"2026-11-30T13:00:00Z\"\nepoch = 1\n",
    "format = \"1.3\"\nquestion = \"Delete?\"\noptions = [\"approve\", \"reject\"]\nblocks = [\"push\"]\ncolour = \"red\"\n\n[asked]\nby = \"Ann <ann@example.test>\"\nat = \"2026-11-30T12:00:00Z\"\n\n[state]\nis = \"open\"\n",
    "format = \"1.0\"\nrepository = \"07070707070707070707070707070707\"\napproval = \"terminal\"\n",
    "{\n  \"format\": \"1.0\",\n  \"goals\": {\n    \"ship\": {\n      \"compute\": 0.5,\n      \"window_hours\": 24,\n      \"slot_minutes\": 30\n    }\n  }\n}\n",
    "format = \"1.0\"\n\n[push]\nremote = \"origin\"\nref = \"refs/heads/main\"\ncommit = \"00\"\nat = \"2026-11-30T12:00:00Z\"\npushes = 2\nway = \"no-verify\"\ngates = [\"ship/ready\"]\n\n[noted]\nby = \"agent:a\"\nat = \"2026-11-30T12:00:00Z\"\n\n[state]\nis = \"open\"\n",
    "+++\nformat = \"1.4\"\ncolour = \"red\"\n\n[written]\nby = \"agent:a\"\nat = \"2026-11-30T12:00:00Z\"\n+++\n\n# Next\n\n+++\n\nthe tests\n",
    "{\"loopx_export\":1,\"repository\":\"07070707070707070707070707070707\",\"files\":1}\n{\"path\":\"quota.json\",\"sha256\":\"0\",\"text\":\"\"}\n{\"end\":1,\"sha256\":\"0\"}\n",
    "{\"format\":\"1.0\",\"id\":\"turn-1\",\"record\":{\"turn\":\"turn-1\",\"slots\":2,\"added\":{\"by\":\"agent:a\",\"at\":\"2026-11-30T12:00:00Z\"}}}\n",
    "ref 1111111111111111111111111111111111111111 2222222222222222222222222222222222222222 loopx/state\n",
    "1111111111111111111111111111111111111111 3\nabc\n2222222222222222222222222222222222222222 0\n\n",
    "t-7k3q 1111111111111111111111111111111111111111\nt-9w2d\n\0t-7k3q 1111111111111111111111111111111111111111 1796000000 * t-9w2d\nt-9w2d 2222222222222222222222222222222222222222 1796000000 - t-0000,t-2m4x\n",
    "tree 1111111111111111111111111111111111111111\nauthor Ann <ann@example.test> 1796040000 +0000\ncommitter Ann <ann@example.test> 1796040000 +0000\n\nadd goal ship: Ship\n\nLoopx-Op: goal.add\nLoopx-Goal: ship\nLoopx-Record: goal/ship\nLoopx-Actor: agent:a\nSigned-off-by: Ann <ann@example.test>\n",
];

const PATHS: [&str; 10] = [
    "goals/ship/handoff.md",
    "bypasses/closed/b-7k3q.toml",
    "loopx.toml",
    ".gitattributes",
    "goals/ship/state.json",
    "goals/ship/gates/closed/a-b.toml",
    "goals/ship/evidence/e-7k3q.toml",
    "goals/ship/spend/s-7k3q.json",
    "goals/ship/todos/closed/000001-000256.jsonl",
    "goals/ship/todos/closed/index/7.txt",
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

/// A path of a state with a part of it left out, doubled or replaced.
fn nearly_a_path() -> impl Strategy<Value = String> {
    let wound = (any::<prop::sample::Index>(), "[./a7-]{0,3}|state|\\PC?", 0..3usize);
    (prop::sample::select(&PATHS[..]), prop::option::of(wound)).prop_map(|(path, wound)| {
        let mut parts: Vec<&str> = path.split_inclusive(['/', '.']).collect();
        if let Some((place, new, taken)) = &wound {
            let from = place.index(parts.len() + 1);
            parts.splice(from..(from + taken).min(parts.len()), [new.as_str()]);
        }
        parts.concat()
    })
}

fn title() -> impl Strategy<Value = Title> {
    "\\PC{1,60}".prop_filter_map("no title", |text| text.parse().ok())
}

fn note() -> impl Strategy<Value = Note> {
    "(\\PC{0,20}[\n\t ]{0,2}((Signed-off-by|Loopx-Actor|Loopx-Op): )?){1,6}"
        .prop_filter_map("no note", |text| text.parse().ok())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_record_or_none(bytes in outside()) {
        outside::record(&bytes);
    }

    #[test]
    fn any_bytes_are_one_of_our_files_or_none(bytes in outside()) {
        outside::segment(&bytes);
        outside::hot(&bytes);
        outside::note(&bytes);
        outside::outlines(&bytes);
        outside::commit(&bytes);
    }

    #[test]
    fn a_path_names_one_place_or_none(path in nearly_a_path()) {
        outside::path(path.as_bytes());
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
        prop_assert!(Export::parse(Cursor::new(&bytes)).is_err());
        outside::export(&bytes);
    }

    #[test]
    fn an_export_has_files_of_a_state_only(files in vec((nearly_a_path(), "\\PC{0,9}"), 0..4)) {
        let texts: Vec<String> = files.into_iter().flat_map(|(path, text)| [path, text]).collect();
        outside::export(texts.join("\0").as_bytes());
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
    let [todo, gate, policy, quota, bypass, handoff, ..] = SAMPLES.map(str::as_bytes);
    decode::<Todo>("it", todo).expect("a todo");
    decode::<Gate>("it", gate).expect("a gate");
    decode::<Policy>("it", policy).expect("a policy");
    decode::<QuotaFile>("it", quota).expect("limits");
    decode::<Bypass>("it", bypass).expect("a bypass");
    decode::<Handoff>("it", handoff).expect("a handoff");
}

fn stamp() -> Stamp {
    Stamp { by: "agent:a".parse().expect("an actor"), at: "2026-11-30T12:00:00Z".parse().expect("a time") }
}
