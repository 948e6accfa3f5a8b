/** A request as the reference shows it. */
export interface SampleRequest {
  method: string;
  /** URL with examples in the place of its parameters. */
  url: string;
  /** The body, as JSON or as a form; absent if the operation takes none. */
  body?: { type: string; text: string };
  /** Whether a credential belongs to it. */
  takesToken: boolean;
}

/** The request in the languages of most integrators; the credential is in the variable `TOKEN`. */
export function requestSnippets(request: SampleRequest): { language: string; text: string }[] {
  return [
    { language: 'curl', text: curl(request) },
    { language: 'Node.js', text: node(request) },
    { language: 'PHP', text: php(request) },
  ];
}

function curl({ method, url, body, takesToken }: SampleRequest): string {
  return [
    `curl -X ${method} ${shellText(url)}`,
    ...(takesToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body ? [`-H ${shellText(`Content-Type: ${body.type}`)}`, `--data ${shellText(body.text)}`] : []),
  ].join(' \\\n  ');
}

function node({ method, url, body, takesToken }: SampleRequest): string {
  const headers = [
    ...(takesToken ? [`    Authorization: \`Bearer \${process.env.TOKEN}\`,`] : []),
    ...(body ? [`    'Content-Type': '${body.type}',`] : []),
  ];
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: '${method}',`,
    ...(headers.length > 0 ? ['  headers: {', ...headers, '  },'] : []),
    ...(body
      ? [`  body: ${isJson(body) ? `JSON.stringify(${body.text})` : JSON.stringify(body.text)},`]
      : []),
    '});',
    'console.log(response.status, await response.text());',
  ].join('\n');
}

function php({ method, url, body, takesToken }: SampleRequest): string {
  const headers = [
    ...(takesToken ? ["'Authorization: Bearer ' . getenv('TOKEN')"] : []),
    ...(body ? [phpText(`Content-Type: ${body.type}`)] : []),
  ];
  return [
    `$request = curl_init(${phpText(url)});`,
    'curl_setopt_array($request, [',
    `    CURLOPT_CUSTOMREQUEST => '${method}',`,
    '    CURLOPT_RETURNTRANSFER => true,',
    ...(headers.length > 0 ? [`    CURLOPT_HTTPHEADER => [${headers.join(', ')}],`] : []),
    ...(body ? [`    CURLOPT_POSTFIELDS => ${phpText(body.text)},`] : []),
    ']);',
    'echo curl_exec($request);',
  ].join('\n');
}

const isJson = ({ type }: { type: string }) => type === 'application/json';
/** In single quotes a shell reads everything as it is, but for the quote. */
const shellText = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const phpText = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
