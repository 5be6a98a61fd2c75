import type { Part } from '@parlance/protocol';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Answer, ApprovalDecision, FollowOptions } from '../ask.ts';
import { ParlanceError } from '../error.ts';
import type { SessionHandle, SubmitOptions } from '../session.ts';
import type { ApprovalView } from '../view.ts';
import { useParlance } from './context.ts';

export type AskState = {
  /** `waiting`: an approval is needed */
  readonly status: 'idle' | 'running' | 'waiting' | 'done' | 'failed';
  /** the answer so far */
  readonly text: string;
  /** the call to decide on with `decide` */
  readonly approval: ApprovalView | null;
  readonly error: ParlanceError | null;
};

export type UseAskResult = AskState & {
  readonly session: SessionHandle;
  /** Resolves with null if the turn failed (see `error`), or another question followed. */
  ask(input: string | Part[], options?: SubmitOptions): Promise<Answer | null>;
  decide(decision: Exclude<ApprovalDecision, undefined>): void;
  /** Ends the turn. */
  cancel(): Promise<void>;
};

const IDLE: AskState = { status: 'idle', text: '', approval: null, error: null };

/** Events after which earlier text is not the answer. */
const RESETS_TEXT: ReadonlySet<string> = new Set(['step.restarted', 'turn.resumed', 'tool.ended']);

/**
 * One question at a time, with its streamed answer. Without a name, uses a new session.
 * @example
 * const { ask, text, status, approval, decide } = useAsk();
 */
export function useAsk(id?: string): UseAskResult {
  const client = useParlance();
  const session = useMemo(() => client.session(id), [client, id]);
  const [state, setState] = useState(IDLE);
  const waiting = useRef<AbortController | null>(null);
  const decision = useRef<((decision: ApprovalDecision) => void) | null>(null);

  // An unmounted component stops waiting. Its turn continues.
  useEffect(() => () => waiting.current?.abort(), []);

  const ask = useCallback(
    async (input: string | Part[], options: SubmitOptions = {}): Promise<Answer | null> => {
      waiting.current?.abort();
      const stop = new AbortController();
      waiting.current = stop;
      const update = (change: (before: AskState) => Partial<AskState>): void => {
        if (!stop.signal.aborted) setState((before) => ({ ...before, ...change(before) }));
      };
      setState({ ...IDLE, status: 'running' });
      const follow: FollowOptions = {
        onText: (text) => update((before) => ({ text: before.text + text })),
        onEvent: ({ type }) => RESETS_TEXT.has(type) && update(() => ({ text: '' })),
        async onApproval(approval, { signal }) {
          update(() => ({ approval, status: 'waiting' }));
          const decided = await new Promise<ApprovalDecision>((resolve) => {
            decision.current = resolve;
            signal.addEventListener('abort', () => resolve(undefined), { once: true });
          });
          update(() => ({ approval: null, status: 'running' }));
          return decided;
        },
      };
      try {
        const answer = await session.ask(input, { ...options, ...follow, signal: stop.signal });
        update(() => ({ status: 'done', text: answer.text, approval: null }));
        return answer;
      } catch (error) {
        if (stop.signal.aborted) return null;
        if (!(error instanceof ParlanceError)) throw error;
        update(() => ({ status: 'failed', approval: null, error }));
        return null;
      }
    },
    [session],
  );

  const decide = useCallback((decided: ApprovalDecision) => decision.current?.(decided), []);
  const cancel = useCallback(async () => void (await session.cancel()), [session]);
  return { ...state, session, ask, decide, cancel };
}
