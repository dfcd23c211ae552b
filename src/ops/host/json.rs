//! JSON and JSON with comments: our hooks and our server are put into a text, and taken out of it, by edits of that text alone.
//! Everything else in it, its order, comments, indentation and line ends, is never written anew.
//!
//! What is ours comes from a template. An element of an array in it is a hook, known again by the command that it runs; a member
//! called `loopx` is a server, known again by the same. Numbers and texts beside them are a frame that only a new file gets.

use jsonc_parser::{CollectOptions, ParseOptions, ast::Value, parse_to_ast};

use super::{LOOP, Standing, Trouble, asks, serves};

/// Our member of the objects that list servers.
const SERVER: &str = "loopx";
/// The list of handlers in a group of hooks.
const HANDLERS: &str = "hooks";

/// A value and where it stands in its text.
#[derive(Debug)]
struct Node {
    start: usize,
    end: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar,
}

#[derive(Debug)]
struct Member {
    start: usize,
    key: String,
    node: Node,
}

/// One thing of ours in a template.
struct Unit<'t> {
    /// The keys that lead to it.
    path: Vec<String>,
    /// It is an element of the array there, and not the value there.
    is_element: bool,
    node: &'t Node,
}

/// How a text is laid out.
struct Style {
    unit: String,
    newline: &'static str,
}

/// Whose hooks are meant, and what ours look like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ours<'t> {
    pub(super) host: &'t str,
    pub(super) templates: &'t [&'t str],
}

/// What is there of ours.
pub(super) fn standing(text: &str, ours: Ours<'_>) -> Result<Standing, Trouble> {
    let text = without_mark(text).1;
    let root = parse(text)?;
    let (mut servers, mut intact, mut wanted) = (0, 0, 0);
    for template in ours.templates {
        let parsed = parse(template)?;
        for unit in units(&parsed) {
            wanted += 1;
            let Some(node) = find(&root, &unit.path)? else { continue };
            let serves = !unit.is_element && serves(&value(text, node));
            let is_hook =
                || elements(node).iter().any(|element| as_wanted(text, element, template, &unit, ours.host));
            servers += usize::from(serves);
            intact += usize::from(serves || unit.is_element && is_hook());
        }
    }
    Ok(match handlers(text, &root, ours.host) + servers {
        0 => Standing::Absent,
        all if all == wanted && intact == wanted => Standing::Intact,
        _ => Standing::Changed,
    })
}

/// Whether an element is the hook of the template, or a group of the user's with that hook in it.
fn as_wanted(text: &str, element: &Node, template: &str, unit: &Unit<'_>, host: &str) -> bool {
    if pure(text, element, host) {
        return is_same(value(text, element), value(template, unit.node));
    }
    match (handler(text, element, host), handler(template, unit.node, host)) {
        (Some(present), Some(wanted)) => is_same(value(text, present), value(template, wanted)),
        _ => false,
    }
}

/// The text with everything of ours in it as the templates have it.
pub(super) fn install(text: &str, ours: Ours<'_>) -> Result<String, Trouble> {
    let (mark, text) = without_mark(text);
    let parsed: Vec<Node> = ours.templates.iter().map(|text| parse(text)).collect::<Result<_, _>>()?;
    let keeps = paths(&parsed, true);
    let earlier = Sweep { host: ours.host, servers: &[], keeps: &keeps };
    let mut text = text.to_owned();
    while let Some((next, _)) = earlier.step(&text, &parse(&text)?, &[]) {
        text = next;
    }
    for (template, parsed) in ours.templates.iter().zip(&parsed) {
        for unit in units(parsed) {
            text = ensure(&text, template, &unit, ours.host)?;
        }
    }
    Ok(format!("{mark}{text}"))
}

