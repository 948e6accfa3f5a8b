import type { Context } from 'koa';
import { errors, type Interaction, type InteractionResults, type Provider } from 'oidc-provider';
import { Failure } from '#lib/errors/fail.ts';
import { chargeTo } from '#lib/http/pacer.ts';
import { sendPage } from '#lib/http/send.ts';
import { consoleClientId } from './console-client.ts';
import { type PageName, type PageParts, readForm } from './render-pages.ts';
import { createSecondSteps } from './second-factor-pages.ts';
import type { SignedIn } from './tokens.ts';

/** The authentication context class with which a client asks for an account with a second factor. */
export const secondFactorClass = 'second-factor';

/** GET …/interaction/{uid}: the sign-in form. */
export function showSignIn(parts: PageParts) {
  return async (ctx: Context) => {
    const interaction = await findInteraction(parts, ctx);
    if (!interaction) return sendExpired(parts, ctx);
    const { login_hint: hint } = interaction.params;
    const id = accountToConfirm(interaction);
    const account = id && (await parts.accounts.findById(id));
    sendSignIn(parts, ctx, interaction, { username: account ? account.name : String(hint ?? '') });
  };
}

/** POST …/interaction/{uid}: redirects to the client, signed in or cancelled; otherwise the form again. */
export function submitSignIn(parts: PageParts) {
  const { provider, signIn, guess } = parts;
  const steps = createSecondSteps(parts, (ctx, interaction, { name, view, status = 200 }) =>
    sendStep(parts, ctx, interaction, { name, view, status }),
  );
  return async (ctx: Context) => {
    const interaction = await findInteraction(parts, ctx);
    if (!interaction) return sendExpired(parts, ctx);
    const form = await readForm(ctx);
    const username = form.get('username') ?? '';
    if (form.has('cancel')) return finish(provider, ctx, { error: 'access_denied' });
    try {
      if (form.has('ticket')) {
        const done = await steps.submit(ctx, interaction, form);
        if (done === 'sent') return;
        if (done === 'unknown')
          return sendSignIn(parts, ctx, interaction, { username, fault: 'second.again', status: 422 });
        return await complete(parts, ctx, interaction, done);
      }
      const found = await guess(
        ctx,
        () => signIn(ctx, username, form.get('password') ?? ''),
        (result) => result === undefined,
      );
      if (found) {
        const { account } = found;
        chargeTo(ctx, { roles: ['user'], account: account.id });
        const need = found.need === 'nothing' && asksForFactor(interaction) ? 'enrolment' : found.need;
        const { changedAt } = account;
        if (need === 'nothing' || changedAt === undefined)
          return await complete(parts, ctx, interaction, account);
        return await steps.begin(ctx, interaction, { ...account, changedAt }, need);
      }
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'too-many-requests') throw error;
      ctx.set(error.headers);
      return sendSignIn(parts, ctx, interaction, { username, fault: 'signIn.tooMany', status: 429 });
    }
    sendSignIn(parts, ctx, interaction, { username, fault: 'signIn.refused', status: 422 });
  };
}

/** Whether the person wants to set a second factor up (acr_values, OpenID Connect Core §3.1.2.1). */
function asksForFactor({ params }: Interaction): boolean {
  return String(params.acr_values ?? '')
    .split(' ')
    .includes(secondFactorClass);
}

/**
 * The account that is signed in and is only to be confirmed with its password, because the sign-in is too old
 * for an act (`max_age`, OpenID Connect Core §3.1.2.1); undefined for any other sign-in.
 */
function accountToConfirm({ params, session }: Interaction): string | undefined {
  return params.max_age === undefined ? undefined : session?.accountId;
}

/** Ends the interaction with a sign-in. @param account.changedAt as it was when it was verified. */
async function complete(
  { provider }: PageParts,
  ctx: Context,
  interaction: Interaction,
  { id, changedAt }: { id: string; changedAt?: string },
): Promise<void> {
  await endOtherSession(provider, interaction, id);
  const result: InteractionResults & SignedIn = { login: { accountId: id, remember: false }, changedAt };
  return finish(provider, ctx, result);
}

/** The interaction of this browser; undefined if it has expired or belongs to another browser. */
async function findInteraction({ provider }: PageParts, ctx: Context): Promise<Interaction | undefined> {
  try {
    const interaction = await provider.interactionDetails(ctx.req, ctx.res);
    return interaction.uid === ctx.params.uid ? interaction : undefined;
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined;
    throw error;
  }
}

/** Ends the session of another person in this browser; oidc-provider would ask on a page with a script. */
async function endOtherSession(
  provider: Provider,
  interaction: Interaction,
  accountId: string,
): Promise<void> {
  const { session } = interaction;
  if (!session?.uid || session.accountId === accountId) return;
  await (await provider.Session.findByUid(session.uid))?.destroy();
  interaction.session = undefined;
  await interaction.save(interaction.exp - Math.floor(Date.now() / 1000));
}

async function finish(provider: Provider, ctx: Context, result: InteractionResults): Promise<void> {
  const target = await provider.interactionResult(ctx.req, ctx.res, result, {
    mergeWithLastSubmission: false,
  });
  ctx.status = 303;
  ctx.redirect(target);
}

function sendSignIn(
  { pages, issuerPath, forget }: PageParts,
  ctx: Context,
  interaction: Interaction,
  { username, fault, status = 200 }: { username: string; fault?: string; status?: number },
): void {
  const { uid, params } = interaction;
  const action = `${issuerPath}/interaction/${uid}`;
  const client = String(params.client_id);
  const purpose = client === consoleClientId ? 'signIn.forConsole' : 'signIn.for';
  const isConfirming = accountToConfirm(interaction) !== undefined;
  const forgotten = forget && `${issuerPath}/forgotten`;
  const view = { action, username, fault, purpose, client, isConfirming, forgotten };
  const html = pages.render(ctx, 'sign-in', view);
  sendPage(ctx, html, { status, formTargets: [redirectSource(params.redirect_uri)] });
}

/** Sends the page of a step after the password. */
function sendStep(
  { pages, issuerPath }: PageParts,
  ctx: Context,
  { uid, params }: Interaction,
  { name, view, status }: { name: PageName; view: object; status: number },
): void {
  const html = pages.render(ctx, name, { action: `${issuerPath}/interaction/${uid}`, ...view });
  sendPage(ctx, html, { status, formTargets: [redirectSource(params.redirect_uri)] });
}

/** Browsers apply `form-action` to redirects too, and the last one leads to the client. */
function redirectSource(redirectUri: unknown): string {
  const url = URL.parse(String(redirectUri));
  if (!url) return "'self'";
  // A policy cannot name IPv6 addresses (CSP Level 3, 2.3.1).
  return url.host.startsWith('[') ? url.protocol : url.origin;
}

function sendExpired({ pages }: PageParts, ctx: Context): void {
  sendPage(ctx, pages.render(ctx, 'error', { text: 'error.expired', code: 'interaction_not_found' }), {
    status: 410,
  });
}
