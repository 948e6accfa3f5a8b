import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Schemas } from '../../api/api-types.ts';
import { listEntries, questionTypes } from '../../models/read-model.ts';
import { actLinks } from '../../pages/acts.ts';
import { factsView, shortTable } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { readPanels } from '../../pages/panel.ts';
import { stateMark } from '../../pages/states.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { elementsOf } from './elements-of-form.ts';
import { peopleTable } from './people.ts';

type Campaign = Schemas['Campaign'];

/** The states of people, as a campaign goes on. */
const shownStates = [
  ...(['PICKED', 'SENDING', 'SENT', 'ANSWERED', 'UNSUBSCRIBED'] as const),
  ...(['UNSURE', 'FAILED', 'SKIPPED', 'CLOSED'] as const),
];

/** A campaign: whom it asks and why, or how far it is; what people get; what can be done. */
export function detailRoutes(router: Router, tools: RoomTools): void {
  router.get('/:campaign', async (ctx) => {
    const reader = tools.reader(ctx);
    const params = { campaign: String(ctx.params.campaign) };
    const api = tools.api(ctx);
    const { body: campaign } = await api.call('getCampaign', { params });
    const isDraft = campaign.state === 'DRAFT';
    const href = ctx.path;
    const [names, others, panels] = await Promise.all([
      readNames(ctx, tools),
      isDraft ? alsoAsked(ctx, tools, campaign) : [],
      readPanels(
        reader,
        {
          forecast: isDraft
            ? api.call('forecastCampaign', { params }).then(({ body }) => forecastView(reader, body))
            : Promise.resolve(null),
          people: api
            .call('listCampaignMembers', { params, query: { limit: 20 } })
            .then(({ body }) => peopleTable(reader, tools, body)),
          messages: readMessages(ctx, tools, campaign.id),
        },
        { names: ['forecast', 'people'], href, query: ctx.query },
      ),
    ]);
    await tools.page(ctx, 'campaign', {
      title: campaign.name,
      facts: factsOf(reader, campaign, { names, others }),
      isDraft,
      progress: isDraft ? null : progressTable(reader, campaign),
      picking: campaign.isPicking,
      peopleUrl: `${href}/people`,
      acts: actsOf(ctx, tools, campaign),
      ...panels,
    });
  });
}

function actsOf(ctx: Context, tools: RoomTools, { id, state }: Campaign) {
  const href = `${tools.path}/${id}`;
  const operation = 'setCampaignStatus' as const;
  const isOver = state === 'DONE' || state === 'CANCELLED';
  const posted = {};
  return actLinks(ctx, tools, [
    { href: `${href}/start`, word: 'campaign.start', operation, when: state === 'DRAFT' },
    { href: `${href}/edit`, word: 'campaign.edit', operation: 'updateCampaign', when: state === 'DRAFT' },
    { href: `${href}/pause`, word: 'campaign.pause', operation, when: state === 'RUNNING', posted },
    { href: `${href}/continue`, word: 'campaign.continue', operation, when: state === 'PAUSED', posted },
    {
      href: `${href}/cancel`,
      word: state === 'DRAFT' ? 'campaign.discard' : 'cancel',
      operation,
      when: !isOver,
      isEnding: true,
    },
  ]);
}

/** Names of elements and forms by key. */
async function readNames(ctx: Context, tools: RoomTools): Promise<(key: string) => string> {
  const entries = await listEntries(tools.api(ctx), { types: ['layout', ...questionTypes] });
  const names = new Map(entries.map(({ key, name }) => [key, name]));
  return (key) => names.get(key) ?? key;
}

/** What the form asks besides the elements for which people are chosen. */
async function alsoAsked(ctx: Context, tools: RoomTools, { context, select }: Campaign): Promise<string[]> {
  const inline = context.layoutData as { elements?: string[] } | undefined;
  const asked = context.layout ? await elementsOf(ctx, tools, context.layout) : (inline?.elements ?? []);
  return asked.filter((key) => !select.elements.includes(key));
}

