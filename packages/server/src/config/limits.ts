/** Every configurable limit: part of the table of settings, and the source of the guide to limits. */
import type { LimitSetting } from './settings/limit.ts';
import { REQUEST_LIMITS } from './settings/request-limits.ts';
import { SESSION_LIMITS } from './settings/session-limits.ts';
import { SOCKET_LIMITS } from './settings/socket-limits.ts';

export type { LimitSetting } from './settings/limit.ts';

export const LIMITS = {
  ...SOCKET_LIMITS,
  ...REQUEST_LIMITS,
  ...SESSION_LIMITS,
} as const satisfies Record<string, LimitSetting>;
