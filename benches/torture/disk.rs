//! A disk that is full at every step of a mutation: a file system in memory of which all but a little is taken.
//!
//! It is mounted in a namespace of its own, which takes no privilege; the bench starts itself there.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    repo::{Repo, finish},
    table::Row,
};

/// With this the bench plays only this part, in the folder that follows.
pub(crate) const ARGUMENT: &str = "--on-a-small-disk";
const PAGE: usize = 4_096;

/// What is used up.
#[derive(Clone, Copy)]
enum Lack {
    Space,
    Files,
}

/// The lines of the table, made on a small disk.
pub(crate) fn lines() -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let mount = r#"mount -t tmpfs -o size=8m,nr_inodes=1500 none "$1" && exec "$2" "$3" "$1""#;
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]);
    command.arg(folder.path()).arg(env::current_exe().expect("a path")).arg(ARGUMENT);
    let output = finish(command);
    output.stderr.lines().for_each(crate::progress);
    match output.code {
        Some(0) => output.stdout.lines().map(str::to_owned).collect(),
        _ => vec!["| a full disk | 0 | 0 | not measured: no file system could be mounted |".into()],
    }
}

/// The part that is played on the small disk.
pub(crate) fn rows(folder: &Path) -> [Row; 2] {
    [Lack::Space, Lack::Files].map(|lack| {
        let mut row = Row::new(match lack {
            Lack::Space => "no space left, at each page a mutation writes in turn",
            Lack::Files => "no file can be made any more, at each one a mutation makes in turn",
        });
        for asks in [false, true] {
            let mut left = 0;
            while lacking(folder, lack, left, asks, &mut row) {
                left += 1;
            }
        }
        row
    })
}

/// Lets a mutation have so many pages or files. Whether it felt that.
fn lacking(folder: &Path, lack: Lack, left: usize, asks: bool, row: &mut Row) -> bool {
    let mut repo = Repo::in_folder(folder);
    if asks {
        repo.mutate();
    }
    let filler = folder.join("filler");
    fs::create_dir(&filler).expect("a folder");
    match lack {
        Lack::Space => take_space(&filler, left),
        Lack::Files => take_files(&filler, left),
    }
    let output = repo.mutate();
    fs::remove_dir_all(&filler).expect("a folder");
    if output.is_clean() {
        return false;
    }
    let mut verdict = repo.judge();
    verdict.survived = output.must_be_clear().and(verdict.survived);
    row.count(verdict);
    true
}

fn take_space(filler: &Path, left: usize) {
    let mut file = fs::File::create(filler.join("space")).expect("a file");
    let mut taken = 0;
    while file.write_all(&[1; PAGE]).is_ok() {
        taken += PAGE;
    }
    let length = taken.saturating_sub(left * PAGE);
    file.set_len(length as u64).expect("a shorter file");
}

fn take_files(filler: &Path, left: usize) {
    let files: Vec<PathBuf> = (0..)
        .map(|number| filler.join(number.to_string()))
        .map_while(|file| fs::File::create(&file).ok().map(|_| file))
        .collect();
    files.iter().take(left).for_each(|file| fs::remove_file(file).expect("a file"));
}
