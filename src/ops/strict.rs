//! Strict mode: pushes to a remote go through `git-remote-loopx`, which no option of `git push` leaves out.

use serde::Serialize;

use super::Ctx;
use crate::{
    domain::{actor::Proven, text::shown},
    error::{Error, Kind},
};

/// Whether pushes to a remote go through loopx.
#[derive(Debug, Serialize)]
pub struct Strict {
    pub remote: String,
    /// The addresses it is about.
    pub addresses: Vec<String>,
    pub strict: bool,
}

/// The remote that is meant: the one named, else the only one, and where it is.
pub fn find(ctx: &Ctx, named: Option<&str>) -> Result<Strict, Error> {
    let remotes = ctx.store.remotes();
    let remote = match (named, &remotes[..]) {
        (Some(named), all) if all.iter().any(|remote| remote == named) => named.to_owned(),
        (Some(named), _) => {
            let what = format!("there is no remote `{}`", shown(named, 200));
            return Err(Error::new(Kind::NotFound, what).hint("run `git remote -v`"));
        }
        (None, [only]) => only.clone(),
        (None, []) => {
            return Err(Error::new(Kind::NotFound, "there is no remote yet")
                .hint("run `git remote add origin <address>` first"));
        }
        (None, [first, ..]) => {
            return Err(Error::new(Kind::Usage, format!("there are {} remotes", remotes.len()))
                .hint(format!("add `--remote {first}`")));
        }
    };
    let (addresses, _) = ctx.store.addresses(&remote);
    let strict = !addresses.is_empty() && addresses.iter().all(|address| ctx.store.is_strict(address));
    Ok(Strict { remote, addresses, strict })
}

/// Switches it on. Anybody may: it only tightens.
pub fn on(ctx: &Ctx, found: Strict) -> Result<Strict, Error> {
    let remote = &found.remote;
    if !ctx.store.addresses(remote).1.is_empty() {
        let what = format!("remote `{remote}` has an address for pushing alone, which git takes as it is");
        return Err(Error::new(Kind::Refused, format!("strict mode would do nothing: {what}"))
            .hint(format!("run `git config --unset-all remote.{remote}.pushurl` first")));
    }
    if found.addresses.is_empty() {
        let what = format!("remote `{remote}` has no address");
        return Err(Error::new(Kind::Refused, what).hint("run `git remote -v`"));
    }
    for address in &found.addresses {
        ctx.store.set_strict(address, true)?;
    }
    Ok(Strict { strict: true, ..found })
}

/// Switches it off. That loosens, so it takes a person.
pub fn off(ctx: &Ctx, found: Strict, _proven: &Proven) -> Result<Strict, Error> {
    for address in &found.addresses {
        ctx.store.set_strict(address, false)?;
    }
    Ok(Strict { strict: false, ..found })
}
