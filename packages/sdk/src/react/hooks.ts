/** The hooks, and the provider of their client. */
import type { ApprovalAnswer, ApprovalId, Part } from '@parlance/protocol';
import type { Session } from '@parlance/protocol/api';
import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { ActivityEvent } from '../activity.ts';
import type { Answer, ApprovalDecision, FollowOptions } from '../ask.ts';
import type { Page, Parlance } from '../connect.ts';
import { ParlanceError } from '../error.ts';
import type { ConnectionState } from '../reconnecting-stream.ts';
import type { AnswerOptions, CallOptions, InputReceipt, SessionHandle, SubmitOptions } from '../session.ts';
import type { ApprovalView, SessionView } from '../view.ts';
import { perKey, sessionStore, shared } from './session-store.ts';

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

export type SessionsQuery = Omit<Page, 'cursor' | 'signal'>;

export type UseSessionsResult = {
  /** most recently changed first */
  readonly sessions: readonly Session[];
  readonly isLoading: boolean;
  readonly error: ParlanceError | null;
  /** there is a next page: `more` reads it */
  readonly hasMore: boolean;
  more(): void;
};

/** Minimum time between two reads of the list. */
const REST_MS = 200;

type StreamEvent = ActivityEvent | { readonly type: 'refused'; readonly error: ParlanceError };

/** One stream for all lists of a client. */
const activityOf = perKey((client: Parlance) =>
  shared<StreamEvent>((emit) => {
    const stop = new AbortController();
    void follow(client, emit, stop.signal);
    return () => stop.abort();
  }),
);

async function follow(
  client: Parlance,
  emit: (event: StreamEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const event of client.activity({ signal })) emit(event);
  } catch (error) {
    if (!(error instanceof ParlanceError)) throw error;
    if (!signal.aborted) emit({ type: 'refused', error });
  }
}

async function readPages(
  client: Parlance,
  query: SessionsQuery,
  options: { pages: number; signal: AbortSignal },
) {
  const sessions: Session[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < options.pages; page++) {
    const got = await client.sessions.list({ ...query, cursor, signal: options.signal });
    sessions.push(...got.sessions);
    cursor = got.next ?? undefined;
    if (cursor === undefined) break;
  }
  return { sessions, hasMore: cursor !== undefined };
}

const NOTHING = { sessions: [], isLoading: true, error: null, hasMore: false } as const;

/**
 * The sessions of the user, kept up to date.
 * @example
 * const { sessions, hasMore, more } = useSessions({ limit: 30, q: search });
 */
export function useSessions(query: SessionsQuery = {}): UseSessionsResult {
  const client = useParlance();
  const [list, setList] = useState<Omit<UseSessionsResult, 'more'>>(NOTHING);
  const [pages, setPages] = useState(1);
  const asked = JSON.stringify(query);

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isReading = false;
    let isOutdated = true;

    async function read(): Promise<void> {
      timer = undefined;
      isReading = true;
      isOutdated = false;
      try {
        const got = await readPages(client, JSON.parse(asked), { pages, signal });
        setList({ ...got, isLoading: false, error: null });
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ParlanceError)) throw error;
        setList((before) => ({ ...before, isLoading: false, error }));
      } finally {
        isReading = false;
        if (isOutdated && !signal.aborted) timer = setTimeout(read, REST_MS);
      }
    }

    const leave = activityOf(client)((event) => {
      if (event.type === 'refused') {
        setList((before) => ({ ...before, isLoading: false, error: event.error }));
        return;
      }
      if (event.type === 'settings.changed' || event.type === 'mcp.changed') return;
      isOutdated = true;
      if (!isReading) timer ??= setTimeout(read, REST_MS);
    });
    void read();
    return () => {
      stop.abort();
      clearTimeout(timer);
      leave();
    };
  }, [client, asked, pages]);

  return { ...list, more: () => setPages((count) => count + 1) };
}

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

// Provides the client to the hooks.

const Client = createContext<Parlance | null>(null);

/**
 * Create the client once, outside of components.
 *
 * @example
 * const parlance = connect({ url: 'http://127.0.0.1:3000' });
 * createRoot(element).render(<ParlanceProvider client={parlance}><App /></ParlanceProvider>);
 */
export const ParlanceProvider = (props: {
  readonly client: Parlance;
  readonly children?: ReactNode;
}): ReactElement => createElement(Client.Provider, { value: props.client }, props.children);

export function useParlance(): Parlance {
  const client = useContext(Client);
  if (!client) throw new Error('There is no <ParlanceProvider> around this component.');
  return client;
}
