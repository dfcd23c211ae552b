//! Points in time and lengths of it. The domain is told the time; it has no clock.

use std::{fmt, str::FromStr, time::Duration};

/// A second of UTC, written as RFC 3339: `2026-11-30T12:00:00Z`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    schemars::JsonSchema,
    serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(i64);

/// A text was no time of the form that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a {expected}", .text.escape_debug())]
pub struct BadTime {
    text: String,
    expected: &'static str,
}

impl Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z. Values outside the years -9999 to 9999 are moved to the nearest end.
    pub fn from_unix(seconds: i64) -> Self {
        Self(seconds.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second()))
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub fn unix(self) -> i64 {
        self.0
    }

    /// This time and `seconds` more.
    pub fn plus(self, seconds: Seconds) -> Self {
        Self::from_unix(self.0.saturating_add(seconds.0.into()))
    }

    /// This time and `seconds` less.
    pub fn minus(self, seconds: Seconds) -> Self {
        Self::from_unix(self.0.saturating_sub(seconds.0.into()))
    }

    /// Its day in UTC: `2026-11-30`.
    pub fn day(self) -> String {
        let whole = self.to_string();
        whole.split('T').next().unwrap_or(&whole).to_owned()
    }

    /// How long before `now` this was; nothing when it lies ahead, so that no age is ever negative.
    pub fn age(self, now: Self) -> Seconds {
        Seconds(u32::try_from(now.0.saturating_sub(self.0).max(0)).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_second(self.0) {
            Ok(time) => time.fmt(f),
            Err(_) => write!(f, "@{}", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = BadTime;
    fn from_str(text: &str) -> Result<Self, BadTime> {
        text.parse::<jiff::Timestamp>().map(|time| Self(time.as_second())).map_err(|_| BadTime {
            text: text.to_owned(),
            expected: "time (expected the form `2026-11-30T12:00:00Z`)",
        })
    }
}

impl TryFrom<String> for Timestamp {
    type Error = BadTime;
    fn try_from(text: String) -> Result<Self, BadTime> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

/// A length of time in whole seconds.
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
#[serde(transparent)]
pub struct Seconds(pub u32);

impl FromStr for Seconds {
    type Err = BadTime;
    /// Reads what people write: `45m`, `1h 30m`, `90s`.
    fn from_str(text: &str) -> Result<Self, BadTime> {
        let bad = || BadTime {
            text: text.to_owned(),
            expected: "length of time (expected the form `45m` or `1h 30m`)",
        };
        let length: jiff::SignedDuration = text.parse().map_err(|_| bad())?;
        let length = Duration::try_from(length).map_err(|_| bad())?;
        u32::try_from(length.as_secs()).map(Self).map_err(|_| bad())
    }
}

impl fmt::Display for Seconds {
    /// The two largest units, as people say it: `45 s`, `2 h`, `1 h 30 min`, `3 d`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (minutes, hours, days) = (self.0 / 60, self.0 / 3600, self.0 / 86_400);
        match (days, hours, minutes) {
            (0, 0, 0) => write!(f, "{} s", self.0),
            (0, 0, minutes) => write!(f, "{minutes} min"),
            (0, hours, minutes) if minutes % 60 == 0 => write!(f, "{hours} h"),
            (0, hours, minutes) => write!(f, "{hours} h {} min", minutes % 60),
            (days, hours, _) if hours % 24 == 0 => write!(f, "{days} d"),
            (days, hours, _) => write!(f, "{days} d {} h", hours % 24),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_trip_and_ages_are_never_negative() {
        let noon: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        assert_eq!(noon.to_string(), "2026-11-30T12:00:00Z");
        assert_eq!("2026-11-30T13:00:00+01:00".parse::<Timestamp>().unwrap(), noon);
        assert_eq!(noon.age(noon.plus(Seconds(90))), Seconds(90));
        assert_eq!(noon.plus(Seconds(90)).age(noon), Seconds(0));
        assert_eq!(Timestamp::from_unix(i64::MAX).plus(Seconds(1)), Timestamp::from_unix(i64::MAX));
        assert!("yesterday".parse::<Timestamp>().is_err());
    }

    #[test]
    fn lengths_are_read_and_said_as_people_do() {
        for (text, seconds) in [("45m", 2700), ("1h 30m", 5400), ("90s", 90), ("24h", 86_400)] {
            assert_eq!(text.parse::<Seconds>().unwrap(), Seconds(seconds));
        }
        for text in ["", "5", "-5m", "5 parsecs", "999999999h"] {
            assert!(text.parse::<Seconds>().is_err(), "{text:?} passed");
        }
        for (seconds, said) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (7_200, "2 h"),
            (5_400, "1 h 30 min"),
            (259_200, "3 d"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(Seconds(seconds).to_string(), said);
        }
    }
}
