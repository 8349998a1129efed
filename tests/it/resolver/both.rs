//! Our resolver and our archives together.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::mpsc::{Sender, channel};

use urepo::collection::Collection;
use urepo::disk::Watcher;
use urepo::identity::{LanguagePreferences, PersistentUrl};
use urepo::resolve::{DestinationKind, Holders, resolve};
use urepo::web::listen::Limits;

use super::scripted::{ITEM, Resolving, patient, plain, registry, service};
use crate::resolve::{expected, family, name, put};
use crate::serve::{Answered, Running, Site};
use crate::support::{World, make_collection};

/// Archives at `NAME.example.org` of the collections called `names`, and a resolver of them.
fn resolving(world: &World, names: &[&str]) -> (Vec<Site>, Resolving) {
    let site = |name: &&str| {
        let root = world.path(name);
        let address = format!("{name}.example.org");
        Site::with_service(&service(name), &[(&root, &address)], Limits::default(), |_| {})
    };
    let sites: Vec<Site> = names.iter().map(site).collect();
    let hosts = sites.iter().zip(names);
    let hosts: Vec<String> =
        hosts.map(|(site, name)| format!("{} {name}.example.org", site.address)).collect();
    let resolving = Resolving::with(&registry(names), &hosts.join("\n"), patient());
    (sites, resolving)
}

/// Each composition of modifiers leads to the same item as in three collections on one machine.
#[test]
fn every_composition_leads_to_its_item_over_three_archives() {
    let world = family();
    let (_sites, resolving) = resolving(&world, &["a", "b", "c"]);
    let rows = crate::identity::resolution("modifiers");
    let mut compositions: Vec<String> =
        rows.iter().map(|row| crate::identity::text(row, "text").to_owned()).collect();
    compositions.push(String::new());
    for plain in &compositions {
        for language in ["+", "+(pt)"] {
            let modifiers = plain.replace('+', language);
            for status in ["", "?ibiurl.requireditemstatus=Original"] {
                let target = format!("/{}{modifiers}{status}", name(0));
                let answer = resolving.get_with(&target, &["Accept-Language: pt-BR"]);
                let cite = format!("<http://urlib.net/{}>; rel=\"cite-as\"", name(expected(plain)));
                assert_eq!((answer.status, answer.field("link")), (302, &*cite), "{target}");
            }
        }
    }
}

/// Whatever archives are there and whatever they have deleted, a persistent URL leads to the item that it leads to where their
/// collections are on one disk: a pointer to an item that is nowhere is not the last word.
#[test]
fn without_some_archives_the_items_are_those_of_the_collections_that_are_left() {
    let rows = crate::identity::resolution("modifiers");
    let preferences: LanguagePreferences = "pt-BR,en;q=0.5".parse().unwrap();
    let (mut found, mut sought) = (0, 0);
    for deleted in [None, Some((2, "b")), Some((10, "b")), Some((3, "c"))] {
        let world = family();
        if let Some((number, root)) = deleted {
            put(&world.path(root), &name(number), &"state = 'Deleted'".parse().unwrap());
        }
        for names in [&["a", "b", "c"][..], &["a", "b"], &["a", "c"], &["b", "c"], &["a"]] {
            let (_sites, resolving) = resolving(&world, names);
            let open = |name: &&str| Collection::open(&world.path(name), &Watcher::default());
            let collections: Vec<_> = names.iter().map(|name| open(name).unwrap()).collect();
            for modifiers in rows.iter().map(|row| crate::identity::text(row, "text")) {
                for language in ["+", "+(pt)"] {
                    let target = format!("{}{}", name(0), modifiers.replace('+', language));
                    let url: PersistentUrl = target.parse().unwrap();
                    let here = resolve(&Holders::new(&collections), &url, &preferences);
                    let fields = ["Accept-Language: pt-BR,en;q=0.5"];
                    let there = resolving.get_with(&format!("/{target}"), &fields);
                    let context = format!("{target} of {names:?} without {deleted:?}: {there:?}");
                    sought += 1;
                    let Ok(here) = here else {
                        // Over HTTP another language is looked for, too, where the editions of the best one end elsewhere.
                        assert!(there.status != 302 || target.contains("+!"), "{context}");
                        continue;
                    };
                    found += 1;
                    let item = &here.item.record.name;
                    let cite = format!("<http://urlib.net/{item}>; rel=\"cite-as\"");
                    assert_eq!((there.status, there.field("link")), (302, &*cite), "{context}");
                    let is_description = matches!(here.kind, DestinationKind::Description { .. });
                    let location = there.field("location");
                    assert_eq!(
                        location.ends_with(&format!("/{item}:")),
                        is_description,
                        "{context}"
                    );
                }
            }
        }
    }
    assert!(found > 200 && sought - found > 50, "{found} of {sought}");
}

