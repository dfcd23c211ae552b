//! May an agent's tool do this? For hosts that ask before a tool runs.
//!
//! What a command line would do says [`shell`]; this follows it into the files that it would run, finds the repository that each
//! deed is about, and judges it by that one's state. A repository that has nothing of loopx's is nobody's business here.

use std::{
    collections::BTreeSet,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use super::{Ctx, guard};
use crate::{
    domain::{
        gate::Act,
        shell::{self, Deed, Found, Out, Place, Push, Reserved, Runner, Script, Text},
        text::shown,
    },
    error::Error,
    foreign::tasks,
    text::Held,
};

/// A tool that is about to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// A command line for a shell.
    Shell(String),
    /// These files are written.
    Edit(Vec<String>),
    /// What a host sent could not be read, and this is all of it.
    Unread(String),
    /// Nothing that is looked at.
    Other,
}

/// Most files that are read for one command line, and how far one may lead to another.
const FILES: usize = 16;
const DEPTH: usize = 4;

/// Why the tool must not run, in words for the agent; nothing when it may. `open` opens the repository that a folder lies in, and
/// is not called when there is nothing to judge. Whatever goes wrong on the way refuses what leaves the machine, and nothing else.
pub fn refused(
    tool: &Tool,
    cwd: &Path,
    home: Option<&Path>,
    open: impl Fn(&Path) -> Result<Ctx, Error>,
) -> Option<String> {
    let found = match tool {
        Tool::Other => return None,
        Tool::Shell(line) => followed(line, cwd, home, &open),
        // Nothing but what leaves the machine is held back by a fault of ours.
        Tool::Unread(text) => {
            let found = shell::sounding(text, &Place::At(String::new())).into_iter();
            found.filter(|found| matches!(found.deed, Deed::Unseen { .. })).collect()
        }
        Tool::Edit(paths) => paths.iter().filter_map(|path| edited(path, cwd)).collect(),
    };
    let mut said = BTreeSet::new();
    let reasons: Vec<String> = (found.iter())
        .filter_map(|found| {
            let dir = folder(&found.place, cwd, home);
            if let (Some(dir), Deed::TakesGitAway { .. }) = (&dir, &found.deed)
                && !dir.join(".git").exists()
                && !dir.join("HEAD").exists()
            {
                return None;
            }
            if let Deed::TouchesHost { path } = &found.deed
                && !folder(&Place::At(path.clone()), cwd, home).is_some_and(|path| asks_loopx(&path))
            {
                return None;
            }
            let dir = dir.filter(|dir| dir.exists());
            judged(found, open(dir.as_deref().unwrap_or(cwd)))
        })
        .filter(|reason| said.insert(reason.clone()))
        .take(4)
        .collect();
    (!reasons.is_empty()).then(|| reasons.concat())
}

fn judged(found: &Found, ctx: Result<Ctx, Error>) -> Option<String> {
    let words = shown(&found.words, 160);
    let blind = |error: Error| {
        format!("loopx: `{words}` was not run\nloopx: {}", error.to_string().trim_start_matches("error: "))
    };
    let act = match &found.deed {
        Deed::Push(_) | Deed::Unseen { act: Out::Push, .. } => Some(Act::Push),
        Deed::Publish | Deed::Unseen { act: Out::Publish, .. } => Some(Act::Publish),
        _ => None,
    };
    let ctx = match ctx {
        Ok(ctx) => ctx,
        Err(error) if error.kind == crate::error::Kind::NotSetUp => return None,
        Err(error) => return act.map(|act| blind(guard::unseen(act)(error))),
    };
    if !ctx.store.is_set_up() {
        return None;
    }
    let refuse = |what: String, hint: &str| Some(format!("loopx: refused: `{words}` {what}\nhint: {hint}\n"));
    match &found.deed {
        Deed::SkipsHooks { how } => refuse(
            format!(
                "would go round the hooks ({how}), and while loopx guards this repository none are left out"
            ),
            "a plain `git push` asks the hook, which says what waits; if hooks are in the way, say so to the person",
        ),
        Deed::TouchesHooks { how } => refuse(
            format!("would change git's hooks or the settings that name them ({how})"),
            "changing them is for a person, in a terminal of their own",
        ),
        Deed::TouchesState { how } | Deed::TakesGitAway { how } => refuse(
            format!("would change what only loopx writes ({how})"),
            "use loopx's own commands; `loopx --help` lists them, and `.loopx/` is there to be read",
        ),
        Deed::TouchesHost { path } => refuse(
            format!("would change what has this host ask loopx (`{}`)", shown(path, 100)),
            "taking it out is for a person (`loopx host uninstall`), and so is changing this file",
        ),
        Deed::WritesRef { names } => {
            let branch = ctx.store.git().branch().ok()?;
            let is_ours = |name: &String| {
                let short = name.trim_start_matches('+').trim_start_matches("refs/heads/");
                short == branch || name.trim_start_matches('+').starts_with("refs/loopx/")
            };
            let name = names.iter().find(|name| is_ours(name))?;
            refuse(
                format!("would write `{}`, which only loopx writes", shown(name, 100)),
                "use loopx's own commands; `loopx history` shows what is on it",
            )
        }
        Deed::AsksForPerson { how } => refuse(
            format!("asks for what only a person may do ({how})"),
            "tell the person what waits; they answer in a terminal of their own",
        ),
        Deed::Push(push) => {
            let reasons = match pushed(&ctx, push) {
                Ok(reasons) => reasons,
                Err(error) => return Some(blind(error)),
            };
            let held = Held(Act::Push, &reasons, ctx.now).to_string();
            (!reasons.is_empty()).then(|| format!("loopx: `{words}` was not run\n{held}"))
        }
        Deed::Publish | Deed::Unseen { .. } => {
            let act = act?;
            let guarded = match guard::check(&ctx, act, false) {
                Ok(guarded) if guarded.allowed => return None,
                Ok(guarded) => guarded,
                Err(error) => return Some(blind(error)),
            };
            let held = Held(act, &guarded.reasons, ctx.now);
            let why = match &found.deed {
                Deed::Unseen { why, .. } => format!(": {why}, and it sounds like a {}", act.word()),
                _ => String::new(),
            };
            Some(format!("loopx: `{words}` was not run{why}\n{held}"))
        }
    }
}

