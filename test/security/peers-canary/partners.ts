import { vi } from 'vitest';
import { bugSettings } from '../../chaos/planted/bug-settings.ts';
import { type Caller, createKey, type Reachable, signIn } from '../../support/instances/callers.ts';
import { makeLiveModel } from '../../support/instances/live-models.ts';
import { startStandalone } from '../../support/instances/standalone-process.ts';
import { patience } from '../../support/run/patience.ts';
import { sampleContent } from '../../support/samples/forms-models.ts';

/** An instance with a PostgreSQL of its own. */
export interface Partner extends Reachable {
  /** All that it has said. */
  said(): string;
  stop(): Promise<unknown>;
}

/**
 * Starts one in this folder, in a process of its own. @param bug a bug to plant in it (test/chaos/planted).
 */
export async function startPartner(folder: string, bug?: string): Promise<Partner> {
  const settings = { DATA_DIR: folder, LOG_LEVEL: 'info', DEMO: 'true', ...bugSettings(bug) };
  const running = startStandalone(settings);
  const url = await running.ready;
  return {
    url,
    // Whether the contract is kept is not asked here: a planted bug may break it.
    fetch: (address, init) => fetch(new URL(address, url), init),
    said: running.said,
    stop: running.stop,
  };
}

/** What one partner shows of the other. */
export interface Shown {
  admin: Caller;
  /** An own question of free text, and one of the partner's. */
  own: string;
  theirs: string;
}

const letter = { ...sampleContent.preference, valueType: 'FREE_TEXT', options: undefined };

/** Pairs both, and has each ask for a text; the leader shows both questions. */
export async function shareQuestion(leader: Reachable, owner: Reachable): Promise<Shown> {
  const [admin, theirs] = [await signIn(leader, 'admin'), await signIn(owner, 'admin')];
  const own = await makeLiveModel(admin, 'preference', { en: letter });
  const other = await makeLiveModel(theirs, 'preference', { en: letter });
  await expectOk(theirs.send('PUT', `/models/${other.id}`, { name: 'A text', shared: true }));
  const { key } = await createKey(owner, 'a partner', 'PEER');
  await expectOk(admin.send('POST', '/peers', { url: owner.url, apiKey: key, withCounterPart: true }));
  return { admin, own: own.key, theirs: `${other.key}@${new URL(owner.url).host}` };
}

/** Has a subject answer both questions. @returns the transaction's id. */
export async function answerBoth(
  leader: Reachable,
  { admin, own, theirs }: Shown,
  texts: { own: string; theirs: string },
): Promise<{ id: string; token: string }> {
  const context = { subject: 'alice', layoutData: { elements: [own, theirs] } };
  const made = await vi.waitFor(async () => {
    const answer = await admin.send('POST', '/consents', context);
    if (answer.status !== 201) throw new Error(`not yet: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { id: string; token: string };
  }, patience);
  const submit = `/consents/${made.id}/submit?t=${made.token}`;
  const answers = {
    [`element/preference/${own}/1.0`]: [texts.own],
    [`element/preference/${theirs}/1.0`]: [texts.theirs],
  };
  // First with a fault: what was said then must not be kept either.
  const headers = { 'Content-Type': 'application/json' };
  const partly = { [`element/preference/${theirs}/1.0`]: [texts.theirs, texts.theirs] };
  await leader.fetch(submit, { method: 'POST', headers, body: JSON.stringify(partly) });
  await expectOk(leader.fetch(submit, { method: 'POST', headers, body: JSON.stringify(answers) }));
  return made;
}

/**
 * Waits until the owner has taken its part. @returns every answer that the leader gives about the
 * transaction.
 */
export async function readEverything(
  leader: Reachable,
  admin: Caller,
  { id, token }: { id: string; token: string },
): Promise<string> {
  await vi.waitFor(async () => {
    const { followers } = (await (await admin.get(`/consents/${id}`)).json()) as {
      followers: { state: string }[];
    };
    if (followers[0]?.state !== 'ACCEPTED') throw new Error(`not yet: ${JSON.stringify(followers)}`);
  }, patience);
  const page = { Accept: 'text/html' };
  const answers = await Promise.all([
    ...[`/consents/${id}`, `/consents/${id}/context`, '/transactions', '/stats', '/subjects'].map((address) =>
      admin.get(address),
    ),
    admin.get('/records?subject=alice'),
    admin.get(`/receipts/${id}`),
    admin.get(`/receipts/${id}`, page),
    admin.get(`/receipts/${id}`, { Accept: 'application/jose' }),
    leader.fetch(`/consents/${id}?t=${token}`, { headers: page }),
    admin.send('POST', `/consents/${id}/child`),
  ]);
  return (await Promise.all(answers.map((answer) => answer.text()))).join('\n');
}

async function expectOk(answer: Promise<Response>): Promise<void> {
  const response = await answer;
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
}
