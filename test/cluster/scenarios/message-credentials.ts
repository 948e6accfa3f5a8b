import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type MessageServers,
  ports,
  type SmsGateway,
  serverNetwork,
  startMessageServers,
} from '../message-servers.ts';
import { query } from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { setSecret } from '../secured-stores.ts';
import { withoutFailure } from './under-load.ts';

/** What protects the connections to the mail server and to the SMS gateway. */
export const messageCredentialScenarios: Scenario[] = [
  {
    name: 'message credentials',
    promise:
      'Under load, mail moves to a server with another password and another authority, and the SMS gateway gets another password, without a failed request; every invitation and every code arrives once.',
    async run(stage) {
      const servers = await startMessageServers(path.dirname(stage.certificates));
      try {
        await useFirst(stage, servers);
        return await rotate(stage, servers);
      } finally {
        await stage.organisation.deploy();
        await servers.close();
      }
    },
  },
];

const [firstPassword, laterPassword] = ['first-password', 'later-password'] as const;
const peers = [{ ipBlock: { cidr: serverNetwork } }];
const values = {
  mail: { existingSecret: 'mail-accord', port: ports.mail, ca: { existingSecret: 'mail-ca' } },
  sms: { existingSecret: 'sms-accord', port: ports.sms },
  networkPolicy: { peers: { mail: peers, sms: peers } },
  // All numbers of this scenario are of one country.
  services: { transactions: { env: { SMS_PREFIX_LIMIT: '1000' } } },
};

async function useFirst({ organisation }: Stage, { mail: [first], sms }: MessageServers): Promise<void> {
  sms.passwords.add(firstPassword);
  await setSecret(organisation, 'mail-accord', { url: first.url });
  await setSecret(organisation, 'mail-ca', { 'ca.crt': first.authority });
  await setSecret(organisation, 'sms-accord', { url: sms.urlWith(firstPassword) });
  await organisation.deploy(values);
}

/** @returns figures. */
async function rotate(stage: Stage, servers: MessageServers): Promise<string> {
  const { organisation, say } = stage;
  const { mail, sms } = servers;
  const [first, next] = mail;
  const subjects = startSubjects(stage, sms);
  const figures = await withoutFailure(stage, async () => {
    await waitUntil('codes by the first password', async () => subjects.confirmed() >= 3);
    sms.passwords.add(laterPassword);
    await setSecret(organisation, 'mail-accord', { url: next.url });
    await setSecret(organisation, 'mail-ca', { 'ca.crt': `${first.authority}${next.authority}` });
    await setSecret(organisation, 'sms-accord', { url: sms.urlWith(laterPassword) });
    await organisation.deploy(values);
    await waitForEnd(stage);
    await first.close();
    sms.passwords.delete(firstPassword);
    await setSecret(organisation, 'mail-ca', { 'ca.crt': next.authority });
    await organisation.deploy(values);
    const before = subjects.confirmed();
    await waitUntil('codes by the later password', async () => subjects.confirmed() >= before + 3);
  }).finally(subjects.end);
  const { addresses, numbers, failures } = await subjects.result();
  for (const failure of failures.slice(0, 10)) say(failure);
  expectThat(failures.length === 0, `${failures.length} subjects failed, such as: ${failures[0]}`);
  const mails = () => [...first.received, ...next.received];
  await waitUntil('the last invitation', async () => mails().length >= addresses.length, 60_000);
  expectOnce(mails(), addresses);
  expectOnce(
    sms.received.map(({ to }) => to),
    numbers,
  );
  await expectSent(stage, 2 * addresses.length);
  const texts = (password: string) => sms.received.filter((message) => message.password === password).length;
  return `${addresses.length} subjects: ${first.received.length} mails at the first server and ${next.received.length} at the next, ${texts(firstPassword)} text messages with the first password and ${texts(laterPassword)} with the later; ${figures}`;
}

