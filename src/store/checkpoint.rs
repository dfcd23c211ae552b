//! Leaving the history behind: a first commit with the state that is there, to the byte, and nothing before it.
//!
//! All that was decided stays, because decisions are records. What goes is how the records came to be what they are, so
//! that git can let go of the old commits once the reflog of the branch does.

use super::{Error, Message, Store, Updated, git::object_id, transfer, writer::Writer};
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
        let mut writer = Writer::enter(&self.git, &branch)?;
        let base = self.git.tip(&branch)?.ok_or(Error::NotInitialised)?;
        writer.must_know(&self.git, base)?;
        if base != object_id(seen)? {
            return Err(Error::Contended(branch));
        }
        let before = self.at(base)?;
        transfer::must_be_whole(&before)
            .map_err(|problem| Error::Unreadable { path: branch.clone(), problem })?;
        let change = Change {
            op: Op::Checkpoint,
            subject: format!("leave the history up to {} behind", &seen[..10]),
            body: None,
            goal: None,
            turn: None,
            puts: Vec::new(),
        };
        let message = Message::of(&change, stamp, &signer);
        let new = self.git.first_commit(before.commit().tree, &message)?;
        if !writer.publish(&self.git, new, Some(base), &message)? {
            return Err(Error::Contended(branch));
        }
        let after = self.at(new)?;
        self.hot().keep(&self.git.private_dir(), &after, &Default::default(), &self.git.fresh().0);
        let warnings = self.show(new, &mut writer);
        Ok(Updated { value: (), commit: Some(new.to_string()), warnings })
    }
}
