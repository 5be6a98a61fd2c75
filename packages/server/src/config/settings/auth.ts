/** Users, tokens and origins. */
import { oneOf, origins, secret, textList, users, wholeNumber } from '../values.ts';
import type { Setting } from './setting.ts';

export const AUTH = {
  auth: {
    env: ['PARLANCE_AUTH'],
    flag: '--auth',
    argument: 'open|required',
    fallback: undefined,
    fallbackText: 'open on a loopback host',
    schema: () => oneOf(['open', 'required']),
    description:
      'whether callers have to sign in or send an API key; in open mode they need not, and are the user local',
  },
  authSecret: {
    env: ['AUTH_SECRET'],
    flag: null,
    argument: '',
    fallback: undefined,
    fallbackText: 'created on first start and stored in the data folder',
    schema: secret,
    secret: true,
    description: 'the key that signs tokens, at least 32 bytes',
  },
  authUsers: {
    env: ['AUTH_USERS'],
    flag: null,
    argument: '',
    fallback: [],
    fallbackText: 'admin is created if there is no user, and its password printed once',
    schema: users,
    secret: true,
    description: 'name:password:role;… users created or changed at start; roles: admin, developer, user',
  },
  loginAttempts: {
    env: ['PARLANCE_LOGIN_ATTEMPTS'],
    flag: '--login-attempts',
    argument: 'COUNT',
    fallback: 10,
    schema: () => wholeNumber(1, 1_000_000),
    description:
      'failed logins in 15 minutes per name and address; ten times as many per address and per name overall',
  },
  trustedProxies: {
    env: ['PARLANCE_TRUSTED_PROXIES'],
    flag: '--trusted-proxies',
    argument: 'COUNT',
    fallback: 0,
    schema: () => wholeNumber(0, 10),
    description: 'number of your own reverse proxies in front of the server that write X-Forwarded-For',
  },
  allowedOrigins: {
    env: ['ALLOWED_ORIGINS'],
    flag: '--origin',
    argument: 'ORIGIN',
    fallback: [],
    fallbackText: 'same origin, and loopback origins on a loopback host',
    schema: origins,
    repeatable: true,
    description:
      'an additional browser origin, exact; a chrome-extension:// origin must be named here or paired',
  },
  allowedToolOrigins: {
    env: ['ALLOWED_TOOL_ORIGINS'],
    flag: '--tool-origin',
    argument: 'ORIGIN',
    fallback: [],
    schema: textList,
    repeatable: true,
    description: 'an origin that browser tools may work on',
  },
} as const satisfies Record<string, Setting>;
