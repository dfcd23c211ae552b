//! What it costs to look a record over for secrets, beside what it costs to read it, turn by turn.

use std::{
    fmt::Write as _,
    hint::black_box,
    time::{Duration, Instant},
};

use loopx::domain::secret;

const SIZE: usize = 10 * 1024;
const ROUNDS: usize = 999;

/// Texts of 10 KB that are as hard on it as what people and programs write.
fn texts() -> [(&'static str, String); 3] {
    let prose = "What was seen: the token is renewed by `refresh`, key: value, and all of 3f2a91c passes, see a/b.rs:17.\n";
    let mut log = String::new();
    let mut settings = String::new();
    for number in 0.. {
        let id = number * 0x9e37_79b9_u64;
        let _ = writeln!(
            log,
            "2026-11-30T12:00:00Z INFO id={id:016x} https://ann@example.test/{id:x}?page={number}: done"
        );
        let _ = writeln!(settings, "API_KEY_{number}=${{KEY_{id:X}}}\npassword: {id:x}");
        if log.len().min(settings.len()) > SIZE {
            break;
        }
    }
    [("prose", prose.repeat(SIZE / prose.len() + 1)), ("a log", log), ("settings", settings)]
}

pub(crate) fn tell() {
    let start = Instant::now();
    black_box(secret::scan("x"));
    println!("the first text costs {} µs more than those after it", start.elapsed().as_micros());
    println!("10 KB, {ROUNDS} rounds, microseconds: median (most)");
    for (name, mut text) in texts() {
        text.truncate(SIZE);
        let record = format!("text = {text:?}\n");
        let mut times: [Vec<Duration>; 2] = Default::default();
        for round in 0..2 * ROUNDS {
            let start = Instant::now();
            match round % 2 {
                0 => drop(black_box(secret::scan(black_box(&text)))),
                _ => drop(black_box(toml::from_str::<toml::Table>(black_box(&record)))),
            }
            times[round % 2].push(start.elapsed());
        }
        let told = times.map(|mut times| {
            times.sort();
            let micros = |at: usize| times[at].as_secs_f64() * 1e6;
            format!("{:>7.1} ({:>7.1})", micros(ROUNDS / 2), micros(ROUNDS - 1))
        });
        println!("{name:10} looked over {}   read as TOML {}", told[0], told[1]);
    }
}
