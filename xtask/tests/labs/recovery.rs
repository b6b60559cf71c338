//! Recovery images written by other programs. Everything except the contents of the FIP is
//! preserved, and the other programs can read the new image.

use std::path::Path;
use std::process::Command;

use xtask::setup::workspace::Workspace;
use xtask::setup::{self, Need};

use crate::support::packages::{boards_files, python};
use crate::support::scratch::Scratch;
use crate::tools::{Said, said};

/// Writes archives with Python, which can produce unusual ones: one for each kind of header and
/// field.
const WRITE: &str = r#"
import io, struct, zipfile
FIP = "SOFTWARE/fip.bin"
fip = open("fip.bin", "rb").read()
text = b"a line\r\n" * 99

def info(name, method=zipfile.ZIP_DEFLATED, extra=b"", **fields):
    it = zipfile.ZipInfo(name, (2019, 5, 6, 7, 8, 10))
    it.compress_type, it.extra = method, extra
    for key, value in fields.items():
        setattr(it, key, value)
    return it

def write(file, files, out=None, **fields):
    with zipfile.ZipFile(out or file, "w") as z:
        z.comment = fields.pop("comment", b"")
        z.writestr(info("config.txt"), text)
        for it, data in files:
            z.writestr(it, data)
        z.writestr(info(FIP, **fields), fip)
        z.writestr(info("MB/BIOS.bin", zipfile.ZIP_STORED), bytes(range(256)) * 20)

universal = struct.pack("<HHBI", 0x5455, 5, 1, 1600000000)
ntfs = struct.pack("<HHIHHQQQ", 0x000A, 32, 0, 1, 24, 10**17, 10**17, 10**17)
odd = [
    (info("dir/", 0, external_attr=0x10, create_system=0), b""),
    (info("hidden", external_attr=0x27, create_system=0), b"dos" * 9),
    (info("exec", external_attr=0o100755 << 16, create_system=3), b"unix" * 9),
    (info("link", 0, external_attr=0o120777 << 16, create_system=3), b"exec"),
    (info("commented", comment=b"of a file"), b"x"),
    (info("universal", extra=universal), b"x"),
    (info("ntfs", extra=ntfs, create_version=63), b"x"),
    (info("text", internal_attr=1), b"x"),
    (info("malformed", extra=b"\xfe\xca\x40"), b"x"),
]
write("odd.zip", odd, comment=b"of all",
      extra=universal + ntfs, external_attr=0x21, create_system=0, internal_attr=1)
data = bytearray(open("odd.zip", "rb").read())
for place in data.find(b"config.txt") - 20, data.rfind(b"config.txt") - 34:
    data[place:place + 4] = bytes(4)
open("odd.zip", "wb").write(data)
write("stored.zip", [], method=zipfile.ZIP_STORED, comment=b"of all")

class Pipe(io.FileIO):
    def seekable(self):
        return False

## Sizes that follow the files, as in a stream, and ZIP64 forms of the headers and the end record.
write("stream.zip", odd[:3], Pipe("stream.zip", "w"))
with zipfile.ZipFile("large.zip", "w") as z:
    for name, data in (("config.txt", text), (FIP, fip), ("last", text)):
        with z.open(info(name), "w", force_zip64=True) as out:
            out.write(data)
zipfile.ZIP_FILECOUNT_LIMIT = 1
write("ends.zip", [])
zipfile.ZIP64_LIMIT = 100
write("lists.zip", [], Pipe("lists.zip", "w"))
"#;

/// Compares two archives. Everything except the contents of the FIP and some headers must be
/// identical.
const COMPARE: &str = r#"
import struct, sys, zipfile
def packed(path, entry):
    file = open(path, "rb").read()
    name, extra = struct.unpack("<HH", file[entry.header_offset + 26:entry.header_offset + 30])
    at = entry.header_offset + 30 + name + extra
    return file[at:at + entry.compress_size]
KEPT = "orig_filename filename compress_type comment create_system external_attr".split()
old, new = sys.argv[1:]
a, b = (zipfile.ZipFile(path) for path in sys.argv[1:])
assert b.testzip() is None
assert a.comment == b.comment
assert a.namelist() == b.namelist()
for x, y in zip(a.infolist(), b.infolist()):
    for key in KEPT:
        assert getattr(x, key) == getattr(y, key), (x, y, key)
    # An all-zero date becomes the first valid date.
    assert y.date_time == max(x.date_time, (1980, 1, 1, 0, 0, 0)), (x, y)
    is_fip = x.filename == "SOFTWARE/fip.bin"
    assert (packed(old, x) == packed(new, y)) != is_fip, x
    assert (a.read(x) == b.read(y)) != is_fip, x
"#;

/// Runs a program in `folder`.
fn run(scratch: &Scratch, folder: &str, line: &str) -> Said {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().expect("a program"));
    command.args(words).env("TZ", "Asia/Tokyo");
    said(command.current_dir(scratch.path(folder)))
}

/// Writes archives with Python, Info-ZIP and 7-Zip.
fn write_archives(scratch: &Scratch) {
    python(scratch, WRITE, &[]);
    for dir in ["card/SOFTWARE", "card/empty"] {
        std::fs::create_dir_all(scratch.path(dir)).expect("made");
    }
    for (from, to) in [
        ("fip.bin", "SOFTWARE/fip.bin"),
        ("config.txt", "config.txt"),
        ("scp", "é"),
    ] {
        let file = Path::new("card").join(to);
        scratch.write(file.to_str().expect("text"), &scratch.read(from));
    }
    // The programs run in a different time zone and store the times in different fields.
    let seven = "7z a -tzip -mtc=on seven.zip ./SOFTWARE ./config.txt";
    for line in ["zip -r info.zip .", seven] {
        run(scratch, "card", line).ends(0, "");
    }
}

#[test]
fn all_but_the_fip_stays() {
    let workspace = Workspace::find().expect("the repository");
    setup::ensure(&workspace, &[Need::Zip, Need::Unzip, Need::SevenZip]).expect("archivers");
    let scratch = boards_files();
    write_archives(&scratch);
    let theirs = ["info", "seven"].map(|it| format!("card/{it}.zip"));
    let odd = ["odd", "stored", "stream", "large", "ends", "lists"].map(|it| format!("{it}.zip"));
    for (number, file) in theirs.iter().chain(&odd).enumerate() {
        let name = format!("v{number}");
        let line =
            format!("lab lava --board juno --payload payload.bin --base {name}={file} -o set");
        scratch.ours(&line);
        let new = format!("set/lava-juno-{name}/recovery.zip");
        python(&scratch, COMPARE, &[file, &new]);
        for program in ["unzip -tqq", "7z t"] {
            run(&scratch, "", &format!("{program} {new}")).ends(0, "");
        }
    }
}
