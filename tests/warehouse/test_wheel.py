"""The wheel holds what an installation needs, and works where nothing can be written."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = "evalake_warehouse/_shipped"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_packages_models_configs_and_the_dbt_project(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "evalake_cli/main.py",
        "evalake_ingest/records.py",
        "evalake_ingest/loaders/starter/tasks/httpx.yaml",
        "evalake_warehouse/py.typed",
        f"{SHIPPED}/models/marts/fct_task_metrics.sql",
        f"{SHIPPED}/models/marts/_marts__models.yml",
        f"{SHIPPED}/warehouse/dbt-project/dbt_project.yml",
        f"{SHIPPED}/warehouse/dbt-project/macros/relevance/spans_overlap.sql",
        f"{SHIPPED}/warehouse/dbt-project/seeds/metric_definitions.csv",
        f"{SHIPPED}/configs/sweeps/demo.yaml",
    ):
        assert name in names
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "evalake_cli",
        "evalake_ingest",
        "evalake_reports",
        "evalake_runners",
        "evalake_warehouse",
    }
    assert not [name for name in names if "/target/" in name or name.endswith((".pyc", ".duckdb"))]


@pytest.mark.dbt
def test_the_wheel_builds_a_warehouse_from_a_folder_that_is_read_only(
    wheel: Path, tmp_path: Path
) -> None:
    site, home, elsewhere = tmp_path / "site", tmp_path / "home", tmp_path / "elsewhere"
    zipfile.ZipFile(wheel).extractall(site)
    elsewhere.mkdir()
    for path in [*site.rglob("*"), site, elsewhere]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = sorted(path for path in site.rglob("*"))
    program = (
        f"import sys; sys.path.insert(0, {str(site)!r}); sys.dont_write_bytecode = True\n"
        "import evalake_warehouse; assert '/site/' in evalake_warehouse.__file__\n"
        "from evalake_cli.main import main; main()"
    )
    environment = {"EVALAKE_HOME": str(home), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    for arguments in (["build"], ["sql", "select count(*) as n from dim_runs", "--json"]):
        done = subprocess.run(
            [sys.executable, "-I", "-c", program, *arguments],
            cwd=elsewhere, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert '"n": 0' in done.stdout
    assert sorted(path for path in site.rglob("*")) == before
    assert not list(elsewhere.iterdir())
