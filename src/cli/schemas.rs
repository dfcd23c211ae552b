//! The published shapes of answers: `docs/schema/` has what is made here of the types that are printed.

use std::{collections::BTreeMap, fs, path::Path};

use schemars::{JsonSchema, generate::SchemaSettings, transform::RecursiveTransform};

use super::{Failed, Versioned};
use crate::ops::{Done, context::Context, quota::ShouldRun, status::Status, todo::TodoView, turn};

/// The schema of what `--json` prints. It promises what is there, and does not forbid what is added later.
fn schema<T: JsonSchema + 'static>(command: &str) -> String {
    let mut schema = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Versioned<'static, T>>();
    let mut lenient = RecursiveTransform(|schema: &mut schemars::Schema| {
        for name in ["additionalProperties", "unevaluatedProperties"] {
            if schema.get(name).is_some_and(|value| *value == false) {
                schema.remove(name);
            }
        }
    });
    schemars::transform::Transform::transform(&mut lenient, &mut schema);
    schema.insert("title".into(), command.into());
    let about = format!("What `loopx {command} --json` prints. Fields may be added within a schema version.");
    schema.insert("description".into(), about.into());
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain data");
    text.push('\n');
    text
}

fn all() -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("context", schema::<Context>("context")),
        ("error", schema::<Failed<'static>>("<any command that fails>")),
        ("should-run", schema::<ShouldRun>("quota should-run")),
        ("status", schema::<Status>("status")),
        ("todo", schema::<TodoView>("todo show")),
        ("turn-begin", schema::<Done<turn::Begun>>("turn begin")),
        ("turn-end", schema::<Done<turn::Ended>>("turn end")),
    ])
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test is told by a variable to write instead of to look")]
fn the_published_schemas_are_those_of_the_types() {
    let dir = Path::new("docs/schema");
    let writes = std::env::var_os("LOOPX_WRITE_SCHEMAS").is_some();
    for (name, text) in all() {
        let file = dir.join(name).with_extension("json");
        if writes {
            fs::create_dir_all(dir).expect("a folder");
            fs::write(&file, &text).expect("a file");
        }
        let published = fs::read_to_string(&file).unwrap_or_default();
        assert!(published == text, "{} is out of date: run `just schemas`", file.display());
    }
    let files = fs::read_dir(dir).expect("the schemas").count();
    assert_eq!(files, all().len(), "a schema is published that nobody makes");
}
