//! What is too much to be held: values put aside in a temporary file that has no name, and taken up again one by one.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    marker::PhantomData,
};

use serde::{Serialize, de::DeserializeOwned};

/// So many bytes are held before they are written.
const HELD: usize = 64 * 1024;

/// Values in the order in which they were put aside.
#[derive(Debug)]
pub(super) struct Aside<T> {
    file: File,
    /// Where each of them ends in the file.
    ends: Vec<u64>,
    /// What is not written yet.
    held: Vec<u8>,
    values: PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned> Aside<T> {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, ends: Vec::new(), held: Vec::new(), values: PhantomData })
    }

    pub(super) fn put(&mut self, value: &T) -> io::Result<()> {
        let before = self.held.len();
        serde_json::to_writer(&mut self.held, value)?;
        let length = (self.held.len() - before) as u64;
        self.ends.push(self.ends.last().unwrap_or(&0) + length);
        if self.held.len() < HELD { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(&self.held)?;
        // What was long once would be held for good.
        self.held = Vec::new();
        Ok(())
    }

    /// The value of this number, the first of which is 0.
    pub(super) fn take_up(&mut self, number: usize) -> io::Result<T> {
        if !self.held.is_empty() {
            self.write()?;
        }
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        (&mut self.file).take(self.ends[number] - begin).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// All of them.
    pub(super) fn each(&mut self) -> impl Iterator<Item = io::Result<T>> {
        (0..self.ends.len()).map(|number| self.take_up(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_aside_is_taken_up_in_any_order() {
        let mut aside = Aside::new().unwrap();
        let values: Vec<String> = (0..9).map(|number| "é\n".repeat(number * HELD / 9)).collect();
        for value in &values {
            aside.put(value).unwrap();
        }
        assert_eq!(aside.take_up(8).unwrap(), values[8]);
        assert_eq!(aside.take_up(0).unwrap(), "");
        aside.put(&"more".to_owned()).unwrap();
        let all: Vec<String> = aside.each().map(Result::unwrap).collect();
        assert_eq!((&all[..9], &*all[9]), (&values[..], "more"));
    }
}
