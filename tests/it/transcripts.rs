//! The walk-throughs in `README.md`, `docs/git-log.md` and `tests/transcripts/` are played command by command, so they cannot lie.
//!
//! A fenced block `console` is a terminal: after `$ ` stands a command for a shell, below it everything it printed, and
//! `[exit N]` when it failed. `console typing WORD` is a person's terminal, at which WORD is typed when something is asked.
//! Each file begins in a repository with one commit and a remote. `LOOPX_UPDATE=1` writes what was really printed.
#![expect(clippy::disallowed_methods, reason = "tests look at the world")]

use std::{env, ffi::OsString, fs, path::Path};

use crate::sandbox::{LOOPX, Output, Sandbox};

#[test]
fn the_readme_tells_the_truth() {
    play(Path::new("README.md"));
}

#[test]
fn every_transcript_tells_the_truth() {
    let mut files: Vec<_> =
        fs::read_dir("tests/transcripts").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.push("docs/git-log.md".into());
    assert!(files.len() >= 3, "the transcripts are gone");
    files.iter().for_each(|file| play(file));
}

fn play(file: &Path) {
    let told = fs::read_to_string(file).unwrap();
    let mut sandbox = Sandbox::plain();
    sandbox.git("init -q --bare ../hub.git").success();
    sandbox.git("remote add origin ../hub.git").success();
    sandbox.git("push -q -u origin main").success();
    let bin = Path::new(LOOPX).parent().unwrap().display().to_string();
    sandbox.put_on_path(&bin);

    let mut real = String::new();
    let mut lines = told.lines().peekable();
    let mut blocks = 0;
    while let Some(line) = lines.next() {
        real.push_str(&format!("{line}\n"));
        let Some(info) = line.strip_prefix("```console") else { continue };
        blocks += 1;
        let typing = info.strip_prefix(" typing ").map(str::trim);
        while let Some(line) = lines.next_if(|line| !line.starts_with("```")) {
            if let Some(command) = line.strip_prefix("$ ") {
                real.push_str(&format!("$ {command}\n{}", run(&sandbox, command, typing)));
            }
        }
    }
    assert!(blocks > 0, "{} has no terminal in it", file.display());
    if env::var_os("LOOPX_UPDATE").is_some() {
        fs::write(file, real).unwrap();
    } else {
        assert!(told == real, "{} does not tell the truth; what really happens:\n{real}", file.display());
    }
}

fn run(sandbox: &Sandbox, command: &str, typing: Option<&str>) -> String {
    let output = match typing.zip(command.strip_prefix("loopx ")) {
        Some((word, args)) => sandbox.person_raw(args, word),
        None => {
            let args: Vec<OsString> = vec!["-c".into(), format!("exec 2>&1\n{command}").into()];
            sandbox.finish(sandbox.command("sh", &args), "")
        }
    };
    let Output { code, stdout, stderr } = output;
    assert_eq!(stderr, "");
    let mut text = stdout.replace(&sandbox.root().display().to_string(), "~");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if code != 0 {
        text.push_str(&format!("[exit {code}]\n"));
    }
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
