//! Key files: what is written, read and refused.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use vesica_link::{Identity, IdentityError};

fn saved(dir: &Path) -> (Identity, PathBuf) {
    let (identity, path) = (Identity::generate().unwrap(), dir.join("own.key"));
    identity.save(&path).unwrap();
    (identity, path)
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_saved_identity_is_loaded_again() {
    let dir = tempfile::tempdir().unwrap();
    let (identity, path) = saved(dir.path());
    assert_eq!(Identity::load(&path).unwrap().public(), identity.public());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn two_identities_differ() {
    let (one, two) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    assert_ne!(one.public(), two.public());
}

#[test]
fn the_file_has_the_public_identity_in_a_comment() {
    let dir = tempfile::tempdir().unwrap();
    let (identity, path) = saved(dir.path());
    let text = fs::read_to_string(path).unwrap();
    assert!(text.lines().any(|line| line == format!("# {}", identity.public())));
    let keys: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(keys.len() == 1 && keys[0].starts_with("vesica-secret1"));
}

#[test]
fn debug_shows_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let (identity, path) = saved(dir.path());
    let text = fs::read_to_string(path).unwrap();
    let secret = text.lines().last().unwrap();
    assert!(!format!("{identity:?}").contains(secret));
    assert!(format!("{identity:?}").contains(&identity.public().to_string()));
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let (_, path) = saved(dir.path());
    let before = fs::read(&path).unwrap();
    let again = Identity::generate().unwrap().save(&path);
    assert_eq!(again, Err(IdentityError::Exists { path: path.clone() }));
    assert_eq!(fs::read(&path).unwrap(), before);
    // Nor the target of a dangling link.
    let (link, target) = (dir.path().join("link"), dir.path().join("target"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert!(matches!(Identity::generate().unwrap().save(&link), Err(IdentityError::Exists { .. })));
    assert!(!target.exists());
}

#[test]
fn a_file_that_others_can_access_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (_, path) = saved(dir.path());
    // Of a user: the group of a file of the superuser may read it.
    let owner = fs::metadata(&path).unwrap().uid();
    let of_user = if owner == 0 { vec![] } else { vec![0o640, 0o440] };
    for mode in [0o604, 0o660, 0o644, 0o601, 0o610].into_iter().chain(of_user) {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let (of, owner) = (path.clone(), None);
        let refused = IdentityError::TooOpen { path: of, mode, owner, can_change: true };
        assert_eq!(Identity::load(&path).err(), Some(refused));
    }
    for mode in [0o600, 0o400, 0o700] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        assert!(Identity::load(&path).is_ok());
    }
}

/// Only a superuser can give files away; `access` has the rule for everybody.
#[test]
fn a_superuser_uses_the_file_of_another_user() {
    let dir = tempfile::tempdir().unwrap();
    let (_, path) = saved(dir.path());
    match std::os::unix::fs::chown(&path, Some(12_345), None) {
        Ok(()) => {
            assert!(Identity::load(&path).is_ok());
            fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
            let (owner, can_change) = (Some(12_345), true);
            let refused =
                IdentityError::TooOpen { path: path.clone(), mode: 0o640, owner, can_change };
            assert_eq!(Identity::load(&path).err(), Some(refused));
            std::os::unix::fs::chown(&path, Some(0), None).unwrap();
        }
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
    }
    fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
    assert!(Identity::load(&path).is_ok());
}

/// As Kubernetes mounts secrets: each name is a link into a folder, which is a link to the folder
/// of this version.
#[test]
fn a_file_behind_links_is_read() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("..2027")).unwrap();
    let (identity, path) = saved(&dir.path().join("..2027"));
    let name = path.file_name().unwrap();
    std::os::unix::fs::symlink("..2027", dir.path().join("..data")).unwrap();
    let link = dir.path().join("party.key");
    std::os::unix::fs::symlink(std::path::Path::new("..data").join(name), &link).unwrap();
    assert_eq!(Identity::load(&link).unwrap().public(), identity.public());
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(Identity::load(&link), Err(IdentityError::TooOpen { mode: 0o644, .. })));
}

#[test]
fn a_missing_file_and_a_directory_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("none.key");
    assert_eq!(Identity::load(&path).err(), Some(IdentityError::Missing { path: path.clone() }));
    let path = dir.path().to_path_buf();
    assert_eq!(Identity::load(&path).err(), Some(IdentityError::NotAKeyFile { path }));
    let path = dir.path().join("no-such-dir/own.key");
    let kind = std::io::ErrorKind::NotFound;
    assert_eq!(
        Identity::generate().unwrap().save(&path),
        Err(IdentityError::Unwritable { path, kind })
    );
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (_, path) = saved(dir.path());
    let whole = fs::read(&path).unwrap();
    // Without its last line break it is still complete.
    for len in 0..whole.len() - 1 {
        write(&path, &whole[..len]);
        match Identity::load(&path) {
            Err(IdentityError::BadChecksum { .. } | IdentityError::NotAKeyFile { .. }) => {}
            other => panic!("{len}: {other:?}"),
        }
    }
    write(&path, &whole[..whole.len() - 10]);
    assert_eq!(Identity::load(&path).err(), Some(IdentityError::BadChecksum { path }));
}

#[test]
fn a_public_identity_in_place_of_a_key_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("partner.txt");
    write(&path, format!("{}\n", Identity::generate().unwrap().public()));
    assert_eq!(Identity::load(&path).err(), Some(IdentityError::IsPublic { path: path.clone() }));
    // Public files are readable by all; that must not be the error.
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(Identity::load(&path).err(), Some(IdentityError::IsPublic { path }));
}

#[test]
fn other_files_are_not_key_files() {
    let dir = tempfile::tempdir().unwrap();
    let (_, own) = saved(dir.path());
    let key = fs::read_to_string(own).unwrap();
    let path = dir.path().join("other");
    let long = "# comment\n".repeat(1000);
    let contents: [&[u8]; 6] = [
        b"",
        b"id,email\n1,a@example.org\n",
        b"-----BEGIN OPENSSH PRIVATE KEY-----\n",
        b"\xff\xfe\x00",
        long.as_bytes(),
        // Two keys are ambiguous.
        &[key.as_bytes(), key.as_bytes()].concat(),
    ];
    for content in contents {
        write(&path, content);
        let refused = IdentityError::NotAKeyFile { path: path.clone() };
        assert_eq!(Identity::load(&path).err(), Some(refused), "{content:?}");
    }
}

#[test]
fn a_file_edited_on_another_system_is_still_read() {
    let dir = tempfile::tempdir().unwrap();
    let (identity, path) = saved(dir.path());
    let text = fs::read_to_string(&path).unwrap();
    write(&path, text.replace('\n', "\r\n") + "\r\n\r\n");
    assert_eq!(Identity::load(&path).unwrap().public(), identity.public());
}
