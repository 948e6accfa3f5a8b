import { expect } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { signInForLong } from '../../security/authorisation/credentials.ts';
import type { Caller } from '../instances/callers.ts';
import { type ChoicesVisitor, choicesVisitor } from '../instances/choices-visitor.ts';
import { startTestInstance, type TestInstance } from '../instances/instance.ts';
import { makeLiveModel } from '../instances/live-models.ts';
import { transactionIn } from '../instances/live-subject.ts';
import {
  codeIn,
  leadsTo,
  linkIn,
  type MailServer,
  type ReceivedMail,
  startMailServer,
} from '../network/mail-server.ts';
import { until } from '../run/until.ts';
import { pairInstances } from './pair-instances.ts';

/** Names of the organisations, and of the questions of each in the form of the clinic. */
const names = { clinic: 'Lakeside Clinic', lab: 'Northern Lab', council: 'City Council' } as const;
export type Organisation = keyof typeof names;
type OfEach<Value> = Record<Organisation, Value>;

/** The clinic leads: its form, at an address of its own, also asks a consent and a text of both others. */
export interface ThreeOrganisations {
  instances: OfEach<TestInstance>;
  admins: OfEach<Caller>;
  mails: MailServer;
  /** References of the questions in forms of the clinic: a consent and a text of each. */
  questions: OfEach<{ consent: string; text: string }>;
  /**
   * A person enters the address at the form of the clinic, answers everything, and enters the code.
   * @param text what is answered to the text of each organisation.
   * @returns the transaction, when both others have stored their part.
   */
  answer(address: string, text: (of: Organisation) => string): Promise<{ id: string }>;
  /** Asks for a link to choices. @returns the page that it leads to. */
  linkFrom(of: Organisation, asked: { address: string } | { from: string; to: string }): Promise<string>;
  /** Opens the choices of an address with a link. */
  open(of: Organisation, asked: { address: string } | { from: string; to: string }): Promise<ChoicesVisitor>;
  /** The links on the page of the clinic to the pages of the others. */
  linksAt(clinic: ChoicesVisitor): Promise<Record<'lab' | 'council', string>>;
  /** What the response to a request for a link is. */
  askedAt(of: Organisation, asked: object): Promise<Response>;
  stop(): Promise<void>;
}

const own = (key: string) =>
  `element/${key.startsWith('processing') ? 'processing' : 'preference'}/${key}/1.0`;

