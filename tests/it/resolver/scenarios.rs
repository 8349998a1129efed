//! What answers lead to [resolution, 8.3 and 11].

use super::scripted::{
    Act, Asked, ITEM, OTHER, Resolving, Scripted, THIRD, hasty, pairs, patient, service, url,
};

/// What a reader gets: a status, and the location or the text.
fn outcome(archives: &[Scripted], target: &str) -> (u16, String) {
    answered(&Resolving::of(archives, patient()), target, &[])
}

fn answered(resolving: &Resolving, target: &str, fields: &[&str]) -> (u16, String) {
    let answer = resolving.get_with(target, fields);
    let location = answer.field("location").to_owned();
    let text = answer.text().replace("\r\n", " ");
    (answer.status, if location.is_empty() { text } else { location })
}

fn found(name: &str, rest: &str) -> (u16, String) {
    (302, format!("http://{name}.example.org/col/{rest}"))
}

fn alert(status: u16, text: &str) -> (u16, String) {
    (status, format!("alert {text}"))
}

/// An archive that has `ITEM`, with these pairs for the verbs.
fn has(name: &'static str, verbs: &'static str, more: &str) -> Scripted {
    let more = more.to_owned();
    Scripted::new(name, move |asked| match asked {
        Asked { item, verbs: asked } if item == ITEM && asked == verbs => pairs(name, ITEM, &more),
        Asked { item, .. } if item == ITEM => pairs(name, ITEM, ""),
        _ => Act::Pairs(String::new()),
    })
}

fn empty(name: &'static str) -> Scripted {
    Scripted::new(name, |_| Act::Pairs(String::new()))
}

fn hung(name: &'static str) -> Scripted {
    Scripted::new(name, |_| Act::Hang)
}

fn deleted(name: &'static str) -> Scripted {
    has(name, "", "state Deleted timestamp 2026-10-01T12:00:00Z")
}

const ORIGINAL: &str = "?ibiurl.requireditemstatus=Original";

fn item(rest: &str) -> String {
    format!("/{ITEM}{rest}")
}

#[test]
fn the_first_url_to_arrive_is_taken() {
    let (a, b) =
        (|| has("a", "", &url("a", "", "Original")), || has("b", "", &url("b", "", "Copy")));
    assert_eq!(outcome(&[a(), hung("b")], &item("")), found("a", "Original"));
    assert_eq!(outcome(&[hung("a"), b()], &item("")), found("b", "Copy"));
    assert_eq!(Resolving::of(&[b()], patient()).get(&item("")).field("vary"), "");
    assert_eq!(outcome(&[empty("a"), b()], &item("?x=1&ibiurl.other=2")), found("b", "Copy?x=1"));
    assert_eq!(outcome(&[deleted("a"), b()], &item("")), found("b", "Copy"));
}

#[test]
fn a_required_original_is_looked_for_in_all_answers() {
    let (a, b) =
        (|| has("a", "", &url("a", "", "Original")), || has("b", "", &url("b", "", "Copy")));
    let both = [a(), b()];
    assert_eq!(outcome(&both, &item(ORIGINAL)), found("a", "Original"));
    for archive in &both {
        // An archive does not know that it is being tested.
        assert!(!archive.next_target().contains("required"));
    }
    assert_eq!(outcome(&[b(), a()], &item(ORIGINAL)), found("a", "Original"));
    assert_eq!(outcome(&[empty("a"), b()], &item(ORIGINAL)), alert(404, "{original not found}"));
    assert_eq!(outcome(&[empty("a"), b()], &item("?ibiurl.requireditemstatus=Copy")).0, 400);
}

#[test]
fn two_claimants_are_an_alert_and_get_no_acknowledgment() {
    let claims = |name| has(name, "", &url(name, "", "Original"));
    let archives = [claims("a"), claims("b"), empty("c")];
    let resolving = Resolving::of(&archives, patient());
    let (status, text) = answered(&resolving, &item(ORIGINAL), &[]);
    let suspects = [service("a"), service("b")].map(|name| format!("rep {name}"));
    let names = [suspects.join(" "), format!("{} {}", suspects[1], suspects[0])];
    let texts = names.map(|names| {
        format!("alert {{two or more archives claim the original, investigation needed}} suspects {{{names}}}")
    });
    assert!(status == 409 && texts.contains(&text), "{text}");
    let page = resolving.get_with(&item(ORIGINAL), &["Accept: text/html", "Accept-Language: en"]);
    assert!(page.text().contains("Two Originals") && page.text().contains("http://b.example.org/"));
    for archive in &archives {
        assert!(archive.targets().iter().all(|target| !target.contains("acknowledgment")));
    }
}

