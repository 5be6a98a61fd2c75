/**
 * Checks that nothing was lost: a pure function of the received and the stored data. Returns the violations.
 */
import type { DurableEvent } from '../../packages/protocol/src/index.ts';
import type { Evidence, Sent, Shown } from './evidence.ts';
import { isAnswerTo } from './messages.ts';
import { ENDED, readTurns, type SessionRead, shownOf, type TurnRead } from './turns.ts';

export type Violation = {
  readonly rule:
    | 'lost'
    | 'stored twice'
    | 'out of order'
    | 'never sent'
    | 'gap in numbers'
    | 'number reused'
    | 'incomplete text'
    | 'turn without end'
    | 'no answer'
    | 'effect twice'
    | 'effect misreported'
    | 'approval vanished'
    | 'approval answered twice'
    | 'answer lost'
    | 'refused but stored'
    | 'stale read'
    | 'key with two effects'
    | 'revoked credential accepted'
    | 'epoch decreased'
    | 'two drivers'
    | 'usage not counted'
    | 'usage decreased'
    | 'client error';
  readonly session: string;
  readonly what: string;
};

type Read = ReadonlyMap<string, SessionRead>;

export function check(evidence: Evidence): Violation[] {
  const read: Read = new Map([...evidence.events].map(([session, events]) => [session, readTurns(events)]));
  return [
    ...messages(evidence, read),
    ...[...evidence.events].flatMap(([session, events]) => numbers(session, events)),
    ...receivedEvents(evidence),
    ...[...read].flatMap(([session, { turns, unstarted }]) => ends(session, turns, unstarted)),
    ...shown(evidence, read),
    ...effects(evidence, read),
    ...approvals(evidence, read),
    ...evidence.errors.map((what): Violation => ({ rule: 'client error', session: '', what })),
  ];
}

/**
 * Every acknowledged message is stored exactly once and in order; the others at most once. An unacknowledged
 * one may be stored late: a paused node held it while its client continued on another node.
 */
function messages({ sent }: Evidence, read: Read): Violation[] {
  const violations: Violation[] = [];
  const bySession = Map.groupBy(sent, ({ session }) => session);
  for (const session of new Set([...bySession.keys(), ...read.keys()])) {
    const own = bySession.get(session) ?? [];
    const stored = read.get(session)?.inputs ?? [];
    for (const message of own) violations.push(...storedOnce(message, stored));
    let latest = -1;
    for (const text of stored) {
      const at = own.findIndex((message) => message.text === text);
      if (at < 0) violations.push({ rule: 'never sent', session, what: text });
      else if (at < latest && own[at]?.acknowledged)
        violations.push({ rule: 'out of order', session, what: text });
      latest = Math.max(latest, at);
    }
  }
  return violations;
}

function storedOnce({ session, text, acknowledged }: Sent, stored: readonly string[]): Violation[] {
  const times = stored.filter((kept) => kept === text).length;
  if (times > 1) return [{ rule: 'stored twice', session, what: text }];
  return acknowledged && times === 0 ? [{ rule: 'lost', session, what: text }] : [];
}

/** Numbers start at 1 and have no gap, and ids are unique. */
function numbers(session: string, events: readonly DurableEvent[]): Violation[] {
  const violations: Violation[] = [];
  const ids = new Set<string>();
  for (const [index, { seq, id, type }] of events.entries()) {
    if (seq !== index + 1)
      violations.push({ rule: 'gap in numbers', session, what: `${type} is ${seq}, not ${index + 1}` });
    if (ids.has(id)) violations.push({ rule: 'number reused', session, what: `${type} ${id} occurs twice` });
    ids.add(id);
  }
  return violations;
}

/** A received event equals the stored one with its number, and none was skipped or repeated. */
function receivedEvents({ received: all, events }: Evidence): Violation[] {
  const violations: Violation[] = [];
  const positions = new Map<string, number>();
  for (const { reader, session, seq, id } of all) {
    const stored = events.get(session)?.[seq - 1];
    if (stored?.id !== id)
      violations.push({
        rule: 'number reused',
        session,
        what: `${seq} was ${id}, and is ${stored?.id ?? 'gone'}`,
      });
    if (reader === null) continue;
    const before = positions.get(reader) ?? 0;
    if (seq !== before + 1)
      violations.push({
        rule: 'gap in numbers',
        session,
        what: `${reader} received ${seq} after ${before}`,
      });
    positions.set(reader, seq);
  }
  return violations;
}

