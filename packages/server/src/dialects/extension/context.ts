/** What `extension` uses of the server. */
import { z } from 'zod';
import type { DialectContext } from '../shared/dialect.ts';

export const Settings = z.object({
  /** the origins that browser tools may touch */
  allowedToolOrigins: z.array(z.string()).readonly(),
});

export type Context = Pick<
  DialectContext<z.output<typeof Settings>>,
  'asked' | 'authenticator' | 'engine' | 'log' | 'newId' | 'now' | 'readBody' | 'settings'
>;