/// What stands in the way of a push: what the hook would say where the refs can be told, else every gate that holds pushes.
fn pushed(ctx: &Ctx, push: &Push) -> Result<Vec<crate::domain::push::Reason>, Error> {
    let all = guard::check(ctx, Act::Push, false)?;
    let branch = ctx.store.git().branch()?;
    let names_state = |name: &String| name.contains(&branch) || name.contains("refs/loopx/");
    // git's own hook looks at what commits have in them.
    if all.allowed && !push.refs.as_ref().is_some_and(|refs| refs.iter().any(names_state)) {
        return Ok(Vec::new());
    }
    let Some(refs) = &push.refs else { return Ok(all.reasons) };
    let remote = push.remote.as_deref().unwrap_or("origin");
    let refs: Vec<String> = match refs.is_empty() {
        true => ctx.store.git().pushed_by_default().into_iter().collect(),
        false => refs.iter().map(|name| name.trim_start_matches('+').to_owned()).collect(),
    };
    if refs.is_empty() {
        return Ok(all.reasons);
    }
    // What is only removed sends nothing.
    let sent: Vec<String> = refs.into_iter().filter(|name| !name.starts_with(':')).collect();
    match guard::sending(ctx, remote, &sent) {
        Ok(sending) => Ok(sending.guarded.reasons),
        // git will have something to say about these words itself.
        Err(_) => Ok(all.reasons),
    }
}

/// A file that an editing tool would write and that is not for it.
fn edited(path: &str, cwd: &Path) -> Option<Found> {
    let here = Place::At(cwd.to_string_lossy().into_owned());
    // Also where links lead.
    let whole = cwd.join(path);
    let real = whole.canonicalize().ok().or_else(|| {
        let dir = whole.parent()?.canonicalize().ok()?;
        Some(dir.join(whole.file_name()?))
    });
    let real = real.map(|real| real.to_string_lossy().into_owned());
    let of_host = || {
        let whole =
            shell::of_host(path, &here, false).or_else(|| shell::of_host(real.as_deref()?, &here, false))?;
        let deed = Deed::TouchesHost { path: whole };
        Some(Found { deed, place: Place::At(String::new()), words: format!("edit {path}") })
    };
    let whose = shell::reserved(path, &here).or_else(|| shell::reserved(real.as_deref()?, &here));
    let Some((whose, place)) = whose else { return of_host() };
    let how = "by an editing tool".to_owned();
    let deed = match whose {
        Reserved::Git => return None,
        Reserved::Hooks => Deed::TouchesHooks { how },
        Reserved::State => Deed::TouchesState { how },
    };
    Some(Found { deed, place, words: format!("edit {path}") })
}

