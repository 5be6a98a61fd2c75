/** Sessions as lines of JSON: a header, then one line per fact. A file may hold several, one after the other. */
import { z } from 'zod';
import { PrincipalId, SessionId } from './ids.ts';

export const SESSION_FORMAT = 'parlance.session';
export const SESSION_FORMAT_VERSION = 1;

/** The first line of a session. */
export const SessionHeader = z.object({
  format: z.literal(SESSION_FORMAT),
  version: z.literal(SESSION_FORMAT_VERSION),
  session: z.object({ owner: PrincipalId, id: SessionId }),
  /** how many lines of facts follow */
  facts: z.number().int().positive(),
});
export type SessionHeader = z.infer<typeof SessionHeader>;
