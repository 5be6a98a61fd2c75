/** The sub-agents of a session, from the calls that they work on. */
import type { SessionId, Spent } from '@parlance/protocol';
import type { CallView, InputView, SessionView, TurnView } from './shapes.ts';

export type SubAgentView = {
  /** its own session */
  readonly session: SessionId;
  /** names from the agent of the first session to its own */
  readonly path: readonly string[];
  /** `waiting`: for an answer to an approval or question */
  readonly status: 'working' | 'waiting' | 'done';
  /** it does not hold up the turn that started it */
  readonly background: boolean;
  /** what it does, in one line */
  readonly message?: string;
  /** for its last call */
  readonly spent?: Spent;
};

/** In the order in which they were last called upon. */
export function subAgentsOf({ entries, queued }: Pick<SessionView, 'entries' | 'queued'>): SubAgentView[] {
  const known = new Map<SessionId, SubAgentView>();
  const answered = (input: InputView | null) => {
    const found = input?.child?.turn && known.get(input.child.session);
    if (found) known.set(found.session, { ...found, status: 'done' });
  };
  for (const entry of entries) {
    if (entry.kind !== 'turn') continue;
    answered(entry.input);
    for (const item of entry.items) {
      if (item.kind === 'input') answered(item);
      if (item.kind !== 'call' || !item.child) continue;
      const { session } = item.child;
      known.delete(session);
      known.set(session, ofCall(entry, item, item.child));
    }
  }
  for (const input of queued) answered(input);
  return [...known.values()];
}

function ofCall(
  { state: turn, items }: TurnView,
  { call, state }: CallView,
  { session, path, background }: NonNullable<CallView['child']>,
): SubAgentView {
  const about = { session, path, background: background === true };
  if (state.phase === 'ended') {
    // What a cancelled turn has started is stopped with it.
    const goesOn = about.background && state.outcome === 'ok' && turn.status !== 'cancelled';
    const spent = state.child?.spent;
    return { ...about, status: goesOn ? 'working' : 'done', ...(spent && { spent }) };
  }
  const asks = items.some(
    (item) => item.kind === 'question' && item.call === call && item.state.status === 'pending',
  );
  const { message, spent } = (state.phase === 'running' && state.progress) || {};
  return {
    ...about,
    status: state.phase === 'waiting' || asks ? 'waiting' : 'working',
    ...(message !== undefined && { message }),
    ...(spent && { spent }),
  };
}
