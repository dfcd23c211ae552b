//! Packing loose objects when they pile up, by git's own maintenance, detached, and never the user's history by surprise.
//!
//! A mutation makes six loose objects. When about `gc.auto` of them lie there (6,700 unless set; 0 switches it off), git's
//! `loose-objects` task packs loose objects into a pack of their own; it does not touch the packs of the user.

use std::{
    fs,
    os::unix::process::CommandExt as _,
    process::{Command, Stdio},
    time::Duration,
};

use gix::ObjectId;

use super::{git::Git, program};

/// Not looked at again for so long after an upkeep began.
const REST: Duration = Duration::from_secs(3600);
/// What git does when nothing is set.
const GC_AUTO: u32 = 6_700;

impl Git {
    /// Begins an upkeep when one is due. `new` is the commit that was just made: one in sixteen looks.
    pub(super) fn keep_up(&self, new: ObjectId) {
        let is_turn = new.as_slice()[0] & 0x0f == 0;
        if is_turn && self.piles_up() && !self.is_collecting() && !self.rests() {
            self.start_upkeep();
        }
    }

    /// Guesses the number of loose objects from one of the 256 folders, as git does.
    fn piles_up(&self) -> bool {
        let limit = self.config("gc.auto").map_or(Some(GC_AUTO), |value| value.trim().parse().ok());
        let limit = limit.filter(|limit| *limit > 0).map(|limit| limit.div_ceil(256) as usize);
        let lying = fs::read_dir(self.common_dir().join("objects").join("17")).map_or(0, Iterator::count);
        limit.is_some_and(|limit| lying > limit)
    }

    /// Whether an upkeep began a short time ago; otherwise notes that one begins now.
    fn rests(&self) -> bool {
        let note = self.private_dir().join("upkeep");
        let age =
            fs::metadata(&note).and_then(|meta| meta.modified()).ok().and_then(|then| then.elapsed().ok());
        if age.is_some_and(|age| age < REST) {
            return true;
        }
        fs::write(&note, "").is_err()
    }

    /// One process that nobody waits for and that ends by itself. What fails will be tried another time.
    fn start_upkeep(&self) {
        #[expect(clippy::disallowed_methods, reason = "git's own maintenance, detached")]
        let mut shell = Command::new("sh");
        // The task packs; what is packed it would remove only at its next run.
        shell.args(["-c", "git maintenance run --quiet --task=loose-objects && git prune-packed --quiet"]);
        program::without_routing(&mut shell);
        shell.env("GIT_DIR", self.common_dir()).current_dir(self.common_dir());
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let _ = shell.spawn();
    }
}
