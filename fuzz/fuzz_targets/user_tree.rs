//! Runs `user_tree` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::user_tree::check(data));