/// An archive that says nothing may claim the Original, too.
#[test]
fn an_original_found_without_all_answers_says_so() {
    let a = || has("a", "", &url("a", "", "Original"));
    let broken = Scripted::new("b", |_| Act::Bytes(Vec::new()));
    let resolving = Resolving::of(&[a(), broken], patient());
    let answer = resolving.get(&item(ORIGINAL));
    assert_eq!((answer.status, answer.text().as_str()), (302, "unanswered 1"));
    assert_eq!(answer.field("location"), "http://a.example.org/col/Original");
    let resolving = Resolving::of(&[a(), empty("b")], patient());
    assert_eq!(resolving.get(&item(ORIGINAL)).text(), "");
    // Where any holding will do, the others are not waited for.
    let resolving = Resolving::of(&[a(), hung("b")], patient());
    assert_eq!(resolving.get(&item("")).text(), "");
}

/// A Copy names the item itself as what its URL leads to: that item without the verbs is another request.
#[test]
fn the_original_of_a_description_is_no_file() {
    let copy = format!(
        "{} ibi.metadata {{rep {ITEM} ibip 8JMKD3MGP8W/35MMLL8}}",
        url("a", ".metadata", "Copy")
    );
    let a = Scripted::new("a", move |asked| match &*asked.verbs {
        "GetMetadata" => {
            let Act::Pairs(text) = pairs("a", ITEM, &copy) else { panic!() };
            Act::Pairs(text.replacen(
                &format!("{ITEM}}}"),
                &format!("{ITEM} ibip 8JMKD3MGP8W/35MMLL8}}"),
                1,
            ))
        }
        _ => pairs("a", ITEM, &url("a", "", "Original")),
    });
    let none = alert(404, "{original not found}");
    let archives = [a];
    for target in [ITEM, "8JMKD3MGP8W/35MMLL8"] {
        assert_eq!(outcome(&archives, &format!("/{target}:{ORIGINAL}")), none, "{target}");
    }
}

#[test]
fn a_deleted_item_is_gone_unless_somebody_has_a_copy() {
    let gone = alert(410, "{information item deleted} timestamp 2026-10-01T12:00:00Z");
    assert_eq!(outcome(&[deleted("a"), empty("b")], &item("")), gone);
    assert_eq!(outcome(&[deleted("a"), empty("b")], &item(ORIGINAL)), gone);
    let copy = has("b", "", &url("b", "", "Copy"));
    assert_eq!(outcome(&[deleted("a"), copy], &item(ORIGINAL)), gone);
}

#[test]
fn editions_are_followed_from_archive_to_archive() {
    let first = |name| has(name, "GetLastEdition", &format!("ibi.nextedition {{rep {OTHER}}}"));
    let last = Scripted::new("b", |asked| match &*asked.item {
        OTHER => pairs("b", OTHER, &url("b", ".lastedition", "Original")),
        _ => Act::Pairs(String::new()),
    });
    let archives = [first("a"), last];
    assert_eq!(outcome(&archives, &item("!")), found("b", "Original.lastedition"));
    let asked: Vec<String> = (0..2).map(|_| archives[1].next_target()).collect();
    assert!(asked[1].contains(&format!("ibi={OTHER}&parsedibiurl.verblist=GetLastEdition&")));
    // A chain that comes back to its begin ends after two rounds.
    let circle = Scripted::new("a", |asked| {
        let next = if asked.item == ITEM { OTHER } else { ITEM };
        pairs("a", &asked.item, &format!("ibi.nextedition {{rep {next}}}"))
    });
    let archives = [circle];
    assert_eq!(outcome(&archives, &item("!")), alert(508, "{resolution loop}"));
    assert_eq!(archives[0].targets().len(), 2);
    // One that never does, after as many rounds as are allowed.
    let endless = Scripted::new("a", |asked| {
        let date: u64 = asked.item.rsplit('.').next().unwrap().parse().unwrap();
        let next = format!("example.org/items/2026/02.02.02.{:02}", (date + 1) % 60);
        pairs("a", &asked.item, &format!("ibi.nextedition {{rep {next}}}"))
    });
    let resolving =
        Resolving::of(&[endless], urepo::resolver::AskLimits { rounds: 7, ..patient() });
    assert_eq!(answered(&resolving, &item("!"), &[]), alert(508, "{resolution loop}"));
}

