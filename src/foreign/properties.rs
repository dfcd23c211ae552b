//! What holds for any bytes that claim to be another tool's: no panic, and what is accepted makes legal records.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*};

use super::{
    Bad, Foreign, Item, Source,
    backlog::{self, File, Place},
    beads,
    draft::{Ids, Terms, draft},
    loopx_python,
};
use crate::domain::{
    actor::Stamp,
    change::Record,
    id::{EvidenceId, Short, TodoId},
    refusal::Refusal,
    todo::Todo,
};

const BEADS: &str = r#"{"id":"bd-1","title":"Write","description":"a\nb","status":"open","priority":0,"issue_type":"task","labels":["x"],"dependencies":[{"issue_id":"bd-1","depends_on_id":"bd-2","type":"blocks"},{"depends_on_id":"bd-3","type":"parent-child"}]}
{"id":"bd-2","title":"Ask?","status":"open","priority":1,"issue_type":"gate","await_type":"human","dependencies":[{"depends_on_id":"bd-1","type":"blocks"}]}
{"id":"bd-3","title":"Epic","status":"closed","priority":4,"closed_at":"2025-12-01T00:00:00Z","close_reason":"done","comments":[{"author":"a","text":"t"}]}
{"id":"bd-4","title":"Stuck","status":"blocked","priority":2,"dependencies":[{"depends_on_id":"bd-1","type":"related"}],"deleted":{"a":[1]}}
"#;
const BACKLOG: &str = "---\nid: task-1\ntitle: 'Write'\nstatus: Done\nassignee: [@ann]\nlabels:\n  - x\ndependencies: [task-2, TASK-1]\nparent_task_id: task-3\npriority: high\nodd: {a: [b]}\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nText\n<!-- SECTION:DESCRIPTION:END -->\n";
const STATE: &str = "---\nstatus: active\nobjective: \"Ship\"\n---\n# Goal\n\n## Objective\n\nShip\n\n## User Todo / Owner Review Reading Queue\n\n- [ ] [P0] Ship?\n  <!-- loopx:todo todo_id=todo_1 status=open task_class=user_gate decision_scope=a:b:c unblocks_todo_id=todo_2 -->\n- [x] Old\n\n## Agent Todo\n- [ ] Write\n  <!-- loopx:todo todo_id=todo_2 status=open note=a%20b%ff required_decision_scopes=a:b:c required_capabilities=a_b -->\n- [-] Later\n  <!-- loopx:todo todo_id=todo_3 status=deferred resume_when=todo_done:todo_2 -->\n\n## Next Action\n- go on\n";
const REGISTRY: &str = r#"{"goals":[{"id":"Ship_v2","state_file":".codex/goals/s/A.md","status":"stopped","quota":{"compute":1}},{"id":"b","state_file":"x"}]}"#;

/// What has a meaning in one of them.
const PIECES: [&str; 15] = [
    "bd-1", "bd-2", "todo_1", "todo_2", "task-1", "\n", "\"", "[", "{", "\0", "- [ ] ", "---\n", ": ",
    "&a *a", "\u{202e}",
];

