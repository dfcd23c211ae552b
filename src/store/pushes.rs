//! What git pushed and what the hook said of it, so that a push which went round the hook is noticed.
//!
//! A push by git moves a remote-tracking branch and leaves `update by push` in its reflog. The hook appends each verdict
//! to `.git/loopx/verdicts`. Whoever looks compares the two ([`Store::look`]); how far writers have looked stands in
//! `.git/loopx/pushes`: inode, length and last line of each reflog, so that a look costs one `stat` for each
//! remote-tracking branch, and is not misled when git cuts off old entries or renames a remote. Moving a ref takes a lock file
//! beside it, so a reader who finds each folder of refs as it was needs to look no further.
//!
//! - No file of marks and none of verdicts: nobody watches yet, and nothing that was pushed so far counts.
//! - The marks were removed and the verdicts are there: what was pushed since the newest mutation counts as not looked at.
//! - The verdicts were removed and the marks are there: what was pushed since the last look counts as not allowed.
//!
//! Both removed is as if nobody had watched. What was noticed before is on the state branch and stays.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    io::{Read as _, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use gix::bstr::{BStr, ByteSlice as _};
use sha2::{Digest as _, Sha256};

use super::{Error, Store, program, read_plain_file};
use crate::domain::{
    bypass::{Judged, Moved},
    text::{Title, hex, shown},
    time::Timestamp,
};

const MARKS: &str = "pushes";
const VERDICTS: &str = "verdicts";
/// Verdicts from before the file was full.
const OLD_VERDICTS: &str = "verdicts.1";
/// The first line of the marks, before the time of the look.
const HEAD: &str = "loopx-pushes 1 ";
/// What a line of the marks about a folder begins with.
const FOLDER: &str = "folder ";
/// The first line of the verdicts, before the time of the first one.
const SINCE: &str = "since ";
/// So long the verdicts grow before they begin anew.
const FULL: u64 = 256 * 1024;
/// A push that has not ended after so long does not find its verdict any more.
const LASTS: Duration = Duration::from_secs(3600);
/// What git writes into the reflog of a branch that it pushed.
const BY_GIT: &[u8] = b"update by push";
/// What other programs begin with.
const BY_OTHERS: &[u8] = b"push";
/// What git writes there when a remote gets another name.
const RENAMED: &[u8] = b"remote: renamed refs/remotes/";

/// What happened to the remote-tracking branches since writers looked last.
#[derive(Debug)]
pub struct Look {
    /// The pushes among it, each branch's together and in order.
    pub moved: Vec<Moved>,
    /// The hook's notes are there.
    pub noted: bool,
    marks: Marks,
    is_news: bool,
}

/// How far was looked.
#[derive(Debug, Clone)]
struct Marks {
    at: Timestamp,
    /// The folders below `refs/remotes`, itself among them, and when something in them changed last.
    folders: BTreeMap<String, String>,
    by_name: BTreeMap<String, Mark>,
}

/// How far was looked at one reflog. `ino` is 0 where git keeps no files, and `size` counts entries then.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    ino: u64,
    size: u64,
    /// Digest of the last line; nothing when there was none.
    last: String,
}

/// A remote-tracking branch, `origin/main`, and its reflog.
struct Log {
    name: String,
    ino: u64,
    size: u64,
    place: Place,
}

enum Place {
    File(PathBuf),
    /// What the program git said, in the form that a file has.
    Lines(Vec<u8>),
}

