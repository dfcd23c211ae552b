//! One real repository, what was acknowledged in it, and the judgement on it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::sealed;

/// How a command ended; killed ones have no code.
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// What a fault came to.
pub(crate) struct Verdict {
    /// What is wrong, where it was not survived.
    pub(crate) survived: Result<(), String>,
    /// What the next command said.
    pub(crate) said: String,
}

/// A clone with loopx and one goal.
pub(crate) struct Repo {
    root: tempfile::TempDir,
    pub(crate) top: PathBuf,
    /// The texts of the mutations that were acknowledged.
    kept: BTreeSet<String>,
    /// The same and those of killed ones, which may be there or not.
    possible: BTreeSet<String>,
    number: usize,
    /// A repository that nothing may change, and how it looked.
    witness: Option<(PathBuf, String)>,
}

impl Output {
    pub(crate) fn is_clean(&self) -> bool {
        self.code == Some(0) && self.stderr.is_empty()
    }

    /// Refuses anything but success or one sentence with a hint.
    pub(crate) fn must_be_clear(&self) -> Result<(), String> {
        let count = |what: &str| self.stderr.lines().filter(|line| line.starts_with(what)).count();
        let is_clear =
            count("error: ") == 1 && count("hint: ") > 0 && !self.stderr.contains("a fault of loopx");
        match self.code {
            Some(0) => Ok(()),
            Some(_) if is_clear => Ok(()),
            code => Err(format!("ended with {code:?}: {}", self.stderr.trim())),
        }
    }

    /// The command that the first hint or warning gives.
    fn cure(&self) -> Option<String> {
        let line = self.stderr.lines().find(|line| line.starts_with("hint: ") || line.contains("(run `"))?;
        if line.contains("move it away") {
            return Some("mv .loopx ../away && loopx init".into());
        }
        let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        if line.contains("remove that file") {
            return quoted(&self.stderr).first().map(|file| format!("rm '{file}'"));
        }
        let is_command = |text: &String| ["loopx ", "git ", "rm "].iter().any(|name| text.starts_with(name));
        let commands: Vec<_> = quoted(line).into_iter().filter(is_command).collect();
        (!commands.is_empty()).then(|| commands.join(" && "))
    }

    /// The first sentence and the first hint.
    fn said(&self, root: &Path) -> String {
        let line = |what: &str| self.stderr.lines().find_map(|line| line.strip_prefix(what));
        let text = match (self.code, line("error: "), line("hint: "), line("warning: ")) {
            (Some(0), _, _, None) => "done".to_owned(),
            (Some(0), _, _, Some(warning)) => format!("done; warning: {warning}"),
            (_, Some(error), Some(hint), _) => format!("{error}; hint: {hint}"),
            _ => self.stderr.trim().replace('\n', " "),
        };
        plain(&text.replace(&format!("{}/", root.display()), "").replace("repo/", ""))
    }
}

/// Ids of objects and todos become `…`.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        let is_object = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_id = is_object || plain.ends_with("/t-");
        plain.push_str(if is_id { "…" } else { &word });
        word.clear();
        plain.push(c);
    }
    plain.trim_end().to_owned()
}

impl Repo {
    pub(crate) fn new() -> Self {
        Self::in_folder(&std::env::temp_dir())
    }

    pub(crate) fn in_folder(folder: &Path) -> Self {
        let root = tempfile::tempdir_in(folder).expect("a folder");
        let top = root.path().canonicalize().expect("a path").join("repo");
        let (kept, possible) = Default::default();
        let mut repo = Self { root, top, kept, possible, number: 0, witness: None };
        fs::create_dir(&repo.top).expect("a folder");
        sealed::furnish(repo.root.path());
        repo.git(&["init", "-q"]);
        repo.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
        repo.loopx(&["init", "--goal-text", "Ship it", "--goal-id", "ship"]);
        for _ in 0..4 {
            assert!(repo.mutate().is_clean(), "a healthy repository works");
        }
        repo
    }

    pub(crate) fn run(&self, program: &str, args: &[&str]) -> Output {
        finish(sealed::command(self.root.path(), &self.top, program, args))
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.run("git", args);
        assert_eq!(output.code, Some(0), "git {args:?}: {}", output.stderr);
        output.stdout
    }

