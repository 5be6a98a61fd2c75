/** Frames kept in the browser, by user and dialect: those that were sent last, and those saved under a name. */
import { useState } from 'react';
import { readStorage, writeStorage } from '../../state/storage.ts';

export type KeptFrame = {
  readonly text: string;
  /** the session that it was written for */
  readonly session: string;
};
export type SavedFrame = KeptFrame & { readonly name: string };
export type Kept = { readonly sent: readonly KeptFrame[]; readonly saved: readonly SavedFrame[] };

const MOST_SENT = 30;
const MOST_SAVED = 50;
/** Longer frames are not kept: the storage of a page is small. */
const LONGEST = 20_000;

/** The last one first, each text once. */
export function withSent({ sent, saved }: Kept, frame: KeptFrame): Kept {
  if (frame.text.length > LONGEST) return { sent, saved };
  return { saved, sent: [frame, ...sent.filter(({ text }) => text !== frame.text)].slice(0, MOST_SENT) };
}

/** Replaces one of the same name. Null if the frame is too long, or if there are too many. */
export function withSaved({ sent, saved }: Kept, frame: SavedFrame): Kept | null {
  const others = saved.filter(({ name }) => name !== frame.name);
  if (frame.text.length > LONGEST || others.length >= MOST_SAVED) return null;
  return { sent, saved: [...others, frame].sort((one, other) => one.name.localeCompare(other.name)) };
}

export const withoutSaved = ({ sent, saved }: Kept, removed: string): Kept => ({
  sent,
  saved: saved.filter(({ name }) => name !== removed),
});

/** What is not valid is left out: anything on this origin may have written it. */
export function parseKept(text: string | null): Kept {
  try {
    const { sent, saved } = JSON.parse(text ?? '{}') as Readonly<Record<string, unknown>>;
    const frames = (list: unknown): Partial<SavedFrame>[] => (Array.isArray(list) ? list : []);
    return {
      sent: frames(sent).filter(isFrame).slice(0, MOST_SENT),
      saved: frames(saved)
        .filter((frame): frame is SavedFrame => typeof frame?.name === 'string' && isFrame(frame))
        .slice(0, MOST_SAVED),
    };
  } catch {
    return { sent: [], saved: [] };
  }
}

const isFrame = (value: Partial<KeptFrame> | null): value is KeptFrame =>
  typeof value?.text === 'string' && typeof value.session === 'string';

export type KeptFrames = Kept & {
  sentNow(frame: KeptFrame): void;
  /** False if it is too long, or if there are too many. */
  save(frame: SavedFrame): boolean;
  remove(name: string): void;
  clearSent(): void;
};

export function useKeptFrames(user: string, dialect: string): KeptFrames {
  const name = `parlance.playground.frames.${user}.${dialect}`;
  const [kept, setKept] = useState(() => parseKept(readStorage('local', name)));
  function keep(next: Kept): void {
    setKept(next);
    writeStorage('local', name, JSON.stringify(next));
  }
  return {
    ...kept,
    sentNow: (frame) => keep(withSent(kept, frame)),
    save(frame) {
      const next = withSaved(kept, frame);
      if (next) keep(next);
      return next !== null;
    },
    remove: (name) => keep(withoutSaved(kept, name)),
    clearSent: () => keep({ ...kept, sent: [] }),
  };
}
