//! The outside world as one value. Whoever needs the clock, the environment, random bytes or a terminal gets them from
//! here; nothing else in the house asks for them (see `clippy.toml`).
#![expect(clippy::disallowed_methods, reason = "this is the wall")]

use std::{
    collections::VecDeque,
    convert::Infallible,
    env,
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, BufRead as _, IsTerminal as _, Read as _, Seek as _, Write as _},
    os::{
        fd::AsFd as _,
        unix::process::{CommandExt as _, ExitStatusExt as _},
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use sha2::{Digest as _, Sha256};
use signal_hook::{
    consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    iterator::Signals,
};

use crate::domain::{
    command::Ended,
    evidence::{Cut, Heard},
    id::Entropy,
    time::{Seconds, Timestamp},
};

/// The goal that commands mean when none is named.
pub const LOOPX_GOAL: &str = "LOOPX_GOAL";
/// The agent on whose behalf commands run.
pub const LOOPX_AGENT_ID: &str = "LOOPX_AGENT_ID";
/// Asks hooks of agents' hosts to send a session on as long as there is something to do, if it is `1`.
pub const LOOPX_LOOP: &str = "LOOPX_LOOP";
/// Claude Code's own: a file of lines for a shell, which it runs before the commands of a session.
pub const CLAUDE_ENV_FILE: &str = "CLAUDE_ENV_FILE";
/// The time, in tests: RFC 3339. Only debug builds look at it, or an agent could move the clock.
const LOOPX_NOW: &str = "LOOPX_NOW";
/// A seed for ids, in tests. Only debug builds look at it.
const LOOPX_SEED: &str = "LOOPX_SEED";
/// Tells a command that `guard run` started what it was let through for. Nothing here looks at it: a check inside such a
/// command is a check like any other.
pub const LOOPX_GUARD: &str = "LOOPX_GUARD";
/// Tells an editor that loopx started it.
const LOOPX_EDITING: &str = "LOOPX_EDITING";
/// git's own: the repository the user means.
pub const GIT_DIR: &str = "GIT_DIR";
/// git's own: where the git that runs a hook has its parts.
pub const GIT_EXEC_PATH: &str = "GIT_EXEC_PATH";
/// git's own: the index that a hook before a commit looks at.
pub const GIT_INDEX_FILE: &str = "GIT_INDEX_FILE";
/// git's own, for a hook on a server: where the objects of a push are until the hook has agreed.
pub const GIT_QUARANTINE_PATH: &str = "GIT_QUARANTINE_PATH";
/// git's own: where objects are put.
pub const GIT_OBJECT_DIRECTORY: &str = "GIT_OBJECT_DIRECTORY";
/// git's own: where else there are objects.
pub const GIT_ALTERNATE_OBJECT_DIRECTORIES: &str = "GIT_ALTERNATE_OBJECT_DIRECTORIES";
/// git's own, for a hook on a server: how many options a push has.
pub const GIT_PUSH_OPTION_COUNT: &str = "GIT_PUSH_OPTION_COUNT";
/// git's own, for a hook on a server: one of them, after which its number comes.
pub const GIT_PUSH_OPTION: &str = "GIT_PUSH_OPTION_";
/// The editor that people want, the first that is set.
const EDITORS: [&str; 3] = ["GIT_EDITOR", "VISUAL", "EDITOR"];
/// The kind of terminal.
pub const TERM: &str = "TERM";
/// Set by who wants no colours.
pub const NO_COLOR: &str = "NO_COLOR";
/// Where the user's own folders are.
pub const HOME: &str = "HOME";
/// Where programs keep what a user has set.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// Where programs keep what they remember.
pub const XDG_STATE_HOME: &str = "XDG_STATE_HOME";
/// Claude Code's own: where it keeps what a user has set.
pub const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
/// Codex's own: the same.
pub const CODEX_HOME: &str = "CODEX_HOME";
/// Where programs are looked for.
pub const PATH: &str = "PATH";
/// git's own: the command that reaches other hosts.
pub const GIT_SSH_COMMAND: &str = "GIT_SSH_COMMAND";
/// Tells a user's command what it is called for.
pub const LOOPX_EVENT: &str = "LOOPX_EVENT";
/// git's own: where that repository has its refs and hooks.
pub const GIT_COMMON_DIR: &str = "GIT_COMMON_DIR";

/// The process we are.
#[derive(Debug, Clone)]
pub struct Process {
    args: Vec<OsString>,
    starts_commands: bool,
}

impl Process {
    /// The real one.
    pub fn this() -> Self {
        Self { args: env::args_os().collect(), starts_commands: true }
    }

    /// The same, for a door through which somebody reaches us whose own commands are held in a sandbox: what a todo names as
    /// its check is not started.
    pub fn without_commands(&self) -> Self {
        Self { starts_commands: false, ..self.clone() }
    }

    /// Whether commands of others are started.
    pub fn starts_commands(&self) -> bool {
        self.starts_commands
    }

    /// Takes standard input and output away from everybody else, for a protocol that nothing may disturb: who reads or prints
    /// from now on, here or in a program that is started, reads nothing and prints to standard error.
    pub fn take_streams(&self) -> io::Result<(File, File)> {
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok((input, output))
    }

    /// The command line, the program's name first.
    pub fn args(&self) -> &[OsString] {
        &self.args
    }

    /// An environment variable that is set and not empty, as text. What is no text is still set: it comes with marks
    /// in it that no id has.
    pub fn env(&self, name: &str) -> Option<String> {
        self.env_os(name).map(|value| value.to_string_lossy().into_owned())
    }

    /// An environment variable that is set to anything at all but the empty text.
    pub fn env_os(&self, name: &str) -> Option<OsString> {
        env::var_os(name).filter(|value| !value.is_empty())
    }

    /// The working directory.
    pub fn cwd(&self) -> io::Result<PathBuf> {
        env::current_dir()
    }

    /// Where this program lies.
    pub fn program(&self) -> io::Result<PathBuf> {
        env::current_exe()
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        if let Some(now) = self.in_tests(LOOPX_NOW).and_then(|now| now.parse().ok()) {
            return now;
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_unix(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    }

    /// Fresh random bytes.
    pub fn entropy(&self) -> io::Result<Entropy> {
        let mut bytes = Entropy::default();
        if let Some(seed) = self.in_tests(LOOPX_SEED) {
            bytes.copy_from_slice(&Sha256::digest(seed)[..16]);
            return Ok(bytes);
        }
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn in_tests(&self, name: &str) -> Option<String> {
        cfg!(debug_assertions).then(|| self.env(name)).flatten()
    }

    /// Whether standard input is a terminal.
    pub fn stdin_is_terminal(&self) -> bool {
        io::stdin().is_terminal()
    }

    /// Whether standard error is a terminal.
    pub fn stderr_is_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// All of standard input, at most `limit` bytes of it.
    pub fn stdin(&self, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// One line of standard input without its end, at most `limit` bytes of it; `None` at the end of input.
    pub fn stdin_line(&self, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        io::stdin().lock().take(limit).read_until(b'\n', &mut line)?;
        let is_line = line.pop_if(|byte| *byte == b'\n').is_some();
        Ok((is_line || !line.is_empty()).then_some(line))
    }

    /// Goes on as `argv`, which finds `input` on standard input. Returns only when that cannot be.
    pub fn turn_into(&self, argv: &[OsString], input: &[u8]) -> io::Error {
        let run = || -> io::Result<Infallible> {
            let mut file = tempfile::tempfile()?;
            file.write_all(input)?;
            file.rewind()?;
            let (program, args) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
            Err(Command::new(program).args(args).stdin(file).exec())
        };
        match run() {
            Err(error) => error,
            Ok(never) => match never {},
        }
    }

    /// Runs `argv` to its end in the folder `dir`, with our own streams and environment and one variable more.
    ///
    /// We outlive what is meant for it: Ctrl-C at a terminal reaches it by itself, a signal that was sent to us alone is
    /// passed on. An error means that it did not start.
    pub fn run(&self, argv: &[OsString], dir: &Path, variable: (&str, &str)) -> io::Result<Ended> {
        let mut command = started_in(argv, dir)?;
        command.env(variable.0, variable.1);
        Ok(self.attend(&mut command, None, |_| ())?.0)
    }

    /// Runs `argv` in the same way, and listens to what it writes while that goes on to our own streams, which are none of
    /// its own: it writes to pipes. Of each stream is kept whole what fits in `whole` bytes.
    ///
    /// After `limit` it is ended with everything that it started; therefore it gets a process group of its own then, and
    /// cannot read from the terminal. What it leaves running without a limit may write on, and is not listened to for long.
    pub fn watch(
        &self,
        argv: &[OsString],
        dir: &Path,
        limit: Option<Seconds>,
        whole: usize,
    ) -> io::Result<Overheard> {
        let mut command = started_in(argv, dir)?;
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if limit.is_some() {
            command.process_group(0);
        }
        let [stdout, stderr] = [(); 2].map(|()| Arc::new(Mutex::new(Ear::new(whole))));
        let (done, is_done) = mpsc::channel();
        let (ended, cut) = self.attend(&mut command, limit, |child| {
            if let Some(pipe) = child.stdout.take() {
                listen(pipe, io::stdout(), &stdout, &done);
            }
            if let Some(pipe) = child.stderr.take() {
                listen(pipe, io::stderr(), &stderr, &done);
            }
            drop(done);
        })?;
        let passes_on = |ear: &Mutex<Ear>| ear.lock().unwrap_or_else(PoisonError::into_inner).is_passing_on;
        // What is waited for is the end of both, and whoever reads what we pass on. Not what was left running.
        while is_done.recv_timeout(LISTENING_ON) == Err(mpsc::RecvTimeoutError::Timeout)
            && (passes_on(&stdout) || passes_on(&stderr))
        {}
        let heard = |ear: &Mutex<Ear>| ear.lock().unwrap_or_else(PoisonError::into_inner).heard();
        Ok(Overheard { ended, cut, stdout: heard(&stdout), stderr: heard(&stderr) })
    }

    /// Starts a command, hands it to `begun`, and waits for its end.
    fn attend(
        &self,
        command: &mut Command,
        limit: Option<Seconds>,
        begun: impl FnOnce(&mut Child),
    ) -> io::Result<(Ended, Option<Cut>)> {
        // Whoever started us may have ignored the end of children, and nobody would learn how this one ended.
        let mut signals = Signals::new([SIGCHLD, SIGINT, SIGQUIT, SIGTERM])?;
        let mut child = command.spawn()?;
        begun(&mut child);
        let pid = Pid::from_child(&child);
        let is_apart = limit.is_some();
        let reached_by_terminal = !is_apart && self.terminal().is_ok();
        let send = move |signal| match is_apart {
            true => kill_process_group(pid, signal),
            false => kill_process(pid, signal),
        };
        let cut = Arc::new(Mutex::new(None));
        let note = |why: Cut| {
            let cut = Arc::clone(&cut);
            move || {
                let mut cut = cut.lock().unwrap_or_else(PoisonError::into_inner);
                cut.get_or_insert(why);
            }
        };
        let stop = signals.handle();
        let (interrupted, late) = (note(Cut::Interrupt), note(Cut::Timeout));
        let passing_on = thread::spawn(move || {
            let pass_on = |signal| {
                interrupted();
                if signal == SIGTERM || !reached_by_terminal {
                    let _ = Signal::from_named_raw(signal).map(send);
                }
            };
            signals.forever().filter(|signal| *signal != SIGCHLD).for_each(pass_on);
            // What ended the command may have reached us only just before its end did.
            signals.pending().filter(|signal| *signal != SIGCHLD).for_each(pass_on);
        });
        let (over, is_over) = mpsc::channel::<()>();
        let ending = limit.map(|limit| {
            thread::spawn(move || {
                let waits = |time| is_over.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout);
                if waits(Duration::from_secs(limit.0.into())) {
                    late();
                    let _ = send(Signal::TERM);
                    waits(MERCY);
                    let _ = send(Signal::KILL);
                }
            })
        });
        // It keeps its number until it was waited for, so that no signal goes to a stranger.
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), ended) {}
        stop.close();
        drop(over);
        let _ = passing_on.join();
        let _ = ending.map(thread::JoinHandle::join);
        let ended = how(child.wait()?);
        let cut = *cut.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((ended, cut))
    }

    /// Runs `argv` in the folder `dir` without input, and listens to what it prints, for `timeout` at most. When it ends, by
    /// itself or not, everything it started ends with it. An error means that it did not start.
    pub fn listen(&self, argv: &[String], dir: &Path, timeout: Seconds) -> io::Result<Listened> {
        self.listen_to(argv, dir, timeout, None)
    }

    /// The same with `input`, which is told what it is about by a variable.
    pub fn listen_to(
        &self,
        argv: &[String],
        dir: &Path,
        timeout: Seconds,
        input: Option<(Vec<u8>, (&str, &str))>,
    ) -> io::Result<Listened> {
        if !self.starts_commands {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "no command is started from here"));
        }
        let (program, args) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut signals = Signals::new([SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
        let (reader, writer) = io::pipe()?;
        let mut command = Command::new(program);
        command.args(args).current_dir(dir).stdin(Stdio::null()).process_group(0);
        command.stdout(writer.try_clone()?).stderr(writer);
        if let Some((_, (name, value))) = &input {
            command.stdin(Stdio::piped()).env(name, value);
        }
        let mut child = command.spawn()?;
        if let (Some(mut pipe), Some((input, _))) = (child.stdin.take(), input) {
            // It may read as late as it likes, or not at all.
            thread::spawn(move || pipe.write_all(&input));
        }
        // The pipe ends when nobody holds its other end any more, and `command` does.
        drop(command);
        let group = Pid::from_child(&child);
        let stop = signals.handle();
        let (told, news) = mpsc::channel();
        let watching =
            thread::spawn(move || signals.forever().for_each(|signal| told.send(signal).unwrap_or(())));
        let (said, words) = mpsc::channel();
        thread::spawn(move || said.send(Words::of(reader)));

        let until = Instant::now() + Duration::from_secs(timeout.0.into());
        // It keeps its number until it was waited for, so that no signal goes to a stranger.
        let has_ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let stopped = loop {
            if waitid(WaitId::Pid(group), has_ended)?.is_some() {
                break None;
            }
            match news.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(SIGCHLD) => {}
                Ok(signal) => break Some(Some(Ended::Signal(u8::try_from(signal).unwrap_or(u8::MAX)))),
                Err(_) => break Some(None),
            }
        };
        // Also what it left running, which would hold the pipe open.
        let _ = kill_process_group(group, Signal::KILL);
        let status = child.wait()?;
        let ended = stopped.unwrap_or_else(|| Some(how(status)));
        stop.close();
        let _ = watching.join();
        let words = words.recv_timeout(Duration::from_secs(2)).unwrap_or_default();
        Ok(Listened { ended, words })
    }

    /// Starts this program with `args` and `input`, and goes on: nobody waits for it, it holds none of our streams, and what ends
    /// us does not end it.
    pub fn leave_to(&self, args: &[&OsStr], input: &[u8], variable: (&str, &str)) -> io::Result<()> {
        let mut command = Command::new(self.program()?);
        command.args(args).env(variable.0, variable.1).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        // What is told is shorter than a pipe holds, so this does not wait.
        child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(input))
    }

    /// Lets the user edit the file at `path` with the editor they want. An error when it did not start; otherwise whether it
    /// ended well.
    pub fn edit(&self, path: &Path) -> io::Result<bool> {
        let editor = EDITORS.iter().find_map(|name| self.env_os(name)).unwrap_or_else(|| "vi".into());
        // As git does: the variable is a command line of the user's own shell.
        let mut script = editor;
        script.push(" \"$@\"");
        let script = ["sh".into(), "-c".into(), script, "editor".into(), path.into()];
        Ok(self.run(&script, Path::new("."), (LOOPX_EDITING, "1"))? == Ended::Exit(0))
    }

    /// Standard input and output with nothing kept back in between.
    pub fn streams(&self) -> io::Result<(File, File)> {
        use std::os::fd::AsFd as _;
        let (input, output) = (io::stdin(), io::stdout());
        Ok((input.as_fd().try_clone_to_owned()?.into(), output.as_fd().try_clone_to_owned()?.into()))
    }

    /// The folders in which programs are looked for.
    pub fn search_path(&self) -> Vec<PathBuf> {
        self.env_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default()
    }

    /// Has OpenSSH sign `text` for the purpose `namespace` with `key`: a file with a private key, or with a public one whose
    /// private half an agent or a piece of hardware has, or the public key itself. Whatever it wants to be told it asks whoever
    /// sits at the terminal. Nothing when it did not sign, which it has told.
    pub fn sign(
        &self,
        program: Option<&str>,
        key: &str,
        namespace: &str,
        text: &str,
    ) -> io::Result<Option<String>> {
        let dir = tempfile::tempdir()?;
        let decision = dir.path().join("decision");
        std::fs::write(&decision, text)?;
        let mut command = Command::new(program.unwrap_or("ssh-keygen"));
        if program.is_none() {
            command.arg("-q");
        }
        command.args(["-Y", "sign", "-n", namespace]);
        let literal = key
            .strip_prefix("key::")
            .or_else(|| (key.starts_with("ssh-") || key.starts_with("sk-")).then_some(key));
        match literal {
            Some(public) => {
                let file = dir.path().join("key.pub");
                std::fs::write(&file, format!("{public}\n"))?;
                command.arg("-U").arg("-f").arg(file);
            }
            None => drop(command.arg("-f").arg(key)),
        }
        if !command.arg(&decision).stdout(Stdio::null()).status()?.success() {
            return Ok(None);
        }
        std::fs::read_to_string(dir.path().join("decision.sig")).map(Some)
    }

    /// Has GnuPG sign `text` with the key that `key` names. Whatever its agent wants to be told it asks whoever sits at the terminal.
    /// Nothing when it did not sign, which it has told.
    pub fn sign_openpgp(&self, program: Option<&str>, key: &str, text: &str) -> io::Result<Option<String>> {
        use std::os::unix::ffi::OsStringExt as _;
        let mut command = Command::new(program.unwrap_or("gpg"));
        // As git calls it, since it may be a program of the user's that understands no more.
        command.args(["-bsau", key]).stdin(Stdio::piped()).stdout(Stdio::piped());
        if self.env_os("GPG_TTY").is_none()
            && let Ok(name) = rustix::termios::ttyname(io::stdin(), Vec::new())
        {
            command.env("GPG_TTY", std::ffi::OsString::from_vec(name.into_bytes()));
        }
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that does not read all of it signs something else, which is found out.
            let _ = stdin.write_all(text.as_bytes());
        }
        let told = child.wait_with_output()?;
        Ok(told.status.success().then(|| String::from_utf8(told.stdout).ok()).flatten())
    }

    /// The terminal that controls this process, to talk to whoever sits there whatever the streams are tied to.
    pub fn terminal(&self) -> io::Result<Terminal> {
        let open = || File::options().read(true).write(true).open("/dev/tty");
        open().map(|file| Terminal { file })
    }

    /// Prints to standard output. A reader that went away is no fault: what was done is done.
    pub fn out(&self, text: &str) -> io::Result<()> {
        self.out_bytes(text.as_bytes())
    }

    /// The same for what may be no text.
    pub fn out_bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether standard output is a terminal.
    pub fn stdout_is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Lets `write` print to what a shell makes of `pager`, or to standard output without one, until it is done or its
    /// reader has gone.
    pub fn paged(
        &self,
        pager: Option<&str>,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let started = pager.and_then(|pager| {
            let mut command = Command::new("sh");
            command.args(["-c", pager]).stdin(Stdio::piped());
            // As git does it: less ends where everything fits on a screen.
            for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
                if env::var_os(name).is_none() {
                    command.env(name, value);
                }
            }
            command.spawn().ok()
        });
        let Some(mut child) = started else {
            let mut out = io::BufWriter::new(io::stdout().lock());
            return unless_gone(write(&mut out).and_then(|()| out.flush()));
        };
        let written = match child.stdin.take() {
            Some(pipe) => {
                let mut pipe = io::BufWriter::new(pipe);
                unless_gone(write(&mut pipe).and_then(|()| pipe.flush()))
            }
            None => Ok(()),
        };
        child.wait()?;
        written
    }

    /// Prints to standard error.
    pub fn err(&self, text: &str) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// A reader that went away is no fault.
