-- For services that go by the settings of the instance (lib/runtime/live-settings.ts): what administrators have set, in
-- the schema of forms; in the others a copy, so that they start without forms. Values that the environment pins, and
-- defaults, are not stored.
CREATE TABLE instance_settings (
  single   boolean PRIMARY KEY DEFAULT true CHECK (single),
  -- Number of the change.
  version  bigint NOT NULL CHECK (version > 0),
  settings jsonb NOT NULL
);
