//! A package registry on loopback for one test: enough of cargo's sparse index and of npm's for one package to arrive.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use sha2::{Digest as _, Sha256};

/// A registry that serves until the test ends.
pub(crate) struct Registry {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Arrival>>>,
}

/// Something that arrived: an upload, or a question that came with a token.
struct Arrival {
    method: String,
    path: String,
    authorization: String,
    body: Vec<u8>,
}

impl Registry {
    /// One that anybody may read.
    pub(crate) fn start() -> Self {
        Self::serving(false)
    }

    /// One that takes a token to read, too.
    pub(crate) fn closed() -> Self {
        Self::serving(true)
    }

    fn serving(closed: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let arrivals = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = serve(&stream, port, closed, &arrivals);
            }
        });
        Self { port, seen }
    }

    /// What was uploaded or asked with a token, a line each.
    pub(crate) fn arrivals(&self) -> String {
        let seen = self.seen.lock().expect("the list");
        seen.iter().map(|it| format!("{} {} ({})\n", it.method, it.path, it.authorization)).collect()
    }
}

fn serve(stream: &TcpStream, port: u16, closed: bool, arrivals: &Mutex<Vec<Arrival>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, path) =
        (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let (mut length, mut authorization) = (0, String::new());
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').unwrap_or_default();
        match (name.to_ascii_lowercase().as_str(), value.trim()) {
            ("content-length", value) => length = value.parse().unwrap_or(0),
            ("authorization", value) => authorization = value.to_owned(),
            ("expect", _) => (&mut &*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut arrivals = arrivals.lock().expect("the list");
    let (status, answer) = match (method.as_str(), path.as_str()) {
        _ if closed && authorization.is_empty() => ("401 Unauthorized", "{}".to_owned()),
        ("GET", "/index/config.json") => {
            let here = format!("http://127.0.0.1:{port}");
            ("200 OK", format!(r#"{{"dl":"{here}/dl","api":"{here}","auth-required":{closed}}}"#))
        }
        ("GET", path) if path.starts_with("/index/") => {
            let upload = arrivals.iter().find(|it| it.path.starts_with("/api/v1/crates/new"));
            upload.map_or(("404 Not Found", String::new()), |upload| ("200 OK", index_line(&upload.body)))
        }
        ("GET", path) if path.ends_with("/owners") => ("200 OK", r#"{"users":[]}"#.to_owned()),
        ("PUT", _) => ("200 OK", r#"{"ok":true}"#.to_owned()),
        _ => ("404 Not Found", "{}".to_owned()),
    };
    if method == "PUT" || !authorization.is_empty() {
        arrivals.push(Arrival { method, path, authorization, body });
    }
    write!(
        &mut &*stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nContent-Type: application/json\r\nWWW-Authenticate: Cargo login_url=\"http://127.0.0.1/\"\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    )
}

/// What the index says of a crate that arrived: a length, its metadata, a length, the crate.
fn index_line(body: &[u8]) -> String {
    let part = |from: usize| {
        let length = u32::from_le_bytes(body[from..from + 4].try_into().expect("four bytes")) as usize;
        &body[from + 4..from + 4 + length]
    };
    let json = part(0);
    let metadata: serde_json::Value = serde_json::from_slice(json).expect("metadata");
    let digest = Sha256::digest(part(4 + json.len()));
    let cksum: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let (name, vers) = (&metadata["name"], &metadata["vers"]);
    format!(r#"{{"name":{name},"vers":{vers},"deps":[],"cksum":"{cksum}","features":{{}},"yanked":false}}"#)
}
