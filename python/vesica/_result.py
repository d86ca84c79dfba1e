"""What a party has learned."""

from __future__ import annotations

import json
import os
from typing import Any, NoReturn

from vesica import _vesica
from vesica._agreement import Agreement
from vesica._errors import DataError, SettingsError, unwritable
from vesica._figures import Figure, bars, overlap
from vesica._frames import NO_ARROW, File, Frame, quietly, write_whole
from vesica._html import table


class Report(dict[str, Any]):
    """The report of a run: counts, times and parameters, never a key or a row. The same as the command's JSON."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report, as ``vesica run --report`` does."""
        try:
            with open(path, "w", encoding="utf-8") as file:
                json.dump(self, file, indent=2, ensure_ascii=False)
                file.write("\n")
        except OSError as error:
            raise unwritable(SettingsError, path, error) from None

    def _repr_html_(self) -> str:
        # A pickled report keeps only the dict, whose layout has a version.
        network, used = self["network"], self["resources"]
        rows: list[tuple[str, object]] = [
            ("agreement", f"{self['agreement']['title']} ({self['agreement']['hash'][:16]})"),
            ("party", self["party"]),
            *((f"keys of {party['name']}", f"{party['keys']:,}") for party in self["parties"]),
            ("protocol", self["protocol"]["id"]),
            ("rows", f"{self['input']['rows']:,}"),
            ("self-check", self["result"]["self_check"]),
            ("seconds", f"{used['wall_s']:.2f}"),
            ("bytes on the network", f"{network['wire_sent'] + network['wire_received']:,}"),
        ]
        return table("Report", rows)


