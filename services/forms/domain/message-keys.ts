import type { MessageKind } from '#lib/contracts/messages.ts';

/**
 * Keys of the `email` models that replace built-in texts (docs/interface.md, "Models"). The key for a
 * notification is in the layout or the context instead.
 */
const reservedKeys = {
  invitation: 'message.invitation',
  code: 'message.code',
  'bad-news': 'message.bad-news',
  withdrawal: 'message.withdrawal',
  campaign: 'message.campaign',
} as const satisfies Partial<Record<MessageKind, string>>;

/** The key of the model that replaces the built-in text of a kind; null if no key is reserved for it. */
export function reservedKeyOf(kind: MessageKind): string | null {
  return kind in reservedKeys ? reservedKeys[kind as keyof typeof reservedKeys] : null;
}

/** The kind of message that an `email` model is for. */
export function messageKindOf(key: string): MessageKind {
  const kinds = ['invitation', 'code', 'bad-news', 'withdrawal', 'campaign'] as const;
  return kinds.find((kind) => reservedKeys[kind] === key) ?? 'notification';
}
