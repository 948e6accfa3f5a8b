import { describe, expect, it, vi } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

type Subject = components['schemas']['Subject'];

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const user = useSetup(() => signIn(instance, 'user'));

const make = (body: object, caller = operator) => caller.send('POST', '/subjects', body);
const read = async (name: string) =>
  (await (await operator.get(`/subjects/${encodeURIComponent(name)}`)).json()) as Subject;
const change = (id: string, body: object, caller = operator) => caller.send('PUT', `/subjects/${id}`, body);

describe('a subject', () => {
  it('is known from their first transaction, with the address and language that it names', async () => {
    const subjectInfos = { emailAddress: 'ann@example.org', phoneNumber: '+33 1' };
    await createTransaction(operator, { subject: 'ann', subjectInfos, language: 'fr' });
    const ann = await read('ann');
    expect(ann).toMatchObject({ name: 'ann', emailAddress: 'ann@example.org', defaultLanguage: 'fr' });
    await createTransaction(operator, {
      subject: 'ann',
      subjectInfos: { emailAddress: 'other@example.org' },
    });
    expect(await read('ann')).toEqual(ann);
  });

  it('is found by each whole address and number that it has, however they are written', async () => {
    const found = async (contact: string) => {
      const list = await operator.get(`/subjects?contact=${encodeURIComponent(contact)}`);
      return ((await list.json()) as Subject[]).map(({ name }) => name).sort();
    };
    const subjectInfos = { emailAddress: 'Flo.Ray@Example.org', phoneNumber: '+33 6 39 98 00 01' };
    await createTransaction(operator, { subject: 'flo', subjectInfos });
    await createTransaction(operator, { subject: 'flo', subjectInfos: { emailAddress: 'flo@home.example' } });
    await make({ name: 'flo two', emailAddress: 'flo.ray@example.org' });
    expect(await found('flo.ray@EXAMPLE.org')).toEqual(['flo', 'flo two']);
    expect(await found('flo@home.example')).toEqual(['flo']);
    expect(await found('+33639980001')).toEqual(['flo']);
    expect(await found('flo two')).toEqual(['flo two']);
    for (const other of ['ray@example.org', '+3363998000', 'fl']) expect(await found(other)).toEqual([]);
    expect(((await (await user.get('/subjects?contact=flo@home.example')).json()) as []).length).toBe(0);
    const { id } = await read('flo two');
    await change(id, { emailAddress: 'new@example.org' });
    expect([await found('flo.ray@example.org'), await found('new@example.org')]).toEqual([
      ['flo'],
      ['flo two'],
    ]);
    const admin = await signIn(instance, 'admin');
    await admin.send('POST', '/subjects/flo/erasure');
    await vi.waitFor(async () => expect(await found('flo@home.example')).toEqual([]), { timeout: 20_000 });
    expect(await rowsOf(instance, "SELECT 1 FROM transactions.contacts WHERE subject = 'flo'")).toEqual([]);
  });

  it('has the newest number of their transactions, for the organisation alone, until the person is erased', async () => {
    const named = (phoneNumber: string, caller = operator) =>
      createTransaction(caller, { subject: 'user', subjectInfos: { phoneNumber } });
    await named('+44 7400 123450');
    await named('+33 (0)6');
    expect(await read('user')).not.toHaveProperty('phoneNumber');
    await named('+33 6 39 98 00 01');
    const known = await read('user');
    expect(known).toMatchObject({ name: 'user', phoneNumber: '+33639980001' });
    expect(await (await user.get('/subjects/user')).json()).not.toHaveProperty('phoneNumber');
    const listed = (await (await operator.get('/subjects?name=user')).json()) as Subject[];
    expect(listed.filter((each) => 'phoneNumber' in each)).toEqual([]);
    // Clients send back what they have read; a number is that of a form.
    expect((await change(known.id, { ...known, phoneNumber: '+44 7400 123451' })).status).toBe(200);
    expect(await read('user')).toEqual(known);
    const admin = await signIn(instance, 'admin');
    await admin.send('POST', '/subjects/user/erasure');
    await vi.waitFor(async () => expect((await operator.get('/subjects/user')).status).toBe(404), {
      timeout: 20_000,
    });
  });

  it('are listed by the ids that the audit log has', async () => {
    const ids = await Promise.all(
      ['ida one', 'ida two'].map(async (name) => {
        const made = await operator.send('POST', '/subjects', { name });
        return ((await made.json()) as { id: string }).id;
      }),
    );
    const listed = async (query: string) =>
      ((await (await operator.get(`/subjects?${query}`)).json()) as { name: string }[]).map(
        ({ name }) => name,
      );
    expect((await listed(`ids=${ids.join(',')},all`)).sort()).toEqual(['ida one', 'ida two']);
    const page = await operator.get(`/subjects?ids=${ids.join(',')}&limit=1`);
    expect(page.headers.get('link')).toContain(encodeURIComponent(ids.join(',')));
    expect(await listed('ids=all')).toEqual([]);
    expect((await operator.get(`/subjects?ids=${Array(201).fill(ids[0]).join(',')}`)).status).toBe(422);
    expect(((await (await user.get(`/subjects?ids=${ids[0]}`)).json()) as []).length).toBe(0);
  });

  it('can be created once, and is found at its Location', async () => {
    const name = 'Zoë / 50 % ? #1';
    const made = await make({ name, emailAddress: 'zoe@example.org', defaultLanguage: 'pt-br' });
    expect(made.status).toBe(201);
    const zoe = (await made.json()) as Subject;
    expect(zoe).toMatchObject({ name, emailAddress: 'zoe@example.org', defaultLanguage: 'pt-BR' });
    expect(await (await operator.get(made.headers.get('location') ?? '')).json()).toEqual(zoe);
    expect((await make({ name: ` ${name} ` })).status).toBe(409);
  });

  it('is found by its id, too, unless somebody’s name is that id', async () => {
    const { id } = (await (await make({ name: 'carl' })).json()) as Subject;
    expect((await read(id)).name).toBe('carl');
    expect((await user.get(`/subjects/${id}`)).status).toBe(404);
    await make({ name: id });
    expect((await read(id)).name).toBe(id);
  });

  it('can change address and language but not the name', async () => {
    const { id } = (await (await make({ name: 'ben', emailAddress: 'ben@example.org' })).json()) as Subject;
    const changed = await change(id, { emailAddress: 'b@example.org', defaultLanguage: 'ar', name: 'ben' });
    expect(await changed.json()).toMatchObject({ id, emailAddress: 'b@example.org', defaultLanguage: 'ar' });
    await change(id, { emailAddress: '' });
    expect(await read('ben')).not.toHaveProperty('emailAddress');
    expect(await read('ben')).toMatchObject({ defaultLanguage: 'ar' });
    const renamed = await change(id, { name: 'benjamin' });
    expect(renamed.status).toBe(422);
    expect(await renamed.json()).toMatchObject({ errors: [{ pointer: '/name' }] });
  });

  it.each([
    [{}, 400, '/name'],
    [{ name: '' }, 422, '/name'],
    [{ name: '   ' }, 422, '/name'],
    [{ name: 'x'.repeat(1025) }, 422, '/name'],
    [{ name: 'x', emailAddress: 'nowhere' }, 422, '/emailAddress'],
    [{ name: 'x', emailAddress: 'a@b, c@d' }, 422, '/emailAddress'],
    [{ name: 'x', defaultLanguage: 'not a language' }, 422, '/defaultLanguage'],
    [{ name: ['x'] }, 400, '/name'],
  ])('is not made of %j', async (body, status, pointer) => {
    const answer = await make(body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ errors: [{ pointer }] });
  });

  it('is a 404 if it is unknown', async () => {
    expect((await operator.get('/subjects/nobody')).status).toBe(404);
    for (const id of ['ann', '0197a1ee-7a34-7b61-93c2-8d1f6a2e4b10'])
      expect((await change(id, { emailAddress: 'a@example.org' })).status).toBe(404);
  });
});

