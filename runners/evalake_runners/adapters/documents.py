"""Documents of a corpus laid out as text files, for systems that read folders."""

from __future__ import annotations

import json
from pathlib import Path

from evalake_runners.adapters.chunking import read_documents
from evalake_runners.adapters.protocol import CorpusView

_DOCUMENTS = "documents"
_DOC_IDS = "doc_ids.json"
_PER_FOLDER = 1000


def lay_out(corpus: CorpusView, index_dir: Path) -> int:
    """Write a file per document into an index folder; returns their number."""
    doc_ids = []
    for number, (doc_id, text) in enumerate(read_documents(corpus)):
        file = documents_folder(index_dir) / f"{number // _PER_FOLDER:04d}" / f"{number:07d}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="replace")
        doc_ids.append(doc_id)
    (index_dir / _DOC_IDS).write_text(json.dumps(doc_ids), encoding="utf-8")
    return len(doc_ids)


def documents_folder(index_dir: Path) -> Path:
    """Where the files are."""
    return index_dir / _DOCUMENTS


def read_doc_ids(index_dir: Path) -> list[str]:
    """Document ids in the order of the files' numbers."""
    found: list[str] = json.loads((index_dir / _DOC_IDS).read_text(encoding="utf-8"))
    return found


def doc_id_of(path: str, doc_ids: list[str]) -> str | None:
    """The document of a file that was laid out; None where the path is not one of them."""
    stem = Path(path).stem
    if not stem.isdecimal() or int(stem) >= len(doc_ids):
        return None
    return doc_ids[int(stem)]
