//! Text → simple commands, in the order in which a shell would come to them. Flat: what a `for`, an `if`, a function or a
//! subshell has in it counts as run.

use std::{collections::BTreeMap, rc::Rc};

use super::{DEEPEST, LONGEST, Place};

/// Most bytes of a variable's value, and of all that variables put into one text.
const LONGEST_VALUE: usize = 64 * 1024;
/// Most variables that are kept in mind.
const MOST_NAMES: usize = 256;
/// Most simple commands of a text.
const MOST_COMMANDS: usize = 8192;

/// Variables and their values.
pub(super) type Values = BTreeMap<String, Rc<Word>>;

/// A word after the expansions that are known. Where something is not known, its source stands in the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    pub(super) text: String,
    /// Something in it is not known: a variable, what a command prints, a pattern.
    pub(super) is_open: bool,
}

impl Word {
    pub(super) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), is_open: false }
    }
}

/// A simple command.
#[derive(Debug, Clone, Default)]
pub(super) struct Simple {
    /// `X=1` in front of it.
    pub(super) set: Vec<(String, Word)>,
    pub(super) words: Vec<Word>,
    /// Files that are written by `>` and its like.
    pub(super) writes: Vec<Word>,
    /// Files that are read by `<`.
    pub(super) reads: Vec<Word>,
    /// Here-documents and here-strings.
    pub(super) here: Vec<String>,
    /// The command before it in a pipe.
    pub(super) from: From,
    pub(super) place: Option<Place>,
    pub(super) exported: Rc<Values>,
}

/// What comes on standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum From {
    #[default]
    Nothing,
    /// What this command prints.
    Simple(usize),
    /// What several commands print.
    Several,
}

/// Variables whose values are known.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) values: Values,
    pub(super) exported: Rc<Values>,
}

/// What was read of a text.
#[derive(Debug, Default)]
pub(super) struct Commands {
    pub(super) simples: Vec<Simple>,
    /// A quote or a bracket does not end, or it is too deep or too long.
    pub(super) is_broken: bool,
    /// It would become more than anybody reads, as no text does that somebody has typed.
    pub(super) is_too_much: bool,
}

const RESERVED: [&str; 19] = [
    "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time", "coproc",
    "function", "esac", "case", "for", "select",
];

pub(super) fn read(text: &str, place: &Place, known: &Known) -> Commands {
    if text.len() > LONGEST {
        return Commands { is_broken: true, ..Commands::default() };
    }
    let mut reader = Reader {
        text: text.chars().collect(),
        at: 0,
        known: known.clone(),
        place: place.clone(),
        done: Commands::default(),
        pending: Vec::new(),
        depth: 0,
        expanded: 0,
    };
    reader.commands(None);
    if !reader.pending.is_empty() {
        reader.bodies();
    }
    reader.done
}

struct Reader {
    text: Vec<char>,
    at: usize,
    known: Known,
    place: Place,
    done: Commands,
    /// Here-documents whose text comes after the next line break.
    pending: Vec<Pending>,
    depth: usize,
    /// How many bytes variables have put into the text.
    expanded: usize,
}

struct Pending {
    simple: usize,
    end: String,
    strips_tabs: bool,
    is_plain: bool,
}

/// What grows while a word is read. An expansion may end it and begin another.
#[derive(Default)]
struct Growing {
    words: Vec<Word>,
    word: Option<Word>,
    /// Quotes were in it, so that it is no reserved word.
    is_quoted: bool,
    /// A brace that bash would expand.
    braces: bool,
    /// It begins with a name and `=`.
    assigns: bool,
}

