//! A clock that jumps. A release build reads only the real one, so the mutations are called with the time given.

use std::time::{SystemTime, UNIX_EPOCH};

use loopx::{
    caller::Caller,
    domain::{
        id::{Entropy, TodoPrefix},
        time::{Seconds, Timestamp},
        todo::{Priority, Worker},
    },
    error::Error,
    ops::{Ctx, todo},
    store::Store,
};

use crate::{dice::Dice, repo::Repo, table::Row};

const JUMPS: u64 = 480;
const DAY: i64 = 24 * 60 * 60;

/// Adds, claims and completes todos at random moments of the last day.
pub(crate) fn jumps() -> Row {
    let mut repo = Repo::new();
    // What this program calls does not see the home of the others.
    repo.git(&["config", "user.name", "Ann"]);
    repo.git(&["config", "user.email", "ann@example.test"]);
    let mut dice = Dice(4);
    let mut done = 0;
    let mut failed = None;
    for number in 0..JUMPS / 3 {
        match one_todo(&mut repo, number, &mut dice) {
            Ok(()) => done += 3,
            Err(error) => failed = Some(error.to_string()),
        }
    }
    let verdict = repo.judge();
    let mut row = Row::new("the clock jumps to and fro within 24 h before each mutation");
    let said = failed.unwrap_or(verdict.said);
    row.count_many(usize::try_from(JUMPS).expect("a number"), done, &said, verdict.survived);
    row
}

fn one_todo(repo: &mut Repo, number: u64, dice: &mut Dice) -> Result<(), Error> {
    let text = format!("at some time {number}");
    let request = todo::Request {
        goal: None,
        title: text.parse().expect("a title"),
        body: None,
        for_: Worker::Agent,
        priority: Priority::P2,
        needs: Vec::new(),
        requires: Default::default(),
        check: None,
        every: None,
    };
    let added = todo::add(&context(repo, dice)?, &request)?;
    repo.remember(text, Some(0));
    let todo: TodoPrefix = added.value.id.to_string().parse().expect("an id");
    todo::claim(&context(repo, dice)?, &todo, Seconds(2_700))?;
    todo::done(&context(repo, dice)?, &todo, &Default::default())?;
    Ok(())
}

/// What a command knows that runs at a random moment.
fn context(repo: &Repo, dice: &mut Dice) -> Result<Ctx, Error> {
    let mut entropy = Entropy::default();
    entropy.fill_with(|| u8::try_from(dice.below(256)).expect("a byte"));
    let back = i64::try_from(dice.below(DAY.unsigned_abs())).expect("a time");
    Ok(Ctx {
        redact: false,
        store: Store::open(&repo.top, None)?,
        caller: Caller::Agent { agent: "codex-1".parse().expect("an id"), named_by: "the bench".into() },
        now: Timestamp::from_unix(now() - back),
        entropy,
        goal: None,
        cwd: repo.top.clone(),
        program: "loopx".into(),
        gits: Default::default(),
        tidings: Default::default(),
    })
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).expect("a time")
}
