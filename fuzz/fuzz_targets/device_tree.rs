//! Runs `device_tree` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::device_tree::check(data));
