import { describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';
import { listOperations } from '../support/contract/contract-paths.ts';

/** docs/roles.md */
const operations = listOperations(readContract()).map(({ method, operation }) => ({
  id: operation.operationId,
  isRead: method === 'get',
  tag: operation.tags[0],
  roles: operation['x-roles'] ?? {},
}));
const of = (role: string) => operations.filter(({ roles }) => role in roles);
const idsOf = (role: string, tag: string) =>
  of(role)
    .filter((each) => each.tag === tag)
    .map(({ id }) => id);
const own = ['getUser', 'changeEmail', 'changePassword'];
/** They are POSTs for the sake of their bodies, and change nothing. */
const reads = [
  'searchTransactions',
  'extractRecords',
  'previewForm',
  'previewVersion',
  'decideQuestions',
  'evaluateAccess',
  'evaluateAccesses',
];

describe('the finer roles', () => {
  it('an auditor only reads', () => {
    const others = of('auditor').filter(({ id }) => !own.includes(id) || id === 'getUser');
    expect(others.filter(({ roles }) => roles.auditor !== 'read')).toEqual([]);
    expect(others.filter(({ id, isRead }) => !isRead && !reads.includes(id))).toEqual([]);
  });

  it('an auditor reads everything that an administrator reads, but no whole export', () => {
    const unread = operations.filter(
      ({ id, isRead, roles }) =>
        (isRead || reads.includes(id)) && roles.admin === 'any' && roles.auditor === undefined,
    );
    // The child, the form and the code are for those who answer; the last is about the caller.
    expect(unread.map(({ id }) => id).sort()).toEqual([
      'exportModels',
      'exportRecords',
      'exportSubject',
      'getChild',
      'getConfirmation',
      'getForm',
      'getUserRecords',
    ]);
  });

  it('an author reads counts, and nothing of a person', () => {
    expect(idsOf('author', 'transactions')).toEqual(['previewForm', 'getStats', 'countValidAnswers']);
    expect(idsOf('author', 'auth')).toEqual(own);
    // With whom an element can be shared.
    expect([...idsOf('author', 'peers'), ...idsOf('author', 'webhooks')]).toEqual(['listPeers']);
  });

  it('a clerk has no keys, accounts, peers and webhooks, and changes no element', () => {
    expect(idsOf('clerk', 'auth')).toEqual(own);
    expect([...idsOf('clerk', 'peers'), ...idsOf('clerk', 'webhooks')]).toEqual([]);
    expect(of('clerk').filter(({ tag, isRead }) => tag === 'forms' && !isRead)).toEqual([]);
  });

  it('a technician reads nothing of a person', () => {
    expect(idsOf('technician', 'transactions')).toEqual([]);
    expect(idsOf('technician', 'auth')).toEqual([
      'getUser',
      'listKeys',
      'createKey',
      'revokeKey',
      'changeEmail',
      'changePassword',
    ]);
    expect(idsOf('technician', 'forms')).toEqual([
      'listModels',
      'listPeerModels',
      'getModelByKey',
      'getModel',
      'getActiveVersion',
      'getVersion',
      'getSettings',
    ]);
  });

  it('none of them may do what an administrator may not', () => {
    for (const role of ['clerk', 'author', 'auditor', 'technician'])
      expect(of(role).filter(({ roles }) => !('admin' in roles))).toEqual([]);
  });
});
