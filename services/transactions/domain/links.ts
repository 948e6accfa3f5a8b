/** URLs of a transaction, all built from BASE_URL, never from Host. */
export interface Links {
  transaction: string;
  submit: string;
  cancel: string;
  child: string;
  receipt: string;
}

/** @returns the URLs of a transaction, without a token. */
export function linksOf(baseUrl: string, id: string): Links {
  const transaction = `${baseUrl}/consents/${id}`;
  return {
    transaction,
    submit: `${transaction}/submit`,
    cancel: `${transaction}/cancel`,
    child: `${transaction}/child`,
    receipt: `${baseUrl}/receipts/${id}`,
  };
}

/** A URL that opens with a transaction token. */
export function withToken(url: string, token: string): string {
  return `${url}?t=${token}`;
}
