import { type BroughtModels, bringModels, namesBrought, sayBrought } from '#lib/moving/bring-models.ts';
import type { InstanceClient } from '#lib/moving/instance-client.ts';
import { bringSubjects, readSubjects } from '#lib/moving/interface/bring-subjects.ts';
import { readHistories } from '#lib/moving/interface/read-histories.ts';
import { readPerson } from '#lib/moving/interface/read-person.ts';
import type { NotCarried } from '#lib/moving/not-carried.ts';
import type { ImportSource, SourceItem } from '#lib/moving/source.ts';

/** People whose answers are read at the same time. */
const width = 8;

/** What no instance gives by the interface, or no instance takes. */
const closed = [
  'API keys',
  'accounts',
  'audit logs',
  'campaigns',
  'notices to recipients',
  'open transactions',
  'peers',
  'settings',
  'webhooks',
];

interface Options {
  isDryRun: boolean;
  notCarried: NotCarried;
  /** Says what was done. */
  say: (line: string) => void;
}

/**
 * Everything that an instance gives by the interface (docs/interface.md): its models with their serials,
 * what each person has answered, with signed receipts as evidence, and their addresses.
 */
export async function readInterface(
  source: InstanceClient,
  { isDryRun, notCarried, say }: Options,
): Promise<ImportSource> {
  const { instance, keys } = await readIdentity(source);
  let brought: BroughtModels | undefined;
  return {
    keys: keys.length > 0 ? { keys: { keys } } : undefined,
    items: items(),
    closed,
    async prepare(target) {
      const options = { from: instance, isDryRun, notCarried };
      brought = await bringModels(target, readHistories(source, notCarried), options);
      sayBrought(brought, { isDryRun, say });
    },
    async finish(target) {
      await bringSubjects(source, target, { isDryRun, notCarried });
    },
    isPrepared: (row) => brought !== undefined && namesBrought(brought, row),
  };

  async function* items(): AsyncGenerator<SourceItem> {
    const reading = { source, instance, isSigning: keys.length > 0, notCarried };
    const read = ({ name }: { name: string }) => readPerson(reading, name);
    for await (const rows of inOrder(readSubjects(source), read)) yield* rows;
  }
}

/** An instance without a description of itself has no signed receipts. */
async function readIdentity(source: InstanceClient): Promise<{ instance: string; keys: object[] }> {
  const known = await source
    .findJson<{ instance?: string; jwks?: { keys?: object[] } }>('/.well-known/accord')
    .catch(() => undefined);
  return { instance: known?.instance ?? source.url, keys: known?.jwks?.keys ?? [] };
}

/** Works on some items at a time. @returns the results in their order. */
async function* inOrder<In, Out>(
  items: AsyncIterable<In>,
  work: (item: In) => Promise<Out>,
): AsyncGenerator<Out> {
  const running: Promise<Out>[] = [];
  for await (const item of items) {
    const result = work(item);
    result.catch(() => {}); // It is thrown when its turn comes.
    running.push(result);
    if (running.length >= width) yield (await running.shift()) as Out;
  }
  for (const result of running) yield await result;
}
