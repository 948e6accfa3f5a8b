"""The flow with the python client of openapi-generator."""

import os

import openapi_client as accord

url, token, subject = (os.environ[name] for name in ("ACCORD_URL", "ACCORD_TOKEN", "ACCORD_SUBJECT"))
transactions = accord.TransactionsApi(accord.ApiClient(accord.Configuration(host=url, access_token=token)))


def step(name: str) -> None:
    print("step", name, flush=True)


step("create")
created = transactions.create_transaction(accord.ConsentContext(subject=subject, layout="layout.001"))
assert created.state == "CREATED", created

step("later")
# What a later version of an instance may send. The client is of the contract without `enum`.
later = accord.Transaction.from_dict({**created.to_dict(), "state": "LATER", "kind": "LATER", "laterMember": True})
assert later and later.state == "LATER" and later.kind == "LATER", later

step("form")
form = transactions.get_form(created.id)
assert all(element.content.title or element.content.label for element in form.elements), form

step("submit")
answers = {element.identifier: [element.answers[0]] for element in form.elements}
submitted = transactions.submit_answers(created.id, answers)
assert submitted.state == "COMMITTED", submitted

step("records")
records = transactions.list_records(subject)
assert records["processing.001"][0].subject == subject, records

step("receipt")
receipt = transactions.get_receipt(created.id)
assert receipt.receipt_id and receipt.consents[0].answer, receipt

step("signed")
jws = transactions.get_receipt_without_preload_content(created.id, format="jose").data
assert jws.count(b".") == 2, jws
pdf = transactions.get_receipt_without_preload_content(created.id, format="pdf").data
assert pdf.startswith(b"%PDF-"), pdf

step("event")
event = accord.ConsentEvent.from_json(os.environ["ACCORD_EVENT"])
assert event and event.data.state == "COMMITTED" and event.data.version > 0, event

step("withdraw")
# A dictionary is as good as an object of the model.
withdrawal = transactions.withdraw_consents(created.id, withdrawal_input={"elements": ["processing.001"]})
assert withdrawal.kind == "WITHDRAWAL", withdrawal

step("problem")
try:
    transactions.create_transaction(accord.ConsentContext(subject=subject, layout="unknown"))
except accord.ApiException as failure:
    assert failure.data.errors[0].pointer == "/layout" and failure.data.code, failure
else:
    raise AssertionError("an unknown layout was accepted")

step("done")
