//! A list of objects as lines of objects.

use serde_json::value::RawValue;

use super::DescribedError;

/// The objects of a JSON document, a list or one object, one on each line. If no two begin on the same line,
/// line numbers are kept.
pub(super) fn lines(bytes: &[u8]) -> Result<Vec<u8>, DescribedError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| DescribedError::NotUtf8)?;
    let syntax = |error: serde_json::Error| DescribedError::Syntax {
        line: error.line().max(1),
        reason: error.to_string(),
    };
    // Line ends occur only between values.
    let one_line = |text: &str| text.replace(['\n', '\r'], " ").into_bytes();
    // The whole document is parsed first, so that nothing of a broken one is taken.
    let document: &RawValue = serde_json::from_str(text).map_err(syntax)?;
    if !document.get().starts_with('[') {
        return Ok([one_line(document.get()), b"\n".to_vec()].concat());
    }
    let objects: Vec<&RawValue> = serde_json::from_str(text).map_err(syntax)?;
    let (mut lines, mut written, mut end, mut line) = (Vec::new(), 1, 0, 1);
    for object in objects {
        let object = object.get();
        let start = object.as_ptr().addr() - text.as_ptr().addr();
        line += newlines(&bytes[end..start]);
        end = start + object.len();
        while written < line {
            lines.push(b'\n');
            written += 1;
        }
        lines.extend(one_line(object));
        lines.push(b'\n');
        written += 1;
        line += newlines(object.as_bytes());
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
        assert_eq!(lines("[\n{\"a\": [1,\n2]},\n{}\n]"), "\n{\"a\": [1, 2]}\n\n{}\n");
        assert_eq!(lines("[{}, {}]"), "{}\n{}\n");
        assert_eq!(lines("{\n\"a\": null}"), "{ \"a\": null}\n");
        assert_eq!(lines("[]"), "");
        assert!(super::lines(b"[{},\n{]").unwrap_err().to_string().starts_with("line 2: "));
    }
}
