/** Waiting times of requests. */
import { mayStaySilent } from '../../../http/idle-connections.ts';
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';

/**
 * A stream is opened after this time even if there is nothing to send yet; until then a failure has an HTTP
 * status of its own.
 */
const OPENS_AFTER_MS = 5_000;

/** Resolves when a stream can be opened. Throws if the answer fails before there is anything to send. */
export async function untilOpen(exchange: Exchange, answer: Answer): Promise<void> {
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, OPENS_AFTER_MS);
  await Promise.race([exchange.started, timer.promise]).finally(() => clearTimeout(timeout));
  if (answer.text === '' && answer.calls.length === 0) await Promise.race([exchange.done, Promise.resolve()]);
}

/**
 * Waits for `finished` without a time limit. If the client disconnects, the turn that its request started is
 * cancelled.
 */
export async function abandoning(
  request: Request,
  exchange: Exchange,
  finished: Promise<void>,
): Promise<void> {
  mayStaySilent(request);
  const gone = () => exchange.abandon();
  if (request.signal.aborted) gone();
  request.signal.addEventListener('abort', gone, { once: true });
  try {
    await finished;
  } finally {
    request.signal.removeEventListener('abort', gone);
  }
}
