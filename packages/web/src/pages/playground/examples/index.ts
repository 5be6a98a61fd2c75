/** The examples of each dialect that the playground speaks. */
import { AGENTLOOP } from './agentloop.ts';
import { BROADCAST } from './broadcast.ts';
import { CONVERSATIONS } from './conversations.ts';
import { COPILOT } from './copilot.ts';
import type { Example } from './example.ts';
import { EXTENSION } from './extension.ts';
import { NATIVE } from './native.ts';
import { PUSHER } from './pusher.ts';

export const SPOKEN = [
  'agentloop',
  'extension',
  'broadcast',
  'conversations',
  'copilot',
  'pusher',
  'native',
] as const;
export type Spoken = (typeof SPOKEN)[number];

export const isSpoken = (name: string): name is Spoken => SPOKEN.some((spoken) => spoken === name);

export const EXAMPLES: Readonly<Record<Spoken, readonly Example[]>> = {
  agentloop: AGENTLOOP,
  extension: EXTENSION,
  broadcast: BROADCAST,
  conversations: CONVERSATIONS,
  copilot: COPILOT,
  pusher: PUSHER,
  native: NATIVE,
};

export { type Example, type Known, UNKNOWN } from './example.ts';
