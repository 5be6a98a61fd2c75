/** API key administration. */
import { Fault } from '@parlance/protocol';
import type { ApiKeys, ApiKeyView, NewApiKey } from '../http/api-keys.ts';
import { newKey } from './key-format.ts';
import { isWithin } from './keyring.ts';
import type { ApiKey, ApiKeyStore, UserStore } from './store.ts';
import { labelProblem } from './users.ts';

/** Limits the number of keys per user. */
export const KEYS_PER_OWNER = 100;

export type ApiKeyOptions = {
  readonly keys: ApiKeyStore;
  readonly users: Pick<UserStore, 'find'>;
  /** names of the served dialects */
  readonly dialects: readonly string[];
  readonly now?: () => number;
};

export function openApiKeys({ keys, users, dialects, now = Date.now }: ApiKeyOptions): ApiKeys {
  function problemOf({ name, dialects: requested, expiresAt }: NewApiKey): string | null {
    const problem = labelProblem(name);
    if (problem !== null) return problem;
    if (requested?.length === 0) return 'dialects: name at least one, or leave them out for all';
    const unknown = requested?.find((dialect) => !dialects.includes(dialect));
    if (unknown !== undefined) return `dialects: no dialect ${unknown} (${dialects.join(', ')})`;
    if (expiresAt !== undefined && expiresAt <= now()) return 'expiresAt: the time is in the past';
    return null;
  }

  return {
    list: async (owner) => (await keys.list(owner)).map(viewOf),

    async add(owner, requested) {
      const problem = problemOf(requested);
      if (problem !== null) throw new Fault('invalid', problem);
      const user = await users.find(owner);
      if (user === null) throw noUser();
      const { role = user.role } = requested;
      if (!isWithin(role, user.role))
        throw new Fault('forbidden', `role: ${owner} has the role ${user.role}, which is less than ${role}`);
      if (requested.administration && role !== 'admin')
        throw new Fault('invalid', 'administration: the key must have the role admin');
      const { id, text, hash } = newKey();
      const key: ApiKey = {
        id,
        owner: user.name,
        name: requested.name.trim(),
        role,
        dialects: requested.dialects === undefined ? null : [...new Set(requested.dialects)],
        administration: requested.administration ?? false,
        hash,
        createdAt: now(),
        expiresAt: requested.expiresAt ?? null,
        lastUsedAt: null,
      };
      switch (await keys.add(key, KEYS_PER_OWNER)) {
        case 'added':
          return { ...viewOf(key), key: text };
        case 'too_many':
          throw new Fault('forbidden', `${owner} already has ${KEYS_PER_OWNER} API keys: revoke one first.`);
        case 'no_user':
          throw noUser();
      }
    },

    async revoke(id, owner) {
      if (!(await keys.remove(id, owner))) throw new Fault('not_found', 'There is no such API key.');
    },
  };
}

const noUser = (): Fault => new Fault('forbidden', 'API keys belong to users: log in to create one.');

const viewOf = ({ hash: _, ...view }: ApiKey): ApiKeyView => view;
