//! The way to the other side of a push when loopx stands in between: what an address means, and the program that answers
//! there. What git itself would start is started, so credentials, keys and the other side's hooks are as ever.

use std::{
    ffi::OsString,
    path::Path,
    process::{Child, Command, Stdio},
};

use gix::bstr::ByteSlice as _;

use super::{Error, Store, error, program};
use crate::domain::text::shown;

/// Variables that carry configuration for this side alone.
const CONFIGURATION: [&str; 3] = ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_PROTOCOL"];

/// What an address begins with that loopx stands in for.
pub(super) const STRICT: &str = "loopx::";

/// The setting that sends pushes for addresses with this beginning through loopx.
fn key(base: &str) -> String {
    format!("url.{STRICT}{base}.pushInsteadOf")
}

/// Where an address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Address {
    /// A folder of this machine.
    Folder(String),
    /// A host that is reached with ssh.
    Ssh { host: String, port: Option<String>, path: String },
    /// A server that git's own helper of this name talks to.
    Web(&'static str),
}

impl Address {
    /// Reads an address as git does; nothing for one of a kind that loopx cannot stand in for.
    fn parse(address: &str) -> Option<Self> {
        if let Some((scheme, rest)) = address.split_once("://") {
            let rest = decoded(rest)?;
            return match scheme {
                "http" => Some(Self::Web("remote-http")),
                "https" => Some(Self::Web("remote-https")),
                "file" => Some(Self::Folder(rest)).filter(|_| rest_is_absolute(address)),
                "ssh" | "git+ssh" | "ssh+git" => {
                    let (place, path) = rest.split_once('/')?;
                    let path = if path.starts_with('~') { path.to_owned() } else { format!("/{path}") };
                    let (host, port) = match place.rsplit_once(':') {
                        Some((host, port))
                            if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) =>
                        {
                            (host, Some(port.to_owned()))
                        }
                        _ => (place, None),
                    };
                    Self::ssh(host, port, path)
                }
                _ => None,
            };
        }
        let colon = address.find(':');
        let slash = address.find('/');
        match colon {
            Some(colon) if slash.is_none_or(|slash| colon < slash) => {
                let path = &address[colon + 1..];
                // `helper::address` is another helper's.
                if path.starts_with(':') {
                    return None;
                }
                Self::ssh(&address[..colon], None, path.to_owned())
            }
            _ => Some(Self::Folder(address.to_owned())),
        }
    }

    /// Refuses what ssh or a shell would take for an option, and what is written in brackets.
    fn ssh(host: &str, port: Option<String>, path: String) -> Option<Self> {
        let legal = !host.is_empty() && !path.is_empty() && !host.starts_with('-') && !path.starts_with('-');
        let plain = !host.contains(['[', ']', ' ', '/']) && !host.contains(char::is_control);
        (legal && plain).then(|| Self::Ssh { host: host.to_owned(), port, path })
    }
}

fn rest_is_absolute(address: &str) -> bool {
    address.strip_prefix("file://").is_some_and(|rest| rest.starts_with('/'))
}

/// `%20` and the like put in full.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        match (first, tail) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digits = std::str::from_utf8(&tail[..2]).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = after;
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).ok()
}