impl Store {
    /// Notes what the hook said of a push to `remote` at `at`: the ids (hex) and refs of the other side. One write, no lock.
    pub fn note_verdict(
        &self,
        at: Timestamp,
        allowed: bool,
        remote: &str,
        refs: &[(&str, &str)],
    ) -> Result<(), Error> {
        let (dir, at) = (self.git.private_dir(), at.unix());
        let path = dir.join(VERDICTS);
        let failed = || Error::io("write to", &path);
        let size = match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_file() => meta.len(),
            Ok(_) => return Err(failed()(std::io::Error::other("it is no plain file"))),
            Err(_) => 0,
        };
        let mut text = if size == 0 { format!("{SINCE}{at}\n") } else { String::new() };
        let (verdict, remote) = (if allowed { "allowed" } else { "refused" }, shown(remote, 500));
        for (commit, name) in refs {
            text.push_str(&format!("{at} {verdict} {commit} {} {remote}\n", shown(name, 500)));
        }
        if size == 0 {
            fs::create_dir_all(&dir).map_err(failed())?;
        }
        let mut file = fs::File::options().create(true).append(true).open(&path).map_err(failed())?;
        file.write_all(text.as_bytes()).map_err(failed())
    }

    /// Begins to watch: what was pushed so far does not count. Nothing changes when that was begun before.
    pub fn watch(&self, now: Timestamp) -> Result<(), Error> {
        if self.marks().is_some() || self.watched_since().is_some() {
            return Ok(());
        }
        let mut marks = Marks { at: now, folders: self.folders(), by_name: BTreeMap::new() };
        for log in self.logs()? {
            let bytes = log.bytes();
            marks.by_name.insert(log.name.clone(), log.mark(&bytes));
        }
        self.note_verdict(now, true, "", &[])?;
        self.keep(&marks)
    }

    /// Watches no longer: whoever begins again begins with what is there then.
    pub fn unwatch(&self) -> Result<(), Error> {
        for name in [MARKS, VERDICTS, OLD_VERDICTS] {
            let path = self.git().private_dir().join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Looks at what was pushed since writers looked last; nothing when nobody watches. Writes nothing.
    ///
    /// Where git keeps refs in reftables only the program git can tell, which is asked only when `thorough`.
    pub fn look(&self, thorough: bool) -> Result<Option<Look>, Error> {
        if !thorough && self.is_quiet() {
            let marks =
                Marks { at: Timestamp::from_unix(0), folders: BTreeMap::new(), by_name: BTreeMap::new() };
            return Ok(Some(Look { moved: Vec::new(), noted: true, marks, is_news: false }));
        }
        let known = self.marks();
        let noted = self.watched_since();
        let since = match (&known, noted) {
            (None, None) => return Ok(None),
            (Some(known), _) => known.at,
            (None, Some(noted)) => {
                self.history()?.next().transpose()?.map_or(noted, |newest| newest.at.max(noted))
            }
        };
        if !self.git.reads_refs_itself() && !thorough {
            return Ok(None);
        }
        let mut marks = Marks { at: since, folders: self.folders(), by_name: BTreeMap::new() };
        let mut is_news = known.as_ref().is_none_or(|known| known.folders != marks.folders);
        let mut lines = Vec::new();
        for log in self.logs()? {
            let mark = known.as_ref().and_then(|known| known.by_name.get(&log.name));
            if let Some(mark) =
                mark.filter(|mark| (mark.ino, mark.size) == (log.ino, log.size) && log.ino != 0)
            {
                marks.by_name.insert(log.name, mark.clone());
                continue;
            }
            let bytes = log.bytes();
            let renames = renames(&bytes);
            let former = || {
                let names = renames.iter().rev().map(|(_, name)| name);
                names.filter_map(|name| known.as_ref()?.by_name.get(name)).next()
            };
            let (from, since) = match mark.or_else(former) {
                Some(mark) => after(mark, &bytes).map_or((0, Some(since)), |from| (from, None)),
                None => (0, Some(since).filter(|_| known.is_none())),
            };
            let mut at = from;
            for line in whole_lines(&bytes[from..]) {
                at += line.len();
                let push = push(line).filter(|push| since.is_none_or(|since| push.at >= since));
                if let Some(push) = push {
                    let then = renames.iter().find(|(renamed, _)| *renamed > at).map(|(_, name)| name);
                    lines.push(Line {
                        then: then.unwrap_or(&log.name).clone(),
                        name: log.name.clone(),
                        push,
                    });
                }
            }
            let now = log.mark(&bytes);
            is_news |= mark != Some(&now);
            marks.by_name.insert(log.name, now);
        }
        is_news |= known.is_some_and(|known| known.by_name.len() != marks.by_name.len());
        let moved = self.moved(lines);
        Ok(Some(Look { moved, noted: noted.is_some(), marks, is_news }))
    }

    /// Remembers that everything in `look` was looked at, and is on the state branch where it has to be. Writers only.
    pub fn looked(&self, look: &Look, now: Timestamp) -> Result<(), Error> {
        self.trim();
        match look.is_news {
            true => self.keep(&Marks { at: now, ..look.marks.clone() }),
            false => Ok(()),
        }
    }

    /// Gives each push the name of its place on the other side and the hook's last word on it.
    fn moved(&self, mut lines: Vec<Line>) -> Vec<Moved> {
        if lines.is_empty() {
            return Vec::new();
        }
        lines.sort_by(|one, other| one.name.cmp(&other.name));
        let specs = self.fetch_specs();
        let verdicts = self.verdicts();
        let title = |text: &str| -> Title {
            shown(text, 400).parse().unwrap_or_else(|_| "unnamed".parse().expect("a word is a title"))
        };
        let moved = lines.into_iter().map(|Line { name, then, push }| {
            let (remote, far) = far_sides(&specs, &name).swap_remove(0);
            let verdict = far_sides(&specs, &then)
                .into_iter()
                .find_map(|(remote, far)| verdicts.get(&(remote, far, push.commit.clone())).copied());
            let (remote, ref_) = (title(&remote), title(&far));
            Moved { remote, ref_, commit: push.commit, at: push.at, by_git: push.by_git, verdict }
        });
        moved.collect()
    }

    /// The reflogs of all remote-tracking branches.
    fn logs(&self) -> Result<Vec<Log>, Error> {
        match self.git.reads_refs_itself() {
            true => Ok(self.files()),
            false => self.told(),
        }
    }

    fn files(&self) -> Vec<Log> {
        let top = self.git.common_dir().join("logs/refs/remotes");
        let mut logs = Vec::new();
        let mut folders = vec![(top, String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                match entry.metadata() {
                    Ok(meta) if meta.is_dir() => folders.push((entry.path(), format!("{name}/"))),
                    Ok(meta) if meta.is_file() => {
                        let place = Place::File(entry.path());
                        logs.push(Log { name, ino: meta.ino(), size: meta.len(), place });
                    }
                    _ => {}
                }
            }
        }
        logs
    }

    fn told(&self) -> Result<Vec<Log>, Error> {
        let dir = self.git.common_dir();
        let args = ["log", "-g", "--remotes", "--date=unix", "--format=%gD%x00%H%x00%gs"];
        let out = program::git("read the reflogs of remote-tracking branches", dir, dir, args, b"")?;
        let mut logs: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
        for line in out.lines() {
            let mut parts = line.splitn(3, |byte| *byte == 0);
            let (Some(entry), Some(commit), Some(said)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            let entry = entry.to_str_lossy();
            let found = entry.strip_prefix("refs/remotes/").and_then(|entry| entry.rsplit_once("@{"));
            let Some((name, time)) = found else { continue };
            let time = time.trim_end_matches('}');
            let line = [b"- ", commit, b" <> ", time.as_bytes(), b" +0000\t", said, b"\n"].concat();
            logs.entry(name.to_owned()).or_default().push(line);
        }
        let log = |(name, mut lines): (String, Vec<Vec<u8>>)| {
            // Git tells the newest first.
            lines.reverse();
            let lines = lines.concat();
            Log { name, ino: 0, size: lines.len() as u64, place: Place::Lines(lines) }
        };
        Ok(logs.into_iter().map(log).collect())
    }

    fn marks(&self) -> Option<Marks> {
        let bytes = read_plain_file(&self.git.private_dir().join(MARKS))?;
        let text = String::from_utf8(bytes).ok()?;
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let at = Timestamp::from_unix(lines.next()?.strip_prefix(HEAD)?.parse().ok()?);
        let mut folders = BTreeMap::new();
        let mut lines = lines.peekable();
        while let Some((name, changed)) = lines.peek().and_then(|line| folder(line)) {
            folders.insert(name.to_owned(), changed.to_owned());
            lines.next();
        }
        let mark = |line: &str| {
            let mut words = line.splitn(4, ' ');
            let (ino, size) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            let last = words.next().filter(|last| *last != "-").unwrap_or_default().to_owned();
            Some((words.next()?.to_owned(), Mark { ino, size, last }))
        };
        Some(Marks { at, folders, by_name: lines.map(mark).collect::<Option<_>>()? })
    }

    fn keep(&self, marks: &Marks) -> Result<(), Error> {
        let dir = self.git.private_dir();
        let path = dir.join(MARKS);
        let failed = || Error::io("write to", &path);
        fs::create_dir_all(&dir).map_err(failed())?;
        let mut file = tempfile::NamedTempFile::new_in(&dir).map_err(failed())?;
        let made = file.as_file().metadata().map_err(failed())?.ctime();
        let mut text = format!("{HEAD}{}\n", marks.at.unix());
        for (name, changed) in &marks.folders {
            // Another change could have the same time, so it would not be seen.
            let is_recent = changed.split('.').next().and_then(|seconds| seconds.parse().ok());
            let changed = if is_recent.is_some_and(|at: i64| at + 1 >= made) { "recent" } else { changed };
            text.push_str(&format!("{FOLDER}{changed} {name}\n"));
        }
        for (name, Mark { ino, size, last }) in &marks.by_name {
            let last = if last.is_empty() { "-" } else { last };
            text.push_str(&format!("{ino} {size} {last} {name}\n"));
        }
        file.write_all(text.as_bytes()).map_err(failed())?;
        file.persist(&path).map_err(|error| failed()(error.error))?;
        Ok(())
    }

    /// Whether no ref below `refs/remotes` was moved since writers looked last, as far as the folders tell.
    fn is_quiet(&self) -> bool {
        let Some(bytes) = read_plain_file(&self.git.private_dir().join(MARKS)) else { return false };
        let mut folders = bytes.lines().skip(1).map_while(|line| folder(line.to_str().ok()?)).peekable();
        let top = self.refs();
        folders.peek().is_some() && folders.all(|(name, changed)| changed == last_change(&top.join(name)))
    }

    fn refs(&self) -> PathBuf {
        self.git.common_dir().join("refs/remotes")
    }

    /// The folders of remote-tracking branches and when something in each changed last.
    fn folders(&self) -> BTreeMap<String, String> {
        let top = self.refs();
        let mut found = BTreeMap::from([(String::new(), last_change(&top))]);
        let mut folders = vec![(top, String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                found.insert(name.clone(), last_change(&entry.path()));
                folders.push((entry.path(), format!("{name}/")));
            }
        }
        found
    }

    /// When the hook noted its first verdict that is still there; nothing when it has noted none.
    fn watched_since(&self) -> Option<Timestamp> {
        let dir = self.git.private_dir();
        let first = |name: &str| {
            let path = dir.join(name);
            fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
            let mut head = Vec::new();
            fs::File::open(path).ok()?.take(64).read_to_end(&mut head).ok()?;
            let line = head.lines().next()?.to_str().ok()?;
            line.strip_prefix(SINCE)?.parse().ok().map(Timestamp::from_unix)
        };
        first(OLD_VERDICTS).or_else(|| first(VERDICTS))
    }

    /// The last word of the hook on each push, by remote, ref there, and commit.
    fn verdicts(&self) -> HashMap<(String, String, String), Judged> {
        let dir = self.git.private_dir();
        let mut verdicts = HashMap::new();
        for file in [OLD_VERDICTS, VERDICTS] {
            let bytes = read_plain_file(&dir.join(file)).unwrap_or_default();
            for line in bytes.lines() {
                let Ok(line) = line.to_str() else { continue };
                let words: Vec<&str> = line.splitn(5, ' ').collect();
                let [at, verdict @ ("allowed" | "refused"), commit, far, remote] = words[..] else {
                    continue;
                };
                let Ok(at) = at.parse().map(Timestamp::from_unix) else { continue };
                let judged = Judged { allowed: verdict == "allowed", at };
                verdicts.insert((remote.to_owned(), far.to_owned(), commit.to_owned()), judged);
            }
        }
        verdicts
    }

    /// Lets the verdicts begin anew when they are many. A hook that is just writing writes into the old file, which is read
    /// as long as a push may last.
    fn trim(&self) {
        let (path, old) = (self.git.private_dir().join(VERDICTS), self.git.private_dir().join(OLD_VERDICTS));
        let Ok(meta) = fs::symlink_metadata(&path) else { return };
        if meta.len() < FULL {
            return;
        }
        let written = |meta: fs::Metadata| meta.modified().ok();
        let is_needed = fs::symlink_metadata(&old).ok().and_then(written).is_some_and(|old| {
            written(meta).and_then(|new| new.duration_since(old).ok()).is_some_and(|age| age < LASTS)
        });
        if !is_needed {
            let _ = fs::rename(path, old);
        }
    }

    /// Where fetching puts the branches of each remote, below `refs/remotes/`.
    fn fetch_specs(&self) -> Vec<FetchSpec> {
        let repo = self.git.repo();
        let config = repo.config_snapshot();
        let mut specs = Vec::new();
        for remote in repo.remote_names() {
            let found = config.plumbing().strings_by("remote", Some(remote.as_ref()), "fetch");
            for spec in found.into_iter().flatten() {
                let spec = spec.to_str_lossy();
                if let Some((far, near)) = spec.trim_start_matches('+').split_once(':')
                    && let Some(near) = near.strip_prefix("refs/remotes/")
                {
                    let remote = remote.as_ref() as &BStr;
                    let (far, near) = (far.to_owned(), near.to_owned());
                    specs.push(FetchSpec { remote: shown(&remote.to_str_lossy(), 500), far, near });
                }
            }
        }
        specs
    }
}

/// One `remote.<name>.fetch`: what is called `far` there is called `near` below `refs/remotes/` here.
struct FetchSpec {
    remote: String,
    far: String,
    near: String,
}

/// What `name` becomes when what fits `from` is called `to`. Either may have one `*`.
fn mapped(from: &str, to: &str, name: &str) -> Option<String> {
    match (from.split_once('*'), to.split_once('*')) {
        (Some((head, tail)), Some((to_head, to_tail))) => {
            let middle = name.strip_prefix(head)?.strip_suffix(tail)?;
            Some(format!("{to_head}{middle}{to_tail}"))
        }
        (None, None) if from == name => Some(to.to_owned()),
        _ => None,
    }
}

/// The remotes and the refs there that a remote-tracking branch follows, by the settings or else by its name. At least one.
fn far_sides(specs: &[FetchSpec], name: &str) -> Vec<(String, String)> {
    let configured =
        specs.iter().filter_map(|spec| Some((spec.remote.clone(), mapped(&spec.near, &spec.far, name)?)));
    let mut sides: Vec<_> = configured.collect();
    if sides.is_empty() {
        let (remote, branch) = name.split_once('/').unwrap_or(("unnamed", name));
        sides.push((remote.to_owned(), format!("refs/heads/{branch}")));
    }
    sides
}

impl Log {
    fn bytes(&self) -> Vec<u8> {
        match &self.place {
            Place::File(path) => read_file(path),
            Place::Lines(lines) => lines.clone(),
        }
    }

    /// The mark of somebody who has seen the whole lines of `bytes`.
    fn mark(&self, bytes: &[u8]) -> Mark {
        let size = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let last = whole_lines(bytes).last().map(digest).unwrap_or_default();
        Mark { ino: self.ino, size: size as u64, last }
    }
}

/// A line of the marks about a folder: its name and when something in it changed last.
fn folder(line: &str) -> Option<(&str, &str)> {
    let (changed, name) = line.strip_prefix(FOLDER)?.split_once(' ')?;
    Some((name, changed))
}

/// When something in a folder changed last, by the clock of the file system, which nobody can set for one file.
fn last_change(folder: &Path) -> String {
    match fs::symlink_metadata(folder) {
        Ok(meta) => format!("{}.{:09}", meta.ctime(), meta.ctime_nsec()),
        Err(_) => "absent".to_owned(),
    }
}

fn read_file(path: &Path) -> Vec<u8> {
    read_plain_file(path).unwrap_or_default()
}

fn digest(line: &[u8]) -> String {
    hex(&Sha256::digest(line)[..8])
}

/// Lines with their ends, less one that is still being written.
fn whole_lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    bytes[..end].lines_with_terminator()
}

/// Where in `bytes` that begins which `mark` has not seen; nothing when what it has seen last is gone.
fn after(mark: &Mark, bytes: &[u8]) -> Option<usize> {
    if mark.last.is_empty() {
        return Some(0);
    }
    let size = usize::try_from(mark.size).ok()?;
    let seen = bytes.get(..size).filter(|seen| seen.ends_with(b"\n"));
    if seen.and_then(|seen| whole_lines(seen).next_back()).is_some_and(|last| digest(last) == mark.last) {
        return Some(size);
    }
    let mut end = bytes.len() - bytes.iter().rev().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    for line in whole_lines(bytes).rev() {
        if digest(line) == mark.last {
            return Some(end);
        }
        end -= line.len();
    }
    None
}

/// Where a reflog says that `git remote rename` gave it another name, and the one it had before.
fn renames(bytes: &[u8]) -> Vec<(usize, String)> {
    let mut at = 0;
    let renamed = whole_lines(bytes).filter_map(|line| {
        at += line.len();
        let said = &line[line.find_byte(b'\t')? + 1..];
        let name = said.strip_prefix(RENAMED)?.split(|byte| *byte == b' ').next()?;
        Some((at, name.to_str_lossy().into_owned()))
    });
    renamed.collect()
}

/// A push in the reflog of the branch that is called `name` now and was called `then`.
struct Line {
    name: String,
    then: String,
    push: Pushed,
}

/// A line of a reflog that says of a push.
struct Pushed {
    commit: String,
    at: Timestamp,
    by_git: bool,
}

/// Reads `<old id> <new id> <name> <<address>> <seconds> <zone>\t<what>`, if it is about a push that left something there.
fn push(line: &[u8]) -> Option<Pushed> {
    let (head, said) = line.split_at(line.find_byte(b'\t')?);
    let said = said.trim();
    if said != BY_GIT && !said.starts_with(BY_OTHERS) {
        return None;
    }
    let commit = head.split(|byte| *byte == b' ').nth(1)?.to_str().ok()?;
    let time = head.to_str_lossy();
    let seconds = time.rsplit_once("> ")?.1.split(' ').next()?.parse().ok()?;
    let is_id = !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let left = is_id && commit.bytes().any(|byte| byte != b'0');
    left.then(|| Pushed {
        commit: commit.to_owned(),
        at: Timestamp::from_unix(seconds),
        by_git: said == BY_GIT,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "0000000000000000000000000000000000000000 1111111111111111111111111111111111111111 Ann <a@b> 1796040000 +0000\t";

    fn log(lines: &[&str]) -> Vec<u8> {
        lines.iter().map(|said| format!("{LINE}{said}\n")).collect::<String>().into_bytes()
    }

    fn mark(bytes: &[u8]) -> Mark {
        let place = Place::Lines(Vec::new());
        Log { name: "origin/main".into(), ino: 1, size: 0, place }.mark(bytes)
    }

    #[test]
    fn only_pushes_that_leave_something_there_are_pushes() {
        let read = |line: &str| push(line.as_bytes()).map(|push| (push.at.unix(), push.by_git));
        assert_eq!(read(&format!("{LINE}update by push\n")), Some((1_796_040_000, true)));
        assert_eq!(read(&format!("{LINE}push: created\n")), Some((1_796_040_000, false)));
        for said in ["fetch origin: fast-forward", "clone: from x", "remote: renamed a to b", ""] {
            assert_eq!(read(&format!("{LINE}{said}\n")), None, "{said}");
        }
        let gone = LINE.replace('1', "0").replace("0796040000", "1796040000");
        assert_eq!(read(&format!("{gone}update by push\n")), None);
        for nonsense in ["", "\n", "\t\n", "a b\tupdate by push\n", "\u{0}\t\u{0}\n"] {
            assert_eq!(read(nonsense), None, "{nonsense:?}");
        }
    }

    #[test]
    fn what_was_seen_is_found_again_after_the_log_grew_or_lost_its_beginning() {
        let bytes = log(&["a", "b", "c"]);
        let seen = mark(&bytes[..bytes.len() / 3 * 2]);
        assert_eq!(after(&seen, &bytes), Some(bytes.len() / 3 * 2));
        assert_eq!(after(&seen, &log(&["b", "c"])), Some(bytes.len() / 3));
        assert_eq!(after(&seen, &log(&["c"])), None);
        assert_eq!(after(&mark(b""), &bytes), Some(0));
        assert_eq!(mark(&[&bytes[..], b"torn"].concat()), mark(&bytes));
    }

    #[test]
    fn a_branch_is_found_on_the_other_side_by_the_settings() {
        let spec = |remote: &str, far: &str, near: &str| FetchSpec {
            remote: remote.into(),
            far: far.into(),
            near: near.into(),
        };
        let specs =
            [spec("hub", "refs/heads/*", "hub/*"), spec("up/stream", "refs/heads/v*", "up/stream/v*")];
        let side = |name: &str| far_sides(&specs, name).swap_remove(0);
        assert_eq!(side("hub/a/b"), ("hub".into(), "refs/heads/a/b".into()));
        assert_eq!(side("up/stream/v2"), ("up/stream".into(), "refs/heads/v2".into()));
        assert_eq!(side("gone/main"), ("gone".into(), "refs/heads/main".into()));
        assert_eq!(mapped("hub/*", "refs/heads/*", "up/main"), None);
        assert_eq!(mapped("hub/main", "refs/heads/main", "hub/main"), Some("refs/heads/main".into()));
    }
}
