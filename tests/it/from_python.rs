//! The page for users of LoopX names commands and options that there are.

use std::collections::BTreeSet;

use crate::sandbox::Sandbox;

/// The texts between backticks in the middle column of the table.
fn named(page: &str) -> Vec<&str> {
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| LoopX |"));
    let cells = rows.map(|row| row.split(" | ").nth(1).expect("a middle column"));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn every_command_it_names_is_there() {
    let repo = Sandbox::ready();
    let help = repo.loopx("--help").success().stdout;
    let (_, commands) = help.split_once("Commands:\n").expect("commands");
    let commands: BTreeSet<&str> = commands
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let page = include_str!("../../docs/from-loopx-python.md");
    let mut looked_up = 0;
    for text in named(page) {
        let words: Vec<&str> = text.split(' ').filter(|word| *word != "loopx").collect();
        if !commands.contains(words[0]) {
            continue;
        }
        let is_verb = |word: &&&str| {
            word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && !word.starts_with('-')
        };
        let verbs: Vec<&str> = words.iter().take_while(is_verb).copied().collect();
        let help = repo.loopx(&format!("{} --help", verbs.join(" "))).success().stdout;
        assert!(help.contains(&format!("Usage: loopx {}", verbs.join(" "))), "`{text}`\n{help}");
        for option in words.iter().filter(|word| word.starts_with("--") && word.len() > 2) {
            assert!(
                help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n")),
                "`{text}`\n{help}"
            );
        }
        looked_up += 1;
    }
    assert!(looked_up > 60, "{looked_up}");
}
