//! Finds the console UART in a device tree.
//!
//! These are tried in order:
//!
//! 1. `/chosen/stdout-path` (Devicetree Specification v0.4, section 3.6).
//! 2. `earlycon=` and `console=` in `/chosen/bootargs` (Linux, *kernel-parameters.txt*).
//! 3. The UART of Rockchip's FIQ debugger, which Linux's driver leaves to it.
//! 4. `/chosen/zephyr,console`.
//! 5. The alias `serial0` (section 3.3), which only suggests a UART. It is not used if the UART is
//!    disabled, or if an earlier property refers to a UART that the tree does not have.
//!
//! The UART keeps the firmware's settings, so the baud rate and clock do not matter. See section
//! 4.2 for `reg-shift`, `reg-io-width` and `reg-offset`.

use alloc::format;
use alloc::string::ToString as _;
use core::fmt;

use super::fdt::Fdt;
use super::node::{Node, VALUE_MAX, find_compatible, first_text};
use super::{ranges, reference};
use crate::devices::uart::{AnyUart, Layout, UartDescription, UartKind, registers};
use crate::image::Conduit;
use crate::text::format_error::{FormatError, Result};
use crate::text::untrusted::{self, Excerpt, parse_number};

/// The maximum number of UART nodes that are compared with an address. SoCs have fewer than 32.
const UARTS_MAX: usize = 64;
/// Terminals in `console=` that are not UARTs of the SoC, or, for `ttyFIQ`, are found by the FIQ
/// debugger's node.
const OTHER_TERMINALS: [&str; 6] = [
    "ttyFIQ",
    "ttyUSB",
    "ttyACM",
    "ttyGS",
    "ttynull",
    "ttyprintk",
];

/// What specifies the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleSource {
    /// `/chosen/stdout-path`.
    StdoutPath,
    /// The name that Linux used before that one was standardized.
    LinuxStdoutPath,
    /// `earlycon=` in the boot arguments.
    Earlycon,
    /// `console=` in the boot arguments.
    Console,
    /// The FIQ debugger's node.
    FiqDebugger,
    /// `/chosen/zephyr,console`.
    ZephyrConsole,
    /// The alias, if there is nothing better.
    Serial0,
}

impl ConsoleSource {
    /// Returns true if the boot arguments cannot change the console.
    pub const fn is_stdout_path(self) -> bool {
        matches!(self, Self::StdoutPath | Self::LinuxStdoutPath)
    }
}

impl fmt::Display for ConsoleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StdoutPath => "/chosen/stdout-path",
            Self::LinuxStdoutPath => "/chosen/linux,stdout-path",
            Self::Earlycon => "earlycon in /chosen/bootargs",
            Self::Console => "console in /chosen/bootargs",
            Self::FiqDebugger => "rockchip,serial-id of the FIQ debugger",
            Self::ZephyrConsole => "/chosen/zephyr,console",
            Self::Serial0 => "alias serial0",
        })
    }
}

/// The information needed to report an unusable device tree: the UART for the message and the
/// conduit for the subsequent SYSTEM_OFF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeConsole {
    /// The console UART, or the reason why it is not available.
    pub uart: Result<UartDescription, FormatError>,
    /// What specifies the UART, if it was found.
    pub by: Option<ConsoleSource>,
    /// The conduit, or the reason why it is not available.
    pub conduit: Result<Conduit, FormatError>,
}

impl TreeConsole {
    /// Looks for the UART and conduit in `tree`. Either can be missing.
    ///
    /// # Errors
    /// Returns an error if `tree` is not a valid flattened device tree.
    pub fn find(blob: &[u8]) -> Result<Self, FormatError> {
        let tree = super::fdt::open(blob)?;
        let located = locate(tree);
        Ok(Self {
            by: located.as_ref().ok().map(|(_, key)| *key),
            uart: located.and_then(|(location, _)| location.uart()),
            conduit: super::psci_node::conduit(tree),
        })
    }
}

