import type { Context } from 'koa';
import type { UnsubscribePage } from '#lib/contracts/pages.ts';
import { fail } from '#lib/errors/fail.ts';
import { linkNext, readChoices, readLimit, sendList, uuidPattern } from '#lib/http/lists.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { preferredMode, sendPage } from '#lib/http/send.ts';
import { askedColorScheme } from '#lib/pages/color-scheme.ts';
import { addDuration } from '#lib/text/duration.ts';
import type { Campaign } from '../campaigns/campaign.ts';
import {
  createCampaign,
  noSuchCampaign,
  resolveForm,
  setStatus,
  updateCampaign,
} from '../campaigns/manage.ts';
import { listMembers } from '../campaigns/members-store.ts';
import { insertUnsubscription } from '../campaigns/people-store.ts';
import { forecast, listFound } from '../campaigns/pick.ts';
import { presentCampaign, presentMember } from '../campaigns/present.ts';
import { memberStates } from '../campaigns/rules.ts';
import { countMembers, countNamed, listCampaigns, readCampaign } from '../campaigns/store.ts';
import { unsubscribeUrl } from '../campaigns/unsubscribe-token.ts';
import { deleteUnsubscription, readUnsubscription } from '../person/unsubscriptions-store.ts';
import { readNow } from '../transaction/store.ts';
import type { Dependencies } from './dependencies.ts';
import { listOf, readText } from './filters.ts';
import { hereOf, readerLanguages } from './send.ts';

const idPattern = /^[1-9A-HJ-NP-Za-km-z]{22}$/;

/** /campaigns (docs/campaigns.md), /choices/unsubscribe */
export function campaignHandlers(dependencies: Dependencies) {
  const { db, instance, forms } = dependencies;

  async function present(campaign: Campaign) {
    const counts = await countMembers(db, [campaign.id]);
    return presentCampaign(campaign, counts.get(campaign.id), await countNamed(db, campaign));
  }

  return {
    async listCampaigns(ctx, { query }) {
      const counts = new Map<string, Awaited<ReturnType<typeof present>>>();
      const find = async (page: Parameters<typeof listCampaigns>[1]) => {
        const found = await listCampaigns(db, page);
        for (const campaign of found) counts.set(campaign.id, await present(campaign));
        return found;
      };
      const url = `${instance.baseUrl}/campaigns`;
      await sendList(ctx, query, { url, find, idPattern, present: ({ id }) => counts.get(id) ?? {} });
    },

    async createCampaign(ctx, { body, principal }) {
      const campaign = await createCampaign(dependencies, body, principal);
      ctx.status = 201;
      ctx.set('Location', `${instance.baseUrl}/campaigns/${campaign.id}`);
      ctx.body = await present(campaign);
    },

    async getCampaign(ctx, { params }) {
      ctx.body = await present(await requireCampaign(dependencies, params.campaign));
    },

    async updateCampaign(ctx, { params, body, principal }) {
      ctx.body = await present(
        await updateCampaign(dependencies, params.campaign, { input: body, principal }),
      );
    },

    async setCampaignStatus(ctx, { params, body: { status }, principal }) {
      ctx.body = await present(await setStatus(dependencies, params.campaign, { status, principal }));
    },

    async forecastCampaign(ctx, { params }) {
      const campaign = await requireCampaign(dependencies, params.campaign);
      const at = await readNow(db);
      ctx.body = { at: at.toISOString(), ...(await forecast(dependencies, campaign)) };
    },

    async listCampaignMembers(ctx, { params, query }) {
      const campaign = await requireCampaign(dependencies, params.campaign);
      const faults: Parameters<typeof readChoices>[3] = [];
      const states = readChoices(listOf(query.state), 'state', memberStates, faults) ?? [];
      if (faults.length > 0) throw fail('invalid', 'The filter is not valid.', { errors: faults });
      const [after, limit] = [readAfter(query.cursor), readLimit(query.limit)];
      const isDraft = campaign.state === 'DRAFT';
      const { members, last } = isDraft
        ? await listFound(dependencies, campaign, { after, limit })
        : await stored(campaign, { states, after, limit });
      const shown =
        isDraft && states.length > 0 ? members.filter(({ state }) => states.includes(state)) : members;
      if (last !== null)
        linkNext(ctx, `${instance.baseUrl}/campaigns/${campaign.id}/members`, {
          ...(states.length > 0 && { state: states.join(',') }),
          cursor: Buffer.from(last).toString('base64url'),
          limit: String(limit),
        });
      ctx.body = shown.map((member) => presentMember(member, campaign.channel));
    },

    async previewCampaignMessage(ctx, { params, query, principal }) {
      const campaign = await requireCampaign(dependencies, params.campaign);
      const { layout } = await resolveForm(dependencies, campaign, principal);
      const language = readText(query.language) ?? campaign.context.language;
      const until = campaign.endAt ?? addDuration(campaign.startAt ?? (await readNow(db)), 'P90D');
      const {
        html: _html,
        subject,
        ...message
      } = await forms.renderMessage({
        kind: 'campaign',
        channel: campaign.channel === 'EMAIL' ? 'mail' : 'sms',
        languages: [...(language ? [language] : []), instance.language],
        layout,
        model: null,
        theme: layout.theme ?? null,
        link: `${instance.baseUrl}/l/0000000000`,
        code: null,
        minutes: null,
        until: until.toISOString(),
        owners: [],
        campaign: {
          reason: campaign.selection.who[0] ?? 'CHANGED',
          isReminder: query.reminder === 'true',
          unsubscribe: unsubscribeUrl(instance.baseUrl, '0'),
        },
      });
      ctx.body = { ...message, ...(subject !== null && { subject }) };
    },

    /** Changes nothing, because mail scanners and previews follow links. */
    async getUnsubscribePage(ctx, { query }) {
      const reference = readReference(dependencies, query.t);
      const since = await readUnsubscription(db, reference);
      await sendUnsubscribe(ctx, dependencies, since ? 'ended' : 'asked');
    },

    async unsubscribePerson(ctx, { query }) {
      const reference = readReference(dependencies, query.t);
      await db.withTransaction((tx) => insertUnsubscription(tx, reference));
      await sendUnsubscribe(ctx, dependencies, 'ended');
    },

    async resubscribePerson(ctx, { query }) {
      const reference = readReference(dependencies, query.t);
      await deleteUnsubscription(db, reference);
      await sendUnsubscribe(ctx, dependencies, 'undone');
    },
  } satisfies OperationHandlers;

  /** One more than the page has is read, to see whether there is a next page. */
  async function stored(campaign: Campaign, page: Parameters<typeof listMembers>[2]) {
    const found = await listMembers(db, campaign, { ...page, limit: page.limit + 1 });
    const members = found.slice(0, page.limit);
    return { members, last: found.length > page.limit ? (members.at(-1)?.reference ?? null) : null };
  }
}

