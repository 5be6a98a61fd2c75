/** Pending approvals and questions of all sessions. */
import type { ActivityEvent, Approval, ApprovalState, Session } from '@parlance/sdk';
import { ApprovalCard } from '@parlance/ui/components/approval/approval-card.tsx';
import { Empty, Notice } from '@parlance/ui/components/controls.tsx';
import { QuestionCard } from '@parlance/ui/components/question-card.tsx';
import { onActivity, useShownFault } from '@parlance/ui/state/activity.ts';
import { hrefOf } from '@parlance/ui/state/router.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useEffect, useState } from 'react';
import { Page } from '../../components/page.tsx';
import { useApprovals } from '../../state/approvals.ts';
import { usePolled } from '../../state/use-polled.ts';
import { RequestCard } from '../pair/page.tsx';

export function ApprovalsPage() {
  const { loading, questions, ...approvals } = useApprovals();
  const fault = useShownFault(approvals.fault);
  const inbox = useInbox();
  const pending = inbox.filter(({ state }) => state.status === 'pending');
  const titles = useTitles([...pending, ...questions]);
  const mine = useServer().principal.id;
  const from = (entry: { owner: string; session: Session['id'] }) => (
    <>
      in{' '}
      <a href={hrefOf({ page: 'session', id: entry.session })}>
        {titles.get(nameOf(entry)) || entry.session}
      </a>
      {entry.owner !== mine && ` of ${entry.owner}`}
    </>
  );
  return (
    <Page title="Approvals">
      {fault && <Notice variant="danger">{fault.message}</Notice>}
      {!loading && !approvals.fault && inbox.length + questions.length === 0 && (
        <Empty
          title="No approvals waiting"
          action={
            <a className="button" href={hrefOf({ page: 'new' })}>
              Start a session
            </a>
          }
        >
          When an agent wants to run a command, change a file or ask you something, in a session of any
          client, it appears here.
        </Empty>
      )}
      <div className="inbox">
        <WaitingExtensions />
        {inbox.map((entry) => (
          <ApprovalCard
            key={entry.id}
            session={entry.session}
            approval={{ ...entry, approval: entry.id }}
            from={from(entry)}
          />
        ))}
        {questions.map(({ id, ...asked }) => (
          <QuestionCard
            key={id}
            question={{ ...asked, question: id, problem: null, state: { status: 'pending' } }}
            from={from(asked)}
          />
        ))}
      </div>
    </Page>
  );
}

// The live inbox and the titles of its sessions.

/** How long an answered card stays visible. */
const SHOWN_MS = 4_000;

function useInbox(): Inbox {
  const { approvals, loading } = useApprovals();
  const [inbox, setInbox] = useState<Inbox>(() => withList([], approvals));

  useEffect(() => onActivity((event) => setInbox((before) => withActivity(before, event))), []);
  useEffect(() => {
    if (!loading) setInbox((before) => withList(before, approvals));
  }, [approvals, loading]);

  const settled = inbox
    .filter(({ state }) => state.status !== 'pending')
    .map(({ id }) => id)
    .join(' ');
  useEffect(() => {
    if (settled === '') return;
    const timers = settled
      .split(' ')
      .map((id) => setTimeout(() => setInbox((before) => without(before, id)), SHOWN_MS));
    return () => timers.forEach(clearTimeout);
  }, [settled]);
  return inbox;
}

/** Titles of sessions that wait, by owner and id. Fetched when one is unknown. */
function useTitles(
  waiting: readonly { owner: string; session: Session['id'] }[],
): ReadonlyMap<string, string> {
  const [titles, setTitles] = useState<ReadonlyMap<string, string>>(new Map());
  const unknown = waiting.some((entry) => !titles.has(nameOf(entry)));

  useEffect(() => {
    if (!unknown) return;
    const stop = new AbortController();
    async function read(): Promise<void> {
      const found = new Map<string, string>();
      for await (const session of parlance.sessions.all({
        status: 'waiting',
        ephemeral: 'included',
        signal: stop.signal,
      }))
        found.set(nameOf({ owner: session.owner, session: session.id }), session.title);
      setTitles((before) => new Map([...before, ...found]));
    }
    // The page falls back to the session id.
    read().catch(() => undefined);
    return () => stop.abort();
  }, [unknown]);
  return titles;
}

const nameOf = ({ owner, session }: { owner: string; session: Session['id'] }): string =>
  `${owner} ${session}`;

// In open mode: extensions that wait, beside the other approvals.

const LOOK_MS = 3_000;
const list = () => parlance.pairings.list();

function WaitingExtensions() {
  const { value, again } = usePolled(list, LOOK_MS);
  return value?.waiting.map((request) => <RequestCard key={request.code} request={request} onDone={again} />);
}

// Entries of the inbox: pending approvals and, for a moment, answered ones. Pure.

type Entry = Approval & {
  readonly explanations: readonly string[];
  readonly state: ApprovalState;
};

export type Inbox = readonly Entry[];

const PENDING: ApprovalState = { status: 'pending' };

/** Applies the server's list. An entry that is no longer in it has been settled elsewhere. */
export function withList(inbox: Inbox, list: readonly Approval[]): Inbox {
  const listed = new Set<string>(list.map(({ id }) => id));
  const known = new Set<string>(inbox.map(({ id }) => id));
  const before = inbox.map((entry) =>
    entry.state.status === 'pending' && !listed.has(entry.id)
      ? { ...entry, state: { status: 'lapsed' } as const }
      : entry,
  );
  const added = list.filter(({ id }) => !known.has(id));
  return [...before, ...added.map((approval) => ({ ...approval, explanations: [], state: PENDING }))];
}

/** Applies an activity event. */
export function withActivity(inbox: Inbox, event: ActivityEvent): Inbox {
  switch (event.type) {
    case 'approval.explained':
      return changed(inbox, event.approval, (entry) => ({
        ...entry,
        explanations: [...entry.explanations, event.text],
      }));
    case 'approval.answered': {
      const { answer, by, dialect, at, reason, said, grant } = event;
      const state = { status: 'answered', answer, by, dialect, at, reason, said, grant } as const;
      return changed(inbox, event.approval, (entry) => ({ ...entry, state }));
    }
    default:
      return inbox;
  }
}

export const without = (inbox: Inbox, id: string): Inbox => inbox.filter((entry) => entry.id !== id);

function changed(inbox: Inbox, id: string, change: (entry: Entry) => Entry): Inbox {
  const at = inbox.findIndex((entry) => entry.id === id);
  const entry = inbox[at];
  return entry ? inbox.with(at, change(entry)) : inbox;
}
