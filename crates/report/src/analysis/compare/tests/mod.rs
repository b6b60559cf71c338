//! Tests for comparisons of published figures and of made-up runs.

mod gate;
mod noise;
mod published;
mod steps;
mod support;
