"""Cut a corpus into pieces for systems that bring no chunker of their own.

Python files are cut into functions, classes without their methods, and the code between them;
any other file, and one that does not parse, into overlapping windows of lines. A corpus is
untrusted: nothing is imported or executed, and a file that cannot be read or parsed costs a
count, never the index.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalake_runners.adapters.protocol import CorpusView

MAX_PARSED_BYTES = 2_000_000  # beyond this a file is data, whatever its name
MAX_LINE_CHARS = 2_000  # a longer line is minified or generated; its head is enough

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file (lines from 1, inclusive), or a whole document (no lines)."""

    path: str
    text: str
    start_line: int | None = None
    end_line: int | None = None
    qualified_name: str | None = None


def chunk_corpus(
    corpus: CorpusView, *, window_lines: int, overlap_lines: int
) -> tuple[list[Chunk], Counter[str]]:
    """All chunks of a corpus in path order, and counts of what its files turned out to be."""
    if corpus.kind == "documents":
        chunks = [Chunk(doc_id, text) for doc_id, text in read_documents(corpus)]
        return chunks, Counter(documents=len(chunks))
    chunks, counts = [], Counter[str]()
    for path in corpus.paths:
        text, status = read_source(corpus.root / path)
        if text is not None:
            found, status = chunk_file(path, text, window_lines, overlap_lines)
            chunks += found
        counts[status] += 1
    return chunks, counts


def read_documents(corpus: CorpusView) -> Iterator[tuple[str, str]]:
    """(doc id, text) of a documents corpus, in doc id order."""
    import pyarrow.parquet as pq

    table = pq.read_table(corpus.root / "documents.parquet", columns=["doc_id", "text"])
    columns = table.to_pydict()
    yield from sorted(zip(columns["doc_id"], columns["text"], strict=True))


def read_source(file: Path) -> tuple[str | None, str]:
    """A file's text, or None and the reason (`unreadable`, `binary`)."""
    try:
        if file.is_symlink():
            return None, "unreadable"
        content = file.read_bytes()
    except OSError:
        return None, "unreadable"
    if b"\0" in content[:8192]:
        return None, "binary"
    return content.decode("utf-8", "replace").removeprefix("\ufeff"), "text"


def chunk_file(
    path: str, text: str, window_lines: int, overlap_lines: int
) -> tuple[list[Chunk], str]:
    """Chunks of one file, and how it was cut: `parsed`, `unparsable` or `windows`."""
    # Not splitlines(): the parser counts lines by \n alone, and so do the gold spans.
    lines = [line[:MAX_LINE_CHARS] for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    whole = (1, len(lines))
    if not path.endswith((".py", ".pyi")):
        return _windows(path, lines, whole, window_lines, overlap_lines), "windows"
    tree = _parse(text)
    if tree is None:
        return _windows(path, lines, whole, window_lines, overlap_lines), "unparsable"
    chunks: list[Chunk] = []
    definitions = list(_definitions(tree, module_name(path)))
    for name, span, inner in definitions:
        if inner is None:
            chunks.append(_piece(path, lines, span, name))
        else:
            chunks.append(_class_piece(path, lines, span, inner, name))
    top = [span for _, span, _ in definitions]
    for gap in _gaps(whole, top):
        chunks += _windows(path, lines, gap, window_lines, overlap_lines)
    return sorted(chunks, key=lambda chunk: (chunk.start_line or 0, chunk.end_line or 0)), "parsed"


def module_name(path: str) -> str:
    """Dotted name of a module from its path: `src/flask/json/__init__.py` is `flask.json`."""
    parts = path.rsplit(".", 1)[0].split("/")
    if parts[0] in {"src", "lib"} and len(parts) > 1:
        parts = parts[1:]
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return ".".join(parts)


def _parse(text: str) -> ast.Module | None:
    if len(text) > MAX_PARSED_BYTES:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _definitions(tree: ast.Module, module: str) -> Iterator[tuple[str, Span, list[Span] | None]]:
    """(qualified name, lines, spans of its methods or None) of each function and class.

    A function inside a function stays in it. The walk keeps its own stack, so that deep
    nesting cannot overflow ours.
    """
    stack: list[tuple[ast.AST, str]] = [(tree, module)]
    while stack:
        parent, prefix = stack.pop()
        for node in _statements(parent):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                stack.append((node, prefix))
                continue
            name = f"{prefix}.{node.name}"
            inner = None
            if isinstance(node, ast.ClassDef):
                stack.append((node, name))
                inner = [_span(child) for child in _nested_definitions(node)]
            yield name, _span(node), inner


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for field in ("body", "handlers", "orelse", "finalbody"):
        for child in getattr(node, field, []) or []:
            if isinstance(child, ast.stmt):
                yield child
            elif isinstance(child, ast.ExceptHandler):
                yield from child.body


def _nested_definitions(node: ast.ClassDef) -> Iterator[ast.stmt]:
    stack: list[ast.AST] = [node]
    while stack:
        for child in _statements(stack.pop()):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield child
            else:
                stack.append(child)


def _span(node: ast.stmt) -> Span:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return first, node.end_lineno or node.lineno


def _piece(path: str, lines: list[str], span: Span, name: str | None = None) -> Chunk:
    return Chunk(path, "\n".join(lines[span[0] - 1 : span[1]]), span[0], span[1], name)


def _class_piece(path: str, lines: list[str], span: Span, inner: list[Span], name: str) -> Chunk:
    """The class without its methods; its lines are those up to the first method."""
    kept = [line for first, last in _gaps(span, inner) for line in lines[first - 1 : last]]
    # A method may begin on the class's own line: `class A: f = 1` has none, but exec'd code can.
    first_method = min((first for first, _ in inner), default=span[1] + 1)
    return Chunk(path, "\n".join(kept), span[0], max(span[0], first_method - 1), name)


def _gaps(whole: Span, covered: list[Span]) -> Iterator[Span]:
    """Runs of lines of `whole` that no covered span has."""
    start = whole[0]
    for first, last in sorted(covered):
        if first > start:
            yield start, first - 1
        start = max(start, last + 1)
    if start <= whole[1]:
        yield start, whole[1]


def _windows(path: str, lines: list[str], span: Span, size: int, overlap: int) -> list[Chunk]:
    chunks = []
    start = span[0]
    while start <= span[1]:
        end = min(start + size - 1, span[1])
        piece = _piece(path, lines, (start, end))
        if piece.text.strip():
            chunks.append(piece)
        if end == span[1]:
            break
        start = end + 1 - overlap
    return chunks
