//! Is the gate really in git's way? Putting the hook there, and looking whether it is.
//!
//! The hook is a marked section of the file that git runs before a push. Everything outside the marks is the user's and
//! stays as it is, byte for byte; their part of the file gets its arguments and its own copy of standard input.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::Ctx;
use crate::{
    error::{Error, Kind},
    store::{Store, setup::HOOK_MARK},
};

const END: &str = "# <<< loopx <<<";
/// What a user may write into a hook of their own, as its first command, where loopx does not write itself.
const CALL: &str = "loopx hook pre-push \"$@\" || exit 1";
/// The section, with `@PROGRAM@` where the path of the program goes.
const SECTION: &str = include_str!("../../hooks/pre-push");

/// Whether a push from this worktree meets the gate.
#[derive(Debug, Clone, Serialize)]
pub struct Enforcement {
    pub active: bool,
    /// Why it is not, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The file that git runs before a push.
    pub hook: PathBuf,
    /// What an installation did: `created`, `added to`, `renewed in`, or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did: Option<&'static str>,
}

/// Where git looks for hooks, seen from this worktree; the error says why nothing of ours may be put there.
fn hook_file(store: &Store) -> (PathBuf, Result<(), String>) {
    let git = store.git();
    let own = git.common_dir().join("hooks");
    let Some(configured) = git.config("core.hooksPath") else { return (own.join("pre-push"), Ok(())) };
    if configured.is_empty() {
        // Git puts a slash and the hook's name behind it.
        return ("/pre-push".into(), Err("`core.hooksPath` is set to nothing, so git runs no hook".into()));
    }
    let path = git.config_path("core.hooksPath").unwrap_or_else(|| configured.clone().into());
    let path = git.worktree().map_or_else(|| path.clone(), |top| top.join(&path));
    let shown = crate::domain::text::shown(&configured, 200);
    match path.canonicalize() {
        Ok(dir) if own.canonicalize().is_ok_and(|own| own == dir) => (own.join("pre-push"), Ok(())),
        Ok(dir) if !dir.is_dir() => {
            (path.join("pre-push"), Err(format!("`core.hooksPath` is `{shown}`, which is no folder")))
        }
        Ok(_) => (
            path.join("pre-push"),
            Err(format!(
                "`core.hooksPath` is `{shown}`, a folder that loopx does not write to without being asked"
            )),
        ),
        Err(_) => {
            (path.join("pre-push"), Err(format!("`core.hooksPath` is `{shown}`, which does not exist")))
        }
    }
}

/// Looks whether what git would run before a push reaches loopx.
pub fn probe(store: &Store) -> Enforcement {
    let (hook, place) = hook_file(store);
    let why = match fs::read(&hook) {
        Err(_) => Some(place.err().unwrap_or_else(|| "no hook is installed".into())),
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let shell = shell_of(&text);
            match section(&text) {
                _ if !is_executable(&hook) => Some("the hook is not executable, so git skips it".to_owned()),
                None if shell.is_some_and(|shebang| text[shebang.len()..].lines().next() == Some(CALL)) => {
                    None
                }
                None => Some(place.err().unwrap_or_else(|| "the hook there does not call loopx".into())),
                Some(_) if text.contains('\r') => {
                    Some("the hook has line ends of Windows, so it does not run".into())
                }
                Some(_) if shell.is_none() => {
                    Some("the hook is no shell script, so loopx's part of it does not run".into())
                }
                Some((before, ..)) if before.lines().count() > 1 => {
                    Some("something stands before loopx's part of the hook and may end it early".into())
                }
                Some((_, body, _)) if !is_ours(body) => Some("loopx's part of the hook was changed".into()),
                Some(_) => None,
            }
        }
    };
    Enforcement { active: why.is_none(), why, hook, did: None }
}

