//! What has to be known of all items at once: what each is called, what it needs, and whether it is open. It takes a few bytes
//! an item, where texts would take a kilobyte.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher as _, RandomState},
};

use super::{Item, State, What};

/// Names, each with a number in the order in which they came up. A map from text to number would take three times as much.
#[derive(Debug, Clone, Default)]
pub(super) struct Interned {
    texts: String,
    ends: Vec<u32>,
    /// Numbers by the hash of the name. Where that is taken by another name the next free one stands for it.
    numbers: HashMap<u64, u32>,
    hash: RandomState,
}

impl Interned {
    /// The number of a name, new or not.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let mut hash = self.hash.hash_one(name);
        loop {
            match self.numbers.entry(hash) {
                Entry::Occupied(known) if text(&self.texts, &self.ends, *known.get()) == name => {
                    return *known.get();
                }
                Entry::Occupied(_) => hash = hash.wrapping_add(1),
                Entry::Vacant(free) => {
                    let number = short(self.ends.len());
                    free.insert(number);
                    self.texts.push_str(name);
                    self.ends.push(short(self.texts.len()));
                    return number;
                }
            }
        }
    }

    /// The number of a name that came up before.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let mut hash = self.hash.hash_one(name);
        loop {
            let number = *self.numbers.get(&hash)?;
            if self.name(number) == name {
                return Some(number);
            }
            hash = hash.wrapping_add(1);
        }
    }

    fn name(&self, number: u32) -> &str {
        text(&self.texts, &self.ends, number)
    }
}

fn text<'t>(texts: &'t str, ends: &[u32], number: u32) -> &'t str {
    let number = long(number);
    let begin = number.checked_sub(1).map_or(0, |before| ends[before]);
    &texts[long(begin)..long(ends[number])]
}

/// There are no more items, needs or bytes of names than a file has bytes, and it has less than a gibibyte.
fn short(number: usize) -> u32 {
    u32::try_from(number).expect("a source is shorter than that")
}

fn long(number: u32) -> usize {
    usize::try_from(number).expect("an address is longer than that")
}

/// Which of many things each name means: the first that was given it.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    names: Interned,
    meant: Vec<Option<u32>>,
}

impl Index {
    /// Gives `name` to a thing, unless another has it.
    pub(super) fn give(&mut self, name: &str, thing: usize) -> u32 {
        let number = self.mention(name);
        self.meant[long(number)].get_or_insert(short(thing));
        number
    }

    fn mention(&mut self, name: &str) -> u32 {
        let number = self.names.number(name);
        if long(number) == self.meant.len() {
            self.meant.push(None);
        }
        number
    }

    /// What `name` means, if anything.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.meant(self.names.find(name)?)
    }

    fn meant(&self, number: u32) -> Option<usize> {
        self.meant[long(number)].map(long)
    }
}

/// The items of a goal without their texts, in the order of the source.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    index: Index,
    items: Vec<Known>,
    /// Items with the names of what they need.
    needs: Vec<(u32, u32)>,
    /// Questions with the names of what waits for them.
    about: Vec<(u32, u32)>,
    /// Items with the names of what they are a part of.
    parts: Vec<(u32, u32)>,
}

#[derive(Debug, Clone)]
struct Known {
    name: u32,
    is_open: bool,
    is_asked: bool,
}

impl Outline {
    /// Adds what an item is about. Returns its number.
    pub(super) fn add(&mut self, item: &Item) -> usize {
        let number = self.items.len();
        let name = self.index.give(&item.id, number);
        let is_open = matches!(item.state, State::Open | State::Blocked(_) | State::Held(_));
        let mut is_asked = false;
        let mut pairs = |names: &[String]| -> Vec<(u32, u32)> {
            names.iter().map(|name| (short(number), self.index.mention(name))).collect()
        };
        self.needs.extend(pairs(&item.needs));
        self.parts.extend(pairs(&item.part_of));
        if let What::Question { about } = &item.what {
            self.about.extend(pairs(about));
            is_asked = is_open;
        }
        self.items.push(Known { name, is_open, is_asked });
        number
    }

    /// The same when all is read, and nothing is looked for by its name any more.
    pub(super) fn read(mut self) -> Self {
        self.index.names.numbers = HashMap::new();
        self.needs.shrink_to_fit();
        self
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// There is no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What an item is called.
    pub(super) fn id(&self, item: usize) -> &str {
        self.index.names.name(self.items[item].name)
    }

    /// The first item of this name.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.index.find(id)
    }

    pub(super) fn is_open(&self, item: usize) -> bool {
        self.items[item].is_open
    }

    /// The items that become a gate and no todo: questions that nobody has answered there.
    pub(super) fn asked(&self) -> Vec<usize> {
        (0..self.len()).filter(|item| self.items[*item].is_asked).collect()
    }

    /// Says that an item needs another one, too.
    pub(super) fn need(&mut self, item: usize, other: usize) {
        self.needs.push((short(item), self.items[other].name));
    }

