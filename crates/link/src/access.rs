//! Who on this machine can get at a file or a folder that holds secrets.

use nix::unistd::{Gid, Group, Uid, User, geteuid};
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// Permission bits that give access to users other than the owner.
const OTHERS: u32 = 0o077;

/// The bit of a folder in which only the owner of a file may remove or rename it.
const STICKY: u32 = 0o1000;

/// Permission bits that let the group, and all others, write.
const GROUP_WRITES: u32 = 0o020;
const ALL_WRITE: u32 = 0o002;

/// The superuser, who gets at everything in any case.
const SUPERUSER: u32 = 0;

/// How another user of the machine can get at a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is theirs: they can read it and, where it is a folder, replace what is in it, whatever its mode.
    Owner,
    /// Its mode lets the group or others in.
    Mode {
        /// All its permission bits.
        mode: u32,
    },
}

/// The access that users other than this process's and the superuser have to what `found` describes; `None` where they
/// have none.
///
/// A superuser may use a file of another user, but then that user may too.
pub fn access_of_others(found: &Metadata) -> Option<Access> {
    access(found.uid(), found.permissions().mode(), geteuid().as_raw())
}

fn access(owner: u32, mode: u32, user: u32) -> Option<Access> {
    if owner != user && owner != SUPERUSER {
        return Some(Access::Owner);
    }
    (mode & OTHERS != 0).then_some(Access::Mode { mode: mode & 0o777 })
}

/// Whether users other than this process's and the superuser can replace what is in the folder that `parent` describes: they
/// can write there, and it is not sticky, or it is theirs. The group of a user of whom it has no other member counts as the
/// user. A superuser works in folders of other users, in containers above all, and is not told of their owner.
pub fn others_can_replace(parent: &Metadata) -> bool {
    let (owner, mode) = (parent.uid(), parent.permissions().mode());
    can_replace(owner, mode, geteuid().as_raw(), || is_own_group(parent.gid(), owner))
}

fn can_replace(owner: u32, mode: u32, user: u32, is_own_group: impl FnOnce() -> bool) -> bool {
    let is_foreign = owner != user && owner != SUPERUSER && user != SUPERUSER;
    let is_sticky = mode & STICKY != 0;
    let is_writable = mode & ALL_WRITE != 0 || (mode & GROUP_WRITES != 0 && !is_own_group());
    is_foreign || (is_writable && !is_sticky)
}

/// Whether the group has no member but the user: many systems give each user one of the same name.
fn is_own_group(group: u32, user: u32) -> bool {
    match (Group::from_gid(Gid::from_raw(group)), User::from_uid(Uid::from_raw(user))) {
        (Ok(Some(group)), Ok(Some(user))) => {
            group.name == user.name && group.mem.iter().all(|member| *member == user.name)
        }
        // Of a user whom this machine, or this container, does not know.
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
            // In a container, for example.
            (1000, 0o755, 0, false, false),
            (1000, 0o777, 0, false, true),
        ] {
            let found = can_replace(owner, mode, user, || is_own_group);
            assert_eq!(found, expected, "{owner} {mode:o} {user} {is_own_group}");
        }
    }

    #[test]
    fn only_the_user_and_the_superuser_may_own_it() {
        for (owner, user, is_refused) in [
            (1000, 1000, false),
            (0, 1000, false),
            (0, 0, false),
            (1001, 1000, true),
            // A superuser can read it, and so can its owner.
            (1000, 0, true),
        ] {
            let expected = is_refused.then_some(Access::Owner);
            assert_eq!(access(owner, 0o100_600, user), expected, "{owner} {user}");
        }
    }

    #[test]
    fn the_mode_is_that_of_the_owner_alone() {
        for (mode, is_refused) in
            [(0o700, false), (0o600, false), (0o400, false), (0o610, true), (0o601, true)]
        {
            let expected = is_refused.then_some(Access::Mode { mode });
            assert_eq!(access(7, 0o40_000 | mode, 7), expected, "{mode:o}");
        }
    }
}
