//! Quota: how much of a window's slots a goal may use, and the ledger of what it used.

use std::{collections::BTreeMap, fmt, str::FromStr};

use super::{
    actor::{Person, Proof, Proven, Stamp},
    id::{EvidenceId, GoalId, TurnId},
    refusal::Refusal,
    text::Note,
    time::{Seconds, Timestamp},
};

/// The limits of every goal that has its own; the others have the [default](Quota::default).
pub type Quotas = BTreeMap<GoalId, Quota>;

/// The limit of one goal: out of the slots that `window_hours` has, the share `compute`, and no more than `slots` where
/// that is said; with what a person granted on top of it for a while.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "RawQuota")]
pub struct Quota {
    compute: Share,
    window_hours: u32,
    slot_minutes: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    slots: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    grants: Vec<Grant>,
}

/// Slots on top of a limit, for a while. It ends by itself.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    pub slots: u32,
    pub until: Timestamp,
    pub by: Person,
    pub at: Timestamp,
    pub reason: Note,
    pub proof: Proof,
}

/// What is wanted on top of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    pub slots: u32,
    pub until: Timestamp,
}

impl Burst {
    /// Most slots of one.
    pub const MOST: u32 = 10_000;

    /// What a person types back to grant it.
    pub fn word(self) -> String {
        format!("grant {}", self.slots)
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQuota {
    compute: Share,
    window_hours: u32,
    slot_minutes: u32,
    slots: Option<u32>,
    #[serde(default)]
    grants: Vec<Grant>,
}

impl TryFrom<RawQuota> for Quota {
    type Error = BadQuota;
    fn try_from(raw: RawQuota) -> Result<Self, BadQuota> {
        let quota = Self::new(raw.compute, raw.window_hours, raw.slot_minutes)?.capped(raw.slots)?;
        match raw.grants.iter().find(|grant| !(1..=Burst::MOST).contains(&grant.slots)) {
            Some(bad) => Err(BadQuota::Grant(bad.slots)),
            None => Ok(Self { grants: raw.grants, ..quota }),
        }
    }
}

impl Default for Quota {
    /// Every slot of half an hour in a day: 48.
    fn default() -> Self {
        let grants = Vec::new();
        Self { compute: Share(Share::WHOLE), window_hours: 24, slot_minutes: 30, slots: None, grants }
    }
}

/// Numbers that make no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadQuota {
    #[error("a window has 1 to 720 hours, not {0}")]
    Window(u32),
    #[error("a slot has 1 to 1440 minutes and fits into the window, not {0}")]
    Slot(u32),
    #[error(
        "a window has {window} slots here, so a cap has 1 to {window}, not {cap} (a share of 0 is a pause)"
    )]
    Cap { cap: u32, window: u32 },
    #[error("a grant has 1 to {most} slots, not {0}", most = Burst::MOST)]
    Grant(u32),
    /// The share is so small that not one slot would be left.
    #[error("{compute} of {slots} slots is less than one slot (use 0 to pause, or at least {least})")]
    LessThanOne { compute: Share, slots: u32, least: Share },
}

impl Quota {
    /// A limit, or why the numbers make none. A share is never rounded into a pause.
    pub fn new(compute: Share, window_hours: u32, slot_minutes: u32) -> Result<Self, BadQuota> {
        if !(1..=720).contains(&window_hours) {
            return Err(BadQuota::Window(window_hours));
        }
        if !(1..=1440).contains(&slot_minutes) || slot_minutes > window_hours * 60 {
            return Err(BadQuota::Slot(slot_minutes));
        }
        let grants = Vec::new();
        let quota = Self { compute, window_hours, slot_minutes, slots: None, grants };
        if compute.0 > 0 && quota.allowed() == 0 {
            let slots = quota.slots();
            return Err(BadQuota::LessThanOne {
                compute,
                slots,
                least: Share(u16::try_from(10_000u32.div_ceil(slots)).unwrap_or(Share::WHOLE)),
            });
        }
        Ok(quota)
    }

