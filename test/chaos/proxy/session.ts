import { createMessageReader, type Message, readStrings } from './wire.ts';

/** What a client asks of its session, as far as one must know it to tell when something was committed. */
export interface Session {
  fromClient(chunk: Buffer): void;
  fromServer(chunk: Buffer): void;
}

interface Watch {
  /** The client has sent something that commits, COMMIT or a statement of its own that writes, and has no answer yet. */
  onCommitSent(text: string): void;
  /** The server has answered all that it was sent: what was committed is committed. */
  onAnswered(): void;
}

const writes = /\b(INSERT|UPDATE|DELETE)\b/i;

/** Follows one session. A commit is over with ReadyForQuery: before, CommandComplete of a single statement promises nothing. */
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
