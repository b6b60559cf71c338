//! Tests replacing BL33 in FIPs with certificates. BL33 is replaced only if it also gets a new
//! certificate.

use boards::Uuid;
use boards::image_kinds::find_by_option;
use fip::{Fip, Image};

use crate::support::PROGRAM;
use crate::support::packages::{CERT_CREATE, payload, trusted};
use crate::support::scratch::Scratch;

const BUILD: &str = "fip pack --board qemu --payload payload.bin --base";

fn uuid(option: &str) -> Uuid {
    find_by_option(option).expect("a kind").uuid
}

/// Returns a directory that contains a payload.
fn scratch() -> Scratch {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    scratch.write("payload.bin", &payload());
    scratch
}

fn fip(scratch: &Scratch, name: &str) -> Fip {
    let (fip, _) = Fip::read(&scratch.read(name)).expect("good");
    fip
}

/// Keys that are rejected, with part of each error.
const KEYS: &[(&str, &str)] = &[
    ("world.pem", "the key named in the package's nt-fw-key-cert"),
    ("rot.pem", "not the key"),
    ("bl33", "--nt-fw-key bl33: not a private key in PEM format"),
    ("locked.pem", "--nt-fw-key locked.pem: the key is encrypted"),
    (
        "broken.pem",
        "--nt-fw-key broken.pem: TF-A's cert_create cannot sign",
    ),
    ("gone.pem", "--nt-fw-key gone.pem"),
    (
        "nt.pem --soc-fw bl31",
        "--soc-fw bl31: the --base FIP has cert",
    ),
];

#[test]
fn a_certificate_for_the_new_bl33() {
    let scratch = scratch();
    let build = format!("{BUILD} base.bin -o new.bin");
    for (algorithm, hash, config) in [
        ("rsa", "sha256", ""),
        ("ecdsa", "sha384", "--nt-fw-config config"),
    ] {
        trusted(&scratch, algorithm, hash, config);
        scratch.refuses(&build, "--base base.bin has certificates");
        scratch.theirs("openssl pkey -in nt.pem -aes256 -passout pass:x -out locked.pem");
        scratch.write("broken.pem", "-----BEGIN PRIVATE KEY-----\n");
        for (key, words) in KEYS {
            let stderr = scratch.refused(&format!("{build} --nt-fw-key {key}"));
            let is_good = stderr.contains(words) && !stderr.contains("--rot-key");
            assert!(is_good, "{stderr}");
        }
        // The BL33 certificate is the old one, as it would be after unpacking a FIP.
        scratch.ours(&format!(
            "fip pack --board qemu --payload payload.bin -o parts.bin --tb-fw bl2 --soc-fw bl31 \
             --trusted-key-cert t.crt --nt-fw-key-cert nk.crt --nt-fw-cert n.crt \
             --nt-fw-key nt.pem {config}"
        ));
        scratch.ours(&format!("{build} --nt-fw-key nt.pem"));
        is_as_cert_create_makes_it(&scratch, hash, config);
    }
}

/// Checks that `new.bin` and `base.bin` differ only in BL33 and its certificate, and that the
/// certificate matches the one from cert_create except in its serial number and dates.
fn is_as_cert_create_makes_it(scratch: &Scratch, hash: &str, config: &str) {
    let [before, after] = ["base.bin", "new.bin"].map(|name| fip(scratch, name));
    let changed = [uuid("nt-fw"), uuid("nt-fw-cert")];
    assert_eq!(before.images.len(), after.images.len());
    for Image { uuid, .. } in &before.images {
        let same = before.get(*uuid) == after.get(*uuid);
        assert_eq!(same, !changed.contains(uuid), "{uuid:?}");
    }
    let [bl33, certificate] = changed.map(|uuid| after.get(uuid).expect("an image"));
    scratch.write("bl33", bl33);
    scratch.write("new.crt", certificate);
    scratch.theirs(&format!(
        "{CERT_CREATE} --key-alg ecdsa --hash-alg {hash} --nt-fw-key nt.pem --nt-fw-cert \
         theirs.crt --nt-fw bl33 {config}"
    ));
    let extensions = |name: &str| {
        scratch.theirs(&format!(
            "openssl x509 -inform DER -in {name} -noout -text -certopt \
             no_header,no_serial,no_validity,no_sigdump -out text"
        ));
        String::from_utf8(scratch.read("text")).expect("text")
    };
    let ours = extensions("new.crt");
    assert!(ours.contains("1.3.6.1.4.1.4128.2100.1201"), "{ours}");
    assert_eq!(ours, extensions("theirs.crt"));
    assert_ne!(ours, extensions("n.crt"));
}

#[test]
fn certificates_that_name_no_key_or_vouch_for_something_else() {
    let scratch = scratch();
    trusted(&scratch, "ecdsa", "sha256", "--nt-fw-config config");
    let assert_refused = |option: &str, image: Option<&[u8]>, words: &str| {
        let mut fip = fip(&scratch, "base.bin");
        assert!(fip.remove(uuid(option)));
        if let Some(image) = image {
            fip.put(uuid(option), image.to_vec()).expect("good");
        }
        scratch.write("bad.bin", &fip.build().expect("images"));
        let line = format!("{BUILD} bad.bin --nt-fw-key nt.pem -o new.bin");
        scratch.refuses(&line, words);
    };
    for (option, file, other, extension) in [
        ("nt-fw-cert", "n.crt", "s.crt", "1201"),
        ("nt-fw-key-cert", "nk.crt", "sk.crt", "1101"),
    ] {
        assert_refused(option, None, &format!("no {option}"));
        let (good, other) = (scratch.read(file), scratch.read(other));
        let no_certificate = format!("{option} of the package: not an X.509 certificate");
        for cut in (0..good.len()).step_by(97).skip(1) {
            assert_refused(option, Some(&good[..cut]), &no_certificate);
        }
        let lacks = format!("the package: no extension 1.3.6.1.4.1.4128.2100.{extension}");
        assert_refused(option, Some(&other), &format!("{option} of {lacks}"));
    }
    // The old certificate covers a configuration that the FIP does not contain.
    let words = "2100.1202 differs from the old";
    assert_refused("nt-fw-config", None, words);
    // Users can still replace an image without updating its certificate, but only with --force.
    let update = "fip update base.bin --nt-fw bl31";
    scratch.refuses(update, "base.bin has certificates");
    let whole = scratch.read("base.bin");
    scratch.ours(&format!("{update} --force"));
    scratch.ours("fip update base.bin --nt-fw bl33 --nt-fw-cert n.crt");
    assert!(scratch.read("base.bin") == whole);
}
