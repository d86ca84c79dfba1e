//! Key files with the owners and modes that systems give them, read by separate users.

use crate::support::{Ended, Place, Running, TERMS, people, vesica};
use nix::unistd::geteuid;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;

fn place() -> Place {
    let place = Place::new();
    place.agreement("agreement.toml", &TERMS);
    place.write("one.csv", people(0..20));
    place
}

/// `vesica check` with the key `key`, as this user.
fn check(place: &Place, key: &Path) -> Command {
    let mut command = vesica();
    command
        .arg("check")
        .arg(place.path("agreement.toml"))
        .arg("--input")
        .arg(place.path("one.csv"));
    command.arg("--key").arg(key);
    command
}

/// The same as user 12345, who is in the group 2000.
fn check_as_another(place: &Place, key: &Path) -> Ended {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "12345", "--regid", "12345", "--groups", "2000"]);
    let check = check(place, key);
    command.arg(check.get_program()).args(check.get_args());
    Running::start(command).wait()
}

fn set(path: &Path, [owner, group]: [u32; 2], mode: u32) {
    chown(path, Some(owner), Some(group)).unwrap();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn the_secret_of_a_pod_is_read_behind_its_links() {
    let place = place();
    let folder = place.path("secret");
    fs::create_dir_all(folder.join("..2027")).unwrap();
    let file = folder.join("..2027/party.key");
    fs::copy(place.path("one.key"), &file).unwrap();
    symlink("..2027", folder.join("..data")).unwrap();
    let key = folder.join("party.key");
    symlink("..data/party.key", &key).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o400)).unwrap();
    Running::start(check(&place, &key)).wait().assert_code(0);
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let ended = Running::start(check(&place, &key)).wait();
    ended.assert_failed(3, "(mode 644)");
    assert!(ended.stderr.contains("hint: run `chmod 600 "), "{ended:#?}");
}

/// Only a superuser can give files to another user and become another user. `vesica_link` tests the
/// rule for all users.
#[test]
fn users_of_their_own_read_what_the_rule_allows() {
    if !geteuid().is_root() {
        return;
    }
    let place = place();
    fs::set_permissions(place.path(""), Permissions::from_mode(0o755)).unwrap();
    let key = place.path("one.key");
    for (owner, mode) in
        [([0, 2000], 0o440), ([0, 2000], 0o640), ([12_345, 12_345], 0o600), ([12_345, 2000], 0o400)]
    {
        set(&key, owner, mode);
        check_as_another(&place, &key).assert_code(0);
    }
    for (owner, mode, says) in [
        ([0, 2000], 0o660, "(mode 660, owner root)"),
        ([0, 2000], 0o444, "(mode 444, owner root)"),
        ([0, 0], 0o444, "(mode 444, owner root)"),
        ([12_345, 2000], 0o440, "(mode 440)"),
        ([1000, 2000], 0o440, "another user of this machine (user 1000)"),
        ([0, 0], 0o440, "permission denied"),
    ] {
        set(&key, owner, mode);
        let ended = check_as_another(&place, &key);
        ended.assert_failed(3, says);
        let can_change = owner[0] == 12_345;
        assert_eq!(ended.stderr.contains("chmod"), can_change, "{ended:#?}");
    }
    // Root in a container, with a file of the user who started the container.
    set(&key, [1000, 1000], 0o600);
    Running::start(check(&place, &key)).wait().assert_code(0);
    set(&key, [1000, 1000], 0o640);
    Running::start(check(&place, &key)).wait().assert_failed(3, "(mode 640, owner user 1000)");
}
