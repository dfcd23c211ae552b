//! Bringing the state here and the one at the remote together.

use serde::Serialize;

use super::{Ctx, Done, enforcement, notify::Before};
use crate::{
    domain::actor::Proven,
    error::{Error, Kind},
    store::{
        Warning,
        remote::Remote,
        sync::{Plan, Taken},
    },
};

/// What a sync would come to.
#[derive(Debug)]
pub struct Look {
    pub remote: Remote,
    plan: Plan,
}

/// What a sync did, in commits.
#[derive(Debug, Serialize)]
pub struct Synced {
    pub remote: String,
    /// The state that both have now, in hex.
    pub tip: String,
    /// Taken over from the remote.
    pub taken: usize,
    /// Our own that were made again on top of them.
    pub replayed: usize,
    /// Our own that were given up.
    pub dropped: usize,
    /// Sent to the remote.
    pub pushed: usize,
}

impl Look {
    /// What comes from the remote, oldest first.
    pub fn takes(&self) -> &[Taken] {
        &self.plan.takes
    }

    /// Our own commits that would be given up for it.
    pub fn drops(&self) -> &[Taken] {
        &self.plan.drops
    }

    /// How many of our own commits are made again on top of it.
    pub fn replays(&self) -> usize {
        self.plan.replays
    }

    /// Whether only a person may agree to it: with what comes from elsewhere come answers, and a history that is replaced is
    /// gone for everybody.
    pub fn needs_a_person(&self) -> bool {
        self.plan.replaces() || !self.plan.takes.is_empty()
    }

    /// What the remote has, in hex.
    pub fn theirs(&self) -> Option<String> {
        self.plan.theirs()
    }

    /// The history at the remote is replaced by the one that is left of it here.
    pub fn replaces(&self) -> bool {
        self.plan.replaces()
    }
}

/// Asks the remote what it has and verifies that. Nothing changes here but what is known of the remote.
pub fn look(
    ctx: &Ctx,
    drop_ours: bool,
    say: &mut dyn FnMut(&[u8]),
    progress: impl FnMut(usize, usize),
) -> Result<Look, Error> {
    let remote = ctx.store.target()?;
    let plan = ctx.store.compare(&remote, drop_ours, ctx.now, say, progress)?;
    Ok(Look { remote, plan })
}

/// Does what was seen. A conflict says that one of the sides has moved since.
pub fn sync(
    ctx: &Ctx,
    look: &Look,
    proven: Option<&Proven>,
    say: &mut dyn FnMut(&[u8]),
) -> Result<Done<Synced>, Error> {
    let Look { remote, plan } = look;
    if look.needs_a_person() && proven.is_none() {
        return Err(Error::new(Kind::PersonNeeded, "only a person may take over what comes from elsewhere")
            .hint("run `loopx sync` in a terminal"));
    }
    let before = Before::look(ctx);
    let taken = ctx.store.take(remote, plan, &ctx.stamp()?)?;
    before.tell_news(ctx);
    ctx.store.send(remote, plan, taken.as_ref(), say).map_err(Error::from).map_err(|error| match &taken {
        None => error,
        Some(_) => {
            let message = format!("{}; what it had is taken over, and nothing is lost", error.message);
            Error { message, ..error }
        }
    })?;
    let (commit, mut warnings) = match taken {
        Some(taken) => (taken.commit, taken.warnings),
        None => (None, Vec::new()),
    };
    warnings.extend(enforcement::keep(ctx).map(Warning::Unguarded));
    let value = Synced {
        remote: remote.name().to_owned(),
        tip: ctx.store.trusted()?.tip(),
        taken: plan.takes.len(),
        replayed: plan.replays,
        dropped: plan.drops.len(),
        pushed: plan.pushes,
    };
    Ok(Done { value, commit, warnings })
}
