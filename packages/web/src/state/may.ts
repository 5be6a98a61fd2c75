/** What a principal may use, so that the console shows nothing else. The server decides. */
import type { Permission, Principal } from '@parlance/protocol';
import type { About } from '@parlance/sdk';

export type Needs = Permission | 'admin';

export const may = ({ role, permissions }: Pick<Principal, 'role' | 'permissions'>, needs?: Needs): boolean =>
  needs === undefined || (needs === 'admin' ? role === 'admin' : permissions.includes(needs));

/** In open mode the local user sets up models and agents. */
export const maySetUp = ({ auth, principal }: Pick<About, 'auth' | 'principal'>): boolean =>
  may(principal, 'admin') || (auth === 'open' && principal.id === 'local');
