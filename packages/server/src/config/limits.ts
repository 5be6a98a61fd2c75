/** All configurable limits: part of the settings table, and the source of the limits guide. */
import { COMMAND_LIMITS } from './settings/command-limits.ts';
import type { LimitSetting } from './settings/limit.ts';
import { REQUEST_LIMITS } from './settings/request-limits.ts';
import { SESSION_LIMITS } from './settings/session-limits.ts';
import { SOCKET_LIMITS } from './settings/socket-limits.ts';

export type { LimitSetting } from './settings/limit.ts';

export const LIMITS = {
  ...SOCKET_LIMITS,
  ...REQUEST_LIMITS,
  ...SESSION_LIMITS,
  ...COMMAND_LIMITS,
} as const satisfies Record<string, LimitSetting>;
