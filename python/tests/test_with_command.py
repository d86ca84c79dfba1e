"""The package on one side, the command of the same wheel on the other: same agreement, same protocol, same results."""

from __future__ import annotations

import json
import pathlib
import socket
import subprocess
import sys
from typing import Any

import pytest
import vesica as v

COMMAND = pathlib.Path(sys.executable).with_name("vesica")
OWN = [f"user{n}@example.org" for n in range(300)]
THEIRS = [f"User{n}@Example.org" for n in range(250, 1000)]


def free_address() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def scene(folder: pathlib.Path, receives: str) -> v.Agreement:
    """The files of both sides."""
    keys = {name: v.Identity.generate(folder / f"{name}.key") for name in ("shop", "club")}
    agreement = v.Agreement.new(keys, receives=receives, max_rows=1000)
    agreement.save(folder / "agreement.toml")
    for name, rows in (("shop", OWN), ("club", THEIRS)):
        lines = "".join(f"{mail},{at}\n" for at, mail in enumerate(rows))
        (folder / f"{name}.csv").write_text(f"email,at\n{lines}")
    return agreement


def command(folder: pathlib.Path, name: str, *options: str) -> subprocess.Popen[str]:
    parts = [COMMAND, "run", "agreement.toml", "--key", f"{name}.key", "--input", f"{name}.csv"]
    parts += ["--report", f"{name}.json", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([str(part) for part in parts], cwd=folder, **pipes)


def end(process: subprocess.Popen[str]) -> str:
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    return out


@pytest.mark.parametrize("receives", ["shop", "club", "all"])
def test_both_find_the_same_rows(tmp_path: pathlib.Path, receives: str) -> None:
    scene(tmp_path, receives)
    address = free_address()
    output = ["--output", "club.out.csv"] if receives in ("club", "all") else []
    there = command(tmp_path, "club", "--connect", address, *output)
    result = v.run(
        tmp_path / "agreement.toml",
        tmp_path / "shop.csv",
        key=tmp_path / "shop.key",
        listen=address,
    )
    end(there)
    report = json.loads((tmp_path / "club.json").read_text())
    assert report["agreement"]["hash"] == result.agreement.hash
    if receives in ("shop", "all"):
        assert result.count == 50
        assert result.positions.to_list() == list(range(250, 300))
        result.write(tmp_path / "shop.out.csv")
        lines = (tmp_path / "shop.out.csv").read_text().splitlines()
        assert lines == ["email,at", *(f"{OWN[at]},{at}" for at in range(250, 300))]
    else:
        assert (result.kind, result.count, result.rows()) == ("nothing", None, None)
    if output:
        lines = (tmp_path / "club.out.csv").read_text().splitlines()
        assert lines[1:] == [f"{THEIRS[at]},{at}" for at in range(50)]


def fields(document: object) -> object:
    """The names in a document, in their order, without the values."""
    if isinstance(document, dict):
        return [(name, fields(value)) for name, value in document.items()]
    # All elements of a list have the same.
    return [fields(one) for one in document[:1]] if isinstance(document, list) else None


def test_what_the_command_prints_as_json_is_a_dict_here(tmp_path: pathlib.Path) -> None:
    agreement = scene(tmp_path, "all")
    agreed, data = tmp_path / "agreement.toml", tmp_path / "shop.csv"
    key, address = tmp_path / "shop.key", free_address()
    there = command(tmp_path, "club", "--connect", address, "--output", "club.out.csv")
    report = v.run(agreed, data, key=key, listen=address).report
    end(there)
    assert fields(report) == fields(json.loads((tmp_path / "club.json").read_text()))

    def printed(*parts: str) -> dict[str, Any]:
        whole = [COMMAND, *parts, "--json"]
        return json.loads(subprocess.run(whole, cwd=tmp_path, capture_output=True).stdout)

    explained = agreement.explain().data
    assert explained == printed("explain", "agreement.toml")
    checked = v.check(agreement, data, key=key).data
    theirs = printed("check", "agreement.toml", "--key", "shop.key", "--input", "shop.csv")
    # The free disk space changes.
    assert {**theirs, **checked, "needs": None} == {**theirs, "needs": None}
    assert fields(checked["needs"]) == fields(theirs["needs"])
    for document in (report, explained, checked):
        assert json.loads(json.dumps(document)) == document


def test_the_command_checks_the_connection_of_a_check_here(tmp_path: pathlib.Path) -> None:
    agreement = scene(tmp_path, "all")
    address = free_address()
    parts = [COMMAND, "check", "agreement.toml", "--key", "club.key", "--input", "club.csv"]
    there = subprocess.Popen(
        [str(part) for part in [*parts, "--connect", address]],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    found = v.check(agreement, tmp_path / "shop.csv", key=tmp_path / "shop.key", listen=address)
    assert "shop is connected and has the same agreement" in end(there)
    assert (found.ok, found.distinct, found.present) == (True, 300, ["club"])


def test_the_command_reads_files_of_the_package(tmp_path: pathlib.Path) -> None:
    agreement = scene(tmp_path, "all")
    show = [COMMAND, "agree", "show", "agreement.toml", "--json"]
    shown = subprocess.run(show, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout)["hash"] == agreement.hash
    version = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert v.__version__ in version.stdout


def test_another_agreement_on_the_other_side_is_shown_field_by_field(
    tmp_path: pathlib.Path,
) -> None:
    agreement = scene(tmp_path, "shop")
    text = agreement.text.replace("max_rows = 1000", "max_rows = 999", 1)
    other = v.Agreement(text)
    address = free_address()
    there = command(tmp_path, "club", "--connect", address)
    with pytest.raises(v.AgreementMismatch) as caught:
        v.run(other, tmp_path / "shop.csv", key=tmp_path / "shop.key", listen=address)
    there.communicate(timeout=60)
    assert there.returncode == 4
    [difference] = caught.value.differences
    assert difference.field.endswith("max_rows")
    assert (difference.here, difference.there) == ("999", "1000")
    assert caught.value.hint
