//! A gate: a question that only a person may answer, and what has to wait for the answer.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use super::{
    actor::{Actor, Person, Proof, Proven, Stamp},
    change::Op,
    id::{Choice, GateId, GoalId, TodoId},
    refusal::Refusal,
    scope::Scope,
    statement::Decided,
    text::{Note, Title},
    time::Timestamp,
};

/// One question, what waits for it, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    pub question: Title,
    /// The answers on offer. `reject` is always one of them.
    pub options: Vec<Choice>,
    /// What waits.
    pub blocks: BTreeSet<Act>,
    /// The todos it is about; empty means all of the goal's.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub todos: BTreeSet<TodoId>,
    /// The pushes it is about.
    #[serde(default, skip_serializing_if = "Scope::is_all")]
    pub scope: Scope,
    /// How many approvers have to say yes.
    #[serde(default, skip_serializing_if = "Approvals::is_one")]
    pub approvals: Approvals,
    pub asked: Stamp,
    pub state: GateState,
}

/// A number of approvers: 1, where one person is enough, to 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Approvals(u8);

impl Approvals {
    fn is_one(&self) -> bool {
        self.0 == 1
    }

    /// The number.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl Default for Approvals {
    fn default() -> Self {
        Self(1)
    }
}

impl TryFrom<u8> for Approvals {
    type Error = String;
    fn try_from(number: u8) -> Result<Self, String> {
        match number {
            1..=4 => Ok(Self(number)),
            _ => Err(format!("{number} approvers cannot be asked for (expected 1 to 4)")),
        }
    }
}

impl std::str::FromStr for Approvals {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let number: u8 = text.parse().map_err(|_| "expected a number, 1 to 4".to_owned())?;
        number.try_into()
    }
}

impl From<Approvals> for u8 {
    fn from(approvals: Approvals) -> Self {
        approvals.0
    }
}

/// What a gate can hold back.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    schemars::JsonSchema,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Claiming and completing todos, and so an agent's next turn.
    Turn,
    /// `git push`.
    Push,
    /// Releasing to a package registry and the like.
    Publish,
}

impl Act {
    /// Everything a gate can hold back; what it does hold back unless asked otherwise.
    pub const ALL: [Self; 3] = [Self::Turn, Self::Push, Self::Publish];

    /// As it is written on the command line and in the record.
    pub fn word(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Push => "push",
            Self::Publish => "publish",
        }
    }
}

/// What became of the question. Gates wait for ever: there is no state for time having passed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub enum GateState {
    Open {
        /// The yeses so far, where one is not enough.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        given: Vec<Answer>,
        /// How a person took back an earlier no, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reopened: Option<Reopened>,
    },
    /// Never answered for good: each commit needs an answer, and the newest answers count.
    Standing {
        bind: Bind,
        /// The newest last; older ones stay in the history.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        answers: Vec<Answer>,
    },
    Resolved {
        decision: Choice,
        by: Person,
        at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
        seen: Seen,
        proof: Proof,
        /// The yeses before the last one, where one is not enough.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        after: Vec<Answer>,
    },
    Withdrawn {
        by: Person,
        at: Timestamp,
        reason: Note,
        proof: Proof,
    },
}

/// What a yes to a standing gate is a yes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bind {
    /// The commit that was seen and all that it was made from: an amended commit is another one.
    Commit,
    /// Also any other commit with the same files: an amended or rebased one, as long as nothing in them differs.
    Tree,
}

impl Bind {
    /// As it is written on the command line and in the record.
    pub fn word(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
        }
    }
}

/// One answer of a person's.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub decision: Choice,
    pub by: Person,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
    pub seen: Seen,
    pub proof: Proof,
}

/// A commit that is about to leave, and how it is related to the commits that were answered about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tip {
    /// In hex.
    pub commit: String,
    /// Its tree, in hex.
    pub tree: String,
    /// Those that it is, or that were made from it.
    pub within: BTreeSet<String>,
    /// Those that it is, or was made from.
    pub reaches: BTreeSet<String>,
}

/// A no that was taken back, so that the question waits again.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reopened {
    pub by: Person,
    pub at: Timestamp,
    pub reason: Note,
    pub proof: Proof,
}

