/** The frame that is being written: the only thing that the playground keeps. */
import { readKept, writeKept } from '../../state/kept.ts';
import { EXAMPLES, isSpoken, type Known, type Spoken } from './examples/index.ts';

export type Side = 'left' | 'right';

const nameOf = (side: Side): string => `parlance.playground.${side}`;

/** Null where none was kept, or of another dialect. */
export function readDraft(side: Side, dialect: Spoken): string | null {
  const kept = parsed(readKept('local', nameOf(side)) ?? '');
  return kept && kept.dialect === dialect ? kept.text : null;
}

export const writeDraft = (side: Side, dialect: Spoken, text: string): void =>
  writeKept('local', nameOf(side), JSON.stringify({ dialect, text }));

function parsed(kept: string): { dialect: Spoken; text: string } | null {
  try {
    const value = JSON.parse(kept) as { dialect?: unknown; text?: unknown } | null;
    if (typeof value?.dialect !== 'string' || typeof value.text !== 'string') return null;
    return isSpoken(value.dialect) ? { dialect: value.dialect, text: value.text } : null;
  } catch {
    return null; // kept by something else, or nothing at all
  }
}

export const written = (frame: object): string => JSON.stringify(frame, null, 2);

/** What a pane begins with: the first thing that one says in that dialect. */
export const firstDraft = (dialect: Spoken, known: Known): string =>
  written(EXAMPLES[dialect][0]?.frame(known) ?? {});

export type Validity =
  | { readonly valid: true; readonly type: string }
  | { readonly valid: false; readonly problem: string };

export function validityOf(text: string): Validity {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { valid: true, type: 'not an object' };
    const { type, event } = value as { type?: unknown; event?: unknown };
    const named = type ?? event;
    return { valid: true, type: typeof named === 'string' ? named : 'no type' };
  } catch (thrown) {
    return { valid: false, problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
