"""Agreements: what the parties compute together, and who learns it."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from vesica import _vesica
from vesica._errors import SettingsError, unwritable
from vesica._html import table
from vesica._identity import Identity
from vesica._names import suggests_names
from vesica._text import escape

#: The most rows of a party, by default.
MAX_ROWS = 1_000_000

#: Operations whose result by default goes to the party that does not have the values.
FIGURES_OF_VALUES = ("sum", "inner-product")
#: Profiles that a column of the same name most likely needs.
NAMED_PROFILES = ("email", "date", "digits", "hex")


class Key(NamedTuple):
    """A column of the key, and the profile that makes equal what is spelled differently."""

    name: str
    profile: str
    never: tuple[str, ...] = ()
    """Values that are refused, such as ``NULL`` or ``N/A``."""


class Rule(NamedTuple):
    """A rule of an agreement: rows match if they do under any of its rules."""

    name: str
    columns: list[str]
    """Its columns, each with its transforms: ``surname | soundex``."""
    most: int
    """The most keys that a row can have under it."""


class Party(NamedTuple):
    """A party of an agreement."""

    name: str
    identity: str
    """Its public identity."""
    min_rows: int
    """The fewest different keys that it must have."""
    max_rows: int
    """The most rows that it may have."""


class Values(NamedTuple):
    """Columns of whole numbers that one party has in addition to its keys, to be summed or shared."""

    of: str
    """The party that has them."""
    columns: list[str]
    """Their columns, as the agreement names them. Empty if the rows of groups are counted."""
    by: str | None
    """The column that names the group of each row, if there is a sum for each group."""
    groups: list[str]
    """The groups."""


class Columns(NamedTuple):
    """Columns of one party's rows that the other party gets with common keys."""

    of: str
    """The party that has them."""
    types: dict[str, str]
    """What they hold, by their names: ``text 24`` (at most 24 bytes), ``integer`` or ``date``."""
    duplicates: str
    """How rows with the same key are treated: ``refuse``, or ``first`` if the first counts."""


class Factors(NamedTuple):
    """The column by whose values the other party's values are multiplied."""

    of: str
    """The party that has it."""
    column: str
    """Its name in the agreement."""