#[test]
fn a_minimal_archive_answers_no_verbs() {
    let minimal = || Scripted::new("a", |asked| pairs("a", &asked.item, &url("a", "", "Original")));
    assert_eq!(outcome(&[minimal()], &item("")), found("a", "Original"));
    for verbs in ["!", ":", "+", "+!:"] {
        let none = alert(404, "{information item not found}");
        assert_eq!(outcome(&[minimal()], &item(verbs)), none, "{verbs}");
    }
}

#[test]
fn a_translation_may_be_in_another_archive() {
    let a = || has("a", "GetTranslation(pt)", &format!("ibi.translation(pt) {{rep {OTHER}}}"));
    let c = || {
        Scripted::new("c", |asked| match (&*asked.item, &*asked.verbs) {
            (OTHER, "") => pairs("c", OTHER, &url("c", "", "Copy")),
            _ => Act::Pairs(String::new()),
        })
    };
    assert_eq!(outcome(&[a(), c()], &item("+(pt)")), found("c", "Copy"));
    assert_eq!(
        outcome(&[has("a", "", ""), empty("c")], &item("+(pt)")),
        alert(404, "{translation not found} language pt")
    );
    assert_eq!(
        outcome(&[empty("a"), empty("c")], &item("+(pt)")),
        alert(404, "{information item not found}")
    );
    // Metadata of a translation: the longest way that is known.
    let metadata = has(
        "a",
        "GetTranslation(pt) GetMetadata",
        &format!(
            "ibi.translation(pt) {{rep {OTHER}}} ibi.translation(pt).metadata {{rep {THIRD}}}"
        ),
    );
    let third = Scripted::new("c", |asked| match (&*asked.item, &*asked.verbs) {
        (THIRD, "") => pairs("c", THIRD, &url("c", "", "Original")),
        _ => Act::Pairs(String::new()),
    });
    assert_eq!(outcome(&[metadata, third], &item("+(pt):")), found("c", "Original"));
    let half =
        has("a", "GetTranslation(pt) GetMetadata", &format!("ibi.translation(pt) {{rep {OTHER}}}"));
    let rest = Scripted::new("c", |asked| match (&*asked.item, &*asked.verbs) {
        (OTHER, "GetMetadata") => pairs("c", OTHER, &url("c", ".metadata", "Original")),
        _ => Act::Pairs(String::new()),
    });
    assert_eq!(outcome(&[half, rest], &item("+(pt):")), found("c", "Original.metadata"));
}

