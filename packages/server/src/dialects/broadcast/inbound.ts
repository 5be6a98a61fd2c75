/** In: converts the frames of one socket to commands. */
import { Fault, isObject } from '@parlance/protocol';
import type { Connection, Socket } from '../../http/connection.ts';
import { sendChat } from '../kit/chat-input.ts';
import { type DialectContext, reported, socketIds } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { elsewhereText, questionText } from '../kit/texts.ts';
import { type Body, Chat } from './contract.ts';
import { error, faultFrame, type State } from './outbound.ts';

type Context = Pick<DialectContext, 'engine' | 'log' | 'newId'>;

export function open(socket: Socket, ctx: Context, hub: SubscriptionHub<State>): Connection {
  const { engine } = ctx;
  const { principal } = socket;
  /** the session of chats without a session id; it lasts as long as the socket */
  const anonymous = ctx.newId();
  /** the session that its next chat is expected to go to */
  let current = socket.session;
  const mayApprove = principal?.permissions.includes('tool:approve') ?? false;
  socket.answers = (session) => mayApprove && session === current;

  async function chat(frame: Record<string, unknown>, arrivedAt: number): Promise<void> {
    if (!principal) throw new Fault('unauthenticated', 'A token is required.');
    const parsed = Chat.safeParse(frame);
    if (!parsed.success) throw new Fault('invalid', parsed.error.issues[0]?.message ?? '');
    const { message, session_id: name } = parsed.data;
    if (message === '') throw new Fault('empty', 'Empty message received');
    const ref = await engine.resolve(principal, name || anonymous);
    current = ref.id;
    if (ref.owner !== principal.id) await hub.subscribe(ref, socket);
    const caller = { principal, dialect: 'broadcast', via: socket.id };
    const named = name !== '';
    const pending = await sendChat(engine, { ref, text: message, named, arrivedAt }, caller);
    if (pending) {
      const words = mayApprove ? questionText(pending.ask) : elsewhereText(pending.ask);
      socket.sendFrame({
        type: 'agent_message',
        message: `Your message is answered after this. ${words}`,
        ...(named ? { session_id: ref.id } : {}),
      } satisfies Body);
      await hub.show(ref, socket);
    }
    // Chats of one socket are queued: the next is read when this one is answered or waits for an approval.
    await engine.whenIdle(ref);
  }

  return {
    async opened() {
      if (!principal) return socket.close(1008, 'A token is required.');
      hub.subscribeOwner(principal.id, socket);
      const ref = socket.session === null ? null : await engine.find(principal, socket.session);
      if (ref) await (ref.owner === principal.id ? hub.show(ref, socket) : hub.subscribe(ref, socket));
    },
    async receive(frame, arrivedAt) {
      try {
        if (!isObject(frame)) throw new Fault('invalid', 'a message must be a JSON object');
        if (frame.type !== 'chat')
          return socket.sendFrame(error(`Unknown message type: ${typeWord(frame.type)}`));
        await chat(frame, arrivedAt);
      } catch (thrown) {
        socket.sendFrame(faultFrame(reported(thrown, ctx, socketIds(socket))));
      }
    },
    onInvalidFrame: (reason) => socket.sendFrame(faultFrame(new Fault('invalid', reason))),
    onRateLimited: (fault) => socket.sendFrame(faultFrame(fault)),
    closed: () => hub.leave(socket),
    draining: () => socket.sendFrame(faultFrame(new Fault('shutting_down', 'The server is shutting down.'))),
  };
}

/** Objects are not converted to a string: `toString` may be controlled by the sender. */
function typeWord(type: unknown): string {
  if (type === undefined || type === null) return 'None';
  return typeof type === 'object' ? 'object' : String(type).slice(0, 100);
}
