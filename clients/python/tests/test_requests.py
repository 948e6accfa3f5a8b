"""What is sent, without an instance. ACCORD_CONTRACT is the path of openapi.yaml as JSON."""

import asyncio
import inspect
import json
import os
import re
import time
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

import httpx

from accord_client import Accord, AccordError, ApiKey, AsyncAccord, Auth, RefreshToken

BASE = "https://consent.example.org"


class Script:
    """Responses that are given one after the other, and the requests."""

    def __init__(self, *responses: httpx.Response | Exception) -> None:
        self.responses = list(responses)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        response = self.responses.pop(0) if self.responses else httpx.Response(200, json={})
        if isinstance(response, Exception):
            raise response
        return response

    def client(self, auth: Auth | None = None) -> Accord:
        return Accord(BASE, auth, http=httpx.Client(transport=httpx.MockTransport(self)))

    def async_client(self, auth: Auth | None = None) -> AsyncAccord:
        return AsyncAccord(BASE, auth, http=httpx.AsyncClient(transport=httpx.MockTransport(self)))


def refused(status: int, after: str | None = None) -> httpx.Response:
    return httpx.Response(status, json={}, headers={"Retry-After": after} if after else {})


def token(name: str) -> httpx.Response:
    return httpx.Response(200, json={"access_token": name, "expires_in": 300, "refresh_token": f"after {name}"})


class RequestTest(unittest.TestCase):
    def test_repeats_a_request_when_it_is_told_to(self) -> None:
        script = Script(refused(429, "7"), refused(503, "0"))
        with mock.patch("time.sleep") as sleep:
            script.client().create_transaction({"subject": "alice", "layout": "layout.001"})
        self.assertEqual([each.args[0] for each in sleep.call_args_list], [7, 0])
        self.assertEqual({each.content for each in script.requests}, {b'{"subject":"alice","layout":"layout.001"}'})
        self.assertEqual(len(script.requests), 3)
        with self.assertRaises(AccordError) as caught:
            Script(refused(503, "3600")).client().get_user()
        self.assertEqual(caught.exception.retry_after, 3600)

    def test_repeats_what_may_have_been_done_only_without_effect(self) -> None:
        lost = Script(httpx.ConnectError("lost"), refused(502, "0"))
        with mock.patch("time.sleep"):
            self.assertEqual(lost.client().get_user(), {})
        sent = Script(httpx.ConnectError("lost"))
        with self.assertRaises(httpx.ConnectError):
            sent.client().create_transaction({"subject": "alice", "layout": "layout.001"})
        self.assertEqual(len(sent.requests), 1)

    def test_does_not_take_a_key_to_another_origin(self) -> None:
        script = Script(httpx.Response(303, headers={"Location": "https://elsewhere.example/"}))
        with self.assertRaises(AccordError):
            script.client(ApiKey("secret")).get_active_version("1")
        self.assertEqual(len(script.requests), 1)

    def test_renews_a_token_before_it_ends_and_after_a_401(self) -> None:
        told: list[str] = []
        script = Script(token("one"), refused(401), token("two"), httpx.Response(200, json={}), token("three"))
        auth = RefreshToken("shop", "first", client_secret="a b", on_refresh_token=told.append)
        client = script.client(auth)
        client.get_user()
        later = time.monotonic() + 280
        with mock.patch("time.monotonic", return_value=later):
            client.get_user()
        self.check_tokens(script, told)

    def test_renews_a_token_once_for_all_calls_at_the_same_time(self) -> None:
        script = Script(token("one"))

        async def flow() -> None:
            async with script.async_client(RefreshToken("shop", "first")) as client:
                await asyncio.gather(client.get_user(), client.get_user(), client.get_user())

        asyncio.run(flow())
        self.assertEqual([each.url.path for each in script.requests], ["/auth", "/user", "/user", "/user"])

    def check_tokens(self, script: Script, told: list[str]) -> None:
        grants = [each for each in script.requests if each.url.path == "/auth"]
        given = ["first", "after+one", "after+two"]
        self.assertEqual([each.content.decode().split("refresh_token=")[1] for each in grants], given)
        self.assertEqual(grants[0].headers["authorization"], "Basic c2hvcDphK2I=")
        self.assertEqual(told, ["after one", "after two", "after three"])
        used = [each.headers["authorization"] for each in script.requests if each.url.path == "/user"]
        self.assertEqual(used, ["Bearer one", "Bearer two", "Bearer three"])


class ContractTest(unittest.TestCase):
    """Every operation of the contract can be called, as the contract says."""

    def test_without_async(self) -> None:
        script = Script()
        client = script.client(ApiKey("secret"))
        self.check(client, script, lambda result: result)

    def test_with_async(self) -> None:
        script = Script()
        client = script.async_client(ApiKey("secret"))

        async def flow(result: Any) -> None:
            await result

        self.check(client, script, lambda result: asyncio.run(flow(result)))

    def check(self, client: Accord | AsyncAccord, script: Script, finish: Callable[[Any], Any]) -> None:
        with open(os.environ["ACCORD_CONTRACT"], encoding="utf-8") as file:
            paths = json.load(file)["paths"]
        operations = [
            (method, path, item[method])
            for path, item in paths.items()
            for method in ("get", "put", "post", "delete", "patch")
            if method in item
        ]
        self.assertGreater(len(operations), 100)
        for method, path, operation in operations:
            name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", operation["operationId"]).lower()
            call = getattr(client, name)
            required: dict[str, Any] = {
                each.name: {} if each.name == "body" else "a b"
                for each in inspect.signature(call).parameters.values()
                if each.default is each.empty
            }
            if required.get("body") == {} and "content_type" in required:
                required |= {"body": b"", "content_type": "application/pdf"}
            finish(call(**required))
            request = script.requests[-1]
            self.assertEqual(request.method, method.upper())
            self.assertEqual(request.url.raw_path.decode().split("?")[0], re.sub(r"\{\w+\}", "a%20b", path))
