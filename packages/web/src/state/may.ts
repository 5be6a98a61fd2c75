/** What a principal may use, so that the console shows nothing else. The server decides. */
import type { Permission, Principal } from '@parlance/protocol';

export type Needs = Permission | 'admin';

export const may = ({ role, permissions }: Pick<Principal, 'role' | 'permissions'>, needs?: Needs): boolean =>
  needs === undefined || (needs === 'admin' ? role === 'admin' : permissions.includes(needs));
