from __future__ import annotations

import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from evalake_runners.adapters.protocol import CorpusView
from evalake_runners.adapters.pydocs_mcp.counts import require_branches
from evalake_runners.adapters.pydocs_mcp.searching import strip_pointers
from evalake_runners.adapters.registry import get_adapter
from evalake_warehouse.errors import ConfigError, SystemFailedError

from .conftest import FILES, Make, ask, snapshot, write_corpus


def test_a_function_is_found_by_the_words_of_its_docstring(
    files_corpus: CorpusView, make: Make, tmp_path: Path
) -> None:
    system = make()
    report = system.index(files_corpus, tmp_path / "index")
    searcher = system.open(files_corpus, tmp_path / "index")
    best = searcher.search(ask("value added tax on top of a price")).hits[0]
    searcher.close()
    assert best.qualified_name == "shop.prices.add_tax"
    # Lines counted by hand in FILES: the def is on line 4, its return on line 6.
    assert (best.raw_path, best.start_line, best.end_line) == ("shop/prices.py", 4, 6)
    assert best.text is not None
    assert best.text.startswith("def add_tax(amount, rate):")
    assert best.branch == "bm25"
    assert best.score is not None
    assert report.n_chunks == report.counts["fts_rows"] > 0
    assert report.n_vectors == 0
    assert report.device == "cpu"


def test_hits_come_best_first_and_no_more_than_asked(
    files_corpus: CorpusView, make: Make, tmp_path: Path
) -> None:
    system = make(depth=3)
    system.index(files_corpus, tmp_path / "index")
    hits = system.open(files_corpus, tmp_path / "index").search(ask("basket price", 3)).hits
    scores = [hit.score for hit in hits if hit.score is not None]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


def test_a_query_with_no_word_in_the_corpus_is_empty_and_not_an_error(
    files_corpus: CorpusView, make: Make, tmp_path: Path
) -> None:
    system = make()
    system.index(files_corpus, tmp_path / "index")
    assert system.open(files_corpus, tmp_path / "index").search(ask("zebra quagga")).hits == []


def test_query_text_that_looks_like_search_syntax_is_taken_as_words(
    files_corpus: CorpusView, make: Make, tmp_path: Path
) -> None:
    system = make()
    system.index(files_corpus, tmp_path / "index")
    searcher = system.open(files_corpus, tmp_path / "index")
    for text in ('"tax" AND (', "NEAR(tax", "tax*", "title: tax", 'a "b', "OR"):
        searcher.search(ask(text))


def test_the_corpus_and_the_home_are_left_as_they_were(
    files_corpus: CorpusView, make: Make, tmp_path: Path, own_home: Path
) -> None:
    before = snapshot(files_corpus.root)
    system = make()
    system.index(files_corpus, tmp_path / "index")
    system.open(files_corpus, tmp_path / "index").search(ask("tax"))
    assert snapshot(files_corpus.root) == before
    assert list(own_home.iterdir()) == []


