import { publicFormUrl } from '#lib/contracts/public-forms.ts';

/** What a piece of code is for. */
export interface SnippetInput {
  baseUrl: string;
  /** Key of a layout. */
  layout: string;
  /** Empty: the language of the subject. */
  language: string;
  place: string;
  /** Whether the form has an address of its own: then a page needs no server. */
  isPublic: boolean;
}

/** A piece of code, and where it goes. */
export interface Snippet {
  place: 'server' | 'page';
  code: string;
}

/** Code to copy; the API key is `$ACCORD_KEY` everywhere. */
export function writeSnippets({ baseUrl, layout, language, place, isPublic }: SnippetInput): Snippet[] {
  const context = { subject: 'SUBJECT', layout, ...(language && { language }) };
  const onServer = (code: string): Snippet => ({ place: 'server', code });
  const inPage = (code: string): Snippet => ({ place: 'page', code });
  const address = isPublic ? publicFormUrl(baseUrl, layout) : 'FORM_URL';
  switch (place) {
    case 'curl':
      return [onServer(curl(baseUrl, context))];
    case 'node':
      return [onServer(nodeServer(baseUrl, context))];
    case 'php':
      return [onServer(phpServer(baseUrl, context))];
    case 'iframe': {
      const framed = { ...context, iframeOrigin: 'https://www.example.org' };
      const page = inPage(frame(baseUrl, address));
      return isPublic ? [page] : [page, onServer(nodeServer(baseUrl, framed))];
    }
    default: {
      const page = inPage(`<a href="${address}">Your choices</a>`);
      return isPublic ? [page] : [page, onServer(nodeServer(baseUrl, context))];
    }
  }
}

type Body = Readonly<Record<string, string>>;

function curl(baseUrl: string, context: Body): string {
  return [
    `curl -s ${baseUrl}/consents \\`,
    `  -H "CM_KEY: $ACCORD_KEY" -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(context)}' | jq -r .links.subject`,
  ].join('\n');
}

function nodeServer(baseUrl: string, context: Body): string {
  const lines = Object.entries(context).map(([name, value]) => `    ${name}: ${JSON.stringify(value)},`);
  return `const response = await fetch('${baseUrl}/consents', {
  method: 'POST',
  headers: { CM_KEY: process.env.ACCORD_KEY, 'Content-Type': 'application/json' },
  body: JSON.stringify({
${lines.join('\n')}
  }),
});
const { links } = await response.json();
const formUrl = links.subject;`;
}

function phpServer(baseUrl: string, context: Body): string {
  const pairs = Object.entries(context).map(([name, value]) => `'${name}' => ${JSON.stringify(value)}`);
  return `$request = curl_init('${baseUrl}/consents');
curl_setopt_array($request, [
  CURLOPT_POST => true,
  CURLOPT_RETURNTRANSFER => true,
  CURLOPT_HTTPHEADER => ['CM_KEY: ' . getenv('ACCORD_KEY'), 'Content-Type: application/json'],
  CURLOPT_POSTFIELDS => json_encode([${pairs.join(', ')}]),
]);
$formUrl = json_decode(curl_exec($request))->links->subject;`;
}

/** docs/embedding.md */
function frame(baseUrl: string, address: string): string {
  return `<div id="consent"></div>
<script src="${baseUrl}/assets/embed.js" data-target="#consent" data-src="${address}"></script>`;
}
