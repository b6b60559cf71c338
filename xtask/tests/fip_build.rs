//! The files that boards take, made without compiler or Rust target.

mod support;

use std::fs;

use psci_bench::image::{
    MAGIC, MAGIC_OFFSET, PARAMETER_BLOCK, PARAMETER_BLOCK_SIZE, PARAMETER_MAGIC, PARAMETER_VERSION,
    ParameterBlock,
};
use support::scratch::{Scratch, files};
use support::xtask;
use xtask::board::{self, Blob, Board, PackageKind};
use xtask::fip::{Builder, called, read};
use xtask::setup::{self, Need};
use xtask::workspace::Workspace;

/// A released payload as far as packing goes: it would not run.
fn payload() -> Vec<u8> {
    let mut flat = vec![0xa5; 0x1234];
    flat[..PARAMETER_BLOCK + PARAMETER_BLOCK_SIZE].fill(0);
    flat[MAGIC_OFFSET..][..4].copy_from_slice(&MAGIC);
    flat[PARAMETER_BLOCK..][..8].copy_from_slice(&PARAMETER_MAGIC);
    flat[PARAMETER_BLOCK + 8..][..4].copy_from_slice(&PARAMETER_VERSION.to_le_bytes());
    flat[PARAMETER_BLOCK + 12] = PARAMETER_BLOCK_SIZE as u8;
    xtask::image::bare(flat).expect("an image")
}

fn boards() -> Vec<Board> {
    let workspace = Workspace::find().expect("the repository");
    let names = board::names(&workspace);
    let load = |name: &String| Board::load(&workspace, name).expect("a sound board file");
    names.iter().map(load).collect()
}

/// Stand-ins for what a board's FIP has besides BL33, as options.
fn stand_ins(scratch: &Scratch, requires: Vec<&str>, blobs: &[Blob]) -> String {
    let mut words = String::new();
    for option in requires {
        scratch.write(option, format!("a stand-in for {option}").as_bytes());
        words += &format!(" --{option} {option}");
    }
    for blob in blobs {
        let uuid = blob.uuid.get_ref();
        scratch.write(uuid, format!("a stand-in for {}", blob.title).as_bytes());
        words += &format!(" --blob uuid={uuid},file={uuid}");
    }
    words
}

/// Whether fiptool unpacks `fip` to what `options` has packed, and `bl33`.
fn unpacks(scratch: &Scratch, fip: &str, options: &str, bl33: Option<&[u8]>) {
    let _ = fs::remove_dir_all(scratch.path("unpacked"));
    fs::create_dir(scratch.path("unpacked")).expect("made");
    scratch.theirs(&format!("fiptool info {fip}"));
    scratch.theirs(&format!("fiptool unpack --out unpacked {fip}"));
    let mut expected: Vec<Vec<u8>> = options
        .split(" --")
        .filter_map(|option| option.split([' ', '=']).next_back())
        .filter(|file| !file.is_empty())
        .map(|file| scratch.read(file))
        .collect();
    expected.extend(bl33.map(<[u8]>::to_vec));
    expected.sort();
    let unpacked = files(&scratch.path("unpacked"));
    let mut unpacked: Vec<Vec<u8>> = unpacked.into_iter().map(|(_, data)| data).collect();
    unpacked.sort();
    assert!(unpacked == expected, "{fip} {options}");
}

#[test]
fn every_board_gets_its_file() {
    let workspace = Workspace::find().expect("the repository");
    setup::ensure(&workspace, &[Need::Mkimage, Need::Dtc]).expect("mkimage");
    let scratch = Scratch::new();
    scratch.write("payload.bin", &payload());
    for board in boards() {
        let name = board.name.get_ref();
        let said = scratch.ours(&format!(
            "image --board {name} --base payload.bin -o image.bin"
        ));
        let image = scratch.read("image.bin");
        let block = ParameterBlock::read(&image).expect("an image");
        assert_eq!(block.tree_offset + block.tree_size, image.len() as u64);
        let build = format!("fip build --board {name} --payload payload.bin -o fip.bin");
        let Some(package) = &board.package else {
            let said = scratch.refused(&build);
            assert!(said.contains("has no [package]"), "{said}");
            continue;
        };
        if *package.kind.get_ref() != PackageKind::Fip {
            let refused = scratch.refused(&build);
            let instead = format!("run `cargo xtask image --board {name}");
            assert!(refused.contains("takes no FIP"), "{refused}");
            assert!(refused.contains(&instead), "{refused}");
            assert!(said.contains(package.install.get_ref()), "{said}");
            if *package.kind.get_ref() == PackageKind::Fit {
                scratch.theirs("mkimage -f image.its image.itb");
                scratch.theirs("dumpimage -T flat_dt -p 0 -o out image.itb");
                assert!(scratch.read("out") == image, "{name}");
            }
            continue;
        }
        let requires = package.requires().iter();
        let requires = requires.map(|option| option.get_ref().as_str()).collect();
        let options = stand_ins(&scratch, requires, package.blobs());
        let said = scratch.ours(&format!("{build} {options}"));
        assert!(said.contains(package.install.get_ref()), "{said}");
        unpacks(&scratch, "fip.bin", &options, Some(&image));
        let file = scratch.read("fip.bin");
        let (fip, _) = read(&file).expect("a good package");
        for entry in fip.entries {
            assert_eq!(entry.range.start as u64 % package.align(), 0, "{name}");
        }
        // Without any one of them, the error names its option.
        for left_out in options.split(" --").filter(|word| !word.is_empty()) {
            let less = options.replace(&format!(" --{left_out}"), "");
            let said = scratch.refused(&format!("{build} {less}"));
            let option = left_out
                .split([' ', ','])
                .take(1 + usize::from(left_out.starts_with("blob")));
            let option = option.collect::<Vec<_>>().join(" ");
            assert!(said.contains(&format!("--{option}")), "{left_out}: {said}");
        }
        for part in package.parts() {
            let requires = part.requires.iter();
            let requires = requires.map(|option| option.get_ref().as_str()).collect();
            let options = stand_ins(&scratch, requires, &part.blobs);
            let file = part.file.get_ref();
            let make = format!("fip build --board {name} --part {file} -o {file}");
            scratch.ours(&format!("{make} {options}"));
            unpacks(&scratch, file, &options, None);
            let said = scratch.refused(&make);
            assert!(said.contains(&format!("{file} needs --")), "{said}");
        }
        let said = scratch.refused(&format!("fip build --board {name} --part moon -o a"));
        assert!(said.contains("--part moon"), "{said}");
    }
}

