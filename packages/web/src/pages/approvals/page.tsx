/** Pending approvals of all sessions. */
import { ApprovalCard } from '../../components/approval/approval-card.tsx';
import { Empty } from '../../components/empty.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { hrefOf } from '../../router.ts';
import { useShownFault } from '../../state/activity.ts';
import { useApprovals } from '../../state/approvals.ts';
import { useServer } from '../../state/server.ts';
import { WaitingExtensions } from '../pair/waiting.tsx';
import { nameOf, useInbox, useTitles } from './use-inbox.ts';

export function ApprovalsPage() {
  const { loading, ...approvals } = useApprovals();
  const fault = useShownFault(approvals.fault);
  const inbox = useInbox();
  const titles = useTitles(inbox);
  const mine = useServer().principal.id;
  return (
    <Page title="Approvals">
      {fault && <Notice variant="danger">{fault.message}</Notice>}
      {!loading && !approvals.fault && inbox.length === 0 && (
        <Empty
          title="No approvals waiting"
          action={
            <a className="button" href={hrefOf({ page: 'new' })}>
              Start a session
            </a>
          }
        >
          When an agent wants to run a command or change a file, in a session of any client, the request
          appears here.
        </Empty>
      )}
      <div className="inbox">
        <WaitingExtensions />
        {inbox.map((entry) => (
          <ApprovalCard
            key={entry.id}
            session={entry.session}
            approval={{ ...entry, approval: entry.id }}
            from={
              <>
                in{' '}
                <a href={hrefOf({ page: 'session', id: entry.session })}>
                  {titles.get(nameOf(entry)) || entry.session}
                </a>
                {entry.owner !== mine && ` of ${entry.owner}`}
              </>
            }
          />
        ))}
      </div>
    </Page>
  );
}
