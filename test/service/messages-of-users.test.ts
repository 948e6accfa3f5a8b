import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';
import { listOperations } from '../support/contract/contract-paths.ts';
import { type Caller, callerWith, patient } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { complete, letter, problemOf, transactionIn } from '../support/instances/live-subject.ts';
import { startMailServer } from '../support/network/mail-server.ts';
import { createOutsideIssuer } from '../support/network/outside-issuer.ts';
import { startSmsGateway } from '../support/network/sms-gateway.ts';

// The accounts of the issuer: una has verified contact data, uri has not, jane is an operator.
const [issuer, server, gateway] = await Promise.all([
  createOutsideIssuer(),
  startMailServer(),
  startSmsGateway(),
]);
let instance: TestInstance;
const callers: Record<string, Caller> = {};
beforeAll(async () => {
  await issuer.start();
  instance = await startTestInstance({
    OIDC_ISSUER: issuer.url,
    OIDC_AUDIENCE: issuer.audience,
    OIDC_ROLE_CLAIM: 'realm_access.roles',
    MAIL_URL: server.url,
    SMS_URL: `${gateway.origin}/send`,
    SMS_HOURLY_LIMIT: '4',
    MESSAGE_DAILY_LIMIT: '6',
  });
  for (const name of ['una', 'uri', 'jane', 'boss'])
    callers[name] = patient(callerWith(instance, { Authorization: `Bearer ${await issuer.tokenOf(name)}` }));
});
afterAll(async () => {
  await instance.stop();
  await Promise.all([issuer.stop(), server.close(), gateway.close()]);
});

let made = 0;
const create = (name: string, context: object) => {
  made += 1;
  const subject = name === 'jane' ? `person ${made}` : name;
  const layout = 'layoutData' in context ? {} : { layout: 'layout.001' };
  return (callers[name] as Caller).send('POST', '/consents', {
    subject,
    object: `thing ${made}`,
    ...layout,
    ...context,
  });
};
const messagesOf = (subject: string) =>
  rowsOf<{ kind: string }>(
    instance,
    `SELECT m.kind FROM transactions.messages AS m JOIN transactions.transactions AS t ON t.id = m.transaction
      WHERE t.subject = $1`,
    [subject],
  );

const stranger = { emailAddress: 'victim@example.org', phoneNumber: '+33639980008' };
const own = { emailAddress: 'una.own+consents@EXAMPLE.org', phoneNumber: '+33639980007' };
const inline = { layoutData: { info: 'information.001', elements: ['processing.001'] } };

const invitedByText = { sendInvitation: true, invitationChannel: 'SMS' };
/** Only the organisation invites. */
const invitations = ['sendInvitation', 'invitationChannel'];

/** Contexts that cause messages, by the member that causes them, for contact data. */
const causes: Record<string, (subjectInfos: typeof stranger) => object> = {
  sendInvitation: (subjectInfos) => ({ sendInvitation: true, subjectInfos }),
  invitationChannel: (subjectInfos) => ({ ...invitedByText, subjectInfos }),
  confirmation: (subjectInfos) => ({ confirmation: 'EMAIL_CODE', subjectInfos }),
  'confirmation by SMS': (subjectInfos) => ({ confirmation: 'SMS_CODE', subjectInfos }),
  notification: (subjectInfos) => ({ notification: 'email.001', subjectInfos }),
  configuration: (subjectInfos) => ({ configuration: { notification: 'email.001', subjectInfos } }),
  userinfos: (userinfos) => ({ notification: 'email.001', userinfos }),
  notificationRecipient: ({ emailAddress }) => ({
    notification: 'email.001',
    notificationRecipient: emailAddress,
  }),
  layoutData: (subjectInfos) => ({
    layoutData: { ...inline.layoutData, notification: 'email.001' },
    subjectInfos,
  }),
};

/** Members of a context that cause no message by themselves and name no address. */
const harmless = [
  'collection',
  'subject',
  'layout',
  'language',
  'origin',
  'author',
  'object',
  'validity',
  'callback',
  'callbackTriggerDelay',
  'iframeOrigin',
  'confirmationConfig',
  'subjectInfos',
  'attributes',
  'updatable',
  'cancellable',
  'silent',
  'ask',
  'theme',
  'peerCommit',
  'timeout',
];

/** Acts of plain users and holders of links that cause messages, all to the address of the transaction. */
const causingActs = ['createTransaction', 'submitAnswers', 'confirmAnswers', 'resendCode'];
/** A child inherits the address of its parent and causes no message before it is submitted. */
const silentActs = [
  'createChild',
  'cancelTransaction',
  'withdrawConsents',
  'withdrawChoices',
  'openChoices',
  'changeChoices',
  'requestErasure',
  'decideQuestions',
  'evaluateAccess',
  'evaluateAccesses',
  'createSubject',
  'updateSubject',
  'changePassword',
];

