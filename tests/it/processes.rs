//! A test that runs itself once more, in a process of its own.

use std::{
    io::{BufRead, BufReader, Lines},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

/// Tells the process that it is the second one, and which file to use.
const FILE: &str = "INGRAIN_TEST_FILE";
/// Further words for the second process.
const WORDS: &str = "INGRAIN_TEST_WORDS";
/// What the lines that the second process says begin with; the test harness prints others.
const SAID: &str = "said: ";

/// In the second process: the file and the words it was given.
pub fn given() -> Option<(PathBuf, String)> {
    let file = std::env::var_os(FILE)?;
    Some((file.into(), std::env::var(WORDS).unwrap_or_default()))
}

/// In the second process: says a line to the first.
pub fn say(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{SAID}{line}").unwrap();
    out.flush().unwrap();
}

/// A second process that runs one test, by its whole name.
pub struct Second {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
}

impl Second {
    pub fn running(test: &str, file: &Path, words: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(FILE, file)
            .env(WORDS, words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, out }
    }

    /// The next line that it says; `None` when it has ended.
    pub fn heard(&mut self) -> Option<String> {
        // The harness may have begun a line of its own before.
        self.out.by_ref().map_while(Result::ok).find_map(|line| Some(line.split_once(SAID)?.1.to_owned()))
    }

    /// Kills it as the system would for want of memory: it has no chance to tidy up.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end, which must be a good one.
    pub fn succeeded(mut self) {
        while self.heard().is_some() {}
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
