/** Authentication schemes of the endpoints. */
import type { Security } from '../dialects/shared/description.ts';

export type Requirement = Readonly<Record<string, readonly string[]>>;

const TOKEN: readonly Requirement[] = [{ bearer: [] }, { token: [] }];

export const SECURITY: Record<Security, readonly Requirement[]> = {
  nobody: [],
  caller: [...TOKEN, {}],
  token: TOKEN,
  signed: [{ signature: [] }],
};

export const SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A token from a login endpoint. If it is optional, that applies to open mode only: the caller is then `local`.',
  },
  token: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'The same token, for clients that cannot set headers.',
  },
  signature: {
    type: 'apiKey',
    in: 'query',
    name: 'auth_signature',
    description:
      'HMAC-SHA256 over method, path and query, with auth_key, auth_timestamp, auth_version and body_md5 beside it, as Pusher signs.',
  },
};
