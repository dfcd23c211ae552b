//! `pre-push`: git gives the remote as arguments and one line for each ref on standard input, and pushes nothing when
//! this fails. The contract is git's `githooks(5)`.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{
    domain::{gate::Act, push::Verdict, text::shown},
    error::{Error, Kind},
    ops::{
        Ctx,
        enforcement::{is_said_already, rest},
        push::{Line, Remote, check, note},
    },
    process::{GIT_EXEC_PATH, Process},
    text::Held,
};

/// Most bytes of refs that are read: a million refs.
pub(super) const LIMIT: u64 = 256 * 1024 * 1024;

/// What made git ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    /// Its configuration names this hook. A hook file may ask the same question a moment later.
    Config,
    /// Our part of a hook file, which passes on what git sent to the rest of it, with `end` after it: a shell takes the last
    /// line break away otherwise.
    HookFile { end: String },
    /// A hook file that loopx made, of which we go on with what stands behind our part.
    HookFileOfOurs { file: PathBuf },
    /// A line of the user's in a hook of theirs.
    Hand,
}

pub(super) fn run(
    process: &Process,
    remote: &Remote,
    asked: Asked,
    ctx: impl FnOnce() -> Result<Ctx, Error>,
) -> u8 {
    if process.stdin_is_terminal() {
        let usage = Error::new(
            Kind::Usage,
            "git calls this and sends refs on standard input; it is not for terminals",
        )
        .hint("run `loopx hooks status` to see whether pushes are guarded");
        process.err(&usage.to_string());
        return Kind::Usage.exit_code();
    }
    let input = process
        .stdin(LIMIT)
        .map_err(|error| Error::new(Kind::Environment, format!("cannot read what git sends: {error}")));
    let refused = match input.and_then(|input| Ok((judge(process, remote, &input, ctx)?, input))) {
        Ok((None, input)) => return pass_on(process, remote, &asked, input),
        Ok((Some(refused), _)) => refused,
        Err(error) => format!("loopx: push refused: whether a question is open cannot be seen\n{error}"),
    };
    let exec_path = process.env_os(GIT_EXEC_PATH).filter(|_| asked != Asked::Config);
    let is_said = exec_path.zip(process.cwd().ok()).is_some_and(|(path, cwd)| is_said_already(&path, &cwd));
    if !is_said {
        process.err(&refused);
    }
    Kind::Refused.exit_code()
}

/// Lets whoever comes after us in a hook file go on with what git `sent`. Returns the exit code.
fn pass_on(process: &Process, remote: &Remote, asked: &Asked, mut sent: Vec<u8>) -> u8 {
    let refused = match asked {
        Asked::Config | Asked::Hand => return 0,
        Asked::HookFile { end } => {
            sent.extend_from_slice(end.as_bytes());
            let passed_on = process.out_bytes(&sent).err();
            passed_on
                .map(|error| format!("loopx: push refused: what git sent cannot be passed on: {error}\n"))
        }
        Asked::HookFileOfOurs { file } => go_on(process, file, remote, &sent).map(|why| {
            format!(
                "loopx: push refused: what stands behind loopx's part of `{}` cannot be run: {why}\n\
                 hint: loopx hooks install\n",
                shown(&file.to_string_lossy(), 4096)
            )
        }),
    };
    // Whoever asked before us has not said this.
    match refused {
        None => 0,
        Some(refused) => {
            process.err(&refused);
            Kind::Refused.exit_code()
        }
    }
}

/// Becomes the rest of the hook, with the arguments and the input that git gave to it. Returns when there is none, or when
/// that cannot be done, and why.
fn go_on(process: &Process, hook: &Path, remote: &Remote, input: &[u8]) -> Option<String> {
    let (shell, script) = match rest(hook) {
        Ok(None) => return None,
        Ok(Some(rest)) => rest,
        Err(why) => return Some(why),
    };
    let mut argv: Vec<OsString> = shell.into_iter().map(Into::into).collect();
    argv.extend([script, hook.into(), remote.name.clone().into(), remote.url.clone().into()]);
    Some(process.turn_into(&argv, input).to_string())
}

/// What to say when the push is refused.
fn judge(
    process: &Process,
    remote: &Remote,
    input: &[u8],
    ctx: impl FnOnce() -> Result<Ctx, Error>,
) -> Result<Option<String>, Error> {
    let lines = parse(input)?;
    // git runs the hook even when there is nothing to push.
    if lines.is_empty() {
        return Ok(None);
    }
    verdict(process, &ctx()?, remote, &lines)
}

/// Judges a push and notes what was said of it. Returns what to say when it is refused.
pub(super) fn verdict(
    process: &Process,
    ctx: &Ctx,
    remote: &Remote,
    lines: &[Line],
) -> Result<Option<String>, Error> {
    let checked = check(ctx, remote, lines);
    let allowed = checked.as_ref().is_ok_and(|checked| checked.verdict == Verdict::Allowed);
    if let (Err(error), true) = (note(ctx, &remote.name, lines, allowed), allowed) {
        let what = "this push is allowed, and will look like one that went round the hook";
        process.err(&format!("loopx: {what}: {}\n", error.message));
    }
    let checked = checked?;
    Ok(match &checked.verdict {
        Verdict::Allowed => None,
        Verdict::Refused(reasons) => Some(Held(Act::Push, reasons, checked.at).to_string()),
    })
}

