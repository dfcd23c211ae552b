use std::{fmt::Write as _, path::PathBuf};

use clap::builder::PossibleValuesParser;

use super::{Said, history::Since};
use crate::{
    domain::text::shown,
    error::{Error, Kind},
    ops::{
        self, Ctx,
        report::{Day, Report},
    },
    text::Count,
};

#[derive(Debug, clap::Args)]
pub(super) struct ReportArgs {
    /// From when on: `7d`, `90m`, a day such as `2026-11-30` (in UTC), or a time such as `2026-11-30T12:00:00Z`
    #[arg(long, value_name = "WHEN", default_value = "7d")]
    since: Since,
    /// How it is written
    #[arg(long, default_value = "md", value_parser = PossibleValuesParser::new(["md", "html", "json"]))]
    format: String,
    /// Write it to this file instead of printing it; a file of that name is replaced
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl ReportArgs {
    pub(super) fn run(self, ctx: &Ctx, json: bool) -> Result<Said, Error> {
        let report = ops::report::report(ctx, self.since.at(ctx.now))?;
        let said = Said::read(&report, String::new());
        let text = match self.format.as_str() {
            "html" => html(&report),
            "json" => format!("{}\n", said.json),
            _ => markdown(&report),
        };
        let Some(out) = self.out else { return Ok(Said { text, ..said }) };
        let file = ctx.cwd.join(&out);
        let named = shown(&out.to_string_lossy(), 200);
        let document = if json { format!("{}\n", said.json) } else { text };
        std::fs::write(&file, document).map_err(|error| {
            Error::new(Kind::Environment, format!("the report cannot be written to `{named}`: {error}"))
                .hint("choose another `--out`")
        })?;
        Ok(Said { text: format!("wrote {named}\n"), ..said })
    }
}

/// So many lines of a kind are in a report for people; the rest is counted.
const MOST: usize = 100;

/// A section: heading, names of columns, rows. The same for both ways of writing.
struct Section {
    heading: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<String>>,
    /// How many came before the first of the rows.
    before: usize,
    /// What is said when there is nothing.
    none: &'static str,
}

fn sections(report: &Report) -> Vec<Section> {
    let line = |note: &Option<crate::domain::text::Note>| {
        note.as_ref().map(|note| note.as_str().replace('\n', " ")).unwrap_or_default()
    };
    let goals = report.goals.iter().map(|goal| {
        let (done, open, slots) = (goal.done.to_string(), goal.open.to_string(), goal.slots.to_string());
        vec![goal.id.to_string(), goal.objective.to_string(), goal.state.into(), done, open, slots]
    });
    let outcomes = report.outcomes.iter().map(|outcome| {
        let (by, title) = (outcome.by.name().to_owned(), outcome.title.to_string());
        vec![outcome.at.day(), outcome.todo.to_string(), title, outcome.state.into(), by, line(&outcome.note)]
    });
    let decisions = report.decisions.iter().map(|decision| {
        let waited = decision.waited_seconds.map(|waited| waited.to_string()).unwrap_or_default();
        let commit =
            decision.commit.as_deref().map(|commit| format!(" ({})", &commit[..commit.len().min(10)]));
        let answer = decision.decision.clone() + &commit.unwrap_or_default();
        let (question, by) = (decision.question.to_string(), decision.by.clone());
        vec![decision.at.day(), decision.gate.to_string(), question, answer, by, waited, line(&decision.note)]
    });
    let questions = report.questions.iter().map(|question| {
        let state = match (question.standing, question.rejected) {
            (true, _) => "standing",
            (false, true) => "rejected",
            (false, false) => "open",
        };
        let (asked, by) = (question.question.to_string(), question.asked_by.name().to_owned());
        let waits = question.at.age(report.until).to_string();
        vec![question.gate.to_string(), asked, state.into(), by, waits]
    });
    let evidence = report.evidence.iter().map(|seen| {
        let about = seen.about.clone().unwrap_or_else(|| seen.goal.to_string());
        let by = seen.by.name().to_owned();
        vec![seen.at.day(), seen.id.to_string(), about, seen.kind.into(), seen.says.clone(), by]
    });
    let bypasses = report.bypasses.iter().map(|round| {
        let state = if round.acknowledged { "acknowledged" } else { "open" };
        vec![round.at.day(), round.id.to_string(), round.remote.clone(), round.ref_.clone(), state.into()]
    });
    let agents = report.spend.agents.iter().map(|(agent, slots)| vec![agent.clone(), slots.to_string()]);
    let section = |heading, columns, mut rows: Vec<_>, left_out, none| {
        let too_many = rows.len().saturating_sub(MOST);
        rows.drain(..too_many);
        Section { heading, columns, rows, before: too_many + left_out, none }
    };
    let left_out = &report.left_out;
    vec![
        section(
            "Goals",
            &["goal", "objective", "state", "done", "open", "slots"],
            goals.collect(),
            0,
            "There is no goal.",
        ),
        section(
            "Open questions",
            &["gate", "question", "state", "asked by", "waits for"],
            questions.collect(),
            0,
            "Nothing waits for an answer.",
        ),
        section(
            "Outcomes",
            &["day", "todo", "title", "state", "by", "note"],
            outcomes.collect(),
            left_out.outcomes,
            "Nothing was finished.",
        ),
        section(
            "Decisions",
            &["day", "gate", "question", "answer", "by", "waited", "reason"],
            decisions.collect(),
            left_out.decisions,
            "Nothing was decided.",
        ),
        section("Spend", &["by", "slots"], agents.collect(), 0, "No slot was used."),
        section(
            "Evidence",
            &["day", "id", "about", "kind", "what", "by"],
            evidence.collect(),
            left_out.evidence,
            "No evidence was added.",
        ),
        section(
            "Pushes round the hook",
            &["day", "id", "remote", "ref", "state"],
            bypasses.collect(),
            left_out.bypasses,
            "None was noticed.",
        ),
    ]
}

/// The time it is about and what it came to, in two sentences.
fn summary(report: &Report) -> [String; 2] {
    let done = report.goals.iter().map(|goal| goal.done).sum();
    let waiting = report.questions.iter().filter(|question| !question.rejected && !question.standing).count();
    let spend = &report.spend;
    let slots = Count(usize::try_from(spend.slots).unwrap_or(usize::MAX), "slot");
    [
        format!("From {} to {}, state {}.", report.since, report.until, &report.tip[..10]),
        format!(
            "{} done, {} made, {} open, {slots} used in {}, {} of evidence.",
            Count(done, "todo"),
            Count(report.decisions.len() + report.left_out.decisions, "decision"),
            Count(waiting, "question"),
            Count(spend.turns, "turn"),
            Count(report.evidence.len() + report.left_out.evidence, "piece")
        ),
    ]
}

fn markdown(report: &Report) -> String {
    let [time, sum] = summary(report);
    let mut text = format!("# Report\n\n{time}\n\n{sum}\n");
    for Section { heading, columns, rows, before, none } in sections(report) {
        text.push_str(&format!("\n## {heading}\n\n"));
        if rows.is_empty() {
            text.push_str(&format!("{none}\n"));
            continue;
        }
        text.push_str(&format!("| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len())));
        for row in &rows {
            let cells: Vec<String> = row.iter().map(|cell| escaped_in_markdown(cell)).collect();
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        if before > 0 {
            text.push_str(&format!("\nand {before} before these\n"));
        }
    }
    text
}

/// What a text typed by somebody is in a table of Markdown: itself, whatever is in it.
pub(super) fn escaped_in_markdown(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '\t' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '|' | '#' | '!' | '~' | '$' | '@' => {
                out.push('\\');
                out.push(character);
            }
            _ => out.push(character),
        }
    }
    out
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3em .6em;border-bottom:1px solid #ddd;overflow-wrap:anywhere}\
th{font-weight:600;white-space:nowrap}svg{max-width:100%;height:auto}p.none{color:#777}";

/// One file that needs nothing else: no script, no picture, no font from elsewhere, and a policy that would forbid it.
fn html(report: &Report) -> String {
    let [time, sum] = summary(report).map(|sentence| escaped_in_html(&sentence));
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Report</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>Report</h1>\n<p>{time}</p>\n<p>{sum}</p>\n"
    );
    for Section { heading, columns, rows, before, none } in sections(report) {
        text.push_str(&format!("<h2>{heading}</h2>\n"));
        if heading == "Spend" && report.spend.slots > 0 {
            text.push_str(&chart(&report.spend.days));
        }
        if rows.is_empty() {
            text.push_str(&format!("<p class=\"none\">{none}</p>\n"));
            continue;
        }
        let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
            let cells = cells.map(|cell| format!("<{tag}>{}</{tag}>", escaped_in_html(cell)));
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        text.push_str(&format!("<table>\n{}", cells("th", &mut columns.iter().copied())));
        for row in &rows {
            text.push_str(&cells("td", &mut row.iter().map(String::as_str)));
        }
        text.push_str("</table>\n");
        if before > 0 {
            text.push_str(&format!("<p>and {before} before these</p>\n"));
        }
    }
    text + "</body>\n</html>\n"
}

fn escaped_in_html(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(character),
        }
    }
    out
}

/// So many bars fit; of more days several share one.
const BARS: usize = 60;

/// Slots by the day as bars. Made by hand: this is all that a report draws, and a crate that plots drags in fonts and images.
fn chart(days: &[Day]) -> String {
    const WIDTH: usize = 720;
    const HEIGHT: u32 = 120;
    let together = days.len().div_ceil(BARS).max(1);
    let bars: Vec<(&str, u32)> = days
        .chunks(together)
        .map(|days| (days[0].day.as_str(), days.iter().map(|day| day.slots).sum()))
        .collect();
    let most = bars.iter().map(|(_, slots)| *slots).max().unwrap_or(0).max(1);
    let step = WIDTH / bars.len().max(1);
    let unit = if together == 1 { "day".to_owned() } else { format!("{together} days") };
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"slots used per {unit}\">\n",
        HEIGHT + 20
    );
    for (number, (day, slots)) in bars.iter().enumerate() {
        let height = u64::from(*slots) * u64::from(HEIGHT) / u64::from(most);
        let (x, y, wide) = (number * step, u64::from(HEIGHT) - height, step.saturating_sub(2).max(1));
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{height}\" fill=\"#47a\"><title>{day}: {slots}</title></rect>"
        );
    }
    let (first, last) = (bars.first().map_or("", |bar| bar.0), bars.last().map_or("", |bar| bar.0));
    let base = HEIGHT + 15;
    let _ = writeln!(svg, "<text x=\"0\" y=\"{base}\" font-size=\"12\">{first}</text>");
    let _ = writeln!(
        svg,
        "<text x=\"{WIDTH}\" y=\"{base}\" font-size=\"12\" text-anchor=\"end\">{last}, at most {most} per {unit}</text>"
    );
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_stays_text() {
        assert_eq!(
            escaped_in_html(r#"<script>alert("x")</script>&'"#),
            "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;"
        );
        assert_eq!(
            escaped_in_markdown("a | b\n![x](y) <img> `c` \\"),
            r"a \| b \!\[x\]\(y\) &lt;img&gt; \`c\` \\"
        );
    }

    #[test]
    fn a_chart_fits_whatever_the_time_is() {
        for count in [1, 7, 61, 400] {
            let days: Vec<Day> =
                (0..count).map(|day| Day { day: format!("day {day}"), slots: u32::MAX / 1_000 }).collect();
            let svg = chart(&days);
            assert!(svg.matches("<rect").count() <= BARS, "{count}");
            assert!(svg.ends_with("</svg>\n"));
        }
    }
}
