/** In: frames and requests. */
import { Fault, isObject, textPart } from '@parlance/protocol';
import type { Hono, Context as Request } from 'hono';
import { type DialectContext, reported, requestIds, socketIds } from '../../dialects/kit/dialect.ts';
import { HTTP_STATUS } from '../../dialects/kit/http-status.ts';
import type { SubscriptionHub } from '../../dialects/kit/subscription-hub.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import { principalOf } from '../../http/request-identity.ts';
import { Say, type Sent } from './schemas.ts';

type Context = Pick<
  DialectContext<{ readonly maxSteps: number }>,
  'authenticator' | 'engine' | 'log' | 'settings'
>;

export function open(socket: Socket, ctx: Context, hub: SubscriptionHub<null>): Connection {
  const { engine } = ctx;
  const { principal } = socket;
  const send = (body: Sent) => socket.sendFrame(body);
  const refuse = (reason: string) => send({ type: 'refused', reason });

  async function say(frame: unknown): Promise<void> {
    const { session, text } = read(frame);
    if (!principal) throw new Fault('unauthenticated', 'A token is required.');
    const ref = await engine.resolve(principal, session);
    await hub.subscribe(ref, socket);
    const caller = { principal, dialect: 'toy', via: socket.id };
    await engine.send(ref, { type: 'input.submit', parts: [textPart(text)] }, caller);
  }

  return {
    receive: (frame) =>
      say(frame).catch((thrown) => refuse(reported(thrown, ctx, socketIds(socket)).message)),
    onInvalidFrame: refuse,
    closed: () => hub.leave(socket),
    draining: () => refuse('The server is shutting down.'),
  };
}

function read(frame: unknown): Say {
  const parsed = Say.safeParse(frame);
  if (parsed.success) return parsed.data;
  const type = isObject(frame) && typeof frame.type === 'string' ? frame.type.slice(0, 100) : 'none';
  throw new Fault('invalid', `A message of type ${type} is invalid.`);
}

export function routes(app: Hono, ctx: Context): void {
  const { engine, authenticator, settings } = ctx;

  app.get('/toy/steps', (c) =>
    answered(c, ctx, async () => {
      await principalOf(authenticator, c.req.raw);
      return { steps: settings.maxSteps };
    }),
  );

  app.get('/toy/sessions/:id', (c) =>
    answered(c, ctx, async () => {
      const ref = await engine.find(await principalOf(authenticator, c.req.raw), c.req.param('id'));
      const record = ref && (await engine.record(ref));
      if (!record) throw new Fault('not_found', 'There is no such session.');
      return { id: record.ref.id, title: record.title };
    }),
  );
}

async function answered(c: Request, ctx: Context, answer: () => Promise<object>): Promise<Response> {
  try {
    return c.json(await answer());
  } catch (thrown) {
    const { code, message } = reported(thrown, ctx, requestIds(c.req.raw));
    const status = HTTP_STATUS[code];
    return c.json({ toy: message, status }, status);
  }
}