/// The vectors of section 8.3, and languages in different archives [resolution, E20].
#[test]
fn the_language_is_chosen_among_all_answers() {
    let en = || has("a", "GetTranslation", &url("a", ".translation(en)", "Original"));
    let pt = || has("b", "GetTranslation", &url("b", ".translation(pt)", "Copy"));
    let plain = || {
        Scripted::new("c", |asked| match (&*asked.item, &*asked.verbs) {
            (ITEM, "") => pairs("c", ITEM, &url("c", "", "Original")),
            (ITEM, _) => pairs("c", ITEM, ""),
            _ => Act::Pairs(String::new()),
        })
    };
    let bare = || has("d", "GetTranslation", &url("d", ".translation", "Original"));
    let elsewhere = || {
        Scripted::new("b", |asked| match (&*asked.item, &*asked.verbs) {
            (ITEM, "GetTranslation") => {
                let pointer = format!("ibi.translation(pt) {{rep {OTHER}}}");
                pairs("b", ITEM, &format!("{} {pointer}", url("b", ".translation(en)", "Copy")))
            }
            (OTHER, "") => pairs("b", OTHER, &url("b", "", "Original")),
            _ => Act::Pairs(String::new()),
        })
    };
    let header = "pt-BR,fr;q=0.8,en;q=0.5,pt;q=0.3";
    for (archives, languages, expected) in [
        (vec![en(), pt()], header, found("b", "Copy.translation(pt)")),
        (vec![en(), pt()], "pt-BR,fr;q=0.8,en;q=0.5", found("b", "Copy.translation(pt)")),
        (vec![en(), pt()], "en", found("a", "Original.translation(en)")),
        (vec![pt(), hung("a")], header, found("b", "Copy.translation(pt)")),
        (vec![en(), pt(), bare()], "de", found("d", "Original.translation")),
        (vec![en(), pt(), plain()], "de", found("c", "Original")),
        (vec![en(), elsewhere()], "pt", found("b", "Original")),
        (vec![elsewhere()], "en", found("b", "Copy.translation(en)")),
    ] {
        let names: Vec<_> = archives.iter().map(|it| it.name).collect();
        let resolving = Resolving::of(&archives, patient());
        let field = format!("Accept-Language: {languages}");
        assert_eq!(answered(&resolving, &item("+"), &[&field]), expected, "{names:?} {languages}");
        assert_eq!(resolving.get_with(&item("+"), &[&field]).field("vary"), "Accept-Language");
        for archive in &archives {
            // The preference is the resolver's secret.
            assert!(
                archive.targets().iter().all(|it| !it.contains("q=0.") && !it.contains("language"))
            );
        }
    }
}

/// An item that nobody has, or that was deleted, is not the last word: the next best language, then the item itself.
#[test]
fn a_translation_that_is_nowhere_leaves_the_others() {
    let pointer = |to: &str| format!("ibi.translation(pt) {{rep {to}}}");
    let a = |more: &str| {
        let more = format!("{} {more}", pointer(OTHER));
        Scripted::new("a", move |asked| match (&*asked.item, &*asked.verbs) {
            (ITEM, "") => pairs("a", ITEM, &url("a", "", "Original")),
            (ITEM, "GetTranslation") => pairs("a", ITEM, &more),
            _ => Act::Pairs(String::new()),
        })
    };
    let gone = || {
        Scripted::new("b", |asked| match &*asked.item {
            OTHER => pairs("b", OTHER, "state Deleted timestamp 2026-10-01T12:00:00Z"),
            _ => Act::Pairs(String::new()),
        })
    };
    let english = url("a", ".translation(en)", "Original");
    let in_english = found("a", "Original.translation(en)");
    let late = || {
        let more = url("b", ".translation(en)", "Copy");
        Scripted::new("b", move |asked| match (&*asked.item, &*asked.verbs) {
            (ITEM, _) => pairs("b", ITEM, &more),
            _ => Act::Pairs(String::new()),
        })
    };
    for (archives, languages, expected) in [
        (vec![a(&english), empty("b")], "pt,en;q=0.5", in_english.clone()),
        (vec![a(&english), gone()], "pt,en;q=0.5", in_english),
        (vec![a(&english), gone()], "pt", found("a", "Original")),
        (vec![a(""), gone()], "pt", found("a", "Original")),
        (vec![a(""), empty("b")], "pt,en;q=0.5", found("a", "Original")),
        (vec![a(""), late()], "pt,en;q=0.5", found("b", "Copy.translation(en)")),
    ] {
        let resolving = Resolving::of(&archives, patient());
        let field = format!("Accept-Language: {languages}");
        assert_eq!(answered(&resolving, &item("+"), &[&field]), expected, "{languages}");
    }
    // Where the reader names the language, the alert is about that item. It names what the reader asked for.
    let named = has("a", "GetTranslation(pt)", &pointer(OTHER));
    let resolving = Resolving::of(&[named, gone()], patient());
    let deleted = alert(410, "{information item deleted} timestamp 2026-10-01T12:00:00Z");
    assert_eq!(answered(&resolving, &item("+(pt)"), &[]), deleted);
    let page = resolving.get_with(&item("+(pt)"), &["Accept: text/html"]).text();
    assert!(page.contains(&format!("<code>{ITEM}+(pt)</code>")), "{page}");
}

