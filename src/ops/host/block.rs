//! Texts of which a run of whole lines is ours: a marked part of a page for agents, and a table in a TOML file.

use super::{Standing, Trouble, serves};

const BEGIN: &str = "<!-- loopx:begin -->";
const END: &str = "<!-- loopx:end -->";
/// The table of the server.
const TABLE: [&str; 2] = ["mcp_servers", "loopx"];

/// The marked part of a page.
pub(super) mod page {
    use super::{BEGIN, END, Standing, Trouble, put, taken_out};

    pub(in super::super) fn standing(text: &str, block: &str) -> Result<Standing, Trouble> {
        Ok(match place(text)? {
            None => Standing::Absent,
            Some((from, to)) if text[from..to].replace("\r\n", "\n").trim_end() == block.trim_end() => {
                Standing::Intact
            }
            Some(_) => Standing::Changed,
        })
    }

    pub(in super::super) fn install(text: &str, block: &str) -> Result<String, Trouble> {
        Ok(put(text, block, place(text)?))
    }

    pub(in super::super) fn remove(text: &str) -> Result<Vec<Option<String>>, Trouble> {
        Ok(place(text)?.map_or_else(|| vec![Some(text.to_owned())], |place| taken_out(text, place)))
    }

    fn place(text: &str) -> Result<Option<(usize, usize)>, Trouble> {
        let (begins, ends) = (text.matches(BEGIN).count(), text.matches(END).count());
        match (text.find(BEGIN), text.find(END), begins, ends) {
            (None, None, ..) => Ok(None),
            (Some(from), Some(end), 1, 1) if from < end => {
                let end = end + END.len();
                Ok(Some((from, text[end..].find('\n').map_or(text.len(), |line| end + line + 1))))
            }
            _ => Err(Trouble::Unparsable(format!("one `{BEGIN}` and one `{END}` behind it were expected"))),
        }
    }
}

/// The table of our server in a TOML file.
pub(super) mod table {
    use super::{Standing, TABLE, Trouble, put, serves, taken_out};

    pub(in super::super) fn standing(text: &str) -> Result<Standing, Trouble> {
        // However the user has it run, and whatever they said beside it.
        let is_there = server(&parse(text)?).is_some_and(is_ours);
        Ok(if is_there { Standing::Intact } else { Standing::Absent })
    }

    pub(in super::super) fn install(text: &str, block: &str) -> Result<String, Trouble> {
        let before = parse(text)?;
        match server(&before) {
            Some(present) if is_ours(present) => return Ok(text.to_owned()),
            Some(_) => return Err(Trouble::Taken(TABLE.join("."))),
            None => {}
        }
        let new = put(text, block, None);
        // What cannot be added as lines of its own, such as to a table that is written in one line, is not guessed at.
        match parse(&new) {
            Ok(after) if without(after.clone()) == without(before) && server(&after).is_some() => Ok(new),
            _ => Err(Trouble::shape(&[TABLE[0].to_owned()], "not written as tables of its own")),
        }
    }

    pub(in super::super) fn remove(text: &str) -> Result<Vec<Option<String>>, Trouble> {
        let before = parse(text)?;
        match server(&before) {
            Some(present) if is_ours(present) => {}
            _ => return Ok(vec![Some(text.to_owned())]),
        }
        let is_whole = |candidate: &Option<String>| {
            let text = candidate.as_deref().unwrap_or_default();
            parse(text).is_ok_and(|after| without(after) == without(before.clone()))
        };
        let candidates = taken_out(text, place(text)?).into_iter();
        let candidates: Vec<_> = candidates.filter(is_whole).collect();
        match candidates.is_empty() {
            false => Ok(candidates),
            true => Err(Trouble::shape(&[TABLE[0].to_owned()], "not written as tables of its own")),
        }
    }

    /// The lines of our table and of those below it, which come one after the other.
    fn place(text: &str) -> Result<(usize, usize), Trouble> {
        let is_ours = |line: &str| {
            let name = line.trim_start().trim_start_matches('[').trim_start();
            let name: String =
                name.chars().take_while(|c| *c != ']').filter(|c| !" \t\"'".contains(*c)).collect();
            let ours = TABLE.join(".");
            name == ours || name.starts_with(&format!("{ours}."))
        };
        let mut found = None;
        let (mut at, mut within, mut said) = (0, false, 0);
        for line in text.split_inclusive('\n') {
            if line.trim_start().starts_with('[') {
                within = is_ours(line);
                found = found.or(within.then_some(at));
            }
            at += line.len();
            let is_said = !matches!(line.trim_start().chars().next(), None | Some('#'));
            if within && is_said {
                said = at;
            }
        }
        found
            .map(|from| (from, said))
            .ok_or_else(|| Trouble::shape(&[TABLE[0].to_owned()], "not written as tables of its own"))
    }

    fn parse(text: &str) -> Result<toml::Table, Trouble> {
        let first = |error: toml::de::Error| error.to_string().lines().next().unwrap_or_default().to_owned();
        text.parse().map_err(|error| Trouble::Unparsable(first(error)))
    }

    fn server(table: &toml::Table) -> Option<&toml::Value> {
        table.get(TABLE[0])?.get(TABLE[1])
    }

    fn is_ours(server: &toml::Value) -> bool {
        serde_json::to_value(server).is_ok_and(|server| serves(&server))
    }

    /// Everything else in the file.
    fn without(mut table: toml::Table) -> toml::Table {
        if let Some(servers) = table.get_mut(TABLE[0]).and_then(toml::Value::as_table_mut) {
            servers.remove(TABLE[1]);
            if servers.is_empty() {
                table.remove(TABLE[0]);
            }
        }
        table
    }
}

/// The text with `block` in `place`, or at its end with a line between.
fn put(text: &str, block: &str, place: Option<(usize, usize)>) -> String {
    // One that ends with half a line end of Windows gets the other half from us, and is read as one of those from then on.
    let newline = if text.contains("\r\n") || text.ends_with('\r') { "\r\n" } else { "\n" };
    let block = block.replace('\n', newline);
    match place {
        Some((from, to)) => format!("{}{block}{}", &text[..from], &text[to..]),
        None if text.is_empty() => block,
        None if text.ends_with('\n') => format!("{text}{newline}{block}"),
        None => format!("{text}{newline}{newline}{block}"),
    }
}

/// What the text may have been before `put`, the likeliest first.
fn taken_out(text: &str, (from, to): (usize, usize)) -> Vec<Option<String>> {
    let (before, after) = (&text[..from], &text[to..]);
    let line =
        |text: &str| text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text).to_owned());
    let once = line(before).unwrap_or_else(|| before.to_owned());
    let twice = line(&once).unwrap_or_else(|| once.clone());
    let mut candidates = vec![once, twice, before.to_owned()].into_iter();
    let mut found: Vec<Option<String>> = Vec::new();
    if before.is_empty() && after.is_empty() {
        found.push(None);
    }
    found.extend(candidates.by_ref().map(|before| Some(before + after)));
    found
}
