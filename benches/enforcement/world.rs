//! One repository with a remote and one git.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

use crate::sealed;

/// A git program.
pub(crate) struct Git {
    pub(crate) version: String,
    dir: PathBuf,
}

impl Git {
    pub(crate) fn at(dir: &Path) -> Option<Self> {
        let program = dir.join("git");
        let output = program.is_file().then(|| Command::new(program).arg("version").output())?.ok()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        Some(Self { version: said.split_whitespace().nth(2)?.to_owned(), dir: dir.to_path_buf() })
    }

    /// The version, to be compared.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.version.split('.').map_while(|part| part.parse().ok()).collect()
    }
}

/// The folder with a hook manager's program.
pub(crate) fn manager(name: &str) -> Option<PathBuf> {
    let named = env::var_os("LOOPX_MANAGERS").unwrap_or_default();
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&named).chain(env::split_paths(&path)).find(|dir| dir.join(name).is_file())
}

/// How a command ended.
pub(crate) struct Output {
    pub(crate) ok: bool,
    pub(crate) text: String,
}

/// A home, a bare `hub.git`, and a clone of it called `repo` with one commit pushed.
pub(crate) struct World {
    root: tempfile::TempDir,
    /// What commands find first: one git and no other, then the managers, then what the system has.
    path: std::ffi::OsString,
    number: std::cell::Cell<u32>,
}

impl World {
    pub(crate) fn new(git: &Git) -> Self {
        let root = tempfile::tempdir().expect("a folder");
        // No other git may be found, or loopx would see to it, too.
        let bin = root.path().join("bin");
        fs::create_dir(&bin).expect("a folder");
        let exec = |to: &Path, from: &Path| {
            let text = format!("#!/bin/sh\nexec '{}' \"$@\"\n", from.display());
            fs::write(to, text).expect("a script");
            fs::set_permissions(to, fs::Permissions::from_mode(0o755)).expect("a mode");
        };
        exec(&bin.join("git"), &git.dir.join("git"));
        exec(&bin.join("loopx"), Path::new(sealed::program()));
        for name in crate::place::MANAGERS {
            if let Some(dir) = manager(name) {
                exec(&bin.join(name), &dir.join(name).canonicalize().expect("a program"));
            }
        }
        let path = env::join_paths([bin.as_path(), TOOLS.path()]).expect("two paths");
        let world = Self { path, root, number: 0.into() };
        for dir in ["home", "repo"] {
            fs::create_dir(world.at(dir)).expect("a folder");
        }
        sealed::furnish(&world.at("home"));
        world.must("git init -q --bare ../hub.git");
        world.must("git init -q -b main . && git remote add origin ../hub.git");
        world.must("git commit -q --allow-empty -m base && git push -q origin main");
        world
    }

    pub(crate) fn at(&self, below: &str) -> PathBuf {
        self.root.path().canonicalize().expect("a path").join(below)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// Runs a line of shell in a folder below the root.
    pub(crate) fn run_in(&self, dir: &str, line: &str) -> Output {
        let mut command = sealed::command(&self.at("home"), &self.at(dir), "/bin/sh", &["-c", line]);
        let output = command.env("PATH", &self.path).stdin(Stdio::null()).output().expect("a shell");
        let text = [output.stdout, output.stderr].concat();
        Output { ok: output.status.success(), text: String::from_utf8_lossy(&text).into_owned() }
    }

    /// The same in the clone.
    pub(crate) fn run(&self, line: &str) -> Output {
        self.run_in("repo", line)
    }

    /// A line that has to work.
    pub(crate) fn must(&self, line: &str) {
        let output = self.run(line);
        assert!(output.ok, "{line}: {}", output.text);
    }

    /// Runs loopx in the clone as a person who types `word`.
    pub(crate) fn person(&self, args: &[&str], word: &str) -> Output {
        let (mut pty, pts) = pty_process::blocking::open().expect("a pseudo-terminal");
        let mut command = pty_process::blocking::Command::new(sealed::program()).args(args).env_clear();
        command =
            command.env("PATH", &self.path).env("HOME", self.at("home")).env("GIT_CONFIG_NOSYSTEM", "1");
        let mut child = command.current_dir(self.at("repo")).spawn(pts).expect("loopx starts");
        let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(read @ 1..) = pty.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..read]);
            if shown.ends_with(b": ") {
                pty.write_all(format!("{word}\n").as_bytes()).expect("the terminal takes input");
            }
        }
        let ok = child.wait().expect("loopx ends").success();
        Output { ok, text: String::from_utf8_lossy(&shown).into_owned() }
    }

    /// Commits in the worktree `dir` and pushes that to a branch of its own.
    pub(crate) fn push(&self, dir: &str, options: &str) -> Output {
        self.number.set(self.number.get() + 1);
        let branch = format!("b{}", self.number.get());
        self.run_in(dir, &format!("git commit -q --no-verify --allow-empty -m {branch} && git {options} push -q origin HEAD:refs/heads/{branch}"))
    }

    /// What the hook that was there before has noted, once for each time it ran, without what differs from run to run.
    pub(crate) fn ran(&self) -> Vec<String> {
        let noted = fs::read_to_string(self.at("home/ran")).unwrap_or_default();
        let _ = fs::remove_file(self.at("home/ran"));
        let word = |word: &str| {
            let is_id = word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_id && word.bytes().any(|byte| byte != b'0') { "id".to_owned() } else { word.to_owned() }
        };
        let branch = |line: &str| {
            let words: Vec<_> = line.split(' ').map(word).collect();
            words.join(" ").replace(&format!("refs/heads/b{}", self.number.get()), "refs/heads/b")
        };
        noted.lines().map(branch).collect()
    }

    /// Every file that belongs to the user or to git and not to the objects and refs, with mode and bytes.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for folder in
            ["repo/.git/hooks", "repo/.git/info", "repo/.git/config", "home/.gitconfig", "home/hooks"]
        {
            note(&self.at(folder), &mut found);
        }
        for entry in fs::read_dir(self.at("repo")).into_iter().flatten().flatten() {
            if entry.file_name() != ".git" {
                note(&entry.path(), &mut found);
            }
        }
        found
    }
}

/// Everything that is found on the path, but no git.
static TOOLS: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let tools = tempfile::tempdir().expect("a folder");
    let path = env::var_os("PATH").unwrap_or_default();
    for tool in env::split_paths(&path).flat_map(fs::read_dir).flatten().flatten() {
        let name = tool.file_name();
        let is_git = name.to_string_lossy().starts_with("git") && name != "git-lfs";
        // The first one of a name is the one that is found.
        if !is_git {
            let _ = std::os::unix::fs::symlink(tool.path(), tools.path().join(name));
        }
    }
    tools
});

fn note(path: &Path, found: &mut BTreeMap<String, String>) {
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    let name = path.display().to_string();
    if meta.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            note(&entry.path(), found);
        }
    } else if meta.is_symlink() {
        found.insert(name, format!("to {}", fs::read_link(path).expect("a link").display()));
    } else {
        let bytes = fs::read(path).unwrap_or_default();
        found.insert(name, format!("{:o} {}", meta.permissions().mode(), String::from_utf8_lossy(&bytes)));
    }
}
