"""Client of Accord, a consent collection service."""

from . import _contract as types
from ._exchange import Answer, Retries
from .auth import AccessToken, ApiKey, Auth, ClientCredentials, LinkToken, Password, RefreshToken
from .client import Accord, AsyncAccord
from .errors import AccordError, ReceiptError, WebhookError
from .proofs import signing_keys, signing_keys_async, verify_signed_receipt, verify_webhook

__all__ = [
    "AccessToken",
    "Accord",
    "AccordError",
    "Answer",
    "ApiKey",
    "AsyncAccord",
    "Auth",
    "ClientCredentials",
    "LinkToken",
    "Password",
    "ReceiptError",
    "RefreshToken",
    "Retries",
    "WebhookError",
    "signing_keys",
    "signing_keys_async",
    "types",
    "verify_signed_receipt",
    "verify_webhook",
]