impl Growing {
    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().text.push(c);
    }

    fn open(&mut self, source: &str) {
        let word = self.word.get_or_insert_default();
        word.text.push_str(source);
        word.is_open = true;
    }

    fn value(&mut self, value: &Word, is_quoted: bool) {
        if is_quoted || self.assigns {
            let word = self.word.get_or_insert_default();
            word.text.push_str(&value.text);
            word.is_open |= value.is_open;
            return;
        }
        for (number, part) in value.text.split_whitespace().enumerate() {
            if number > 0 {
                self.words.extend(self.word.take());
            }
            let word = self.word.get_or_insert_default();
            word.text.push_str(part);
            word.is_open |= value.is_open;
        }
    }
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn looks(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(by, c)| self.text.get(self.at + by) == Some(&c))
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn broken(&mut self) {
        self.done.is_broken = true;
        self.at = self.text.len();
    }

    fn too_much(&mut self) {
        self.done.is_too_much = true;
        self.broken();
    }

    /// The value of a variable, in the place of its name.
    fn expand(&mut self, growing: &mut Growing, value: &Word, is_quoted: bool) {
        self.expanded += value.text.len() + 1;
        if self.expanded > LONGEST_VALUE {
            return self.too_much();
        }
        growing.value(value, is_quoted);
    }

    /// Keeps values in mind.
    fn learn(&mut self, assigned: Vec<(String, Word)>, exports: bool) {
        for (name, value) in assigned {
            let is_new = !self.known.values.contains_key(&name);
            // What is not kept is not known where it is used.
            if value.text.len() > LONGEST_VALUE || is_new && self.known.values.len() >= MOST_NAMES {
                self.known.values.remove(&name);
                continue;
            }
            let value = Rc::new(value);
            if exports {
                Rc::make_mut(&mut self.known.exported).insert(name.clone(), Rc::clone(&value));
            }
            self.known.values.insert(name, value);
        }
    }

    fn source(&self, from: usize) -> String {
        let to = self.at.min(self.text.len());
        self.text[from.min(to)..to].iter().collect()
    }

    fn begin(&mut self, from: From) -> usize {
        if self.done.simples.len() >= MOST_COMMANDS {
            self.broken();
        }
        let place = Some(self.place.clone());
        self.done.simples.push(Simple {
            from,
            place,
            exported: Rc::clone(&self.known.exported),
            ..Simple::default()
        });
        self.done.simples.len() - 1
    }

    /// Reads commands up to `end`, or to the end of the text.
    fn commands(&mut self, end: Option<char>) {
        if self.depth >= DEEPEST {
            return self.broken();
        }
        self.depth += 1;
        let mut cases = 0_usize;
        let mut simple = self.begin(From::Nothing);
        loop {
            self.blanks();
            let Some(c) = self.peek() else {
                if end.is_some() {
                    self.done.is_broken = true;
                }
                break;
            };
            if Some(c) == end {
                self.at += 1;
                break;
            }
            match c {
                '\n' => {
                    self.at += 1;
                    self.finish(simple);
                    self.bodies();
                    simple = self.begin(From::Nothing);
                }
                '#' => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                ';' => {
                    let is_case = self.looks(";;") || self.looks(";&");
                    while self.peek().is_some_and(|c| matches!(c, ';' | '&')) {
                        self.at += 1;
                    }
                    self.finish(simple);
                    if is_case && cases > 0 {
                        self.pattern();
                    }
                    simple = self.begin(From::Nothing);
                }
                '&' if self.looks("&>") => {
                    self.at += 1;
                    self.redirection(simple);
                }
                '&' => {
                    self.at += if self.looks("&&") { 2 } else { 1 };
                    self.finish(simple);
                    simple = self.begin(From::Nothing);
                }
                '|' if self.looks("||") => {
                    self.at += 2;
                    self.finish(simple);
                    simple = self.begin(From::Nothing);
                }
                '|' => {
                    self.at += if self.looks("|&") { 2 } else { 1 };
                    self.finish(simple);
                    let is_there = !self.done.simples[simple].words.is_empty();
                    simple = self.begin(if is_there { From::Simple(simple) } else { From::Several });
                }
                '(' if self.looks("((") && self.done.simples[simple].words.is_empty() => self.arithmetic(),
                '(' => {
                    self.at += 1;
                    let defines = self.done.simples[simple].words.len() == 1;
                    let (place, known) = (self.place.clone(), self.known.clone());
                    if defines && self.closes_at_once() {
                        self.done.simples[simple].words.clear();
                    } else {
                        self.finish(simple);
                        self.commands(Some(')'));
                        (self.place, self.known) = (place, known);
                        simple = self.begin(From::Nothing);
                    }
                }
                ')' => {
                    // One too many, or a pattern of a `case` that was not seen as one.
                    self.at += 1;
                    self.finish(simple);
                    simple = self.begin(From::Nothing);
                }
                '<' | '>' if self.looks("<(") || self.looks(">(") => self.word(simple, &mut cases),
                '<' | '>' => self.redirection(simple),
                _ => self.word(simple, &mut cases),
            }
        }
        self.finish(simple);
        self.depth -= 1;
    }

    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.looks("\\\n") => self.at += 2,
                _ => return,
            }
        }
    }

    fn closes_at_once(&mut self) -> bool {
        let at = self.at;
        self.blanks();
        if self.peek() == Some(')') {
            self.at += 1;
            return true;
        }
        self.at = at;
        false
    }

    /// `(( … ))`, which runs nothing.
    fn arithmetic(&mut self) {
        self.at += 2;
        let mut depth = 2;
        while depth > 0 {
            match self.next() {
                Some('(') => depth += 1,
                Some(')') => depth -= 1,
                Some(_) => {}
                None => return self.broken(),
            }
        }
    }

    /// The pattern of a `case`, up to its bracket.
    fn pattern(&mut self) {
        loop {
            match self.peek() {
                Some(c) if c.is_whitespace() || c == '(' => self.at += 1,
                _ => break,
            }
        }
        if self.looks("esac") {
            return;
        }
        while let Some(c) = self.next() {
            match c {
                ')' => return,
                '\\' => self.at += 1,
                '\'' | '"' => while self.next().is_some_and(|inside| inside != c) {},
                _ => {}
            }
        }
    }

    /// One word, and what it is if it is a reserved one.
    fn word(&mut self, simple: usize, cases: &mut usize) {
        let from = self.at;
        let mut growing = Growing::default();
        self.grow(&mut growing);
        if self.at == from {
            // Nothing that begins a word.
            self.at += 1;
            return;
        }
        growing.words.extend(growing.word.take());
        let first = self.done.simples[simple].words.is_empty();
        let reserved = growing.words.first().map(|word| word.text.clone()).unwrap_or_default();
        if first && growing.words.len() == 1 && (growing.assigns || !growing.is_quoted) {
            match reserved.as_str() {
                "[[" => return self.condition(),
                "for" | "select" => return self.loop_words(),
                "function" => {
                    self.blanks();
                    self.grow(&mut Growing::default());
                    self.blanks();
                    if self.peek() == Some('(') {
                        self.at += 1;
                        self.closes_at_once();
                    }
                    return;
                }
                "case" => {
                    *cases += 1;
                    let mut subject = Growing::default();
                    self.blanks();
                    self.grow(&mut subject);
                    self.whites();
                    if self.looks("in") {
                        self.at += 2;
                    }
                    return self.pattern();
                }
                "esac" => {
                    *cases = cases.saturating_sub(1);
                    return;
                }
                word if RESERVED.contains(&word) => return,
                _ => {}
            }
            if let Some((name, value)) = reserved.split_once('=').filter(|_| growing.assigns) {
                let is_open = growing.words[0].is_open || name.ends_with('+');
                let (name, value) = (name.trim_end_matches('+').to_owned(), value.to_owned());
                if value.is_empty() && self.peek() == Some('(') {
                    // An array.
                    self.at += 1;
                    self.commands(Some(')'));
                    return;
                }
                self.done.simples[simple].set.push((name, Word { text: value, is_open }));
                return;
            }
        }
        let words = match growing.braces {
            true => growing.words.into_iter().flat_map(|word| braced(&word)).collect(),
            false => growing.words,
        };
        self.done.simples[simple].words.extend(words);
    }

    fn whites(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// `[[ … ]]`, which runs nothing but substitutions.
    fn condition(&mut self) {
        loop {
            self.whites();
            if self.looks("]]") {
                self.at += 2;
                return;
            }
            let at = self.at;
            self.grow(&mut Growing::default());
            if self.at == at && self.next().is_none() {
                return self.broken();
            }
        }
    }

    /// `for x in a b`.
    fn loop_words(&mut self) {
        self.blanks();
        if self.looks("((") {
            return self.arithmetic();
        }
        let mut words = Vec::new();
        loop {
            self.blanks();
            let at = self.at;
            let mut growing = Growing::default();
            self.grow(&mut growing);
            if self.at == at {
                break;
            }
            growing.words.extend(growing.word);
            words.extend(growing.words);
        }
        let mut words = words.into_iter();
        let Some(name) = words.next().filter(|word| is_name(&word.text)) else { return };
        words.next();
        match (words.next(), words.next()) {
            (Some(only), None) => self.learn(vec![(name.text, only)], false),
            _ => drop(self.known.values.remove(&name.text)),
        }
    }

    /// Characters up to the end of a word.
    fn grow(&mut self, growing: &mut Growing) {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | ')' => return,
                '(' => return,
                '<' | '>' if self.looks("<(") || self.looks(">(") => {
                    let from = self.at;
                    self.at += 2;
                    self.inner(')');
                    growing.open(&self.source(from));
                }
                '<' | '>' => {
                    // `2>` and its like: the number belongs to what follows.
                    if growing.word.as_ref().is_some_and(|word| word.text.chars().all(|c| c.is_ascii_digit()))
                    {
                        growing.word = None;
                    }
                    return;
                }
                '\\' => {
                    self.at += 1;
                    match self.next() {
                        Some('\n') => {}
                        Some(c) => {
                            growing.is_quoted = true;
                            growing.push(c);
                        }
                        None => growing.push('\\'),
                    }
                }
                '\'' => {
                    self.at += 1;
                    growing.is_quoted = true;
                    growing.word.get_or_insert_default();
                    self.plain(growing);
                }
                '"' => {
                    self.at += 1;
                    growing.is_quoted = true;
                    growing.word.get_or_insert_default();
                    self.double(growing, true);
                }
                '$' => self.dollar(growing, false),
                '`' => self.backticks(growing),
                '*' | '?' | '[' => {
                    self.at += 1;
                    let is_alone = c == '[' && growing.word.is_none();
                    growing.push(c);
                    if !is_alone {
                        growing.word.get_or_insert_default().is_open = true;
                    }
                }
                '{' => {
                    self.at += 1;
                    growing.braces = true;
                    growing.push(c);
                }
                _ => {
                    self.at += 1;
                    let name = growing.word.as_ref().map(|word| word.text.trim_end_matches('+'));
                    growing.assigns |= c == '=' && !growing.is_quoted && name.is_some_and(is_name);
                    growing.push(c);
                }
            }
        }
    }

    fn plain(&mut self, growing: &mut Growing) {
        loop {
            match self.next() {
                Some('\'') => return,
                Some(c) => growing.push(c),
                None => return self.broken(),
            }
        }
    }

    /// Inside of double quotes, or of the text of a here-document.
    fn double(&mut self, growing: &mut Growing, is_quote: bool) {
        loop {
            match self.peek() {
                Some('"') if is_quote => {
                    self.at += 1;
                    return;
                }
                Some('\\') => {
                    self.at += 1;
                    match self.next() {
                        Some('\n') => {}
                        Some(c @ ('"' | '\\' | '$' | '`')) => growing.push(c),
                        Some(c) => {
                            growing.push('\\');
                            growing.push(c);
                        }
                        None => growing.push('\\'),
                    }
                }
                Some('$') => self.dollar(growing, true),
                Some('`') => self.backticks(growing),
                Some(c) => {
                    self.at += 1;
                    growing.push(c);
                }
                None if is_quote => return self.broken(),
                None => return,
            }
        }
    }

    fn dollar(&mut self, growing: &mut Growing, is_quoted: bool) {
        let from = self.at;
        self.at += 1;
        match self.peek() {
            Some('(') if self.looks("((") => {
                self.arithmetic();
                growing.open(&self.source(from));
            }
            Some('(') => {
                self.at += 1;
                self.inner(')');
                growing.open(&self.source(from));
            }
            Some('{') => {
                self.at += 1;
                let mut depth = 1;
                while depth > 0 {
                    match self.next() {
                        Some('{') => depth += 1,
                        Some('}') => depth -= 1,
                        Some('\\') => self.at += 1,
                        Some(_) => {}
                        None => return self.broken(),
                    }
                }
                let source = self.source(from);
                let name = source.get(2..source.len() - 1).unwrap_or_default();
                match self.known.values.get(name).cloned() {
                    Some(value) => self.expand(growing, &value, is_quoted),
                    None => {
                        self.substitutions(name);
                        growing.open(&source);
                    }
                }
            }
            Some('\'') if !is_quoted => {
                self.at += 1;
                growing.is_quoted = true;
                growing.word.get_or_insert_default();
                self.ansi(growing);
            }
            Some('"') if !is_quoted => {}
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
                let source = self.source(from);
                match self.known.values.get(&source[1..]).cloned() {
                    Some(value) => self.expand(growing, &value, is_quoted),
                    None => growing.open(&source),
                }
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.at += 1;
                growing.open(&self.source(from));
            }
            _ => growing.push('$'),
        }
    }

    /// Commands in a text that is otherwise not looked at.
    fn substitutions(&mut self, text: &str) {
        if text.contains('$') || text.contains('`') {
            self.apart(text, |reader| reader.double(&mut Growing::default(), false));
        }
    }

    /// Reads another text, with what is known here.
    fn apart(&mut self, text: &str, read: impl FnOnce(&mut Self)) {
        if self.depth >= DEEPEST {
            return self.broken();
        }
        let (outer, at) = (std::mem::replace(&mut self.text, text.chars().collect()), self.at);
        self.at = 0;
        self.depth += 1;
        read(self);
        self.depth -= 1;
        (self.text, self.at) = (outer, at);
    }

    /// What `$'…'` stands for.
    fn ansi(&mut self, growing: &mut Growing) {
        loop {
            let c = match self.next() {
                Some('\'') => return,
                Some('\\') => match self.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some('a' | 'b' | 'e' | 'E' | 'f' | 'v') => ' ',
                    Some('x') => self.digits(16, 2),
                    Some('u') => self.digits(16, 4),
                    Some('U') => self.digits(16, 8),
                    Some('0'..='7') => {
                        self.at -= 1;
                        self.digits(8, 3)
                    }
                    Some(c) => c,
                    None => return self.broken(),
                },
                Some(c) => c,
                None => return self.broken(),
            };
            growing.push(c);
        }
    }

    fn digits(&mut self, radix: u32, most: usize) -> char {
        let mut value = 0_u32;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value.saturating_mul(radix).saturating_add(digit);
            self.at += 1;
        }
        char::from_u32(value).unwrap_or('\u{fffd}')
    }

    fn backticks(&mut self, growing: &mut Growing) {
        let from = self.at;
        self.at += 1;
        let mut inside = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => inside.push(c),
                    Some(c) => inside.extend(['\\', c]),
                    None => return self.broken(),
                },
                Some(c) => inside.push(c),
                None => return self.broken(),
            }
        }
        let source = self.source(from);
        let (place, known) = (self.place.clone(), self.known.clone());
        self.apart(&inside, |reader| reader.commands(None));
        (self.place, self.known) = (place, known);
        growing.open(&source);
    }

    /// The commands of a substitution, up to its bracket.
    fn inner(&mut self, end: char) {
        let (place, known) = (self.place.clone(), self.known.clone());
        let pending = std::mem::take(&mut self.pending);
        self.commands(Some(end));
        self.pending = pending;
        (self.place, self.known) = (place, known);
    }

    fn redirection(&mut self, simple: usize) {
        let reads = self.peek() == Some('<');
        let mut sign = String::new();
        while self.peek().is_some_and(|c| matches!(c, '<' | '>' | '&' | '|' | '-')) && sign.len() < 3 {
            let c = self.next().unwrap_or_default();
            if c == '-' && sign != "<<" {
                self.at -= 1;
                break;
            }
            sign.push(c);
        }
        self.blanks();
        let mut growing = Growing::default();
        self.grow(&mut growing);
        growing.words.extend(growing.word.take());
        let is_plain = growing.is_quoted;
        let target = growing.words.into_iter().next().unwrap_or_default();
        let this = &mut self.done.simples[simple];
        match sign.as_str() {
            "<<" | "<<-" => {
                let strips_tabs = sign.ends_with('-');
                self.pending.push(Pending { simple, end: target.text, strips_tabs, is_plain });
            }
            "<<<" => this.here.push(target.text),
            ">&" | "<&" if target.text == "-" || target.text.chars().all(|c| c.is_ascii_digit()) => {}
            "<>" => this.writes.push(target),
            _ if reads => this.reads.push(target),
            _ => this.writes.push(target),
        }
    }

    /// The texts of the here-documents that were begun on the line before.
    fn bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            loop {
                if self.at >= self.text.len() {
                    break;
                }
                let from = self.at;
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
                let line = self.source(from);
                self.at += 1;
                let line = if pending.strips_tabs { line.trim_start_matches('\t') } else { &line };
                if line == pending.end {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            self.at = self.at.min(self.text.len());
            if !pending.is_plain {
                let mut growing = Growing::default();
                self.apart(&body, |reader| reader.double(&mut growing, false));
                body = growing.word.map(|word| word.text).unwrap_or_default();
            }
            self.done.simples[pending.simple].here.push(body);
        }
    }

    /// What a command that was read means for those after it.
    fn finish(&mut self, simple: usize) {
        let this = &self.done.simples[simple];
        if this.words.is_empty() {
            let set = this.set.clone();
            return self.learn(set, false);
        }
        let words: Vec<&Word> = this.words.iter().collect();
        match words[0].text.as_str() {
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                let exports = words[0].text == "export" || words.iter().any(|word| word.text == "-x");
                let assigned: Vec<_> = (words[1..].iter())
                    .filter_map(|word| match word.text.split_once('=') {
                        Some((name, value)) => {
                            Some((name.to_owned(), Word { text: value.to_owned(), is_open: word.is_open }))
                        }
                        None => Some((word.text.clone(), Word::clone(self.known.values.get(&word.text)?))),
                    })
                    .filter(|(name, _)| is_name(name))
                    .collect();
                self.learn(assigned, exports);
            }
            "read" | "mapfile" | "unset" | "printf" => {
                for word in &words[1..] {
                    self.known.values.remove(&word.text);
                }
            }
            "cd" | "pushd" => {
                let target = words[1..].iter().find(|word| !word.text.starts_with('-') || word.text == "-");
                self.place = match target {
                    Some(word) if word.is_open || word.text == "-" => Place::Somewhere,
                    Some(word) => self.place.join(&word.text),
                    None => Place::At("~".to_owned()),
                };
            }
            "popd" => self.place = Place::Somewhere,
            _ => {}
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `{git,push}` is two words to bash. Only the first such brace is looked at.
fn braced(word: &Word) -> Vec<Word> {
    let parts = || {
        let (before, rest) = word.text.split_once('{')?;
        let (inside, after) = rest.split_once('}')?;
        (inside.contains(',') && !before.ends_with('$')).then_some((before, inside, after))
    };
    match parts() {
        Some((before, inside, after)) => (inside.split(',').take(64))
            .map(|part| Word { text: format!("{before}{part}{after}"), is_open: word.is_open })
            .collect(),
        None => vec![word.clone()],
    }
}
