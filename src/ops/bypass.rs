//! Pushes that went round the hook: noticing them, showing them, and a person who takes notice.

use serde::Serialize;

use super::{Ctx, Done, enforcement};
use crate::{
    domain::{
        actor::{Proven, Stamp},
        bypass::{Bypass, Circumstances, Push, unguarded},
        change::{Change, Op, Record},
        gate::Act,
        id::BypassId,
        refusal::Refusal,
        secret,
        text::{Note, Title},
        time::{Seconds, Timestamp},
    },
    error::{Error, Kind},
    store::{Snapshot, message::subject, pushes::Look},
};

/// A bypass with its id, and how long ago the push was (seconds).
#[derive(Debug, Serialize)]
pub struct BypassView {
    pub id: BypassId,
    pub age_seconds: Seconds,
    #[serde(flatten)]
    pub bypass: Bypass,
}

/// Pushes that went round the hook, the oldest first.
#[derive(Debug, Serialize)]
pub struct Bypasses {
    pub bypasses: Vec<BypassView>,
    /// Those that the next mutation will record.
    pub unrecorded: Vec<Push>,
    /// Why it cannot be seen whether there are more; left out when it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blind: Option<String>,
}

/// The same in short, as every other answer has it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Notice {
    /// Records that no person has acknowledged.
    pub unacknowledged: usize,
    /// Pushes that the next mutation will record.
    pub unrecorded: usize,
    /// One of them was made while a gate held pushes back.
    pub gated: bool,
    pub next: &'static str,
}

impl Bypasses {
    /// In short; nothing when nobody needs to know.
    pub fn notice(&self) -> Option<Notice> {
        let (unacknowledged, unrecorded) = (self.bypasses.len(), self.unrecorded.len());
        let gated = self.pushes().any(|push| !push.gates.is_empty());
        let next = "loopx bypass list";
        (unacknowledged + unrecorded > 0).then_some(Notice { unacknowledged, unrecorded, gated, next })
    }

    /// The command with which a person takes notice of one of them; none when nobody has to.
    pub fn cure(&self) -> Option<String> {
        let open = self.bypasses.iter().find(|view| !view.bypass.is_acknowledged());
        match open {
            Some(view) => Some(format!("loopx bypass acknowledge {}", view.id)),
            None if !self.unrecorded.is_empty() => Some("loopx bypass acknowledge".to_owned()),
            None => None,
        }
    }

    /// All of them, recorded or not.
    pub fn pushes(&self) -> impl Iterator<Item = &Push> {
        self.bypasses.iter().map(|view| &view.bypass.push).chain(&self.unrecorded)
    }
}

impl BypassView {
    fn of(ctx: &Ctx, id: BypassId, bypass: Bypass) -> Self {
        Self { id, age_seconds: bypass.push.at.age(ctx.now), bypass }
    }
}

/// Begins to watch pushes from now on, if the hook is in git's way. What fails here is tried again by the next mutation.
pub fn watch(ctx: &Ctx) {
    if enforcement::probe_one(ctx, &ctx.store).active {
        let _ = ctx.store.watch(ctx.now);
    }
}

/// Those that nobody has acknowledged; with `all`, the acknowledged ones, too. Where only the program git can tell what was
/// pushed, it is asked if the look is to be `thorough`. Writes nothing.
pub fn list(ctx: &Ctx, all: bool, thorough: bool) -> Result<Bypasses, Error> {
    let snapshot = ctx.store.read()?;
    let mut found = snapshot.bypasses()?;
    if all {
        found.extend(snapshot.closed_bypasses()?);
    }
    let mut bypasses: Vec<_> =
        found.into_iter().map(|(id, bypass)| BypassView::of(ctx, id, bypass)).collect();
    bypasses.sort_by_key(|view| (view.bypass.push.at, view.id.clone()));
    let unrecorded = match ctx.store.look(thorough) {
        Ok(Some(look)) => around(ctx, &snapshot, &look),
        Ok(None) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    };
    let (unrecorded, blind) = match unrecorded {
        Ok(unrecorded) => (unrecorded, None),
        Err(error) => (Vec::new(), Some(error.message)),
    };
    Ok(Bypasses { bypasses, unrecorded, blind })
}

/// One of them, acknowledged or not.
pub fn show(ctx: &Ctx, id: &BypassId) -> Result<BypassView, Error> {
    find(ctx, &ctx.store.read()?, id)
}

/// A bypass that a person may acknowledge.
#[derive(Debug)]
pub struct Asked {
    pub view: BypassView,
    /// Not so: acknowledging it records it before, under this id.
    pub is_recorded: bool,
}

/// What a person should have in front of them before they acknowledge it: the one that is named, or the oldest record that
/// nobody has acknowledged, or the first push that is not recorded yet.
pub fn asked(ctx: &Ctx, id: Option<&BypassId>) -> Result<Asked, Error> {
    let snapshot = ctx.store.trusted()?;
    if let Some(id) = id {
        let view = find(ctx, &snapshot, id)?;
        view.bypass.must_be_open(id)?;
        return Ok(Asked { view, is_recorded: true });
    }
    let recorded = snapshot.bypasses()?.into_iter().min_by_key(|(id, bypass)| (bypass.push.at, id.clone()));
    if let Some((id, bypass)) = recorded {
        return Ok(Asked { view: BypassView::of(ctx, id, bypass), is_recorded: true });
    }
    match drawn(ctx, &ctx.stamp()?, &snapshot)?.into_iter().next() {
        Some((id, bypass)) => Ok(Asked { view: BypassView::of(ctx, id, bypass), is_recorded: false }),
        None => {
            Err(Error::new(Kind::NotFound, "there is no push round the hook that nobody has acknowledged")
                .hint("run `loopx bypass list --all`"))
        }
    }
}

