//! Taking the whole state out of a clone, and putting it into another.

use std::{
    fs::{self, File},
    io::{BufReader, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{Ctx, Done, notify::Before};
use crate::{
    domain::{actor::Proven, policy::RepositoryId, text::shown},
    error::{Error, Kind},
    store::transfer::{Export, Exported},
};

/// Writes the state to a file that must not be there yet and that lies in no worktree of this repository, where it could
/// be committed and published. The file appears whole or not at all.
pub fn export(ctx: &Ctx, file: &Path) -> Result<Exported, Error> {
    let path = ctx.cwd.join(file);
    let place = shown(&path.to_string_lossy(), 4096);
    let failed = |doing: &'static str| {
        let place = place.clone();
        move |error: std::io::Error| {
            Error::new(Kind::Environment, format!("cannot {doing} `{place}`: {error}"))
                .hint("name a file in a folder that is there and that you may write to")
        }
    };
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Error::new(Kind::Usage, format!("`{place}` cannot be the name of a file"))
            .hint("run `loopx export ../loopx-state.jsonl`"));
    };
    let folder = folder.canonicalize().map_err(failed("write"))?;
    let holds = |worktree: &PathBuf| worktree.canonicalize().is_ok_and(|top| folder.starts_with(top));
    if ctx.store.git().worktrees()?.iter().any(holds) {
        return Err(Error::new(
            Kind::Refused,
            format!("`{place}` lies in a worktree, where the state could be committed and published"),
        )
        .hint("run `loopx export ../loopx-state.jsonl` at the top of the worktree"));
    }
    let mut temporary = tempfile::NamedTempFile::new_in(&folder).map_err(failed("write"))?;
    let mut out = BufWriter::new(temporary.as_file_mut());
    let exported = ctx.store.export(&mut out)?;
    out.flush().map_err(failed("write"))?;
    drop(out);
    temporary.as_file().sync_all().map_err(failed("write"))?;
    let target = folder.join(name);
    temporary.persist_noclobber(target).map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Error::new(Kind::Refused, format!("`{place}` is there already, and an export overwrites nothing"))
                .hint("name a file that is not there yet")
        }
        _ => failed("write")(error.error),
    })?;
    Ok(exported)
}

/// What an import did.
#[derive(Debug, Serialize)]
pub struct Imported {
    /// The repository whose state it is.
    pub repository: RepositoryId,
    pub files: usize,
    pub goals: usize,
    /// Gates that are not closed.
    pub gates: usize,
}

/// Most bytes of an export that are read.
const LIMIT: u64 = 1 << 30;

/// Reads an export and looks whether it is undamaged, and whether there is room for it. Nothing is changed.
pub fn read(ctx: &Ctx, file: &Path) -> Result<Export<BufReader<File>>, Error> {
    let path = ctx.cwd.join(file);
    let place = shown(&path.to_string_lossy(), 4096);
    let failed = |problem: String| {
        Error::new(Kind::Environment, format!("cannot read `{place}`: {problem}"))
            .hint("name a file that `loopx export` made")
    };
    let found = fs::metadata(&path).map_err(|error| failed(error.to_string()))?;
    if !found.is_file() || found.len() > LIMIT {
        return Err(failed("it is no plain file of less than a gibibyte".into()));
    }
    let source = File::open(&path).map_err(|error| failed(error.to_string()))?;
    let export = Export::parse(BufReader::new(source))?;
    ctx.store.must_be_empty()?;
    Ok(export)
}

/// Puts an export into a clone that has no goals yet. With it come answers to gates and limits, so it takes a person.
pub fn import(
    ctx: &Ctx,
    export: &mut Export<BufReader<File>>,
    _proven: &Proven,
) -> Result<Done<Imported>, Error> {
    let before = Before::look(ctx);
    let updated = ctx.store.import(export, &ctx.stamp()?)?;
    before.tell_news(ctx);
    let (goals, gates) = export.counts();
    let value = Imported { repository: export.repository().clone(), files: export.files(), goals, gates };
    Ok(Done { value, commit: updated.commit, warnings: updated.warnings })
}
