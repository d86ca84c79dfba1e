#!/usr/bin/env python3
"""Makes NAME.canonical.toml and NAME.hash for every NAME.toml in the same folder.

Written from the description of the canonical form alone, without the Rust code: the fields in a
fixed order, every default written out, keys and parties sorted by name; with a helper, its
copies and dummies in place of the self-check. The hash is BLAKE3 in
key-derivation mode with the context "vesica v1 agreement" over the text's length (8 bytes, little
endian) and the text. BLAKE3 is written out below after its specification (O'Connor, Aumasson,
Neves, Wilcox-O'Hearn, 2020), so that this script needs nothing but Python 3.11.
"""

import bisect
import math
import pathlib
import struct
import sys
import tomllib

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT, CONTEXT, MATERIAL = 1, 2, 4, 8, 32, 64
MASK = 0xFFFFFFFF


def compress(cv, block, counter, length, flags):
    m = list(struct.unpack("<16I", block.ljust(64, b"\0")))
    v = list(cv) + list(IV[:4]) + [counter & MASK, counter >> 32, length, flags]

    def g(a, b, c, d, x, y):
        for word, first, second in ((x, 16, 12), (y, 8, 7)):
            v[a] = (v[a] + v[b] + word) & MASK
            t = v[d] ^ v[a]
            v[d] = (t >> first | t << (32 - first)) & MASK
            v[c] = (v[c] + v[d]) & MASK
            t = v[b] ^ v[c]
            v[b] = (t >> second | t << (32 - second)) & MASK

    for turn in range(7):
        for i in range(4):
            g(i, 4 + i, 8 + i, 12 + i, m[2 * i], m[2 * i + 1])
        for i in range(4):
            g(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[8 + 2 * i], m[9 + 2 * i])
        m = [m[p] for p in PERMUTATION]
    return [v[i] ^ v[i + 8] for i in range(8)]


