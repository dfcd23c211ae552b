//! The program as its users meet it: real binary, real git, a sealed world for each test.

mod sandbox;

mod gates;
mod gits;
mod kills;
mod races;
