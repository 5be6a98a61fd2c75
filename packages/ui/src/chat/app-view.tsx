/** An app of an MCP server beside the chat: its frame, and what it asks of the user. */
import type { JsonObject } from '@parlance/protocol';
import { type CallView, EMPTY, type McpApp, ParlanceError, type SessionView } from '@parlance/sdk';
import {
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { ApprovalCard } from '../components/approval/approval-card.tsx';
import { attempt, Button, Notice } from '../components/controls.tsx';
import { QuestionCard } from '../components/question-card.tsx';
import { parlance } from '../state/server.ts';
import { store, useStore } from '../state/store.ts';
import { useDark } from '../state/theme.tsx';
import { AppCalls } from './app-calls.ts';
import { AppHost, MODES, type Mode, resultOf, type Wish } from './app-host.ts';
import { SandboxFrame } from './sandbox-frame.tsx';

export type ShownApp = { readonly session: string; readonly call: CallView };

type AppProps = ShownApp & {
  readonly mode: Mode;
  readonly onMode: (mode: Mode) => void;
  readonly onClose: () => void;
  /** Set to what prepares the app for its end. */
  readonly closing: { current: (() => Promise<void>) | null };
};

export function AppView({ call, ...props }: AppProps) {
  const [app, setApp] = useState<McpApp | string | null>(null);
  const [reaches, setReaches] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    parlance.mcp
      .app({ tool: call.tool }, { signal: stop.signal })
      .then(setApp)
      .catch((thrown: unknown) => {
        if (stop.signal.aborted) return;
        if (!(thrown instanceof ParlanceError)) throw thrown;
        setApp(thrown.message);
      });
    return () => stop.abort();
  }, [call.tool]);
  if (app === null) return <p className="hint">Loading the app …</p>;
  if (typeof app === 'string') return <Notice variant="danger">{app}</Notice>;
  const origins = [...new Set([...app.connect, ...app.load])];
  if (origins.length > 0 && reaches === null)
    return (
      <Wanted
        title={`The app of ${app.server} wants to reach other servers. They learn your address, and what it sends them.`}
        actions={
          <>
            <Button variant="primary" onClick={() => setReaches(reachesOf(app))}>
              Allow
            </Button>
            <Button onClick={() => setReaches('')}>Open without them</Button>
          </>
        }
      >
        {origins.join('\n')}
      </Wanted>
    );
  return <RunningApp {...props} call={call} app={app} reaches={reaches ?? ''} />;
}

const reachesOf = ({ connect, load }: McpApp): string =>
  new URLSearchParams([
    ...connect.map((origin) => ['connect', origin]),
    ...load.map((origin) => ['load', origin]),
  ]).toString();

type OpenWish = {
  readonly number: number;
  readonly wish: Wish;
  readonly answer: (allowed: boolean) => void;
};

/** One is shown at a time. */
const MAX_WISHES = 5;

