"""Build the warehouse from the lake: what changed, dbt over it, and an atomic swap."""

from evalake_warehouse.build.protocol import BuildResult, build
from evalake_warehouse.build.settings import BuildSettings

__all__ = ["BuildResult", "BuildSettings", "build"]