export async function startThreeOrganisations(
  environment: Record<string, string> = {},
): Promise<ThreeOrganisations> {
  const mails = await startMailServer();
  const start = (name: string, sender: string) =>
    startTestInstance({
      INSTANCE_NAME: name,
      MAIL_URL: mails.url,
      MAIL_FROM: sender,
      MAIL_HOURLY_LIMIT: '100000',
      CREATOR_HOURLY_LIMIT: '100000',
      ...environment,
    });
  const [clinic, lab, council] = await Promise.all([
    start(names.clinic, 'post@clinic.example'),
    start(names.lab, 'post@lab.example'),
    start(names.council, 'post@council.example'),
  ]);
  const instances = { clinic, lab, council };
  const senders = { clinic: 'post@clinic.example', lab: 'post@lab.example', council: 'post@council.example' };
  const [atClinic, atLab, atCouncil] = await Promise.all(
    [clinic, lab, council].map((each) => signInForLong(each, 'admin')),
  );
  const admins = { clinic: atClinic, lab: atLab, council: atCouncil } as OfEach<Caller>;
  await pairInstances(clinic, lab);
  await pairInstances(clinic, council);
  const publish = async (of: Organisation, host: string) => {
    const admin = admins[of];
    const label = `Wishes for ${names[of]}`;
    const usage = `${names[of]} writes a letter.`;
    const retention = { value: 1, unit: 'YEAR', fullText: 'A year' };
    const consent = {
      title: `Letter of ${names[of]}`,
      data: 'Your e-mail address',
      usage,
      retention,
      legalBases: ['LEGAL_BASIS_CONSENT'],
    };
    const made = [
      await makeLiveModel(admin, 'processing', { en: consent }),
      await makeLiveModel(admin, 'preference', { en: { label, valueType: 'FREE_TEXT' } }),
    ];
    for (const { id } of made)
      if (host)
        expect((await admin.send('PUT', `/models/${id}`, { name: label, shared: true })).ok).toBe(true);
    const [first, second] = made.map(({ key }) => `${key}${host}`) as [string, string];
    return { consent: first, text: second };
  };
  const hostOf = ({ url }: TestInstance) => `@${new URL(url).host}`;
  const questions = {
    clinic: await publish('clinic', ''),
    lab: await publish('lab', hostOf(lab)),
    council: await publish('council', hostOf(council)),
  };
  const elements = Object.values(questions).flatMap(({ consent, text }) => [consent, text]);
  const layout = { type: 'layout', elements, public: { identify: 'EMAIL' } };
  // The questions of the others come a moment after the pairing.
  await until(async () => {
    const shown = await admins.clinic.send('POST', '/consents/preview', { layoutData: { elements } });
    expect(shown.status).toBe(200);
  });
  const form = `/f/${(await makeLiveModel(admins.clinic, 'layout', { en: layout })).key}`;

  async function answer(address: string, text: (of: Organisation) => string) {
    const begun = await clinic.fetch(form, {
      method: 'POST',
      headers: { Accept: 'text/html' },
      body: new URLSearchParams({ emailAddress: address }),
      redirect: 'manual',
    });
    const led = new URL(begun.headers.get('location') ?? '');
    const [, , id = ''] = led.pathname.split('/');
    const post = (path: string, body: object) =>
      clinic.fetch(`/consents/${id}${path}${led.search}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    const answers = Object.entries(questions).flatMap(([of, asked]): [string, string[]][] => [
      [own(asked.consent), ['accepted']],
      [own(asked.text), [text(of as Organisation)]],
    ]);
    const before = mails.to(address).length;
    expect((await post('/submit', Object.fromEntries(answers))).status).toBe(200);
    const mail = await mails.waitFor(address, before + 1);
    expect((await post('/confirm', { code: codeIn(mail) })).status).toBe(200);
    await until(async () => {
      const { followers } = await transactionIn(admins.clinic.get(`/consents/${id}`));
      expect(followers?.map(({ state }) => state)).toEqual(['ACCEPTED', 'ACCEPTED']);
    });
    return { id };
  }

  const askedAt = (of: Organisation, asked: object) =>
    instances[of].fetch('/choices/link', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(asked),
    });

  async function linkFrom(of: Organisation, asked: { address: string } | { from: string; to: string }) {
    const to = 'from' in asked ? asked.to : asked.address;
    const mine = () => mails.to(to).filter(({ from }) => from === senders[of]);
    const before = mine().length;
    const body = 'from' in asked ? { from: asked.from } : asked;
    expect((await askedAt(of, body)).status).toBe(202);
    await until(() => expect(mine()).toHaveLength(before + 1));
    return leadsTo(linkIn((mine().at(-1) as ReceivedMail).mail));
  }

  async function open(of: Organisation, asked: { address: string } | { from: string; to: string }) {
    const visitor = choicesVisitor(instances[of]);
    expect((await visitor.post(await linkFrom(of, asked))).status).toBe(303);
    return visitor;
  }

  async function linksAt(visitor: ChoicesVisitor) {
    const organisations = await visitor.read();
    const page = (name: string) => {
      const { sent } = organisations.find((each) => each.name === name) as components['schemas']['ChoicesAt'];
      return sent?.page ?? '';
    };
    return { lab: page(names.lab), council: page(names.council) };
  }

  return {
    instances,
    admins,
    mails,
    questions,
    answer,
    linkFrom,
    open,
    linksAt,
    askedAt,
    async stop() {
      await Promise.all([clinic.stop(), lab.stop(), council.stop()]);
      await mails.close();
    },
  };
}
