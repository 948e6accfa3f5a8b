/** The lists of the audit log, `GET /audit/<area>`; each service keeps the log of its area. */
export const auditAreas = ['auth', 'models', 'consents', 'peers', 'webhooks'] as const;
export type AuditArea = (typeof auditAreas)[number];
