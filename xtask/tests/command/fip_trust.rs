//! BL33 replaced where certificates vouch for it: a new certificate, or none.

use crate::support::packages::{CERT_CREATE, payload, trusted};
use crate::support::scratch::Scratch;
use xtask::board::Uuid;
use xtask::board::image_kinds::called;
use xtask::build::fip::{Fip, Image};

const BUILD: &str = "fip build --board qemu --payload payload.bin --base";

fn uuid(option: &str) -> Uuid {
    called(option).expect("a kind").uuid
}

/// A directory with a payload.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("payload.bin", &payload());
    scratch
}

/// Refuses the package `base.bin` with this change, by these words.
fn refused_with(scratch: &Scratch, change: &dyn Fn(&mut Fip), words: &str) {
    let whole = scratch.read("base.bin");
    let (mut fip, _) = Fip::read(&whole).expect("good");
    change(&mut fip);
    scratch.write("bad.bin", &fip.build().expect("images"));
    let line = format!("{BUILD} bad.bin --nt-fw-key nt.pem -o new.bin");
    scratch.refuses(&line, words);
}

/// Refuses the package `base.bin` with another image under `option`.
fn refused_as(scratch: &Scratch, option: &str, image: &[u8], words: &str) {
    let change = |fip: &mut Fip| {
        fip.put(uuid(option), image.to_vec()).expect("good");
    };
    refused_with(scratch, &change, words);
}

#[test]
fn a_certificate_for_the_new_bl33() {
    let scratch = scratch();
    let build = format!("{BUILD} base.bin -o new.bin");
    for (algorithm, hash, config) in [
        ("rsa", "sha256", ""),
        ("ecdsa", "sha384", "--nt-fw-config config"),
    ] {
        trusted(&scratch, algorithm, hash, config);
        scratch.refuses(&build, "--base base.bin: there are certificates");
        scratch.theirs("openssl pkey -in nt.pem -aes256 -passout pass:x -out locked.pem");
        scratch.write("broken.pem", "-----BEGIN PRIVATE KEY-----\n");
        for (options, words) in [
            ("world.pem", "the key that the package's nt-fw-key-cert"),
            ("rot.pem", "not the key"),
            (
                "bl33",
                "--nt-fw-key bl33: this is no private key in PEM form",
            ),
            (
                "locked.pem",
                "--nt-fw-key locked.pem: this key is encrypted",
            ),
            (
                "broken.pem",
                "--nt-fw-key broken.pem: TF-A's cert_create signs nothing",
            ),
            ("gone.pem", "--nt-fw-key gone.pem"),
            ("nt.pem --soc-fw bl31", "--soc-fw bl31: --base has cert"),
        ] {
            let said = scratch.refused(&format!("{build} --nt-fw-key {options}"));
            assert!(
                said.contains(words) && !said.contains("--rot-key"),
                "{said}"
            );
        }
        // Of parts it is the old one.
        scratch.ours(&format!(
            "fip build --board qemu --payload payload.bin -o parts.bin --tb-fw bl2 --soc-fw bl31 \
             --trusted-key-cert t.crt --nt-fw-key-cert nk.crt --nt-fw-cert n.crt \
             --nt-fw-key nt.pem {config}"
        ));
        // Another BL31 than the certificate's is a warning.
        scratch.theirs("fiptool update --soc-fw bl2 --out other.bin base.bin");
        let wrong = "soc-fw is not the image that soc-fw-cert has the hash of";
        for (base, is_other) in [("other.bin", true), ("base.bin", false)] {
            let said = scratch.ours(&format!("{BUILD} {base} -o new.bin --nt-fw-key nt.pem"));
            assert_eq!(
                said.contains(&format!("warning: --base {base}: {wrong}")),
                is_other
            );
        }
        is_as_cert_create_makes_it(&scratch, hash, config);
    }
}

