"""Every problem of a file is found at once, with its line and what would be right."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from toy import Sweep, evalake, rows

from evalake_runners.sweeps.depths import shallow
from evalake_runners.sweeps.sweep_file import load_sweep
from evalake_runners.sweeps.system_file import load_system
from evalake_warehouse.errors import ConfigError, UsageError
from evalake_warehouse.project import Project

WRONG = """\
name: wrong
systms: [bm25]
datasets:
  - {dataset: toy, splt: dev}
  - {dataset: [1], split: tset}
baseline: bm26
limits:
  timeout_s: -1
  jbs: 3
arms:
  - {system: bm25, config: {kk1: 2, b: 3}}
  - use: systems/ripgerp.yaml
  - system: rigprep
  - use: systems/bm25.yaml
    config:
      window_lines: 0
  - {system: pydocs-mcp, config: {pipeline: pipelines/nope.yaml}}
  - {label: nothing}
  - {system: bm25, use: systems/bm25.yaml}
"""


def test_all_problems_of_a_sweep_are_reported_at_once(toy: Project, tmp_path: Path) -> None:
    sweep = Sweep(tmp_path, WRONG)
    ended = evalake(toy, "run", "sweep.yaml", cwd=tmp_path)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.splitlines() == [
        "error: sweep.yaml:2: `systms`: unknown key; there are: arms, baseline, datasets, depth, "
        "family, limits, name, primary_metric, repeats, seed",
        "error: sweep.yaml:4: `datasets[0].splt`: unknown key; did you mean `split`?",
        "error: sweep.yaml:5: `datasets[1].dataset`: Input should be a valid string",
        "error: sweep.yaml:5: `datasets[1].split`: Input should be 'dev', 'test', 'small_dev', "
        "'small_test' or 'all'",
        "error: sweep.yaml:6: `baseline`: no arm that could be read has this label; did you mean "
        "`bm25`?",
        "error: sweep.yaml:8: `limits.timeout_s`: Input should be greater than 0",
        "error: sweep.yaml:9: `limits.jbs`: unknown key; did you mean `jobs`?",
        "error: sweep.yaml:11: `arms[0].config.b`: Input should be less than or equal to 1",
        "error: sweep.yaml:11: `arms[0].config.kk1`: unknown key; did you mean `k1`?",
        "error: sweep.yaml:12: `arms[1].use`: no such file: systems/ripgerp.yaml; "
        "did you mean `systems/ripgrep.yaml`?",
        "error: sweep.yaml:13: `arms[2].system`: unknown system `rigprep`; did you mean `ripgrep`?",
        "error: sweep.yaml:14: `arms[3]`: label `bm25` is that of arm 1 too; set `label`",
        "error: sweep.yaml:16: `arms[3].config.window_lines`: Input should be greater than or "
        "equal to 1",
        "error: sweep.yaml:17: `arms[4].config`: pipelines/nope.yaml: no such file or folder; "
        f"looked in {tmp_path}, {toy.configs}",
        "error: sweep.yaml:18: `arms[5]`: an arm needs `system` or `use`",
        "error: sweep.yaml:19: `arms[6].system`: give `use` or `system`, not both",
        "",
        "hint: evalake config schema",
    ]
    assert rows(toy, "runs") == []
    assert sweep.path.read_text() == WRONG


def test_an_arm_with_a_wrong_key_is_checked_further(toy: Project, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("system: bm25\nlabel: a\ndpeth: 3\nconfig: {kk1: 2}\n")
    arms = [
        "{use: mine.yaml, lable: b, config: {bb: 1}}",
        "{system: bm25, label: a, depth: 0}",
        "{system: bm25, label: 'a b', config: []}",
    ]
    with pytest.raises(ConfigError) as caught:
        load_sweep(Sweep(tmp_path, _sweep(", ".join(arms)) + "baseline: c\n").path, toy)
    found = [(Path(p.where).name, p.what.split(" (letters")[0]) for p in caught.value.problems]
    assert found == [
        ("mine.yaml:3", "`dpeth`: unknown key; did you mean `depth`?"),
        ("mine.yaml:4", "`config.kk1`: unknown key; did you mean `k1`?"),
        ("sweep.yaml:3", "`arms[0].lable`: unknown key; did you mean `label`?"),
        ("sweep.yaml:3", "`arms[1].depth`: Input should be greater than or equal to 1"),
        (
            "sweep.yaml:3",
            "`arms[2].label`: String should match pattern '^[A-Za-z0-9][A-Za-z0-9._+@-]{0,79}$'",
        ),
        ("sweep.yaml:3", "`arms[2].config`: a mapping of keys is wanted here"),
        ("sweep.yaml:3", "`arms[0].config.bb`: unknown key; did you mean `b`?"),
        ("sweep.yaml:3", "`arms[1]`: label `a` is that of arm 1 too; set `label`"),
        ("sweep.yaml:4", "`baseline`: no arm has this label; there are: a, a b"),
    ]


def test_a_file_whose_required_keys_are_missing_still_has_its_arms_checked(
    toy: Project, tmp_path: Path
) -> None:
    text = "family: one\narms:\n- {system: bm25, config: {kk1: 2}}\nbaseline: bm26\n"
    with pytest.raises(ConfigError) as caught:
        load_sweep(Sweep(tmp_path, text).path, toy)
    assert [problem.what for problem in caught.value.problems] == [
        "`name`: Field required",
        "`datasets`: Field required",
        "`arms[0].config.kk1`: unknown key; did you mean `k1`?",
        "`baseline`: no arm has this label; did you mean `bm25`?",
    ]


def test_a_primary_metric_that_does_not_exist_is_refused(toy: Project, tmp_path: Path) -> None:
    sweep = _sweep("{system: bm25}") + "primary_metric: "
    load_sweep(Sweep(tmp_path, sweep + "recall@5:symbol\n").path, toy)
    with pytest.raises(ConfigError, match=r":4: `primary_metric`: no metric `recal@5`; did you"):
        load_sweep(Sweep(tmp_path, sweep + "recal@5\n").path, toy)


def test_a_system_file_with_a_wrong_key_has_its_configuration_checked_too(
    toy: Project, tmp_path: Path
) -> None:
    (tmp_path / "mine.yaml").write_text("system: bm25\ndpeth: 3\nconfig:\n  kk1: 2\n")
    ended = evalake(toy, "config", "check", "mine.yaml", cwd=tmp_path)
    assert ended.code == 2
    assert ended.err.splitlines()[:2] == [
        "error: mine.yaml:2: `dpeth`: unknown key; did you mean `depth`?",
        "error: mine.yaml:4: `config.kk1`: unknown key; did you mean `k1`?",
    ]


def test_a_problem_in_a_used_file_names_that_file(toy: Project, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("system: bm25\nconfig:\n  k1: 1\n  metod: lucene\n")
    with pytest.raises(ConfigError) as caught:
        load_sweep(Sweep(tmp_path, _sweep("{use: mine.yaml, config: {k1: -1}}")).path, toy)
    where = [(Path(p.where).name, p.what) for p in caught.value.problems]
    assert where == [
        ("mine.yaml:4", "`config.metod`: unknown key; did you mean `method`?"),
        ("sweep.yaml:3", "`arms[0].config.k1`: Input should be greater than or equal to 0"),
    ]


def test_the_keys_of_a_sweep_go_over_those_of_a_used_file(toy: Project, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "{system: bm25, label: mine, depth: 7, config: {k1: 1, b: 0}}"
    )
    sweep = Sweep(tmp_path, _sweep("{use: mine.yaml, config: {k1: 2}, depth: 9}"))
    (arm,) = load_sweep(sweep.path, toy).arms
    assert (arm.label, arm.depth) == ("mine", 9)
    assert arm.config == {"k1": 2, "b": 0}


def test_two_arms_of_one_label_and_a_baseline_that_is_no_arm_are_refused(
    toy: Project, tmp_path: Path
) -> None:
    text = _sweep("{system: bm25}, {system: bm25, config: {k1: 2}}") + "baseline: bm52\n"
    with pytest.raises(ConfigError) as caught:
        load_sweep(Sweep(tmp_path, text).path, toy)
    assert [problem.what for problem in caught.value.problems] == [
        "`arms[1]`: label `bm25` is that of arm 1 too; set `label`",
        "`baseline`: no arm has this label; did you mean `bm25`?",
    ]


# 10^9 values in 282 bytes.
BOMB = b"a: &a [x, x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (name, name, b", ".join([b"*%c" % (name - 1)] * 10)) for name in b"bcdefghi"
)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"name: [1\n", "not YAML"),
        (b"name: a\nname: b\n", "found duplicate key `name`"),
        (b"name: \xff\n", "not UTF-8"),
        (b"", "a mapping of keys is wanted here"),
        (b"- a\n", "a mapping of keys is wanted here"),
        (b"name: !!python/object:os.system x\n", "Field required"),
        (b"a: &a [*a]\n", "unknown key"),
        (b"[" * 300, "nested deeper than 40 levels"),
        (b"- " * 20_000, "nested deeper than 40 levels"),
        (b"[" * 20_000, "not YAML"),
        (BOMB, "its aliases make it longer or deeper than allowed"),
        (b"name: a\narms: [{system: bm25, config: {k1: .inf}}]", "inf is no finite number"),
        (b"name: a\narms: [{system: bm25, config: {k1: 1e999}}]", "inf is no finite number"),
        (b'name: a\narms: [{system: bm25, corpus_dir: "a\\0b"}]', "has a NUL character"),
        (b'name: "\\ud800"', "not YAML: "),
        (b"name: 2024-01-01", "`name`: a date; write it in quotes"),
        (b"name: !!binary aGk=", "`name`: a value of a kind that no configuration has"),
        (b"1: a", "the key 1 is no text; write it in quotes"),
        (b"depth: true", "`depth`: a number is wanted here, not true"),
        (b"limits: {jobs: true}", "`limits.jobs`: a number is wanted here, not true"),
        (b"datasets: [{dataset: d, edition: ''}]", "should have at least 1 character"),
        (b"datasets: [{dataset: d}, {dataset: d}]", "the same tasks as `datasets[0]`"),
        (b"arms: [{system: bm25, corpus_dir: ~nobody-7c1f/x}]", "no user `nobody-7c1f` here"),
    ],
)
def test_a_file_that_is_no_sweep_is_refused_with_its_line(
    toy: Project, tmp_path: Path, content: bytes, what: str
) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_sweep(file, toy)
    assert any(what in str(problem) for problem in caught.value.problems)
    assert all(problem.where.startswith(str(file)) for problem in caught.value.problems)


def test_a_missing_file_is_named_with_the_nearest_one(toy: Project, tmp_path: Path) -> None:
    Sweep(tmp_path, _sweep("{system: bm25}"))
    with pytest.raises(
        ConfigError, match=r"swep\.yaml: no such file; did you mean `sweep\.yaml`\?"
    ):
        load_sweep(tmp_path / "swep.yaml", toy)


def test_a_system_is_named_by_adapter_or_by_shipped_file(toy: Project) -> None:
    assert load_system("bm25", None, toy, depth=3, label="x").label == "x"
    assert load_system("pydocs-lexical", None, toy, depth=None, label=None).adapter == "pydocs-mcp"
    with pytest.raises(UsageError, match="unknown system `bm52`; did you mean `bm25`"):
        load_system("bm52", None, toy, depth=None, label=None)


def test_a_system_whose_package_is_missing_is_a_problem_of_its_arm(
    toy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("evalake_runners.adapters.ripgrep.version", missing)
    with pytest.raises(
        ConfigError, match=r"sweep\.yaml:3: `arms\[0\]`: system `ripgrep` cannot be"
    ):
        load_sweep(Sweep(tmp_path, _sweep("{system: ripgrep}")).path, toy)


@pytest.mark.parametrize("name", ["demo", "swe-qa", "repoqa"])
def test_every_shipped_sweep_is_right(toy: Project, name: str) -> None:
    loaded = load_sweep(toy.configs / "sweeps" / f"{name}.yaml", toy)
    assert [arm.role for arm in loaded.arms].count("baseline") == 1


def test_a_dataset_that_nobody_knows_is_a_problem_of_the_sweep(
    toy: Project, tmp_path: Path
) -> None:
    text = (
        "name: one\ndatasets:\n- {dataset: toy}\n- {dataset: tooy}\n"
        "- {dataset: startr, splt: dev}\narms: [{system: bm25}]\n"
    )
    file = Sweep(tmp_path, text.replace(", splt: dev", "")).path
    wrong = [
        "error: sweep.yaml:4: `datasets[1].dataset`: no dataset `tooy` in the lake; "
        "did you mean `toy`?",
        "error: sweep.yaml:5: `datasets[2].dataset`: no dataset `startr` in the lake; "
        "did you mean `starter`?",
    ]
    hint = "hint: evalake datasets show toy && evalake ingest starter"
    for command in (("config", "check"), ("plan",)):
        ended = evalake(toy, *command, file.name, cwd=tmp_path)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.splitlines() == [*wrong, "", hint]
    Sweep(tmp_path, text)  # with something else wrong, it is told beside that
    ended = evalake(toy, "config", "check", file.name, cwd=tmp_path)
    unknown = "error: sweep.yaml:5: `datasets[2].splt`: unknown key; did you mean `split`?"
    assert sorted(ended.err.splitlines()) == sorted(
        [*wrong, unknown, "", "hint: evalake config schema"]
    )


def test_a_dataset_that_can_be_ingested_and_was_not_is_told_by_config_check(
    toy: Project, tmp_path: Path
) -> None:
    file = Sweep(tmp_path, "name: one\ndatasets: [{dataset: toy}, {dataset: starter}]\n"
                 "arms: [{system: bm25}]\n").path  # fmt: skip
    ended = evalake(toy, "config", "check", file.name, cwd=tmp_path)
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.splitlines() == [
        "sweep.yaml: ok, bm25", "not ingested here, so it cannot run yet: starter", "",
        "hint: evalake ingest starter",
    ]  # fmt: skip
    ended = evalake(toy, "config", "check", file.name, "--json", cwd=tmp_path)
    assert json.loads(ended.out) == {
        "file": "sweep.yaml", "arms": ["bm25"], "not_ingested": ["starter"], "warnings": [],
    }  # fmt: skip


def _sweep(arms: str) -> str:
    return f"name: one\ndatasets: [{{dataset: toy}}]\narms: [{arms}]\n"


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("latest", "means the run that was recorded last"),
        ("0199aa3c", "would be read as the beginning of a run id"),
        ("frozen.json", "would be read as the path of a frozen baseline"),
    ],
)
def test_a_label_that_means_something_else_is_refused_in_sweeps_and_on_the_command_line(
    label: str, told: str, tmp_path: Path, toy: Project
) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(
        "name: s\ndatasets: [{dataset: starter}]\n"
        f"arms:\n  - {{system: bm25, label: '{label}'}}\nbaseline: '{label}'\n"
    )
    with pytest.raises(ConfigError) as in_file:
        load_sweep(path, toy)
    assert [(p.where, p.what) for p in in_file.value.problems] == [
        (f"{path}:4", f"`arms[0].label`: label {label!r} {told}"),
        (f"{path}:5", f"`baseline`: label {label!r} {told}"),
    ]
    with pytest.raises(UsageError, match=told):
        load_system("bm25", None, toy, label=label)


def test_a_depth_that_is_small_for_the_metric_is_told_before_anything_runs(
    toy: Project, tmp_path: Path
) -> None:
    arms = [
        "{system: bm25, label: shallow, depth: 29}",
        "{system: bm25, label: enough, depth: 30}",
        "{system: bm25, label: cut, depth: 9}",
        "{system: bm25, label: text, blob_bytes: 100}",
    ]
    file = tmp_path / "sweep.yaml"
    listed = "".join(f"  - {arm}\n" for arm in arms)
    file.write_text(
        f"name: s\ndatasets: [{{dataset: toy}}]\nprimary_metric: recall@10:file\narms:\n{listed}"
    )
    shallow = (
        "shallow on toy: depth 29 is less than 3 x the cutoff of recall@10:file, so that lists run "
        "out of distinct files before it; ask for depth 50"
    )
    cut = (
        "cut on toy: depth 9 is below the cutoff of recall@10:file, which is not scored; ask for "
        "depth 50"
    )
    ended = evalake(toy, "config", "check", file.name, cwd=tmp_path)
    assert ended.code == 0
    assert [line for line in ended.err.splitlines() if line.startswith("warning")] == [
        f"warning: {shallow}",
        f"warning: {cut}",
    ]
    ended = evalake(toy, "config", "check", file.name, "--json", cwd=tmp_path)
    assert json.loads(ended.out)["warnings"] == [shallow, cut]
    ended = evalake(toy, "plan", file.name, cwd=tmp_path)
    assert f"warning: {shallow}\n" in ended.err


@pytest.mark.parametrize(
    ("metric", "level", "depth", "is_told"),
    [
        ("recall@10", "file", 29, True),
        ("recall@10", "file", 30, False),
        ("recall@10", "doc", 10, False),  # every hit is one document
        ("recall@10", "doc", 9, True),
        ("recall@10:symbol", "file", 10, False),
        ("mrr", "file", 1, False),
    ],
)
def test_only_files_need_more_hits_than_the_cutoff(
    metric: str, level: str, depth: int, is_told: bool, toy: Project
) -> None:
    arm = load_system("bm25", None, toy, depth=depth)
    assert (shallow(arm, metric, level) is not None) == is_told
