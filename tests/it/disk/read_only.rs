use std::fs;

use super::*;

fn files(path: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let folder = fs::read_dir(path.parent().unwrap()).unwrap().map(|file| file.unwrap());
    let mut files: Vec<_> = folder.map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect();
    files.sort();
    files
}

async fn refused(path: &Path, why: &str) {
    let before = files(path);
    is_told(&open(path).await.expect_err(why), why, "opening it");
    assert!(files(path) == before, "not a byte has changed");
}

fn remount(path: &Path, how: &str) {
    let options = format!("remount,{how}");
    let status = Command::new("mount").args(["-o", &options]).arg(path.parent().unwrap()).status().unwrap();
    assert!(status.success(), "{how}");
}

#[tokio::test]
async fn a_disk_that_may_only_be_read_is_told_when_opening() {
    let Some((path, _)) = given() else {
        on_a_disk_of("4m", "disk::read_only::a_disk_that_may_only_be_read_is_told_when_opening");
        return;
    };
    remount(&path, "ro");
    refused(&path, "cannot be opened").await;
    remount(&path, "rw");
    let (memory, store) = open(&path).await.unwrap();
    fill(&memory, &store).await;
    let expected = state(&memory).await;
    // As a process leaves it that was killed: with a log.
    let killed = path.with_file_name("killed.db");
    for end in ["", "-wal"] {
        fs::copy(format!("{}{end}", path.display()), format!("{}{end}", killed.display())).unwrap();
    }
    drop((memory, store));
    remount(&path, "ro");
    for path in [&path, &killed] {
        refused(path, "cannot be written to").await;
    }
    remount(&path, "rw");
    for path in [&path, &killed] {
        assert_eq!(state(&open(path).await.unwrap().0).await, expected);
    }
}

/// What the superuser may do anyway: the test is run by another user, where this is the superuser.
#[tokio::test]
async fn a_file_or_folder_without_leave_to_write_is_told_when_opening() {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};
    let name = "disk::read_only::a_file_or_folder_without_leave_to_write_is_told_when_opening";
    if let Some((path, _)) = given() {
        let place = |name: &str| path.with_file_name(name).join("memory.db");
        refused(&place("folder"), "its folder cannot be written to").await;
        refused(&place("file"), "cannot be written to, as it must be also to be read").await;
        let error = open(&place("folder").with_file_name("new.db")).await.unwrap_err();
        is_told(&error, "cannot be opened", "a file that cannot be made");
        let error = open(&place("closed")).await.unwrap_err();
        is_told(&error, "", "a file that may not be read");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(folder.path(), 0o777);
    for (place, around, within) in [("folder", 0o555, 0o666), ("file", 0o777, 0o444), ("closed", 0o777, 0o000)] {
        let place = folder.path().join(place);
        fs::create_dir(&place).unwrap();
        let (memory, store) = open(&place.join("memory.db")).await.unwrap();
        fill(&memory, &store).await;
        drop((memory, store));
        allow(&place.join("memory.db"), within);
        allow(&place, around);
    }
    // Where a file can be made all the same, this is the superuser.
    let superuser = fs::write(folder.path().join("folder/probe"), "").is_ok();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture"]).env("INGRAIN_TEST_FILE", folder.path().join("x"));
    if superuser {
        fs::remove_file(folder.path().join("folder/probe")).unwrap();
        command.uid(65_534).gid(65_534).current_dir("/");
    }
    match command.output() {
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && told.contains("1 passed"), "{told}");
        }
        Err(error) => eprintln!("skipped {name}: nobody else can run the tests here, {error}"),
    }
    allow(&folder.path().join("folder"), 0o777);
}