/// The description in a sidecar stands in the place of a metadata item that nobody has.
#[test]
fn metadata_that_are_nowhere_are_those_of_the_sidecar() {
    let description = format!(
        "ibi.metadata {{rep {OTHER}}} contenttype.metadata Metadata url.metadata http://a.example.org/{ITEM}: urlkey 1796126400-1234567890"
    );
    let a = || has("a", "GetMetadata", &description);
    let b = || {
        Scripted::new("b", |asked| match &*asked.item {
            OTHER => pairs("b", OTHER, &url("b", "", "Copy")),
            _ => Act::Pairs(String::new()),
        })
    };
    let here = (302, format!("http://a.example.org/{ITEM}:"));
    assert_eq!(outcome(&[a(), b()], &item(":")), found("b", "Copy"));
    assert_eq!(outcome(&[a(), empty("b")], &item(":")), here);
    // It is nobody's Original.
    let none = alert(404, "{information item not found}");
    assert_eq!(outcome(&[a(), empty("b")], &item(&format!(":{ORIGINAL}"))), none);
    // Another archive may have the item with its metadata, and answer later.
    let c = has("c", "GetMetadata", &url("c", ".metadata", "Copy"));
    assert_eq!(outcome(&[a(), c], &item(":")), found("c", "Copy.metadata"));
}

#[test]
fn a_list_of_files_is_that_of_the_translation() {
    let a = has("a", "GetTranslation(pt) GetFileList", &url("a", ".translation(pt)", "Original"));
    let expected = found("a", "Original.translation(pt)");
    assert_eq!(outcome(&[a], &item("+(pt)?ibiurl.verblist=GetFileList")), expected);
    // The request for the list goes along to the next archive, and so does the path of a file.
    let first = has("a", "GetLastEdition GetFileList", &format!("ibi.nextedition {{rep {OTHER}}}"));
    let archives = [first, empty("b")];
    let target = item("!/a%20b?ibiurl.verblist=GetFileList");
    assert_eq!(outcome(&archives, &target).0, 404);
    let asked: Vec<String> = (0..2).map(|_| archives[1].next_target()).collect();
    assert!(asked.iter().all(|it| it.contains("filepath=/a%2520b&")), "{asked:?}");
    assert!(asked.iter().all(|it| it.contains("verblist=GetLastEdition%20GetFileList&")));
}

/// The selected item has its Original in an archive that does not know the first item.
#[test]
fn the_original_of_a_translation_may_be_elsewhere() {
    let copy =
        format!("{} ibi.translation(pt) {{rep {OTHER}}}", url("a", ".translation(pt)", "Copy"));
    let a = has("a", "GetTranslation(pt)", &copy);
    let b = Scripted::new("b", |asked| match (&*asked.item, &*asked.verbs) {
        (OTHER, "") => pairs("b", OTHER, &url("b", "", "Original")),
        _ => Act::Pairs(String::new()),
    });
    let target = item(&format!("+(pt){ORIGINAL}"));
    assert_eq!(outcome(&[a, b], &target), found("b", "Original"));
    let a = has("a", "GetTranslation(pt)", &copy);
    assert_eq!(outcome(&[a, empty("b")], &target), alert(404, "{information item not found}"));
}

#[test]
fn archives_that_do_not_answer_delay_nobody_and_are_named() {
    let b = || has("b", "", &url("b", "", "Copy"));
    // Without a limit of time: it does not wait.
    assert_eq!(outcome(&[hung("a"), b()], &item("")), found("b", "Copy"));
    let resolving = Resolving::of(&[hung("a"), hung("b")], hasty());
    assert_eq!(answered(&resolving, &item(""), &[]), alert(504, "{no archive answered}"));
    let resolving = Resolving::of(&[hung("a"), empty("b")], hasty());
    let expected = alert(404, "{information item not found} unanswered 1");
    assert_eq!(answered(&resolving, &item(""), &[]), expected);
    let page = resolving.get_with(&item(""), &["Accept: text/html", "Accept-Language: pt-BR"]);
    assert!(page.text().contains("não responderam e podem ter o item: 1/2"), "{}", page.text());
    assert_eq!(outcome(&[], &item("")), alert(504, "{no archive answered}"));
}
