import { fillIn, runFlow } from '../../../bench/run-flow.ts';
import {
  createOrganisation,
  type Organisation,
  query,
  waitForRouter,
  waitForStores,
} from '../organisation.ts';
import { inNamespace, isPrevented, probeFrom, servicePorts, storePorts, tellStates } from '../probe.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';

const partners = ['clinic', 'laboratory'];

/** Several organisations on one cluster. */
export const peerScenarios: Scenario[] = [
  {
    name: 'peers',
    promise:
      'Three organisations, each with a namespace and a release, are peers: the answers of one form reach their owners. A pod that may call the internet reaches the store of its own organisation, and of another neither a store nor a port of a service.',
    run: async (stage) => {
      const others: Organisation[] = [];
      try {
        for (const name of partners) others.push(await install(stage, name));
        return await answerTogether(stage, others);
      } finally {
        for (const name of partners)
          await stage.cluster.kubectl.run([
            'delete',
            'namespace',
            name,
            '--wait=false',
            '--ignore-not-found',
          ]);
      }
    },
  },
];

/** The stores of its own namespace, as in helm/examples/peered-*.yaml. */
const ownStores = Object.fromEntries(
  Object.entries({ database: 'postgres', kafka: 'kafka', redis: 'redis' }).map(([use, store]) => [
    use,
    [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': `trial-${store}` } } }],
  ]),
);

async function install(stage: Stage, name: string): Promise<Organisation> {
  stage.say(`installing the ${name}`);
  const organisation = await createOrganisation(stage, name);
  await waitForStores(organisation);
  await organisation.deploy({ defaults: { replicas: 1 }, networkPolicy: { peers: ownStores } });
  await waitForRouter(organisation, stage.router);
  return organisation;
}

async function answerTogether(stage: Stage, others: readonly Organisation[]): Promise<string> {
  const { organisation, form, router } = stage;
  const home = await organisation.signIn();
  const elements: string[] = [];
  const identifiers: string[] = [];
  for (const other of others) {
    const { administrator } = await other.signIn();
    const element = await administrator.publish(
      {
        type: 'processing',
        name: 'Study',
        data: {
          en: {
            title: `A study of the ${other.name}`,
            data: 'Your age',
            usage: 'We publish figures.',
            retention: { value: 1, unit: 'YEAR', fullText: 'One year' },
            legalBases: ['LEGAL_BASIS_CONSENT'],
          },
        },
      },
      { shared: true },
    );
    await administrator.publish(
      {
        type: 'information',
        name: 'Who asks',
        data: {
          en: {
            title: other.name,
            header: '<p>We ask.</p>',
            dataController: { company: other.name },
            dataControllerVisible: true,
          },
        },
      },
      { default: true },
    );
    await home.administrator.pair(other.url, await administrator.makePairingKey(organisation.name));
    elements.push(`${element}@${new URL(other.url).host}`);
    identifiers.push(`element/processing/${element}@${new URL(other.url).host}/1.0`);
  }
  const layout = form.questions.layout as { layoutData: { info: string; elements: string[] } };
  const together = { info: layout.layoutData.info, elements: [...layout.layoutData.elements, ...elements] };
  await home.administrator.ask('peers', together);
  const [own] = layout.layoutData.elements;
  const answers = Object.fromEntries(
    [`element/processing/${own}/1.0`, ...identifiers].map((identifier) => [identifier, 'accepted']),
  );
  const filledIn = fillIn(answers, `element/information/${together.info}/1.0`);
  const subject = 'subject-of-three';
  await runFlow(
    {
      client: router.clientOf(organisation.url),
      key: form.key,
      questions: { layout: { layoutData: together }, filledIn },
    },
    { subject, order: 1 },
    () => {},
  );
  const started = performance.now();
  for (const other of others)
    await waitUntil(
      `the answer reaches the ${other.name}`,
      async () => (await countRecords(other)) === 1,
      60_000,
    );
  const seconds = (performance.now() - started) / 1000;
  const all = [organisation, ...others];
  const pairs = all.flatMap((from) => all.filter((to) => to !== from).map((to) => ({ from, to })));
  for (const { from, to } of pairs) await expectApart(from, to);
  const ports = servicePorts.length + storePorts.length;
  return `both parts arrived within ${seconds.toFixed(1)} s; ${ports} ports blocked in each of ${pairs.length} directions`;
}

async function countRecords(organisation: Organisation): Promise<number> {
  const rows = await query(
    organisation,
    "SELECT count(*) FROM transactions.records WHERE state = 'COMMITTED'",
  );
  return Number(rows[0]?.[0]);
}

/** Tries connections from a pod of one organisation to the stores and the services of another. */
async function expectApart(from: Organisation, to: Organisation): Promise<void> {
  const [own = ''] = storePorts;
  const foreign = inNamespace(to.name, [...servicePorts, ...storePorts]);
  const states = await probeFrom(from, 'peers', [own, ...foreign]);
  expectThat(
    states.get(own) === 'open' && foreign.every((target) => isPrevented(states.get(target))),
    `peers of the ${from.name} reaches the ${to.name}, or not its own store: ${tellStates(states)}`,
  );
}
