//! The readers of bytes from outside, a function each for the targets in `fuzz/`. A function that returns has found its reader's
//! promise kept; a panic is a fault.

use std::{fmt::Display, str::FromStr};

use crate::domain::{
    actor::{Actor, Person},
    approver::{PublicKey, Signature},
    bypass::Standing,
    command::{CommandLine, printed},
    evidence::{Heard, Number},
    id::{
        AgentId, ApproverId, BypassId, Capability, Choice, EvidenceId, GateId, GoalId, SpendId, TodoId,
        TodoPrefix, TurnId, slug,
    },
    openpgp::Certificate,
    quota::{Cap, Share},
    receipt::Receipt,
    scope::Glob,
    secret::{self, custom::Custom},
    shell,
    text::{Note, Title, shown},
    time::{Seconds, Timestamp},
    worklist::Worklist,
};
use crate::foreign::{Bad, backlog, beads, loopx_python, report::Report, results, tasks};
pub use crate::{
    hook::{
        cargo_credential_promises as cargo_credential, helper_promises as helper, host_promises as hosts,
        pre_push_promises as pre_push, pre_receive_promises as pre_receive,
    },
    ops::{enforcement::promises as hook_file, host::promises as settings},
    store::outside::{commit, export, hot, note, outlines, path, record, segment},
};

/// What people and agents type: what is understood is said so that it is understood as the same.
pub fn words(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = (Worklist::markdown(text), Worklist::json_lines(text));
    if let Ok(command) = CommandLine::typed(text) {
        assert_eq!(CommandLine::of(command.words()), command, "what is kept can be run again");
    }
    assert!(printed(text.as_bytes(), b"", 0, 500).len() <= 1_010);
    stays::<GoalId>(text);
    stays::<GateId>(text);
    stays::<Choice>(text);
    stays::<Capability>(text);
    stays::<TodoId>(text);
    stays::<EvidenceId>(text);
    stays::<SpendId>(text);
    stays::<BypassId>(text);
    stays::<ApproverId>(text);
    stays::<Standing>(text);
    stays::<Cap>(text);
    stays::<AgentId>(text);
    stays::<TurnId>(text);
    stays::<TodoPrefix>(text);
    stays::<Person>(text);
    stays::<Actor>(text);
    stays::<Share>(text);
    stays::<Timestamp>(text);
    stays::<Glob>(text);
    stays::<Number>(text);
    stays::<Title>(text);
    stays::<Note>(text);
    if let Ok(length) = text.parse::<Seconds>() {
        // It is said in the two largest units, and so not always to the second.
        assert!(!length.to_string().is_empty());
    }
    if let Some(slug) = slug(text) {
        assert!(slug.parse::<GateId>().is_ok());
    }
    assert!(shown(text, 100).parse::<Note>().is_ok() || text.trim().is_empty());
}

/// What another tool kept, two files of it with a zero byte between them: any text is something or is refused with the place.
pub fn foreign(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().map(|line| Ok::<_, Bad>(line.to_owned()));
    drop(beads::parse("it", lines, |_| Ok(())));
    let (first, second) = text.split_once('\0').unwrap_or((&text, &text));
    for registered in loopx_python::registry("it", first).unwrap_or_default() {
        let mut report = Report::default();
        drop(loopx_python::goal(&registered, "it", second, &mut report, |_| Ok::<_, Bad>(())));
    }
    let file = |place, text: &str| backlog::File { path: "it".into(), place, text: text.to_owned() };
    for (place, _) in backlog::Place::ALL {
        let files = std::iter::once(Ok::<_, Bad>(file(place, second)));
        drop(backlog::parse(files, Some(&file(place, first)), |_| Ok(())));
    }
}

/// What a command prints: any text is a report of tests or none, and what is kept of it can be shown.
pub fn results(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for report in results::Report::ALL {
        if let Err(bad) = results::count(report, &text) {
            assert!(!bad.to_string().chars().any(char::is_control));
        }
    }
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    for length in [bytes.len(), bytes.len() + 1] {
        let heard = Heard::of(length as u64, &[0; 32], head, tail);
        for kept in [heard.head, heard.tail].into_iter().flatten() {
            assert!(kept.as_str().parse::<Note>().is_ok());
        }
    }
}

