"""Names of the benchmarks that have a loader."""

from __future__ import annotations

# Name -> module below `evalake_ingest.loaders` and its attribute, imported when asked for.
BENCHMARKS: dict[str, str] = {
    "conala-docs": "conala_docs:LOADER",
    "ds1000": "ds1000:LOADER",
    "ds1000-packages": "ds1000:PACKAGES_LOADER",
    "issue-tasks": "issue_tasks:LOADER",
    "odex": "odex:LOADER",
    "repoqa": "repoqa:LOADER",
    "repoqa-structural": "repoqa_structural:LOADER",
    "starter": "starter:LOADER",
    "swe-bench-verified": "swe_bench:LOADER",
    "swe-qa": "swe_qa:LOADER",
    "swe-qa-pro": "swe_qa_pro:LOADER",
}
