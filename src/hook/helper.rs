//! `git-remote-loopx`: git starts it for an address that begins with `loopx::` and talks to the other side through it. It
//! reads what git asks the other side to do before it passes it on. The contract is git's `gitremote-helpers(7)`, with the
//! capability `connect` where git would speak with `git receive-pack` itself, and `gitprotocol-pack(5)`. A web server is reached
//! with git's own helper, whose protocol is read on its way.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead as _, BufReader, Read, Write as _},
    process::Child,
    thread,
};

use crate::{
    error::{Error, Kind},
    ops::{
        Ctx,
        push::{Line, OtherSide, Remote, connect, object_of},
    },
    process::{GIT_SSH_COMMAND, Process},
};

/// Most bytes of commands that are read: a million refs.
const LIMIT: usize = 256 * 1024 * 1024;

/// Speaks with git on standard input and output about a push to `address`. Returns the exit code.
pub(crate) fn run(
    process: &Process,
    remote: &str,
    address: &str,
    ctx: impl FnOnce() -> Result<Ctx, Error>,
) -> u8 {
    match speak(process, remote, address, ctx) {
        Ok(true) => 0,
        Ok(false) => Kind::Refused.exit_code(),
        Err(error) => {
            process.err(&blind(&error));
            Kind::Refused.exit_code()
        }
    }
}

fn blind(error: &Error) -> String {
    format!("loopx: push refused: whether a question is open cannot be seen\n{error}")
}

fn lost(error: io::Error) -> Error {
    Error::new(Kind::Environment, format!("the connection between git and the other side broke: {error}"))
        .hint("run `git push` again")
}

fn odd(what: &str) -> Error {
    let shown = crate::domain::text::shown(what, 200);
    Error::new(Kind::Refused, format!("git sent something that loopx does not understand: `{shown}`"))
}

/// Whether all went well. What was refused has been said.
fn speak(
    process: &Process,
    remote: &str,
    address: &str,
    ctx: impl FnOnce() -> Result<Ctx, Error>,
) -> Result<bool, Error> {
    let (from_git, to_git) = process.streams().map_err(lost)?;
    let ctx = ctx()?;
    let other_side = connect(&ctx, remote, address, process.env_os(GIT_SSH_COMMAND))?;
    let remote = &Remote { name: remote.to_owned(), url: address.to_owned() };
    match other_side {
        OtherSide::ReceivePack(there) => tunnel(process, &ctx, remote, there, from_git, to_git),
        OtherSide::Helper(there) => relay(process, &ctx, remote, there, from_git, to_git),
    }
}

/// What to say when a push of `lines` is refused.
fn refusal(process: &Process, ctx: &Ctx, remote: &Remote, lines: &[Line]) -> Option<String> {
    match lines.is_empty() {
        true => None,
        false => {
            super::pre_push::verdict(process, ctx, remote, lines).unwrap_or_else(|error| Some(blind(&error)))
        }
    }
}

/// Stands between git and its own helper for web servers: what git asks goes there and the answers come back, but for
/// a batch of pushes, which is judged first. What was judged is pushed: a name goes on as the object it named then.
fn relay(
    process: &Process,
    ctx: &Ctx,
    remote: &Remote,
    mut there: Child,
    mut from_git: File,
    mut to_git: File,
) -> Result<bool, Error> {
    let (Some(mut to_there), Some(from_there)) = (there.stdin.take(), there.stdout.take()) else {
        return Err(Error::new(Kind::Bug, "a pipe is missing"));
    };
    let mut answers = BufReader::new(from_there).lines();
    let mut answer =
        || answers.next().unwrap_or_else(|| Err(io::Error::other("it said no more"))).map_err(lost);
    let mut listed = HashMap::new();
    let mut is_well = true;
    loop {
        let asked = line(&mut from_git).map_err(lost)?;
        let word = asked.split(' ').next().unwrap_or_default();
        let mut send = |text: &str| to_there.write_all(text.as_bytes()).map_err(lost);
        let mut said = String::new();
        match word {
            "" => break,
            "option" => {
                send(&format!("{asked}\n"))?;
                said = answer()? + "\n";
            }
            "capabilities" | "list" => {
                send(&format!("{asked}\n"))?;
                loop {
                    let line = answer()?;
                    if let (Some((id, name)), "list") = (line.split_once(' '), word) {
                        listed.insert(name.to_owned(), id.to_owned());
                    }
                    // What fetches would go past us, and nothing is fetched here.
                    let is_for_pushing = ["", "option", "push", "object-format"].contains(&line.as_str());
                    if word == "list" || is_for_pushing {
                        said += &format!("{line}\n");
                    }
                    if line.is_empty() {
                        break;
                    }
                }
            }
            "push" => {
                let mut batch = vec![asked];
                loop {
                    match line(&mut from_git).map_err(lost)? {
                        end if end.is_empty() => break,
                        more => batch.push(more),
                    }
                }
                let (mut lines, mut commands) = (Vec::new(), String::new());
                for asked in &batch {
                    let (line, command) = pushed(ctx, asked, &listed)?;
                    lines.push(line);
                    commands += &command;
                }
                match refusal(process, ctx, remote, &lines) {
                    Some(refused) => {
                        process.err(&refused);
                        is_well = false;
                        said = lines
                            .iter()
                            .map(|line| format!("error {} refused by loopx\n", line.remote))
                            .collect();
                        said.push('\n');
                    }
                    None => {
                        send(&format!("{commands}\n"))?;
                        while !said.ends_with("\n\n") && said != "\n" {
                            said += &format!("{}\n", answer()?);
                        }
                    }
                }
            }
            _ => return Err(odd(&asked)),
        }
        to_git.write_all(said.as_bytes()).map_err(lost)?;
    }
    let _ = to_there.write_all(b"\n");
    drop(to_there);
    Ok(there.wait().map_err(lost)?.success() && is_well)
}

