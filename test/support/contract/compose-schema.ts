/** The part of the Compose specification that deploy/compose.yaml uses; misspelt keys are rejected. */
const text = { type: 'string' };
const duration = { type: 'string', pattern: '^[1-9]\\d*(s|m)$' };
const memory = { type: 'string', pattern: '^[1-9]\\d*(m|g)$' };
const words = { type: 'array', items: text };
const texts = { type: 'object', additionalProperties: text };

function strict(properties: Record<string, unknown>, required: string[] = []) {
  return { type: 'object', additionalProperties: false, properties, required };
}

const volume = strict(
  { type: { enum: ['volume', 'bind'] }, source: text, target: text, read_only: { type: 'boolean' } },
  ['type', 'source', 'target'],
);

const service = strict(
  {
    image: { type: 'string', pattern: '^[a-z0-9./-]+:\\d[\\w.-]+$' },
    build: strict({ context: text, dockerfile: text }, ['context', 'dockerfile']),
    user: { type: 'string', pattern: '^[1-9]\\d*:[1-9]\\d*$' },
    read_only: { const: true },
    cap_drop: { const: ['ALL'] },
    security_opt: { const: ['no-new-privileges:true'] },
    init: { const: true },
    pids_limit: { type: 'integer' },
    mem_limit: memory,
    shm_size: memory,
    scale: { type: 'integer' },
    logging: strict({ driver: text, options: texts }),
    entrypoint: words,
    command: words,
    environment: texts,
    tmpfs: words,
    volumes: { type: 'array', items: volume },
    networks: { type: 'object', additionalProperties: strict({ ipv4_address: text }) },
    network_mode: { const: 'none' },
    ports: words,
    depends_on: {
      type: 'object',
      additionalProperties: strict({
        condition: { enum: ['service_started', 'service_healthy', 'service_completed_successfully'] },
      }),
    },
    healthcheck: strict(
      {
        test: words,
        interval: duration,
        timeout: duration,
        retries: { type: 'integer' },
        start_period: duration,
        start_interval: duration,
      },
      ['test', 'timeout'],
    ),
    restart: { enum: ['unless-stopped', 'on-failure'] },
    stop_grace_period: duration,
    stop_signal: text,
  },
  ['image', 'user', 'read_only', 'cap_drop', 'security_opt', 'pids_limit', 'mem_limit', 'logging', 'restart'],
);

/** The whole file, with merge keys resolved. */
export const composeSchema = {
  type: 'object',
  additionalProperties: false,
  patternProperties: { '^x-': {} },
  properties: {
    name: text,
    services: { type: 'object', additionalProperties: service },
    networks: {
      type: 'object',
      additionalProperties: strict({
        internal: { type: 'boolean' },
        ipam: strict({ config: { type: 'array', items: strict({ subnet: text, ip_range: text }) } }),
      }),
    },
    volumes: { type: 'object', additionalProperties: strict({}) },
  },
  required: ['name', 'services', 'networks', 'volumes'],
};
