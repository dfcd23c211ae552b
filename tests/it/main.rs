//! The program as its users meet it: real binary, real git, a sealed world for each test.

mod sandbox;

mod evidence;
mod gates;
mod goals;
mod hooks;
mod init;
mod input;
mod json;
mod persons;
mod pushes;
mod quota;
mod status;
mod todos;
mod trust;
