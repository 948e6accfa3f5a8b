import { expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createRandom } from '../chaos/random.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { activateContent, makeLiveModel, withdrawModel } from '../support/instances/live-models.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Decisions = components['schemas']['Decisions'];

/** Pairs of a subject and an instant; `INSTANTS=1000000` is a longer run. */
const instants = Number(process.env.INSTANTS ?? 2_000);
const seed = Number(process.env.CHAOS_SEED ?? 5);
const perRequest = 100;
const actions = 160;

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));

interface RecordRow {
  subject: string;
  key: string;
  major: number;
  infoMajor: number;
  value: string;
  committed: number;
  expires: number | null;
}

interface VersionRow {
  key: string;
  major: number;
  activated: number;
  archived: number | null;
}

/** Reads what was stored; times in milliseconds with fractions. */
async function readHistory() {
  const ms = (column: string) => `extract(epoch FROM ${column})::float8 * 1000`;
  const records = await rowsOf<RecordRow>(
    instance,
    `SELECT r.subject, r.key, split_part(r.serial, '.', 1)::int AS major,
            split_part(r.info_serial, '.', 1)::int AS "infoMajor", r.value[1] AS value,
            ${ms('r.committed_at')} AS committed, ${ms('r.expires_at')} AS expires
       FROM transactions.records AS r WHERE r.subject LIKE 'replayed-%'`,
  );
  const versions = await rowsOf<VersionRow>(
    instance,
    `SELECT e.key, v.major, ${ms('v.activated_at')} AS activated, ${ms('v.archived_at')} AS archived
       FROM forms.model_versions AS v JOIN forms.models AS e ON e.id = v.model WHERE v.activated_at IS NOT NULL`,
  );
  return { records, versions };
}

it(
  'decisions about any past instant are those of a replay of the history',
  async () => {
    const random = createRandom(seed);
    const content = { en: { ...sampleContent.processing, purposes: [] } };
    const info = await makeLiveModel(admin, 'information', { en: sampleContent.information });
    const elements: Awaited<ReturnType<typeof makeLiveModel>>[] = [];
    for (let each = 0; each < 4; each += 1) elements.push(await makeLiveModel(admin, 'processing', content));
    const serials = new Map(elements.map(({ key }) => [key, 1]));
    const archived = new Set<string>();
    const subjects = Array.from({ length: 12 }, (_, index) => `replayed-${index}`);
    const started = Date.now();
    for (let action = 0; action < actions; action += 1) {
      const element = random.pick(elements);
      if (action % 40 === 25 && archived.size < 2) {
        await withdrawModel(admin, element);
        archived.add(element.key);
      } else if (action % 12 === 11 || (archived.has(element.key) && action % 3 === 0)) {
        await activateContent(admin, element, content, 'MAJOR');
        serials.set(element.key, (serials.get(element.key) as number) + 1);
        archived.delete(element.key);
      } else if (action % 50 === 49) {
        await activateContent(admin, info, { en: sampleContent.information }, 'MAJOR');
      } else if (!archived.has(element.key)) {
        const name = `element/processing/${element.key}/${serials.get(element.key)}.0`;
        const answers = { [name]: [random.pick(['accepted', 'accepted', 'refused'])] };
        // Another timeout makes another context.
        const context = {
          validity: random.pick(['PT1S', 'PT2S', 'P1Y', 'P1Y']),
          timeout: `PT${action + 1}H`,
        };
        const layoutData = { info: info.key, elements: [element.key] };
        await recordAnswers(operator, random.pick(subjects), answers, { ...context, layoutData });
      }
    }
    // The short answers have expired, so that some instants are after their end.
    await until(async () =>
      expect(
        await rowsOf(
          instance,
          `SELECT FROM transactions.records AS r WHERE r.subject LIKE 'replayed-%'
              AND r.expires_at BETWEEN now() AND now() + interval '1 hour'`,
        ),
      ).toEqual([]),
    );
    const ended = Date.now();
    const { records, versions } = await readHistory();

    const majorAt = (key: string, at: number) =>
      versions
        .filter((each) => each.key === key && each.activated <= at && (each.archived ?? Infinity) > at)
        .reduce<number | undefined>((most, { major }) => Math.max(most ?? 0, major), undefined);
    const replay = (subject: string, key: string, at: number) => {
      const before = records
        .filter((each) => each.subject === subject && each.key === key && each.committed <= at)
        .sort((one, other) => other.committed - one.committed);
      const [newest, earlier] = before;
      if (!newest) return 'NO_ANSWER';
      if (newest.value === 'refused') return earlier?.value === 'accepted' ? 'WITHDRAWN' : 'REFUSED';
      if (newest.expires !== null && newest.expires <= at) return 'EXPIRED';
      const major = majorAt(key, at);
      if (major === undefined) return 'NOT_ACTIVE';
      if (newest.infoMajor !== majorAt(info.key, at)) return 'NOTICE_CHANGED';
      return newest.major === major ? 'GIVEN' : 'CHANGED';
    };

    const seen = new Map<string, number>();
    let caller = operator;
    for (let asked = 0; asked < instants; asked += perRequest) {
      const questions = Array.from({ length: perRequest }, () => ({
        subject: random.pick(subjects),
        element: random.pick(elements).key,
        asOf: new Date(random.between(started, ended)).toISOString(),
      }));
      // Access tokens last five minutes.
      if (asked % 100_000 === 0) caller = await signIn(instance, 'operator');
      const response = await caller.send('POST', '/decisions', { questions });
      expect(response.status).toBe(200);
      const { decisions } = (await response.json()) as Decisions;
      const expected = questions.map(({ subject, element, asOf }) => ({
        question: `${subject} ${element} ${asOf}`,
        reason: replay(subject, element, Date.parse(asOf)),
      }));
      const given = decisions.map(({ reason }, place) => ({ question: expected[place]?.question, reason }));
      expect(given).toEqual(expected);
      for (const { reason } of expected) seen.set(reason, (seen.get(reason) ?? 0) + 1);
    }
    for (const reason of [
      'NO_ANSWER',
      'WITHDRAWN',
      'REFUSED',
      'EXPIRED',
      'NOT_ACTIVE',
      'NOTICE_CHANGED',
      'CHANGED',
      'GIVEN',
    ])
      expect(seen.get(reason), reason).toBeGreaterThan(0);
  },
  60_000 + instants * 5,
);
