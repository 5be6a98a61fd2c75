/** Keys that work on every page: Ctrl-K opens the palette, `?` the list of keys. */
import { lazy, Suspense, useEffect, useState } from 'react';

const Palette = lazy(() => import('./palette.tsx').then((m) => ({ default: m.Palette })));
const HelpDialog = lazy(() => import('@parlance/ui/chat/help.tsx').then((m) => ({ default: m.HelpDialog })));

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));

export function GlobalKeys() {
  const [open, setOpen] = useState<'palette' | 'help' | null>(null);
  useEffect(() => {
    function pressed(event: KeyboardEvent): void {
      if (document.querySelector('dialog[open]')) return;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k')
        setOpen('palette');
      else if (event.key === '?' && !isTyping(event.target)) setOpen('help');
      else return;
      event.preventDefault();
    }
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  // The palette is closed after it has opened the help.
  const close = (dialog: typeof open) => setOpen((now) => (now === dialog ? null : now));
  return (
    <Suspense>
      {open === 'palette' && <Palette onClose={() => close('palette')} onHelp={() => setOpen('help')} />}
      {open === 'help' && <HelpDialog onClose={() => close('help')} />}
    </Suspense>
  );
}
