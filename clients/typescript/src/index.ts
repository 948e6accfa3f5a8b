export { type Accord, type AccordOptions, createAccord } from './accord.ts';
export type { components, operations } from './contract.gen.ts';
export type { Auth } from './credentials.ts';
export { AccordError, type Fault, type Problem } from './problem.ts';
export { type Receipt, ReceiptError, type SigningKey, signingKeys, verifySignedReceipt } from './receipts.ts';
export type { Answer, CallOptions, OperationId } from './types.ts';
export { type CloudEvent, verifyWebhook, WebhookError, type WebhookEvent } from './webhooks.ts';