describe('the list of subjects', () => {
  it('finds names by a part in any case, without wildcards', async () => {
    for (const name of ['Find.Me', 'find_me', 'FIND%ME']) await make({ name });
    const found = async (name: string) => {
      const answer = await operator.get(`/subjects?name=${encodeURIComponent(name)}`);
      return ((await answer.json()) as Subject[]).map((subject) => subject.name);
    };
    expect(await found('find')).toEqual(['FIND%ME', 'find_me', 'Find.Me']);
    expect(await found('D_M')).toEqual(['find_me']);
    expect(await found('%')).toEqual(['FIND%ME', 'Zoë / 50 % ? #1']);
  });
});

describe('a plain user', () => {
  it('can create, read, list and change only themselves', async () => {
    const { id } = await read('ann');
    expect((await user.get('/subjects/ann')).status).toBe(404);
    expect((await change(id, { emailAddress: 'mine@example.org' }, user)).status).toBe(404);
    expect((await make({ name: 'someone else' }, user)).status).toBe(403);
    expect(await (await user.get('/subjects')).json()).toEqual([]);

    const own = (await (await make({ name: 'user' }, user)).json()) as Subject;
    expect((await change(own.id, { emailAddress: 'mine@example.org' }, user)).status).toBe(200);
    const seen = { ...own, emailAddress: 'mine@example.org' };
    expect(await (await user.get('/subjects/user')).json()).toEqual(seen);
    expect(await (await user.get('/subjects')).json()).toEqual([seen]);
    expect(await (await user.get('/subjects?name=ann')).json()).toEqual([]);
  });
});
