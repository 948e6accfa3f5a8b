import type { Context } from 'koa';
import { sendPage } from '#lib/http/send.ts';
import type { PageParts } from './render-pages.ts';
import { readForm } from './render-pages.ts';

/** GET …/setup?token=…: the form for the first administrator's account. */
export function showSetup(parts: PageParts) {
  return async (ctx: Context) => {
    const token = await openToken(parts, ctx);
    if (token) sendSetup(parts, ctx, token, { username: 'admin' });
    else sendClosed(parts, ctx);
  };
}

/** POST …/setup?token=…: creates the account and invalidates the link. */
export function submitSetup(parts: PageParts) {
  return async (ctx: Context) => {
    const token = await openToken(parts, ctx);
    if (!token) return sendClosed(parts, ctx);
    const form = await readForm(ctx);
    const [username = '', password = '', repeated = ''] = ['username', 'password', 'repeated'].map(
      (name) => form.get(name) ?? '',
    );
    if (password !== repeated) return sendSetup(parts, ctx, token, { username, fault: 'repeated' });
    const result = await parts.setup.createFirstAccount(token, { name: username, password });
    if (result.done) return sendDone(parts, ctx, result.name);
    if (result.fault === 'link') return sendClosed(parts, ctx);
    sendSetup(parts, ctx, token, { username, fault: result.fault });
  };
}

/** The link's token if it is valid; limits guessing. */
async function openToken({ setup, guess }: PageParts, ctx: Context): Promise<string | undefined> {
  const token = [ctx.query.token].flat()[0] ?? '';
  const isOpen = await guess(
    ctx,
    () => setup.isOpen(token),
    (open) => !open,
  );
  return isOpen ? token : undefined;
}

function sendSetup(
  { pages, issuerPath }: PageParts,
  ctx: Context,
  token: string,
  { username, fault }: { username: string; fault?: string },
): void {
  const action = `${issuerPath}/setup?token=${encodeURIComponent(token)}`;
  const html = pages.render(ctx, 'setup', { action, username, fault: fault && `setup.fault.${fault}` });
  sendPage(ctx, html, { status: fault ? 422 : 200 });
}

function sendDone({ pages }: PageParts, ctx: Context, username: string): void {
  sendPage(ctx, pages.render(ctx, 'done', { username, home: '/' }), { status: 201 });
}

function sendClosed({ pages }: PageParts, ctx: Context): void {
  sendPage(ctx, pages.render(ctx, 'error', { text: 'error.link', code: 'link_not_valid' }), { status: 410 });
}
