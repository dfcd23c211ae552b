//! Hooks that git's configuration names, which git runs from 2.54 on: whatever lies in the hooks folder, whoever owns it, and
//! from every worktree of the clone.

use super::{Ctx, Event, quoted};
use crate::{
    error::Error,
    store::{Store, git::Scope},
};

impl Event {
    /// What follows `hook.` in the keys of the configuration.
    fn key(self) -> &'static str {
        match self {
            Self::PrePush => "hook.loopx",
            Self::PreCommit => "hook.loopx-look",
        }
    }

    /// The name that `git hook list` prints.
    pub(super) fn listed(self) -> &'static str {
        self.key().trim_start_matches("hook.")
    }

    /// The command, with `@PROGRAM@` where the program's path goes. Git puts the hook's arguments behind it.
    fn command(self) -> &'static str {
        match self {
            Self::PrePush => include_str!("../../../hooks/pre-push.config").trim_ascii_end(),
            Self::PreCommit => include_str!("../../../hooks/pre-commit.config").trim_ascii_end(),
        }
    }
}

/// Whether the configuration, as git sees it from this worktree, has our hook before a push; the error says why not, and
/// is empty when nothing of ours is there.
pub(super) fn probe(store: &Store) -> Result<(), String> {
    let git = store.git();
    let (event, section) = (Event::PrePush, Event::PrePush.key());
    let Some(command) = git.config(&format!("{section}.command")) else { return Err(String::new()) };
    if super::program_of(event.command(), &command).is_none() {
        return Err(format!("`{section}.command` in git's configuration was changed"));
    }
    if !git.config_all(&format!("{section}.event")).iter().any(|name| name == event.name()) {
        return Err(format!("`{section}.event` in git's configuration was changed"));
    }
    for key in [format!("{section}.enabled"), format!("hook.{}.enabled", event.name())] {
        if git.config(&key).is_some() && !git.config_bool(&key) {
            return Err(format!("`{key}` in git's configuration switches the hook off"));
        }
    }
    Ok(())
}

/// The program that the hook asks first.
pub(super) fn program(store: &Store) -> Option<std::path::PathBuf> {
    let event = Event::PrePush;
    let command = store.git().config(&format!("{}.command", event.key()))?;
    super::program_of(event.command(), &command)
}

/// Whether an installation was asked for in this clone once.
pub(super) fn is_wanted(store: &Store) -> bool {
    store.git().config_in(Scope::Clone, &format!("{}.command", Event::PrePush.key())).is_some()
}

/// Names our hooks in the repository's own configuration. True when something changed.
pub(super) fn install(ctx: &Ctx) -> Result<bool, Error> {
    let git = ctx.store.git();
    let mut changed = false;
    for event in Event::ALL {
        let section = event.key();
        let pairs = [
            (format!("{section}.command"), event.command().replace("@PROGRAM@", &quoted(&event.asks(ctx)))),
            (format!("{section}.event"), event.name().to_owned()),
        ];
        for (key, value) in pairs {
            if git.config_in(Scope::Clone, &key).as_ref() != Some(&value) {
                git.set_config(&key, &value)?;
                changed = true;
            }
        }
        let enabled = format!("{section}.enabled");
        for scope in [Scope::Clone, Scope::Worktree] {
            if git.config_in(scope, &enabled).is_some() {
                git.unset_config(scope, &enabled)?;
                changed = true;
            }
        }
    }
    Ok(changed)
}

/// Takes our hooks out of the repository's own configuration. True when something was there.
pub(super) fn uninstall(store: &Store) -> Result<bool, Error> {
    let mut was_there = false;
    for event in Event::ALL {
        was_there |= store.git().remove_config(event.key())?;
    }
    Ok(was_there)
}
