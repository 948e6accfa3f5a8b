import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Schemas } from '../../api/api-types.ts';
import { actPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { nameOf } from '../../people/subject-path.ts';
import { elementsOfForm } from './questions.ts';

type Listed = Schemas['ListedTransaction'];
type Answer = Schemas['ConsentRecord'];

/**
 * Forms that a person can still answer although each of their questions was answered since they were sent: on
 * paper, or with another form.
 * @param elementsOf keys of the questions of a transaction.
 */
function answeredElsewhere(
  transactions: readonly Listed[],
  answers: readonly Answer[],
  elementsOf: (transaction: Listed) => readonly string[],
): Listed[] {
  return transactions.filter((transaction) => {
    const { state, leader, created, context, id } = transaction;
    if (state !== 'CREATED' || leader) return false;
    const since = Date.parse(created);
    const isAnswered = (key: string) =>
      answers.some(
        (answer) =>
          answer.bodyKey === key &&
          answer.object === context?.object &&
          answer.status === 'VALID' &&
          answer.transaction !== id &&
          answer.creationTimestamp >= since,
      );
    const keys = elementsOf(transaction);
    return keys.length > 0 && keys.every(isAnswered);
  });
}

/** What the page of a person says of each of them, with the page that closes it. */
export async function readStillOpen(
  ctx: Context,
  tools: RoomTools,
  { transactions, answers }: { transactions: readonly Listed[]; answers: readonly Answer[] },
) {
  const open = transactions.filter(({ state }) => state === 'CREATED');
  const layouts = new Set(open.flatMap(({ context }) => context?.layout ?? []));
  const ofForms = new Map(
    await Promise.all(
      [...layouts].map(async (key) => [key, await elementsOfForm(ctx, tools, key).catch(() => [])] as const),
    ),
  );
  const elementsOf = ({ context }: Listed) =>
    context?.layout ? (ofForms.get(context.layout) ?? []) : (context?.layoutData?.elements ?? []);
  const { t, time } = tools.reader(ctx);
  const { href } = nameOf(ctx, tools);
  return answeredElsewhere(open, answers, elementsOf).map(({ id, created }) => ({
    text: t('stillOpen.text', { date: time(created).text }),
    href: tools.may(ctx, 'cancelTransaction') && `${href}/close/${id}`,
  }));
}

/** Closing a form that was sent to a person. */
export function closeRoute(router: Router, tools: RoomTools): void {
  actPage(router, tools, {
    path: '/:s/close/:txid',
    operation: 'cancelTransaction',
    words: 'stillOpen.close',
    isEnding: true,
    ask: (ctx) => ({ name: nameOf(ctx, tools).name, cancelUrl: nameOf(ctx, tools).href }),
    params: (ctx) => ({ txid: String(ctx.params.txid) }),
    done: (ctx) => tools.open(ctx, nameOf(ctx, tools).href, 'formClosed'),
  });
}
