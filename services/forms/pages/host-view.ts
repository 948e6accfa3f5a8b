import type { HostPage } from '#lib/contracts/pages.ts';
import { pathOf } from './path-of.ts';

/** The three lines that embed a form, as a site would write them. */
export function hostView({ instance, formUrl }: HostPage): { formPath: string; snippet: string } {
  return {
    formPath: pathOf(formUrl, instance.baseUrl),
    snippet: [
      '<div id="consent"></div>',
      `<script src="${instance.baseUrl}/assets/embed.js"`,
      '        data-target="#consent" data-src="TRANSACTION URL"></script>',
    ].join('\n'),
  };
}
