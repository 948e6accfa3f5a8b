import { makeValidator, str } from 'envalid';
import { httpUrl } from '#lib/config/address-validators.ts';

/**
 * Headers of each export, such as `Authorization=Bearer%20abc,X-Tenant=a`, percent-encoded as in W3C Baggage.
 * Messages do not repeat them because they may contain a token.
 */
const headerList = makeValidator<Record<string, string>>((text) =>
  Object.fromEntries(
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map(readHeader),
  ),
);

function readHeader(item: string): [string, string] {
  const [, name, encoded] = /^([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/s.exec(item) ?? [];
  const value = decode(encoded?.trim());
  if (name === undefined || value === undefined || !/^[\t\x20-\x7e]*$/.test(value))
    throw new Error('must be headers such as Authorization=Bearer%20abc, separated by commas');
  return [name, value];
}

function decode(encoded = '%'): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** A share from 0 to 1. */
const share = makeValidator<number>((text) => {
  if (!/^[\d.]+(e-?\d+)?$/i.test(text) || !(Number(text) <= 1))
    throw new Error(`must be a number from 0 to 1, such as 0.1 (it is "${text}")`);
  return Number(text);
});

/** Export of traces, named as in the environment specification of OpenTelemetry (docs/operations.md). */
export const tracingSpecs = {
  /** Base URL of a collector, for OTLP over HTTP; nothing is exported without it. */
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl({ default: undefined }),
  OTEL_EXPORTER_OTLP_HEADERS: headerList({ default: {} }),
  /** `service.name`; default: `accord`, or `accord-<service>` for a service that runs as a process. */
  OTEL_SERVICE_NAME: str({ default: undefined }),
  /** The share of new traces that are exported. */
  OTEL_TRACES_SAMPLER_ARG: share({ default: 1 }),
};
