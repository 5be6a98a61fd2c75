/** `toy`: a dialect for tests. Text sent on a socket is an input; the blocks of the answer are sent back. */
import type { SessionEvent } from '@parlance/protocol';
import { z } from 'zod';
import { defineDialect } from '../../dialects/kit/dialect.ts';
import { HTTP_STATUS } from '../../dialects/kit/faults.ts';
import { NONE, type StepResult } from '../../dialects/kit/projection.ts';
import type { SubscriptionHub } from '../../dialects/kit/subscription-hub.ts';
import { endpoints, open } from './inbound.ts';
import type { Sent } from './schemas.ts';

export const toy = defineDialect({
  name: 'toy',
  listen: [{ ws: '/toy' }, { http: '/toy/*' }],
  settings: z.object({ maxSteps: z.number() }),
  inbound: (ctx, hub: SubscriptionHub<null>) => ({
    open: (socket) => open(socket, ctx, hub),
    rest: ctx,
    about: { toys: true },
  }),
  rest: {
    endpoints,
    fault: ({ code, message }, c) => c.json({ toy: message, status: HTTP_STATUS[code] }, HTTP_STATUS[code]),
  },
  projection: { start: () => null, step, attach: (): Sent[] => [] },
  faults: { refusal: (status, reason) => ({ toy: reason, status }) },
  describe: async () => (await import('./describe.ts')).description,
});

function step(state: null, event: SessionEvent): StepResult<null, Sent> {
  return [state, event.type === 'text.ended' ? [{ body: { type: 'said', text: event.text } }] : NONE];
}
