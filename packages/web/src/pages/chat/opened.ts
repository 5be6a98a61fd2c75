/** Remembers what is expanded while rows are unmounted by scrolling. */
import { useState } from 'react';

const MOST = 2_000;
const chosen = new Map<string, boolean>();

/** `usually` applies until the reader has toggled it. */
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
