"""Arms: a configured system as a sweep names it, and bound to a dataset with its identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalake_runners.adapters.files import path_sha256
from evalake_runners.adapters.setup import Setup
from evalake_runners.workers.blobs import Blob
from evalake_runners.workers.describing import describe
from evalake_warehouse.errors import EvalakeError, UsageError
from evalake_warehouse.identity import canonical_json, content_hash
from evalake_warehouse.project import Project
from evalake_warehouse.vocabulary import CONTROL_SYSTEMS, DEFAULT_ROLE, RunRole

UNKNOWN_VERSION = "unknown"
SOURCE = "source:"  # before the name of a file of a system's code, among the files of an arm


@dataclass(frozen=True, slots=True)
class ArmSpec:
    """One arm as it was asked for, before it meets a dataset."""

    label: str
    adapter: str
    config: Mapping[str, Any]  # as written; what it lacks is the system's own
    depth: int
    query_variant: str = "default"
    role: RunRole = DEFAULT_ROLE
    base_dirs: tuple[Path, ...] = ()
    corpus_dir: Path | None = None  # searched instead of the dataset's corpora
    include: tuple[str, ...] = ()  # globs of its files, as of `evalake import`
    exclude: tuple[str, ...] = ()
    blob: Blob | None = None  # one text instead of a list; `depth` is 1 then

    @property
    def n_asked(self) -> int:
        """Hits that each search asks the system for."""
        return self.depth if self.blob is None else self.blob.n_hits


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm on one dataset edition: everything a run row says about it."""

    spec: ArmSpec
    setup: Setup
    system: str
    system_version: str
    adapter_version: str
    output: str
    needs_network: bool
    needs_corpus: bool
    config_json: str
    config_files: Mapping[str, str]  # name in the configuration -> sha256
    arm_hash: str
    ingestion_hash: str
    branches: tuple[str, ...] = ()  # that the system claims; follows from what is hashed
    corpus_id: str | None = None  # of `corpus_dir`
    unread: tuple[str, ...] = ()  # modules of its code that are neither source nor installed

    @property
    def label(self) -> str:
        """Name in tables."""
        return self.spec.label

    @property
    def version_known(self) -> bool:
        """Whether an earlier run of this arm can stand for a new one."""
        return self.system_version != UNKNOWN_VERSION


def bind(
    spec: ArmSpec,
    *,
    dataset: str,
    edition: str,
    seed: int,
    project: Project,
    corpus_id: str | None = None,
) -> Arm:
    """Give an arm its dataset and compute its identity.

    The arm's hash covers the system, its version, the adapter's version, the effective
    configuration with the content of every file it names, the query variant, the output's shape,
    the depth, and, where they are not the usual, the corpus and how one text is made of the hits.
    Of a system of the user's own it covers the module's name, its source, and the packages that
    the source imports; so does the index key. Dataset, split, seed and repeat are the cell's.

    Raises:
        UsageError: the configuration names a file that does not exist, or asks for one text of
            hits that have none; or the system is not what the protocol says.
    """
    setup = Setup(dataset, edition, spec.n_asked, seed, project, spec.base_dirs)
    described = describe(spec.adapter, spec.config, setup)
    facts, source = described.facts, described.source
    if spec.blob is not None and not facts.gives_text:
        what = f"the hits of `{facts.name}`, so configured, have no text for `blob_bytes` to join"
        raise UsageError(what)
    output = facts.output if spec.blob is None else "blob"
    config = dict(facts.config)
    files = {name: path_sha256(path) for name, path in sorted(facts.config_files.items())}
    version = UNKNOWN_VERSION if source and source.unread else facts.version
    system: dict[str, object] = {
        "system": facts.name,
        "system_version": version,
        "adapter_version": facts.adapter_version,
    }
    identity: dict[str, object] = {
        **system,
        "config": dict(config),
        "config_files": files,
        "query_variant": spec.query_variant,
        "output": output,
        "depth": spec.depth,
    }
    ingestion: dict[str, object] = {**system, "ingestion": dict(facts.ingestion)}
    if source is not None:
        files |= {f"{SOURCE}{name}": digest for name, digest in source.files.items()}
        code = {"module": spec.adapter, "files": files, "packages": dict(source.packages)}
        # A system may keep keys of its configuration out of the lake; they make another arm too.
        identity |= {"code": code, "all_config": dict(described.config)}
        ingestion["code"] = code
    if spec.blob is not None:
        identity["blob"] = config["blob"] = dict(spec.blob.identity())
    if corpus_id is not None:
        identity["corpus_id"] = corpus_id
        config["corpus_id"] = corpus_id
    return Arm(
        spec=spec,
        setup=setup,
        system=facts.name,
        system_version=version,
        adapter_version=facts.adapter_version,
        output=output,
        needs_network=facts.needs_network,
        needs_corpus=facts.needs_corpus,
        config_json=canonical_json(config),
        config_files=files,
        arm_hash=content_hash(identity),
        ingestion_hash=content_hash(ingestion),
        branches=facts.branches if spec.blob is None else (),  # a text may be of several
        corpus_id=corpus_id,
        unread=source.unread if source else (),
    )


def edited_since(arm: Arm) -> str | None:
    """What of an arm is no longer what it was bound with; None where all is."""
    setup = arm.setup
    try:
        now = bind(
            arm.spec, dataset=setup.dataset, edition=setup.edition, seed=setup.seed,
            project=setup.project, corpus_id=arm.corpus_id,
        )  # fmt: skip
    except EvalakeError as error:
        return str(error)
    before, after = arm.config_files, now.config_files
    edited = [name for name, digest in before.items() if after.get(name) != digest]
    added = after.keys() - before.keys()  # what a system writes beside its code is not its code
    edited += [name for name in added if name.endswith(".py")]
    if edited:
        return ", ".join(sorted(name.removeprefix(SOURCE) for name in edited))
    is_same = bool(added) or now.arm_hash == arm.arm_hash
    return None if is_same else "its version or its configuration"


def role_of(label: str, adapter: str, baseline: str | None) -> RunRole:
    """What an arm is in a family whose baseline has the label `baseline`."""
    if label == baseline:
        return "baseline"
    return "control" if adapter in CONTROL_SYSTEMS else DEFAULT_ROLE