impl Store {
    /// Starts `git receive-pack` at `address`, here or on another host; standard input and output are piped.
    pub fn receive_pack(&self, address: &str, ssh: Option<OsString>) -> Result<Child, Error> {
        let unknown = || Error::Address(shown(address, 400));
        let mut command = match Address::parse(address).ok_or_else(unknown)? {
            Address::Folder(path) => {
                #[expect(clippy::disallowed_methods, reason = "this is the wall")]
                let mut command = Command::new("git");
                command.arg("receive-pack").arg("--").arg(path);
                command
            }
            Address::Web(_) => return Err(unknown()),
            Address::Ssh { host, port, path } => {
                let ssh = ssh.or_else(|| self.git.config("core.sshCommand").map(Into::into));
                #[expect(clippy::disallowed_methods, reason = "this is the wall")]
                let mut command = Command::new("sh");
                let mut program = ssh.unwrap_or_else(|| "ssh".into());
                program.push(" \"$@\"");
                command.arg("-c").arg(program).arg("ssh");
                if let Some(port) = port {
                    command.arg("-p").arg(port);
                }
                let path = path.replace('\'', r"'\''").replace('!', r"'\!'");
                command.arg(host).arg(format!("git-receive-pack '{path}'"));
                command
            }
        };
        program::without_routing(&mut command);
        for variable in CONFIGURATION {
            command.env_remove(variable);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
            .spawn()
            .map_err(|error| Error::Git { doing: "reach the other side", problem: error.to_string() })
    }

    /// Starts git's own helper for `address` if that is on a web server; standard input and output are piped.
    pub fn web_helper(&self, remote: &str, address: &str) -> Result<Option<Child>, Error> {
        let Some(Address::Web(helper)) = Address::parse(address) else { return Ok(None) };
        // It belongs to the git that started us, and is told of the repository by what that has set.
        #[expect(clippy::disallowed_methods, reason = "this is the wall")]
        let mut command = Command::new("git");
        command.args([helper, remote, address]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let failed =
            |error: std::io::Error| Error::Git { doing: "reach the other side", problem: error.to_string() };
        command.spawn().map(Some).map_err(failed)
    }

    /// The object that is pushed as `name`, in hex: a ref, `HEAD~1`, an id.
    pub fn object_of(&self, name: &str) -> Result<String, Error> {
        let dir = self.git.worktree().unwrap_or_else(|| self.git.common_dir().to_path_buf());
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
        let out = program::git("read what is pushed", self.git.repo().git_dir(), &dir, args, b"")?;
        Ok(out.trim().to_str_lossy().into_owned())
    }

    /// The names of all remotes.
    pub fn remotes(&self) -> Vec<String> {
        self.git.repo().remote_names().iter().map(|name| name.to_str_lossy().into_owned()).collect()
    }

    /// The addresses of a remote as they are set, and those that are set for pushing alone.
    pub fn addresses(&self, remote: &str) -> (Vec<String>, Vec<String>) {
        let config = self.git.repo().config_snapshot();
        let values = |key: &str| -> Vec<String> {
            let found = config.plumbing().strings_by("remote", Some(remote.into()), key);
            found.into_iter().flatten().map(|value| value.to_str_lossy().into_owned()).collect()
        };
        (values("url"), values("pushurl"))
    }

    /// The addresses that this clone sends pushes to through loopx, whether a remote has them or not.
    pub fn strict_addresses(&self) -> Vec<String> {
        let config = self.git.repo().config_snapshot();
        let sections = config.plumbing().sections_by_name("url").into_iter().flatten();
        let names = sections.filter(|found| found.meta().source == gix::config::Source::Local);
        let names = names.filter_map(|found| found.header().subsection_name().map(ToString::to_string));
        let addresses = names.filter_map(|name| name.strip_prefix(STRICT).map(str::to_owned));
        addresses.filter(|address| self.is_strict(address)).collect()
    }

    /// Whether pushes to `address` go through loopx.
    pub fn is_strict(&self, address: &str) -> bool {
        let config = self.git.repo().config_snapshot();
        let name = format!("{STRICT}{address}");
        let found = config.plumbing().strings_by("url", Some(name.as_str().into()), "pushInsteadOf");
        found.into_iter().flatten().any(|value| value.to_str_lossy() == address)
    }

    /// Sends pushes to `address` through loopx from now on, or no longer. Refused for an address that loopx cannot stand in
    /// for.
    pub fn set_strict(&self, address: &str, strict: bool) -> Result<(), Error> {
        let dir: &Path = self.git.common_dir();
        if self.is_strict(address) == strict {
            return Ok(());
        }
        let key = key(address);
        let args: Vec<&str> = match strict {
            true => {
                Address::parse(address).ok_or_else(|| Error::Address(shown(address, 400)))?;
                vec!["config", "--local", "--add", &key, address]
            }
            false => vec!["config", "--local", "--unset-all", &key],
        };
        program::git(error::WRITE_CONFIG, dir, dir, args, b"").map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_git_reads_them() {
        let ssh = |host: &str, port: Option<&str>, path: &str| {
            Some(Address::Ssh { host: host.into(), port: port.map(Into::into), path: path.into() })
        };
        let folder = |path: &str| Some(Address::Folder(path.into()));
        for (address, expected) in [
            ("../hub.git", folder("../hub.git")),
            ("/srv/a b.git", folder("/srv/a b.git")),
            ("./a:b", folder("./a:b")),
            ("file:///srv/a%20b.git", folder("/srv/a b.git")),
            ("ssh://git@host:2222/srv/x.git", ssh("git@host", Some("2222"), "/srv/x.git")),
            ("ssh://host/~ann/x.git", ssh("host", None, "~ann/x.git")),
            ("git@host:x.git", ssh("git@host", None, "x.git")),
            ("host:/srv/x.git", ssh("host", None, "/srv/x.git")),
            ("https://host/x.git", Some(Address::Web("remote-https"))),
            ("http://host/x.git", Some(Address::Web("remote-http"))),
            ("ftp://host/x.git", None),
            ("git://host/x.git", None),
            ("ext::sh -c true", None),
            ("loopx::x", None),
            ("file://relative", None),
            ("ssh://-oProxyCommand=x/y", None),
            ("-oProxyCommand=x:y", None),
            ("host:-x", None),
            ("[::1]:x", None),
        ] {
            assert_eq!(Address::parse(address), expected, "{address}");
        }
    }
}