fn unless_gone(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn started_in(argv: &[OsString], dir: &Path) -> io::Result<Command> {
    let (program, args) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(args).current_dir(dir);
    Ok(command)
}

/// What was seen of a command while it ran.
#[derive(Debug)]
pub struct Overheard {
    pub ended: Ended,
    pub cut: Option<Cut>,
    /// None when nothing was written.
    pub stdout: Option<Stream>,
    pub stderr: Option<Stream>,
}

/// What a command wrote to one stream.
#[derive(Debug)]
pub struct Stream {
    pub heard: Heard,
    /// All of it, if it was to be kept and fitted.
    pub whole: Option<Vec<u8>>,
}

/// So much is kept of how a stream begins, and of how it ends.
const HEAD: usize = 2 * 1024;
const TAIL: usize = 6 * 1024;
/// So long is listened to what a command left running.
const LISTENING_ON: Duration = Duration::from_millis(500);
/// So long a command has to end by itself once it was told to.
const MERCY: Duration = Duration::from_secs(2);

/// Listens to a stream, and remembers a bounded part of it.
struct Ear {
    bytes: u64,
    digest: Sha256,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    whole: Option<Vec<u8>>,
    room: usize,
    is_passing_on: bool,
}

impl Ear {
    fn new(room: usize) -> Self {
        let whole = (room > 0).then(Vec::new);
        Self {
            bytes: 0,
            digest: Sha256::new(),
            head: Vec::new(),
            tail: VecDeque::new(),
            whole,
            room,
            is_passing_on: false,
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        self.is_passing_on = true;
        self.bytes += bytes.len() as u64;
        self.digest.update(bytes);
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend(head);
        self.tail.extend(rest);
        let too_much = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..too_much);
        match &mut self.whole {
            Some(whole) if whole.len() + bytes.len() <= self.room => whole.extend(bytes),
            whole => *whole = None,
        }
    }

    fn heard(&self) -> Option<Stream> {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let heard = || Heard::of(self.bytes, &self.digest.clone().finalize(), &self.head, &tail);
        (self.bytes > 0).then(|| Stream { heard: heard(), whole: self.whole.clone() })
    }
}

/// Passes on what comes out of `pipe`, and lets `ear` hear it. `done` is dropped at its end.
fn listen(
    mut pipe: impl io::Read + Send + 'static,
    mut on: impl io::Write + Send + 'static,
    ear: &Arc<Mutex<Ear>>,
    done: &mpsc::Sender<()>,
) {
    let (ear, done) = (Arc::clone(ear), done.clone());
    thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        loop {
            let read = match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            ear.lock().unwrap_or_else(PoisonError::into_inner).hear(&buffer[..read]);
            // Whoever looked at it may have gone; the command is not to notice.
            let _ = on.write_all(&buffer[..read]).and_then(|()| on.flush());
            ear.lock().unwrap_or_else(PoisonError::into_inner).is_passing_on = false;
        }
        drop(done);
    });
}

