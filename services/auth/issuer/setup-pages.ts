import type { Context } from 'koa';
import { sendPage } from '#lib/http/send.ts';
import type { OpenLink } from '../queries/setup-links.ts';
import type { PageParts } from './render-pages.ts';
import { readForm } from './render-pages.ts';

/** GET …/setup?token=…: the form for the first account, or for an invited person's password. */
export function showSetup(parts: PageParts) {
  return async (ctx: Context) => {
    const link = await openLink(parts, ctx);
    if (link) sendSetup(parts, ctx, link, { username: 'admin' });
    else await sendClosed(parts, ctx);
  };
}

/** POST …/setup?token=…: creates the account or sets its password, and invalidates the link. */
export function submitSetup(parts: PageParts) {
  return async (ctx: Context) => {
    const link = await openLink(parts, ctx);
    if (!link) return await sendClosed(parts, ctx);
    const form = await readForm(ctx);
    const [username = '', password = '', repeated = ''] = ['username', 'password', 'repeated'].map(
      (name) => form.get(name) ?? '',
    );
    if (password !== repeated) return sendSetup(parts, ctx, link, { username, fault: 'repeated' });
    const result = await parts.setup.complete(link.token, { name: username, password });
    if (result.done) return sendDone(parts, ctx, link, result.name);
    if (result.fault === 'link') return sendClosed(parts, ctx);
    sendSetup(parts, ctx, link, { username, fault: result.fault });
  };
}

type Link = OpenLink & { token: string };

/** The link if it is valid; limits guessing. */
async function openLink({ setup, guess }: PageParts, ctx: Context): Promise<Link | undefined> {
  const token = [ctx.query.token].flat()[0] ?? '';
  const link = await guess(
    ctx,
    () => setup.find(token),
    (found) => found === undefined,
  );
  return link && { ...link, token };
}

function sendSetup(
  { pages, issuerPath }: PageParts,
  ctx: Context,
  { token, ...link }: Link,
  { username, fault }: { username: string; fault?: string },
): void {
  const action = `${issuerPath}/setup?token=${encodeURIComponent(token)}`;
  const html = pages.render(ctx, 'setup', {
    action,
    texts: textsOf(link),
    isInvited: link.name !== null,
    username: link.name ?? username,
    fault: fault && `setup.fault.${fault}`,
  });
  sendPage(ctx, html, { status: fault ? 422 : 200 });
}

/** People who may use the console are led to it. */
function sendDone(
  { pages, consolePath }: PageParts,
  ctx: Context,
  { name, role, ...link }: Link,
  username: string,
): void {
  const isStaff = consolePath !== null && role !== 'user';
  const next = isStaff ? { href: consolePath, word: 'next.console' } : { href: '/', word: 'next.home' };
  const texts = textsOf({ ...link, name });
  const view = { title: `${texts}.done`, username, next };
  sendPage(ctx, pages.render(ctx, 'done', view), { status: name === null ? 201 : 200 });
}

/** Prefix of the locale keys: those of the first account, of a forgotten password, or of an invitation. */
function textsOf({ name, isReset }: Pick<Link, 'name' | 'isReset'>): 'setup' | 'reset' | 'invited' {
  if (name === null) return 'setup';
  return isReset ? 'reset' : 'invited';
}

/** A link that was used, replaced or has expired: most who open one have chosen their password already. */
async function sendClosed({ pages, setup }: PageParts, ctx: Context): Promise<void> {
  const isFirst = !(await setup.hasAccounts());
  const view = isFirst ? { text: 'closed.first', next: null } : { text: 'closed.text' };
  sendPage(ctx, pages.render(ctx, 'error', { title: 'closed.title', ...view }), { status: 410 });
}
