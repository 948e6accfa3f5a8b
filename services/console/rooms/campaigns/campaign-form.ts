import type Router from '@koa/router';
import type { Context } from 'koa';
import { Temporal } from 'temporal-polyfill';
import { fieldFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import { type Entry, entryChoices, formChoices, listEntries } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { timesOfDays } from '../../pages/filters.ts';
import {
  type Choice,
  type FieldSpec,
  fieldsFor,
  type PostedForm,
  readerOf,
  wordChoices,
} from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { elementsOf } from './elements-of-form.ts';

type Campaign = Schemas['Campaign'];
type Input = Schemas['CampaignInput'];

const reasons = ['CHANGED', 'EXPIRED', 'EXPIRING', 'NEVER'] as const;
const periods = ['P7D', 'P30D', 'P90D'];
const hours = Array.from({ length: 25 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`);
/** Stands for a form with the element alone. */
const alone = '-';

/** What a campaign is drafted about: the page that leads here names it. */
interface About {
  /** Key of the only element; undefined: those of the form. */
  element: string | undefined;
  /** Key of an information: the forms that show it are offered. */
  information: string | undefined;
  /** The only person. */
  person: string | undefined;
}

/** Drafting a campaign, and changing the draft. */
export function campaignFormRoutes(router: Router, tools: RoomTools): void {
  formPage(router, tools, {
    path: '/new',
    operation: 'createCampaign',
    view: 'form',
    isCreating: true,
    async ask(ctx, reader) {
      const posted = readerOf(tools.posted(ctx));
      const about = aboutOf(tools, (name) => one(ctx.query[name]) ?? one(posted(name)));
      const person = about.person ?? '';
      return {
        title: reader.t(person ? 'campaign.newFor' : 'campaign.new', { name: person }),
        submit: reader.t('campaign.make'),
        fields: await fieldsOf(ctx, tools, reader, about),
        values: {
          name: await nameFor(ctx, tools, reader, about),
          layout: one(ctx.query.form) ?? (about.element ? alone : ''),
          who: whoOf(ctx, about),
          within: 'P30D',
          perMinute: '60',
          from: '08:00',
          to: '20:00',
          reminders: '0',
        },
        hidden: {
          element: about.element ?? '',
          information: about.information ?? '',
          s: one(ctx.query.s) ?? one(posted('s')) ?? '',
        },
        locals: { text: reader.t('campaign.text') },
      };
    },
    async send(ctx) {
      const posted = tools.posted(ctx);
      const body = await readInput(ctx, tools, posted);
      return (await tools.api(ctx).call('createCampaign', { body })).body;
    },
    done: (ctx, { id }) => tools.open(ctx, `${tools.path}/${id}`, 'campaignDrafted'),
  });

  formPage(router, tools, {
    path: '/:campaign/edit',
    operation: 'updateCampaign',
    view: 'form',
    async ask(ctx, reader) {
      const { body: campaign } = await tools.api(ctx).call('getCampaign', { params: paramsOf(ctx) });
      const [element] = 'layoutData' in campaign.context ? campaign.select.elements : [];
      return {
        title: reader.t('campaign.editTitle', { name: campaign.name }),
        submit: reader.t('campaign.save'),
        fields: await fieldsOf(ctx, tools, reader, { element, information: undefined, person: undefined }),
        values: valuesOf(campaign, tools.timeZone),
        hidden: { element: element ?? '' },
        ...(campaign.select.named !== undefined && { locals: { text: reader.t('campaign.editNamed') } }),
      };
    },
    async send(ctx) {
      const body = await readInput(ctx, tools, tools.posted(ctx));
      await tools.api(ctx).call('updateCampaign', { params: paramsOf(ctx), body });
    },
    done: 'campaignChanged',
  });
}

const paramsOf = (ctx: Context) => ({ campaign: String(ctx.params.campaign) });
const one = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

function aboutOf(tools: RoomTools, read: (name: string) => string | undefined): About {
  const sealed = read('s');
  return {
    element: read('element'),
    information: read('information'),
    person: sealed && tools.names.open(sealed),
  };
}

/** Whom the page that leads here means; else who is asked again after a major version. */
function whoOf(ctx: Context, { person }: About): readonly string[] {
  const named = reasons.filter((reason) => [ctx.query.who].flat().includes(reason));
  if (named.length > 0) return named;
  return person ? ['CHANGED', 'EXPIRED', 'EXPIRING'] : ['CHANGED'];
}

/** A name to begin with: that of the element or the form. */
async function nameFor(
  ctx: Context,
  tools: RoomTools,
  reader: ConsoleReader,
  { element, information, person }: About,
) {
  const key = element ?? one(ctx.query.form) ?? information;
  if (!key) return person ? reader.t('campaign.nameFor', { name: reader.t('campaign.onePerson') }) : '';
  const { body } = await tools.api(ctx).call('getModelByKey', { params: { key } });
  return reader.t('campaign.nameFor', { name: body.name });
}

/** The forms that ask the element or show the information, or all that are active. */
async function choicesOf(
  ctx: Context,
  tools: RoomTools,
  reader: ConsoleReader,
  { element, information }: Omit<About, 'person'>,
): Promise<Choice[]> {
  const uses = element ?? information;
  const of: Record<string, string> = uses ? { uses, usesIn: 'ACTIVE' } : {};
  const forms: Entry[] = await listEntries(tools.api(ctx), { types: 'layout', statuses: 'ACTIVE', ...of });
  if (element) return [[alone, reader.t('campaign.alone')], ...entryChoices(forms)];
  return formChoices(reader, forms);
}

async function fieldsOf(
  ctx: Context,
  tools: RoomTools,
  reader: ConsoleReader,
  about: About,
): Promise<FieldSpec[]> {
  const field = fieldsFor(reader, 'campaign');
  const { features } = (await tools.api(ctx).call('getSystemConfig')).body;
  return [
    field('name', { isRequired: true, maxLength: 200 }),
    field('layout', {
      kind: 'select',
      isRequired: true,
      pointer: ['/context', '/context/layout', '/select/elements', '/layout'],
      options: await choicesOf(ctx, tools, reader, about),
    }),
    field('who', {
      kind: 'checks',
      isRequired: true,
      pointer: '/select/who',
      options: wordChoices(reader, 'campaignWho', reasons),
    }),
    field('within', {
      kind: 'select',
      pointer: '/select/within',
      options: wordChoices(reader, 'campaignWithin', periods),
    }),
    field('ground', { kind: 'textarea', maxLength: 1_000, isNeeded: true }),
    ...(features.includes('sms')
      ? [
          field('channel', {
            kind: 'select',
            options: wordChoices(reader, 'campaignChannel', ['EMAIL', 'SMS']),
          }),
        ]
      : []),
    ...(about.person ? [] : paceFields(reader)),
    field('reminders', {
      kind: 'select',
      options: wordChoices(reader, 'campaignReminders', ['0', '1', '2', '3']),
    }),
  ];
}

function paceFields(reader: ConsoleReader): FieldSpec[] {
  const field = fieldsFor(reader, 'campaign');
  const times: Choice[] = hours.map((hour) => [hour, hour]);
  return [
    field('start', { kind: 'date', word: 'begins' }),
    field('end', { kind: 'date' }),
    field('perMinute', { kind: 'number', isRequired: true }),
    field('from', { kind: 'select', pointer: '/hours/from', options: times.slice(0, 24) }),
    field('to', { kind: 'select', pointer: '/hours/to', options: times.slice(1) }),
  ];
}

function dayOf(time: string, timeZone: string): string {
  return Temporal.Instant.from(time).toZonedDateTimeISO(timeZone).toPlainDate().toString();
}

function valuesOf(campaign: Campaign, timeZone: string) {
  const { name, context, select, ground, channel, start, end, perMinute, hours, reminders } = campaign;
  return {
    name,
    layout: context.layout ?? alone,
    who: select.who,
    within: select.within,
    ground,
    channel,
    start: start && dayOf(start, timeZone),
    // The end is the beginning of the day after the last.
    end: end && dayOf(new Date(Date.parse(end) - 1).toISOString(), timeZone),
    perMinute: String(perMinute),
    from: hours?.from ?? '00:00',
    to: hours?.to ?? '24:00',
    reminders: String(reminders),
  };
}

/** @throws ApiFailure with the field that lacks. */
async function readInput(ctx: Context, tools: RoomTools, posted: PostedForm): Promise<Input> {
  const field = readerOf(posted);
  const { element, person } = aboutOf(tools, (name) => field(name) || undefined);
  const layout = field('layout');
  if (!layout) throw fieldFailure('layout', 'required');
  const elements = element ? [element] : (await elementsOf(ctx, tools, layout)).filter(isOwn);
  const who = reasons.filter((reason) => posted.who?.includes(reason));
  if (who.length === 0) throw fieldFailure('who', 'required');
  const [from, to] = [field('from'), field('to')];
  const ground = field('ground');
  const channel = field('channel');
  return {
    name: field('name'),
    select: {
      elements,
      who,
      within: field('within') || 'P30D',
      ...(person && { subjects: [person] }),
    },
    context: layout === alone ? { layoutData: { elements } } : { layout },
    ...(ground && { ground }),
    ...(channel && { channel: channel === 'SMS' ? 'SMS' : 'EMAIL' }),
    ...(field('start') && { start: timesOfDays({ after: field('start') }, tools.timeZone).after }),
    ...(field('end') && { end: timesOfDays({ before: field('end') }, tools.timeZone).before }),
    ...(field('perMinute') && { perMinute: Number(field('perMinute')) }),
    ...(from && to && `${from}-${to}` !== '00:00-24:00' && { hours: { from, to } }),
    reminders: Number(field('reminders') || '0'),
  };
}

/** Answers to elements of peers are known to the peers alone. */
const isOwn = (key: string) => !key.includes('@');
