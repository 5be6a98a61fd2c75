/** The title bar: sessions, a new chat, settings, and the emergency stop while anything happens in the browser. */
import { Button, IconButton } from '../../../web/src/components/button.tsx';
import { tasks, toolUses } from '../shared/storage.ts';
import { isRunning } from '../shared/task-record.ts';
import { useStored } from './use-stored.ts';
import { show, useView } from './view.ts';
import { sendToWorker } from './worker.ts';

export function Header() {
  const view = useView();
  const running = Object.values(useStored(tasks) ?? {}).some(isRunning);
  const used = (useStored(toolUses) ?? []).some(({ state }) => state === 'running' || state === 'asking');
  const toggled = (page: 'sessions' | 'settings') =>
    show(view.page === page ? { page: 'chat', session: null } : { page });
  return (
    <header className="panel-head">
      <IconButton
        icon="menu"
        label="Sessions"
        aria-pressed={view.page === 'sessions'}
        onClick={() => toggled('sessions')}
      />
      <h1>Parlance</h1>
      {(running || used) && (
        <Button variant="danger" icon="stop" onClick={() => void sendToWorker({ kind: 'stop' })}>
          Stop all
        </Button>
      )}
      <IconButton icon="plus" label="New session" onClick={() => show({ page: 'chat', session: null })} />
      <IconButton
        icon="settings"
        label="Settings"
        aria-pressed={view.page === 'settings'}
        onClick={() => toggled('settings')}
      />
    </header>
  );
}