#[test]
fn bl33_of_a_users_fip_is_replaced() {
    let scratch = Scratch::new();
    scratch.write("payload.bin", &payload());
    scratch.write("other", b"another image");
    let blob = "uuid=cfacc2c4-15e8-4668-82be-430a38fad705,file=other";
    let images = format!("--soc-fw other --tos-fw other --blob {blob}");
    scratch.theirs(&format!(
        "fiptool create --plat-toc-flags 0x12 {images} --nt-fw other base.bin"
    ));
    let args = "--args iterations=3 --smp 4";
    scratch.ours(&format!(
        "fip build --board qemu --base base.bin --payload payload.bin {args} -o new.bin"
    ));
    scratch.ours(&format!(
        "image --board qemu --base payload.bin {args} -o image.bin"
    ));
    scratch.theirs("fiptool update --nt-fw image.bin base.bin");
    assert!(scratch.read("new.bin") == scratch.read("base.bin"));

    for (rest, expected) in [
        ("--nt-fw other", "here BL33 is the payload"),
        ("--nt-fw-key other", "there are no certificates"),
        ("--payload other", "--payload other: shorter than"),
        ("--payload gone", "--payload gone"),
        ("--args iterations=x", "--args:"),
        ("--smp 33", "--smp 33"),
        ("--align 3", "not a power of two"),
    ] {
        let payload = if rest.contains("payload") {
            ""
        } else {
            "--payload payload.bin"
        };
        let said = scratch.refused(&format!(
            "fip build --board qemu --base base.bin {payload} {rest} -o out.bin"
        ));
        assert!(said.contains(expected), "{rest}: {said}");
    }
    let said = scratch.refused("fip build --board qemu --base base.bin -o base.bin");
    assert!(said.contains("the file that --base reads"), "{said}");
}

#[test]
fn what_is_mandatory_by_default_is_asked_for() {
    let scratch = Scratch::new();
    scratch.write("payload.bin", &payload());
    scratch.write("a", b"a");
    for (board, given, missing) in [
        ("armada-8k", "--tb-fw a --soc-fw a", "--scp-fw FILE"),
        (
            "stm32mp25",
            "--soc-fw a --fw-config a --soc-fw-config a --hw-config a",
            "--blob uuid=b11249be-92dd-4b10-867c-2c6a4b47a7fb,file=ddr4_pmu_train.bin",
        ),
    ] {
        let said = scratch.refused(&format!(
            "fip build --board {board} --payload payload.bin -o fip.bin {given}"
        ));
        assert!(said.contains(&format!("needs {missing}")), "{said}");
    }
}

#[test]
fn a_users_fip_stays_aligned() {
    let scratch = Scratch::new();
    scratch.write("payload.bin", &payload());
    scratch.write("other", b"another image");
    let build = "fip build --board qemu --base base.bin --payload payload.bin -o new.bin";
    for (made, rest, expected) in [
        (4096, "", 4096),
        (512, "", 512),
        (512, "--align 0x1000", 4096),
        (512, "--align 16", 16),
        (1, "", 1),
    ] {
        scratch.theirs(&format!(
            "fiptool create --align {made} --tb-fw other --soc-fw other --nt-fw other base.bin"
        ));
        scratch.ours(&format!("{build} {rest}"));
        scratch.ours("image --board qemu --base payload.bin -o image.bin");
        scratch.theirs(&format!(
            "fiptool update --align {expected} --nt-fw image.bin base.bin"
        ));
        let same = scratch.read("new.bin") == scratch.read("base.bin");
        assert!(same, "aligned to {made} {rest}");
    }
}

