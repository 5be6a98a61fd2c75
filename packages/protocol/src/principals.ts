/** Callers and their permissions. */
import { z } from 'zod';
import { Fault } from './faults.ts';
import { PrincipalId } from './ids.ts';

export const Permission = z.enum([
  'chat:send',
  'chat:read',
  'config:reload',
  'domain:read',
  'health:read',
  'metrics:read',
  'agent:read',
  'agent:write',
  'tool:read',
  'tool:request',
  'tool:approve',
  'tool:reject',
  'tool:execute',
]);
export type Permission = z.infer<typeof Permission>;

export const Role = z.enum(['admin', 'developer', 'user']);
export type Role = z.infer<typeof Role>;

export const ROLE_PERMISSIONS: Record<Role, readonly Permission[]> = {
  admin: Permission.options,
  developer: Permission.options,
  user: ['chat:send', 'chat:read', 'tool:request'],
};

export const Principal = z.object({
  id: PrincipalId,
  role: Role,
  permissions: z.array(Permission).readonly(),
  /** dialects that the caller's API key is limited to; absent: all */
  dialects: z.array(z.string()).readonly().optional(),
  /** id of the caller's API key */
  apiKey: z.string().optional(),
});
export type Principal = z.infer<typeof Principal>;

/**
 * The principal of callers without a token in open mode. It has all permissions for its own sessions, but is
 * not an admin.
 */
export const LOCAL: Principal = {
  id: PrincipalId.parse('local'),
  role: 'developer',
  permissions: ROLE_PERMISSIONS.developer,
};

/** Throws `forbidden` if the principal lacks the permission. */
export function requirePermission(principal: Principal, permission: Permission): void {
  if (!principal.permissions.includes(permission))
    throw new Fault('forbidden', `Missing permission: ${permission}`);
}
