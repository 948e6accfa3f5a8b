import type Router from '@koa/router';
import type { Context } from 'koa';
import { fieldFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type Choice, type FieldSpec, fieldsFor } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { type Channels, firstWay, numberField, readChannels, waysOf } from '../../people/invitation.ts';
import { addressField, keepAddress } from '../../people/subject-path.ts';
import { showLink } from './show-link.ts';

/** Where an invitation goes: to the address and number of the transaction, else of the person. */
interface Invited {
  subject: string;
  emailAddress: string | undefined;
  phoneNumber: string | undefined;
}

/** Inviting to an open transaction: by e-mail, by text message, or by a link to pass on. */
export function inviteRoute(router: Router, tools: RoomTools): void {
  formPage(router, tools, {
    path: '/:txid/invite',
    operation: 'sendInvitation',
    words: 'transactions.invite',
    async ask(ctx, reader) {
      const [sends, invited] = await Promise.all([readChannels(ctx, tools), readInvited(ctx, tools)]);
      if (!sends.mail && !sends.sms) return { effects: [reader.t('transactions.noChannel')], isBarred: true };
      return {
        // True of a link, too, which is shown and not sent.
        submit: reader.t('invite.send'),
        fields: fieldsOf(reader, sends, invited),
        values: { way: firstWay(sends, invited) },
      };
    },
    async send(ctx, field) {
      const way = field('way');
      const { params } = ctx;
      if (way === 'link') return (await tools.api(ctx).call('createShortLink', { params })).body;
      const { subject, emailAddress, phoneNumber } = await readInvited(ctx, tools);
      const given = field('phoneNumber');
      if (way === 'sms' && !phoneNumber && !given) throw fieldFailure('phoneNumber', 'required');
      if (way !== 'sms' && !emailAddress) await keepAddress(ctx, tools, subject, field('emailAddress'));
      const byText = { channel: 'SMS' as const, ...(!phoneNumber && { phoneNumber: given }) };
      await tools.api(ctx).call('sendInvitation', { params, body: way === 'sms' ? byText : {} });
      return undefined;
    },
    done: (ctx, link) =>
      link
        ? showLink(ctx, tools, link)
        : tools.open(ctx, `${tools.path}/${String(ctx.params.txid)}`, 'invited'),
  });
}

async function readInvited(ctx: Context, tools: RoomTools): Promise<Invited> {
  const api = tools.api(ctx);
  const { subject, context } = (await api.call('getTransaction', { params: ctx.params })).body;
  const { emailAddress, phoneNumber } = context?.subjectInfos ?? {};
  const { body: known } = await api.call('getSubject', { params: { name: subject } });
  return {
    subject,
    emailAddress: emailAddress ?? known.emailAddress,
    phoneNumber: phoneNumber ?? known.phoneNumber,
  };
}

/** Each way says where the invitation goes; what is not known is asked. */
function fieldsOf(
  reader: ConsoleReader,
  sends: Channels,
  { emailAddress, phoneNumber }: Invited,
): FieldSpec[] {
  const to = { mail: emailAddress, sms: phoneNumber, link: undefined };
  const options = waysOf(sends).map((way): Choice => {
    const address = to[way];
    return [way, address ? reader.t(`invite.to.${way}`, { address }) : reader.t(`invite.way.${way}`)];
  });
  return [
    fieldsFor(reader, 'invite')('way', { kind: 'radios', isRequired: true, options }),
    ...(sends.mail && !emailAddress
      ? [addressField(reader, { isNeeded: true, hint: reader.t('invite.addressHint') })]
      : []),
    ...(sends.sms && !phoneNumber ? [numberField(reader)] : []),
  ];
}
