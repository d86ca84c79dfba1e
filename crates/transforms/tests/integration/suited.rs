//! Which transforms suit a profile: none that takes a value of it is called unsuited.

use serde_json::Value;
use vesica_transforms::{Profile, Room, Transform, chain, unsuited};

const PROFILES: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/profiles.json"));

/// All transforms; those with a number of characters twice.
fn transforms() -> Vec<Transform> {
    let names = Transform::catalogue().iter().flat_map(|row| match row.name.split_once('(') {
        Some((name, _)) => vec![format!("{name}(3)"), format!("{name}(10)")],
        None => vec![row.name.to_owned()],
    });
    names.map(|name| name.parse().unwrap()).collect()
}

#[test]
fn what_takes_a_value_of_a_profile_suits_it() {
    let vectors: Value = serde_json::from_str(PROFILES).unwrap();
    let transforms = transforms();
    let (mut room, mut suited, mut refused) = (Room::default(), 0, 0);
    for of_profile in vectors["profiles"].as_array().unwrap() {
        let profile: Profile = of_profile["profile"].as_str().unwrap().parse().unwrap();
        let values = of_profile["vectors"].as_array().unwrap().iter();
        let values: Vec<&str> = values.filter_map(|one| one["normalised"].as_str()).collect();
        for one in &transforms {
            let twice = transforms.iter().map(|two| vec![*one, *two]);
            for transforms in twice.chain([vec![*one]]) {
                let takes = |value: &&str| chain(&transforms, value, usize::MAX, &mut room).is_ok();
                let is_taken = values.iter().any(takes);
                match unsuited(profile, &transforms) {
                    None => suited += usize::from(is_taken),
                    Some(_) => {
                        assert!(!is_taken, "{profile} {transforms:?}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(suited > 1000 && refused > 1000, "{suited} {refused}");
}
