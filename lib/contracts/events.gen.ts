export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Submission: {
            /** @description Id of the part (`sid`). */
            submission: components["schemas"]["TransactionId"];
            /**
             * Format: uri
             * @description Base URL of the other instance.
             */
            peer: string;
            /**
             * @description Only with `submission.decided`.
             * @enum {string}
             */
            decision?: "commit" | "rollback";
            /**
             * Format: date-time
             * @description Delivery is attempted until then. Only with `submission.released` and `submission.withdrawn`.
             */
            deadline?: string;
        };
        PeerSubmission: {
            transaction: components["schemas"]["TransactionId"];
            /**
             * Format: uri
             * @description Base URL of the owner.
             */
            peer: string;
            /** @description The version of the part, not of the transaction. */
            version: components["schemas"]["Version"];
            /** @description Only with `refused`. */
            reason?: string;
        };
        SubmissionAnswer: {
            /** @description Id of the part (`sid`). */
            submission: components["schemas"]["TransactionId"];
            /** Format: uri */
            peer: string;
            /**
             * @description The request that is answered.
             * @enum {string}
             */
            about: "part" | "decision" | "withdrawal" | "erasure";
            /**
             * @description `done`: the part is committed or withdrawn, or its person is erased. `held`: the owner waits for the decision. `noted`: it has not decided about the erasure,
             *     or not finished it. `refused`: it refuses the part or has rolled it back; of an erasure: it keeps the part. `expired`: the deadline passed without an
             *     acknowledgement. `unsupported`: it was not asked, because it lacks the capability.
             * @enum {string}
             */
            verdict: "done" | "held" | "noted" | "refused" | "expired" | "unsupported";
            reason?: string;
            /** @description Id of the transaction at the peer. */
            id?: string;
        };
        /** @description The attributes of an event (CloudEvents 1.0) except `specversion` and `datacontenttype`, which are constant. */
        Attributes: {
            /**
             * Format: uuid
             * @description Stays the same when an event is delivered again.
             */
            id: string;
            type: string;
            /**
             * Format: uri
             * @description BASE_URL of the instance.
             */
            source: string;
            /** @description The id of what the event is about, or belongs to. It is the key of the message, except for `record.superseded` (id of the record) and `message.*` (id of the message). */
            subject: string;
            /** Format: date-time */
            time: string;
            /** @description The id of the request that caused the event, as in the log. */
            requestid?: string;
            /** @description The place in the trace of the request that caused the event (W3C Trace Context); only while traces are exported. Webhooks do not carry it. */
            traceparent?: string;
        };
        /** @description The attributes of an event as headers of a Kafka message (CloudEvents Kafka binding 1.0.2, §3.2). */
        Headers: {
            /** @constant */
            ce_specversion: "1.0";
            ce_id: components["schemas"]["Attributes"]["id"];
            ce_type: components["schemas"]["Attributes"]["type"];
            ce_source: components["schemas"]["Attributes"]["source"];
            ce_subject: components["schemas"]["Attributes"]["subject"];
            ce_time: components["schemas"]["Attributes"]["time"];
            ce_requestid?: components["schemas"]["Attributes"]["requestid"];
            ce_traceparent?: components["schemas"]["Attributes"]["traceparent"];
            /** @constant */
            "content-type": "application/json";
        };
        /** @description The version of the resource. It grows with each change. */
        Version: number;
        TransactionId: string;
        Consent: {
            transaction: components["schemas"]["TransactionId"];
            /** @enum {string} */
            state: "CREATED" | "SUBMITTED" | "COMMITTED" | "CANCELLED" | "TIMEOUT" | "ROLLBACK";
            version: components["schemas"]["Version"];
        };
        ConsentWithdrawn: {
            /** @description The transaction that withdraws. */
            transaction: components["schemas"]["TransactionId"];
            /** @enum {string} */
            state: "COMMITTED";
            version: components["schemas"]["Version"];
            /** @description The consents that have ended. Those of one transaction come in several events if there are more than 50. */
            withdraws: {
                /**
                 * Format: uuid
                 * @description The record of the consent.
                 */
                record: string;
                /** @description The key of the question. */
                element: string;
            }[];
            /**
             * Format: uri
             * @description Only in webhooks with `acknowledgeWithin`. The URL to which the receiver posts its acknowledgement (`acknowledgeDelivery` of openapi.yaml).
             */
            acknowledge?: string;
        };
        Notice: {
            /** @description The transaction that withdraws, or the erasure. */
            transaction: components["schemas"]["TransactionId"];
            /**
             * Format: uuid
             * @description The id of the webhook.
             */
            recipient: string;
            /** @description The name of the organisation. */
            name: string;
            /** @enum {string} */
            state: "QUEUED" | "DELIVERED" | "ACKNOWLEDGED" | "OVERDUE" | "FAILED";
            /** @description The version of the notice, not of the transaction. */
            version: components["schemas"]["Version"];
            /**
             * Format: date-time
             * @description When the notice entered the state.
             */
            since: string;
            /**
             * @description Only with `notice.acknowledged`.
             * @enum {string}
             */
            outcome?: "done" | "kept";
            /** @description A text by the organisation. Only with `notice.acknowledged`. */
            note?: string;
        };
        SubjectErased: {
            /** @description The erasure of the person; absent if the retention of the transaction has ended. */
            erasure?: components["schemas"]["TransactionId"];
            transaction: components["schemas"]["TransactionId"];
            records: components["schemas"]["RecordIds"];
            /**
             * Format: uri
             * @description Only in webhooks with `acknowledgeWithin`. The URL to which the receiver posts its acknowledgement (`acknowledgeDelivery` of openapi.yaml).
             */
            acknowledge?: string;
        };
        SubjectRestricted: {
            records: components["schemas"]["RecordIds"];
        };
        /** @description More than 50 come in several events. */
        RecordIds: string[];
        RecordSuperseded: {
            /** Format: uuid */
            record: string;
            /** @description The transaction of the earlier answer. */
            transaction: components["schemas"]["TransactionId"];
            /**
             * Format: uuid
             * @description The record that replaces it.
             */
            by: string;
        };
        SubjectMessage: {
            /** Format: uuid */
            message: string;
            transaction: components["schemas"]["TransactionId"];
            /** @enum {string} */
            kind: "invitation" | "code" | "notification" | "bad-news" | "withdrawal";
            /** @enum {string} */
            channel: "mail" | "sms";
        };
        Model: {
            /** Format: uuid */
            model: string;
            key: string;
            type: string;
            version: components["schemas"]["Version"];
            /** @description The serial of the version. */
            serial?: string;
        };
        Key: {
            /** Format: uuid */
            key: string;
            /** @enum {string} */
            scope: "OWNER" | "PEER" | "DECISION";
            version: components["schemas"]["Version"];
        };
        Peer: {
            /** Format: uuid */
            peer: string;
            version: components["schemas"]["Version"];
        };
        /** @description The head of the tree of an audit log (RFC 9162, section 2.1). */
        AuditHead: {
            /** @enum {string} */
            area: "auth" | "models" | "consents" | "peers" | "webhooks";
            /** @description Number of sealed lines. It only grows. */
            size: number;
            /** @description The root hash. */
            root: string;
        };
        AuditCheckpoint: {
            /**
             * Format: uuid
             * @description Its id in `GET /audit/checkpoints`.
             */
            checkpoint: string;
            /** @description The signed heads (docs/evidence.md). They are public. */
            jws: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;

/** The types of the events of each topic. */
export interface TopicEvents {
  'accord.consents': 'io.accord.consent.submitted.v1' | 'io.accord.consent.rolledback.v1' | 'io.accord.peer.submission.delivered.v1' | 'io.accord.peer.submission.accepted.v1' | 'io.accord.peer.submission.refused.v1' | 'io.accord.consent.created.v1' | 'io.accord.consent.committed.v1' | 'io.accord.consent.cancelled.v1' | 'io.accord.consent.timedout.v1' | 'io.accord.consent.expiring.v1' | 'io.accord.consent.expired.v1' | 'io.accord.consent.withdrawn.v1' | 'io.accord.subject.erased.v1' | 'io.accord.subject.restricted.v1' | 'io.accord.record.superseded.v1' | 'io.accord.message.sent.v1' | 'io.accord.message.failed.v1';
  'accord.models': 'io.accord.model.activated.v1' | 'io.accord.model.archived.v1' | 'io.accord.model.deleted.v1' | 'io.accord.model.shared.v1';
  'accord.keys': 'io.accord.key.created.v1' | 'io.accord.key.revoked.v1';
  'accord.peers': 'io.accord.peer.added.v1' | 'io.accord.peer.removed.v1';
  'accord.heads': 'io.accord.audit.head.v1' | 'io.accord.audit.checkpoint.v1';
  'accord.peer-submissions': 'io.accord.submission.released.v1' | 'io.accord.submission.decided.v1' | 'io.accord.submission.held.v1' | 'io.accord.submission.withdrawn.v1' | 'io.accord.submission.erased.v1';
  'accord.peer-outcomes': 'io.accord.submission.answered.v1';
  'accord.notices': 'io.accord.notice.queued.v1' | 'io.accord.notice.delivered.v1' | 'io.accord.notice.acknowledged.v1' | 'io.accord.notice.overdue.v1' | 'io.accord.notice.failed.v1';
}

/** The data of each type of event. */
export interface EventData {
  'io.accord.consent.created.v1': components['schemas']['Consent'];
  'io.accord.consent.committed.v1': components['schemas']['Consent'];
  'io.accord.consent.cancelled.v1': components['schemas']['Consent'];
  'io.accord.consent.timedout.v1': components['schemas']['Consent'];
  'io.accord.consent.expiring.v1': components['schemas']['Consent'];
  'io.accord.consent.expired.v1': components['schemas']['Consent'];
  'io.accord.consent.submitted.v1': components['schemas']['Consent'];
  'io.accord.consent.rolledback.v1': components['schemas']['Consent'];
  'io.accord.peer.submission.delivered.v1': components['schemas']['PeerSubmission'];
  'io.accord.peer.submission.accepted.v1': components['schemas']['PeerSubmission'];
  'io.accord.peer.submission.refused.v1': components['schemas']['PeerSubmission'];
  'io.accord.consent.withdrawn.v1': components['schemas']['ConsentWithdrawn'];
  'io.accord.subject.erased.v1': components['schemas']['SubjectErased'];
  'io.accord.subject.restricted.v1': components['schemas']['SubjectRestricted'];
  'io.accord.record.superseded.v1': components['schemas']['RecordSuperseded'];
  'io.accord.message.sent.v1': components['schemas']['SubjectMessage'];
  'io.accord.message.failed.v1': components['schemas']['SubjectMessage'];
  'io.accord.model.activated.v1': components['schemas']['Model'];
  'io.accord.model.archived.v1': components['schemas']['Model'];
  'io.accord.model.deleted.v1': components['schemas']['Model'];
  'io.accord.model.shared.v1': components['schemas']['Model'];
  'io.accord.key.created.v1': components['schemas']['Key'];
  'io.accord.key.revoked.v1': components['schemas']['Key'];
  'io.accord.peer.added.v1': components['schemas']['Peer'];
  'io.accord.peer.removed.v1': components['schemas']['Peer'];
  'io.accord.audit.head.v1': components['schemas']['AuditHead'];
  'io.accord.audit.checkpoint.v1': components['schemas']['AuditCheckpoint'];
  'io.accord.submission.released.v1': components['schemas']['Submission'];
  'io.accord.submission.decided.v1': components['schemas']['Submission'];
  'io.accord.submission.held.v1': components['schemas']['Submission'];
  'io.accord.submission.withdrawn.v1': components['schemas']['Submission'];
  'io.accord.submission.erased.v1': components['schemas']['Submission'];
  'io.accord.submission.answered.v1': components['schemas']['SubmissionAnswer'];
  'io.accord.notice.queued.v1': components['schemas']['Notice'];
  'io.accord.notice.delivered.v1': components['schemas']['Notice'];
  'io.accord.notice.acknowledged.v1': components['schemas']['Notice'];
  'io.accord.notice.overdue.v1': components['schemas']['Notice'];
  'io.accord.notice.failed.v1': components['schemas']['Notice'];
}