/// Puts the hook in git's way, or renews it. Idempotent.
pub fn install(ctx: &Ctx) -> Result<Enforcement, Error> {
    let (hook, place) = hook_file(&ctx.store);
    let refused = |why: String| {
        Error::new(Kind::Refused, format!("the hook was not installed: {why}"))
            .hint(format!("make `{CALL}` the first command of the shell script that git runs before a push"))
    };
    place.map_err(&refused)?;
    let shown = crate::domain::text::shown(&hook.to_string_lossy(), 4096);
    let failed = |error: std::io::Error| {
        Error::new(Kind::Environment, format!("cannot write `{shown}`: {error}"))
            .hint("run `loopx hooks install` where `.git/hooks` may be written to")
    };
    let meta = fs::symlink_metadata(&hook).ok();
    let (text, did) = match &meta {
        None => (format!("#!/bin/sh\n{}", fill(&ctx.program)), "created"),
        Some(meta) if !meta.is_file() => {
            return Err(refused(format!("`{shown}` is not a plain file")));
        }
        Some(_) => {
            let bytes = fs::read(&hook).map_err(failed)?;
            let text = String::from_utf8(bytes)
                .map_err(|_| refused(format!("`{shown}` is a program and not a script")))?;
            // In a file that is all ours, line ends of Windows are nobody's wish.
            let ours = section(&text)
                .is_some_and(|(before, _, after)| before.lines().eq(["#!/bin/sh"]) && after.is_empty());
            let text = if ours { text.replace("\r\n", "\n") } else { text };
            let renewed =
                section(&text).map(|(before, _, after)| format!("{before}{}{after}", fill(&ctx.program)));
            match renewed {
                Some(renewed) => (renewed, "renewed in"),
                None if !is_executable(&hook) => {
                    let why = "the hook was not installed: another one is there that somebody switched off";
                    return Err(Error::new(Kind::Refused, why).hint(format!(
                        "switch it on with `chmod +x '{shown}'` or move it away, and run `loopx hooks install` again"
                    )));
                }
                None => {
                    let shebang = shell_of(&text).ok_or_else(|| {
                        refused(format!("`{shown}` is there already and is no shell script"))
                    })?;
                    let (first, rest) = text.split_at(shebang.len());
                    (format!("{first}{}{rest}", fill(&ctx.program)), "added to")
                }
            }
        }
    };
    let unchanged = fs::read(&hook).is_ok_and(|present| present == text.as_bytes()) && is_executable(&hook);
    if !unchanged {
        write(&hook, &text, meta.as_ref()).map_err(failed)?;
    }
    Ok(Enforcement { did: (!unchanged).then_some(did), ..probe(&ctx.store) })
}

/// The first line with its line end, when it calls a shell that understands the section.
fn shell_of(text: &str) -> Option<&str> {
    let line = text.split_inclusive('\n').next()?;
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let program = match words.next()?.rsplit('/').next()? {
        "env" => words.next()?,
        program => program,
    };
    (["sh", "dash", "bash", "ksh", "ash"].contains(&program) && line.ends_with('\n')).then_some(line)
}

/// What stands before, between and after the marks; the marks' lines belong to the middle.
fn section(text: &str) -> Option<(&str, &str, &str)> {
    let begin = text.find(HOOK_MARK)?;
    let end = begin + text[begin..].find(END)?;
    let end = text[end..].find('\n').map_or(text.len(), |line_end| end + line_end + 1);
    Some((&text[..begin], &text[begin..end], &text[end..]))
}

/// Whether a section is the one we write, for a program at any place.
fn is_ours(body: &str) -> bool {
    match SECTION.split_once("@PROGRAM@") {
        Some((head, tail)) => body.starts_with(head) && body.ends_with(tail),
        None => false,
    }
}

/// The program that the section in a hook asks first.
pub(super) fn program_in(hook: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(hook).ok()?;
    let (_, body, _) = section(&text)?;
    let (head, tail) = SECTION.split_once("@PROGRAM@")?;
    let quoted = body.strip_prefix(head)?.strip_suffix(tail)?;
    let inner = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
    Some(inner.replace(r"'\''", "'").into())
}

/// The section for a program at `path`, quoted for a shell.
fn fill(path: &Path) -> String {
    let quoted = path.to_string_lossy().replace('\'', r"'\''");
    SECTION.replace("@PROGRAM@", &format!("'{quoted}'"))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o100 != 0)
}

/// Replaces the file in one step, with the mode it had and the right to run.
fn write(hook: &Path, text: &str, meta: Option<&fs::Metadata>) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = hook.parent().unwrap_or(hook);
    fs::create_dir_all(dir)?;
    let mode = meta.map_or(0o755, |meta| meta.permissions().mode() | 0o111);
    let mut file = tempfile::Builder::new().permissions(fs::Permissions::from_mode(mode)).tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::Permissions::from_mode(mode & 0o7777))?;
    file.persist(hook)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_found_and_known_for_ours_wherever_the_program_lies() {
        let hook = format!("#!/bin/sh\n{}echo mine\n", fill(Path::new("/opt/it's here/loopx")));
        let (before, body, after) = section(&hook).unwrap();
        assert_eq!((before, after), ("#!/bin/sh\n", "echo mine\n"));
        assert!(is_ours(body), "{body}");
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("pre-push"), &hook).unwrap();
        assert_eq!(program_in(&dir.path().join("pre-push")), Some("/opt/it's here/loopx".into()));
        assert!(!is_ours(&body.replace("exit 1", "exit 0")));
        assert_eq!(section("#!/bin/sh\necho mine\n"), None);
    }

    #[test]
    fn shells_are_told_from_other_interpreters() {
        for line in ["#!/bin/sh\n", "#!/usr/bin/env bash\n", "#! /bin/dash -e\n"] {
            assert_eq!(shell_of(line), Some(line));
        }
        for line in ["#!/usr/bin/env python3\n", "echo\n", "", "#!\n", "#!/bin/sh"] {
            assert_eq!(shell_of(line), None, "{line:?}");
        }
    }
}
