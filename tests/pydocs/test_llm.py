from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evalake_runners.adapters.protocol import Answer, CorpusView, NotAttemptedError
from evalake_runners.adapters.pydocs_mcp.config import LlmConfig
from evalake_warehouse.errors import ConfigError, SystemFailedError

from .conftest import Make, ask
from .fake_llm import FakeLlm, completion, picks, serve

RERANK = "pipelines/lexical_tree_rerank.yaml"
QUERY = "value added tax on top of a price"
Ask = Callable[..., Answer]


@pytest.fixture
def ask_llm(shop: tuple[CorpusView, Path], make: Make, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask one or more times through a fake endpoint."""
    monkeypatch.setenv("EVALAKE_LLM_API_KEY", "secret-key")

    def asked(fake: FakeLlm, *, pipeline: str = RERANK, times: int = 1, **llm: Any) -> Answer:
        settings = {"base_url": fake.base_url, "model": "m", "prompt_size": "estimate", **llm}
        searcher = make(pipeline=pipeline, llm=settings).open(*shop)
        try:
            for _ in range(times):
                answer = searcher.search(ask(QUERY))
        finally:
            searcher.close()
        return answer

    return asked


def test_picks_come_first_and_the_rest_follows_in_the_order_of_bm25(ask_llm: Ask) -> None:
    with serve(FakeLlm([picks("shop.prices.discount", "shop.checkout.invoice")])) as fake:
        hits = ask_llm(fake).hits
    names = [(hit.qualified_name, hit.branch) for hit in hits]
    assert names[:2] == [
        ("shop.prices.discount", "llm_tree"),
        ("shop.checkout.invoice", "llm_tree"),
    ]
    # BM25 alone would put this one first; the model did not pick it.
    assert names[2] == ("shop.prices.add_tax", "bm25")


def test_names_that_do_not_exist_leave_the_order_of_bm25(ask_llm: Ask) -> None:
    with serve(FakeLlm([picks("shop.invented", "other.made_up")])) as fake:
        hits = ask_llm(fake).hits
    assert hits[0].qualified_name == "shop.prices.add_tax"
    assert {hit.branch for hit in hits} == {"bm25"}


def test_a_single_stage_tree_answers_with_its_picks_alone(ask_llm: Ask) -> None:
    with serve(FakeLlm([picks("shop.storage.save_json")])) as fake:
        hits = ask_llm(fake, pipeline="pipelines/tree.yaml").hits
    assert [(h.qualified_name, h.branch) for h in hits] == [("shop.storage.save_json", "llm_tree")]


def test_a_call_is_counted_and_priced(ask_llm: Ask) -> None:
    reply = completion('{"node_list": []}', prompt=2_000, answer=500)
    with serve(FakeLlm([reply])) as fake:
        answer = ask_llm(fake, usd_per_million_input=1.0, usd_per_million_output=4.0)
    assert answer.n_tool_calls == 1
    assert answer.cost_usd == pytest.approx(2_000 / 1e6 * 1.0 + 500 / 1e6 * 4.0)
    assert fake.requests[0]["model"] == "m"
    assert QUERY in fake.requests[0]["messages"][0]["content"]
    assert set(fake.authorizations) == {"Bearer secret-key"}


def test_without_prices_the_cost_is_unknown_and_not_zero(ask_llm: Ask) -> None:
    with serve(FakeLlm([picks()])) as fake:
        assert ask_llm(fake).cost_usd is None


def test_a_rate_limit_is_waited_out_as_the_server_asks(ask_llm: Ask) -> None:
    limited = (429, {"retry-after": "0"}, '{"error": {"message": "slow down"}}')
    with serve(FakeLlm([limited, limited, picks("shop.prices.discount")])) as fake:
        answer = ask_llm(fake)
    assert answer.hits[0].qualified_name == "shop.prices.discount"
    assert answer.n_tool_calls == 3


def test_a_wait_longer_than_allowed_fails_at_once_and_says_so(ask_llm: Ask) -> None:
    limited = (429, {"retry-after": "3600"}, "slow down")
    with (
        serve(FakeLlm([limited])) as fake,
        pytest.raises(SystemFailedError, match="asks to wait 3600 s, longer than `max_wait_s`"),
    ):
        ask_llm(fake)
    assert len(fake.requests) == 1


def test_a_server_that_stays_busy_fails_after_the_last_attempt(ask_llm: Ask) -> None:
    busy = (503, {"retry-after": "0"}, "overloaded")
    with (
        serve(FakeLlm([busy])) as fake,
        pytest.raises(SystemFailedError, match=r"503: overloaded \(attempt 3\)"),
    ):
        ask_llm(fake, max_attempts=3)


def test_a_refused_request_is_not_repeated(ask_llm: Ask) -> None:
    refused = (400, {}, '{"error": {"message": "context_length_exceeded"}}')
    with (
        serve(FakeLlm([refused])) as fake,
        pytest.raises(SystemFailedError, match=r"400: .*context_length_exceeded"),
    ):
        ask_llm(fake)
    assert len(fake.requests) == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("<html>gateway</html>", "no completion: <html>gateway</html>"),
        ('{"choices": []}', "completion is empty"),
        ('{"choices": [{"message": {"content": null}}]}', "completion is empty"),
    ],
)
def test_an_answer_that_is_no_completion_is_an_error(ask_llm: Ask, body: str, told: str) -> None:
    with serve(FakeLlm([(200, {}, body)])) as fake, pytest.raises(SystemFailedError, match=told):
        ask_llm(fake)


def test_a_completion_that_was_cut_is_an_error_that_names_the_limit(ask_llm: Ask) -> None:
    cut = FakeLlm([completion('{"node_list": ["shop.pri', finish="length")])
    with serve(cut) as fake, pytest.raises(SystemFailedError, match="cut before its end; `max_tok"):
        ask_llm(fake)


def test_prose_where_a_list_was_asked_for_is_an_error_and_not_an_empty_answer(
    ask_llm: Ask,
) -> None:
    prose = FakeLlm([completion("I would look into prices.")])
    with serve(prose) as fake, pytest.raises(json.JSONDecodeError):
        ask_llm(fake)


def test_a_key_never_appears_in_an_error(ask_llm: Ask) -> None:
    echoed = (400, {}, "bad key secret-key in header")
    with serve(FakeLlm([echoed])) as fake, pytest.raises(SystemFailedError) as caught:
        ask_llm(fake)
    assert "secret-key" not in str(caught.value)
    assert "bad key ***" in str(caught.value)


def test_a_refused_key_is_told_before_any_task(ask_llm: Ask) -> None:
    with (
        serve(FakeLlm([picks()], models=(401, {}, "no"))) as fake,
        pytest.raises(SystemFailedError, match="the key is refused"),
    ):
        ask_llm(fake)
    assert fake.requests == []


def test_a_model_that_is_not_served_is_told_before_any_task(ask_llm: Ask) -> None:
    served = (200, {}, '{"data": [{"id": "gpt-small"}, {"id": "gpt-large"}]}')
    with (
        serve(FakeLlm([picks()], models=served)) as fake,
        pytest.raises(SystemFailedError, match="did you mean `gpt-small`"),
    ):
        ask_llm(fake, model="gpt-smal")
    assert fake.requests == []


def test_an_endpoint_that_lists_no_models_is_still_asked(ask_llm: Ask) -> None:
    with serve(FakeLlm([picks("shop.prices.discount")], models=(404, {}, ""))) as fake:
        assert ask_llm(fake).hits[0].branch == "llm_tree"


def test_nobody_at_the_address_is_told_before_any_task(ask_llm: Ask) -> None:
    with pytest.raises(SystemFailedError, match="no answer: ConnectError"):
        ask_llm(FakeLlm([], base_url="http://127.0.0.1:1/v1"))


def test_a_missing_key_is_told_before_any_task(
    ask_llm: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVALAKE_LLM_API_KEY")
    with (
        serve(FakeLlm([picks()])) as fake,
        pytest.raises(SystemFailedError, match="EVALAKE_LLM_API_KEY is not set"),
    ):
        ask_llm(fake)
    assert fake.authorizations == []


def test_a_server_without_keys_gets_none(ask_llm: Ask) -> None:
    with serve(FakeLlm([picks()])) as fake:
        ask_llm(fake, api_key_env=None)
    assert set(fake.authorizations) == {None}


def test_a_call_limit_stops_before_the_call_that_would_pass_it(ask_llm: Ask) -> None:
    with (
        serve(FakeLlm([picks()])) as fake,
        pytest.raises(NotAttemptedError, match="budget: 2 of 2 calls made"),
    ):
        ask_llm(fake, times=3, max_calls=2)
    assert len(fake.requests) == 2


def test_a_call_that_is_tried_again_counts_towards_the_limit(ask_llm: Ask) -> None:
    busy = (503, {"retry-after": "0"}, "overloaded")
    told = r"503: overloaded; budget: 2 of 2 calls made"
    with serve(FakeLlm([busy])) as fake, pytest.raises(SystemFailedError, match=told):
        ask_llm(fake, max_calls=2, max_attempts=4)
    assert len(fake.requests) == 2


def test_a_budget_in_money_stops_before_the_prompt_that_would_pass_it(ask_llm: Ask) -> None:
    # A call costs 1,000 tokens x $10 a million = $0.01, and by its size a little more was to be
    # expected: the budget holds one call, and not what two might come to.
    with (
        serve(FakeLlm([completion('{"node_list": []}', prompt=1_000, answer=0)])) as fake,
        pytest.raises(NotAttemptedError, match=r"budget: \$0.0100 of \$0.0200 spent"),
    ):
        ask_llm(
            fake, times=5, max_cost_usd=0.02, usd_per_million_input=10, usd_per_million_output=10
        )
    assert len(fake.requests) == 1


def test_a_budget_cannot_be_kept_by_a_server_that_reports_no_usage(ask_llm: Ask) -> None:
    silent = (200, {}, '{"choices": [{"message": {"content": "{}"}}]}')
    with serve(FakeLlm([silent])) as fake, pytest.raises(SystemFailedError, match="no token usage"):
        ask_llm(fake, max_cost_usd=1, usd_per_million_input=1, usd_per_million_output=1)


def test_a_dry_run_reports_the_size_of_a_prompt_and_calls_nobody(
    ask_llm: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVALAKE_LLM_API_KEY")
    nobody = FakeLlm([], base_url="http://127.0.0.1:1/v1")
    with pytest.raises(
        NotAttemptedError, match=r"dry run: about \d+ prompt tokens, about \$0\.\d+"
    ):
        ask_llm(nobody, dry_run=True, usd_per_million_input=10, usd_per_million_output=10)


def test_a_pipeline_that_asks_a_model_needs_one_and_prices_for_a_budget(make: Make) -> None:
    with pytest.raises(ConfigError, match="`llm` is not configured"):
        make(pipeline=RERANK)
    llm = {"base_url": "http://localhost/v1", "model": "m", "max_cost_usd": 1}
    with pytest.raises(ConfigError, match="needs both prices"):
        make(pipeline=RERANK, llm=llm)


def test_an_address_must_hold_no_password() -> None:
    with pytest.raises(ValidationError, match="no user name or password"):
        LlmConfig(base_url="https://user:word@host/v1", model="m")


def test_no_secret_is_part_of_what_is_recorded(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALAKE_LLM_API_KEY", "secret-key")
    system = make(pipeline=RERANK, llm={"base_url": "http://localhost/v1", "model": "m"})
    assert "secret-key" not in str(system.public_config())
    assert system.needs_network
