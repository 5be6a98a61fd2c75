/** Entry point: a client of one server. */
import type { ApprovalId, Permission, QuestionId, Role, SessionId } from '@parlance/protocol';
import type {
  About,
  AnswerApproval,
  Approval,
  ApprovalReceipt,
  DialectList,
  FileList,
  FileQuery,
  FilesQuery,
  FileVersion,
  FileVersions,
  FileVersionsQuery,
  FolderList,
  FoundPage,
  InstructionsDecision,
  Invitation,
  LimitUses,
  ModelList,
  PendingQuestion,
  Price,
  Prices,
  ProviderModels,
  QuestionReceipt,
  SearchQuery,
  Session,
  SessionPage,
  SessionsQuery,
  SignedIn,
  Skill,
  StandingGrant,
  TagCount,
  TagList,
  Token,
  UsageLabel,
  UsageQuery,
  UsageReport,
} from '@parlance/protocol/api';
import { type ActivityEvent, activityEvents } from './activity.ts';
import {
  type Administration,
  type ApiKeys,
  administration,
  apiKeys,
  type McpOfUser,
  mcpOfUser,
  type Pairings,
  pairings,
  type SavedPrompts,
  savedPrompts,
} from './administration.ts';
import type { GivenAnswers } from './ask.ts';
import { ParlanceError } from './error.ts';
import { type Fetch, HttpClient, newKey } from './http-client.ts';
import type { WatchOptions } from './reconnecting-stream.ts';
import { type Backoff, type Clock, systemClock } from './retry.ts';
import { answerBody, type CallOptions, SessionHandle } from './session.ts';

export type ConnectOptions = {
  /** for example `http://127.0.0.1:3000`; default in browsers: the page's origin */
  readonly url?: string;
  /** token of a login, or an API key */
  readonly token?: string | null;
  readonly fetch?: Fetch;
  readonly clock?: Clock;
  /** maximum attempts per request, default 4; event streams reconnect without limit */
  readonly attempts?: number;
  /** maximum time until the response starts, default 30 s */
  readonly timeoutMs?: number;
  /** maximum silence on a stream, default 45 s: three keep-alive intervals of the server */
  readonly silenceMs?: number;
  readonly backoff?: Backoff;
};

export type Page = CallOptions & SessionsQuery;

export type UsageOptions = CallOptions &
  Omit<UsageQuery, 'by' | 'format'> & {
    /** the labels of a row; without them, one row for everything */
    readonly by?: readonly UsageLabel[];
  };

export type Login = { readonly token: string; readonly role: Role };
export type Me = { readonly id: string; readonly role: Role; readonly permissions: readonly Permission[] };

