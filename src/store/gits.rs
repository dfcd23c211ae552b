//! The `git` programs that a person or an agent would start here, and whether each runs hooks that its configuration
//! names (2.54 and newer). Asked of the program itself, and noted in `.git/loopx/gits` by the size and the age it has,
//! so that a look at the status need not start it.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use super::{git::Git, program, read_plain_file};

/// Where programs are looked for.
#[derive(Debug, Clone, Default)]
pub struct Gits {
    path: OsString,
}

impl Gits {
    /// Those on `path`, as `PATH` has it.
    pub fn on(path: Option<OsString>) -> Self {
        Self { path: path.unwrap_or_default() }
    }

    /// Every one of them, the one that runs by its bare name first.
    pub fn all(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for program in self.found() {
            let same = |other: &PathBuf| other.canonicalize().ok() == program.canonicalize().ok();
            if !found.iter().any(same) {
                found.push(program);
            }
        }
        found
    }

    /// The same, one that is found by several names with each of them.
    fn found(&self) -> impl Iterator<Item = PathBuf> {
        let is_program = |program: &PathBuf| {
            fs::metadata(program).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        env::split_paths(&self.path).map(|dir| dir.join("git")).filter(is_program)
    }

    /// Those that run no hook which the configuration names.
    pub fn deaf(&self, git: &Git) -> Vec<PathBuf> {
        self.all().into_iter().filter(|program| !hears(git, program)).collect()
    }

    /// Whether the one that runs by its bare name runs hooks that the configuration names.
    pub fn first_hears(&self, git: &Git) -> bool {
        self.found().next().is_some_and(|program| hears(git, &program))
    }

    /// Asks all of them, and notes what they say.
    pub fn note(&self, git: &Git) {
        let lines = self.all().into_iter().filter_map(|program| {
            let said = if asked(git, &program) { "yes" } else { "no" };
            Some(format!("{said} {}\n", signature(&program)?))
        });
        // Without the note, the next look asks.
        let _ = fs::create_dir_all(git.private_dir())
            .and_then(|()| fs::write(note_file(git), lines.collect::<String>()));
    }
}

fn note_file(git: &Git) -> PathBuf {
    git.private_dir().join("gits")
}

/// What tells one build of a program from another: size, time, path.
fn signature(program: &Path) -> Option<String> {
    let meta = fs::metadata(program).ok()?;
    Some(format!("{} {}.{} {}", meta.len(), meta.mtime(), meta.mtime_nsec(), program.display()))
}

fn hears(git: &Git, program: &Path) -> bool {
    let noted = read_plain_file(&note_file(git)).and_then(|bytes| String::from_utf8(bytes).ok());
    let line = noted.as_deref().zip(signature(program)).and_then(|(noted, signature)| {
        noted.lines().find_map(|line| line.strip_suffix(&signature).map(str::trim_end))
    });
    line.map_or_else(|| asked(git, program), |said| said == "yes")
}

/// Makes the program list the hooks of an event that has one in its configuration.
fn asked(git: &Git, program: &Path) -> bool {
    let args = [
        "-c",
        "hook.loopx-asks.command=true",
        "-c",
        "hook.loopx-asks.event=pre-push",
        "hook",
        "list",
        "pre-push",
    ];
    program::says(program.as_os_str(), git.common_dir(), args).is_some_and(|said| names(&said, "loopx-asks"))
}

/// Whether the git at `exec_path` (as `GIT_EXEC_PATH` says it) would run a hook of this name before a push from `dir`.
pub fn runs_hook(exec_path: &OsStr, dir: &Path, name: &str) -> bool {
    let program = Path::new(exec_path).join("git");
    let said = program::says(program.as_os_str(), dir, ["hook", "list", "pre-push"]);
    said.is_some_and(|said| names(&said, name))
}

fn names(said: &[u8], name: &str) -> bool {
    said.split(|byte| *byte == b'\n').any(|line| line == name.as_bytes())
}
