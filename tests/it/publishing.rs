//! The real cargo and npm, against a registry on loopback.
#![expect(clippy::disallowed_methods, reason = "tests look at the world")]

use std::{env, fs, path::Path, path::PathBuf};

use insta::assert_snapshot;

use crate::{
    registry::Registry,
    sandbox::{LOOPX, Sandbox, words},
};

/// A piece that users take over.
pub(crate) fn template(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A repository with loopx on the `PATH`, as its users have it, and these folders before it.
fn with_loopx_on_the_path(folders: &[PathBuf]) -> Sandbox {
    let mut repo = Sandbox::ready();
    let mut folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    folders.push(Path::new(LOOPX).parent().expect("a folder").display().to_string());
    folders.push(repo.path("bin").display().to_string());
    repo.put_on_path(&folders.join(":"));
    repo
}

/// A crate that can be published to a registry `local`, with the pieces for cargo in their places.
fn with_crate(registry: &Registry) -> Sandbox {
    // The cargo that runs this test; one below another home would look there for its toolchains.
    let cargo = PathBuf::from(env::var("CARGO").expect("the tests are run by cargo"));
    let mut repo = with_loopx_on_the_path(&[cargo.parent().expect("a folder").to_path_buf()]);
    repo.env("CARGO_TERM_QUIET", "true");
    repo.write("home/.cargo/credentials.toml", "[registries.local]\ntoken = \"from-the-file\"\n");
    repo.script("bin/loopx-cargo-credential", &template("cargo/loopx-cargo-credential"));
    let local = format!("[registries.local]\nindex = \"sparse+http://127.0.0.1:{}/index/\"\n", registry.port);
    repo.write("repo/.cargo/config.toml", &(template("cargo/config.toml") + &local));
    repo.write(
        "repo/Cargo.toml",
        "[package]\nname = \"parcel\"\nversion = \"0.1.0\"\nedition = \"2021\"\nlicense = \"MIT\"\ndescription = \"x\"\n",
    );
    repo.write("repo/src/lib.rs", "");
    repo.git("add Cargo.toml src .cargo").success();
    repo.git("commit -q -m crate").success();
    repo
}

fn cargo(repo: &Sandbox, args: &str) -> String {
    let told = repo.finish(repo.command("cargo", &words(args)), "").to_string();
    told.replace(&repo.root().display().to_string(), "[ROOT]")
}

#[test]
fn cargo_publishes_when_no_gate_holds_it_back() {
    let registry = Registry::start();
    let repo = with_crate(&registry);
    let publish = "publish --no-verify --registry local";
    repo.loopx("gate open 'Publish 0.1.0?' --gate-id ready --blocks publish --agent-id codex-1").success();
    assert_snapshot!(cargo(&repo, publish), @r#"
    [stderr] error: credential provider `loopx-cargo-credential` failed action `get`
    [stderr]
    [stderr] Caused by:
    [stderr]   loopx: publish refused: 1 gate stands in its way
    [stderr]
    [stderr] Caused by:
    [stderr]   ready  open  "Publish 0.1.0?"  asked by codex-1, just now
    [stderr]
    [stderr] Caused by:
    [stderr]   hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [exit 101]
    "#);
    assert_eq!(registry.arrivals(), "");

    repo.person("gate resolve ready --decision approve", "ready approve").success();
    assert_snapshot!(cargo(&repo, publish), @"");
    assert_snapshot!(registry.arrivals(), @"PUT /api/v1/crates/new (from-the-file)");
}

#[test]
fn cargo_does_the_rest_while_publishing_is_held_back() {
    let registry = Registry::start();
    let repo = with_crate(&registry);
    repo.loopx("gate open 'Publish 0.1.0?' --gate-id ready --blocks publish --agent-id codex-1").success();
    assert_snapshot!(cargo(&repo, "owner --list parcel --registry local"), @"");
    assert_snapshot!(cargo(&repo, "package --no-verify"), @"");
    assert_snapshot!(registry.arrivals(), @"GET /api/v1/crates/parcel/owners (from-the-file)");
}

#[test]
fn a_token_in_the_environment_waits_as_well() {
    let registry = Registry::start();
    let mut repo = with_crate(&registry);
    repo.loopx("gate open Ready? --blocks publish").success();
    repo.env("CARGO_REGISTRIES_LOCAL_TOKEN", "from-the-environment");
    let refused = cargo(&repo, "publish --no-verify --registry local");
    assert!(refused.contains("loopx: publish refused: 1 gate stands in its way"), "{refused}");
    assert_eq!(registry.arrivals(), "");
}

#[test]
fn a_registry_that_takes_a_token_to_read_gets_none_while_publishing_is_held_back() {
    let registry = Registry::closed();
    let repo = with_crate(&registry);
    let publish = "publish --no-verify --registry local";
    repo.loopx("gate open Ready? --blocks publish --agent-id codex-1").success();
    assert_snapshot!(cargo(&repo, publish), @r#"
    [stderr] error: credential provider `loopx-cargo-credential` failed action `get`
    [stderr]
    [stderr] Caused by:
    [stderr]   loopx: publish refused: 1 gate stands in its way
    [stderr]
    [stderr] Caused by:
    [stderr]   ready  open  "Ready?"  asked by codex-1, just now
    [stderr]
    [stderr] Caused by:
    [stderr]   hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [exit 101]
    "#);
    assert_eq!(registry.arrivals(), "");

    repo.person("gate resolve ready --decision approve", "ready approve").success();
    assert_snapshot!(cargo(&repo, publish), @"");
    let arrivals = registry.arrivals();
    assert!(arrivals.contains("PUT /api/v1/crates/new (from-the-file)"), "{arrivals}");
}

#[test]
fn cargo_is_refused_where_no_gate_can_be_seen() {
    let registry = Registry::start();
    let repo = with_crate(&registry);
    repo.git("update-ref -d refs/heads/loopx/state").success();
    assert_snapshot!(cargo(&repo, "publish --no-verify --registry local"), @"
    [stderr] error: credential provider `loopx-cargo-credential` failed action `get`
    [stderr]
    [stderr] Caused by:
    [stderr]   error: publish refused: whether a question is open cannot be seen: this repository has no loopx state
    [stderr]
    [stderr] Caused by:
    [stderr]   hint: run `loopx init`
    [exit 101]
    ");
    assert_eq!(registry.arrivals(), "");
}

#[test]
fn cargo_is_refused_outside_of_a_repository() {
    let registry = Registry::start();
    let mut repo = with_crate(&registry);
    repo.write("home/.cargo/config.toml", &repo.read("repo/.cargo/config.toml"));
    repo.write("elsewhere/x", "");
    let publish = "publish --no-verify --registry local --manifest-path ../repo/Cargo.toml";
    assert_snapshot!(cargo(repo.cd("elsewhere"), publish), @"
    [stderr] error: credential provider `loopx-cargo-credential` failed action `get`
    [stderr]
    [stderr] Caused by:
    [stderr]   error: publish refused: whether a question is open cannot be seen: `[ROOT]/elsewhere` is not in a git repository
    [stderr]
    [stderr] Caused by:
    [stderr]   hint: run `git init` first, or go to a repository
    [exit 101]
    ");
    assert_eq!(registry.arrivals(), "");
}

/// As docs/publishing.md says.
#[test]
fn what_cargo_does_not_ask_about_cannot_be_held_back() {
    let registry = Registry::start();
    let repo = with_crate(&registry);
    repo.loopx("gate open Ready? --blocks publish").success();
    assert_snapshot!(cargo(&repo, "publish --no-verify --registry local --token given"), @"");
    assert_snapshot!(registry.arrivals(), @"PUT /api/v1/crates/new (given)");
}

#[test]
fn the_door_for_cargo_is_not_for_terminals() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.person("hook cargo-credential --cargo-plugin", ""), @"
    error: cargo calls this and asks on standard input; it is not for terminals
    hint: run `loopx guard check --for publish` for the answer that cargo gets
    [exit 2]
    ");
}

/// A package that can be published to the registry, with the piece for npm in its place; nothing where there is no npm.
fn with_package(registry: &Registry) -> Option<Sandbox> {
    if !is_on_path("npm") {
        return None;
    }
    let mut repo = with_loopx_on_the_path(&[]);
    repo.env("npm_config_update_notifier", "false").env("npm_config_loglevel", "error");
    let here = format!("127.0.0.1:{}", registry.port);
    repo.write("repo/.npmrc", &format!("registry=http://{here}/\n//{here}/:_authToken=from-the-file\n"));
    let mut package: serde_json::Value = serde_json::from_str(&template("npm/package.json")).expect("JSON");
    package["name"] = "parcel".into();
    package["version"] = "1.0.0".into();
    repo.write("repo/package.json", &package.to_string());
    Some(repo)
}

#[expect(clippy::print_stderr, reason = "whoever reads the log has to know what was not looked at")]
fn is_on_path(program: &str) -> bool {
    let found =
        env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|dir| dir.join(program).is_file());
    if !found {
        eprintln!("NOT TESTED: there is no `{program}` here");
    }
    found
}

fn npm(repo: &Sandbox, args: &str) -> String {
    repo.finish(repo.command("npm", &words(args)), "")
        .to_string()
        .replace(&repo.root().display().to_string(), "[ROOT]")
}

#[test]
fn npm_publishes_when_no_gate_holds_it_back() {
    let registry = Registry::start();
    let Some(repo) = with_package(&registry) else { return };
    repo.loopx("gate open 'Publish 1.0.0?' --gate-id ready --blocks publish --agent-id codex-1").success();
    let refused = npm(&repo, "publish");
    let refused = refused.split("[stderr] npm error A complete log").next().unwrap_or_default();
    assert_snapshot!(refused, @r#"

    > parcel@1.0.0 prepublishOnly
    > loopx guard check --for publish

    loopx: publish refused: 1 gate stands in its way
      ready  open  "Publish 1.0.0?"  asked by codex-1, just now
    hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] npm error code 10
    [stderr] npm error path [ROOT]/repo
    [stderr] npm error command failed
    [stderr] npm error command sh -c loopx guard check --for publish
    "#);
    assert_eq!(registry.arrivals(), "");

    repo.person("gate resolve ready --decision approve", "ready approve").success();
    assert_snapshot!(npm(&repo, "publish"), @"

    > parcel@1.0.0 prepublishOnly
    > loopx guard check --for publish

    publish allowed: no gate stands in its way
    + parcel@1.0.0
    ");
    assert!(registry.arrivals().contains("PUT /parcel (Bearer from-the-file)"), "{}", registry.arrivals());
}

/// As docs/publishing.md says.
#[test]
fn npm_that_runs_no_scripts_cannot_be_held_back() {
    let registry = Registry::start();
    let Some(repo) = with_package(&registry) else { return };
    repo.loopx("gate open Ready? --blocks publish").success();
    assert_snapshot!(npm(&repo, "publish --ignore-scripts"), @"+ parcel@1.0.0");
    assert!(registry.arrivals().contains("PUT /parcel"), "{}", registry.arrivals());
}

/// Runs a line as a build tool would.
fn line(repo: &Sandbox, line: &str) -> String {
    let output = repo.finish(repo.command("sh", &["-c".into(), line.into()]), "");
    format!("$ {line}\n{output}").replace(&repo.root().display().to_string(), "[ROOT]")
}

/// The lines of a template that stand behind `mark` and call git or loopx.
fn lines_behind(template: &str, mark: &str) -> Vec<String> {
    let commands = template.lines().filter_map(|line| line.trim().strip_prefix(mark));
    commands
        .filter(|line| ["git ", "loopx "].iter().any(|word| line.starts_with(word)))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_line_for_goreleaser() {
    let repo = with_loopx_on_the_path(&[]);
    let lines = lines_behind(&template("goreleaser/goreleaser.yaml"), "- ");
    assert_eq!(lines.len(), 1);
    repo.loopx("gate open Ready? --blocks publish --agent-id codex-1").success();
    assert_snapshot!(line(&repo, &lines[0]), @r#"
    $ loopx guard check --for publish
    loopx: publish refused: 1 gate stands in its way
      ready  open  "Ready?"  asked by codex-1, just now
    hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [exit 10]
    "#);
    repo.person("gate resolve ready --decision approve", "ready approve").success();
    assert_snapshot!(line(&repo, &lines[0]), @"
    $ loopx guard check --for publish
    publish allowed: no gate stands in its way
    ");
}

#[test]
fn the_line_for_make() {
    if !is_on_path("make") {
        return;
    }
    let repo = with_loopx_on_the_path(&[]);
    repo.write("repo/Makefile", &template("make/Makefile"));
    repo.loopx("gate open Ready? --blocks publish --agent-id codex-1").success();
    assert_snapshot!(line(&repo, "make publish PUBLISH='touch published'"), @r#"
    $ make publish PUBLISH='touch published'
    loopx guard run --for publish -- touch published
    [stderr] loopx: publish refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] make: *** [Makefile:4: publish] Error 10
    [exit 2]
    "#);
    assert!(!repo.path("repo/published").exists());
    repo.person("gate resolve ready --decision approve", "ready approve").success();
    assert_snapshot!(line(&repo, "make publish PUBLISH='touch published'"), @"
    $ make publish PUBLISH='touch published'
    loopx guard run --for publish -- touch published
    ");
    assert!(repo.path("repo/published").exists());
}

#[test]
fn the_lines_for_ci() {
    for (path, mark) in [("github-actions/publish.yml", "- run: "), ("gitlab-ci/publish.gitlab-ci.yml", "- ")]
    {
        let lines = lines_behind(&template(path), mark).join(" && ");
        let mut repo = with_loopx_on_the_path(&[]);
        repo.git("clone -q --no-local . ../job").success();
        repo.git("init -q --bare ../hub.git").success();
        repo.git("remote add hub ../hub.git").success();
        repo.person("remote set hub", "hub").success();
        repo.loopx("gate open Ready? --blocks publish --agent-id codex-1").success();
        repo.loopx("sync").success();
        let state = repo.path("hub.git").display().to_string();
        repo.env("LOOPX_STATE_REMOTE", &state);
        let held = line(repo.cd("job"), &lines);
        repo.cd("repo").person("gate resolve ready --decision approve", "ready approve").success();
        repo.loopx("sync").success();
        let told = held + &line(repo.cd("job"), &lines);
        insta::allow_duplicates!(assert_snapshot!(told, @r#"
        $ git fetch --quiet --no-tags "$LOOPX_STATE_REMOTE" +refs/loopx/state:refs/loopx/state && loopx guard check --for publish --ci
        loopx: publish refused: 1 gate stands in its way
          ready  open  "Ready?"  asked by codex-1, just now
        hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
        [exit 10]
        $ git fetch --quiet --no-tags "$LOOPX_STATE_REMOTE" +refs/loopx/state:refs/loopx/state && loopx guard check --for publish --ci
        publish allowed: no gate stands in its way
        "#));
    }
}

#[test]
fn every_template_is_whole_and_in_the_book() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = |name: &str| fs::read_to_string(root.join("docs").join(name)).expect("a page");
    let book = page("publishing.md") + &page("notify.md") + &page("hosts.md") + &page("presets.md");
    for path in crate::sandbox::files(&root.join("templates")) {
        assert!(book.contains(&format!("templates/{path}")), "no page names templates/{path}");
        let text = template(&path);
        assert!(text.contains("loopx") && text.ends_with('\n'), "{path}");
        match path.rsplit('.').next() {
            Some("toml") => drop(text.parse::<toml::Table>().expect("TOML")),
            Some("json") => drop(serde_json::from_str::<serde_json::Value>(&text).expect("JSON")),
            Some("yml" | "yaml") => must_be_plain_yaml(&path, &text),
            _ => {}
        }
    }
}

/// What these files need of YAML, and no more: two blanks a level, `key:`, `key: value`, and `- item`.
#[track_caller]
fn must_be_plain_yaml(path: &str, text: &str) {
    let mut deepest = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
        let content = line.trim_start_matches(' ');
        let depth = (line.len() - content.len()) / 2;
        let item = content.strip_prefix("- ");
        let key = item.unwrap_or(content);
        let is_key = key.split_once(':').is_some_and(|(key, value)| {
            key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
                && (value.is_empty() || value.starts_with(' '))
        });
        assert!(!line.contains('\t') && (line.len() - content.len()) % 2 == 0, "{path}: {line}");
        assert!(is_key || item.is_some(), "{path}: {line}");
        assert!(depth <= deepest, "{path}: {line}");
        // What follows may lie one level below a key, and the keys of an item beside its first.
        let opens = is_key && key.ends_with(':');
        deepest = depth + usize::from(item.is_some()) + usize::from(opens);
    }
}
