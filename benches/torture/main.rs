//! What loopx survives: faults put into real repositories, under the real program, and what came of each.
//!
//! A fault is survived when the branch has exactly what was acknowledged and nothing half done, `git fsck` and
//! `loopx verify` find nothing, and the next command works, if need be after the one cure that it names.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a bench breaks things, measures and says so"
)]

mod clock;
mod damage;
mod dice;
mod disk;
mod many;
#[path = "../../tests/model/mod.rs"]
mod model;
mod objects;
mod repo;
#[path = "../sealed/mod.rs"]
mod sealed;
mod sequences;
mod table;

use std::{env, path::Path};

use table::Row;

/// The faults of one kind, made when their turn comes.
type Part = (&'static str, fn() -> Vec<String>);

const PARTS: [Part; 9] = [
    ("kills", || told([many::kills()])),
    ("writers", || told([many::writers()])),
    ("damage to `.loopx`", || told(damage::view())),
    ("clock", || told([clock::jumps()])),
    ("full disk", disk::lines),
    ("objects", || told(objects::rows())),
    ("ref", || told(damage::refs())),
    ("locks", || told(damage::locks())),
    ("sequences", || told([sequences::random()])),
];

/// The lines of the table. Whoever names the parts to play is also told what was not survived, and why.
fn told(rows: impl IntoIterator<Item = Row>) -> Vec<String> {
    let explains = !named().is_empty();
    let tell = |row: Row| {
        row.reasons().filter(|_| explains).for_each(|reason| progress(&reason));
        row.line()
    };
    rows.into_iter().map(tell).collect()
}

fn named() -> Vec<String> {
    env::args().skip(1).filter(|arg| arg != "--bench").collect()
}

fn progress(line: &str) {
    eprintln!("{line}");
}

fn main() {
    let args = named();
    if let [argument, folder] = &args[..]
        && argument == disk::ARGUMENT
    {
        told(disk::rows(Path::new(folder))).iter().for_each(|line| println!("{line}"));
        return;
    }
    println!("| fault | times injected | times survived | what the next command said |");
    println!("|---|---|---|---|");
    for (number, (part, lines)) in (1..).zip(PARTS) {
        if args.is_empty() || args.iter().any(|arg| part.contains(arg)) {
            progress(&format!("{number} of {}: {part}", PARTS.len()));
            lines().iter().for_each(|line| println!("{line}"));
        }
    }
}
