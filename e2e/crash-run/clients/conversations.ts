/**
 * `conversations`. Acknowledged: `agent_selected` after the message, which is only sent when the turn has
 * started. After a reconnect the REST API tells whether a turn is still running.
 */
import type { AnyFrame } from '../../../packages/server/src/testing/client.ts';
import { acknowledged } from '../acknowledgement.ts';
import type { ClientKind } from '../client.ts';

type Payload = { messageId?: string; chunk?: string; content?: string };
const payloadOf = (frame: AnyFrame) => (frame.payload ?? {}) as Payload;

export const conversations: ClientKind = {
  dialect: 'conversations',
  newId: (random) => `temp-${random.unit().toString(36).slice(2, 11)}`,
  async open(context) {
    const { server, token, conversation, ledger } = context;
    const { id: session } = conversation;
    const own = (type: string) => (frame: AnyFrame) =>
      frame.type === type && frame.conversationId === session;
    const isOver = (frame: AnyFrame) => own('message_complete')(frame) || own('error')(frame);
    const client = await server.connect(`/ws?token=${token}&session=${session}`);
    const chunks = new Map<string, string>();
    const take = (frames: readonly AnyFrame[]) => {
      for (const frame of frames) {
        const { messageId: of = '', chunk = '', content = '' } = payloadOf(frame);
        if (own('message_chunk')(frame)) chunks.set(of, (chunks.get(of) ?? '') + chunk);
        if (!own('message_complete')(frame)) continue;
        ledger.shown.push({ session, dialect: 'conversations', part: 'turn', of, text: content });
        const pieces = chunks.get(of) ?? '';
        ledger.assembled.push({ session, dialect: 'conversations', pieces, whole: content });
      }
    };
    const until = async (wanted: string | ((frame: AnyFrame) => boolean)) => take(await client.until(wanted));

    client.send({ type: 'PING' });
    await until('PONG');
    const response = await fetch(`${server.http}/v1/conversations/${session}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (response.ok && ((await response.json()) as { status: string }).status === 'running')
      await until(isOver);

    return {
      async send(message) {
        const payload = { content: message.text };
        client.send({ type: 'send_message', conversationId: session, payload });
        await acknowledged(context, message, { started: () => until(own('agent_selected')), token });
      },
      async answerStarted() {
        await until(own('message_chunk'));
        ledger.saw('stream');
      },
      answered: async () => until(isOver),
      close: () => client.close(),
    };
  },
};
