//! Ways round the gate, and what notices them.

use crate::{
    place::{HUSKY, LEFTHOOK, NOTES},
    world::{Git, World, manager},
};

/// One way round.
pub(crate) struct Way {
    name: &'static str,
    /// The program it takes.
    needs: Option<&'static str>,
    /// Lines of shell that go it; the last one pushes.
    lines: &'static [&'static str],
}

pub(crate) const WAYS: [Way; 11] = [
    Way {
        name: "`git push --no-verify`",
        needs: None,
        lines: &["git push -q --no-verify origin HEAD:refs/heads/x"],
    },
    Way {
        name: "`git -c core.hooksPath=/dev/null push`",
        needs: None,
        lines: &["git -c core.hooksPath=/dev/null push -q origin HEAD:refs/heads/x"],
    },
    Way {
        name: "`git -c hook.loopx.enabled=false push`",
        needs: None,
        lines: &["git -c hook.loopx.enabled=false push -q origin HEAD:refs/heads/x"],
    },
    Way {
        name: "both of these",
        needs: None,
        lines: &[
            "git -c hook.loopx.enabled=false -c core.hooksPath=/dev/null push -q origin HEAD:refs/heads/x",
        ],
    },
    Way {
        name: "`HUSKY=0 git push` beside husky",
        needs: Some("husky"),
        lines: &[HUSKY, "loopx todo add one", "HUSKY=0 git push -q origin HEAD:refs/heads/x"],
    },
    Way {
        name: "`LEFTHOOK=0 git push` beside lefthook",
        needs: Some("lefthook"),
        lines: &[LEFTHOOK, "loopx todo add one", "LEFTHOOK=0 git push -q origin HEAD:refs/heads/x"],
    },
    Way {
        name: "hook and setting removed by hand",
        needs: None,
        lines: &[
            "rm .git/hooks/pre-push; git config --remove-section hook.loopx",
            "git push -q origin HEAD:refs/heads/x",
        ],
    },
    Way {
        name: "`git push --no-verify <address>`",
        needs: None,
        lines: &["git push -q --no-verify ../hub.git HEAD:refs/heads/x"],
    },
    Way { name: "`git send-pack`", needs: None, lines: &["git send-pack ../hub.git HEAD:refs/heads/x"] },
    Way {
        name: "fetched from another clone, and pushed there",
        needs: None,
        lines: &["git clone -q . ../other", "git -C ../other push -q ../hub.git HEAD:refs/heads/x"],
    },
    Way {
        name: "the state branch moved to a commit without the gate",
        needs: None,
        lines: &[
            "git update-ref refs/heads/loopx/state loopx/state~1",
            "git push -q origin HEAD:refs/heads/x",
        ],
    },
];

/// A line of the table; nothing when a program is missing.
pub(crate) fn play(way: &Way, gits: &[Git]) -> Option<String> {
    if way.needs.is_some_and(|name| manager(name).is_none()) {
        return None;
    }
    let mut cells = Vec::new();
    let mut notices = String::new();
    for git in gits {
        let world = World::new(git);
        world.write("home/notes", NOTES);
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
    Some(format!("| {} | {} | {notices} |", way.name, cells.join(" | ")))
}

/// Ids become `…`.
fn plain(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let is_id = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id { "…" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}
