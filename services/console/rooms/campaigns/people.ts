import type Router from '@koa/router';
import type { Schemas } from '../../api/api-types.ts';
import { columnsFor, shortTable } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { choiceFilter } from '../../pages/filters.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { sendList } from '../../pages/list-page.ts';
import type { Column } from '../../pages/table.ts';

type Member = Schemas['CampaignMember'];

const memberStates = [
  ...['PICKED', 'SENDING', 'SENT', 'ANSWERED', 'UNSUBSCRIBED', 'UNSURE', 'FAILED', 'SKIPPED', 'CLOSED'],
];

/** The people of a campaign, with why each is asked. */
export function peopleRoutes(router: Router, kit: RoomKit): void {
  router.get('/:campaign/people', async (ctx) => {
    const reader = kit.reader(ctx);
    const params = { campaign: String(ctx.params.campaign) };
    const { body: campaign } = await kit.api(ctx).call('getCampaign', { params });
    const filters = kit.filters(ctx, ctx.path, [
      choiceFilter(reader, 'campaigns.state', { name: 'state', group: 'memberState', codes: memberStates }),
    ]);
    const { state } = filters.values;
    await sendList<Member>(ctx, kit, {
      view: 'people',
      title: reader.t('people.title', { name: campaign.name }),
      path: ctx.path,
      filters,
      columns: columnsOf(reader, kit),
      read: (cursor, limit) =>
        kit.api(ctx).list('listCampaignMembers', {
          params,
          query: { ...(state && { state: [state] }) },
          page: { cursor, limit },
        }),
      csv: 'people',
    });
  });
}

/** The first people of a campaign. */
export function peopleTable(reader: ConsoleReader, kit: RoomKit, rows: readonly Member[]) {
  return shortTable<Member>(reader, 'people.some', { rows, columns: () => columnsOf(reader, kit) });
}

function columnsOf(reader: ConsoleReader, kit: RoomKit): Column<Member>[] {
  const { text, word, state, time } = columnsFor<Member>(reader);
  return [
    text('people.name', ({ subject }) => subject, {
      href: ({ subject }) => `/console/subjects/${kit.names.seal(subject)}`,
      note: ({ to }) => to,
    }),
    word('forecast.reason', 'campaignWho', ({ reason }) => reason),
    state('campaigns.state', 'memberState', (member) => member.state, {
      note: ({ why }) => (why && why !== 'UNSUBSCRIBED' ? reader.word('campaignWhy', why) : undefined),
    }),
    time('people.changed', ({ changed }) => changed),
  ];
}
