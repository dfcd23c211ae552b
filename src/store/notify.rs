//! The user's command for what begins to wait for them. It is named in this clone's own configuration and nowhere else, so that
//! no branch and no file of the project can have something run.

use std::fs;

use super::{Error, Store, git::Scope, read_plain_file};
use crate::domain::text::shown;

const KEY: &str = "loopx.notify";
/// Lines of the log that are kept.
const KEPT: usize = 100;

impl Store {
    /// The words of the command; none when there is none, or when what is there is no list of words.
    pub fn notify_command(&self) -> Option<Vec<String>> {
        let words: Vec<String> = serde_json::from_str(&self.git.config_in(Scope::Clone, KEY)?).ok()?;
        Some(words).filter(|words| !words.is_empty())
    }

    /// From now on this is the command: a person said so.
    pub fn set_notify_command(&self, words: &[String]) -> Result<(), Error> {
        self.git.set_config(KEY, &serde_json::Value::from(words).to_string())
    }

    /// From now on there is none. False when there was none before.
    pub fn unset_notify_command(&self) -> Result<bool, Error> {
        let is_set = self.git.config_in(Scope::Clone, KEY).is_some();
        if is_set {
            self.git.unset_config(Scope::Clone, KEY)?;
        }
        Ok(is_set)
    }

    /// What did not end well, the newest last.
    pub fn notify_failures(&self) -> Vec<String> {
        let bytes = read_plain_file(&self.git.private_dir().join("notify.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).lines().map(|line| shown(line, 400)).collect()
    }

    /// Notes that it did not end well. Nobody is told when that fails, too.
    pub fn note_notify_failure(&self, line: &str) {
        let mut lines = self.notify_failures();
        lines.push(shown(line, 400));
        let kept = lines.split_off(lines.len().saturating_sub(KEPT));
        let text: String = kept.iter().map(|line| format!("{line}\n")).collect();
        let _ = fs::write(self.git.private_dir().join("notify.log"), text);
    }
}
