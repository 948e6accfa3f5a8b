import { setTimeout as pause } from 'node:timers/promises';
import type { HttpClient } from '../../bench/http-client.ts';
import { fillIn, type Questions, runFlow } from '../../bench/run-flow.ts';
import { type Organisation, query } from './organisation.ts';

/** What subjects of an organisation are asked, and the API key with which their transactions are created. */
export interface Form {
  client: HttpClient;
  key: string;
  questions: Questions;
  /** Records that one commitment adds for a subject. */
  records: number;
}

/** Creates an API key and a form with a processing and a preference. */
export async function createForm(
  organisation: Organisation,
  client: HttpClient,
  { token, publish }: { token: string; publish: Publish },
): Promise<Form> {
  const created = await fetch(`${organisation.url}/keys`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Load of the cluster test', scope: 'OWNER' }),
  });
  const { key } = (await created.json()) as { key: string };
  const information = await publish(
    {
      type: 'information',
      name: 'Load of the cluster test',
      data: {
        en: {
          title: 'Your choices',
          header: '<p>Choose.</p>',
          dataController: { company: organisation.name },
          dataControllerVisible: true,
        },
      },
    },
    { default: true },
  );
  const processing = await publish({
    type: 'processing',
    name: 'Letter',
    data: {
      en: {
        title: 'A letter',
        data: 'Your address',
        usage: 'We write to you.',
        retention: { value: 1, unit: 'YEAR', fullText: 'One year' },
        legalBases: ['LEGAL_BASIS_CONSENT'],
      },
    },
  });
  const identifier = `element/processing/${processing}/1.0`;
  return {
    client,
    key,
    questions: {
      layout: { layoutData: { info: information, elements: [processing] } },
      filledIn: fillIn({ [identifier]: 'accepted' }, `element/information/${information}/1.0`),
    },
    records: 1,
  };
}

type Publish = (
  model: { type: string; name: string; data: Record<string, unknown> },
  more?: object,
) => Promise<string>;

/** What became of a load. */
export interface Load {
  /** Subjects whose submission was acknowledged. */
  acknowledged: Set<string>;
  /** A sentence for each flow that did not end. */
  failures: string[];
  flows: number;
  seconds: number;
  /** Milliseconds of each submission. */
  submits: number[];
}

/**
 * Starts flows at a constant rate, whatever becomes of those before.
 * @returns ends the load, and waits for the flows that are under way.
 */
export function startLoad(form: Form, { perSecond }: { perSecond: number }): { stop(): Promise<Load> } {
  const load: Load = { acknowledged: new Set(), failures: [], flows: 0, seconds: 0, submits: [] };
  const started = performance.now();
  const flows = new Set<Promise<void>>();
  const run = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 6)}`;
  let isStopped = false;
  const walk = async (order: number) => {
    const subject = `load-${run}-${order}`;
    try {
      await runFlow(form, { subject, order }, (step, ms) => {
        if (step !== 'submit') return;
        load.acknowledged.add(subject);
        load.submits.push(ms);
      });
    } catch (error) {
      load.failures.push(`${new Date().toISOString()} ${describeFailure(error as Error)}`);
    }
  };
  const loop = (async () => {
    while (!isStopped) {
      const order = load.flows;
      load.flows += 1;
      const flow: Promise<void> = walk(order).finally(() => flows.delete(flow));
      flows.add(flow);
      await pause(Math.max(0, started + (load.flows * 1000) / perSecond - performance.now()));
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await loop;
      await Promise.all(flows);
      load.seconds = (performance.now() - started) / 1000;
      return load;
    },
  };
}

/** The message without the markup of a page. */
function describeFailure({ message }: Error): string {
  const text = message.replaceAll(/<style.*?<\/style>|<[^>]*>/gs, ' ').replaceAll(/\s+/g, ' ');
  return text.slice(0, 300);
}

/** Acknowledged answers that are not stored, and answers that are stored twice. */
export interface Evidence {
  lost: string[];
  doubled: string[];
}

/** Compares acknowledged submissions with the records in the database. */
export async function compareWithRecords(
  organisation: Organisation,
  form: Form,
  { acknowledged }: Pick<Load, 'acknowledged'>,
): Promise<Evidence> {
  const rows = await query(
    organisation,
    "SELECT subject, count(*) FROM transactions.records WHERE subject LIKE 'load-%' GROUP BY subject",
  );
  const stored = new Map(rows.map(([subject = '', count]) => [subject, count]));
  return {
    lost: [...acknowledged].filter((subject) => Number(stored.get(subject) ?? 0) < form.records),
    doubled: [...stored].filter(([, count]) => Number(count) > form.records).map(([subject]) => subject),
  };
}
