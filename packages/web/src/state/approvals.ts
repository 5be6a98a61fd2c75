/** Pending approvals and questions of all sessions: one list for the page, its badge and the tab title. */
import {
  type ActivityEvent,
  type Approval,
  ParlanceError,
  type PendingQuestion,
  type Session,
} from '@parlance/sdk';
import { connection, onActivity } from '@parlance/ui/state/activity.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { store, useStore } from '@parlance/ui/state/store.ts';
import { useSyncExternalStore } from 'react';

export type Approvals = {
  readonly approvals: readonly Approval[];
  readonly questions: readonly PendingQuestion[];
  readonly loading: boolean;
  readonly fault: ParlanceError | null;
};

const approvals = store<Approvals>({ approvals: [], questions: [], loading: true, fault: null });
export const useApprovals = (): Approvals => useStore(approvals);

/** The number of approvals and questions that wait for somebody. */
export const useWaiting = (): number => {
  const { approvals: pending, questions } = useApprovals();
  return pending.length + questions.length;
};

/** What the session waits for, also while other calls run. */
export const useNeed = ({ id, owner }: Pick<Session, 'id' | 'owner'>): 'approval' | 'answer' | null =>
  useSyncExternalStore(approvals.subscribe, () => {
    const isOf = (one: { readonly session: string; readonly owner: string }) =>
      one.session === id && one.owner === owner;
    const { approvals: pending, questions } = approvals.get();
    if (pending.some(isOf)) return 'approval';
    return questions.some(isOf) ? 'answer' : null;
  });

/** Events after which the list may have changed. */
const TELLING: ReadonlySet<ActivityEvent['type']> = new Set<ActivityEvent['type']>([
  'ready',
  'missed',
  'approval.requested',
  'approval.answered',
  'question.asked',
  'question.answered',
  'tool.ended',
  'turn.cancelled',
  'turn.ended',
  'turn.failed',
  'session.erased',
]);

const UNHEARD_MS = 30_000;

/** Keeps the list up to date until stopped. Merges overlapping reads. */
export function followApprovals(): () => void {
  let reading = false;
  let again = false;
  const read = async (): Promise<void> => {
    again = reading;
    if (reading) return;
    reading = true;
    try {
      const [pending, questions] = await Promise.all([parlance.approvals.list(), parlance.questions.list()]);
      approvals.set({ approvals: pending, questions, loading: false, fault: null });
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      approvals.set({ ...approvals.get(), loading: false, fault: thrown });
    } finally {
      reading = false;
    }
    if (again) await read();
  };
  const unfollow = onActivity((event) => {
    if (TELLING.has(event.type)) void read();
  });
  // A hidden tab without a stream still shows the count in its title.
  const timer = setInterval(() => {
    if (connection.get().status !== 'live') void read();
  }, UNHEARD_MS);
  return () => {
    clearInterval(timer);
    unfollow();
  };
}
