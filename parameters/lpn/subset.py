"""A set of unknowns that contains the supports of more rows than it has unknowns, found greedily:
drop the unknown that occurs least, with its rows, as long as enough rows are left."""

from heapq import heapify, heappop, heappush


def dense_subset(rows, k, spare):
    """(unknowns, indices of the rows whose support lies within them), at least `spare` rows more than
    unknowns."""
    inside = [[] for _ in range(k)]
    for i, row in enumerate(rows):
        for j in row:
            inside[j].append(i)
    degree = [len(x) for x in inside]
    row_in, column_in = [True] * len(rows), [True] * k
    heap = [(degree[j], j) for j in range(k)]
    heapify(heap)
    left, columns = len(rows), k
    while heap:
        d, j = heappop(heap)
        if not column_in[j] or d != degree[j]:
            continue
        if left - d < columns - 1 + spare:
            break
        column_in[j] = False
        columns -= 1
        for i in inside[j]:
            if row_in[i]:
                row_in[i] = False
                left -= 1
                for c in rows[i]:
                    if column_in[c]:
                        degree[c] -= 1
                        heappush(heap, (degree[c], c))
    return [j for j in range(k) if column_in[j]], [i for i in range(len(rows)) if row_in[i]]
