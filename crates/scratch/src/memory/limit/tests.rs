use super::*;

/// The limit where these files can be read, and no other ones.
fn limit(groups: &str, mounts: &str, files: &[(&str, &str)]) -> Option<u64> {
    group_limit(groups, mounts, |path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned())
    })
}

const V2: &str = "\
24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
31 24 0:27 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate
";

#[test]
fn a_service_has_the_least_limit_of_its_group_and_those_above() {
    let groups = "0::/system.slice/match.service\n";
    let files = [
        ("/sys/fs/cgroup/system.slice/match.service/memory.max", "1073741824\n"),
        ("/sys/fs/cgroup/system.slice/match.service/memory.high", "max\n"),
        ("/sys/fs/cgroup/system.slice/memory.max", "805306368\n"),
    ];
    assert_eq!(limit(groups, V2, &files), Some(805_306_368));
    assert_eq!(limit(groups, V2, &files[..2]), Some(1 << 30));
    assert_eq!(limit(groups, V2, &files[1..2]), None);
    let high = [files[0], ("/sys/fs/cgroup/system.slice/match.service/memory.high", "536870912\n")];
    assert_eq!(limit(groups, V2, &high), Some(512 << 20));
}

#[test]
fn a_container_sees_its_own_group_as_the_root() {
    let mounts = "\
1480 1371 0:160 / / rw,relatime master:383 - overlay overlay rw,lowerdir=/var/lib/l
1489 1484 0:27 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate
";
    let files = [("/sys/fs/cgroup/memory.max", "536870912\n")];
    assert_eq!(limit("0::/\n", mounts, &files), Some(512 << 20));
    // Of a process that another namespace put there.
    assert_eq!(limit("0::/../../other\n", mounts, &files), Some(512 << 20));
    assert_eq!(limit("0::/\n", mounts, &[("/sys/fs/cgroup/memory.max", "max\n")]), None);
}

#[test]
fn a_container_without_a_namespace_of_groups_has_the_path_of_the_machine() {
    let mounts = "\
700 699 0:29 /docker/5f2c /sys/fs/cgroup/memory ro,nosuid shared:13 - cgroup cgroup rw,memory
";
    let groups =
        "11:memory:/docker/5f2c\n10:cpu,cpuacct:/docker/5f2c\n1:name=systemd:/docker/5f2c\n";
    let files = [("/sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n")];
    assert_eq!(limit(groups, mounts, &files), Some(256 << 20));
    // A mount that shows another part.
    assert_eq!(limit("11:memory:/\n", mounts, &files), Some(256 << 20));
}

#[test]
fn both_versions_side_by_side_give_the_lesser_limit() {
    let mounts = "\
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
    let groups = "5:cpu,cpuacct:/\n4:memory:/kubepods/burstable/pod1/c1\n0::/kubepods\n";
    let files = [
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ("/sys/fs/cgroup/memory/kubepods/burstable/pod1/memory.limit_in_bytes", "2147483648\n"),
        (
            "/sys/fs/cgroup/memory/kubepods/burstable/pod1/c1/memory.limit_in_bytes",
            "9223372036854771712\n",
        ),
        ("/sys/fs/cgroup/unified/kubepods/memory.max", "1000000000\n"),
    ];
    assert_eq!(limit(groups, mounts, &files), Some(1_000_000_000));
    assert_eq!(limit(groups, mounts, &files[..3]), Some(2 << 30));
    assert_eq!(limit(groups, mounts, &files[..1]), None);
    assert_eq!(limit(groups, mounts, &[]), None, "no file can be read");
}

#[test]
fn what_cannot_be_understood_is_no_limit() {
    let files = [("/sys/fs/cgroup/memory.max", "much\n")];
    assert_eq!(limit("0::/\n", V2, &files), None);
    for groups in ["", "0:/\n", "::\n", "\u{0}\n", "memory\n"] {
        assert_eq!(limit(groups, V2, &[]), None, "{groups:?}");
    }
    for mounts in ["", "1 2 3", " - ", "1 2 3:4 / - cgroup2", "a b c d e f - cgroup"] {
        assert_eq!(limit("0::/\n4:memory:/\n", mounts, &files), None, "{mounts:?}");
    }
}

#[test]
fn a_place_with_a_blank_is_found() {
    let mounts = "31 24 0:27 / /my\\040groups rw - cgroup2 cgroup2 rw\n";
    assert_eq!(limit("0::/a\n", mounts, &[("/my groups/a/memory.max", "1\n")]), Some(1));
}

#[test]
fn the_lesser_of_group_and_machine_counts() {
    let info = "MemTotal:       16316412 kB\nMemFree:         1000 kB\n";
    assert_eq!(machine_memory(info), Some(16_316_412 << 10));
    assert_eq!(machine_memory("MemTotal: much kB\n"), None);
    let limit = |bytes, bound| Some(MemoryLimit { bytes, bound });
    assert_eq!(least(Some(1), Some(2)), limit(1, Bound::ControlGroup));
    assert_eq!(least(Some(3), Some(2)), limit(2, Bound::Machine));
    assert_eq!(least(None, Some(2)), limit(2, Bound::Machine));
    assert_eq!(least(None, None), None);
}
