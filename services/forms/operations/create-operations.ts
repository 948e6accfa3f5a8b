import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import type { PageRenderer } from '../pages/create-page-renderer.ts';
import { createActiveVersions } from './active-versions.ts';
import { createCheckAnswers } from './check-answers.ts';
import { createContentCache } from './content-cache.ts';
import { createDescribeForm } from './describe-form.ts';
import { createFindTheme } from './find-theme.ts';
import { createReadForm } from './read-form.ts';
import { createResolveLayout } from './resolve-layout.ts';
import { createSharedEntries } from './shared-entries.ts';

/** The internal operations of this service (lib/contracts/forms.ts): what other services ask it. */
export function createOperations({
  db,
  renderer,
  defaultLanguage,
}: {
  db: Database;
  renderer: PageRenderer;
  /** INSTANCE_LANGUAGE */
  defaultLanguage: string;
}): FormsOperations {
  const contents = createContentCache({ db });
  const languages = { pages: renderer.languages, instance: defaultLanguage };
  const readForm = createReadForm({ db, contents, languages });
  return {
    resolveLayout: createResolveLayout({ db, contents }),
    describeForm: createDescribeForm({ readForm }),
    checkAnswers: createCheckAnswers({ db, contents, readForm }),
    activeVersions: createActiveVersions({ db }),
    theme: createFindTheme({ db, contents }),
    sharedEntries: createSharedEntries({ db }),
    renderPage: async ({ model }) => ({ html: renderer.render(model) }),
  };
}
