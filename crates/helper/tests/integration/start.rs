//! What a service is not started with, and what it makes of its directory.

use crate::common::House;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use vesica_helper::{PartyLimits, Service, StartError, StoreError};

#[test]
fn a_directory_that_was_open_to_others_is_closed() {
    let house = House::new(2);
    fs::set_permissions(house.state(), Permissions::from_mode(0o755)).unwrap();
    drop(house.start());
    let mode = fs::metadata(house.state()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
}

#[test]
fn a_directory_of_another_user_is_refused() {
    let house = House::new(2);
    // Only the super-user gives something away; for others there is one of the super-user's.
    let state_dir = match chown(house.state(), Some(12_345), None) {
        Ok(()) => house.state().to_path_buf(),
        Err(_) => PathBuf::from("/"),
    };
    let mut options = house.options();
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
fn the_helper_is_no_party() {
    let house = House::new(2);
    let mut options = house.options();
    options.parties.push(PartyLimits::new("cloud", house.helper.public()));
    match Service::start(options) {
        Err(StartError::OwnIdentity { name }) => assert_eq!(name, "cloud"),
        other => panic!("{other:?}"),
    }
}
