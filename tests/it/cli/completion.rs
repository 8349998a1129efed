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
    source <(urepo completions bash)
    read -ra COMP_WORDS <<<"$LINE"
    [[ $LINE == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_TYPE=9
    _clap_complete_urepo urepo "${COMP_WORDS[COMP_CWORD]}" ''
    printf '%s\n' "${COMPREPLY[@]}"
"#;

/// The way of the file that `--install` writes, which is a function that zsh loads.
const ZSH: &str = r#"
    compdef() { }
    _describe() { print -l -- ${${(P)3}%%:*} }
    fpath=($HOME/.local/share/zsh/site-functions $fpath)
    autoload -U _urepo
    words=(${(s: :)LINE}); [[ $LINE == *' ' ]] && words+=('')
    CURRENT=$#words
    _urepo
"#;

const FISH: &str = r#"
    urepo completions fish | source
    complete -C "$LINE" | string replace -r '\t.*' ''
"#;

#[test]
fn in_bash_zsh_and_fish() {
    let (world, names) = world();
    for shell in ["bash", "zsh", "fish"] {
        let mut command = world.command(["completions", "--install", shell]);
        command.env("HOME", world.path("")).env_remove("XDG_DATA_HOME");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(world.path(".local/share/bash-completion/completions/urepo").exists());
    assert!(world.path(".config/fish/completions/urepo.fish").exists());
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
        assert_eq!(ask(&format!("urepo -c archive path {year}/")), names, "{shell}");
        assert_eq!(ask(&format!("urepo show -c archive {}", leaves[1])), leaves[1..], "{shell}");
        assert_eq!(ask(&format!("urepo -c main meta get {}", &leaves[0][..5])), leaves, "{shell}");
        assert!(ask("urepo -c ma").contains(&"main".to_owned()), "{shell}");
        for item in [names[1].as_str(), leaves[1]] {
            let ask = |typed: &str| ask(&format!("urepo -c main cat {item}/{typed}"));
            // zsh adds the slash itself.
            assert_eq!(ask("")[0].trim_end_matches('/'), format!("{item}/d"), "{shell}");
            assert_eq!(ask("d/c"), [format!("{item}/d/c.txt")], "{shell}");
            assert_eq!(ask("../").len(), 0, "{shell}");
        }
        assert!(ask("urepo -c main copy --all --to ma").contains(&"main".to_owned()), "{shell}");
        assert_eq!(ask("urepo list --state De"), ["Deleted"], "{shell}");
        assert_eq!(ask("urepo find --term titl"), ["title="], "{shell}");
        assert_eq!(ask("urepo new --meta titl"), ["title="], "{shell}");
        assert_eq!(ask("urepo -c main meta set titl"), ["title="], "{shell}");
        assert_eq!(ask("urepo -c main meta get titl"), ["title"], "{shell}");
        assert_eq!(ask("urepo man meta-s"), ["meta-set"], "{shell}");
        // Nothing is there, and nobody hears of it.
        assert_eq!(ask("urepo -c nowhere show 11").len(), 0, "{shell}");
        assert_eq!(ask("urepo -c archive show .urepo/").len(), 0, "{shell}");
    }
}

#[test]
fn is_installed_where_shells_look() {
    let world = World::new();
    let run = |words: &[&str]| {
        let mut command = world.command(words);
        command.env("HOME", world.path("home")).env("XDG_DATA_HOME", world.path("data"));
        world.finish(command)
    };
    let planned = run(&["completions", "--install", "bash", "-n"]);
    assert_eq!(planned.succeeded(), "would write [WORLD]/data/bash-completion/completions/urepo\n");
    assert!(!world.path("data").exists());
    let zsh = run(&["completions", "--install", "zsh"]);
    let hint = "put `fpath=([WORLD]/data/zsh/site-functions $fpath)` before `compinit` in ~/.zshrc";
    assert!(zsh.succeeded().is_empty() && zsh.stderr.contains(hint), "{}", zsh.stderr);
    assert!(world.path("data/zsh/site-functions/_urepo").exists());
    // Once more replaces it.
    run(&["completions", "--install", "zsh"]).succeeded();
    let elvish = run(&["completions", "--install", "elvish"]);
    assert_eq!(elvish.code, 1, "{}", elvish.stderr);
    assert_eq!(run(&["completions"]).code, 2);
}
