/** The menu of the session that is open. */
import type { SessionView } from '@parlance/sdk';
import { useState } from 'react';
import { Menu } from '../../components/menu.tsx';
import { type OpenDialog, SessionDialog } from '../../layout/session-dialog.tsx';
import { sessionMenu } from '../../layout/session-menu.ts';
import { may } from '../../state/may.ts';
import { useServer } from '../../state/server.ts';

export function SessionActions({ id, view }: { id: string; view: SessionView }) {
  const about = useServer();
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const { title, tags, pinned, archived } = view;
  const menu = {
    session: { id, title, tags, pinned, archived },
    // The view does not have the owner: admins, who see the sessions of others, share their own from the list.
    foreign: may(about, 'admin'),
    mayChange: may(about, 'chat:send'),
    onOpen: setOpen,
  };
  return (
    <>
      <Menu label="Session actions" items={() => sessionMenu(menu)} />
      {open && <SessionDialog open={open} onClose={() => setOpen(null)} />}
    </>
  );
}
