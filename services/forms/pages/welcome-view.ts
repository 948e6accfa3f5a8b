import type { WelcomePage } from '#lib/contracts/pages.ts';
import { pathOf } from './path-of.ts';
import type { Reader } from './reader.ts';

/** One step in a terminal: what it does, and the line to copy. */
interface Step {
  text: string;
  command: string;
}

/** The first page. In demo mode its lines can be copied as they stand: they hold this instance's own addresses. */
export function welcomeView(
  page: WelcomePage,
  reader: Reader,
): { title: string; hostPath: string; steps: Step[] } {
  if (!page.demo) return { title: page.instance.name, hostPath: '', steps: [] };
  return {
    title: reader.t('welcome.ready', { instance: page.instance.name }),
    hostPath: pathOf(page.demo.hostUrl, page.instance.baseUrl),
    steps: page.demo.tokenUrl === null ? [] : firstConsent(page, page.demo.tokenUrl, reader),
  };
}

function firstConsent({ instance }: WelcomePage, tokenUrl: string, reader: Reader): Step[] {
  const bearer = '-H "Authorization: Bearer $TOKEN"';
  const json = "-H 'Accept: application/json'";
  const context = `'{"subject":"alice","layout":"layout.001"}'`;
  return [
    {
      text: reader.t('welcome.tryToken'),
      command: `TOKEN=$(curl -s ${tokenUrl} -d grant_type=password -d client_id=accord -d username=operator -d password=demo | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    },
    {
      text: reader.t('welcome.tryCreate'),
      command: `LINK=$(curl -si ${instance.baseUrl}/consents ${bearer} -H 'Content-Type: application/json' -d ${context} | tr -d '\\r' | sed -n 's/^[Ll]ocation: //p'); echo "$LINK"`,
    },
    { text: reader.t('welcome.tryForm'), command: `curl -s "$(echo "$LINK" | sed 's|?|/submit?|')" ${json}` },
    { text: reader.t('welcome.tryTransaction'), command: `curl -s "$LINK" ${json}` },
    {
      text: reader.t('welcome.tryRecords'),
      command: `curl -s "${instance.baseUrl}/records?subject=alice" ${bearer}`,
    },
  ];
}
