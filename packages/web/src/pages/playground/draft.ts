/** The frame being written, stored in the browser. */

import { readStorage, writeStorage } from '@parlance/ui/state/storage.ts';
import { frameSummary } from '../../entries/frame-summary.ts';

export type Side = 'left' | 'right';

const nameOf = (side: Side): string => `parlance.playground.${side}`;

type Draft = { readonly dialect: string; readonly text: string; readonly session: string };

/** Null if none is stored for the dialect. References to its session are replaced by the current one. */
export function readDraft(side: Side, dialect: string, session: string): string | null {
  const kept = parsed(readStorage('local', nameOf(side)) ?? '');
  return kept && kept.dialect === dialect ? inSession(kept.text, kept.session, session) : null;
}

export const writeDraft = (side: Side, draft: Draft): void =>
  writeStorage('local', nameOf(side), JSON.stringify(draft));

/** Replaces the session id, also as a part of channel names, paths and other ids. */
export function inSession(text: string, from: string, to: string): string {
  if (from === '' || to === '') return text;
  const id = quotable(from).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.replace(new RegExp(`(?<=["/_-])${id}(?=["/.?])`, 'g'), () => quotable(to));
}

/** As it stands between the quotes of JSON. */
const quotable = (text: string): string => JSON.stringify(text).slice(1, -1);

function parsed(kept: string): Draft | null {
  try {
    const { dialect, text, session } = JSON.parse(kept) as Readonly<Record<string, unknown>>;
    if (typeof dialect !== 'string' || typeof text !== 'string' || typeof session !== 'string') return null;
    return { dialect, text, session };
  } catch {
    return null; // missing or written by something else
  }
}

export const written = (frame: object): string => JSON.stringify(frame, null, 2);

export type Validity =
  | { readonly valid: true; readonly type: string }
  | { readonly valid: false; readonly problem: string };

export function validityOf(text: string): Validity {
  try {
    JSON.parse(text);
    return { valid: true, type: frameSummary(text).type };
  } catch (thrown) {
    return { valid: false, problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
