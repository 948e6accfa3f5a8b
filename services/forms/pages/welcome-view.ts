import type { Reader } from '#lib/pages/reader.ts';
import type { HostPage, WelcomePage } from './page-model.ts';

/** The welcome page. In demo mode its commands contain this instance's URLs, so that they work as shown. */
export function welcomeView(page: WelcomePage, reader: Reader) {
  const { demo, instance } = page;
  if (!demo) return { title: instance.name, hostPath: '', steps: [], embed: '' };
  return {
    title: reader.t('welcome.ready', { instance: instance.name }),
    hostPath: pathOf(demo.hostUrl, instance.baseUrl),
    steps: demo.tokenUrl === null ? [] : firstConsent(page, demo.tokenUrl, reader),
    /** The HTML that embeds this page's form. */
    embed: [
      '<div id="consent"></div>',
      `<script src="${instance.baseUrl}/assets/embed.js" data-target="#consent" data-src="${demo.formUrl}"></script>`,
      `<script>document.querySelector('#consent').addEventListener('accord:committed', (event) => console.log(event.detail));</script>`,
    ].join('\n'),
  };
}

/** Commands for the demo's layout.001. Each run uses another subject, so that they can be repeated. */
function firstConsent({ instance }: WelcomePage, tokenUrl: string, reader: Reader) {
  const { baseUrl } = instance;
  const bearer = '-H "Authorization: Bearer $TOKEN"';
  const json = "-H 'Content-Type: application/json'";
  return [
    {
      text: reader.t('welcome.tryToken'),
      command: `pick() { node -p "JSON.parse(fs.readFileSync(0)).$1"; }
TOKEN=$(curl -s ${tokenUrl} \\
  -d grant_type=password -d client_id=accord \\
  -d username=operator -d password=demo |
  pick access_token)`,
    },
    {
      text: reader.t('welcome.tryCreate'),
      command: `SUBJECT=alice-$(date +%s)-$$
FORM=$(curl -s ${baseUrl}/consents \\
  ${bearer} \\
  ${json} \\
  -d '{"subject":"'$SUBJECT'","layout":"layout.001"}' |
  pick links.form)`,
    },
    { text: reader.t('welcome.tryForm'), command: 'curl -s "$FORM"' },
    {
      text: reader.t('welcome.tryAnswer'),
      command: `curl -s "$FORM" ${json} -d '{
  "element/processing/processing.001/1.0": "accepted",
  "element/processing/processing.002/1.0": "refused",
  "element/preference/preference.001/1.0": "Once a month"
}'`,
    },
    {
      text: reader.t('welcome.tryRecords'),
      command: `curl -s "${baseUrl}/records?subject=$SUBJECT" \\
  ${bearer}`,
    },
  ];
}

/** A URL of this instance without its origin, so that it also works under another host name (127.0.0.1). */
function pathOf(url: string, baseUrl: string): string {
  return url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url;
}

/** The sample site of the demo, with the three lines that embed a form. */
export function hostView({ instance }: HostPage) {
  return {
    snippet: [
      '<div id="consent"></div>',
      `<script src="${instance.baseUrl}/assets/embed.js"`,
      '        data-target="#consent" data-src="TRANSACTION URL"></script>',
    ].join('\n'),
  };
}
