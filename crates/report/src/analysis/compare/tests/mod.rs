//! Tests for comparisons of published figures and of synthetic runs.

mod gate;
mod noise;
mod published;
mod steps;
mod support;