class Agreement:
    """What the parties agreed on. A run starts only if all parties have the same agreement.

    Make one from the text of its file, or with `Agreement.load` or `Agreement.new`. An agreement
    never changes, and every one is valid.
    """

    __slots__ = ("_inner", "_text")

    def __init__(self, text: str) -> None:
        self._inner = _vesica.Agreement.parse(text)
        self._text = text

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Agreement:
        """Read the file of an agreement (TOML)."""
        agreement = object.__new__(Agreement)
        agreement._inner, agreement._text = _vesica.Agreement.load(os.fspath(path))
        return agreement

    @staticmethod
    @suggests_names
    def new(
        parties: Mapping[str, str | Identity | Mapping[str, Any]],
        keys: str | Iterable[str] | Mapping[str, str] = "email",
        *,
        rules: Iterable[str | Iterable[str] | Mapping[str, Any]] = (),
        show_rules: bool = False,
        never: Mapping[str, Iterable[str]] | Iterable[str] = (),
        operation: str = "intersection",
        receives: str | Iterable[str] | None = None,
        title: str = "Customers in common",
        security: str | None = None,
        protocol: str = "auto",
        max_rows: int = MAX_ROWS,
        expires: str | datetime.date | None = None,
        helper: str | Identity | Mapping[str, Any] | None = None,
        values_of: str | None = None,
        values: str | Iterable[str] | None = None,
        bits: int = 32,
        signed: bool = False,
        duplicates: str | None = None,
        by: str | None = None,
        groups: Iterable[str] | None = None,
        times: str | None = None,
        times_bits: int = 16,
        default: int = 0,
        columns: Mapping[str, str] | None = None,
        columns_of: str | None = None,
        compute: str | None = None,
        circuit: str = "garbled",
        threshold: int | None = None,
        min_matches: int | None = None,
        max_matches: int | None = None,
        hide_sizes: bool = False,
        key_bytes: int | None = None,
        partition_counts: bool = False,
        early_reveal: bool = True,
        partition_rows: int | None = None,
        max_repeats: int | None = None,
    ) -> Agreement:
        """Make an agreement, like ``vesica agree new``.

        `parties` has the public identity of each party by its name, or a mapping with ``identity``,
        ``max_rows`` and ``min_rows``. `keys` are the columns that are compared, with their profiles;
        a column named like a profile has that profile, others have ``trim``. With `rules`, rows match if
        they do under any of them: a column of the key, a list of columns, each possibly with transforms
        such as ``"surname | soundex"``, or a mapping with ``name``, ``columns`` and ``most``; with `show_rules`
        the result says under which of them each row matches. `never` are values that are refused, such as
        ``NULL`` or ``N/A``: by the column's name, or for all columns. By default the first party receives the
        result; a sum goes to the party that does not have the values; with a helper, or if the operation
        gives each party its own result, all parties receive. The default security is the strongest
        available.

        With `columns` the other party gets these columns of `columns_of` with common keys: their names,
        and what they hold, ``"text 24"`` (at most 24 bytes), ``"integer"`` or ``"date"``. By default they
        are columns of the party that does not receive the result, or if both do, of the second. Rows with
        the same key are refused, or with ``duplicates="first"`` the first counts.

        With `by` and `groups` a sum is computed for each group of rows: `by` is a column, and `groups` are
        the texts in it. Without `values` the rows of each group are counted. With ``inner-product``
        `values` are multiplied by the other party's column `times`. With ``shares`` and `compute`, such as
        ``"sum(price * units) > 1000, count()"``, the parties get what it gives over `values`, and no shares;
        `circuit` is ``garbled`` (few flights) or ``gmw`` (fewer bytes, many flights).

        >>> shop, club = Identity.generate(), Identity.generate()
        >>> deal = Agreement.new({"shop": shop, "club": club.public}, operation="cardinality")
        >>> deal.operation, [party.name for party in deal.parties]
        ('cardinality', ['club', 'shop'])
        """
        names = list(parties)
        if columns_of is not None and columns is None:
            raise SettingsError("columns_of belongs to columns", "add columns=, with their types")
        for_all = helper is not None or (_vesica.is_for_both(operation) and compute is None)
        has_values = values is not None or by is not None
        if compute is not None and not has_values:
            raise SettingsError("an expression needs values", "add values=, its columns")
        if not has_values and (groups is not None or times is not None):
            raise SettingsError(
                "groups and times belong to values",
                "add by= to count rows of groups, or values=",
            )
        if has_values and values_of is None and names:
            values_of = names[0]
        if receives is None and names:
            # The party with the values already knows them.
            is_figure = operation in FIGURES_OF_VALUES or compute is not None
            holder = values_of if is_figure else columns_of
            others = [name for name in names if name != holder]
            receives = "all" if for_all else (others or names)[0]
        if security is None:
            bounded = min_matches is not None or max_matches is not None
            security = _vesica.strongest(operation, bounded, helper is not None, protocol)
        top: dict[str, Any] = {
            "version": 2,
            "title": title,
            "operation": operation,
            "receives": receives,
            "security": security,
            "protocol": protocol,
            "expires": day(expires),
            "threshold": threshold,
            "min_matches": min_matches,
            "max_matches": max_matches,
            "hide_sizes": hide_sizes or None,
            "partition_counts": partition_counts or None,
            "early_reveal": None if early_reveal else False,
            "partition_rows": partition_rows,
            "max_repeats": max_repeats,
            "show_rules": show_rules or None,
        }
        parts = [fields(top)]
        if key_bytes is not None:
            parts.append(section("union", {"key_bytes": key_bytes}))
        if has_values:
            value_columns = [values] if isinstance(values, str) else list(values or [])
            shared = operation == "shared-values"
            terms = {
                "of": values_of,
                "columns": value_columns or None,
                "by": by,
                "groups": None if groups is None else list(groups),
                "bits": bits,
                "signed": signed or None,
                "duplicates": duplicates or "sum",
                "default": default if shared else None,
                "compute": compute,
                "circuit": None if compute is None else circuit,
            }
            if times is not None:
                terms |= {"times": times, "times_bits": times_bits}
            table = {"sum": "sum", "inner-product": "product"}.get(operation, "shares")
            parts.append(section(table, terms))
        if helper is not None:
            terms = {"name": "helper", **one_party(helper)}
            parts.append(section("helper", terms))
        columns_of_key = list(named_keys(keys))
        excluded = excluded_of([name for name, _ in columns_of_key], never)
        for name, profile in columns_of_key:
            terms = {"name": name, "profile": profile, "never": excluded.get(name)}
            parts.append("[[key]]\n" + fields(terms))
        parts.extend("[[rule]]\n" + fields(one_rule(rule)) for rule in rules)
        if columns is not None:
            if columns_of is None and len(names) > 1:
                receivers = [receives] if isinstance(receives, str) else list(receives or [])
                columns_of = names[0] if receivers == [names[1]] else names[1]
            terms = {
                "of": columns_of,
                "names": list(columns),
                "types": list(columns.values()),
                "duplicates": duplicates,
            }
            parts.append("[[columns]]\n" + fields(terms))
        for name, party in parties.items():
            terms = {"max_rows": max_rows, **one_party(party)}
            parts.append(section(f"party.{quoted(name)}", terms))
        return Agreement("\n".join(parts))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the file of the agreement. An existing file is replaced only with `force`."""
        try:
            with open(path, "w" if force else "x", encoding="utf-8") as file:
                file.write(self._text)
        except FileExistsError:
            raise SettingsError(
                f"{os.fspath(path)} exists", "add force=True to replace it"
            ) from None
        except OSError as error:
            raise unwritable(SettingsError, path, error) from None

    @property
    def text(self) -> str:
        """The text of its file."""
        return self._text

    @property
    def hash(self) -> str:
        """Identifies this agreement: parties with the same hash have agreed on the same terms."""
        return self._inner.hash

    @property
    def title(self) -> str:
        """Its title, for readers."""
        return self._inner.title

    @property
    def operation(self) -> str:
        """What is computed: ``intersection``, ``cardinality``, ``sum``, ..."""
        return self._inner.operation

    @property
    def compute(self) -> str | None:
        """The expression that is computed on shares, if there is one."""
        return self._inner.compute

    @property
    def protocol(self) -> str:
        """The protocol, or ``auto``."""
        return self._inner.protocol

    @property
    def receives(self) -> list[str]:
        """The names of the parties that receive the result."""
        return self._inner.receives

    @property
    def rules(self) -> list[Rule]:
        """The rules; none if all columns of the key together must be equal."""
        return [Rule(*rule) for rule in self._inner.rules]

    @property
    def show_rules(self) -> bool:
        """Whether the result says under which rules a row matches."""
        return self._inner.show_rules

    @property
    def parties(self) -> list[Party]:
        """The parties, sorted by name."""
        return [Party(*party) for party in self._inner.parties]

    @property
    def keys(self) -> list[Key]:
        """The columns of the key, sorted by name."""
        return [Key(name, profile, tuple(never)) for name, profile, never in self._inner.keys]

    @property
    def values(self) -> Values | None:
        """The columns of values, if the operation uses any."""
        values = self._inner.values
        return None if values is None else Values(*values)

    @property
    def columns(self) -> Columns | None:
        """The columns of one party that the other gets, if there are any."""
        columns = self._inner.columns
        return None if columns is None else Columns(columns[0], dict(columns[1]), columns[2])

    @property
    def factors(self) -> Factors | None:
        """The column by whose values the other party's `values` are multiplied, in an inner product."""
        factors = self._inner.factors
        return None if factors is None else Factors(*factors)

    @property
    def helper(self) -> str | None:
        """The name of the helper, if there is one."""
        helper = self._inner.helper
        return None if helper is None else helper[0]

    @property
    def expires(self) -> datetime.date | None:
        """The last day on which it may be used, in UTC."""
        day = self._inner.expires
        return None if day is None else datetime.date.fromisoformat(day)

    @property
    def partition_rows(self) -> int:
        """The most rows of a partition of a large set, on average."""
        return self._inner.partition_rows

    def party_of(self, key: Identity | str) -> str | None:
        """The name of the party with this key or public identity."""
        return self._inner.party_of(key.public if isinstance(key, Identity) else key)

    def explain(self, *, full: bool = False) -> Explanation:
        """Explain in plain words who learns what, what is assumed, what it costs, and what is not protected.

        On one screen, for the people who sign; `full` leaves nothing out, for a security review.
        """
        return Explanation(self._inner.explain(), full=full)

    def check(self) -> None:
        """Raise `SettingsError` if it cannot run any more: every agreement is valid, but may expire."""
        if self._inner.is_expired:
            raise SettingsError(
                f"the agreement expired on {self._inner.expires}",
                "make a new one with a later last day, with all parties",
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Agreement) and other.hash == self.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __reduce__(self) -> tuple[type[Agreement], tuple[str]]:
        return Agreement, (self._text,)

    def __repr__(self) -> str:
        return f"<Agreement {self.title!r}: {self.operation}, hash {self.hash[:16]}>"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("computes", f"{self.operation}, received by {', '.join(self.receives)}"),
            ("key", ", ".join(f"{key.name} ({key.profile})" for key in self.keys)),
            *(("rule", ", ".join(rule.columns)) for rule in self.rules),
            *((party.name, party.identity) for party in self.parties),
        ]
        if self.values is not None:
            columns = ", ".join(self.values.columns) or "rows"
            more = "" if self.values.by is None else f" by {self.values.by}"
            if self.factors is not None:
                more += f", times {self.factors.column} of {self.factors.of}"
            rows.insert(2, ("values", f"{columns} of {self.values.of}{more}"))
        if self.helper is not None:
            rows.append(("helper", self.helper))
        if self.expires is not None:
            rows.append(("last day", self.expires))
        rows.append(("hash", self.hash))
        return table(self.title, rows)


