//! The whole story in a scratch repository: a goal, two todos, a gate, a refused push, a person's answer, the push.
//!
//! It plays with the real programs, git and loopx, in a temporary folder with a home of its own, and leaves nothing
//! behind. At a terminal it stops at the gate and lets whoever sits there answer. Without one it plays the person, too,
//! on a pseudo-terminal; that is of use in the scratch repository alone, because the answer it types is sent to a loopx
//! that it started there itself.
#![expect(clippy::disallowed_methods, reason = "the demo plays a user, who starts git and loopx")]

use std::{
    ffi::OsStr,
    fs,
    io::{Read as _, Write as _},
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::Serialize;

use crate::{
    error::{Error, Kind},
    process::Process,
};

/// What was played. JSON: `steps`, each with `command`, `output`, `exit_code`, and `pushed`: the gate was approved and
/// the second push went through.
#[derive(Debug, Serialize)]
pub struct Told {
    pub steps: Vec<Step>,
    pub pushed: bool,
}

/// One command of the story.
#[derive(Debug, Serialize)]
pub struct Step {
    pub command: String,
    pub output: String,
    pub exit_code: i32,
}

/// Plays the story; narrates on standard output unless `quiet`.
pub fn play(process: &Process, quiet: bool) -> Result<Told, Error> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted)).map_err(failed("watch for Ctrl-C"))?;
    }
    let scratch =
        tempfile::Builder::new().prefix("loopx-demo-").tempdir().map_err(failed("make a scratch folder"))?;
    let stage = Stage {
        process,
        quiet,
        root: scratch.path().canonicalize().map_err(failed("find the scratch folder"))?,
        loopx: process.program().map_err(failed("find loopx itself"))?,
        interrupted,
    };
    let told = stage.play();
    scratch.close().map_err(failed("remove the scratch folder"))?;
    told
}

const GATE: &str = "publish-client";

struct Stage<'p> {
    process: &'p Process,
    quiet: bool,
    root: PathBuf,
    loopx: PathBuf,
    interrupted: Arc<AtomicBool>,
}

