//! The history of the state branch, read back: newest first, one entry a mutation.

use gix::{ObjectId, bstr::ByteSlice as _};

use super::{Error, Store, error::chain};
use crate::domain::{text::shown, time::Timestamp};

/// One mutation as the history tells it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Entry {
    /// The commit in hex.
    pub commit: String,
    pub at: Timestamp,
    pub subject: String,
    /// The `Loopx-Op` trailer; none for a commit that loopx did not make.
    pub op: Option<String>,
    /// The `Loopx-Actor` trailer: `person` or `agent:<id>`.
    pub actor: Option<String>,
    pub goal: Option<String>,
    pub records: Vec<String>,
    pub turn: Option<String>,
    pub signed_off_by: Option<String>,
}

impl Store {
    /// The newest `limit` mutations.
    pub fn history(&self, limit: usize) -> Result<Vec<Entry>, Error> {
        let branch = self.git.branch()?;
        let tip = self.git.tip(&branch)?.ok_or(Error::NotInitialised)?;
        let mut entries = Vec::new();
        let mut next = Some(tip);
        while let Some(id) = next.filter(|_| entries.len() < limit) {
            let (entry, parent) = self.entry(id)?;
            entries.push(entry);
            next = parent;
        }
        Ok(entries)
    }

    pub(super) fn entry(&self, id: ObjectId) -> Result<(Entry, Option<ObjectId>), Error> {
        let damaged = |error: gix::Error| Error::Damaged(chain(&error));
        let commit = self.git.repo().find_commit(id).map_err(damaged)?;
        let decoded = commit.decode().map_err(|error| Error::Damaged(error.to_string()))?;
        let message = decoded.message();
        let text = |bytes: &[u8]| shown(&bytes.to_str_lossy(), 500);
        let trailers: Vec<(String, String)> =
            decoded.message_trailers().map(|trailer| (text(trailer.token), text(&trailer.value))).collect();
        let all = |token: &str| {
            trailers
                .iter()
                .filter(|(found, _)| found == token)
                .map(|(_, value)| value.clone())
                .collect::<Vec<_>>()
        };
        let one = |token: &str| all(token).pop();
        let seconds = decoded
            .committer()
            .ok()
            .and_then(|committer| committer.time().ok())
            .map_or(0, |time| time.seconds);
        let entry = Entry {
            commit: id.to_string(),
            at: Timestamp::from_unix(seconds),
            subject: text(message.summary().as_bytes()),
            op: one("Loopx-Op"),
            actor: one("Loopx-Actor"),
            goal: one("Loopx-Goal"),
            records: all("Loopx-Record"),
            turn: one("Loopx-Turn"),
            signed_off_by: one("Signed-off-by"),
        };
        Ok((entry, decoded.parents().next()))
    }
}