class Explanation(str):
    """What an agreement means, in plain words: a text; in a notebook with headings."""

    data: dict[str, Any]
    """Title, hash, summary and sections, as ``vesica explain --json`` prints them."""

    full: bool
    """Whether the text has all sections, not only the summary."""

    _title: str
    #: The sections of the text: the title and the points of each.
    _parts: list[tuple[str, list[str]]]

    def __new__(cls, told: _vesica.Explanation, *, full: bool) -> Explanation:
        explanation = super().__new__(cls, told.full() if full else told.screen())
        explanation.data = told.data()
        explanation.full = full
        explanation._title = told.title
        explanation._parts = told.sections if full else told.summary
        return explanation

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        parts = [f"<h3>{escape(self._title)}</h3>"]
        for title, points in self._parts:
            listed = "".join(f"<li>{escape(point)}</li>" for point in points)
            if listed:
                parts.append(f"<h4>{escape(title)}</h4><ul>{listed}</ul>")
        return "".join(parts)


def named_keys(keys: str | Iterable[str] | Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """The columns of a key with their profiles."""
    if isinstance(keys, Mapping):
        return keys.items()
    names = [keys] if isinstance(keys, str) else keys
    return [(name, name if name in NAMED_PROFILES else "trim") for name in names]


def one_rule(rule: str | Iterable[str] | Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a rule; its name follows from its columns unless it is given."""
    if isinstance(rule, Mapping):
        return dict(rule)
    columns = [rule] if isinstance(rule, str) else list(rule)
    return {"name": " and ".join(columns), "columns": columns}


def excluded_of(
    names: list[str], never: Mapping[str, Iterable[str]] | Iterable[str]
) -> dict[str, list[str]]:
    """The values that are excluded from each column of a key."""
    if isinstance(never, str):
        raise SettingsError("never is a list of values", 'write never=["NULL"] for one')
    if not isinstance(never, Mapping):
        excluded = list(never)
        return dict.fromkeys(names, excluded) if excluded else {}
    for name, values in never.items():
        if name not in names:
            raise SettingsError(
                f"never names {name!r}, which is not a column of the key",
                f"the columns are {', '.join(names)}",
            )
        if isinstance(values, str):
            raise SettingsError("never has lists of values", f'write never={{"{name}": ["NULL"]}}')
    return {name: list(values) for name, values in never.items()}


def one_party(party: str | Identity | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(party, Mapping):
        terms = dict(party)
    else:
        terms = {"identity": party}
    identity = terms.get("identity")
    if isinstance(identity, Identity):
        terms["identity"] = identity.public
    return terms


def section(name: str, terms: Mapping[str, Any]) -> str:
    return f"[{name}]\n" + fields(terms)


def fields(terms: Mapping[str, Any]) -> str:
    """Lines of TOML; a field that is None is left out."""
    return "".join(f"{name} = {value(it)}\n" for name, it in terms.items() if it is not None)


def value(it: Any) -> str:
    if isinstance(it, bool):
        return "true" if it else "false"
    if isinstance(it, (int, datetime.date)):
        return str(it)
    if isinstance(it, str):
        return quoted(it)
    return "[" + ", ".join(quoted(str(one)) for one in it) + "]"


def day(given: str | datetime.date | None) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        raise SettingsError("the last day is not a date", 'write expires="2027-06-30"') from None


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