async function requireCampaign({ db }: Dependencies, id: string): Promise<Campaign> {
  const campaign = await readCampaign(db, id);
  if (!campaign) throw noSuchCampaign();
  return campaign;
}

/** The person after which a page begins. @throws Failure `malformed` */
function readAfter(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const reference = Buffer.from(cursor, 'base64url').toString();
  if (uuidPattern.test(reference)) return reference;
  throw fail('malformed', 'The cursor is not valid; use the URL in the Link header of the previous page.');
}

/** Whom a link was made for. An erased person has the same answer. @throws Failure `not-found` */
function readReference({ unsubscribeTokens }: Dependencies, token: string | undefined): string {
  const reference = unsubscribeTokens.read(token ?? '');
  if (reference === undefined) throw fail('not-found', 'The link is not whole.');
  return reference;
}

async function sendUnsubscribe(
  ctx: Context,
  dependencies: Dependencies,
  state: UnsubscribePage['state'],
): Promise<void> {
  const { forms, instance } = dependencies;
  ctx.vary('Accept');
  if (preferredMode(ctx.get('accept')) !== 'html') {
    ctx.body = { unsubscribed: state === 'ended' };
    return;
  }
  const { html } = await forms.renderPage({
    page: { page: 'unsubscribe', state, ...(state === 'ended' && { undo: `subscribe${ctx.search}` }) },
    languages: readerLanguages(ctx, undefined, instance.language),
    colorScheme: askedColorScheme(ctx.query.colorScheme),
    here: hereOf(ctx, dependencies),
  });
  ctx.vary('Accept-Language');
  sendPage(ctx, html, { formTargets: [instance.baseUrl], compress: true });
}
