import type Router from '@koa/router';
import type { Context } from 'koa';
import { entryChoices } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor, type ReadField, wordChoices } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { listAskable } from './questions.ts';
import { addressField, keepAddress, nameOf } from './subject-path.ts';

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
      const [{ forms }, hasMail, { body: subject }] = await Promise.all([
        listAskable(ctx, kit),
        sendsMail(ctx, kit),
        kit.api(ctx).call('getSubject', { params: { name } }),
      ]);
      const { emailAddress, defaultLanguage } = subject;
      const noAddress = reader.t(emailAddress ? 'invite.known' : 'invite.unknown');
      return {
        title: reader.t('link.title', { name }),
        submit: reader.t('invite.send'),
        locals: { text: hasMail ? noAddress : reader.t('invite.noMail') },
        fields: fieldsOf(reader, { forms: entryChoices(forms), hasMail }),
        values: {
          way: hasMail ? 'mail' : 'link',
          emailAddress,
          language: defaultLanguage,
          deadline: 'P7D',
        },
      };
    },
    async send(ctx, field) {
      const { name: subject } = nameOf(ctx, kit);
      const byMail = field('way') === 'mail';
      if (byMail) await keepIfNew(ctx, kit, field('emailAddress'));
      const body = { subject, ...contextOf(field), ...(byMail && invitationTo(field('emailAddress'))) };
      return { byMail, made: (await kit.api(ctx).call('createTransaction', { body })).body };
    },
    done(ctx, { byMail, made }) {
      const { t } = kit.reader(ctx);
      const page = `/console/transactions/${made.id}`;
      if (byMail) return kit.open(ctx, page, 'invited');
      return kit.secret(ctx, {
        title: t('link.made'),
        text: t('link.text'),
        label: t('link.label'),
        value: made.links.subject,
        next: { href: page, word: t('link.next') },
      });
    },
  });
}

function fieldsOf(
  reader: ConsoleReader,
  { forms, hasMail }: { forms: FieldSpec['options']; hasMail: boolean },
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
    field('language', { isCode: true }),
    field('deadline', {
      kind: 'select',
      pointer: '/timeout',
      options: wordChoices(reader, 'invite.deadline', deadlines),
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

/** An address of a person without one is kept, so that it is known the next time. */
async function keepIfNew(ctx: Context, kit: RoomKit, typed: string): Promise<void> {
  const { name } = nameOf(ctx, kit);
  const { body: subject } = await kit.api(ctx).call('getSubject', { params: { name } });
  if (!subject.emailAddress || typed === '') await keepAddress(ctx, kit, name, typed);
}

async function sendsMail(ctx: Context, kit: RoomKit): Promise<boolean> {
  const { features } = (await kit.api(ctx).call('getSystemConfig')).body;
  return features.includes('mail');
}
