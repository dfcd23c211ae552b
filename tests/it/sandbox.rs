//! A sealed world for one test: its own home, its own git configuration, a clock that ticks a second a command, ids from
//! a seed. Real git, the real program. What a command printed is shown whole; what differs from run to run is not.
//!
//! Which git runs is the first one on `PATH`, or the one in the folder that `LOOPX_TEST_GIT_DIR` names.
#![expect(clippy::disallowed_methods, reason = "tests look at the world and start programs")]

use std::{
    cell::Cell,
    ffi::OsString,
    fmt, fs,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The program under test.
pub(crate) const LOOPX: &str = env!("CARGO_BIN_EXE_loopx");
/// What our hooks ask.
pub(crate) const SMALL: &str = env!("CARGO_BIN_EXE_git-remote-loopx");

/// A folder with a home and repositories in it, gone when dropped.
pub(crate) struct Sandbox {
    root: tempfile::TempDir,
    ticks: Cell<u64>,
    extra: Vec<(String, String)>,
    /// Where commands run, below the root.
    dir: String,
}

/// A program in the world of a sandbox that threads can run at the same time. Its clock stands still, and its ids are
/// truly random.
pub(crate) struct Program {
    program: String,
    dir: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl Program {
    pub(crate) fn run(&self, args: &[OsString]) -> Output {
        finish(self.command(args), "")
    }

    /// To start it oneself.
    pub(crate) fn command(&self, args: &[OsString]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().envs(self.environment.iter().cloned()).current_dir(&self.dir);
        command
    }
}

/// What a command printed and how it ended.
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for Output {
    /// Standard output as it is, standard error marked, the exit code unless it is 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stdout)?;
        if !self.stdout.is_empty() && !self.stdout.ends_with('\n') {
            f.write_str("\n")?;
        }
        for line in self.stderr.lines() {
            writeln!(f, "{}", format_args!("[stderr] {line}").to_string().trim_end())?;
        }
        if self.code != 0 {
            writeln!(f, "[exit {}]", self.code)?;
        }
        Ok(())
    }
}

impl Output {
    #[track_caller]
    pub(crate) fn success(self) -> Self {
        assert_eq!(self.code, 0, "{self}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl Sandbox {
    /// A repository `repo` with one commit on `main`, and no loopx in it.
    pub(crate) fn plain() -> Self {
        Self::with_init_flags("")
    }

    /// The same, made by `git init` with these flags.
    pub(crate) fn with_init_flags(flags: &str) -> Self {
        let sandbox = Self::empty();
        sandbox.git(&format!("init -q -b main {flags} .")).success();
        sandbox.commit("base");
        sandbox
    }

    /// An empty folder `repo` and a home.
    pub(crate) fn empty() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let sandbox = Self { root, ticks: Cell::new(0), extra: Vec::new(), dir: "repo".into() };
        for dir in ["home", "repo"] {
            fs::create_dir(sandbox.root().join(dir)).expect("a new folder");
        }
        sandbox.write("home/.gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.test\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n");
        sandbox
    }

    /// A repository with loopx and one goal, `ship`.
    pub(crate) fn ready() -> Self {
        let sandbox = Self::plain();
        sandbox.loopx("init --goal-text 'Ship v2' --goal-id ship").success();
        sandbox
    }

    /// The same with a bare remote `origin` at `hub.git`, to which `main` was pushed.
    pub(crate) fn with_remote() -> Self {
        let sandbox = Self::ready();
        sandbox.git("init -q --bare ../hub.git").success();
        sandbox.git("remote add origin ../hub.git").success();
        sandbox.git("push -q -u origin main").success();
        sandbox
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().expect("the root")
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root().join(below)
    }

    /// The same world, seen from another folder below the root.
    pub(crate) fn cd(&mut self, dir: &str) -> &mut Self {
        self.dir = dir.to_owned();
        self
    }

    /// Sets a variable for all commands from now on.
    pub(crate) fn env(&mut self, name: &str, value: &str) -> &mut Self {
        self.extra.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Finds programs in this folder first.
    pub(crate) fn put_on_path(&mut self, dir: &str) -> &mut Self {
        let path = std::env::var("PATH").unwrap_or_default();
        let git = std::env::var("LOOPX_TEST_GIT_DIR").map(|dir| format!("{dir}:")).unwrap_or_default();
        self.env("PATH", &format!("{dir}:{git}{path}"))
    }

    /// Takes back what [`env`](Self::env) set.
    pub(crate) fn clear_env(&mut self) -> &mut Self {
        self.extra.clear();
        self
    }

    /// What time it is, in seconds since the clock began to tick.
    pub(crate) fn seconds(&self) -> u64 {
        self.ticks.get()
    }

    /// Lets time pass.
    pub(crate) fn sleep(&self, seconds: u64) {
        self.ticks.set(self.ticks.get() + seconds);
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// A new commit of the project.
    pub(crate) fn commit(&self, name: &str) {
        self.write(&format!("{}/{name}.txt", self.dir), name);
        self.git(&format!("add {name}.txt")).success();
        self.git(&format!("commit -q -m {name}")).success();
    }

    /// Adds a todo and returns its id.
    #[track_caller]
    pub(crate) fn todo(&self, args: &str) -> String {
        let added = self.loopx(&format!("todo add --json {args}")).success().json();
        added["id"].as_str().expect("an id").to_owned()
    }

    /// Replaces a file of the state branch as another version of loopx might: with the note that says so.
    pub(crate) fn plant(&self, path: &str, text: &str) {
        self.forge(path, text);
        self.write("repo/.git/loopx/writer", &format!("idle {} loopx/state", self.tip().trim()));
    }

    /// Replaces a file of the state branch by a commit made by hand.
    pub(crate) fn forge(&self, path: &str, text: &str) {
        self.forge_as(path, text, "forged\n");
    }

    /// The same with a message.
    pub(crate) fn forge_as(&self, path: &str, text: &str, message: &str) {
        self.forge_files(&[(path.to_owned(), text.to_owned())], message);
    }

    /// The same with several files.
    pub(crate) fn forge_files(&self, files: &[(String, String)], message: &str) {
        let index = self.root().join("forged-index");
        let with_index = |args: &str| {
            let mut command = self.command("git", &words(args));
            command.env("GIT_INDEX_FILE", &index);
            self.finish(command, "").success().stdout.trim().to_owned()
        };
        with_index("read-tree loopx/state");
        for (path, text) in files {
            let blob = self.feed("git", &["hash-object", "-w", "--stdin"], text).success().stdout;
            with_index(&format!("update-index --add --cacheinfo 100644,{},{path}", blob.trim()));
        }
        let tree = with_index("write-tree");
        let args = ["commit-tree", &tree, "-p", "loopx/state", "-F", "-"];
        let commit = self.feed("git", &args, message).success().stdout;
        self.git(&format!("update-ref refs/heads/loopx/state {}", commit.trim())).success();
    }

    /// The tip of the state branch.
    pub(crate) fn tip(&self) -> String {
        self.git("rev-parse loopx/state").stdout
    }

    /// Runs loopx. Arguments are split as a shell would, without its substitutions.
    pub(crate) fn loopx(&self, args: &str) -> Output {
        self.shown(self.run(LOOPX, &words(args), ""))
    }

    /// Runs the lines of a scene, each a `loopx …` or a `git …`, and shows each with what came of it.
    pub(crate) fn scene(&self, lines: &str) -> String {
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.fold(String::new(), |told, line| {
            let output = match line.split_once(' ') {
                Some(("loopx", args)) => self.loopx(args),
                Some(("git", args)) => self.git_shown(args),
                _ => panic!("`{line}` is no line of a scene"),
            };
            format!("{told}$ {line}\n{output}")
        })
    }

    /// Writes a script that may be run.
    pub(crate) fn script(&self, path: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(path, text);
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// Runs loopx with something on standard input.
    pub(crate) fn loopx_told(&self, args: &str, input: &str) -> Output {
        self.shown(self.run(LOOPX, &words(args), input))
    }

    /// Runs loopx with arguments as they are.
    pub(crate) fn loopx_raw(&self, args: &[&str]) -> Output {
        let args: Vec<OsString> = args.iter().map(Into::into).collect();
        self.shown(self.run(LOOPX, &args, ""))
    }

    /// Runs git; what it prints is not changed.
    pub(crate) fn git(&self, args: &str) -> Output {
        self.run("git", &words(args), "")
    }

    /// Runs git and shows what it printed as loopx's own output is shown.
    pub(crate) fn git_shown(&self, args: &str) -> Output {
        self.shown(self.git(args))
    }

    /// Runs a program with something on standard input.
    pub(crate) fn feed(&self, program: &str, args: &[&str], input: &str) -> Output {
        let args: Vec<OsString> = args.iter().map(Into::into).collect();
        self.run(program, &args, input)
    }

    /// Runs loopx as a person at a terminal who types `answer` whenever asked. Everything the terminal showed is in
    /// `stdout`.
    pub(crate) fn person(&self, args: &str, answer: &str) -> Output {
        self.shown(self.person_raw(args, answer))
    }

    /// The same with another answer each time, in this order: a line for a word, a key for a key.
    pub(crate) fn person_typing(&self, args: &str, answers: &[&str]) -> Output {
        let mut answers = answers.iter();
        self.shown(self.terminal_with(LOOPX, &words(args), |_| answers.next().copied().unwrap_or("\u{4}")))
    }

    /// The same with nothing hidden.
    pub(crate) fn person_raw(&self, args: &str, answer: &str) -> Output {
        self.terminal(LOOPX, &words(args), answer)
    }

    /// Runs a program at a terminal where `answer` is typed when it asks.
    pub(crate) fn at_a_terminal(&self, program: &str, args: &[OsString], answer: &str) -> Output {
        self.shown(self.terminal(program, args, answer))
    }

    fn terminal(&self, program: &str, args: &[OsString], answer: &str) -> Output {
        self.terminal_with(program, args, |_| answer)
    }

    fn terminal_with<'a>(
        &self,
        program: &str,
        args: &[OsString],
        mut answer: impl FnMut(&[u8]) -> &'a str,
    ) -> Output {
        let (mut pty, pts) = pty_process::blocking::open().expect("a pseudo-terminal");
        let mut command = pty_process::blocking::Command::new(program).args(args).env_clear();
        command = command.current_dir(self.path(&self.dir)).envs(self.environment());
        let mut child = command.spawn(pts).expect("loopx starts");
        let mut shown = Vec::new();
        let mut buffer = [0; 4096];
        // The terminal ends with an error when its last user has gone.
        while let Ok(read @ 1..) = pty.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..read]);
            if is_asking(&shown) {
                let end = if asks_for_a_key(&shown) { "" } else { "\n" };
                let answer = answer(&shown);
                pty.write_all(format!("{answer}{end}").as_bytes()).expect("the terminal takes input");
            }
        }
        let code = child.wait().expect("loopx ends").code().unwrap_or(-1);
        let stdout = String::from_utf8_lossy(&shown).replace("\r\n", "\n");
        Output { code, stdout, stderr: String::new() }
    }

    pub(crate) fn command(&self, program: &str, args: &[OsString]) -> Command {
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(self.environment()).current_dir(self.path(&self.dir));
        command
    }

    /// A program for threads.
    pub(crate) fn program(&self, program: &str) -> Program {
        let environment = self.environment().into_iter().filter(|(name, _)| name != "LOOPX_SEED").collect();
        Program { program: program.to_owned(), dir: self.path(&self.dir), environment }
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let tick = self.ticks.get() + 1;
        self.ticks.set(tick);
        // 2026-11-30T12:00:00Z and a second for each command.
        let now = 1_796_040_000 + tick;
        let time = loopx::domain::time::Timestamp::from_unix(i64::try_from(now).expect("a time")).to_string();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = match std::env::var_os("LOOPX_TEST_GIT_DIR") {
            Some(first) => [first, ":".into(), path].into_iter().collect(),
            None => path,
        };
        let fixed: [(&str, OsString); 9] = [
            ("PATH", path),
            ("HOME", self.path("home").into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_AUTHOR_DATE", format!("{now} +0000").into()),
            ("GIT_COMMITTER_DATE", format!("{now} +0000").into()),
            ("LOOPX_NOW", time.into()),
            ("LOOPX_SEED", format!("{tick}").into()),
            ("TZ", "UTC".into()),
            ("RUST_BACKTRACE", "0".into()),
        ];
        let extra = self.extra.iter().map(|(name, value)| (name.as_str(), OsString::from(value)));
        fixed.into_iter().chain(extra).map(|(name, value)| (name.into(), value)).collect()
    }

    fn run(&self, program: &str, args: &[OsString], input: &str) -> Output {
        self.finish(self.command(program, args), input)
    }

    pub(crate) fn finish(&self, command: Command, input: &str) -> Output {
        finish(command, input)
    }

    fn shown(&self, output: Output) -> Output {
        let root = self.root();
        let shown = |text: &str| hide_ids(&text.replace(&root.display().to_string(), "[ROOT]"));
        Output { code: output.code, stdout: shown(&output.stdout), stderr: shown(&output.stderr) }
    }
}

/// The last line is a question that waits for an answer.
fn is_asking(shown: &[u8]) -> bool {
    let line = shown.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    asks_for_a_key(shown)
        || (line.starts_with(b"Type `") || line.starts_with(b"Enter passphrase")) && line.ends_with(b": ")
}

fn asks_for_a_key(shown: &[u8]) -> bool {
    let line = shown.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"Press ") && line.ends_with(b": ")
}

fn finish(mut command: Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    // A program that does not read its input has closed it.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the program ends");
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Object ids, whole or cut to seven or more digits, become `[ID]`.
fn hide_ids(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        let hex = word.len() >= 7 && word.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        out.push_str(if hex { "[ID]" } else { &word });
        word.clear();
        out.push(c);
    }
    out.pop();
    out
}

/// Splits a command line at blanks; single and double quotes keep words together.
pub(crate) fn words(line: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take().map(OsString::from)),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.map(OsString::from));
    words
}

/// The files below a folder, sorted, as paths from it.
pub(crate) fn files(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => found.push(entry.path().strip_prefix(dir).expect("below").display().to_string()),
            }
        }
    }
    found.sort();
    found
}
