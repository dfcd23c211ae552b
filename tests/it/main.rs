//! The program as its users meet it: real binary, real git, a sealed world for each test.

mod registry;
mod sandbox;

mod answers;
mod authority;
mod compact;
mod demo;
mod doctor;
mod evidence;
mod full;
mod gates;
mod gits;
mod goals;
mod guard;
mod hooks;
mod imports;
mod init;
mod input;
mod json;
mod kills;
mod persons;
mod publishing;
mod pushes;
mod quota;
mod races;
mod scopes;
mod signing;
mod standing;
mod status;
mod tidy;
mod todos;
mod transcripts;
mod transfer;
mod trust;
mod uninstall;
mod verify;
