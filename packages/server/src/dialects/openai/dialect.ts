/**
 * `openai`: clients of the OpenAI API. They send the whole conversation with each request, so a session is
 * found by a digest of its content, unless `X-Parlance-Session` names it. Tools of the caller are deferred
 * calls of the core; without any, the agent's own tools run on the server, and only the answer is shown. A
 * disconnect ends the turn that the request started.
 */
import { defineDialect } from '../shared/dialect.ts';
import { ModelSettings } from '../shared/exchange/models.ts';
import { projection } from '../shared/exchange/pieces.ts';
import { refusal } from './faults.ts';
import { HTTP_PATHS, routes } from './routes.ts';

export const openai = defineDialect({
  name: 'openai',
  listen: [{ http: '/openai/v1/*' }, ...HTTP_PATHS.map((path) => ({ http: `/v1${path}` }))],
  alone: { at: '/v1', serves: '/openai/v1' },
  settings: ModelSettings,
  inbound: (ctx) => ({ routes: (app) => routes(app, ctx) }),
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});
