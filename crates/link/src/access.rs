//! Who on this machine can get at a file or a folder that holds secrets.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// Permission bits that give access to users other than the owner.
const OTHERS: u32 = 0o077;

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
    access(found.uid(), found.permissions().mode(), nix::unistd::geteuid().as_raw())
}

fn access(owner: u32, mode: u32, user: u32) -> Option<Access> {
    if owner != user && owner != SUPERUSER {
        return Some(Access::Owner);
    }
    (mode & OTHERS != 0).then_some(Access::Mode { mode: mode & 0o777 })
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
    fn the_mode_is_that_of_the_owner_alone() {
        for (mode, is_refused) in
            [(0o700, false), (0o600, false), (0o400, false), (0o610, true), (0o601, true)]
        {
            let expected = is_refused.then_some(Access::Mode { mode });
            assert_eq!(access(7, 0o40_000 | mode, 7), expected, "{mode:o}");
        }
    }
}
