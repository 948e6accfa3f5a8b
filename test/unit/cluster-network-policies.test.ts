import { expect, test } from 'vitest';
import { writeRules } from '../infrastructure/cluster/network-policies.ts';

const pod = (namespace: string, name: string, podIP: string) => ({
  metadata: { name, namespace, labels: { app: name } },
  spec: { containers: [{ ports: [{ name: 'http', containerPort: 8080 }] }] },
  status: { podIP, phase: 'Running' },
});
const namespace = (name: string) => ({ metadata: { name, labels: { 'kubernetes.io/metadata.name': name } } });
const state = {
  namespaces: [namespace('school'), namespace('router')],
  pods: [pod('school', 'forms', '10.0.0.1'), pod('router', 'traefik', '10.0.0.2')],
};

test('a pod that no policy selects has no rule', () => {
  expect(writeRules({ ...state, policies: [] })).not.toContain('jump');
});

test('an ingress rule admits the pods of a namespace on a named port, and nothing else', () => {
  const rules = writeRules({
    ...state,
    policies: [
      {
        metadata: { name: 'forms', namespace: 'school' },
        spec: {
          podSelector: { matchLabels: { app: 'forms' } },
          policyTypes: ['Ingress'],
          ingress: [
            {
              from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'router' } } }],
              ports: [{ port: 'http' }],
            },
          ],
        },
      },
    ],
  });
  expect(rules).toContain('ip saddr 10.0.0.2 tcp dport 8080 return\n    drop');
  expect(rules).toContain('ip daddr 10.0.0.1 jump ingress0');
});

test('an egress rule admits a network without its exceptions', () => {
  const rules = writeRules({
    ...state,
    policies: [
      {
        metadata: { name: 'out', namespace: 'school' },
        spec: {
          policyTypes: ['Egress'],
          egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8', '127.0.0.0/8'] } }] }],
        },
      },
    ],
  });
  expect(rules).toContain('ip daddr 0.0.0.0/0 ip daddr != { 10.0.0.0/8, 127.0.0.0/8 }');
});
