import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { answered, type LeadingInstance, startLeading } from '../support/instances/leader-instance.ts';
import { activateContent, type LiveModel } from '../support/instances/live-models.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { leadsTo, linkIn, type ReceivedMail, startMailServer } from '../support/network/mail-server.ts';
import { selfSignedCertificate } from '../support/network/self-signed-certificate.ts';

const trusted = selfSignedCertificate(['localhost']);
const folder = mkdtempSync(path.join(tmpdir(), 'accord-mail-ca-'));
const certificates = path.join(folder, 'ca.pem');
writeFileSync(certificates, trusted.cert);
let isEncrypted = false;
const server = await startMailServer({
  ...trusted,
  onMailFrom(_address, session, done) {
    isEncrypted = session.secure;
    done();
  },
});
let here: LeadingInstance;
let admin: Caller;
beforeAll(async () => {
  here = await startLeading({ MAIL_URL: `${server.url}?tls=required`, MAIL_CA: certificates });
  admin = await signIn(here, 'admin');
}, 60_000);
afterAll(async () => {
  await Promise.all([here?.stop(), server.close()]);
  rmSync(folder, { recursive: true });
});

it('mails go to a server whose certificate only MAIL_CA makes valid', async () => {
  await mailAbout('message.invitation');
  expect(isEncrypted).toBe(true);
});

let people = 0;
/** Causes the mail to a new person. */
const causes = {
  async 'message.invitation'(emailAddress: string) {
    return createTransaction(here.operator, { sendInvitation: true, subjectInfos: { emailAddress } });
  },
  async 'message.bad-news'(emailAddress: string) {
    const made = await answered(here, { subjectInfos: { emailAddress } });
    await here.say(made, here.lab, { verdict: 'refused' });
    return made;
  },
};

async function mailAbout(key: keyof typeof causes): Promise<ReceivedMail['mail'] & { id: string }> {
  people += 1;
  const address = `ann.${people}@example.org`;
  const { id } = await causes[key](address);
  return { ...(await server.waitFor(address)).mail, id };
}

it.each([
  ['message.invitation', 'Riverside Theatre asks for your consent'],
  ['message.bad-news', 'Answers that you gave were not saved'],
] as const)(
  'a model with the key %s replaces the built-in text in mails until it is removed',
  async (key, builtIn) => {
    expect((await mailAbout(key)).subject).toBe(builtIn);
    const response = await admin.send('POST', '/models', { type: 'email', key, name: key });
    const model = (await response.json()) as LiveModel;
    const subject = 'News from {organisation}';
    const body = '<p>Please <a href="{link}">look</a> at {link}, not at {this}.</p>';
    const content = { subject, body, buttonLabel: 'Look', sender: 'Somebody else <else@example.org>' };
    const version = await activateContent(admin, model, { en: content });
    const mail = await mailAbout(key);
    const preview = await admin.send('POST', `/models/${model.id}/versions/${version}/preview`);
    const page = await preview.text();
    expect(page).toContain(mail.from?.address);
    expect(page).not.toContain('else@example.org');
    expect(mail.subject).toBe('News from Riverside Theatre');
    const link = linkIn(mail);
    expect(await leadsTo(link)).toContain(`/consents/${mail.id}?t=`);
    for (const part of [mail.text, mail.html]) expect(part).toContain('not at {this}.');
    expect(mail.html).toContain(`href="${link}"`);
    expect(mail.text).not.toContain(builtIn);
    expect((await fetch(link, { headers: { Accept: 'text/html' } })).status).toBe(200);
    await admin.send('DELETE', `/models/${model.id}`);
    expect((await mailAbout(key)).subject).toBe(builtIn);
  },
);
