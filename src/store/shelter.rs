//! Shelter from `git gc` for objects that nothing points to yet.
//!
//! Between writing a commit's objects and moving the ref, they look like garbage. A collection that began before and
//! deletes after that (`git gc --prune=now`) would take them although the ref was moved meanwhile, and the branch would
//! be lost. So while a collection runs, a mutation also puts its objects into a small pack that is marked to be kept
//! until the ref points to them: no collection deletes a pack that it did not see when it began.

use std::{fs, io::Write as _, path::PathBuf};

use gix::{ObjectId, hash::Kind as Hash, objs::Kind};

use super::{
    Error,
    git::{Fresh, Git, Object},
    program,
};

/// What git writes into the mark of our packs.
const REASON: &str = "loopx";

/// The mark of a pack that must be kept. Dropping it says that the pack may be collected like any other.
#[derive(Debug)]
pub(super) struct Kept(PathBuf);

impl Drop for Kept {
    fn drop(&mut self) {
        // A mark that stays costs a small pack and nothing else.
        let _ = fs::remove_file(&self.0);
    }
}

impl Git {
    /// Makes the objects of the last [`Git::commit`] safe from a collection. Nothing is done when none is running.
    pub(super) fn shelter(&self) -> Result<Option<Kept>, Error> {
        let fresh = self.fresh();
        let (objects, was_collecting) = &*fresh;
        // One that has ended meanwhile may have taken the first objects before the last was written.
        if objects.is_empty() || !was_collecting && !self.is_collecting() {
            return Ok(None);
        }
        let whole = |(id, kind, bytes): &Fresh| match bytes {
            Some(bytes) => Ok((*kind, bytes.clone())),
            // Too much for all of it to be at hand; should it be gone already, nothing has happened yet.
            None => Ok((*kind, self.node(*id, *kind)?.into())),
        };
        let objects = objects.iter().map(whole).collect::<Result<Vec<Object>, Error>>()?;
        let (pack, sum) = pack(self.hash_kind(), &objects).map_err(Error::io("pack", "objects"))?;
        // Made elsewhere and moved, for a collection also takes half-made packs.
        let made = self.private_dir().join("shelter.pack");
        fs::write(&made, pack).map_err(Error::io("write", &made))?;
        let args = ["index-pack".as_ref(), "--no-rev-index".as_ref(), made.as_os_str()];
        let dir = self.common_dir();
        program::git("keep objects from being collected", dir, dir, args, b"")?;
        let packed = dir.join("objects").join("pack").join(format!("pack-{sum}.pack"));
        let kept = Kept(packed.with_extension("keep"));
        fs::write(&kept.0, REASON).map_err(Error::io("write", &kept.0))?;
        for extension in ["pack", "idx"] {
            let to = packed.with_extension(extension);
            fs::rename(made.with_extension(extension), &to).map_err(Error::io("write", &to))?;
        }
        Ok(Some(kept))
    }

    /// Whether `git gc` runs, as far as can be told: it leaves its process id and host in a file while it does.
    pub(super) fn is_collecting(&self) -> bool {
        let Ok(note) = fs::read_to_string(self.common_dir().join("gc.pid")) else { return false };
        let (process, host) = note.trim().split_once(' ').unwrap_or((note.trim(), ""));
        let here = fs::read_to_string("/proc/sys/kernel/hostname").is_ok_and(|name| name.trim() == host);
        let was_killed = here && !PathBuf::from("/proc").join(process).exists();
        !was_killed
    }

    /// Takes the mark from packs of a mutation that was killed.
    pub(super) fn unmark_packs(&self) {
        let entries = fs::read_dir(self.common_dir().join("objects/pack")).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            let is_mark = path.extension().is_some_and(|extension| extension == "keep");
            if is_mark && fs::read_to_string(&path).is_ok_and(|reason| reason.trim() == REASON) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// `objects` in git's pack format, version 2, each of them whole; and its checksum.
fn pack(hash: Hash, objects: &[Object]) -> std::io::Result<(Vec<u8>, ObjectId)> {
    let mut pack = b"PACK".to_vec();
    pack.extend(2u32.to_be_bytes());
    pack.extend(u32::try_from(objects.len()).unwrap_or(u32::MAX).to_be_bytes());
    for (kind, bytes) in objects {
        let number: u8 = match kind {
            Kind::Commit => 1,
            Kind::Tree => 2,
            Kind::Blob => 3,
            Kind::Tag => 4,
        };
        // Four bits of the size beside the kind, then seven a byte, the least first.
        let mut byte = (number << 4) | (bytes.len() & 0x0f) as u8;
        let mut rest = bytes.len() >> 4;
        while rest > 0 {
            pack.push(byte | 0x80);
            byte = (rest & 0x7f) as u8;
            rest >>= 7;
        }
        pack.push(byte);
        let mut deflated =
            gix::zlib::stream::deflate::Write::new(Vec::new(), gix::zlib::Compression::BEST_SPEED);
        deflated.write_all(bytes)?;
        deflated.flush()?;
        pack.extend(deflated.into_inner());
    }
    let mut hasher = gix::hash::hasher(hash);
    hasher.update(&pack);
    let sum = hasher.try_finalize().map_err(std::io::Error::other)?;
    pack.extend_from_slice(sum.as_slice());
    Ok((pack, sum))
}
