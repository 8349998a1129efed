//! Relations that are refused.

use super::*;

#[test]
fn relations_that_do_not_fit() {
    let (world, name) = world_with_item();
    let other = world.run("-c archive new a.txt").line();
    world.run(&format!("-c archive relate {name} --next-edition {other}")).succeeded();
    let refuses = |line: &str, code| {
        let line = line.replace("ONE", name).replace("TWO", &other);
        let Told(text) = refuses(&world, &format!("-c archive {line}"), code);
        Told(text.replace(name, "ONE").replace(&other, "TWO"))
    };
    refuses("relate ONE --metadata ONE", 23).tells(str![[r#"
error: `ONE` cannot be related to itself

"#]]);
    refuses("relate TWO --next-edition ONE", 23).tells(str![[r#"
error: `ONE` cannot be an edition after `TWO`: `TWO` is one after it
hint: `urepo -c archive relate TWO` lists its relations

"#]]);
    refuses("relate ONE --next-edition example.org/other/2026/11.21.02.13", 23).tells(str![[r#"
error: `ONE` does not take the relation: its `next_edition` is `TWO` already
hint: `urepo -c archive relate ONE --next-edition TWO --unlink` removes that first

"#]]);
    world.run(&format!("-c archive relate {name} --part-of {other}")).succeeded();
    refuses("relate TWO --part-of ONE", 23).tells(str![[r#"
error: `ONE` cannot be the next_higher_unit of `TWO`: `TWO` is its next_higher_unit
hint: `urepo -c archive relate ONE` lists its relations

"#]]);
    refuses("relate ONE --translation pt", 2).tells(str![[r#"
error: invalid value 'pt' for '--translation <TAG=ITEM>': expected TAG=ITEM, such as pt-BR=11.21.02.13

"#]]);
    refuses("relate ONE --relation review=TWO", 2).tells(str![[r#"
error: invalid value 'review=TWO' for '--relation <x.KEY=ITEM>': expected x.KEY=ITEM, such as x.review=11.21.02.13

"#]]);
    refuses("relate ONE --unlink", 2).tells(str![[r#"
error: no relation was given to remove
hint: `urepo -c archive relate ONE` lists them

"#]]);
    refuses("new a.txt --edition-of ONE", 23).tells(str![[r#"
error: `ONE` does not take the relation: its `next_edition` is `TWO` already
hint: `urepo -c archive relate ONE --next-edition TWO --unlink` removes that first

"#]]);
    refuses("new a.txt --translation-of ONE", 2).tells(str![[r#"
error: the language of the translation was not given
hint: add `--language TAG`, such as `--language pt-BR`

"#]]);
}