    fn loopx(&self, args: &[&str]) {
        let output = self.run(sealed::program(), args);
        assert_eq!(output.code, Some(0), "loopx {args:?}: {}", output.stderr);
    }

    /// Runs a line of shell in which `loopx` is the one under test.
    pub(crate) fn shell(&self, script: &str) -> Output {
        let script = format!("loopx() {{ '{}' \"$@\"; }}; set -e; {script}", sealed::program());
        self.run("sh", &["-c", &script])
    }

    /// The next mutation, and its text: a todo and a gate in turn.
    pub(crate) fn next(&mut self) -> (String, Command) {
        self.number += 1;
        let text = format!("work {}", self.number);
        let command = self.mutation(self.number.is_multiple_of(2), &text);
        (text, command)
    }

    pub(crate) fn mutation(&self, asks: bool, text: &str) -> Command {
        let args: &[&str] =
            if asks { &["gate", "open", text, "--blocks", "publish"] } else { &["todo", "add", text] };
        sealed::command(self.root.path(), &self.top, sealed::program(), args)
    }

    /// Runs the next mutation and remembers what it acknowledged.
    pub(crate) fn mutate(&mut self) -> Output {
        let (text, command) = self.next();
        let output = finish(command);
        self.remember(text, output.code);
        output
    }

    /// Remembers a mutation that ended with this code: 0 has to be there, none may be, another must not.
    pub(crate) fn remember(&mut self, text: String, code: Option<i32>) {
        if code == Some(0) {
            self.kept.insert(text.clone());
        }
        if matches!(code, Some(0) | None) {
            self.possible.insert(text);
        }
    }

    /// Goes on in another folder beside the repository.
    pub(crate) fn go_to(&mut self, folder: &str) {
        self.top = self.top.with_file_name(folder);
    }

    /// From now on the repository as it is must not change; the work goes on in a copy of it.
    pub(crate) fn go_to_copy(&mut self, folder: &str) {
        self.witness = Some((self.top.clone(), self.looks(&self.top)));
        self.go_to(folder);
    }

    fn looks(&self, top: &Path) -> String {
        let top = top.to_str().expect("a path");
        let script = format!(
            "cd '{top}'; git rev-parse loopx/state; git -C .loopx rev-parse HEAD; git -C .loopx status --porcelain; \
             cat .loopx/.git .git/worktrees/-loopx/gitdir; find .loopx -type f | sort | xargs cksum"
        );
        let output = self.shell(&script);
        format!("{:?}{}{}", output.code, output.stdout, output.stderr)
    }

    /// Runs the next command, does what it asks for, and looks at everything.
    pub(crate) fn judge(&mut self) -> Verdict {
        let next = self.mutate();
        let mut said = next.said(&self.place());
        let healed = self.follow(next).and_then(|()| self.heal_view());
        if healed == Ok(true) {
            said.push_str("; `loopx doctor` names the files in `.loopx/` and the cure");
        }
        Verdict { survived: healed.and_then(|_| self.must_be_sound()), said }
    }

    /// The same for what loopx cannot put right: it has to say so, and works again after `undo`.
    pub(crate) fn judge_after(&mut self, undo: &str) -> Verdict {
        let next = self.mutate();
        let said = next.said(&self.place());
        let undone = next.must_be_clear().and_then(|()| match self.shell(undo) {
            Output { code: Some(0), .. } => Ok(()),
            output => Err(format!("`{undo}`: {}", output.stderr)),
        });
        let survived = undone.and_then(|()| self.judge().survived);
        Verdict { survived, said }
    }

    fn place(&self) -> PathBuf {
        self.root.path().canonicalize().expect("a path")
    }

    /// Does what a command asks for until the next one has nothing to ask.
    fn follow(&mut self, mut output: Output) -> Result<(), String> {
        for _ in 0..3 {
            output.must_be_clear()?;
            match output.cure() {
                Some(cure) => self.heal(&cure)?,
                None if output.code == Some(0) => return Ok(()),
                None => return Err(format!("no cure: {}", output.stderr)),
            }
            output = self.mutate();
        }
        if output.is_clean() { Ok(()) } else { Err(format!("no cure helps: {}", output.stderr)) }
    }

