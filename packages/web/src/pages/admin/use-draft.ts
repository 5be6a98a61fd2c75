/** The fields of a form. Unsaved input stays when another admin saves. */
import { useState } from 'react';
import { type Entered, isSame, isTouched, mergedEach } from './draft.ts';

export type Draft<Fields> = {
  readonly fields: Fields;
  /** what the input was based on has changed, and not to the same */
  readonly isOutdated: boolean;
  readonly change: (changed: Partial<Fields>) => void;
  /** Discards the input and shows what is stored. */
  readonly reset: () => void;
};

export function useDraft<Fields extends object>(
  stored: Fields,
  merged: (entered: Entered<Fields>, stored: Fields) => Fields = mergedEach,
): Draft<Fields> {
  const [entered, setEntered] = useState<Entered<Fields> | null>(null);
  const isEdited = entered !== null && isTouched(entered);
  const fields = isEdited ? merged(entered, stored) : stored;
  return {
    fields,
    isOutdated: isEdited && !isSame(entered.base, stored) && !isSame(fields, stored),
    change: (changed) =>
      setEntered((before) =>
        before !== null && isTouched(before)
          ? { ...before, changed: { ...before.changed, ...changed } }
          : { base: stored, changed },
      ),
    reset: () => setEntered(null),
  };
}
