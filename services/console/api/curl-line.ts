/** A call of the public API, as it was made. */
export interface ApiCall {
  method: string;
  /** Path with query. */
  target: string;
  body?: unknown;
  /** The body of an upload; the command reads a file of the same name. */
  file?: File;
  ifMatch?: string;
  secret?: readonly string[];
}

/**
 * The same call as a command for a shell, with the token in `$TOKEN`. Secret members of the body become
 * variables, such as `$PASSWORD`.
 * @param baseUrl the address of the API, without a trailing slash.
 */
export function curlLine(
  { method, target, body, file, ifMatch, secret = [] }: ApiCall,
  baseUrl: string,
): string {
  const start = method === 'GET' ? 'curl' : `curl -X ${method}`;
  const parts = [`${start} -H "Authorization: Bearer $TOKEN"`];
  if (ifMatch !== undefined) parts.push(`-H ${quote(`If-Match: ${ifMatch}`)}`);
  if (body !== undefined) {
    parts.push(`-H 'Content-Type: application/json'`, `-d ${quoteBody(body, secret)}`);
  }
  if (file)
    parts.push(`-H ${quote(`Content-Type: ${file.type}`)}`, `--data-binary ${quote(`@${file.name}`)}`);
  parts.push(quote(`${baseUrl}${target}`));
  return parts.join(' \\\n  ');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The body in single quotes, interrupted by each variable in double quotes. */
function quoteBody(body: unknown, secret: readonly string[]): string {
  const marks = new Map(secret.map((name) => [`\u0000${name}\u0000`, `$${name.toUpperCase()}`]));
  const masked =
    typeof body === 'object' && body !== null && !Array.isArray(body)
      ? Object.fromEntries(
          Object.entries(body).map(([name, value]) => [
            name,
            secret.includes(name) ? `\u0000${name}\u0000` : value,
          ]),
        )
      : body;
  let text = quote(JSON.stringify(masked));
  for (const [mark, variable] of marks) {
    text = text.replaceAll(JSON.stringify(mark).slice(1, -1), `'"${variable}"'`);
  }
  return text;
}