/** The members of a schema of the contract, with those of the schemas that it consists of. */
function membersOf(name: string): string[] {
  type Schema = { $ref?: string; allOf?: Schema[]; properties?: object };
  const { schemas } = readContract().components as { schemas: Record<string, Schema> };
  const collect = ({ $ref, allOf = [], properties = {} }: Schema): string[] => [
    ...($ref ? collect(schemas[$ref.split('/').pop() ?? ''] ?? {}) : []),
    ...allOf.flatMap(collect),
    ...Object.keys(properties),
  ];
  return [...new Set(collect({ $ref: name }))].sort();
}

describe('a message needs the right of the operation that sends it', () => {
  it('every member of a context is known to cause messages or not to', () => {
    expect(membersOf('ConsentContext')).toEqual(
      [...Object.keys(causes).filter((name) => !name.includes(' ')), ...harmless].sort(),
    );
  });

  it('every act of people in the contract is known to cause messages or not to', () => {
    const acts = listOperations(readContract()).filter(
      ({ method, operation: { 'x-roles': roles = {} } }) =>
        method !== 'get' && ('user' in roles || 'transaction' in roles),
    );
    expect(acts.map(({ operation }) => operation.operationId).sort()).toEqual(
      [...causingActs, ...silentActs].sort(),
    );
  });

  it.each(Object.keys(causes))('plain users cause none to strangers with %s', async (member) => {
    for (const name of ['una', 'uri']) {
      const answer = await create(name, causes[member]?.(stranger) ?? {});
      expect((await problemOf(answer)).said).toBe('403 forbidden');
    }
    expect((await create('jane', causes[member]?.(stranger) ?? {})).status).toBe(201);
  });

  it('plain users may have messages sent to the verified address and number of their account', async () => {
    const allowed = Object.entries(causes).filter(([member]) => !invitations.includes(member));
    for (const [member, contextOf] of allowed)
      expect([member, (await create('una', contextOf(own))).status]).toEqual([member, 201]);
    const code = await transactionIn(create('una', { confirmation: 'EMAIL_CODE', subjectInfos: own }));
    expect((await callers.una?.send('POST', `/consents/${code.id}/submit`, complete))?.status).toBe(200);
    expect(await messagesOf('una')).toEqual([{ kind: 'code' }]);
  });

  it('an address of a stranger that nothing needs is kept, and gets no mail later', async () => {
    const answer = await create('uri', { ...inline, subjectInfos: stranger });
    const { id } = await transactionIn(answer);
    const submitted = await callers.uri?.send('POST', `/consents/${id}/submit`, { [letter]: ['accepted'] });
    expect(submitted?.status).toBe(200);
    expect((await callers.jane?.send('POST', `/consents/${id}/withdraw`))?.status).toBe(201);
    expect(await messagesOf('uri')).toEqual([]);
  });
});

describe('messages count', () => {
  it('against the account of role user that causes them, for 24 hours', async () => {
    const statuses: (number | undefined)[] = [];
    for (let index = 0; index < 7; index += 1) {
      // Mails and text messages together.
      const confirmation = index < 3 ? 'SMS_CODE' : 'EMAIL_CODE';
      const { id } = await transactionIn(create('una', { confirmation, subjectInfos: own }));
      statuses.push((await callers.una?.send('POST', `/consents/${id}/submit`, complete))?.status);
    }
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect((await messagesOf('una')).length).toBe(6);
  });

  it('against the hourly limit of all text messages, whatever their country', async () => {
    const numbers = ['+447400123450', '+4915735980001', '+34612345678', '+3225551234', '+393123456789'];
    const answers = await Promise.all(
      numbers.map(async (phoneNumber) => {
        const { id } = await transactionIn(
          create('jane', { confirmation: 'SMS_CODE', subjectInfos: { phoneNumber } }),
        );
        return callers.jane?.send('POST', `/consents/${id}/submit`, complete);
      }),
    );
    const refused = answers.filter((answer) => answer?.status === 429);
    const sent = await rowsOf(instance, `SELECT FROM transactions.messages AS m WHERE m.channel = 'sms'`);
    expect(sent).toHaveLength(4);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(3_000);
  });

  it('as messages to one mailbox for all sub-addresses of it', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 9 }, async (_, index) => {
        const emailAddress = `flooded+${index}@example.org`;
        return (await create('jane', { sendInvitation: true, subjectInfos: { emailAddress } })).status;
      }),
    );
    expect(statuses.sort()).toEqual([201, 201, 201, 201, 201, 201, 429, 429, 429]);
  });
});
