/** How long a request waits before it is answered. */
import { mayStaySilent } from '../../../http/idle-connections.ts';
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';

/** A stream is opened after this time if there is nothing to show yet; until then a failure has a status of its own. */
const OPENS_AFTER_MS = 5_000;

/** Resolves when a stream can be opened. Throws if the answer has failed before there was anything to show. */
export async function untilOpen(exchange: Exchange, answer: Answer): Promise<void> {
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, OPENS_AFTER_MS);
  await Promise.race([exchange.begun, timer.promise]).finally(() => clearTimeout(timeout));
  if (answer.text === '' && answer.calls.length === 0) await Promise.race([exchange.done, Promise.resolve()]);
}

/** Waits for `finished`, however long it takes. A client that hangs up meanwhile ends the turn that its request began. */
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