    /// Runs a cure. One that refuses has to name what is to be done first.
    fn heal(&self, cure: &str) -> Result<(), String> {
        let cured = self.shell(cure);
        if cured.code == Some(0) {
            return Ok(());
        }
        cured.must_be_clear()?;
        let first = cured.cure().filter(|first| first != cure);
        let again = first.map(|first| self.shell(&first));
        must(again.is_some_and(|again| again.code == Some(0)), || {
            format!("the cure `{cure}` does not work: {}", cured.stderr)
        })
    }

    /// Brings `.loopx/` up to the branch where no mutation does that, as `loopx doctor` says. Whether there was need
    /// to and it helped.
    fn heal_view(&self) -> Result<bool, String> {
        if self.view_trouble().is_empty() {
            return Ok(false);
        }
        let doctor = self.run(sealed::program(), &["doctor"]);
        let mut cures =
            doctor.stdout.lines().filter_map(|line| line.strip_prefix("  run `")?.strip_suffix('`'));
        cures.try_for_each(|cure| self.heal(cure))?;
        Ok(self.view_trouble().is_empty())
    }

    fn view_trouble(&self) -> String {
        let script = "git -C .loopx status --porcelain --untracked-files=no; git -C .loopx rev-parse HEAD";
        let view = self.shell(script);
        let tip = self.run("git", &["rev-parse", "loopx/state"]).stdout;
        if view.stdout == tip { String::new() } else { format!("{}{}", view.stdout, view.stderr) }
    }

    /// The branch has what was acknowledged, each thing once, nothing half done, and git and loopx find no fault.
    pub(crate) fn must_be_sound(&self) -> Result<(), String> {
        let fsck = self.run("git", &["fsck", "--full", "--strict", "--no-dangling"]);
        must(fsck.is_clean() && fsck.stdout.is_empty(), || {
            format!("git fsck: {}{}", fsck.stdout, fsck.stderr)
        })?;
        let verify = self.run(sealed::program(), &["verify", "--all"]);
        must(verify.is_clean(), || format!("loopx verify: {}{}", verify.stdout, verify.stderr))?;
        let found = [self.texts("todo", "title")?, self.texts("gate", "question")?].concat();
        let distinct: BTreeSet<String> = found.iter().cloned().collect();
        must(distinct.len() == found.len(), || "something was done twice".into())?;
        let lost: Vec<_> = self.kept.difference(&distinct).collect();
        must(lost.is_empty(), || format!("acknowledged and lost: {lost:?}"))?;
        let extra: Vec<_> = distinct.difference(&self.possible).collect();
        must(extra.is_empty(), || format!("refused and yet done: {extra:?}"))?;
        let trouble = self.view_trouble();
        must(trouble.is_empty(), || format!("the view is not the branch: {trouble}"))?;
        let locks = self.shell("find .git -name '*.lock'").stdout;
        must(locks.is_empty(), || format!("locks are left: {locks}"))?;
        self.witness.as_ref().map_or(Ok(()), |(top, looked)| {
            let looks = self.looks(top);
            must(looks == *looked, || format!("the original changed: {looked} {looks}"))
        })
    }

    /// How many acknowledged mutations the branch has.
    pub(crate) fn found(&self) -> usize {
        let found = [self.texts("todo", "title"), self.texts("gate", "question")];
        found.into_iter().flatten().flatten().filter(|text| self.kept.contains(text)).count()
    }

    fn texts(&self, noun: &str, field: &str) -> Result<Vec<String>, String> {
        let listed = self.run(sealed::program(), &[noun, "list", "--all", "--json"]);
        must(listed.is_clean(), || format!("loopx {noun} list: {}", listed.stderr))?;
        let listed: serde_json::Value =
            serde_json::from_str(&listed.stdout).map_err(|error| error.to_string())?;
        let records = listed[format!("{noun}s")].as_array().cloned().unwrap_or_default();
        Ok(records.iter().filter_map(|record| record[field].as_str().map(str::to_owned)).collect())
    }
}

fn must(holds: bool, problem: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(problem()) }
}

pub(crate) fn finish(mut command: Command) -> Output {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    Output {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
