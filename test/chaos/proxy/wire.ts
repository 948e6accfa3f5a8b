/** One message of PostgreSQL's protocol 3.0; `type` is empty for what comes before the session starts. */
export interface Message {
  type: string;
  /** What follows the length. */
  body: Buffer;
}

const sessionStart = 196_608;

/**
 * Cuts a stream into messages ("Message Formats" in PostgreSQL's manual). Chunks end anywhere.
 * @param untyped the stream begins with messages that have no type, as a client's does.
 */
export function createMessageReader(
  { untyped }: { untyped: boolean },
  onMessage: (message: Message) => void,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let before = untyped;
  function next(): Message | undefined {
    const start = before ? 0 : 1;
    if (rest.length < start + 4) return undefined;
    const end = start + rest.readInt32BE(start);
    if (rest.length < end) return undefined;
    const body = rest.subarray(start + 4, end);
    const type = before ? '' : String.fromCharCode(rest[0] as number);
    if (before && body.readInt32BE(0) === sessionStart) before = false;
    rest = rest.subarray(end);
    return { type, body };
  }
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let message = next(); message; message = next()) onMessage(message);
  };
}

/** The strings that a message begins with, each ended by a NUL. */
export function readStrings(body: Buffer, count: number): string[] {
  const strings: string[] = [];
  let start = 0;
  for (let index = 0; index < count; index += 1) {
    const end = body.indexOf(0, start);
    strings.push(body.toString('utf8', start, end));
    start = end + 1;
  }
  return strings;
}
