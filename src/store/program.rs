//! The `git` program, for what gix cannot do: adding a worktree, writing config as git does, refs in reftables,
//! and asking whether the worktree is dirty.

use std::{
    ffi::OsStr,
    io::Write as _,
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

/// What a git program at a place prints in the folder `dir`; nothing when it fails. Hooks that it lists are those it
/// would run there.
pub(super) fn says<S: AsRef<OsStr>>(
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
    let failed = |problem: String| Error::Git { doing, problem };
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
