#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| loopx::fuzz::outlines(bytes));