/// What the text may have been before anything of ours came into it, the likeliest first; none for no file at all.
pub(super) fn remove(text: &str, ours: Ours<'_>) -> Result<Vec<Option<String>>, Trouble> {
    let (mark, text) = without_mark(text);
    let parsed: Vec<Node> = ours.templates.iter().map(|text| parse(text)).collect::<Result<_, _>>()?;
    let servers = paths(&parsed, false);
    let all = Sweep { host: ours.host, servers: &servers, keeps: &[] };
    let mut text = text.to_owned();
    let mut emptied: Vec<Vec<String>> = Vec::new();
    while let Some((next, path)) = all.step(&text, &parse(&text)?, &[]) {
        text = next;
        let ancestors = (1..=path.len()).map(|depth| path[..depth].to_vec());
        emptied.extend(ancestors);
    }
    emptied.sort_by_key(|path| std::cmp::Reverse(path.len()));
    let mut containers: Vec<Vec<String>> = Vec::new();
    for path in emptied {
        if !containers.contains(&path) {
            containers.push(path);
        }
    }
    let mut found: Vec<Option<String>> = Vec::new();
    let mut add = |candidate: Option<String>| {
        if !found.contains(&candidate) {
            found.push(candidate);
        }
    };
    // What was an empty list before ours came into it, and what came with it, look the same. One of these is what was there.
    for kept in 0..1_u32 << containers.len().min(10) {
        for inside in Inside::ALL {
            let mut text = text.clone();
            for (at, path) in containers.iter().enumerate() {
                let root = parse(&text)?;
                match find(&root, path)? {
                    Some(node) if is_empty(&text, node) && kept >> at.min(31) & 1 == 1 => {
                        text = inside.fill(&text, node);
                    }
                    Some(node) if is_empty(&text, node) => text = drop_member(&text, &root, path)?,
                    Some(_) | None => {}
                }
            }
            let root = parse(&text)?;
            if only_frame(&text, &root, ours)? {
                add(None);
            }
            if is_empty(&text, &root) {
                text = inside.fill(&text, &root);
            }
            add(Some(format!("{mark}{text}")));
        }
    }
    Ok(found)
}

/// What stands between the brackets of an empty list.
#[derive(Debug, Clone, Copy)]
enum Inside {
    Nothing,
    Blank,
    Line,
}

impl Inside {
    const ALL: [Self; 3] = [Self::Nothing, Self::Blank, Self::Line];

    fn fill(self, text: &str, node: &Node) -> String {
        let inside = match self {
            Self::Nothing => String::new(),
            Self::Blank => " ".into(),
            Self::Line => format!("{}{}", newline(text), indent(text, node.start)),
        };
        format!("{}{inside}{}", &text[..node.start + 1], &text[node.end - 1..])
    }
}

/// What is taken out of a text, one thing a step.
struct Sweep<'a> {
    host: &'a str,
    /// The servers that go.
    servers: &'a [Vec<String>],
    /// The lists in which hooks stay.
    keeps: &'a [Vec<String>],
}

impl Sweep<'_> {
    /// Takes the first thing out. Returns the keys that lead to where it was.
    fn step(&self, text: &str, node: &Node, path: &[String]) -> Option<(String, Vec<String>)> {
        match &node.kind {
            Kind::Scalar => None,
            Kind::Array(elements) => elements.iter().enumerate().find_map(|(at, element)| {
                let goes = pure(text, element, self.host) && !self.keeps.iter().any(|kept| kept == path);
                match goes {
                    true => Some((take_out(text, node, at), path.to_vec())),
                    // A list of handlers in a group of the user's is found by the path of the group.
                    false => self.step(text, element, path),
                }
            }),
            Kind::Object(members) => members.iter().enumerate().find_map(|(at, member)| {
                let is_group = member.key == HANDLERS && !path.is_empty();
                let below = match is_group {
                    true => path.to_vec(),
                    false => [path, std::slice::from_ref(&member.key)].concat(),
                };
                match self.servers.contains(&below) && serves(&value(text, &member.node)) {
                    true => Some((take_out(text, node, at), path.to_vec())),
                    false => self.step(text, &member.node, &below),
                }
            }),
        }
    }
}

