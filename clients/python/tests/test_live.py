"""With a running instance: ACCORD_URL, and ACCORD_KEY, an API key."""

import asyncio
import http.server
import os
import queue
import threading
import unittest
import uuid

from accord_client import (
    Accord,
    AccordError,
    ApiKey,
    AsyncAccord,
    LinkToken,
    Password,
    ReceiptError,
    WebhookError,
    signing_keys,
    signing_keys_async,
    types,
    verify_signed_receipt,
    verify_webhook,
)

URL = os.environ["ACCORD_URL"]
KEY = ApiKey(os.environ["ACCORD_KEY"])
ANSWERS: types.Answers = {
    "element/processing/processing.001/1.0": "accepted",
    "element/processing/processing.002/1.0": "refused",
    "element/preference/preference.001/1.0": ["Once a month"],
}


def new_context() -> types.ConsentContext:
    return {"subject": f"client-{uuid.uuid4()}", "layout": "layout.001"}


class Endpoint(http.server.BaseHTTPRequestHandler):
    received: "queue.Queue[tuple[bytes, dict[str, str]]]" = queue.Queue()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.received.put((body, dict(self.headers)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


class LiveTest(unittest.TestCase):
    def setUp(self) -> None:
        self.accord = Accord(URL, KEY)
        self.addCleanup(self.accord.close)

    def test_collects_proves_and_withdraws_a_consent(self) -> None:
        context = new_context()
        created = self.accord.create_transaction(context)
        person = self.accord.acting_as(LinkToken(created["token"]))
        form = person.get_form(created["id"])
        self.assertEqual(len(form["elements"]), 3)
        submitted = person.submit_answers(created["id"], ANSWERS)
        self.assertEqual(submitted["state"], "COMMITTED")
        records = self.accord.list_records(subject=context["subject"])
        self.assertEqual(records["processing.001"][0]["value"], "accepted")

        jws = person.get_receipt(created["id"], accept="application/jose")
        keys = signing_keys(self.accord)
        self.assertEqual(verify_signed_receipt(jws, keys), person.get_receipt(created["id"]))
        header, payload, signature = jws.split(".")
        forged = ".".join([header, payload[:-1] + ("B" if payload.endswith("A") else "A"), signature])
        for text in (forged, "no receipt", jws.replace(".", "", 1)):
            self.assertRaises(ReceiptError, verify_signed_receipt, text, keys)
        with self.assertRaisesRegex(ReceiptError, "does not publish the key"):
            verify_signed_receipt(jws, {"keys": []})
        pdf = person.get_receipt(created["id"], accept="application/pdf")
        self.assertTrue(pdf.startswith(b"%PDF-"))

        withdrawal = self.accord.withdraw_consents(created["id"], {})
        self.assertEqual(withdrawal.get("kind"), "WITHDRAWAL")

    def test_verifies_the_messages_of_a_webhook(self) -> None:
        server = http.server.HTTPServer(("127.0.0.1", 0), Endpoint)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/hook"
        webhook = self.accord.create_webhook({"targetUrl": url, "subscribedActions": ["consent.committed"]})
        self.addCleanup(self.accord.delete_webhook, webhook["id"])
        secret = webhook["secret"]
        created = self.accord.create_single_step_transaction({"context": new_context(), "values": ANSWERS})
        body, headers = Endpoint.received.get(timeout=30)
        event = verify_webhook(body, headers, ["whsec_b3RoZXI=", secret])
        assert event["type"] == "io.accord.consent.committed.v1", event
        self.assertEqual(event["data"]["transaction"], created["id"])
        lower = {name.lower(): value for name, value in headers.items()}
        for changed, other in ((body + b" ", headers), (body, {**lower, "webhook-timestamp": "1700000000"}), (body, {})):
            self.assertRaises(WebhookError, verify_webhook, changed, other, secret)

    def test_has_a_problem_as_an_error(self) -> None:
        with self.assertRaises(AccordError) as caught:
            self.accord.create_transaction({"subject": "alice", "layout": "unknown"})
        self.assertEqual((caught.exception.status, caught.exception.pointer), (422, "/layout"))
        self.assertRegex(caught.exception.code, "^[a-z-]+$")
        with self.assertRaises(AccordError) as refused:
            Accord(URL, Password("accord", username="operator", password="wrong")).get_user()
        self.assertEqual(refused.exception.code, "invalid_grant")

    def test_reads_lists_page_after_page(self) -> None:
        made = {self.new_webhook(), self.new_webhook()}
        found = [webhook["id"] for webhook in self.accord.iterate.list_webhooks(limit=1)]
        self.assertLessEqual(made, set(found))
        subject = new_context()["subject"]
        for each in ("a", "b", "c"):
            self.accord.create_transaction({"subject": subject, "object": each, "layout": "layout.001"})
        self.assertEqual(len(list(self.accord.iterate.list_transactions(subject=subject, limit=1))), 3)

    def new_webhook(self) -> str:
        webhook = self.accord.create_webhook({"targetUrl": "http://127.0.0.1:9/", "subscribedActions": ["key.created"]})
        self.addCleanup(self.accord.delete_webhook, webhook["id"])
        return webhook["id"]

    def test_follows_a_redirect_and_returns_headers_if_asked(self) -> None:
        id_ = self.accord.list_models(keys=["layout.001"])["values"][0]["id"]
        self.assertEqual(self.accord.get_active_version(id_).get("serial"), "1.0")
        self.assertIn("etag", self.accord.call("getModel", {"id": id_}).headers)

    def test_does_the_same_with_async(self) -> None:
        async def flow() -> None:
            async with AsyncAccord(URL, Password("accord", username="operator", password="demo")) as accord:
                context = new_context()
                created = await accord.create_transaction(context)
                person = accord.acting_as(LinkToken(created["token"]))
                self.assertEqual((await person.submit_answers(created["id"], ANSWERS))["state"], "COMMITTED")
                jws = await person.get_receipt(created["id"], accept="application/jose")
                receipt = verify_signed_receipt(jws, await signing_keys_async(accord))
                self.assertEqual(receipt["subject"], context["subject"])
                found = [each["id"] async for each in accord.iterate.list_transactions(subject=context["subject"])]
                self.assertEqual(found, [created["id"]])

        asyncio.run(flow())