    /// The same window and slots with another share.
    pub fn with_compute(self, compute: Share) -> Result<Self, BadQuota> {
        let changed = Self::new(compute, self.window_hours, self.slot_minutes)?.capped(self.slots)?;
        Ok(Self { grants: self.grants, ..changed })
    }

    /// The same with at most so many slots of a window, whatever the share comes to; `None` for no such cap.
    pub fn capped(self, slots: Option<u32>) -> Result<Self, BadQuota> {
        let window = self.slots();
        match slots.filter(|cap| !(1..=window).contains(cap)) {
            Some(cap) => Err(BadQuota::Cap { cap, window }),
            None => Ok(Self { slots, ..self }),
        }
    }

    /// The same with what was granted on top of `other`.
    #[must_use]
    pub fn with_grants_of(self, other: &Self) -> Self {
        Self { grants: other.grants.clone(), ..self }
    }

    /// Grants a burst. What was granted before and is over is let go of.
    pub fn grant(
        &self,
        goal: &GoalId,
        burst: Burst,
        proven: Proven,
        at: Timestamp,
        reason: Note,
    ) -> Result<Self, Refusal> {
        let Burst { slots, until } = burst;
        if until <= at || until > at.plus(self.window()) {
            let (goal, hours) = (goal.clone(), self.window_hours);
            return Err(Refusal::GrantOutOfWindow { goal, until, hours });
        }
        if !(1..=Burst::MOST).contains(&slots) {
            return Err(Refusal::GrantOfNothing { goal: goal.clone(), slots });
        }
        // One that is over may still pay for what was booked while it ran.
        let from = at.minus(self.window());
        let kept = self.grants.iter().filter(|grant| grant.until > from).cloned();
        let new = Grant { slots, until, by: proven.person, at, reason, proof: proven.proof };
        Ok(Self { grants: kept.chain([new]).collect(), ..self.clone() })
    }

    /// The share of the window's slots that may be used.
    pub fn compute(&self) -> Share {
        self.compute
    }

    /// The cap, if there is one beside the share.
    pub fn cap(&self) -> Option<u32> {
        self.slots
    }

    /// What was granted, running or over; the latest last.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Length of the window in hours.
    pub fn window_hours(&self) -> u32 {
        self.window_hours
    }

    /// Length of a slot in minutes.
    pub fn slot_minutes(&self) -> u32 {
        self.slot_minutes
    }

    /// Length of the window.
    pub fn window(&self) -> Seconds {
        Seconds(self.window_hours * 3600)
    }

    /// Slots in a window.
    pub fn slots(&self) -> u32 {
        self.window_hours * 60 / self.slot_minutes
    }

    /// Slots of a window that may be used without any grant.
    pub fn allowed(&self) -> u32 {
        // At most 43,200 slots times 10,000: far from the end of a u32.
        let share = self.slots() * u32::from(self.compute.0) / u32::from(Share::WHOLE);
        self.slots.map_or(share, |cap| cap.min(share))
    }

    /// Slots of the window that ends at `now` which may be used: those without a grant, what runs of grants, and what was
    /// booked on one that is over. Slots that are booked while a grant runs are taken from it first, so that a burst is
    /// not owed for afterwards.
    pub fn limit(&self, spends: &[Spend], now: Timestamp) -> u32 {
        let from = now.minus(self.window());
        let granted = self.grants.iter().filter(|grant| grant.until > from).map(|grant| {
            if grant.runs(spends, now) {
                return grant.slots;
            }
            let during = |at: Timestamp| at >= grant.at && at < grant.until && at > from;
            let booked = spends.iter().filter(|spend| during(spend.added.at)).map(Spend::counted);
            booked.fold(0, u32::saturating_add).min(grant.slots)
        });
        granted.fold(self.allowed(), u32::saturating_add)
    }

    /// The grants that run at `now`.
    pub fn running(&self, spends: &[Spend], now: Timestamp) -> Vec<&Grant> {
        self.grants.iter().filter(|grant| grant.runs(spends, now)).collect()
    }

