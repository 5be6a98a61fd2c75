/** What `pusher` uses of the server. */
import { z } from 'zod';
import type { DialectContext } from '../shared/dialect.ts';

export const Settings = z.object({
  channels: z.boolean(),
  channelsAppId: z.string(),
  channelsKey: z.string(),
  channelsSecret: z.string(),
  /** the external server that events are triggered on; they are delivered here if absent */
  channelsHost: z.string().optional(),
  channelsPort: z.number().optional(),
  channelsUseTls: z.boolean(),
  auth: z.enum(['open', 'required']),
});
export type Settings = z.output<typeof Settings>;

export type Context = Pick<
  DialectContext<Settings>,
  'authenticator' | 'channels' | 'engine' | 'log' | 'readBody' | 'settings'
>;
