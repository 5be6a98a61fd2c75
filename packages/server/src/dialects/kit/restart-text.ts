/** The message to clients when a model call is retried: one per call, for any number of attempts. */
import type { DurableEvent } from '@parlance/protocol';

type Restarted = DurableEvent<'step.restarted'>;

/** Null for repeated attempts of the same call. */
export const restartText = (event: Restarted): string | null =>
  isFirst(event) ? `Trying again${where(event)}: ${event.fault.message}` : null;

/** For clients that show the answer while it is streamed. Null if there is nothing new to report. */
export function streamRestartText(event: Restarted): string | null {
  const tried = `${event.fault.message} Trying again${where(event)}`;
  if (isFirst(event)) return event.shown ? `${tried}; the partial answer is discarded.` : `${tried}.`;
  return event.shown ? `${event.fault.message} The partial answer is discarded.` : null;
}

const isFirst = ({ attempt }: Restarted): boolean => attempt <= 2;

const where = ({ host, fault }: Restarted): string =>
  host === undefined || fault.message.includes(host) ? '' : ` at ${host}`;
