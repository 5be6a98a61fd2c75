/** In: converts the frames of one socket to commands. */
import { Fault, isObject, linkPart, type Part, textPart } from '@parlance/protocol';
import type { SessionRef } from '../../core/index.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import { type DialectContext, reported } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { type Body, ClientFrame, type Details, type InputItem, KNOWN_TYPES } from './contract.ts';
import { contextInfo, detailsOf, refusal, type State, sessionOfResponse } from './outbound.ts';

type Context = Pick<DialectContext, 'engine' | 'log' | 'newId'>;

export function open(socket: Socket, ctx: Context, hub: SubscriptionHub<State>): Connection {
  const { engine } = ctx;
  const { principal } = socket;
  const caller = principal && { principal, dialect: 'agentloop', via: socket.id };
  let session: SessionRef | null = null;

  const fail = (message: string, details: Details = null) =>
    socket.sendFrame({ id: ctx.newId(), type: 'error', payload: { message, details } } satisfies Body);

  /** The conversation of the socket, created with the first input unless a session was named. */
  async function conversation(previous?: string | null): Promise<SessionRef> {
    if (!principal) throw new Fault('unauthenticated', 'A token is required.');
    const continued = previous ? await engine.find(principal, sessionOfResponse(previous)) : null;
    if (continued && session) hub.leave(socket);
    session = continued ?? session ?? (await engine.resolve(principal, ctx.newId()));
    await hub.subscribe(session, socket);
    return session;
  }

  async function perform(frame: ClientFrame): Promise<void> {
    if (!caller) throw new Fault('unauthenticated', 'A token is required.');
    switch (frame.type) {
      case 'user_input': {
        const parts = partsOf(frame.payload.input);
        const ref = await conversation(frame.payload.previousResponseId);
        await engine.send(ref, { type: 'input.submit', parts, mode: 'supersede', answers: true }, caller);
        return;
      }
      case 'approval_response': {
        if (!session) throw new Fault('no_approval', 'No pending approval request');
        const { review, customDenyMessage } = frame.payload;
        if (review === 'explain') await engine.send(session, { type: 'approval.explain' }, caller);
        else
          await engine.send(session, { ...ANSWERS[review], reason: customDenyMessage ?? undefined }, caller);
        return;
      }
      case 'get_context_info': {
        const ref = session ?? (await engine.resolve(caller.principal, ctx.newId()));
        const payload = contextInfo(session?.id, await engine.contextUse(ref));
        socket.sendFrame({ id: ctx.newId(), type: 'context_info', payload } satisfies Body);
        return;
      }
      case 'manual_compact':
        if (!session) throw new Fault('nothing_to_compact', 'There is nothing to compact yet.');
        await engine.send(session, { type: 'context.compact' }, caller);
    }
  }

  return {
    async opened() {
      if (!principal) return socket.close(1008, 'A token is required.');
      if (socket.session === null) return;
      session = await engine.resolve(principal, socket.session);
      await hub.subscribe(session, socket);
    },
    async receive(raw) {
      if (!isObject(raw) || typeof raw.id !== 'string' || typeof raw.type !== 'string') {
        return fail('Invalid message format');
      }
      if (!KNOWN_TYPES.has(raw.type)) return fail(`Unknown message type: ${raw.type.slice(0, 100)}`);
      const frame = ClientFrame.safeParse(raw);
      if (!frame.success) {
        const issue = frame.error.issues[0];
        return fail('Invalid message format', {
          error: `${issue?.path.join('.')}: ${issue?.message}`,
          code: 400,
        });
      }
      try {
        await perform(frame.data);
      } catch (thrown) {
        const fault = reported(thrown, ctx, { connection: socket.id, session: session?.id });
        fail(...refusal(frame.data.type, fault));
      }
    },
    onInvalidFrame: (reason) => fail('Invalid message format', { error: reason, code: 400 }),
    onRateLimited: (fault) => fail('Rate limit exceeded', detailsOf(fault)),
    closed: () => hub.leave(socket),
    draining: () => fail('The server is shutting down', null),
  };
}

const ANSWERS = {
  yes: { type: 'approval.answer', answer: 'once' },
  always: { type: 'approval.answer', answer: 'always' },
  'no-continue': { type: 'approval.answer', answer: 'deny' },
  'no-exit': { type: 'approval.answer', answer: 'deny', exit: true },
} as const;

/** The parts of the user's messages among the items. */
const partsOf = (items: readonly InputItem[]): Part[] =>
  items
    .filter((item) => (item.type ?? 'message') === 'message' && (item.role ?? 'user') === 'user')
    .flatMap((item) =>
      typeof item.content === 'string' ? [textPart(item.content)] : (item.content ?? []).map(part),
    );

function part(content: NonNullable<InputItem['content']>[number]): Part {
  if (typeof content === 'string') return textPart(content);
  if (content.text !== undefined) return textPart(content.text);
  const link = linkPart({ kind: 'image', url: content.image_url ?? '' });
  if (link) return link;
  const image = content.image_url?.match(/^data:([\w.+/-]+);base64,([A-Za-z0-9+/]+=*)$/);
  if (!image?.[1] || !image[2]) throw new Fault('invalid', `cannot read content of type ${content.type}`);
  return { type: 'image', mime: image[1], data: image[2] };
}
