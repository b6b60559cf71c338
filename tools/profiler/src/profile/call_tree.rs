//! The call trees of a phase in two profiles, merged into one. Stack frames are matched by name.
//! Those that differ only because a function was renamed, or because a caller was inserted or
//! removed, are matched by their callees and counts.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use itertools::Itertools as _;

use super::profile::ProfilePhase;

/// The maximum depth of a tree. Deeper stack frames count as part of the one at this depth.
const DEPTH_MAX: usize = 256;

/// A stack frame in one profile: a function as called by a certain stack of functions. Figures are
/// sums over all calls.
#[derive(Default)]
struct SideFrame<'p> {
    /// The instructions in the function itself.
    own: u64,
    /// The instructions in the function and its callees.
    total: u64,
    calls: u64,
    callees: Callees<'p>,
}

/// Stack frames with the same caller, by name.
type Callees<'p> = BTreeMap<&'p str, SideFrame<'p>>;

/// A stack frame in the baseline, in the new profile, or in both. Figures are mean instructions per
/// call, in the baseline and in the new profile.
pub(super) struct CallFrame<'p> {
    pub(super) name: FrameName<'p>,
    /// The instructions in the function itself.
    pub(super) own: [f64; 2],
    /// The instructions in the function and its callees.
    pub(super) total: [f64; 2],
    pub(super) callees: Vec<CallFrame<'p>>,
}

/// The names of a stack frame's function in the two profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameName<'p> {
    /// Both profiles have the stack frame.
    Same(&'p str),
    /// Both profiles have the stack frame, but the function's name differs.
    Renamed {
        /// The name in the baseline.
        old: &'p str,
        /// The name in the new profile.
        new: &'p str,
    },
    /// Only the new profile has the stack frame.
    Added(&'p str),
    /// Only the baseline has the stack frame.
    Removed(&'p str),
}

impl<'p> FrameName<'p> {
    /// Returns the names in the baseline and in the new profile.
    fn sides(self) -> [Option<&'p str>; 2] {
        match self {
            Self::Same(name) => [Some(name), Some(name)],
            Self::Renamed { old, new } => [Some(old), Some(new)],
            Self::Added(name) => [None, Some(name)],
            Self::Removed(name) => [Some(name), None],
        }
    }

    /// Returns the name, or both names of a renamed function.
    pub(super) fn text(self) -> String {
        match self {
            Self::Same(name) | Self::Added(name) | Self::Removed(name) => name.to_owned(),
            Self::Renamed { old, new } => renamed_text(old, new),
        }
    }
}

/// Returns both names of a renamed function.
pub(super) fn renamed_text(old: &str, new: &str) -> String {
    format!("{old} → {new}")
}

impl CallFrame<'_> {
    /// Returns the number of instructions that determines the stack frame's width. For each
    /// function, this is the larger of the two sides' counts.
    pub(super) fn width(&self) -> f64 {
        self.own[0].max(self.own[1]) + total_width(&self.callees)
    }

    /// Returns true if any of the callees exists in both profiles. If the stack frame itself does
    /// not, it is a caller that was inserted or removed.
    pub(super) fn has_matched_callees(&self) -> bool {
        let mut callees = self.callees.iter().map(|callee| callee.name.sides());
        callees.any(|[old_node, new_node]| old_node.is_some() && new_node.is_some())
    }
}

/// Returns the sum of the stack frames' widths.
pub(super) fn total_width(frames: &[CallFrame<'_>]) -> f64 {
    frames.iter().map(CallFrame::width).sum()
}

/// Returns the number of levels in a tree.
pub(super) fn depth(frames: &[CallFrame<'_>]) -> usize {
    let levels = frames.iter().map(|frame| 1 + depth(&frame.callees));
    levels.max().unwrap_or(0)
}

/// Returns the instructions on each side, in all of the stack frames and their callees.
pub(super) fn totals(frames: &[CallFrame<'_>]) -> [f64; 2] {
    [0, 1].map(|side| frames.iter().map(|frame| frame.total[side]).sum())
}

/// Returns the outermost stack frames of a phase in the baseline and in the new profile.
pub(super) fn merge_calls<'p>(old: &'p ProfilePhase, new: &'p ProfilePhase) -> Vec<CallFrame<'p>> {
    Merge { phases: [old, new] }.frames(outermost(old), outermost(new))
}

/// Returns the outermost stack frames of a phase.
fn outermost(phase: &ProfilePhase) -> Callees<'_> {
    let mut root = SideFrame::default();
    for (stack, cost) in &phase.stacks {
        let mut frame = &mut root;
        for name in stack.split(';').take(DEPTH_MAX) {
            frame = frame.callees.entry(name).or_default();
            frame.total += cost.instructions;
        }
        frame.own += cost.instructions;
        frame.calls += cost.calls;
    }
    root.callees
}

/// Returns the old and the new name of each renamed function: every stack frame of the function in
/// the baseline is matched with one of the new function, and vice versa.
pub(super) fn renamed_functions<'p>(frames: &[CallFrame<'p>]) -> Vec<[&'p str; 2]> {
    let mut counterparts = [BTreeMap::new(), BTreeMap::new()];
    collect_counterparts(frames, &mut counterparts);
    let [new_names, old_names] = counterparts;
    let renamed = new_names.into_iter().filter_map(|(old_name, names)| {
        let new_name = names.into_iter().exactly_one().ok()??;
        let is_mutual = old_names.get(new_name)?.iter().eq([&Some(old_name)]);
        (new_name != old_name && is_mutual).then_some([old_name, new_name])
    });
    renamed.collect()
}

/// The names of a function's stack frames on the other side, or None for one without a counterpart.
type Counterparts<'p> = BTreeMap<&'p str, BTreeSet<Option<&'p str>>>;

/// Adds the counterparts of the stack frames' functions, and of their callees, for each side.
fn collect_counterparts<'p>(frames: &[CallFrame<'p>], counterparts: &mut [Counterparts<'p>; 2]) {
    for frame in frames {
        let names = frame.name.sides();
        for side in [0, 1] {
            if let Some(name) = names[side] {
                let opposite_names = counterparts[side].entry(name).or_default();
                opposite_names.insert(names[1 - side]);
            }
        }
        collect_counterparts(&frame.callees, counterparts);
    }
}

