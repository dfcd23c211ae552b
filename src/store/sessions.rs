//! Notes about the sessions of agents' hosts: how often one was sent on, and what it had done then. They are below `.git/loopx/`,
//! are no state, and can be deleted: a session is then counted from the beginning.

use std::fs;

use sha2::{Digest as _, Sha256};

use super::{Error, Store, read_plain_file};
use crate::domain::text::hex;

/// So many are kept.
const KEPT: usize = 256;

/// How often a session was sent on without having done anything since.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SentOn {
    pub times: u32,
    /// What it had done by then, as whoever counts says it.
    pub done: String,
}

impl Store {
    /// What was noted of this session; nothing when that cannot be read.
    pub fn sent_on(&self, session: &str) -> SentOn {
        let bytes = read_plain_file(&self.session_file(session)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let read = text
            .trim_end()
            .split_once(' ')
            .and_then(|(times, done)| Some(SentOn { times: times.parse().ok()?, done: done.to_owned() }));
        read.unwrap_or_default()
    }

    /// Notes it. Without the note nobody may be sent on, for there would be no end to it.
    pub fn note_sent_on(&self, session: &str, note: &SentOn) -> Result<(), Error> {
        let path = self.session_file(session);
        let dir = path.with_file_name("");
        fs::create_dir_all(&dir).map_err(Error::io("make", &dir))?;
        let old: Vec<_> = fs::read_dir(&dir).into_iter().flatten().flatten().collect();
        if old.len() > KEPT {
            old.iter().for_each(|entry| drop(fs::remove_file(entry.path())));
        }
        fs::write(&path, format!("{} {}\n", note.times, note.done)).map_err(Error::io("write", &path))
    }

    /// Removes the note of a session that is over.
    pub fn forget_session(&self, session: &str) {
        let _ = fs::remove_file(self.session_file(session));
    }

    fn session_file(&self, session: &str) -> std::path::PathBuf {
        // Hosts choose the names.
        let name = hex(&Sha256::digest(session)[..12]);
        self.git.private_dir().join("sessions").join(name)
    }
}
