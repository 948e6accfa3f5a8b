"""Receipts and webhooks are verified without a request."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

import jwt

from ._contract import JwkSet, Receipt, WebhookEvent
from .client import Accord, AsyncAccord
from .errors import AccordError, ReceiptError, WebhookError


def signing_keys(accord: Accord) -> JwkSet:
    """The keys with which an instance signs, also earlier ones. Older instances have no JWK Set of their own."""
    try:
        return accord.get_signing_keys()
    except AccordError as error:
        if error.status != 404:
            raise
        return _signing(accord.get_instance())


async def signing_keys_async(accord: AsyncAccord) -> JwkSet:
    try:
        return await accord.get_signing_keys()
    except AccordError as error:
        if error.status != 404:
            raise
        return _signing(await accord.get_instance())


def _signing(description: Any) -> JwkSet:
    return {"keys": [key for key in description["jwks"]["keys"] if key.get("use") == "sig"]}


def verify_signed_receipt(jws: str, keys: JwkSet) -> Receipt:
    """Verifies a receipt (``get_receipt(…, accept="application/jose")``) and returns what was signed. ``keys`` are those
    of the instance that you trust, never of one that the receipt names."""
    try:
        header = jwt.get_unverified_header(jws.strip())
        if header.get("typ") != "accord-consent-receipt+jws":
            raise ReceiptError("The header is not that of a receipt.")
        found = next((key for key in keys["keys"] if key["kid"] == header.get("kid")), None)
        if found is None:
            raise ReceiptError("The instance does not publish the key of this receipt.")
        key = jwt.PyJWK(cast(dict[str, Any], found), algorithm="ES256")
        payload = jwt.PyJWS().decode(jws.strip(), key, algorithms=["ES256"])
        return cast(Receipt, json.loads(payload))
    except (jwt.PyJWTError, ValueError) as error:
        raise ReceiptError(f"The receipt is not signed by the instance: {error}") from error


def verify_webhook(
    body: bytes | str, headers: Mapping[str, str], secret: str | Sequence[str], tolerance: float = 300
) -> WebhookEvent:
    """Verifies a message (Standard Webhooks) and returns its event (CloudEvents 1.0), which a comparison of its ``type``
    narrows; a later version of an instance may send other types. ``body`` is that of the request,
    unmodified; ``secret`` is ``whsec_…``, or several while a secret is renewed; ``tolerance`` is in seconds."""
    lower = {name.lower(): value for name, value in headers.items()}
    id_, timestamp, signatures = (lower.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not id_ or not timestamp or not signatures:
        raise WebhookError("The headers of a webhook are missing.")
    if not timestamp.isascii() or not timestamp.isdigit() or abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookError("The message is too old or too new.")
    message = body.encode() if isinstance(body, str) else body
    for each in [secret] if isinstance(secret, str) else secret:
        key = base64.b64decode(each.removeprefix("whsec_"))
        digest = hmac.new(key, f"{id_}.{timestamp}.".encode() + message, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        if any(hmac.compare_digest(expected, given.encode()) for given in signatures.split(" ")):
            return cast(WebhookEvent, json.loads(message))
    raise WebhookError("No signature is right.")
