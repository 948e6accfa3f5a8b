import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { bundleContract } from '../../contract/bundle.ts';
import { impliedAnswers } from '../../contract/implied-answers.ts';

const always = { 400: 'Malformed', 401: 'Unauthorized', 403: 'Forbidden', 406: 'NotAcceptable' };
const limits = { 429: 'TooManyRequests', 503: 'Unavailable' };
const content = { 'application/json': {} };

let folder: string;
const pieces = () => pathToFileURL(`${folder}/`);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'accord-contract-'));
  await cp('contract', folder, { recursive: true });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ['any operation', { path: '/a' }, {}],
  ['a path parameter', { path: '/a/{id}' }, { 404: 'NotFound' }],
  [
    'a body',
    { path: '/a', requestBody: { content } },
    { 413: 'TooLarge', 415: 'UnsupportedMediaType', 422: 'Invalid' },
  ],
  [
    'a body that is not checked',
    { path: '/a', requestBody: { content, 'x-ignored': true } },
    { 413: 'TooLarge', 415: 'UnsupportedMediaType' },
  ],
  [
    'a body of a peer',
    { path: '/a', requestBody: { content }, 'x-priority': 'peer' as const },
    { 413: 'TooLarge', 415: 'UnsupportedMediaType' },
  ],
  [
    'a change of a version that was read',
    { path: '/a', parameters: [{ name: 'If-Match', in: 'header' }] },
    { 412: 'PreconditionFailed' },
  ],
])('the contract names the errors of %s', (_, operation, answers) => {
  expect(impliedAnswers(operation)).toEqual({ ...always, ...limits, ...answers });
});

test('the contract names no error for an operation of the identity provider', () => {
  expect(impliedAnswers({ path: '/auth/{x}', 'x-served-by': 'oidc-provider' })).toEqual({});
});

test('an operation keeps the error that it names itself', async () => {
  const { paths } = parse(await bundleContract(pieces()));
  const { responses } = paths['/consents/{txid}/withdraw'].post;
  expect(responses['422']).toEqual({ $ref: '#/components/responses/NotWithdrawable' });
  expect(responses['404']).toEqual({ $ref: '#/components/responses/NotFound' });
});

test('the contract is rejected if two of its pieces define the same, or a piece is not listed', async () => {
  const other = path.join(folder, 'other.yaml');
  await writeFile(other, 'paths: {}\n');
  await expect(bundleContract(pieces())).rejects.toThrow('other.yaml');
  await rm(other);
  await appendFile(path.join(folder, 'shared.yaml'), '\npaths:\n  /livez: {}\n');
  await expect(bundleContract(pieces())).rejects.toThrow('two pieces of the contract define paths /livez');
});