/// What the person had in front of them when they decided.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// [`Gate::digest`] of the question as it was shown.
    pub question: String,
    /// The project's commit, in hex; none in a project without commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// That commit's tree, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

impl GateState {
    /// A question that nobody has answered.
    pub const OPEN: Self = Self::Open { given: Vec::new(), reopened: None };
}

impl Answer {
    /// Who said it, as far as it can be told from others.
    fn signer(&self) -> String {
        match &self.proof {
            Proof::Terminal { .. } => self.by.to_string(),
            Proof::Signature(autograph) => autograph.approver.to_string(),
        }
    }

    /// Whether a yes to what was seen is a yes to `tip`.
    fn includes(&self, bind: Bind, tip: &Tip) -> bool {
        self.is_same_tree(bind, tip)
            || self.seen.commit.as_ref().is_some_and(|seen| tip.within.contains(seen))
    }

    /// Whether a no to what was seen is a no to `tip`.
    fn taints(&self, bind: Bind, tip: &Tip) -> bool {
        self.is_same_tree(bind, tip)
            || self.seen.commit.as_ref().is_some_and(|seen| tip.reaches.contains(seen))
    }

    fn is_same_tree(&self, bind: Bind, tip: &Tip) -> bool {
        bind == Bind::Tree && self.seen.tree.as_ref() == Some(&tip.tree)
    }
}

impl Gate {
    /// How many answers a standing gate keeps.
    pub const KEPT: usize = 16;

    /// A new, open question. `options` may be empty for the usual two; `blocks` may be empty for everything.
    pub fn new(
        question: Title,
        options: Vec<Choice>,
        blocks: BTreeSet<Act>,
        todos: BTreeSet<TodoId>,
        asked: Stamp,
    ) -> Self {
        let word = |word: &str| word.parse().expect("the usual answers are slugs");
        let mut options = if options.is_empty() { vec![word(Choice::APPROVE)] } else { options };
        if !options.iter().any(Choice::is_rejection) {
            options.push(word(Choice::REJECT));
        }
        let blocks = if blocks.is_empty() { Act::ALL.into() } else { blocks };
        let (scope, approvals) = (Scope::default(), Approvals::default());
        Self { question, options, blocks, todos, scope, approvals, asked, state: GateState::OPEN }
    }

    /// The same question, about some pushes only.
    #[must_use]
    pub fn within(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// The same question, for so many approvers.
    #[must_use]
    pub fn needing(self, approvals: Approvals) -> Self {
        Self { approvals, ..self }
    }

    /// The same question, asked again for every commit. Such a gate is about what leaves, and about no todos.
    pub fn standing(self, bind: Bind) -> Result<Self, Refusal> {
        let asks_for_turns = self.blocks.contains(&Act::Turn) && self.blocks != Act::ALL.into();
        if asks_for_turns || !self.todos.is_empty() {
            return Err(Refusal::StandingOverWork);
        }
        let blocks = self.blocks.into_iter().filter(|act| *act != Act::Turn).collect();
        Ok(Self { blocks, state: GateState::Standing { bind, answers: Vec::new() }, ..self })
    }

    /// What its answers are about, if it is a standing one.
    pub fn bind(&self) -> Option<Bind> {
        match &self.state {
            GateState::Standing { bind, .. } => Some(*bind),
            _ => None,
        }
    }

    /// The commits that a standing gate was answered about, in hex.
    pub fn answered(&self) -> impl Iterator<Item = &str> {
        let answers = match &self.state {
            GateState::Standing { answers, .. } => &answers[..],
            _ => &[],
        };
        answers.iter().filter_map(|answer| answer.seen.commit.as_deref())
    }

    /// Whether a standing gate was answered with yes for `tip`, and with no since then neither for it nor for anything
    /// it was made from. What cannot be looked at was not.
    pub fn lets_go(&self, tip: Option<&Tip>) -> bool {
        let (GateState::Standing { bind, answers }, Some(tip)) = (&self.state, tip) else { return false };
        let mut yes = BTreeSet::new();
        for answer in answers.iter().rev() {
            if answer.decision.is_rejection() {
                if answer.taints(*bind, tip) {
                    return false;
                }
            } else if answer.includes(*bind, tip) {
                yes.insert(answer.signer());
                if yes.len() >= usize::from(self.approvals.0) {
                    return true;
                }
            }
        }
        false
    }

    /// `sha256:` and the hex digest of everything that was asked: question, options, what waits, for which todos, which pushes.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        // Each part with its length, so that no two different questions have the same bytes.
        let mut part = |text: &str| {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        };
        part(self.question.as_str());
        self.options.iter().for_each(|option| part(option.as_str()));
        part("blocks");
        self.blocks.iter().for_each(|act| part(act.word()));
        part("todos");
        self.todos.iter().for_each(|todo| part(todo.as_str()));
        for (name, globs) in self.scope.parts() {
            part(name);
            globs.iter().for_each(|glob| part(glob.as_str()));
        }
        if let Some(bind) = self.bind() {
            part("standing");
            part(bind.word());
        }
        if !self.approvals.is_one() {
            part("approvals");
            part(&self.approvals.0.to_string());
        }
        format!("sha256:{}", super::text::hex(&hash.finalize()))
    }

