//! `pre-commit`: a word when the folder that shows the state is about to be committed to the user's own branch. It only
//! observes, so it never makes a commit fail, whatever goes wrong.

use std::path::Path;

use crate::{
    error::Error,
    ops::Ctx,
    process::{GIT_INDEX_FILE, Process},
};

pub(super) fn run(process: &Process, ctx: impl FnOnce() -> Result<Ctx, Error>) -> u8 {
    let Ok(ctx) = ctx() else { return 0 };
    let index = process.env_os(GIT_INDEX_FILE);
    let index = index.as_deref().map(|file| ctx.cwd.join(Path::new(file)));
    if ctx.store.git().index_has_the_view(index.as_deref()) {
        process.err(
            "loopx: `.loopx` is about to be committed to your own branch, and a push of that commit will be refused\n\
             hint: run `git rm -r --cached .loopx` first\n",
        );
    }
    0
}