/// A host's file, or one of those in a folder, has loopx in it. Of settings that go before others it is enough that those have.
fn asks_loopx(path: &Path) -> bool {
    let has = |file: &Path| readable(file).is_some_and(|text| text.contains("loopx"));
    let is_pattern = |part: &std::ffi::OsStr| part.to_string_lossy().contains(['*', '?', '[']);
    // What a pattern means lies below what stands before it.
    let path: PathBuf = path.iter().take_while(|part| !is_pattern(part)).collect();
    if !path.is_dir() {
        return has(&path)
            || path.file_name().is_some_and(|name| name == "settings.local.json")
                && has(&path.with_file_name("settings.json"));
    }
    shell::HOST_FILES.iter().any(|file| {
        let mut below = Path::new(file).iter();
        let whole = has(&path.join(file));
        below.next();
        whole
            || has(&path.join(below.as_path()))
            || has(&path.join(below.as_path().file_name().unwrap_or_default()))
    })
}

/// A place as a folder.
fn folder(place: &Place, cwd: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let Place::At(path) = place else { return None };
    match path.strip_prefix('~') {
        Some("") => home.map(Path::to_path_buf),
        Some(below) => below.strip_prefix('/').and_then(|below| Some(home?.join(below))),
        None => Some(cwd.join(path)),
    }
}

/// What a command line would do, with what the files that it runs would do.
fn followed(
    line: &str,
    cwd: &Path,
    home: Option<&Path>,
    open: &impl Fn(&Path) -> Result<Ctx, Error>,
) -> Vec<Found> {
    let shell::Read { mut found, scripts, .. } = shell::deeds(line, &Place::At(String::new()));
    let mut open_scripts: Vec<(Script, usize)> = scripts.into_iter().map(|script| (script, 0)).collect();
    let mut seen = BTreeSet::new();
    while let Some((script, depth)) = open_scripts.pop() {
        if depth >= DEPTH || seen.len() >= FILES || !seen.insert(script.clone()) {
            continue;
        }
        let Some(dir) = folder(&script.place, cwd, home) else { continue };
        let (name, lines) =
            match &script.what {
                Text::Alias { name, rest } => {
                    let Some(value) =
                        open(&dir).ok().and_then(|ctx| ctx.store.git().config(&format!("alias.{name}")))
                    else {
                        continue;
                    };
                    (format!("git {name}"), vec![shell::alias(&value, rest)])
                }
                Text::Task { runner, file, names } => {
                    let files: &[&str] = match runner {
                        Runner::Make => &["GNUmakefile", "makefile", "Makefile"],
                        Runner::Just => &["justfile", "Justfile", ".justfile"],
                        Runner::Npm => &["package.json"],
                    };
                    let named = file.iter().map(String::as_str).chain(files.iter().copied());
                    let Some((path, text)) =
                        named.into_iter().find_map(|path| Some((path, readable(&dir.join(path))?)))
                    else {
                        continue;
                    };
                    let lines = match runner {
                        Runner::Make => tasks::make(&text, names),
                        Runner::Just => tasks::just(&text, names),
                        Runner::Npm => tasks::npm(&text, names),
                    };
                    (path.to_owned(), lines)
                }
                Text::File { path, .. } | Text::Program { path } => {
                    let Some(file) = folder(&script.place.join(path), cwd, home) else { continue };
                    let Some(text) = readable(&file) else { continue };
                    let is_for_shell = match &script.what {
                        Text::File { for_shell, .. } => *for_shell || is_for_shell(&text),
                        _ => false,
                    };
                    if !is_for_shell {
                        let named = shell::code(&text, path, &script.place).into_iter();
                        // A program may well speak of what it does not do; only what leaves the machine counts.
                        let named = named.filter(|found| matches!(found.deed, Deed::Unseen { .. }));
                        found.extend(named.map(|found| Found {
                            words: format!("{path}: {}", of_line(&found.words)),
                            ..found
                        }));
                        continue;
                    }
                    (path.clone(), vec![text])
                }
            };
        for line in lines {
            let read = shell::deeds(&line, &script.place);
            let from = |found: Found| Found { words: format!("{name}: {}", found.words), ..found };
            found.extend(read.found.into_iter().map(from));
            open_scripts.extend(read.scripts.into_iter().map(|script| (script, depth + 1)));
        }
    }
    found
}

fn of_line(words: &str) -> String {
    shown(words.lines().next().unwrap_or_default(), 60)
}

/// The text of a file that is no longer than what is read and has no bytes that only programs have.
fn readable(path: &Path) -> Option<String> {
    let most = u64::try_from(shell::LONGEST).unwrap_or(u64::MAX);
    // A pipe would be waited for.
    let is_fit = fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= most);
    if !is_fit {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    (!bytes.contains(&0)).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// The first line says that a shell reads it, or nothing else.
fn is_for_shell(text: &str) -> bool {
    match text.strip_prefix("#!") {
        None => true,
        Some(rest) => rest.lines().next().is_some_and(|line| {
            line.split(['/', ' '])
                .any(|word| matches!(word.trim(), "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash"))
        }),
    }
}
