/** In: frames and requests. */
import { Fault, isObject, textPart } from '@parlance/protocol';
import { type DialectContext, reported, socketIds } from '../../dialects/kit/dialect.ts';
import { endpointOf } from '../../dialects/kit/endpoint.ts';
import type { SubscriptionHub } from '../../dialects/kit/subscription-hub.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import type { schemas } from './describe.ts';
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

const endpoint = endpointOf<Context, typeof schemas>();

export const endpoints = [
  endpoint({
    method: 'get',
    path: '/toy/steps',
    summary: 'How many steps a turn may have',
    answers: { 200: { description: 'The number', schema: 'Steps' } },
    errors: [401],
    handle: (_, { settings }) => ({ steps: settings.maxSteps }),
  }),
  endpoint({
    method: 'get',
    path: '/toy/sessions/{id}',
    summary: 'The title of a session',
    examples: ({ session }) => [{ title: 'Get the session', first: true, params: { id: session } }],
    answers: { 200: { description: 'The title', schema: 'Title' } },
    errors: [401, 404],
    async handle({ principal, params }, { engine }) {
      const ref = await engine.find(principal, params.id);
      const record = ref && (await engine.record(ref));
      if (!record) throw new Fault('not_found', 'There is no such session.');
      return { id: record.ref.id, title: record.title };
    },
  }),
];
