import { at, type Organisation } from './peers-world.ts';
import { cpuSeconds } from './process-usage.ts';
import { percentile } from './run-phase.ts';

/** What showing a form costs. */
export interface FormCost {
  /** CPU milliseconds of the process for each. */
  cpuMs: number;
  p50Ms: number;
  bytes: number;
}

export interface FormCosts {
  own: FormCost;
  peers: FormCost;
  /** Of CPU, round by round. */
  ratios: number[];
  forms: number;
}

/**
 * The same four questions: all of the leader, or two of them of its peers. In turn, and each first as often
 * as second.
 */
export async function measureForms(
  leader: Organisation,
  [one, other]: readonly [Organisation, Organisation],
  { forms, rounds, concurrency }: { forms: number; rounds: number; concurrency: number },
): Promise<FormCosts> {
  const [first, second, third, fourth] = leader.questions as [string, string, string, string];
  const layouts = {
    own: [first, second, third, fourth],
    peers: [first, second, at(one, one.questions[2]), at(other, other.questions[3])],
  };
  const seen = { own: [] as FormCost[], peers: [] as FormCost[] };
  for (let round = 0; round <= rounds; round += 1)
    for (const kind of round % 2 === 0 ? (['own', 'peers'] as const) : (['peers', 'own'] as const)) {
      const subjects = Array.from({ length: forms }, (_, index) => `form-${kind}-${round}-${index}`);
      const cost = await showForms(leader, { elements: layouts[kind], subjects, concurrency });
      // The first round warms up.
      if (round > 0) seen[kind].push(cost);
    }
  const ratios = seen.peers.map(({ cpuMs }, round) => cpuMs / (seen.own[round]?.cpuMs ?? Number.NaN));
  return { own: mean(seen.own), peers: mean(seen.peers), ratios, forms: forms * rounds };
}

/** Shows each form once: transactions are made before the clock starts. */
async function showForms(
  { client, key, pid }: Organisation,
  {
    elements,
    subjects,
    concurrency,
  }: { elements: readonly string[]; subjects: readonly string[]; concurrency: number },
): Promise<FormCost> {
  const paths = await inTurn(subjects, concurrency, async (subject) => {
    const context = { subject, layoutData: { info: 'information.001', elements } };
    const made = await client.post(
      '/consents',
      { CM_KEY: key, 'Content-Type': 'application/json' },
      JSON.stringify(context),
    );
    if (made.status !== 201) throw new Error(`create: ${made.status} ${made.body.slice(0, 300)}`);
    const { id, token } = JSON.parse(made.body) as { id: string; token: string };
    return `/consents/${id}/submit?t=${encodeURIComponent(token)}`;
  });
  const before = cpuSeconds(pid());
  const shown = await inTurn(paths, concurrency, async (path) => {
    const started = performance.now();
    const { status, body } = await client.get(path, { Accept: 'text/html', 'Accept-Language': 'en' });
    const asked = body.split('accord-shown').length - 1;
    if (status !== 200 || asked < elements.length) throw new Error(`form: ${status}, ${asked} questions`);
    return { ms: performance.now() - started, bytes: Buffer.byteLength(body) };
  });
  return {
    cpuMs: ((cpuSeconds(pid()) - before) * 1000) / shown.length,
    p50Ms: percentile(
      shown.map(({ ms }) => ms),
      0.5,
    ),
    bytes: shown[0]?.bytes ?? 0,
  };
}

/** Works through all, so many at a time. */
export async function inTurn<In, Out>(
  all: readonly In[],
  concurrency: number,
  work: (each: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const walk = async () => {
    while (next < all.length) {
      const each = all[next] as In;
      next += 1;
      results.push(await work(each));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, walk));
  return results;
}

function mean(costs: readonly FormCost[]): FormCost {
  const of = (value: (cost: FormCost) => number) =>
    costs.reduce((sum, cost) => sum + value(cost), 0) / costs.length;
  return {
    cpuMs: of(({ cpuMs }) => cpuMs),
    p50Ms: of(({ p50Ms }) => p50Ms),
    bytes: of(({ bytes }) => bytes),
  };
}
