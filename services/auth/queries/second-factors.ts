import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** The sealed secret of an account's second factor; undefined without one. */
export async function findSecondFactor(db: Queries, account: string): Promise<Buffer | undefined> {
  const row = await db.maybeOne<{ sealed: Buffer }>(
    sql`SELECT f.sealed FROM second_factors AS f WHERE f.account = ${account}`,
  );
  return row?.sealed;
}

/**
 * Marks the step of a code as used: a code that was seen is not accepted again (RFC 6238 §5.2).
 * @returns false if this step or a later one was used.
 */
export async function useStep(db: Queries, account: string, step: number): Promise<boolean> {
  const row = await db.maybeOne(sql`
    UPDATE second_factors AS f SET used_step = ${step}
     WHERE f.account = ${account} AND f.used_step < ${step} RETURNING f.account`);
  return row !== undefined;
}

/** Uses a recovery code up. @returns false if the account has no such code. */
export async function useRecoveryCode(db: Queries, account: string, digest: Buffer): Promise<boolean> {
  const row = await db.maybeOne(sql`
    DELETE FROM recovery_codes AS c WHERE c.account = ${account} AND c.digest = ${digest} RETURNING c.account`);
  return row !== undefined;
}

/** Notes a sign-in with the second factor. @returns false if the account has changed since its password. */
export async function recordFullSignIn(db: Queries, account: string, changedAt: string): Promise<boolean> {
  const row = await db.maybeOne(sql`
    UPDATE accounts AS a SET last_sign_in_at = accord_now()
     WHERE a.id = ${account} AND a.changed_at = ${changedAt}::timestamptz
       AND NOT a.invited AND a.disabled_at IS NULL
    RETURNING a.id`);
  return row !== undefined;
}

/**
 * Gives an account that is as it was a second factor, and marks the account as changed.
 * @returns when the account changed, in full precision; undefined if it has changed before or has a factor.
 */
export async function insertSecondFactor(
  tx: Queries,
  factor: { account: string; changedAt: string; sealed: Buffer; step: number; digests: readonly Buffer[] },
): Promise<string | undefined> {
  const changed = await tx.maybeOne<{ changedAt: string }>(sql`
    UPDATE accounts AS a SET changed_at = accord_now(), last_sign_in_at = accord_now()
     WHERE a.id = ${factor.account} AND a.changed_at = ${factor.changedAt}::timestamptz
       AND NOT a.invited AND a.disabled_at IS NULL
       AND NOT EXISTS (SELECT FROM second_factors AS f WHERE f.account = a.id)
    RETURNING a.changed_at::text AS "changedAt"`);
  if (!changed) return undefined;
  await tx.query(sql`
    INSERT INTO second_factors (account, sealed, used_step, created_at)
    VALUES (${factor.account}, ${factor.sealed}, ${factor.step}, accord_now())`);
  await tx.query(sql`
    INSERT INTO recovery_codes (account, digest)
    SELECT ${factor.account}::uuid, d FROM unnest(${factor.digests}::bytea[]) AS d`);
  return changed.changedAt;
}

/** Removes the second factor of an account, and marks it as changed. @returns false if it has none. */
export async function deleteSecondFactor(tx: Queries, account: string): Promise<boolean> {
  const row = await tx.maybeOne(sql`
    WITH codes AS (DELETE FROM recovery_codes WHERE account = ${account}),
         factor AS (DELETE FROM second_factors WHERE account = ${account} RETURNING account)
    UPDATE accounts AS a SET changed_at = accord_now() FROM factor AS f WHERE a.id = f.account RETURNING a.id`);
  return row !== undefined;
}
