import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type FormsService, startForms } from '../support/instances/forms-service.ts';
import { keepCatalogue, samplePeer, sharedEntry, sharedInformation } from '../support/peers/peer-entries.ts';
import { makeActive, sampleContent } from '../support/samples/forms-models.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms();
  const { id } = await makeActive(forms, 'information', sampleContent.information, 'own.information');
  await forms.send(`/models/${id}`, { method: 'PUT', json: { name: 'Own', default: true } });
}, 60_000);
afterAll(() => forms?.stop());

async function pairWith(host: string, name: string): Promise<() => Promise<unknown>> {
  const peer = samplePeer(`https://${host}`, name);
  await keepCatalogue(forms, peer, [sharedInformation, sharedEntry()]);
  const end = () => forms.operations.forgetPeer({ url: peer.url });
  onTestFinished(async () => void (await end()));
  return end;
}

/** A form with a question of each. */
async function describeForm(hosts: string[]) {
  const elements = hosts.map((host) => `study@${host}`);
  const { layout } = await forms.operations.resolveLayout({ layoutData: { type: 'layout', elements } });
  return forms.operations.describeForm({ layout, languages: ['en'] });
}

/** Who asks, as the form says it above the questions and with each. */
async function namesIn(hosts: string[]): Promise<string[]> {
  const { peers } = await describeForm(hosts);
  for (const { name, info, elements } of peers)
    for (const shown of [info, ...elements]) expect(shown?.owner).toBe(name);
  return peers.map(({ name }) => name);
}

describe('the displayed name of a peer', () => {
  it('has no host if the name is unique', async () => {
    await pairWith('north.example', 'Northern Clinic');
    await pairWith('south.example', 'Southern Clinic');
    expect(await namesIn(['north.example', 'south.example'])).toEqual(['Northern Clinic', 'Southern Clinic']);
  });

  it('includes the host if two peers have the same name in any spelling, even if one of them is not in the form', async () => {
    await pairWith('north.example', 'The Clinic');
    const end = await pairWith('south.example:8443', 'the clinic');
    const after = await describeForm(['north.example']);
    expect(after.peers.map(({ name }) => name)).toEqual(['The Clinic (north.example)']);
    expect(await namesIn(['south.example:8443', 'north.example'])).toEqual([
      'the clinic (south.example:8443)',
      'The Clinic (north.example)',
    ]);
    await end();
    expect(await namesIn(['north.example'])).toEqual(['The Clinic']);
  });

  it('includes the host if the names of two peers look the same', async () => {
    await pairWith('north.example', 'The Clinic');
    for (const name of [
      'The\u00a0Clinic',
      'Thе Clinic',
      'Ｔｈｅ Ｃｌｉｎｉｃ',
      'The  Clinic',
      'The C\u200blinic',
    ]) {
      const end = await pairWith('south.example', name);
      expect(await namesIn(['north.example', 'south.example'])).toEqual([
        'The Clinic (north.example)',
        `${name} (south.example)`,
      ]);
      await end();
    }
    expect(await namesIn(['north.example'])).toEqual(['The Clinic']);
  });

  it('includes the host if it equals the name of this instance', async () => {
    await pairWith('north.example', 'ACCORD');
    expect(await namesIn(['north.example'])).toEqual(['ACCORD (north.example)']);
  });
});
