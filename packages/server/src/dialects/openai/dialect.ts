/**
 * `openai`: clients of the OpenAI API. They send the whole conversation with each request, so a session is
 * found by a digest of its content, unless `X-Parlance-Session` names it. Tools of the caller are deferred
 * calls of the core; without any, the agent's own tools run on the server, and only the answer is shown. A
 * disconnect ends the turn that the request started.
 */

import { defineDialect } from '../kit/dialect.ts';
import { ModelSettings, Models } from '../kit/models.ts';
import { Sessions } from '../kit/request-sessions.ts';
import { projection } from '../kit/turn-updates.ts';
import { refusal } from './faults.ts';
import { ItemPositions } from './item-positions.ts';
import { rest } from './routes.ts';

/** Paths below `/v1` of the default listener. One that ends in `/*` also matches the path without it. */
const HTTP_PATHS = ['/chat/completions', '/models/*', '/responses/*'] as const;

export const openai = defineDialect({
  name: 'openai',
  listen: [{ http: '/openai/v1/*' }, ...HTTP_PATHS.map((path) => ({ http: `/v1${path}` }))],
  alone: { at: '/v1', serves: '/openai/v1' },
  settings: ModelSettings,
  inbound: (ctx) => ({
    rest: {
      ...ctx,
      models: new Models(ctx),
      positions: new ItemPositions(ctx.engine),
      sessions: new Sessions(ctx),
      started: Math.floor(ctx.now() / 1000),
    },
  }),
  rest,
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});
