/**
 * `native`: the core's own events and commands over HTTP, for the console, the SDK and scripts. Every event and command of
 * the core is available. There are no sockets: events are read in pages or as server-sent events.
 *
 * The protocol is in `dialect.ts`, `sessions.ts`, `streams.ts` and `views.ts`; its messages are those of `@parlance/protocol/api`. Beside it,
 * one file per part of the API: `approvals.ts`, `shares.ts`, `files.ts`, `export.ts` (with `fold.ts`, `html.ts` and `renderer.ts` of transcripts),
 * `usage.ts`, `prompts.ts`, `keys.ts`, `sign-in.ts`, `mcp.ts`, `setup.ts` and `admin.ts`. `context.ts` is what they have in common.
 */

import {
  AgentRef,
  Ask,
  Command,
  ContextUse,
  DirectCall,
  FaultData,
  HistoryItem,
  Part,
  Usage,
} from '@parlance/protocol';
import * as api from '@parlance/protocol/api';
import { type Description, nameSchemas } from '../kit/description.ts';
import { defineDialect } from '../kit/dialect.ts';
import { HTTP_STATUS, retryText } from '../kit/faults.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { adminEndpoints, priceEndpoints } from './admin.ts';
import { approvalEndpoints } from './approvals.ts';
import { fileEndpoints } from './files.ts';
import { apiKeyEndpoints, pairingEndpoints } from './keys.ts';
import { mcpUserEndpoints } from './mcp.ts';
import { promptEndpoints } from './prompts.ts';
import { sessionEndpoints } from './sessions.ts';
import { setupEndpoints } from './setup.ts';
import { sharedPages, shareEndpoints } from './shares.ts';
import { invitationEndpoints, signInEndpoints } from './sign-in.ts';
import { projection, streamEndpoints } from './streams.ts';
import { usageEndpoints } from './usage.ts';

/** Paths below `/v1`. One that ends in `/*` also matches the path without it. */
const HTTP_PATHS = [
  '/sessions/*',
  '/tags',
  '/prices',
  '/usage/*',
  '/search',
  '/server',
  '/dialects',
  '/activity',
  '/approvals/*',
  '/admin/*',
  '/grants',
  '/files/*',
  '/instructions',
  '/skills',
  '/folders',
  '/prompts/*',
  '/keys/*',
  '/pairings/*',
  '/auth/password',
  '/auth/sign-in/*',
  '/auth/sign-out-everywhere',
  '/auth/token',
  '/invitations/*',
] as const;

export const native = defineDialect({
  name: 'native',
  listen: [...HTTP_PATHS.map((path) => ({ http: `/v1${path}` })), { http: '/shared/*' }],
  inbound: (ctx, hub: SubscriptionHub<null>) => ({ rest: { ...ctx, hub, pageOf: sharedPages() } }),
  rest: {
    endpoints: [
      ...sessionEndpoints,
      ...streamEndpoints,
      ...approvalEndpoints,
      ...shareEndpoints,
      ...fileEndpoints,
      ...priceEndpoints,
      ...usageEndpoints,
      ...apiKeyEndpoints,
      ...pairingEndpoints,
      ...signInEndpoints,
      ...invitationEndpoints,
      ...adminEndpoints,
      ...setupEndpoints,
      ...mcpUserEndpoints,
      ...promptEndpoints,
    ],
    fault: (fault, c) => c.json({ error: fault.data(), detail: retryText(fault) }, HTTP_STATUS[fault.code]),
  },
  projection,
  describe: async () => description(),
});

const SDK_SCRIPT = {
  title: 'With @parlance/sdk',
  language: 'ts',
  code: `import { connect } from '@parlance/sdk';

const parlance = connect({ url: '{{origin}}', token: process.env.PARLANCE_TOKEN });
const session = parlance.session('demo');
const { seq } = await session.submit('count to 20');
for await (const event of session.events({ after: seq })) {
  if (event.type === 'text.delta') process.stdout.write(event.text);
  if (event.type === 'turn.ended') break;
}`,
} as const;

function description(): Description {
  const fields = {
    Ask,
    AgentRef,
    Command,
    Fault: FaultData,
    Part,
    Usage,
    ContextUse,
    DirectCall,
    HistoryItem,
  };
  // Parameters are described one by one, and streams as text.
  const isNamed = ([name]: [string, unknown]) => !/^Snapshot$|(?:Query|Headers)$/.test(name);
  nameSchemas(Object.fromEntries(Object.entries({ ...fields, ...api }).filter(isNamed)));
  const error = (text: string) => ({ description: text, schema: api.NativeError });
  return {
    title: 'Scripts and the SDK',
    summary: 'The native API: commands in, events out. The console uses it, too.',
    scripts: [SDK_SCRIPT],
    commands: {
      path: '/v1/sessions/{id}/commands',
      ids: {
        'approval.requested': [
          { id: 'approval', at: 'approval' },
          { id: 'call', at: 'call' },
          { id: 'hash', at: 'hash' },
        ],
        'call.requested': [{ id: 'call', at: 'call' }],
      },
    },
    schemas: api,
    errors: {
      400: error('Invalid request; the message names the field'),
      401: error('Missing or invalid token'),
      403: error('The role lacks the permission'),
      404: error('Not found, or it belongs to another user'),
      409: error('Not possible in the current state'),
      413: error('Too large'),
      429: error('Rate limited; Retry-After is in seconds'),
      502: error('The model API is unreachable'),
    },
  };
}
