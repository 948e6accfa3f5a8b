/**
 * Schemas of the custom resources that the chart renders, as far as it uses them: fields, types and limits of
 * gateway-api 1.6 and prometheus-operator 0.85. A field that is not here is refused.
 */
const text = { type: 'string', minLength: 1 };
const labels = { type: 'object', additionalProperties: { type: 'string' } };
const selector = object({ matchLabels: labels }, ['matchLabels']);
const duration = { type: 'string', pattern: '^(\\d+(ms|s|m|h))+$' };
const port = { type: 'integer', minimum: 1, maximum: 65_535 };

function object(properties: Record<string, object>, required: string[] = []): object {
  return { type: 'object', additionalProperties: false, properties, required };
}

function list(items: object, maxItems = 100): object {
  return { type: 'array', items, minItems: 1, maxItems };
}

const path = object({ type: { enum: ['Exact', 'PathPrefix', 'RegularExpression'] }, value: text }, ['value']);
const parent = object({ group: text, kind: text, name: text, namespace: text, sectionName: text, port }, [
  'name',
]);
const httpRoute = object(
  {
    parentRefs: list(parent, 32),
    hostnames: list({ type: 'string', pattern: '^(\\*\\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' }, 16),
    rules: list(
      object({
        matches: list(object({ path }), 64),
        backendRefs: list(object({ name: text, port }, ['name', 'port']), 16),
      }),
      16,
    ),
  },
  ['parentRefs'],
);
const serviceMonitor = object(
  {
    selector,
    endpoints: list(
      object({ port: text, path: text, interval: duration, honorLabels: { type: 'boolean' } }, ['port']),
    ),
  },
  ['selector', 'endpoints'],
);
const rule = object({ alert: text, expr: text, for: duration, labels, annotations: labels }, [
  'alert',
  'expr',
]);
const prometheusRule = object(
  { groups: list(object({ name: text, rules: list(rule) }, ['name', 'rules'])) },
  ['groups'],
);

/** The schema of `spec` by API version and kind. */
export const customResources: Readonly<Record<string, object>> = {
  'gateway.networking.k8s.io/v1 HTTPRoute': httpRoute,
  'monitoring.coreos.com/v1 ServiceMonitor': serviceMonitor,
  'monitoring.coreos.com/v1 PrometheusRule': prometheusRule,
};
