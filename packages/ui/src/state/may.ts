/** What the caller may use, so that the console shows nothing else. The server decides. */
import type { Permission } from '@parlance/protocol';
import type { About } from '@parlance/sdk';

export type Caller = Pick<About, 'auth' | 'principal'>;

/** `setup`: models, agents and MCP servers. `account`: what belongs to a user who signs in. */
export type Needs = Permission | 'admin' | 'setup' | 'account';

/** Whether the caller uses open mode without signing in. */
export const isLocal = ({ auth, principal }: Caller): boolean => auth === 'open' && principal.id === 'local';

export function may(caller: Caller, needs?: Needs): boolean {
  const { role, permissions } = caller.principal;
  switch (needs) {
    case undefined:
      return true;
    case 'admin':
      return role === 'admin';
    case 'setup':
      return role === 'admin' || isLocal(caller);
    case 'account':
      return !isLocal(caller);
    default:
      return permissions.includes(needs);
  }
}
