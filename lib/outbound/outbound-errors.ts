const refusals = {
  scheme: 'Only http and https addresses are called.',
  credentials: 'Addresses with a user name or password in them are not called.',
  address: 'The address is in a network that is not called.',
  redirect: 'The answer was a redirect, and none is followed.',
  'too-large': 'The answer was too large.',
  url: 'This is no address that can be called.',
};

const failures = {
  dns: 'The name could not be resolved',
  connect: 'No connection could be made',
  tls: 'No secure connection could be made',
  timeout: 'There was no answer in time',
  closed: 'The connection ended before the answer did',
};

/**
 * Not for us to call, whatever is tried again: private address, scheme, credentials in the URL, redirect, too large an answer.
 * The message is for logs and people; like that of {@link OutboundFailed} it holds nothing of the URL or of what was sent or received.
 */
export class OutboundRefused extends Error {
  readonly reason: keyof typeof refusals;

  constructor(reason: keyof typeof refusals) {
    super(refusals[reason]);
    this.name = 'OutboundRefused';
    this.reason = reason;
  }
}

/** Could not be reached, or did not answer in time: may be tried again. */
export class OutboundFailed extends Error {
  readonly reason: keyof typeof failures;
  readonly code: string | undefined;

  /** @param code what Node calls it, e.g. ECONNREFUSED; its error itself may hold a part of the answer. */
  constructor(reason: keyof typeof failures, code?: string) {
    super(`${failures[reason]}${code ? ` (${code})` : ''}.`);
    this.name = 'OutboundFailed';
    this.reason = reason;
    this.code = code;
  }
}
