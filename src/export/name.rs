//! What an exported item is called: one file name that still says all of the item's name.

use crate::identity::RepositoryName;

/// The name of the directory that `name` becomes: `example.org+archive+2026+11.21.02.13`.
///
/// `+` stands for the `/`: it occurs in no name. So the whole name can be read from it, and two items
/// never meet.
pub fn file_name(name: &RepositoryName) -> String {
    name.components().join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_stay_file_names() {
        for (name, file) in [
            ("sid.inpe.br/mtc-m18@80/2009/02.16.17.46", "sid.inpe.br+mtc-m18@80+2009+02.16.17.46"),
            ("Example.org./archive/2026/11.21.02.13", "Example.org+archive+2026+11.21.02.13"),
        ] {
            let (name, _) = RepositoryName::parse_as_found(name).unwrap();
            assert_eq!(file_name(&name), file);
        }
    }
}
