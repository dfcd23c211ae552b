//! `pre-receive`: git gives one line for each ref on standard input, and lets nothing in when this fails. The objects are in a
//! place of their own until then, which only the environment names. The contract is git's `githooks(5)`.

use std::{ffi::OsString, path::PathBuf};

use crate::{
    domain::{
        gate::Act,
        push::{Reason, Verdict},
        text::shown,
    },
    error::{Error, Kind},
    ops::{
        Ctx,
        receive::{Update, check},
    },
    process::{
        GIT_ALTERNATE_OBJECT_DIRECTORIES, GIT_OBJECT_DIRECTORY, GIT_PUSH_OPTION, GIT_PUSH_OPTION_COUNT,
        GIT_QUARANTINE_PATH, Process,
    },
    text::Held,
};

#[cfg(any(test, fuzzing))]
use super::pre_push::without_null_ids;
use super::pre_push::{LIMIT, id};

pub(super) fn run(process: &Process, ctx: impl FnOnce() -> Result<Ctx, Error>) -> u8 {
    if process.stdin_is_terminal() {
        let usage = Error::new(
            Kind::Usage,
            "git calls this on a server and sends refs on standard input; it is not for terminals",
        )
        .hint("put `templates/pre-receive` into the `hooks` folder of the repository");
        process.err(&usage.to_string());
        return Kind::Usage.exit_code();
    }
    let refused = match judge(process, ctx) {
        Ok(None) => return 0,
        Ok(Some(refused)) => refused,
        Err(error) if error.kind == Kind::Refused => {
            let hints = error.hints.iter().map(|hint| format!("hint: {hint}\n"));
            format!("loopx: push refused: {}\n{}", error.message, hints.collect::<String>())
        }
        Err(error) => format!("loopx: push refused: whether a question is open cannot be seen\n{error}"),
    };
    process.err(&refused);
    Kind::Refused.exit_code()
}

/// What to say when the push is refused.
fn judge(process: &Process, ctx: impl FnOnce() -> Result<Ctx, Error>) -> Result<Option<String>, Error> {
    let input = process
        .stdin(LIMIT)
        .map_err(|error| Error::new(Kind::Environment, format!("cannot read what git sends: {error}")))?;
    let updates = parse(&input)?;
    let checked = check(ctx()?, &quarantine(process)?, &updates, &options(process))?;
    Ok(match &checked.verdict {
        Verdict::Allowed => None,
        Verdict::Refused(reasons) => {
            let mut said = Held(Act::Push, reasons, checked.at).to_string();
            if reasons.iter().any(|reason| matches!(reason, Reason::Gate { .. })) {
                said.push_str(
                    "hint: once it is answered, `loopx sync` says so to this repository
",
                );
            }
            Some(said)
        }
    })
}

/// The options of the push: git numbers them in the environment.
fn options(process: &Process) -> Vec<String> {
    let count = process.env(GIT_PUSH_OPTION_COUNT).and_then(|count| count.parse().ok()).unwrap_or(0_usize);
    (0..count).filter_map(|number| process.env(&format!("{GIT_PUSH_OPTION}{number}"))).collect()
}

/// The folders with the objects of the push, as git names them in the environment.
fn quarantine(process: &Process) -> Result<Vec<PathBuf>, Error> {
    let mut places: Vec<PathBuf> = [GIT_QUARANTINE_PATH, GIT_OBJECT_DIRECTORY]
        .into_iter()
        .filter_map(|name| process.env_os(name).map(PathBuf::from))
        .collect();
    places.dedup();
    let alternates = process.env_os(GIT_ALTERNATE_OBJECT_DIRECTORIES).unwrap_or_default();
    // Git puts a name with a colon in it into quotes, with escapes.
    if alternates.to_string_lossy().contains('"') {
        let odd = format!("`{GIT_ALTERNATE_OBJECT_DIRECTORIES}` names a folder with a `:` or a `\"` in it");
        return Err(Error::new(Kind::Environment, odd).hint("rename that folder on the server"));
    }
    let alternates: Vec<OsString> = std::env::split_paths(&alternates).map(Into::into).collect();
    places.extend(alternates.into_iter().filter(|place| !place.is_empty()).map(PathBuf::from));
    Ok(places)
}

/// Reads `<old id> <new id> <ref>` lines. What does not read like that refuses the push.
fn parse(input: &[u8]) -> Result<Vec<Update>, Error> {
    let odd = |line: &str| {
        Error::new(
            Kind::Refused,
            format!("git sent a line that loopx does not understand: `{}`", shown(line, 200)),
        )
    };
    let text = std::str::from_utf8(input).map_err(|_| odd(&String::from_utf8_lossy(input)))?;
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let text = text.strip_suffix('\n').ok_or_else(|| odd(text))?;
    text.split('\n')
        .map(|line| {
            let mut fields = line.splitn(3, ' ');
            match (fields.next().and_then(id), fields.next().and_then(id), fields.next()) {
                (Some(old), Some(new), Some(name)) if name.starts_with("refs/") && !name.contains(' ') => {
                    Ok(Update { name: name.to_owned(), old, new })
                }
                _ => Err(odd(line)),
            }
        })
        .collect()
}

/// Looks whether reading these bytes keeps its promise: what is understood says all that was sent.
#[cfg(any(test, fuzzing))]
pub(super) fn promises(bytes: &[u8]) {
    let read = match parse(bytes) {
        Ok(read) => read,
        Err(error) => return assert!(!error.message.chars().any(char::is_control)),
    };
    let hex = |id: &Option<String>| id.clone().unwrap_or_default();
    let line = |Update { name, old, new }: &Update| format!("{} {} {name}\n", hex(old), hex(new));
    let said: String = read.iter().map(line).collect();
    assert_eq!(without_null_ids(&said), without_null_ids(&String::from_utf8_lossy(bytes)));
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "1111111111111111111111111111111111111111";
    const Z: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn lines_are_read_as_git_writes_them() {
        let update = |name: &str, old: Option<&str>, new: Option<&str>| Update {
            name: name.into(),
            old: old.map(Into::into),
            new: new.map(Into::into),
        };
        assert_eq!(parse(b"").unwrap(), []);
        let input = format!("{Z} {A} refs/heads/main\n{A} {Z} refs/heads/x\n");
        assert_eq!(
            parse(input.as_bytes()).unwrap(),
            [update("refs/heads/main", None, Some(A)), update("refs/heads/x", Some(A), None)]
        );
    }

    #[test]
    fn anything_else_refuses_the_push() {
        for input in [
            "\n".to_owned(),
            format!("{A} {A} refs/heads/main"),
            format!("{A} {A}\n"),
            format!("{A} {A} \n"),
            format!("{A} {A} main\n"),
            format!("{A} {A} refs/heads/a b\n"),
            format!("{A} {} refs/heads/main\n", &A[1..]),
            format!("{A} {A} refs/heads/main\n\n"),
        ] {
            assert!(parse(input.as_bytes()).is_err(), "{input:?} passed");
        }
        assert!(parse(b"\xff\n").is_err());
    }
}
