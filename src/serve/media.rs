//! Media types by the endings of names, and how a browser is to treat them.

/// How a file is given to a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Media {
    /// The type.
    pub(super) name: &'static str,
    /// Whether the browser shows it, or only saves it.
    pub(super) is_shown: bool,
    /// Whether it may hold scripts, which never run.
    pub(super) is_active: bool,
}

const fn shown(name: &'static str) -> Media {
    Media { name, is_shown: true, is_active: false }
}

const fn active(name: &'static str) -> Media {
    Media { name, is_shown: true, is_active: true }
}

const fn saved(name: &'static str) -> Media {
    Media { name, is_shown: false, is_active: false }
}

const UNKNOWN: Media = saved("application/octet-stream");

/// Endings and their media. That of a text gets a charset where its bytes show one.
const ENDINGS: [(&str, Media); 47] = [
    ("avif", shown("image/avif")),
    ("bib", shown("text/plain")),
    ("bmp", shown("image/bmp")),
    ("bz2", saved("application/x-bzip2")),
    ("csv", saved("text/csv")),
    ("doc", saved("application/msword")),
    ("docx", saved("application/vnd.openxmlformats-officedocument.wordprocessingml.document")),
    ("epub", saved("application/epub+zip")),
    ("flac", shown("audio/flac")),
    ("geojson", saved("application/geo+json")),
    ("gif", shown("image/gif")),
    ("gz", saved("application/gzip")),
    ("h5", saved("application/x-hdf5")),
    ("htm", active("text/html")),
    ("html", active("text/html")),
    ("jpeg", shown("image/jpeg")),
    ("jpg", shown("image/jpeg")),
    ("json", shown("application/json")),
    ("log", shown("text/plain")),
    ("md", shown("text/plain")),
    ("mp3", shown("audio/mpeg")),
    ("mp4", shown("video/mp4")),
    ("nc", saved("application/x-netcdf")),
    ("odp", saved("application/vnd.oasis.opendocument.presentation")),
    ("ods", saved("application/vnd.oasis.opendocument.spreadsheet")),
    ("odt", saved("application/vnd.oasis.opendocument.text")),
    ("ogg", shown("audio/ogg")),
    ("pdf", shown("application/pdf")),
    ("png", shown("image/png")),
    ("ppt", saved("application/vnd.ms-powerpoint")),
    ("pptx", saved("application/vnd.openxmlformats-officedocument.presentationml.presentation")),
    ("ps", saved("application/postscript")),
    ("rtf", saved("application/rtf")),
    ("svg", active("image/svg+xml")),
    ("tar", saved("application/x-tar")),
    ("tex", shown("text/plain")),
    ("tif", saved("image/tiff")),
    ("tiff", saved("image/tiff")),
    ("txt", shown("text/plain")),
    ("wav", shown("audio/wav")),
    ("webm", shown("video/webm")),
    ("webp", shown("image/webp")),
    ("xhtml", active("application/xhtml+xml")),
    ("xls", saved("application/vnd.ms-excel")),
    ("xlsx", saved("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")),
    ("xml", active("application/xml")),
    ("zip", saved("application/zip")),
];

/// The media of a file called `name`. Programs, hidden files and unknown ones are only saved.
pub(super) fn media(name: &[u8]) -> Media {
    let ending = match name.iter().rposition(|byte| *byte == b'.') {
        Some(dot) if !name.starts_with(b".") => name[dot + 1..].to_ascii_lowercase(),
        _ => return UNKNOWN,
    };
    let found = ENDINGS.binary_search_by(|(known, _)| known.as_bytes().cmp(&ending));
    found.map_or(UNKNOWN, |at| ENDINGS[at].1)
}

/// The field `Content-Disposition` for a file called `name` [RFC 6266].
pub(super) fn disposition(name: &[u8], media: Media) -> String {
    let kind = if media.is_shown { "inline" } else { "attachment" };
    let text = String::from_utf8_lossy(name);
    let plain: String = text
        .chars()
        .map(|c| if c.is_ascii_graphic() && !"\"\\%;".contains(c) || c == ' ' { c } else { '_' })
        .collect();
    let encoded: String = text
        .bytes()
        .map(|byte| match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect();
    format!("{kind}; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_sorted_and_found_in_any_case() {
        assert!(ENDINGS.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(media(b"Report.PDF").name, "application/pdf");
        assert!(media(b"a.html").is_active && media(b"a.svg").is_active);
        for name in [
            "a",
            ".pdf",
            "x.html.cgi",
            "a.php",
            "a.py",
            "a.sh",
            "a.",
            "a.js",
            ".htaccess",
            ".hidden.html",
            "..html",
        ] {
            assert_eq!(media(name.as_bytes()), UNKNOWN, "{name}");
        }
    }

    #[test]
    fn no_name_breaks_out_of_its_field() {
        let found = disposition(b"a\"b\r\nc;\xe2\x80\xae%\xff.pdf", media(b".pdf"));
        let expected = "attachment; filename=\"a_b__c____.pdf\"; \
                        filename*=UTF-8''a%22b%0D%0Ac%3B%E2%80%AE%25%EF%BF%BD.pdf";
        assert_eq!(found, expected);
    }
}
