import { describe, expect, it } from 'vitest';
import { acceptedContract } from '#lib/http/accepted-contract.ts';
import { rolesSentence } from '../../contract/roles-sentence.ts';
import { readContract, readPublishedContract } from '../support/contract/contract.ts';

describe('an instance', () => {
  it('accepts what older clients send, and everything that the contract names', () => {
    const document = {
      paths: {
        '/a': {
          parameters: [],
          post: {
            requestBody: {
              required: true,
              'x-or-absent': true,
              'x-form-post': { schema: {} },
              content: { 'application/json': {} },
            },
          },
          get: { 'x-ignored-body': { required: false } },
        },
      },
      components: {
        schemas: {
          A: {
            properties: {
              texts: { description: 'D', type: 'array', items: { type: 'string' }, 'x-or-text': true },
              text: { type: 'string', maxLength: 5, 'x-or-list': true },
              time: { type: 'string', 'x-or-integer': true },
            },
          },
        },
      },
    };
    expect(acceptedContract(document)).toEqual({
      paths: {
        '/a': {
          parameters: [],
          post: {
            requestBody: {
              required: false,
              content: { 'application/json': {}, 'application/x-www-form-urlencoded': { schema: {} } },
            },
          },
          get: { requestBody: { required: false } },
        },
      },
      components: {
        schemas: {
          A: {
            properties: {
              texts: {
                description: 'D',
                oneOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }],
              },
              text: {
                oneOf: [
                  { type: 'string', maxLength: 5 },
                  { type: 'array', items: { type: 'string', maxLength: 5 } },
                ],
              },
              time: { oneOf: [{ type: 'string' }, { type: 'integer', format: 'int64' }] },
            },
          },
        },
      },
    });
  });

  it('has nothing left to accept once everything is named', () => {
    const contract = readContract();
    expect(acceptedContract(contract)).toEqual(contract);
    expect(contract).not.toEqual(readPublishedContract());
  });
});

describe('the description of an operation ends with', () => {
  it.each([
    [{ anonymous: 'any', user: 'own' }, undefined, 'Roles: everyone, without credentials.'],
    [
      { admin: 'any', auditor: 'read', user: 'own' },
      undefined,
      'Roles: admin; auditor (without changes and tokens); user (only what is their own).',
    ],
    [{ admin: 'any' }, 600, "Roles: admin, within 10 minutes of a person's sign-in."],
  ] as const)('the roles of %j', (roles, fresh, sentence) => {
    expect(rolesSentence(roles, fresh)).toBe(sentence);
  });
});
