/** What "always" has allowed in a session, where it is told without opening the session. */

import type { SessionRecord } from '../ports/event-store.ts';
import { restoredState } from './checkpoint.ts';

/** Null where something happened since the session was last at rest: its events must be read then. */
export function restedGrants({ checkpoint, head }: SessionRecord): readonly string[] | null {
  return checkpoint?.seq === head ? (restoredState(checkpoint)?.grants ?? null) : null;
}
