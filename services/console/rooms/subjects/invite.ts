import type Router from '@koa/router';
import type { Context } from 'koa';
import { unlessMissing } from '../../api/api-failure.ts';
import { entryChoices } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor, type ReadField, wordChoices } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { addressField, anyLanguage, keepAddress, nameOf } from '../../people/subject-path.ts';
import { listAskable } from './questions.ts';

const deadlines = ['P1D', 'P7D', 'P30D'] as const;

/** Asking a person with a form: by an e-mail to the known address, or by a link to pass on. */
export function inviteRoutes(router: Router, kit: RoomKit): void {
  formPage(router, kit, {
    path: '/:s/link',
    operation: 'createTransaction',
    view: 'form',
    isCreating: true,
    async ask(ctx, reader) {
      const { name } = nameOf(ctx, kit);
      const [{ forms }, hasMail, subject] = await Promise.all([
        listAskable(ctx, kit),
        sendsMail(ctx, kit),
        findSubject(ctx, kit, name),
      ]);
      const { emailAddress, defaultLanguage } = subject ?? {};
      const noAddress = reader.t(emailAddress ? 'invite.known' : 'invite.unknown');
      return {
        title: reader.t('link.title', { name }),
        submit: reader.t('invite.send'),
        locals: { text: hasMail ? noAddress : reader.t('invite.noMail') },
        fields: fieldsOf(reader, { forms: entryChoices(forms), hasMail, defaultLanguage }),
        values: {
          layout: [ctx.query.form].flat()[0] ?? '',
          way: hasMail ? 'mail' : 'link',
          emailAddress,
          language: defaultLanguage,
        },
      };
    },
    async send(ctx, field) {
      const { name: subject } = nameOf(ctx, kit);
      const byMail = field('way') === 'mail';
      const address = field('emailAddress');
      const known = byMail ? await findSubject(ctx, kit, subject) : undefined;
      const keep = () => keepAddress(ctx, kit, subject, address);
      if (known && (!known.emailAddress || address === '')) await keep();
      const body = { subject, ...contextOf(field), ...(byMail && invitationTo(address)) };
      const { body: made } = await kit.api(ctx).call('createTransaction', { body });
      // A person becomes known by the first transaction.
      if (byMail && !known) await keep();
      const shown = byMail
        ? undefined
        : (await kit.api(ctx).call('createShortLink', { params: { txid: made.id } })).body;
      return { made, shown };
    },
    done(ctx, { made, shown }) {
      const { t } = kit.reader(ctx);
      const page = `/console/transactions/${made.id}`;
      if (!shown) return kit.open(ctx, nameOf(ctx, kit).href, 'invited');
      return kit.secret(ctx, {
        title: t('link.made'),
        text: t('link.text'),
        label: t('link.label'),
        value: shown.url,
        next: { href: page, word: t('link.next') },
      });
    },
  });
}

function fieldsOf(
  reader: ConsoleReader,
  {
    forms,
    hasMail,
    defaultLanguage,
  }: { forms: FieldSpec['options']; hasMail: boolean; defaultLanguage: string | undefined },
): FieldSpec[] {
  const field = fieldsFor(reader, 'invite');
  return [
    { name: 'layout', label: reader.t('link.form'), kind: 'select', options: forms, isRequired: true },
    ...(hasMail
      ? [
          field('way', {
            kind: 'radios',
            isRequired: true,
            options: wordChoices(reader, 'invite.way', ['mail', 'link']),
          }),
          addressField(reader, { hint: reader.t('invite.addressHint'), isNeeded: true }),
        ]
      : []),
    field('language', { kind: 'select', options: anyLanguage(reader, defaultLanguage) }),
    field('deadline', {
      kind: 'select',
      pointer: '/timeout',
      options: [['', reader.t('invite.usualDeadline')], ...wordChoices(reader, 'invite.deadline', deadlines)],
    }),
  ];
}

/** What the form says of the transaction. */
function contextOf(field: ReadField) {
  const language = field('language');
  const timeout = field('deadline');
  return { layout: field('layout'), ...(language && { language }), ...(timeout && { timeout }) };
}

const invitationTo = (emailAddress: string) => ({ sendInvitation: true, subjectInfos: { emailAddress } });

/** What is known of a person; undefined for one who is not known yet. */
async function findSubject(ctx: Context, kit: RoomKit, name: string) {
  return (await unlessMissing(kit.api(ctx).call('getSubject', { params: { name } })))?.body;
}

async function sendsMail(ctx: Context, kit: RoomKit): Promise<boolean> {
  const { features } = (await kit.api(ctx).call('getSystemConfig')).body;
  return features.includes('mail');
}