    /// Slots used in the window that ends at `now`. A spend dated later than `now` counts: a clock that jumped back
    /// gives nobody new slots. A voided one does not.
    pub fn spent(&self, spends: &[Spend], now: Timestamp) -> u32 {
        let from = now.minus(self.window());
        let counts = spends.iter().filter(|spend| spend.added.at > from).map(Spend::counted);
        counts.fold(0, u32::saturating_add)
    }

    /// When at least one slot will be free again; `None` when one is free at `now`, or never will be (a pause).
    pub fn free_at(&self, spends: &[Spend], now: Timestamp) -> Option<Timestamp> {
        let is_free = |at| self.spent(spends, at) < self.limit(spends, at);
        if self.allowed() == 0 || is_free(now) {
            return None;
        }
        let from = now.minus(self.window());
        let mut comes_back: Vec<_> = (spends.iter())
            .filter(|spend| spend.added.at > from && spend.counted() > 0)
            .map(|spend| spend.added.at.plus(self.window()))
            .collect();
        comes_back.sort();
        comes_back.dedup();
        comes_back.into_iter().find(|at| is_free(*at))
    }

    /// Whether every agent has at most as much under `self` as under `other`, in any stretch of time.
    pub fn is_at_most(&self, other: &Self) -> bool {
        self.allowed() <= other.allowed()
            && self.window_hours >= other.window_hours
            && self.slot_minutes <= other.slot_minutes
            && self.grants.iter().all(|grant| other.grants.contains(grant))
    }

    /// Books `slots` for a turn, in the place of what was booked for it before.
    pub fn spend(&self, goal: &GoalId, spends: &[Spend], spend: Spend) -> Result<Spend, Refusal> {
        let is_it = |booked: &&Spend| booked.turn == spend.turn;
        if spend.counted() == 0 || spends.iter().find(is_it).is_some_and(|booked| booked.slots >= spend.slots)
        {
            return Ok(spend);
        }
        let others: Vec<_> = spends.iter().filter(|booked| !is_it(booked)).cloned().collect();
        let spends = &others[..];
        let (allowed, spent) = (self.limit(spends, spend.added.at), self.spent(spends, spend.added.at));
        if spent.saturating_add(spend.slots) > allowed {
            let until = self.free_at(spends, spend.added.at);
            return Err(Refusal::QuotaSpent {
                goal: goal.clone(),
                allowed,
                spent,
                wanted: spend.slots,
                until,
            });
        }
        Ok(spend)
    }
}

impl Grant {
    /// It is not over. What was booked after its end says that it is, even when the clock was set back since.
    fn runs(&self, spends: &[Spend], now: Timestamp) -> bool {
        now < self.until && !spends.iter().any(|spend| spend.added.at >= self.until)
    }
}

/// A goal that wants the next slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub goal: GoalId,
    /// Slots it may use in its window.
    pub limit: u32,
    /// Slots it used in it.
    pub spent: u32,
    /// It has something that may be done now.
    pub can_go: bool,
}

/// A goal in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranked {
    pub candidate: Candidate,
    /// How many slots it is behind what it would have if all had used the same part of their limits; below nought: ahead.
    pub deficit: i64,
}

/// The goals in the order in which they should get slots: first those that can use one, then those which used the
/// smallest part of their limit, then those with the larger limit, then by id.
pub fn plan(candidates: Vec<Candidate>) -> Vec<Ranked> {
    let sum = |of: fn(&Candidate) -> u32| candidates.iter().map(|goal| i128::from(of(goal))).sum::<i128>();
    let (limits, spent) = (sum(|goal| goal.limit).max(1), sum(|goal| goal.spent));
    let rank = |candidate: Candidate| {
        let fair = i128::from(candidate.limit) * spent;
        let behind = (fair - i128::from(candidate.spent) * limits).div_euclid(limits);
        Ranked { deficit: i64::try_from(behind).unwrap_or(i64::MAX), candidate }
    };
    let mut ranked: Vec<_> = candidates.into_iter().map(rank).collect();
    ranked.sort_by(|a, b| {
        let (a, b) = (&a.candidate, &b.candidate);
        let part = |one: &Candidate, other: &Candidate| u64::from(one.spent) * u64::from(other.limit.max(1));
        let usable = |goal: &Candidate| goal.can_go && goal.spent < goal.limit;
        (usable(b).cmp(&usable(a)))
            .then_with(|| part(a, b).cmp(&part(b, a)))
            .then_with(|| b.limit.cmp(&a.limit))
            .then_with(|| a.goal.cmp(&b.goal))
    });
    ranked
}

