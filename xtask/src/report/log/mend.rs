//! A record out of two damaged copies of it.
//!
//! Where one copy suffered early and the other late, the record is the
//! beginning of the second and the end of the first, for some place where to
//! change over. Its checksum tells whether one was found: of the few thousand
//! that are tried, one in a million pairs would be right by chance.

use psci_bench::record::line::MARK;
use psci_bench::record::parse::Record;

/// The longest piece that is tried: a record has at most 120 columns.
pub(super) const LEN_MAX: usize = 160;

/// The most bytes that one copy may lack.
const LOST_MAX: usize = 3;

/// The record that `a` and `b` make.
pub(super) fn of(a: &[u8], b: &[u8]) -> Option<Vec<u8>> {
    let (a, b) = (a.get(..LEN_MAX).unwrap_or(a), b.get(..LEN_MAX).unwrap_or(b));
    let mut whole = Vec::with_capacity(2 * LEN_MAX);
    for (front, back) in [(a, b), (b, a)] {
        if !front.starts_with(MARK.as_bytes()) {
            continue;
        }
        for lost in 0..=LOST_MAX {
            for at in lost.max(MARK.len())..=front.len() {
                let Some(rest) = back.get(at - lost..) else {
                    break;
                };
                whole.clear();
                whole.extend_from_slice(front.get(..at)?);
                whole.extend_from_slice(rest);
                if Record::parse(&whole).is_ok() {
                    return Some(whole);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use psci_bench::record::crc::Crc32;

    #[test]
    fn one_byte_each() {
        let body = "@PB 0007 row t=1 by=tftf mpidr=0x1 powerdown=5156 wakeup=7330 ";
        let whole = format!("{body}{:08x}", Crc32::of(body.as_bytes())).into_bytes();
        for (at, to) in [(3, 40), (40, 3), (20, 21), (60, 69), (69, 5), (7, 8)] {
            let (mut a, mut b) = (whole.clone(), whole.clone());
            a.remove(at);
            b.remove(to);
            assert_eq!(of(&a, &b).as_ref(), Some(&whole), "{at} {to}");
            // A flipped bit in one of them.
            let mut c = whole.clone();
            c[to] ^= 1;
            assert_eq!(of(&a, &c).as_ref(), Some(&whole), "{at} {to}");
        }
        assert_eq!(of(&whole[..30], &whole[..40]), None);
        assert_eq!(of(b"", b""), None);
    }
}
