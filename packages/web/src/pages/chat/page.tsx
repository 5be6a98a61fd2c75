import { Page } from '../../components/page.tsx';
import { useSession } from '../../state/session.ts';

export function ChatPage({ id }: { id: string }) {
  const { view, connection } = useSession(id);
  return (
    <Page title={view.title || 'Untitled'} filled>
      {connection.status} {view.entries.length}
    </Page>
  );
}
