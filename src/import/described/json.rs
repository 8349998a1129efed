//! A list of objects as lines of objects.

use serde_json::Value;

use super::DescribedError;

/// The objects of a JSON document, a list or one object, each on a line: the line that it begins on, if no two begin
/// on one.
pub(super) fn lines(bytes: &[u8]) -> Result<Vec<u8>, DescribedError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let syntax = |error: serde_json::Error, line: usize| DescribedError::Syntax {
        line: line + error.line().saturating_sub(1),
        reason: error.to_string(),
    };
    // The document as a whole, so that nothing of a broken one is taken.
    let document: Value = serde_json::from_slice(bytes).map_err(|error| syntax(error, 1))?;
    let Value::Array(objects) = document else {
        let mut line = document.to_string().into_bytes();
        line.push(b'\n');
        return Ok(line);
    };
    let (mut lines, mut written, mut at, mut line) = (Vec::new(), 1, 0, 1);
    for object in objects {
        // Between the objects of a valid list there is nothing but this.
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'[' | b',');
        let gap = bytes[at..].iter().take_while(|byte| is_between(byte)).count();
        line += newlines(&bytes[at..at + gap]);
        let start = at + gap;
        let mut rest = serde_json::Deserializer::from_slice(&bytes[start..]).into_iter::<Value>();
        let _ = rest.next();
        at = (start + rest.byte_offset()).max(start + 1).min(bytes.len());
        while written < line {
            lines.push(b'\n');
            written += 1;
        }
        lines.extend(object.to_string().into_bytes());
        lines.push(b'\n');
        written += 1;
        line += newlines(&bytes[start..at]);
    }
    Ok(lines)
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_keep_their_lines() {
        let lines = |text: &str| String::from_utf8(lines(text.as_bytes()).unwrap()).unwrap();
        assert_eq!(lines("[\n{\"a\": [1,\n2]},\n{}\n]"), "\n{\"a\":[1,2]}\n\n{}\n");
        assert_eq!(lines("[{}, {}]"), "{}\n{}\n");
        assert_eq!(lines("{\n\"a\": null}"), "{\"a\":null}\n");
        assert_eq!(lines("[]"), "");
        assert!(super::lines(b"[{},\n{]").unwrap_err().to_string().starts_with("line 2: "));
    }
}