/// Reads the console UART, and returns it with what specifies it.
pub(crate) fn console(tree: Fdt<'_>) -> Result<(UartDescription, ConsoleSource)> {
    let (location, by) = locate(tree)?;
    Ok((location.uart()?, by))
}

/// A UART before its node has been read.
enum UartLocation<'t> {
    /// A node, which must not be disabled.
    Enabled(Node<'t>),
    /// A node of a UART that works although the node may be disabled.
    Working(Node<'t>),
    /// A UART without a node.
    Registers(UartDescription),
}

impl UartLocation<'_> {
    fn uart(self) -> Result<UartDescription> {
        match self {
            Self::Enabled(node) => {
                if let Some(node) = disabled(node) {
                    let value = node.text("status")?.unwrap_or("");
                    let expected = "okay because the console needs it";
                    return Err(node.wrong_text("status", value, expected));
                }
                read(node)
            }
            Self::Working(node) => read(node),
            Self::Registers(uart) => Ok(uart),
        }
    }
}

/// Returns the node that disables `node`, if there is one: the node itself or one of its parents.
fn disabled(node: Node<'_>) -> Option<Node<'_>> {
    let mut nodes = node.parents().into_iter().chain([node]);
    nodes.find(|node| !node.is_available())
}

/// Reads a UART's node.
fn read(node: Node<'_>) -> Result<UartDescription> {
    let Some((kind, mut layout)) = node.compatible().find_map(UartKind::from_compatible) else {
        let compatible = node.required("compatible")?;
        return Err(match first_text(compatible) {
            None => node.not_text("compatible"),
            Some(value) => node.wrong_text("compatible", value, &AnyUart.to_string()),
        });
    };
    if node.value("big-endian").is_some() {
        return Err(node.error("big-endian", format_args!("not supported")));
    }
    if kind.descriptor().is_numbered {
        let wrong_value = |name, value: u32, expected_text| {
            Err(node.wrong_value(name, value.into(), expected_text))
        };
        let reg_shift = match node.u32("reg-shift")? {
            None => layout.reg_shift,
            Some(shift @ 0..=4) => shift as u8,
            Some(shift) => return wrong_value("reg-shift", shift, "0 to 4"),
        };
        let io_width = match node.u32("reg-io-width")? {
            None => layout.io_width,
            Some(width @ (1 | 2 | 4)) => width as u8,
            Some(width) => return wrong_value("reg-io-width", width, "1, 2 or 4"),
        };
        if io_width > 1 << reg_shift {
            let expected = "at most the register spacing";
            return wrong_value("reg-io-width", io_width.into(), expected);
        }
        layout = Layout::new(reg_shift, io_width);
    }
    // The registers start `reg-offset` bytes into the `reg` region.
    let region = ranges::region(node, 0)?;
    let offset = u64::from(node.u32("reg-offset")?.unwrap_or(0));
    let base = region.base.saturating_add(offset);
    let uart = UartDescription::new(kind, base, layout);
    if region.size < offset.saturating_add(registers(&uart).size) {
        return Err(node.wrong_value("reg", region.size, "a size that covers all registers"));
    }
    if !uart.is_aligned() {
        let expected = "an address aligned to reg-io-width";
        return Err(node.wrong_value("reg", base, expected));
    }
    Ok(uart)
}

/// Finds a UART, or returns `None` if the tree does not specify it in this way.
type Source = for<'t> fn(Fdt<'t>) -> Result<Option<UartLocation<'t>>>;

/// The properties that specify the console, in order.
const SOURCES: [(Source, ConsoleSource); 6] = [
    (by_stdout_path, ConsoleSource::StdoutPath),
    (by_linux_stdout_path, ConsoleSource::LinuxStdoutPath),
    (by_earlycon, ConsoleSource::Earlycon),
    (by_console, ConsoleSource::Console),
    (by_fiq_debugger, ConsoleSource::FiqDebugger),
    (by_zephyr_console, ConsoleSource::ZephyrConsole),
];

