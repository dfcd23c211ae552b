//! The one remote that the state may go to.
//!
//! It is named in this clone's own configuration and nowhere else, so that no branch, no clone and no file of the project can
//! choose it. Beside the name stands the digest of its addresses as a person saw them: a remote that points elsewhere by
//! now is another one.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use sha2::{Digest as _, Sha256};

use super::{
    Error, Store,
    git::{Scope, object_id},
    program,
    transport::STRICT,
};
use crate::domain::text::{hex, shown};

/// What keeps the name.
const NAME_KEY: &str = "loopx.remote";
/// What keeps the digest of the addresses.
const SEEN_KEY: &str = "loopx.remoteAddress";
/// Where the remote keeps the state: not below `refs/heads/`, where it would be cloned, shown as a branch and built.
pub const STATE_REF: &str = "refs/loopx/state";
/// What the remote had when we looked last.
pub(super) const LAST_SEEN: &str = "refs/loopx/remote";

/// A remote of this clone with its addresses, as git uses them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    name: String,
    fetch: Vec<String>,
    push: Vec<String>,
}

impl Remote {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the state goes to, without what might be a password.
    pub fn address(&self) -> String {
        shown(&without_password(&self.push.concat()), 500)
    }

    fn digest(&self) -> String {
        let mut digest = Sha256::new();
        for (side, addresses) in [("fetch", &self.fetch), ("push", &self.push)] {
            addresses.iter().for_each(|address| digest.update(format!("{side} {address}\n")));
        }
        format!("sha256:{}", hex(&digest.finalize()))
    }
}

/// `https://ann:secret@host/x` as `https://host/x`.
fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    path.map_or(format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
}

impl Store {
    /// The remote of this clone that has this name.
    pub fn remote(&self, name: &str) -> Result<Remote, Error> {
        let mut known: Vec<String> = self.git.repo().remote_names().iter().map(ToString::to_string).collect();
        known.retain(|name| !name.starts_with('-') && shown(name, 200) == *name);
        if !known.iter().any(|known| known == name) {
            return Err(Error::UnknownRemote { name: shown(&without_password(name), 200), known });
        }
        let addresses = |flags: &[&str]| -> Result<Vec<String>, Error> {
            let args = [&["remote", "get-url", "--all"], flags, &[name]].concat();
            let out = program::git("read a remote", self.git.repo().git_dir(), &self.top(), args, b"")?;
            Ok(out.lines().map(|line| line.to_str_lossy().into_owned()).collect())
        };
        // In strict mode git says whom it asks first; where the push ends is the same place.
        let push = addresses(&["--push"])?.into_iter();
        let push = push.map(|address| address.strip_prefix(STRICT).map(str::to_owned).unwrap_or(address));
        let remote = Remote { name: name.to_owned(), fetch: addresses(&[])?, push: push.collect() };
        match remote.push.len() {
            1 => Ok(remote),
            _ => Err(Error::SeveralAddresses(remote.name)),
        }
    }

    /// The name of the remote that the state may go to, if one was chosen.
    pub fn target_name(&self) -> Option<String> {
        self.git.config_in(Scope::Clone, NAME_KEY)
    }

    /// The remote that the state may go to. An error when none was chosen, and when it is not what was chosen any more.
    pub fn target(&self) -> Result<Remote, Error> {
        let remote = self.remote(&self.target_name().ok_or(Error::NoTarget)?)?;
        match self.git.config_in(Scope::Clone, SEEN_KEY) == Some(remote.digest()) {
            true => Ok(remote),
            false => Err(Error::OtherAddress(remote.name)),
        }
    }

    /// From now on the state may go to `remote`: a person said so.
    pub fn set_target(&self, remote: &Remote) -> Result<(), Error> {
        // Killed in between, the remote does not count as chosen.
        self.git.set_config(SEEN_KEY, &remote.digest())?;
        self.git.set_config(NAME_KEY, &remote.name)
    }

    /// From now on the state stays here. False when it did already.
    pub fn unset_target(&self) -> Result<bool, Error> {
        let keys =
            [NAME_KEY, SEEN_KEY].into_iter().filter(|key| self.git.config_in(Scope::Clone, key).is_some());
        let keys: Vec<_> = keys.collect();
        keys.iter().try_for_each(|key| self.git.unset_config(Scope::Clone, key))?;
        Ok(!keys.is_empty())
    }

