//! Quota: how much of a window's slots a goal may use, and the ledger of what it used.

use std::{collections::BTreeMap, fmt, str::FromStr};

use super::{
    actor::Stamp,
    id::{EvidenceId, GoalId, TurnId},
    refusal::Refusal,
    time::{Seconds, Timestamp},
};

/// The limits of every goal that has its own; the others have the [default](Quota::default).
pub type Quotas = BTreeMap<GoalId, Quota>;

/// The limit of one goal: out of the slots that `window_hours` has, the share `compute`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "RawQuota")]
pub struct Quota {
    compute: Share,
    window_hours: u32,
    slot_minutes: u32,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQuota {
    compute: Share,
    window_hours: u32,
    slot_minutes: u32,
}

impl TryFrom<RawQuota> for Quota {
    type Error = BadQuota;
    fn try_from(raw: RawQuota) -> Result<Self, BadQuota> {
        Self::new(raw.compute, raw.window_hours, raw.slot_minutes)
    }
}

impl Default for Quota {
    /// Every slot of half an hour in a day: 48.
    fn default() -> Self {
        Self { compute: Share(Share::WHOLE), window_hours: 24, slot_minutes: 30 }
    }
}

/// Numbers that make no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadQuota {
    #[error("a window has 1 to 720 hours, not {0}")]
    Window(u32),
    #[error("a slot has 1 to 1440 minutes and fits into the window, not {0}")]
    Slot(u32),
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
        let quota = Self { compute, window_hours, slot_minutes };
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
        Self::new(compute, self.window_hours, self.slot_minutes)
    }

    /// The share of the window's slots that may be used.
    pub fn compute(self) -> Share {
        self.compute
    }

    /// Length of the window in hours.
    pub fn window_hours(self) -> u32 {
        self.window_hours
    }

    /// Length of a slot in minutes.
    pub fn slot_minutes(self) -> u32 {
        self.slot_minutes
    }

    /// Length of the window.
    pub fn window(self) -> Seconds {
        Seconds(self.window_hours * 3600)
    }

    /// Slots in a window.
    pub fn slots(self) -> u32 {
        self.window_hours * 60 / self.slot_minutes
    }

    /// Slots of a window that may be used.
    pub fn allowed(self) -> u32 {
        // At most 43,200 slots times 10,000: far from the end of a u32.
        self.slots() * u32::from(self.compute.0) / u32::from(Share::WHOLE)
    }

    /// Slots used in the window that ends at `now`. A spend dated later than `now` counts: a clock that jumped back
    /// gives nobody new slots.
    pub fn spent(self, spends: &[Spend], now: Timestamp) -> u32 {
        let from = now.minus(self.window());
        spends
            .iter()
            .filter(|spend| spend.added.at > from)
            .fold(0, |sum, spend| sum.saturating_add(spend.slots))
    }

    /// When at least one slot will be free again; `None` when one is free at `now`, or never will be (a pause).
    pub fn free_at(self, spends: &[Spend], now: Timestamp) -> Option<Timestamp> {
        let mut over = (self.spent(spends, now) + 1).checked_sub(self.allowed()).filter(|over| *over > 0)?;
        if self.allowed() == 0 {
            return None;
        }
        let from = now.minus(self.window());
        let mut spends: Vec<_> = spends.iter().filter(|spend| spend.added.at > from).collect();
        spends.sort_by_key(|spend| spend.added.at);
        for spend in spends {
            over = over.saturating_sub(spend.slots);
            if over == 0 {
                return Some(spend.added.at.plus(self.window()));
            }
        }
        None
    }

    /// Whether every agent has at most as much under `self` as under `other`, in any stretch of time.
    pub fn is_at_most(self, other: Self) -> bool {
        self.allowed() <= other.allowed()
            && self.window_hours >= other.window_hours
            && self.slot_minutes <= other.slot_minutes
    }

    /// Books `slots` for a turn, in the place of what was booked for it before.
    pub fn spend(self, goal: &GoalId, spends: &[Spend], spend: Spend) -> Result<Spend, Refusal> {
        let is_it = |booked: &&Spend| booked.turn == spend.turn;
        if spend.slots == 0 || spends.iter().find(is_it).is_some_and(|booked| booked.slots >= spend.slots) {
            return Ok(spend);
        }
        let others: Vec<_> = spends.iter().filter(|booked| !is_it(booked)).cloned().collect();
        let spends = &others[..];
        let (allowed, spent) = (self.allowed(), self.spent(spends, spend.added.at));
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::{at, goal_id, spend};

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
}
