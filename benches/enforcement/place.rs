//! What may be there before loopx comes.

use crate::world::{Git, World, manager};

/// The hook managers that are put together; each is a program.
pub(crate) const MANAGERS: [&str; 4] = ["husky", "lefthook", "pre-commit", "git-lfs"];

/// One kind of clone.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    /// The program it takes.
    needs: Option<&'static str>,
    /// Lines of shell that make it, in a clone without loopx.
    made: &'static [&'static str],
    /// Lines of shell that follow when loopx is there.
    after: &'static [&'static str],
    /// Lines of shell in a new linked worktree.
    linked: &'static [&'static str],
    /// It has a hook that notes that it ran.
    has_hook: bool,
}

/// Notes its arguments and its input, in one line.
pub(crate) const NOTES: &str =
    "printf '%s' \"args $* stdin \" >>\"$HOME/ran\"; cat >>\"$HOME/ran\"; echo >>\"$HOME/ran\"";

const PLAIN: Place =
    Place { name: "nothing", needs: None, made: &[], after: &[], linked: &[], has_hook: false };

const HOOK: &str =
    "printf '#!/bin/sh\\n. \"$HOME/notes\"\\n' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push";
pub(crate) const HUSKY: &str = "husky && mkdir -p .husky && echo '. \"$HOME/notes\"' >.husky/pre-push && git add .husky && git commit -q --no-verify -m husky";
pub(crate) const LEFTHOOK: &str = "mkdir -p .lefthook/pre-push && printf '#!/bin/sh\\n. \"$HOME/notes\"\\n' >.lefthook/pre-push/notes && chmod +x .lefthook/pre-push/notes && printf 'pre-push:\\n  scripts:\\n    notes:\\n      runner: sh\\n      use_stdin: true\\n' >lefthook.yml && git add .lefthook lefthook.yml && git commit -q --no-verify -m lefthook && lefthook install >/dev/null";
const PRE_COMMIT: &str = "printf 'repos:\\n- repo: local\\n  hooks:\\n  - id: notes\\n    name: notes\\n    language: system\\n    entry: sh -c \". $HOME/notes\" notes\\n    stages: [pre-push]\\n    always_run: true\\n    pass_filenames: false\\n' >.pre-commit-config.yaml && git add .pre-commit-config.yaml && git commit -q --no-verify -m pre-commit && pre-commit install -t pre-push >/dev/null";
const TRACKED: &str = "mkdir .githooks && printf '#!/bin/sh\\n. \"$HOME/notes\"\\n' >.githooks/pre-push && chmod +x .githooks/pre-push && git add .githooks && git commit -q --no-verify -m hooks && git config core.hooksPath .githooks";

pub(crate) const PLACES: [Place; 15] = [
    PLAIN,
    Place { name: "a hook", made: &[HOOK], has_hook: true, ..PLAIN },
    Place {
        name: "a hook in another language",
        made: &[
            r#"printf '#!/usr/bin/env perl\nopen F, ">>", "$ENV{HOME}/ran"; print F "args @ARGV stdin ", <STDIN>;\n' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push"#,
        ],
        has_hook: true,
        ..PLAIN
    },
    Place {
        name: "a hook that is a link",
        made: &[
            "mkdir tools && printf '#!/bin/sh\\n. \"$HOME/notes\"\\n' >tools/pp && chmod +x tools/pp && git add tools && git commit -q -m tools && ln -s ../../tools/pp .git/hooks/pre-push",
        ],
        has_hook: true,
        ..PLAIN
    },
    Place {
        name: "husky",
        needs: Some("husky"),
        made: &[HUSKY],
        linked: &["loopx hooks install || :"],
        has_hook: true,
        ..PLAIN
    },
    Place {
        name: "husky, set up after loopx",
        needs: Some("husky"),
        after: &[HUSKY, "loopx todo add one"],
        linked: &["loopx hooks install || :"],
        has_hook: true,
        ..PLAIN
    },
    Place { name: "lefthook", needs: Some("lefthook"), made: &[LEFTHOOK], has_hook: true, ..PLAIN },
    Place {
        name: "lefthook, set up after loopx",
        needs: Some("lefthook"),
        after: &[LEFTHOOK, "loopx todo add one"],
        has_hook: true,
        ..PLAIN
    },
    Place { name: "pre-commit", needs: Some("pre-commit"), made: &[PRE_COMMIT], has_hook: true, ..PLAIN },
    Place {
        name: "pre-commit, set up after loopx",
        needs: Some("pre-commit"),
        after: &[PRE_COMMIT, "loopx todo add one"],
        has_hook: true,
        ..PLAIN
    },
    Place { name: "git-lfs", needs: Some("git-lfs"), made: &["git lfs install --local >/dev/null"], ..PLAIN },
    Place {
        name: "`core.hooksPath` relative, tracked",
        made: &[TRACKED],
        after: &["loopx hooks install --tracked --apply || :"],
        linked: &["loopx hooks install --tracked --apply || :"],
        has_hook: true,
        ..PLAIN
    },
    Place {
        name: "`core.hooksPath` absolute, in the repository",
        made: &[
            "mkdir .git/mine && printf '#!/bin/sh\\n. \"$HOME/notes\"\\n' >.git/mine/pre-push && chmod +x .git/mine/pre-push && git config core.hooksPath \"$PWD/.git/mine\"",
        ],
        has_hook: true,
        ..PLAIN
    },
    Place {
        name: "`core.hooksPath` global",
        made: &[
            "mkdir ~/hooks && printf '#!/bin/sh\\n. \"$HOME/notes\"\\n' >~/hooks/pre-push && chmod +x ~/hooks/pre-push && git config --global core.hooksPath ~/hooks",
        ],
        has_hook: true,
        ..PLAIN
    },
    Place { name: "`core.hooksPath` dangling", made: &["git config core.hooksPath /nowhere/hooks"], ..PLAIN },
];