    /// Lets every need mean the item that `find` has for it, by the item that has the need and the name of what it needs; where it
    /// has none the name stands as it is.
    pub(super) fn read_needs(&mut self, mut find: impl FnMut(&Self, usize, &str) -> Option<usize>) {
        let mut needs = std::mem::take(&mut self.needs);
        for (item, need) in &mut needs {
            if let Some(found) = find(self, long(*item), self.index.names.name(*need)) {
                *need = self.items[found].name;
            }
        }
        self.needs = needs;
    }

    /// Lets what has parts need them. `find` says which item the part of that number means by a name.
    pub(super) fn join_parts(&mut self, mut find: impl FnMut(&Self, usize, &str) -> Option<usize>) {
        for (part, name) in std::mem::take(&mut self.parts) {
            if let Some(whole) = find(self, long(part), self.index.names.name(name)) {
                self.need(whole, long(part));
            }
        }
    }

    /// The items on which a question waits, by its number and in order; nothing for a name that means none.
    pub(super) fn about(&self, question: usize) -> impl Iterator<Item = Option<usize>> {
        let from = self.about.partition_point(|(item, _)| long(*item) < question);
        let of_it = self.about[from..].iter().take_while(move |(item, _)| long(*item) == question);
        of_it.map(|(_, name)| self.index.meant(*name))
    }

    /// The needs of each item by their numbers, without what is unknown and without what would close a circle; `dropped` is told
    /// each of those. The outline itself has none from then on.
    pub(super) fn checked_needs(&mut self, mut dropped: impl FnMut(&str, &'static str)) -> Needs {
        let mut all = std::mem::take(&mut self.needs);
        // What was said of an item later stands behind what was said of it at first.
        all.sort_by_key(|(item, _)| *item);
        let mut all = all.into_iter().peekable();
        let mut needs = Needs::default();
        let mut known: Vec<u32> = Vec::new();
        for item in 0..self.len() {
            while let Some((_, name)) = all.next_if(|(of, _)| long(*of) == item) {
                match self.index.meant(name) {
                    None => dropped(self.id(item), "dropped: it names nothing that is imported"),
                    Some(other) if other == item => dropped(self.id(item), "dropped: it would need itself"),
                    Some(other) => known.push(short(other)),
                }
            }
            known.sort_unstable();
            known.dedup();
            needs.begins.push(short(needs.all.len()));
            needs.all.append(&mut known);
            needs.ends.push(short(needs.all.len()));
        }
        needs.without_circles(|item| dropped(self.id(item), "dropped: it would need itself in the end"));
        needs
    }
}

/// What each item needs, one item's after the other's.
#[derive(Debug, Default)]
pub(super) struct Needs {
    all: Vec<u32>,
    begins: Vec<u32>,
    ends: Vec<u32>,
}

impl Needs {
    /// What an item needs.
    pub(super) fn of(&self, item: usize) -> impl Iterator<Item = usize> {
        self.all[long(self.begins[item])..long(self.ends[item])].iter().copied().map(long)
    }

    /// Walks along the needs, each once and without recursion, and drops those that lead back to where the walk is.
    fn without_circles(&mut self, mut dropped: impl FnMut(usize)) {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            No,
            Here,
            Done,
        }
        let mut seen = vec![Seen::No; self.ends.len()];
        // Where the walk is: an item, and which need of it is next.
        let mut walk: Vec<(u32, u32)> = Vec::new();
        for start in 0..self.ends.len() {
            if seen[start] != Seen::No {
                continue;
            }
            walk.push((short(start), self.begins[start]));
            seen[start] = Seen::Here;
            while let Some((at, next)) = walk.last_mut() {
                let item = long(*at);
                if *next == self.ends[item] {
                    seen[item] = Seen::Done;
                    walk.pop();
                    continue;
                }
                let need = self.all[long(*next)];
                match seen[long(need)] {
                    Seen::Here => {
                        self.ends[item] -= 1;
                        self.all.swap(long(*next), long(self.ends[item]));
                        dropped(item);
                    }
                    Seen::Done => *next += 1,
                    Seen::No => {
                        *next += 1;
                        seen[long(need)] = Seen::Here;
                        walk.push((need, self.begins[long(need)]));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_and_means_what_it_was_given_to_first() {
        let mut index = Index::default();
        assert_eq!((index.give("é", 7), index.mention("x"), index.give("", 8)), (0, 1, 2));
        assert_eq!((index.give("é", 9), index.mention("")), (0, 2));
        assert_eq!(
            (index.find("é"), index.find("x"), index.find(""), index.find("y")),
            (Some(7), None, Some(8), None)
        );
        assert_eq!(index.names.name(0), "é");
    }

    #[test]
    fn names_of_one_hash_are_told_apart() {
        let mut names = Interned::default();
        let hash = names.hash.hash_one("b");
        names.number("a");
        names.numbers = HashMap::from([(hash, 0)]);
        assert_eq!((names.find("b"), names.number("b"), names.find("b")), (None, 1, Some(1)));
    }
}
