//! Relations that are refused.

use super::*;

#[test]
fn relations_that_do_not_fit() {
    let (world, name) = world_with_item();
    let other = world.run("-c archive new a.txt").line();
    world.run(&format!("-c archive meta set {name} next_edition={other}")).succeeded();
    let refuses = |line: &str, code| {
        let line = line.replace("ONE", name).replace("TWO", &other);
        let Told(text) = refuses(&world, &format!("-c archive {line}"), code);
        Told(text.replace(name, "ONE").replace(&other, "TWO"))
    };
    refuses("meta set ONE metadata=ONE", 23).tells(str![[r#"
error: `ONE` cannot be related to itself

"#]]);
    refuses("meta set TWO next_edition=ONE", 23).tells(str![[r#"
error: `ONE` cannot be an edition after `TWO`: `TWO` is one after it
hint: `urepo -c archive show TWO` lists its relations

"#]]);
    refuses("meta set ONE next_edition+=example.org/other/2026/11.21.02.13", 23).tells(str![[r#"
error: `ONE` does not take the relation: its `next_edition` is `TWO` already
hint: `urepo -c archive meta set ONE next_edition-=TWO` removes that first

"#]]);
    world.run(&format!("-c archive meta set {name} part_of={other}")).succeeded();
    refuses("meta set TWO part_of=ONE", 23).tells(str![[r#"
error: `ONE` cannot be the next_higher_unit of `TWO`: `TWO` is its next_higher_unit
hint: `urepo -c archive show ONE` lists its relations

"#]]);
    for key in ["translation.klingon", "relation.review"] {
        let Told(text) = refuses(&format!("meta set ONE {key}=TWO"), 2);
        Told(text.replace(key, "KEY")).tells(str![[r#"
error: `KEY` is no relation
hint: `translation.TAG` takes a language, such as pt-BR; a relation of your own is `relation.x.NAME`

"#]]);
    }
    refuses("meta set ONE edition_of=TWO edition_of=ONE", 2).tells(str![[r#"
error: `edition_of` was given twice
hint: an item has one such relation

"#]]);
    refuses("new a.txt --edition-of ONE", 23).tells(str![[r#"
error: `ONE` does not take the relation: its `next_edition` is `TWO` already
hint: `urepo -c archive meta set ONE next_edition-=TWO` removes that first

"#]]);
    refuses("new a.txt --translation-of ONE", 2).tells(str![[r#"
error: the language of the translation was not given
hint: add `--language TAG`, such as `--language pt-BR`

"#]]);
}
