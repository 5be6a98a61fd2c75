import { byHand } from './by-hand.ts';
import { codex } from './codex.ts';
import type { Contestant } from './contestant.ts';
import { floor } from './floor.ts';
import { opencode } from './opencode.ts';
import { parlance } from './parlance.ts';

export const CONTESTANTS: readonly Contestant[] = [floor, byHand, codex, opencode, ...parlance];

export function contestantOf(name: string): Contestant {
  const found = CONTESTANTS.find((contestant) => contestant.name === name);
  if (!found) throw new Error(`there is no contestant ${name}`);
  return found;
}
