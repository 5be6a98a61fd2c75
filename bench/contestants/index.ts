import { byHand } from './by-hand.ts';
import { codex } from './codex.ts';
import { type Contestant, inRepository } from './contestant.ts';
import { floor, socketFloor } from './floor.ts';
import { GATEWAYS } from './gateways.ts';
import { opencode } from './opencode.ts';
import { parlanceIn } from './parlance.ts';

export const CONTESTANTS: readonly Contestant[] = [
  floor,
  socketFloor,
  byHand,
  codex,
  opencode,
  ...parlanceIn(inRepository('.')),
];

/** `checkout`: a folder with another version of Parlance. */
export function contestantOf(name: string, checkout: string | null = null): Contestant {
  const known = checkout === null ? CONTESTANTS : parlanceIn(checkout);
  const found = known.find((contestant) => contestant.name === name);
  if (!found) throw new Error(`there is no contestant ${name}`);
  return found;
}

/** Whether the subject of a row is a peer that Parlance is compared with. */
export const isPeer = (subject: string): boolean =>
  subject === 'plain ws broadcast' ||
  (!subject.startsWith('Parlance') &&
    [...CONTESTANTS, ...GATEWAYS].some(({ name }) => name === subject.split(':')[0]));
