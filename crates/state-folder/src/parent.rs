//! Which users can put another folder in the place of one that holds secrets.

use nix::unistd::{Gid, Group, Uid, User, geteuid};
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// The mode bit of a folder in which only the owner of a file may remove or rename it.
const STICKY: u32 = 0o1000;

/// Permission bits that let the group, or all others, write.
const GROUP_WRITES: u32 = 0o020;
const ALL_WRITE: u32 = 0o002;

/// The superuser, who has access to everything anyway.
const SUPERUSER: u32 = 0;

/// Whether users other than this process's and the superuser can replace what is in the folder that
/// `parent` describes: either it is another user's, or they can write there and it is not sticky. A
/// group whose only member is the folder's owner counts as the owner. In a folder of the superuser,
/// a group whose only member is this process's user counts too, because volumes of containers are
/// set up like that. A superuser works in folders of other users, in containers above all, so their
/// owner does not matter to it.
pub(crate) fn others_can_replace(parent: &Metadata) -> bool {
    let (owner, mode, user) = (parent.uid(), parent.permissions().mode(), geteuid().as_raw());
    can_replace(owner, mode, user, || is_trusted_group(parent.gid(), owner, user))
}

fn can_replace(owner: u32, mode: u32, user: u32, is_own_group: impl FnOnce() -> bool) -> bool {
    let is_foreign = owner != user && owner != SUPERUSER && user != SUPERUSER;
    let is_sticky = mode & STICKY != 0;
    let is_writable = mode & ALL_WRITE != 0 || (mode & GROUP_WRITES != 0 && !is_own_group());
    is_foreign || (is_writable && !is_sticky)
}

/// Whether a group is the owner's own or, in a folder of the superuser, this user's own.
fn is_trusted_group(group: u32, owner: u32, user: u32) -> bool {
    is_own_group(group, owner) || owner == SUPERUSER && is_own_group(group, user)
}

/// Whether the group has no member but the user: many systems give each user a group of the same
/// name.
fn is_own_group(group: u32, user: u32) -> bool {
    match (Group::from_gid(Gid::from_raw(group)), User::from_uid(Uid::from_raw(user))) {
        (Ok(Some(group)), Ok(Some(user))) => {
            group.name == user.name && group.mem.iter().all(|member| *member == user.name)
        }
        // This machine or this container knows neither the group nor the user.
        (Ok(None), Ok(None)) => group == user,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_replaced_by_those_who_can_write_to_its_parent() {
        for (owner, mode, user, is_own_group, expected) in [
            (1000, 0o755, 1000, false, false),
            (0, 0o755, 1000, false, false),
            (1000, 0o777, 1000, false, true),
            (0, 0o1777, 1000, false, false),
            (1000, 0o775, 1000, true, false),
            (1000, 0o775, 1000, false, true),
            (1000, 0o1775, 1000, false, false),
            (1001, 0o1755, 1000, false, true),
            // As in a container.
            (1000, 0o755, 0, false, false),
            (1000, 0o777, 0, false, true),
        ] {
            let found = can_replace(owner, mode, user, || is_own_group);
            assert_eq!(found, expected, "{owner} {mode:o} {user} {is_own_group}");
        }
    }

    /// With ids that no machine knows, as in a container.
    #[test]
    fn the_group_of_a_volume_is_trusted_where_it_is_the_users_own() {
        let [user, other] = [4_000_000_123, 4_000_000_124];
        assert!(is_trusted_group(user, 0, user) && is_trusted_group(user, user, user));
        assert!(!is_trusted_group(other, 0, user) && !is_trusted_group(other, user, user));
        assert!(!is_trusted_group(user, other, user));
    }
}
