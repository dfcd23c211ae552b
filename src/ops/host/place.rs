//! The files of hosts: where they are, how they are written, and a note of what they were before.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::Scope;
use crate::{
    domain::text::{hex, shown},
    error::{Error, Kind},
};

/// A file that may be edited.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The file itself, behind any links.
    pub(super) file: PathBuf,
    /// As it was asked for.
    asked: PathBuf,
    /// The folder that is the user's, whatever becomes of what is below it.
    base: PathBuf,
    below: &'static str,
    scope: Scope,
}

impl Place {
    /// Refused when a link leads out of a worktree, or to nothing.
    pub(super) fn at(base: &Path, below: &'static str, scope: Scope) -> Result<Self, Error> {
        let below = match below.strip_suffix(".json") {
            Some("opencode") if !base.join(below).exists() && base.join("opencode.jsonc").exists() => {
                "opencode.jsonc"
            }
            _ => below,
        };
        let asked = base.join(below);
        let mut place =
            Self { file: asked.clone(), asked: asked.clone(), base: base.to_path_buf(), below, scope };
        let refused = |why: &str| {
            Error::new(Kind::Refused, format!("`{}` was left alone: {why}", place.shown()))
                .hint(format!("look at it with `ls -l '{}'`", place.shown()))
        };
        // The part of the path that is there, with its links followed.
        let there = asked.ancestors().find(|path| fs::symlink_metadata(path).is_ok());
        let there = there.unwrap_or(base);
        let Ok(real) = there.canonicalize() else {
            return Err(refused("a link on the way leads to nothing"));
        };
        if scope == Scope::Project && !base.canonicalize().is_ok_and(|base| real.starts_with(base)) {
            return Err(refused("a link leads out of this worktree"));
        }
        let rest = asked.strip_prefix(there).unwrap_or(Path::new(""));
        place.file = if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        Ok(place)
    }

    /// The path, fit to print: from the top of a worktree, or whole.
    pub(super) fn shown(&self) -> String {
        match self.scope {
            Scope::Project => self.below.to_owned(),
            Scope::User => shown(&self.asked.to_string_lossy(), 4096),
        }
    }

    /// What is in it; none when there is no such file.
    pub(super) fn read(&self) -> Result<Option<String>, Error> {
        let bytes = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let what = format!("cannot read `{}`: {error}", self.shown());
                return Err(Error::new(Kind::Environment, what).hint(format!("look at `{}`", self.shown())));
            }
        };
        String::from_utf8(bytes).map(Some).map_err(|_| {
            Error::new(Kind::Refused, format!("`{}` was left alone: it is no UTF-8", self.shown()))
                .hint(format!("look at it with `file '{}'`", self.shown()))
        })
    }

    /// Puts `text` in the place of the file, in one step and with its mode; none takes it away.
    pub(super) fn write(&self, text: Option<&str>) -> Result<(), Error> {
        self.try_write(text).map_err(|error| {
            Error::new(Kind::Environment, format!("cannot write `{}`: {error}", self.shown()))
                .hint("run it where that may be written to, outside of a sandbox")
        })
    }

    fn try_write(&self, text: Option<&str>) -> std::io::Result<()> {
        let Some(text) = text else { return fs::remove_file(&self.file) };
        let folder = self.file.parent().unwrap_or(&self.file);
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        let mode = fs::metadata(&self.file).map(|meta| meta.permissions());
        match mode {
            Ok(mode) => fs::set_permissions(file.path(), mode)?,
            Err(_) => {
                use std::os::unix::fs::PermissionsExt as _;
                fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644))?;
            }
        }
        file.as_file().sync_all()?;
        file.persist(&self.file)?;
        Ok(())
    }

    /// What it is now, for the note: `text` is what is in it.
    pub(super) fn before(&self, text: Option<&str>) -> Before {
        let folders = self.file.ancestors().skip(1).take_while(|folder| !folder.exists());
        Before { digest: text.map(digest), made: folders.count() }
    }

    /// Takes away the folders that were made for it, as far as nothing is in them; where it is not known how many those were, the
    /// ones below the folder that is the user's.
    pub(super) fn sweep(&self, made: Option<usize>) {
        let base = self.base.canonicalize().unwrap_or_else(|_| self.base.clone());
        let below = self.file.ancestors().skip(1).take_while(|folder| *folder != base).count();
        let folders = self.file.ancestors().skip(1).take(made.unwrap_or(below));
        folders.take_while(|folder| fs::remove_dir(folder).is_ok()).for_each(drop);
    }
}

/// What a file was before ours came into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Before {
    /// Of its bytes; none when there was no file.
    digest: Option<String>,
    /// How many folders were made for it.
    pub(super) made: usize,
}

impl Before {
    /// Whether the file was this.
    pub(super) fn was(&self, text: Option<&str>) -> bool {
        self.digest == text.map(digest)
    }
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// What files were before: digests, and nothing of what was in them. Everything in here can be lost; then an empty list that was
/// in a file may not come back.
#[derive(Debug)]
pub(super) struct Notes {
    at: Option<PathBuf>,
    lines: Vec<(PathBuf, Before)>,
}

impl Notes {
    pub(super) fn load(at: Option<PathBuf>) -> Self {
        let text = at.as_ref().and_then(|at| fs::read_to_string(at).ok()).unwrap_or_default();
        let line = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let (digest, made, file) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
            let digest = Some(digest.to_owned()).filter(|digest| digest != "-");
            Some((PathBuf::from(file), Before { digest, made }))
        };
        Self { at, lines: text.lines().filter_map(line).collect() }
    }

    pub(super) fn before(&self, file: &Path) -> Option<&Before> {
        self.lines.iter().find(|line| line.0 == file).map(|line| &line.1)
    }

    pub(super) fn remember(&mut self, file: &Path, before: Before) {
        self.forget(file);
        if file.to_str().is_some_and(|file| !file.contains('\n')) {
            self.lines.push((file.to_path_buf(), before));
        }
    }

    /// Returns how many folders were made for the file, if that is known.
    pub(super) fn forget(&mut self, file: &Path) -> Option<usize> {
        let made = self.before(file).map(|before| before.made);
        self.lines.retain(|line| line.0 != file);
        made
    }

    pub(super) fn save(&self) -> std::io::Result<()> {
        let Some(at) = &self.at else { return Ok(()) };
        let folder = at.parent().unwrap_or(at);
        if self.lines.is_empty() {
            if at.exists() {
                fs::remove_file(at)?;
                // Also those of the user's that were made for it; one with anything in it stays.
                folder.ancestors().take(3).take_while(|folder| fs::remove_dir(folder).is_ok()).for_each(drop);
            }
            return Ok(());
        }
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        for (path, before) in &self.lines {
            let digest = before.digest.as_deref().unwrap_or("-");
            writeln!(file, "{digest} {} {}", before.made, path.display())?;
        }
        file.persist(at)?;
        Ok(())
    }
}
