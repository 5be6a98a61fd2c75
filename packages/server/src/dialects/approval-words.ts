/** For dialects without approval frames: what a client is told when a turn waits for a person. */
import type { Ask } from '@parlance/protocol';

export const waitingWords = (ask: Ask): string =>
  `Waiting for approval: ${ask.description} (answer yes or no)`;
