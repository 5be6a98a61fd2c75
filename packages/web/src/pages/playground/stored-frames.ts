/** Frames kept in the browser, by user and dialect: those that were sent last, and those saved under a name. */

import { readStorage, writeStorage } from '@parlance/ui/state/storage.ts';
import { useState } from 'react';

export type StoredFrame = {
  readonly text: string;
  /** the session that it was written for */
  readonly session: string;
};
export type SavedFrame = StoredFrame & { readonly name: string };
export type StoredFrames = { readonly sent: readonly StoredFrame[]; readonly saved: readonly SavedFrame[] };

const MAX_SENT = 30;
const MAX_SAVED = 50;
/** Longer frames are not kept: the storage of a page is small. */
const MAX_FRAME_LENGTH = 20_000;

/** The last one first, each text once. */
export function withSent({ sent, saved }: StoredFrames, frame: StoredFrame): StoredFrames {
  if (frame.text.length > MAX_FRAME_LENGTH) return { sent, saved };
  return { saved, sent: [frame, ...sent.filter(({ text }) => text !== frame.text)].slice(0, MAX_SENT) };
}

/** Replaces one of the same name. Null if the frame is too long, or if there are too many. */
export function withSaved({ sent, saved }: StoredFrames, frame: SavedFrame): StoredFrames | null {
  const others = saved.filter(({ name }) => name !== frame.name);
  if (frame.text.length > MAX_FRAME_LENGTH || others.length >= MAX_SAVED) return null;
  return { sent, saved: [...others, frame].sort((one, other) => one.name.localeCompare(other.name)) };
}

export const withoutSaved = ({ sent, saved }: StoredFrames, removed: string): StoredFrames => ({
  sent,
  saved: saved.filter(({ name }) => name !== removed),
});

/** What is not valid is left out: anything on this origin may have written it. */
export function parseStoredFrames(text: string | null): StoredFrames {
  try {
    const { sent, saved } = JSON.parse(text ?? '{}') as Readonly<Record<string, unknown>>;
    const frames = (list: unknown): Partial<SavedFrame>[] => (Array.isArray(list) ? list : []);
    return {
      sent: frames(sent).filter(isFrame).slice(0, MAX_SENT),
      saved: frames(saved)
        .filter((frame): frame is SavedFrame => typeof frame?.name === 'string' && isFrame(frame))
        .slice(0, MAX_SAVED),
    };
  } catch {
    return { sent: [], saved: [] };
  }
}

const isFrame = (value: Partial<StoredFrame> | null): value is StoredFrame =>
  typeof value?.text === 'string' && typeof value.session === 'string';

export type UseStoredFramesResult = StoredFrames & {
  sentNow(frame: StoredFrame): void;
  /** False if it is too long, or if there are too many. */
  save(frame: SavedFrame): boolean;
  remove(name: string): void;
  clearSent(): void;
};

export function useStoredFrames(user: string, dialect: string): UseStoredFramesResult {
  const name = `parlance.playground.frames.${user}.${dialect}`;
  const [stored, setStored] = useState(() => parseStoredFrames(readStorage('local', name)));
  function save(next: StoredFrames): void {
    setStored(next);
    writeStorage('local', name, JSON.stringify(next));
  }
  return {
    ...stored,
    sentNow: (frame) => save(withSent(stored, frame)),
    save(frame) {
      const next = withSaved(stored, frame);
      if (next) save(next);
      return next !== null;
    },
    remove: (name) => save(withoutSaved(stored, name)),
    clearSent: () => save({ ...stored, sent: [] }),
  };
}
