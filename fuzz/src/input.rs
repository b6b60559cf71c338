//! Builds device trees from text.
//!
//! Mutating a blob's bytes rarely leaves it valid, so the code behind the parser's first check
//! would hardly ever be reached. Input that is not a blob is therefore treated as text, from which
//! a valid tree is built. [`Blob::add_text`] describes the format.

use std::fmt::Display;

use fdt_blob::{Blob, BlobToken};

const MAGIC: u32 = 0xd00d_feed;

/// Returns the value if the input was accepted. Otherwise, checks that the error has a message.
pub fn accepted<T, E: Display>(result: Result<T, E>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(!format!("{error:#}").is_empty());
            None
        }
    }
}

/// Returns the trees to test for `data`. A blob is used as is, and again with its `totalsize` set
/// to its length, because mutations rarely leave that field correct.
pub fn trees(data: &[u8]) -> Vec<Vec<u8>> {
    if !data.starts_with(&MAGIC.to_be_bytes()) {
        return vec![data.to_vec(), tree(data)];
    }
    let mut resized = data.to_vec();
    if let Some(field) = resized.get_mut(4..8) {
        field.copy_from_slice(&(data.len() as u32).to_be_bytes());
    }
    let mut trees = vec![data.to_vec(), resized];
    trees.dedup();
    trees
}

/// Builds the tree described by `text`.
fn tree(text: &[u8]) -> Vec<u8> {
    let mut blob = Blob {
        tokens: vec![BlobToken::Begin(String::new()), BlobToken::End],
        ..Blob::default()
    };
    blob.add_text(text);
    blob.write()
}
