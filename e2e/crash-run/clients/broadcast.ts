/** `broadcast`. Acknowledged: `user_message` with the text and the `session_id` of the chat. */
import type { AnyFrame } from '../../../packages/server/src/testing/client.ts';
import type { ClientKind } from '../client.ts';

export const broadcast: ClientKind = {
  dialect: 'broadcast',
  newId: (random) => `chat-${random.unit().toString(36).slice(2, 11)}`,
  async open({ server, conversation, ledger }) {
    const { id: session } = conversation;
    const own = (type: string) => (frame: AnyFrame) => frame.type === type && frame.session_id === session;
    const client = await server.connect(`/ws?session=${session}`);
    /** Also for a turn that was already running on connect: the contract does not distinguish it. */
    const note = (frames: readonly AnyFrame[]) => {
      for (const frame of frames.filter(own('agent_message')))
        ledger.shown.push({
          session,
          dialect: 'broadcast',
          part: 'last step',
          text: String(frame.message),
        });
    };
    return {
      async send(message) {
        client.send({ type: 'chat', message: message.text, session_id: session });
        note(await client.until((frame) => own('user_message')(frame) && frame.message === message.text));
        ledger.acknowledge(message);
      },
      async answered(message) {
        if (message.text.startsWith('run')) {
          await client.next(own('tool_call'));
          ledger.saw('tool');
        }
        note(await client.until((frame) => own('agent_message')(frame) || own('error')(frame)));
      },
      close: () => client.close(),
    };
  },
};
