from __future__ import annotations

from pathlib import Path

import pytest

from evalake_runners.adapters.mcp_session import McpSession, StdioServer
from evalake_runners.adapters.protocol import CorpusView
from evalake_warehouse.errors import ConfigError, SystemFailedError

from .conftest import FILES, Make, ask, snapshot, write_corpus

QUERIES = ("value added tax on top of a price", "basket", "serialise a value to a file", "zebra")


def test_its_mcp_server_ranks_as_it_does_in_process(
    shop: tuple[CorpusView, Path], make: Make, tmp_path: Path
) -> None:
    corpus = shop[0]
    before = snapshot(corpus.root)
    served = make(transport="mcp")
    served.index(corpus, tmp_path / "index")
    server, in_process = served.open(corpus, tmp_path / "index"), make().open(*shop)
    try:
        for query in QUERIES:
            ours, theirs = (
                [
                    (hit.qualified_name, hit.raw_path, hit.start_line, hit.end_line, hit.score)
                    for hit in searcher.search(ask(query)).hits
                ]
                for searcher in (in_process, server)
            )
            assert theirs == ours
        # More than the ten that the server gives by itself, and fewer.
        many = ask("def return self amount value basket shop import price", 15)
        assert len(server.search(many).hits) == len(in_process.search(many).hits) > 10
        assert len(server.search(ask("price", 1)).hits) == 1
    finally:
        server.close()
        in_process.close()
    assert snapshot(corpus.root) == before


def test_what_a_server_indexes_is_never_imported(make: Make, tmp_path: Path) -> None:
    marker = tmp_path / "imported"
    trap = f"open({str(marker)!r}, 'w').close()\n\n\ndef tax():\n    return 1\n"
    corpus = write_corpus(tmp_path / "corpus", {**FILES, "shop/trap.py": trap, "setup.py": trap})
    make(transport="mcp").index(corpus, tmp_path / "index")
    assert not marker.exists()


def test_a_server_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", "echo no licence >&2; exit 3"]
    server = StdioServer(command, {}, tmp_path)
    session = McpSession(server, stderr=tmp_path / "stderr.txt", start_timeout_s=60)
    with pytest.raises(SystemFailedError, match=r"did not start: [\s\S]*no licence"):
        session.start()


def test_documents_and_language_models_are_refused_by_the_server(
    documents_corpus: CorpusView, make: Make, tmp_path: Path
) -> None:
    with pytest.raises(SystemFailedError, match="indexes folders of files"):
        make(transport="mcp").index(documents_corpus, tmp_path / "index")
    llm = {"base_url": "http://localhost/v1", "model": "m"}
    with pytest.raises(ConfigError, match="`mcp` cannot use an `llm`"):
        make(transport="mcp", pipeline="pipelines/tree.yaml", llm=llm)