/// A server in front of the archive at `archive`, which tells what it is asked, and the status of the answer.
fn forwarding(archive: SocketAddr, asked: Sender<(String, u16)>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                head.push(byte[0]);
            }
            let mut connection = TcpStream::connect(archive).unwrap();
            connection.write_all(&head).unwrap();
            let answer = Answered::read(&mut connection, false).unwrap();
            let target = String::from_utf8(head).unwrap().split(' ').nth(1).unwrap().to_owned();
            asked.send((target, answer.status)).unwrap();
            let status = format!("HTTP/1.1 {} .", answer.status);
            let head = plain(answer.body.len()).replacen("HTTP/1.1 200 OK", &status, 1);
            let _ = stream.write_all(&[head.as_bytes(), &answer.body].concat());
        }
    });
    address
}

/// A path grows when it becomes a value in a query, so the limit of the resolver must be the smaller one. What is too long is said
/// before anybody is asked.
#[test]
fn an_archive_takes_every_request_that_its_resolver_takes() {
    let world = World::new();
    make_collection(&world.path("a"));
    put(&world.path("a"), ITEM, &"file = 'a.txt'".parse().unwrap());
    let (sites, _) = resolving(&world, &["a"]);
    let (asked, seen) = channel();
    let between = forwarding(sites[0].address, asked);
    let hosts = format!("{between} a.example.org");
    let resolving = Resolving::with(&registry(&["a"]), &hosts, patient());
    // The acknowledgment of an earlier request may come late.
    let asked = || {
        let all = seen.try_iter().inspect(|(target, status): &(String, u16)| {
            assert!(target.len() <= 8000 && *status == 200, "{status} {target}");
        });
        let all = all.filter(|(target, _)| target.ends_with("=urlRequest"));
        all.map(|(target, _)| target.len()).max()
    };
    for piece in ["a", "=", "%80", "%25", "a/", "%20", "&", "+", "~"] {
        let mut longest = 0;
        for length in (0..17_000_usize).step_by(499) {
            let target = format!("/{ITEM}/{}", piece.repeat(length / piece.len()));
            let status = resolving.get(&target).status;
            match (status, asked()) {
                (302 | 404, Some(length)) => longest = longest.max(length),
                (414 | 431, None) => assert!(length > 2000, "{piece} {length}"),
                other => panic!("{piece} {length}: {other:?}"),
            }
        }
        assert!(longest > 6000, "{piece}: {longest}");
    }
    let page = format!("/{ITEM}/{}", "=".repeat(3000));
    let page = resolving.get_with(&page, &["Accept: text/html"]);
    assert!(page.status == 414 && page.text().contains("Too long"), "{}", page.text());
    // All this has left nobody out.
    assert_eq!(resolving.get(&format!("/{ITEM}")).status, 302);
}

/// A file that is damaged in one archive is given by the other one.
#[test]
fn damage_in_one_archive_leads_to_the_copy_in_the_other() {
    let world = World::new();
    for root in ["a", "b"] {
        make_collection(&world.path(root));
        put(&world.path(root), ITEM, &"file = 'é.txt'".parse().unwrap());
    }
    crate::support::change_item(&world.path("b"), ITEM, |sidecar| {
        sidecar.state = urepo::item::State::Copy;
    });
    let (sites, resolving) = resolving(&world, &["a", "b"]);
    let original = format!("/{ITEM}?ibiurl.requireditemstatus=Original");
    let location = |target: &str| resolving.get(target).field("location").to_owned();
    let path = format!("/col/{ITEM}/doc/%C3%A9.txt");
    assert_eq!(location(&original), format!("http://a.example.org{path}"));
    std::fs::write(world.path(format!("a/{ITEM}/doc/é.txt")), "y").unwrap();
    let answer = sites[0].ask("GET", "a.example.org", &path, &[]);
    assert_eq!(answer.status, 500);
    assert_eq!(location(&format!("/{ITEM}")), format!("http://b.example.org{path}"));
    assert_eq!(resolving.get(&original).text(), "alert {original not found}");
    assert_eq!(sites[1].ask("GET", "b.example.org", &path, &[]).body, b"x");
}

