"""Which runs must be judged again: those whose input hash is not the one the warehouse has.

A run's input is its files, the files of the edition that judges it, the text scorer, the relevance
rules, the build's variables and the checksums of all SQL. Everything else leaves its rows alone. A
frozen baseline is no run's input: one that came, went or changed touches comparisons with it alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evalake_warehouse.build.settings import RELEVANCE_RULES, BuildSettings
from evalake_warehouse.identity import canonical_json, content_hash
from evalake_warehouse.lake.judgements import Judges, read_asked
from evalake_warehouse.lake.reader import LakeFile, LakeListing, files_hash
from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.project import Project
from evalake_warehouse.relevance.text_scores import SCORER, SCORER_VERSION

if TYPE_CHECKING:
    from evalake_warehouse.questions.baseline import Baseline

Place = tuple[str, str, str]  # dataset, edition, split

_CODE_SUFFIXES = {".sql", ".py", ".csv"}


@dataclass(frozen=True, slots=True)
class RunState:
    """What the warehouse knows of a run: a row of `int_build_state`."""

    run_id: str
    dataset: str
    edition: str  # that judges it
    query_variant: str
    n_tasks: int  # that the edition judges of it
    other_editions_json: str  # that can judge it too: tasks per edition
    files_hash: str
    editions_hash: str  # of the editions that it was chosen from
    input_hash: str


@dataclass(frozen=True, slots=True)
class Member:
    """A run's place in a family."""

    run_id: str
    family: str
    role: str


@dataclass(frozen=True, slots=True)
class WarehouseState:
    """What a built warehouse was made from; all empty for none."""

    runs: Mapping[str, RunState] = field(default_factory=dict)
    members: frozenset[Member] = frozenset()
    datasets_hash: str | None = None
    code_hash: str | None = None
    baselines: frozenset[tuple[str, str | None, Place]] = frozenset()  # id, file, place


@dataclass(frozen=True, slots=True)
class Changes:
    """What a build has to do."""

    states: tuple[RunState, ...]  # of every run in the lake
    changed: tuple[RunState, ...]  # those to judge
    vanished: tuple[str, ...]  # run ids that the warehouse has and the lake has not
    stale: tuple[str, ...]  # run ids that the warehouse has rows of, which are no longer true
    datasets_hash: str  # of all files that belong to no run
    code_hash: str
    is_fresh_start: bool  # nothing of the old warehouse can be kept
    is_needed: bool  # there is anything to do
    judges: Judges
    baselines: tuple[Baseline, ...] = ()  # all frozen ones
    new_baselines: frozenset[str] = frozenset()  # ids of those that came, changed or were renamed
    baseline_places: frozenset[Place] = frozenset()  # where one came, went or changed
    had_baselines: bool = False  # the old warehouse has rows of frozen baselines

    @property
    def run_ids(self) -> list[str]:
        """Ids whose rows are replaced or removed."""
        return sorted([state.run_id for state in self.changed] + list(self.vanished))


def find_changes(
    project: Project,
    listing: LakeListing,
    settings: BuildSettings,
    *,
    before: WarehouseState,
    baselines: Sequence[Baseline] = (),
    models: Sequence[str] = (),
    full: bool = False,
) -> Changes:
    """Compare the lake with what the current warehouse was made from.

    Args:
        baselines: all frozen ones.
        models: what the build is limited to; a warehouse of other models keeps nothing.
    """
    code = code_hash(project, settings)
    if models:
        code = content_hash([code, list(models)])
    edition_hashes = _edition_hashes(listing)
    judges = Judges(listing, settings.pinned_editions())
    states = []
    for run_id, files in sorted(listing.by_run.items()):
        state = _state(judges, run_id, files, before.runs.get(run_id))
        if state is not None:  # else hits or attempts whose runs row was never written
            inputs = [
                state.files_hash,
                state.n_tasks,
                edition_hashes.get((state.dataset, state.edition)),
                code,
            ]
            states.append(replace(state, input_hash=content_hash(inputs)))
    fresh = full or before.code_hash != code
    old = {} if fresh else before.runs
    changed = tuple(
        state
        for state in states
        if state.run_id not in old or old[state.run_id].input_hash != state.input_hash
    )
    vanished = tuple(sorted(old.keys() - {state.run_id for state in states}))
    datasets_hash = content_hash(sorted(edition_hashes.values()))
    frozen = frozenset((one.run.run_id, one.file, one.place) for one in baselines)
    places = frozenset(place for *_, place in frozen ^ before.baselines)
    return Changes(
        states=tuple(states),
        changed=changed,
        vanished=vanished,
        stale=tuple(sorted(old.keys() & {*vanished, *(state.run_id for state in changed)})),
        datasets_hash=datasets_hash,
        code_hash=code,
        is_fresh_start=fresh,
        is_needed=bool(
            fresh or changed or vanished or places or datasets_hash != before.datasets_hash
        ),
        judges=judges,
        baselines=tuple(baselines),
        new_baselines=frozenset(run_id for run_id, *_ in frozen - before.baselines),
        baseline_places=places,
        had_baselines=bool(before.baselines) and not fresh,
    )


def code_hash(project: Project, settings: BuildSettings) -> str:
    """Hash of all that judges: models, macros, seeds, rules, scorer and variables."""
    digest = hashlib.sha256()
    for root in (project.models, project.dbt_project / "macros", project.dbt_project / "seeds"):
        for path in sorted(root.rglob("*")):
            if path.suffix in _CODE_SUFFIXES and path.is_file():
                digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    rules = [RELEVANCE_RULES, SCORER, SCORER_VERSION, settings.model_dump()]
    digest.update(canonical_json(rules).encode())
    return digest.hexdigest()


def _edition_hashes(listing: LakeListing) -> dict[tuple[str, str], str]:
    """One hash per dataset edition over the files named by it."""
    files: dict[tuple[str, str], list[LakeFile]] = {}
    for file in listing.files:
        if not TABLES[file.table].per_run and file.table not in _DERIVED:
            files.setdefault((file.dataset, file.owner), []).append(file)
    return {key: files_hash(group) for key, group in files.items()}


# Made by the build itself from texts of runs: what they hold follows from scorer and rules.
_DERIVED = {"text_scores", "text_fingerprints", "texts"}


def _state(
    judges: Judges, run_id: str, files: Sequence[LakeFile], known: RunState | None
) -> RunState | None:
    """A run and the edition that judges it, chosen anew only where something may have changed."""
    found_hash = files_hash(files)
    if known is not None and known.files_hash == found_hash:
        editions_hash = content_hash(judges.editions_key(known.dataset))
        if known.editions_hash == editions_hash:
            return known
    asked = read_asked(files)
    if asked is None:
        return None
    judgement, *others = judges.all(asked)
    return RunState(
        run_id=run_id,
        dataset=asked.dataset,
        edition=judgement.edition,
        query_variant=asked.query_variant,
        n_tasks=judgement.n_tasks,
        other_editions_json=canonical_json({other.edition: other.n_tasks for other in others}),
        files_hash=found_hash,
        editions_hash=content_hash(judges.editions_key(asked.dataset)),
        input_hash="",
    )
