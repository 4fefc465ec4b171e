"""CoNaLa with DocPrompting's documentation annotations, over the documentation datastore."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from evalake_ingest.loaders import library_docs
from evalake_ingest.loaders.odex import doc_gold
from evalake_ingest.originals.original_files import Original, find_originals
from evalake_ingest.originals.source_rows import SourceRow
from evalake_ingest.records import DatasetInfo, Drop, Loaded, LoadFlag, LoadOptions, Task
from evalake_warehouse.errors import DatasetError

REVISION = "0a89d2b624dd62c81143c84e1273a36ea6c3c8ea"  # of shuyanzhou/docprompting
_SHA256S = {
    "train": "7582405e6214d77854a317ca445ccbc2fcca92b96f99caeb38ad0fb0825995d6",
    "dev": "2a55cfc30dd685bd12702f6af847317afd2fdd32b42276601669b29be0bbdcc6",
    "test": "f54524aad814f7294151f03d2a87ead701d3a47fcfbe85a17de24576c1621b00",
}


class Row(SourceRow):
    """One annotated intent."""

    nl: str
    question_id: str
    oracle_man: list[str]


@dataclass
class ConalaDocs:
    """2,135 / 201 / 543 rows. Their split of origin is a label; ours is made like any other."""

    name: str = "conala-docs"
    takes: frozenset[LoadFlag] = frozenset({"--from", "--revision"})

    def load(self, options: LoadOptions) -> Loaded:
        """Read the three files."""
        originals = [_original(split) for split in _SHA256S]
        found = find_originals(originals, options, pin=REVISION, dataset=self.name)
        rows = {split: _read(path) for split, path in zip(_SHA256S, found.paths, strict=True)}
        datastore = library_docs.open_datastore(options, self.name)
        info = DatasetInfo(
            name=self.name,
            revision=found.revision,
            loader_version="1",
            source="https://github.com/shuyanzhou/docprompting",
            licence="Apache-2.0; CoNaLa itself CC-BY-SA from Stack Overflow",
            citation="Zhou et al., DocPrompting (2022), arXiv:2207.05987; Yin et al., Learning to "
            "Mine Aligned Code and Natural Language Pairs from Stack Overflow (2018)",
            primary_level="doc",
            primary_metric="ndcg@10",
            default_split="dev",
            caveats=(
                "Gold documentation was found by matching the solution's functions by name: "
                "pseudo-qrels, comparative, not absolute.",
                "The published documentation pool is another one; ids agree.",
                *datastore.caveats,
            ),
            strata_label="split of origin",
        )
        reader = _Reader(rows)
        total = sum(map(len, rows.values()))
        return Loaded(info, (datastore.corpus(),), reader.tasks(), reader.drops, total)


LOADER = ConalaDocs()


def _original(split: str) -> Original:
    name = f"cmd_{split}.oracle_man.full.json"
    return Original(
        name=name,
        sha256=_SHA256S[split],
        url=f"https://raw.githubusercontent.com/shuyanzhou/docprompting/{REVISION}/data/conala/{name}",
        paths=(f"data/conala/{name}", f"conala-docs/data/conala/{name}"),
    )


def _read(file: Path) -> list[Row]:
    try:
        return TypeAdapter(list[Row]).validate_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        what = f"{error.error_count()} problems; the first at `{where}`: {first['msg']}"
        raise DatasetError(what, where=str(file)) from error
    except json.JSONDecodeError as error:
        raise DatasetError(f"not JSON: {error.msg}", where=f"{file}:{error.lineno}") from error


@dataclass
class _Reader:
    rows: Mapping[str, list[Row]]
    drops: list[Drop] = field(default_factory=list)

    def tasks(self) -> Iterator[Task]:
        for split, rows in self.rows.items():
            for number, row in enumerate(rows, start=1):
                # question_id comes twice in places, so the row makes a task unique.
                task_id = f"{split}-{number:04d}"
                source_row = f"{split}:{number}"
                if not row.oracle_man:
                    self.drops.append(Drop(source_row, "no_gold", task_id, row.question_id))
                    continue
                yield Task(
                    task_id=task_id,
                    kind="code",
                    query=row.nl.strip(),
                    corpus=library_docs.NAME,
                    gold=tuple(doc_gold(doc_id) for doc_id in dict.fromkeys(row.oracle_man)),
                    labels={"question_id": row.question_id, "source_split": split},
                    stratum=split,
                    source_row=source_row,
                )
