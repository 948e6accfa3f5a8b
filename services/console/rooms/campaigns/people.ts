import type Router from '@koa/router';
import type { Schemas } from '../../api/api-types.ts';
import { columnsFor, shortTable } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { choiceFilter } from '../../pages/filters.ts';
import { sendList } from '../../pages/list-page.ts';
import type { Column } from '../../pages/table.ts';
import type { RoomTools } from '../../pages/tools.ts';

type Member = Schemas['CampaignMember'];

const memberStates = [
  ...['PICKED', 'SENDING', 'SENT', 'ANSWERED', 'UNSUBSCRIBED', 'UNSURE', 'FAILED', 'SKIPPED', 'CLOSED'],
];

/** The people of a campaign, with why each is asked. */
export function peopleRoutes(router: Router, tools: RoomTools): void {
  router.get('/:campaign/people', async (ctx) => {
    const reader = tools.reader(ctx);
    const params = { campaign: String(ctx.params.campaign) };
    const { body: campaign } = await tools.api(ctx).call('getCampaign', { params });
    const filters = tools.filters(ctx, ctx.path, [
      choiceFilter(reader, 'campaigns.state', { name: 'state', group: 'memberState', codes: memberStates }),
    ]);
    const { state } = filters.values;
    await sendList<Member>(ctx, tools, {
      view: 'people',
      title: reader.t('people.title', { name: campaign.name }),
      path: ctx.path,
      filters,
      columns: columnsOf(reader, tools),
      read: (cursor, limit) =>
        tools.api(ctx).list('listCampaignMembers', {
          params,
          query: { ...(state && { state: [state] }) },
          page: { cursor, limit },
        }),
      csv: 'people',
    });
  });
}

/** The first people of a campaign. */
export function peopleTable(reader: ConsoleReader, tools: RoomTools, rows: readonly Member[]) {
  return shortTable<Member>(reader, 'people.some', { rows, columns: () => columnsOf(reader, tools) });
}

function columnsOf(reader: ConsoleReader, tools: RoomTools): Column<Member>[] {
  const { text, word, state, time } = columnsFor<Member>(reader);
  return [
    text('people.name', ({ subject }) => subject, {
      href: ({ subject }) => `/console/subjects/${tools.names.seal(subject)}`,
      note: ({ to }) => to,
    }),
    word('forecast.reason', 'campaignWho', ({ reason }) => reason),
    state('campaigns.state', 'memberState', (member) => member.state, {
      note: ({ why }) => (why && why !== 'UNSUBSCRIBED' ? reader.word('campaignWhy', why) : undefined),
    }),
    time('people.changed', ({ changed }) => changed),
  ];
}
