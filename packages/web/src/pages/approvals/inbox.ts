/** Entries of the inbox: pending approvals and, for a moment, answered ones. Pure. */
import type { ActivityEvent, Approval, ApprovalState } from '@parlance/sdk';

export type Entry = Approval & {
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
