/**
 * What the server remembers of its clients: subscriptions of their sessions, open calls and open forms. A subscription, a
 * cancellation or an answer reaches one node; the calls and streams of the client may be on another. No external effect
 * depends on the messages between nodes: answers to approvals are in the store.
 */
import { Fault, isObject, type JsonObject, JsonValue, PrincipalId } from '@parlance/protocol';
import { z } from 'zod';
import type { Transport } from '../../cluster/transport.ts';
import type { CustomChange } from '../../core/index.ts';
import { Listeners } from '../../lib/listeners.ts';
import { LruMap } from '../../lib/lru-map.ts';
import { unlessAborted } from '../../lib/unless-aborted.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { invalidParams, type Params, RequestId, RpcFault } from '../kit/json-rpc.ts';
import { CODES, LEGACY, META, MODERN } from './contract.ts';

/** The part of the configuration that is used here. */
export const Settings = z.object({ toolCallWithin: z.number() });

/** The context of the endpoints. */
export type Context = DialectContext<z.output<typeof Settings>> & { readonly clients: Clients };

const KIND = 'mcp';

const OF_SESSION = { principal: PrincipalId, session: z.string() };

const Notice = z.discriminatedUnion('type', [
  z.object({ type: z.literal('begun'), ...OF_SESSION }),
  z.object({ type: z.literal('subscribed'), ...OF_SESSION, uri: z.string() }),
  z.object({ type: z.literal('unsubscribed'), ...OF_SESSION, uri: z.string() }),
  z.object({ type: z.literal('ended'), ...OF_SESSION }),
  /** the node that answers the call stops it */
  z.object({ type: z.literal('cancel'), ...OF_SESSION, request: RequestId }),
  /** the call was open and was cancelled: its stream cannot be resumed on any node */
  z.object({ type: z.literal('cancelled'), ...OF_SESSION, request: RequestId }),
  /** `refused`: the client cannot show the form */
  z.object({
    type: z.literal('form'),
    principal: PrincipalId,
    id: z.string(),
    outcome: z.enum(['answered', 'refused']),
  }),
  z.object({ type: z.literal('level'), ...OF_SESSION, level: z.string() }),
  /** a tool asks the client of its call; `session` is that of the call */
  z.object({
    type: z.literal('asked'),
    principal: PrincipalId,
    id: z.string(),
    session: z.string(),
    name: z.string(),
    method: z.string(),
    params: z.record(z.string(), JsonValue),
  }),
  /** without a result, the client answered with an error, or the tool no longer waits */
  z.object({
    type: z.literal('replied'),
    principal: PrincipalId,
    id: z.string(),
    result: z.record(z.string(), JsonValue).optional(),
  }),
  z.object({
    type: z.literal('changed'),
    change: z.union([z.enum(['tools', 'prompts', 'resources']), z.object({ resource: z.string() })]),
  }),
]);
type Notice = z.output<typeof Notice>;

/** A request of a tool that the client has not answered. */
export type FormNotice = Omit<Extract<Notice, { type: 'asked' }>, 'type'>;

export type FormOutcome = Extract<Notice, { type: 'form' }>['outcome'];

/** The session of a client before 2026-07-28. */
export type ClientSession = { readonly principal: PrincipalId; readonly session: string };

export type CallKey = {
  readonly principal: PrincipalId;
  /** Request ids are unique only within a session: without one, a call cannot be cancelled by its id. */
  readonly session: string | null;
  readonly request: RequestId;
};

const MAX_SESSIONS = 10_000;
const MAX_SUBSCRIPTIONS = 1_000;
/** The most cancelled calls that are remembered, because their clients may try to resume the streams. */
const MAX_CANCELLED = 1_000;
/** The most open requests of the tools of all calls, and of one call. */
const MAX_ASKED = 10_000;
const MAX_ASKED_OF_CALL = 100;

