//! A disk that is full: a mutation is done or not done, says which, and the next one goes on.

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox};

/// Runs a mutation that may write no file longer than `blocks` of 512 bytes.
fn cramped(repo: &Sandbox, blocks: usize, title: &str) -> crate::sandbox::Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec '{LOOPX}' todo add '{title}'");
    repo.feed("sh", &["-c", &script], "")
}

#[test]
fn whatever_cannot_be_written_the_mutation_is_done_or_not() {
    let repo = Sandbox::ready();
    for number in 0..12 {
        repo.todo(&format!("before-{number}"));
    }
    let mut done = 0;
    for blocks in 0..24 {
        let title = format!("in {blocks} blocks");
        let before = repo.tip();
        let output = cramped(&repo, blocks, &title);
        let is_there = repo.loopx("todo list").stdout.contains(&title);
        match output.code {
            0 => assert!(is_there, "{output}"),
            _ => {
                assert!(!is_there && repo.tip() == before, "{output}");
                assert!(output.stderr.contains("hint: nothing was changed; make room"), "{output}");
            }
        }
        done += usize::from(is_there);
        repo.loopx(&format!("todo add 'after {blocks}'")).success();
        assert_eq!(repo.git("fsck --full --strict --no-dangling").success().stdout, "");
        assert_eq!(repo.git("-C .loopx status --porcelain").success().stdout, "");
    }
    assert!(done > 0 && done < 24, "{done} of 24 were done");
    assert_snapshot!(repo.scene("
        loopx verify
        loopx doctor
    "), @"
    $ loopx verify
    55 commits (55 new commits): each is one legal mutation, signed off
    $ loopx doctor
    all is well
    ");
}
