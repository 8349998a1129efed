#!/bin/bash
# Makes the tables in fixtures/spreadsheets with LibreOffice, headless, as people in three countries save them.
#
#   tests/spreadsheets/make.sh [DIR]
#
# Needs `soffice` (Debian: libreoffice-calc). `cargo test` reads the files that are kept in fixtures, and does not run this.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath "${1:-$here/../../fixtures/spreadsheets}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# text CELL…: cells of text; a cell that begins with `date:` is a date.
row() {
    printf '<table:table-row>'
    for cell in "$@"; do
        case $cell in
            date:*) printf '<table:table-cell table:style-name="date" office:value-type="date" office:date-value="%s"/>' "${cell#date:}" ;;
            '') printf '<table:table-cell/>' ;;
            *) printf '<table:table-cell office:value-type="string"><text:p>%s</text:p></table:table-cell>' "$cell" ;;
        esac
    done
    printf '</table:table-row>\n'
}

# sheet FILE < rows: a flat OpenDocument spreadsheet.
sheet() {
    {
        cat <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 office:mimetype="application/vnd.oasis.opendocument.spreadsheet" office:version="1.2">
<office:automatic-styles>
<number:date-style style:name="day"><number:year number:style="long"/><number:text>-</number:text><number:month
 number:style="long"/><number:text>-</number:text><number:day number:style="long"/></number:date-style>
<style:style style:name="date" style:family="table-cell" style:data-style-name="day"/>
</office:automatic-styles>
<office:body><office:spreadsheet><table:table table:name="1">
XML
        cat
        echo '</table:table></office:spreadsheet></office:body></office:document>'
    } > "$1"
}

# save LOCALE NAME SEPARATOR CHARSET: converts NAME.fods in an office of that country, with numbers and dates as shown.
save() {
    local profile=$work/profile-$1
    mkdir -p "$profile/user"
    cat > "$profile/user/registrymodifications.xcu" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>$1</value></prop></item>
</oor:items>
XML
    soffice "-env:UserInstallation=file://$profile" --headless \
        --convert-to "csv:Text - txt - csv (StarCalc):$3,34,$4,1,,0,false,true,false" --outdir "$work" \
        "$work/$2.fods" >/dev/null 2>&1
    mv "$work/$2.csv" "$out/$2.csv"
}

{
    row Arquivo Título Autor Data Assunto Idioma Descrição Direitos
    row 'ação.txt' 'Coração: “São João”; às vezes' 'Conceição, José' '1911' 'mapas|cartas' pt-BR 'Água, pão &amp; limão' 'Domínio público'
    row '' '' '' '' '' '' '' ''
    row 'carta.txt' 'À mãe' 'Antônio Brandão' 'date:1911-03-12' 'família' pt-BR 'nº 3 – 2ª via' '© Museu'
} | sheet "$work/pt-BR.fods"
{
    row Datei Titel Verfasser Datum Schlagwort Sprache Beschreibung Rechte
    row 'Größe.txt' 'Straße „Ärger“; Öl' 'Müller, Jürgen' '1911/1912' 'Karten|Briefe' de 'Übersicht, groß' 'Stadtarchiv Köln'
    row 'Brief.txt' 'Grüße' 'Größ, Änne' 'date:1911-03-12' 'Familie' de '5 € – „neu“' 'frei'
} | sheet "$work/de.fods"
{
    row File Title Author Date Keywords Language Description Rights
    row 'café.txt' 'The “Café”, first edition' "O'Brien, Zoë" '1911~' 'maps|letters' en 'naïve – 100 %' 'public domain'
    row 'letter.txt' 'Dear Ægir' 'Smith, J.' 'date:1911-03-12' 'family' en 'two; parts' 'free'
} | sheet "$work/en.fods"
cp "$work/en.fods" "$work/en-utf-16.fods"

# 59, 44 and 9 are `;`, `,` and tab; 76 is UTF-8, 1 Windows-1252, 65535 UTF-16.
save pt-BR pt-BR 59 76
save de de 59 1
save en en 44 76
save en en-utf-16 9 65535