export type Parlance = {
  /** bearer token sent with requests; null for none */
  token: string | null;
  /** Version, models, agents, listeners and the caller. */
  server(options?: CallOptions): Promise<About>;
  /** The models of all providers that have a key or an address, the one in use first. */
  models(options?: CallOptions): Promise<readonly ProviderModels[]>;
  /** The served dialects: addresses, messages with examples, first steps. */
  dialects(options?: CallOptions): Promise<DialectList>;
  /** A handle of the session with that name, existing or not; without a name, a new one. Sends nothing. */
  session(id?: string): SessionHandle;
  readonly sessions: {
    /** One page, most recently changed first. */
    list(page?: Page): Promise<SessionPage>;
    /** All sessions, page by page. */
    all(options?: Omit<Page, 'cursor'>): AsyncGenerator<Session, void>;
    /**
     * Searches the messages of the caller's sessions, latest first: words in any order, or "quoted words" in
     * this order.
     */
    search(q: string, page?: CallOptions & Omit<SearchQuery, 'q'>): Promise<FoundPage>;
    /** The tags of the caller's sessions, in order. */
    tags(options?: CallOptions): Promise<readonly TagCount[]>;
  };
  /** Durable events of all sessions of the caller, without text deltas. */
  activity(options?: WatchOptions): AsyncGenerator<ActivityEvent, void>;
  readonly approvals: {
    /** Approvals that the caller can answer, in all sessions. */
    list(options?: CallOptions): Promise<readonly Approval[]>;
    /** The first answer wins; a later one is refused with `no_approval`. */
    answer(id: ApprovalId, answer: AnswerApproval, options?: CallOptions): Promise<ApprovalReceipt>;
  };
  readonly questions: {
    /** Questions that wait for an answer of the caller, in all sessions. */
    list(options?: CallOptions): Promise<readonly PendingQuestion[]>;
    /** The first valid answer wins; a later one is refused with `no_approval`. Null declines. */
    answer(id: QuestionId, answers: GivenAnswers | null, options?: CallOptions): Promise<QuestionReceipt>;
  };
  readonly grants: {
    /** Standing grants in all sessions of the caller; `session(…).revoke(…)` removes one. */
    list(options?: CallOptions): Promise<readonly StandingGrant[]>;
  };
  /** Decisions about files of working folders, such as `AGENTS.md`. */
  readonly instructions: {
    /** Those of the caller, and those for all users. */
    list(options?: CallOptions): Promise<readonly InstructionsDecision[]>;
    /** The next turn asks again. Admins revoke decisions for all users with `everyone`. */
    revoke(file: { path: string; everyone?: boolean }, options?: CallOptions): Promise<void>;
  };
  /** Folders in which sessions may work: those in `path`, or the topmost ones. Throws `invalid` for a path where they may not. */
  folders(options?: CallOptions & { path?: string }): Promise<FolderList>;
  /** Files of the working folder of a session, or of one that has not begun, as its agent may read them. */
  readonly files: {
    /** The entries of a folder, or with `q` the paths that match. */
    list(options?: CallOptions & FilesQuery): Promise<FileList>;
    /** The caller reads or streams the body. */
    read(options: CallOptions & FileQuery): Promise<Response>;
    /** What calls of a session have made of a file, the oldest first, as far as it is stored. */
    versions(options: CallOptions & FileVersionsQuery): Promise<readonly FileVersion[]>;
  };
  /** The skills that agents are offered in the folder of a session, or in the server's. */
  skills(options?: CallOptions & { session?: string }): Promise<readonly Skill[]>;
  /** Prices of models by name: as an admin has set them, else of the catalogue (`catalogue` is its date). */
  prices(options?: CallOptions): Promise<Readonly<Record<string, Price>>>;
  readonly usage: {
    /** What model calls have used: of the caller; for admins, of everybody. This month by default. */
    report(options?: UsageOptions): Promise<UsageReport>;
    /** The same as CSV. */
    csv(options?: UsageOptions): Promise<string>;
    /** The limits on money and tokens that apply to the caller, and how much of each is used. */
    limits(options?: CallOptions): Promise<LimitUses['limits']>;
  };
  readonly keys: ApiKeys;
  /** browser extensions */
  readonly pairings: Pairings;
  /** Links with which new users choose their passwords. Need no token. */
  readonly invitations: {
    find(token: string, options?: CallOptions): Promise<Invitation>;
    accept(token: string, password: string, options?: CallOptions): Promise<Invitation>;
  };
  readonly mcp: McpOfUser;
  /** prompts that the caller has saved: slash commands of the console and the terminal */
  readonly prompts: SavedPrompts;
  readonly admin: Administration;
  readonly auth: {
    /** Later requests send the new token. */
    login(username: string, password: string, options?: CallOptions): Promise<Login>;
    /** Later requests send no token, even if the logout request failed. */
    logout(options?: CallOptions): Promise<void>;
    /** Revokes earlier tokens; later requests send the new one. */
    changePassword(old: string, password: string, options?: CallOptions): Promise<Login>;
    /** Revokes all tokens of the caller and ends all sign-ins. Needs a login. */
    signOutEverywhere(options?: CallOptions): Promise<void>;
    /**
     * Signs a browser in, for pages of the server itself: it sets a cookie. Requests count only with `key` in the header
     * `X-Parlance-Sign-In`.
     */
    signIn(name: string, password: string, options?: CallOptions): Promise<SignedIn>;
    /** Prolongs the sign-in of the browser. */
    refreshSignIn(options?: CallOptions): Promise<void>;
    /** Ends the sign-in of the browser. */
    signOut(options?: CallOptions): Promise<void>;
    /** A token that ends with the sign-in of the browser. Requests do not send it. */
    tokenOfSignIn(options?: CallOptions): Promise<string>;
    /** The principal of the token. */
    me(options?: CallOptions): Promise<Me>;
  };
};

