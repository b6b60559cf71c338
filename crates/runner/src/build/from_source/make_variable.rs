//! Variables for make that the user adds to a build of TF-A.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The variables that a build sets itself.
const OWN: [&str; 9] = [
    "BL33",
    "BUILD_BASE",
    "BUILD_MESSAGE_TIMESTAMP",
    "BUILD_STRING",
    "CROSS_COMPILE",
    "DEBUG",
    "MAKEFLAGS",
    "PLAT",
    "TF_PLATFORM_ROOT",
];

/// A variable on make's command line, such as `ARM_DISABLE_TRUSTED_WDOG=1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MakeVariable {
    name: String,
    value: String,
}

/// Text that is not a variable, or one that the build sets itself.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MakeVariableError {
    /// The text does not have the form NAME=VALUE.
    #[error("expected NAME=VALUE, such as ARM_DISABLE_TRUSTED_WDOG=1")]
    Form,
    /// The build sets the variable with this name.
    #[error("{0} is set by this command")]
    Own(String),
}

impl FromStr for MakeVariable {
    type Err = MakeVariableError;

    fn from_str(text: &str) -> Result<Self, MakeVariableError> {
        let (name, value) = text.split_once('=').ok_or(MakeVariableError::Form)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let has_name = name.starts_with(|c: char| !c.is_ascii_digit()) && name.chars().all(is_name);
        if !has_name || value.contains(char::is_control) {
            return Err(MakeVariableError::Form);
        }
        if OWN.contains(&name) {
            return Err(MakeVariableError::Own(name.to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }
}

impl fmt::Display for MakeVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_names_with_values() {
        for good in ["ARM_DISABLE_TRUSTED_WDOG=1", "E=", "CFLAGS_x=-DA=1 -DB"] {
            let variable: MakeVariable = good.parse().expect(good);
            assert_eq!(variable.to_string(), good);
        }
        for bad in ["", "=1", "A", "1A=2", "A B=1", "A-B=1", "A:=1", "A=1\n2"] {
            assert_eq!(
                bad.parse::<MakeVariable>(),
                Err(MakeVariableError::Form),
                "{bad}"
            );
        }
        let own = "PLAT=fvp".parse::<MakeVariable>();
        assert_eq!(own, Err(MakeVariableError::Own("PLAT".into())));
    }
}
