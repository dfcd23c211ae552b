//! `gate review`: a person goes through what waits for them. One key chooses; the word that every answer takes is typed all
//! the same.

use serde::Serialize;

use super::{
    Said, approval,
    gate::{Review, came_of, challenge},
};
use crate::{
    caller::Challenge,
    domain::{
        id::{Choice, GateId, GoalId},
        policy::Policy,
    },
    error::{Error, Kind},
    ops::{
        self, Ctx,
        gate::{Asked, GateView},
    },
    process::{Process, Terminal},
    text::Count,
};

/// Most lines of a diff that are shown.
const LINES: usize = 400;

#[derive(Debug, Serialize)]
struct Reviewed {
    answered: Vec<Answered>,
    /// How many gates still wait.
    left: usize,
}

#[derive(Debug, Serialize)]
struct Answered {
    gate: GateId,
    goal: GoalId,
    decision: Choice,
    commit: Option<String>,
}

/// What a key means.
enum Key {
    Answer(Choice),
    Diff,
    Skip,
    Quit,
    Nothing,
}

impl Review {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let mut terminal = ctx.caller.at_a_terminal(process, "answer gates", "loopx gate review")?;
        let waiting = ops::gate::waiting(ctx, self.goal_id.as_ref())?.gates;
        let total = waiting.len();
        let mut answered = Vec::new();
        for (number, view) in waiting.iter().enumerate() {
            show(&mut terminal, &format!("\n[{} of {total}] ", number + 1))?;
            match self.one(process, ctx, &mut terminal, view)? {
                Some(Some(answer)) => answered.push(answer),
                Some(None) => {}
                None => break,
            }
        }
        let left = ops::gate::waiting(&anew(process, ctx)?, self.goal_id.as_ref())?.gates.len();
        let text = format!("{} answered, {left} left\n", Count(answered.len(), "gate"));
        Ok(Said::read(&Reviewed { answered, left }, text))
    }

    /// One gate: what was answered, if anything was; nothing when the person has had enough.
    fn one(
        &self,
        process: &Process,
        ctx: &Ctx,
        terminal: &mut Terminal,
        view: &GateView,
    ) -> Result<Option<Option<Answered>>, Error> {
        let Some(first) = view.gate.answers().first().map(|choice| (*choice).clone()) else {
            return Ok(Some(None));
        };
        let mut asked = match ops::gate::asked(&anew(process, ctx)?, Some(&view.goal), &view.id, first, None)
        {
            Ok(asked) => asked,
            // Somebody else was faster.
            Err(error) => return tell(terminal, &error).map(|()| Some(None)),
        };
        show(terminal, &challenge(ctx, &asked).shows)?;
        let prompt = prompt(&asked);
        loop {
            let key = terminal.key(&prompt).map_err(failed)?;
            show(terminal, &format!("{}\n", key.filter(|key| key.is_ascii_graphic()).unwrap_or(' ')))?;
            match meaning(&asked, key) {
                Key::Nothing => {}
                Key::Skip => return Ok(Some(None)),
                Key::Quit => return Ok(None),
                Key::Diff => show(terminal, &diff(ctx, &asked)?)?,
                Key::Answer(decision) => {
                    asked.decision = decision;
                    match self.answer(process, &anew(process, ctx)?, &asked) {
                        Ok((text, answer)) => {
                            show(terminal, &format!("{text}\n"))?;
                            return Ok(Some(Some(answer)));
                        }
                        Err(error) if matches!(error.kind, Kind::Refused | Kind::Conflict) => {
                            tell(terminal, &error)?;
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
        }
    }

    /// The same proof as for any other answer, and a commit of its own.
    fn answer(&self, process: &Process, ctx: &Ctx, asked: &Asked) -> Result<(String, Answered), Error> {
        let statement = |policy: &Policy, nonce: &str| asked.statement(ctx, policy, None, nonce);
        let challenge = Challenge { shows: String::new(), ..challenge(ctx, asked) };
        let proven = approval::prove(process, ctx, &challenge, self.sign_with.as_deref(), statement)?;
        let done = ops::gate::resolve(ctx, asked, &proven, None)?;
        let mut text = came_of(asked, &done.value);
        text.extend(done.warnings.iter().map(|warning| format!("\nwarning: {}", warning.with_cure())));
        let (gate, goal) = (asked.view.id.clone(), asked.view.goal.clone());
        Ok((text, Answered { gate, goal, decision: asked.decision.clone(), commit: done.commit }))
    }
}

/// Each answer has its own time and its own nonce, and sees the state that the one before it left.
fn anew(process: &Process, ctx: &Ctx) -> Result<Ctx, Error> {
    let entropy = process
        .entropy()
        .map_err(|error| Error::new(Kind::Environment, format!("no random bytes can be had: {error}")))?;
    ctx.anew(process.now(), entropy)
}

/// The answers that can be given, each with its key.
fn keys(asked: &Asked) -> Vec<(char, &Choice)> {
    let mut numbers = '1'..='9';
    let choices = asked.view.gate.answers().into_iter();
    let key = |choice: &Choice| match choice.as_str() {
        Choice::APPROVE => Some('a'),
        Choice::REJECT => Some('r'),
        _ => numbers.next(),
    };
    let mut key = key;
    choices.filter_map(|choice| key(choice).map(|key| (key, choice))).collect()
}

fn prompt(asked: &Asked) -> String {
    let mut words: Vec<String> =
        keys(asked).iter().map(|(key, choice)| format!("{key} for {choice}")).collect();
    if asked.commit.is_some() {
        words.push("d for the diff".into());
    }
    format!("\nPress {}, s to skip, q to quit: ", words.join(", "))
}

fn meaning(asked: &Asked, key: Option<char>) -> Key {
    let Some(key) = key else { return Key::Quit };
    if let Some((_, choice)) = keys(asked).into_iter().find(|(answer, _)| *answer == key) {
        return Key::Answer(choice.clone());
    }
    match key {
        'd' if asked.commit.is_some() => Key::Diff,
        's' => Key::Skip,
        'q' => Key::Quit,
        _ => Key::Nothing,
    }
}

fn diff(ctx: &Ctx, asked: &Asked) -> Result<String, Error> {
    let Some(commit) = &asked.commit else { return Ok(String::new()) };
    let lines = ctx.store.git().patch(&commit.commit)?;
    let mut text: String = lines.iter().take(LINES).map(|line| format!("{line}\n")).collect();
    if lines.is_empty() {
        text.push_str("it changes nothing that no remote has\n");
    }
    if lines.len() > LINES {
        let (more, short) = (lines.len() - LINES, &commit.commit[..10]);
        text.push_str(&format!("… and {more} more lines; see them in another terminal: git show {short}\n"));
    }
    Ok(text)
}

fn show(terminal: &mut Terminal, text: &str) -> Result<(), Error> {
    terminal.show(text).map_err(failed)
}

fn tell(terminal: &mut Terminal, error: &Error) -> Result<(), Error> {
    show(terminal, &format!("{}\n", error.message))
}

fn failed(error: std::io::Error) -> Error {
    Error::new(Kind::Environment, format!("cannot talk to the terminal: {error}"))
}
