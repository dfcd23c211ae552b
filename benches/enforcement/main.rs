//! Where the gate holds: hook managers, hooks of the user's, kinds of worktree and versions of git, each put together for
//! real and pushed through.
//!
//! A place is good when a push is refused while a gate is open, allowed when none is, the hook that was there before runs
//! once with the arguments and the input that it had without loopx, and leaving gives back every byte. Where a push would
//! not be kept back, it is good enough that `loopx hooks status` says so.
//!
//! `LOOPX_GITS` names folders with further `git` programs, `LOOPX_MANAGERS` folders with `husky`, `lefthook` and
//! `pre-commit`; both are lists as `PATH` is. What is not there is left out, and said.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a bench starts programs, looks at the world and says what came of it"
)]

mod place;
#[path = "../sealed/mod.rs"]
mod sealed;
mod ways;
mod world;

use std::{env, path::PathBuf};

use world::Git;

fn main() {
    let gits = gits();
    for missing in place::MANAGERS.iter().filter(|name| world::manager(name).is_none()) {
        eprintln!("{missing} is not there; name its folder in LOOPX_MANAGERS");
    }
    let names: Vec<_> = gits.iter().map(|git| format!("git {}", git.version)).collect();
    println!("| what is there | worktree | {} |", names.join(" | "));
    println!("|---|---|{}", "---|".repeat(gits.len()));
    let named: Vec<String> = env::args().skip(1).filter(|arg| arg != "--bench").collect();
    for place in place::PLACES {
        if !named.is_empty() && !named.iter().any(|arg| place.name.contains(arg)) {
            continue;
        }
        eprintln!("{}", place.name);
        let Some(cells) = gits.iter().map(|git| place::play(&place, git)).collect::<Option<Vec<_>>>() else {
            eprintln!("  left out");
            continue;
        };
        for (row, worktree) in ["main", "linked"].into_iter().enumerate() {
            let cells: Vec<_> = cells.iter().map(|cells| cells[row].as_str()).collect();
            println!("| {} | {worktree} | {} |", place.name, cells.join(" | "));
        }
    }
    if named.is_empty() || named.iter().any(|arg| arg == "ways") {
        println!("\n| the way round | {} | what notices it |", names.join(" | "));
        println!("|---|{}---|", "---|".repeat(gits.len()));
        ways::WAYS.iter().filter_map(|way| ways::play(way, &gits)).for_each(|line| println!("{line}"));
    }
}

/// The git that runs here, the distribution's, and those that were named; each version once.
fn gits() -> Vec<Git> {
    let first = env::var_os("PATH").unwrap_or_default();
    let more = env::var_os("LOOPX_GITS").unwrap_or_default();
    let folders = env::split_paths(&first).chain([PathBuf::from("/usr/bin")]).chain(env::split_paths(&more));
    let mut gits: Vec<Git> = Vec::new();
    for git in folders.filter_map(|dir| Git::at(&dir)) {
        if gits.iter().all(|other| other.version != git.version) {
            gits.push(git);
        }
    }
    gits.sort_by_key(|git| git.numbers());
    gits
}
