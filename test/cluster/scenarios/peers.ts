import { fillIn, runFlow } from '../../../bench/run-flow.ts';
import {
  createOrganisation,
  type Organisation,
  query,
  release,
  waitForRouter,
  waitForStores,
} from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';

const partners = ['clinic', 'laboratory'];

/** Several organisations on one cluster. */
export const peerScenarios: Scenario[] = [
  {
    name: 'peers',
    promise:
      'Three organisations, each with a namespace and a release, are peers: the answers of one form reach their owners, and a pod of one reaches no internal port of another.',
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

async function install(stage: Stage, name: string): Promise<Organisation> {
  stage.say(`installing the ${name}`);
  const organisation = await createOrganisation(stage, name);
  await waitForStores(organisation);
  await organisation.deploy({ defaults: { replicas: 1 } });
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
  await expectApart(organisation, others[0] as Organisation);
  return `both parts arrived within ${seconds.toFixed(1)} s`;
}

async function countRecords(organisation: Organisation): Promise<number> {
  const rows = await query(
    organisation,
    "SELECT count(*) FROM transactions.records WHERE state = 'COMMITTED'",
  );
  return Number(rows[0]?.[0]);
}

/** Tries a connection from a pod of one organisation to the internal port of another. */
async function expectApart(from: Organisation, to: Organisation): Promise<void> {
  const target = `${release}-transactions.${to.name}.svc.cluster.local`;
  const program = `require('node:net').connect(8081, '${target}').on('connect', () => process.exit(0)).on('error', () => process.exit(1)); setTimeout(() => process.exit(1), 2000)`;
  const isOpen = await from.kubectl('exec', `deploy/${release}-peers`, '--', 'node', '--eval', program).then(
    () => true,
    () => false,
  );
  expectThat(!isOpen, `peers of the ${from.name} reaches the internal port of the ${to.name}`);
}
