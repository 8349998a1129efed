//! Names of licences in the list of SPDX, of which the common ones are known here.

/// Names of licences: <https://spdx.org/licenses/>. Those of Creative Commons have their versions apart.
const NAMES: [&str; 42] = [
    "0BSD",
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
    "Apache-2.0",
    "Artistic-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-1.0",
    "CDLA-Permissive-2.0",
    "CDLA-Sharing-1.0",
    "CECILL-2.1",
    "CERN-OHL-P-2.0",
    "CERN-OHL-S-2.0",
    "CERN-OHL-W-2.0",
    "ECL-2.0",
    "EPL-2.0",
    "EUPL-1.2",
    "etalab-2.0",
    "GFDL-1.3-only",
    "GFDL-1.3-or-later",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "ISC",
    "LGPL-2.1-only",
    "LGPL-2.1-or-later",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "ODbL-1.0",
    "ODC-By-1.0",
    "OFL-1.1",
    "OGL-UK-3.0",
    "PDDL-1.0",
    "PSF-2.0",
    "Unlicense",
    "Zlib",
];

const CREATIVE_COMMONS: [&str; 6] =
    ["CC-BY", "CC-BY-SA", "CC-BY-ND", "CC-BY-NC", "CC-BY-NC-SA", "CC-BY-NC-ND"];
const VERSIONS: [&str; 5] = ["1.0", "2.0", "2.5", "3.0", "4.0"];

/// The name of a licence as SPDX writes it, if `text` is one in any case.
pub(crate) fn spdx(text: &str) -> Option<String> {
    let text = text.trim();
    let of_commons = || {
        let (kind, version) = text.rsplit_once('-')?;
        let kind = CREATIVE_COMMONS.iter().find(|it| it.eq_ignore_ascii_case(kind))?;
        VERSIONS.contains(&version).then(|| format!("{kind}-{version}"))
    };
    let named = NAMES.iter().find(|name| name.eq_ignore_ascii_case(text));
    named.map(|name| (*name).to_owned()).or_else(of_commons)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_list() {
        for (text, name) in [
            ("CC0-1.0", Some("CC0-1.0")),
            ("cc-by-nc-4.0", Some("CC-BY-NC-4.0")),
            ("mit", Some("MIT")),
            ("CC-BY-5.0", None),
            ("CC-BY", None),
            ("Domínio público", None),
            ("", None),
        ] {
            assert_eq!(spdx(text).as_deref(), name, "{text}");
        }
    }
}
