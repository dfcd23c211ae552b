//! What is printed.

use std::collections::BTreeMap;

use crate::repo::{Verdict, plain};

/// One kind of fault, and what it came to each time.
pub(crate) struct Row {
    fault: String,
    injected: usize,
    survived: usize,
    said: BTreeMap<String, usize>,
    /// Why it was not survived, each reason once.
    why: BTreeMap<String, usize>,
}

impl Row {
    pub(crate) fn new(fault: impl Into<String>) -> Self {
        let (said, why) = Default::default();
        Self { fault: fault.into(), injected: 0, survived: 0, said, why }
    }

    /// A fault that is injected a few times.
    pub(crate) fn of(fault: &str, times: usize, inject: impl Fn() -> Verdict) -> Self {
        let mut row = Self::new(fault);
        (0..times).for_each(|_| row.count(inject()));
        row
    }

    pub(crate) fn count(&mut self, verdict: Verdict) {
        self.count_many(1, 1, &verdict.said, verdict.survived);
    }

    /// Many faults that were looked at together: `whole` of them came through, if all is well.
    pub(crate) fn count_many(
        &mut self,
        times: usize,
        whole: usize,
        said: &str,
        survived: Result<(), String>,
    ) {
        self.injected += times;
        *self.said.entry(said.to_owned()).or_default() += times;
        match survived {
            Ok(()) => self.survived += whole,
            Err(why) => *self.why.entry(plain(&why)).or_default() += 1,
        }
    }

    pub(crate) fn rename(&mut self, fault: String) {
        self.fault = fault;
    }

    pub(crate) fn line(&self) -> String {
        let mut said: Vec<_> = self.said.iter().collect();
        said.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
        let said: Vec<_> = match said[..] {
            [(only, _)] => vec![only.clone()],
            _ => said.iter().map(|(said, times)| format!("{times} × {said}")).collect(),
        };
        let said = said.join("<br>").replace('|', "\\|");
        format!("| {} | {} | {} | {said} |", self.fault, self.injected, self.survived)
    }

    /// What a person at the bench wants to know of those that were not survived.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = String> {
        self.why.iter().map(|(why, times)| {
            let why: String = why.trim().replace('\n', " ").chars().take(300).collect();
            format!("  {times} × {why}")
        })
    }
}
