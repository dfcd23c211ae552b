//! Codex. The contract is its own documentation of hooks, and what version 0.171.0 was seen to do: what Claude Code does, but for this.

use super::{claude, shape::Names};

/// A denial is exit code 2 with the reason on standard error, and nothing on standard output: there is no field then that Codex
/// might not know, for which it would run the tool. Its exit code 2 without a reason runs the tool as well, so there is always one.
pub(super) const NAMES: Names = claude::NAMES;
