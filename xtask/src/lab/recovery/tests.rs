use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use super::*;

const FIP: &str = "SOFTWARE/fip.bin";

/// Returns a zip in which every other file is deflated.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    let methods = [CompressionMethod::Stored, CompressionMethod::Deflated];
    for ((name, data), method) in files.iter().zip(methods.into_iter().cycle()) {
        let options = SimpleFileOptions::default().compression_method(method);
        out.start_file(*name, options).expect("begun");
        out.write_all(data).expect("written");
    }
    out.finish().expect("finished").into_inner()
}

/// Returns `file` with up to `count` occurrences of the `old` bytes replaced by `new`, which has
/// the same length.
fn patched(file: &[u8], old: &[u8], new: &[u8], count: usize) -> Vec<u8> {
    let mut file = file.to_vec();
    let places: Vec<usize> = memchr::memmem::find_iter(&file, old).collect();
    assert!(!places.is_empty());
    for place in places.into_iter().take(count) {
        file[place..place + new.len()].copy_from_slice(new);
    }
    file
}

/// Returns `file` with `byte` written to each of its headers: at offset `local` in the local
/// headers, which precede the files, and at `local + 2` in the central directory headers.
fn with_headers(file: &[u8], local: usize, byte: u8) -> Vec<u8> {
    let mut file = file.to_vec();
    for (mark, at) in [(b"PK\x03\x04", local), (b"PK\x01\x02", local + 2)] {
        let places: Vec<usize> = memchr::memmem::find_iter(&file, mark).collect();
        places.into_iter().for_each(|place| file[place + at] = byte);
    }
    file
}

#[test]
fn unusable_zip_is_refused_with_its_fault() {
    let good = zip(&[("config.txt", b"some text"), (FIP, b"old")]);
    let twice = zip(&[(FIP, b"x"), ("SOFTWARE/fip.bim", b"y")]);
    let alone = |name| zip(&[(name, b"x")]);
    let both = |name| zip(&[(name, b"x"), (FIP, b"old")]);
    for (file, expected) in [
        (good[..good.len() / 2].to_vec(), "the zip is damaged"),
        (patched(&twice, b"bim", b"bin", 2), "duplicate file names"),
        (patched(&good, b"config", b"konfig", 1), "filename mismatch"),
        (patched(&good, b"PK\x01\x02", b"PK\x01\x03", 1), "damaged"),
        (with_headers(&good, 6, 1), "\"config.txt\" is encrypted"),
        // Support for this compression method is not compiled in.
        (with_headers(&good, 8, 95), "config.txt cannot be unpacked"),
        (patched(&good, b"some", b"soem", 1), "cannot be unpacked"),
        (patched(&alone(FIP), b"x", b"y", 1), "cannot be unpacked"),
        (
            [b"PK#!", &good[..]].concat(),
            "is not at the start of the file",
        ),
        (zip(&[]), "the zip has no SOFTWARE/fip.bin"),
        (
            alone("SOFTWARE/FIP.BIN"),
            "the zip has SOFTWARE/FIP.BIN, but no",
        ),
        (both("SOFTWARE/FIP.BIN"), "the same file on a FAT card"),
        (both("a/../../x"), "points outside the SD card"),
    ] {
        assert!(is_zip(&file));
        let error = replace_fip(&file, FIP, |old| Ok(old.to_vec())).expect_err(expected);
        let error = format!("{error:#}");
        assert!(error.contains(expected), "{error}");
    }
    assert!(!is_zip(b"MZPK") && !is_zip(b""));
    assert!(replace_fip(&good, FIP, |_| Ok(b"new".to_vec())).is_ok());
}

#[test]
fn unpacking_ends_at_the_limit() {
    let big = vec![0; 100_000];
    let bomb = zip(&[("a", b"x"), (FIP, &big)]);
    assert!(bomb.len() < 1000);
    let mut archive = open(&bomb).expect("opened");
    assert_eq!(read_fip(&mut archive, 1, 100_000).expect("read"), big);
    let error = read_fip(&mut archive, 1, 99_999).expect_err("too large");
    assert!(error.to_string().contains("limit of 99999 bytes"));
    check_files(&mut archive, 100_001).expect("as many");
    let error = check_files(&mut archive, 100_000).expect_err("too large");
    assert!(error.to_string().contains("limit of 100000 bytes"));
}
