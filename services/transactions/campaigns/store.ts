import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import { insertEvents } from '../transaction/events.ts';
import type { Campaign, CampaignDraft, MemberCounts } from './campaign.ts';
import { type CampaignState, type MemberState, memberStates } from './rules.ts';

const columns = sql`
  c.id, c.name, c.state, c.selection, c.is_named AS "isNamed", c.context, c.channel, c.start_at AS "startAt",
  c.end_at AS "endAt", c.per_minute AS "perMinute", c.hours, c.reminders, c.ground, c.problem, c.author,
  c.created_by AS "createdBy", c.created_at AS "createdAt", c.started_at AS "startedAt",
  c.ended_at AS "endedAt", c.picked_to::text AS "pickedTo", c.is_picked AS "isPicked",
  CASE WHEN c.used_until = '-infinity' THEN c.created_at ELSE c.used_until END AS "usedUntil"`;

/** Stores a draft with the people that it names. */
export async function insertCampaign(
  tx: Queries,
  {
    id,
    author,
    createdBy,
    subjects,
    ...draft
  }: CampaignDraft & Pick<Campaign, 'id' | 'author' | 'createdBy'>,
): Promise<Campaign> {
  const stored = await tx.one<Campaign>(sql`
    INSERT INTO campaigns AS c (id, name, state, selection, is_named, context, channel, start_at, end_at, per_minute,
                                hours, reminders, ground, author, created_by, created_at)
    VALUES (${id}, ${draft.name}, 'DRAFT', ${JSON.stringify(draft.selection)}::jsonb, ${subjects !== null},
            ${JSON.stringify(draft.context)}::jsonb, ${draft.channel}, ${draft.startAt}, ${draft.endAt},
            ${draft.perMinute}, ${draft.hours && JSON.stringify(draft.hours)}::jsonb, ${draft.reminders},
            ${draft.ground}, ${author}, ${createdBy}, accord_now())
    RETURNING ${columns}`);
  await insertNamed(tx, id, subjects);
  return stored;
}

/** Replaces a draft. @returns undefined if the campaign is no draft any more. */
export async function replaceDraft(
  tx: Queries,
  id: string,
  { subjects, ...draft }: CampaignDraft,
): Promise<Campaign | undefined> {
  const stored = await tx.maybeOne<Campaign>(sql`
    UPDATE campaigns AS c
       SET name = ${draft.name}, selection = ${JSON.stringify(draft.selection)}::jsonb,
           is_named = ${subjects !== null}, context = ${JSON.stringify(draft.context)}::jsonb,
           channel = ${draft.channel}, start_at = ${draft.startAt}, end_at = ${draft.endAt},
           per_minute = ${draft.perMinute}, hours = ${draft.hours && JSON.stringify(draft.hours)}::jsonb,
           reminders = ${draft.reminders}, ground = ${draft.ground}
     WHERE c.id = ${id} AND c.state = 'DRAFT' RETURNING ${columns}`);
  if (!stored) return undefined;
  await tx.query(sql`DELETE FROM campaign_subjects AS n WHERE n.campaign = ${id}`);
  await insertNamed(tx, id, subjects);
  return stored;
}

async function insertNamed(tx: Queries, campaign: string, subjects: readonly string[] | null): Promise<void> {
  if (subjects === null) return;
  await tx.query(sql`
    INSERT INTO campaign_subjects (campaign, subject)
    SELECT ${campaign}, n.subject FROM unnest(${subjects}::uuid[]) AS n (subject)`);
}

export function readCampaign(db: Queries, id: string): Promise<Campaign | undefined> {
  return db.maybeOne<Campaign>(sql`SELECT ${columns} FROM campaigns AS c WHERE c.id = ${id}`);
}

/** Locks a campaign: messages of it are begun only by those who hold the lock. */
export function lockCampaign(tx: Queries, id: string): Promise<Campaign | undefined> {
  return tx.maybeOne<Campaign>(sql`
    SELECT ${columns} FROM campaigns AS c WHERE c.id = ${id} FOR NO KEY UPDATE`);
}