/// What a renamed function keeps: how often the function is entered, and its
/// callees' names, calls and total instructions. For a function without callees, its own
/// instructions. Numbers are the bits of means, so equal ratios are equal.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Signature<'p> {
    calls: u64,
    own: Option<u64>,
    callees: Vec<(&'p str, [u64; 2])>,
}

/// A merge of a phase's stack frames in the baseline and in the new profile.
struct Merge<'p> {
    phases: [&'p ProfilePhase; 2],
}

impl<'p> Merge<'p> {
    /// Merges stack frames that have the same caller.
    fn frames(&self, old: Callees<'p>, new: Callees<'p>) -> Vec<CallFrame<'p>> {
        let mut frames = Vec::new();
        let (shared, mut only_old): (Callees<'p>, Callees<'p>) = old
            .into_iter()
            .partition(|(name, _)| new.contains_key(name));
        let (mut counterparts, mut only_new): (Callees<'p>, Callees<'p>) = new
            .into_iter()
            .partition(|(name, _)| shared.contains_key(name));
        for (name, before) in shared {
            let after = counterparts.remove(name).unwrap_or_default();
            frames.push(self.frame(FrameName::Same(name), before, after));
        }
        for name in inserted_callers(&only_new, &only_old) {
            let after = only_new.remove(name).unwrap_or_default();
            let moved = take_frames(&mut only_old, &after);
            frames.push(self.frame(FrameName::Added(name), moved, after));
        }
        for name in inserted_callers(&only_old, &only_new) {
            let before = only_old.remove(name).unwrap_or_default();
            let moved = take_frames(&mut only_new, &before);
            frames.push(self.frame(FrameName::Removed(name), before, moved));
        }
        for [old, new] in self.renamed_frames(&only_old, &only_new) {
            let before = only_old.remove(old).unwrap_or_default();
            let after = only_new.remove(new).unwrap_or_default();
            frames.push(self.frame(FrameName::Renamed { old, new }, before, after));
        }
        for (name, before) in only_old {
            frames.push(self.frame(FrameName::Removed(name), before, SideFrame::default()));
        }
        for (name, after) in only_new {
            frames.push(self.frame(FrameName::Added(name), SideFrame::default(), after));
        }
        frames.sort_by_key(|frame| frame.name.sides().into_iter().flatten().last());
        frames
    }

    fn frame(&self, name: FrameName<'p>, old: SideFrame<'p>, new: SideFrame<'p>) -> CallFrame<'p> {
        let own = [self.mean(0, old.own), self.mean(1, new.own)];
        let callees = self.frames(old.callees, new.callees);
        let callee_totals = totals(&callees);
        CallFrame {
            name,
            own,
            total: [0, 1].map(|side| own[side] + callee_totals[side]),
            callees,
        }
    }

    fn mean(&self, side: usize, sum: u64) -> f64 {
        self.phases[side].mean(sum)
    }

    /// Returns the pairs of stack frames that belong to a renamed function: no other one has the
    /// same signature, and the names are similar if the counts alone might be a coincidence.
    fn renamed_frames(&self, old: &Callees<'p>, new: &Callees<'p>) -> Vec<[&'p str; 2]> {
        let mut alike: BTreeMap<Signature<'p>, [Vec<&'p str>; 2]> = BTreeMap::new();
        for (side, frames) in [old, new].into_iter().enumerate() {
            for (name, frame) in frames {
                let names = alike.entry(self.signature(side, frame)).or_default();
                names[side].push(name);
            }
        }
        let is_renamed = |[old_name, new_name]: &[&'p str; 2]| {
            let (before, after) = (&old[old_name], &new[new_name]);
            let is_equal = self.mean(0, before.own) == self.mean(1, after.own);
            is_equal && !before.callees.is_empty() || have_common_word(old_name, new_name)
        };
        let unique = alike.into_values().filter_map(|[old_names, new_names]| {
            match (&*old_names, &*new_names) {
                ([old_name], [new_name]) => Some([*old_name, *new_name]),
                _ => None,
            }
        });
        unique.filter(is_renamed).collect()
    }

    fn signature(&self, side: usize, frame: &SideFrame<'p>) -> Signature<'p> {
        let bits = |sum: u64| self.mean(side, sum).to_bits();
        let callees = frame.callees.iter();
        Signature {
            calls: bits(frame.calls),
            own: frame.callees.is_empty().then(|| bits(frame.own)),
            callees: callees
                .map(|(name, callee)| (*name, [callee.calls, callee.total].map(bits)))
                .collect(),
        }
    }
}

