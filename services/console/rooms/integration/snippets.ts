/** What a piece of code is for. */
export interface SnippetInput {
  baseUrl: string;
  /** Key of a layout. */
  layout: string;
  /** Empty: the language of the subject. */
  language: string;
  place: string;
}

/**
 * Code to copy; the API key is `$ACCORD_KEY` everywhere.
 * @returns one text, or two: for the server and for the page.
 */
export function writeSnippets({ baseUrl, layout, language, place }: SnippetInput): string[] {
  const context = { subject: 'SUBJECT', layout, ...(language && { language }) };
  switch (place) {
    case 'node':
      return [nodeServer(baseUrl, context)];
    case 'php':
      return [phpServer(baseUrl, context)];
    case 'iframe':
      return [nodeServer(baseUrl, { ...context, iframeOrigin: 'https://www.example.org' }), frame(baseUrl)];
    case 'link':
      return [nodeServer(baseUrl, context), '<a href="FORM_URL">Your choices</a>'];
    default:
      return [curl(baseUrl, context)];
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
function frame(baseUrl: string): string {
  return `<div id="consent"></div>
<script src="${baseUrl}/assets/embed.js" data-target="#consent" data-src="FORM_URL"></script>`;
}
