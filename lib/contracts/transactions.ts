/** Internal operations of the transactions service. */
export interface TransactionsOperations {
  /**
   * Creates a transaction as POST /consents does for an operator.
   * @param input.author who asks. @returns the transaction's URL, which opens with a token.
   * @throws Failure of a creation.
   */
  createTransaction(input: { context: Record<string, unknown>; author: string }): Promise<{ url: string }>;
}