/// Puts one thing of ours in its place, or renews it.
fn ensure(text: &str, template: &str, unit: &Unit<'_>, host: &str) -> Result<String, Trouble> {
    let root = parse(text)?;
    let style = Style::of(text, &root);
    let mut node = &root;
    for (depth, key) in unit.path.iter().enumerate() {
        let Kind::Object(members) = &node.kind else {
            return Err(Trouble::shape(&unit.path[..depth], "no object"));
        };
        match only(members, key, &unit.path[..depth])? {
            Some(member) => node = &member.node,
            None => {
                let item = |base: &str, is_inline| {
                    wrapped(&unit.path[depth..], template, unit, &style, base, is_inline)
                };
                return Ok(insert(text, node, &style, &item));
            }
        }
    }
    let render = |base: &str, is_inline| render(template, unit.node, &style, base, is_inline);
    if !unit.is_element {
        // However the user has it run, and whatever they said beside it.
        return match serves(&value(text, node)) {
            true => Ok(text.to_owned()),
            false => Err(Trouble::Taken(unit.path.join("."))),
        };
    }
    let Kind::Array(elements) = &node.kind else { return Err(Trouble::shape(&unit.path, "no list")) };
    let hooks: Vec<usize> = (0..elements.len()).filter(|at| pure(text, &elements[*at], host)).collect();
    match hooks[..] {
        [.., again] if hooks.len() > 1 => ensure(&take_out(text, node, again), template, unit, host),
        [at] if is_same(value(text, &elements[at]), value(template, unit.node)) => Ok(text.to_owned()),
        [at] => Ok(replace(text, &elements[at], &render)),
        // In a group with others of the user's, the group stays as it is.
        _ => match elements.iter().find(|element| handlers(text, element, host) > 0) {
            Some(shared) => {
                let ours =
                    handler(text, shared, host).ok_or(Trouble::shape(&unit.path, "no list of hooks"))?;
                let new = handler(template, unit.node, host).unwrap_or(unit.node);
                match is_same(value(text, ours), value(template, new)) {
                    true => Ok(text.to_owned()),
                    false => Ok(replace(text, ours, &|base: &str, inline| {
                        self::render(template, new, &style, base, inline)
                    })),
                }
            }
            None => Ok(insert(text, node, &style, &render)),
        },
    }
}

/// The text without the child at `at` of a list, and without the comma that came with it. What is said in comments stays.
fn take_out(text: &str, list: &Node, at: usize) -> String {
    let places = children(list);
    let (start, end) = places[at];
    let from = at.checked_sub(1).map_or(list.start + 1, |before| places[before].1);
    let to = places.get(at + 1).map_or(list.end - 1, |next| next.0);
    let blank = from + text[from..start].trim_end().len();
    if let Some(comma) = comma(&text[end..to]) {
        let rest = format!("{}{}", &text[end..end + comma], &text[end + comma + 1..]);
        return format!("{}{}{rest}", &text[..blank], line_end(&text[from..blank], &rest));
    }
    let line_end = line_end(&text[from..blank], &text[end..]);
    match comma(&text[from..blank]) {
        Some(comma) => {
            let comma = from + comma;
            format!("{}{}{line_end}{}", &text[..comma], &text[comma + 1..blank], &text[end..])
        }
        None => format!("{}{line_end}{}", &text[..blank], &text[end..]),
    }
}

/// What keeps `rest` out of a comment that goes to the end of its line.
fn line_end(before: &str, rest: &str) -> &'static str {
    let is_in_comment =
        comments(before).any(|comment| comment.starts_with("//") && before.ends_with(comment));
    let ends = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    if is_in_comment && !ends { newline(before) } else { "" }
}

/// The text with one more child at the end of a list.
fn insert(text: &str, list: &Node, style: &Style, item: &dyn Fn(&str, bool) -> String) -> String {
    let newline = style.newline;
    let places = children(list);
    let base = indent(text, list.start);
    let inside = format!("{base}{}", style.unit);
    let Some((first, last)) = places.first().zip(places.last()) else {
        let between = &text[list.start + 1..list.end - 1];
        let said = between.trim_end();
        let (head, tail) = (&text[..list.start + 1], &text[list.end - 1..]);
        let item = item(&inside, false);
        return match said.is_empty() {
            true => format!("{head}{newline}{inside}{item}{newline}{base}{tail}"),
            false => format!("{head}{said}{newline}{inside}{item}{}{tail}", &between[said.len()..]),
        };
    };
    let (end, rest) = (last.1, &text[last.1..list.end - 1]);
    let comma = comma(rest);
    if !text[list.start..first.0].contains('\n') {
        let item = item(&inside, true);
        return match comma {
            None => format!("{}, {item}{}", &text[..end], &text[end..]),
            Some(comma) => {
                let after = end + comma + 1;
                format!("{} {item},{}", &text[..after], &text[after..])
            }
        };
    }
    let inside = indent(text, first.0);
    let item = item(inside, false);
    let after = end + rest.trim_end().len();
    match comma {
        None => format!("{},{}{newline}{inside}{item}{}", &text[..end], &text[end..after], &text[after..]),
        Some(_) => format!("{}{newline}{inside}{item},{}", &text[..after], &text[after..]),
    }
}

