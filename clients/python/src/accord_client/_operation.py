from typing import NamedTuple


class Operation(NamedTuple):
    """How an operation is sent."""

    method: str
    path: str
    query: list[str]
    headers: list[str]
    #: The media type of the body, unless the call names one.
    body: str | None
    accept: str | None
    #: Open to everyone: credentials are not sent.
    is_public: bool
