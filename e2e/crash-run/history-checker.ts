/**
 * Checks a history: a pure function of its operations. A session is an append-only list of inputs. Each list is
 * linearizable if and only if the order of the last read is compatible with the real-time order of all inputs
 * and reads, because every text occurs once.
 */
import type { Violation } from './checker.ts';
import type { Operation } from './history.ts';

type Of<Name extends Operation['operation']> = Extract<Operation, { operation: Name }>;
type Read = Of<'read'> & { readonly end: number; readonly result: NonNullable<Of<'read'>['result']> };

export function checkHistory(operations: readonly Operation[]): Violation[] {
  const only = <Name extends Operation['operation']>(name: Name) =>
    operations.filter((one): one is Of<Name> => one.operation === name);
  const inputs = Map.groupBy(only('input'), (one) => one.arguments.session);
  const reads = Map.groupBy(only('read').filter(isRead), (one) => one.arguments.session);
  const approvals = Map.groupBy(only('approve'), (one) => one.arguments.session);
  return [
    ...[...new Set([...inputs.keys(), ...reads.keys()])].flatMap((session) =>
      checkSession(session, inputs.get(session) ?? [], reads.get(session) ?? []),
    ),
    ...[...approvals].flatMap(([session, answers]) =>
      checkApprovals(session, answers, reads.get(session) ?? []),
    ),
    ...checkCredentials(only('credential.use'), only('credential.revoke')),
    ...checkLeases(only('leases')),
    ...checkUsage(only('usage'), [...reads.values()]),
  ];
}

const isRead = (one: Of<'read'>): one is Read => one.end !== null && one.result !== undefined;

/** `after` started when `before` had ended. */
const precedes = (before: Operation, after: Operation): boolean =>
  before.end !== null && before.end < after.start;

const lastOf = (reads: readonly Read[]): Read | undefined =>
  reads.reduce<Read | undefined>((last, one) => (last && last.start > one.start ? last : one), undefined);

function checkSession(session: string, inputs: readonly Of<'input'>[], reads: readonly Read[]): Violation[] {
  const violations: Violation[] = [];
  const add = (rule: Violation['rule'], what: string) => violations.push({ rule, session, what });
  const last = lastOf(reads);
  if (!last)
    return inputs.some(({ type }) => type === 'ok') ? [{ rule: 'lost', session, what: 'unread' }] : [];
  const list = last.result.inputs;
  const positions = new Map(list.map((text, index) => [text, index]));
  const byText = Map.groupBy(inputs, (one) => one.arguments.text);

  for (const [text, attempts] of byText) {
    const times = list.filter((stored) => stored === text).length;
    if (times > 1) add('stored twice', text);
    // What was invoked after the last read may be absent from it.
    if (times === 0 && attempts.some((one) => one.type === 'ok' && precedes(one, last))) add('lost', text);
    if (times > 0 && attempts.every(({ type }) => type === 'fail')) add('refused but stored', text);
    const events = new Set(attempts.flatMap(({ result }) => result?.event ?? []));
    if (events.size > 1) add('key with two effects', `${text}: ${[...events].join(', ')}`);
  }
  for (const text of positions.keys()) if (!byText.has(text)) add('never sent', text);

  // An input took effect after its first invocation began, and before one of its invocations was acknowledged.
  const intervals = [...byText].flatMap(([text, attempts]) => {
    const position = positions.get(text);
    const start = Math.min(...attempts.map((one) => one.start));
    const ends = attempts.flatMap((one) => (one.type === 'ok' && one.end !== null ? [one.end] : []));
    return position === undefined ? [] : [{ text, position, start, end: Math.min(...ends) }];
  });
  const inOrder = intervals.toSorted((one, other) => one.position - other.position);
  let latestStart = { text: '', start: Number.NEGATIVE_INFINITY };
  for (const { text, start, end } of inOrder) {
    if (end < latestStart.start) add('out of order', `${text} was acknowledged before ${latestStart.text}`);
    if (start > latestStart.start) latestStart = { text, start };
  }

  for (const read of reads) {
    const length = read.result.inputs.length;
    if (read.result.inputs.some((text, index) => list[index] !== text))
      add('stale read', `${read.process} read another order than the last read`);
    for (const { text, position, start, end } of intervals) {
      if (end < read.start && position >= length)
        add('stale read', `${read.process} did not see ${text}, which was acknowledged before`);
      if (start > read.end && position < length) add('stale read', `${read.process} saw ${text} too early`);
    }
    if (reads.some((earlier) => precedes(earlier, read) && earlier.result.inputs.length > length))
      add('stale read', `${read.process} saw less than an earlier read`);
  }
  return violations;
}

