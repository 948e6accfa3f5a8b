/** What a line of the audit log can say was done (docs/audit.md, "Actions"). */
export const auditActions = [
  'account.created',
  'account.deleted',
  'account.disabled',
  'account.enabled',
  'account.updated',
  'client.created',
  'client.deleted',
  'key.created',
  'key.revoked',
  'link.created',
  'password.changed',
] as const;

export type AuditAction = (typeof auditActions)[number];
