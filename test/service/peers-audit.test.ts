import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAudit } from '../support/instances/audit-reader.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';

let clinic: TestInstance;
let lab: TestInstance;
let clinicAdmin: Caller;
let labAdmin: Caller;
beforeAll(async () => {
  [clinic, lab] = await Promise.all([startTestInstance(), startTestInstance()]);
  [clinicAdmin, labAdmin] = await Promise.all([signIn(clinic, 'admin'), signIn(lab, 'admin')]);
});
afterAll(async () => {
  await clinic?.stop();
  await lab?.stop();
});

/** Oldest first: `<actorKind>: <action> <target>`. */
const logOf = async (admin: Caller) =>
  (await readAudit(admin.get, 'peers')).values
    .reverse()
    .map(({ actorKind, action, target }) => `${actorKind}: ${action} ${target}`);
const peerOf = async (admin: Caller) =>
  ((await (await admin.get('/peers')).json()) as { id: string }[])[0]?.id;

describe('the audit log of peers', () => {
  it('tells at both ends of a pairing, of its changes, and of its end', async () => {
    const { key } = await createKey(lab, 'for the clinic', 'PEER');
    await clinicAdmin.send('POST', '/peers', { url: lab.url, apiKey: key });
    const [id, ours] = [await peerOf(clinicAdmin), await peerOf(labAdmin)];
    await clinicAdmin.send('PUT', `/peers/${id}`, { subjectPrefix: 'lab-' });
    await clinicAdmin.send('DELETE', `/peers/${id}`);
    expect(await logOf(clinicAdmin)).toEqual([
      `account: peer.paired peer/${id}`,
      `account: peer.updated peer/${id}`,
      `account: peer.removed peer/${id}`,
    ]);
    expect(await logOf(labAdmin)).toEqual([
      `system: peer.accepted peer/${ours}`,
      `system: peer.removed peer/${ours}`,
    ]);
  });
});
