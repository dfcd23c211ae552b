//! Objects of git that are damaged.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{dice::Dice, repo::Repo, sealed, table::Row};

const TIMES: usize = 16;

type Harm = (&'static str, fn(&Path));

const HARMS: [Harm; 3] = [("deleted", delete), ("cut in half", cut), ("full of zero bytes", zero)];

fn delete(file: &Path) {
    fs::remove_file(file).expect("it is there");
}

fn cut(file: &Path) {
    replace(file, |bytes| bytes.truncate(bytes.len() / 2));
}

fn zero(file: &Path) {
    replace(file, |bytes| bytes.fill(0));
}

/// Objects cannot be written to, only replaced.
fn replace(file: &Path, change: impl Fn(&mut Vec<u8>)) {
    let mut bytes = fs::read(file).expect("an object");
    change(&mut bytes);
    fs::remove_file(file).and_then(|()| fs::write(file, bytes)).expect("an object");
}

/// A row for each kind of object and harm, and two for what helps.
pub(crate) fn rows() -> Vec<Row> {
    let mut back = Row::new("one of these objects, put back from a copy of the repository");
    let mut mended = Row::new("one of the newest state, `loopx doctor --fix` run before the next mutation");
    let mut dice = Dice(3);
    let mut rows = Vec::new();
    for (of, is_past) in [("of the newest state", false), ("of the past", true)] {
        for (harm, inflict) in HARMS {
            let mut row = Row::new(format!("an object {of} {harm}"));
            for _ in 0..TIMES {
                let mut repo = Repo::new();
                let file = object(&repo, is_past, &mut dice);
                let copy = fs::read(&file).expect("an object");
                inflict(&file);
                row.count(repo.judge());
                let _ = fs::remove_file(&file);
                fs::write(&file, copy).expect("an object");
                back.count(repo.judge());
                if !is_past {
                    let mut repo = Repo::new();
                    inflict(&object(&repo, is_past, &mut dice));
                    repo.run(sealed::program(), &["doctor", "--fix"]);
                    mended.count(repo.judge());
                }
            }
            rows.push(row);
        }
    }
    rows.extend([mended, back]);
    rows
}

/// The file of an object of the state.
fn object(repo: &Repo, is_past: bool, dice: &mut Dice) -> PathBuf {
    let newest = repo.git(&["rev-list", "--objects", "--no-walk", "loopx/state"]);
    let all = repo.git(&["rev-list", "--objects", "loopx/state"]);
    let newest: Vec<_> = newest.lines().collect();
    let ids: Vec<_> =
        if is_past { all.lines().filter(|line| !newest.contains(line)).collect() } else { newest };
    let chosen = ids[usize::try_from(dice.below(ids.len() as u64)).expect("a number")];
    repo.top.join(".git/objects").join(&chosen[..2]).join(&chosen[2..40])
}
