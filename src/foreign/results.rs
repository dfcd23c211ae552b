//! Reports of tests, counted: what JUnit, cargo, pytest and TAP producers print.

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use crate::domain::{command::without_colours, evidence::Tests};

/// The reports that are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    Junit,
    Cargo,
    Pytest,
    Tap,
}

impl Report {
    pub const ALL: [Self; 4] = [Self::Junit, Self::Cargo, Self::Pytest, Self::Tap];

    /// As it is written on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Junit => "junit",
            Self::Cargo => "cargo",
            Self::Pytest => "pytest",
            Self::Tap => "tap",
        }
    }
}

/// Why a text is no such report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is no report of {}: {problem}", .report.word())]
pub struct BadReport {
    report: Report,
    problem: String,
}

/// How many tests came out how. Whatever the text is, the answer is counts or why there are none.
pub fn count(report: Report, text: &str) -> Result<Tests, BadReport> {
    let counted = match report {
        Report::Junit => junit(text),
        Report::Cargo => cargo(text),
        Report::Pytest => pytest(text),
        Report::Tap => tap(text),
    };
    counted.map_err(|problem| BadReport { report, problem: crate::domain::text::shown(&problem, 200) })
}

/// One `testcase` each, whatever the suites around it claim; what is in it says how it came out.
fn junit(text: &str) -> Result<Tests, String> {
    let mut reader = Reader::from_str(text.trim_start());
    let mut tests = Tests::default();
    let mut case = None;
    let mut is_junit = false;
    let name = |tag: &BytesStart<'_>| tag.local_name().as_ref().to_owned();
    let came_out = |tests: &mut Tests, outcome: &str| match outcome {
        "failure" | "error" => tests.failed += 1,
        "skipped" => tests.skipped += 1,
        _ => tests.passed += 1,
    };
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(tag) | Event::Empty(tag) if matches!(&*name(&tag), "testsuite" | "testsuites") => {
                is_junit = true;
            }
            Event::Start(tag) if name(&tag) == "testcase" => case = Some("passed"),
            Event::Empty(tag) if name(&tag) == "testcase" => came_out(&mut tests, "passed"),
            Event::Start(tag) | Event::Empty(tag) => match (&mut case, &*name(&tag)) {
                (Some(case), "failure" | "error") => *case = "failure",
                (Some(case), "skipped") if *case == "passed" => *case = "skipped",
                _ => {}
            },
            Event::End(tag) if tag.local_name().as_ref() == "testcase" => {
                case.take().into_iter().for_each(|outcome| came_out(&mut tests, outcome));
            }
            Event::Eof if is_junit => return Ok(tests),
            Event::Eof => return Err("it has no `testsuite`".into()),
            _ => {}
        }
    }
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; …`, once for each program of tests.
fn cargo(text: &str) -> Result<Tests, String> {
    let plain = without_colours(text);
    let results = plain.lines().filter_map(|line| line.trim().strip_prefix("test result: "));
    let sum = results.fold(None, |sum: Option<Tests>, line| {
        let counts = line.split_once(". ").map_or("", |(_, counts)| counts);
        Some(add(sum.unwrap_or_default(), counts.split(';'), |what| match what {
            "passed" => Some(Outcome::Passed),
            "failed" => Some(Outcome::Failed),
            "ignored" => Some(Outcome::Skipped),
            _ => None,
        }))
    });
    sum.ok_or_else(|| "it has no line that begins with `test result:`".into())
}

/// `=== 1 failed, 3 passed, 1 skipped in 0.12s ===`, with the `=` or, with `-q`, without. The last such line counts.
fn pytest(text: &str) -> Result<Tests, String> {
    let plain = without_colours(text);
    let summary = |line: &str| {
        let (counts, time) = line.trim().trim_matches('=').trim().rsplit_once(" in ")?;
        let is_time = time.split_once('s').is_some_and(|(seconds, _)| seconds.parse::<f64>().is_ok());
        let is_count = |part: &str| {
            let (number, what) = part.trim().split_once(' ')?;
            number.parse::<u64>().is_ok().then_some(())?;
            what.bytes().all(|b| b.is_ascii_lowercase()).then_some(())
        };
        let are_counts = counts == "no tests ran" || counts.split(',').all(|part| is_count(part).is_some());
        (is_time && are_counts).then(|| {
            add(Tests::default(), counts.split(','), |what| match what {
                "passed" | "xpassed" => Some(Outcome::Passed),
                "failed" | "error" | "errors" => Some(Outcome::Failed),
                "skipped" | "xfailed" => Some(Outcome::Skipped),
                _ => None,
            })
        })
    };
    plain
        .lines()
        .rev()
        .find_map(summary)
        .ok_or_else(|| "it has no summary such as `3 passed in 0.12s`".into())
}

/// `ok 1 - it works`, `not ok 2 # TODO later`, `ok 3 # SKIP no network`. Tests inside of a test are indented and counted with
/// it; what the plan promised and nobody ran has failed.
fn tap(text: &str) -> Result<Tests, String> {
    let mut tests = Tests::default();
    let (mut seen, mut planned, mut is_tap) = (0, None, false);
    for line in text.lines() {
        if let Some(plan) = line.strip_prefix("1..") {
            let number = plan.split_whitespace().next().unwrap_or_default();
            planned = number.parse::<u32>().ok().map(u64::from);
            is_tap |= planned.is_some();
            continue;
        }
        if line.starts_with("Bail out!") && is_tap {
            tests.failed += 1;
            return Ok(tests);
        }
        let (is_ok, rest) = match (line.strip_prefix("ok"), line.strip_prefix("not ok")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => continue,
        };
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            continue;
        }
        is_tap = true;
        seen += 1;
        let directive = rest.rsplit_once('#').map_or("", |(_, directive)| directive.trim());
        let is = |word: &str| directive.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
        match is("skip") || is("todo") {
            true => tests.skipped += 1,
            false if is_ok => tests.passed += 1,
            false => tests.failed += 1,
        }
    }
    tests.failed += planned.unwrap_or(seen).saturating_sub(seen);
    if is_tap { Ok(tests) } else { Err("it has no plan and no line such as `ok 1`".into()) }
}

enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// Adds counts such as `3 passed`.
fn add<'a>(
    mut sum: Tests,
    counts: impl Iterator<Item = &'a str>,
    outcome: impl Fn(&str) -> Option<Outcome>,
) -> Tests {
    for (number, what) in counts.filter_map(|count| count.trim().split_once(' ')) {
        let number = number.parse::<u32>().map_or(0, u64::from);
        match outcome(what.trim()) {
            Some(Outcome::Passed) => sum.passed += number,
            Some(Outcome::Failed) => sum.failed += number,
            Some(Outcome::Skipped) => sum.skipped += number,
            None => {}
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn counts(report: Report, text: &str, expected: &str) {
        let said = count(report, text).map_or_else(|bad| bad.to_string(), |tests| tests.to_string());
        assert_eq!(said, expected, "{text}");
    }

    #[test]
    fn junit_is_counted_by_its_cases() {
        let report = r#"<?xml version="1.0"?>
            <testsuites tests="999"><testsuite name="a">
              <testcase name="one"/>
              <testcase name="two"><system-out>&lt;failure/></system-out></testcase>
              <testcase name="three"><failure message="no">why</failure><error/></testcase>
              <testcase name="four"><error/></testcase>
              <testcase name="five"><skipped/></testcase>
            </testsuite></testsuites>"#;
        counts(Report::Junit, report, "2 passed, 2 failed, 1 skipped");
        counts(Report::Junit, "<testsuite/>", "0 passed, 0 failed, 0 skipped");
        counts(Report::Junit, "<html></html>", "it is no report of junit: it has no `testsuite`");
        counts(Report::Junit, "", "it is no report of junit: it has no `testsuite`");
        assert!(count(Report::Junit, "<testsuite><testcase></testsuite>").is_err());
        let bomb = r#"<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite><testcase>&b;</testcase></testsuite>"#;
        counts(Report::Junit, bomb, "1 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn cargo_is_summed_over_its_programs() {
        let report = "running 3 tests\ntest result: \u{1b}[32mok\u{1b}[0m. 3 passed; 0 failed; 1 ignored; 0 measured; 9 filtered out; finished in 0.00s\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured\n";
        counts(Report::Cargo, report, "4 passed, 2 failed, 1 skipped");
        counts(
            Report::Cargo,
            "error: could not compile",
            "it is no report of cargo: it has no line that begins with `test result:`",
        );
    }

    #[test]
    fn pytest_is_read_from_its_last_line() {
        counts(
            Report::Pytest,
            "5 passed in 1s\n==== 1 failed, 3 passed, 2 skipped, 1 xfailed, 4 warnings, 1 error in 0.12s (0:00:01) ====\n",
            "3 passed, 2 failed, 3 skipped",
        );
        counts(Report::Pytest, "3 passed in 0.01s", "3 passed, 0 failed, 0 skipped");
        counts(Report::Pytest, "=== no tests ran in 0.00s ===", "0 passed, 0 failed, 0 skipped");
        counts(
            Report::Pytest,
            "all good in 3s",
            "it is no report of pytest: it has no summary such as `3 passed in 0.12s`",
        );
    }

    #[test]
    fn tap_is_counted_with_what_its_plan_promised() {
        let report = "TAP version 13\n1..6\nok 1 - a\n    ok 1 - inside\nnot ok 2 - b\nok 3 # SKIP no network\nnot ok 4 x # TODO later\nok 5 - nr # 5\n";
        counts(Report::Tap, report, "2 passed, 2 failed, 2 skipped");
        counts(Report::Tap, "1..3\nok 1\nBail out! broken\n", "1 passed, 1 failed, 0 skipped");
        counts(Report::Tap, "okay\n", "it is no report of tap: it has no plan and no line such as `ok 1`");
        counts(Report::Tap, "1..99999999999999999999999\nok\n", "1 passed, 0 failed, 0 skipped");
    }
}
