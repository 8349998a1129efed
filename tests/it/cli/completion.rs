//! Completion, asked for as the shells do: words of the command line, and what there is in a collection.

use std::process::Command;

use crate::support::World;

/// A world with a named collection and two items.
fn world() -> (World, [String; 2]) {
    let world = World::with_collection();
    let settings = format!("[collections]\nmain = \"{}\"\n", world.path("archive").display());
    world.write(".config/urepo/config.toml", settings);
    let names = [("a", "a"), ("b", "b/d/c.txt")].map(|(name, file)| {
        world.write(file, file);
        world.run(&format!("-c archive new {name}")).line()
    });
    (world, names)
}

/// What `shell` offers after each of `lines`, and what it writes to stderr; nothing where there is no such shell.
fn offers(world: &World, shell: &str, script: &str, line: &str) -> Option<(Vec<String>, String)> {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_urepo")).parent().unwrap().display();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap());
    let is_here = Command::new(shell).args(["-c", "true"]).output().is_ok();
    let mut command = world.shell(&format!("exec {shell} -c \"$COMPLETES\""));
    command
        .env("PATH", path)
        .env("COMPLETES", script)
        .env("LINE", line)
        .env("HOME", world.path(""));
    let output = is_here.then(|| command.output().unwrap())?;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let found =
        text(output.stdout).lines().filter(|it| !it.is_empty()).map(str::to_owned).collect();
    Some((found, text(output.stderr)))
}

const BASH: &str = r#"
    source home/urepo.bash
    # As bash divides a line: `=`, `:` and `@` are words.
    spaced=${LINE//=/ = } spaced=${spaced//:/ : } spaced=${spaced//@/ @ }
    read -ra COMP_WORDS <<<"$spaced"
    [[ $LINE == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_TYPE=9 COMP_LINE=$LINE
    typed=${COMP_WORDS[COMP_CWORD]}
    _urepo_complete urepo "${typed//[=:@]/}" ''
    printf '%s\n' "${COMPREPLY[@]}"
"#;

/// The script is a function that zsh loads.
const ZSH: &str = r#"
    compdef() { }
    _describe() { print -l -- ${${(P)3}%%:*} }
    fpath=($PWD/home $fpath)
    autoload -U _urepo
    words=(${(s: :)LINE}); [[ $LINE == *' ' ]] && words+=('')
    CURRENT=$#words
    _urepo
"#;

const FISH: &str = r#"
    source home/urepo.fish
    complete -C "$LINE" | string replace -r '\t.*' ''
"#;

#[test]
fn in_bash_zsh_and_fish() {
    let (world, names) = world();
    std::fs::create_dir(world.path("home")).unwrap();
    world.run("generate completions home").succeeded();
    let leaves = names.each_ref().map(|it| it.rsplit('/').next().unwrap());
    let year = names[0].rsplit_once('/').unwrap().0;
    for (shell, script) in [("bash", BASH), ("zsh", ZSH), ("fish", FISH)] {
        let Some(_) = offers(&world, shell, script, "urepo ") else {
            assert_ne!(shell, "bash");
            continue;
        };
        let ask = |line: &str| {
            let (found, stderr) = offers(&world, shell, script, line).unwrap();
            assert_eq!(stderr, "", "{shell}: {line}");
            found
        };
        assert_eq!(ask("urepo ver"), ["verify"], "{shell}");
        assert_eq!(ask("urepo -c main show exam"), names, "{shell}");
        assert_eq!(ask(&format!("urepo -c archive show --path {year}/")), names, "{shell}");
        assert_eq!(ask(&format!("urepo show -c archive {}", leaves[1])), leaves[1..], "{shell}");
        assert_eq!(ask(&format!("urepo -c main meta edit {}", &leaves[0][..5])), leaves, "{shell}");
        assert!(ask("urepo -c ma").contains(&"main".to_owned()), "{shell}");
        assert!(ask("urepo -c main copy --all --to ma").contains(&"main".to_owned()), "{shell}");
        if shell == "bash" {
            // The part after `=` alone is replaced, and a name with a blank or a star stays one word.
            assert_eq!(ask("urepo new --links=as"), ["asis"]);
            assert_eq!(ask("urepo new --links="), ["keep", "follow", "asis", "skip", "error"]);
            world.write("sp ace.txt", "s");
            world.write("st*r", "s");
            assert_eq!(ask("urepo new sp"), ["sp ace.txt"]);
            assert_eq!(ask("urepo new st"), ["st*r"]);
            assert_eq!(ask("urepo new sp\\"), ["sp ace.txt"]);
            assert_eq!(ask("urepo new 'sp"), ["sp ace.txt"]);
        }
        // Nothing is there, and nobody hears of it.
        assert_eq!(ask("urepo -c nowhere show 11").len(), 0, "{shell}");
        assert_eq!(ask("urepo -c archive show .urepo/").len(), 0, "{shell}");
    }
}