/// The programs themselves: registration, inclusion, resolution, an archive that moves, a resolver that is killed,
/// exclusion.
#[test]
fn an_archive_is_resolved_while_it_runs() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let item = world.run("-c archive new a.txt").line();
    let start = |listen: &str| {
        let resolver = format!(
            "resolver --registry registry.toml --service J8LNKB5R7W/3FUQHC5 --listen {listen}"
        );
        Running::start(&world, &resolver)
    };
    let resolver = start("127.0.0.1:0");
    let address = resolver.1.clone();
    let settings = world.path("archive/urepo.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let archive = format!(
        "[archive]\nresolver = \"http://{address}/J8LNKB5R7W/3FUQHC5\"\nemail = \"keeper@example.org\"\n"
    );
    std::fs::write(&settings, format!("{text}\n{archive}")).unwrap();
    let mail = world.run("-c archive serve --print-registration --key-file key");
    let service = mail.succeeded().split("archiveserviceibi = ").nth(1).unwrap();
    let service = service.lines().next().unwrap().to_owned();
    let check = "-c archive serve --listen 127.0.0.1:0 --key-file key --check";
    let ran = world.run(check);
    assert!(ran.code == 1 && ran.stderr.contains("registered with this key?"), "{}", ran.stderr);
    let register = format!("resolver register {service} --registry registry.toml --key-file key");
    assert!(world.run(&format!("{register} --allow-private")).succeeded().contains(&service));
    assert_eq!(world.run(&register).code, 23);
    let json = world.run(&format!("{register} --allow-private --replace --json"));
    let mail: serde_json::Value = serde_json::from_str(json.succeeded()).unwrap();
    assert_eq!((&mail["type"], &mail["kind"]), (&"service".into(), &"mail".into()));
    assert!(mail["text"].as_str().unwrap().contains(&service), "{mail}");

    let redirect =
        |resolver: &Running| resolver.get(&format!("/{item}")).field("location").to_owned();
    let serve = "-c archive serve --listen 127.0.0.1:0 --key-file key";
    for _ in 0..2 {
        // Each time at another port.
        let archive = Running::start(&world, serve);
        let expected = format!("http://{}/col/{item}/doc/a.txt", archive.1);
        while redirect(&resolver) != expected {
            std::thread::yield_now();
        }
        assert_eq!(archive.get(&format!("/col/{item}/doc/a.txt")).body, b"alpha");
        let (code, text) = archive.stop();
        assert_eq!(code, Some(0), "{text}");
        assert_eq!(resolver.get(&format!("/{item}")).status, 504, "{text}");
        let list = world.run("resolver list --registry registry.toml");
        assert_eq!(list.succeeded(), format!("{service}  registered\n"));
    }
    let archive = Running::start(&world, serve);
    while redirect(&resolver).is_empty() {
        std::thread::yield_now();
    }
    resolver.kill();
    let resolver = start(&address);
    assert_eq!(redirect(&resolver), format!("http://{}/col/{item}/doc/a.txt", archive.1));
    // An archive that is killed cannot withdraw; the resolver bears it.
    archive.kill();
    assert_eq!(resolver.get(&format!("/{item}")).status, 504);
    assert!(world.run("resolver remove --registry registry.toml").code == 2);
    world.run(&format!("resolver remove {service} --registry registry.toml")).succeeded();
    assert_eq!(world.run(&format!("resolver remove {service} --registry registry.toml")).code, 21);
    let (code, text) = resolver.stop();
    assert_eq!(code, Some(0), "{text}");
}

/// A registry that a person has edited: the fault and its place, and nothing is changed.
#[test]
fn a_registry_that_cannot_be_read_is_named_with_its_fault() {
    let world = World::with_collection();
    let path = world.path("registry.toml");
    let text = "[[archive]]\nservice = \"example.org/a/2026/01.01.01.01\"\nrounds = \"many\"\n";
    super::scripted::write_registry(&path, text);
    let list = "resolver list --registry registry.toml";
    for line in [list, "resolver --registry registry.toml --service J8LNKB5R7W/3FUQHC5"] {
        let ran = world.run(line);
        let place = "registry.toml` cannot be understood\ncaused by: line 3, column 10: ";
        assert!(ran.code == 1 && ran.stderr.contains(place), "{line}: {}", ran.stderr);
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = world.run(list);
    assert!(ran.code == 1 && ran.stderr.contains("chmod 600"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}
