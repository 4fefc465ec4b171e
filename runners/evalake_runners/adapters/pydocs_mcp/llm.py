"""A language model behind any OpenAI-compatible endpoint, with a budget and honest failures.

pydocs-mcp's own client takes no address but an environment variable's, ignores what a call costs
and hides its retries. This one has the same `chat` and is handed to the pipeline in its place.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from pydantic import BaseModel, ValidationError

from evalake_runners.adapters.ledger import BudgetSpentError, Ledger
from evalake_runners.adapters.protocol import NotAttemptedError
from evalake_runners.adapters.pydocs_mcp.config import LlmConfig
from evalake_runners.adapters.pydocs_mcp.tokens import Spent, estimate_tokens
from evalake_warehouse.errors import SystemFailedError
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.scrub import scrub
from evalake_warehouse.secrets import remember_secret

_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_FIRST_WAIT_S = 1.0
_SHOWN_CHARS = 200  # of an error body; it may be a whole web page


class _Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int = 0


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice]


class _Paid(BaseModel):
    """The usage and cost fields of a reply, read even where the rest is malformed."""

    usage: _Usage | None = None


class LlmClient:
    """`chat` for a pydocs-mcp pipeline."""

    def __init__(
        self,
        config: LlmConfig,
        api_key: str | None,
        *,
        ledger: Ledger | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.model_name = config.model
        self._config = config
        if api_key:
            remember_secret(api_key)  # a service may send it back in an error
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._http = httpx.AsyncClient(
            headers=headers, timeout=config.timeout_s, transport=transport, trust_env=False
        )
        self._ledger = Ledger() if ledger is None else ledger  # what the budget is kept against
        self._task = Spent()

    def begin(self, task_id: str) -> None:
        """Start counting for one task."""
        self._task = Spent()
        if not self._config.dry_run:
            self._ledger.begin(task_id)

    def spent(self) -> Spent:
        """What the task has used so far."""
        return self._task

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def preflight(self) -> None:
        """Ask for the list of models, which costs nothing, before any task does.

        Raises:
            SystemFailedError: nobody answers, the key is refused, or the model is not served.
        """
        try:
            response = await self._http.get(f"{self._config.base_url}/models")
        except httpx.HTTPError as error:
            raise SystemFailedError(self._told(f"no answer: {_reason(error)}")) from error
        if response.status_code in (401, 403):
            raise SystemFailedError(
                self._told(f"the key is refused ({response.status_code})"),
                hint=f"export {self._config.api_key_env}=...",
            )
        served = _model_ids(response)
        if served and self._config.model not in served:
            model = self._config.model
            instead = did_you_mean(model, served)
            raise SystemFailedError(self._told(f"does not serve `{model}`{instead}"))

    async def chat(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        response_format: str = "text",
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> str:
        """One completion, retried where the server asks for patience.

        Raises:
            NotAttemptedError: the budget is spent, or this is a dry run.
            SystemFailedError: the endpoint refuses, keeps failing, or answers something else.
        """
        n_estimated = sum(estimate_tokens(message["content"]) for message in messages)
        expected_usd = self._cost_usd(n_estimated, 0)
        if self._config.dry_run:
            price = (
                "" if expected_usd is None else f", about ${expected_usd:.4f} without the answer"
            )
            raise NotAttemptedError(f"dry run: about {n_estimated} prompt tokens{price}")
        body: dict[str, Any] = {
            "model": self._config.model,
            "messages": list(messages),
            "temperature": self._config.temperature if temperature is None else temperature,
        }
        if (limit := max_tokens or self._config.max_tokens) is not None:
            body["max_tokens"] = limit
        if response_format == "json_object":
            body["response_format"] = {"type": "json_object"}
        started = time.perf_counter()
        try:
            response = await self._post(body, expected_usd)
        finally:
            self._task.seconds += time.perf_counter() - started
        usage = _usage(response)
        self._account(usage, expected_usd)
        try:
            completion = _Completion.model_validate_json(response.content)
        except ValidationError as error:
            what = f"the answer is no completion: {self._shown(response)}"
            raise SystemFailedError(self._told(what)) from error
        if usage is None and self._config.max_cost_usd is not None:
            raise SystemFailedError(
                self._told("reports no token usage, so `max_cost_usd` cannot be kept")
            )
        if completion.choices and completion.choices[0].finish_reason == "length":
            what = "the completion was cut before its end; `max_tokens` or the context is too short"
            raise SystemFailedError(self._told(what))
        if not completion.choices or not completion.choices[0].message.content:
            raise SystemFailedError(self._told("the completion is empty"))
        return completion.choices[0].message.content

    async def _post(self, body: Mapping[str, Any], expected_usd: float | None) -> httpx.Response:
        """The first answer that is no failure; what it costs stays reserved at `expected_usd`."""
        wait_s, failure = _FIRST_WAIT_S, ""
        for attempt in range(1, self._config.max_attempts + 1):
            is_last = attempt == self._config.max_attempts
            self._reserve(expected_usd, failure)
            asked_s = None
            try:
                response = await self._http.post(
                    f"{self._config.base_url}/chat/completions", json=body
                )
            except httpx.TransportError as error:
                failure = f"no answer: {_reason(error)}"
                if isinstance(error, httpx.ConnectError):  # else it may have been worked on
                    self._ledger.settle(expected_usd, None)
            else:
                if response.is_success:
                    return response
                self._ledger.settle(expected_usd, None)
                failure = f"{response.status_code}: {self._shown(response)}"
                is_last = is_last or response.status_code not in _RETRIED
                asked_s = _retry_after_s(response)
            if asked_s is not None and asked_s > self._config.max_wait_s:
                failure += f"; asks to wait {asked_s:.0f} s, longer than `max_wait_s`"
                is_last = True
            if is_last:
                raise SystemFailedError(self._told(f"{failure} (attempt {attempt})"))
            await asyncio.sleep(wait_s if asked_s is None else asked_s)
            wait_s *= 2
        raise AssertionError("max_attempts is at least 1")

    def _reserve(self, expected_usd: float | None, failure: str) -> None:
        """Count one call before it is made, or end the task: a repeated call is one more."""
        config = self._config
        try:
            self._ledger.reserve(
                expected_usd, max_calls=config.max_calls, max_cost_usd=config.max_cost_usd
            )
        except BudgetSpentError as error:
            if failure:
                raise SystemFailedError(self._told(f"{failure}; {error}")) from error
            raise NotAttemptedError(str(error)) from error
        self._task.n_calls += 1

    def _account(self, usage: _Usage | None, expected_usd: float | None) -> None:
        if usage is None:
            return
        cost = self._cost_usd(usage.prompt_tokens, usage.completion_tokens)
        self._ledger.settle(expected_usd, cost)
        self._task.prompt_tokens += usage.prompt_tokens
        self._task.completion_tokens += usage.completion_tokens
        if cost is not None:
            self._task.cost_usd = (self._task.cost_usd or 0.0) + cost

    def _cost_usd(self, n_prompt: int, n_completion: int) -> float | None:
        input_usd, output_usd = (
            self._config.usd_per_million_input,
            self._config.usd_per_million_output,
        )
        if input_usd is None or output_usd is None:
            return None
        return (n_prompt * input_usd + n_completion * output_usd) / 1e6

    def _told(self, what: str) -> str:
        return f"{self._config.base_url}: {what}"

    def _shown(self, response: httpx.Response) -> str:
        return " ".join(scrub(response.text).split())[:_SHOWN_CHARS]


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _usage(response: httpx.Response) -> _Usage | None:
    try:
        return _Paid.model_validate_json(response.content).usage
    except ValidationError:
        return None


def _retry_after_s(response: httpx.Response) -> float | None:
    """Seconds from a `Retry-After`, which holds a number or a date (RFC 9110, 10.2.3)."""
    value: str | None = response.headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None
    return max(0.0, until - time.time())


def _model_ids(response: httpx.Response) -> list[str]:
    """Names of served models; none where the endpoint does not list them."""
    if not response.is_success:
        return []
    try:
        listed = response.json().get("data")
        return [str(entry["id"]) for entry in listed]
    except (ValueError, AttributeError, TypeError, KeyError):
        return []
