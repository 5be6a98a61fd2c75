import type { NumberedEvent } from './response-follower.ts';

export const encodeEvent = (event: NumberedEvent): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
