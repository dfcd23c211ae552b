//! What there is to look over of the user's own: files as git lists them, what is staged, and what commits bring.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use super::{
    Error, Store, format,
    git::{Git, object_id},
    program, screen,
};
use crate::domain::{secret::custom::Custom, text::shown};

/// Most bytes of a file that are looked at.
const LARGEST: u64 = 64 << 20;

/// Something to be looked over.
#[derive(Debug, Clone)]
pub struct Piece {
    /// What it is called: a path, or a commit whose message it is.
    pub name: String,
    /// Git knows it: what is in it gets published.
    pub is_tracked: bool,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    File(PathBuf),
    Blob(String),
    Text(String),
}

impl Store {
    /// The text of a piece; nothing when it is none, or too long to be one that somebody wrote.
    pub fn text_of(&self, piece: &Piece) -> Result<Option<String>, Error> {
        let bytes = match &piece.source {
            Source::Text(text) => return Ok(Some(text.clone())),
            Source::Blob(id) => self.git.blob(object_id(id)?)?,
            Source::File(path) => {
                let is_file =
                    path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST);
                if !is_file {
                    return Ok(None);
                }
                let mut bytes = Vec::new();
                let file = File::open(path).map_err(Error::io("read", path))?;
                file.take(LARGEST).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
                bytes
            }
        };
        let is_binary = bytes.iter().take(8000).any(|byte| *byte == 0) || bytes.len() as u64 > LARGEST;
        Ok((!is_binary).then(|| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Whether a text was copied from a state of loopx.
    pub fn is_of_a_state(text: &str) -> bool {
        format::is_record(text) || text.starts_with("{\"loopx_export\":")
    }
}

impl Git {
    /// The rules that the user has for secrets, besides those that are known.
    pub fn secret_rules(&self) -> Result<Custom, Error> {
        screen::custom(self)
    }

    /// The files that git tracks in this worktree.
    pub fn tracked(&self) -> Result<Vec<Piece>, Error> {
        let Some(top) = self.worktree() else { return Ok(Vec::new()) };
        let out = program::git("list tracked files", self.repo().git_dir(), &top, ["ls-files", "-z"], b"")?;
        let mut found: Vec<Piece> = parts(&out)
            .map(|name| Piece {
                source: Source::File(top.join(&name)),
                name: shown(&name, 4096),
                is_tracked: true,
            })
            .collect();
        found.dedup_by(|one, other| one.name == other.name);
        Ok(found)
    }

    /// The files at a path: itself, or those of a folder that git would not ignore.
    pub fn below(&self, cwd: &Path, path: &Path) -> Result<Vec<Piece>, Error> {
        let full = cwd.join(path);
        let name = |path: &Path| shown(&path.to_string_lossy(), 4096);
        if !full.is_dir() {
            full.symlink_metadata().map_err(Error::io("read", &full))?;
            return Ok(vec![Piece { name: name(path), is_tracked: false, source: Source::File(full) }]);
        }
        let is_ours = |top: PathBuf| Some(full.canonicalize().ok()?.starts_with(top.canonicalize().ok()?));
        if self.worktree().and_then(is_ours) != Some(true) {
            return Ok(walk(&full)
                .into_iter()
                .map(|file| {
                    let below = file.strip_prefix(&full).unwrap_or(&file);
                    Piece { name: name(&path.join(below)), is_tracked: false, source: Source::File(file) }
                })
                .collect());
        }
        let mut found = Vec::new();
        for (args, is_tracked) in
            [(&["ls-files", "-z"][..], true), (&["ls-files", "-z", "--others", "--exclude-standard"], false)]
        {
            let out = self.in_folder(&full, args)?;
            found.extend(parts(&out).map(|file| Piece {
                name: name(&path.join(&file)),
                is_tracked,
                source: Source::File(full.join(&file)),
            }));
        }
        Ok(found)
    }

    /// What lies in a folder of the worktree, by paths from there.
    fn in_folder(&self, folder: &Path, args: &[&str]) -> Result<Vec<u8>, Error> {
        let top = self.worktree().unwrap_or_default();
        let tree = top.to_string_lossy().into_owned();
        let args = ["--work-tree", &tree].into_iter().chain(args.iter().copied());
        program::git("list files", self.repo().git_dir(), folder, args, b"")
    }

    /// What the next commit would bring.
    pub fn staged(&self) -> Result<Vec<Piece>, Error> {
        let Some(top) = self.worktree() else { return Ok(Vec::new()) };
        let args = ["diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--diff-filter=d"];
        Ok(changes(&program::git("read what is staged", self.repo().git_dir(), &top, args, b"")?))
    }

    /// What the commits of a range brought, each file as each of them left it, and what they say.
    pub fn changed_in(&self, range: &str) -> Result<Vec<Piece>, Error> {
        let dir = self.worktree().unwrap_or_else(|| self.common_dir().to_owned());
        let run = |args: &[&str]| {
            let end = ["--end-of-options", range, "--"];
            let args = ["log"].iter().chain(args).chain(&end).copied();
            program::git("read the commits", self.repo().git_dir(), &dir, args, b"")
                .map_err(|_| Error::UnknownRevision(shown(range, 200)))
        };
        let raw = ["--raw", "-z", "--no-abbrev", "--no-renames", "--diff-filter=d", "-m", "--format="];
        let mut found = changes(&run(&raw)?);
        let messages = run(&["-z", "--format=%h %B"])?;
        found.extend(parts(&messages).filter_map(|message| {
            let (id, text) = message.split_once(' ')?;
            Some(Piece {
                name: format!("commit {id}"),
                is_tracked: true,
                source: Source::Text(text.to_owned()),
            })
        }));
        Ok(found)
    }
}

/// What git ends with NUL.
fn parts(out: &[u8]) -> impl Iterator<Item = String> {
    out.split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
        .map(|part| String::from_utf8_lossy(part).into_owned())
}

/// The blobs in `--raw -z`: a line of modes and ids, then the path.
fn changes(out: &[u8]) -> Vec<Piece> {
    let mut found: Vec<Piece> = Vec::new();
    let mut parts = parts(out);
    while let Some(part) = parts.next() {
        let part = part.trim_start_matches('\n').to_owned();
        let Some(fields) = part.strip_prefix(':') else { continue };
        let fields: Vec<&str> = fields.split(' ').collect();
        let (Some(path), [_, mode, _, id, _]) = (parts.next(), &fields[..]) else { continue };
        if *mode == "160000" {
            continue;
        }
        found.push(Piece {
            name: shown(&path, 4096),
            is_tracked: true,
            source: Source::Blob((*id).to_owned()),
        });
    }
    let key = |piece: &Piece| match &piece.source {
        Source::Blob(id) => (piece.name.clone(), id.clone()),
        _ => Default::default(),
    };
    found.sort_by_cached_key(key);
    found.dedup_by_key(|piece| key(piece));
    found
}

/// The files below a folder outside of the worktree, but for what git keeps for itself.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
