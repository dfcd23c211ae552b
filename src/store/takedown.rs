//! Taking everything out of a clone that setting it up put there. Each step looks first, so that it ends from any half state;
//! the state itself goes only when that is asked for.

use std::{fs, io, path::PathBuf};

use super::{
    Error, Store,
    git::BRANCH_KEY,
    program,
    view::{FOLDER, View},
    writer::Writer,
};

/// What was taken out.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TakenDown {
    /// Folders and files that are gone.
    pub gone: Vec<PathBuf>,
    /// Files that are as they were before.
    pub restored: Vec<PathBuf>,
    /// What stands where the view should be, and is none of loopx's.
    pub left: Option<PathBuf>,
    /// Refs that are gone, which only a purge takes away.
    pub refs: Vec<String>,
}

impl Store {
    /// Removes the view, the line that excludes it, the settings and the notes. With `purge` also the branch, its reflog and
    /// what was fetched of it; without, what is needed to go on from it stays. Refuses while files of the view were edited.
    pub fn take_down(&self, purge: bool) -> Result<TakenDown, Error> {
        let branch = self.git.branch()?;
        let writer = Writer::enter(&self.git, &branch)?;
        let mut done = TakenDown::default();
        match View::detach(&self.git)? {
            Some(Ok(gone)) => done.gone.push(gone),
            left => done.left = left.and_then(Result::err),
        }
        let exclude = self.exclude_file();
        if self.include()? {
            done.restored.push(exclude);
        }
        if purge {
            let refs = self.git.state_refs(&branch)?;
            let deletions: String = refs.iter().map(|name| format!("delete {name}\n")).collect();
            let common = self.git.common_dir();
            program::git(
                "remove the state",
                common,
                common,
                ["update-ref", "--stdin"],
                deletions.as_bytes(),
            )?;
            done.refs = refs;
        }
        let section = BRANCH_KEY.split('.').next().unwrap_or(BRANCH_KEY);
        if self.git.remove_config(section)? {
            done.restored.push(self.git.common_dir().join("config"));
        }
        let dir = self.git.private_dir();
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            // Whoever sets up again goes on from the state that is told for loopx's own in here.
            let stays = !purge && entry.file_name() == "writer";
            if !stays {
                let path = entry.path();
                let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                removed.map_err(Error::io("remove", &path))?;
            }
        }
        drop(writer);
        if purge {
            // The writer left its note at the end.
            match fs::remove_dir_all(&dir) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &dir)(error));
                }
                _ => done.gone.push(dir),
            }
        }
        Ok(done)
    }

    /// Takes the line of [`Store::exclude`] out again. False when it is not there.
    fn include(&self) -> Result<bool, Error> {
        let path = self.exclude_file();
        let Ok(text) = fs::read_to_string(&path) else { return Ok(false) };
        let line = format!("/{FOLDER}");
        let kept: String = text.split_inclusive('\n').filter(|found| found.trim_end() != line).collect();
        if kept == text {
            return Ok(false);
        }
        let written = if kept.is_empty() { fs::remove_file(&path) } else { fs::write(&path, kept) };
        written.map_err(Error::io("write", &path))?;
        Ok(true)
    }
}
