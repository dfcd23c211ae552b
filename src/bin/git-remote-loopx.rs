//! What git starts for an address that begins with `loopx::`, and so for each push to a remote in strict mode, and what our
//! hooks ask before a push.

use std::process::ExitCode;

fn main() -> ExitCode {
    loopx::run_remote_helper(&loopx::process::Process::this())
}
