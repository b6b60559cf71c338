//! BL33 replaced where certificates vouch for it: a new certificate, or none.

mod support;

use std::fs;

use support::packages::{payload, trusted};
use support::scratch::Scratch;
use xtask::board::image_kinds::called;
use xtask::build::fip::{Builder, read};

#[test]
fn a_certificate_for_the_new_bl33() {
    let scratch = Scratch::new();
    scratch.write("payload.bin", &payload());
    let build = "fip build --board qemu --base base.bin --payload payload.bin -o new.bin";
    for (algorithm, hash, config) in [
        ("rsa", "sha256", ""),
        ("ecdsa", "sha384", "--nt-fw-config config"),
    ] {
        for name in ["rot.pem", "nt.pem", "world.pem"] {
            let _ = fs::remove_file(scratch.path(name));
        }
        trusted(&scratch, algorithm, hash, config);
        let said = scratch.refused(build);
        assert!(said.contains("there are certificates in it"), "{said}");
        assert!(said.contains("--nt-fw-key PEM"), "{said}");
        // A key, but not the one; no key; no file.
        for (key, expected) in [
            (
                "world.pem",
                "not the key that the package's nt-fw-key-cert names",
            ),
            ("rot.pem", "not the key"),
            ("bl33", "is it a private key in PEM form?"),
            ("gone.pem", "--nt-fw-key gone.pem"),
        ] {
            let said = scratch.refused(&format!("{build} --nt-fw-key {key}"));
            assert!(said.contains(expected), "{key}: {said}");
        }
        let said = scratch.refused(&format!("{build} --nt-fw-key nt.pem --soc-fw bl31"));
        assert!(
            said.contains("--soc-fw bl31: --base has certificates"),
            "{said}"
        );

        let said = scratch.refused(&format!("{build} --nt-fw-key nt.pem --nt-fw-cert n.crt"));
        let conflict = "--nt-fw-cert n.crt: with --base and --nt-fw-key";
        assert!(said.contains(conflict), "{said}");
        // Of parts it is the old one.
        scratch.ours(&format!(
            "fip build --board qemu --payload payload.bin -o parts.bin --tb-fw bl2 --soc-fw bl31 \
             --trusted-key-cert t.crt --nt-fw-key-cert nk.crt --nt-fw-cert n.crt \
             --nt-fw-key nt.pem {config}"
        ));

        scratch.ours(&format!("{build} --nt-fw-key nt.pem"));
        let (old, new) = (scratch.read("base.bin"), scratch.read("new.bin"));
        let (before, _) = read(&old).expect("good");
        let (after, _) = read(&new).expect("good");
        let uuid = |option: &str| called(option).expect("a kind").uuid;
        let changed = [uuid("nt-fw"), uuid("nt-fw-cert")];
        assert_eq!(before.entries.len(), after.entries.len());
        for entry in &before.entries {
            let same = before.image(&old, entry.uuid) == after.image(&new, entry.uuid);
            assert_eq!(same, !changed.contains(&entry.uuid), "{:?}", entry.uuid);
        }
        // What cert_create makes of the same, but for serial number and dates.
        scratch.write("bl33", after.image(&new, uuid("nt-fw")).expect("BL33"));
        scratch.write(
            "new.crt",
            after.image(&new, uuid("nt-fw-cert")).expect("one"),
        );
        scratch.write(
            "old.crt",
            before.image(&old, uuid("nt-fw-cert")).expect("one"),
        );
        scratch.theirs(&format!(
            "cert_create -n --key-alg ecdsa --hash-alg {hash} --tfw-nvctr 3 --ntfw-nvctr 7 \
             --nt-fw-key nt.pem --nt-fw-cert theirs.crt --nt-fw bl33 {config}"
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
}

#[test]
fn chains_of_trust_that_do_not_hold() {
    let scratch = Scratch::new();
    scratch.write("payload.bin", &payload());
    trusted(&scratch, "ecdsa", "sha256", "--nt-fw-config config");
    let whole = scratch.read("base.bin");
    let build = "fip build --board qemu --base bad.bin --payload payload.bin --nt-fw-key nt.pem \
        -o new.bin";
    let uuid = |option: &str| called(option).expect("a kind").uuid;
    let with = |change: &dyn Fn(&mut Builder)| {
        let (package, _) = read(&whole).expect("good");
        let mut builder = Builder::of(&package, &whole).expect("good");
        change(&mut builder);
        scratch.write("bad.bin", &builder.build().expect("images"));
        scratch.refused(build)
    };
    for option in ["nt-fw-cert", "nt-fw-key-cert"] {
        let said = with(&|builder| assert!(builder.remove(uuid(option))));
        assert!(said.contains(&format!("no {option}")), "{said}");
        let good = scratch.read(if option == "nt-fw-cert" {
            "n.crt"
        } else {
            "nk.crt"
        });
        for cut in (0..good.len()).step_by(7).skip(1) {
            let said = with(&|builder| {
                builder
                    .put(uuid(option), good[..cut].to_vec())
                    .expect("good");
            });
            let what = format!("{option} of the package: no X.509 certificate");
            assert!(said.contains(&what), "cut at {cut}: {said}");
        }
    }
    // Another certificate where one is looked for.
    for (option, file, expected) in [
        (
            "nt-fw-cert",
            "s.crt",
            "nt-fw-cert of the package: no extension 1.3.6.1.4.1.4128.2100.1201",
        ),
        (
            "nt-fw-key-cert",
            "sk.crt",
            "nt-fw-key-cert of the package: no extension 1.3.6.1.4.1.4128.2100.1101",
        ),
    ] {
        let said = with(&|builder| {
            builder.put(uuid(option), scratch.read(file)).expect("good");
        });
        assert!(said.contains(expected), "{said}");
    }
    // The old certificate vouches for a configuration that is not there.
    let said = with(&|builder| assert!(builder.remove(uuid("nt-fw-config"))));
    assert!(
        said.contains("2100.1202 is not as in the old one"),
        "{said}"
    );
    // By hand it is possible only on purpose.
    let said = scratch.refused("fip update base.bin --nt-fw bl31");
    assert!(said.contains("base.bin has certificates"), "{said}");
    scratch.ours("fip update base.bin --nt-fw bl31 --force");
    scratch.ours("fip update base.bin --nt-fw bl33 --nt-fw-cert n.crt");
    assert!(scratch.read("base.bin") == whole);
}

#[test]
fn every_link_of_the_chain_is_verified() {
    let scratch = Scratch::new();
    scratch.write("payload.bin", &payload());
    let build = "fip build --board qemu --base bad.bin --payload payload.bin --nt-fw-key nt.pem \
        -o new.bin";
    let uuid = |option: &str| called(option).expect("a kind").uuid;
    for algorithm in ["rsa", "ecdsa"] {
        for name in ["rot.pem", "nt.pem", "world.pem"] {
            let _ = fs::remove_file(scratch.path(name));
        }
        trusted(&scratch, algorithm, "sha384", "");
        let whole = scratch.read("base.bin");
        let refused = |option: &str, certificate: Option<Vec<u8>>| {
            let (package, _) = read(&whole).expect("good");
            let mut builder = Builder::of(&package, &whole).expect("good");
            assert!(builder.remove(uuid(option)));
            if let Some(der) = certificate {
                builder.put(uuid(option), der).expect("good");
            }
            scratch.write("bad.bin", &builder.build().expect("images"));
            scratch.refused(build)
        };
        // Sound certificates, but of another chain: only the keys given are ours.
        scratch.theirs(&format!(
            "cert_create -n --key-alg {algorithm} --hash-alg sha384 --tfw-nvctr 3 --ntfw-nvctr 7 \
             --rot-key rot.pem --nt-fw-key nt.pem --trusted-key-cert other-t.crt \
             --nt-fw-key-cert other-nk.crt"
        ));
        scratch.theirs(&format!(
            "cert_create -n --key-alg {algorithm} --hash-alg sha384 --tfw-nvctr 3 --ntfw-nvctr 7 \
             --nt-fw-cert other-n.crt --nt-fw bl33"
        ));
        let world = "nt-fw-key-cert of the package: it is not signed with the key that \
            trusted-key-cert names";
        let content = "nt-fw-cert of the package: it is not signed with the key that \
            nt-fw-key-cert names";
        for (option, file, expected) in [
            ("nt-fw-key-cert", "other-nk.crt", world),
            ("trusted-key-cert", "other-t.crt", world),
            ("nt-fw-cert", "other-n.crt", content),
            (
                "trusted-key-cert",
                "b.crt",
                "trusted-key-cert of the package: no extension",
            ),
            (
                "trusted-key-cert",
                "nk.crt",
                "trusted-key-cert of the package: no extension",
            ),
        ] {
            let said = refused(option, Some(scratch.read(file)));
            assert!(
                said.contains(expected),
                "{algorithm} {option} {file}: {said}"
            );
        }
        let said = refused("trusted-key-cert", None);
        assert!(said.contains("no trusted-key-cert"), "{said}");
        // A signature ends the certificate, and is over what begins it.
        for (option, file) in [
            ("trusted-key-cert", "t.crt"),
            ("nt-fw-key-cert", "nk.crt"),
            ("nt-fw-cert", "n.crt"),
        ] {
            let good = scratch.read(file);
            let mut signature = good.clone();
            let last = signature.len() - 2;
            signature[last..].iter_mut().for_each(|byte| *byte ^= 0x5a);
            let mut body = good.clone();
            // The first letters of its name, after the CN's OID and length.
            let name = body.windows(3).position(|oid| oid == [0x55, 0x04, 0x03]);
            body[name.expect("a common name") + 5] ^= 1;
            for der in [signature, body] {
                let said = refused(option, Some(der));
                let expected = format!("{option} of the package: its signature is not that");
                assert!(said.contains(&expected), "{algorithm} {option}: {said}");
            }
        }
        scratch.write("bad.bin", &whole);
        scratch.ours(build);
        fs::remove_file(scratch.path("new.bin")).expect("made");
    }
}
