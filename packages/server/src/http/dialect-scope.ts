/** Restricts API keys to dialects. */
import { Fault, type Principal } from '@parlance/protocol';
import type { Authenticator } from './authenticator.ts';

export const mayUseDialect = ({ dialects }: Principal, dialect: string | null): boolean =>
  dialects === undefined || (dialect !== null && dialects.includes(dialect));

/**
 * An authenticator for one dialect: `verify` throws `forbidden` for a key that is limited to others.
 * `dialect` is null for routes outside of all dialects, which only unlimited keys may use.
 */
export const forDialect = (authenticator: Authenticator, dialect: string | null): Authenticator => ({
  ...authenticator,
  async verify(token, caller) {
    const principal = await authenticator.verify(token, caller);
    if (mayUseDialect(principal, dialect)) return principal;
    throw new Fault('forbidden', 'The API key is limited to other dialects.');
  },
});
