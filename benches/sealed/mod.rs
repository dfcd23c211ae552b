//! A world of their own for the programs that a bench starts: a home, a configuration, nothing else of the environment.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// The program, copied into place as an installation does. (The kernel maps a file that a linker wrote here and there
/// more slowly; git's was copied, too.)
static LOOPX: LazyLock<(tempfile::TempDir, String)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a folder");
    let program = dir.path().join("loopx").to_str().expect("a path").to_owned();
    fs::copy(env!("CARGO_BIN_EXE_loopx"), &program).expect("a copy");
    (dir, program)
});

/// Where the program lies.
pub(crate) fn program() -> &'static str {
    &LOOPX.1
}

/// Makes `home` one in which git knows who commits and collects no garbage of its own accord.
pub(crate) fn furnish(home: &Path) {
    let config =
        "[user]\nname = Ann\nemail = ann@example.test\n[init]\ndefaultBranch = main\n[gc]\nauto = 0\n";
    fs::write(home.join(".gitconfig"), config).expect("a config");
}

/// A command in `dir` that sees `home` and little else.
pub(crate) fn command(home: &Path, dir: &Path, program: &str, args: &[&str]) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // A bare name would be started in another and slower way than the whole path of loopx.
    let mut found = std::env::split_paths(&path).map(|dir| dir.join(program));
    let program = found.find(|file| file.is_file()).unwrap_or_else(|| PathBuf::from(program));
    let mut command = Command::new(program);
    command.args(args).env_clear().env("PATH", path).env("HOME", home);
    command.env("GIT_CONFIG_NOSYSTEM", "1").current_dir(dir);
    command
}