/** Every input has a turn, every turn one end, and a successful one has its complete answer. */
function ends(session: string, turns: readonly TurnRead[], unstarted: number): Violation[] {
  const violations: Violation[] = [];
  const add = (rule: Violation['rule'], what: string) => violations.push({ rule, session, what });
  if (unstarted > 0) add('turn without end', `${unstarted} inputs never started a turn`);
  for (const turn of turns) {
    if (turn.ends.length !== 1) add('turn without end', `“${turn.asked}” has ${turn.ends.length} ends`);
    if (turn.late > 0) add('turn without end', `“${turn.asked}” continued after its end`);
    if (turn.ends[0] === 'turn.failed') add('no answer', `“${turn.asked}” failed`);
    if (turn.ends[0] !== ENDED) continue;
    const said = shownOf(turn, 'last step');
    if (turn.interrupted || !isAnswerTo(turn.asked, said))
      add('incomplete text', `“${turn.asked}” ended with “${tail(said)}”`);
  }
  const last = turns.at(-1);
  if (last?.ends[0] !== ENDED) add('no answer', `the last message, “${last?.asked ?? ''}”`);
  return violations;
}

/** A text shown as complete is stored as complete. */
function shown({ shown: all, assembled }: Evidence, read: Read): Violation[] {
  const violations: Violation[] = [];
  for (const one of all) {
    const turns = read.get(one.session)?.turns ?? [];
    if (!isStored(one, turns))
      violations.push({
        rule: 'incomplete text',
        session: one.session,
        what: `${one.dialect} was shown “${tail(one.text)}”, which is not the text of any ${one.part}`,
      });
  }
  for (const { session, dialect, pieces, whole } of assembled) {
    if (pieces !== whole)
      violations.push({
        rule: 'incomplete text',
        session,
        what: `${dialect}: the joined deltas are “${tail(pieces)}”, the text is “${tail(whole)}”`,
      });
  }
  return violations;
}

function isStored({ part, of, text }: Shown, turns: readonly TurnRead[]): boolean {
  if (part === 'block') return turns.some(({ blocks }) => blocks.get(of ?? '') === text);
  return turns.some(
    (turn) =>
      (of === undefined || turn.names.includes(of)) && turn.ends[0] === ENDED && shownOf(turn, part) === text,
  );
}

/** A side effect happened at most once, never without an event before it, and its outcome is reported correctly. */
function effects({ effects: all, performed }: Evidence, read: Read): Violation[] {
  const times = new Map<string, number>();
  for (const name of performed) times.set(name, (times.get(name) ?? 0) + 1);
  return all.flatMap(({ session, name }) => {
    const violations: Violation[] = [];
    const add = (rule: Violation['rule'], what: string) =>
      violations.push({ rule, session, what: `${name} ${what}` });
    const turns = read.get(session)?.turns ?? [];
    const calls = turns.flatMap((turn) => [...turn.calls.values()]).filter(({ input }) => names(input, name));
    const outcomes = calls.flatMap((call) => call.outcomes);
    const count = times.get(name) ?? 0;
    const started = calls.reduce((sum, call) => sum + call.started, 0);
    if (count > 1 || started > 1) add('effect twice', `began ${started} times and happened ${count} times`);
    if (count > 0 && started === 0) add('effect misreported', 'happened without an event for its start');
    if (calls.some((call) => call.started > 0 && call.outcomes.length !== 1))
      add('effect misreported', `has ${outcomes.length} outcomes`);
    if (count === 0 && outcomes.includes('ok'))
      add('effect misreported', 'is reported as done but did not happen');
    if (count > 0 && !outcomes.some((outcome) => outcome === 'ok' || outcome === 'unknown'))
      add('effect misreported', `happened but is reported as ${outcomes.join(', ') || 'nothing'}`);
    return violations;
  });
}

const names = (input: string, name: string): boolean => input.split(/[^\w-]/).includes(name);

/** An unanswered approval is still pending; an answered one is answered once. */
function approvals({ waited, pending }: Evidence, read: Read): Violation[] {
  return waited.flatMap(({ session, approval, answer }) => {
    const violations: Violation[] = [];
    const times = read.get(session)?.approvals.get(approval) ?? 0;
    if (answer === 'none' && !pending.includes(approval))
      violations.push({ rule: 'approval vanished', session, what: approval });
    if (answer === 'acknowledged' && times === 0)
      violations.push({ rule: 'answer lost', session, what: approval });
    if (times > 1) violations.push({ rule: 'approval answered twice', session, what: approval });
    return violations;
  });
}

const tail = (text: string): string => (text.length <= 60 ? text : `…${text.slice(-60)}`);
