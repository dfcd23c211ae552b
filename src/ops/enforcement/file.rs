//! A marked section of the file that git runs, found as git finds it. Everything outside the marks is the user's and stays as
//! it is, byte for byte; their part of the file gets its arguments and its own copy of standard input.

use std::{
    ffi::OsString,
    fs,
    io::Write as _,
    os::unix::{ffi::OsStringExt as _, fs::PermissionsExt as _},
    path::{Path, PathBuf},
};

use super::{Ctx, Event, SMALL, quoted, refused};
use crate::{
    domain::text::shown,
    error::{Error, Kind},
    store::{Store, setup::HOOK_MARK},
};

const END: &str = "# <<< loopx <<<";
/// What a user may write into a hook of their own, as its first command, where loopx does not write itself.
const CALL: &str = "loopx hook pre-push \"$@\" || exit 1";
/// The lines before the section in a file that an installation made.
const MADE: &str = "#!/bin/sh\n# made by loopx, and removed with it\n";
/// What stands before the target of a link that was there before the file.
const LINK: &str = "# loopx put this file in the place of a link to: ";
/// Keeps a folder that an installation made out of the user's way.
const IGNORE: &str = "*\n";

/// The section that ends its shell, in a file that an installation made: a push waits for one program less. What somebody
/// writes behind it is run by loopx then; see [`rest`].
const ALONE: &str =
    concat!(include_str!("../../../hooks/pre-push.find"), include_str!("../../../hooks/pre-push.alone"));

/// In a hook that several repositories share, what loopx's part begins with after its head: where loopx never was, nobody is asked.
const WHERE_LOOPX_IS: &str = "if [ -d \"$(git rev-parse --git-common-dir)/loopx\" ] ||\n  \
    git rev-parse -q --verify \"refs/heads/$(git config loopx.branch || echo loopx/state)\" >/dev/null; then\n";

impl Event {
    /// The section for a hook that several repositories share.
    fn shared(self) -> String {
        let section = self.section();
        let (head, rest) = section.split_at(section.find('\n').map_or(section.len(), |end| end + 1));
        let (body, end) = rest.split_at(rest.find(END).unwrap_or(rest.len()));
        format!("{head}{WHERE_LOOPX_IS}{body}fi\n{end}")
    }

    /// The section, with `@PROGRAM@` where the path of the program goes.
    fn section(self) -> &'static str {
        match self {
            Self::PrePush => {
                concat!(include_str!("../../../hooks/pre-push.find"), include_str!("../../../hooks/pre-push"))
            }
            Self::PreCommit => include_str!("../../../hooks/pre-commit"),
        }
    }

    /// The section of a file in which nothing else stands.
    fn alone(self) -> &'static str {
        match self {
            Self::PrePush => ALONE,
            Self::PreCommit => self.section(),
        }
    }

    /// The program that a section asks first; nothing when it is none of ours.
    fn program(self, section: &str) -> Option<PathBuf> {
        let own = [self.section(), self.alone()];
        let own = own.into_iter().find_map(|template| super::program_of(template, section));
        own.or_else(|| super::program_of(&self.shared(), section))
    }
}

/// What stands behind our part of the file `hook` that git ran, byte for byte, and the words that make the file's own shell
/// read it from an argument; nothing when nothing does. The error says why that cannot be known.
pub fn rest(hook: &Path) -> Result<Option<(Vec<String>, OsString)>, String> {
    let mut bytes = fs::read(hook).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (before, body, after) = section(&text).ok_or("loopx's part is not in it")?;
    // A file that was made for somebody else's lines goes on by itself: it is not the one that asks.
    if super::program_of(ALONE, body).is_none() {
        return Err("loopx's part of it is another one".into());
    }
    if after.trim().is_empty() {
        return Ok(None);
    }
    let line = shell_of(before).ok_or("its first line names no shell")?;
    if before[line.len()..] != MADE[MADE.find('\n').map_or(0, |end| end + 1)..] {
        return Err("something stands before loopx's part, which the lines behind it may need".into());
    }
    if !bytes.starts_with(&text.as_bytes()[..before.len() + body.len()]) {
        return Err("what stands before loopx's part is no text".into());
    }
    // The kernel takes all that stands behind the program as one argument.
    let shell = line.trim_start_matches("#!").trim();
    let (program, argument) = shell.split_once([' ', '\t']).unwrap_or((shell, ""));
    let words = [program, argument.trim(), "-c"].into_iter().filter(|word| !word.is_empty());
    let words = words.map(str::to_owned).collect();
    Ok(Some((words, OsString::from_vec(bytes.split_off(before.len() + body.len())))))
}

