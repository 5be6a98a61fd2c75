/** What the reader has unfolded or folded: remembered while rows come and go with scrolling. */
import { useState } from 'react';

const MOST = 2_000;
const chosen = new Map<string, boolean>();

/** `usually` counts until the reader has decided otherwise. */
export function useOpened(key: string, usually: boolean): [boolean, (open: boolean) => void] {
  const [open, setOpen] = useState(chosen.get(key));
  return [
    open ?? usually,
    (next) => {
      if (chosen.size > MOST) chosen.clear();
      chosen.set(key, next);
      setOpen(next);
    },
  ];
}