    /// The answers that can be given now: all on offer, or those that change a no.
    pub fn answers(&self) -> Vec<&Choice> {
        self.options.iter().filter(|option| !self.is_rejected() || !option.is_rejection()).collect()
    }

    /// What a person did here last, as it is signed: what `op` made of the question with the digest `question`.
    pub fn decided<'a>(
        &'a self,
        op: Op,
        goal: &'a GoalId,
        gate: &'a GateId,
        question: &'a str,
    ) -> Option<(Decided<'a>, &'a Person, &'a Proof)> {
        let decided = |decision, seen, note, at| Decided { goal, gate, question, seen, decision, note, at };
        let answered = |answer: &'a Answer| {
            let Answer { decision, by, at, note, seen, proof } = answer;
            (decided(decision.as_str(), Some(seen), note.as_ref(), *at), by, proof)
        };
        match (op, &self.state) {
            (
                Op::GateResolve,
                GateState::Open { given: answers, .. } | GateState::Standing { answers, .. },
            ) => answers.last().map(answered),
            (Op::GateResolve, GateState::Resolved { decision, by, at, note, seen, proof, .. }) => {
                Some((decided(decision.as_str(), Some(seen), note.as_ref(), *at), by, proof))
            }
            (Op::GateReopen, GateState::Open { reopened: Some(Reopened { by, at, reason, proof }), .. }) => {
                Some((decided("reopen", None, Some(reason), *at), by, proof))
            }
            (Op::GateWithdraw, GateState::Withdrawn { by, at, reason, proof }) => {
                Some((decided("withdraw", None, Some(reason), *at), by, proof))
            }
            _ => None,
        }
    }

    /// What a person types back at a terminal to do `verb` here: the id, and the verb, too, where something can be published
    /// that was asked about by name.
    pub fn word(&self, id: &GateId, verb: &str) -> String {
        match self.blocks.contains(&Act::Publish) && self.blocks != Act::ALL.into() {
            true => format!("{id} {verb}"),
            false => id.to_string(),
        }
    }

    /// Sorts gates by what waits for them: the more urgent is the smaller.
    pub fn urgency(&self) -> (bool, Timestamp) {
        (!self.blocks.contains(&Act::Turn), self.asked.at)
    }

    /// Nobody has answered yet.
    pub fn is_open(&self) -> bool {
        matches!(self.state, GateState::Open { .. })
    }

    /// Answered with `reject`.
    pub fn is_rejected(&self) -> bool {
        matches!(&self.state, GateState::Resolved { decision, .. } if decision.is_rejection())
    }

    /// The gate no longer holds anything back and may be filed away. A rejected one still does.
    pub fn is_closed(&self) -> bool {
        match &self.state {
            GateState::Open { .. } | GateState::Standing { .. } => false,
            GateState::Resolved { .. } => !self.is_rejected(),
            GateState::Withdrawn { .. } => true,
        }
    }

    /// Whether `act`, which leaves this machine, has to wait for this gate, or was refused by it.
    pub fn holds_back(&self, act: Act) -> bool {
        !self.is_closed() && self.blocks.contains(&act)
    }

    /// Whether `todo` has to wait for this gate, or was refused by it. An open gate without todos of its own is about
    /// all of them; a rejected one says no to the todos it names, and the loop goes on with others.
    pub fn stops(&self, todo: &TodoId) -> bool {
        self.holds_back(Act::Turn) && (self.todos.contains(todo) || (self.is_open() && self.todos.is_empty()))
    }

    /// Why `todo`, which this gate [stops](Self::stops), cannot be worked on.
    pub fn refuse(&self, id: &GateId, todo: &TodoId) -> Refusal {
        let (todo, gate, question) = (todo.clone(), id.clone(), self.question.clone());
        Refusal::GateOverTodo { todo, gate, question, answers: self.answers().into_iter().cloned().collect() }
    }

    /// Answers the question. Only a person can, so only a [`Proven`] person fits here.
    ///
    /// A gate that was rejected can be decided anew: a person may change a no into a yes. Any other answer stands.
    pub fn resolve(
        &self,
        id: &GateId,
        decision: Choice,
        proven: Proven,
        at: Timestamp,
        note: Option<Note>,
        seen: Seen,
    ) -> Result<Self, Refusal> {
        self.must_take(id, &decision)?;
        if seen.question != self.digest() {
            return Err(Refusal::QuestionChanged { gate: id.clone() });
        }
        let Proven { person: by, proof } = proven;
        let answer = Answer { decision, by, at, note, seen, proof };
        self.must_count(id, &answer)?;
        let state = match &self.state {
            GateState::Standing { bind, answers } => {
                if answer.seen.commit.is_none() {
                    return Err(Refusal::NothingSeen { gate: id.clone() });
                }
                let is_same = |last: &&Answer| {
                    last.decision == answer.decision
                        && last.seen == answer.seen
                        && last.signer() == answer.signer()
                };
                if let Some(last) = answers.last().filter(is_same) {
                    let (by, decision) = (Actor::Person(answer.by), answer.decision.to_string());
                    return Err(Refusal::GateDecided { gate: id.clone(), decision, by, at: last.at });
                }
                let mut answers = answers.clone();
                answers.push(answer);
                answers.drain(..answers.len().saturating_sub(Self::KEPT));
                GateState::Standing { bind: *bind, answers }
            }
            state => {
                let (given, reopened) = match state {
                    GateState::Open { given, reopened } => (given.clone(), reopened.clone()),
                    _ => (Vec::new(), None),
                };
                let same: Vec<Answer> =
                    given.iter().filter(|given| given.decision == answer.decision).cloned().collect();
                if answer.decision.is_rejection() || same.len() + 1 >= usize::from(self.approvals.0) {
                    let after = if answer.decision.is_rejection() { Vec::new() } else { same };
                    let Answer { decision, by, at, note, seen, proof } = answer;
                    GateState::Resolved { decision, by, at, note, seen, proof, after }
                } else {
                    let given = given.into_iter().chain([answer]).collect();
                    GateState::Open { given, reopened }
                }
            }
        };
        Ok(Self { state, ..self.clone() })
    }

    /// Whether an answer is one that counts: in its time, and where several approvers are needed signed by one that neither
    /// asked nor has said yes.
    fn must_count(&self, id: &GateId, answer: &Answer) -> Result<(), Refusal> {
        self.must_be_in_time(id, &answer.proof, answer.at)?;
        if self.approvals.is_one() || answer.decision.is_rejection() {
            return Ok(());
        }
        let gate = || id.clone();
        if matches!(answer.proof, Proof::Terminal { .. }) {
            return Err(Refusal::ApproversNeeded { gate: gate(), needed: self.approvals.0 });
        }
        if self.asked.by == Actor::Person(answer.by.clone()) {
            return Err(Refusal::AskerAnswers { gate: gate(), by: self.asked.by.clone() });
        }
        let given = match &self.state {
            GateState::Open { given, .. } => &given[..],
            _ => &[],
        };
        match given.iter().any(|given| given.signer() == answer.signer()) {
            true => Err(Refusal::SameApprover { gate: gate(), by: answer.signer() }),
            false => Ok(()),
        }
    }

    /// A signature from before what happened last was made for something else.
    fn must_be_in_time(&self, id: &GateId, proof: &Proof, at: Timestamp) -> Result<(), Refusal> {
        let last = match &self.state {
            GateState::Open { given, reopened } => {
                given.last().map(|given| given.at).max(reopened.as_ref().map(|reopened| reopened.at))
            }
            GateState::Standing { answers, .. } => answers.last().map(|answer| answer.at),
            GateState::Resolved { at, .. } | GateState::Withdrawn { at, .. } => Some(*at),
        };
        let last = last.map_or(self.asked.at, |last| last.max(self.asked.at));
        match proof {
            Proof::Signature(_) if at < last => Err(Refusal::OutOfTime { gate: id.clone(), at, last }),
            _ => Ok(()),
        }
    }

    /// Takes the question back: nothing waits for it any more, whatever was answered so far. Only a person can.
    pub fn withdraw(
        &self,
        id: &GateId,
        proven: Proven,
        at: Timestamp,
        reason: Note,
    ) -> Result<Self, Refusal> {
        self.must_be_in_force(id)?;
        self.must_be_in_time(id, &proven.proof, at)?;
        let Proven { person: by, proof } = proven;
        Ok(Self { state: GateState::Withdrawn { by, at, reason, proof }, ..self.clone() })
    }

    /// Takes a no back, so that the question waits again. Only a person can.
    pub fn reopen(&self, id: &GateId, proven: Proven, at: Timestamp, reason: Note) -> Result<Self, Refusal> {
        self.must_be_rejected(id)?;
        self.must_be_in_time(id, &proven.proof, at)?;
        let Proven { person: by, proof } = proven;
        Ok(Self {
            state: GateState::Open { given: Vec::new(), reopened: Some(Reopened { by, at, reason, proof }) },
            ..self.clone()
        })
    }

    /// Whether the gate still holds something back, so that it can be withdrawn.
    pub fn must_be_in_force(&self, id: &GateId) -> Result<(), Refusal> {
        if self.is_closed() { Err(self.refuse_anew(id)) } else { Ok(()) }
    }

    /// Whether there is a no to take back.
    pub fn must_be_rejected(&self, id: &GateId) -> Result<(), Refusal> {
        match self.is_rejected() {
            true => Ok(()),
            false if self.is_closed() => Err(self.refuse_anew(id)),
            false => Err(Refusal::NotRejected { gate: id.clone() }),
        }
    }

    /// Why a gate that was decided takes nothing more.
    fn refuse_anew(&self, id: &GateId) -> Refusal {
        let (decision, by, at) = match &self.state {
            GateState::Resolved { decision, by, at, .. } => (decision.to_string(), by, *at),
            GateState::Withdrawn { by, at, .. } => ("withdrawn".to_owned(), by, *at),
            GateState::Open { .. } | GateState::Standing { .. } => {
                return Refusal::NotRejected { gate: id.clone() };
            }
        };
        Refusal::GateDecided { gate: id.clone(), decision, by: Actor::Person(by.clone()), at }
    }

    /// Whether `decision` is an answer that can be given now.
    pub fn must_take(&self, id: &GateId, decision: &Choice) -> Result<(), Refusal> {
        match &self.state {
            GateState::Open { .. } | GateState::Standing { .. } => {}
            GateState::Resolved { .. } if self.is_rejected() && !decision.is_rejection() => {}
            GateState::Resolved { .. } | GateState::Withdrawn { .. } => return Err(self.refuse_anew(id)),
        }
        match self.options.contains(decision) {
            true => Ok(()),
            false => {
                let (decision, options) = (decision.clone(), self.options.clone());
                Err(Refusal::NotAnOption { gate: id.clone(), decision, options })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::{agent, at, gate_id, proven, todo_id};

    fn gate(todos: &[&str]) -> Gate {
        let asked = Stamp { by: Actor::Agent(agent("codex-1")), at: at("10:00") };
        let todos = todos.iter().map(|id| todo_id(id)).collect();
        Gate::new("Delete the bucket?".parse().unwrap(), vec![], BTreeSet::new(), todos, asked)
    }

    #[test]
    fn what_holds_work_up_is_the_more_urgent_and_then_the_older() {
        let ask = |time: &str, blocks: &[Act]| {
            let asked = Stamp { by: Actor::Agent(agent("codex-1")), at: at(time) };
            let blocks = blocks.iter().copied().collect();
            Gate::new("Really?".parse().unwrap(), vec![], blocks, BTreeSet::new(), asked).urgency()
        };
        let order = [
            ask("10:01", &[Act::Turn]),
            ask("10:02", &[]),
            ask("10:03", &[Act::Turn, Act::Push]),
            ask("10:00", &[Act::Push]),
            ask("10:02", &[Act::Publish]),
        ];
        assert!(order.is_sorted());
    }

    fn answer(gate: &Gate, decision: &str) -> Result<Gate, Refusal> {
        let seen = Seen { question: gate.digest(), commit: None, tree: None };
        gate.resolve(&gate_id("bucket"), decision.parse().unwrap(), proven(), at("11:00"), None, seen)
    }

    #[test]
    fn each_answer_is_legal_or_refused() {
        let open = gate(&[]);
        let approved = answer(&open, "approve").unwrap();
        let rejected = answer(&open, "reject").unwrap();
        assert!(approved.is_closed());
        assert!(!rejected.is_closed());
        assert!(answer(&rejected, "approve").unwrap().is_closed(), "a person may change a no into a yes");

        for (gate, decision) in [(&approved, "approve"), (&approved, "reject"), (&rejected, "reject")] {
            assert!(
                matches!(answer(gate, decision), Err(Refusal::GateDecided { .. })),
                "{decision} was accepted"
            );
        }
        assert!(matches!(answer(&open, "maybe"), Err(Refusal::NotAnOption { .. })));
    }

    #[test]
    fn a_question_can_be_taken_back_until_it_is_answered_and_a_no_at_any_time() {
        let (id, open) = (gate_id("bucket"), gate(&[]));
        let (yes, no) = (answer(&open, "approve").unwrap(), answer(&open, "reject").unwrap());
        let why = || "not needed".parse().unwrap();
        let withdraw = |gate: &Gate| gate.withdraw(&id, proven(), at("12:00"), why());
        let reopen = |gate: &Gate| gate.reopen(&id, proven(), at("12:00"), why());
        let gone = withdraw(&open).unwrap();
        assert!(gone.is_closed() && withdraw(&no).unwrap().is_closed());
        let again = reopen(&no).unwrap();
        assert!(again.is_open() && answer(&again, "reject").unwrap().is_rejected());
        for decided in [&yes, &gone] {
            assert!(matches!(withdraw(decided), Err(Refusal::GateDecided { .. })));
            assert!(matches!(reopen(decided), Err(Refusal::GateDecided { .. })));
            assert!(matches!(answer(decided, "approve"), Err(Refusal::GateDecided { .. })));
        }
        assert_eq!(reopen(&open), Err(Refusal::NotRejected { gate: id }));
    }

    /// A standing gate that was answered about these commits, in this order: `+2` is a yes to the second.
    fn standing(bind: Bind, answers: &[&str]) -> Gate {
        let open = gate(&[]).standing(bind).unwrap();
        answers.iter().fold(open, |gate, answer| {
            let decision = if answer.starts_with('+') { "approve" } else { "reject" };
            let seen = Seen {
                question: gate.digest(),
                commit: Some(format!("c{}", &answer[1..])),
                tree: Some(format!("t{}", &answer[1..])),
            };
            gate.resolve(&gate_id("bucket"), decision.parse().unwrap(), proven(), at("11:00"), None, seen)
                .unwrap()
        })
    }

    /// The `n`th commit of a line of nine.
    fn tip(n: usize) -> Tip {
        let named = |range: std::ops::RangeInclusive<usize>| range.map(|n| format!("c{n}")).collect();
        Tip { commit: format!("c{n}"), tree: format!("t{n}"), within: named(n..=9), reaches: named(1..=n) }
    }

    #[test]
    fn a_standing_gate_lets_go_what_was_answered_with_yes_and_what_it_was_made_from() {
        let check = |answers: &[&str], gone: &str| {
            let gate = standing(Bind::Commit, answers);
            let lets: Vec<_> =
                (1..=9).filter(|n| gate.lets_go(Some(&tip(*n)))).map(|n| n.to_string()).collect();
            assert_eq!(lets.concat(), gone, "{answers:?}");
            assert!(!gate.lets_go(None) && !gate.is_closed() && !gate.is_open() && !gate.is_rejected());
        };
        check(&[], "");
        check(&["+3"], "123");
        check(&["-3"], "");
        check(&["+3", "-2"], "1");
        check(&["+3", "-2", "+5"], "12345");
        check(&["+3", "-5"], "123");
        check(&["-2", "+3", "-3"], "12");
        check(&["+3", "+2"], "123");
    }

    #[test]
    fn the_same_files_in_another_commit_are_told_apart_or_not() {
        let amended = Tip {
            commit: "x".into(),
            tree: "t3".into(),
            within: ["x".into()].into(),
            reaches: tip(2).reaches,
        };
        for (bind, answers, lets) in [
            (Bind::Commit, &["+3"][..], false),
            (Bind::Tree, &["+3"], true),
            (Bind::Tree, &["+3", "-3"], false),
            (Bind::Tree, &["+4"], false),
        ] {
            assert_eq!(standing(bind, answers).lets_go(Some(&amended)), lets, "{bind:?} {answers:?}");
        }
    }

    #[test]
    fn a_standing_gate_is_about_what_leaves_and_keeps_the_newest_answers() {
        let id = gate_id("bucket");
        assert_eq!(gate(&["t-7k3q"]).standing(Bind::Commit), Err(Refusal::StandingOverWork));
        let turn = Gate { blocks: [Act::Turn, Act::Push].into(), ..gate(&[]) };
        assert_eq!(turn.standing(Bind::Commit), Err(Refusal::StandingOverWork));
        let many: Vec<String> = (0..40).map(|n| format!("+{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let gate = standing(Bind::Commit, &many);
        assert_eq!(
            gate.answered().collect::<Vec<_>>(),
            many[24..].iter().map(|n| n.replace('+', "c")).collect::<Vec<_>>()
        );
        assert!(!gate.blocks.contains(&Act::Turn));
        assert!(matches!(answer(&gate, "approve"), Err(Refusal::NothingSeen { .. })));
        let again = Seen { question: gate.digest(), commit: Some("c39".into()), tree: Some("t39".into()) };
        let again = gate.resolve(&id, "approve".parse().unwrap(), proven(), at("12:00"), None, again);
        assert!(matches!(again, Err(Refusal::GateDecided { .. })));
        assert!(gate.withdraw(&id, proven(), at("12:00"), "moot".parse().unwrap()).unwrap().is_closed());
        assert_ne!(standing(Bind::Tree, &[]).digest(), standing(Bind::Commit, &[]).digest());
    }

    #[test]
    fn an_answer_holds_for_the_question_that_was_shown_and_no_other() {
        let shown = gate(&[]);
        let changed = gate(&["t-7k3q"]);
        let seen = Seen { question: shown.digest(), commit: None, tree: None };
        let answer = changed.resolve(
            &gate_id("bucket"),
            "approve".parse().unwrap(),
            proven(),
            at("11:00"),
            None,
            seen,
        );
        assert_eq!(answer.unwrap_err(), Refusal::QuestionChanged { gate: gate_id("bucket") });
    }

    #[test]
    fn what_waits_for_which_gate() {
        let check = |gate: &Gate, push: bool, named: bool, other: bool| {
            assert_eq!(gate.holds_back(Act::Push), push);
            assert_eq!(gate.stops(&todo_id("t-7k3q")), named);
            assert_eq!(gate.stops(&todo_id("t-0000")), other);
        };
        check(&gate(&[]), true, true, true);
        check(&gate(&["t-7k3q"]), true, true, false);
        check(&answer(&gate(&[]), "reject").unwrap(), true, false, false);
        check(&answer(&gate(&["t-7k3q"]), "reject").unwrap(), true, true, false);
        check(&answer(&gate(&["t-7k3q"]), "approve").unwrap(), false, false, false);
        let mut turn_only = gate(&[]);
        turn_only.blocks = [Act::Turn].into();
        check(&turn_only, false, true, true);
    }

    #[test]
    fn reject_is_always_on_offer() {
        let asked = gate(&[]).asked;
        let ship = Gate::new(
            "Which?".parse().unwrap(),
            vec!["blue".parse().unwrap()],
            BTreeSet::new(),
            BTreeSet::new(),
            asked,
        );
        assert_eq!(ship.options.iter().map(Choice::as_str).collect::<Vec<_>>(), ["blue", "reject"]);
        assert!(answer(&ship, "blue").unwrap().is_closed());
    }
}
