//! Names that are refused.

use super::*;

#[test]
fn of_hosts() {
    let world = World::new();
    refuses(&world, "init archive --host localhost", 1).tells(str![[r#"
error: invalid host name `localhost`
  localhost
  ^^^^^^^^^ a host of one word has no subdomain; expected one such as `mtc.sid.inpe.br`
hint: a host is fully qualified, such as archive.example.org

"#]]);
    let long = format!("{}.example.org", "a".repeat(64));
    refuses(&world, &format!("init archive --host {long}"), 1).tells(str![[r#"
error: invalid host name `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example.org`
  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example.org
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ label of 64 characters; at most 63
hint: a host is fully qualified, such as archive.example.org

"#]]);
    let long = format!("{}example.org", "abcdefghi.".repeat(25));
    refuses(&world, &format!("init archive --host {long}"), 1).tells(str![[r#"
error: invalid host name `abcdefghi.abcdefghi.abcdefghi.abcdefghi.abcdefghi.abcdefghi.…`
  abcdefghi.abcdefghi.abcdefghi.abcdefghi.abcdefghi.abcdefghi.…
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ host name of 261 characters; at most 253
hint: a host is fully qualified, such as archive.example.org

"#]]);
    refuses(&world, "init archive --host arquivo.são.br", 1).tells(str![[r#"
error: invalid host name `arquivo.são.br`
  arquivo.são.br
           ^ `ã` where a letter, digit or hyphen is expected
hint: a host is fully qualified, such as archive.example.org

"#]]);
    refuses(&world, "init archive --host archive..org", 1).tells(str![[r#"
error: invalid host name `archive..org`
  archive..org
          ^ an empty word; expected a letter or digit
hint: a host is fully qualified, such as archive.example.org

"#]]);
    refuses_args(&world, ["init", "archive", "--host", ""], 1).tells(str![[r#"
error: invalid host name ``
  
  ^ a host of one word has no subdomain; expected one such as `mtc.sid.inpe.br`
hint: a host is fully qualified, such as archive.example.org

"#]]);
    let hostile = ["init", "archive", "--host", "a.\u{1b}[2J\u{202e}b"];
    refuses_args(&world, hostile, 1).tells(str![[r#"
error: invalid host name `a.\u{1b}[2J\u{202e}b`
  a.\u{1b}[2J\u{202e}b
    ^^^^^^ `\u{1b}` where a letter, digit or hyphen is expected
hint: a host is fully qualified, such as archive.example.org

"#]]);
}

#[test]
fn of_ports_and_addresses() {
    let world = World::new();
    let init = |rest: &str, code| {
        refuses(&world, &format!("init archive --host archive.example.org{rest}"), code)
    };
    for number in ["0", "65536", ""] {
        let Told(text) = init(&format!(":{number}"), 2);
        Told(text.replace(&format!("`{number}`"), "PORT")).tells(str![[r#"
error: port PORT is not from 1 to 65535
hint: leave it away for 80

"#]]);
    }
    init(" --ip 192.0.2.7:65536", 2).tells(str![[r#"
error: port `65536` is not from 1 to 65535
hint: leave it away for 800

"#]]);
    assert!(init(":http", 1).0.contains("invalid host name `archive.example.org:http`"));
    for ip in ["127.0.0.1", "::1", "[::1]", "[::1]:800", "0.0.0.0", "224.0.0.1"] {
        init(&format!(" --ip {ip}"), 1).tells(str![[r#"
error: [..] is the address of no single machine, so no IBIp can be built from it
hint: leave `--ip` away: items then have no IBIp; one that is public may be added later

"#]]);
    }
    init(" --ip 192.0.2", 2).tells(str![[r#"
error: `192.0.2` is no IP address
hint: `192.0.2.7`, `192.0.2.7:8000`, `2001:db8::7` or `[2001:db8::7]:8000`

"#]]);
}

#[test]
fn of_dates_that_are_not_in_the_calendar() {
    let world = World::with_collection();
    refuses(&world, "resolve --explain sid.inpe.br/mtc-m18@80/2009/02.30.17.46", 1).tells(str![[
        r#"
error: invalid repository name `sid.inpe.br/mtc-m18@80/2009/02.30.17.46`
  sid.inpe.br/mtc-m18@80/2009/02.30.17.46
                                 ^^ February 2009 has no day 30
hint: an identifier is subdomain/word/year/month.day.hour.minute[.second], in UTC

"#
    ]]);
    refuses(&world, "resolve --explain example.org/archive/2026/11.21.24.00", 1).tells(str![[r#"
error: invalid repository name `example.org/archive/2026/11.21.24.00`
  example.org/archive/2026/11.21.24.00
                                 ^^ hour 24 is over 23
hint: an identifier is subdomain/word/year/month.day.hour.minute[.second], in UTC

"#]]);
    refuses(&world, "-c archive list --since 2026-02-30", 2).tells(str![[r#"
error: invalid value '2026-02-30' for '--since <TIME>': expected a time as in RFC 3339, such as 2026-11-22T12:00:00Z, a day, month or year of it, or an age such as 12h, 7d or 2w

"#]]);
    refuses(&world, "-c archive list --since 22/11/2026", 2).tells(str![[r#"
error: invalid value '22/11/2026' for '--since <TIME>': expected a time as in RFC 3339, such as 2026-11-22T12:00:00Z, a day, month or year of it, or an age such as 12h, 7d or 2w

"#]]);
}

#[test]
fn that_are_none() {
    let world = World::with_collection();
    refuses(&world, "resolve --explain nonsense", 1).tells(str![[r#"
error: invalid identifier `nonsense`
  nonsense
  ^^^^^^^^ no identifier here; expected one such as sid.inpe.br/mtc-m18/2009/02.16.17.46 or 8JMKD3MGP8W/34PGRBS
hint: an identifier is subdomain/word/year/month.day.hour.minute[.second], in UTC

"#]]);
    refuses_args(&world, ["resolve", "--explain", ""], 1).tells(str![[r#"
error: invalid identifier ``
  
  ^ no identifier here; expected one such as sid.inpe.br/mtc-m18/2009/02.16.17.46 or 8JMKD3MGP8W/34PGRBS
hint: an identifier is subdomain/word/year/month.day.hour.minute[.second], in UTC

"#]]);
    refuses(&world, "-c archive list --prefix archive", 2).tells(str![[r#"
error: invalid value 'archive' for '--prefix <PREFIX>': invalid prefix `archive`

"#]]);
    refuses(&world, "-c archive show nonsense", 21).tells(str![[r#"
error: no item `nonsense` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers

"#]]);
    refuses(&world, "-c archive show 11.21.02.13", 21).tells(str![[r#"
error: no item `11.21.02.13` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers

"#]]);
    let line = "-c archive show example.org/archive/2026/11.21.02.13";
    refuses(&world, line, 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers

"#]]);
    refuses(&world, "-c archive show --path 8JMKD3MGP8W/34PGRBS", 21).tells(str![[r#"
error: no item `8JMKD3MGP8W/34PGRBS` in `[WORLD]/archive`
hint: `urepo -c archive list 8JMKD3MGP8W/34PGRBS` asks the index, which knows all stored labels

"#]]);
}