/// Whose the folder is in which git looks for hooks.
enum Place {
    /// This repository's: below `.git`.
    Own,
    /// In a worktree and not for the team: git ignores it there. A new one is made with a file that says so.
    Personal,
    /// In a worktree, and shared with whoever clones it.
    Team,
    /// Nothing may be put there, and why.
    Barred(String),
}

/// The file that git would run, seen from the worktree that `store` was opened from.
fn path(store: &Store, event: Event) -> PathBuf {
    let git = store.git();
    match git.config("core.hooksPath") {
        None => git.common_dir().join("hooks").join(event.name()),
        // Git puts a slash and the hook's name behind it.
        Some(empty) if empty.is_empty() => Path::new("/").join(event.name()),
        Some(configured) => {
            let dir = git.config_path("core.hooksPath").unwrap_or_else(|| configured.into());
            git.worktree().map_or_else(|| dir.clone(), |top| top.join(&dir)).join(event.name())
        }
    }
}

fn place(store: &Store, hook: &Path) -> Result<Place, Error> {
    let git = store.git();
    let Some(configured) = git.config("core.hooksPath") else { return Ok(Place::Own) };
    let setting = format!("`core.hooksPath` is `{}`", shown(&configured, 200));
    if configured.is_empty() {
        return Ok(Place::Barred("`core.hooksPath` is set to nothing, so git runs no hook".into()));
    }
    let dir = hook.parent().unwrap_or(hook);
    if fs::metadata(dir).is_ok_and(|meta| !meta.is_dir()) {
        return Ok(Place::Barred(format!("{setting}, which is no folder")));
    }
    let there = dir.ancestors().find_map(|dir| dir.canonicalize().ok()).unwrap_or_default();
    if there.starts_with(git.common_dir()) {
        return Ok(Place::Own);
    }
    let holds = |top: &PathBuf| top.canonicalize().is_ok_and(|top| there.starts_with(top));
    match git.worktrees()?.into_iter().find(holds) {
        Some(_) if !dir.exists() => Ok(Place::Personal),
        Some(top) if git.ignores(&top, hook) => Ok(Place::Personal),
        Some(_) => Ok(Place::Team),
        None if dir.exists() => Ok(Place::Barred(format!(
            "{setting}, a folder outside of this repository, which other repositories may share"
        ))),
        None => Ok(Place::Barred(format!("{setting}, which does not exist"))),
    }
}

/// The file that git would run, and whether it reaches loopx; the error says why not.
pub(super) fn probe(store: &Store, event: Event) -> (PathBuf, Result<(), String>) {
    let hook = path(store, event);
    let found = look(&hook, event).map_err(|why| match place(store, &hook) {
        Ok(Place::Barred(why)) => why,
        Ok(_) | Err(_) => why,
    });
    (hook, found)
}

fn look(hook: &Path, event: Event) -> Result<(), String> {
    let bytes = fs::read(hook).map_err(|_| "no hook is installed".to_owned())?;
    let text = String::from_utf8_lossy(&bytes);
    let shell = shell_of(&text);
    let calls = |shebang: &str| text[shebang.len()..].lines().next() == Some(CALL);
    match section(&text) {
        _ if !is_executable(hook) => Err("the hook is not executable, so git skips it".into()),
        None if event == Event::PrePush && shell.is_some_and(calls) => Ok(()),
        None => Err("the hook there does not call loopx".into()),
        Some(_) if text.contains('\r') => Err("the hook has line ends of Windows, so it does not run".into()),
        Some(_) if shell.is_none() => {
            Err("the hook is no shell script, so loopx's part of it does not run".into())
        }
        Some((before, ..)) if before.lines().count() > 1 && before != MADE => {
            Err("something stands before loopx's part of the hook and may end it early".into())
        }
        Some((_, body, _)) => match event.program(body) {
            Some(program) if program.is_absolute() && program.exists() && !is_executable(&program) => Err(
                format!("the hook asks `{}`, which cannot be run", shown(&program.to_string_lossy(), 4096)),
            ),
            Some(program) if program.file_name().is_some_and(|name| name == "loopx" || name == SMALL) => {
                Ok(())
            }
            Some(program) => {
                Err(format!("loopx's part of the hook asks `{}`", shown(&program.to_string_lossy(), 4096)))
            }
            None => Err("loopx's part of the hook was changed".into()),
        },
    }
}

/// The program that the section in a hook asks first.
pub(super) fn program(hook: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(hook).ok()?;
    Event::PrePush.program(section(&text)?.1)
}

/// Whether a section of ours is in the file that git would run.
pub(super) fn is_there(store: &Store, event: Event) -> bool {
    fs::read_to_string(path(store, event)).is_ok_and(|text| section(&text).is_some())
}

