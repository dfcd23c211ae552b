//! What a command of git's would do.

use super::{
    Deed, Place, Push, Read, Reserved, Text,
    means::{Env, Seen, command, host, line, sounds_like},
    read::Word,
    reserved,
};

/// Options of git itself that have a value of their own.
const WITH_VALUE: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env"];

/// Options of `push` that have one.
const PUSH_WITH_VALUE: [&str; 6] =
    ["-o", "--push-option", "--receive-pack", "--exec", "--repo", "--signed-by"];

/// Commands that leave refs, hooks and settings alone, or only touch what every agent may.
const HARMLESS: [&str; 70] = [
    "add",
    "annotate",
    "archive",
    "bisect",
    "blame",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "cherry",
    "clean",
    "clone",
    "column",
    "commit-graph",
    "count-objects",
    "credential",
    "daemon",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fast-export",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "gui",
    "hash-object",
    "help",
    "hook",
    "index-pack",
    "init",
    "interpret-trailers",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "maintenance",
    "merge-base",
    "merge-file",
    "merge-tree",
    "mktag",
    "mktree",
    "name-rev",
    "pack-objects",
    "patch-id",
    "prune",
    "range-diff",
    "reflog",
    "remote",
    "repack",
    "rerere",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "status",
    "stripspace",
    "update-index",
    "var",
    "verify-commit",
    "version",
];

/// Commands that change the branch or the files of the worktree they run in.
const CHANGES: [&str; 22] = [
    "am",
    "apply",
    "branch",
    "checkout",
    "cherry-pick",
    "commit",
    "fast-import",
    "fetch",
    "merge",
    "mv",
    "notes",
    "pull",
    "read-tree",
    "rebase",
    "replace",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "tag",
];

pub(super) fn git(seen: &Seen<'_>, args: &[Word], told: &mut Read) {
    let mut place = seen.place.clone();
    let mut aliases: Vec<(String, String)> = Vec::new();
    let mut skips = skipping_variables(&seen.env);
    let mut programs: Vec<String> =
        PROGRAMS.iter().filter_map(|name| seen.env.get(name)).map(|word| word.text.clone()).collect();
    let mut rest = args;
    if let Some(dir) = seen.env.get("GIT_DIR").or_else(|| seen.env.get("GIT_WORK_TREE")) {
        place = if dir.is_open { Place::Somewhere } else { place.join(&dir.text) };
    }
    while let Some((word, after)) = rest.split_first() {
        if !word.text.starts_with('-') {
            break;
        }
        rest = after;
        let (name, joined) = match word.text.split_once('=') {
            Some((name, value)) if word.text.starts_with("--") => (name, Some(value.to_owned())),
            _ => (word.text.as_str(), None),
        };
        let (name, joined) = match name.get(..2) {
            Some("-c" | "-C") if name.len() > 2 => (&name[..2], Some(name[2..].to_owned())),
            _ => (name, joined),
        };
        if !WITH_VALUE.contains(&name) || name == "--exec-path" && joined.is_none() {
            continue;
        }
        let (value, is_open) = match joined {
            Some(value) => (value, word.is_open),
            None => {
                let Some((value, after)) = rest.split_first() else { return };
                rest = after;
                (value.text.clone(), value.is_open)
            }
        };
        match name {
            "-C" | "--git-dir" | "--work-tree" => {
                place = if is_open { Place::Somewhere } else { place.join(&value) };
            }
            "-c" | "--config-env" => {
                let (key, value) = value.split_once('=').unwrap_or((&value, "true"));
                match alias_name(key) {
                    Some(alias) => aliases.push((alias.to_owned(), value.to_owned())),
                    None if leaves_hooks_out(key) => skips = Some(format!("`{name} {key}`")),
                    None if names_program(key) => programs.push(value.trim_start_matches('!').to_owned()),
                    None => {}
                }
            }
            _ => {}
        }
    }
    let Some((word, args)) = rest.split_first() else { return };
    let here = seen.standing_in(&place);
    for program in &programs {
        // The same variables are no news to a git that it runs.
        line(program, &place, &here.deeper().without(&PROGRAMS), told);
    }
    let words = here.words();
    let mut add = |deed| told.add(deed, &place, &words);
    if let Some(how) = &skips {
        add(Deed::SkipsHooks { how: how.clone() });
    }
    if word.is_open {
        if seen.is_typed() || sounds_like(&words).is_some() || words.contains("push") {
            add(Deed::Unseen { act: super::Out::Push, why: "which command of git it is cannot be told" });
        }
        return;
    }
    let verb = word.text.as_str();
    if let Some((_, value)) = aliases.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case(verb)) {
        let rest: Vec<String> = args.iter().map(|word| word.text.clone()).collect();
        return line(&super::alias(value, &rest), &place, &here.deeper(), told);
    }
    understood(&here, verb, args, told);
}

