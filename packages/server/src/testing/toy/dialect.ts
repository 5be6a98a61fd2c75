/** `toy`: a dialect for tests. Text that is sent on a socket is an input; deltas of the answer come back. */
import { LOCAL, type SessionEvent, textPart } from '@parlance/protocol';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { Description } from '../../dialects/shared/description.ts';
import { type DialectContext, defineDialect } from '../../dialects/shared/dialect.ts';
import { NONE, type Stepped } from '../../dialects/shared/projection.ts';
import type { SubscriptionHub } from '../../dialects/shared/subscription-hub.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import { principalOf } from '../../http/request-identity.ts';

const Say = z.object({ type: z.literal('say'), session: z.string(), text: z.string() });
const Said = z.strictObject({ type: z.literal('said'), text: z.string() });
type Said = z.output<typeof Said>;

export const toy = defineDialect({
  name: 'toy',
  listen: [{ ws: '/toy' }, { http: '/toy/*' }],
  settings: z.object({ maxSteps: z.number() }),
  inbound: (ctx, hub: SubscriptionHub<null>) => ({
    open: (socket) => open(socket, ctx, hub),
    routes: (app) => routes(app, ctx),
    about: { toys: true },
  }),
  projection: { start: () => null, step, attach: (): Said[] => [] },
  faults: { refusal: (status, reason) => ({ toy: reason, status }) },
  describe: async () => DESCRIPTION,
});

type Context = Pick<DialectContext<{ maxSteps: number }>, 'authenticator' | 'engine' | 'settings'>;

function open(socket: Socket, { engine }: Context, hub: SubscriptionHub<null>): Connection {
  return {
    async receive(frame) {
      const { session, text } = Say.parse(frame);
      const principal = socket.principal ?? LOCAL;
      const ref = await engine.resolve(principal, session);
      await hub.subscribe(ref, socket);
      const caller = { principal, dialect: 'toy', via: socket.id };
      await engine.send(ref, { type: 'input.submit', parts: [textPart(text)] }, caller);
    },
    onInvalidFrame: (reason) => socket.sendFrame({ type: 'said', text: reason }),
    closed: () => hub.leave(socket),
    draining: () => undefined,
  };
}

function routes(app: Hono, { authenticator, settings }: Context): void {
  app.get('/toy/steps', async (c) => {
    await principalOf(authenticator, c.req.raw);
    return c.json({ steps: settings.maxSteps });
  });
}

function step(state: null, event: SessionEvent): Stepped<null, Said> {
  return [state, event.type === 'text.ended' ? [{ body: { type: 'said', text: event.text } }] : NONE];
}

const DESCRIPTION: Description = {
  title: 'Toy',
  summary: 'A dialect for tests.',
  endpoints: [
    {
      method: 'get',
      path: '/toy/steps',
      summary: 'How many steps a turn may have',
      security: 'caller',
      answers: { 200: { description: 'The number', schema: z.object({ steps: z.number() }) } },
    },
  ],
  socket: {
    address: '/toy',
    connect: () => '/toy',
    nameField: 'type',
  },
  messages: {
    in: {
      say: {
        summary: 'An input',
        schema: Say,
        examples: ({ session }) => [{ title: 'Say', frame: { type: 'say', session, text: 'hello' } }],
      },
    },
    out: { said: { summary: 'An answer', schema: Said, example: { type: 'said', text: 'hello' } } },
  },
};