/// Returns true if any part of one function name, such as `psci` in `psci_cpu_on`, is part of the
/// other.
fn have_common_word<'n>(old: &'n str, new: &'n str) -> bool {
    let words = |name: &'n str| {
        let words = name.split(|letter: char| !letter.is_alphanumeric());
        words.filter(|word| !word.is_empty())
    };
    let old_words: BTreeSet<&str> = words(old).collect();
    words(new).any(|word| old_words.contains(word))
}

/// Returns the stack frames on this side, each of which stands between its caller and functions
/// that the caller calls directly on the other side. If two of them have such a callee in common,
/// it is not clear which one it belongs to, so neither is returned.
fn inserted_callers<'p>(here: &Callees<'p>, there: &Callees<'p>) -> Vec<&'p str> {
    let is_inserted = |frame: &SideFrame<'p>| {
        let mut callees = frame.callees.keys();
        !frame.callees.is_empty() && callees.all(|callee| there.contains_key(callee))
    };
    let inserted = here.iter().filter(|(_, frame)| is_inserted(frame));
    let callees = inserted.clone().flat_map(|(_, frame)| frame.callees.keys());
    let caller_counts = callees.counts();
    let is_only_caller = |frame: &SideFrame<'p>| {
        frame
            .callees
            .keys()
            .all(|callee| caller_counts[callee] == 1)
    };
    inserted
        .filter(|(_, frame)| is_only_caller(frame))
        .map(|(name, _)| *name)
        .collect()
}