/// Puts the section into the file that git runs, or renews it. Returns what that came to, if to anything.
pub(super) fn install(ctx: &Ctx, event: Event, tracked: bool) -> Result<Option<&'static str>, Error> {
    let hook = path(&ctx.store, event);
    let place = place(&ctx.store, &hook)?;
    let by_hand = "put what `loopx hooks install --print` prints behind the first line of the shell script that git runs before a push";
    match &place {
        Place::Barred(why) => return Err(refused(why).hint(by_hand)),
        Place::Team if !tracked && look(&hook, event).is_err() => {
            return Err(refused(format!("`{}` is shared with everybody who clones this", shown_path(&hook)))
                .hint("see what would change with `loopx hooks install --tracked`")
                .hint("or use git 2.54 or newer, which needs no change there"));
        }
        Place::Team if !tracked || event != Event::PrePush => return Ok(None),
        Place::Own | Place::Personal | Place::Team => {}
    }
    let (text, did) = new_text(ctx, event, &hook, &place)?;
    let failed = |error: std::io::Error| {
        Error::new(Kind::Environment, format!("cannot write `{}`: {error}", shown_path(&hook)))
            .hint("run `loopx hooks install` where `.git/hooks` may be written to")
    };
    let dir = hook.parent().unwrap_or(&hook);
    if matches!(place, Place::Personal) && !dir.exists() {
        fs::create_dir_all(dir).and_then(|()| fs::write(dir.join(".gitignore"), IGNORE)).map_err(failed)?;
    }
    let is_link = fs::symlink_metadata(&hook).is_ok_and(|meta| meta.is_symlink());
    let unchanged =
        !is_link && fs::read(&hook).is_ok_and(|present| present == text.as_bytes()) && is_executable(&hook);
    if !unchanged {
        write(&hook, &text).map_err(failed)?;
    }
    // A hook manager that moved our file away runs the copy, too.
    copies(&hook).iter().try_for_each(|copy| strip(copy, event).map(drop)).map_err(failed)?;
    Ok((!unchanged).then_some(did))
}

/// What a person puts behind the first line of a hook that several repositories share.
pub(super) fn to_be_shared(ctx: &Ctx, event: Event) -> String {
    event.shared().replace("@PROGRAM@", &quoted(&event.asks(ctx)))
}

/// What an installation would change in a file of the team, as a unified diff.
pub(super) fn tracked_change(ctx: &Ctx, event: Event) -> Result<Option<String>, Error> {
    let hook = path(&ctx.store, event);
    let place = place(&ctx.store, &hook)?;
    if !matches!(place, Place::Team) {
        return Ok(None);
    }
    let (text, _) = new_text(ctx, event, &hook, &place)?;
    let present = fs::read_to_string(&hook).unwrap_or_default();
    let top = ctx.store.git().worktree().unwrap_or_default();
    let name = shown_path(hook.strip_prefix(top).unwrap_or(&hook));
    let diff = similar::TextDiff::from_lines(&present, &text);
    let diff = diff.unified_diff().header(&name, &name).to_string();
    Ok(Some(diff).filter(|diff| !diff.is_empty()))
}