/** A page of campaigns, newest first. */
export function listCampaigns(
  db: Queries,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<(Campaign & { position: string })[]> {
  const from = after ? sql`(c.created_at, c.id) < (${after.createdAt}::timestamptz, ${after.id})` : sql`true`;
  return db.query(sql`
    SELECT ${columns}, c.created_at::text AS position FROM campaigns AS c WHERE ${from}
     ORDER BY c.created_at DESC, c.id DESC LIMIT ${limit}`);
}

/** Campaigns that may have work: those that run, and those that are over and have open members. */
export function listWorking(db: Queries): Promise<Campaign[]> {
  return db.query<Campaign>(sql`
    SELECT ${columns} FROM campaigns AS c
     WHERE c.state IN ('RUNNING', 'PAUSED')
        OR (c.state = 'CANCELLED' AND EXISTS (
              SELECT FROM campaign_members AS m WHERE m.campaign = c.id AND m.state IN ('PICKED', 'SENT')))
     ORDER BY c.created_at`);
}

/** How many people of each campaign are in each state. */
export async function countMembers(db: Queries, ids: readonly string[]): Promise<Map<string, MemberCounts>> {
  const rows = await db.query<{ campaign: string; state: MemberState; count: number }>(sql`
    SELECT m.campaign, m.state, count(*)::int AS count FROM campaign_members AS m
     WHERE m.campaign = ANY(${ids}::text[]) GROUP BY m.campaign, m.state`);
  return new Map(
    ids.map((id) => {
      const own = new Map(
        rows.filter(({ campaign }) => campaign === id).map(({ state, count }) => [state, count]),
      );
      return [
        id,
        Object.fromEntries(
          memberStates.map((state) => [state, own.get(state as MemberState) ?? 0]),
        ) as MemberCounts,
      ];
    }),
  );
}

/** How many people a campaign names; undefined if it names none. */
export async function countNamed(db: Queries, { id, isNamed }: Campaign): Promise<number | undefined> {
  if (!isNamed) return undefined;
  const { count } = await db.one<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM campaign_subjects AS n WHERE n.campaign = ${id}`);
  return count;
}

/**
 * Sets the state of a campaign that the caller has locked, with the event of its start or end.
 * @param endAt of a campaign that starts: when it ends.
 */
export async function moveCampaign(
  tx: Queries,
  { id, startedAt }: Pick<Campaign, 'id' | 'startedAt'>,
  {
    state,
    endAt = null,
    problem = null,
  }: { state: CampaignState; endAt?: Date | null; problem?: 'FORM' | null },
  source: string,
): Promise<Campaign> {
  const isOver = state === 'DONE' || state === 'CANCELLED';
  const moved = await tx.one<Campaign>(sql`
    UPDATE campaigns AS c
       SET state = ${state}, problem = ${problem}, end_at = coalesce(${endAt}::timestamptz, c.end_at),
           started_at = coalesce(c.started_at, CASE WHEN ${state === 'RUNNING'} THEN accord_now() END),
           ended_at = CASE WHEN ${isOver} THEN accord_now() END
     WHERE c.id = ${id} RETURNING ${columns}`);
  const name = startedAt === null ? state === 'RUNNING' && 'started' : isOver && 'finished';
  if (name) await tx.query(campaignEvent(moved, name, source));
  return moved;
}

function campaignEvent({ id, state }: Campaign, name: 'started' | 'finished', source: string): Statement {
  return insertEvents(
    {
      from: sql`(SELECT ${id}::text AS id, ${state}::text AS state)`,
      topic: 'accord.consents',
      key: sql`s.id`,
      type: sql`${`io.accord.campaign.${name}.v1`}::text`,
      time: sql`accord_now()`,
      data: sql`jsonb_build_object('campaign', s.id, 'state', s.state)`,
    },
    source,
  );
}

/** Notes how far people were picked. @param to null: no person is left. */
export async function notePicked(tx: Queries, id: string, to: string | null): Promise<void> {
  await tx.query(sql`
    UPDATE campaigns AS c SET picked_to = coalesce(${to}::uuid, c.picked_to), is_picked = ${to === null}
     WHERE c.id = ${id}`);
}

/** Notes until when the messages that are begun use up the pace. */
export async function noteUsed(tx: Queries, id: string, usedUntil: Date): Promise<void> {
  await tx.query(sql`UPDATE campaigns AS c SET used_until = ${usedUntil} WHERE c.id = ${id}`);
}
