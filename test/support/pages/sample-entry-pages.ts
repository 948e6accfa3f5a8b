import type { EntryPage } from '#lib/contracts/pages.ts';
import type { EntryModel, PageModel } from '../../../services/forms/pages/page-model.ts';
import { offeredAt } from './sample-offered.ts';

type Base = Pick<EntryModel, 'language' | 'instance' | 'theme' | 'layout' | 'information'>;

/** A page of a form's address. @param more overrides anything. */
function sampleEntry(
  base: Base,
  more: Partial<EntryPage & Pick<EntryModel, 'offered'>> & { consolePath?: null },
): EntryModel {
  return {
    ...base,
    page: 'entry',
    key: 'layout.001',
    identify: 'EMAIL',
    url: `${base.instance.baseUrl}/f/layout.001`,
    isOver: false,
    consolePath: '/console',
    ...more,
  };
}

/** Every state of the page at a form's address. */
export function sampleEntryPages(base: Base): Record<string, PageModel> {
  const until = '2025-06-30T21:59:59.999Z';
  return {
    'entry-email': sampleEntry(base, { until, offered: offeredAt('/f/layout.001') }),
    'entry-faulty': sampleEntry(base, { fault: { field: 'emailAddress', emailAddress: 'ann@' } }),
    'entry-trapped': sampleEntry(base, { fault: { field: 'website', emailAddress: 'ann@example.org' } }),
    'entry-anonymous': sampleEntry(base, { identify: 'ANONYMOUS' }),
    'entry-sign-in': sampleEntry(base, { identify: 'SIGN_IN' }),
    'entry-no-sign-in': sampleEntry(base, { identify: 'SIGN_IN', consolePath: null }),
    'entry-over': sampleEntry(base, { isOver: true, until }),
  };
}
