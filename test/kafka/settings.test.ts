import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, signIn } from '../support/instances/callers.ts';
import {
  type DistributedInstance,
  startDistributedInstance,
} from '../support/instances/distributed-instance.ts';
import { patience } from '../support/run/patience.ts';
import { brokers } from '../support/stores/kafka.ts';

describe.runIf(brokers)('the settings of an instance of several processes', () => {
  let instance: DistributedInstance;
  let admin: Caller;
  beforeAll(async () => {
    instance = await startDistributedInstance({ kafkaBrokers: brokers as string });
    admin = await signIn(instance, 'admin');
  }, 120_000);
  afterAll(() => instance?.stop());

  /** Where each service shows the name. */
  const paths: Record<string, string> = {
    auth: '/auth/setup?token=unknown',
    forms: '/system/config',
    peers: '/.well-known/accord',
    console: '/console/signed-out',
    transactions: '/verify',
  };
  const namesOf = async (name: string, services = Object.keys(paths)) => {
    const asked = instance.replicas.filter(({ service }) => services.includes(service));
    const texts = await Promise.all(
      asked.map(async ({ url, service }) =>
        (await fetch(url + paths[service], { headers: { Accept: 'text/html, */*' } })).text(),
      ),
    );
    return asked.map(({ service }, index) => `${service} ${texts[index]?.includes(name)}`);
  };
  const all = (services = Object.keys(paths)) =>
    instance.replicas
      .filter(({ service }) => services.includes(service))
      .map(({ service }) => `${service} true`);

  it('are in force in every replica soon after the change, without a restart', async () => {
    expect((await admin.send('PUT', '/settings', { name: 'Lakeside Clinic' })).status).toBe(200);
    await expect.poll(() => namesOf('Lakeside Clinic'), patience).toEqual(all());
  });

  it('are known to a service that starts while forms is down', async () => {
    await instance.router.stop();
    const forms = instance.replicas.filter(({ service }) => service === 'forms');
    await Promise.all(forms.map((replica) => replica.process().stop()));
    const peers = instance.replicas.filter(({ service }) => service === 'peers');
    await Promise.all(peers.map((replica) => replica.restart()));
    expect(await namesOf('Lakeside Clinic', ['peers'])).toEqual(all(['peers']));
  });
});
