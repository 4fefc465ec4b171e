"""pydocs-mcp under test: one adapter for every way it can retrieve.

`pydocs-mcp` runs any retrieval pipeline over a corpus, `pydocs-mcp-composite` asks for its one
budgeted answer, and `pydocs-oracle` indexes one chunk per row of a documentation corpus. The
package pydocs_mcp itself is imported when an index is built or opened, not here.
"""

from __future__ import annotations

from evalake_runners.adapters.pydocs_mcp.config import (
    CompositeConfig,
    OracleConfig,
    PydocsConfig,
)
from evalake_runners.adapters.pydocs_mcp.system import PydocsSystem, make
from evalake_runners.adapters.setup import Adapter

__all__ = ["ADAPTERS", "CompositeConfig", "OracleConfig", "PydocsConfig", "PydocsSystem"]

ADAPTERS: dict[str, Adapter] = {
    adapter.name: adapter
    for adapter in (
        Adapter(
            "pydocs-mcp",
            "pydocs-mcp in process: lexical, dense or hybrid",
            PydocsConfig,
            make("pydocs-mcp"),
        ),
        Adapter(
            "pydocs-mcp-composite",
            "pydocs-mcp's one budgeted answer",
            CompositeConfig,
            make("pydocs-mcp-composite"),
        ),
        Adapter(
            "pydocs-oracle",
            "pydocs-mcp over one chunk per documentation row",
            OracleConfig,
            make("pydocs-oracle"),
        ),
    )
}