/// In `new.bin` BL33 and its certificate alone are others than in `base.bin`, and the
/// certificate is cert_create's, but for serial number and dates.
fn is_as_cert_create_makes_it(scratch: &Scratch, hash: &str, config: &str) {
    let [before, after] = ["base.bin", "new.bin"].map(|name| {
        let (fip, _) = Fip::read(&scratch.read(name)).expect("good");
        fip
    });
    let changed = [uuid("nt-fw"), uuid("nt-fw-cert")];
    assert_eq!(before.images.len(), after.images.len());
    for Image { uuid, .. } in &before.images {
        let same = before.get(*uuid) == after.get(*uuid);
        assert_eq!(same, !changed.contains(uuid), "{uuid:?}");
    }
    let [bl33, certificate] = changed.map(|it| after.get(it).expect("an image"));
    let old = before.get(changed[1]).expect("one");
    for (file, data) in [("bl33", bl33), ("new.crt", certificate), ("old.crt", old)] {
        scratch.write(file, data);
    }
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
    assert_ne!(ours, extensions("old.crt"));
}

#[test]
fn chains_of_trust_that_do_not_hold() {
    let scratch = scratch();
    trusted(&scratch, "ecdsa", "sha256", "--nt-fw-config config");
    for (option, file, other, extension) in [
        ("nt-fw-cert", "n.crt", "s.crt", "1201"),
        ("nt-fw-key-cert", "nk.crt", "sk.crt", "1101"),
    ] {
        let remove = |fip: &mut Fip| assert!(fip.remove(uuid(option)));
        refused_with(&scratch, &remove, &format!("no {option}"));
        let (good, other) = (scratch.read(file), scratch.read(other));
        let no_certificate = format!("{option} of the package: no X.509 certificate");
        for cut in (0..good.len()).step_by(97).skip(1) {
            refused_as(&scratch, option, &good[..cut], &no_certificate);
        }
        let lacks = format!("the package: no extension 1.3.6.1.4.1.4128.2100.{extension}");
        refused_as(&scratch, option, &other, &format!("{option} of {lacks}"));
    }
    // The old certificate vouches for a configuration that is not there.
    let remove = |fip: &mut Fip| assert!(fip.remove(uuid("nt-fw-config")));
    refused_with(&scratch, &remove, "2100.1202 is not as in the old one");
    // By hand it is possible only on purpose.
    let update = "fip update base.bin --nt-fw bl31";
    scratch.refuses(update, "base.bin has certificates");
    let whole = scratch.read("base.bin");
    scratch.ours(&format!("{update} --force"));
    scratch.ours("fip update base.bin --nt-fw bl33 --nt-fw-cert n.crt");
    assert!(scratch.read("base.bin") == whole);
}

#[test]
fn every_link_of_the_chain_is_verified() {
    let scratch = scratch();
    for algorithm in ["rsa", "ecdsa"] {
        trusted(&scratch, algorithm, "sha384", "");
        // Sound certificates, but of another chain: only the keys given are ours.
        let others = format!("{CERT_CREATE} --key-alg {algorithm} --hash-alg sha384");
        scratch.theirs(&format!(
            "{others} --rot-key rot.pem --nt-fw-key nt.pem --trusted-key-cert other-t.crt \
             --nt-fw-key-cert other-nk.crt"
        ));
        scratch.theirs(&format!("{others} --nt-fw-cert other-n.crt --nt-fw bl33"));
        let world = "it is not signed with the key that trusted-key-cert names";
        let content = "it is not signed with the key that nt-fw-key-cert names";
        let lacks = "trusted-key-cert of the package: no extension";
        for (option, file, words) in [
            ("nt-fw-key-cert", "other-nk.crt", world),
            ("trusted-key-cert", "other-t.crt", world),
            ("nt-fw-cert", "other-n.crt", content),
            ("trusted-key-cert", "b.crt", lacks),
        ] {
            refused_as(&scratch, option, &scratch.read(file), words);
        }
        let remove = |fip: &mut Fip| assert!(fip.remove(uuid("trusted-key-cert")));
        refused_with(&scratch, &remove, "no trusted-key-cert");
        // A signature ends the certificate, and is over what begins it.
        let certificates = [
            "trusted-key-cert t.crt",
            "nt-fw-key-cert nk.crt",
            "nt-fw-cert n.crt",
        ];
        for (option, file) in certificates.iter().filter_map(|it| it.split_once(' ')) {
            let good = scratch.read(file);
            // The first letters of its name, after the CN's OID and length.
            let name = good.windows(3).position(|oid| oid == [0x55, 0x04, 0x03]);
            let name = name.expect("a common name") + 5;
            for at in [good.len() - 1, name] {
                let mut der = good.clone();
                der[at] ^= 1;
                let words = format!("{option} of the package: its signature is not that");
                refused_as(&scratch, option, &der, &words);
            }
        }
    }
}
