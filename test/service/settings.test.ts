import { afterAll, describe, expect, it, vi } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter, problemOf } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { startMailServer } from '../support/network/mail-server.ts';

type Settings = components['schemas']['Settings'];

const server = await startMailServer();
afterAll(() => server.close());
const instance = useInstance({ MAIL_URL: server.url, DEMO: 'true' });
const admin: Caller = useSetup(() => signIn(instance, 'admin'));

const read = async (by = admin) => (await (await by.get('/settings')).json()) as Settings;
const change = (body: object, headers = {}) => admin.send('PUT', '/settings', body, headers);
const textOf = async (path: string, accept = 'text/html') =>
  (await instance.fetch(path, { headers: { Accept: accept } })).text();

/** A PNG of one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

describe('the settings of an instance', () => {
  it('have defaults, and none is pinned', async () => {
    expect(await read()).toEqual({
      name: 'Riverside Theatre',
      language: 'en',
      timeZone: 'UTC',
      logo: null,
      mailFrom: 'no-reply@localhost',
      auditRetention: 'P2Y',
      recordRetention: null,
      abandonedRetention: 'P90D',
      backupRetention: 'P35D',
      pinned: [],
    });
  });

  it('are in force everywhere without a restart: name, language, time zone and sender', async () => {
    const changed = await change({
      name: 'Lakeside Clinic',
      language: 'fr',
      timeZone: 'Pacific/Auckland',
      mailFrom: 'Lakeside <post@lakeside.example>',
    });
    expect(changed.status).toBe(200);
    expect(await textOf('/')).toContain('Lakeside Clinic');
    expect(await textOf('/openapi.json', 'application/json')).toContain('"description":"Lakeside Clinic"');
    const config = (await (await instance.fetch('/system/config')).json()) as Record<string, unknown>;
    expect(config).toMatchObject({ name: 'Lakeside Clinic', language: 'fr', timeZone: 'Pacific/Auckland' });
    const described = (await (await instance.fetch('/.well-known/accord')).json()) as Record<string, string>;
    expect(described.name).toBe('Lakeside Clinic');
    const [, claims = ''] = described.jws?.split('.') ?? [];
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      name: 'Lakeside Clinic',
    });
    const stats = (await (await admin.get('/stats')).json()) as { timeZone: string };
    expect(stats.timeZone).toBe('Pacific/Auckland');
    // The page of a link that is unknown, for a reader who asks for no language.
    const setup = await (await fetch(`${instance.url}/auth/setup?token=unknown`)).text();
    expect(setup).toContain('Lakeside Clinic');
    expect(setup).toContain('lang="fr"');
  });

  it('are on the receipts and in the mails that follow', async () => {
    const to = 'anna@settings.example';
    const made = await admin.send('POST', '/consents', {
      subject: 'anna',
      layout: 'layout.001',
      sendInvitation: true,
      subjectInfos: { emailAddress: to },
    });
    expect(made.status).toBe(201);
    const { mail } = await server.waitFor(to);
    expect(mail.from).toMatchObject({ name: 'Lakeside', address: 'post@lakeside.example' });
    const { id } = await recordAnswers(admin, 'berta', { [letter]: ['accepted'] });
    const receipt = (await (await admin.get(`/receipts/${id}`)).json()) as { collector: { name: string } };
    expect(receipt.collector.name).toBe('Lakeside Clinic');
  });

  it('are kept by every service, and known after a restart', async () => {
    for (const schema of ['auth', 'forms', 'transactions', 'peers', 'webhooks'])
      await vi.waitFor(async () =>
        expect(
          await rowsOf(instance, `SELECT settings->>'name' AS name FROM ${schema}.instance_settings`),
        ).toEqual([{ name: 'Lakeside Clinic' }]),
      );
    const again = await startTestInstance({ DATABASE_URL: instance.databaseUrl }, instance.secrets);
    try {
      const config = (await (await again.fetch('/system/config')).json()) as { name: string };
      expect(config.name).toBe('Lakeside Clinic');
    } finally {
      await again.stop();
    }
  });

  it('are audited one by one, with the old and the new value', async () => {
    const { values } = (await (await admin.get('/audit/models?action=setting.updated')).json()) as {
      values: { target: string; outcome: string }[];
    };
    const lines = values.map(({ target, outcome }) => [target, JSON.parse(outcome)]);
    expect(lines).toContainEqual(['setting/name', ['Riverside Theatre', 'Lakeside Clinic']]);
    expect(lines).toContainEqual(['setting/timeZone', ['UTC', 'Pacific/Auckland']]);
  });

  it('get their defaults by null, and stay as they are if they are not sent', async () => {
    expect((await change({ timeZone: null, language: null })).status).toBe(200);
    const { name, timeZone, language } = await read();
    expect([name, timeZone, language]).toEqual(['Lakeside Clinic', 'UTC', 'en']);
  });

  it('are changed only as they were read', async () => {
    const response = await admin.get('/settings');
    const etag = response.headers.get('etag') ?? '';
    const whole = (await response.json()) as Settings;
    expect((await change({ ...whole, recordRetention: 'P5Y' }, { 'If-Match': etag })).status).toBe(200);
    expect((await change({ recordRetention: null }, { 'If-Match': etag })).status).toBe(412);
    expect((await read()).recordRetention).toBe('P5Y');
  });

  it.each([
    [{ name: '\u202eClinic' }, '/name'],
    [{ language: 'sw' }, '/language'],
    [{ timeZone: 'Mars/Olympus' }, '/timeZone'],
    [{ logo: '/assets/logos/0197a1f3-0d1c-7c52-8a57-0c9d2c3c9a10' }, '/logo'],
    [{ mailFrom: 'nobody' }, '/mailFrom'],
    [{ auditRetention: 'P1D' }, '/auditRetention'],
  ])('refuse %j', async (body, pointer) => {
    const response = await change(body);
    expect(response.status).toBe(422);
    expect((await problemOf(response)).errors).toMatchObject([{ pointer, code: 'invalid' }]);
  });

  it('have a logo, which pages show whose theme has none', async () => {
    const upload = (body: Buffer) =>
      instance.fetch('/settings/logo', {
        method: 'PUT',
        headers: { ...admin.headers, 'Content-Type': 'image/png' },
        body,
      });
    expect((await upload(Buffer.from('<svg/>'))).status).toBe(422);
    const { logoPath } = (await (await upload(png)).json()) as { logoPath: string };
    expect((await change({ logo: logoPath })).status).toBe(200);
    expect(await textOf('/')).toContain(`src="${logoPath}"`);
    expect((await instance.fetch(logoPath)).headers.get('content-type')).toBe('image/png');
    await change({ logo: null });
    expect(await textOf('/')).not.toContain(logoPath);
  });

  it('are read by auditors and technicians, and changed by administrators alone', async () => {
    for (const role of ['auditor', 'technician']) {
      const by = await signIn(instance, role);
      expect((await read(by)).name).toBe('Lakeside Clinic');
      expect((await by.send('PUT', '/settings', { name: 'Another' })).status).toBe(403);
    }
    const clerk = await signIn(instance, 'clerk');
    expect((await clerk.get('/settings')).status).toBe(403);
  });
});

describe('a setting that the environment pins', () => {
  const fixed = useInstance({ INSTANCE_NAME: 'Northern Lab', RECORD_RETENTION: 'P1Y', DEMO: 'true' });
  const by: Caller = useSetup(() => signIn(fixed, 'admin'));

  it('is shown with its variable, cannot be changed, and can be sent back', async () => {
    const settings = await read(by);
    expect(settings).toMatchObject({ name: 'Northern Lab', recordRetention: 'P1Y' });
    expect(settings.pinned).toEqual([
      { member: 'name', variable: 'INSTANCE_NAME' },
      { member: 'recordRetention', variable: 'RECORD_RETENTION' },
    ]);
    const refused = await by.send('PUT', '/settings', { name: 'Another', timeZone: 'Asia/Tokyo' });
    expect((await problemOf(refused)).errors).toMatchObject([
      { pointer: '/name', code: 'pinned', detail: 'is set by the environment variable INSTANCE_NAME' },
    ]);
    expect((await by.send('PUT', '/settings', { ...settings, timeZone: 'Asia/Tokyo' })).status).toBe(200);
    expect(await read(by)).toMatchObject({ name: 'Northern Lab', timeZone: 'Asia/Tokyo' });
  });
});
