/** One session in the list: status, tags, attached clients and its menu. */
import type { Session } from '@parlance/sdk';
import { memo } from 'react';
import { Icon } from '../components/icon.tsx';
import { Menu } from '../components/menu.tsx';
import { hrefOf } from '../router.ts';
import { useNeedsApproval } from '../state/approvals.ts';
import { type SessionMenu, sessionMenu } from './session-menu.ts';

const STATES: Readonly<Record<Session['status'], string>> = {
  idle: 'Idle',
  running: 'Running',
  waiting: 'Waiting for input',
  failed: 'Failed',
};

type RowProps = SessionMenu & { readonly session: Session; readonly chosen: boolean };

export const SessionRow = memo(function SessionRow(props: RowProps) {
  const { session, chosen, foreign } = props;
  const { id, status, attached, pinned, tags = [] } = session;
  const state = useNeedsApproval(session) ? 'Needs approval' : STATES[status];
  const title = session.title || 'Untitled';
  const dialects = Object.keys(attached).sort();

  return (
    <div className="session-row" data-chosen={chosen || undefined} data-pinned={pinned || undefined}>
      <a href={hrefOf({ page: 'session', id })} aria-current={chosen ? 'page' : undefined}>
        <span className={`dot dot-${status}`} title={state} />
        <span className="session-title" title={title}>
          {title}
        </span>
        {(foreign || status !== 'idle' || tags.length > 0 || dialects.length > 0) && (
          <span className="session-more">
            {foreign && <span>of {session.owner}</span>}
            {status !== 'idle' && <span>{state}</span>}
            {tags.map((tag) => (
              <span className="tag" key={tag}>
                {tag}
              </span>
            ))}
            {dialects.map((dialect) => (
              <span
                className="attached"
                key={dialect}
                title={`${attached[dialect]} connected with ${dialect}`}
              >
                {dialect}
              </span>
            ))}
          </span>
        )}
        {pinned && (
          <span className="pinned" title="Pinned">
            <Icon name="pin" />
          </span>
        )}
      </a>
      <Menu label={`Actions for ${title}`} items={() => sessionMenu(props)} />
    </div>
  );
});
