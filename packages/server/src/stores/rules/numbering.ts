/** What must hold of an append before a store looks at the session. A log with a gap could never be read again. */
import type { Fact } from '@parlance/protocol';
import type { SessionRecord } from '../../core/ports/store.ts';

/** Throws where the caller has a bug: the facts are of another session, or are not numbered from `expected` on. */
export function checkNumbering(expected: number, facts: readonly Fact[], record: SessionRecord): void {
  const stray = facts.find((fact, index) => fact.seq !== expected + 1 + index);
  if (stray) throw new Error(`fact ${stray.seq} does not follow on from ${expected}`);
  const foreign = facts.find((fact) => fact.session !== record.ref.id);
  if (foreign) throw new Error(`fact ${foreign.seq} is of another session`);
  const head = expected + facts.length;
  if (head === 0) throw new Error('a session begins with a fact');
  if (record.head !== head) throw new Error(`the record says ${record.head}, the last fact is ${head}`);
}
