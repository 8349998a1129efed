//! The pages of section 5: the keys of the two files that people read and edit.

/// A page about a file: its name, what it is, and its sections as [`super::page::sections`] reads them.
pub(super) type FilePage = (&'static str, &'static str, &'static str);

pub(super) const FORMATS: [FilePage; 2] = [
    ("item.toml", "sidecar of an item", ITEM),
    ("urepo.toml", "settings of a collection", COLLECTION),
];

const COLLECTION: &str = r#"# description
A directory with this file is a collection. It is TOML in UTF-8, and you may edit it. `urepo init` and `urepo adopt`
  write it, and `urepo config` shows its settings.
# keys
format | integer | 1
id | string | 32 hexadecimal digits. Never changes, wherever the collection goes
name | string | the name of the collection for people
network | string | `refuse`, the default: no identifiers are issued on network file systems. `trusted`: their locks
  work between machines
copies | integer | how many Copies each Original should have elsewhere; 0 by default. `urepo status` reports missing ones
spread | string | which of several subsystems issues the next identifier. `first`, the default: the first that need not wait. `turn`: each in its turn
[[subsystem]] | tables | the subsystems that issue identifiers. Without one, none are issued
# keys of [[subsystem]]
name | string, optional | for `--subsystem`; the prefix by default
host | string | the fully qualified host name
port | integer | 80 by default
ip | string, optional | the address that IBIps are built from; without it, items get none
ip_port | integer | the port that IBIps are built from; 800 by default
granularity | string | granularity of dates: `auto`, or seconds such as `1`, `60` or `0.001`
distributor | path, optional | the directory of a memory shared by several collections of one host
takes | table, optional | which items it issues identifiers for: terms of Dublin Core with values, one of which the item must have, `min_bytes`, `max_bytes`; at least one subsystem has no `takes`, and serves all others"#;

const ITEM: &str = r#"# description
Each item has this file beside its payload, `doc/`. It is TOML in UTF-8, at most 128 MiB. `urepo meta` changes the
  description. If you edit it yourself, the seal no longer matches, which `urepo verify` reports; `urepo meta accept`
  shows the change and renews the seal.
Dates are TOML date-times in UTC with as many decimals as needed, at most nine. A path is relative to `doc/`. A
  backslash in it is doubled, and a byte that is not UTF-8 is a backslash, an x and two hexadecimal digits.
# keys
format | integer | 1. A reader refuses a higher one
state | string | `Original`, `Copy` or `Deleted`
repository | string | the identifier, as issued
ibip | string, optional | its opaque form, the IBIp. Stored, since it cannot be computed from the identifier
created | date | the instant in the identifier
timestamp | date | the last change of the sidecar: deposit, update, removal
described | date, optional | the last change of the description. Absent until the first one after the deposit
target | path, optional | the file or link that the bare identifier opens
transferable | boolean | whether the Original may migrate; `true` if absent
[access] | table, optional | who may read the item through a service; everybody if absent
[metadata] | table | the description: terms of Dublin Core, and keys of your own in `[metadata.x]`
[relations] | table | identifiers of other items by kind of relation, as below
[origin] | table | where the item came from
[handover] | table | an unfinished hand-over of the Original
[removal] | table | who deleted the item, and why
[payload] | table | `files`: number of files; `bytes`: their sum; `sha256`: digest of the manifest
[[file]] | tables | one entry for each file, link and empty directory, in the byte order of their paths
[seal] | table | `sha256`: digest of everything before the line `[seal]`
# keys of [[file]]
path | path | its path
kind | string | `file`, `link` or `directory`, for an empty one; a file if absent
bytes | integer | the size of a file
sha256 | string | the digest of a file: 64 lower-case hexadecimal digits
modified | date | the mtime of a file or directory
mode | string | the permission bits of a file or directory, as `"0644"`
target | string | the target of a link, escaped as a path
# keys of [relations]
The values are identifiers in either spelling. `urepo verify` reports any other value, which stays unchanged.
next_edition | the edition that follows this one
previous_edition | the edition that this one follows
translation.TAG | its translation into a language, such as `pt` or `pt-BR`
translation_of | the item that this one is a translation of, in the language in which it was written first
metadata | an item that describes this one
metadata_of | the item that this one describes
next_higher_unit | a unit that this one is a part of, such as a journal; or a list of them
x.NAME | an item related in a way of your own, or a list of them
# keys of [access]
level | what everybody may read: `open`, everything; `metadata`, the description and not the files; `closed`,
  nothing
allow | IP addresses that may read everything: a list of ranges such as `192.0.2.0/24` or `2001:db8::/32`
# keys of [origin]
source | the absolute path of the source, escaped as a path
imported | when the import began
left_out | entries of the source that are not part of the item: paths as they would be below `doc/`, at most 1,000 and 64 KiB
  of them
left_out_total | the number of entries left out, if `left_out` does not list all
digests.md5, digests.sha1, digests.sha512 | checksums that came with the source, by path
adopted | when `urepo adopt` wrote this sidecar for an existing item
collection | of a Copy: the id of the collection that held the Original
copied | of a Copy: when it was made
through | of a Copy made from a Copy: the id of that collection
handovers | tables, one for each hand-over of the Original: `from`, `to`, `date`; after a promotion also `lost` and
  `reason`
restored | when the item was restored after it was deleted
removed | the tombstone that this Copy replaced: `by`, `reason`, `date`
# keys of [handover]
The receiver is a Copy with `from` until the hand-over ends. The giver gets `to`, and then becomes a Copy: that is
  the commit point.
token | common to both sides of one hand-over
from, to | the id of the other collection
# keys of [removal]
A tombstone keeps `[payload]` and `[[file]]` of the files that it had, and has no `doc/`.
by | user and machine
reason | why, if a reason was given
was | the state before the deletion: `Original` or `Copy`
updated | the `timestamp` before the deletion"#;
