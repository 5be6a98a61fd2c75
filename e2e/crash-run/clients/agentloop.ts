/**
 * `agentloop`. Acknowledged: `loading_state` true after the input. The contract has no receipt, but a turn is
 * loading only if its input is stored. A message of an unknown type, which is answered in order, separates the
 * states sent on connect from later ones. A block of text is complete with `agent_finished`.
 */
import type { AnyFrame } from '../../../packages/server/src/testing/client.ts';
import { acknowledged } from '../acknowledgement.ts';
import type { ClientKind } from '../client.ts';

type Item = { id: string; type: string; role?: string; content?: { text: string }[] };
const itemOf = (frame: AnyFrame): Item | null =>
  frame.type === 'response_item' ? (frame.payload as Item) : null;
const isLoading = (frame: AnyFrame): boolean =>
  frame.type === 'loading_state' && (frame.payload as { loading: boolean }).loading;
/** The text of the answer so far is discarded. */
const isRestart = (frame: AnyFrame): boolean =>
  itemOf(frame)?.role === 'system' &&
  (itemOf(frame)?.content?.[0]?.text ?? '').endsWith('partial answer is discarded.');
const isFinished = (frame: AnyFrame): boolean => frame.type === 'agent_finished';
const isText = (frame: AnyFrame): boolean => itemOf(frame)?.role === 'assistant';
const isOver = (frame: AnyFrame): boolean => isFinished(frame) || frame.type === 'error';

export const agentloop: ClientKind = {
  dialect: 'agentloop',
  newId: (random) => `loop-${random.unit().toString(36).slice(2, 11)}`,
  async open(context) {
    const { server, conversation, ledger } = context;
    const { id: session } = conversation;
    const client = await server.connect(`/agentloop?session=${session}`);
    /** text by block, as far as this socket received it */
    const blocks = new Map<string, string>();
    const take = (frames: readonly AnyFrame[]) => {
      for (const frame of frames) {
        if (isLoading(frame) || isRestart(frame)) blocks.clear();
        const item = itemOf(frame);
        if (item?.role === 'assistant')
          blocks.set(item.id, (blocks.get(item.id) ?? '') + (item.content?.[0]?.text ?? ''));
        if (item?.type === 'function_call') ledger.saw('tool');
        if (!isFinished(frame)) continue;
        // A line break ends each block on the wire.
        for (const [of, text] of blocks)
          ledger.shown.push({
            session,
            dialect: 'agentloop',
            part: 'block',
            of,
            text: text.replace(/\n$/, ''),
          });
        blocks.clear();
      }
    };
    const finished = async () => take(await client.until(isOver));

    client.send({ id: 'barrier', type: 'barrier', payload: {} });
    const before = await client.until('error');
    take(before);
    if (before.some(isLoading) && !before.some(isFinished)) await finished();

    return {
      async send(message) {
        const content = [{ type: 'input_text', text: message.text }];
        const input = [{ type: 'message', role: 'user', content }];
        client.send({ id: crypto.randomUUID(), type: 'user_input', payload: { input } });
        await acknowledged(context, message, { started: async () => take(await client.until(isLoading)) });
      },
      async answerStarted() {
        take(await client.until(isText));
        ledger.saw('stream');
      },
      async answered(message) {
        if (message.text.startsWith('run'))
          take(await client.until((frame) => itemOf(frame)?.type === 'function_call'));
        await finished();
      },
      close: () => client.close(),
    };
  },
};