/// Returns the console and what specifies it.
fn locate<'t>(tree: Fdt<'t>) -> Result<(UartLocation<'t>, ConsoleSource)> {
    let mut wrong = None;
    for (find, by) in SOURCES {
        match find(tree) {
            Ok(Some(location)) => return Ok((location, by)),
            Ok(None) => {}
            Err(error) => wrong = wrong.or(Some(error)),
        }
    }
    // Another UART is not the console if the tree specifies one, but wrongly.
    if let Some(error) = wrong {
        return Err(error);
    }
    let why = match reference::resolve(tree, "serial0")? {
        Some(node) if disabled(node).is_none() => {
            return Ok((UartLocation::Enabled(node), ConsoleSource::Serial0));
        }
        Some(_) => "alias serial0 is disabled",
        None => "no alias serial0",
    };
    Err(FormatError::new(format_args!(
        "no stdout-path in /chosen and {why}, so the console is unknown"
    )))
}

fn by_stdout_path<'t>(tree: Fdt<'t>) -> Result<Option<UartLocation<'t>>> {
    Ok(reference::in_chosen(tree, "stdout-path")?.map(UartLocation::Enabled))
}

fn by_linux_stdout_path<'t>(tree: Fdt<'t>) -> Result<Option<UartLocation<'t>>> {
    Ok(reference::in_chosen(tree, "linux,stdout-path")?.map(UartLocation::Enabled))
}

fn by_zephyr_console<'t>(tree: Fdt<'t>) -> Result<Option<UartLocation<'t>>> {
    Ok(reference::in_chosen(tree, "zephyr,console")?.map(UartLocation::Enabled))
}

/// The UART of Rockchip's FIQ debugger, whose node is disabled so that no other driver uses it.
fn by_fiq_debugger<'t>(tree: Fdt<'t>) -> Result<Option<UartLocation<'t>>> {
    const ID: &str = "rockchip,serial-id";
    let Some(node) = find_compatible(tree, "rockchip,fiq-debugger") else {
        return Ok(None);
    };
    // The binding uses -1 for a debugger without a UART.
    let Some(id) = node.u32(ID)?.filter(|id| *id != u32::MAX) else {
        return Ok(None);
    };
    let uart = reference::resolve(tree, &format!("serial{id}"))?;
    let missing_alias = || node.error(ID, format_args!("no UART has the alias serial{id}"));
    uart.ok_or_else(missing_alias)
        .map(|uart| Some(UartLocation::Working(uart)))
}

/// The first `earlycon=` with an address. Linux uses such a UART whether or not its node is
/// disabled.
fn by_earlycon<'t>(tree: Fdt<'t>) -> Result<Option<UartLocation<'t>>> {
    for value in bootargs(tree, "earlycon") {
        if let Some(location) = by_address(tree, "earlycon", value)? {
            return Ok(Some(location));
        }
    }
    Ok(None)
}

/// The last `console=` that specifies a UART. Linux uses the last one for `/dev/console`.
fn by_console<'t>(tree: Fdt<'t>) -> Result<Option<UartLocation<'t>>> {
    let mut last = Ok(None);
    for value in bootargs(tree, "console") {
        let location = match terminal(value) {
            Some((driver, line)) => by_alias(tree, value, driver, line).map(Some),
            None => by_address(tree, "console", value),
        };
        let is_error_kept = matches!(last, Ok(None));
        match location {
            Ok(None) => {}
            Ok(Some(location)) => last = Ok(Some(location)),
            Err(error) if is_error_kept => last = Err(error),
            // An earlier UART or error takes precedence.
            Err(_) => {}
        }
    }
    last
}

/// Returns the values of the words `key=value` in `/chosen/bootargs`.
fn bootargs<'t>(tree: Fdt<'t>, key: &'static str) -> impl Iterator<Item = &'t str> {
    let chosen = Node::find(tree, "/chosen");
    let text = chosen.and_then(|chosen_node| chosen_node.text("bootargs").ok().flatten());
    let words = text.unwrap_or("").split_ascii_whitespace();
    words.filter_map(move |word| word.strip_prefix(key)?.strip_prefix('='))
}

