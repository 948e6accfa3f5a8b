"""What a call does, without sending: both clients, with and without async, carry out the same steps."""

import random
import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote, urljoin

import httpx

from ._operation import Operation
from .auth import Credentials
from .errors import read_error, read_retry_after

IDEMPOTENT = ("GET", "HEAD", "PUT", "DELETE", "OPTIONS")
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Retries:
    """How requests are repeated. Delays are in seconds; a response that asks for a longer one is not repeated."""

    count: int = 3
    max_delay: float = 60.0


@dataclass(frozen=True)
class Answer:
    """A response with what surrounds its body."""

    data: Any
    status: int
    headers: httpx.Headers


@dataclass(frozen=True)
class Sleep:
    seconds: float


class RenewToken:
    """Calls at the same time share one request for a token."""


#: A request is answered by its response or a ``httpx.TransportError``, the others by nothing.
Step: TypeAlias = httpx.Request | Sleep | RenewToken
Steps: TypeAlias = Generator[Step, Any, Any]


def send(request: httpx.Request, retries: Retries) -> Steps:
    """429 and 503 mean that nothing was done, so every request is repeated after these; after a failure of the
    network, 502 and 504 only those that can be repeated without effect."""
    for attempt in range(retries.count + 1):
        response: httpx.Response | None = None
        failure: httpx.TransportError | None = None
        try:
            response = yield request
        except httpx.TransportError as error:
            failure = error
        delay = delay_before(request.method, response, attempt)
        if delay is None or delay > retries.max_delay or attempt == retries.count:
            break
        yield Sleep(delay)
    if failure:
        raise failure
    return response


def delay_before(method: str, response: httpx.Response | None, attempt: int) -> float | None:
    """Seconds before the next attempt; None if there should be none."""
    is_refused = response is not None and response.status_code in (429, 503)
    is_lost = response is None or response.status_code in (502, 504)
    if not is_refused and not (is_lost and method in IDEMPOTENT):
        return None
    asked = read_retry_after(response) if response is not None else None
    return asked if asked is not None else 0.5 * 2**attempt * random.uniform(0.5, 1)


def call(
    operation: Operation,
    given: dict[str, Any],
    *,
    base_url: str,
    accept: str | None,
    credentials: Credentials,
    retries: Retries,
) -> Steps:
    """Returns an ``Answer``, or raises ``AccordError``."""
    for is_first in (True, False):
        found = ({}, {}) if operation.is_public else credentials.current()
        if found is None:
            yield RenewToken()
            found = credentials.current() or ({}, {})
        request = request_of(operation, given, base_url, accept, found)
        response = yield from send(request, retries)
        target = urljoin(str(request.url), response.headers.get("location", ""))
        is_here = httpx.URL(target).netloc == request.url.netloc and target.startswith(request.url.scheme + ":")
        if response.status_code == 303 and operation.method == "GET" and is_here:
            response = yield from send(httpx.Request("GET", target, headers=request.headers), retries)
        if response.status_code == 401 and is_first and not operation.is_public and credentials.refuse():
            continue
        break
    if not response.is_success:
        raise read_error(response)
    return Answer(read_body(response), response.status_code, response.headers)


def request_token(credentials: Credentials, retries: Retries) -> Steps:
    if credentials.current() is not None:
        return  # Another call was first.
    response = yield from send(credentials.token_request(), retries)
    if not response.is_success:
        raise read_error(response)
    credentials.accept(response.json())


def request_of(
    operation: Operation,
    given: dict[str, Any],
    base_url: str,
    accept: str | None,
    credentials: tuple[dict[str, str], dict[str, str]],
) -> httpx.Request:
    added, query = credentials
    path = re.sub(r"\{(\w+)\}", lambda found: quote(str(given[found[1]]), safe=""), operation.path)
    parameters = [(name, text(each)) for name in operation.query for each in many(given.get(name))]
    headers = {name: text(given[name]) for name in operation.headers if given.get(name) is not None} | added
    if accept or operation.accept:
        headers["Accept"] = accept or operation.accept or ""
    body = given.get("body")
    content: dict[str, Any] = {}
    if body is not None:
        media = given.get("contentType") or operation.body or ""
        headers["Content-Type"] = media
        if media.endswith("json"):
            content = {"json": body}
        elif media == FORM:
            content = {"data": {name: [text(each) for each in many(value)] for name, value in body.items()}}
        else:
            content = {"content": body}
    params = httpx.QueryParams([*parameters, *query.items()])
    return httpx.Request(operation.method, base_url + path, params=params or None, headers=headers, **content)


def many(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_body(response: httpx.Response) -> Any:
    media = response.headers.get("content-type", "").split(";")[0].strip()
    if response.status_code == 204 or not media:
        return None
    if media.endswith("json") and not media.endswith("ndjson"):
        return response.json()
    is_text = re.match(r"text/|image/svg|application/(jose|xml|yaml|x-ndjson)$", media)
    return response.text if is_text else response.content


def page_of(answer: Answer) -> tuple[list[Any], str | None]:
    """The items of a page and the cursor of the next one. A page that is neither a list nor has ``values`` is an
    item."""
    data = answer.data
    is_object = isinstance(data, dict)
    items = data if isinstance(data, list) else data["values"] if is_object and "values" in data else [data]
    cursor = data.get("next") if is_object else None
    if not cursor:
        link = re.search(r'<([^>]*)>\s*;[^,<]*\brel="?next"?', answer.headers.get("link", ""))
        cursor = httpx.URL(link[1]).params.get("cursor") if link else None
    return items, cursor
