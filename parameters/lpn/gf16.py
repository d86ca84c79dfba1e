"""GF(2^16) = GF(2)[X]/(X^16 + X^12 + X^3 + X + 1) by tables, and elimination over it."""

EXP, LOG = [0] * (2 * 65535), [0] * 65536
_x = 1
for _i in range(65535):
    EXP[_i] = EXP[_i + 65535] = _x
    LOG[_x] = _i
    _x <<= 1
    if _x >> 16:
        _x ^= 0x1100B
assert _x == 1, "X does not generate the group"


def mul(a, b):
    return EXP[LOG[a] + LOG[b]] if a and b else 0


def inverse(a):
    return EXP[65535 - LOG[a]]


class Echelon:
    """Rows of which the first `width` entries are reduced; the rest is carried along."""

    def __init__(self, width):
        self.width, self.pivots = width, {}

    def reduce(self, row):
        row = list(row)
        for c in range(self.width):
            if row[c] and c in self.pivots:
                f, pivot = row[c], self.pivots[c]
                lf = LOG[f]
                for j in range(c, len(row)):
                    if pivot[j]:
                        row[j] ^= EXP[LOG[pivot[j]] + lf]
        return row

    def add(self, row):
        """Adds a row; False if its first entries depended on the rows before."""
        row = self.reduce(row)
        lead = next((c for c in range(self.width) if row[c]), None)
        if lead is None:
            return False
        f = inverse(row[lead])
        self.pivots[lead] = [mul(f, v) for v in row]
        return True


def rank(rows):
    if not rows:
        return 0
    echelon = Echelon(len(rows[0]))
    return sum(echelon.add(row) for row in rows)
