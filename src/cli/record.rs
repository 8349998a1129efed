//! JSON records: each has `type` and `version`; fields are added, never changed.

use std::path::Path;

use serde_json::{Map, Value, json};
use urepo::collection::StoredItem;
use urepo::item::{Content, Entry, PayloadPath};
use urepo::sidecar::{self, Handover, Party, Sidecar};

use super::failure::Failure;

/// What every record of an item says.
pub(crate) fn item(id: &str, ibip: Option<&str>, path: &Path, state: Option<&str>) -> Value {
    let mut record = json!({
        "type": "item", "version": 1, "id": id, "ibip": ibip, "state": state, "ok": true,
    });
    add_path(&mut record, "path", path);
    record
}

/// An item with everything its sidecar says.
pub(crate) fn described(item_on_disk: &StoredItem, sidecar: &Sidecar) -> Value {
    let ibip = sidecar.ibip.as_ref().map(ToString::to_string);
    let mut record = item(
        item_on_disk.name().as_str(),
        ibip.as_deref(),
        item_on_disk.dir().path(),
        Some(&sidecar.state.to_string()),
    );
    let described = json!({
        "created": sidecar.created.to_string(),
        "timestamp": sidecar.timestamp.to_string(),
        "target": sidecar.target.as_ref().map(PayloadPath::to_text),
        "transferable": sidecar.transferable,
        "metadata": sidecar::json(sidecar.metadata.table()),
        "relations": sidecar::json(&sidecar.relations),
        "origin": sidecar::json(&sidecar.origin),
        "handover": sidecar.handover.as_ref().map(handover),
        "removal": sidecar.removal.as_ref().map(|removal| json!({
            "by": removal.by, "reason": removal.reason, "was": removal.was.to_string(),
            "date": sidecar.timestamp.to_string(),
        })),
        "files": sidecar.payload.files,
        "bytes": sidecar.payload.bytes,
        "digest": format!("sha256:{}", sidecar.payload.digest),
    });
    extend(&mut record, described);
    record
}

/// The other end of a hand-over under way: `from` or `to` a collection.
fn handover(handover: &Handover) -> Value {
    match &handover.party {
        Party::From(id) => json!({ "token": handover.token, "from": id }),
        Party::To(id) => json!({ "token": handover.token, "to": id }),
    }
}

/// That an item could not be read, and why.
pub(crate) fn failed(failure: &Failure) -> Value {
    json!({
        "version": 1, "ok": false,
        "error": { "code": failure.exit.code(), "message": failure.in_one_line() },
    })
}

/// One entry of a payload.
pub(crate) fn entry(entry: &Entry) -> Value {
    let mut record = match &entry.content {
        Content::File { bytes, digest, modified, mode } => json!({
            "kind": "file", "bytes": bytes, "digest": format!("sha256:{digest}"),
            "modified": modified.to_string(), "mode": format!("{mode:04o}"),
        }),
        Content::Link { target } => {
            json!({ "kind": "link", "target": String::from_utf8_lossy(target) })
        }
        Content::EmptyDirectory { modified, mode } => json!({
            "kind": "directory", "modified": modified.to_string(), "mode": format!("{mode:04o}"),
        }),
    };
    add_path(&mut record, "path", entry.path.as_path());
    record
}

/// Adds a path: as text, and exactly in base 64 where it is not UTF-8.
pub(crate) fn add_path(record: &mut Value, key: &str, path: &Path) {
    use std::os::unix::ffi::OsStrExt;
    let mut fields = Map::new();
    fields.insert(key.to_owned(), path.to_string_lossy().into());
    if path.to_str().is_none() {
        fields.insert(format!("{key}_b64"), base64(path.as_os_str().as_bytes()).into());
    }
    extend(record, Value::Object(fields));
}

/// Adds the fields of one object to another.
pub(crate) fn extend(record: &mut Value, fields: Value) {
    if let (Value::Object(record), Value::Object(fields)) = (record, fields) {
        record.extend(fields);
    }
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for at in 0..4 {
            if at <= chunk.len() {
                let digit = group >> (18 - 6 * at) & 63;
                text.push(char::from(DIGITS[digit as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_of_the_rfc() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}
