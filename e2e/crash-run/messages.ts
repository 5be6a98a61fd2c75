/** Messages of clients: each contains its number and has a known answer. */
import type { Random } from './random.ts';

/** Programs in the working directory. Both write their argument to `effects.txt` and linger. */
export const EFFECT = './effect';
/** the same, but it needs approval */
export const ASKED_EFFECT = './asked-effect';

export const countTo = (last: number): string => `count to ${last}`;
const counted = (last: number): string => Array.from({ length: last }, (_, index) => index + 1).join(' ');

export type Message = { readonly text: string; readonly effect?: string };

export type Effects = { next(): string };

/** The next message of a conversation: a call, a stream, or a side effect. */
export function messageFor(number: number, random: Random, effects: Effects): Message {
  const kind = random.unit();
  if (kind < 0.4) return { text: `echo message ${number}` };
  if (kind < 0.85) return { text: countTo(30 + number) };
  const effect = effects.next();
  return { text: `run ${EFFECT} ${effect}`, effect };
}

/** Whether a successful turn may have this answer. */
export function isAnswerTo(message: string, answer: string): boolean {
  const [, last] = /^count to (\d+)$/.exec(message) ?? [];
  if (last !== undefined) return answer === counted(Number(last));
  const [, said] = /^echo (.+)$/.exec(message) ?? [];
  return said === undefined ? answer !== '' : answer === `The echo came back: \`${said}\``;
}
