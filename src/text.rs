//! How things are said: counts, lists, ages, columns.

use std::fmt;

use crate::domain::{
    gate::{Act, Gate},
    id::GateId,
    push::{Carried, Reason},
    text::shown,
    time::{Seconds, Timestamp},
};

/// A number with its noun: `1 todo`, `2 todos`.
#[derive(Debug, Clone, Copy)]
pub struct Count(pub usize, pub &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number, noun) = self;
        write!(f, "{number} {noun}{}", if *number == 1 { "" } else { "s" })
    }
}

/// How long ago: `2 h ago`, `just now`.
#[derive(Debug, Clone, Copy)]
pub struct Ago(pub Seconds);

impl fmt::Display for Ago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.0 {
            0..=4 => f.write_str("just now"),
            _ => write!(f, "{} ago", self.0),
        }
    }
}

/// The command that answers a gate, with what else may be said: `` `… --decision approve` (or `reject`) ``.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a, C>(pub &'a GateId, pub &'a [C]);

impl<C: fmt::Display> fmt::Display for Answer<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(gate, answers) = self;
        let Some((first, rest)) = answers.split_first() else {
            return write!(f, "`loopx gate resolve {gate}`");
        };
        write!(f, "`loopx gate resolve {gate} --decision {first}`")?;
        if rest.is_empty() {
            return Ok(());
        }
        let rest: Vec<_> = rest.iter().map(|answer| format!("`{answer}`")).collect();
        write!(f, " (or {})", rest.join(", "))
    }
}

/// A line that somebody typed, as code in Markdown: nothing of it is read as anything else, and it ends where it ends.
#[derive(Debug, Clone, Copy)]
pub struct Code<'a>(pub &'a str);

impl fmt::Display for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0;
        let runs = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
        let fence = "`".repeat(runs + 1);
        let is_blank = text.chars().all(|c| c == ' ');
        let loses = text.starts_with(' ') && text.ends_with(' ') && !is_blank;
        match loses || text.starts_with('`') || text.ends_with('`') {
            true => write!(f, "{fence} {text} {fence}"),
            false => write!(f, "{fence}{text}{fence}"),
        }
    }
}

/// A text of several lines that somebody typed, each set in by four blanks: code in Markdown, which no line of it can end.
#[derive(Debug, Clone, Copy)]
pub struct SetIn<'a>(pub &'a str);

impl fmt::Display for SetIn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.0.lines() {
            match line.trim().is_empty() {
                true => writeln!(f)?,
                false => writeln!(f, "    {line}")?,
            }
        }
        Ok(())
    }
}

/// Why something must not leave the machine at a time: every reason, with who asked and how long ago, and the command that
/// answers the oldest question.
#[derive(Debug, Clone, Copy)]
pub struct Held<'a>(pub Act, pub &'a [Reason], pub Timestamp);

