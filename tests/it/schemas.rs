//! What the program prints is what the published schemas promise.

use std::fs;

use serde_json::Value;

use crate::sandbox::Sandbox;

fn published(name: &str) -> Value {
    let text = fs::read_to_string(format!("docs/schema/{name}.json"))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&text).expect("JSON")
}

/// What in `value` is not as `schema` says; the first thing. It knows the words that the schemas use, and stops at others.
fn problem(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let Value::Object(words) = schema else {
        return (schema == &Value::Bool(false)).then(|| format!("{at}: nothing may be here"));
    };
    let fits = |schema: &Value| problem(root, schema, value, at).is_none();
    words.iter().find_map(|(word, says)| match word.as_str() {
        "$schema" | "$defs" | "title" | "description" | "format" | "default" => None,
        "$ref" => {
            let place =
                says.as_str().and_then(|place| place.strip_prefix('#')).expect("a place in the same file");
            problem(root, root.pointer(place).unwrap_or_else(|| panic!("{place} is not there")), value, at)
        }
        "type" => {
            let is = |name: &Value| match name.as_str().expect("a type") {
                "null" => value.is_null(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_u64() || value.is_i64(),
                "number" => value.is_number(),
                "string" => value.is_string(),
                "array" => value.is_array(),
                "object" => value.is_object(),
                other => panic!("{other} is no type"),
            };
            let fits = says.as_array().map_or_else(|| is(says), |types| types.iter().any(is));
            (!fits).then(|| format!("{at}: {value} is not {says}"))
        }
        "const" => (value != says).then(|| format!("{at}: {value} is not {says}")),
        "enum" => (!says.as_array().expect("values").contains(value))
            .then(|| format!("{at}: {value} is none of {says}")),
        "minimum" => (value.is_number() && value.as_f64() < says.as_f64())
            .then(|| format!("{at}: {value} is less than {says}")),
        "maximum" => (value.is_number() && value.as_f64() > says.as_f64())
            .then(|| format!("{at}: {value} is more than {says}")),
        "minLength" | "maxLength" | "pattern" | "uniqueItems" => None,
        "required" => says
            .as_array()
            .expect("names")
            .iter()
            .find(|name| value.get(name.as_str().expect("a name")).is_none())
            .map(|name| format!("{at}: {name} is missing")),
        "properties" => says.as_object().expect("properties").iter().find_map(|(name, schema)| {
            value.get(name).and_then(|value| problem(root, schema, value, &format!("{at}.{name}")))
        }),
        "items" => value
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
            .find_map(|(n, value)| problem(root, says, value, &format!("{at}[{n}]"))),
        "anyOf" => (!says.as_array().expect("schemas").iter().any(fits))
            .then(|| format!("{at}: {value} fits nothing")),
        "oneOf" => {
            let fitting = says.as_array().expect("schemas").iter().filter(|schema| fits(schema)).count();
            (fitting != 1).then(|| format!("{at}: {value} fits {fitting}"))
        }
        "allOf" => {
            says.as_array().expect("schemas").iter().find_map(|schema| problem(root, schema, value, at))
        }
        other => panic!("this test does not know `{other}`"),
    })
}

#[track_caller]
fn fits(name: &str, value: &Value) {
    let schema = published(name);
    if let Some(problem) = problem(&schema, &schema, value, name) {
        panic!("{problem}");
    }
}

#[test]
fn the_answers_are_as_published() {
    let repo = Sandbox::with_remote();
    let json = |args: &str| repo.loopx(&format!("{args} --json")).json();
    fits("should-run", &json("quota should-run"));
    fits("turn-begin", &json("turn begin --turn-id x-0 --agent-id a"));
    fits("turn-end", &json("turn end --turn-id x-0 --outcome nothing --summary 'no idea' --agent-id a"));
    let one = repo.todo("one --check true --requires shell --body 'more of it'");
    let two = repo.todo(&format!("two --needs {one} --priority p0"));
    repo.todo("look --every 1h");
    repo.todo("theirs --for person");
    repo.loopx(&format!("evidence add {one} --text seen --agent-id a")).success();
    fits("should-run", &json("quota should-run --explain"));
    fits("turn-begin", &json("turn begin --turn-id x-1 --agent-id a"));
    fits("turn-begin", &json("turn begin --turn-id x-1 --agent-id a"));
    fits("turn-end", &json("turn end --turn-id x-1 --outcome completed --summary 'did it' --agent-id a"));
    repo.loopx("gate open 'Ship?' --gate-id ship-it --branch main --path 'src/**' --agent-id a").success();
    repo.loopx("gate open 'Sure?' --gate-id sure --standing --blocks push --agent-id a").success();
    repo.loopx("gate open 'Go?' --gate-id go --blocks turn --agent-id a").success();
    repo.person("gate resolve go --decision reject --note 'not yet'", "go").success();
    repo.loopx(&format!("todo block {two} --reason why --agent-id a"));
    fits("turn-begin", &json("turn begin --turn-id x-2 --agent-id a"));
    fits("turn-begin", &json("turn begin --turn-id x-3 --agent-id b"));
    for todo in json("todo list --all")["todos"].as_array().expect("todos") {
        fits("todo", &json(&format!("todo show {}", todo["id"].as_str().expect("an id"))));
    }
    fits("status", &json("status"));
    repo.loopx("handoff write 'look at two' --agent-id a").success();
    fits("context", &json("context --agent-id b"));
    fits("context", &json(&format!("context --todo {one} --max-bytes 4096")));
    for wrong in ["gate resolve ship-it --decision approve", "todo show t-none", "nothing", "todo add"] {
        fits("error", &json(wrong));
    }
    repo.forge("goals/ship/goal.toml", "broken");
    fits("status", &json("status"));
    fits("should-run", &json("quota should-run"));
}

#[test]
fn a_wrong_answer_is_noticed() {
    let schema = published("should-run");
    let repo = Sandbox::ready();
    let good = repo.loopx("quota should-run --json").json();
    for (name, value) in
        [("should_run", Value::from("yes")), ("schema_version", Value::Null), ("why", Value::from(3))]
    {
        let mut bad = good.clone();
        bad[name] = value;
        assert!(problem(&schema, &schema, &bad, "").is_some(), "{name}");
    }
    let mut more = good;
    more["added_later"] = Value::from(1);
    assert_eq!(problem(&schema, &schema, &more, ""), None);
}
