/** Opens a dialog above the page. It is about the page below it: navigation closes it. */
import { type RefObject, useEffect, useRef } from 'react';

export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    const close = () => dialog.current?.close();
    addEventListener('hashchange', close);
    return () => removeEventListener('hashchange', close);
  }, []);
  return dialog;
}
