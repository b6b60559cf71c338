//! Publishes a board's figures in TF-A's documentation, and audits the pages published there.
//!
//! The crate promises its users:
//!
//! * **No lost figure.** Nothing is written if a published figure would be lost, or if a file
//!   cannot be written. Text that was not generated stays as it is.
//! * **No wrong change.** A printed change is computed from the figures in the tables, and only a
//!   change that counts in a comparison is printed.
//! * **No trust in a page.** A page that cannot be read is rejected with the file, line and column.
//!
//! | file | task |
//! |---|---|
//! | [`page_audit`] | compares the changes printed on a page with its tables |
//! | `audit_document` | an audit as a document |
//! | `commentary` | the findings about a run, the most important first |
//! | `published_page` | a board's page |
//! | [`tfa_docs`] | the data files |
//! | [`cli`] | the command line |
//!
//! Each file imports only from files listed above it.

#![forbid(unsafe_code)]

mod audit_document;
pub mod cli;
mod commentary;
pub mod page_audit;
mod published_page;
pub mod tfa_docs;