def test_a_users_own_settings_do_not_reach_a_run(
    files_corpus: CorpusView,
    make: Make,
    tmp_path: Path,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # With any of these in force nothing but JSON files would be indexed.
    narrow = "extraction:\n  discovery:\n    project:\n      include_extensions: ['.json']\n"
    (own_home / ".config/pydocs-mcp").mkdir(parents=True)
    (own_home / ".config/pydocs-mcp/config.yaml").write_text(narrow)
    (tmp_path / "pydocs-mcp.yaml").write_text(narrow)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYDOCS_CONFIG_PATH", str(tmp_path / "pydocs-mcp.yaml"))
    monkeypatch.setenv("PYDOCS_EXTRACTION__DISCOVERY__PROJECT__INCLUDE_EXTENSIONS", '[".json"]')
    report = make().index(files_corpus, tmp_path / "index")
    assert report.counts["fts_rows"] > 5


def test_documents_are_one_chunk_each_and_answered_by_their_id(
    documents_corpus: CorpusView, make: Make, tmp_path: Path
) -> None:
    for name in ("pydocs-oracle", "pydocs-mcp"):
        system = make(name)
        report = system.index(documents_corpus, tmp_path / name)
        hits = (
            system.open(documents_corpus, tmp_path / name).search(ask("database-style join")).hits
        )
        assert report.n_chunks == 3
        assert [hit.doc_id for hit in hits] == ["pandas.merge"]
        assert hits[0].raw_path is None


def test_the_oracle_refuses_a_corpus_of_files(
    files_corpus: CorpusView, make: Make, tmp_path: Path
) -> None:
    with pytest.raises(SystemFailedError, match="needs a corpus of documents"):
        make("pydocs-oracle").index(files_corpus, tmp_path / "index")


def test_a_composite_is_one_item_without_pointers(
    files_corpus: CorpusView, make: Make, tmp_path: Path
) -> None:
    system = make("pydocs-mcp-composite", depth=1)
    system.index(files_corpus, tmp_path / "index")
    hits = system.open(files_corpus, tmp_path / "index").search(ask("price tax", 1)).hits
    assert system.output == "composite"
    assert len(hits) == 1
    assert hits[0].text is not None
    assert "[[next:" not in hits[0].text
    # More than one chunk went into it, although one item was asked for.
    assert "def add_tax" in hits[0].text
    assert "def discount" in hits[0].text


def test_stripping_pointers_keeps_every_other_line() -> None:
    text = "## a.b\ncode  # [[1]]\nTogether: [[next:lookup:a.b]] [[next:x:y]]\n\nlast [[next:z]]"
    assert strip_pointers(text) == "## a.b\ncode  # [[1]]\n\nlast"


def test_hostile_files_are_survived_and_counted(make: Make, tmp_path: Path) -> None:
    deep = "x = " + "(" * 5_000 + ")" * 5_000
    corpus = write_corpus(
        tmp_path / "corpus",
        {
            **FILES,
            "deep.py": deep,
            "binary.py": b"\xff\xfe\x00def broken(:\n",
            "huge.py": "y = '" + "a" * 2_000_000 + "'\n",
        },
    )
    system = make()
    report = system.index(corpus, tmp_path / "index")
    assert report.counts["warnings"] >= 1  # the file over a megabyte, named in pydocs-mcp's log
    assert report.counts["files_without_chunks"] >= 1
    assert report.counts["files"] + report.counts["files_without_chunks"] == len(corpus.paths)
    hits = system.open(corpus, tmp_path / "index").search(ask("value added tax")).hits
    assert hits[0].qualified_name == "shop.prices.add_tax"


def test_an_index_whose_full_text_table_is_empty_is_refused(
    files_corpus: CorpusView, make: Make, tmp_path: Path
) -> None:
    system = make()
    system.index(files_corpus, tmp_path / "index")
    with sqlite3.connect(tmp_path / "index" / "index.db") as connection:
        connection.execute("insert into chunks_fts(chunks_fts) values ('delete-all')")
    with pytest.raises(SystemFailedError, match="no fts_rows: full-text search would find nothing"):
        system.open(files_corpus, tmp_path / "index")


def test_a_corpus_without_anything_to_index_is_refused(make: Make, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", {"photo.png": b"\x89PNG"})
    with pytest.raises(SystemFailedError, match="no fts_rows"):
        make().index(corpus, tmp_path / "index")


def test_every_empty_branch_is_named_at_once() -> None:
    with pytest.raises(SystemFailedError, match=r"no edges: .*; no vectors: "):
        require_branches({"vectors", "edges", "fts_rows"}, {"fts_rows": 1}, where="arm")


def test_a_pipeline_that_stops_short_of_the_depth_is_refused(make: Make, tmp_path: Path) -> None:
    (tmp_path / "configs/short.yaml").write_text(
        "name: short\nsteps:\n"
        "  - {name: fetch, type: chunk_fetcher}\n"
        "  - {name: limit, type: limit}\n"  # 8 where it does not say
    )
    assert make(pipeline="short.yaml", depth=8)
    with pytest.raises(ConfigError, match="gives at most 8 hits; `depth` 10 was asked for"):
        make(pipeline="short.yaml", depth=10)


def test_all_problems_of_a_configuration_are_told_together(make: Make, tmp_path: Path) -> None:
    (tmp_path / "configs/all.yaml").write_text(
        "name: all\nsteps:\n"
        "  - {name: fetch, type: dense_fetcher}\n"
        "  - {name: tree, type: llm_tree_reasoning}\n"
        "  - {name: limit, type: limit}\n"
    )
    with pytest.raises(ConfigError) as caught:
        make(pipeline="all.yaml", ingestion="pipelines/ingestion/lexical.yaml")
    told = " ".join(problem.what for problem in caught.value.problems)
    assert "gives at most 8 hits" in told
    assert "lacks the stage `embed_chunks`" in told
    assert "`llm` is not configured" in told


def test_a_system_can_be_sent_to_a_worker_process(make: Make) -> None:
    system = pickle.loads(pickle.dumps(make()))  # noqa: S301
    assert system.name == "pydocs-mcp"


def test_arms_that_differ_in_retrieval_alone_share_an_index(make: Make) -> None:
    composite = make("pydocs-mcp-composite", depth=1)
    assert make().ingestion_config() == composite.ingestion_config()
    assert make().public_config() != composite.public_config()


def test_the_registry_knows_all_three_systems() -> None:
    for name in ("pydocs-mcp", "pydocs-mcp-composite", "pydocs-oracle"):
        assert get_adapter(name).name == name


def test_importing_the_adapter_does_not_import_pydocs_mcp() -> None:
    code = (
        "import sys, evalake_runners.adapters.pydocs_mcp\n"
        "assert not {'pydocs_mcp', 'torch', 'mcp', 'openai'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