    /// What the remote has as state now, brought here to be looked at; none when it has none.
    pub(super) fn fetch(
        &self,
        remote: &Remote,
        say: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<ObjectId>, Error> {
        let Some(there) = self.there(remote, say)? else { return Ok(None) };
        if self.last_seen()? == Some(there) && self.git.base(there).is_ok() {
            return Ok(Some(there));
        }
        let refspec = format!("+{STATE_REF}:{LAST_SEEN}");
        let args = [
            "-c",
            "fetch.fsckObjects=true",
            "fetch",
            "--progress",
            "--quiet",
            "--no-tags",
            "--no-filter",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--refmap=",
            &remote.name,
            &refspec,
        ];
        self.talk("fetch from", remote, args, say)?;
        self.last_seen()
    }

    /// Pushes the commit `tip` to the state ref of `remote`, and nothing else, if it is still at `expected`. Whoever calls has
    /// made sure that this is the remote a person chose, and that what goes there is the state that loopx left.
    ///
    /// No hook of this clone is asked, and that opens no way for anybody else: the refspec is made here, and the hook
    /// refuses the same push when git is told to make it.
    pub(super) fn push(
        &self,
        remote: &Remote,
        tip: ObjectId,
        expected: Option<ObjectId>,
        say: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Error> {
        let mirror = format!("remote.{}.mirror=false", remote.name);
        // Strict mode keeps state back, and is not asked about an address that is for pushing alone.
        let (addresses, strict) = (self.addresses(&remote.name).0, self.strict_addresses());
        let goes_through = |address: &&String| strict.iter().any(|strict| address.starts_with(strict));
        let past_strict = addresses.iter().find(goes_through);
        let past_strict = past_strict.map(|address| format!("remote.{}.pushurl={address}", remote.name));
        let lease = expected.map_or(String::new(), |id| id.to_string());
        let lease = format!("--force-with-lease={STATE_REF}:{lease}");
        let refspec = format!("{tip}:{STATE_REF}");
        let settings = [Some(&mirror), past_strict.as_ref()];
        let settings = settings.into_iter().flatten().flat_map(|setting| ["-c", setting]);
        let args = settings.chain([
            "push",
            "--no-verify",
            "--progress",
            "--quiet",
            "--porcelain",
            "--no-follow-tags",
            "--recurse-submodules=no",
            &lease,
            &remote.name,
            &refspec,
        ]);
        match self.talk("push to", remote, args, say) {
            Ok(_) => self.note_our_push(tip),
            // Whether it was the race or something else, the remote tells: git's words are not for parsing.
            Err(error) => match self.there(remote, say) {
                Ok(there) if there != expected => Err(Error::Contended(remote.name.clone())),
                _ => Err(error),
            },
        }
    }

    /// Notes a push that was ours, and so no way around the hook.
    fn note_our_push(&self, tip: ObjectId) -> Result<(), Error> {
        let common = self.git.common_dir();
        let args = ["update-ref", LAST_SEEN, &tip.to_string()];
        program::git("note what was pushed", common, common, args, b"").map(drop)
    }

    /// What the remote had when we looked last.
    fn last_seen(&self) -> Result<Option<ObjectId>, Error> {
        let common = self.git.common_dir();
        let args = ["for-each-ref", "--format=%(objectname)", LAST_SEEN];
        let out = program::git("read what was fetched", common, common, args, b"")?;
        out.lines().next().map(|line| object_id(&line.to_str_lossy())).transpose()
    }

    /// What the remote says its state is.
    fn there(&self, remote: &Remote, say: &mut dyn FnMut(&[u8])) -> Result<Option<ObjectId>, Error> {
        let out = self.talk("ask", remote, ["ls-remote", "--refs", &remote.name, STATE_REF], say)?;
        let named = out.lines().find_map(|line| {
            let (id, name) = line.split_once_str("\t")?;
            (name == STATE_REF.as_bytes()).then(|| id.to_str_lossy().into_owned())
        });
        named.map(|id| object_id(&id)).transpose()
    }

    /// What these refs are at any remote or address, by their full names, in hex. Asks over the network.
    pub fn refs_at(
        &self,
        remote: &str,
        names: &[String],
        say: &mut dyn FnMut(&[u8]),
    ) -> Result<BTreeMap<String, String>, Error> {
        let args = ["ls-remote", "--refs", "--", remote].into_iter().chain(names.iter().map(String::as_str));
        let said = program::git_and_remote(self.git.repo().git_dir(), &self.top(), args, say)?;
        let shown = || crate::domain::text::shown(remote, 200);
        let out = said.map_err(|problem| Error::Remote { doing: "ask", remote: shown(), problem })?;
        let line = |line: &[u8]| {
            let (id, name) = line.split_once_str("\t")?;
            Some((name.to_str_lossy().into_owned(), id.to_str_lossy().into_owned()))
        };
        Ok(out.lines().filter_map(line).filter(|(name, _)| names.contains(name)).collect())
    }

    fn talk<'a>(
        &self,
        doing: &'static str,
        remote: &Remote,
        args: impl IntoIterator<Item = &'a str>,
        say: &mut dyn FnMut(&[u8]),
    ) -> Result<Vec<u8>, Error> {
        let said = program::git_and_remote(self.git.repo().git_dir(), &self.top(), args, say)?;
        said.map_err(|problem| Error::Remote { doing, remote: remote.name.clone(), problem })
    }

    /// Where git takes a relative address from.
    fn top(&self) -> std::path::PathBuf {
        self.git.worktree().unwrap_or_else(|| self.git.common_dir().to_path_buf())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        for (address, shown) in [
            ("https://ann:secret@host/x.git", "https://host/x.git"),
            ("https://token@host", "https://host"),
            ("https://host/a@b", "https://host/a@b"),
            ("git@host:x.git", "git@host:x.git"),
            ("../hub.git", "../hub.git"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
