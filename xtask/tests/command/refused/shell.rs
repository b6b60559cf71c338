//! Shell commands that are rejected with exit code 2, with part of each message. File sizes are
//! limited to 1 KiB, and `$X` is `cargo xtask`.

/// Commands with faulty files, boards and programs.
#[rustfmt::skip]
pub const REFUSED: &[(&str, &[&str])] = &[
    // The disk is full, before or after other files have been written.
    ("$X fip create --out new --nt-fw large", &["error: --out new: File too large"]),
    ("$X fip unpack fip.bin --out new", &["error: --out new/soc-fw.bin: File too large"]),
    ("$X fip unpack fip.bin --out folder --force",
        &["error: --out folder/soc-fw.bin: File too large"]),
    ("$X image --board qemu --base payload.bin -o new", &["error: --output new: File too large"]),
    ("$X image --board rk3399 --base payload.bin -o new", &["error: --output new: File too large"]),
    ("$X fip create --out /dev/full --nt-fw old", &["error: --out /dev/full: No space left"]),
    ("$X fip info fip.bin > /dev/full", &["error: stdout: No space left"]),
    ("TMPDIR=gone $X qemu --firmware builtin --image old", &["error: TMPDIR gone: No such file"]),
    ("TMPDIR=gone $X fip pack --board qemu --payload payload.bin --base base.bin --nt-fw-key \
      nt.pem -o new",
        &["error: --base base.bin: TMPDIR gone: No such file"]),
    ("TMPDIR=gone $X image --board qemu -o new", &["TMPDIR gone: No such file"]),
    // Invalid output file names.
    ("$X fip create --out newdir/ --nt-fw old",
        &["error: --out newdir/: no such directory"]),
    ("$X fip create --out - --nt-fw old",
        &["error: --out -: specify a file (./- for a file named -)"]),
    // Files that would block a reader.
    ("$X fip info fifo", &["error: the FIP fifo: is a named pipe"]),
    ("$X fip create --out new --nt-fw fifo", &["error: --nt-fw fifo: is a named pipe"]),
    ("$X image --dtb fifo -o new", &["error: --dtb fifo: is a named pipe"]),
    // Device trees that have not been compiled.
    ("echo /dts-v1/ > b.dts; $X image --dtb b.dts -o new",
        &["error: --dtb b.dts: device tree source; compile it with dtc -I dts -O dtb -o b.dtb b.dts"]),
    ("echo '# Title' > b.md; $X image --dtb b.md -o new",
        &["error: --dtb b.md: not a compiled device tree: it starts with 0x23205469 instead of"]),
    ("$X fip info sparse", &["error: the FIP sparse: larger than the limit of 536870912 bytes"]),
    // Open pipes, and files that are also stdin.
    ("cat fip.bin | $X fip info /dev/stdin > /dev/full", &["error: stdout: No space left"]),
    // Boards.
    ("$X boards greek", &["error: unknown board \"greek\""]),
    // Missing programs, and no network. The machine's apt uses a proxy that is not listening.
    ("PATH=none PSCI_BENCH_NO_INSTALL=1 $X qemu",
        &["apt-get install -y --no-install-recommends qemu-system-arm gcc-aarch64-linux-gnu \
           make dpkg-dev"]),
    ("PATH=none $X qemu --firmware builtin", &["cannot install qemu-system-arm; check"]),
    ("PATH=$PWD/programs/fails $X qemu --firmware builtin", &["called: update"]),
    ("PATH=programs/old:$PATH $X qemu --firmware builtin",
        &["is QEMU 5.2, but 7.2 or later is needed"]),
    ("PATH=programs/odd:$PATH $X qemu --firmware builtin",
        &["not a QEMU version: \"something else\""]),
    ("APT_CONFIG=$PWD/apt.conf $X qemu --image stub",
        &[
            "tag v2.12.1",
            "--tf-a",
            "cannot fetch the Debian source package arm-trusted-firmware 2.12.1+dfsg-1",
        ]),
];
