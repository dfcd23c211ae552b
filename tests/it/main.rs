//! The program as its users meet it: real binary, real git, a sealed world for each test.

mod sandbox;

mod bypass;
mod compact;
mod demo;
mod doctor;
mod evidence;
mod full;
mod gates;
mod gits;
mod goals;
mod hooks;
mod init;
mod input;
mod json;
mod kills;
mod persons;
mod pushes;
mod quota;
mod races;
mod signing;
mod status;
mod strict;
mod tidy;
mod todos;
mod transcripts;
mod transfer;
mod trust;
mod verify;