/// What was heard of a command that ran.
#[derive(Debug)]
pub struct Listened {
    /// How it ended, if it did in time.
    pub ended: Option<Ended>,
    pub words: Words,
}

/// Head and tail of what a command printed.
#[derive(Debug, Default)]
pub struct Words {
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
    /// Bytes between the two.
    pub left_out: u64,
}

impl Words {
    /// Most bytes of either.
    const MOST: usize = 8 * 1024;

    fn of(mut reader: impl io::Read) -> Self {
        let mut words = Self::default();
        let mut buffer = [0; 8 * 1024];
        while let Ok(read @ 1..) = reader.read(&mut buffer) {
            let (head, rest) = buffer[..read].split_at(read.min(Self::MOST - words.head.len()));
            words.head.extend_from_slice(head);
            words.tail.extend_from_slice(rest);
            let over = words.tail.len().saturating_sub(Self::MOST);
            words.tail.drain(..over);
            words.left_out += over as u64;
        }
        words
    }
}

fn how(status: ExitStatus) -> Ended {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exit(byte(code)),
        (None, signal) => Ended::Signal(byte(signal.unwrap_or_default())),
    }
}

/// A controlling terminal.
#[derive(Debug)]
pub struct Terminal {
    file: File,
}

impl Terminal {
    /// Shows `prompt` and waits for one key, which is not shown by itself; `None` at the end of input and for Ctrl-C. What was
    /// typed before, or pasted behind the key, is not kept.
    pub fn key(&mut self, prompt: &str) -> io::Result<Option<char>> {
        use rustix::termios::{
            InputModes, LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr,
        };
        let usual = tcgetattr(&self.file)?;
        let mut raw = usual.clone();
        // Signals, too: killed in between, we would leave a terminal that shows nothing.
        raw.local_modes &= !(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        raw.input_modes &= !InputModes::IXON;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&self.file, OptionalActions::Flush, &raw)?;
        let mut byte = [0];
        let read = self.show(prompt).and_then(|()| {
            loop {
                match self.file.read(&mut byte) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read,
                }
            }
        });
        tcsetattr(&self.file, OptionalActions::Flush, &usual)?;
        let end = [0x03, 0x04, 0x1c];
        Ok((read? == 1 && !end.contains(&byte[0])).then(|| char::from(byte[0])))
    }

    /// Shows text.
    pub fn show(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        self.file.flush()
    }

    /// Waits for one line, at most 1,000 bytes; `None` at the end of input.
    pub fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let mut byte = [0];
        while line.len() < 1_000 {
            match self.file.read(&mut byte) {
                Ok(0) if line.is_empty() => return Ok(None),
                Ok(0) => break,
                Ok(_) if byte[0] == b'\n' => break,
                Ok(_) => line.push(byte[0]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()))
    }
}
