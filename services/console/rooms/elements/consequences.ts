import type { Context } from 'koa';
import type { Activation, ActivationText } from '../../models/activation.ts';
import type { EndingText } from '../../models/endings.ts';
import {
  type ElementType,
  type FoundElement,
  formPath,
  isQuestion,
  listEntries,
} from '../../models/read-model.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** What the activation of an element means for the people who have answered it. */
export async function describeActivation(
  ctx: Context,
  kit: RoomKit,
  { found: { entry }, draft, active, check }: Activation<ElementType>,
): Promise<ActivationText> {
  const { t } = kit.reader(ctx);
  if (!active) return { effects: [t('elements.firstEffect')], locals: { shownIn: [], whyMajor: [] } };
  const [forms, count] = await Promise.all([
    readForms(ctx, kit, entry.key),
    countPeople(ctx, kit, entry.key),
  ]);
  const mayBeMinor = check.minor.allowed;
  return {
    effects: [],
    fields: [
      {
        name: 'type',
        label: t('elements.change'),
        kind: 'radios',
        isRequired: true,
        options: [
          ...(mayBeMinor ? [['MINOR', t('elements.minor', { count })] as const] : []),
          ['MAJOR', t('elements.major', { count })] as const,
        ],
      },
    ],
    values: { type: mayBeMinor ? draft.version.type : 'MAJOR' },
    locals: {
      shownIn: [...forms, ...(entry.shared ? [{ text: t('elements.shownByPeers') }] : [])],
      whyMajor: mayBeMinor ? [] : check.minor.errors.map(({ detail }) => detail),
    },
  };
}

/** What it means to archive or delete an element: answers that stop counting, and forms that contain it. */
export async function describeEnding(
  ctx: Context,
  kit: RoomKit,
  { act, entry }: { act: 'archive' | 'discard' | 'delete'; entry: FoundElement['entry'] },
): Promise<EndingText | undefined> {
  if (act === 'discard') return undefined;
  const { t } = kit.reader(ctx);
  if (act === 'delete' && entry.default) return { effects: [t('endings.isDefault')], isBarred: true };
  const [links, count] = await Promise.all([
    readForms(ctx, kit, entry.key),
    isQuestion(entry.type) ? countPeople(ctx, kit, entry.key) : undefined,
  ]);
  if (act === 'delete' && links.length > 0) return { effects: [t('endings.isUsed')], links, isBarred: true };
  const effects = [
    count !== undefined && t('endings.answers', { count }),
    entry.shared && t('endings.peers'),
    links.length > 0 && t('endings.forms'),
  ];
  return { effects: effects.filter((each) => each !== false), links };
}

/** The forms whose ACTIVE version names the element: the next transaction with one of them has the new version. */
async function readForms(ctx: Context, kit: RoomKit, key: string) {
  const forms = await listEntries(kit.api(ctx), { types: 'layout', uses: key, usesIn: 'ACTIVE' });
  return forms.map((form) => ({ text: form.name, href: formPath(form.key) }));
}

/** People whose newest answer to the element is valid. */
async function countPeople(ctx: Context, kit: RoomKit, key: string): Promise<number> {
  const { body } = await kit.api(ctx).call('countValidAnswers', { query: { keys: key } as never });
  return body.values.find((each) => each.key === key)?.subjects ?? 0;
}
