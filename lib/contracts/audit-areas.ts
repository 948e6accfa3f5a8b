/** The lists of the audit log, `GET /audit/<area>`; each service keeps the log of its area. */
export const auditAreas = ['auth', 'models', 'consents', 'peers', 'webhooks'] as const;
export type AuditArea = (typeof auditAreas)[number];

/** Internal operations of every service with an audit log. */
export interface AuditOperations {
  /**
   * The consistency proof between two sizes of the log (RFC 9162, section 2.1.4), hexadecimal; null if the
   * log is shorter.
   */
  auditProof(input: { from: number; to: number }): Promise<{ proof: string[] | null }>;
}