/// A command line that a host asks about: any text is read to its end, and a word that is quoted is the same word again.
pub fn shell(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let here = shell::Place::At(String::new());
    let read = shell::deeds(&text, &here);
    assert!(read.found.iter().all(|found| !found.words.chars().any(char::is_control)));
    drop(shell::code(&text, "x", &here));
    drop(shell::sounding(&text, &here));
    assert!(shell::patched(&text).iter().all(|path| text.contains(path)));
    let quoted = shell::quoted(&text);
    assert_eq!(shell::first_words(&format!("x {quoted}")), Some(vec!["x".to_owned(), text.into_owned()]));
}

/// A file that says what its tasks run: what they run is told in no more than a few times its length, whoever wrote it.
pub fn tasks(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let named: Vec<String> = text.lines().next().unwrap_or_default().split(' ').map(str::to_owned).collect();
    for names in [&[][..], &named] {
        for lines in [tasks::make(&text, names), tasks::just(&text, names), tasks::npm(&text, names)] {
            let length: usize = lines.iter().map(String::len).sum();
            assert!(length <= tasks::LONGEST + text.len());
        }
    }
}

/// A file of rules in the form of gitleaks and, behind a zero byte, a text to look at: whatever is found lies in the text, in order,
/// and what is shown of it in its place is of one line.
pub fn rules(bytes: &[u8]) {
    let whole = String::from_utf8_lossy(bytes);
    let (file, text) = whole.split_once('\0').unwrap_or(("", &whole));
    let own = secret::scan(text);
    let is_sound = |hits: &[secret::Hit]| {
        hits.iter().all(|hit| text.get(hit.range.clone()).is_some_and(|found| !found.is_empty()))
            && hits.is_sorted_by(|one, next| one.range.end <= next.range.start)
    };
    assert!(is_sound(&own), "{own:?}");
    for home_paths in [false, true] {
        let found =
            Custom::parse(file).and_then(|rules| rules.with_home_paths(home_paths).scan(text, own.clone()));
        match found {
            Ok(found) => assert!(is_sound(&found), "{found:?}"),
            Err(bad) => assert!(!bad.to_string().chars().any(char::is_control), "{bad:?}"),
        }
    }
}

/// A public key or a signature that somebody hands over, as OpenSSH or GnuPG write it: what is kept of a key is read as the same.
pub fn keys(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    drop(Signature::parse(&text));
    stays::<Receipt>(&text);
    if let Ok(receipt) = text.parse::<Receipt>() {
        let fields: Vec<&str> = text.splitn(3, ',').collect();
        let again =
            Receipt::new(fields[0].parse().expect("a time"), fields[1].to_owned(), &receipt.armoured());
        assert_eq!(again, Some(receipt), "a signature is the same in its own form");
    }
    match text.parse::<PublicKey>() {
        Ok(key) => {
            assert_eq!(PublicKey::try_from(key.as_str().to_owned()).as_ref(), Ok(&key));
            assert!(key.as_str().lines().count() == 1 && key.line().lines().count() == 1);
            assert!(key.is_that_of(&key));
        }
        Err(bad) => assert!(!bad.to_string().chars().any(char::is_control)),
    }
    if let Ok(key) = Certificate::from_packets(bytes) {
        assert_eq!((Certificate::parse(key.as_str()).as_ref(), key.packets().as_slice()), (Ok(&key), bytes));
    }
}