/** @param of.others elements that the form also asks. */
function factsOf(
  reader: ConsoleReader,
  campaign: Campaign,
  { names: nameOf, others }: { names: (key: string) => string; others: readonly string[] },
) {
  const { state, select, context, channel, start, end, started, ended, perMinute, hours, reminders } =
    campaign;
  const { ground, author, problem } = campaign;
  const { t, word, list } = reader;
  const who = select.who.map((reason, place) => {
    const named =
      reason === 'EXPIRING'
        ? t('campaign.expiringWithin', { period: reader.duration(select.within) })
        : word('campaignWho', reason);
    return place === 0 ? named : named.charAt(0).toLocaleLowerCase(reader.language) + named.slice(1);
  });
  return factsView(reader, {
    'campaigns.state': { state: stateMark(reader, 'campaignState', state) },
    'campaign.problem': problem !== undefined && { text: word('campaignProblem', problem) },
    'campaign.who': { text: list(who) },
    'campaign.elements': { text: list(select.elements.map(nameOf)) },
    'campaign.layout': context.layout !== undefined && { text: nameOf(context.layout) },
    'campaign.alsoAsks': others.length > 0 && {
      text: list(others.map(nameOf)),
      note: t('campaign.alsoAsksNote'),
    },
    'campaign.named': select.named !== undefined && {
      text: t('campaign.namedCount', { count: select.named }),
    },
    'campaign.channel': channel === 'SMS' && { text: word('campaignChannel', channel) },
    'campaign.pace': {
      text: hours
        ? t('campaign.paceHours', { perMinute, from: hours.from, to: hours.to })
        : t('campaign.paceAlways', { perMinute }),
    },
    'campaign.reminders': { text: word('campaignReminders', String(reminders)) },
    'campaign.ground': ground !== undefined && { text: ground },
    'campaign.begins': start !== undefined && { time: reader.time(start) },
    'campaign.started': started !== undefined && { time: reader.time(started) },
    'campaign.end': end !== undefined && { time: reader.time(end) },
    'campaign.ended': ended !== undefined && { time: reader.time(ended) },
    'campaign.author': { text: author },
  });
}

function forecastView(
  reader: ConsoleReader,
  { people, asked, reasons, excluded, atLeast }: Schemas['CampaignForecast'],
) {
  const { t } = reader;
  return {
    sentences: atLeast
      ? [t('forecast.atLeast', { people, asked })]
      : [t('forecast.text', { people }), ...(people > 0 ? [t('forecast.asked', { asked })] : [])],
    reasons: shortTable(reader, 'forecast.reasons', {
      rows: reasons,
      columns: ({ word, number }) => [
        word('forecast.reason', 'campaignWho', ({ reason }) => reason),
        number('forecast.people', (each) => each.people),
      ],
    }),
    excluded:
      excluded.length > 0 &&
      shortTable(reader, 'forecast.excluded', {
        rows: excluded,
        columns: ({ word, number }) => [
          word('forecast.why', 'campaignWhy', ({ why }) => why),
          number('forecast.people', (each) => each.people),
        ],
      }),
  };
}

function progressTable(reader: ConsoleReader, { counts }: Campaign) {
  return shortTable(reader, 'campaign.progress', {
    rows: shownStates.map((state) => ({ state, count: counts[state] })).filter(({ count }) => count > 0),
    columns: ({ state, number }) => [
      state('campaigns.state', 'memberState', (row) => row.state),
      number('forecast.people', ({ count }) => count),
    ],
  });
}

/** The text of the message in each language of the instance. */
async function readMessages(ctx: Context, tools: RoomTools, id: string) {
  const api = tools.api(ctx);
  const reader = tools.reader(ctx);
  const { languages } = (await api.call('getSystemConfig')).body;
  const found = await Promise.all(
    languages.map((language) =>
      api
        .call('previewCampaignMessage', { params: { campaign: id }, query: { language } })
        .then(({ body }) => body),
    ),
  );
  const once = new Map(found.map((message) => [message.language, message]));
  return [...once.values()].map(({ language, subject, text }) => ({
    language: reader.languageName(language),
    attributes: reader.in(language),
    subject,
    text,
  }));
}
