//! UUIDs, as FIPs have them.

use std::fmt;
use std::str::FromStr;

/// A UUID, its bytes as they stand in the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// What ends the list of entries.
    pub const NIL: Self = Self([0; 16]);
}

impl fmt::Display for Uuid {
    /// In the form 8-4-4-4-12, as fiptool prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02X}")?;
        }
        Ok(())
    }
}

impl FromStr for Uuid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no UUID: those have the form 8-4-4-4-12");
        let groups: Vec<&str> = text.split('-').collect();
        let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
            || !groups.iter().all(|group| digits(group))
        {
            return Err(wrong());
        }
        let number = u128::from_str_radix(&groups.concat(), 16).map_err(|_| wrong())?;
        Ok(Self(number.to_be_bytes()))
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