impl Ranked {
    /// It could use a slot now.
    pub fn is_ready(&self) -> bool {
        self.candidate.can_go && self.candidate.spent < self.candidate.limit
    }
}

/// A share between 0 and 1 in steps of one ten-thousandth, written as a decimal number.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    schemars::JsonSchema,
    serde::Deserialize,
)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(u16);

/// A text was no share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a share (expected 0 to 1 with at most four decimals, such as `0.5`)", .0.escape_debug())]
pub struct BadShare(String);

impl Share {
    const WHOLE: u16 = 10_000;

    /// Nothing: a pause.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl TryFrom<f64> for Share {
    type Error = BadShare;
    fn try_from(share: f64) -> Result<Self, BadShare> {
        let steps = (share * f64::from(Self::WHOLE)).round();
        let exact = (0.0..=f64::from(Self::WHOLE)).contains(&steps)
            && (share * f64::from(Self::WHOLE) - steps).abs() < 1e-6;
        // In range and whole, so nothing is cut off.
        if exact { Ok(Self(steps as u16)) } else { Err(BadShare(share.to_string())) }
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> Self {
        Self::from(share.0) / Self::from(Share::WHOLE)
    }
}

impl FromStr for Share {
    type Err = BadShare;
    fn from_str(text: &str) -> Result<Self, BadShare> {
        text.parse::<f64>().map_err(|_| BadShare(text.to_owned())).and_then(Self::try_from)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(*self))
    }
}

/// The cap on the slots of a window as it is asked for: a number, or `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap(pub Option<u32>);

/// A text was no cap.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a number of slots (expected one such as `12`, or `none`)", .0.escape_debug())]
pub struct BadCap(String);

impl FromStr for Cap {
    type Err = BadCap;
    fn from_str(text: &str) -> Result<Self, BadCap> {
        match text {
            "none" => Ok(Self(None)),
            _ => text.parse().map(|slots| Self(Some(slots))).map_err(|_| BadCap(text.to_owned())),
        }
    }
}

impl fmt::Display for Cap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(slots) => write!(f, "{slots}"),
            None => f.write_str("none"),
        }
    }
}

/// One booking: what a turn used. There is one for a turn, whatever happened in between.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spend {
    pub turn: TurnId,
    pub slots: u32,
    /// What the slots paid for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceId>,
    pub added: Stamp,
    /// How the turn went, if it was begun as one; none where slots were only booked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<super::turn::Course>,
    /// A person said that it does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voided: Option<Voided>,
}

/// Who took a booking out of the count, and why.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Voided {
    pub by: Person,
    pub at: Timestamp,
    pub reason: Note,
    pub proof: Proof,
}

impl Spend {
    /// The slots that count.
    pub fn counted(&self) -> u32 {
        if self.voided.is_some() { 0 } else { self.slots }
    }

    /// Takes it out of the count. It stays, and so does what the turn did.
    pub fn void(&self, proven: Proven, at: Timestamp, reason: Note) -> Result<Self, Refusal> {
        self.may_be_voided()?;
        let voided = Voided { by: proven.person, at, reason, proof: proven.proof };
        Ok(Self { voided: Some(voided), ..self.clone() })
    }

