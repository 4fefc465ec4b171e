"""Pinned packages: this installation where it agrees, else exactly the pinned wheel."""

from __future__ import annotations

import hashlib
import zipfile
from importlib import metadata, resources
from pathlib import Path

import pytest

from evalake_ingest.corpora import packages
from evalake_ingest.corpora.packages import WheelPin, read_packages, read_pins
from evalake_ingest.records import SkippedDocument
from evalake_warehouse.errors import DatasetError
from evalake_warehouse.identity import corpus_id, sha256_text

STARTER = Path(str(resources.files("evalake_ingest.loaders.starter"))) / "pins.json"
SOURCE = "def f(): pass\n"


def make_wheel(folder: Path, source: str = SOURCE) -> WheelPin:
    folder.mkdir(exist_ok=True)
    wheel = folder / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as zipped:
        zipped.writestr("toy/__init__.py", source)
        zipped.writestr("toy/data.json", "{}")
        zipped.writestr("toy-1.0.dist-info/METADATA", "Name: toy")
        zipped.writestr("toy-1.0.data/scripts/run.py", "")
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    files = corpus_id({"toy/__init__.py": sha256_text(SOURCE)})
    return WheelPin("toy", "1.0", wheel.name, sha256, files)


def test_the_wheel_gives_its_python_files_and_no_others(tmp_path: Path) -> None:
    pin = make_wheel(tmp_path / "wheels")
    left_out: list[SkippedDocument] = []
    (files,) = read_packages(
        [pin], cache=tmp_path, wheels_dir=tmp_path / "wheels", left_out=left_out
    )
    assert files == {"toy/__init__.py": SOURCE.encode()}
    assert [(entry.path, entry.status, entry.n_files) for entry in left_out] == [
        ("toy/data.json", "skipped_suffix", 1),
        ("toy-1.0.data/", "skipped_vendored", 1),
        ("toy-1.0.dist-info/", "skipped_vendored", 1),
    ]


def test_a_wheel_in_the_cache_is_used_where_nothing_is_installed(tmp_path: Path) -> None:
    pin = make_wheel(tmp_path / "wheels")
    (files,) = read_packages([pin], cache=tmp_path)
    assert list(files) == ["toy/__init__.py"]


def test_a_changed_wheel_is_refused_with_what_was_expected(tmp_path: Path) -> None:
    pin = make_wheel(tmp_path / "wheels")
    make_wheel(tmp_path / "wheels", source="changed = 1\n")
    with pytest.raises(DatasetError, match=f"expected {pin.sha256}"):
        read_packages([pin], cache=tmp_path, wheels_dir=tmp_path / "wheels")


def test_every_missing_wheel_is_named(tmp_path: Path) -> None:
    pins = [WheelPin(name, "1", f"{name}-1-py3-none-any.whl", "0") for name in ("a", "b")]
    with pytest.raises(DatasetError) as raised:
        read_packages(pins, cache=tmp_path, wheels_dir=tmp_path)
    assert [problem.what for problem in raised.value.problems] == [
        "missing; put a-1-py3-none-any.whl there", "missing; put b-1-py3-none-any.whl there",
    ]  # fmt: skip


def test_an_installed_copy_is_used_only_where_every_file_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    click = next(pin for pin in read_pins(STARTER) if pin.name == "click")
    if metadata.version("click") != click.version:
        pytest.skip("another click is installed here")
    monkeypatch.setattr(packages, "_fetch", lambda *_: packages._Package({"fetched.py": b""}, ()))
    left_out: list[SkippedDocument] = []
    (agreeing,) = read_packages([click], cache=tmp_path, left_out=left_out)
    assert "click/core.py" in agreeing
    assert {"click/py.typed", f"click-{click.version}.dist-info/"} <= {
        entry.path for entry in left_out
    }
    other = WheelPin(click.name, click.version, click.wheel, click.sha256, "0" * 64)
    (differing,) = read_packages([other], cache=tmp_path)
    assert list(differing) == ["fetched.py"]


def test_starter_pins_are_the_versions_of_the_lock() -> None:
    lock = Path(__file__).parents[2] / "requirements.txt"
    locked = dict(
        line.split(" ")[0].strip().split("==")
        for line in lock.read_text("utf-8").splitlines()
        if "==" in line and not line.startswith((" ", "#"))
    )
    pins = {pin.name: pin.version for pin in read_pins(STARTER)}
    assert {name: locked.get(name) for name in pins} == pins


def test_a_wheel_of_another_platform_is_asked_for_by_its_tags() -> None:
    flags = packages._platform_flags(
        "numpy-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    )
    assert flags == [
        "--platform", "manylinux_2_17_x86_64", "--platform", "manylinux2014_x86_64",
        "--python-version", "3.11", "--implementation", "cp",
    ]  # fmt: skip
    assert packages._platform_flags("toy-1.0-py3-none-any.whl") == []
