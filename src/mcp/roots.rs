//! Where a client stands that did not start us in its project: in the first of its roots that is in a repository.
#![expect(deprecated, reason = "clients of the older era have roots, and some have nothing else")]

use std::{ffi::OsString, os::unix::ffi::OsStringExt as _, path::PathBuf, sync::PoisonError};

use rmcp::{ErrorData, model::ProtocolVersion};

use super::{Request, Server, Where};
use crate::error::Kind;

impl Server {
    /// The folder of a call, if it is not the one we were started in. Asked for once, and again when the roots change.
    pub(super) async fn place(&self, request: &Request) -> Result<Option<PathBuf>, ErrorData> {
        let known = self.root.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let found = match known {
            Where::Here => return Ok(None),
            Where::There(dir) => return Ok(Some(dir)),
            Where::Unknown if self.is_here(request, None).await? => Where::Here,
            Where::Unknown => match self.root(request).await? {
                Some(dir) => Where::There(dir),
                // It may become one: `git init` comes first in many a project.
                None => return Ok(None),
            },
        };
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = found.clone();
        Ok(match found {
            Where::There(dir) => Some(dir),
            _ => None,
        })
    }

    async fn is_here(&self, request: &Request, dir: Option<PathBuf>) -> Result<bool, ErrorData> {
        let caller = self.caller(request);
        self.work(request, move |desk| match desk.context(&caller, dir.as_deref()) {
            Ok(_) => true,
            // Whatever else is wrong is wrong here.
            Err(error) => {
                !matches!(error.kind, Kind::NotSetUp | Kind::Environment)
                    || dir.is_none() && error.kind == Kind::Environment
            }
        })
        .await
    }

    async fn root(&self, request: &Request) -> Result<Option<PathBuf>, ErrorData> {
        let is_older =
            request.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
        let has_roots = request.client_capabilities().is_some_and(|can| can.roots.is_some());
        if !(is_older && has_roots) {
            return Ok(None);
        }
        let Ok(listed) = request.peer.list_roots().await else { return Ok(None) };
        for dir in listed.roots.iter().take(MOST).filter_map(|root| folder(&root.uri)) {
            if self.is_here(request, Some(dir.clone())).await? {
                return Ok(Some(dir));
            }
        }
        Ok(None)
    }
}

/// So many roots are looked at.
const MOST: usize = 32;

/// The folder that a `file:` address names on this machine.
fn folder(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [left.next()?, left.next()?];
                let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
                u8::from_str_radix(std::str::from_utf8(&digits).ok().filter(|_| is_hex)?, 16).ok()?
            }
            byte => byte,
        });
    }
    (!bytes.contains(&0)).then(|| PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_file_is_a_folder_here() {
        for (uri, path) in [
            ("file:///a/b", Some("/a/b")),
            ("file://localhost/a", Some("/a")),
            ("file:///a%20b/%C3%A4", Some("/a b/ä")),
            ("file://other/a", None),
            ("file:a", None),
            ("https://a/b", None),
            ("file:///a%2", None),
            ("file:///a%zz", None),
            ("file:///a%+1", None),
            ("file:///a%00b", None),
        ] {
            assert_eq!(folder(uri), path.map(PathBuf::from), "{uri}");
        }
    }
}
