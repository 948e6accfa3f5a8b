-- Tables of the service transactions, besides those of lib/db/schema. While a table has never been analysed PostgreSQL
-- plans for at least ten pages, and statements use indexes. Statistics of a nearly empty table would make them read it
-- whole, and a connection keeps such a plan for up to a minute while the table fills. So the first statistics are taken
-- when there are enough rows (ADR 14).

CREATE TABLE transactions (
  id               text PRIMARY KEY CHECK (length(id) = 22),
  subject          text NOT NULL,
  -- WITHDRAWAL: the transaction was made to withdraw consents, without a form. IMPORT: its answers were taken over from another
  -- system. Null: answers to a form.
  kind             text,
  state            text NOT NULL CHECK (state IN ('CREATED', 'SUBMITTED', 'COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK')),
  version          integer NOT NULL CHECK (version > 0),
  context          jsonb NOT NULL,
  layout           jsonb NOT NULL,
  author           text NOT NULL,
  -- The creator, against whom its messages are counted: "user:…" for accounts of role user, "staff user:…", "key:…" and
  -- "peer:…" for the others, "public:<entry of the layout>" for strangers at the address of a form; of a child, the creator
  -- of its parent. Null: not known, or erased.
  created_by       text,
  -- False: an account of role user named an address that it is not known to have. No mail is sent there.
  is_address_known boolean NOT NULL DEFAULT true,
  parent           text REFERENCES transactions (id),
  -- Where the form was shown, if that was at a peer: {location, id} (docs/federation.md, "Answers").
  leader           jsonb,
  token_epoch      integer NOT NULL DEFAULT 0,
  answers_digest   bytea,
  -- Whether submitted answers await the subject's code; false after the right code. It stays true in a transaction that ended without it.
  awaits_code      boolean NOT NULL DEFAULT false,
  created_at       timestamptz NOT NULL,
  changed_at       timestamptz NOT NULL,
  expires_at       timestamptz NOT NULL,
  -- When the next notice of the expiry of the answers is due: consent.expiring, then consent.expired; infinity if none is
  -- to come. Null: not planned yet, because a confirmation put the answers in force.
  notice_at        timestamptz,
  -- Until when the committed answers are valid, and links open their receipt; null: for ever.
  valid_until      timestamptz,
  erased_at        timestamptz
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
-- Lists: newest first, of all or of one subject (keyset on created, id).
CREATE INDEX transactions_created ON transactions (created_at DESC, id DESC);
CREATE INDEX transactions_subject ON transactions (subject, created_at DESC, id DESC);
-- Lists of what was not committed: where almost all were, the few others would be looked for among all.
CREATE INDEX transactions_not_committed ON transactions (created_at DESC, id DESC) WHERE state <> 'COMMITTED';
-- Lists by kind (transaction/list-store.ts): what few transactions are would be looked for among all.
CREATE INDEX transactions_kind ON transactions (kind, created_at DESC, id DESC) WHERE kind IS NOT NULL;
CREATE INDEX transactions_on_behalf ON transactions (created_at DESC, id DESC) WHERE kind IS NULL AND context ? 'collection';
-- The sweeper looks at open ones only.
CREATE INDEX transactions_open ON transactions (expires_at) WHERE state IN ('CREATED', 'SUBMITTED');
-- One open child per parent.
CREATE UNIQUE INDEX transactions_open_child ON transactions (parent) WHERE state IN ('CREATED', 'SUBMITTED');
-- Children of a transaction, also ended ones: its deletion and its erasure look for them.
CREATE INDEX transactions_children ON transactions (parent) WHERE parent IS NOT NULL;
CREATE INDEX transactions_notice ON transactions (notice_at) WHERE state = 'COMMITTED' AND (notice_at IS NULL OR notice_at < 'infinity');
-- Transactions whose notices are to be planned, oldest first; almost always none.
CREATE INDEX transactions_unplanned ON transactions (created_at) WHERE state = 'COMMITTED' AND notice_at IS NULL;
-- Transactions without committed answers whose retention ends, oldest first.
CREATE INDEX transactions_to_abandon ON transactions (changed_at)
  WHERE state IN ('CANCELLED', 'TIMEOUT', 'ROLLBACK') AND erased_at IS NULL;
-- What strangers have begun at the address of a form and not finished: it is deleted at once.
CREATE INDEX transactions_of_strangers ON transactions (changed_at)
  WHERE state IN ('CANCELLED', 'TIMEOUT', 'ROLLBACK') AND erased_at IS NULL AND created_by LIKE 'public:%';

-- Which transaction answers an equal context: one open transaction per context.
CREATE TABLE context_claims (
  digest      bytea PRIMARY KEY,
  transaction text NOT NULL
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX context_claims_transaction ON context_claims (transaction);

-- Scans of answers on paper, encrypted. Without a transaction for an hour after the upload.
CREATE TABLE documents (
  id          uuid PRIMARY KEY,
  transaction text REFERENCES transactions (id),
  sha256      bytea NOT NULL,
  media_type  text NOT NULL,
  sealed      bytea NOT NULL,
  created_at  timestamptz NOT NULL
);
CREATE UNIQUE INDEX documents_transaction ON documents (transaction);
CREATE INDEX documents_unclaimed ON documents (sha256, created_at) WHERE transaction IS NULL;

CREATE TABLE transaction_history (
  transaction text NOT NULL REFERENCES transactions (id),
  version     integer NOT NULL,
  state       text NOT NULL,
  at          timestamptz NOT NULL,
  PRIMARY KEY (transaction, version)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);

CREATE TABLE subjects (
  id               uuid PRIMARY KEY,
  name             text NOT NULL UNIQUE,
  email_address    text,
  default_language text,
  created_at       timestamptz NOT NULL,
  modified_at      timestamptz NOT NULL,
  -- The position of the person's latest statement.
  position         bigint NOT NULL DEFAULT 0,
  -- Only strangers at the address of a form have named the person so far: it is deleted with the last of what they began.
  unproven         boolean NOT NULL DEFAULT false,
  -- Sessions of the person's choices and links to them that began under a lower number have ended.
  choices_epoch    integer NOT NULL DEFAULT 0
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX subjects_created ON subjects (created_at DESC, id DESC);

-- Persons by the addresses that they have. Only keyed digests are stored, so that no index has the text of an address.
CREATE TABLE contact_key (key bytea NOT NULL);
INSERT INTO contact_key SELECT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));
CREATE TABLE contacts (
  digest  bytea NOT NULL,
  subject text NOT NULL REFERENCES subjects (name) ON DELETE CASCADE,
  -- Whether the organisation entered the address, or a code that was sent there came back. Others are for the search of the
  -- console alone: whoever reads the mails to them may be somebody else.
  proven  boolean NOT NULL DEFAULT false,
  PRIMARY KEY (digest, subject)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX contacts_subject ON contacts (subject);

-- Which answer is in force (docs/withdrawal.md, "The rule"). Every statement of a person takes the next position; positions, not
-- times, order them. The row of the subject is the lock of the person.
CREATE SEQUENCE positions;

CREATE TABLE records (
  id             uuid PRIMARY KEY,
  transaction    text NOT NULL REFERENCES transactions (id),
  subject        text NOT NULL,
  object         text NOT NULL DEFAULT '',
  key            text NOT NULL,
  type           text NOT NULL CHECK (type IN ('information', 'processing', 'preference', 'conditions')),
  serial         text NOT NULL,
  info_key       text NOT NULL,
  info_serial    text NOT NULL,
  value          text[] NOT NULL,
  positions      integer[],
  -- ERASED: `committed_at` stays, so that statistics tell former answers from those that never took effect.
  state          text NOT NULL CHECK (state IN ('PENDING', 'COMMITTED', 'ROLLED_BACK', 'ERASED')),
  origin         text NOT NULL,
  author         text NOT NULL,
  comment        text,
  -- The base URL of the peer whose form was answered, or that ordered this withdrawal; null: this instance's own form.
  source         text,
  created_at     timestamptz NOT NULL,
  committed_at   timestamptz,
  expires_at     timestamptz,
  -- The accepted record that this refusal ended; in force or, by a withdrawal, waiting; else null.
  withdraws      uuid,
  -- Taken when the answer was submitted.
  position       bigint NOT NULL DEFAULT 0,
  -- From where and until where it is in force; `from` is null for an answer that was never in force.
  from_position  bigint,
  until_position bigint,
  from_at        timestamptz,
  until_at       timestamptz,
  -- The record that replaced it.
  ended_by       uuid,
  CHECK ((state = 'COMMITTED') = (committed_at IS NOT NULL) OR state = 'ERASED'),
  CONSTRAINT records_from_check  CHECK ((from_position IS NULL) = (from_at IS NULL)),
  CONSTRAINT records_until_check CHECK ((until_position IS NULL) = (until_at IS NULL) AND until_position > from_position IS NOT FALSE)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
-- At most one answer to a question is in force.
CREATE UNIQUE INDEX records_in_force ON records (subject, object, key)
  WHERE state = 'COMMITTED' AND from_position IS NOT NULL AND until_position IS NULL;
CREATE INDEX records_ended ON records (subject, object, key, until_position)
  WHERE state = 'COMMITTED' AND until_position IS NOT NULL;
CREATE INDEX records_ended_at ON records (subject, object, key, until_at)
  WHERE state = 'COMMITTED' AND until_position IS NOT NULL;
-- A subject's records, newest first.
CREATE INDEX records_subject ON records (subject, created_at DESC, id DESC);
CREATE INDEX records_transaction ON records (transaction);
-- What has ended consents, for the list of withdrawals.
CREATE INDEX records_withdrawing ON records (transaction) WHERE withdraws IS NOT NULL AND committed_at IS NOT NULL;
CREATE INDEX records_key ON records (key, created_at DESC, id DESC);
-- Finds the answers of a key that have not expired, where most have: answers mostly expire in the order of their insertion.
CREATE INDEX records_expires_at ON records USING brin (expires_at) WITH (pages_per_range = 32, autosummarize = on);

-- What was committed and never in force, which an import compares with the answers that it takes over.
CREATE INDEX records_never ON records (subject, object, key) WHERE state = 'COMMITTED' AND from_position IS NULL;

-- Answers that were taken over from another system (docs/moving.md): where from. The same answer is taken over once.
CREATE TABLE imported_answers (
  source    text NOT NULL,
  -- Of the answer in the other system.
  source_id text NOT NULL,
  record    uuid NOT NULL UNIQUE REFERENCES records (id),
  -- SHA-256 of the row.
  digest    bytea NOT NULL CHECK (octet_length(digest) = 32),
  PRIMARY KEY (source, source_id)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);

-- Public keys of other instances with which receipts among the evidence were verified.
CREATE TABLE import_keys (
  kid text PRIMARY KEY,
  jwk jsonb NOT NULL
);

-- What proves the answers of a transaction that was taken over.
CREATE TABLE import_evidence (
  transaction text PRIMARY KEY REFERENCES transactions (id),
  kind        text NOT NULL CHECK (kind IN ('RECEIPT', 'HASH', 'URL')),
  value       text NOT NULL,
  -- Whether it is a receipt whose signature and statements were checked.
  verified    boolean NOT NULL,
  -- The key that has signed the receipt.
  kid         text REFERENCES import_keys (kid),
  CHECK (verified = (kid IS NOT NULL))
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);

-- The texts of the versions that were answered in another system, as a receipt has them; pages show them, because answers that
-- were taken over have no receipt.
CREATE TABLE imported_texts (
  -- element/<type>/<key>/<serial>
  identifier text PRIMARY KEY,
  item       jsonb NOT NULL
);

-- A receipt and its signed form take one page, and signatures cannot be compressed: trying to, and storing both elsewhere,
-- takes three times as long.
CREATE TABLE receipts (
  transaction text PRIMARY KEY REFERENCES transactions (id),
  body        text NOT NULL,
  jws         text NOT NULL
) WITH (toast_tuple_target = 8160, autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);

-- Receipts of transactions that wait for a code, for peers or for their leader: their body without the time of the commitment.
CREATE TABLE receipt_drafts (
  transaction text PRIMARY KEY REFERENCES transactions (id),
  body        text NOT NULL
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);

-- Receipts since the last sealing (docs/evidence.md, "Receipts"). It has no index: a submission appends a row, and the sealer takes
-- all of them and writes their lines already sealed.
CREATE TABLE signed_receipts (
  id          uuid NOT NULL,
  at          timestamptz NOT NULL,
  transaction text NOT NULL,
  digest      bytea NOT NULL CHECK (octet_length(digest) = 32),
  request     text
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- The receipts of erased transactions, so that a receipt that a person holds can still be compared.
CREATE TABLE erased_receipts (
  transaction text PRIMARY KEY REFERENCES transactions (id),
  -- SHA-256 of the JWS.
  digest      bytea NOT NULL,
  kid         text NOT NULL,
  signed_at   timestamptz NOT NULL
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);

-- Parts of transactions at the peers that own them (docs/federation.md, "Answers"): what is to be sent, sealed, and the outcome.
CREATE TABLE sent_parts (
  -- The submission.
  sid              text PRIMARY KEY CHECK (length(sid) = 22),
  transaction      text NOT NULL REFERENCES transactions (id),
  -- In the order in which the form showed them.
  place            integer NOT NULL,
  -- The peer's base URL, and its name as the subject saw it.
  location         text NOT NULL,
  name             text NOT NULL,
  state            text NOT NULL CHECK (state IN ('WAITING', 'SENDING', 'HELD', 'ACCEPTED', 'REFUSED', 'DROPPED')),
  version          integer NOT NULL CHECK (version > 0),
  reason           text,
  -- The transaction at the peer.
  remote_id        text,
  -- The answers, readable for the peer only; removed as soon as they need not be sent any more.
  sealed           text,
  mode             text NOT NULL CHECK (mode IN ('commit', 'hold')),
  language         text NOT NULL,
  -- What was asked, without any answer, as the receipt states it.
  shown            jsonb NOT NULL,
  -- How long the answers hold at the peer (ISO 8601 duration); null: one of them never expires.
  validity         text,
  -- Until when it is tried.
  deadline         timestamptz NOT NULL,
  changed_at       timestamptz NOT NULL,
  -- When the events of the part were last published again because its owner had not answered; null: they were not.
  resent_at        timestamptz,
  UNIQUE (transaction, location),
  CHECK ((state IN ('WAITING', 'SENDING')) = (sealed IS NOT NULL))
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX sent_parts_unanswered ON sent_parts (coalesce(resent_at, changed_at)) WHERE state IN ('SENDING', 'HELD');
CREATE INDEX sent_parts_resent ON sent_parts (deadline) WHERE state = 'SENDING' AND resent_at IS NOT NULL;

-- Parts of answers that came from peers. A verdict is repeated whenever and however often the part arrives.
CREATE TABLE received_parts (
  -- Base URL.
  peer        text NOT NULL,
  sid         text NOT NULL CHECK (length(sid) = 22),
  -- SHA-256 of what came; null if a decision, a withdrawal or an erasure came first, so that no content is taken any more.
  digest      bytea,
  verdict     text NOT NULL CHECK (verdict IN ('committed', 'held', 'rolledback', 'refused')),
  reason      text,
  -- Refused parts have none.
  transaction text REFERENCES transactions (id) DEFERRABLE INITIALLY DEFERRED,
  received_at timestamptz NOT NULL,
  changed_at  timestamptz NOT NULL,
  -- When the event of a held part was last published again because no decision had arrived; null: it was not.
  resent_at   timestamptz,
  PRIMARY KEY (peer, sid),
  CHECK ((verdict = 'refused') = (reason IS NOT NULL)),
  CHECK (verdict NOT IN ('committed', 'held') OR transaction IS NOT NULL)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE UNIQUE INDEX received_parts_transaction ON received_parts (transaction) WHERE transaction IS NOT NULL;
-- Parts whose leader has not decided, oldest first, for metrics.
CREATE INDEX received_parts_held ON received_parts (received_at) WHERE verdict = 'held';
CREATE INDEX received_parts_undecided ON received_parts (coalesce(resent_at, received_at)) WHERE verdict = 'held';
-- Parts that made no transaction (refused, or decided before they came) are counted by peer. Refusals are
-- forgotten after 31 days, what came before its part after 122.
CREATE INDEX received_parts_without_transaction ON received_parts (peer, (digest IS NULL)) WHERE transaction IS NULL;
CREATE INDEX received_parts_to_forget ON received_parts (changed_at) WHERE transaction IS NULL;

-- Parts whose person had entered an address at the leader and confirmed it with a code before they were sent: whoever reads the
-- mails to it may see what these parts brought, and nothing else of the person (docs/choices.md).
CREATE TABLE part_addresses (
  transaction text PRIMARY KEY REFERENCES transactions (id) ON DELETE CASCADE,
  -- Keyed digest, as in contacts.
  digest      bytea NOT NULL
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX part_addresses_digest ON part_addresses (digest);

-- Orders of leaders to withdraw a part: answers to these questions that were given there earlier may still arrive.
CREATE TABLE leader_orders (
  subject      text NOT NULL,
  object       text NOT NULL,
  key          text NOT NULL,
  -- The leader's base URL.
  source       text NOT NULL,
  -- When the person last withdrew there, by the clock of the leader.
  withdrawn_at timestamptz NOT NULL,
  PRIMARY KEY (subject, object, key, source)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX leader_orders_age ON leader_orders (withdrawn_at);

-- Short addresses for tokens of transactions: what mails link to, and what is shown to be typed.
CREATE TABLE short_links (
  -- Keyed digest of the code.
  digest      bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  transaction text NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
  use         text NOT NULL CHECK (use IN ('tx', 'receipt')),
  -- As that of the token: raising it in the transaction ends the link.
  epoch       integer NOT NULL,
  expires_at  timestamptz NOT NULL
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX short_links_transaction ON short_links (transaction);
CREATE INDEX short_links_expired ON short_links (expires_at);

-- The confirmation code of a transaction. Another code replaces it.
CREATE TABLE codes (
  transaction text PRIMARY KEY REFERENCES transactions (id),
  -- 1 for the first code.
  number      integer NOT NULL DEFAULT 1 CHECK (number BETWEEN 1 AND 3),
  -- Keyed digest of the code, bound to the transaction, the answers and the number.
  mac         bytea NOT NULL,
  -- The code itself, encrypted; only if the page shows it (FORM_CODE).
  sealed      bytea,
  -- Attempts with this code, counted before they are evaluated.
  tries       integer NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 5),
  created_at  timestamptz NOT NULL,
  expires_at  timestamptz NOT NULL,
  -- When it confirmed the answers.
  used_at     timestamptz
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
-- Transactions whose last code has expired are ended.
CREATE INDEX codes_last ON codes (expires_at) WHERE number = 3 AND used_at IS NULL;

-- Queues of messages to subjects (lib/deliveries): one for each mail domain with pending messages, and one for the SMS gateway.
CREATE TABLE message_queues (
  name        text PRIMARY KEY,
  lease_owner uuid,
  lease_until timestamptz,
  -- Increases with every lease: results of an earlier one are not recorded.
  fence       bigint NOT NULL DEFAULT 0,
  failures    integer NOT NULL DEFAULT 0,
  next_at     timestamptz NOT NULL DEFAULT '-infinity'
);

-- Messages to subjects.
CREATE TABLE messages (
  id          uuid PRIMARY KEY,
  -- Null for `choices`: links to what is kept of each person that has the address.
  transaction text REFERENCES transactions (id),
  kind        text NOT NULL CHECK (kind IN ('invitation', 'code', 'notification', 'bad-news', 'withdrawal', 'choices', 'campaign')),
  channel     text NOT NULL CHECK (channel IN ('mail', 'sms')),
  queue       text NOT NULL,
  -- The masked address.
  destination text NOT NULL,
  -- Keyed digest of the address, for its daily limits.
  address     bytea NOT NULL,
  -- Country calling code of a telephone number, for its hourly limit.
  prefix      text,
  -- As that of the transaction, for the hourly limit of a creator.
  created_by  text,
  -- Number of the code that it carries.
  code        integer,
  -- Address, sender and code, encrypted; erased when the message has ended.
  sealed      bytea,
  state       text NOT NULL CHECK (state IN ('PENDING', 'SENT', 'FAILED', 'EXPIRED')),
  attempts    integer NOT NULL DEFAULT 0,
  not_before  timestamptz NOT NULL,
  error       text,
  created_at  timestamptz NOT NULL,
  sent_at     timestamptz,
  -- When the message began to count against the hourly limits of mails and of its creator. Infinity: it waits until a limit
  -- allows it (not_before is infinity, too). Minus infinity: it failed because of a limit.
  counted_at  timestamptz NOT NULL DEFAULT '-infinity',
  CHECK ((state = 'PENDING') = (sealed IS NOT NULL)),
  CHECK ((state = 'SENT') = (sent_at IS NOT NULL)),
  CHECK ((kind = 'choices') = (transaction IS NULL))
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX messages_due ON messages (queue, not_before) WHERE state = 'PENDING';
CREATE INDEX messages_transaction ON messages (transaction, created_at DESC, id DESC);
CREATE INDEX messages_address ON messages (address, created_at);
-- For the hourly limits of text messages: of a prefix, and of all.
CREATE INDEX messages_prefix ON messages (prefix, created_at) WHERE prefix IS NOT NULL;
CREATE INDEX messages_sms ON messages (created_at) WHERE prefix IS NOT NULL;
CREATE INDEX messages_mails_counted ON messages (counted_at) WHERE channel = 'mail';
CREATE INDEX messages_creator_counted ON messages (created_by, counted_at) WHERE created_by IS NOT NULL;
CREATE INDEX messages_waiting ON messages (created_by, created_at, id) WHERE counted_at = 'infinity';

-- Messages with links to choices, which are forgotten when they no longer count for a limit.
CREATE INDEX messages_choices ON messages (created_at) WHERE kind = 'choices';

-- Requests for a link to choices, until the job has looked up the address: a row for each, whether or not it is known.
CREATE TABLE choices_requests (
  id         uuid PRIMARY KEY,
  -- The address, or the id of a part, and the language of the page; encrypted.
  sealed     bytea NOT NULL,
  created_at timestamptz NOT NULL
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX choices_requests_created ON choices_requests (created_at, id);

-- Links to the choices of a person.
CREATE TABLE choices_links (
  id         uuid PRIMARY KEY,
  -- Keyed digest of its short code.
  digest     bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
  person     uuid NOT NULL REFERENCES subjects (id) ON DELETE CASCADE,
  epoch      integer NOT NULL,
  -- Only what parts with this address brought (part_addresses); null: everything.
  address    bytea,
  expires_at timestamptz NOT NULL,
  -- A link opens once: when it began its session.
  opened_at  timestamptz
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX choices_links_person ON choices_links (person);
CREATE INDEX choices_links_expired ON choices_links (expires_at);

-- Holds of subjects (docs/erasure.md): nothing of the subject is erased while one is in force.
CREATE TABLE holds (
  subject text PRIMARY KEY,
  reason  text NOT NULL,
  since   timestamptz NOT NULL,
  -- Null: until an operator ends the hold.
  until   timestamptz
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);

-- When holds have made decisions about a subject RESTRICTED, also holds that have ended: `asOf` repeats the decisions of then.
CREATE TABLE restrictions (
  subject        text NOT NULL,
  -- Position of the person and time, including these.
  from_position  bigint NOT NULL,
  from_at        timestamptz NOT NULL,
  -- Excluding these; null: the restriction was not ended by hand.
  until_position bigint,
  until_at       timestamptz,
  -- When the restriction ends by itself, with its hold.
  expires_at     timestamptz,
  PRIMARY KEY (subject, from_position),
  CHECK ((until_position IS NULL) = (until_at IS NULL))
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);

-- Erasures of subjects. The row is committed first; a job repeats the work until it is DONE.
CREATE TABLE erasures (
  id         text PRIMARY KEY CHECK (length(id) = 22),
  -- subjects.id, which audit lines have too.
  reference  uuid NOT NULL,
  -- The base URL of the peer that asks: the erasure covers only what that peer has sent of the subject (docs/erasure.md,
  -- "Peers"). Null: all data of the subject.
  peer       text,
  -- The name of the subject; null as soon as the erasure has ended.
  subject    text,
  -- HMAC of the name; null after BACKUP_RETENTION.
  digest     bytea,
  state      text NOT NULL CHECK (state IN ('REQUESTED', 'RUNNING', 'HELD', 'DONE', 'REFUSED')),
  -- Why it was requested; null as soon as the erasure has ended, because it may name the person.
  reason     text,
  -- Why it was refused.
  ground     text,
  counts     jsonb NOT NULL DEFAULT '{}',
  -- [{name, location}]
  peers      jsonb NOT NULL DEFAULT '[]',
  -- True: these peers alone were asked, by the person; it is DONE at once.
  only_peers boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  due_at     timestamptz NOT NULL,
  -- Transactions that were created later are a new subject's.
  started_at timestamptz,
  ended_at   timestamptz,
  CHECK ((state IN ('REQUESTED', 'RUNNING', 'HELD')) = (subject IS NOT NULL)),
  CHECK (state NOT IN ('RUNNING', 'HELD', 'DONE') OR started_at IS NOT NULL)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE UNIQUE INDEX erasures_open ON erasures (subject, peer) NULLS NOT DISTINCT WHERE subject IS NOT NULL;
CREATE INDEX erasures_of_peer ON erasures (peer, reference) WHERE peer IS NOT NULL;
CREATE INDEX erasures_created ON erasures (created_at DESC, id DESC);

-- What others know of a withdrawal or an erasure: the organisation behind a webhook (RECIPIENT), or the owner of a
-- part that was withdrawn or whose person was erased (PEER).
CREATE TABLE notices (
  withdrawal text REFERENCES transactions (id) ON DELETE CASCADE,
  erasure    text REFERENCES erasures (id) ON DELETE CASCADE,
  about      text NOT NULL GENERATED ALWAYS AS (coalesce(withdrawal, erasure)) STORED,
  -- Id of the webhook, or of the part.
  recipient  text NOT NULL,
  kind       text NOT NULL CHECK (kind IN ('RECIPIENT', 'PEER')),
  -- The owner's base URL.
  location   text,
  name       text NOT NULL,
  state      text NOT NULL CHECK (state IN ('QUEUED', 'DELIVERED', 'ACKNOWLEDGED', 'OVERDUE', 'FAILED', 'UNSUPPORTED')),
  -- kept: it keeps data.
  outcome    text CHECK (outcome IN ('done', 'kept')),
  note       text,
  -- Of the notice in the service webhooks: an event with an older version changes nothing.
  version    integer,
  since      timestamptz NOT NULL,
  -- When a peer is asked again, or the notice becomes OVERDUE; null: never again.
  due_at     timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (about, recipient),
  CHECK (num_nonnulls(withdrawal, erasure) = 1),
  CHECK ((kind = 'PEER') = (location IS NOT NULL)),
  CHECK ((kind = 'RECIPIENT') = (version IS NOT NULL)),
  CHECK (due_at IS NULL OR kind = 'PEER' AND state IN ('QUEUED', 'DELIVERED', 'OVERDUE'))
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
-- A part is withdrawn once and erased once.
CREATE UNIQUE INDEX notices_of_part ON notices (recipient, (erasure IS NULL)) WHERE kind = 'PEER';
-- The deletion of a transaction or an erasure looks for them.
CREATE INDEX notices_withdrawal ON notices (withdrawal) WHERE withdrawal IS NOT NULL;
CREATE INDEX notices_erasure ON notices (erasure) WHERE erasure IS NOT NULL;
CREATE INDEX notices_due ON notices (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notices_overdue ON notices (created_at) WHERE kind = 'PEER' AND state = 'OVERDUE';

-- Campaigns, which ask people again (docs/campaigns.md). People are named by subjects.id alone.
CREATE TABLE campaigns (
  id         text PRIMARY KEY CHECK (length(id) = 22),
  name       text NOT NULL,
  state      text NOT NULL CHECK (state IN ('DRAFT', 'RUNNING', 'PAUSED', 'DONE', 'CANCELLED')),
  -- {elements, who, within}
  selection  jsonb NOT NULL,
  -- Whether only the people in campaign_subjects are asked.
  is_named   boolean NOT NULL,
  -- As it was sent, without a subject.
  context    jsonb NOT NULL,
  channel    text NOT NULL CHECK (channel IN ('EMAIL', 'SMS')),
  -- As they were given; null: at once, and 90 days later.
  start_at   timestamptz,
  end_at     timestamptz,
  per_minute integer NOT NULL,
  -- {from, to} in the time zone of the instance; null: all day.
  hours      jsonb,
  reminders  integer NOT NULL CHECK (reminders BETWEEN 0 AND 3),
  ground     text,
  -- Who has drafted it, as the author of its transactions.
  author     text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  -- When it became RUNNING for the first time; end_at is set from then on.
  started_at timestamptz,
  ended_at   timestamptz,
  -- The last subject that was looked at; null: none yet.
  picked_to  uuid,
  -- Whether all people were picked.
  is_picked  boolean NOT NULL DEFAULT false,
  -- Why the instance itself has paused it: its form cannot be used any more. Null: it has not.
  problem    text CHECK (problem = 'FORM'),
  -- Until when the messages that were begun use up the pace.
  used_until timestamptz NOT NULL DEFAULT '-infinity',
  CHECK (state IN ('DRAFT', 'CANCELLED') OR (started_at IS NOT NULL AND end_at IS NOT NULL))
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX campaigns_created ON campaigns (created_at DESC, id DESC);

-- The only people that a campaign asks, if it names them.
CREATE TABLE campaign_subjects (
  campaign text NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
  subject  uuid NOT NULL REFERENCES subjects (id) ON DELETE CASCADE,
  PRIMARY KEY (campaign, subject)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX campaign_subjects_subject ON campaign_subjects (subject);

-- A person whom a campaign asks. The erasure of the person deletes the row.
CREATE TABLE campaign_members (
  campaign    text NOT NULL REFERENCES campaigns (id),
  subject     uuid NOT NULL REFERENCES subjects (id) ON DELETE CASCADE,
  -- What the answer is about; empty for nothing.
  object      text NOT NULL,
  reason      text NOT NULL CHECK (reason IN ('EXPIRING', 'EXPIRED', 'CHANGED', 'NEVER')),
  state       text NOT NULL CHECK (state IN ('PICKED', 'SENDING', 'SENT', 'ANSWERED', 'CLOSED', 'SKIPPED', 'FAILED', 'UNSUBSCRIBED', 'UNSURE')),
  -- Why the person is not asked.
  why         text,
  -- Messages that were accepted.
  step        integer NOT NULL DEFAULT 0,
  -- Attempts of the next message that have failed.
  attempts    integer NOT NULL DEFAULT 0,
  transaction text,
  -- Of the latest attempt, in messages.
  message     uuid,
  -- When the next message is due; infinity: none is to come.
  due_at      timestamptz NOT NULL,
  -- SENDING: until when the attempt can be under way. Later it is UNSURE.
  lease_until timestamptz,
  -- When a message was last begun that may have been accepted.
  mailed_at   timestamptz,
  changed_at  timestamptz NOT NULL,
  PRIMARY KEY (campaign, subject),
  CHECK ((state = 'SENDING') = (lease_until IS NOT NULL))
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX campaign_members_due ON campaign_members (campaign, due_at) WHERE state IN ('PICKED', 'SENT');
CREATE INDEX campaign_members_state ON campaign_members (campaign, state, subject);
CREATE INDEX campaign_members_asked ON campaign_members (campaign, subject) WHERE state IN ('SENT', 'UNSURE');
CREATE INDEX campaign_members_sending ON campaign_members (lease_until) WHERE state = 'SENDING';
CREATE INDEX campaign_members_subject ON campaign_members (subject, mailed_at);

-- People who want no messages of campaigns.
CREATE TABLE unsubscriptions (
  subject uuid PRIMARY KEY REFERENCES subjects (id) ON DELETE CASCADE,
  since   timestamptz NOT NULL
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);

-- The words that gateways ask in, and what they mean (docs/decisions-api.md, "AuthZEN").
CREATE TABLE access_mappings (
  single   boolean PRIMARY KEY DEFAULT true CHECK (single),
  mappings jsonb NOT NULL
);
