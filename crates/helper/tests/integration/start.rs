//! What a service refuses to start with, and what it does to its directory.

use crate::common::Fixture;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use vesica_helper::{PartyLimits, Service, StartError, StoreError};

#[test]
fn a_directory_accessible_to_others_is_restricted() {
    let fixture = Fixture::new(2);
    fs::set_permissions(fixture.state(), Permissions::from_mode(0o755)).unwrap();
    drop(fixture.start());
    let mode = fs::metadata(fixture.state()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
}

#[test]
fn a_used_directory_in_which_others_can_write_is_refused() {
    let fixture = Fixture::new(2);
    drop(fixture.start());
    for mode in [0o770, 0o702, 0o777] {
        fs::set_permissions(fixture.state(), Permissions::from_mode(mode)).unwrap();
        match Service::start(fixture.options()) {
            Err(StartError::Store(error)) => {
                let path = fixture.state().to_path_buf();
                assert_eq!(error, StoreError::Writable { path, mode });
            }
            other => panic!("{mode:o}: {other:?}"),
        }
    }
    fs::set_permissions(fixture.state(), Permissions::from_mode(0o755)).unwrap();
    drop(fixture.start());
}

#[test]
fn a_directory_of_another_user_is_refused() {
    let fixture = Fixture::new(2);
    // Only the superuser can change owners; other users use a directory of the superuser's.
    let state_dir = match chown(fixture.state(), Some(12_345), None) {
        Ok(()) => fixture.state().to_path_buf(),
        Err(_) => PathBuf::from("/"),
    };
    let mut options = fixture.options();
    options.state_dir = state_dir.clone();
    match Service::start(options) {
        Err(StartError::Store(error)) => {
            assert_eq!(error, StoreError::NotOurs { path: state_dir.clone() });
        }
        other => panic!("{other:?}"),
    }
    assert!(!state_dir.join("runs").exists());
}

#[test]
fn the_helper_cannot_be_a_party() {
    let fixture = Fixture::new(2);
    let mut options = fixture.options();
    options.parties.push(PartyLimits::new("cloud", fixture.helper.public()));
    match Service::start(options) {
        Err(StartError::OwnIdentity { name }) => assert_eq!(name, "cloud"),
        other => panic!("{other:?}"),
    }
}