/// Reads `push [+]<what>:<ref>`; nothing before the colon removes the ref. Returns it also as a command with the object's id.
fn pushed(ctx: &Ctx, asked: &str, listed: &HashMap<String, String>) -> Result<(Line, String), Error> {
    let spec = asked.strip_prefix("push ").ok_or_else(|| odd(asked))?;
    let (force, spec) = spec.strip_prefix('+').map_or(("", spec), |spec| ("+", spec));
    let (local, name) =
        spec.rsplit_once(':').filter(|(_, name)| !name.is_empty()).ok_or_else(|| odd(asked))?;
    let local_id = match local {
        "" => None,
        local => Some(object_of(ctx, local)?),
    };
    let command = format!("push {force}{}:{name}\n", local_id.as_deref().unwrap_or_default());
    let remote_id = listed.get(name).and_then(|id| super::pre_push::id(id).flatten());
    Ok((Line { local: local.to_owned(), local_id, remote: name.to_owned(), remote_id }, command))
}

/// Stands between git and `git receive-pack`: reads the commands that git sends before it passes them on.
fn tunnel(
    process: &Process,
    ctx: &Ctx,
    remote: &Remote,
    mut there: Child,
    mut from_git: File,
    mut to_git: File,
) -> Result<bool, Error> {
    let (Some(mut to_there), Some(mut from_there)) = (there.stdin.take(), there.stdout.take()) else {
        return Err(Error::new(Kind::Bug, "a pipe is missing"));
    };
    loop {
        match line(&mut from_git).map_err(lost)?.as_str() {
            "" => return Ok(true),
            "capabilities" => to_git.write_all(b"connect\n\n").map_err(lost)?,
            "connect git-receive-pack" => break,
            "connect git-upload-pack" => {
                return Err(Error::new(Kind::Refused, "this address is for pushing alone")
                    .hint("fetch from the address without `loopx::` before it"));
            }
            other => return Err(odd(other)),
        }
    }
    to_git.write_all(b"\n").map_err(lost)?;
    let answers = thread::spawn(move || io::copy(&mut from_there, &mut to_git).map(|bytes| (bytes, to_git)));
    // Git has gone away, most likely because its own hook said no.
    let Some(commands) = commands(&mut from_git)? else { return Ok(true) };
    let lines = parse(&commands)?;
    if let Some(refused) = refusal(process, ctx, remote, &lines) {
        process.err(&refused);
        // No command: the other side ends without a word.
        let _ = to_there.write_all(b"0000");
        drop(to_there);
        let _ = there.wait();
        if let Ok(Ok((_, mut to_git))) = answers.join() {
            // Git reads the answer when it has sent everything, so all of that is taken and thrown away.
            let _ = to_git.write_all(&report(&commands, &lines));
            let _ = io::copy(&mut from_git, &mut io::sink());
        }
        return Ok(false);
    }
    to_there.write_all(&commands).map_err(lost)?;
    // Whoever of the two ends first, it shows at the end of the answers and in how the other side ended.
    thread::spawn(move || io::copy(&mut from_git, &mut to_there));
    let _ = answers.join();
    Ok(there.wait().map_err(lost)?.success())
}