/// The records that the next mutation would make.
fn drawn(ctx: &Ctx, stamp: &Stamp, snapshot: &Snapshot<'_>) -> Result<Vec<(BypassId, Bypass)>, Error> {
    match ctx.store.look(true)? {
        Some(look) => records(ctx, stamp, snapshot, around(ctx, snapshot, &look)?),
        None => Ok(Vec::new()),
    }
}

fn find(ctx: &Ctx, snapshot: &Snapshot<'_>, id: &BypassId) -> Result<BypassView, Error> {
    let bypass = snapshot.bypass(id)?.ok_or_else(|| Refusal::UnknownBypass(id.clone()))?;
    Ok(BypassView::of(ctx, id.clone(), bypass))
}

/// Acknowledges what was `asked`, as the person who was proven to have seen it. What is not recorded yet is recorded before, as
/// before every mutation, in a commit of its own. Refused when there is something else under that id by now.
pub fn acknowledge(
    ctx: &Ctx,
    asked: &Asked,
    proven: &Proven,
    note: Option<&Note>,
) -> Result<Done<BypassView>, Error> {
    let (id, push) = (&asked.view.id, &asked.view.bypass.push);
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let recorded = match snapshot.bypass(id)? {
            None if !asked.is_recorded => drawn(ctx, &stamp, snapshot)?
                .into_iter()
                .find_map(|(drawn, bypass)| (drawn == *id).then_some(bypass)),
            recorded => recorded,
        };
        let bypass = recorded
            .filter(|bypass| bypass.push == *push)
            .ok_or_else(|| Refusal::UnknownBypass(id.clone()))?;
        let bypass = bypass.acknowledge(id, proven.clone(), ctx.now, note.cloned())?;
        let change = Change {
            op: Op::BypassAcknowledge,
            subject: format!("acknowledge bypass {id}"),
            body: note.cloned(),
            goal: None,
            turn: None,
            puts: vec![Record::Bypass(id.clone(), bypass.clone())],
        };
        Ok((Some(change), BypassView::of(ctx, id.clone(), bypass)))
    })
}

/// What has to be recorded before a mutation: the pushes that went round the hook since the last one.
///
/// Before and not after it, so that the gates which are in force now are those that were in force when the push was made:
/// every mutation that could have opened or answered one has looked before. Looking is not worth a failure: what cannot be
/// seen now is seen by the next one.
pub(super) fn note(ctx: &Ctx, stamp: &Stamp, snapshot: &Snapshot<'_>) -> Result<Option<Change>, Error> {
    let Ok(Some(look)) = ctx.store.look(true) else {
        watch(ctx);
        return Ok(None);
    };
    let pushes = around(ctx, snapshot, &look)?;
    if pushes.is_empty() {
        let _ = ctx.store.looked(&look, ctx.now);
        return Ok(None);
    }
    let told = match &pushes[..] {
        [push] => subject("note a push round the hook", &secret::clean(push.remote.as_str())),
        _ => format!("note pushes round the hook to {} places", pushes.len()),
    };
    let records = records(ctx, stamp, snapshot, pushes)?;
    let puts = records.into_iter().map(|(id, bypass)| Record::Bypass(id, bypass)).collect();
    Ok(Some(Change { op: Op::BypassNote, subject: told, body: None, goal: None, turn: None, puts }))
}

/// A record of each push, under an id that is the same each time in one run of the program.
fn records(
    ctx: &Ctx,
    stamp: &Stamp,
    snapshot: &Snapshot<'_>,
    pushes: Vec<Push>,
) -> Result<Vec<(BypassId, Bypass)>, Error> {
    let population = snapshot.bypasses()?.len() + snapshot.closed_bypasses()?.len();
    let mut puts: Vec<(BypassId, Bypass)> = Vec::new();
    for mut push in pushes {
        // Git chose these words, so that nobody could say them without a secret.
        for name in [&mut push.remote, &mut push.ref_] {
            if let Some((clean, _)) = Title::fit(&secret::clean(name.as_str())) {
                *name = clean;
            }
        }
        let taken = |id: &BypassId| -> Result<bool, Error> {
            Ok(puts.iter().any(|(drawn, _)| drawn == id) || snapshot.bypass(id)?.is_some())
        };
        let id = BypassId::draw(&ctx.entropy, puts.len(), population, taken)?.ok_or(Refusal::NoFreeId)?;
        puts.push((id, Bypass::new(push, stamp.clone())));
    }
    Ok(puts)
}

/// What went round the hook and is not recorded in `snapshot`.
fn around(ctx: &Ctx, snapshot: &Snapshot<'_>, look: &Look) -> Result<Vec<Push>, Error> {
    if look.moved.is_empty() {
        return Ok(Vec::new());
    }
    let recorded: Vec<Bypass> =
        snapshot.bypasses()?.into_values().chain(snapshot.closed_bypasses()?.into_values()).collect();
    let recorded: Vec<&Push> = recorded.iter().map(|bypass| &bypass.push).collect();
    let circumstances = Circumstances {
        gated_since: gated_since(snapshot)?,
        hooked: enforcement::probe_one(ctx, &ctx.store).active,
        noted: look.noted,
    };
    Ok(unguarded(&look.moved, &recorded, circumstances, &snapshot.standing()?))
}

/// When the youngest of the gates that hold pushes back was asked.
fn gated_since(snapshot: &Snapshot<'_>) -> Result<Option<Timestamp>, Error> {
    let mut youngest = None;
    for goal in snapshot.goals()? {
        let held = snapshot.gates(&goal)?.into_values().filter(|gate| gate.holds_back(Act::Push));
        youngest = youngest.max(held.map(|gate| gate.asked.at).max());
    }
    Ok(youngest)
}
