//! The users of this machine that can access a file or a folder with secrets.

use nix::unistd::{Gid, getegid, geteuid, getgroups};
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// Permission bits that give access to users other than the owner.
const OTHERS: u32 = 0o077;

/// The superuser, who gets at everything in any case.
const SUPERUSER: u32 = 0;

/// What the group of a secret file of the superuser may not do, and no other user may: all but
/// reading.
const MORE_THAN_GROUP_READS: u32 = 0o037;

/// How another user of the machine can access a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Another user owns it, and so can read it and, where it is a folder, replace its contents,
    /// for any mode.
    Owner,
    /// Its mode lets the group or others in.
    Mode {
        /// All its permission bits.
        mode: u32,
    },
}

/// The access that users other than this process's and the superuser have to what `found`
/// describes; `None` where they have none.
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

/// The access that users have to the secret file that `found` describes though they should not;
/// `None` where they have none. It is right if only its owner has rights and the owner is the user
/// of this process, or the superuser. A superuser may use the file of any user, who needs no more
/// than it to act as its holder. A file of the superuser may also be read by one group that this
/// process belongs to, as containers get their secrets.
///
/// The rule for keys of servers in PostgreSQL, which refuses a superuser the files of others.
pub fn access_to_secret(found: &Metadata) -> Option<Access> {
    let file = Held { owner: found.uid(), group: found.gid(), mode: found.permissions().mode() };
    let groups = getgroups().unwrap_or_default();
    let groups: Vec<u32> = groups.into_iter().chain([getegid()]).map(Gid::as_raw).collect();
    secret_access(file, geteuid().as_raw(), &groups)
}

/// Who owns a file, and the rights to it.
#[derive(Clone, Copy)]
struct Held {
    owner: u32,
    group: u32,
    mode: u32,
}

fn secret_access(file: Held, user: u32, groups: &[u32]) -> Option<Access> {
    let Held { owner, group, mode } = file;
    if owner != user && owner != SUPERUSER && user != SUPERUSER {
        return Some(Access::Owner);
    }
    let is_of_group = owner == SUPERUSER && (user == SUPERUSER || groups.contains(&group));
    let refused = if is_of_group { MORE_THAN_GROUP_READS } else { OTHERS };
    (mode & refused != 0).then_some(Access::Mode { mode: mode & 0o777 })
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_secret_is_read_by_its_owner_or_as_a_file_of_the_superuser_by_a_group() {
        let groups = [12_345, 2000];
        let access = |owner, group, mode: u32, user| {
            secret_access(Held { owner, group, mode: 0o100_000 | mode }, user, &groups)
        };
        let open = |mode| Some(Access::Mode { mode });
        for (owner, group, mode, user, expected) in [
            (12_345, 12_345, 0o600, 12_345, None),
            (12_345, 12_345, 0o400, 12_345, None),
            (12_345, 2000, 0o640, 12_345, open(0o640)),
            (12_345, 2000, 0o440, 12_345, open(0o440)),
            // A volume with a secret for the group of a pod.
            (0, 2000, 0o440, 12_345, None),
            (0, 2000, 0o640, 12_345, None),
            (0, 2000, 0o660, 12_345, open(0o660)),
            (0, 2000, 0o450, 12_345, open(0o450)),
            (0, 2000, 0o444, 12_345, open(0o444)),
            (0, 2001, 0o440, 12_345, open(0o440)),
            (0, 2001, 0o400, 12_345, None),
            (1000, 2000, 0o600, 12_345, Some(Access::Owner)),
            (1000, 2000, 0o440, 12_345, Some(Access::Owner)),
            // A superuser, in a container above all.
            (0, 0, 0o600, 0, None),
            (0, 2001, 0o640, 0, None),
            (0, 0, 0o644, 0, open(0o644)),
            (0, 0, 0o660, 0, open(0o660)),
            (1000, 1000, 0o600, 0, None),
            (1000, 1000, 0o400, 0, None),
            (1000, 1000, 0o640, 0, open(0o640)),
            (1000, 2000, 0o440, 0, open(0o440)),
            (1000, 1000, 0o604, 0, open(0o604)),
        ] {
            assert_eq!(
                access(owner, group, mode, user),
                expected,
                "{owner}:{group} {mode:o} {user}"
            );
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
