//! Recovery images by other programs: what becomes of them is theirs, byte for
//! byte, but for the FIP, and sound to all who read them.

use std::path::Path;
use std::process::Command;

use xtask::setup::workspace::Workspace;
use xtask::setup::{self, ARCHIVES};

use crate::support::packages::{boards_files, python};
use crate::support::scratch::Scratch;
use crate::tools::{Said, said};

/// Archives by Python's writer, which can do odd things: of each kind
/// of header and field one.
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
    (info("lzma", zipfile.ZIP_LZMA), text),
    (info("bzip2", zipfile.ZIP_BZIP2), text),
]
write("odd.zip", odd, comment=b"of all",
      extra=universal + ntfs, external_attr=0x21, create_system=0, internal_attr=1)
data = bytearray(open("odd.zip", "rb").read())
place = data.rfind(b"config.txt") - 46
data[place + 12:place + 16] = bytes(4)
open("odd.zip", "wb").write(data)
write("stored.zip", [], method=zipfile.ZIP_STORED, comment=b"of all")

class Pipe(io.RawIOBase):
    def __init__(self, name):
        self.file = open(name, "wb")
    def writable(self):
        return True
    def write(self, data):
        return self.file.write(data)

# Sizes behind the files, in a stream; larger forms of headers, and of the end.
write("stream.zip", odd[:3], Pipe("stream.zip"))
with zipfile.ZipFile("large.zip", "w") as z:
    for name, data in (("config.txt", text), (FIP, fip), ("last", text)):
        with z.open(info(name), "w", force_zip64=True) as out:
            out.write(data)
zipfile.ZIP_FILECOUNT_LIMIT = 1
write("ends.zip", [])
zipfile.ZIP64_LIMIT = 100
write("lists.zip", [], Pipe("lists.zip"))
"#;

/// All that is in two archives, but for the FIP, and what the FIP keeps.
const COMPARE: &str = r#"
import struct, sys, warnings, zipfile
def fields(extra):
    while len(extra) >= 4:
        size = 4 + struct.unpack("<H", extra[2:4])[0]
        yield extra[:size]
        extra = extra[size:]
    yield extra
def without(extra):
    return [it for it in fields(extra) if it[:2] != b"\1\0"]
def local(file, entry):
    head = file[entry.header_offset:entry.header_offset + 30]
    name, extra = struct.unpack("<HH", head[26:30])
    at = entry.header_offset + 30
    data = at + name + extra
    return head, file[at:at + name], file[at + name:data], file[data:data + entry.compress_size]
KEPT = ("orig_filename", "date_time", "compress_type", "comment", "create_system",
        "create_version", "extract_version", "internal_attr", "external_attr")
old, new = (open(path, "rb").read() for path in sys.argv[1:])
a, b = (zipfile.ZipFile(path) for path in sys.argv[1:])
assert b.testzip() is None
assert a.comment == b.comment
assert a.namelist() == b.namelist()
for x, y in zip(a.infolist(), b.infolist()):
    for key in KEPT:
        assert getattr(x, key) == getattr(y, key), (x, key)
    (head, name, extra, data), theirs = local(old, x), local(new, y)
    if x.filename != "SOFTWARE/fip.bin":
        assert (head, name, extra, data) == theirs, x
        for key in ("flag_bits", "CRC", "file_size", "compress_size"):
            assert getattr(x, key) == getattr(y, key), (x, key)
        # What is behind the FIP has moved, which may be said there.
        assert without(x.extra) == without(y.extra), x
        assert len(x.extra) == len(y.extra), x
        assert a.read(x) == b.read(y), x
        continue
    # Version, method, time and date; the name; other extra fields.
    assert head[:6] + head[8:14] == theirs[0][:6] + theirs[0][8:14]
    assert name == theirs[1]
    assert without(extra) == without(theirs[2])
    assert without(x.extra) == without(y.extra)
    assert y.flag_bits == x.flag_bits & ~0b1110
    assert a.read(x) != b.read(y)
"#;

/// Runs a program in `folder`.
fn run(scratch: &Scratch, folder: &str, line: &str) -> Said {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().expect("a program"));
    command.args(words).env("TZ", "Asia/Tokyo");
    said(command.current_dir(scratch.path(folder)))
}

/// Writes archives by Python, Info-ZIP and 7-Zip.
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
    // In a zone of its own, whose times are in other fields.
    let seven = "7z a -tzip -mtc=on seven.zip ./SOFTWARE ./config.txt";
    for line in ["zip -r info.zip .", seven] {
        run(scratch, "card", line).ends(0, "");
    }
}

#[test]
fn all_but_the_fip_is_as_it_was() {
    let workspace = Workspace::find().expect("the repository");
    setup::ensure(&workspace, &ARCHIVES).expect("archivers");
    let scratch = boards_files();
    write_archives(&scratch);
    let theirs = ["info", "seven"].map(|it| format!("card/{it}.zip"));
    let odd = ["odd", "stored", "stream", "large", "ends", "lists"].map(|it| format!("{it}.zip"));
    for (number, file) in theirs.iter().chain(&odd).enumerate() {
        let name = format!("v{number}");
        let line = format!("lab --board juno --payload payload.bin --base {name}={file} -o set");
        let said = scratch.ours(&line);
        // No program here can look into these two.
        let unknown = said.matches("without a check of its content").count();
        assert_eq!(unknown, if file == "odd.zip" { 2 } else { 0 }, "{said}");
        let new = format!("set/lava-juno-{name}/recovery.zip");
        python(&scratch, COMPARE, &[file, &new]);
        for program in ["unzip -tqq", "7z t"] {
            let [before, after] =
                [file, &new].map(|it| run(&scratch, "", &format!("{program} {it}")));
            assert_eq!(after.code, before.code, "{file}: {}", after.out);
            // What is malformed is so to 7-Zip before and after.
            let is_sound = before.code == 0 || file == "odd.zip";
            assert!(is_sound, "{file}: {}", before.out);
        }
    }
}
