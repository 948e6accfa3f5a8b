import {
  AccordError,
  createAccord,
  ReceiptError,
  signingKeys,
  verifySignedReceipt,
} from '/accord-client/dist/index.js';

/** What pages and workers do with the published client of this repository. */
const flows = { person, staff, stranger };

/** The link of a form, as a person has it: answers, proves and withdraws. */
async function person(link) {
  const { txid, accord } = fromLink(link);
  const { elements } = await accord.getForm({ txid });
  const body = Object.fromEntries(elements.map(({ identifier, answers }) => [identifier, [answers[0]]]));
  const { state } = await accord.submitAnswers({ txid, body });
  const jws = await accord.getReceipt({ txid, accept: 'application/jose' });
  const keys = await signingKeys(accord);
  const receipt = await verifySignedReceipt(jws, keys);
  const [header, payload, signature] = jws.split('.');
  const forged = [header, payload.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')), signature].join('.');
  const isForgeryRefused = await verifySignedReceipt(forged, keys).catch(
    (error) => error instanceof ReceiptError,
  );
  const pdf = await accord.getReceipt({ txid, accept: 'application/pdf' });
  const { kind } = await accord.withdrawConsents({ txid, body: {} });
  return {
    asked: elements.length,
    state,
    proved: receipt.consents.length,
    isForgeryRefused,
    pdf: await pdf.slice(0, 5).text(),
    kind,
    problem: await codeOf(accord.cancelTransaction({ txid })),
  };
}

/** Tokens, of which the first is outdated. */
async function staff(baseUrl, ...tokens) {
  const accord = createAccord({ baseUrl, auth: { accessToken: () => tokens.shift() ?? last } });
  const last = tokens.at(-1);
  const { username } = await accord.getUser();
  const subject = `browser-${crypto.randomUUID()}`;
  for (const object of ['a', 'b', 'c'])
    await accord.createTransaction({ body: { subject, object, layout: 'layout.001' } });
  let listed = 0;
  for await (const each of accord.iterate.listTransactions({ subject, limit: 1 }))
    if (each.subject === subject) listed += 1;
  const { values } = await accord.listModels({ keys: ['layout.001'] });
  const { serial } = await accord.getActiveVersion({ id: values[0].id });
  const problem = await codeOf(accord.createTransaction({ body: { subject, layout: 'unknown' } }));
  return { username, listed, serial, problem };
}

/** What a page may not do: answer from an origin that the instance does not know, and have a key. */
async function stranger(link, apiKey) {
  const { txid, accord } = fromLink(link, { retries: 0 });
  const { elements } = await accord.getForm({ txid });
  return {
    asked: elements.length,
    submitted: await codeOf(accord.submitAnswers({ txid, body: {} })),
    withKey: await codeOf(accord.as({ apiKey }).getUser()),
  };
}

function fromLink(link, options) {
  const { origin, pathname, searchParams } = new URL(link);
  const auth = { linkToken: searchParams.get('t') };
  return { txid: pathname.split('/')[2], accord: createAccord({ baseUrl: origin, auth, ...options }) };
}

/** The code of a problem, or the name of another error. */
function codeOf(promise) {
  return promise.then(
    () => 'none',
    (error) => (error instanceof AccordError ? error.code : error.name),
  );
}

/** @returns what a flow returns, or how it failed. */
export function run(name, ...args) {
  return flows[name](...args).catch((error) => `${name} failed: ${error.stack}`);
}

if ('importScripts' in globalThis) self.onmessage = async ({ data }) => postMessage(await run(...data));