const SIGN_IN = '/v1/auth/sign-in';
const BACKOFF: Backoff = { baseMs: 500, maxMs: 30_000 };

/** Sends nothing until the first call. */
export function connect(options: ConnectOptions = {}): Parlance {
  const clock = options.clock ?? systemClock;
  const backoff = options.backoff ?? BACKOFF;
  const http = new HttpClient({
    url: (options.url ?? '').replace(/\/+$/, ''),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    clock,
    backoff,
    attempts: options.attempts ?? 4,
    timeoutMs: options.timeoutMs ?? 30_000,
  });
  http.token = options.token ?? null;
  const stream = { http, clock, backoff, silenceMs: options.silenceMs ?? 45_000 };

  const list = ({ signal, ...query }: Page = {}): Promise<SessionPage> =>
    http.json({ path: '/v1/sessions', query, signal });

  async function* all(options: Omit<Page, 'cursor'> = {}): AsyncGenerator<Session, void> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: SessionPage = await list({ ...options, cursor });
      yield* page.sessions;
      cursor = page.next;
    }
  }

  /** All items of a paginated list, found under `name` on each page. */
  async function everyPage<Name extends string, Item>(
    path: string,
    name: Name,
    signal: AbortSignal | undefined,
  ): Promise<Item[]> {
    type ListPage = Record<Name, Item[]> & { next: string | null };
    const items: Item[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: ListPage = await http.json({ path, query: { cursor, limit: 500 }, signal });
      items.push(...page[name]);
      cursor = page.next;
    }
    return items;
  }

  const post = <Answer>(path: string, body: object | undefined, { signal }: CallOptions = {}) =>
    http.json<Answer>({ method: 'POST', path, body, signal });

  const send = async (method: 'POST' | 'DELETE', path: string, { signal }: CallOptions = {}): Promise<void> =>
    void (await http.response({ method, path, signal }));

  async function login(path: string, body: object, signal: AbortSignal | undefined): Promise<Login> {
    const answer = await http.fetchOnce({ method: 'POST', path, body, signal });
    const { access_token: token, role } = (await answer.json()) as Token;
    http.token = token;
    return { token, role };
  }

  return {
    get token() {
      return http.token;
    },
    set token(token) {
      http.token = token;
    },
    server: ({ signal } = {}) => http.json({ path: '/v1/server', signal }),
    async models({ signal } = {}) {
      const path = '/v1/server/models';
      return (await http.json<ModelList>({ path, signal })).providers;
    },
    dialects: ({ signal } = {}) => http.json({ path: '/v1/dialects', signal }),
    session: (id = newKey()) => new SessionHandle(id as SessionId, stream),
    sessions: {
      list,
      all,
      search: (q, { signal, ...page } = {}) =>
        http.json({ path: '/v1/search', query: { q, ...page }, signal }),
      async tags({ signal } = {}) {
        const { tags } = await http.json<TagList>({ path: '/v1/tags', signal });
        return tags;
      },
    },
    activity: (options = {}) => activityEvents(stream, options),
    approvals: {
      list: ({ signal } = {}) => everyPage<'approvals', Approval>('/v1/approvals', 'approvals', signal),
      answer: (id, body, options) => post(`/v1/approvals/${encodeURIComponent(id)}`, body, options),
    },
    questions: {
      list: ({ signal } = {}) =>
        everyPage<'questions', PendingQuestion>('/v1/questions', 'questions', signal),
      answer: (id, answers, options) =>
        post(`/v1/questions/${encodeURIComponent(id)}`, answerBody(answers), options),
    },
    grants: {
      list: ({ signal } = {}) => everyPage<'grants', StandingGrant>('/v1/grants', 'grants', signal),
    },
    instructions: {
      async list({ signal } = {}) {
        const path = '/v1/instructions';
        const { decisions } = await http.json<{ decisions: InstructionsDecision[] }>({ path, signal });
        return decisions;
      },
      async revoke({ path, everyone = false }, { signal } = {}) {
        const query = new URLSearchParams({ path, everyone: String(everyone) });
        await http.response({ method: 'DELETE', path: `/v1/instructions?${query}`, signal });
      },
    },
    folders: ({ signal, ...query } = {}) => http.json({ path: '/v1/folders', query, signal }),
    files: {
      list: ({ signal, ...query } = {}) => http.json({ path: '/v1/files', query, signal }),
      read: ({ signal, ...query }) => http.response({ path: '/v1/files/content', query, signal }),
      versions: async ({ signal, ...query }) =>
        (await http.json<FileVersions>({ path: '/v1/files/versions', query, signal })).versions,
    },
    async skills({ session, signal } = {}) {
      const query = session === undefined ? '' : `?${new URLSearchParams({ session })}`;
      const { skills } = await http.json<{ skills: Skill[] }>({ path: `/v1/skills${query}`, signal });
      return skills;
    },
    async prices({ signal } = {}) {
      const { prices } = await http.json<Prices>({ path: '/v1/prices', signal });
      return prices;
    },
    usage: {
      report: ({ signal, by = [], ...query } = {}) =>
        http.json({ path: '/v1/usage', query: { ...query, by: by.join(',') }, signal }),
      async csv({ signal, by = [], ...query } = {}) {
        const csv = { ...query, by: by.join(','), format: 'csv' };
        return (await http.response({ path: '/v1/usage', query: csv, signal })).text();
      },
      async limits({ signal } = {}) {
        return (await http.json<LimitUses>({ path: '/v1/usage/limits', signal })).limits;
      },
    },
    keys: apiKeys(http),
    pairings: pairings(http),
    mcp: mcpOfUser(http),
    prompts: savedPrompts(http),
    admin: administration(http),
    invitations: {
      find: (token, options) => post('/v1/invitations/find', { token }, options),
      accept: (token, password, options) => post('/v1/invitations/accept', { token, password }, options),
    },
    auth: {
      async signOutEverywhere(options) {
        await send('POST', '/v1/auth/sign-out-everywhere', options);
        http.token = null;
      },
      signIn: (name, password, options) => post(SIGN_IN, { name, password }, options),
      refreshSignIn: (options) => send('POST', `${SIGN_IN}/refresh`, options),
      signOut: (options) => send('DELETE', SIGN_IN, options),
      tokenOfSignIn: async (options) =>
        (await post<Token>('/v1/auth/token', undefined, options)).access_token,
      login: (username, password, { signal } = {}) => login('/v1/auth/login', { username, password }, signal),
      changePassword: (old, password, { signal } = {}) =>
        login('/v1/auth/password', { old, new: password }, signal),
      async logout({ signal } = {}) {
        try {
          await http.response({ method: 'POST', path: '/v1/auth/logout', signal });
        } catch (thrown) {
          // An expired token counts as logged out.
          if (!(thrown instanceof ParlanceError && thrown.code === 'unauthenticated')) throw thrown;
        } finally {
          http.token = null;
        }
      },
      async me({ signal } = {}) {
        type Answer = { sub: string; role: Role; perms: Permission[] };
        const { sub, role, perms } = await http.json<Answer>({ path: '/v1/auth/me', signal });
        return { id: sub, role, permissions: perms };
      },
    },
  };
}