    /// It counts, and its turn is over.
    pub fn may_be_voided(&self) -> Result<(), Refusal> {
        let turn = self.turn.clone();
        if let Some(Voided { by, at, .. }) = &self.voided {
            return Err(Refusal::SpendVoided { turn, by: by.clone(), at: *at });
        }
        match &self.course {
            Some(course) if course.end.is_none() => Err(Refusal::TurnGoesOn { turn, until: course.until }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::{at, goal_id, proven, spend};

    fn quota(compute: &str, hours: u32, minutes: u32) -> Result<Quota, BadQuota> {
        Quota::new(compute.parse().unwrap(), hours, minutes)
    }

    #[test]
    fn the_default_is_a_limit_that_a_person_can_see() {
        assert_eq!(Quota::default().allowed(), 48);
        assert_eq!(quota("0.5", 24, 30).unwrap().allowed(), 24);
        assert_eq!(quota("0", 24, 30).unwrap().allowed(), 0);
    }

    #[test]
    fn a_small_share_is_never_rounded_into_a_pause() {
        assert_eq!(
            quota("0.001", 24, 30).unwrap_err().to_string(),
            "0.001 of 48 slots is less than one slot (use 0 to pause, or at least 0.0209)"
        );
        assert_eq!(quota("0.0209", 24, 30).unwrap().allowed(), 1);
        for (hours, minutes) in [(0, 30), (721, 30), (1, 61), (24, 0)] {
            assert!(quota("1", hours, minutes).is_err(), "{hours} h, {minutes} min passed");
        }
    }

    #[test]
    fn shares_are_decimal_and_bounded() {
        for bad in ["-0.1", "1.1", "NaN", "inf", "0.00001", "half", ""] {
            assert!(bad.parse::<Share>().is_err(), "{bad:?} passed");
        }
        for step in 0..=10_000u16 {
            assert_eq!(Share(step).to_string().parse::<Share>().unwrap(), Share(step));
        }
    }

    #[test]
    fn slots_come_back_when_the_window_has_passed_them() {
        let quota = quota("1", 1, 30).unwrap();
        let spends = [spend("a", 1, "10:00"), spend("b", 1, "10:20")];
        assert_eq!(quota.spent(&spends, at("10:30")), 2);
        assert_eq!(quota.free_at(&spends, at("10:30")), Some(at("11:00")));
        assert_eq!(quota.spent(&spends, at("11:00")), 1, "the window is open at its beginning");
        assert_eq!(quota.free_at(&spends, at("11:00")), None);
        assert_eq!(quota.spent(&spends, at("09:00")), 2, "a clock set back gives no slots");

        assert!(quota.spend(&goal_id("g"), &spends, spend("c", 1, "11:00")).is_ok());
        assert!(matches!(
            quota.spend(&goal_id("g"), &spends, spend("c", 1, "10:59")),
            Err(Refusal::QuotaSpent { allowed: 2, spent: 2, wanted: 1, .. })
        ));
        assert!(quota.spend(&goal_id("g"), &spends, spend("c", u32::MAX, "11:00")).is_err());
    }

    #[test]
    fn a_cap_lowers_what_the_share_allows_and_is_none_of_nought() {
        let half = quota("0.5", 24, 30).unwrap();
        for (cap, allowed) in [(None, 24), (Some(1), 1), (Some(24), 24), (Some(48), 24)] {
            assert_eq!(half.clone().capped(cap).unwrap().allowed(), allowed, "{cap:?}");
        }
        for cap in [0, 49] {
            assert_eq!(half.clone().capped(Some(cap)), Err(BadQuota::Cap { cap, window: 48 }));
        }
        let capped = half.clone().capped(Some(6)).unwrap();
        assert!(capped.is_at_most(&half) && !half.is_at_most(&capped));
        assert_eq!(capped.with_compute("0.0209".parse().unwrap()).unwrap().allowed(), 1);
    }

    fn granted(quota: &Quota, slots: u32, at_: &str, until: &str) -> Result<Quota, Refusal> {
        let burst = Burst { slots, until: at(until) };
        quota.grant(&goal_id("g"), burst, proven(), at(at_), "release day".parse().unwrap())
    }

    #[test]
    fn a_grant_counts_while_it_runs_and_is_not_owed_for_afterwards() {
        let quota = quota("1", 1, 30).unwrap();
        let burst = granted(&quota, 2, "10:00", "10:30").unwrap();
        let none: [Spend; 0] = [];
        for (time, limit) in [("10:00", 4), ("10:29", 4), ("10:30", 2), ("12:00", 2)] {
            assert_eq!(burst.limit(&none, at(time)), limit, "{time}");
        }
        let spends = [spend("a", 2, "09:50"), spend("b", 1, "10:10")];
        assert_eq!((burst.spent(&spends, at("10:20")), burst.limit(&spends, at("10:20"))), (3, 4));
        assert_eq!((burst.spent(&spends, at("10:40")), burst.limit(&spends, at("10:40"))), (3, 3));
        assert_eq!(burst.free_at(&spends, at("10:20")), None);
        assert_eq!(burst.free_at(&spends, at("10:40")), Some(at("10:50")));
        assert_eq!(burst.limit(&spends, at("11:10")), 2, "what was booked on it left the window");
        let later = [spend("c", 1, "10:45")];
        assert_eq!(burst.limit(&later, at("10:20")), 2, "a clock set back gives no burst again");
        assert!(burst.spend(&goal_id("g"), &spends, spend("d", 1, "10:20")).is_ok());
        assert!(burst.spend(&goal_id("g"), &spends, spend("d", 1, "10:40")).is_err());
        assert!(quota.is_at_most(&burst) && !burst.is_at_most(&quota));
    }

    #[test]
    fn a_grant_has_an_end_within_one_window_and_lets_old_ones_go() {
        let quota = quota("1", 1, 30).unwrap();
        for (slots, until) in [(1, "10:00"), (1, "09:00"), (1, "11:01"), (0, "10:30"), (10_001, "10:30")] {
            assert!(granted(&quota, slots, "10:00", until).is_err(), "{slots} until {until}");
        }
        let first = granted(&quota, 1, "10:00", "10:30").unwrap();
        let second = granted(&first, 2, "10:10", "10:40").unwrap();
        assert_eq!(second.limit(&[], at("10:20")), 5);
        assert_eq!(granted(&second, 3, "11:35", "11:40").unwrap().grants().len(), 2);
    }

    #[test]
    fn a_voided_booking_stays_and_counts_no_more() {
        let quota = quota("1", 1, 30).unwrap();
        let void = |spend: &Spend| spend.void(proven(), at("10:30"), "it crashed".parse().unwrap());
        let booked = spend("a", 2, "10:00");
        let voided = void(&booked).unwrap();
        assert_eq!((quota.spent(std::slice::from_ref(&voided), at("10:30")), voided.slots), (0, 2));
        assert!(matches!(void(&voided), Err(Refusal::SpendVoided { .. })));
        let turn = Spend::begin("b".parse().unwrap(), 1, None, at("11:00"), booked.added);
        assert!(matches!(void(&turn), Err(Refusal::TurnGoesOn { .. })));
    }

    #[test]
    fn the_next_slot_goes_to_whoever_used_the_smallest_part_of_theirs() {
        let check = |goals: &[(&str, u32, u32, bool)], expected: &[(&str, i64)]| {
            let candidate = |(goal, spent, limit, can_go): &(&str, u32, u32, bool)| Candidate {
                goal: goal_id(goal),
                limit: *limit,
                spent: *spent,
                can_go: *can_go,
            };
            let ranked = plan(goals.iter().map(candidate).collect());
            let said: Vec<_> =
                ranked.iter().map(|goal| (goal.candidate.goal.as_str(), goal.deficit)).collect();
            assert_eq!(said, expected);
        };
        check(&[], &[]);
        check(&[("a", 0, 0, true)], &[("a", 0)]);
        check(&[("a", 4, 12, true), ("b", 4, 24, true)], &[("b", 1), ("a", -2)]);
        check(&[("a", 0, 12, true), ("b", 0, 24, true), ("c", 0, 12, true)], &[("b", 0), ("a", 0), ("c", 0)]);
        check(&[("a", 0, 12, false), ("b", 11, 12, true)], &[("b", -6), ("a", 5)]);
        check(
            &[("a", 12, 12, true), ("b", 0, 12, false), ("c", 11, 12, true)],
            &[("c", -4), ("b", 7), ("a", -5)],
        );
    }
}
