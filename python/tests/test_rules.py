"""Rows that match under any of several rules, from Python."""

from __future__ import annotations

import pandas as pd
import pytest
import vesica as v
from support import deal, pair

KEYS = {"email": "email", "name": "person-name", "born": "date"}
RULES = [
    "email",
    ["name | soundex", "born"],
    {"name": "typo", "columns": ["name", "born | replace-one"], "most": 10},
]


def test_rows_match_under_any_rule() -> None:
    agreement = deal(keys=KEYS, rules=RULES, receives="all")
    assert [(rule.name, rule.columns, rule.most) for rule in agreement.rules] == [
        ("email", ["email"], 1),
        ("name | soundex and born", ["born", "name | soundex"], 1),
        ("typo", ["born | replace-one", "name"], 10),
    ]
    shop = pd.DataFrame(
        {
            "email": ["ann@x.org", None, None, "dan@x.org", None],
            "name": ["Ann", "Robert", "Eve", "Dan", "Zoe"],
            "born": ["1980-01-02", "1990-05-06", "1970-07-08", "1960-09-10", "1950-11-12"],
        }
    )
    club = pd.DataFrame(
        {
            "born": ["1999-09-09", "1990-05-06", "1971-07-08", "1960-09-10"],
            "name": ["Anna", "Rupert", "Eve", "Bob"],
            "email": ["ANN@x.org", "bob@x.org", "eve@x.org", ""],
        }
    )
    of_shop, of_club = pair(agreement, shop, club)
    assert list(of_shop.rows()["name"]) == ["Ann", "Robert", "Eve"]
    assert list(of_club.rows()["name"]) == ["Anna", "Rupert", "Eve"]
    assert not agreement.show_rules and of_shop.matched_rules is None
    agreement = deal(keys=KEYS, rules=RULES, receives="all", show_rules=True)
    of_shop, of_club = pair(agreement, shop, club)
    assert agreement.show_rules and v.Agreement(agreement.text).show_rules
    assert list(of_shop.rows()["name"]) == ["Ann", "Robert", "Eve"]
    sound = "name | soundex and born"
    told = [
        [rule if isinstance(rule, str) else None for rule in of.matched_rules]
        for of in (of_shop, of_club)
    ]
    assert told == [["email", sound, "typo", None, None], ["email", sound, "typo", None]]


def test_rules_are_shown_only_where_there_are_some() -> None:
    with pytest.raises(v.SettingsError, match="show_rules"):
        deal(keys=KEYS, show_rules=True)


def test_rules_of_unknown_columns_and_without_a_number_of_keys_are_refused() -> None:
    with pytest.raises(v.SettingsError, match="mail"):
        deal(keys=KEYS, rules=["mail", "name", "born", "email"])
    with pytest.raises(v.SettingsError, match="most"):
        deal(keys=KEYS, rules=["email", "name", "born | delete-one"])
