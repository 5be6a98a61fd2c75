import type { ApprovalAnswer, ApprovalId, Part } from '@parlance/protocol';
import { useMemo, useSyncExternalStore } from 'react';
import type { ConnectionState } from '../reconnecting-stream.ts';
import type { AnswerOptions, CallOptions, InputReceipt, SessionHandle, SubmitOptions } from '../session.ts';
import type { SessionView } from '../view.ts';
import { useParlance } from './context.ts';
import { sessionStore } from './session-store.ts';

export type UseSessionResult = {
  /** messages, calls, approvals, status; kept up to date */
  readonly view: SessionView;
  readonly connection: ConnectionState;
  /** for everything else: rename, archive, compact, … */
  readonly session: SessionHandle;
  submit(input: string | Part[], options?: SubmitOptions): Promise<InputReceipt>;
  answer(approval: ApprovalId, answer: ApprovalAnswer, options?: AnswerOptions): Promise<unknown>;
  cancel(options?: CallOptions): Promise<unknown>;
  /** Reconnects now if it is waiting to reconnect. */
  retryNow(): void;
};

/**
 * A live session. Components that show the same session share one connection. The session need not exist: its
 * first input creates it.
 * @example
 * const { view, submit } = useSession('notes');
 */
export function useSession(id: string): UseSessionResult {
  const client = useParlance();
  const store = sessionStore(client, id);
  const view = useSyncExternalStore(store.subscribe, store.view, store.view);
  const connection = useSyncExternalStore(store.subscribe, store.connection, store.connection);
  const actions = useMemo(
    () => ({
      session: store.session,
      async submit(input: string | Part[], options?: SubmitOptions) {
        const receipt = await store.session.submit(input, options);
        store.reopen();
        return receipt;
      },
      answer: store.session.answer.bind(store.session),
      cancel: store.session.cancel.bind(store.session),
      retryNow: store.retryNow,
    }),
    [store],
  );
  return { view, connection, ...actions };
}
