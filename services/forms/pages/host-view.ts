import type { HostPage } from '#lib/contracts/pages.ts';

/** The three lines that embed a form, as a site would write them. */
export function hostView({ instance }: HostPage): { snippet: string } {
  return {
    snippet: [
      '<div id="consent"></div>',
      `<script src="${instance.baseUrl}/assets/embed.js"`,
      '        data-target="#consent" data-src="TRANSACTION URL"></script>',
    ].join('\n'),
  };
}
