import { once } from 'node:events';
import { createServer } from 'node:http';
import { traceServer } from '../message-servers.ts';
import { services } from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { setSecret } from '../secured-stores.ts';
import { withoutFailure } from './under-load.ts';

/** What protects the connection to the collector of traces. */
export const traceCredentialScenarios: Scenario[] = [
  {
    name: 'trace credentials',
    promise:
      'Under load, the collector of traces gets another token, and the former one ends, without a failed request and without a refused export.',
    async run(stage) {
      const collector = await startCollector();
      try {
        return await rotate(stage, collector);
      } finally {
        await stage.organisation.deploy();
        collector.close();
      }
    },
  },
];

/** A collector that accepts some tokens. */
interface Collector {
  tokens: Set<string>;
  /** Services that have exported with a token. */
  servicesWith(token: string): string[];
  refused(): number;
  /** Forgets who has exported. */
  forget(): void;
  close(): void;
}

/** The services whose traces every submission has. */
const submissionServices = ['forms', 'transactions'];

async function startCollector(): Promise<Collector> {
  const tokens = new Set<string>();
  const accepted = new Map<string, Set<string>>();
  let refused = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const isKnown = tokens.has(token) && request.url === '/v1/traces';
    response.writeHead(isKnown ? 200 : 401).end();
    if (!isKnown) refused += 1;
    // An export of OTLP in protobuf has the attribute service.name of its process as text.
    const text = Buffer.concat(chunks).toString('latin1');
    const named = services.filter((service) => text.includes(`accord-${service}`));
    if (isKnown) accepted.set(token, new Set([...(accepted.get(token) ?? []), ...named]));
  });
  await once(server.listen(traceServer.port, traceServer.address), 'listening');
  return {
    tokens,
    servicesWith: (token) => [...(accepted.get(token) ?? [])],
    refused: () => refused,
    forget: () => accepted.clear(),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const [firstToken, laterToken] = ['first-token', 'later-token'] as const;
const headersWith = (token: string) => ({ headers: `Authorization=Bearer%20${token}` });
const values = {
  tracing: {
    endpoint: `http://${traceServer.address}:${traceServer.port}`,
    headers: { existingSecret: 'tracing-accord' },
  },
  networkPolicy: { peers: { tracing: [{ ipBlock: { cidr: traceServer.network } }] } },
};

/** @returns figures. */
async function rotate(stage: Stage, collector: Collector): Promise<string> {
  const { organisation } = stage;
  collector.tokens.add(firstToken);
  await setSecret(organisation, 'tracing-accord', headersWith(firstToken));
  await organisation.deploy(values);
  const figures = await withoutFailure(stage, async () => {
    await isExported(collector, firstToken);
    collector.tokens.add(laterToken);
    await setSecret(organisation, 'tracing-accord', headersWith(laterToken));
    await organisation.deploy(values);
    await waitForEnd(stage);
    collector.tokens.delete(firstToken);
    collector.forget();
    await isExported(collector, laterToken);
  });
  expectThat(collector.refused() === 0, `${collector.refused()} exports were refused`);
  return `no export was refused, of ${collector.servicesWith(laterToken).join(', ')} after the rotation; ${figures}`;
}

const isExported = (collector: Collector, token: string) =>
  waitUntil(`the services of a submission export with the ${token}`, async () => {
    const exporting = collector.servicesWith(token);
    return submissionServices.every((service) => exporting.includes(service));
  });

/** Waits for the end of former pods, which export until then, also after the upgrade. */
async function waitForEnd({ organisation }: Stage): Promise<void> {
  const times = '--output=jsonpath={.items[*].metadata.deletionTimestamp}';
  await waitUntil('the end of the former pods', async () => {
    const pods = await organisation.kubectl('get', 'pods', '--selector=app.kubernetes.io/name=accord', times);
    return pods.trim() === '';
  });
}
