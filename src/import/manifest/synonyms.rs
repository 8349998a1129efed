//! Names of common columns in Portuguese, German, Spanish and French, and other English ones.
//!
//! docs/tables.md has the same table. Case, accents, blanks, `-` and `_` make no difference.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Each column with the other names that it may have.
pub const COLUMN_SYNONYMS: [(&str, &[&str]); 35] = [
    (
        "path",
        &[
            "file",
            "filename",
            "caminho",
            "arquivo",
            "ficheiro",
            "Pfad",
            "Datei",
            "Dateiname",
            "ruta",
            "archivo",
            "fichero",
            "chemin",
            "fichier",
        ],
    ),
    ("identifier", &["identificador", "Kennung", "identifiant"]),
    ("title", &["título", "Titel", "titre"]),
    (
        "creator",
        &["author", "autor", "autora", "autores", "criador", "Verfasser", "auteur", "creador"],
    ),
    ("contributor", &["contribuidor", "colaborador", "Mitwirkende", "contributeur"]),
    ("date", &["data", "Datum", "fecha"]),
    (
        "subject",
        &[
            "keyword",
            "keywords",
            "assunto",
            "assuntos",
            "palavras-chave",
            "tema",
            "Thema",
            "Schlagwort",
            "Schlagwörter",
            "asunto",
            "materia",
            "palabras clave",
            "sujet",
            "mots-clés",
        ],
    ),
    ("language", &["idioma", "língua", "Sprache", "lengua", "langue"]),
    ("description", &["descrição", "Beschreibung", "descripción"]),
    ("abstract", &["resumo", "Zusammenfassung", "resumen", "résumé"]),
    ("rights", &["direitos", "Rechte", "derechos", "droits"]),
    ("license", &["licence", "licença", "Lizenz", "licencia"]),
    ("publisher", &["editora", "Verlag", "editorial", "éditeur"]),
    ("source", &["fonte", "Quelle", "fuente"]),
    ("type", &["tipo", "Typ"]),
    ("format", &["formato"]),
    ("coverage", &["cobertura", "couverture"]),
    ("audience", &["público", "Zielgruppe"]),
    ("provenance", &["proveniência", "procedência", "Provenienz"]),
    ("journal", &["revista", "Zeitschrift", "revue"]),
    ("event", &["evento", "Veranstaltung", "événement"]),
    ("series", &["série", "coleção", "Reihe", "colección"]),
    ("volume", &["Band", "volumen"]),
    ("number", &["número", "Nummer"]),
    ("pages", &["páginas", "Seiten"]),
    ("edition", &["edição", "Auflage", "edición"]),
    ("version", &["versão"]),
    ("place", &["local", "Ort", "lugar", "lieu"]),
    ("institution", &["instituição", "institución"]),
    ("extent", &["extensão", "Umfang", "extensión", "étendue"]),
    ("editor", &["organizador", "organizadora", "Herausgeber"]),
    ("translator", &["tradutor", "tradutora", "Übersetzer", "traductor", "traducteur"]),
    ("advisor", &["orientador", "orientadora", "Betreuer"]),
    ("illustrator", &["ilustrador", "ilustradora", "illustrateur"]),
    ("recipient", &["destinatário", "destinatária", "Empfänger", "destinataire"]),
];

/// The column with the other name `name`.
pub fn column_of(name: &str) -> Option<&'static str> {
    let name = folded(name);
    let is_it = |synonyms: &[&str]| synonyms.iter().any(|synonym| folded(synonym) == name);
    COLUMN_SYNONYMS.iter().find(|(_, synonyms)| is_it(synonyms)).map(|(column, _)| *column)
}

/// A normalized name.
pub(super) fn folded(name: &str) -> String {
    let is_letter = |c: &char| !is_combining_mark(*c) && !c.is_whitespace() && !"-_".contains(*c);
    name.nfd().filter(is_letter).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::sidecar::TERMS;

    #[test]
    fn each_name_means_one_column() {
        let names = COLUMN_SYNONYMS.iter().flat_map(|(_, synonyms)| synonyms.iter());
        let mut seen: BTreeSet<String> = TERMS.iter().map(|term| folded(term)).collect();
        for name in names {
            assert!(seen.insert(folded(name)), "{name}");
        }
        for (name, column) in [
            ("TÍTULO", Some("title")),
            ("descric\u{327}a\u{303}o", Some("description")),
            ("descricao", Some("description")),
            ("Palavras chave", Some("subject")),
            ("prateleira", None),
            ("", None),
        ] {
            assert_eq!(column_of(name), column, "{name}");
        }
    }
}