def subtree(key, data, first_chunk, flags, root):
    if len(data) <= 1024:
        cv = key
        blocks = [data[i : i + 64] for i in range(0, len(data), 64)] or [b""]
        for i, block in enumerate(blocks):
            f = flags | (CHUNK_START if i == 0 else 0)
            if i == len(blocks) - 1:
                f |= CHUNK_END | (ROOT if root else 0)
            cv = compress(cv, block, first_chunk, len(block), f)
        return cv
    left = 1024
    while left * 2 < len(data):
        left *= 2
    parts = subtree(key, data[:left], first_chunk, flags, False)
    parts += subtree(key, data[left:], first_chunk + left // 1024, flags, False)
    return compress(key, struct.pack("<16I", *parts), 0, 64, flags | PARENT | (ROOT if root else 0))


def derive_key(context, material):
    key = subtree(IV, context, 0, CONTEXT, True)
    return struct.pack("<8I", *subtree(key, material, 0, MATERIAL, True))


def finds_cheats(copies, dummies, rows):
    """Whether a helper that takes one of m common items for missing is found out but for a chance of
    2 ** -40, for every m up to rows: it must hit the copies of one item among all labels in the
    answer that look alike, those of the m items and the dummies. That is m of comb(copies * m +
    dummies, copies) guesses, which rises with m and then falls."""

    def guesses(m):
        return math.comb(copies * m + dummies, copies)

    low, high = 1, rows
    while low < high:
        middle = (low + high) // 2
        if (middle + 1) * guesses(middle) > middle * guesses(middle + 1):
            low = middle + 1
        else:
            high = middle
    return low * 2**40 <= guesses(low)


def cheapest(rows):
    """The copies and dummies with the fewest labels copies * rows + 2 * dummies that find cheats;
    with the fewest copies where two are equal."""
    checks = []
    for copies in range(2, 65):
        dummies = bisect.bisect_left(
            range(1, 2**24 + 1), True, key=lambda dummies: finds_cheats(copies, dummies, rows)
        ) + 1
        if dummies <= 2**24:
            checks.append((copies * rows + 2 * dummies, copies, dummies))
    return min(checks)[1:]


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def helper(agreement):
    """What is said about the helper, and what else then differs."""
    helper, parties = agreement["helper"], sorted(agreement["party"])
    receives = agreement["receives"]
    if isinstance(receives, str):
        receives = parties if receives == "all" else [receives]
    receives = [quoted(name) for name in sorted(receives)]
    malicious = agreement["security"] == "malicious"
    protocol = agreement.get("protocol", "server_aided" + malicious * "_malicious")
    if protocol == "server_aided":
        check = 1, agreement.get("self_check", 16)
    else:
        check = cheapest(max(party["max_rows"] for party in agreement["party"].values()))
    if "copies" in helper:
        check = helper["copies"], helper["dummies"]
    if len(receives) == len(parties):
        receives = quoted("all")
    else:
        receives = receives[0] if len(receives) == 1 else f"[{', '.join(receives)}]"
    lines = [
        "",
        "[helper]",
        f"name = {quoted(helper.get('name', 'helper'))}",
        f"identity = {quoted(helper['identity'])}",
        f"copies = {check[0]}",
        f"dummies = {check[1]}",
    ]
    return receives, protocol, lines


def canonical(agreement):
    if "helper" in agreement:
        receives, protocol, more = helper(agreement)
    else:
        receives, protocol = quoted(agreement["receives"]), agreement.get("protocol", "auto")
        more = [
            f"self_check = {agreement.get('self_check', 16)}",
            f"hide_sizes = {str(agreement.get('hide_sizes', False)).lower()}",
        ]
        if agreement.get("partition_rows", 1572864) != 1572864:
            more.append(f"partition_rows = {agreement['partition_rows']}")
        if agreement.get("max_repeats", 3) != 3:
            more.append(f"max_repeats = {agreement['max_repeats']}")
    expires = agreement.get("expires", "never")
    lines = [
        f"version = {agreement['version']}",
        f"title = {quoted(agreement['title'])}",
        f"operation = {quoted(agreement['operation'])}",
        f"receives = {receives}",
        f"security = {quoted(agreement['security'])}",
        f"protocol = {quoted(protocol)}",
        "expires = " + (quoted(expires) if expires == "never" else expires.isoformat()),
        *more,
    ]
    for key in sorted(agreement["key"], key=lambda key: key["name"].encode()):
        lines += [
            "",
            "[[key]]",
            f"name = {quoted(key['name'])}",
            f"profile = {quoted(key['profile'])}",
            f"profile_version = {key.get('profile_version', profile_version(key['profile']))}",
        ]
        if "never" in key:
            never = sorted((value.strip() for value in key["never"]), key=str.encode)
            lines.append(f"never = [{', '.join(map(quoted, never))}]")
    for name, party in sorted(agreement["party"].items()):
        lines += [
            "",
            f"[party.{name}]",
            f"identity = {quoted(party['identity'])}",
            f"max_rows = {party['max_rows']}",
            f"min_rows = {party.get('min_rows', 1)}",
        ]
    return "".join(line + "\n" for line in lines).encode()


def profile_version(profile):
    """The version of a profile's outcomes."""
    versions = {"exact": 2, "uuid": 1}
    if profile.startswith("hex:"):
        return 4
    return versions.get(profile.split(":")[0], 3)


def main():
    # The first published vector of BLAKE3's key derivation: no input.
    expected = "2cc39783c223154fea8dfb7c1b1660f2ac2dcbd1c1de8277b0b0dd39b7e50d7d"
    assert derive_key(b"BLAKE3 2019-12-27 16:29:52 test vectors context", b"").hex() == expected
    for path in sorted(pathlib.Path(sys.argv[0]).resolve().parent.glob("*.toml")):
        if path.name.endswith(".canonical.toml"):
            continue
        text = canonical(tomllib.loads(path.read_text()))
        digest = derive_key(b"vesica v1 agreement", struct.pack("<Q", len(text)) + text)
        path.with_suffix(".canonical.toml").write_bytes(text)
        path.with_suffix(".hash").write_text(digest.hex() + "\n")


main()
