//! Trees that cannot be adopted.

use super::*;

#[test]
fn what_is_no_tree_of_items() {
    let world = world_with_file();
    world.write("tree/notes/readme.txt", "no item");
    refuses(&world, "init tree --adopt", 1).tells(str![[r#"
error: there are no items in `[WORLD]/tree`
hint: name the directory that holds the subdomains: items lie four levels below it, in subdomain/word/year/month.day.hour.minute

"#]]);
    refuses(&world, "init nowhere --adopt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/nowhere`
caused by: No such file or directory (os error 2)

"#]]);
    refuses(&world, "init a.txt --adopt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/a.txt`
caused by: Not a directory (os error 20)

"#]]);
    refuses(&world, "init archive/.urepo --adopt", 23).tells(str![[r#"
error: a collection cannot lie in another: `[WORLD]/archive` is one
hint: choose a place beside it; collections stand side by side

"#]]);
    refuses(&world, "init archive --adopt", 1).tells(str![[r#"
error: there are no items in `[WORLD]/archive`
hint: name the directory that holds the subdomains: items lie four levels below it, in subdomain/word/year/month.day.hour.minute

"#]]);
    refuses(&world, "init archive --adopt --host maps.example.org", 23).tells(str![[r#"
error: `[WORLD]/archive` is a collection already, with other identifiers
caused by: it has no subsystem `example.org/maps`
hint: leave `--host` away, or add the subsystem to `[WORLD]/archive/urepo.toml`

"#]]);
    refuses(&world, "init tree --adopt --ip 192.0.2.7", 2).tells(str![[r#"
error: the following required arguments were not provided: --host <FQDN[:PORT]>
hint: Usage: urepo init --host <FQDN[:PORT]> --adopt --ip <IP[:PORT]> <ROOT>

"#]]);
    refuses(&world, "init tree --adopt --host localhost", 1).tells(str![[r#"
error: invalid host name `localhost`
  localhost
  ^^^^^^^^^ a host of one word has no subdomain; expected one such as `mtc.sid.inpe.br`
hint: a host is fully qualified, such as archive.example.org

"#]]);
    refuses(&world, "init tree --adopt --copy-of archive", 2).tells(str![[r#"
error: invalid value 'archive' for '--copy-of <ID>': expected the `id` in the `urepo.toml` of a collection, or `unknown`

"#]]);
}

#[test]
fn items_that_are_not_in_order() {
    let world = World::new();
    let item = |number: u32| format!("tree/example.org/old/2001/01.01.00.{number:02}");
    world.write(&format!("{}/page.html", item(1)), "not in doc");
    world.write(&format!("{}/doc", item(2)), "a file");
    let odd = world.write(&format!("{}/doc/a", item(4)), "a");
    let (kind, mode) = (FileType::Fifo, Mode::RWXU);
    rustix::fs::mknodat(CWD, odd.with_file_name("pipe"), kind, mode, 0).unwrap();
    world.write(&format!("{}/doc/a", item(5)), "a");
    world.write(&format!("{}/item.toml", item(5)), "format = 1\nby = \"hand\"\n");
    world.write(&format!("{}/doc/a", item(6)), "a");
    world.write("tree/Example.org/old/2001/01.01.00.06/doc/a", "a");
    refuses(&world, "init -n tree --adopt", 3).tells(str![[r#"
would create the collection `[WORLD]/tree`
error: the files of `example.org/old/2001/01.01.00.01` are not in its `doc`
hint: make `example.org/old/2001/01.01.00.01/doc`, move the files into it, and repeat the command
error: `[WORLD]/tree/example.org/old/2001/01.01.00.02/doc` is a file, not a directory
hint: put a directory in its place, and repeat the command
error: `[WORLD]/tree/example.org/old/2001/01.01.00.04/doc/pipe` is a FIFO, which no item can hold
hint: move it out of the way: items hold files, directories and links
error: `example.org/old/2001/01.01.00.05` has an `item.toml` that is not its sidecar: line 1, column 1: missing field `state`
hint: `urepo -c ./tree verify example.org/old/2001/01.01.00.05` says what is wrong with it; it is not overwritten
error: `Example.org/old/2001/01.01.00.06` is also there as `example.org/old/2001/01.01.00.06`
hint: find out which is the true one, move the other away, and repeat
error: `example.org/old/2001/01.01.00.06` is also there as `Example.org/old/2001/01.01.00.06`
hint: find out which is the true one, move the other away, and repeat
error: 6 of 6 items cannot be adopted
hint: each is named above, with its reason; they are as they were

"#]]);
}
