//! Commands that must be rejected with exit code 2, each with part of its error message. `material`
//! in `support/packages.rs` creates the files that the commands refer to.

/// Commands that are refused.
#[rustfmt::skip]
pub const REFUSED: &[(&str, &[&str])] = &[
    // CPU counts
    ("qemu --smp 0", &["--smp 0: the tf-a firmware supports 1 to 32"]),
    ("qemu --smp 33", &["1 to 32"]),
    ("qemu --smp 9 --gic 2", &["a GICv2 supports 1 to 8"]),
    ("qemu --smp 513 --firmware builtin", &["1 to 512"]),
    ("qemu --smp two", &["invalid value 'two'"]),
    ("image --smp 0", &["--smp 0"]),

    // Words and values
    ("", &["Usage: cargo xtask"]),
    ("qemy", &["unrecognized subcommand 'qemy'", "no tool here has the verb qemy; there are "]),
    ("overhead a.log b.log", &["overhead no longer exists; use `compare PLAIN PMF`"]),
    ("qemu-overhead --icount", &["use `qemu --variant pmf=off --log"]),
    ("soak --time 8h", &["use `qemu --repeat N --keep DIR`"]),
    ("fuzz fip", &["use `cargo fuzz run TARGET`, see fuzz/README.md"]),
    ("qemu --repeat 2 --keep .", &["this directory is not empty; specify a new one"]),
    ("qemu --repeat 0", &["0 is not in 1.."]),
    ("qemu --keep new", &["--repeat <N>"]),
    ("qemu --repeat 2 --log a", &["cannot be used with"]),
    ("qemu --repeat 2 --smp 33", &["--smp 33: the tf-a firmware supports 1 to 32"]),
    ("merge a.log b.log", &["merge no longer exists; use `report LOG…`"]),
    ("release -o new", &["release no longer exists; use `.ci/release`, a script"]),
    ("matrix lab", &["matrix no longer exists; use `history RUN…`"]),
    ("qemu --gic 4", &["'--gic <2|3>': expected 2 or 3"]),
    ("qemu --board qemu-sbsa --el 1", &["--el 1: QEMU's sbsa-ref always has EL2"]),
    ("qemu --board qemu-sbsa --gic 2", &["--gic 2: QEMU's sbsa-ref always has a GICv3"]),
    ("qemu --el 3", &["3 is not in 1..=2"]),
    ("qemu --timeout 0", &["0 is not in 1..=86400"]),
    ("qemu --timeout 86401", &["86401 is not in 1..=86400"]),
    ("qemu --timeout 18446744073709551615", &["18446744073709551615 is not in 1..=86400"]),
    ("qemu --variant pmf=none", &["pmf=new|pmf=sip|pmf=off"]),
    ("qemu --variant pmf=off,pmf=new", &["\"pmf=new\": this key is specified twice"]),
    ("qemu --firmware uefi",
        &["expected tf-a, tf-a-stock or builtin"]),
    ("image --board moon", &["unknown board \"moon\""]),
    ("qemu --cpu z80", &["--cpu z80: no such CPU model; QEMU has", "cortex-a72"]),
    ("qemu --firmware builtin --image stub --cpu cortex-a57,nonsense=1",
        &["error: QEMU did not start:", "nonsense"]),
    ("qemu --args x=ü", &["only printable ASCII"]),

    // Options that would be ignored
    ("qemu --firmware builtin --variant pmf=off", &["--variant applies to TF-A"]),
    ("qemu --firmware builtin --tf-a /", &["--tf-a applies to TF-A"]),

    // Options that do not apply to the firmware
    ("qemu --firmware kvm", &["no longer a kind of firmware; use `cargo xtask guest run`"]),
    ("qemu --firmware tf-a-stock --variant pmf=off",
        &["--variant applies to TF-A built for --firmware tf-a, not"]),

    // ACPI tables
    ("image --sign a a -o x", &["unexpected argument '--sign'"]),
    ("tree from-acpi", &["<FILE>..."]),
    ("tree from-acpi a --memory 0x80000000", &["use BASE+SIZE"]),
    ("tree from-acpi a --memory 0x80000000+1G", &["expected a number of bytes"]),
    ("tree from-acpi a --memory 0xffffffffffffffff+2", &["this exceeds 64-bit addresses"]),
    ("tree from-acpi gone", &["gone: No such file"]),
    ("tree from-acpi a -o a", &["--output a: this is the input file for FILE"]),

    // TF-A sources
    ("qemu --tf-a folder", &["not a TF-A source tree: it has no Makefile"]),
    ("qemu --tf-a nowhere", &["No such file or directory"]),
    ("qemu --tf-a old-tf-a", &["TF-A 2.7, but 2.8 or later is needed"]),

    // Idle states
    ("qemu --core 0x40000002", &["--core 0x40000002: sets bits that are reserved in the original"]),
    ("image --core 0x10002 --deepest 0x40000022",
        &["--deepest 0x40000022: sets bits that are reserved in the original"]),
    ("image --board juno --state-format extended",
        &["--state-format extended: the board file for Arm Juno"]),
    ("qemu --core 0x1", &["--core 0x1: not a power-down state in the original"]),
    ("qemu --core 0x1010022", &["--core 0x1010022: this state has power level 1"]),
    ("image --no-power-down --core 0x10002", &["'--no-power-down' cannot be used with", "--core"]),
    ("image --no-power-down --dtb v3.dtb", &["'--no-power-down' cannot be used with", "--dtb"]),
    ("image --core 2", &["invalid value '2' for '--core <0x…>': expected 32 bits in"]),
    ("image --core 0x+1", &["expected 32 bits in"]),
    ("image --core 0x140000222", &["expected 32 bits in"]),
    ("image --deepest 0x10002", &["--core <0x"]),
    ("qemu --core 0x10002 --image x", &["cannot be used with"]),
    ("payload --state-format original", &["unexpected argument"]),

    // Device trees
    ("qemu --dtb empty", &["error: --dtb"]),
    ("qemu --dtb cut.dtb", &["error: --dtb"]),
    ("qemu --dtb garbage.dtb", &["error: --dtb"]),
    ("qemu --dtb /nonexistent", &["--dtb /nonexistent: No such file"]),
    ("qemu --dtb folder", &["a directory"]),
    ("qemu --smp 2 --gic 3 --dtb v2.dtb",
        &["the tree describes a GICv2, but the machine has a GICv3: use"]),
    ("qemu --smp 2 --gic 2 --dtb v3.dtb",
        &["the tree describes a GICv3, but the machine has a GICv2: use"]),
    ("image --dtb console.dtb -o out", &["--dtb console.dtb: the console at 0x8000000 overlaps"]),

    // Endless files
    ("qemu --dtb /dev/zero", &["/dev/zero:"]),
    ("qemu --bl32 gone", &["--bl32 gone: No such file"]),
    ("qemu --bl32 /dev/null", &["--bl32 /dev/null: the file is empty"]),
    ("qemu --bl32 /dev/zero", &["--bl32 /dev/zero: larger than the limit of 15728640 bytes"]),
    ("qemu --bl32 /bin/true", &["--bl32 /bin/true: is an ELF file; use a flat binary"]),
    ("qemu --firmware builtin --bl32 stub", &["--bl32 applies to TF-A built for --firmware tf-a"]),
    ("qemu --board qemu-sbsa --bl32 stub", &["supports neither --fault nor --bl32"]),
    ("qemu --variant pabandon=1 --bl32 stub", &["remove pabandon=1 from --variant"]),
    ("qemu --log stub --bl32 stub", &["this is the input file for --"]),
    ("qemu --image /dev/zero", &["--image /dev/zero: larger than the limit of 66846720 bytes"]),
    ("fip info /dev/zero", &["/dev/zero:"]),
    ("fip create --out /nonexistent/fip --nt-fw /dev/zero", &["/dev/zero:"]),

    // Files that are kept
    ("qemu --smp 0 --log a", &["--smp 0"]),
    ("qemu --cpu cortex-a15,pmu=off",
        &["--cpu cortex-a15: this CPU lacks AArch64", "use cortex-a53"]),
    ("qemu --log a --dtb link", &["this is the input file for --"]),
    ("qemu --log link --image a", &["this is the input file for --"]),
    ("image --output link --dtb a", &["this is the input file for --"]),
    ("fip create --out a --nt-fw a", &["this is the input file for --nt-fw"]),
    ("qemu --log /nonexistent/log", &["--log /nonexistent/log: no such directory"]),
    ("qemu --log /", &["--log /: is a directory"]),
    ("image --base payload.bin -o payload.bin", &["the input file for --base"]),
    ("image --board rk3399 --base out.bin.dtb -o out.bin",
        &["out.bin.dtb: this is the input file for --base"]),
    ("image --board rk3399 --base out.bin.its -o out.bin",
        &["out.bin.its: this is the input file for --base"]),
    ("image --board rk3399 --base payload.dtb -o payload", &["the input file for --base"]),
    ("image --board rk3399 --base out.bin.its -o payload", &["payload.dtb: not written by this tool"]),
    ("image --board rk3399 --base payload.bin -o dir", &["dir.its: is a directory"]),

    // FIPs
    ("fip create --out f --nt-fw /nonexistent", &["/nonexistent: No such file"]),
    ("fip info garbage.dtb", &["offset 0x0: not a FIP"]),
    ("fip info cut.fip",
        &["cut.fip: entry 0 (nt-fw, Non-Trusted Firmware BL33) at offset 0x10: its data ends"]),
    ("fip unpack cut.fip --out new", &["entry 0 (nt-fw, Non-Trusted Firmware BL33)"]),
    ("fip update cut.fip --nt-fw a", &["entry 0 (nt-fw, Non-Trusted Firmware BL33)"]),
    ("fip update cut.fip --nt-fw a --out f", &["entry 0 (nt-fw, Non-Trusted Firmware BL33)"]),
    ("fip remove cut.fip --nt-fw", &["entry 0 (nt-fw, Non-Trusted Firmware BL33)"]),
    ("fip pack --board qemu --base cut.fip -o f",
        &["--base cut.fip: entry 0 (nt-fw, Non-Trusted Firmware BL33)"]),
    ("fip create --out f --blob uuid=1,file=a", &["\"1\" is not a UUID"]),
    ("fip create --out f --blob file=a", &["uuid=U,file=F"]),
    ("fip create --out f --blob file=a,uuid=1", &["\"1\" is not a UUID"]),
    ("fip create --out f --align 0xz --fwu a", &["expected a number of bytes"]),
    ("fip create --out f --align 08 --fwu a", &["expected a number of bytes"]),
    ("fip create --out f --blob uuid=00000000-0000-0000-0000-000000000000,file=a",
        &["all-zero UUID"]),
    ("fip create --out f --fwu a --blob uuid=4f511d11-2be5-4e49-b4c5-83c2f715840a,file=a",
        &["given twice"]),
    ("fip create --out f --plat-toc-flags 10000 --fwu a", &["16 bits"]),
    ("fip create --out f --align 3 --fwu a", &["not a power of two"]),
    ("fip create --out f --fwu gone", &["--fwu gone"]),
    ("fip create --out f", &["no image specified"]),
    ("fip update fip.bin", &["no image specified"]),
    ("fip update fip.bin --fwu a --out a", &["the input file for --fwu"]),
    ("fip update fip.bin --fwu a --out gone/a", &["no such directory"]),
    ("fip remove fip.bin", &["no image specified"]),
    ("fip unpack fip.bin --out a", &["--out a/tb-fw.bin: a is not a directory"]),
    ("fip create --out a/f --nt-fw a", &["--out a/f: a is not a directory"]),
    ("fip update locked.fip --nt-fw a", &["it is read-only"]),
    ("fip create --out locked.fip --nt-fw a", &["it is read-only"]),
    ("fip pack --board qemu --base fip.bin --payload payload.bin --nt-fw a -o f",
        &["BL33 is the payload here"]),
    ("fip pack --board qemu --base fip.bin --payload payload.bin --nt-fw-key a -o f",
        &["has no certificates"]),
    ("fip pack --board qemu --base fip.bin --payload a -o f", &["--payload a: shorter than"]),
    ("fip pack --board qemu --base fip.bin --payload gone -o f", &["--payload gone"]),
    ("fip pack --board qemu --base fip.bin --payload payload.bin --args iterations=x -o f",
        &["--args:"]),
    ("fip pack --board qemu --base fip.bin --payload payload.bin --smp 33 -o f", &["--smp 33"]),
    ("fip pack --board qemu --base fip.bin --payload payload.bin --align 3 -o f",
        &["not a power of two"]),
    ("fip pack --board qemu --base fip.bin -o fip.bin", &["the input file for --base"]),
    ("fip part moon --board n1sdp -o f", &["N1SDP, one chip has scp_fw.bin, mcp_fw.bin"]),
    ("fip part moon --board juno -o f", &["r2 has no further files"]),
    ("fip pack --board armada-8k --payload payload.bin -o f --tb-fw a --soc-fw a",
        &["needs --scp-fw FILE"]),
    ("fip pack --board stm32mp25 --payload payload.bin -o f --soc-fw a --tos-fw a \
      --tos-fw-extra1 a --fw-config a --soc-fw-config a --hw-config a",
        &["needs --blob uuid=b11249be-92dd-4b10-867c-2c6a4b47a7fb,file=ddr4_pmu_train.bin"]),
];

/// Commands that are rejected before anything is built or fetched.
#[rustfmt::skip]
pub const REFUSED_AT_ONCE: &[(&str, &[&str])] = &[
];

/// Like [`REFUSED`], but with arguments that contain spaces.
#[rustfmt::skip]
pub const REFUSED_WORDS: &[(&[&str], &[&str])] = &[
    (&["qemu", "--args", "iterations=5 wakeup=chain"],
        &["error: --args: bootargs word 2 \"wakeup=chain\":"]),
    (&["image", "--args", "iterations=5 wakeup=chain"],
        &["error: --args: bootargs word 2 \"wakeup=chain\":"]),
];
