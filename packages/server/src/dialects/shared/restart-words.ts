/** The text for clients when a model call is retried: once per call, however many attempts. */
import type { DurableEvent } from '@parlance/protocol';

type Restarted = DurableEvent<'step.restarted'>;

/** Null when the same call is tried once more. */
export const restartWords = (event: Restarted): string | null =>
  isFirst(event) ? `Trying again${where(event)}: ${reason(event)}` : null;

/** For clients that have shown the answer as it was streamed. Null if there is nothing new to say. */
export function streamRestartWords(event: Restarted): string | null {
  const tried = `${reason(event)} Trying again${where(event)}`;
  if (isFirst(event)) return event.shown ? `${tried}; what was shown of this answer is void.` : `${tried}.`;
  return event.shown ? `${reason(event)} What was shown of this answer is void.` : null;
}

const isFirst = ({ attempt }: Restarted): boolean => attempt <= 2;

const where = ({ host, fault }: Restarted): string =>
  host === undefined || fault.message.includes(host) ? '' : ` at ${host}`;

/** Without brackets: many clients put such a line in brackets of their own. */
const reason = ({ fault }: Restarted): string => fault.message.replace(/ \(([^()]*)\)/g, ': $1');