/// The text with another value in the place of one.
fn replace(text: &str, node: &Node, item: &dyn Fn(&str, bool) -> String) -> String {
    format!("{}{}{}", &text[..node.start], item(indent(text, node.start), false), &text[node.end..])
}

/// The text without the member that `path` leads to.
fn drop_member(text: &str, root: &Node, path: &[String]) -> Result<String, Trouble> {
    let Some((key, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let Some(Node { kind: Kind::Object(members), .. }) = find(root, above)? else {
        return Ok(text.to_owned());
    };
    let at = members.iter().position(|member| member.key == *key);
    let list = find(root, above)?;
    Ok(match (list, at) {
        (Some(list), Some(at)) => take_out(text, list, at),
        _ => text.to_owned(),
    })
}

/// Where the children of a list begin and end, members with their keys.
fn children(list: &Node) -> Vec<(usize, usize)> {
    match &list.kind {
        Kind::Object(members) => members.iter().map(|member| (member.start, member.node.end)).collect(),
        Kind::Array(elements) => elements.iter().map(|element| (element.start, element.end)).collect(),
        Kind::Scalar => Vec::new(),
    }
}

/// Where the comma is in what stands between two values.
fn comma(between: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = between.get(at..).filter(|rest| !rest.is_empty()) {
        at += match comment(rest) {
            Some(comment) => comment.len(),
            None if rest.starts_with(',') => return Some(at),
            None => rest.chars().next().map_or(1, char::len_utf8),
        };
    }
    None
}

/// The comments in what stands between two values.
fn comments(between: &str) -> impl Iterator<Item = &str> {
    let mut rest = between;
    std::iter::from_fn(move || {
        loop {
            if let Some(comment) = comment(rest) {
                rest = &rest[comment.len()..];
                return Some(comment);
            }
            let mut letters = rest.chars();
            letters.next()?;
            rest = letters.as_str();
        }
    })
}

/// The comment that a text begins with.
fn comment(text: &str) -> Option<&str> {
    let end = match text {
        _ if text.starts_with("//") => text.find('\n').unwrap_or(text.len()),
        _ if text.starts_with("/*") => text.find("*/").map_or(text.len(), |end| end + 2),
        _ => return None,
    };
    Some(&text[..end])
}

/// The keys that are not there yet, around what the last of them holds.
fn wrapped(
    keys: &[String],
    template: &str,
    unit: &Unit<'_>,
    style: &Style,
    base: &str,
    is_inline: bool,
) -> String {
    let Some((key, below)) = keys.split_first() else {
        let render = |base: &str| render(template, unit.node, style, base, is_inline);
        return match unit.is_element {
            true => style.list("[", &[render(&format!("{base}{}", style.unit))], "]", base, is_inline),
            false => render(base),
        };
    };
    let key = serde_json::Value::from(key.as_str());
    let value = match below {
        [] => wrapped(below, template, unit, style, base, is_inline),
        _ => {
            let member = wrapped(below, template, unit, style, &format!("{base}{}", style.unit), is_inline);
            style.list("{", &[member], "}", base, is_inline)
        }
    };
    format!("{key}: {value}")
}

/// A value of a template, laid out as the text around its new place is.
fn render(template: &str, node: &Node, style: &Style, base: &str, is_inline: bool) -> String {
    let inside = format!("{base}{}", style.unit);
    let below = |node: &Node| render(template, node, style, &inside, is_inline);
    match &node.kind {
        Kind::Scalar => template[node.start..node.end].to_owned(),
        Kind::Array(elements) => {
            let is_inline = is_inline || elements.iter().all(|element| matches!(element.kind, Kind::Scalar));
            style.list("[", &elements.iter().map(below).collect::<Vec<_>>(), "]", base, is_inline)
        }
        Kind::Object(members) => {
            let member = |member: &Member| {
                format!("{}: {}", serde_json::Value::from(member.key.as_str()), below(&member.node))
            };
            style.list("{", &members.iter().map(member).collect::<Vec<_>>(), "}", base, is_inline)
        }
    }
}

impl Style {
    /// As `text` is laid out: by what the first member of it that has a line of its own stands in from its left.
    fn of(text: &str, root: &Node) -> Self {
        let first = children(root).first().map(|place| place.0);
        let unit =
            first.filter(|first| text[root.start..*first].contains('\n')).map(|first| indent(text, first));
        let unit = unit.filter(|unit| !unit.is_empty()).unwrap_or("  ");
        Self { unit: unit.to_owned(), newline: newline(text) }
    }

    fn list(&self, open: &str, items: &[String], close: &str, base: &str, is_inline: bool) -> String {
        let newline = self.newline;
        match is_inline {
            true => format!("{open}{}{close}", items.join(", ")),
            false => {
                let inside = format!("{newline}{base}{}", self.unit);
                format!("{open}{inside}{}{newline}{base}{close}", items.join(&format!(",{inside}")))
            }
        }
    }
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The blanks at the beginning of the line in which `at` is.
fn indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The mark of byte order that some editors put at the front, and what follows it.
fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn parse(text: &str) -> Result<Node, Trouble> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| Trouble::Unparsable(error.to_string()))?;
    match parsed.value {
        Some(root @ Value::Object(_)) => Ok(node(root)),
        Some(_) => Err(Trouble::Unparsable("an object was expected".into())),
        None => Err(Trouble::Unparsable("it is empty, and an object was expected".into())),
    }
}

fn node(value: Value<'_>) -> Node {
    use jsonc_parser::common::Ranged as _;
    let range = value.range();
    let kind = match value {
        Value::Object(object) => Kind::Object(
            object
                .properties
                .into_iter()
                .map(|property| Member {
                    start: property.range.start,
                    key: property.name.into_string(),
                    node: node(property.value),
                })
                .collect(),
        ),
        Value::Array(array) => Kind::Array(array.elements.into_iter().map(node).collect()),
        Value::StringLit(_) | Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => {
            Kind::Scalar
        }
    };
    Node { start: range.start, end: range.end, kind }
}

/// What a node says.
fn value(text: &str, node: &Node) -> serde_json::Value {
    match &node.kind {
        // What is no plain JSON, such as a number out of bounds, is none of ours.
        Kind::Scalar => serde_json::from_str(&text[node.start..node.end]).unwrap_or_default(),
        Kind::Array(elements) => elements.iter().map(|element| value(text, element)).collect(),
        Kind::Object(members) => {
            members.iter().map(|member| (member.key.clone(), value(text, &member.node))).collect()
        }
    }
}

/// Whether a hook is the wanted one, told to send the agent on or not.
fn is_same(mut present: serde_json::Value, wanted: serde_json::Value) -> bool {
    fn plain(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) if text.ends_with(LOOP) => text.truncate(text.len() - LOOP.len()),
            serde_json::Value::Array(values) => values.iter_mut().for_each(plain),
            serde_json::Value::Object(members) => members.values_mut().for_each(plain),
            _ => {}
        }
    }
    plain(&mut present);
    present == wanted
}

