import type { Context } from 'koa';
import { isObjection } from '#lib/contracts/element-rules.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { type ContentByLanguage, changedTerms } from '#lib/models/proposed-type.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { Activation, ActivationText } from '../../models/activation.ts';
import type { Content } from '../../models/editor.ts';
import type { EndingText } from '../../models/endings.ts';
import {
  type ElementType,
  type FoundElement,
  type FoundVersion,
  formPath,
  isQuestion,
  listEntries,
} from '../../models/read-model.ts';
import { withQuery } from '../../pages/filters.ts';
import { fieldsFor } from '../../pages/form.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { editedOf } from './content-values.ts';
import { countAnswers } from './count-answers.ts';
import { fieldsOf } from './editor-fields.ts';

type Element = FoundElement['entry'];

/** What the activation of an element means for the people who have answered. */
export async function describeActivation(
  ctx: Context,
  tools: RoomTools,
  { found: { entry }, draft, active, check }: Activation<ElementType>,
): Promise<ActivationText> {
  const { t } = tools.reader(ctx);
  const group = groupOf(entry.type);
  if (!active) return { effects: [t(`first.${group}`)], locals: { shownIn: [], whyMajor: [] } };
  const [forms, counted, peers] = await Promise.all([
    readForms(ctx, tools, entry.key),
    countAnswers(ctx, tools, entry),
    readPeerNames(ctx, tools, entry),
  ]);
  const [major = 1, minor = 0] = (active.version.serial ?? '').split('.').map(Number);
  const split = `activate.split${Object.values(contentOf(active)).some(isObjection) ? 'Objection' : ''}`;
  const sentencesOf = (kind: 'MINOR' | 'MAJOR', serial: string) => [
    t(`${kind.toLowerCase()}.${group}`, { ...counted, serial }),
    ...(counted && counted.accepted + counted.refused > 0 ? [t(split, { ...counted })] : []),
    ...(kind === 'MAJOR' && counted && counted.refused > 0 ? [t('major.refused')] : []),
  ];
  const option = (kind: 'MINOR' | 'MAJOR', serial: string) =>
    [kind, sentencesOf(kind, serial).join(' ')] as const;
  const mayBeMinor = check.minor.allowed;
  const grown = mayBeMinor ? changedTerms(contentOf(active), contentOf(draft)) : [];
  const members = tools.reader(ctx).list(grown.map((member) => t(`content.${wordOf[member] ?? member}`)));
  return {
    effects: grown.length > 0 ? [t('elements.rather', { members })] : [],
    fields: [
      {
        name: 'type',
        label: t('elements.change'),
        kind: 'radios',
        isRequired: true,
        options: [
          ...(mayBeMinor ? [option('MINOR', `${major}.${minor + 1}`)] : []),
          option('MAJOR', `${major + 1}.0`),
        ],
      },
      ...(grown.length > 0 ? [fieldsFor(tools.reader(ctx), 'elements')('reason', reasonRest)] : []),
    ],
    // Whether people are asked again is a decision: nothing is chosen beforehand where answers depend on it.
    values: mayBeMinor && isAnswered(group) ? {} : { type: mayBeMinor ? draft.version.type : 'MAJOR' },
    locals: {
      shownIn: [
        ...forms,
        ...(entry.default ? [{ text: t('elements.shownByDefault') }] : []),
        ...(peers ? [{ text: t('elements.shownByPeers', { peers }) }] : []),
      ],
      againUrl: againUrl(ctx, tools, entry),
      whyMajor: mayBeMinor ? [] : placeFaults(ctx, tools, { entry, draft, errors: check.minor.errors }),
    },
  };
}

/** Where those are invited whom a major version asks again; undefined if nobody answers under the entry. */
export function againUrl(
  ctx: Context,
  tools: RoomTools,
  { type, key }: Pick<Element, 'type' | 'key'>,
): string | undefined {
  if (!isAnswered(groupOf(type)) || !tools.may(ctx, 'createCampaign')) return undefined;
  const about = isQuestion(type) ? { element: key } : { information: key };
  return withQuery('/console/campaigns/new', { ...about, who: 'CHANGED' });
}

const contentOf = ({ version }: FoundVersion) => version.data as ContentByLanguage;

/** Only a MINOR needs a reason. */
const reasonRest = { kind: 'textarea', maxLength: 2000, isNeeded: true } as const;

/** Whether answers depend on the texts of a group of elements. */
function isAnswered(group: string): boolean {
  return group === 'question' || group === 'information';
}

/** Members whose words in the editor have another key. */
const wordOf: Readonly<Record<string, string>> = { retention: 'retention.fullText' };

/** The members that only a MAJOR may change, named as in the editor. */
function placeFaults(
  ctx: Context,
  tools: RoomTools,
  { entry, draft, errors }: { entry: Element; draft: FoundVersion; errors: readonly Fault[] },
) {
  const edit = editedOf(entry.type, draft.version as Content);
  const fields = fieldsOf(tools.reader(ctx), entry.type, edit);
  return tools.form(ctx, { action: '', submit: '', fields, failure: new ApiFailure(422, { errors }) }).faults;
}

/** What it means to archive or delete an element: answers that stop counting, and forms that name it. */
export async function describeEnding(
  ctx: Context,
  tools: RoomTools,
  { act, entry }: { act: 'archive' | 'discard' | 'delete'; entry: Element },
): Promise<EndingText | undefined> {
  if (act === 'discard') return undefined;
  const { t } = tools.reader(ctx);
  if (act === 'delete' && entry.default) return { effects: [t('endings.isDefault')], isBarred: true };
  const [links, counted, peers] = await Promise.all([
    readForms(ctx, tools, entry.key),
    countAnswers(ctx, tools, entry),
    readPeerNames(ctx, tools, entry),
  ]);
  if (act === 'delete' && links.length > 0) return { effects: [t('endings.isUsed')], links, isBarred: true };
  const effects = [
    t(`${act}.${groupOf(entry.type)}`),
    counted && t('endings.answers', { ...counted }),
    entry.default && t('endings.default'),
    peers && t('endings.peers', { peers }),
    links.length > 0 && t(entry.type === 'theme' ? 'endings.themeForms' : 'endings.forms'),
  ];
  return { effects: effects.filter((each) => typeof each === 'string').filter(Boolean), links };
}

/** Elements with the same consequences, as their messages name them. */
function groupOf(type: Element['type']): string {
  return isQuestion(type) ? 'question' : type;
}

/** The forms whose ACTIVE version names the element: their next transactions have the new version. */
async function readForms(ctx: Context, tools: RoomTools, key: string) {
  const forms = await listEntries(tools.api(ctx), { types: 'layout', uses: key, usesIn: 'ACTIVE' });
  return forms.map((form) => ({ text: form.name, href: formPath(form.key) }));
}

/** The peers that may show the element, as a list of names; empty without any. */
async function readPeerNames(
  ctx: Context,
  tools: RoomTools,
  { shared, sharedWith }: Pick<Element, 'shared' | 'sharedWith'>,
): Promise<string> {
  if (!shared) return '';
  const { body } = await tools.api(ctx).call('listPeers', { query: { limit: 200 } });
  const named = body.filter(({ id }) => sharedWith.length === 0 || sharedWith.includes(id));
  return tools.reader(ctx).list(named.map(({ name }) => name));
}
