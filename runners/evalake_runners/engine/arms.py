"""Arms: a configured system as a sweep names it, and bound to a dataset with its identity."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evalake_runners.adapters.protocol import System
from evalake_runners.adapters.registry import get_adapter
from evalake_runners.adapters.setup import Setup, Strict
from evalake_runners.engine.blobs import Blob
from evalake_runners.engine.redact import describe
from evalake_warehouse.errors import EvalakeError, SystemFailedError, UsageError
from evalake_warehouse.identity import canonical_json, content_hash
from evalake_warehouse.project import Project
from evalake_warehouse.secrets import remember_secrets

CONTROLS = frozenset({"gold", "empty", "random"})
UNKNOWN_VERSION = "unknown"


@dataclass(frozen=True, slots=True)
class ArmSpec:
    """One arm as it was asked for, before it meets a dataset."""

    label: str
    adapter: str
    config: Strict
    depth: int
    query_variant: str = "default"
    role: str = "candidate"  # baseline | candidate | control
    base_dirs: tuple[Path, ...] = ()
    corpus_dir: Path | None = None  # searched instead of the dataset's corpora
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
    config_json: str
    config_files: Mapping[str, str]  # name in the configuration -> sha256
    arm_hash: str
    ingestion_hash: str
    branches: tuple[str, ...] = ()  # that the system claims; follows from what is hashed
    corpus_id: str | None = None  # of `corpus_dir`

    @property
    def label(self) -> str:
        """Name in tables."""
        return self.spec.label

    @property
    def version_known(self) -> bool:
        """Whether an earlier run of this arm can stand for a new one."""
        return self.system_version != UNKNOWN_VERSION


def make_system(spec: ArmSpec, setup: Setup) -> System:
    """The system of an arm; starts nothing.

    Raises:
        UsageError: it cannot be made here, for instance because its package is missing.
    """
    remember_secrets(spec.config)
    try:
        return get_adapter(spec.adapter).make(spec.config, setup)
    except EvalakeError:
        raise
    except Exception as error:
        what = f"system `{spec.adapter}` cannot be made: {describe(error)}"
        raise UsageError(what, hint="evalake doctor") from error


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
    Dataset, split, seed and repeat are not part of it: they are the cell's.

    Raises:
        UsageError: the configuration names a file that does not exist, or asks for one text of
            hits that have none; or the system names its branches by no list.
    """
    setup = Setup(dataset, edition, spec.n_asked, seed, project, spec.base_dirs)
    system = make_system(spec, setup)
    if spec.blob is not None and not getattr(system, "gives_text", True):
        what = f"the hits of `{system.name}`, so configured, have no text for `blob_bytes` to join"
        raise UsageError(what)
    output = system.output if spec.blob is None else "blob"
    config = dict(system.public_config())
    files = {name: _sha256(path) for name, path in sorted(system.config_files().items())}
    identity: dict[str, object] = {
        "system": system.name,
        "system_version": system.version,
        "adapter_version": system.adapter_version,
        "config": dict(config),
        "config_files": files,
        "query_variant": spec.query_variant,
        "output": output,
        "depth": spec.depth,
    }
    if spec.blob is not None:
        identity["blob"] = config["blob"] = dict(spec.blob.identity())
    if corpus_id is not None:
        identity["corpus_id"] = corpus_id
        config["corpus_id"] = corpus_id
    ingestion = {
        "system": system.name,
        "system_version": system.version,
        "adapter_version": system.adapter_version,
        "ingestion": dict(system.ingestion_config()),
    }
    return Arm(
        spec=spec,
        setup=setup,
        system=system.name,
        system_version=system.version,
        adapter_version=system.adapter_version,
        output=output,
        needs_network=system.needs_network,
        config_json=canonical_json(config),
        config_files=files,
        arm_hash=content_hash(identity),
        ingestion_hash=content_hash(ingestion),
        branches=_branches(system) if spec.blob is None else (),  # a text may be of several
        corpus_id=corpus_id,
    )


def role_of(label: str, adapter: str, baseline: str | None) -> str:
    """`baseline`, `control` or `candidate`."""
    if label == baseline:
        return "baseline"
    return "control" if adapter in CONTROLS else "candidate"


def _branches(system: System) -> tuple[str, ...]:
    named = getattr(system, "branches", ())
    if isinstance(named, str) or not all(isinstance(name, str) for name in named):
        what = f"`branches` of system `{system.name}` must be a list of names, not {named!r}"
        raise UsageError(what)
    return tuple(sorted(set(named)))


def _sha256(path: Path) -> str:
    """Hash of a file, or of the relative paths and hashes of a folder's files."""
    if path.is_dir():
        inner = {
            file.relative_to(path).as_posix(): _sha256(file)
            for file in sorted(path.rglob("*"))
            if file.is_file()
        }
        return content_hash(inner)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SystemFailedError(f"cannot read: {error.strerror}", where=str(path)) from error
