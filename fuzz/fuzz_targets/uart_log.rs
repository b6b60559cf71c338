//! Runs `uart_log` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::uart_log::check(data));
