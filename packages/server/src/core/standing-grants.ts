/** What "always" has allowed in a session, where it is told without opening the session. */
import type { SessionRecord } from './ports/store.ts';
import { type SessionState, STATE_VERSION } from './session.ts';

/** Null where something happened since the session was last at rest: its facts must be read then. */
export function restedGrants({ checkpoint, head }: SessionRecord): readonly string[] | null {
  if (checkpoint?.version !== STATE_VERSION || checkpoint.seq !== head) return null;
  return (JSON.parse(checkpoint.state) as SessionState).grants;
}
