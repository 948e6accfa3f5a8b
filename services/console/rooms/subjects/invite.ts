import type Router from '@koa/router';
import type { Context } from 'koa';
import { qrImage } from '#lib/pages/qr-code.ts';
import { fieldFailure, unlessMissing } from '../../api/api-failure.ts';
import { formChoices } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor, type ReadField, wordChoices } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { type Channels, firstWay, numberField, readChannels, waysOf } from '../../people/invitation.ts';
import {
  addressField,
  anyLanguage,
  keepAddress,
  languagesOfForms,
  nameOf,
} from '../../people/subject-path.ts';
import { listAskable } from './questions.ts';

const deadlines = ['P1D', 'P7D', 'P30D'] as const;

/** Asking a person with a form: by an e-mail, by a text message, or by a link to pass on. */
export function inviteRoutes(router: Router, tools: RoomTools): void {
  formPage(router, tools, {
    path: '/:s/link',
    operation: 'createTransaction',
    view: 'form',
    isCreating: true,
    async ask(ctx, reader) {
      const { name } = nameOf(ctx, tools);
      const [{ forms }, sends, subject] = await Promise.all([
        listAskable(ctx, tools),
        readChannels(ctx, tools),
        findSubject(ctx, tools, name),
      ]);
      const { emailAddress, phoneNumber, defaultLanguage } = subject ?? {};
      return {
        title: reader.t('link.title', { name }),
        submit: reader.t(sends.mail || sends.sms ? 'invite.send' : 'invite.way.link'),
        locals: { text: whatIsKnown(reader, sends, subject ?? {}) },
        fields: fieldsOf(reader, {
          forms: formChoices(reader, forms),
          languages: anyLanguage(reader, languagesOfForms(forms), defaultLanguage),
          sends,
        }),
        values: {
          layout: [ctx.query.form].flat()[0] ?? '',
          way: firstWay(sends, subject ?? {}),
          emailAddress,
          phoneNumber,
          language: defaultLanguage,
        },
      };
    },
    async send(ctx, field) {
      const { name: subject } = nameOf(ctx, tools);
      if (!field('layout')) throw fieldFailure('layout', 'required');
      const way = field('way');
      const byMail = way === 'mail';
      const isSent = byMail || way === 'sms';
      const address = field('emailAddress');
      if (needsNumber(field) && !field('phoneNumber')) throw fieldFailure('phoneNumber', 'required');
      const known = byMail ? await findSubject(ctx, tools, subject) : undefined;
      const keep = () => keepAddress(ctx, tools, subject, address);
      if (known && (!known.emailAddress || address === '')) await keep();
      const invited = { sendInvitation: true, ...(!byMail && { invitationChannel: 'SMS' }) };
      const body = { subject, ...contextOf(field), ...(isSent && invited) };
      const { body: made } = await tools.api(ctx).call('createTransaction', { body });
      // A person becomes known by the first transaction.
      if (byMail && !known) await keep();
      const shown = isSent
        ? undefined
        : (await tools.api(ctx).call('createShortLink', { params: { txid: made.id } })).body;
      return { made, shown };
    },
    done(ctx, { made, shown }) {
      const { t } = tools.reader(ctx);
      const page = `/console/transactions/${made.id}`;
      if (!shown) return tools.open(ctx, nameOf(ctx, tools).href, 'invited');
      return tools.secret(ctx, {
        title: t('link.made'),
        text: t('link.text'),
        label: t('link.label'),
        value: shown.url,
        qr: { image: qrImage(shown.url), label: t('link.qr'), text: t('link.qrText') },
        next: { href: page, word: t('link.next') },
      });
    },
  });
}

function fieldsOf(
  reader: ConsoleReader,
  {
    forms,
    languages,
    sends,
  }: { forms: FieldSpec['options']; languages: FieldSpec['options']; sends: Channels },
): FieldSpec[] {
  const field = fieldsFor(reader, 'invite');
  const ways = waysOf(sends);
  /** Nothing is sent of what the form is to say. */
  const orUsual = (name: string, codes: readonly string[], rest: Partial<FieldSpec> = {}) =>
    field(name, {
      kind: 'select',
      options: [['', reader.t('invite.usual')], ...wordChoices(reader, `invite.${name}`, codes)],
      ...rest,
    });
  const codes = [
    'NONE',
    'FORM_CODE',
    ...(sends.mail ? ['EMAIL_CODE'] : []),
    ...(sends.sms ? ['SMS_CODE'] : []),
  ];
  return [
    { name: 'layout', label: reader.t('link.form'), kind: 'select', options: forms, isRequired: true },
    ...(ways.length > 1
      ? [field('way', { kind: 'radios', isRequired: true, options: wordChoices(reader, 'invite.way', ways) })]
      : []),
    ...(sends.mail ? [addressField(reader, { hint: reader.t('invite.addressHint'), isNeeded: true })] : []),
    ...(sends.sms ? [numberField(reader)] : []),
    field('language', { kind: 'select', options: languages }),
    orUsual('deadline', deadlines, { pointer: '/timeout' }),
    orUsual('ask', ['CHANGED']),
    orUsual('confirmation', codes),
  ];
}

/** Whether something is sent to the number of the form. */
const needsNumber = (field: ReadField) => field('way') === 'sms' || field('confirmation') === 'SMS_CODE';

/** Says which addresses are filled in and that entered ones are kept, or that nothing can be sent. */
function whatIsKnown(
  { t }: ConsoleReader,
  { mail, sms }: Channels,
  { emailAddress, phoneNumber }: { emailAddress?: string; phoneNumber?: string },
): string {
  if (!mail && !sms) return t('invite.noMail');
  const ofMail = t(emailAddress ? 'invite.known' : 'invite.unknown');
  const ofText = t(phoneNumber ? 'invite.numberKnown' : 'invite.numberUnknown');
  return [...(mail ? [ofMail] : []), ...(sms ? [ofText] : [])].join(' ');
}

/** What the form says of the transaction. */
function contextOf(field: ReadField) {
  const language = field('language');
  const [timeout, ask, confirmation] = [field('deadline'), field('ask'), field('confirmation')];
  const isMailed = field('way') === 'mail' || confirmation === 'EMAIL_CODE';
  const subjectInfos = {
    ...(isMailed && { emailAddress: field('emailAddress') }),
    ...(needsNumber(field) && { phoneNumber: field('phoneNumber') }),
  };
  return {
    layout: field('layout'),
    ...(language && { language }),
    ...(timeout && { timeout }),
    ...(ask && { ask }),
    ...(confirmation && { confirmation }),
    ...(Object.keys(subjectInfos).length > 0 && { subjectInfos }),
  };
}

/** What is known of a person; undefined for one who is not known yet. */
async function findSubject(ctx: Context, tools: RoomTools, name: string) {
  return (await unlessMissing(tools.api(ctx).call('getSubject', { params: { name } })))?.body;
}