/// Removes the stack frames with the names of `caller`'s callees, and returns one that has nothing
/// but these callees.
fn take_frames<'p>(frames: &mut Callees<'p>, caller: &SideFrame<'p>) -> SideFrame<'p> {
    let (callees, rest) = mem::take(frames)
        .into_iter()
        .partition(|(name, _)| caller.callees.contains_key(name));
    *frames = rest;
    SideFrame {
        callees,
        ..SideFrame::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::profile::Cost;

    /// Returns a phase with these stacks, and their instructions and calls in all samples.
    fn phase(samples: u64, stacks: &[(&str, u64, u64)]) -> ProfilePhase {
        let costs = stacks.iter().map(|(stack, instructions, calls)| {
            let cost = Cost {
                instructions: *instructions,
                calls: *calls,
                ..Cost::default()
            };
            ((*stack).to_owned(), cost)
        });
        ProfilePhase {
            samples,
            stacks: costs.collect(),
            ..ProfilePhase::default()
        }
    }

    /// Returns a line per stack frame: its name, and its own instructions if they differ. Those on
    /// only one side are marked with `+` or `-`.
    fn lines(frames: &[CallFrame<'_>], depth: usize) -> Vec<String> {
        let frame_lines = |frame: &CallFrame<'_>| {
            let mark = match frame.name {
                FrameName::Same(_) | FrameName::Renamed { .. } => "",
                FrameName::Added(_) => "+",
                FrameName::Removed(_) => "-",
            };
            let [old, new] = frame.own;
            let change = if old == new {
                String::new()
            } else {
                format!(" {old} {new}")
            };
            let name = frame.name.text();
            let line = format!("{:indent$}{mark}{name}{change}", "", indent = 2 * depth);
            [vec![line], lines(&frame.callees, depth + 1)].concat()
        };
        frames.iter().flat_map(frame_lines).collect()
    }

    /// Checks the tree merged from two phases that have one sample, and that its width does not
    /// depend on which of them is the baseline.
    fn check(old: &[(&str, u64, u64)], new: &[(&str, u64, u64)], expected: &[&str]) {
        let [old, new] = [old, new].map(|stacks| phase(1, stacks));
        assert_eq!(lines(&merge_calls(&old, &new), 0), expected);
        let width = total_width(&merge_calls(&old, &new));
        assert_eq!(width, total_width(&merge_calls(&new, &old)));
    }

    #[test]
    fn renamed_leaf_is_matched() {
        check(
            &[("f", 1, 1), ("f;x_old", 7, 2)],
            &[("f", 1, 1), ("f;x_new", 7, 2)],
            &["f", "  x_old → x_new"],
        );
    }

    #[test]
    fn renamed_function_with_equal_callees_is_matched() {
        check(
            &[("f;old", 9, 1), ("f;old;a", 3, 1), ("f;old;a;x_b", 2, 4)],
            &[("f;new", 9, 1), ("f;new;a", 3, 1), ("f;new;a;x_c", 2, 4)],
            &["f", "  old → new", "    a", "      x_b → x_c"],
        );
        // The function itself has changed, too.
        check(
            &[("f;x_old", 9, 1), ("f;x_old;a", 3, 1)],
            &[("f;x_new", 8, 1), ("f;x_new;a", 3, 1)],
            &["f", "  x_old → x_new 9 8", "    a"],
        );
    }

    #[test]
    fn frames_with_different_names_need_more_in_common() {
        check(
            &[("f;old", 7, 2)],
            &[("f;new", 7, 2)],
            &["f", "  +new 0 7", "  -old 7 0"],
        );
        check(
            &[("f;old", 9, 1), ("f;old;a", 3, 1)],
            &[("f;new", 8, 1), ("f;new;a", 3, 1)],
            &["f", "  +new 0 8", "    +a 0 3", "  -old 9 0", "    -a 3 0"],
        );
    }

    #[test]
    fn frames_with_two_candidates_are_not_matched() {
        check(
            &[("f;x_old", 7, 1)],
            &[("f;x_new", 7, 1), ("f;x_other", 7, 1)],
            &["f", "  +x_new 0 7", "  -x_old 7 0", "  +x_other 0 7"],
        );
        check(
            &[("f;x_old", 7, 1), ("f;x_other", 7, 1)],
            &[("f;x_new", 7, 1)],
            &["f", "  +x_new 0 7", "  -x_old 7 0", "  -x_other 7 0"],
        );
    }

    #[test]
    fn frames_with_different_counts_are_not_matched() {
        check(
            &[("f;x_old", 7, 1)],
            &[("f;x_new", 8, 1)],
            &["f", "  +x_new 0 8", "  -x_old 7 0"],
        );
        check(
            &[("f;x_old", 7, 1)],
            &[("f;x_new", 7, 2)],
            &["f", "  +x_new 0 7", "  -x_old 7 0"],
        );
        check(
            &[("f;x_old", 7, 1), ("f;x_old;a", 3, 1)],
            &[("f;x_new", 7, 1), ("f;x_new;a", 4, 1)],
            &[
                "f",
                "  +x_new 0 7",
                "    +a 0 4",
                "  -x_old 7 0",
                "    -a 3 0",
            ],
        );
    }

    #[test]
    fn frames_with_different_callers_are_not_matched() {
        check(
            &[("f", 1, 1), ("f;x_old", 7, 1), ("g", 1, 1)],
            &[("f", 1, 1), ("g", 1, 1), ("g;x_new", 7, 1)],
            &["f", "  -x_old 7 0", "g", "  +x_new 0 7"],
        );
    }

    #[test]
    fn callees_of_an_inserted_or_removed_caller_are_matched_by_name() {
        let direct = [("f;a", 3, 1), ("f;a;b", 2, 1), ("f;c", 5, 1), ("f;d", 1, 1)];
        let nested = [
            ("f;p", 4, 1),
            ("f;p;a", 3, 1),
            ("f;p;a;b", 2, 1),
            ("f;p;c", 6, 1),
        ];
        check(
            &direct,
            &nested,
            &["f", "  -d 1 0", "  +p 0 4", "    a", "      b", "    c 5 6"],
        );
        check(
            &nested,
            &direct,
            &["f", "  +d 0 1", "  -p 4 0", "    a", "      b", "    c 6 5"],
        );
    }

    #[test]
    fn callee_of_two_inserted_callers_is_not_matched() {
        check(
            &[("f;a", 3, 1)],
            &[("f;p;a", 1, 1), ("f;q;a", 2, 1)],
            &["f", "  -a 3 0", "  +p", "    +a 0 1", "  +q", "    +a 0 2"],
        );
    }

    #[test]
    fn counts_are_compared_per_call() {
        let old = phase(3, &[("f;x_old", 7, 3)]);
        let new = phase(6, &[("f;x_new", 14, 6)]);
        assert_eq!(lines(&merge_calls(&old, &new), 0), ["f", "  x_old → x_new"]);
    }

    #[test]
    fn totals_include_callees() {
        let old = phase(2, &[("f", 2, 2), ("f;a", 8, 2)]);
        let new = phase(2, &[("f", 4, 2), ("f;a", 6, 2)]);
        let frames = merge_calls(&old, &new);
        assert_eq!(totals(&frames), [5.0, 5.0]);
        assert_eq!(total_width(&frames), 6.0);
        assert_eq!(depth(&frames), 2);
    }

    #[test]
    fn endless_stack_is_cut_off() {
        let stack = "f;".repeat(1_000_000);
        let deep = phase(1, &[(&stack, 7, 1)]);
        let frames = merge_calls(&deep, &deep);
        assert_eq!(depth(&frames), DEPTH_MAX);
        assert_eq!(totals(&frames), [7.0, 7.0]);
    }

    #[test]
    fn function_that_keeps_its_name_elsewhere_is_not_renamed() {
        let old = [("f;x_old", 7, 1), ("g;y_kept", 3, 1), ("h;y_kept", 5, 1)];
        let new = [("f;x_new", 7, 1), ("g;y_other", 3, 1), ("h;y_kept", 5, 1)];
        let [old, new] = [phase(1, &old), phase(1, &new)];
        let renamed = renamed_functions(&merge_calls(&old, &new));
        assert_eq!(renamed, [["x_old", "x_new"]]);
    }
}
