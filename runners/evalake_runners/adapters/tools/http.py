"""An HTTP service as a system: one request per question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from pydantic import Field

from evalake_runners.adapters.protocol import Answer, CorpusView, Query
from evalake_runners.adapters.setup import Adapter, Setup
from evalake_runners.adapters.tools.config import CallArguments, CallText, ToolConfig
from evalake_runners.adapters.tools.raw_answers import RawAnswer
from evalake_runners.adapters.tools.system import ToolSystem, ask_and_read, root_of
from evalake_runners.adapters.tools.templates import fill, with_variables
from evalake_runners.adapters.tools.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    import httpx

_NOT_READY = 202  # a service that took the question and has no answer yet
_TOO_MANY = 429


class HttpConfig(ToolConfig):
    """A service that answers one request per question."""

    url: CallText = Field(pattern=r"^https?://", description="With {query} where it belongs.")
    method: Literal["GET", "POST", "PUT"] = "GET"
    headers: dict[str, str] = Field(
        default_factory=dict, description="${NAME} takes an environment variable, as for a key."
    )
    params: CallArguments = Field(default_factory=dict, description="Of the query string.")
    body: CallArguments | None = Field(default=None, description="Sent as JSON.")
    empty_codes: list[int] = Field(
        default_factory=list, description="Statuses that say that nothing was found, as 404."
    )


class HttpSystem(ToolSystem):
    """`System` of one service."""

    def __init__(self, config: HttpConfig, setup: Setup) -> None:
        super().__init__("http", config, setup, needs_network=True)
        self._config = config

    def open(self, corpus: CorpusView, index_dir: Path) -> HttpSearcher:
        """Open a client; no request is made."""
        return HttpSearcher(self._config, open_workspace(corpus, index_dir))


class HttpSearcher:
    """One client, which keeps its connection."""

    def __init__(
        self,
        config: HttpConfig,
        workspace: Workspace,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        import httpx

        self._config = config
        self._workspace = workspace
        headers = {name: with_variables(value) for name, value in config.headers.items()}
        # No timeout of its own: the engine's ends the task with the status `timeout`.
        self._client = httpx.Client(
            headers=headers,
            timeout=None,  # noqa: S113
            transport=transport,
            trust_env=False,
        )

    def search(self, query: Query) -> Answer:
        """Make the request and read the response."""
        codes = self._config.empty_codes
        return ask_and_read(query, self._workspace, self._config, self._ask, empty_codes=codes)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _ask(self, fields: Mapping[str, str | int]) -> tuple[RawAnswer, str]:
        config = self._config
        in_address = {name: quote(str(value), safe="") for name, value in fields.items()}
        url = str(fill(config.url, in_address))
        params: dict[str, Any] = fill(config.params, fields)
        body = None if config.body is None else fill(config.body, fields)
        response = self._client.request(config.method, url, params=params or None, json=body)
        failure = None
        if not response.is_success or response.status_code == _NOT_READY:
            failure = f"HTTP {response.status_code} {response.reason_phrase}".strip()
            if response.status_code == _TOO_MANY and "retry-after" in response.headers:
                failure += f" (Retry-After {response.headers['retry-after']})"
        text = response.text
        raw = RawAnswer(
            (text,), code=response.status_code, failure=failure, root=root_of(self._workspace, text)
        )
        sent = "" if body is None else f" {json.dumps(body, ensure_ascii=False)}"
        return raw, f"{config.method} {response.request.url}{sent}"


ADAPTERS = {
    "http": Adapter("http", "Any HTTP service, one request per question", HttpConfig, HttpSystem)
}
