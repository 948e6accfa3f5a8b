import json
import re
import time
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from ._contract import Fault


class AccordError(Exception):
    """A refusal of the instance: a problem document (RFC 9457), or an error of the token endpoint (RFC 6749)."""

    def __init__(self, status: int, problem: dict[str, Any], retry_after: float | None = None) -> None:
        # Older instances have the code in the type alone.
        typed = re.search(r"/docs/problems/([a-z-]+)$", str(problem.get("type", "")))
        named = problem.get("code") or (typed[1] if typed else problem.get("error"))
        #: Stable, such as ``unknown-element``; ``unexpected`` if the response is not one of Accord.
        self.code: str = str(named or "unexpected")
        self.status = status
        said = problem.get("detail") or problem.get("error_description") or problem.get("title")
        self.detail: str = str(said or f"The response has the status {status}.")
        #: Each fault with a JSON pointer into the body, or ``/<name>`` of a parameter.
        self.errors: list[Fault] = problem.get("errors", [])
        #: That of the first fault.
        self.pointer: str | None = self.errors[0]["pointer"] if self.errors else None
        #: Seconds to wait, if the response says so.
        self.retry_after = retry_after
        #: The whole document.
        self.problem = problem
        super().__init__(f"{self.code}: {self.detail}")


class ReceiptError(Exception):
    """A text that is not a receipt which the instance has signed."""


class WebhookError(Exception):
    """A message that was not sent by the instance, or not now."""


def read_error(response: httpx.Response) -> AccordError:
    try:
        body = response.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        body = {}  # Of a proxy, for example.
    return AccordError(response.status_code, body if isinstance(body, dict) else {}, read_retry_after(response))


def read_retry_after(response: httpx.Response) -> float | None:
    """Seconds of ``Retry-After``, which has a number or a date (RFC 9110, section 10.2.3)."""
    value = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