function RunningApp({
  session,
  call,
  app,
  reaches,
  mode,
  onMode,
  onClose,
  closing,
}: AppProps & { readonly app: McpApp; readonly reaches: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const place = useRef<Place>({ mode, isDark: false, width: 0, height: 0 });
  const [isStopped, setStopped] = useState(false);
  const count = useRef(0);
  const [calls] = useState(() => new AppCalls(session));
  const [wishes] = useState(() => store<readonly OpenWish[]>([]));
  const isDark = useDark();

  const host = useMemo(
    () =>
      new AppHost({
        app,
        input: call.input,
        result: call.state.phase === 'ended' ? resultOf(call.state) : {},
        post: (message) => frame.current?.contentWindow?.postMessage(message, '*'),
        context: () => contextOf(place.current),
        call: async (tool, input) => resultOf(await calls.call(tool, input)),
        read: async (uri) => (await parlance.mcp.appFile({ tool: call.tool, uri })) as JsonObject,
        ask: (wish) =>
          new Promise((resolve) => {
            if (wishes.get().length >= MAX_WISHES) return resolve(false);
            const answer = (allowed: boolean) => {
              wishes.set(wishes.get().filter((open) => open !== added));
              resolve(allowed);
            };
            const added = { number: ++count.current, wish, answer };
            wishes.set([...wishes.get(), added]);
          }),
        show(wanted) {
          onMode(wanted);
          return wanted;
        },
        ended: onClose,
        exceeded: () => setStopped(true),
      }),
    [app, call, calls, wishes, onMode, onClose],
  );
  const receive = useCallback((data: unknown) => host.receive(data, performance.now()), [host]);

  useEffect(() => {
    closing.current = () => host.close();
    return () => {
      closing.current = null;
      calls.close();
    };
  }, [host, calls, closing]);

  useEffect(() => {
    const shown = frame.current;
    const update = () => {
      place.current = { mode, isDark, width: shown?.clientWidth ?? 0, height: shown?.clientHeight ?? 0 };
      host.changed(contextOf(place.current));
    };
    update();
    const observer = new ResizeObserver(update);
    if (shown) observer.observe(shown);
    return () => observer.disconnect();
  }, [host, mode, isDark]);

  if (isStopped)
    return (
      <Notice variant="danger">The app sent too much and was stopped. Open it again to restart it.</Notice>
    );
  return (
    <>
      <Wishes wishes={wishes} session={session} server={app.server} />
      <Asked calls={calls} />
      <SandboxFrame
        ref={frame}
        html={app.html}
        title={`App of ${app.server}`}
        reaches={reaches}
        onMessage={receive}
      />
      <p className="hint">
        From the MCP server {app.server}. It sees what that server has sent, and nothing of this page.
      </p>
    </>
  );
}

type Place = {
  readonly mode: Mode;
  readonly isDark: boolean;
  readonly width: number;
  readonly height: number;
};

const contextOf = ({ mode, isDark, width, height }: Place): JsonObject => ({
  theme: isDark ? 'dark' : 'light',
  displayMode: mode,
  availableDisplayModes: [...MODES],
  containerDimensions: { width, height },
  locale: navigator.language,
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  userAgent: 'parlance',
  platform: 'web',
});

/** Approvals and questions of its calls. */
function Asked({ calls }: { readonly calls: AppCalls }) {
  const started = useStore(calls.session);
  const view = useSyncExternalStore<SessionView>(
    started?.live.subscribe ?? silent,
    started?.live.view ?? (() => EMPTY),
  );
  if (!started) return null;
  const questions = view.entries.flatMap((entry) =>
    entry.kind === 'turn'
      ? entry.items.flatMap((item) =>
          item.kind === 'question' && item.state.status === 'pending' ? [item] : [],
        )
      : [],
  );
  return (
    <>
      {view.pending && (
        <Settled key={view.pending.approval}>
          <ApprovalCard session={started.handle.id} approval={view.pending} />
        </Settled>
      )}
      {questions.map((question) => (
        <Settled key={question.question}>
          <QuestionCard question={question} />
        </Settled>
      ))}
    </>
  );
}

const silent = () => () => undefined;

/** In milliseconds. */
const SETTLE_MS = 600;

/** An app can ask at the moment of a click: what it asks appears where its page was, and takes no click at first. */
function Settled({ children }: { readonly children: ReactNode }) {
  const [isNew, setNew] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setNew(false), SETTLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="app-ask" inert={isNew}>
      {children}
    </div>
  );
}

type WishesProps = {
  readonly wishes: ReturnType<typeof store<readonly OpenWish[]>>;
  readonly session: string;
  readonly server: string;
};

function Wishes({ wishes, session, server }: WishesProps) {
  const [first] = useStore(wishes);
  if (!first) return null;
  return (
    <Settled key={first.number}>
      <WishCard {...first} session={session} server={server} />
    </Settled>
  );
}

type WishProps = OpenWish & Pick<WishesProps, 'session' | 'server'>;

function WishCard({ wish, answer, session, server }: WishProps) {
  const refuse = (
    <Button variant="quiet" onClick={() => answer(false)}>
      {wish.kind === 'link' ? 'Do not open' : 'Do not send'}
    </Button>
  );
  if (wish.kind === 'link')
    return (
      <Wanted
        title={`The app of ${server} wants to open:`}
        actions={
          <>
            <a
              className="button button-primary"
              href={wish.url}
              target="_blank"
              rel="noopener noreferrer"
              onClick={() => answer(true)}
            >
              Open {new URL(wish.url).host}
            </a>
            {refuse}
          </>
        }
      >
        {wish.url}
      </Wanted>
    );
  const send = async () => {
    await parlance.session(session).submit(wish.text, { untrusted: true });
    answer(true);
  };
  return (
    <Wanted
      title={`The app of ${server} wants to send this message in your name:`}
      actions={
        <>
          <Button variant="primary" onClick={() => void attempt(send)}>
            Send
          </Button>
          {refuse}
        </>
      }
    >
      {wish.text}
    </Wanted>
  );
}

type WantedProps = { readonly title: string; readonly actions: ReactNode; readonly children: string };

/** What the app wants, word by word, and the answers. */
function Wanted({ title, actions, children }: WantedProps) {
  return (
    <section className="card app-wish" aria-label={title}>
      <p>{title}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <pre tabIndex={0}>{children}</pre>
      <div className="approval-answers">{actions}</div>
    </section>
  );
}
