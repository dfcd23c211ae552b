//! A handoff: what the next turn should know, in the words of whoever worked last.
//!
//! A goal has one at most, and a new one takes the place of the old, which stays in the history.

use super::{actor::Stamp, text::HandoffText};

/// The note that is left for whoever goes on.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    pub text: HandoffText,
    pub written: Stamp,
}