/// What is known of a command of git's by its name.
fn understood(seen: &Seen<'_>, verb: &str, args: &[Word], told: &mut Read) {
    let (place, words) = (seen.place, seen.words());
    let texts: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    let has = |options: &[&str]| texts.iter().any(|text| options.contains(text));
    let plain = || texts.iter().filter(|text| !text.starts_with('-')).map(|text| (*text).to_owned());
    let add = |told: &mut Read, deed| told.add(deed, place, &words);
    if has(&["--help", "-h"]) && verb != "grep" {
        return;
    }
    if matches!(verb, "rebase" | "difftool") {
        exec_options(seen, args, told);
    }
    // Whoever stands in the folder that shows the state would change the state branch.
    if let Some((Reserved::State, _)) = reserved("", place)
        && (CHANGES.contains(&verb) && verb != "fetch"
            || matches!(verb, "add" | "clean" | "update-ref" | "symbolic-ref" | "update-index"))
    {
        return add(told, Deed::TouchesState { how: format!("`git {verb}` in `.loopx`") });
    }
    match verb {
        "push" => push(seen, args, told),
        "send-pack" | "http-push" => {
            add(told, Deed::SkipsHooks { how: format!("`git {verb}`") });
            add(told, Deed::Push(Push::default()));
        }
        "subtree" if has(&["push"]) => add(told, Deed::Push(Push::default())),
        "lfs" if has(&["push"]) && !has(&["--dry-run", "-d"]) => add(told, Deed::Push(Push::default())),
        "svn" if has(&["dcommit", "commit-diff", "branch", "tag"]) => add(told, Deed::Push(Push::default())),
        "p4" if has(&["submit"]) => add(told, Deed::Push(Push::default())),
        "annex" if has(&["sync", "push", "assist"]) => add(told, Deed::Push(Push::default())),
        "cvsexportcommit" | "remote-https" | "remote-ssh" => add(told, Deed::Push(Push::default())),
        "submodule" if has(&["foreach"]) => {
            let at = texts.iter().position(|text| *text == "foreach").unwrap_or_default();
            let text: Vec<&str> =
                texts[at + 1..].iter().copied().filter(|text| *text != "--recursive").collect();
            line(&text.join(" "), place, &seen.deeper(), told);
        }
        "bisect" if has(&["run"]) => {
            let at = texts.iter().position(|text| *text == "run").unwrap_or_default();
            command(&seen.with(&args[at + 1..]), told);
        }
        "for-each-repo" => {
            let at = texts.iter().position(|text| !text.starts_with('-')).unwrap_or(texts.len());
            let words: Vec<Word> =
                std::iter::once(Word::plain("git")).chain(args[at..].iter().cloned()).collect();
            command(&seen.with(&words), told);
        }
        "config" => config(seen, &texts, told),
        "update-ref" if has(&["--stdin"]) => {
            let names = seen.input().unwrap_or_default();
            let names: Vec<String> =
                names.split(|c: char| c.is_whitespace() || c == '\0').map(str::to_owned).collect();
            match names.is_empty() || seen.reads_what_is_unseen() {
                true => add(told, Deed::TouchesState { how: "`git update-ref --stdin`".to_owned() }),
                false => add(told, Deed::WritesRef { names }),
            }
        }
        "update-ref" | "symbolic-ref" | "fast-import" | "commit-tree" => {
            add(told, Deed::WritesRef { names: plain().collect() });
        }
        "branch" if args.iter().any(|word| changes_branch(&word.text)) => {
            add(told, Deed::WritesRef { names: plain().collect() });
        }
        "checkout" | "switch" if has(&["-B", "-C", "-b", "-c", "--orphan"]) || texts.len() <= 2 => {
            add(told, Deed::WritesRef { names: plain().collect() });
        }
        "fetch" | "pull" | "replace" | "tag" | "reset" | "rebase" | "merge" => {
            // `git fetch . x:refs/heads/y`; the others where a ref of loopx's is named.
            let names = plain().flat_map(|name| name.split(':').map(str::to_owned).collect::<Vec<_>>());
            let names: Vec<String> = names.filter(|name| verb != "tag" || name.contains("refs/")).collect();
            if verb == "fetch" || verb == "pull" || verb == "replace" {
                add(told, Deed::WritesRef { names });
            }
        }
        "worktree" if has(&["remove", "move", "repair"]) => {
            if plain().any(|path| matches!(reserved(&path, place), Some((Reserved::State, _)))) {
                add(told, Deed::TouchesState { how: "`git worktree`".to_owned() });
            }
        }
        "rm" | "mv" if !has(&["--cached", "-n", "--dry-run"]) => {
            plain().for_each(|path| host(&path, place, &format!("git {verb}"), told));
        }
        "commit" | "rm" | "mv" | "restore" | "clean" => {
            // Files in `.loopx` do not belong to this worktree; git says so itself.
        }
        verb if HARMLESS.contains(&verb) || CHANGES.contains(&verb) => {}
        "submodule" | "worktree" | "subtree" | "lfs" | "svn" | "p4" | "annex" | "branch" | "checkout"
        | "switch" => {}
        name => {
            let rest: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            if let Some(value) = just_set(seen, name) {
                return line(&super::alias(&value, &rest), place, &seen.deeper(), told);
            }
            told.run(Text::Alias { name: name.to_owned(), rest }, place);
        }
    }
}