/// A sample with pieces cut out, doubled and overwritten.
fn nearly(sample: &'static str) -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        vec(any::<u8>(), 0..6),
        prop::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
    ];
    let wound = (any::<prop::sample::Index>(), 0..40usize, pieces);
    vec(wound, 0..5).prop_map(move |wounds| {
        let mut bytes = sample.as_bytes().to_vec();
        for (place, length, new) in wounds {
            let from = place.index(bytes.len().max(1)).min(bytes.len());
            let to = (from + length).min(bytes.len());
            let new = if length % 3 == 0 { bytes[from..to].repeat(2) } else { new };
            bytes.splice(from..to, new);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn stamp() -> Stamp {
    let ann = "Ann <ann@example.test>".parse().expect("an actor");
    Stamp { by: ann, at: "2026-11-30T12:00:00Z".parse().expect("a time") }
}

fn ids(foreign: &Foreign) -> Ids {
    let need = foreign.need();
    let id = |kind: &str, number: usize| format!("{kind}{number:06}");
    let todo = |number| Short::of(&id("t-", number).parse::<TodoId>().expect("an id"));
    let evidence = |number| Short::of(&id("e-", number).parse::<EvidenceId>().expect("an id"));
    Ids { todos: (0..need.todos).map(todo).collect(), evidence: (0..need.evidence).map(evidence).collect() }
}

/// What a parser found, with the items that it told.
type Found = (Foreign, Vec<Item>);

fn issues(text: &str) -> Result<Found, Bad> {
    let (lines, mut items) = (text.lines().map(|line| Ok(line.to_owned())), Vec::new());
    let foreign = beads::parse("i.jsonl", lines, |item| {
        items.push(item);
        Ok::<_, Bad>(())
    })?;
    Ok((foreign, items))
}

fn tasks(files: Vec<File>, config: Option<&File>) -> Result<Found, Bad> {
    let mut items = Vec::new();
    let foreign = backlog::parse(files.into_iter().map(Ok::<_, Bad>), config, |item| {
        items.push(item);
        Ok(())
    })?;
    Ok((foreign, items))
}

fn goals(registry: &str, text: &str) -> Result<Found, Bad> {
    let (mut foreign, mut items) = (Foreign::default(), Vec::new());
    for goal in &loopx_python::registry("r.json", registry)? {
        let goal = loopx_python::goal(goal, "A.md", text, &mut foreign.report, |item| {
            items.push(item);
            Ok::<_, Bad>(())
        })?;
        foreign.goals.push(goal);
    }
    Ok((foreign, items))
}

fn records((foreign, items): Found, source: Source) -> Result<Vec<Record>, Refusal> {
    let ids = ids(&foreign);
    let terms = Terms { source, name: None, taken: &[], stamp: stamp(), ids };
    // As they come back from where they are put aside.
    let item = |number: usize| {
        let text = serde_json::to_string::<Item>(&items[number]).expect("JSON");
        Ok::<_, Refusal>(serde_json::from_str::<Item>(&text).expect("an item"))
    };
    let mut records = Vec::new();
    draft(foreign, terms, item, |record| {
        records.push(record);
        Ok(())
    })?;
    Ok(records)
}

/// Every item is one legal record, what it needs is there, and nothing needs itself in the end.
fn makes_legal_records(found: Found, source: Source) -> Result<(), TestCaseError> {
    let items = found.1.len();
    prop_assert_eq!(found.0.goals.iter().map(|goal| goal.items.len()).sum::<usize>(), items);
    let made = records(found, source).map_err(|refusal| TestCaseError::fail(refusal.to_string()))?;
    let mut todos: BTreeMap<&TodoId, &Todo> = BTreeMap::new();
    let mut gates = 0;
    for record in &made {
        match record {
            Record::Goal(_, goal) => comes_back(goal)?,
            Record::Evidence(_, _, evidence) => comes_back(evidence)?,
            Record::Todo(_, id, todo) => {
                comes_back(todo)?;
                prop_assert!(todos.insert(id, todo).is_none());
            }
            Record::Gate(_, _, gate) => {
                comes_back(gate)?;
                prop_assert!(gate.is_open());
                gates += 1;
            }
            Record::Policy(_)
            | Record::Quotas(_)
            | Record::Spend(..)
            | Record::Handoff(..)
            | Record::Bypass(..) => {
                return Err(TestCaseError::fail("an import brings none of these"));
            }
        }
    }
    prop_assert_eq!(todos.len() + gates, items);
    for record in &made {
        if let Record::Gate(_, _, gate) = record {
            prop_assert!(gate.todos.iter().all(|todo| todos.get(todo).is_some_and(|todo| !todo.is_closed())));
        }
    }
    let mut left: BTreeSet<&TodoId> = todos.keys().copied().collect();
    while let Some(free) =
        left.iter().find(|id| todos[**id].needs.iter().all(|need| !left.contains(need))).copied()
    {
        prop_assert!(todos[free].needs.iter().all(|need| todos.contains_key(need)));
        left.remove(free);
    }
    prop_assert!(left.is_empty(), "a circle: {:?}", left);
    Ok(())
}

fn comes_back<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(
    record: &T,
) -> Result<(), TestCaseError> {
    let text = serde_json::to_string(record).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let again: T =
        serde_json::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    prop_assert_eq!(&again, record);
    Ok(())
}

fn task(number: usize, text: String) -> File {
    let place = Place::ALL[number % Place::ALL.len()].0;
    File { path: format!("tasks/{number}.md"), place, text }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_issues_of_beads_or_none(text in nearly(BEADS)) {
        if let Ok(found) = issues(&text) {
            makes_legal_records(found, Source::Beads)?;
        }
    }

    #[test]
    fn any_text_is_a_task_of_backlog_or_none(texts in vec(nearly(BACKLOG), 1..4), config in nearly("project_name: X\nstatuses: [To Do, Done]\n")) {
        let files: Vec<File> = texts.into_iter().enumerate().map(|(number, text)| task(number, text.replace("task-1", &format!("task-{number}")))).collect();
        let config = File { path: "config.yml".into(), place: Place::Tasks, text: config };
        if let Ok(found) = tasks(files, Some(&config)) {
            makes_legal_records(found, Source::Backlog)?;
        }
    }

    #[test]
    fn any_text_is_a_goal_of_loopx_or_none(registry in nearly(REGISTRY), text in nearly(STATE)) {
        if let Ok(found) = goals(&registry, &text) {
            makes_legal_records(found, Source::LoopxPython)?;
        }
    }
}

/// What is nearly a sample would be far from anything, were the samples none.
#[test]
fn the_samples_are_understood() {
    makes_legal_records(issues(BEADS).expect("issues"), Source::Beads).expect("records");
    let (_, items) = tasks(vec![task(0, BACKLOG.into())], None).expect("a task");
    assert_eq!(items.len(), 1);
    let (foreign, _) = goals(REGISTRY, STATE).expect("a registry and a goal");
    assert_eq!(foreign.goals[0].items.len(), 4);
}

/// However the needs lie, the walk along them ends soon and needs no stack.
#[test]
fn a_long_chain_and_a_thick_knot_are_walked() {
    let many = 20_000;
    let chain: String = (0..many)
        .map(|number| {
            let next = (number + 1) % many;
            format!("{{\"id\":\"bd-{number}\",\"priority\":2,\"dependencies\":[{{\"depends_on_id\":\"bd-{next}\"}},{{\"depends_on_id\":\"bd-0\"}}]}}\n")
        })
        .collect();
    let made = records(issues(&chain).expect("issues"), Source::Beads).expect("a draft");
    assert_eq!(made.len(), many + 1);
}
