"""Cut a corpus into pieces for systems that bring no chunker of their own.

Files of languages whose definitions are read are cut into functions, classes without their
methods, and the code between them; any other file, and one that does not parse, into overlapping
windows of lines. A corpus is untrusted: nothing is imported or executed, and a file that cannot be
read or parsed costs a count, never the index.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalake_ingest.corpora.symbols import module_name, package_dirs, qualify
from evalake_runners.adapters.protocol import CorpusView
from evalake_warehouse.relevance.fingerprint import Definition, parse_source
from evalake_warehouse.relevance.grammars import grammar_of
from evalake_warehouse.relevance.tree_definitions import TreeDefinition
from evalake_warehouse.relevance.tree_reader import TreeReader

MAX_LINE_CHARS = 2_000  # a longer line is minified or generated; its head is enough

Span = tuple[int, int]
Found = tuple[str, Span, list[Span] | None]  # name, lines, and of a class those of its methods


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
    packages = package_dirs(corpus.paths)
    chunks, counts = [], Counter[str]()
    with TreeReader() as trees:
        for path in corpus.paths:
            text, status = read_source(corpus.root / path)
            if text is not None:
                module = module_name(path, packages)
                found, status = chunk_file(
                    path, text, module, trees,
                    window_lines=window_lines, overlap_lines=overlap_lines,
                )  # fmt: skip
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
    path: str, text: str, module: str, trees: TreeReader, *, window_lines: int, overlap_lines: int
) -> tuple[list[Chunk], str]:
    """Chunks of one file, and how it was cut: `parsed`, `windows`, or why it did not parse."""
    # Not splitlines(): parsers count lines by \n alone, and so do the gold spans.
    lines = [line[:MAX_LINE_CHARS] for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    whole = (1, len(lines))
    definitions, status = _find_definitions(path, text, module, trees)
    if not definitions and status != "parsed":
        return _windows(path, lines, whole, window_lines, overlap_lines), status
    chunks: list[Chunk] = []
    for name, span, inner in definitions:
        if inner is None:
            chunks.append(_piece(path, lines, span, name))
        else:
            chunks.append(_class_piece(path, lines, span, inner, name))
    top = [span for _, span, _ in definitions]
    for gap in _gaps(whole, top):
        chunks += _windows(path, lines, gap, window_lines, overlap_lines)
    return sorted(chunks, key=lambda chunk: (chunk.start_line or 0, chunk.end_line or 0)), status


def _find_definitions(
    path: str, text: str, module: str, trees: TreeReader
) -> tuple[list[Found], str]:
    """Definitions to cut a file at, and `parsed`, `windows` or why there are none."""
    if path.endswith((".py", ".pyi")):
        parsed = parse_source(text)
        if parsed.tree is None:
            return [], parsed.status
        return list(_definitions(parsed.tree, module)), "parsed"
    content = text.encode("utf-8", "surrogatepass")
    grammar = grammar_of(path, content)
    if grammar is None:
        return [], "windows"
    read = trees.read(grammar, content)
    found = [
        (qualify(module, path, one.symbol), span, inner)
        for one, span, inner in _of_tree(read.definitions)
    ]
    return found, "parsed" if read.status == "ok" else read.status


def _of_tree(
    definitions: Sequence[TreeDefinition],
) -> Iterator[tuple[TreeDefinition, Span, list[Span] | None]]:
    """As `_definitions`: a function inside a function stays in it."""
    spans = [(one.start_line, one.end_line) for one in definitions]
    inner: dict[int, list[Span]] = {}
    is_cut = [True] * len(definitions)
    for number, one in enumerate(definitions):
        if one.parent is not None:
            above = definitions[one.parent]
            is_cut[number] = is_cut[one.parent] and above.holds_definitions
            inner.setdefault(one.parent, []).append(spans[number])
    for number, one in enumerate(definitions):
        if is_cut[number]:
            yield one, spans[number], inner.get(number, []) if one.holds_definitions else None


def _definitions(tree: ast.Module, module: str) -> Iterator[Found]:
    """(qualified name, lines, spans of its methods or None) of each function and class.

    A function inside a function stays in it. The walk keeps its own stack, so that deep
    nesting cannot overflow ours.
    """
    stack: list[tuple[ast.AST, str]] = [(tree, module)]
    while stack:
        parent, prefix = stack.pop()
        for node in _statements(parent):
            if not isinstance(node, Definition):
                stack.append((node, prefix))
                continue
            name = f"{prefix}.{node.name}"
            inner = None
            if isinstance(node, ast.ClassDef):
                stack.append((node, name))
                inner = [_span(child) for child in _nested_definitions(node)]
            yield name, _span(node), inner


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements inside a statement; expressions are skipped, for they define nothing."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child


def _nested_definitions(node: ast.ClassDef) -> Iterator[Definition]:
    stack: list[ast.AST] = [node]
    while stack:
        for child in _statements(stack.pop()):
            if isinstance(child, Definition):
                yield child
            else:
                stack.append(child)


def _span(node: Definition) -> Span:
    first = min([node.lineno, *(line.lineno for line in node.decorator_list)])
    return first, node.end_lineno or node.lineno


def _piece(path: str, lines: list[str], span: Span, name: str | None = None) -> Chunk:
    return Chunk(path, "\n".join(lines[span[0] - 1 : span[1]]), span[0], span[1], name)


def _class_piece(path: str, lines: list[str], span: Span, inner: list[Span], name: str) -> Chunk:
    """The class without its methods; its lines are those up to the first method."""
    kept = [line for first, last in _gaps(span, inner) for line in lines[first - 1 : last]]
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
