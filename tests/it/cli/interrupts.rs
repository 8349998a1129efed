//! Signals in the middle of a deposit: no half item, and a run that can be repeated.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use snapbox::str;

use crate::support::{World, staged, terminal, whole_items};

/// A deposit of standard input that has begun and waits for more.
struct Deposit {
    world: World,
    child: Child,
}

/// Longer than any machine takes; a test that waits so long has failed.
const LIMIT: Duration = Duration::from_secs(60);

impl Deposit {
    fn begin() -> Deposit {
        Deposit::begin_in(World::with_collection())
    }

    fn begin_in(world: World) -> Deposit {
        let mut command = world.command(["-c", "archive", "new", "-"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(&vec![7; 300_000]).unwrap();
        let deposit = Deposit { world, child };
        let process = deposit.child.id().to_string();
        deposit.wait_for("the first bytes in the stage", || {
            let is_own = |path: &PathBuf| path.to_string_lossy().contains(&format!("/{process}-"));
            let path = deposit.staged_files().into_iter().find(is_own)?;
            (std::fs::metadata(path).ok()?.len() > 0).then_some(())
        });
        deposit
    }

    /// The files in the making.
    fn staged_files(&self) -> Vec<PathBuf> {
        let stages = walkdir::WalkDir::new(self.world.path("archive/.urepo/staging"));
        let found = stages.into_iter().filter_map(Result::ok);
        let found = found.filter(|entry| entry.file_name() == "data");
        found.map(walkdir::DirEntry::into_path).collect()
    }

    fn wait_for<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        wait_until(what, look)
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end of the process, and gives its code and what it told.
    fn end(self) -> (World, i32, String) {
        let output = self.child.wait_with_output().unwrap();
        assert_eq!(output.stdout, b"", "a name was given");
        let code = output.status.code().unwrap_or(-1);
        (self.world, code, String::from_utf8(output.stderr).unwrap())
    }
}

#[test]
fn the_first_ends_at_the_next_safe_point() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut deposit = Deposit::begin();
        deposit.send(signal);
        // Whoever writes goes on until the reader has gone.
        let mut input = deposit.child.stdin.take().unwrap();
        while input.write_all(&[7; 4096]).is_ok() {}
        let (world, code, stderr) = deposit.end();
        snapbox::assert_data_eq!(
            stderr,
            str![[r#"
error: interrupted; 0 items deposited so far
hint: every printed identifier is durable; nothing is left of the other items

"#]]
        );
        assert_eq!(code, 130, "{signal:?}");
        assert_eq!(staged(&world.path("archive")), [""; 0]);
        assert_eq!(whole_items(&super::open(&world)), [""; 0]);
        world.write("a.txt", "alpha");
        assert_eq!(world.run("-c archive new a.txt").code, 0);
    }
}

/// The end of the input after the signal does not make the item whole.
#[test]
fn the_first_wins_over_the_end_of_the_input() {
    let mut deposit = Deposit::begin();
    deposit.send(Signal::INT);
    drop(deposit.child.stdin.take());
    let (world, code, _) = deposit.end();
    assert_eq!(code, 130);
    assert_eq!(whole_items(&super::open(&world)), [""; 0]);
}

#[test]
fn the_second_ends_at_once() {
    let mut deposit = Deposit::begin();
    let input = deposit.child.stdin.take();
    deposit.send(Signal::INT);
    // Two signals of one kind may become one on their way; a second kind can not.
    deposit.send(Signal::TERM);
    let (world, code, _) = deposit.end();
    drop(input);
    assert_eq!(code, 130);
    assert_eq!(whole_items(&super::open(&world)), [""; 0]);
    clears_up(&world);
}

#[test]
fn a_kill_leaves_what_the_next_run_removes() {
    let mut deposit = Deposit::begin();
    let input = deposit.child.stdin.take();
    deposit.send(Signal::KILL);
    let (world, code, _) = deposit.end();
    drop(input);
    assert_eq!(code, -1);
    assert_ne!(staged(&world.path("archive")), [""; 0]);
    assert_eq!(whole_items(&super::open(&world)), [""; 0]);
    let told = world.run("-c archive recover --dry-run");
    assert!(told.succeeded().starts_with("would remove [WORLD]/archive/.urepo/staging/"));
    clears_up(&world);
    assert_eq!(world.run("-c archive recover --dry-run").succeeded(), "");
}

/// While another process is at work, and the lock of the collection is not to be had.
#[test]
fn a_kill_leaves_what_the_next_run_empties_beside_others() {
    let killed = Deposit::begin();
    let at_work = Deposit::begin_in(killed.world);
    let stage = |data: PathBuf| data.ancestors().nth(4).unwrap().to_path_buf();
    let mut stages = at_work.staged_files().into_iter().map(stage).collect::<Vec<_>>();
    assert_eq!(stages.len(), 2);
    let mut killed = killed.child;
    killed.kill().unwrap();
    killed.wait().unwrap();
    at_work.world.write("a.txt", "alpha");
    // A child that is just being started elsewhere may hold the lock of the dead for a moment.
    at_work.wait_for("an emptied stage", || {
        at_work.world.run("-c archive new a.txt").line();
        (at_work.staged_files().len() == 1).then_some(())
    });
    let [data] = &at_work.staged_files()[..] else { panic!() };
    let living = stage(data.clone());
    stages.retain(|stage| *stage != living);
    assert_eq!(std::fs::read_dir(&stages[0]).unwrap().count(), 1, "the note of whose it was");
    let Deposit { world, child } = at_work;
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    world.run("-c archive verify").succeeded();
    world.run("-c archive new a.txt").line();
    assert_eq!(staged(&world.path("archive")), [""; 0]);
}

fn clears_up(world: &World) {
    assert_eq!(world.run("-c archive recover").code, 0);
    assert_eq!(staged(&world.path("archive")), [""; 0]);
    world.write("a.txt", "alpha");
    assert_eq!(world.run("-c archive new a.txt").code, 0);
}

/// Reading is interrupted too, and says so by its code alone.
#[test]
fn a_reader_ends_as_well() {
    let world = World::with_collection();
    world.write("large", vec![7; 4 * 1024 * 1024]);
    let name = world.run("-c archive new large").line();
    let mut command = world.command(["-c", "archive", "cat", &name]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The first byte has come, and the pipe is too small for all of them.
    let mut first = [0];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.len() < 4 * 1024 * 1024 - 1);
    assert_eq!(output.stderr, b"");
}

/// A person who stopped it must not take the findings so far for all of them.
#[test]
fn a_stop_is_told_after_findings_as_well() {
    let world = World::with_collection();
    let names: Vec<_> = (0..2000).map(|at| format!("first/{at:04}-with-a-long-name")).collect();
    for name in &names {
        world.write(name, "");
    }
    let first = world.run("-c archive new first").line();
    // The second collection is begun after the first one.
    world.run("init mirror --host mirror.example.org").succeeded();
    let rest: Vec<_> = (0..30).map(|at| format!("item-{at}")).collect();
    for name in &rest {
        world.write(name, "small");
    }
    world.run(&format!("-c mirror new --each {}", rest.join(" "))).succeeded();
    let doc = world.path("archive").join(first).join("doc");
    std::fs::remove_dir_all(&doc).unwrap();
    std::fs::create_dir(&doc).unwrap();
    for json in [false, true] {
        let mut command = world.command(["verify", "archive", "mirror"]);
        command.args(json.then_some("--json"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The first finding has come, and the pipe is too small for all of them.
        let mut stdout = vec![0];
        let mut pipe = child.stdout.take().unwrap();
        std::io::Read::read_exact(&mut pipe, &mut stdout).unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        std::io::Read::read_to_end(&mut pipe, &mut stdout).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        assert!(stderr.contains("interrupted; 1 item verified so far, 30 not reached"), "{stderr}");
        if json {
            let summary = String::from_utf8(stdout).unwrap();
            let summary = summary.lines().last().unwrap().to_owned();
            assert!(summary.contains(r#""complete":false"#), "{summary}");
            assert!(summary.contains(r#""exit_code":130"#), "{summary}");
        } else {
            let damage = stderr.find("damaged").unwrap();
            assert!(damage < stderr.find("interrupted").unwrap(), "{stderr}");
        }
    }
}

/// Whether a process listens for signals, or has ended.
pub(super) fn listens(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let interrupt = 1_u64 << (Signal::INT.as_raw() - 1);
    let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let caught = field("SigCgt:").and_then(|mask| u64::from_str_radix(mask, 16).ok());
    field("State:").is_some_and(|state| state.starts_with('Z'))
        || caught.is_some_and(|mask| mask & interrupt != 0)
}

/// Whether a process listens for signals, and every thread of it sleeps.
fn is_waiting(child: &Child) -> Option<()> {
    if !listens(child) {
        return None;
    }
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    for task in std::fs::read_dir(process.join("task")).ok()? {
        let stat = std::fs::read_to_string(task.ok()?.path().join("stat")).ok()?;
        stat.rsplit_once(") ")?.1.starts_with('S').then_some(())?;
    }
    Some(())
}

fn wait_until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < LIMIT, "still waiting for {what}");
        std::thread::yield_now();
    }
}

/// Sends one signal to a process that waits, and gives its code and what it wrote to stderr.
fn interrupted(mut child: Child, signal: Signal, line: &str) -> (i32, String) {
    wait_until(line, || is_waiting(&child));
    kill_process(Pid::from_child(&child), signal).unwrap();
    // Its input stays open: nothing else ends the wait.
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < LIMIT, "`{line}` has not heard {signal:?}");
        std::thread::yield_now();
    };
    let mut stderr = String::new();
    std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut stderr).unwrap();
    (status.code().unwrap_or(-1), stderr)
}

fn begin(world: &World, line: &str, stdin: Stdio) -> Child {
    let mut command = world.command(line.split_whitespace());
    command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_list_on_stdin_is_not_waited_for() {
    let (world, name) = super::world_with_item();
    world.run("init mirror --host mirror.example.org").succeeded();
    for line in [
        "new -",
        "new - --json",
        "import -",
        "import - -n",
        "copy - --to mirror",
        "copy - --to mirror --json",
        "migrate - --to mirror",
        "export - --to out",
    ] {
        let line = format!("-c archive {line}");
        let (code, stderr) = interrupted(begin(&world, &line, Stdio::piped()), Signal::TERM, &line);
        assert_eq!(code, 130, "{line}: {stderr}");
        assert!(!stderr.contains("cannot read"), "{line}: {stderr}");
    }
    assert_eq!(whole_items(&super::open(&world)), [name]);
}

#[test]
fn a_lock_is_not_waited_for() {
    use urepo::clock::SystemClock;
    use urepo::disk::{Dir, Lock, LockMode, Watcher};
    let (world, name) = super::world_with_item();
    let own = Dir::open(&world.path("archive/.urepo"), Watcher::default()).unwrap();
    let holder = crate::support::agent().holder(&SystemClock);
    let waiter = crate::support::waiter(&SystemClock);
    let _lock = Lock::take(&own, "lock", LockMode::Exclusive, &holder, &waiter).unwrap();
    for line in ["new a.txt", "recover", "delete -y --force last NAME", "import a.txt"] {
        let line = format!("UREPO_LOCK_WAIT=1h -c archive {}", line.replace("NAME", &name));
        let (code, stderr) = interrupted(begin(&world, &line, Stdio::null()), Signal::INT, &line);
        assert_eq!(code, 130, "{line}: {stderr}");
    }
}

#[test]
fn a_question_is_answered_with_no() {
    let (world, name) = super::world_with_item();
    world.run(&format!("-c archive delete -y --force last {name}")).succeeded();
    let Some((_own, programs)) = terminal() else { return };
    let mut child = begin(&world, "-c archive purge", programs.into());
    let mut asked = Vec::new();
    while !asked.ends_with(b"[y/N]\n") {
        let mut byte = [0];
        std::io::Read::read_exact(child.stderr.as_mut().unwrap(), &mut byte).unwrap();
        asked.extend(byte);
    }
    let (code, stderr) = interrupted(child, Signal::INT, "purge");
    assert_eq!((code, stderr.as_str()), (130, "error: interrupted; nothing was done\n"));
    world.run(&format!("-c archive restore {name}")).succeeded();
}
