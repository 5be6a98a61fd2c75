/** What a principal may do. */
import { Fault, type Permission, type Principal } from '@parlance/protocol';

/** Throws `forbidden` where the principal lacks the permission. */
export function requirePermission(principal: Principal, permission: Permission): void {
  if (!principal.permissions.includes(permission))
    throw new Fault('forbidden', `Missing permission: ${permission}`);
}