impl fmt::Display for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(act, reasons, now) = self;
        let act = act.word();
        let mut gates: Vec<(&GateId, &Gate, Option<&String>)> = Vec::new();
        for reason in *reasons {
            match reason {
                Reason::Carries { what: Carried::State, local, remote } => writeln!(
                    f,
                    "loopx: {act} refused: `{}` would take loopx's own state to `{}`\n\
                     hint: push the branches you mean by name, such as `git push origin main`",
                    shown(local, 200),
                    shown(remote, 200)
                )?,
                Reason::Carries { what: Carried::Within(brought), local, remote } => writeln!(
                    f,
                    "loopx: {act} refused: `{}` would take loopx's own state to `{}`: commit {} brought it in\n\
                     hint: on that branch, take it out with `{}`; reverting it is not enough, the history would still have it",
                    shown(local, 200),
                    shown(remote, 200),
                    brought.commit.get(..10).unwrap_or(&brought.commit),
                    shown(&brought.cure(local), 300)
                )?,
                Reason::Carries { what: Carried::Folder, local, remote } => writeln!(
                    f,
                    "loopx: {act} refused: `{}` has a commit with the folder `.loopx` in it, which would go to `{}`\n\
                     hint: take it out with `git rm -r --cached .loopx` and `git commit --amend`, or with `git rebase -i`",
                    shown(local, 200),
                    shown(remote, 200)
                )?,
                Reason::Unchecked { what, tree } => writeln!(
                    f,
                    "loopx: {act} refused: nothing shows that {} was checked (tree {})\n\
                     hint: check exactly these files with `loopx evidence run --receipt -- <command>`",
                    shown(what, 200),
                    shown(tree.get(..10).unwrap_or(tree), 10)
                )?,
                Reason::Gate { id, gate, commit, .. } => gates.push((id, gate, commit.as_ref())),
            }
        }
        let Some((first, gate, commit)) = gates.first() else { return Ok(()) };
        let mut table = Table::default();
        for (id, gate, commit) in &gates {
            let asked = format!("asked by {}, {}", gate.asked.by.name(), Ago(gate.asked.at.age(*now)));
            let answer = match commit {
                Some(commit) => format!("no yes to {}", &commit[..10]),
                None if gate.bind().is_some() => "no yes to what this is made from".to_owned(),
                None if gate.is_rejected() => "rejected".to_owned(),
                None => "open".to_owned(),
            };
            table.row([id, &answer, &format!("\"{}\"", gate.question), &asked]);
        }
        let stand = if gates.len() == 1 { "stands" } else { "stand" };
        writeln!(f, "loopx: {act} refused: {} {stand} in its way", Count(gates.len(), "gate"))?;
        write!(f, "{table}hint: a person answers with {}", Answer(first, &gate.answers()))?;
        match commit {
            Some(commit) => writeln!(f, ", with `--commit {}`", &commit[..10]),
            None => writeln!(f),
        }
    }
}

/// Cells in columns, two spaces apart; the last column is not padded.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [&dyn fmt::Display; N]) {
        self.rows.push(cells.iter().map(ToString::to_string).collect());
    }
}

/// Columns of a terminal that nobody made wider.
pub const SCREEN: usize = 80;

/// A line that fits into the columns of a screen: what is too much of it gives way to `…`.
pub fn fitted(line: &str) -> String {
    match line.char_indices().nth(SCREEN) {
        None => line.to_owned(),
        Some(_) => {
            let kept: String = line.chars().take(SCREEN - 1).collect();
            format!("{}…", kept.trim_end())
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::from("  ");
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(&format!("{cell:width$}  "));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ages_are_said_as_people_do() {
        assert_eq!(Count(1, "gate").to_string(), "1 gate");
        assert_eq!(Count(0, "gate").to_string(), "0 gates");
        assert_eq!(Ago(Seconds(3)).to_string(), "just now");
        assert_eq!(Ago(Seconds(7_260)).to_string(), "2 h 1 min ago");
    }

    #[test]
    fn what_was_typed_stays_in_its_place() {
        for (text, code) in [
            ("plain", "`plain`"),
            ("# <b>[x](y)</b> @all", "`# <b>[x](y)</b> @all`"),
            ("a `b` c", "``a `b` c``"),
            ("`b", "`` `b ``"),
            ("``` x", "```` ``` x ````"),
            (" x ", "`  x  `"),
        ] {
            assert_eq!(Code(text).to_string(), code);
        }
        assert_eq!(SetIn("# one\n\n\t```\n## two").to_string(), "    # one\n\n    \t```\n    ## two\n");
    }

    #[test]
    fn a_line_fits_into_a_screen() {
        let whole = "x".repeat(SCREEN);
        assert_eq!(fitted(&whole), whole);
        assert_eq!(fitted(&format!("{whole}y")), format!("{}…", "x".repeat(SCREEN - 1)));
        assert_eq!(fitted(&"ü ".repeat(80)).chars().count(), SCREEN);
    }

    #[test]
    fn columns_line_up_and_leave_no_trailing_space() {
        let mut table = Table::default();
        table.row([&"t-1", &"p0", &""]);
        table.row([&"t-222", &"p1", &"x"]);
        assert_eq!(table.to_string(), "  t-1    p0\n  t-222  p1  x\n");
    }
}
