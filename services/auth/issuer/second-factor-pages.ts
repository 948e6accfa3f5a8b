import { createRequire } from 'node:module';
import type { Context } from 'koa';
import type { Interaction } from 'oidc-provider';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import { addressOf, drawSecret } from '../domain/second-factor.ts';
import type { KnownAccount } from '../operations/second-factor.ts';
import type { PageName, PageParts } from './render-pages.ts';

const require = createRequire(import.meta.url);

/**
 * How far a sign-in has come. It is sealed in the page, bound to the interaction, so that nothing is stored
 * for a password alone: `code` and `enrol` wait for a code, `done` shows the recovery codes.
 */
export type Step = { account: KnownAccount; until: number } & (
  | { at: 'code' }
  | { at: 'enrol'; secret: string }
  | { at: 'done' }
);

/** As long as an interaction. */
const stepMs = 10 * 60_000;

/** What follows the right password, in the same interaction. */
export interface SecondSteps {
  /** Shows the page that asks for a code, or sets the second factor up. */
  begin(
    ctx: Context,
    interaction: Interaction,
    account: KnownAccount,
    need: 'code' | 'enrolment',
  ): Promise<void>;
  /**
   * Takes the form of a step.
   * @returns the account, as it is now, once the sign-in is complete; undefined after a page was sent, or for
   * a form that was not made for this interaction, which begins with the password again.
   */
  submit(
    ctx: Context,
    interaction: Interaction,
    form: URLSearchParams,
  ): Promise<{ id: string; changedAt: string } | 'sent' | 'unknown'>;
}

type Show = (
  ctx: Context,
  interaction: Interaction,
  page: { name: PageName; view: object; status?: number },
) => void;

export function createSecondSteps(
  {
    secondFactor,
    guess,
    instance,
    ticketKeys,
  }: Pick<PageParts, 'secondFactor' | 'guess' | 'instance' | 'ticketKeys'>,
  show: Show,
): SecondSteps {
  const box = createSecretBox(ticketKeys, 'accord second step');

  async function send(
    ctx: Context,
    interaction: Interaction,
    step: Step,
    more: { fault?: string; recoveryCodes?: string[] } = {},
  ) {
    const ticket = box.seal(interaction.uid, JSON.stringify(step)).toString('base64url');
    const status = more.fault === 'second.tooMany' ? 429 : more.fault ? 422 : 200;
    if (step.at !== 'enrol') {
      const name = step.at === 'code' ? 'code' : 'recovery';
      return show(ctx, interaction, { name, view: { ticket, ...more }, status });
    }
    const { secret, account } = step;
    const qrcode = require('qrcode') as typeof import('qrcode');
    const address = addressOf(secret, { issuer: instance.name, name: account.name });
    const image = await qrcode.toDataURL(address, { margin: 4, scale: 6 });
    const view = { ticket, image, secret: secret.match(/.{4}/g)?.join(' '), ...more };
    show(ctx, interaction, { name: 'enrol', view, status });
  }

  function open(interaction: Interaction, ticket: string): Step | undefined {
    try {
      const step = JSON.parse(box.open(interaction.uid, Buffer.from(ticket, 'base64url'))) as Step;
      return step.until > Date.now() ? step : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    begin(ctx, interaction, account, need) {
      const until = Date.now() + stepMs;
      if (need === 'code') return send(ctx, interaction, { at: 'code', account, until });
      return send(ctx, interaction, { at: 'enrol', account, until, secret: drawSecret() });
    },
    async submit(ctx, interaction, form) {
      const step = open(interaction, form.get('ticket') ?? '');
      if (!step) return 'unknown';
      const { account } = step;
      const entered = form.get('code') ?? '';
      if (step.at === 'done') return account;
      if (step.at === 'code') {
        const verdict = await guess(
          ctx,
          () => secondFactor.verify(ctx, account, entered),
          (found) => found !== 'right',
        );
        if (verdict === 'right') return account;
        const fault = verdict === 'wrong' ? 'second.wrong' : 'second.tooMany';
        await send(ctx, interaction, step, { fault });
        return 'sent';
      }
      const enrolled = await secondFactor.enrol(account, step.secret, entered);
      if (!enrolled) {
        await send(ctx, interaction, step, { fault: 'second.wrong' });
        return 'sent';
      }
      const { changedAt, recoveryCodes } = enrolled;
      const done: Step = { at: 'done', account: { ...account, changedAt }, until: step.until };
      await send(ctx, interaction, done, { recoveryCodes });
      return 'sent';
    },
  };
}
