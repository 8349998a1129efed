//! Relative links between items: from the payload of an item to other items of the same root.
//!
//! The layout of collections makes them possible: `../../../../../` leads from `doc/` to the root, in every
//! collection that holds both items [generation, 6]. Links are found in symbolic links, and in the text of
//! HTML, LaTeX, Tcl and Markdown files. Only links that climb out of their item count; URLs do not.
//!
//! | file | subject |
//! |---|---|
//! | `text` | links in the text of a file; pure |
//! | `audit` | whether they lead to something |

mod audit;
mod text;

use std::os::unix::ffi::OsStrExt;
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;

use text::Markup;

use crate::identity::{RepositoryName, encode_path};
use crate::item::PayloadPath;
use crate::layout;

pub use audit::{Audit, Link, LinkEnd};

/// The link from the file `from` of any item to the file `file` of the item `to`, in the syntax of that kind
/// of file: up to the root and down again, so that it contains the whole identifier.
pub fn relative(from: &PayloadPath, to: &RepositoryName, file: &PayloadPath) -> PathBuf {
    // The payload and the four levels of the item.
    let up = from.parents().count() + 5;
    let up: PathBuf = std::iter::repeat_n("..", up).collect();
    let link = up.join(layout::item_directory(to)).join(layout::PAYLOAD).join(file.as_path());
    match Markup::of(from) {
        Some(Markup::Urls) => encode_path(link.as_os_str().as_bytes()).into(),
        Some(Markup::Latex | Markup::Paths) | None => link,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_what_it_was_made_for() {
        let name = |text: &str| text.parse::<RepositoryName>().unwrap();
        let path = |text: &str| PayloadPath::new(Path::new(text)).unwrap();
        let own = name("example.org/a/2026/11.21.02.13");
        let to = name("sid.inpe.br/MTC-m13@80/2005/06.02.15.03");
        for from in ["a", "b/c", "b/c/d.tex"] {
            let link = relative(&path(from), &to, &path("x/y.cls"));
            let found = path(from).linked_path(&own, link.as_os_str().as_encoded_bytes()).unwrap();
            assert_eq!((found.item, found.path), (to.clone(), PathBuf::from("doc/x/y.cls")));
        }
        let link = relative(&path("a.html"), &to, &path("x y#1.html"));
        assert!(link.ends_with("doc/x%20y%231.html"), "{}", link.display());
        let link = relative(&path("b/c"), &to, &path("x"));
        let levels = "sid.inpe.br/MTC-m13@80/2005/06.02.15.03";
        assert_eq!(link, Path::new(&format!("../../../../../../{levels}/doc/x")));
    }
}
