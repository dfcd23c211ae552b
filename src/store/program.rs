//! The `git` program, for what gix cannot do: adding a worktree, writing config as git does, refs in reftables,
//! and asking whether the worktree is dirty.

use std::{
    ffi::OsStr,
    io::{Read as _, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use super::Error;

/// Variables that would make git talk about another repository, index or worktree than the one we name. This is
/// what `git rev-parse --local-env-vars` prints, less the ones that carry configuration (`GIT_CONFIG_PARAMETERS`,
/// `GIT_CONFIG_COUNT`), which the user meant for every repository.
const ROUTING: [&str; 12] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Keeps what git is told about another repository away from a program.
pub(super) fn without_routing(command: &mut Command) {
    for variable in ROUTING {
        command.env_remove(variable);
    }
}

/// What a git at a place, or a program of ours, prints in the folder `dir`; nothing when it fails. Hooks that git lists are
/// those it would run there.
pub(crate) fn says<S: AsRef<OsStr>>(
    program: &OsStr,
    dir: &Path,
    args: impl IntoIterator<Item = S>,
) -> Option<Vec<u8>> {
    #[expect(clippy::disallowed_methods, reason = "this is the wall")]
    let mut command = Command::new(program);
    without_routing(&mut command);
    command.args(args).current_dir(dir).env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0");
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command.output().ok().filter(|output| output.status.success()).map(|output| output.stdout)
}

/// Runs git for the repository `git_dir` in the folder `dir` with `input`, without anybody's hooks, prompts, translations or optional locks; returns what it
/// printed. `doing` completes "git cannot …".
pub(super) fn git<S: AsRef<OsStr>>(
    doing: &'static str,
    git_dir: &Path,
    dir: &Path,
    args: impl IntoIterator<Item = S>,
    input: &[u8],
) -> Result<Vec<u8>, Error> {
    told(doing, prepared(git_dir, dir, args)?, input)
}

/// The same with an index and a place for new objects of its own in the folder `aside`: nothing of the user's is written.
pub(super) fn git_aside<S: AsRef<OsStr>>(
    doing: &'static str,
    git_dir: &Path,
    dir: &Path,
    args: impl IntoIterator<Item = S>,
    aside: &Path,
) -> Result<Vec<u8>, Error> {
    let mut command = prepared(git_dir, dir, args)?;
    command.env("GIT_INDEX_FILE", aside.join("index")).env("GIT_OBJECT_DIRECTORY", aside.join("objects"));
    told(doing, command, b"")
}

fn told(doing: &'static str, mut command: Command, input: &[u8]) -> Result<Vec<u8>, Error> {
    let failed = |problem: String| Error::Git { doing, problem };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().map_err(|error| failed(format!("the program `git` does not start: {error}")))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A git that does not read all of it has failed, and says so itself.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line = stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    Err(failed(crate::domain::text::shown(line, 300)))
}

/// Runs git against a remote, and hands everything that it says on the way to `say`. Returns what it printed, or in the inner
/// error why it failed: what the other side said, else what git says itself.
pub(super) fn git_and_remote<S: AsRef<OsStr>>(
    git_dir: &Path,
    dir: &Path,
    args: impl IntoIterator<Item = S>,
    say: &mut dyn FnMut(&[u8]),
) -> Result<Result<Vec<u8>, String>, Error> {
    let mut command = prepared(git_dir, dir, args)?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Err(format!("the program `git` does not start: {error}"))),
    };
    let (mut said, mut buffer) = (Vec::new(), [0; 4096]);
    if let Some(mut stderr) = child.stderr.take() {
        while let Ok(read @ 1..) = stderr.read(&mut buffer) {
            said.extend_from_slice(&buffer[..read]);
            say(&buffer[..read]);
        }
    }
    let output = match child.wait_with_output() {
        Ok(output) if output.status.success() => return Ok(Ok(output.stdout)),
        Ok(output) => output.stdout,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let text = String::from_utf8_lossy(&said) + String::from_utf8_lossy(&output);
    Ok(Err(crate::domain::text::shown(&reason(&text), 500)))
}

/// Why git failed, from everything that it said: the other side's words, else its own first complaint.
fn reason(said: &str) -> String {
    let lines = || said.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    let counts =
        |line: &&str| line.contains("objects:") || line.contains("deltas:") || line.starts_with("Total ");
    let theirs = lines().filter_map(|line| line.strip_prefix("remote: ")).map(str::trim);
    let theirs: Vec<&str> = theirs.filter(|line| !counts(line)).collect();
    let complaints = ["fatal: ", "error: "];
    let own = || lines().find_map(|line| complaints.iter().find_map(|word| line.strip_prefix(word)));
    // One such as `!\tA:B\t[remote rejected] (…)`, which git prints for programs.
    let rejected = || lines().filter(|line| line.starts_with('!')).find_map(|line| line.rsplit('\t').next());
    match theirs.is_empty() {
        false => theirs.join("; "),
        true => rejected().or_else(own).or_else(|| lines().next()).unwrap_or("it gave no reason").to_owned(),
    }
}

/// git for the repository `git_dir` in the folder `dir`, without anybody's hooks, prompts, translations or optional locks.
fn prepared<S: AsRef<OsStr>>(
    git_dir: &Path,
    dir: &Path,
    args: impl IntoIterator<Item = S>,
) -> Result<Command, Error> {
    #[expect(clippy::disallowed_methods, reason = "this is the wall")]
    let mut command = Command::new("git");
    without_routing(&mut command);
    let git_dir = git_dir.canonicalize().map_err(Error::io("find", git_dir))?;
    command
        .arg("--git-dir")
        .arg(git_dir)
        .args(["-c", "core.hooksPath=/dev/null"])
        .args(args)
        .current_dir(dir);
    command.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    Ok(command)
}
