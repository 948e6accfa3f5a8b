import { describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const user = useSetup(() => signIn(instance, 'user'));

describe('the theme of a context', () => {
  const layoutData = { elements: ['processing.001'], theme: 'theme.001' };
  const themed = '/assets/themes/theme.001/1.0.css';

  const formOf = async (context: object) => {
    const answer = await operator.send('POST', '/consents', context);
    const made = (await answer.json()) as { task: string; token: string };
    const page = await instance.fetch(`${made.task}?t=${made.token}`, { headers: { Accept: 'text/html' } });
    return page.text();
  };

  it("takes the place of the layout's", async () => {
    const plain = { elements: ['processing.001'] };
    expect(await formOf({ subject: 'a', layoutData: plain, theme: 'theme.001' })).toContain(themed);
  });

  it("leaves the layout's alone when it is unknown", async () => {
    expect(await formOf({ subject: 'b', layoutData, theme: 'nowhere' })).toContain(themed);
    const preview = await operator.send('POST', '/consents/preview', { layoutData, theme: 'nowhere' });
    expect(await preview.text()).toContain(themed);
  });
});

describe('a plain user', () => {
  const create = async (context: object) => (await user.send('POST', '/consents', context)).status;

  it('is refused what is not theirs before the rest is looked at', async () => {
    const faulty = { layout: 'nowhere', validity: 'long', confirmation: 'EMAIL_CODE' };
    expect(await create({ subject: 'someone else', ...faulty })).toBe(403);
    expect(await create({ subject: 'user', author: 'someone else', ...faulty })).toBe(403);
    expect(await create({ subject: 'user', configuration: { origin: 'OPERATOR' }, ...faulty })).toBe(403);
  });

  it('is told the faults of what is theirs', async () => {
    expect(await create({ subject: 'user', layout: 'nowhere' })).toBe(422);
    expect(await create({ subject: 'user', layout: 'layout.001', origin: 'MARS' })).toBe(422);
    expect(await create({ subject: ' user ', layout: 'layout.001', origin: 'USER' })).toBe(201);
  });
});