/** Waits for the end of former pods, which send messages until then, also after the upgrade. */
async function waitForEnd({ organisation }: Stage): Promise<void> {
  const selector = '--selector=app.kubernetes.io/component=transactions';
  await waitUntil('the end of the former pods', async () => {
    const pods = await organisation.kubectl('get', 'pods', selector, '--output=name');
    return pods.trim().split('\n').length === 2;
  });
}

/** @throws Error unless each recipient has got one message, and nobody else any. */
function expectOnce(received: readonly string[], recipients: readonly string[]): void {
  const sorted = (list: readonly string[]) => list.toSorted().join();
  expectThat(
    sorted(received) === sorted(recipients),
    `${received.length} messages for ${recipients.length} recipients: ${received.filter((each, index) => received.indexOf(each) !== index)}`,
  );
}

async function expectSent({ organisation }: Stage, count: number): Promise<void> {
  await waitUntil(`${count} messages are SENT`, async () => {
    const rows = await query(
      organisation,
      'SELECT state, count(*) FROM transactions.messages GROUP BY state',
    );
    const states = rows.map((row) => row.join(' ')).join(', ');
    expectThat(states === `SENT ${count}`, `but their states are ${states}`);
    return true;
  });
}

interface Subjects {
  /** How many have entered their code. */
  confirmed(): number;
  /** Begins no further ones. */
  end(): void;
  /** Waits for all, then tells their addresses and numbers, and a sentence for each that failed. */
  result(): Promise<{ addresses: string[]; numbers: string[]; failures: string[] }>;
}

/** Has a subject each second get an invitation by mail, answer, and enter the code of a text message. */
function startSubjects({ form }: Stage, sms: SmsGateway): Subjects {
  const addresses: string[] = [];
  const numbers: string[] = [];
  const failures: string[] = [];
  let confirmed = 0;
  let isEnded = false;
  const { layoutData } = form.questions.layout as { layoutData: { elements: string[] } };
  const answers = { [`element/processing/${layoutData.elements[0]}/1.0`]: 'accepted' };
  const send = async (url: string, body: object) => {
    const headers = { CM_KEY: form.key, Accept: 'application/json', 'Content-Type': 'application/json' };
    const { status, body: text } = await form.client.post(url, headers, JSON.stringify(body));
    expectThat(status < 300, `${url} answers ${status}: ${text.slice(0, 300)}`);
    return JSON.parse(text) as { id: string; state: string };
  };
  const walk = async (subject: string, subjectInfos: { emailAddress: string; phoneNumber: string }) => {
    const context = { subject, layoutData, confirmation: 'SMS_CODE', sendInvitation: true, subjectInfos };
    const { id } = await send('/consents', context);
    await send(`/consents/${id}/submit`, answers);
    const received = () => sms.received.find(({ to }) => to === subjectInfos.phoneNumber);
    await waitUntil(`the code of ${subject}`, async () => received() !== undefined);
    const code = /#(\d{6})$/.exec(received()?.text ?? '')?.[1] ?? '';
    const { state } = await send(`/consents/${id}/confirm`, { code });
    expectThat(state === 'COMMITTED', `${subject} is ${state} after the code`);
    confirmed += 1;
  };
  const loop = (async () => {
    const walks: Promise<void>[] = [];
    for (let order = 0; !isEnded; order += 1) {
      // 06 39 98 is a range that is given to nobody (Arcep).
      const phoneNumber = `+336399${String(80_000 + order)}`;
      const emailAddress = `subject.${order}@example.test`;
      addresses.push(emailAddress);
      numbers.push(phoneNumber);
      const walked = walk(`message-${Date.now().toString(36)}-${order}`, { emailAddress, phoneNumber });
      walks.push(walked.catch((error: Error) => void failures.push(error.message)));
      await pause(1_000);
    }
    await Promise.all(walks);
  })();
  return {
    confirmed: () => confirmed,
    end() {
      isEnded = true;
    },
    async result() {
      await loop;
      return { addresses, numbers, failures };
    },
  };
}
