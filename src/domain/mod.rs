//! What loopx knows about loops, without any world around it.
//!
//! Pure values and pure transitions: no files, no git, no clock, no randomness, no environment. Time, identity
//! and random bytes are arguments. A value of these types is legal by construction, so the transitions only have
//! to ask whether a *step* is legal; if not they answer with a [`Refusal`](refusal::Refusal) that carries the
//! facts.
//!
//! Read in this order: the words ([`id`], [`text`], [`time`], [`actor`]), the nouns ([`goal`], [`gate`],
//! [`todo`](mod@todo), [`evidence`], [`command`], [`quota`], [`bypass`]), one goal with everything open in it ([`state`]), and then the two
//! questions that the product is about: what may happen next ([`decision`]) and may this leave ([`push`]).
//! [`secret`] tells what must not be written down, [`change`] is what a decision to write looks like, [`authority`] who may make
//! it, and [`audit`] judges one that somebody else has written.

pub mod actor;
mod base64;
pub mod id;
pub mod text;
pub mod time;

pub mod bypass;
pub mod command;
pub mod evidence;
pub mod gate;
pub mod goal;
pub mod handoff;
pub mod needs;
pub mod openpgp;
pub mod policy;
pub mod preset;
pub mod quota;
pub mod todo;
pub mod turn;
pub mod worklist;

pub mod approver;
pub mod audit;
pub mod authority;
pub mod change;
pub mod decision;
pub mod foremost;
pub mod push;
pub mod receipt;
pub mod refusal;
pub mod scope;
pub mod secret;
pub mod shell;
pub mod state;
pub mod statement;
pub mod sync;

#[cfg(test)]
mod samples;
