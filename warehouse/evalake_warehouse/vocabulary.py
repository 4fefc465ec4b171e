"""Words that several packages decide by."""

from __future__ import annotations

# Systems that say what the scale is: perfect, nothing, chance. They are no candidates.
CONTROL_SYSTEMS = frozenset({"gold", "empty", "random"})
CHANCE_SYSTEM = "random"

BASELINE_ROLE = "baseline"
CONTROL_ROLE = "control"
