//! The `loopx` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    loopx::run(&loopx::process::Process::this())
}