fn stays<T: FromStr<Err: Display> + Display + PartialEq>(text: &str) {
    match text.parse::<T>() {
        Ok(value) => {
            let said = value.to_string();
            let again = said.parse::<T>().unwrap_or_else(|bad| panic!("{bad}"));
            assert!(again == value && again.to_string() == said);
        }
        Err(bad) => {
            let said = bad.to_string();
            assert!(!said.chars().any(char::is_control));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    const TYPED: [&str; 9] = [
        "2026-11-30T12:00:00Z",
        "2026-11-30T12:00:00.5+01:00",
        "1h 30m",
        "0.5",
        "1e-4",
        "t-7k3q",
        "schema-review",
        "agent:codex-1",
        "Ann <ann@example.test>",
    ];

    const PRINTED: [&str; 16] = [
        "<testsuite>",
        "<testcase/>",
        "<testcase>",
        "</testcase>",
        "<skipped/>",
        "<failure",
        "</testsuite>",
        "&x;",
        "\n",
        "test result: ok. ",
        "3 passed; ",
        "4 failed",
        " in 0.1s",
        "1..9\nok 1",
        "\u{1b}[1m",
        "Authorization: ",
    ];

    const SETTINGS: [&str; 20] = [
        "{",
        "}",
        "\n\t",
        ",",
        ",\n\t",
        "\"a\": 1",
        "\"b\": [1, 2]",
        "\"hooks\": {",
        "\"hooks\": {}",
        "\"Stop\": []",
        "\"Stop\": [{\"hooks\": [{\"command\": \"x\"}]}]",
        "\"mcpServers\": { }",
        "\"mcp\": {\n}",
        "// , { \" words\n",
        "/* } , */",
        " ",
        "\r\n",
        "[a]\nb = 1\n",
        "[mcp_servers.x]\n",
        "# Words\n\n",
    ];

    const TASKS: [&str; 14] = [
        "a b\n",
        "a: b\n",
        "b a:; x\n",
        "\t@x $(A) \\\n",
        "\tx ${B} $$(A)\n",
        "A = $(B)$(B)\n",
        "B := $(A)y\n",
        "    x\n",
        "@a v: b\n",
        "{\"scripts\":{\"a\":",
        "\"x\"",
        "}}",
        "\n",
        "#",
    ];

    const RULES: [&str; 14] = [
        "[[rules]]\n",
        "id = \"a\"\n",
        "id = \"b\\n\"\n",
        "regex = '(a)b|b(é)'\n",
        "regex = '('\n",
        "keywords = [\"B\"]\n",
        "secretGroup = 1\n",
        "[allowlist]\n",
        "regexes = ['^a']\n",
        "\0",
        "ab é",
        "/home/é/Users/b\n",
        "password=k3j8d7s6f5a4Qz9x\n",
        "\u{1b}[1m",
    ];

    const CALLED: [&str; 16] = [
        "0000",
        "00",
        "006b",
        "1111111111111111111111111111111111111111",
        "0000000000000000000000000000000000000000",
        " ",
        "refs/heads/main",
        "\n",
        "\0",
        " report-status side-band-64k",
        "shallow ",
        "{\"v\":1,\"registry\":{},\"kind\":\"get\"",
        ",\"operation\":\"read\"",
        "}",
        "#!/bin/sh\n",
        "# >>> loopx >>>\n",
    ];

    /// A text that nearly is one of those that are understood.
    fn nearly() -> impl Strategy<Value = String> {
        let wound = (any::<prop::sample::Index>(), 0..4usize, "\\PC{0,3}");
        (prop::sample::select(&TYPED[..]), vec(wound, 0..3)).prop_map(|(text, wounds)| {
            let mut letters: Vec<char> = text.chars().collect();
            for (place, length, new) in wounds {
                let from = place.index(letters.len() + 1);
                let to = (from + length).min(letters.len());
                letters.splice(from..to, new.chars());
            }
            letters.into_iter().collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_typed_is_understood_as_it_is_said_or_refused(text in nearly()) {
            super::words(text.as_bytes());
        }

        #[test]
        fn what_a_command_prints_may_be_anything(
            pieces in vec(prop::sample::select(&PRINTED[..]), 0..8),
            bytes in vec(any::<u8>(), 0..40),
        ) {
            super::results(&[pieces.concat().as_bytes(), &bytes].concat());
        }

        #[test]
        fn what_git_sends_to_the_hook_may_be_anything(bytes in vec(any::<u8>(), 0..100)) {
            super::pre_push(&bytes);
        }

        #[test]
        fn what_a_hook_hears_may_be_anything(pieces in vec(prop::sample::select(&CALLED[..]), 0..12)) {
            let bytes = pieces.concat().into_bytes();
            super::pre_push(&bytes);
            super::pre_receive(&bytes);
            super::helper(&bytes);
            super::cargo_credential(&bytes);
            super::hook_file(&bytes);
        }

        #[test]
        fn a_file_of_tasks_may_say_anything(pieces in vec(prop::sample::select(&TASKS[..]), 0..12)) {
            super::tasks(pieces.concat().as_bytes());
        }

        #[test]
        fn a_file_of_rules_may_say_anything(pieces in vec(prop::sample::select(&RULES[..]), 0..10)) {
            super::rules(pieces.concat().as_bytes());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_a_host_is_told_already_may_be_anything(
            pieces in vec(prop::sample::select(&SETTINGS[..]), 0..14),
            indent in 0..5usize,
        ) {
            super::settings(pieces.concat().replace('\t', &" ".repeat(indent)).as_bytes());
            super::settings(format!("{{{}}}", pieces.concat()).as_bytes());
        }
    }
}
