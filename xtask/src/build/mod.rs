//! Firmware, payload, device trees and the images that are made of them.

pub mod device_tree;
pub mod fip;
pub mod firmware;
pub mod flash;
pub mod image;
pub mod image_contents;
pub mod package;
pub mod payload;
pub mod tf_a;