class Result:
    """What this party has learned from a run.

    Which parts it has depends on the operation of the agreement, and on whether this party
    receives the result; the others are None.
    """

    __slots__ = ("_frame", "_mark", "_outcome", "_report", "agreement")

    agreement: Agreement
    """The agreement of the run."""

    def __init__(
        self,
        outcome: _vesica.Outcome,
        frame: Frame,
        agreement: Agreement,
        mark: str | None = None,
    ) -> None:
        self._outcome = outcome
        self._frame = frame
        self._report: Report | None = None
        self._mark = mark
        self.agreement = agreement

    @property
    def kind(self) -> str:
        """``rows``, ``cardinality``, ``threshold``, ``sums``, ``answers``, ``union``, ``ids`` or ``shares``.

        ``nothing`` if this party does not receive the result, and ``outside-bounds`` if the number
        of common keys is outside the agreed bounds.
        """
        kind = self._outcome.kind
        return "rows" if kind == DETACHED else kind

    @property
    def report(self) -> Report:
        """The report of the run."""
        if self._report is None:
            self._report = Report(self._outcome.report())
        return self._report

    @property
    def party(self) -> str:
        """The name of this party in the agreement."""
        return self._outcome.party

    @property
    def count(self) -> int | None:
        """How many different keys are in common."""
        return self._outcome.keys_in_common

    @property
    def is_outside_bounds(self) -> bool:
        """Whether there is no answer because the number of common keys is outside the agreed bounds."""
        return self.kind == "outside-bounds"

    @property
    def mask(self) -> Any:
        """For each row of the input, whether its key is in common: a column of the input's library.

        ``df[r.mask]`` in pandas and ``df.filter(r.mask)`` in polars and pyarrow are the rows.
        """
        mask = self._outcome.mask()
        return None if mask is None else self._frame.mask(mask)

    @property
    def positions(self) -> Any:
        """The rows whose key is in common, from 0, ascending: a column of the input's library."""
        positions = self._outcome.positions()
        return None if positions is None else self._frame.column(positions)

    @property
    def reached(self) -> bool | None:
        """Whether the threshold is reached."""
        threshold = self._outcome.threshold
        return None if threshold is None else threshold[1]

    @property
    def sums(self) -> dict[str, int] | None:
        """The sum of each column of values over the common keys.

        With groups, the name is the group, or ``column[group]``.
        """
        sums = self._outcome.sums
        return None if sums is None else dict(sums)

    @property
    def answers(self) -> dict[str, int | bool] | None:
        """What each part of the agreement's expression gives: a number, or whether a condition holds.

        The name is the part's text; of a bucket ``sum(b) for 10 <= a < 20``.
        """
        answers = self._outcome.answers
        if answers is None:
            return None
        return {name: bool(holds) if number is None else number for name, number, holds in answers}

    @property
    def matched_rules(self) -> Any:
        """The rules under which each own row matches: a column of the input's library.

        Their names, joined by ``; ``; None for a row that is not in common. None if the agreement does not
        have ``show_rules``.
        """
        rules = self._outcome.matched_rules()
        return None if rules is None else self._frame.column(rules)

    @property
    def ids(self) -> Any:
        """The random identifier of each own row: a column of the input's library.

        Both parties have the same identifier for a common key. None for a row without a usable key.
        """
        ids = self._outcome.ids()
        return None if ids is None else self._frame.column(ids)

    @property
    def shares(self) -> Shares | None:
        """This party's shares. `combine` takes both parties' shares."""
        document = self._outcome.shares()
        return None if document is None else Shares(document)

    @property
    def order(self) -> Any:
        """What this party knows of the order of its `shares`: a frame of the input's kind.

        With ``shared-values`` the party with the values has ``entry`` and ``rows``, its own rows that
        each entry comes from, and the other party ``entry`` and ``common``. With ``shares`` neither knows
        which row an entry comes from: one party has ``place`` and ``rows``, its rows in a random order,
        and the other ``entry`` and ``place``, the places of the entries in that order. All count from 0.
        Keep it secret: anyone who has both parties' parts knows which rows are in common.
        """
        order = self._outcome.order()
        return None if order is None else self._frame.table(order)

    def rows(self) -> Any:
        """The result as a frame of the input's kind.

        After an intersection these are the own rows whose key is in common, as they are in the
        input, and after their columns ``matched_rules`` and the other party's columns, such as
        ``hospital_ward``, if the agreement says so. After a union they are the keys, with ``new`` for
        keys that only the other party has; with private ids they are the identifiers, with the key
        and the rows of this party's own; otherwise one row with the figures.

        With `mark` they are all own rows of any of these three, with one more column: whether the
        row's key is in common, the number of its key in the union, or its identifier.
        """
        if self._is_detached:
            return self._frame.detached()
        if self._has_rows:
            added = dict(self._outcome.added())
            marks = None if self._mark is None else self._outcome.marks()
            if self._mark is not None and marks is not None:
                return self._frame.rows(None, {**added, self._mark: marks})
            return self._frame.rows(self._outcome.mask(), added)
        return None if self.kind in NO_ROWS else self._frame.table(self._table())

    def to_arrow(self) -> Any:
        """The rows of `rows` as a pyarrow table."""
        import pyarrow

        if self.kind in NO_ROWS:
            return None
        rows = self._arrow()
        return quietly(NO_ARROW, lambda: pyarrow.table(rows))

    def to_pandas(self) -> Any:
        """The rows of `rows` as a pandas frame."""
        import pandas

        if self.kind in NO_ROWS:
            return None
        rows = self._arrow()
        if isinstance(rows, pandas.DataFrame):
            return rows
        import pyarrow

        return quietly(NO_ARROW, lambda: pyarrow.table(rows).to_pandas())

    def to_polars(self) -> Any:
        """The rows of `rows` as a polars frame."""
        import polars

        if self.kind in NO_ROWS:
            return None
        rows = self._arrow()
        if isinstance(rows, polars.DataFrame):
            return rows
        return quietly(NO_ARROW, lambda: polars.DataFrame(rows))

    def to_parquet(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the rows of `rows` to a Parquet file, which only you can read.

        The file appears whole or not at all. An existing one is replaced only with `force`.
        """
        if not self._has_rows or isinstance(self._frame, File):
            if not os.fspath(path).lower().endswith((".parquet", ".pq")):
                raise DataError(
                    "this writes a Parquet file", "give it a name that ends in .parquet"
                )
            self.write(path, force=force)
        else:
            write_whole(path, force, lambda file: self._frame.to_parquet(self.rows(), file))

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the file that ``vesica run --output`` would write; its ending sets the format.

        Not for rows of a frame: use the writers of its library, or `to_parquet`.
        """
        if self.kind in ("nothing", "outside-bounds"):
            raise DataError("there is no result to write", "see `kind` and `report`")
        if self._has_rows and not isinstance(self._frame, File):
            if os.fspath(path).lower().endswith((".parquet", ".pq")):
                self.to_parquet(path, force=force)
                return
            raise DataError(
                "rows of a frame are written by its own library",
                "use rows() and its writers, or to_parquet()",
            )
        self._outcome.write(os.fspath(path), force)

    @property
    def overlap(self) -> Figure | None:
        """The two lists as circles to scale, if the sizes and the number of common keys are known."""
        parties = self._outcome.parties
        if len(parties) != 2 or self.count is None or self._outcome.hides_sizes:
            return None
        own = [keys for name, keys in parties if name == self.party][0]
        other = [(name, keys) for name, keys in parties if name != self.party][0]
        return overlap((f"{self.party} (here)", own), other, self.count)

    @property
    def lost(self) -> Figure:
        """The fates of the rows of the input, as bars: in common, not in common, left out and why."""
        return bars(list(self.fates().items()))

    def fates(self) -> dict[str, int]:
        """How many rows of the input are in common, not in common, or left out, and why."""
        given = self._outcome.input
        left_out = {"without a key": given.empty}
        for column, reason, count in given.refused_by:
            left_out[f"{column}: {reason}"] = count
        usable = given.rows - given.empty - given.refused
        matched = self._outcome.rows
        if matched is None:
            return {"with a key": usable, **{name: n for name, n in left_out.items() if n}}
        parts = {"in common": matched[0], "not in common": usable - matched[0], **left_out}
        return {name: n for at, (name, n) in enumerate(parts.items()) if n or at < 2}

    @property
    def _common_rows(self) -> tuple[int, int] | None:
        """How many rows are in common, and of how many."""
        return self._outcome.rows

    @property
    def _is_detached(self) -> bool:
        """Whether Spark executors have the rows, and this process does not: `mask` and `positions` are None."""
        return self._outcome.kind == DETACHED

    @property
    def _has_rows(self) -> bool:
        """Whether the result is rows of the input."""
        return self.kind == "rows" or (self._mark is not None and self.kind in ("union", "ids"))

    def _table(self) -> _vesica.Table:
        table = self._outcome.table()
        if table is None:
            raise DataError("this result has no rows", "see its `kind`")
        return table

    def _arrow(self) -> Any:
        """The rows, as an object that any library can take."""
        if not self._has_rows:
            return self._table()
        if not isinstance(self._frame, File):
            return self._frame.arrow(self.rows())
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.parquet")
            self.write(path)
            return read_parquet(path)

    def _figures(self) -> list[tuple[str, object]]:
        rows = self._outcome.rows
        figures: list[tuple[str, object]] = []
        if rows is not None:
            figures.append(("rows", f"{rows[0]:,} of {rows[1]:,}"))
        if self.count is not None:
            figures.append(("keys in common", f"{self.count:,}"))
        if self.reached is not None:
            figures.append(("reached", "yes" if self.reached else "no"))
        values = self.agreement.values
        what = "rows" if values is not None and not values.columns else "sum"
        figures.extend((f"{what} of {name}", total) for name, total in (self.sums or {}).items())
        for name, answer in (self.answers or {}).items():
            said = ("yes" if answer else "no") if isinstance(answer, bool) else answer
            figures.append((name, said))
        if self._outcome.union_keys is not None:
            figures.append(("keys of either side", f"{self._outcome.union_keys:,}"))
        if self._outcome.shared_entries is not None:
            figures.append(("shared entries", f"{self._outcome.shared_entries:,}"))
        if self.kind == "nothing":
            figures.append(("result", "not received by this party"))
        if self.is_outside_bounds:
            figures.append(("result", "none: the common keys are outside the agreed bounds"))
        return figures

    def __reduce__(self) -> NoReturn:
        raise TypeError("a result is not pickled: keep its rows(), or write() them to a file")

    def __repr__(self) -> str:
        figures = ", ".join(f"{name}: {value}" for name, value in self._figures())
        return f"<Result of {self.agreement.title!r} for {self.party}: {figures}>"

    def _repr_html_(self) -> str:
        figure = self.overlap
        drawing = "" if figure is None else figure.svg
        title = f"{self.agreement.title}: {self.agreement.operation}, {self.party}"
        return table(title, self._figures()) + drawing


#: The kind of a result whose rows other programs have.
DETACHED = "detached"
#: Kinds of results without rows.
NO_ROWS = ("nothing", "outside-bounds", "shares")


class Shares:
    """One party's shares: a JSON document that reveals nothing without the other party's."""

    __slots__ = ("document",)

    document: str
    """The document, as ``vesica run --output shares.json`` writes it."""

    def __init__(self, document: str) -> None:
        self.document = document

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Shares:
        """Read the file of a party's shares."""
        document = None
        try:
            with open(path, "rb") as file:
                document = file.read().decode()
        except OSError as error:
            raise DataError(
                f"{os.fspath(path)} cannot be read: {error.strerror}", "check the name of the file"
            ) from None
        except UnicodeDecodeError:
            pass
        if document is None:
            # Outside the handler: the other exception has the content of the file.
            raise DataError(f"{os.fspath(path)} does not hold shares", "check the name of the file")
        return Shares(document)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the file, which only you can read."""
        write_whole(path, force, lambda file: file.write(self.document.encode()))

    def __repr__(self) -> str:
        return f"<Shares, {len(self.document)} bytes>"


def combine(one: Shares | str | os.PathLike[str], other: Shares | str | os.PathLike[str]) -> Any:
    """Combine the shares of both parties, or their files: reveals what they shared.

    A table with the Arrow C stream interface: ``polars.DataFrame(combine(a, b))`` or
    ``pyarrow.table(combine(a, b))``. It has a row for each common key: its ``item``, a digest of
    the key, and its values. With shared values it has a row for each key of the party that has the
    values, without the item.
    """
    documents = [part if isinstance(part, Shares) else Shares.load(part) for part in (one, other)]
    return _vesica.combine(*(part.document for part in documents))


def read_parquet(path: str) -> Any:
    """The rows of a Parquet file, read by pyarrow or polars."""
    try:
        import pyarrow.parquet

        return pyarrow.parquet.read_table(path)
    except ImportError:
        pass
    try:
        import polars

        return polars.read_parquet(path)
    except ImportError:
        raise DataError(
            "no library that can read the rows is installed", "pip install pyarrow"
        ) from None
