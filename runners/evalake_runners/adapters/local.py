"""What systems that run here and name no file have in common."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalake_runners.adapters.setup import Strict


class LocalSystem:
    """A ranking system without network, secrets or files in its configuration."""

    output = "ranked"
    needs_network = False
    needs_corpus = True

    def __init__(self, config: Strict) -> None:
        self._public = config.model_dump(mode="json")

    def public_config(self) -> Mapping[str, Any]:
        """Every key; none is secret."""
        return self._public

    def config_files(self) -> Mapping[str, Path]:
        """None."""
        return {}

    def ingestion_config(self) -> Mapping[str, Any]:
        """No key shapes what is built of a corpus."""
        return {}
