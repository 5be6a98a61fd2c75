/** Pending approvals of all sessions: one list for the page, its badge and the tab title. */
import { type ActivityEvent, type Approval, ParlanceError, type Session } from '@parlance/sdk';
import { connection, onActivity } from '@parlance/ui/state/activity.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { store, useStore } from '@parlance/ui/state/store.ts';
import { useSyncExternalStore } from 'react';

export type Approvals = {
  readonly approvals: readonly Approval[];
  readonly loading: boolean;
  readonly fault: ParlanceError | null;
};

const approvals = store<Approvals>({ approvals: [], loading: true, fault: null });
export const useApprovals = (): Approvals => useStore(approvals);

/** Whether the session waits for an approval, also while other calls run. */
export const useNeedsApproval = ({ id, owner }: Pick<Session, 'id' | 'owner'>): boolean =>
  useSyncExternalStore(approvals.subscribe, () =>
    approvals.get().approvals.some((one) => one.session === id && one.owner === owner),
  );

/** Events after which the list may have changed. */
const TELLING: ReadonlySet<ActivityEvent['type']> = new Set<ActivityEvent['type']>([
  'ready',
  'missed',
  'approval.requested',
  'approval.answered',
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
      approvals.set({ approvals: await parlance.approvals.list(), loading: false, fault: null });
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