/** Of several answers to an approval, one is acknowledged, and that one is stored. */
function checkApprovals(
  session: string,
  answers: readonly Of<'approve'>[],
  reads: readonly Read[],
): Violation[] {
  const violations: Violation[] = [];
  const stored = lastOf(reads)?.result.answers ?? [];
  for (const [approval, attempts] of Map.groupBy(answers, (one) => one.arguments.approval)) {
    const add = (rule: Violation['rule'], what: string) =>
      violations.push({ rule, session, what: `${approval}: ${what}` });
    const acknowledged = attempts.filter(({ type }) => type === 'ok');
    const kept = stored.flatMap(([id, answer]) => (id === approval ? [answer] : []));
    if (acknowledged.length > 1) add('approval answered twice', `${acknowledged.length} were acknowledged`);
    if (kept.length > 1) add('approval answered twice', `${kept.join(', ')} are stored`);
    for (const one of acknowledged)
      if (!kept.includes(one.arguments.answer)) add('answer lost', one.arguments.answer);
  }
  return violations;
}

/** No use that starts after an acknowledged revocation is accepted, on any node. */
function checkCredentials(
  uses: readonly Of<'credential.use'>[],
  revocations: readonly Of<'credential.revoke'>[],
): Violation[] {
  return revocations.flatMap((revoked) => {
    const { credential } = revoked.arguments;
    const late = uses.filter(
      (use) =>
        use.arguments.credential === credential &&
        use.type === 'ok' &&
        revoked.type === 'ok' &&
        precedes(revoked, use),
    );
    return late.map(
      (use): Violation => ({
        rule: 'revoked credential accepted',
        session: '',
        what: `${credential}, ${Math.round(use.start - (revoked.end ?? 0))} ms after its revocation`,
      }),
    );
  });
}

/** What is counted never decreases, and has all that was read in sessions before. */
function checkUsage(usages: readonly Of<'usage'>[], reads: readonly (readonly Read[])[]): Violation[] {
  const violations: Violation[] = [];
  const add = (rule: Violation['rule'], what: string) => violations.push({ rule, session: '', what });
  for (const usage of usages) {
    const tokens = usage.result?.tokens;
    if (tokens === undefined) continue;
    const used = reads.reduce((sum, ofSession) => {
      const before = ofSession.filter((read) => precedes(read, usage));
      return sum + Math.max(0, ...before.map(({ result }) => result.tokens ?? 0));
    }, 0);
    if (tokens < used) add('usage not counted', `${tokens} tokens, but sessions have used ${used}`);
    const earlier = usages.filter((one) => one.result && precedes(one, usage));
    const most = Math.max(0, ...earlier.map(({ result }) => result?.tokens ?? 0));
    if (tokens < most) add('usage decreased', `from ${most} to ${tokens} tokens`);
  }
  return violations;
}

/** Epochs never decrease, and one epoch has one driver. */
function checkLeases(observations: readonly Of<'leases'>[]): Violation[] {
  const violations: Violation[] = [];
  const known = new Map<string, { epoch: number; driver: string | null }>();
  for (const { result } of observations.toSorted((one, other) => one.start - other.start)) {
    for (const [session, epoch, driver] of result?.held ?? []) {
      const before = known.get(session);
      if (before && epoch < before.epoch)
        violations.push({ rule: 'epoch decreased', session, what: `from ${before.epoch} to ${epoch}` });
      const isSame = before?.epoch === epoch;
      if (isSame && before.driver !== null && driver !== null && driver !== before.driver)
        violations.push({ rule: 'two drivers', session, what: `${before.driver} and ${driver} in ${epoch}` });
      known.set(session, { epoch, driver: driver ?? (isSame ? before.driver : null) });
    }
  }
  return violations;
}
