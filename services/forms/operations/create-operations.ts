import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageTheme } from '#lib/contracts/page-base.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { pageTheme } from '../domain/content-version.ts';
import { isEntryId } from '../domain/identifiers.ts';
import type { PageRenderer } from '../pages/page-renderer.ts';
import { readActive, readContents } from '../queries/active-entries.ts';
import { readPeerContents } from '../queries/read-peers.ts';
import { deletePeer, saveKnownPeers } from '../queries/store-peers.ts';
import { createCheckAnswers } from './check-answers.ts';
import { createCheckSubmission } from './check-submission.ts';
import { type ContentCache, createContentCache } from './content-cache.ts';
import { createDescribeForm } from './describe-form.ts';
import { createFinishPeerCatalogue, createSharedEntries, createStorePeerEntries } from './peer-entries.ts';
import { createActiveVersions, createReadForm } from './read-form.ts';
import { createReadFormerOfPeers, createReadPeerParts } from './read-peer-parts.ts';
import { createRenderForm } from './render-form.ts';
import { createResolveLayout } from './resolve-layout.ts';
import { createSealParts } from './seal-parts.ts';

/** Rules for showing peers' elements. */
export interface PeerRules {
  /** PEER_STALE_LIMIT: the age in days at which a copy is no longer shown. */
  staleDays: number;
}

/** The internal operations of this service (lib/contracts/forms.ts), which other services call. */
export function createOperations({
  db,
  log,
  renderer,
  instance,
  defaultLanguage,
  peers,
}: {
  db: Database;
  log: Logger;
  renderer: PageRenderer;
  instance: { name: string; baseUrl: string };
  /** INSTANCE_LANGUAGE */
  defaultLanguage: string;
  peers: PeerRules;
}): FormsOperations {
  const contents = createContentCache((ids) => readContents(db, ids));
  const peerContents = createContentCache((ids) => readPeerContents(db, ids));
  const languages = { pages: renderer.languages, instance: defaultLanguage };
  const readPeerParts = createReadPeerParts({
    contents: peerContents,
    staleDays: peers.staleDays,
    ownName: instance.name,
  });
  const readForm = createReadForm({ db, contents, readPeerParts, languages });
  const describeForm = createDescribeForm({ readForm });
  return {
    resolveLayout: createResolveLayout({ db, contents, peers }),
    describeForm,
    renderForm: createRenderForm({ describeForm, renderer }),
    checkAnswers: createCheckAnswers({
      db,
      contents,
      readForm,
      readFormerOfPeers: createReadFormerOfPeers({ db, contents: peerContents }),
      sealParts: createSealParts({ leader: instance.baseUrl }),
    }),
    checkSubmission: createCheckSubmission({ db, contents }),
    activeVersions: createActiveVersions({ db }),
    theme: createFindTheme({ db, contents }),
    sharedEntries: createSharedEntries({ db }),
    storePeerEntries: createStorePeerEntries({ db, log }),
    finishPeerCatalogue: createFinishPeerCatalogue({ db }),
    forgetPeer: ({ url }) => deletePeer(db, url),
    async setKnownPeers(list) {
      await saveKnownPeers(db, list);
      return {};
    },
    renderPage: async ({ model }) => ({ html: renderer.render(model) }),
    labelForm: async ({ page }) => renderer.label(page),
  };
}

/**
 * The internal operation `theme`.
 * @param input.key a key or an entry id.
 */
function createFindTheme({ db, contents }: { db: Database; contents: ContentCache }) {
  return async ({ key, language }: { key: string; language: string }): Promise<PageTheme | null> => {
    const [row] = await readActive(db, { keys: [key], ids: isEntryId(key) ? [key] : [] });
    if (row?.type !== 'theme' || !row.version) return null;
    const version = (await contents.get([row.version])).get(row.version);
    return version ? pageTheme(version, language) : null;
  };
}
