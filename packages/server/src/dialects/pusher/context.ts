/** The part of the server context that `pusher` uses. */
import { z } from 'zod';
import type { DialectContext } from '../kit/dialect.ts';

export const Settings = z.object({
  channels: z.boolean(),
  channelsAppId: z.string(),
  channelsKey: z.string(),
  channelsSecret: z.string(),
  /** the external server to trigger events on; if absent, they are delivered here */
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
