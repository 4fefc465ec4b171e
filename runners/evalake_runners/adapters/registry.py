"""Find adapters by name; an adapter's module is imported when it is asked for, not before."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from evalake_runners.adapters.facts import told
from evalake_runners.adapters.function import function_adapter
from evalake_runners.adapters.setup import Adapter, Strict
from evalake_warehouse.errors import UsageError
from evalake_warehouse.nearest import did_you_mean


class _Entry(NamedTuple):
    module: str
    summary: str


# `python:my_package.my_system` names any module with an adapter's names, and
# `python:my_package.my_module:search` a function.
_PLUGIN_PREFIX = "python:"
_NAMES = ("CONFIG", "make")

_ENTRIES: dict[str, _Entry] = {
    "bm25": _Entry("bm25", "BM25 over functions, classes and line windows (bm25s)"),
    "command": _Entry("tools.command", "Any command line, one process per question"),
    "empty": _Entry("controls", "Control: answers nothing, scores 0.0"),
    "gold": _Entry("controls", "Control: answers the gold, scores 1.0"),
    "http": _Entry("tools.http", "Any HTTP service, one request per question"),
    "mcp": _Entry("tools.mcp", "Any MCP server, over stdio or HTTP"),
    "pydocs-mcp": _Entry("pydocs_mcp", "pydocs-mcp in process: lexical, dense or hybrid"),
    "pydocs-mcp-composite": _Entry("pydocs_mcp", "pydocs-mcp's one budgeted answer"),
    "pydocs-oracle": _Entry("pydocs_mcp", "pydocs-mcp over one chunk per documentation row"),
    "random": _Entry("controls", "Control: distinct items by the task's seed, the chance level"),
    "ripgrep": _Entry("ripgrep", "Content words of the question, searched with ripgrep"),
}


def adapter_names() -> tuple[str, ...]:
    """Names that `system:` and `--system` accept, sorted."""
    return tuple(sorted(_ENTRIES))


def adapter_summary(name: str) -> str:
    """One line about an adapter, without importing it."""
    return _ENTRIES[name].summary


def is_plugin(name: str) -> bool:
    """Whether a name stands for a module or a function of the user's own."""
    return name.startswith(_PLUGIN_PREFIX)


def plugin_module(name: str) -> str:
    """The module that a system of the user's own is in."""
    return name.removeprefix(_PLUGIN_PREFIX).partition(":")[0]


def get_adapter(name: str) -> Adapter:
    """Import and return one adapter.

    Raises:
        UsageError: no adapter has that name, or its own dependencies are missing.
    """
    if is_plugin(name):
        return _plugin(name)
    entry = _ENTRIES.get(name)
    if entry is None:
        raise UsageError(unknown_name(name), where="system", hint="evalake doctor")
    try:
        module = import_module(f"evalake_runners.adapters.{entry.module}")
    except ImportError as error:
        raise UsageError(f"system `{name}` cannot be loaded: {error}", where="system") from error
    # A module that holds several adapters has a table of them; a module of one has two names.
    table: dict[str, Adapter] | None = getattr(module, "ADAPTERS", None)
    if table is not None:
        return table[name]
    return Adapter(name, entry.summary, module.CONFIG, module.make)


def _plugin(name: str) -> Adapter:
    """A system of the user's own; whatever its module raises is told as a problem of it."""
    try:
        module = import_module(plugin_module(name))
    except (Exception, SystemExit) as error:
        what = f"system `{name}` cannot be loaded: {told(error)}"
        raise UsageError(what, where="system") from error
    function = name.removeprefix(_PLUGIN_PREFIX).partition(":")[2]
    if function:
        return _function(name, module, function)
    if missing := [f"`{attribute}`" for attribute in _NAMES if not hasattr(module, attribute)]:
        raise UsageError(f"the module has no {', '.join(missing)}", where=name)
    if not (isinstance(module.CONFIG, type) and issubclass(module.CONFIG, Strict)):
        raise UsageError("`CONFIG` must be a subclass of `Strict`", where=name)
    if not callable(module.make):
        raise UsageError("`make` must be a function", where=name)
    named = getattr(module, "source_files", ())
    if isinstance(named, str | Path) or not all(isinstance(item, str | Path) for item in named):
        raise UsageError("`source_files` must be a list of paths", where=name)
    summary = (module.__doc__ or name).strip().partition("\n")[0]
    return Adapter(name, summary, module.CONFIG, module.make, tuple(map(str, named)))


def _function(name: str, module: ModuleType, function: str) -> Adapter:
    found = getattr(module, function, None)
    if found is None:
        known = [own for own, value in vars(module).items() if callable(value)]
        what = f"the module has no function `{function}`{did_you_mean(function, known)}"
        raise UsageError(what, where=name)
    version = getattr(module, "__version__", None)
    return function_adapter(
        f"{module.__name__}.{function}",
        found,
        # Its source tells one version from another, so that it need not say one.
        version=version if isinstance(version, str) else "unversioned",
    )


def unknown_name(name: str) -> str:
    """The message for a system that does not exist."""
    return f"unknown system `{name}`{did_you_mean(name, adapter_names())}"
