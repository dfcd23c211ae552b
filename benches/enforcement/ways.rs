//! Ways round the gate, and what notices them.

use crate::world::{Git, World};

/// One way round.
pub(crate) struct Way {
    name: &'static str,
    /// Lines of shell that go it; the last one pushes.
    lines: &'static [&'static str],
}

pub(crate) const WAYS: [Way; 9] = [
    Way { name: "`git push --no-verify`", lines: &["git push -q --no-verify origin HEAD:refs/heads/x"] },
    Way {
        name: "`git -c core.hooksPath=/dev/null push`",
        lines: &["git -c core.hooksPath=/dev/null push -q origin HEAD:refs/heads/x"],
    },
    Way {
        name: "`git -c hook.loopx.enabled=false push`",
        lines: &["git -c hook.loopx.enabled=false push -q origin HEAD:refs/heads/x"],
    },
    Way {
        name: "both of these",
        lines: &[
            "git -c hook.loopx.enabled=false -c core.hooksPath=/dev/null push -q origin HEAD:refs/heads/x",
        ],
    },
    Way {
        name: "hook and setting removed by hand",
        lines: &[
            "rm .git/hooks/pre-push; git config --remove-section hook.loopx",
            "git push -q origin HEAD:refs/heads/x",
        ],
    },
    Way {
        name: "`git push --no-verify <address>`",
        lines: &["git push -q --no-verify ../hub.git HEAD:refs/heads/x"],
    },
    Way { name: "`git send-pack`", lines: &["git send-pack ../hub.git HEAD:refs/heads/x"] },
    Way {
        name: "fetched from another clone, and pushed there",
        lines: &["git clone -q . ../other", "git -C ../other push -q ../hub.git HEAD:refs/heads/x"],
    },
    Way {
        name: "the state branch moved to a commit without the gate",
        lines: &[
            "git update-ref refs/heads/loopx/state loopx/state~1",
            "git push -q origin HEAD:refs/heads/x",
        ],
    },
];

/// A line of the table.
pub(crate) fn play(way: &Way, gits: &[Git]) -> String {
    let mut cells = Vec::new();
    let mut notices = String::new();
    for git in gits {
        let world = World::new(git);
        world.must("loopx init --goal-text Ship");
        world.must("loopx gate open 'Ready?'");
        world.must("git commit -q --allow-empty -m news");
        let (last, first) = way.lines.split_last().expect("a line");
        first.iter().for_each(|line| world.must(line));
        let went = world.run(last).ok;
        cells.push(if went { "goes round" } else { "holds" });
        let status = world.run("loopx status");
        let line = status.text.lines().find(|line| line.starts_with(|c: char| c.is_uppercase()));
        if went {
            notices =
                line.map_or("nothing".to_owned(), |line| format!("`status`: {}", crate::ways::plain(line)));
        }
    }
    if notices.is_empty() {
        notices = "nothing to notice".into();
    }
    format!("| {} | {} | {notices} |", way.name, cells.join(" | "))
}

/// Ids become `…`.
fn plain(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let is_id = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id { "…" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}