/// Everything of ours in a template, in its order.
fn units(root: &Node) -> Vec<Unit<'_>> {
    fn below<'t>(node: &'t Node, path: &[String], found: &mut Vec<Unit<'t>>) {
        let Kind::Object(members) = &node.kind else { return };
        for member in members {
            let path = [path, std::slice::from_ref(&member.key)].concat();
            match &member.node.kind {
                _ if member.key == SERVER => found.push(Unit { path, is_element: false, node: &member.node }),
                Kind::Array(elements) => found.extend(elements.iter().map(|node| Unit {
                    path: path.clone(),
                    is_element: true,
                    node,
                })),
                Kind::Object(_) => below(&member.node, &path, found),
                Kind::Scalar => {}
            }
        }
    }
    let mut found = Vec::new();
    below(root, &[], &mut found);
    found
}

fn paths(templates: &[Node], of_elements: bool) -> Vec<Vec<String>> {
    let units = templates.iter().flat_map(units);
    units.filter(|unit| unit.is_element == of_elements).map(|unit| unit.path).collect()
}

/// The node that keys lead to.
fn find<'n>(root: &'n Node, path: &[String]) -> Result<Option<&'n Node>, Trouble> {
    let mut node = root;
    for (depth, key) in path.iter().enumerate() {
        let Kind::Object(members) = &node.kind else { return Ok(None) };
        match only(members, key, &path[..depth])? {
            Some(member) => node = &member.node,
            None => return Ok(None),
        }
    }
    Ok(Some(node))
}

