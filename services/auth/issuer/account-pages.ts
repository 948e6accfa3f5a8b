import type { Context } from 'koa';
import { sendPage } from '#lib/http/send.ts';
import { acceptedLanguages } from '#lib/i18n/match-language.ts';
import { type PageParts, readForm } from './render-pages.ts';

/** GET …/forgotten: asks for the name or the address of an account. */
export function showForgotten({ pages, issuerPath }: PageParts) {
  return (ctx: Context) => {
    const view = { action: `${issuerPath}/forgotten`, username: String(ctx.query.name ?? '') };
    sendPage(ctx, pages.render(ctx, 'forgotten', view), { status: 200 });
  };
}

/** POST …/forgotten: says the same, and as soon, whether or not there is such an account. */
export function submitForgotten({ pages, forget, guess }: PageParts) {
  return async (ctx: Context) => {
    const who = (await readForm(ctx)).get('username') ?? '';
    // Each request counts as a failed credential of its address.
    await guess(
      ctx,
      async () => forget?.(who, [...acceptedLanguages(ctx.get('accept-language'))]),
      () => true,
    );
    sendPage(ctx, pages.render(ctx, 'message', { title: 'forgotten.sent', text: 'forgotten.sentText' }), {
      status: 200,
    });
  };
}

/** GET …/address?token=…: asks to confirm. Opening the link, as some mail servers do, changes nothing. */
export function showAddress(parts: PageParts) {
  return (ctx: Context) => {
    const { pages, ownAddress, issuerPath } = parts;
    const token = tokenOf(ctx);
    const ticket = ownAddress.open(token);
    if (!ticket) return sendClosed(parts, ctx);
    const action = `${issuerPath}/address?token=${encodeURIComponent(token)}`;
    const html = pages.render(ctx, 'address', { action, email: ticket.email, name: ticket.name });
    sendPage(ctx, html, { status: 200 });
  };
}

/** POST …/address?token=…: sets the address. */
export function submitAddress(parts: PageParts) {
  return async (ctx: Context) => {
    const { pages, ownAddress } = parts;
    const ticket = ownAddress.open(tokenOf(ctx));
    if (!ticket || !(await ownAddress.confirm(ticket))) return sendClosed(parts, ctx);
    const html = pages.render(ctx, 'message', { title: 'address.done', text: 'address.doneText' });
    sendPage(ctx, html, { status: 200 });
  };
}

function tokenOf(ctx: Context): string {
  return [ctx.query.token].flat()[0] ?? '';
}

function sendClosed({ pages }: PageParts, ctx: Context): void {
  const html = pages.render(ctx, 'error', { title: 'closed.title', text: 'address.closed' });
  sendPage(ctx, html, { status: 410 });
}