fn push(seen: &Seen<'_>, args: &[Word], told: &mut Read) {
    let mut plain: Vec<&Word> = Vec::new();
    let (mut everything, mut deletes, mut options_end) = (false, false, false);
    let mut skips = seen.env.husky();
    let mut repo = None;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if options_end || !text.starts_with('-') {
            plain.push(word);
            continue;
        }
        match text {
            "--" => options_end = true,
            "--all" | "--branches" | "--mirror" | "--tags" | "--follow-tags" | "--prune" => everything = true,
            "-d" | "--delete" => deletes = true,
            "--repo" => repo = words.next(),
            // git takes every beginning that means one option only.
            text if text.len() >= "--no-veri".len() && "--no-verify".starts_with(text) => {
                skips = Some("`--no-verify`".to_owned());
            }
            text if PUSH_WITH_VALUE.contains(&text) => {
                words.next();
            }
            _ => everything |= word.is_open,
        }
    }
    let shown = seen.words();
    if let Some(how) = skips {
        told.add(Deed::SkipsHooks { how }, seen.place, &shown);
    }
    let mut plain = plain.into_iter();
    let remote = plain.next().or(repo);
    let refs: Vec<&Word> = plain.collect();
    let is_known = !everything && (!deletes || !refs.is_empty()) && refs.iter().all(|word| !word.is_open);
    // A push to this very repository writes its refs.
    if remote.is_some_and(|word| word.text == "." || word.text == "./") {
        let names = refs.iter().flat_map(|word| word.text.rsplit(':').map(str::to_owned).collect::<Vec<_>>());
        told.add(Deed::WritesRef { names: names.collect() }, seen.place, &shown);
    }
    let push = Push {
        remote: remote.filter(|word| !word.is_open).map(|word| word.text.clone()),
        refs: is_known.then(|| {
            refs.iter().map(|word| format!("{}{}", if deletes { ":" } else { "" }, word.text)).collect()
        }),
    };
    told.add(Deed::Push(push), seen.place, &shown);
}

/// Commands that git runs for an option: `git rebase --exec 'git push'`.
fn exec_options(seen: &Seen<'_>, args: &[Word], told: &mut Read) {
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = match word.text.as_str() {
            "-x" | "--exec" => words.next().map(|word| word.text.clone()),
            "--extcmd" => words.next().map(|word| word.text.clone()),
            text => {
                (text.strip_prefix("--exec=").or_else(|| text.strip_prefix("--extcmd="))).map(str::to_owned)
            }
        };
        if let Some(text) = text {
            line(&text, seen.place, &seen.deeper(), told);
        }
    }
}

