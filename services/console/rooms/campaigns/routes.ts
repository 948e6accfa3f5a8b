import { actPage, buttonAct } from '../../pages/form-page.ts';
import { sendPlainList } from '../../pages/list-page.ts';
import type { Room } from '../room.ts';
import { campaignFormRoutes } from './campaign-form.ts';
import { detailRoutes } from './detail.ts';
import { peopleRoutes } from './people.ts';

/** Asking people again whose answers are no longer valid, or soon will not be. */
export const campaigns: Room = {
  name: 'campaigns',
  path: '/campaigns',
  reads: 'listCampaigns',
  feature: 'campaigns',
  views: ['campaign', 'people'],
  routes(router, tools) {
    router.get('/', (ctx) =>
      sendPlainList(ctx, tools, {
        path: '',
        operation: 'listCampaigns',
        words: 'campaigns',
        columns: ({ text, state, time, number }) => [
          text('campaigns.name', ({ name }) => name, { href: ({ id }) => `${tools.path}/${id}` }),
          state('campaigns.state', 'campaignState', (campaign) => campaign.state),
          number('campaigns.sent', ({ counts: { SENT, ANSWERED, CLOSED, UNSUBSCRIBED } }) => {
            return SENT + ANSWERED + CLOSED + UNSUBSCRIBED;
          }),
          number('campaigns.answered', ({ counts: { ANSWERED } }) => ANSWERED),
          time('campaigns.created', ({ created }) => created),
        ],
        creates: 'createCampaign',
      }),
    );
    campaignFormRoutes(router, tools);
    detailRoutes(router, tools);
    peopleRoutes(router, tools);

    actPage(router, tools, {
      path: '/:campaign/start',
      operation: 'setCampaignStatus',
      words: 'start',
      async ask(ctx, reader) {
        const params = { campaign: String(ctx.params.campaign) };
        const api = tools.api(ctx);
        const [{ body: campaign }, { body: forecast }] = await Promise.all([
          api.call('getCampaign', { params }),
          api.call('forecastCampaign', { params }),
        ]);
        const { asked: count, atLeast } = forecast;
        const values = { count, atLeast: atLeast ? 'yes' : 'no', perMinute: campaign.perMinute };
        return {
          name: campaign.name,
          effects: [reader.t(count === 0 ? 'start.nobody' : 'start.people', values)],
          isBarred: count === 0,
        };
      },
      body: () => ({ status: 'RUNNING' as const }),
      done: 'campaignStarted',
    });
    buttonAct(router, tools, {
      path: '/:campaign/pause',
      operation: 'setCampaignStatus',
      body: () => ({ status: 'PAUSED' as const }),
      done: 'campaignPaused',
    });
    buttonAct(router, tools, {
      path: '/:campaign/continue',
      operation: 'setCampaignStatus',
      body: () => ({ status: 'RUNNING' as const }),
      done: 'campaignContinued',
    });
    actPage(router, tools, {
      path: '/:campaign/cancel',
      operation: 'setCampaignStatus',
      words: 'cancel',
      isEnding: true,
      async ask(ctx) {
        const params = { campaign: String(ctx.params.campaign) };
        return { name: (await tools.api(ctx).call('getCampaign', { params })).body.name };
      },
      body: () => ({ status: 'CANCELLED' as const }),
      done: 'campaignCancelled',
    });
  },
};
