import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { AccordError, createAccord, signingKeys, verifySignedReceipt, verifyWebhook } from 'accord-client';

/** The flow with the published client of this repository, in Node.js, Deno and Bun. */
const { ACCORD_URL: baseUrl, ACCORD_TOKEN: token, ACCORD_SUBJECT: subject } = process.env;

function step(name) {
  console.log('step', name);
}

function require(isTrue, seen) {
  if (!isTrue) throw new Error(JSON.stringify(seen));
}

/** What a promise rejects with. */
function failure(promise) {
  return promise.then(
    (found) => require(false, found),
    (error) => error,
  );
}

step('readme');
const said = [];
const { log } = console;
console.log = (line) => said.push(line);
await import('./first.mjs');
console.log = log;
require(JSON.parse(said.at(-1))['processing.001'][0].status === 'VALID', said);

step('key');
const admin = createAccord({
  baseUrl,
  auth: { clientId: 'accord', username: 'admin', password: 'demo' },
});
const { key: apiKey } = await admin.createKey({ body: { name: subject, scope: 'OWNER' } });
const shop = admin.as({ apiKey });

step('webhook');
const server = createServer();
const received = new Promise((resolve) => {
  server.on('request', async (request, response) => {
    resolve({ body: await text(request), headers: request.headers });
    response.writeHead(204).end();
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const targetUrl = `http://127.0.0.1:${server.address().port}/hook`;
const subscribedActions = ['consent.committed'];
const webhook = await shop.createWebhook({ body: { targetUrl, subscribedActions } });

step('create');
const { id: txid, token: linkToken } = await shop.createTransaction({
  body: { subject, layout: 'layout.001' },
});
const person = shop.as({ linkToken });

step('form');
const { elements } = await person.getForm({ txid });
const body = Object.fromEntries(elements.map(({ identifier, answers }) => [identifier, [answers[0]]]));

step('submit');
const submitted = await person.submitAnswers({ txid, body });
require(submitted.state === 'COMMITTED', submitted);

step('event');
const message = await received;
server.close();
const event = await verifyWebhook(message.body, message.headers, webhook.secret);
require(event.type === 'io.accord.consent.committed.v1', event);
for (const [changed, headers] of [
  [`${message.body} `, message.headers],
  [message.body, new Headers({ ...message.headers, 'webhook-timestamp': '1700000000' })],
])
  require((await failure(verifyWebhook(changed, headers, webhook.secret))).name === 'WebhookError', changed);
await shop.deleteWebhook({ id: webhook.id });

step('records');
const records = await shop.listRecords({ subject });
require(records['processing.001'][0].subject === subject, records);

step('receipt');
const receipt = await person.getReceipt({ txid });
const pdf = await person.getReceipt({ txid, accept: 'application/pdf' });
require((await pdf.slice(0, 5).text()) === '%PDF-', pdf.type);

step('verify');
const jws = await person.getReceipt({ txid, accept: 'application/jose' });
const keys = await signingKeys(shop);
const signed = await verifySignedReceipt(jws, keys);
require(JSON.stringify(signed.consents) === JSON.stringify(receipt.consents), signed);
const [header, payload, signature] = jws.split('.');
const forged = [header, payload.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')), signature].join('.');
require((await failure(verifySignedReceipt(forged, keys))).name === 'ReceiptError', forged);

step('withdraw');
const withdrawal = await shop.withdrawConsents({ txid, body: {} });
require(withdrawal.kind === 'WITHDRAWAL', withdrawal);

step('pages');
for (const object of ['a', 'b', 'c'])
  await shop.createTransaction({ body: { subject, object, layout: 'layout.001' } });
const found = [];
for await (const each of shop.iterate.listTransactions({ subject, limit: 2 })) found.push(each.id);
require(new Set(found).size >= 4 && found.includes(txid), found);

step('redirect');
const { values } = await shop.listModels({ keys: ['layout.001'] });
const active = await shop.getActiveVersion({ id: values[0].id });
require(active.serial === '1.0', active);

step('renewal');
const tokens = ['outdated', token];
const signedIn = shop.as({ accessToken: () => tokens.shift() });
require((await signedIn.getUser()).username === 'operator', tokens);

step('problem');
const refused = await failure(shop.createTransaction({ body: { subject, layout: 'unknown' } }));
require(refused instanceof AccordError && refused.status === 422, refused);
require(/^[a-z-]+$/.test(refused.code) && refused.pointer === '/layout', refused);

step('signal');
const leaving = new AbortController();
const left = failure(shop.getUser({}, { signal: leaving.signal }));
leaving.abort();
require((await left).name === 'AbortError', await left);

step('done');