/// Reads `<local ref> <local id> <remote ref> <remote id>` lines. The local ref is as the user typed it, so it may
/// have spaces in it; the other three never do. What does not read like that refuses the push.
fn parse(input: &[u8]) -> Result<Vec<Line>, Error> {
    let odd = |line: &str| {
        Error::new(
            Kind::Refused,
            format!("git sent a line that loopx does not understand: `{}`", shown(line, 200)),
        )
    };
    let text = String::from_utf8_lossy(input);
    let Some(text) = text.strip_suffix('\n') else {
        return if text.is_empty() { Ok(Vec::new()) } else { Err(odd(&text)) };
    };
    text.split('\n')
        .map(|line| {
            let mut fields = line.rsplitn(4, ' ');
            let (remote_id, remote, local_id, local) =
                (fields.next(), fields.next(), fields.next(), fields.next());
            match (local, local_id.and_then(id), remote, remote_id.and_then(id)) {
                (Some(local), Some(local_id), Some(remote), Some(remote_id))
                    if !local.is_empty() && !remote.is_empty() =>
                {
                    Ok(Line { local: local.to_owned(), local_id, remote: remote.to_owned(), remote_id })
                }
                _ => Err(odd(line)),
            }
        })
        .collect()
}

/// An object id in hex; the inner `None` for git's all-zero one.
pub(super) fn id(hex: &str) -> Option<Option<String>> {
    let legal = [40, 64].contains(&hex.len())
        && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    legal.then(|| hex.bytes().any(|b| b != b'0').then(|| hex.to_owned()))
}

/// Looks whether reading these bytes keeps its promise: what is understood says all that was sent.
#[cfg(any(test, fuzzing))]
pub(super) fn promises(bytes: &[u8]) {
    let Ok(read) = parse(bytes) else { return };
    let hex = |id: &Option<String>| id.clone().unwrap_or_default();
    let line = |line: &Line| {
        format!("{} {} {} {}\n", line.local, hex(&line.local_id), line.remote, hex(&line.remote_id))
    };
    let said: String = read.iter().map(line).collect();
    assert_eq!(without_null_ids(&said), without_null_ids(&String::from_utf8_lossy(bytes)));
}

/// For comparing what was sent with what was understood: how long a null id was is not kept.
#[cfg(any(test, fuzzing))]
pub(super) fn without_null_ids(text: &str) -> String {
    text.replace(&"0".repeat(64), "").replace(&"0".repeat(40), "")
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    const A: &str = "1111111111111111111111111111111111111111";
    const Z: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn lines_are_read_as_git_writes_them() {
        let line = |local: &str, local_id: Option<&str>, remote: &str, remote_id: Option<&str>| Line {
            local: local.into(),
            local_id: local_id.map(Into::into),
            remote: remote.into(),
            remote_id: remote_id.map(Into::into),
        };
        assert_eq!(parse(b"").unwrap(), []);
        let input = format!(
            "refs/heads/main {A} refs/heads/main {Z}\n(delete) {Z} refs/heads/x {A}\nHEAD~1 {A} refs/heads/y {A}\n:/fix the bug {A} refs/heads/z {Z}\n"
        );
        assert_eq!(
            parse(input.as_bytes()).unwrap(),
            [
                line("refs/heads/main", Some(A), "refs/heads/main", None),
                line("(delete)", None, "refs/heads/x", Some(A)),
                line("HEAD~1", Some(A), "refs/heads/y", Some(A)),
                line(":/fix the bug", Some(A), "refs/heads/z", None),
            ]
        );
        let sha256 = "a".repeat(64);
        assert!(parse(format!("refs/heads/main {sha256} refs/heads/main {sha256}\n").as_bytes()).is_ok());
    }

    #[test]
    fn anything_else_refuses_the_push() {
        for input in [
            "\n".to_owned(),
            "refs/heads/main".to_owned(),
            format!("refs/heads/main {A} refs/heads/main {A}"),
            format!("refs/heads/main {A} refs/heads/main\n"),
            format!("refs/heads/main {A} refs/heads/main {}\n", &A[1..]),
            format!("refs/heads/main {A} refs/heads/main {}g\n", &A[1..]),
            format!(" {A} refs/heads/main {A}\n"),
            format!("refs/heads/main {A} refs/heads/main {A}\n\n"),
            "\u{1b}[2J\n".to_owned(),
        ] {
            assert!(parse(input.as_bytes()).is_err(), "{input:?} passed");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// What is understood says all that was sent; whatever else is sent refuses the push.
        #[test]
        fn no_line_is_understood_in_part(
            lines in vec(("[^ \n]{0,6}( [^ \n]{0,3})?", "[01]{39,41}", "[^ \n]{0,6}", "[0a-g]{40}"), 0..4),
            end in "[\n ]?",
        ) {
            let sent: Vec<_> = lines.iter().map(|(a, b, c, d)| format!("{a} {b} {c} {d}\n")).collect();
            let sent = sent.concat() + &end;
            let hex = |id: &Option<String>| id.clone().unwrap_or_else(|| Z.to_owned());
            if let Ok(read) = parse(sent.as_bytes()) {
                let said = read.iter().map(|line| {
                    format!("{} {} {} {}\n", line.local, hex(&line.local_id), line.remote, hex(&line.remote_id))
                });
                prop_assert_eq!(said.collect::<String>(), sent);
            }
        }

        #[test]
        fn no_bytes_are_too_odd_to_be_refused(bytes in vec(any::<u8>(), 1..100)) {
            prop_assert!(parse(&bytes).is_err());
        }
    }
}
