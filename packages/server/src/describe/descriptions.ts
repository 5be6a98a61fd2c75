/** Everything the server serves, described: its dialects in alphabetical order, then the server itself. */
import { description as agentloop } from '../dialects/agentloop/describe.ts';
import { description as broadcast } from '../dialects/broadcast/describe.ts';
import { description as conversations } from '../dialects/conversations/describe.ts';
import { description as copilot } from '../dialects/copilot/describe.ts';
import { description as extension } from '../dialects/extension/describe.ts';
import { description as native } from '../dialects/native/describe.ts';
import { description as pusher } from '../dialects/pusher/describe.ts';
import type { Description } from '../dialects/shared/description.ts';
import { description as server } from './server.ts';

export type Described = Description & { readonly name: string };

export const DESCRIPTIONS: readonly Described[] = [
  { name: 'agentloop', ...agentloop },
  { name: 'broadcast', ...broadcast },
  { name: 'conversations', ...conversations },
  { name: 'copilot', ...copilot },
  { name: 'extension', ...extension },
  { name: 'native', ...native },
  { name: 'pusher', ...pusher },
  { name: 'server', ...server },
];
