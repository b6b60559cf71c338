use std::io::Write;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;

const FIP: &str = "SOFTWARE/fip.bin";

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for (place, (name, data)) in files.iter().enumerate() {
        let method = match place % 2 {
            0 => CompressionMethod::Stored,
            _ => CompressionMethod::Deflated,
        };
        let options = SimpleFileOptions::default().compression_method(method);
        out.start_file(*name, options).expect("begun");
        out.write_all(data).expect("written");
    }
    out.finish().expect("finished").into_inner()
}

fn refused(file: &[u8]) -> String {
    let opened = Recovery::open(file, FIP);
    let result = opened.and_then(|mut it| it.fip());
    format!("{:#}", result.expect_err("refused"))
}

/// Returns the place of the last `mark` in `file`.
fn last(file: &[u8], mark: &[u8]) -> usize {
    memchr::memmem::rfind(file, mark).expect("there")
}

#[test]
fn each_fault_is_named() {
    let good = zip(&[("a", b"x"), (FIP, b"old")]);
    let central = last(&good, b"PK\x01\x02");
    let local = last(&good, b"PK\x03\x04");
    let with = |places: [usize; 2], byte: u8| {
        let mut file = good.clone();
        places.into_iter().for_each(|place| file[place] = byte);
        file
    };
    let mut broken = zip(&[(FIP, b"some bytes")]);
    let data = last(&broken, b"some bytes");
    broken[data] ^= 1;
    let twice = zip(&[(FIP, b"x"), ("SOFTWARE/fip.bim", b"y")]);
    let twice = patched(&twice, b"bim", b"bin", true);
    let other = zip(&[("SOFTWARE/FIP.BIN", b"x"), ("b/fip.bin", b"x")]);
    for (file, expected) in [
        (Vec::new(), "this is no zip"),
        (b"\x01\x00\x64\xaa".to_vec(), "this is no zip"),
        (good[..good.len() / 2].to_vec(), "this is a broken zip"),
        (zip(&[]), "there is no SOFTWARE/fip.bin in it"),
        (other, "in it, but SOFTWARE/FIP.BIN, b/fip.bin"),
        (twice, "two files in it are called \"SOFTWARE/fip.bin\""),
        (with([central + 8, local + 6], 1), "is encrypted"),
        // A method that is not compiled in; a checksum that is wrong.
        (with([central + 10, local + 8], 95), "cannot be unpacked"),
        (with([local + 8; 2], 95), "another method of compression"),
        (broken, "cannot be unpacked"),
    ] {
        let said = refused(&file);
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_bomb_ends_at_the_limit() {
    let big = vec![0; 100_000];
    let bomb = zip(&[("a", b""), (FIP, &big)]);
    assert!(bomb.len() < 1000);
    let mut recovery = Recovery::open(&bomb, FIP).expect("opened");
    assert_eq!(recovery.fip_within(100_000).expect("read"), big);
    let error = recovery.fip_within(99_999).expect_err("too large");
    assert!(error.to_string().contains("more than the 99999 bytes"));
}

#[test]
fn any_bytes_are_an_error_at_worst() {
    let good = zip(&[("a", b"x"), (FIP, b"old"), ("b", b"yy")]);
    for at in 0..good.len() {
        for value in [0, 0xff, good[at] ^ 1] {
            let mut file = good.clone();
            file[at] = value;
            if let Ok(mut recovery) = Recovery::open(&file, FIP) {
                let _ = recovery.check();
                let _ = recovery.fip();
                let _ = recovery.with(b"new");
            }
        }
    }
}

/// Replaces the first `old` in `file`, of the same length.
fn patched(file: &[u8], old: &[u8], new: &[u8], all: bool) -> Vec<u8> {
    let mut file = file.to_vec();
    let places: Vec<usize> = memchr::memmem::find_iter(&file, old).collect();
    assert!(!places.is_empty());
    for place in places.into_iter().take(if all { usize::MAX } else { 1 }) {
        file[place..place + new.len()].copy_from_slice(new);
    }
    file
}

#[test]
fn one_file_on_a_card() {
    for other in [
        "SOFTWARE/FIP.BIN",
        "./software//fip.bin.",
        "SOFTWARE\\fip.bin",
    ] {
        let files: [(&str, &[u8]); 2] = [(other, b"x"), (FIP, b"old")];
        let said = refused(&zip(&files));
        assert!(said.contains("one file on a FAT card"), "{other}: {said}");
        let said = refused(&zip(&files[..1]));
        assert_eq!(said, format!("there is no {FIP} in it, but {other}"));
    }
    let out = zip(&[("a/../../x", b"x"), (FIP, b"old")]);
    assert!(refused(&out).contains("leads out of the card"));
}

#[test]
fn headers_and_list_say_the_same() {
    let good = zip(&[("config.txt", b"some text"), (FIP, b"old")]);
    // The size in the file's own header.
    let mut sizes = good.clone();
    sizes[18] ^= 1;
    // Two names for the bytes of one file.
    let mut shared = zip(&[("SOFTWARE/fap.bin", b"old"), ("a", b""), (FIP, b"old")]);
    let first = memchr::memmem::find(&shared, b"PK\x01\x02").expect("there");
    for record in [first, last(&shared, b"PK\x01\x02")] {
        shared[record + 42..record + 46].fill(0);
    }
    let other = patched(&good, b"config.txt", b"konfig.txt", false);
    let no_record = patched(&good, b"PK\x01\x02", b"PK\x01\x03", false);
    for (file, expected) in [
        (other, "its own header calls it"),
        (no_record, "there is none at"),
        (sizes, "another size or checksum"),
        (shared, "bytes in common"),
    ] {
        let said = refused(&file);
        assert!(said.starts_with(BROKEN) && said.contains(expected));
    }
}

#[test]
fn where_a_zip_ends() {
    let good = zip(&[("config.txt", b"some text"), (FIP, b"old")]);
    let len = good.len();
    let with_comment = |comment: &[u8]| {
        let mut file = good.clone();
        let size = u16::try_from(comment.len()).expect("short");
        file[len - 2..].copy_from_slice(&size.to_le_bytes());
        file.extend(comment);
        file
    };
    let odd = b"see PK\x05\x06abcdefghijklmnopqrs, it says";
    // One that would be the end of a zip without files.
    let none = [&b"PK\x05\x06"[..], &[0; 18], b"..."].concat();
    // What is behind the end stays, too.
    let behind = [&good[..], b"behind"].concat();
    for file in [with_comment(odd), with_comment(&none), behind] {
        let mut recovery = Recovery::open(&file, FIP).expect("opened");
        assert_eq!(recovery.fip().expect("read"), b"old");
        let new = recovery.with(b"new").expect("replaced");
        assert!(new.ends_with(&file[len..]));
    }
    // A comment that is an end, too, with a list of its own.
    let said = refused(&with_comment(&good[len - 22..]));
    assert!(said.contains("it has two ends"), "{said}");
    // What unpacks itself: its places count from where the zip begins.
    let before = [b"PK\x03\x04#!/bin/sh\n", &good[..]].concat();
    let said = refused(&before);
    assert!(said.starts_with("14 bytes come before the zip"), "{said}");
    assert!(has_zip(&[b"MZ", &good[..]].concat()) && !has_zip(&good) && !has_zip(b"MZ"));
}

#[test]
fn all_files_are_unpacked() {
    let good = zip(&[("a", b"some text"), (FIP, b"old")]);
    let mut recovery = Recovery::open(&good, FIP).expect("opened");
    assert_eq!(recovery.check().expect("sound"), [""; 0]);
    assert!(recovery.check_within(12).is_ok());
    let error = recovery.check_within(11).expect_err("too large");
    assert!(error.to_string().contains("more than the 11 bytes"));
    let broken = patched(&good, b"some text", b"soem text", false);
    let error = Recovery::open(&broken, FIP).and_then(|mut it| it.check());
    let error = error.expect_err("a wrong checksum");
    assert_eq!(error.to_string(), "a cannot be unpacked");
    // A method that is not compiled in: the file is kept, unchecked.
    let mut odd = good.clone();
    for (mark, at) in [(b"PK\x03\x04", 8), (b"PK\x01\x02", 10)] {
        let place = memchr::memmem::find(&odd, mark).expect("there");
        odd[place + at] = 14;
    }
    let mut recovery = Recovery::open(&odd, FIP).expect("opened");
    assert_eq!(recovery.check().expect("sound"), ["a"]);
    let new = recovery.with(b"new").expect("replaced");
    assert_eq!(new[..40], odd[..40]);
}
