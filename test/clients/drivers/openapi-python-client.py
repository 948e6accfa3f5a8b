"""The flow with openapi-python-client."""

import json
import os

from accord_client import AuthenticatedClient, models
from accord_client.api.transactions import (
    create_transaction,
    get_form,
    get_receipt,
    list_records,
    submit_answers,
    withdraw_consents,
)

url, token, subject = (os.environ[name] for name in ("ACCORD_URL", "ACCORD_TOKEN", "ACCORD_SUBJECT"))
client = AuthenticatedClient(base_url=url, token=token)


def step(name: str) -> None:
    print("step", name, flush=True)


step("create")
created = create_transaction.sync(client=client, body=models.ConsentContext(subject=subject, layout="layout.001"))
assert isinstance(created, models.Transaction) and created.state == "CREATED", created

step("later")
# What a later version of an instance may send. The client is of the contract without `enum`.
later = models.Transaction.from_dict({**created.to_dict(), "state": "LATER", "kind": "LATER", "laterMember": True})
assert later.state == "LATER" and later.kind == "LATER", later

step("form")
form = get_form.sync(created.id, client=client)
assert isinstance(form, models.Form), form
assert all(element.content.title or element.content.label for element in form.elements), form

step("submit")
answers = models.Answers()
for element in form.elements:
    answers[element.identifier] = [element.answers[0]]
submitted = submit_answers.sync(created.id, client=client, body=answers)
assert isinstance(submitted, models.Transaction) and submitted.state == "COMMITTED", submitted

step("records")
records = list_records.sync(client=client, subject=subject)
assert isinstance(records, models.RecordsByKey), records
assert records["processing.001"][0].subject == subject, records

step("receipt")
receipt = get_receipt.sync(created.id, client=client)
assert isinstance(receipt, models.Receipt) and receipt.receipt_id and receipt.consents[0].answer, receipt

step("signed")
for format_, start in (("jose", b"eyJ"), ("pdf", b"%PDF-")):
    # Typed results are JSON; the other media types are read from the response itself.
    request = get_receipt._get_kwargs(created.id, format_=format_)
    assert client.get_httpx_client().request(**request).content.startswith(start), format_

step("event")
event = models.ConsentEvent.from_dict(json.loads(os.environ["ACCORD_EVENT"]))
assert event.data.state == "COMMITTED" and event.data.version > 0, event

step("withdraw")
try:
    withdraw_consents.sync(created.id, client=client, body={"elements": ["processing.001"]})
except AttributeError:
    pass
else:
    raise AssertionError("a dictionary was sent as no body")
withdrawal = withdraw_consents.sync(created.id, client=client, body=models.WithdrawalInput())
assert isinstance(withdrawal, models.Transaction) and withdrawal.kind == "WITHDRAWAL", withdrawal

step("problem")
problem = create_transaction.sync(client=client, body=models.ConsentContext(subject=subject, layout="unknown"))
assert isinstance(problem, models.Problem) and problem.errors[0].pointer == "/layout" and problem.code, problem

step("done")
