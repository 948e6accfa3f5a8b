import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { checkMinor } from '../domain/check-minor.ts';
import { parseReference } from '../domain/element-reference.ts';
import type { LayoutContent } from '../domain/layout-content.ts';
import type { Entry, Version } from '../domain/model.ts';
import { namedByPeer } from '../domain/named-by-peer.ts';
import { resolveLayout } from '../domain/resolve-layout.ts';
import { nextSerial } from '../domain/serial.ts';
import { lockNamed } from '../queries/lock-named.ts';
import { readPeerRows } from '../queries/read-peers.ts';
import { activateDraft, archiveActive, readLastActivated } from '../queries/versions.ts';
import { announce } from './announce.ts';

/**
 * Makes a draft the ACTIVE version of its entry and gives it its serial, in a transaction that has locked the entry: so of
 * several activations at once one wins, and no serial is given twice.
 * @throws Failure `invalid` if it is a MINOR that asks something else than before, or a layout that names what does not exist.
 */
export async function activateVersion(
  tx: Queries,
  { source }: { source: string },
  entry: Entry,
  draft: Version,
): Promise<Version> {
  const former = await readLastActivated(tx, entry.id);
  const kind = former ? draft.kind : 'MAJOR';
  if (former && kind === 'MINOR') {
    const errors = checkMinor(entry.type, former.data, draft.data);
    if (errors.length > 0) throw fail('invalid', 'This change needs a MAJOR version.', { errors });
  }
  if (entry.type === 'layout') await checkNames(tx, draft);
  await archiveActive(tx, entry.id);
  const serial = nextSerial({ major: entry.lastMajor, minor: entry.lastMinor }, kind);
  const activated = await activateDraft(tx, draft, serial);
  await announce(tx, { source, name: 'activated', entry: activated.entry, serial });
  return activated.version;
}

/** What a layout names must exist; it need not be ACTIVE yet: that is looked at when the layout is used. */
async function checkNames(tx: Queries, { data, defaultLanguage }: Version): Promise<void> {
  const content = data[defaultLanguage] as unknown as LayoutContent;
  const at = `/data/${defaultLanguage}`;
  const pointers = {
    info: `${at}/info`,
    elements: content.elements.map((_, index) => `${at}/elements/${index}`),
  };
  const named = await lockNamed(tx, [...(content.info ? [content.info] : []), ...content.elements]);
  const shared = await readPeerRows(
    tx,
    content.elements.flatMap((text) => parseReference(text) ?? []),
  );
  const existing = [
    ...named.map((each) => (each.status === 'DELETED' ? each : { ...each, status: 'ACTIVE' as const })),
    ...shared.map(namedByPeer),
  ];
  // Whether there is a default information is a question of use, too.
  const errors = resolveLayout(content, existing, pointers).faults.filter(({ code }) => code !== 'required');
  if (errors.length === 0) return;
  const conflict = errors.every(({ code }) => code === 'layout-conflict');
  throw fail(conflict ? 'layout-conflict' : 'unknown-element', 'The layout cannot be activated.', { errors });
}