fn config(seen: &Seen<'_>, texts: &[&str], told: &mut Read) {
    let reads = [
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--list",
        "-l",
        "--get-color",
        "--get-colorbool",
    ];
    let takes = ["-f", "--file", "--blob", "--type", "--default", "--value", "--comment", "-t"];
    if texts.iter().any(|text| reads.contains(text)) {
        return;
    }
    let mut plain = Vec::new();
    let (mut removes, mut edits, mut file) = (false, false, None);
    let mut words = texts.iter();
    while let Some(text) = words.next() {
        match *text {
            "-e" | "--edit" => edits = true,
            "-f" | "--file" => file = words.next().copied(),
            text if takes.contains(&text) => {
                words.next();
            }
            text if text.starts_with("--file=") => file = text.strip_prefix("--file="),
            text if text.starts_with("--unset") || text.ends_with("-section") && text.starts_with('-') => {
                removes = true
            }
            text if text.starts_with('-') => {}
            text => plain.push(text),
        }
    }
    // Another file than those that git reads by itself.
    if file.is_some_and(|file| !file.contains('$') && reserved(file, seen.place).is_none()) {
        return;
    }
    let verbs = ["get", "list", "set", "unset", "edit", "remove-section", "rename-section"];
    let key = match plain.as_slice() {
        ["get" | "list", ..] => return,
        ["edit", ..] => {
            edits = true;
            ""
        }
        [verb, key, ..] if verbs.contains(verb) => *key,
        [key, _, ..] => *key,
        [key] if removes => *key,
        _ => "",
    };
    let words = seen.words();
    if edits {
        let how = "`git config --edit`".to_owned();
        return told.add(Deed::TouchesHooks { how }, seen.place, &words);
    }
    let low = key.to_ascii_lowercase();
    if low == "loopx" || low.starts_with("loopx.") {
        return told.add(Deed::TouchesState { how: format!("the setting `{low}`") }, seen.place, &words);
    }
    if leaves_hooks_out(key) || low.starts_with("url.loopx::") {
        told.add(Deed::TouchesHooks { how: format!("the setting `{low}`") }, seen.place, &words);
    }
    // `git config alias.x '!git push'` does nothing yet; `git x` is looked up when it comes.
}

/// Whether this setting decides which hooks run.
fn leaves_hooks_out(key: &str) -> bool {
    let low = key.to_ascii_lowercase();
    ["core.hookspath", "hook"].contains(&low.as_str())
        || low.starts_with("hook.loopx")
        || low.starts_with("hook.pre-push")
}

/// Variables whose values git runs.
const PROGRAMS: [&str; 10] = [
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "EDITOR",
    "VISUAL",
    "GIT_PAGER",
    "PAGER",
    "GIT_SSH_COMMAND",
    "GIT_ASKPASS",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
];

/// Whether git runs the value of this setting.
fn names_program(key: &str) -> bool {
    let low = key.to_ascii_lowercase();
    let ends =
        ["editor", "pager", "sshcommand", ".external", ".cmd", ".textconv", ".clean", ".smudge", "fsmonitor"];
    ends.iter().any(|end| low.ends_with(end)) || low.starts_with("credential.") && low.ends_with("helper")
}

/// The value of an alias that a command before this one, on the same line, has put into the settings.
fn just_set(seen: &Seen<'_>, alias: &str) -> Option<String> {
    seen.before().rev().find_map(|words| {
        let is_config = words.len() > 3 && words[1..].iter().any(|word| word.text == "config");
        let at = words
            .iter()
            .position(|word| alias_name(&word.text).is_some_and(|name| name.eq_ignore_ascii_case(alias)));
        at.filter(|_| is_config).and_then(|at| words.get(at + 1)).map(|word| word.text.clone())
    })
}

fn alias_name(key: &str) -> Option<&str> {
    let (section, name) = key.split_once('.')?;
    section.eq_ignore_ascii_case("alias").then(|| name.strip_suffix(".command").unwrap_or(name))
}

/// An option of `git branch` that moves, makes anew or removes one.
fn changes_branch(text: &str) -> bool {
    let long = ["--force", "--delete", "--move", "--copy"];
    long.contains(&text)
        || text.starts_with('-') && !text.starts_with("--") && text.contains(['f', 'd', 'D', 'm', 'M', 'C'])
}

/// Settings that come by the environment.
fn skipping_variables(env: &Env) -> Option<String> {
    let said = env.get("GIT_CONFIG_PARAMETERS").map(|word| word.text.to_ascii_lowercase());
    if said.is_some_and(|said| said.contains("core.hookspath") || said.contains("hook.")) {
        return Some("`GIT_CONFIG_PARAMETERS`".to_owned());
    }
    env.beginning_with("GIT_CONFIG_KEY_")
        .find(|word| leaves_hooks_out(&word.text))
        .map(|word| format!("`GIT_CONFIG_KEY_…={}`", word.text))
}
