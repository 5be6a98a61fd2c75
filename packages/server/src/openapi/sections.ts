/** Every HTTP endpoint of the server. One that is not here, or is here and nowhere else, fails a test. */
import type { Section } from './endpoint.ts';
import { broadcast } from './endpoints/broadcast.ts';
import { conversations } from './endpoints/conversations.ts';
import { copilot } from './endpoints/copilot.ts';
import { extension } from './endpoints/extension.ts';
import { native } from './endpoints/native.ts';
import { pusher } from './endpoints/pusher.ts';
import { server } from './endpoints/server.ts';

export const SECTIONS: readonly Section[] = [
  broadcast,
  conversations,
  copilot,
  extension,
  native,
  pusher,
  server,
];