/// One line, read no further than its end: what follows is not for us.
fn line(from: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while bytes.len() < 4096 && from.read(&mut byte)? == 1 && byte[0] != b'\n' {
        bytes.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The packets up to the one that ends the list of commands, and not a byte of what follows. Nothing when there is not a
/// byte.
fn commands(from: &mut impl Read) -> Result<Option<Vec<u8>>, Error> {
    let mut bytes = vec![0];
    if from.read(&mut bytes).map_err(lost)? == 0 {
        return Ok(None);
    }
    let mut start = 0;
    loop {
        let read = bytes.len();
        bytes.resize(start + 4, 0);
        from.read_exact(&mut bytes[read..]).map_err(lost)?;
        let length = length(&bytes[start..]).ok_or_else(|| odd(&String::from_utf8_lossy(&bytes[start..])))?;
        if length == 0 {
            return Ok(Some(bytes));
        }
        bytes.resize(start + length, 0);
        from.read_exact(&mut bytes[start + 4..]).map_err(lost)?;
        if bytes.len() > LIMIT {
            return Err(odd("more refs than there can be"));
        }
        start = bytes.len();
    }
}

/// The length of a packet with its head; 0 for the one that ends a list.
fn length(head: &[u8]) -> Option<usize> {
    let digits =
        std::str::from_utf8(head).ok().filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let length = usize::from_str_radix(digits, 16).ok()?;
    (length == 0 || length > 4).then_some(length)
}

/// Reads `<old id> <new id> <ref>` packets; the first has the capabilities behind a zero byte. What does not read like that
/// refuses the push, signed pushes among it.
fn parse(commands: &[u8]) -> Result<Vec<Line>, Error> {
    let mut lines = Vec::new();
    let mut rest = commands;
    while let Some(length) = rest.get(..4).and_then(length).filter(|length| *length > 0) {
        let packet = rest.get(4..length).ok_or_else(|| odd("a packet without its end"))?;
        rest = &rest[length..];
        let text = packet.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = String::from_utf8_lossy(text);
        let text = text.trim_end_matches('\n');
        if text.strip_prefix("shallow ").is_some_and(|id| super::pre_push::id(id).is_some()) {
            continue;
        }
        let mut fields = text.splitn(3, ' ');
        let (old, new, name) = (fields.next(), fields.next(), fields.next());
        match (old.and_then(super::pre_push::id), new.and_then(super::pre_push::id), name) {
            (Some(remote_id), Some(local_id), Some(name)) if !name.is_empty() => {
                lines.push(Line { local: name.to_owned(), local_id, remote: name.to_owned(), remote_id });
            }
            _ => return Err(odd(text)),
        }
    }
    Ok(lines)
}

/// What the other side would answer had it refused each ref, in the form that git asked for in `commands`.
fn report(commands: &[u8], lines: &[Line]) -> Vec<u8> {
    let first = commands.get(4..).unwrap_or_default();
    let asked = first.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    let end = asked.windows(4).position(|four| four == b"0000").unwrap_or(asked.len());
    let asked = String::from_utf8_lossy(&asked[..end]);
    let can = |word: &str| asked.split([' ', '\n']).any(|asked| asked == word);
    if !can("report-status") && !can("report-status-v2") {
        return Vec::new();
    }
    let mut status = packet(b"unpack ok\n");
    for line in lines {
        status.extend(packet(format!("ng {} refused by loopx\n", line.remote).as_bytes()));
    }
    status.extend(b"0000");
    if !can("side-band-64k") {
        return status;
    }
    let mut answer = Vec::new();
    for part in status.chunks(60_000) {
        answer.extend(packet(&[b"\x01", part].concat()));
    }
    answer.extend(b"0000");
    answer
}

fn packet(bytes: &[u8]) -> Vec<u8> {
    [format!("{:04x}", bytes.len() + 4).as_bytes(), bytes].concat()
}

/// Looks whether reading these bytes keeps its promise: not a byte is taken that is not for us, what is understood says all that was
/// asked, and what git is answered is made of packets.
#[cfg(any(test, fuzzing))]
pub(super) fn promises(bytes: &[u8]) {
    use super::pre_push::without_null_ids;

    let mut sent = io::Cursor::new(bytes);
    let list = match commands(&mut sent) {
        Ok(Some(list)) => list,
        Ok(None) => return assert!(bytes.is_empty()),
        Err(error) => return assert!(!error.message.chars().any(char::is_control)),
    };
    assert!(sent.position() == list.len() as u64 && bytes.starts_with(&list) && list.ends_with(b"0000"));
    let lines = match parse(&list) {
        Ok(lines) => lines,
        Err(error) => return assert!(!error.message.chars().any(char::is_control)),
    };
    let hex = |id: &Option<String>| id.clone().unwrap_or_default();
    let line = |line: &Line| format!("{} {} {}", hex(&line.remote_id), hex(&line.local_id), line.remote);
    let said: Vec<String> = lines.iter().map(|said| without_null_ids(&line(said))).collect();
    let meant = packets(&list).into_iter().map(|packet| {
        let text = packet.split(|byte| *byte == 0).next().unwrap_or_default();
        without_null_ids(String::from_utf8_lossy(text).trim_end_matches('\n'))
    });
    assert_eq!(said, meant.filter(|text| !text.starts_with("shallow ")).collect::<Vec<_>>());
    let answer = report(&list, &lines);
    if !answer.is_empty() {
        let answers = packets(&answer);
        let is_on_a_band = answers[0].starts_with(b"\x01");
        let inner = answers.iter().map(|packet| packet.strip_prefix(b"\x01").unwrap_or(packet));
        let status =
            if is_on_a_band { packets(&inner.collect::<Vec<_>>().concat()).len() } else { answers.len() };
        assert_eq!(status, lines.len() + 1, "a word on each ref");
    }
}

/// What is in the packets up to the one that ends the list, which nothing follows.
#[cfg(any(test, fuzzing))]
fn packets(mut list: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    loop {
        let length = length(&list[..4]).expect("the length of a packet");
        if length == 0 {
            assert_eq!(list.len(), 4);
            return found;
        }
        found.push(&list[4..length]);
        list = &list[length..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "1111111111111111111111111111111111111111";
    const Z: &str = "0000000000000000000000000000000000000000";

    fn sent_list(texts: &[&str]) -> Vec<u8> {
        let packet = |text: &&str| format!("{:04x}{text}", text.len() + 4);
        (texts.iter().map(packet).collect::<String>() + "0000").into_bytes()
    }

    #[test]
    fn commands_are_read_to_their_end_and_no_further() {
        let list = sent_list(&[
            &format!("shallow {A}"),
            &format!("{Z} {A} refs/heads/main\0report-status side-band-64k"),
            &format!("{A} {Z} refs/heads/gone\n"),
        ]);
        let mut sent = io::Cursor::new([&list[..], b"PACK"].concat());
        assert_eq!(commands(&mut sent).unwrap().unwrap(), list);
        assert_eq!(commands(&mut io::empty()).unwrap(), None);
        assert_eq!(sent.position(), list.len() as u64);
        let read = parse(&list).unwrap();
        let said: Vec<_> = read.iter().map(|line| (line.remote.as_str(), line.local_id.is_some())).collect();
        assert_eq!(said, [("refs/heads/main", true), ("refs/heads/gone", false)]);
        assert_eq!(parse(&sent_list(&[])).unwrap(), []);
    }

    #[test]
    fn a_refusal_is_reported_as_git_asked_for_it() {
        let said = |asked: &str| {
            let list = sent_list(&[&format!("{Z} {A} refs/heads/main\0 {asked} agent=git/2")]);
            String::from_utf8(report(&list, &parse(&list).unwrap())).unwrap()
        };
        let status = "000eunpack ok\n0028ng refs/heads/main refused by loopx\n0000";
        assert_eq!(said("report-status"), status);
        assert_eq!(said("report-status-v2 side-band-64k"), format!("003f\u{1}{status}0000"));
        assert_eq!(said("quiet"), "");
    }

    #[test]
    fn anything_else_refuses_the_push() {
        for text in ["push-cert\0report-status", "x", &format!("{A} {A}"), &format!("{A} {A} "), &A[1..]] {
            assert!(parse(&sent_list(&[text])).is_err(), "{text:?} passed");
        }
        for bytes in [&b"00"[..], b"zzzz", b"0003", b"0010abc", b"+123"] {
            assert!(commands(&mut io::Cursor::new(bytes)).is_err(), "{bytes:?} passed");
        }
    }
}