/// The commands `cargo xtask fip build` in `text`.
fn examples(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let lines = text.lines().map(str::trim);
    let commands = lines.filter_map(|line| line.strip_prefix("cargo xtask "));
    let builds = commands.filter(|line| line.starts_with("fip build"));
    builds.map(str::to_owned).collect()
}

#[test]
fn what_help_and_readme_show_works() {
    let help = xtask(&["fip", "build", "--help"]).output().expect("help");
    let help = String::from_utf8(help.stdout).expect("text");
    let workspace = Workspace::find().expect("the repository");
    let readme = fs::read_to_string(workspace.root.join("README.md")).expect("there");
    for (text, least) in [(help, 4), (readme, 5)] {
        let examples = examples(&text);
        assert!(examples.len() >= least, "{examples:?}");
        for line in examples {
            let scratch = Scratch::new();
            scratch.write("payload.bin", &payload());
            let (base, nt_fw_key) = (line.contains("--base fip.bin"), line.contains("nt.pem"));
            let words: Vec<&str> = line.split([' ', '=']).collect();
            for pair in words.windows(2) {
                if pair[1].contains('.') && pair[0] != "-o" {
                    scratch.write(pair[1], b"a stand-in");
                }
            }
            if nt_fw_key {
                let _ = fs::remove_file(scratch.path("nt.pem"));
                trusted(&scratch, "ecdsa", "sha256", "");
                fs::rename(scratch.path("base.bin"), scratch.path("fip.bin")).expect("renamed");
            } else if base {
                scratch.write("bl33", b"BL33");
                scratch.theirs("fiptool create --nt-fw bl33 fip.bin");
            }
            let part = line.contains("--part");
            let payload = if part { "" } else { "--payload payload.bin" };
            scratch.ours(&format!("{line} {payload}"));
        }
    }
}

#[test]
fn a_released_payload_gets_a_tree_and_another_one() {
    let scratch = Scratch::new();
    let bare = payload();
    scratch.write("payload.bin", &bare);
    scratch.ours("image --bare --base payload.bin -o bare.bin");
    assert!(scratch.read("bare.bin") == bare);
    scratch.ours("image --board qemu --base payload.bin -o eight.bin");
    scratch.ours("image --board qemu --base payload.bin --smp 4 -o four.bin");
    assert!(scratch.read("eight.bin") != scratch.read("four.bin"));
    // The tree that is there makes room for the new one, or for none.
    scratch.ours("image --board qemu --base eight.bin --smp 4 -o again.bin");
    assert!(scratch.read("again.bin") == scratch.read("four.bin"));
    scratch.ours("image --bare --base four.bin -o again.bin");
    assert!(scratch.read("again.bin") == bare);

    let four = scratch.read("four.bin");
    let with = |at: usize, value: u8| {
        let mut file = four.clone();
        file[at] = value;
        file
    };
    let block = ParameterBlock::read(&four).expect("an image");
    for (file, expected) in [
        (with(MAGIC_OFFSET, 0), "no arm64 Image magic"),
        (with(PARAMETER_BLOCK, 0), "no psci-bench parameter block"),
        (with(PARAMETER_BLOCK + 8, 9), "parameter block version 9"),
        (with(block.tree_offset as usize, 0), "not where it says"),
        (with(0x62, 9), "not where it says"),
        (with(0x70, 9), "not where it says"),
        (with(0x76, 1), "not where it says"),
        (four[..four.len() - 1].to_vec(), "it is not whole"),
        ([&four[..], &[0]].concat(), "it is not whole"),
        (bare[..bare.len() - 1].to_vec(), "it is not whole"),
        (four[..99].to_vec(), "shorter than an arm64 Image header"),
        (vec![0; 4 << 20], "bytes that are accepted"),
    ] {
        scratch.write("bad.bin", &file);
        let said = scratch.refused("image --board qemu --base bad.bin -o out.bin");
        assert!(said.contains(expected), "{expected}: {said}");
        assert!(said.contains("--base bad.bin"), "{said}");
    }
    let said = scratch.refused("image --base four.bin -o four.bin");
    assert!(said.contains("the file that --base reads"), "{said}");
}

/// A chain of trust by cert_create, with BL33's counter at 7.
fn trusted(scratch: &Scratch, algorithm: &str, hash: &str, config: &str) {
    for name in ["bl2", "bl31", "bl33", "config"] {
        scratch.write(name, name.repeat(50).as_bytes());
    }
    let keys = "--rot-key rot.pem --nt-fw-key nt.pem --non-trusted-world-key world.pem";
    let certificates = "--trusted-key-cert t.crt --tb-fw-cert b.crt --soc-fw-key-cert sk.crt \
        --soc-fw-cert s.crt --nt-fw-key-cert nk.crt --nt-fw-cert n.crt";
    let images = format!("--tb-fw bl2 --soc-fw bl31 --nt-fw bl33 {config}");
    scratch.theirs(&format!(
        "cert_create -n -k --key-alg {algorithm} --hash-alg {hash} --tfw-nvctr 3 --ntfw-nvctr 7 \
         {keys} {certificates} {images}"
    ));
    scratch.theirs(&format!("fiptool create {certificates} {images} base.bin"));
}

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
