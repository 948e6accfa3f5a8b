import { accessMappingHandlers } from './access-mappings.ts';
import { auditReads } from './audit-reads.ts';
import { authzenHandlers } from './authzen.ts';
import { campaignHandlers } from './campaigns.ts';
import { childHandlers } from './children.ts';
import { choicesHandlers } from './choices.ts';
import { choicesLinkHandlers } from './choices-links.ts';
import { confirmationHandlers } from './confirmations.ts';
import { decisionHandlers } from './decisions.ts';
import type { Dependencies } from './dependencies.ts';
import { documentHandlers } from './documents.ts';
import { erasureHandlers } from './erasures.ts';
import { formHandlers } from './forms.ts';
import { messageHandlers } from './messages.ts';
import { publicFormHandlers } from './public-forms.ts';
import { receiptHandlers } from './receipts.ts';
import { recordHandlers } from './records.ts';
import { recordsExportHandlers } from './records-export.ts';
import { shortLinkHandlers } from './short-links.ts';
import { statsHandlers } from './stats.ts';
import { subjectExportHandlers } from './subject-export.ts';
import { subjectHandlers } from './subjects.ts';
import { transactionHandlers } from './transactions.ts';
import { verifyHandlers } from './verify.ts';
import { withdrawalHandlers } from './withdrawals.ts';

/** Handlers by operationId (openapi.yaml, tag transactions). */
export function createHandlers(dependencies: Dependencies) {
  return auditReads(dependencies.db, {
    ...transactionHandlers(dependencies),
    ...formHandlers(dependencies),
    ...publicFormHandlers(dependencies),
    ...shortLinkHandlers(dependencies),
    ...confirmationHandlers(dependencies),
    ...messageHandlers(dependencies),
    ...childHandlers(dependencies),
    ...withdrawalHandlers(dependencies),
    ...choicesHandlers(dependencies),
    ...choicesLinkHandlers(dependencies),
    ...receiptHandlers(dependencies),
    ...verifyHandlers(dependencies),
    ...recordHandlers(dependencies),
    ...recordsExportHandlers(dependencies),
    ...subjectHandlers(dependencies),
    ...subjectExportHandlers(dependencies),
    ...documentHandlers(dependencies),
    ...erasureHandlers(dependencies),
    ...campaignHandlers(dependencies),
    ...statsHandlers(dependencies),
    ...decisionHandlers(dependencies),
    ...authzenHandlers(dependencies),
    ...accessMappingHandlers(dependencies),
  });
}