/// What the file will be, and how to call that.
fn new_text(ctx: &Ctx, event: Event, hook: &Path, place: &Place) -> Result<(String, &'static str), Error> {
    // Where a program lies differs from one member of a team to the next.
    let program = if matches!(place, Place::Team) { "loopx".into() } else { event.asks(ctx) };
    let [fill, alone] =
        [event.section(), event.alone()].map(|text| text.replace("@PROGRAM@", &quoted(&program)));
    let name = shown_path(hook);
    let Ok(meta) = fs::symlink_metadata(hook) else { return Ok((format!("{MADE}{alone}"), "created")) };
    if meta.is_symlink() {
        let target = fs::read_link(hook).unwrap_or_default();
        let target = target.to_str().filter(|target| !target.contains('\n'));
        let runs = fs::metadata(hook).is_ok_and(|meta| meta.is_file()) && is_executable(hook);
        let Some(target) = target.filter(|_| runs) else {
            return Err(refused(format!("`{name}` is a link to nothing that runs"))
                .hint(format!("remove it with `rm '{name}'` and run `loopx hooks install` again")));
        };
        let quoted = quoted(Path::new(target));
        let start = if target.starts_with('/') { "" } else { "\"${0%/*}\"/" };
        return Ok((
            format!("#!/bin/sh\n{fill}{LINK}{target}\nexec {start}{quoted} \"$@\"\n"),
            "put before the link at",
        ));
    }
    if !meta.is_file() {
        return Err(refused(format!("`{name}` is not a plain file")).hint("move it away"));
    }
    let unread =
        |error: std::io::Error| Error::new(Kind::Environment, format!("cannot read `{name}`: {error}"));
    let newer = "use git 2.54 or newer, which runs loopx beside it, or call it from a shell script";
    let Ok(text) = String::from_utf8(fs::read(hook).map_err(unread)?) else {
        return Err(refused(format!("`{name}` is a program and not a script")).hint(newer));
    };
    // In a file that is all ours, line ends of Windows are nobody's wish.
    let plain = text.replace("\r\n", "\n");
    let text = if section(&plain).is_some_and(|(before, _, after)| before == MADE && after.is_empty()) {
        plain
    } else {
        text
    };
    if let Some((before, _, after)) = section(&text) {
        let fill = if before == MADE && after.is_empty() { alone } else { fill };
        return Ok((format!("{before}{fill}{after}"), "renewed in"));
    }
    if !is_executable(hook) {
        let why = "the hook was not installed: another one is there that somebody switched off";
        return Err(Error::new(Kind::Refused, why).hint(format!(
            "switch it on with `chmod +x '{name}'` or move it away, and run `loopx hooks install` again"
        )));
    }
    let Some(shebang) = shell_of(&text) else {
        return Err(refused(format!("`{name}` is there already and is no shell script")).hint(newer));
    };
    let (first, rest) = text.split_at(shebang.len());
    Ok((format!("{first}{fill}{rest}"), "added to"))
}

/// Takes our part out of the files of all worktrees. Returns those that had one.
pub(super) fn uninstall(store: &Store, event: Event) -> Result<Vec<PathBuf>, Error> {
    let mut hooks = vec![store.git().common_dir().join("hooks").join(event.name()), path(store, event)];
    for top in store.git().worktrees()? {
        hooks.extend(Store::open(&top, None).ok().map(|store| path(&store, event)));
    }
    let copied: Vec<PathBuf> = hooks.iter().flat_map(|hook| copies(hook)).collect();
    hooks.extend(copied);
    let mut done = Vec::new();
    for hook in hooks {
        let failed =
            |error| Error::new(Kind::Environment, format!("cannot write `{}`: {error}", shown_path(&hook)));
        if strip(&hook, event).map_err(failed)? {
            done.push(hook);
        }
    }
    Ok(done)
}

/// What hook managers call the hook that was there before theirs.
fn copies(hook: &Path) -> Vec<PathBuf> {
    let name = hook.file_name().unwrap_or_default().to_string_lossy().into_owned();
    ["legacy", "old"]
        .iter()
        .map(|end| hook.with_file_name(format!("{name}.{end}")))
        .filter(|copy| copy.is_file())
        .collect()
}

