//! Comparisons of published figures and of made-up runs.

mod gate;
mod noise;
mod points;
mod published;
mod support;
