"""Who calls. Tokens of a token endpoint are renewed before they end, and after a 401."""

import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote_plus

import httpx


@dataclass(frozen=True)
class ApiKey:
    """An API key."""

    key: str


@dataclass(frozen=True)
class LinkToken:
    """The token of a transaction or of a person's choices: ``t`` in their links."""

    token: str


@dataclass(frozen=True)
class AccessToken:
    """An access token, or a function that returns one and is asked for each request."""

    token: str | Callable[[], str]


@dataclass(frozen=True)
class ClientCredentials:
    client_id: str
    client_secret: str
    #: Default: that of the built-in issuer, ``<base_url>/auth``.
    token_url: str | None = None
    scope: str | None = None


@dataclass(frozen=True)
class RefreshToken:
    client_id: str
    refresh_token: str
    client_secret: str | None = None
    token_url: str | None = None
    scope: str | None = None
    #: Is told each new refresh token, to store it.
    on_refresh_token: Callable[[str], None] | None = None


@dataclass(frozen=True)
class Password:
    """The password grant, for trials: people sign in with the authorization code."""

    client_id: str
    username: str
    password: str
    client_secret: str | None = None
    token_url: str | None = None
    scope: str | None = None


Auth: TypeAlias = ApiKey | LinkToken | AccessToken | ClientCredentials | RefreshToken | Password


class Credentials:
    """What is added to requests. It sends nothing itself."""

    def __init__(self, auth: Auth | None, base_url: str) -> None:
        self._auth = auth
        self._base_url = base_url
        self._token: str | None = None
        self._ends = 0.0
        self._refresh_token = auth.refresh_token if isinstance(auth, RefreshToken) else None

    def current(self) -> tuple[dict[str, str], dict[str, str]] | None:
        """Headers and query parameters; None if a token is to be requested first."""
        auth = self._auth
        if auth is None:
            return {}, {}
        if isinstance(auth, ApiKey):
            return {"CM_KEY": auth.key}, {}
        if isinstance(auth, LinkToken):
            return {}, {"t": auth.token}
        if isinstance(auth, AccessToken):
            token = auth.token if isinstance(auth.token, str) else auth.token()
            return {"Authorization": f"Bearer {token}"}, {}
        if self._token is None or self._ends <= time.monotonic():
            return None
        return {"Authorization": f"Bearer {self._token}"}, {}

    def refuse(self) -> bool:
        """Forgets a token that was refused. Returns whether there can be another one."""
        self._token = None
        if isinstance(self._auth, AccessToken):
            return callable(self._auth.token)
        return isinstance(self._auth, ClientCredentials | RefreshToken | Password)

    def token_request(self) -> httpx.Request:
        auth = self._auth
        assert isinstance(auth, ClientCredentials | RefreshToken | Password)
        form = {"scope": auth.scope} if auth.scope else {}
        headers = {"Accept": "application/json"}
        if self._refresh_token:
            form |= {"grant_type": "refresh_token", "refresh_token": self._refresh_token}
        elif isinstance(auth, Password):
            form |= {"grant_type": "password", "username": auth.username, "password": auth.password}
        else:
            form["grant_type"] = "client_credentials"
        if auth.client_secret:
            # RFC 6749, section 2.3.1: both are encoded as in forms.
            encoded = f"{quote_plus(auth.client_id)}:{quote_plus(auth.client_secret)}"
            headers["Authorization"] = f"Basic {b64encode(encoded.encode()).decode()}"
        else:
            form["client_id"] = auth.client_id
        return httpx.Request("POST", auth.token_url or f"{self._base_url}/auth", data=form, headers=headers)

    def accept(self, granted: dict[str, Any]) -> None:
        """Takes the answer of the token endpoint."""
        life = float(granted.get("expires_in", 300))
        self._token = granted["access_token"]
        # A tenth of a life, at most half a minute, for requests under way.
        self._ends = time.monotonic() + life - min(30.0, life / 10)
        token = granted.get("refresh_token")
        if self._refresh_token and token and token != self._refresh_token:
            self._refresh_token = token
            if isinstance(self._auth, RefreshToken) and self._auth.on_refresh_token:
                self._auth.on_refresh_token(token)
