/** One session in the list: status, attached clients and its menu. */
import type { Session } from '@parlance/sdk';
import { memo, useState } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { Menu } from '../components/menu.tsx';
import { attempt } from '../components/toast.tsx';
import { currentPlace, go, hrefOf } from '../router.ts';
import { parlance } from '../state/server.ts';
import { download } from './download.ts';

const STATES: Readonly<Record<Session['status'], string>> = {
  idle: 'Idle',
  running: 'Running',
  waiting: 'Waiting for input',
  failed: 'Failed',
};

type DecisionContext = 'rename' | 'erase' | null;
type RowProps = { readonly session: Session; readonly chosen: boolean; readonly foreign: boolean };

export const SessionRow = memo(function SessionRow({ session, chosen, foreign }: RowProps) {
  const [asking, setAsking] = useState<DecisionContext>(null);
  const { id, status, attached } = session;
  const title = session.title || 'Untitled';
  const handle = parlance.session(id);
  const dialects = Object.keys(attached).sort();

  async function erase(): Promise<void> {
    const { route } = currentPlace();
    const done = await attempt(() => handle.erase());
    if (done && route.page === 'session' && route.id === id) go({ page: 'new' }, undefined, 'replace');
  }

  return (
    <li className="session-row" data-chosen={chosen || undefined}>
      <a href={hrefOf({ page: 'session', id })} aria-current={chosen ? 'page' : undefined}>
        <span className={`dot dot-${status}`} title={STATES[status]}>
          <span className="unseen">{STATES[status]}: </span>
        </span>
        <span className="session-title">{title}</span>
        <span className="session-more">
          {foreign && <span>of {session.owner}</span>}
          {status !== 'idle' && <span>{STATES[status]}</span>}
          {dialects.map((dialect) => (
            <span className="attached" key={dialect} title={`${attached[dialect]} connected with ${dialect}`}>
              {dialect}
            </span>
          ))}
        </span>
      </a>
      <Menu
        label={`Actions for ${title}`}
        items={[
          { label: 'Timeline', icon: 'timeline', onSelect: () => go({ page: 'timeline', id }) },
          { label: 'Rename', icon: 'edit', onSelect: () => setAsking('rename') },
          { label: 'Export', icon: 'download', onSelect: () => void attempt(() => exported(id)) },
          ...(session.archived
            ? []
            : [
                {
                  label: 'Archive',
                  icon: 'archive' as const,
                  onSelect: () => void attempt(() => handle.archive()),
                },
              ]),
          { label: 'Delete', icon: 'trash', danger: true, onSelect: () => setAsking('erase') },
        ]}
      />
      {asking === 'rename' && (
        <Dialog
          title="Rename session"
          confirm="Rename"
          onClose={() => setAsking(null)}
          onConfirm={(fields) => void attempt(() => handle.rename(String(fields.get('title'))))}
        >
          <label className="field">
            Title
            <input name="title" defaultValue={session.title} required maxLength={500} autoComplete="off" />
          </label>
        </Dialog>
      )}
      {asking === 'erase' && (
        <Dialog
          title="Delete session?"
          confirm="Delete"
          danger
          onClose={() => setAsking(null)}
          onConfirm={() => void erase()}
        >
          <p>
            “{title}” and its history will be permanently deleted for every client. Export it first to keep a
            copy.
          </p>
        </Dialog>
      )}
    </li>
  );
});

async function exported(id: string): Promise<void> {
  const response = await parlance.session(id).export();
  download(`${id}.jsonl`, await response.blob());
}