/// Builds the error for a word in `/chosen/bootargs`.
fn wrong_word(tree: Fdt<'_>, key: &str, value: &str, reason: &str) -> FormatError {
    let shown = Excerpt(value, VALUE_MAX);
    let chosen = Node::find(tree, "/chosen").unwrap_or(Node::root(tree));
    chosen.error("bootargs", format_args!("{key}={shown}: {reason}"))
}

/// Splits `ttyS2,1500000n8` into `ttyS` and 2. Returns `None` for anything but a terminal that may
/// be a UART.
fn terminal(value: &str) -> Option<(&str, u32)> {
    let name = value.split(',').next().unwrap_or(value);
    let driver = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let line = parse_number(name.strip_prefix(driver)?.as_bytes(), 10)?;
    let is_serial = driver.len() > 3 && driver.starts_with("tty");
    (is_serial && !OTHER_TERMINALS.contains(&driver)).then_some((driver, line))
}

/// Finds the UART of a terminal: Linux numbers UARTs by their aliases.
fn by_alias<'t>(tree: Fdt<'t>, value: &str, driver: &str, line: u32) -> Result<UartLocation<'t>> {
    let wrong_value = |expected_text: &str| wrong_word(tree, "console", value, expected_text);
    let Some(node) = reference::resolve(tree, &format!("serial{line}"))? else {
        return Err(wrong_value(&format!("no UART has the alias serial{line}")));
    };
    let kind = node.compatible().find_map(UartKind::from_compatible);
    if kind.is_some_and(|(kind, _)| kind.descriptor().terminal != driver) {
        return Err(wrong_value(&format!(
            "alias serial{line} is a different kind of UART"
        )));
    }
    match disabled(node) {
        Some(_) => Err(wrong_value(&format!("alias serial{line} is disabled"))),
        None => Ok(UartLocation::Enabled(node)),
    }
}

/// Finds the UART in `KIND,ADDRESS` or `KIND,ACCESS,ADDRESS`. Returns `None` for a value without an
/// address, such as `efifb` or `ttyUSB0,115200`.
fn by_address<'t>(tree: Fdt<'t>, key: &str, value: &str) -> Result<Option<UartLocation<'t>>> {
    let mut parts = value.split(',');
    let name = parts.next().unwrap_or("");
    let first = parts.next().unwrap_or("");
    let layout = match first {
        "mmio16" => Layout::new(1, 2),
        "mmio32" | "mmio32native" => Layout::new(2, 4),
        _ => Layout::new(0, 1),
    };
    let wrong_value = |expected_text| Err(wrong_word(tree, key, value, expected_text));
    let address = match first {
        "mmio" | "mmio16" | "mmio32" | "mmio32native" => parts.next().unwrap_or(""),
        "mmio32be" | "io" => {
            return wrong_value("only memory-mapped, little-endian UARTs are supported");
        }
        address if address.starts_with("0x") => address,
        _ => return Ok(None),
    };
    let Some(base) = untrusted::parse_address(address) else {
        return wrong_value("expected 0x and an address");
    };
    if let Some(node) = uart_at(tree, base) {
        return Ok(Some(UartLocation::Working(node)));
    }
    let Some(kind) = UartKind::from_earlycon(name) else {
        return wrong_value("no UART node has this address");
    };
    let uart = UartDescription::new(kind, base, layout);
    if uart.is_aligned() {
        Ok(Some(UartLocation::Registers(uart)))
    } else {
        wrong_value("the address is not aligned")
    }
}

/// Returns the UART node whose registers include `address`.
fn uart_at<'t>(tree: Fdt<'t>, address: u64) -> Option<Node<'t>> {
    let nodes = Node::root(tree).subtree().map(|(_, node)| node);
    let is_uart = |node: &Node<'_>| {
        let is_known = |name| UartKind::from_compatible(name).is_some();
        node.is_called(b"serial") || node.is_called(b"uart") || node.compatible().any(is_known)
    };
    let holds = |node: &Node<'_>| {
        ranges::region(*node, 0).is_ok_and(|region| (region.base..region.end()).contains(&address))
    };
    nodes.filter(is_uart).take(UARTS_MAX).find(holds)
}
