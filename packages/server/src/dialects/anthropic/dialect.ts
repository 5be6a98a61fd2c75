/**
 * `anthropic`: clients of the Messages API. They send the whole conversation with each request, so a session is
 * found by a digest of its content, unless `X-Parlance-Session` names it or a thread continues an earlier
 * answer. Tools of the caller are deferred calls of the core; without any, the agent's own tools run on the
 * server, and only the answer is shown. A disconnect ends the turn that the request started. Files, batches and
 * tools that run at the vendor are not supported.
 */
import { defineDialect } from '../shared/dialect.ts';
import { ModelSettings } from '../shared/exchange/models.ts';
import { projection } from '../shared/exchange/pieces.ts';
import { headers, refusal } from './faults.ts';
import { routes } from './routes.ts';

export const anthropic = defineDialect({
  name: 'anthropic',
  listen: [
    { http: '/anthropic/v1/*' },
    { http: '/v1/messages/*' },
    { http: '/v1/models/*', when: { header: 'anthropic-version', as: '/anthropic/v1/models/*' } },
  ],
  alone: { at: '/v1', serves: '/anthropic/v1' },
  settings: ModelSettings,
  inbound: (ctx) => ({ routes: (app) => routes(app, ctx) }),
  projection,
  faults: { refusal, headers },
  describe: async () => (await import('./describe.ts')).description,
});
