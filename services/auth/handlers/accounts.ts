import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { type PageRequest, sendList } from '#lib/http/lists.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import {
  createLink,
  deleteAccount,
  type Invitation,
  inviteAccount,
  removeFactor,
  updateAccount,
} from '../commands/manage-accounts.ts';
import type { Issuer } from '../issuer/compose-issuer.ts';
import { listManagedAccounts, type ManagedAccount } from '../queries/managed-accounts.ts';

type Schemas = components['schemas'];

interface Dependencies {
  db: Database;
  demo: boolean;
  baseUrl: string;
  /** Absent: people are managed at an outside issuer. */
  issuer: Pick<Issuer, 'linkOf' | 'mails' | 'changePassword' | 'ownAddress'> | undefined;
}

/** Handlers of accounts by operationId (openapi.yaml, tag auth). */
export function createAccountHandlers({ db, demo, baseUrl, issuer: builtIn }: Dependencies) {
  const issuer = (): NonNullable<typeof builtIn> => {
    if (builtIn) return builtIn;
    throw fail('not-available', 'People sign in with an outside issuer (OIDC_ISSUER) and are managed there.');
  };
  const dependencies = {
    db,
    demo,
    mails: builtIn?.mails ?? null,
    linkOf: (token: string) => issuer().linkOf(token),
  };
  const presentInvitation = ({ account, token, expiresAt, isMailed }: Invitation) => ({
    ...presentAccount(account),
    link: issuer().linkOf(token),
    linkExpires: expiresAt.toISOString(),
    mailed: isMailed,
  });
  return {
    async listAccounts(ctx, { query }) {
      issuer();
      const find = (page: PageRequest) => listManagedAccounts(db, page);
      await sendList(ctx, query, { url: `${baseUrl}/accounts`, find, present: presentAccount });
    },

    async createAccount(ctx, { body }) {
      issuer();
      const invitation = await inviteAccount(dependencies, body);
      ctx.status = 201;
      ctx.set('Location', `${baseUrl}/accounts/${invitation.account.id}`);
      ctx.body = presentInvitation(invitation);
    },

    async updateAccount(ctx, { params, body }) {
      issuer();
      const account = await updateAccount(dependencies, params.id, body);
      ctx.body = presentAccount(account);
    },

    async deleteAccount(ctx, { params }) {
      issuer();
      await deleteAccount(dependencies, params.id);
      ctx.status = 204;
    },

    async removeSecondFactor(ctx, { params }) {
      issuer();
      await removeFactor(dependencies, params.id);
      ctx.status = 204;
    },

    async createAccountLink(ctx, { params, query }) {
      issuer();
      const invitation = await createLink(dependencies, params.id, query.language);
      ctx.status = 201;
      ctx.set('Location', `${baseUrl}/accounts/${invitation.account.id}`);
      ctx.body = presentInvitation(invitation);
    },

    async changeEmail(ctx, { principal, body }) {
      const languages = body.language ? [body.language] : [];
      await issuer().ownAddress.change(principal, { email: body.email, languages });
      ctx.status = 204;
    },

    async changePassword(ctx, { principal, body }) {
      await issuer().changePassword(ctx, principal, body);
      ctx.status = 204;
    },
  } satisfies OperationHandlers;
}

function presentAccount(account: ManagedAccount): Schemas['Account'] {
  const { id, name, role, state, createdAt, lastSignInAt, hasSecondFactor: secondFactor, email } = account;
  const lastSignInDate = lastSignInAt ? { lastSignInDate: lastSignInAt.getTime() } : {};
  return {
    id,
    name,
    role,
    state,
    creationDate: createdAt.getTime(),
    ...lastSignInDate,
    secondFactor,
    ...(email && { email }),
  };
}