/// The member called `key`. Of two, readers take one or the other.
fn only<'n>(members: &'n [Member], key: &str, path: &[String]) -> Result<Option<&'n Member>, Trouble> {
    let mut named = members.iter().filter(|member| member.key == key);
    match (named.next(), named.next()) {
        (found, None) => Ok(found),
        (_, Some(_)) => Err(Trouble::shape(&[path, &[key.to_owned()]].concat(), "there twice")),
    }
}

fn elements(node: &Node) -> &[Node] {
    match &node.kind {
        Kind::Array(elements) => elements,
        Kind::Object(_) | Kind::Scalar => &[],
    }
}

fn member<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    match &node.kind {
        Kind::Object(members) => members.iter().find(|member| member.key == key).map(|member| &member.node),
        Kind::Array(_) | Kind::Scalar => None,
    }
}

/// Whether an element is a hook of ours, or a group with no others in it.
fn pure(text: &str, element: &Node, host: &str) -> bool {
    asks(&value(text, element), host)
        || member(element, HANDLERS).is_some_and(|list| {
            let handlers = elements(list);
            !handlers.is_empty() && handlers.iter().all(|handler| asks(&value(text, handler), host))
        })
}

/// The first hook of ours in a node.
fn handler<'n>(text: &str, node: &'n Node, host: &str) -> Option<&'n Node> {
    match &node.kind {
        Kind::Scalar => None,
        Kind::Object(_) if asks(&value(text, node), host) => Some(node),
        Kind::Object(members) => members.iter().find_map(|member| handler(text, &member.node, host)),
        Kind::Array(elements) => elements.iter().find_map(|element| handler(text, element, host)),
    }
}

/// How many hooks of ours there are in a node.
fn handlers(text: &str, node: &Node, host: &str) -> usize {
    match &node.kind {
        Kind::Scalar => 0,
        Kind::Object(_) if asks(&value(text, node), host) => 1,
        Kind::Object(members) => members.iter().map(|member| handlers(text, &member.node, host)).sum(),
        Kind::Array(elements) => elements.iter().map(|element| handlers(text, element, host)).sum(),
    }
}

/// Whether a list has nothing in it, comments included.
fn is_empty(text: &str, node: &Node) -> bool {
    !matches!(node.kind, Kind::Scalar)
        && children(node).is_empty()
        && text[node.start + 1..node.end - 1].trim().is_empty()
}

/// Whether nothing is left but what a template has around what is ours.
fn only_frame(text: &str, root: &Node, ours: Ours<'_>) -> Result<bool, Trouble> {
    let mut frame = Vec::new();
    for template in ours.templates {
        let parsed = parse(template)?;
        if let Kind::Object(members) = parsed.kind {
            let scalars = members.iter().filter(|member| matches!(member.node.kind, Kind::Scalar));
            frame.extend(scalars.map(|member| (member.key.clone(), value(template, &member.node))));
        }
    }
    let Kind::Object(members) = &root.kind else { return Ok(false) };
    let outside = format!("{}{}", &text[..root.start], &text[root.end..]);
    let is_frame = |member: &Member| frame.contains(&(member.key.clone(), value(text, &member.node)));
    Ok(outside.trim().is_empty() && comments_free(text, root) && members.iter().all(is_frame))
}

/// Whether a list of plain values has no comment in it.
fn comments_free(text: &str, root: &Node) -> bool {
    let mut at = root.start + 1;
    let ends = children(root).into_iter().chain([(root.end - 1, root.end)]);
    ends.into_iter().all(|(start, end)| {
        let between = std::mem::replace(&mut at, end)..start;
        text[between].chars().all(|c| c == ',' || c.is_whitespace())
    })
}