/// What came of the main worktree and of a linked one; nothing when a program is missing.
pub(crate) fn play(place: &Place, git: &Git) -> Option<[String; 2]> {
    if place.needs.is_some_and(|name| manager(name).is_none()) {
        return None;
    }
    let world = World::new(git);
    world.write("home/notes", NOTES);
    place.made.iter().for_each(|line| world.must(line));
    let before = world.files();
    // What the hook sees without loopx; where the manager comes later, in a clone of its own.
    let alone = World::new(git);
    alone.write("home/notes", NOTES);
    place
        .made
        .iter()
        .chain(place.after)
        .filter(|line| !line.contains("loopx "))
        .for_each(|line| alone.must(line));
    alone.must("git worktree add -q ../linked -b side");
    alone.ran();
    let expected = ["repo", "linked"].map(|dir| {
        let pushed = alone.push(dir, "");
        assert!(pushed.ok, "{}: {}", place.name, pushed.text);
        alone.ran()
    });
    assert_eq!(!expected[0].is_empty(), place.has_hook, "{}", place.name);

    world.must("loopx init --goal-text Ship");
    place.after.iter().for_each(|line| world.must(line));
    world.must("git worktree add -q ../linked -b side");
    place.linked.iter().for_each(|line| assert!(world.run_in("linked", line).ok, "{line}"));
    let mut cells = [("repo", &expected[0]), ("linked", &expected[1])]
        .map(|(dir, expected)| judge(&world, dir, expected));
    let left = world.person(&["uninstall"], "uninstall");
    let after = world.files();
    let came_later = !place.after.is_empty();
    let differ: Vec<_> =
        before.iter().filter(|(name, text)| after.get(*name) != Some(text)).map(|(name, _)| name).collect();
    let more: Vec<_> = after
        .iter()
        .filter(|(name, text)| !before.contains_key(*name) && text.contains("loopx"))
        .map(|(name, _)| name)
        .collect();
    if !left.ok || (!came_later && before != after) || !more.is_empty() {
        cells[0].push_str(&format!("; NOT RESTORED: {differ:?} {more:?} {}", left.text.replace('\n', " ")));
    }
    Some(cells)
}

fn judge(world: &World, dir: &str, expected: &[String]) -> String {
    world.ran();
    let status = world.run_in(dir, "loopx hooks status");
    let open = world.push(dir, "");
    if !open.ok {
        return format!("REFUSED WITHOUT A GATE: {}", open.text.replace('\n', " "));
    }
    let ran = world.ran();
    // An id is used once.
    let gate = format!("ready-{dir}");
    world.must(&format!("loopx gate open 'Ready?' --gate-id {gate}"));
    let refused = world.push(dir, "");
    world.ran();
    let approved = world.person(&["gate", "resolve", &gate, "--decision", "approve"], &gate);
    assert!(approved.ok, "{}", approved.text);
    let mut said = match (refused.ok, status.ok) {
        (false, true) if refused.text.matches("push refused").count() == 1 => "holds".to_owned(),
        (false, true) => format!("holds, and says so {} times", refused.text.matches("push refused").count()),
        (false, false) => "HOLDS, AND STATUS SAYS OTHERWISE".to_owned(),
        (true, false) => {
            let why = status.text.lines().find_map(|line| line.strip_prefix("PUSHES ARE NOT GUARDED: "));
            let why = why.unwrap_or("?").split(" (see").next().unwrap_or_default();
            format!("not kept back, and `status` says so: {why}")
                .replace(&world.at("").display().to_string(), "/")
        }
        (true, true) => "NOT KEPT BACK, AND STATUS IS SILENT".to_owned(),
    };
    if ran != expected {
        said.push_str(&format!("; ITS OWN HOOK: {ran:?} INSTEAD OF {expected:?}"));
    }
    said
}
