import threading
import time
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any

import anyio
import httpx

from ._exchange import Answer, RenewToken, Retries, Sleep, Steps, call, page_of, request_token
from ._operations import OPERATIONS, AsyncIterators, AsyncOperations, Iterators, Operations
from .auth import Auth, Credentials

TIMEOUT = 30.0


class _Base:
    def __init__(self, base_url: str, auth: Auth | None, retries: Retries) -> None:
        self.base_url = base_url.rstrip("/")
        self._credentials = Credentials(auth, self.base_url)
        self._retries = retries

    def _steps(self, operation_id: str, given: dict[str, Any], accept: str | None) -> Steps:
        return call(
            OPERATIONS[operation_id],
            given,
            base_url=self.base_url,
            accept=accept,
            credentials=self._credentials,
            retries=self._retries,
        )


class Accord(_Base, Operations):
    """A client with a method for each operation of the contract. Each raises ``AccordError`` if the instance refuses
    the request, and errors of ``httpx`` if the network fails."""

    def __init__(
        self,
        base_url: str,
        auth: Auth | None = None,
        *,
        retries: Retries = Retries(),
        http: httpx.Client | None = None,
    ) -> None:
        super().__init__(base_url, auth, retries)
        self._http = http or httpx.Client(timeout=TIMEOUT)
        self._lock = threading.Lock()
        #: For each list a method that gives its items, page after page.
        self.iterate = Iterators(self._items)

    def call(self, operation_id: str, given: dict[str, Any] | None = None, accept: str | None = None) -> Answer:
        """Calls an operation with parameters by their names in the contract; returns also status and headers."""
        answer: Answer = self._run(self._steps(operation_id, given or {}, accept))
        return answer

    def acting_as(self, auth: Auth) -> "Accord":
        """The same instance with other credentials, such as the token of a transaction."""
        return Accord(self.base_url, auth, retries=self._retries, http=self._http)

    def _call(self, operation_id: str, given: dict[str, Any], accept: str | None) -> Any:
        return self.call(operation_id, given, accept).data

    def _items(self, operation_id: str, given: dict[str, Any]) -> Iterator[Any]:
        cursor = None
        while True:
            items, cursor = page_of(self.call(operation_id, {**given, "cursor": cursor}))
            yield from items
            if not cursor:
                return

    def _run(self, steps: Steps) -> Any:
        answer: Any = None
        failure: httpx.TransportError | None = None
        while True:
            try:
                step = steps.throw(failure) if failure else steps.send(answer)
            except StopIteration as stop:
                return stop.value
            answer = failure = None
            if isinstance(step, Sleep):
                time.sleep(step.seconds)
            elif isinstance(step, RenewToken):
                with self._lock:
                    self._run(request_token(self._credentials, self._retries))
            else:
                try:
                    answer = self._http.send(step, follow_redirects=False)
                except httpx.TransportError as error:
                    failure = error

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> "Accord":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncAccord(_Base, AsyncOperations):
    """The same with ``async``."""

    def __init__(
        self,
        base_url: str,
        auth: Auth | None = None,
        *,
        retries: Retries = Retries(),
        http: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(base_url, auth, retries)
        self._http = http or httpx.AsyncClient(timeout=TIMEOUT)
        self._lock = anyio.Lock()
        #: For each list a method that gives its items, page after page.
        self.iterate = AsyncIterators(self._items)

    async def call(self, operation_id: str, given: dict[str, Any] | None = None, accept: str | None = None) -> Answer:
        """Calls an operation with parameters by their names in the contract; returns also status and headers."""
        answer: Answer = await self._run(self._steps(operation_id, given or {}, accept))
        return answer

    def acting_as(self, auth: Auth) -> "AsyncAccord":
        """The same instance with other credentials, such as the token of a transaction."""
        return AsyncAccord(self.base_url, auth, retries=self._retries, http=self._http)

    async def _call(self, operation_id: str, given: dict[str, Any], accept: str | None) -> Any:
        return (await self.call(operation_id, given, accept)).data

    async def _items(self, operation_id: str, given: dict[str, Any]) -> AsyncIterator[Any]:
        cursor = None
        while True:
            items, cursor = page_of(await self.call(operation_id, {**given, "cursor": cursor}))
            for item in items:
                yield item
            if not cursor:
                return

    async def _run(self, steps: Steps) -> Any:
        answer: Any = None
        failure: httpx.TransportError | None = None
        while True:
            try:
                step = steps.throw(failure) if failure else steps.send(answer)
            except StopIteration as stop:
                return stop.value
            answer = failure = None
            if isinstance(step, Sleep):
                await anyio.sleep(step.seconds)
            elif isinstance(step, RenewToken):
                async with self._lock:
                    await self._run(request_token(self._credentials, self._retries))
            else:
                try:
                    answer = await self._http.send(step, follow_redirects=False)
                except httpx.TransportError as error:
                    failure = error

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> "AsyncAccord":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
