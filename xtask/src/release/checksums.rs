//! The file containing the checksums of all the others.

use host::hex::hex;
use sha2::{Digest, Sha256};

use host::folder::FolderFile;

/// Returns the checksums of `files` in the format that `sha256sum -c` reads.
pub(super) fn checksums(files: &[FolderFile]) -> FolderFile {
    let mut lines = String::new();
    for file in files {
        let sum = hex(&Sha256::digest(&file.data));
        lines += &format!("{sum}  {}\n", file.path);
    }
    FolderFile::new("SHA256SUMS", lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_no_bytes() {
        let sums = checksums(&[FolderFile::new("boards/empty", "")]);
        let expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sums.data, format!("{expected}  boards/empty\n").as_bytes());
    }
}
