/** The door to a server. */
import type { ApprovalAnswer, ApprovalId, Permission, Role, SessionId } from '@parlance/protocol';
import { type ActivityEvent, activityEvents } from './activity.ts';
import { type Administration, administration } from './administration.ts';
import type {
  About,
  Approval,
  ApprovalReceipt,
  Login,
  Me,
  Session,
  SessionPage,
  StandingGrant,
} from './answers.ts';
import { type Clock, systemClock } from './clock.ts';
import { ParlanceError } from './error.ts';
import { newKey } from './key.ts';
import type { WatchOptions } from './reconnecting-stream.ts';
import type { Backoff } from './retry.ts';
import { type CallOptions, SessionHandle } from './session.ts';
import { type Fetch, Wire } from './wire.ts';

export type ConnectOptions = {
  /** `http://127.0.0.1:3000`; left out, in a browser, the server that the page came from */
  readonly url?: string;
  readonly token?: string | null;
  readonly fetch?: Fetch;
  readonly clock?: Clock;
  /** how often a request is sent at most, 4; a stream of events never gives up */
  readonly attempts?: number;
  /** how long an answer may take to begin, 30 s */
  readonly timeoutMs?: number;
  /** how long a stream may be silent, 45 s: three times what the server promises */
  readonly silenceMs?: number;
  readonly backoff?: Backoff;
};

export type Page = CallOptions & {
  readonly limit?: number;
  readonly cursor?: string;
  /** part of the title */
  readonly q?: string;
  readonly status?: Session['status'];
  readonly domain?: string;
  /** left out, archived sessions are */
  readonly archived?: 'included' | 'only';
};

export type Parlance = {
  /** the token that requests carry; null for none */
  token: string | null;
  /** What the server is, what answers in it, and who is asking. */
  server(options?: CallOptions): Promise<About>;
  /** The session of that name, whether it exists yet or not; without a name, a new one. Nothing is sent. */
  session(id?: string): SessionHandle;
  readonly sessions: {
    /** One page, the one that changed last first. */
    list(page?: Page): Promise<SessionPage>;
    /** All of them, page by page. */
    all(options?: Omit<Page, 'cursor'>): AsyncGenerator<Session, void>;
  };
  /** What happens in all sessions of the caller: events, no words as they are streamed. */
  activity(options?: WatchOptions): AsyncGenerator<ActivityEvent, void>;
  readonly approvals: {
    /** Everything that waits for an answer of the caller, in all sessions. */
    list(options?: CallOptions): Promise<readonly Approval[]>;
    /** The first answer wins; a later one is refused with `no_approval`. */
    answer(
      id: ApprovalId,
      answer: { readonly answer: ApprovalAnswer; readonly reason?: string; readonly hash?: string },
      options?: CallOptions,
    ): Promise<ApprovalReceipt>;
  };
  readonly grants: {
    /** What "always" has allowed, in all sessions of the caller; `session(…).revoke(…)` takes it back. */
    list(options?: CallOptions): Promise<readonly StandingGrant[]>;
  };
  readonly admin: Administration;
  readonly auth: {
    /** Requests carry the token from then on. */
    login(username: string, password: string, options?: CallOptions): Promise<Login>;
    /** Requests carry no token from then on, whether the server could be told or not. */
    logout(options?: CallOptions): Promise<void>;
    /** The tokens issued before end; requests carry the new one from then on. */
    changePassword(old: string, password: string, options?: CallOptions): Promise<Login>;
    /** Who the token is. */
    me(options?: CallOptions): Promise<Me>;
  };
};

const BACKOFF: Backoff = { baseMs: 500, mostMs: 30_000 };

/** Sends nothing: the first request does. */
export function connect(options: ConnectOptions = {}): Parlance {
  const clock = options.clock ?? systemClock;
  const backoff = options.backoff ?? BACKOFF;
  const wire = new Wire({
    url: (options.url ?? '').replace(/\/+$/, ''),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    clock,
    backoff,
    attempts: options.attempts ?? 4,
    timeoutMs: options.timeoutMs ?? 30_000,
  });
  wire.token = options.token ?? null;
  const stream = { wire, clock, backoff, silenceMs: options.silenceMs ?? 45_000 };

  const list = ({ signal, ...query }: Page = {}): Promise<SessionPage> =>
    wire.json({ path: '/v1/sessions', query, signal });

  async function* all(options: Omit<Page, 'cursor'> = {}): AsyncGenerator<Session, void> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: SessionPage = await list({ ...options, cursor });
      yield* page.sessions;
      cursor = page.next;
    }
  }

  /** Sent once: who is told to wait before the next attempt is a person with a form. */
  /** What a list has under `name` on all its pages. */
  async function everyPage<Name extends string, Item>(
    path: string,
    name: Name,
    signal: AbortSignal | undefined,
  ): Promise<Item[]> {
    type ListPage = Record<Name, Item[]> & { next: string | null };
    const items: Item[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: ListPage = await wire.json({ path, query: { cursor, limit: 500 }, signal });
      items.push(...page[name]);
      cursor = page.next;
    }
    return items;
  }

  async function login(path: string, body: object, signal: AbortSignal | undefined): Promise<Login> {
    const answer = await wire.fetchOnce({ method: 'POST', path, body, signal });
    const { access_token: token, role } = (await answer.json()) as { access_token: string; role: Role };
    wire.token = token;
    return { token, role };
  }

  return {
    get token() {
      return wire.token;
    },
    set token(token) {
      wire.token = token;
    },
    server: ({ signal } = {}) => wire.json({ path: '/v1/server', signal }),
    session: (id = newKey()) => new SessionHandle(id as SessionId, stream),
    sessions: { list, all },
    activity: (options = {}) => activityEvents(stream, options),
    approvals: {
      list: ({ signal } = {}) => everyPage<'approvals', Approval>('/v1/approvals', 'approvals', signal),
      answer: (id, body, { signal } = {}) =>
        wire.json({ method: 'POST', path: `/v1/approvals/${encodeURIComponent(id)}`, body, signal }),
    },
    grants: {
      list: ({ signal } = {}) => everyPage<'grants', StandingGrant>('/v1/grants', 'grants', signal),
    },
    admin: administration(wire),
    auth: {
      login: (username, password, { signal } = {}) => login('/v1/auth/login', { username, password }, signal),
      changePassword: (old, password, { signal } = {}) =>
        login('/v1/auth/password', { old, new: password }, signal),
      async logout({ signal } = {}) {
        try {
          await wire.response({ method: 'POST', path: '/v1/auth/logout', signal });
        } catch (thrown) {
          // A token that has expired is as good as logged out.
          if (!(thrown instanceof ParlanceError && thrown.code === 'unauthenticated')) throw thrown;
        } finally {
          wire.token = null;
        }
      },
      async me({ signal } = {}) {
        type Answer = { sub: string; role: Role; perms: Permission[] };
        const { sub, role, perms } = await wire.json<Answer>({ path: '/v1/auth/me', signal });
        return { id: sub, role, permissions: perms };
      },
    },
  };
}
