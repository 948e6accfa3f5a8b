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
function createMessageReader(
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
function readStrings(body: Buffer, count: number): string[] {
  const strings: string[] = [];
  let start = 0;
  for (let index = 0; index < count; index += 1) {
    const end = body.indexOf(0, start);
    strings.push(body.toString('utf8', start, end));
    start = end + 1;
  }
  return strings;
}

/** What a client asks of its session, as far as one must know it to tell when something was committed. */
export interface Session {
  fromClient(chunk: Buffer): void;
  fromServer(chunk: Buffer): void;
}

interface Watch {
  /**
   * The client has sent something that commits, COMMIT or a statement of its own that writes, and has no
   * answer yet.
   */
  onCommitSent(text: string): void;
  /** The server has answered all that it was sent: what was committed is committed. */
  onAnswered(): void;
}

const writes = /\b(INSERT|UPDATE|DELETE)\b/i;

/**
 * Follows one session. A commit is over with ReadyForQuery: before, CommandComplete of a single statement
 * promises nothing.
 */
export function watchSession({ onCommitSent, onAnswered }: Watch): Session {
  const prepared = new Map<string, string>();
  let text = '';
  let inTransaction = false;
  const asked = () => {
    const commits = inTransaction ? /^\s*(COMMIT|END)\b/i.test(text) : writes.test(text);
    if (commits) onCommitSent(text);
  };
  const clientMessages: Record<string, (message: Message) => void> = {
    // Parse
    P({ body }) {
      const [name = '', statement = ''] = readStrings(body, 2);
      prepared.set(name, statement);
    },
    // Bind
    B({ body }) {
      text = prepared.get(readStrings(body, 2)[1] as string) ?? '';
    },
    // Query
    Q({ body }) {
      [text = ''] = readStrings(body, 1);
      asked();
    },
    // Sync
    S: asked,
  };
  const fromClient = createMessageReader({ untyped: true }, (message) =>
    clientMessages[message.type]?.(message),
  );
  const fromServer = createMessageReader({ untyped: false }, ({ type, body }) => {
    if (type !== 'Z') return;
    inTransaction = body[0] !== 'I'.charCodeAt(0);
    onAnswered();
  });
  return { fromClient, fromServer };
}
