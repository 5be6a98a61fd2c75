/** The response to a call as a stream: messages, then the result. */
import type { EventStream } from '../../http/connection.ts';
import { reported, requestIds } from '../kit/dialect.ts';
import { errorMessage, resultMessage } from '../kit/json-rpc.ts';
import type { CallResponse } from './call-tool.ts';
import type { Context } from './context.ts';
import { errorOf } from './faults.ts';
import type { CallKey } from './open-calls.ts';
import { encodeMark, encodeMessage, OPEN } from './server-sent-events.ts';
import { SERVER_CLOSES } from './tool-call.ts';

export type StreamedCall = {
  readonly key: CallKey;
  readonly run: (answering: CallResponse) => Promise<object>;
};

export function callStream(ctx: Context, request: Request, call: StreamedCall): Response {
  const produce = producer(ctx, { ...call, ids: requestIds(request) });
  return ctx.stream(request, { dialect: 'mcp', encode: JSON.stringify, produce });
}

/** Created outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  (ctx: Context, { key, run, ids }: StreamedCall & { readonly ids: ReturnType<typeof requestIds> }) =>
  async (stream: EventStream): Promise<void> => {
    stream.send(OPEN);
    const gone = new AbortController();
    void left(stream).then(() => gone.abort());
    stream.onClosing(() => gone.abort(SERVER_CLOSES));
    let isResumable = false;
    const messages = {
      send: (message: object) => void stream.send(encodeMessage(message)),
      prime: (mark: string) => {
        isResumable = stream.send(encodeMark(mark));
      },
      ready: () => stream.ready(),
    };
    const send = async (answer: object): Promise<void> => {
      if (ctx.calls.isCancelled(key)) return;
      // Without an answer, the client resumes the stream, and gets the result of the turn.
      if (isResumable && gone.signal.reason === SERVER_CLOSES) return;
      await stream.ready();
      stream.send(encodeMessage(answer));
    };
    // Not in a variable: an answer can be large, and its reader slow.
    await run({ stream: messages, gone: gone.signal }).then(
      (result) => send(resultMessage(key.request, result)),
      (thrown) => send(errorMessage(key.request, errorOf(reported(thrown, ctx, ids)))),
    );
    await stream.ready();
  };

/**
 * Resolves when the reader has disconnected. Messages that a slow reader missed are lost; the result is still
 * sent.
 */
async function left(stream: EventStream): Promise<void> {
  while (await stream.lost()) await stream.ready();
}
