//! What had no counterpart, and what was done with it.

use serde::Serialize;

use crate::domain::{secret, text::shown};

/// The field is a line of the body.
pub(super) const KEPT: &str = "kept in the text";
/// The field is gone.
pub(super) const LEFT: &str = "left out";

/// So many different things are told apart, and of each so many items are named.
const LINES: usize = 40;
const NAMED: usize = 5;

/// One thing that happened to a field, and to how many items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    pub field: String,
    /// What was done with it.
    pub fate: &'static str,
    pub count: usize,
    /// The first of the items, as the source calls them.
    pub items: Vec<String>,
}

/// A list of such lines, in the order in which they came up. However much there is to say, it stays short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Report {
    lines: Vec<Line>,
}

impl Report {
    /// Says what happened to a field of an item.
    pub fn say(&mut self, item: &str, field: &str, fate: &'static str) {
        let field = shown(field, 40);
        let item = shown(&secret::clean(item), 60);
        let is_same = |line: &&mut Line| line.field == field && line.fate == fate;
        if let Some(line) = self.lines.iter_mut().find(is_same) {
            line.count += 1;
            if line.items.len() < NAMED {
                line.items.push(item);
            }
            return;
        }
        if self.lines.len() >= LINES && field != OTHERS {
            return self.say(&item, OTHERS, fate);
        }
        self.lines.push(Line { field, fate, count: 1, items: vec![item] });
    }

    /// The lines.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}

/// The field of the lines that were too many.
const OTHERS: &str = "(others)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_short_whatever_there_is_to_say() {
        let mut report = Report::default();
        for number in 0..10_000 {
            report.say(&format!("bd-{number}"), &format!("field-{number}"), KEPT);
            report.say(&format!("bd-{number}"), "labels\u{1b}", LEFT);
        }
        assert_eq!(report.lines().len(), LINES + 1);
        assert_eq!(report.lines()[1].field, "labels\\u{1b}");
        assert_eq!(report.lines()[1].items, ["bd-0", "bd-1", "bd-2", "bd-3", "bd-4"]);
        assert_eq!(report.lines().iter().map(|line| line.count).sum::<usize>(), 20_000);
    }
}
