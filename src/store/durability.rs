//! What survives a power cut: as much as the user asked of git with `core.fsync`.
//!
//! By default git syncs neither loose objects nor refs, and neither do we. Where `core.fsync` names `loose-object` or
//! `reference` (or `committed`, `added`, `objects`, `all`), the objects of a mutation are on the disk before the ref moves, and the
//! ref is on the disk before the mutation is acknowledged. `core.fsyncMethod` is answered with a full sync each time, which is
//! no less than any method promises.

use std::{fs::File, path::Path};

use super::{Error, git::Git};

/// What is synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Synced {
    objects: bool,
    reference: bool,
}

impl Synced {
    /// Reads `core.fsync` as git does: the default and what is named, without what is named with a dash.
    fn of(setting: Option<&str>, object_files: bool) -> Self {
        let mut synced = Self { objects: object_files, reference: false };
        let words = setting.unwrap_or_default().split(',').map(str::trim);
        let (mut plus, mut minus) = (Vec::new(), Vec::new());
        for word in words.filter(|word| !word.is_empty()) {
            match word.strip_prefix('-') {
                Some(word) => minus.push(word),
                None if word == "none" => synced = Self { objects: false, reference: false },
                None => plus.push(word),
            }
        }
        let names = |words: &[&str], single: &str, all: &[&str]| {
            words.iter().any(|word| *word == single || all.contains(word))
        };
        let (of_objects, of_refs) = (["objects", "committed", "added", "all"], ["committed", "added", "all"]);
        synced.objects &= !names(&minus, "loose-object", &of_objects);
        synced.reference &= !names(&minus, "reference", &of_refs);
        synced.objects |= names(&plus, "loose-object", &of_objects) && !minus.contains(&"loose-object");
        synced.reference |= names(&plus, "reference", &of_refs) && !minus.contains(&"reference");
        synced
    }
}

impl Git {
    fn synced(&self) -> Synced {
        Synced::of(self.config("core.fsync").as_deref(), self.config_bool("core.fsyncObjectFiles"))
    }

    /// Puts the objects of the last [`Git::commit`] on the disk, if the user wants that of git.
    pub(super) fn sync_objects(&self) -> Result<(), Error> {
        if !self.synced().objects {
            return Ok(());
        }
        self.fresh().0.iter().try_for_each(|(id, ..)| {
            let hex = id.to_string();
            sync(&self.common_dir().join("objects").join(&hex[..2]).join(&hex[2..]))
        })
    }

    /// Puts the ref of the state branch on the disk, if the user wants that of git.
    pub(super) fn sync_ref(&self, branch: &str) -> Result<(), Error> {
        match self.synced().reference && self.reads_refs_itself() {
            true => sync(&self.common_dir().join("refs/heads").join(branch)),
            // With reftables the `git` program moves the ref, and syncs it itself.
            false => Ok(()),
        }
    }
}

/// A file that is not there was packed meanwhile, by a git that syncs its packs.
fn sync(path: &Path) -> Result<(), Error> {
    match File::open(path).and_then(|file| file.sync_all()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("sync", path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_read_as_git_reads_it() {
        let check = |setting: Option<&str>, objects: bool, reference: bool| {
            assert_eq!(Synced::of(setting, false), Synced { objects, reference }, "{setting:?}");
        };
        check(None, false, false);
        check(Some("none"), false, false);
        check(Some("all"), true, true);
        check(Some("committed"), true, true);
        check(Some("committed,-loose-object"), false, true);
        check(Some("reference"), false, true);
        check(Some("loose-object"), true, false);
        check(Some(" objects , -reference"), true, false);
        check(Some("pack,nonsense"), false, false);
        assert_eq!(Synced::of(None, true), Synced { objects: true, reference: false });
    }
}
