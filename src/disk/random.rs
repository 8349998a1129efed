//! Random bytes and unique names.

use std::fmt::Write as _;
use std::io;

/// Random bytes from the system.
pub(crate) fn random_bytes<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// `BYTES` random bytes as hexadecimal digits.
pub(crate) fn random_hex<const BYTES: usize>() -> io::Result<String> {
    let mut text = String::with_capacity(2 * BYTES);
    for byte in random_bytes::<BYTES>()? {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
