/** The standing grants of a session, read from its record. */

import type { SessionRecord } from '../ports/event-store.ts';
import { restoredState } from './checkpoint.ts';

/** Null if the checkpoint is outdated: the events must be read then. */
export function grantsAtCheckpoint({ checkpoint, head }: SessionRecord): readonly string[] | null {
  return checkpoint?.seq === head ? (restoredState(checkpoint)?.grants ?? null) : null;
}