impl Stage<'_> {
    fn play(&self) -> Result<Told, Error> {
        let mut steps = Vec::new();
        self.set_the_stage()?;

        self.say("A user sets a repository up. State goes to a branch of its own; a hook guards pushes.");
        steps.push(self.loopx("", "init --goal-text 'Publish the API client'", 0)?);
        self.say("An agent plans its work and takes what may happen next.");
        steps.push(self.loopx("codex-1", "todo add 'Generate the client' --priority p1", 0)?);
        steps.push(self.loopx("codex-1", "todo add 'Write the release notes'", 0)?);
        let answer = self.loopx("codex-1", "quota should-run", 0)?;
        let todo = answer
            .output
            .split_whitespace()
            .find(|word| word.starts_with("t-"))
            .unwrap_or("t-")
            .trim_end_matches(':')
            .to_owned();
        steps.push(answer);
        steps.push(self.loopx("codex-1", &format!("todo claim {todo}"), 0)?);
        self.say("It works, keeps evidence, completes the todo.");
        fs::write(self.root.join("repo/client.txt"), "generated\n").map_err(failed("write a file"))?;
        steps.push(self.git("add client.txt", 0)?);
        steps.push(self.git("commit -q -m 'Add the client'", 0)?);
        steps.push(self.loopx("codex-1", &format!("evidence add {todo} --commit HEAD"), 0)?);
        steps.push(self.loopx("codex-1", &format!("todo done {todo}"), 0)?);
        self.say("Publishing is not for an agent to decide: it asks, and everything waits.");
        let open = format!("gate open 'Publish the client to everyone?' --gate-id {GATE}");
        steps.push(self.loopx("codex-1", &open, 0)?);
        steps.push(self.loopx("codex-1", "quota should-run", 10)?);
        steps.push(self.git("push origin main", 1)?);
        self.say("It cannot answer its own question.");
        let resolve = format!("gate resolve {GATE} --decision approve");
        steps.push(self.loopx("codex-1", &resolve, 1)?);

        let at_terminal = !self.quiet && self.process.stdin_is_terminal() && self.process.terminal().is_ok();
        let answered = if at_terminal {
            self.say("You are at a terminal, so the answer is yours.");
            self.let_the_user_answer(&resolve)?
        } else {
            self.say("A person answers, on a terminal that the demo brought along.");
            self.play_the_person(&resolve)?
        };
        let approved = answered.exit_code == 0;
        steps.push(answered);
        self.say(if approved {
            "The same push goes through."
        } else {
            "Without a yes, the push stays where it is."
        });
        let pushed = self.git("push origin main", i32::from(!approved))?;
        steps.push(pushed);
        self.say("The history of the state branch is the story.");
        steps.push(self.git("log --oneline loopx/state", 0)?);
        self.tell("\nNothing of this is left. To begin for real: run `loopx init` in your own repository.\n");
        Ok(Told { steps, pushed: approved })
    }

    /// What comes before the story: a repository with a remote.
    fn set_the_stage(&self) -> Result<(), Error> {
        for dir in ["home", "repo"] {
            fs::create_dir(self.root.join(dir)).map_err(failed("make a scratch folder"))?;
        }
        let config = "[user]\n\tname = Demo\n\temail = demo@example.test\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n";
        fs::write(self.root.join("home/.gitconfig"), config).map_err(failed("write a file"))?;
        fs::write(self.root.join("repo/README"), "An API\n").map_err(failed("write a file"))?;
        for command in [
            "init -q .",
            "init -q --bare ../hub.git",
            "remote add origin ../hub.git",
            "add README",
            "commit -q -m 'Begin'",
            "push -q origin main",
        ] {
            self.run(self.command(OsStr::new("git"), command), "git", command, Some(0))?;
        }
        Ok(())
    }

    fn loopx(&self, agent: &str, args: &str, expected: i32) -> Result<Step, Error> {
        let mut command = self.command(self.loopx.as_os_str(), args);
        if !agent.is_empty() {
            command.env(crate::process::LOOPX_AGENT_ID, agent);
        }
        let who = if agent.is_empty() { "you" } else { agent };
        self.tell(&format!("\n{who}$ loopx {args}\n"));
        self.run(command, "loopx", args, Some(expected))
    }

    fn git(&self, args: &str, expected: i32) -> Result<Step, Error> {
        self.tell(&format!("\n$ git {args}\n"));
        self.run(self.command(OsStr::new("git"), args), "git", args, Some(expected))
    }

    /// Runs a command and shows what it prints. Another exit code than the story has is the demo's own fault.
    fn run(
        &self,
        mut command: Command,
        program: &str,
        args: &str,
        expected: Option<i32>,
    ) -> Result<Step, Error> {
        let output =
            command.stdin(std::process::Stdio::null()).output().map_err(failed("start a program"))?;
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        self.tell(&text);
        let exit_code = output.status.code().unwrap_or(-1);
        self.check_interrupted()?;
        let command = format!("{program} {args}");
        if expected.is_some_and(|expected| expected != exit_code) {
            return Err(Error::new(
                Kind::Bug,
                format!("the demo's `{command}` ended with {exit_code}: {}", text.trim()),
            ));
        }
        Ok(Step { command, output: text, exit_code })
    }

    /// Gives the terminal to loopx until the question is answered, three times at most.
    fn let_the_user_answer(&self, args: &str) -> Result<Step, Error> {
        let mut exit_code = -1;
        for _ in 0..3 {
            self.tell(&format!("\nyou$ loopx {args}\n"));
            let status =
                self.command(self.loopx.as_os_str(), args).status().map_err(failed("start loopx"))?;
            self.check_interrupted()?;
            exit_code = status.code().unwrap_or(-1);
            if exit_code == 0 {
                break;
            }
        }
        Ok(Step { command: format!("loopx {args}"), output: String::new(), exit_code })
    }

    /// Answers as a person would, on a pseudo-terminal.
    fn play_the_person(&self, args: &str) -> Result<Step, Error> {
        let pty = |error: pty_process::Error| {
            Error::new(Kind::Environment, format!("cannot open a pseudo-terminal: {error}"))
        };
        let (mut terminal, pts) = pty_process::blocking::open().map_err(pty)?;
        let command = pty_process::blocking::Command::new(&self.loopx).args(words(args)).env_clear();
        let command = command.envs(self.environment()).current_dir(self.root.join("repo"));
        let mut child = command.spawn(pts).map_err(pty)?;
        let mut shown = Vec::new();
        let mut buffer = [0; 4096];
        let mut answered = false;
        // A terminal ends with an error when its last user has gone.
        while let Ok(read @ 1..) = terminal.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..read]);
            if !answered && shown.ends_with(b"`: ") {
                terminal.write_all(format!("{GATE}\n").as_bytes()).map_err(failed("type the answer"))?;
                answered = true;
            }
        }
        let status = child.wait().map_err(failed("wait for loopx"))?;
        let output = String::from_utf8_lossy(&shown).replace("\r\n", "\n");
        self.tell(&format!("\nyou$ loopx {args}\n{output}"));
        self.check_interrupted()?;
        Ok(Step { command: format!("loopx {args}"), output, exit_code: status.code().unwrap_or(-1) })
    }

    fn command(&self, program: &OsStr, args: &str) -> Command {
        let mut command = Command::new(program);
        command.args(words(args)).env_clear().envs(self.environment()).current_dir(self.root.join("repo"));
        command
    }

    /// The user's `PATH` and terminal, and nothing else of theirs.
    fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        let mut environment = vec![
            ("HOME", self.root.join("home")),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_CONFIG_GLOBAL", self.root.join("home/.gitconfig")),
        ];
        let kept =
            ["PATH", "TERM"].map(|name| self.process.env_os(name).map(|value| (name, PathBuf::from(value))));
        environment.extend(kept.into_iter().flatten());
        environment
    }

    fn say(&self, text: &str) {
        self.tell(&format!("\n# {text}\n"));
    }

    fn tell(&self, text: &str) {
        if !self.quiet {
            // The story goes on for whoever still reads it.
            let _ = self.process.out(&text.replace(&self.root.display().to_string(), "…"));
        }
    }

    fn check_interrupted(&self) -> Result<(), Error> {
        match self.interrupted.load(Ordering::Relaxed) {
            true => Err(Error::new(Kind::Refused, "the demo was interrupted; nothing of it is left")),
            false => Ok(()),
        }
    }
}

/// Splits the demo's own command lines; quotes keep words together.
fn words(line: &str) -> Vec<String> {
    let quoted = line.split('\'').enumerate();
    quoted
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

fn failed(doing: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    move |error| {
        Error::new(Kind::Environment, format!("the demo cannot {doing}: {error}"))
            .hint("the demo needs `git` on the `PATH` and room in the temporary folder")
    }
}
