//! Leaving the history behind: a first commit with the state that is there, to the byte, and nothing before it.
//!
//! All that was decided stays, because decisions are records. What goes is how the records came to be what they are, so
//! that git can let go of the old commits once the reflog of the branch does.

use super::{Error, Message, Store, Updated, git::object_id, transfer};
use crate::domain::{
    actor::Stamp,
    change::{Change, Op},
};

impl Store {
    /// Leaves behind what led to the commit `seen` (hex), which has to be the newest one still. What the reflog of the
    /// branch remembers stays reachable until git lets go of it.
    pub fn leave_behind(&self, seen: &str, stamp: &Stamp) -> Result<Updated<()>, Error> {
        let branch = self.git.branch()?;
        let signer = self.git.identity()?;
        let (writer, base) = self.enter()?;
        if base != object_id(seen)? {
            return Err(Error::Contended(branch));
        }
        let before = self.at(base)?;
        transfer::must_be_whole(&before).map_err(|problem| Error::Unreadable { path: branch, problem })?;
        let subject = format!("leave the history up to {} behind", &seen[..10]);
        let message = Message::of(&Change::without_records(Op::Checkpoint, subject), stamp, &signer);
        let new = self.git.first_commit(before.commit().tree, &message)?;
        let warnings = self.move_on(writer, base, new, &message)?;
        Ok(Updated { value: (), commit: Some(new.to_string()), warnings })
    }
}
