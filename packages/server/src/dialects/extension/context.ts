/** The part of the server context that `extension` uses. */
import { z } from 'zod';
import type { DialectContext } from '../kit/dialect.ts';

export const Settings = z.object({
  /** origins that browser tools may access */
  allowedToolOrigins: z.array(z.string()).readonly(),
});

export type Context = Pick<
  DialectContext<z.output<typeof Settings>>,
  'countRequest' | 'authenticator' | 'engine' | 'log' | 'newId' | 'now' | 'readBody' | 'settings'
>;
