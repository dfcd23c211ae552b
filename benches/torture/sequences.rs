//! Random sequences of commands against a plain model of the state, each in a repository of its own.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use proptest::{
    strategy::{Strategy as _, ValueTree as _},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use crate::{
    model::{self, Played, Sequence},
    table::Row,
};

const SEQUENCES: usize = 10_000;
const AT_ONCE: usize = 2;

/// Plays the sequences, the same in every run.
pub(crate) fn random() -> Row {
    let parts = thread::scope(|scope| {
        let players = [1, 2].map(|seed| scope.spawn(move || part(seed)));
        players.map(|player| player.join().expect("a player ends"))
    });
    let mut row = Row::new("");
    let mut played = Played::default();
    for (part, failed) in parts {
        played += part;
        let whole = SEQUENCES / AT_ONCE - failed.len();
        row.count_many(whole, whole, "what the model says", Ok(()));
        failed.into_iter().for_each(|why| row.count_many(1, 0, "something else", Err(why)));
    }
    row.rename(format!(
        "none, or a kill, in {SEQUENCES} random sequences of commands: {} commands, {} changed something, {} \
         were refused, {} met a kill; {} folds, {} exports into a new clone",
        played.commands, played.changed, played.refused, played.killed, played.folded, played.moved
    ));
    row
}

/// Half of the sequences, and why some failed.
fn part(seed: u8) -> (Played, Vec<String>) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (mut played, mut failed) = (Played::default(), Vec::new());
    for _ in 0..SEQUENCES / AT_ONCE {
        let mut tree = model::sequences().new_tree(&mut runner).expect("a sequence");
        match play(&tree.current()) {
            Ok(part) => played += part,
            Err(mut why) => {
                // The shortest that fails says most.
                let mut shorter = tree.simplify();
                while shorter {
                    shorter = match play(&tree.current()) {
                        Ok(_) => tree.complicate(),
                        Err(problem) => {
                            why = problem;
                            tree.simplify()
                        }
                    };
                }
                failed.push(why);
            }
        }
    }
    (played, failed)
}

fn play(sequence: &Sequence) -> Result<Played, String> {
    let played = catch_unwind(AssertUnwindSafe(|| model::play(sequence, &model::folder())));
    played.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map_or("no message", String::as_str);
        Err(format!("a panic: {said}"))
    })
}
