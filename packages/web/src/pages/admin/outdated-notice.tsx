import { Button } from '@parlance/ui/components/button.tsx';
import { Notice } from '@parlance/ui/components/notice.tsx';
import type { MouseEvent } from 'react';
import type { Draft } from './use-draft.ts';

/** Above the buttons of a form: says that another admin was faster. */
export function OutdatedNotice({ draft }: { draft: Pick<Draft<unknown>, 'isOutdated' | 'reset'> }) {
  if (!draft.isOutdated) return null;
  /** The button disappears: the focus goes to the one below. */
  function load(event: MouseEvent): void {
    event.currentTarget.closest('form')?.querySelector<HTMLElement>('[type=submit]')?.focus();
    draft.reset();
  }
  return (
    <Notice variant="warning" action={<Button onClick={load}>Load the new settings</Button>}>
      Another admin changed these settings meanwhile. Your input is kept; saving it replaces theirs.
    </Notice>
  );
}
