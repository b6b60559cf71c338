//! Runs `board_toml` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::board_toml::check(data));