/// Brings a file to what it was before our section came into it. False when there is none.
fn strip(hook: &Path, event: Event) -> std::io::Result<bool> {
    if fs::symlink_metadata(hook).is_ok_and(|meta| meta.is_symlink()) {
        return Ok(false);
    }
    let Ok(text) = fs::read_to_string(hook) else { return Ok(false) };
    let Some((before, body, after)) = section(&text) else { return Ok(false) };
    let head = event.section().lines().next().unwrap_or_default();
    if !body.starts_with(head) || super::program_of(&event.shared(), body).is_some() {
        return Ok(false);
    }
    if before == MADE && after.is_empty() {
        fs::remove_file(hook)?;
        let dir = hook.parent().unwrap_or(hook);
        if fs::read(dir.join(".gitignore")).is_ok_and(|text| text == IGNORE.as_bytes())
            && fs::read_dir(dir)?.count() == 1
        {
            fs::remove_file(dir.join(".gitignore"))?;
            dir.ancestors().take_while(|dir| fs::remove_dir(dir).is_ok()).for_each(drop);
        }
        return Ok(true);
    }
    if let Some(target) = after.strip_prefix(LINK).and_then(|link| link.lines().next()) {
        let link = hook.with_extension("loopx");
        std::os::unix::fs::symlink(target, &link)?;
        fs::rename(link, hook)?;
        return Ok(true);
    }
    // With more of the user's in it than we began with, the file stays, without the line that says whose it is.
    let before = if before == MADE { "#!/bin/sh\n" } else { before };
    write(hook, &format!("{before}{after}"))?;
    Ok(true)
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

/// What stands before, between and after the marks; the marks' lines belong to the middle. A line that only speaks of a mark is none.
fn section(text: &str) -> Option<(&str, &str, &str)> {
    let begins_a_line = |at: &usize| *at == 0 || text.as_bytes()[at - 1] == b'\n';
    let begin = text.match_indices(HOOK_MARK).map(|(at, _)| at).find(begins_a_line)?;
    let end = text[begin..].match_indices(END).map(|(at, _)| begin + at).find(begins_a_line)?;
    let line = text[end..].split_inclusive('\n').next()?;
    let end = end + line.len() - glued(line).len();
    Some((&text[..begin], &text[begin..end], &text[end..]))
}

/// What somebody added to a file that had lost its last line break, so that it stands in the line of our end mark.
fn glued(line: &str) -> &str {
    let whole = ALONE.lines().next_back().and_then(|whole| line.strip_prefix(whole));
    match whole.or_else(|| line.strip_prefix(END)) {
        Some("\n" | "\r\n") | None => "",
        // Other versions of loopx may have other words there.
        Some(words) if whole.is_none() && words.starts_with(' ') => "",
        Some(glued) => glued,
    }
}

/// Looks whether reading a hook keeps its promise: our part of it is found where it was put, and all the rest stays as it was.
#[cfg(any(test, fuzzing))]
pub(super) fn promises(text: &str) {
    if let Some((before, body, after)) = section(text) {
        assert_eq!([before, body, after].concat(), text);
        let fill = Event::PrePush.section();
        assert_eq!(section(&format!("{before}{fill}{after}")), Some((before, fill, after)));
    } else if let Some(first) = shell_of(text) {
        let rest = &text[first.len()..];
        for event in Event::ALL {
            let fill = event.section().replace("@PROGRAM@", &quoted(Path::new("/opt/it's here/loopx")));
            assert_eq!(section(&format!("{first}{fill}{rest}")), Some((first, fill.as_str(), rest)));
        }
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o100 != 0)
}

/// Replaces the file in one step, with the mode it had and the right to run.
fn write(hook: &Path, text: &str) -> std::io::Result<()> {
    let dir = hook.parent().unwrap_or(hook);
    fs::create_dir_all(dir)?;
    let meta = fs::symlink_metadata(hook).ok().filter(fs::Metadata::is_file);
    let mode = meta.map_or(0o755, |meta| meta.permissions().mode() & 0o7777 | 0o100);
    let mut file = tempfile::Builder::new().tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    file.persist(hook)?;
    Ok(())
}

fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy(), 4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_found_and_known_for_ours_wherever_the_program_lies() {
        let sections = Event::ALL.map(|event| {
            [event.section().to_owned(), event.alone().into(), event.shared()].map(|section| (event, section))
        });
        for (event, template) in sections.into_iter().flatten() {
            let fill = template.replace("@PROGRAM@", &quoted(Path::new("/opt/it's here/loopx")));
            let hook = format!("#!/bin/sh\n{fill}echo mine\n");
            let (before, body, after) = section(&hook).unwrap();
            assert_eq!((before, after), ("#!/bin/sh\n", "echo mine\n"));
            let program = |body: &str| event.program(body);
            assert_eq!(program(body), Some("/opt/it's here/loopx".into()));
            assert_eq!(program(&body.replace("loopx_program", "x")), None);
            assert_eq!(program(&body.replace("here/loopx'", "here/loopx'; true '")), None);
            assert_eq!(program(&body.replace("if [ -d", "if [ -f")).is_none(), body.contains("if [ -d"));
        }
        assert_eq!(section("#!/bin/sh\necho mine\n"), None);
        // One look finds either to take it away.
        assert_eq!(Event::PrePush.section().lines().next(), ALONE.lines().next());
    }

    #[test]
    fn a_word_about_the_marks_is_no_mark() {
        let fill = Event::PrePush.section();
        let before = format!("#!/bin/sh\n# loopx has what is between {HOOK_MARK} and {END}\n");
        assert_eq!(section(&before), None);
        let hook = format!("{before}{fill}echo mine\n");
        assert_eq!(section(&hook), Some((before.as_str(), fill, "echo mine\n")));
    }

    #[test]
    fn what_is_glued_to_the_end_mark_is_no_part_of_it() {
        for fill in [Event::PrePush.section(), ALONE] {
            let ours = fill.trim_end();
            for theirs in
                ["echo mine\n", "echo mine", " echo mine\n"].iter().take(2 + usize::from(fill == ALONE))
            {
                let hook = format!("{MADE}{ours}{theirs}");
                assert_eq!(section(&hook), Some((MADE, ours, *theirs)));
            }
        }
        let other = ALONE.trim_end().replace("what stands below", "whatever stands below");
        assert_eq!(section(&format!("{MADE}{other}\n")), Some((MADE, &*format!("{other}\n"), "")));
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