export class Clients {
  #subscriptions = new LruMap<Set<string>>(MAX_SESSIONS);
  readonly #ended = new EventTarget();
  readonly #calls = new Map<string, () => void>();
  readonly #cancelled = new LruMap<true>(MAX_CANCELLED);
  readonly #forms = new Map<string, (outcome: FormOutcome) => void>();
  readonly #endedSessions = new LruMap<true>(MAX_SESSIONS);
  readonly #levels = new LruMap<string>(MAX_SESSIONS);
  readonly #asked = new Map<string, FormNotice>();
  readonly #replies = new Map<string, (result: JsonObject | undefined) => void>();
  /** Called if a tool has asked something, or no longer waits for an answer. */
  readonly onAsked = new Listeners();
  readonly onChange = new Listeners<[CustomChange]>();

  constructor(private readonly transport: Transport | null) {
    // Subscriptions may have been missed: sessions without known subscriptions receive everything.
    const forget = () => {
      this.#subscriptions = new LruMap(MAX_SESSIONS);
    };
    transport?.on(KIND, (body) => this.#apply(Notice.parse(body)));
    transport?.onDown(forget);
    transport?.onLost(forget);
  }

  /** Applies the notice on all nodes. */
  tell(notice: Notice): void {
    this.#apply(notice);
    this.#broadcast(notice);
  }

  // Sessions

  /** Throws if the session has too many subscriptions. */
  subscribe(session: ClientSession, uri: string): void {
    const uris = this.#subscriptions.get(nameOf(session.principal, session.session));
    if (uris && uris.size >= MAX_SUBSCRIPTIONS && !uris.has(uri))
      throw invalidParams('Too many subscriptions.');
    this.tell({ type: 'subscribed', ...session, uri });
  }

  /** An unknown session may have subscribed before a restart, or on another node: it receives everything. */
  wants(session: ClientSession, uri: string): boolean {
    return this.#subscriptions.get(nameOf(session.principal, session.session))?.has(uri) ?? true;
  }

  /** A client must not use a session that it has ended. */
  hasEnded(principal: PrincipalId, session: string | null): boolean {
    return session !== null && (this.#endedSessions.get(nameOf(principal, session)) ?? false);
  }

  /** The least level of log messages for the client. */
  levelOf(principal: PrincipalId, { session }: { readonly session: string | null }): string {
    return (session === null ? undefined : this.#levels.get(nameOf(principal, session))) ?? 'info';
  }

  /** Calls `ended` when the client ends the session. Returns a function that stops it. */
  onEnd(session: ClientSession, ended: () => void): () => void {
    const name = nameOf(session.principal, session.session);
    this.#ended.addEventListener(name, ended);
    return () => this.#ended.removeEventListener(name, ended);
  }

  // Calls

  /** Lets the client cancel the call. Returns a function that removes it. */
  addCall(key: CallKey, cancel: () => void): () => void {
    if (key.session === null) return () => undefined;
    const name = nameOf(key.principal, key.session, key.request);
    this.#calls.set(name, cancel);
    this.#cancelled.delete(name);
    return () => {
      if (this.#calls.get(name) === cancel) this.#calls.delete(name);
    };
  }

  /** Stops the call on whichever node answers it. */
  cancelCall(key: ClientSession & CallKey): void {
    if (!this.#cancelHere(key)) this.#broadcast({ type: 'cancel', ...key });
  }

  /** A cancelled call gets no answer. */
  isCancelled(key: CallKey): boolean {
    return this.#cancelled.get(nameOf(key.principal, key.session, key.request)) ?? false;
  }

  /** False if the call has ended, or is not answered on this node. */
  #cancelHere({ principal, session, request }: ClientSession & CallKey): boolean {
    const key = { principal, session, request };
    const cancel = this.#calls.get(nameOf(key.principal, key.session, key.request));
    if (!cancel) return false;
    this.tell({ type: 'cancelled', ...key });
    cancel();
    return true;
  }

  // Forms

  /** Returns a function that removes the form. */
  addForm(principal: PrincipalId, id: string, settled: (outcome: FormOutcome) => void): () => void {
    const name = nameOf(principal, id);
    this.#forms.set(name, settled);
    return () => this.#forms.delete(name);
  }

  // Requests of tools

  /** Resolves with the answer of the client. Rejects with a `Fault` if it is an error. */
  async ask(request: Omit<FormNotice, 'id'>, signal: AbortSignal): Promise<JsonObject> {
    if (this.#asked.size >= MAX_ASKED || this.asked(request.session).length >= MAX_ASKED_OF_CALL)
      throw new Fault('tool_failed', 'Too many open requests to clients.');
    const id = crypto.randomUUID();
    const { principal } = request;
    const { promise, resolve } = Promise.withResolvers<JsonObject | undefined>();
    this.#replies.set(nameOf(principal, id), resolve);
    this.tell({ type: 'asked', id, ...request });
    try {
      const result = await unlessAborted(promise, signal);
      if (result === undefined) throw new Fault('tool_failed', 'The client answered with an error.');
      return result;
    } finally {
      this.#replies.delete(nameOf(principal, id));
      if (this.#asked.has(nameOf(principal, id))) this.tell({ type: 'replied', principal, id });
    }
  }

  /** What the tool of the call waits for. */
  asked(session: string): readonly FormNotice[] {
    return [...this.#asked.values()].filter((one) => one.session === session);
  }

  /** The call has ended. */
  forgetAsked(session: string): void {
    for (const { principal, id } of this.asked(session)) this.tell({ type: 'replied', principal, id });
  }

  #broadcast(notice: Notice): void {
    this.transport?.broadcast({ kind: KIND, body: notice });
  }

  #apply(notice: Notice): void {
    switch (notice.type) {
      case 'begun':
        this.#subscriptions.set(nameOf(notice.principal, notice.session), new Set());
        break;
      case 'subscribed': {
        const uris = this.#subscriptions.get(nameOf(notice.principal, notice.session));
        if (uris && uris.size < MAX_SUBSCRIPTIONS) uris.add(notice.uri);
        break;
      }
      case 'unsubscribed':
        this.#subscriptions.get(nameOf(notice.principal, notice.session))?.delete(notice.uri);
        break;
      case 'ended':
        // Only those that began here: any client may send any id.
        if (this.#subscriptions.get(nameOf(notice.principal, notice.session)))
          this.#endedSessions.set(nameOf(notice.principal, notice.session), true);
        this.#subscriptions.delete(nameOf(notice.principal, notice.session));
        this.#ended.dispatchEvent(new Event(nameOf(notice.principal, notice.session)));
        break;
      case 'cancel':
        this.#cancelHere(notice);
        break;
      case 'cancelled':
        this.#cancelled.set(nameOf(notice.principal, notice.session, notice.request), true);
        break;
      case 'form':
        this.#forms.get(nameOf(notice.principal, notice.id))?.(notice.outcome);
        break;
      case 'level':
        this.#levels.set(nameOf(notice.principal, notice.session), notice.level);
        break;
      case 'asked':
        this.#asked.set(nameOf(notice.principal, notice.id), notice);
        this.onAsked.notify();
        break;
      case 'replied': {
        const name = nameOf(notice.principal, notice.id);
        this.#asked.delete(name);
        this.#replies.get(name)?.(notice.result);
        this.onAsked.notify();
        break;
      }
      case 'changed':
        this.onChange.notify(notice.change);
    }
  }
}

const nameOf = (...parts: readonly (string | number | null)[]): string => JSON.stringify(parts);

// The client of a request. Revisions before 2026-07-28 start with `initialize`, and the agreed version is part of the session id: it is valid after a restart and on another node. Since 2026-07-28 every request contains the version.

type Legacy = (typeof LEGACY)[number];

export type Peer = {
  readonly era: 'legacy' | 'modern';
  readonly version: string;
  /** the client can show forms to its user */
  readonly hasForms: boolean;
  /** before 2026-07-28, only those that tools can use */
  readonly capabilities: Params;
  /** null if the client has no session */
  readonly session: string | null;
};

/** Throws a `RpcFault` if the version is not supported, or headers and body contradict each other. */
export function peerOf(
  headers: Headers,
  message: { readonly method?: string; readonly params?: Params },
): Peer {
  const meta = isObject(message.params?._meta) ? message.params._meta : {};
  const claimed = meta[META.version];
  const named = headers.get('mcp-protocol-version');
  if (claimed === undefined && named !== MODERN) return legacyPeer(headers, named);
  // Notifications have no metadata: they refer to a request that has it.
  if (claimed === undefined && message.method?.startsWith('notifications/')) return modernPeer({});
  if (typeof claimed !== 'string') throw invalidParams(`params._meta["${META.version}"] is missing.`);
  checkHeaders(headers, { version: claimed, method: message.method, params: message.params });
  if (claimed !== MODERN) throw unsupported(claimed, [MODERN]);
  const capabilities = meta[META.capabilities];
  if (!isObject(capabilities)) throw invalidParams(`params._meta["${META.capabilities}"] is missing.`);
  return modernPeer(capabilities);
}

const modernPeer = (capabilities: Params): Peer => ({
  era: 'modern',
  version: MODERN,
  hasForms: hasForms(capabilities),
  capabilities,
  session: null,
});

function legacyPeer(headers: Headers, named: string | null): Peer {
  const session = headers.get('mcp-session-id');
  const agreed = session === null ? null : agreedIn(session);
  const version = named ?? agreed?.version ?? '2025-03-26';
  if (!isLegacy(version)) throw unsupported(version, [MODERN, ...LEGACY]);
  const capabilities = agreed?.capabilities ?? {};
  return { era: 'legacy', version, hasForms: hasForms(capabilities), capabilities, session };
}

const unsupported = (requested: string, supported: readonly string[]) =>
  new RpcFault(CODES.version, `Unsupported protocol version: ${requested.slice(0, 100)}`, {
    supported,
    requested: requested.slice(0, 100),
  });

const isLegacy = (version: string): version is Legacy => (LEGACY as readonly string[]).includes(version);

/** The version of the client if it is supported, otherwise the latest. */
export const agreedVersion = (requested: unknown): Legacy =>
  typeof requested === 'string' && isLegacy(requested) ? requested : LEGACY[0];

/** Without a mode, the capability means forms. */
export function hasForms({ elicitation }: Params): boolean {
  return isObject(elicitation) && ('form' in elicitation || !('url' in elicitation));
}

// Session ids

type AgreedProtocol = { readonly version: string; readonly capabilities: Params };

/** Further capabilities that the id contains. */
const FURTHER = ['sampling', 'roots'] as const;

export function sessionIdOf({ version, capabilities }: AgreedProtocol, unique: string): string {
  const kinds = [
    hasForms(capabilities) ? 'forms' : 'plain',
    ...FURTHER.filter((name) => name in capabilities),
  ];
  return `${version}.${kinds.join('-')}.${unique}`;
}

/** Null if the id is not ours. */
function agreedIn(session: string): AgreedProtocol | null {
  const [, version, kinds = ''] = /^(\d{4}-\d\d-\d\d)\.((?:forms|plain)[a-z-]*)\./.exec(session) ?? [];
  if (version === undefined) return null;
  const names = kinds.split('-');
  const capabilities = [
    ...(names[0] === 'forms' ? ['elicitation'] : []),
    ...FURTHER.filter((name) => names.includes(name)),
  ];
  return { version, capabilities: Object.fromEntries(capabilities.map((name) => [name, {}])) };
}

// Since 2026-07-28 headers repeat parts of the body, for proxies. They must match.

/** The parameter that `mcp-name` repeats. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

type Body = {
  readonly version: string;
  readonly method: string | undefined;
  readonly params: Params | undefined;
};

/** Throws if a header differs from the body. Missing headers are ignored. */
function checkHeaders(headers: Headers, { version, method, params }: Body): void {
  const field = method !== undefined && Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  check(headers, 'mcp-protocol-version', version);
  check(headers, 'mcp-method', method);
  if (field !== undefined) check(headers, 'mcp-name', params?.[field]);
}

function check(headers: Headers, name: string, expected: unknown): void {
  const value = headers.get(name);
  if (value !== null && typeof expected === 'string' && decoded(value) !== expected)
    throw new RpcFault(CODES.header, `The header ${name} does not match the body.`);
}

/** Values that a header cannot contain are encoded as `=?base64?…?=`. */
function decoded(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/i.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString();
}
