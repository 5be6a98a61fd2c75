/**
 * `extension`. Acknowledged: the first `agent_status` of the session after the message. The contract has no
 * receipt, but a turn is shown as started only if its message is stored, and this client sends nothing while
 * another turn runs.
 */
import type { AnyFrame } from '../../../packages/server/src/testing/client.ts';
import type { ServerProcess } from '../../server-process.ts';
import { acknowledged } from '../acknowledgement.ts';
import type { ClientKind } from '../client.ts';

export const extension: ClientKind = {
  dialect: 'extension',
  newId: (random) => `session_1234567890_${random.unit().toString(36).slice(2, 11)}`,
  async open(context) {
    const { server, conversation, ledger } = context;
    const { id: session } = conversation;
    const own = (frame: AnyFrame) => frame.sessionId === session;
    const over = (frame: AnyFrame) =>
      own(frame) && (frame.type === 'agent_response' || frame.type === 'error');
    const client = await registered(server, session, []);
    client.send({ id: 'barrier', type: 'ping', timestamp: Date.now() });
    const before = await client.until('pong');

    async function answered(): Promise<void> {
      const frames = await client.until(over);
      for (const frame of frames) {
        if (own(frame) && frame.currentTool === 'shell') ledger.saw('tool');
        if (own(frame) && frame.type === 'agent_response')
          ledger.shown.push({
            session,
            dialect: 'extension',
            part: 'last step',
            text: String(frame.content),
          });
      }
    }
    if (before.some(own) && !before.some(over)) await answered();

    return {
      async send(message) {
        client.send(chat(session, message.text));
        const started = () => client.next((frame) => own(frame) && frame.type === 'agent_status');
        await acknowledged(context, message, { started });
      },
      async answered(message) {
        if (message.text.startsWith('run')) {
          await client.next((frame) => own(frame) && frame.currentTool === 'shell');
          ledger.saw('tool');
        }
        await answered();
      },
      close: () => client.close(),
    };
  },
};

export const chat = (session: string, content: string) => ({
  id: `msg_${Date.now()}_abcdef123`,
  type: 'chat_message',
  timestamp: Date.now(),
  content,
  sessionId: session,
});

/** A socket on the shared path that has registered and attached to the session. */
export async function registered(server: ServerProcess, session: string, capabilities: readonly string[]) {
  const client = await server.connect(`/?session=${session}`);
  client.send({
    id: 'msg_1_registration',
    type: 'client_registration',
    timestamp: Date.now(),
    clientType: 'browser_extension',
    capabilities,
  });
  await client.next('registration_confirmed');
  return client;
}
