import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PageRenderer } from '../pages/page-renderer.ts';
import { readContents } from '../queries/active-entries.ts';
import { readPeerContents } from '../queries/read-peers.ts';
import { deletePeer, saveKnownPeers } from '../queries/store-peers.ts';
import { createActiveVersions } from './active-versions.ts';
import { createCheckAnswers } from './check-answers.ts';
import { createCheckSubmission } from './check-submission.ts';
import { createContentCache } from './content-cache.ts';
import { createDescribeForm } from './describe-form.ts';
import { createFindTheme } from './find-theme.ts';
import { createFinishPeerCatalogue } from './finish-peer-catalogue.ts';
import { createReadForm } from './read-form.ts';
import { createReadFormerOfPeers } from './read-former-of-peers.ts';
import { createReadPeerParts } from './read-peer-parts.ts';
import { createRenderForm } from './render-form.ts';
import { createResolveLayout } from './resolve-layout.ts';
import { createSealParts } from './seal-parts.ts';
import { createSharedEntries } from './shared-entries.ts';
import { createStorePeerEntries } from './store-peer-entries.ts';

/** What decides about peers' elements. */
export interface PeerRules {
  /** PEER_STALE_LIMIT: days after which a copy is too old to be shown. */
  staleDays: number;
}

/** The internal operations of this service (lib/contracts/forms.ts): what other services ask it. */
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
    ...{ contents: peerContents, staleDays: peers.staleDays, ownName: instance.name },
  });
  const readForm = createReadForm({ db, contents, readPeerParts, languages });
  const describeForm = createDescribeForm({ readForm });
  return {
    resolveLayout: createResolveLayout({ db, contents, peers }),
    describeForm,
    renderForm: createRenderForm({ describeForm, renderer }),
    checkAnswers: createCheckAnswers({
      ...{ db, contents, readForm },
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
