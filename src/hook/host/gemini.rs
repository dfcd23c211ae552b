//! Gemini CLI. The contract is its own documentation and source, and what version 0.61.0 was seen to do.

use super::shape::Names;

/// A denial is exit code 2 with the reason on standard error, seen to block. JSON would do as long as nothing stands before it on
/// standard output, and that is not in our hands alone: whatever else the hook's command prints would run the tool. Denying the end of
/// a turn sends the agent on with the reason as its prompt.
pub(super) const NAMES: Names =
    Names { before_tool: "BeforeTool", would_stop: "AfterAgent", compacts: "PreCompress", go_on: "deny" };
