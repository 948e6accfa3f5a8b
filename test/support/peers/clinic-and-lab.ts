import { expect } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { type OwnerProxy, startOwnerProxy } from '../../chaos/peers/owner-proxy.ts';
import { createRandom } from '../../chaos/random.ts';
import { type Caller, signIn } from '../instances/callers.ts';
import { startTestInstance, type TestInstance } from '../instances/instance.ts';
import { letTimePass, runInDatabase } from '../instances/live-database.ts';
import { subjectOf } from '../instances/live-subject.ts';
import { createTransaction } from '../instances/live-transactions.ts';
import { until } from '../run/until.ts';
import { pairInstances } from './pair-instances.ts';

type Entry = components['schemas']['Entry'];
type Transaction = components['schemas']['Transaction'];

/** A subject whose form at the clinic also asked a question of the laboratory. */
export interface Asked {
  id: string;
  token: string;
  subject: string;
}

/** The clinic's own question. */
export const own = 'element/processing/processing.001/1.0';

/** Two paired instances: the clinic leads, the laboratory owns a question of its forms. */
export interface ClinicAndLab {
  clinic: TestInstance;
  lab: TestInstance;
  /** The proxy through which the clinic calls the laboratory. */
  way: OwnerProxy;
  clinicAdmin: Caller;
  labAdmin: Caller;
  /** The laboratory's question, as the clinic's layouts name it. */
  theirs: string;
  /** Creates a subject who consents at the clinic, also to the laboratory's question. */
  consent(context?: Record<string, unknown>): Promise<Asked>;
  atClinic(id: string): Promise<Transaction>;
  /** The laboratory's part of a transaction, as the clinic knows it. */
  partOf(made: Pick<Asked, 'id'>): Promise<components['schemas']['Follower'] | undefined>;
  /** Waits until the laboratory has stored its part. */
  delivered(made: Pick<Asked, 'id'>): Promise<void>;
  /** Lets time pass in all that happens at the clinic. */
  letTimePassAtClinic(interval: string): Promise<void>;
  /** Ends the clinic's waits for another attempt. */
  letWaitsPass(): Promise<void>;
  stop(): Promise<void>;
}

export async function startClinicAndLab(): Promise<ClinicAndLab> {
  const port = await freePort();
  const way = await startOwnerProxy({ target: port, random: createRandom(1) });
  const [clinic, lab] = await Promise.all([
    startTestInstance({ INSTANCE_NAME: 'Lakeside Clinic' }),
    startTestInstance({ INSTANCE_NAME: 'Northern Lab', PORT: String(port), BASE_URL: way.url }),
  ]);
  const [clinicAdmin, labAdmin] = await Promise.all([signIn(clinic, 'admin'), signIn(lab, 'admin')]);
  const { id, name } = (await (await labAdmin.get('/models/serials/processing.002')).json()) as Entry;
  expect((await labAdmin.send('PUT', `/models/${id}`, { name, shared: true })).status).toBe(200);
  await pairInstances(clinic, lab);
  const theirs = `processing.002@${new URL(lab.url).host}`;
  // Known to the clinic before a test interrupts the way to the laboratory.
  await until(async () => {
    const shown = await clinicAdmin.send('POST', '/consents/preview', { layoutData: { elements: [theirs] } });
    expect(shown.status).toBe(200);
  });

  async function consent(context: Record<string, unknown> = {}): Promise<Asked> {
    const elements = ['processing.001', theirs];
    const made = await until(() => createTransaction(clinicAdmin, { layoutData: { elements }, ...context }));
    const answers = {
      ...(context.layoutData ? {} : { [own]: ['accepted'] }),
      [`element/processing/${theirs}/1.0`]: ['accepted'],
    } as Record<string, string[]>;
    expect((await subjectOf(clinic, made).submit(answers)).status).toBe(200);
    return made;
  }
  const atClinic = async (transaction: string) =>
    (await (await clinicAdmin.get(`/consents/${transaction}`)).json()) as Transaction;
  const partOf = async (made: Pick<Asked, 'id'>) => (await atClinic(made.id)).followers?.[0];

  return {
    clinic,
    lab,
    way,
    clinicAdmin,
    labAdmin,
    theirs,
    consent,
    atClinic,
    partOf,
    async delivered(made) {
      await until(async () => expect(await partOf(made)).toMatchObject({ state: 'ACCEPTED' }));
    },
    async letTimePassAtClinic(interval) {
      for (const schema of ['transactions', 'peers', 'forms'] as const)
        await letTimePass(clinic, interval, schema);
    },
    async letWaitsPass() {
      await runInDatabase(clinic, 'UPDATE peers.queues SET next_at = now()');
      await runInDatabase(
        clinic,
        'UPDATE peers.deliveries SET not_before = least(not_before, peers.accord_now())',
      );
    },
    async stop() {
      await clinic.stop();
      await lab.stop();
      await way.close();
    },
  };
}
